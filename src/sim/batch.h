/* batch.h: simulates a batch system: jobs come to clusters, and once in each window a policy places jobs that wait.
 *
 *     a job comes -> it waits -> a window: the policy places it -> it runs -> it is done
 *                        \-> its time is out: it goes
 *
 * Policies of batch systems (backfill.h) have no windows: they place jobs whenever something has changed.
 *
 * There are no roles and no messages: only four kinds of events (create, done, timeout, matchmaking, as in the thesis that docs/simulator.md names)
 * and the policies of match/assign. A job may wait for others: it is *ready* when all of them are done, and from then on it is as one that comes then;
 * if one of them goes, it goes too. The fate of a job is its *outcome*: all figures follow from jobs and outcomes (figures.h).
 *
 * Fixed windows come at whole multiples of their length. A window is skipped if nothing has changed since the last one. Jobs that ask for the
 * same are one *shape*, and a window looks at no more of a shape than could be placed: with a million jobs in the queue it still looks at few.
 * That does not change how many jobs are placed: of equal jobs every policy takes the one whose turn it is (where several assignments are best,
 * lbm and optimal may find a different one).
 *
 * Workload: a day of some thousand jobs, a hundred times; a trace of a million jobs, once. */
#ifndef BERTH_SIM_BATCH_H
#define BERTH_SIM_BATCH_H

#include "lang/base/map.h"
#include "match/assign/assign.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BATCH_QUANTITIES 3 /* Cpus, Memory, Disk: in that order */
#define BATCH_JOBS_MAX (1u << 28)
#define BATCH_CLUSTERS_MAX 1000000
#define BATCH_NAME_MAX 64
#define BATCH_EFFORT 200     /* about a millisecond */
#define BATCH_SECOND 1000000 /* microseconds */

extern const char *const batch_quantities[BATCH_QUANTITIES];

/* The policies: those of match/assign, under their numbers there, and those of batch systems. */
#define BATCH_ORDERS(X)                                                             \
    X(STRICT, "strict", "in order, and nobody passes the first that finds no room") \
    X(EASY, "easy", "who does not delay the first that finds no room may pass it")  \
    X(CONSERVATIVE, "conservative", "who delays none of those before it may pass")  \
    X(PREDICTED, "predicted", "easy, by how long the last jobs of a user took")

enum batch_policy {
#define X(name, text, about) BATCH_##name,
    ASSIGN_POLICIES(X) BATCH_ORDERS(X)
#undef X
        BATCH_POLICY_COUNT
};

extern const char *const batch_policy_names[BATCH_POLICY_COUNT];
int batch_policy_find(const char *name, size_t len, enum batch_policy *ret_policy, struct err *err);

static inline bool batch_policy_has_windows(enum batch_policy policy)
{
    return policy < BATCH_STRICT;
}

/* ------------------------------------------------------------------------------------------------------------- clusters */

/* Clusters that every job treats as the same. */
struct batch_kind {
    char name[BATCH_NAME_MAX];
    double capacity[BATCH_QUANTITIES]; /* INFINITY: no limit */
    uint32_t count;
    bool extra; /* added only for what-if runs */
};

struct batch_park {
    struct batch_kind *kinds;
    uint32_t kind_count, room;
    uint32_t clusters; /* of all kinds, the extra ones too */
};

void park_init(struct batch_park *park);
void park_done(struct batch_park *park);
uint32_t park_add(struct batch_park *park, const struct batch_kind *kind); /* the kind's number */
double park_processors(const struct batch_park *park, bool extra);         /* of all, or of all but the extra ones */

/* ----------------------------------------------------------------------------------------------------------------- jobs */

struct batch_job {
    int64_t submit, duration, estimate; /* microseconds; `estimate` is the duration that the user gives */
    double asks[BATCH_QUANTITIES];
    uint32_t row;                /* row of the work's problem: where the job can run */
    uint32_t user;               /* from 0 on */
    uint32_t number;             /* the number that it is known by */
    uint32_t after, after_count; /* the jobs that it waits for: in `after` of the work, from `after` on */
    int64_t think;               /* microseconds from the end of the last of them until it is ready */
};

/* The jobs of a run, in the order of submission. */
struct batch_work {
    struct batch_job *jobs;
    uint32_t count, room;
    uint32_t users;
    struct assign_problem problem; /* has the rows; the kinds of its offers are those of the park */
    struct map rows;               /* by their hash; a row whose hash is taken has the next one that is free */
    uint32_t *after;               /* whom jobs wait for: numbers, and after work_link places */
    uint32_t after_count, after_room;
    uint32_t *before_first,
        *before; /* by place, made by work_link: who waits for the job, from before_first[place] up to that of the next */
};

void work_init(struct batch_work *work);
void work_done(struct batch_work *work);
void work_reset(struct batch_work *work); /* drops the jobs and keeps the rows */
struct batch_job *work_add(struct batch_work *work);
void work_sort(struct batch_work *work); /* by submission; jobs of one time keep their order */

/* The job that was added last waits for the one of that number. */
void work_after(struct batch_work *work, uint32_t number);
/* Finds the jobs that others wait for, once all are there and sorted. -1 and the reason when a job waits for itself, or (`strict`) for one that there is not;
 * else such a one is taken to be over. */
int work_link(struct batch_work *work, bool strict, struct err *err);

/* The row with those edges, which are in the order of their kinds: an existing one, or a new one. */
uint32_t work_row(struct batch_work *work, const struct assign_edge *edges, uint32_t count);
uint32_t work_row_all(struct batch_work *work, const struct batch_park *park); /* the row for jobs that run anywhere */

/* ------------------------------------------------------------------------------------------------------------------ a run */

/* How long a window is: between the two lengths, by the part of all processors that are busy; fixed when they are equal. */
struct batch_window {
    int64_t least, most; /* microseconds, above 0 */
};

struct batch_outcome {
    int64_t start; /* -1: the job has not started */
    uint32_t kind; /* of the cluster where it started */
    int64_t
        ready; /* from when on it may start; INT64_MAX: it waits for others; -1 - t: one of those went at t, and it too */
};

/* The outcomes of all jobs up to a time, for code that writes them. */
struct batch_fate {
    const struct batch_outcome *outcomes;
    int64_t timeout, end;
};

struct batch_totals {
    uint64_t events, windows; /* windows in which there was a job to place */
    uint64_t work,
        most_work;      /* units of the policy, in all windows and in the one with most: the same on every machine */
    uint64_t fell_back; /* windows in which lbm fell back to srfm */
    uint64_t inexact;   /* windows in which optimal has not proved that its assignment is the best */
    int64_t end;        /* the time of the last event */
    double seconds, most_time; /* of the policy, by `clock`: in all, and in the window with most */
    uint64_t over;             /* windows whose policy took longer than the window, by `clock` */
};

struct batch_settings {
    struct batch_work *work; /* its offers and requests are overwritten */
    const struct batch_park *park;
    bool extra; /* with the extra clusters */
    enum batch_policy policy;
    struct batch_window window; /* of policies that have windows */
    uint64_t effort; /* units of work after which optimal takes what it has, in each window; 0: BATCH_EFFORT */
    int64_t timeout; /* a job that has waited so long goes; 0: no timeout */
    int64_t horizon; /* no event after this time; INT64_MAX: until nothing happens any more */
    double (*clock)(void *user);                              /* seconds; or NULL */
    void (*progress)(void *user, int64_t now, uint32_t jobs); /* now and then, with the jobs that have come; or NULL */
    void *user;
};

/* Writes `outcomes`, one for each job. -1 and the reason when the policy fails. */
int batch_run(const struct batch_settings *settings, struct batch_outcome *outcomes, struct batch_totals *ret,
              struct err *err);

#ifdef __cplusplus
}
#endif
#endif
