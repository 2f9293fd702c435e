/* batch.h: a batch system simulated: jobs come to clusters, and a policy settles who waits once a window.
 *
 *     a job comes -> it waits -> a window: the policy places it -> it runs -> it is done
 *                        \-> its time is out: it goes
 *
 * No roles and no messages: four kinds of events (the thesis of which docs/simulator.md tells: create, done, timeout, matchmaking) and the
 * policies of src/assign. What happens to a job is its *outcome*: all figures follow from jobs and outcomes (figures.h).
 *
 * Windows come at whole multiples of their length; one in which nothing could be otherwise than in the last is passed over. Jobs that ask
 * for the same are one *shape*, and a window looks at no more of a shape than could be placed: with a million jobs in the queue it still
 * looks at few. No more and no fewer are placed for that: of equal jobs every policy takes the one whose turn it is (of several best assignments lbm and
 * optimal may find another one).
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

/* ------------------------------------------------------------------------------------------------------------- clusters */

/* Clusters that are the same to every job. */
struct batch_kind {
    char name[BATCH_NAME_MAX];
    double capacity[BATCH_QUANTITIES]; /* INFINITY: no limit */
    uint32_t count;
    bool extra; /* only there when somebody asks what if */
};

struct batch_park {
    struct batch_kind *kinds;
    uint32_t kind_count, room;
    uint32_t clusters; /* of all kinds, the extra ones too */
};

void park_init(struct batch_park *park);
void park_done(struct batch_park *park);
uint32_t park_add(struct batch_park *park, const struct batch_kind *kind); /* its number */
double park_processors(const struct batch_park *park, bool extra);         /* of all, or but for the extra ones */

/* ----------------------------------------------------------------------------------------------------------------- jobs */

struct batch_job {
    int64_t submit, duration, estimate; /* microseconds; how long its user says that it runs */
    double asks[BATCH_QUANTITIES];
    uint32_t row;    /* of the work's problem: where it can run */
    uint32_t user;   /* from 0 on */
    uint32_t number; /* what it is called */
};

/* What comes, in the order of submission. */
struct batch_work {
    struct batch_job *jobs;
    uint32_t count, room;
    uint32_t users;
    struct assign_problem problem; /* its rows; the kinds of its offers are those of the park */
    struct map rows;               /* by their hash: the first row that has it */
};

void work_init(struct batch_work *work);
void work_done(struct batch_work *work);
void work_reset(struct batch_work *work); /* no jobs; the rows stay */
struct batch_job *work_add(struct batch_work *work);
void work_sort(struct batch_work *work); /* by submission; those of one time stay as they are */

/* The row with those edges, in the order of their kinds: the one that is there, or a new one. */
uint32_t work_row(struct batch_work *work, const struct assign_edge *edges, uint32_t count);
uint32_t work_row_all(struct batch_work *work, const struct batch_park *park); /* any kind will do */

/* ------------------------------------------------------------------------------------------------------------------ a run */

/* How long a window is: between the two, by the part of all processors that are busy; fixed when they are equal. */
struct batch_window {
    int64_t least, most; /* microseconds, above 0 */
};

struct batch_outcome {
    int64_t start; /* -1: it has not started */
    uint32_t kind; /* of the cluster where it did */
};

/* What became of all jobs up to a time, for those who write it down. */
struct batch_fate {
    const struct batch_outcome *outcomes;
    int64_t timeout, end;
};

struct batch_totals {
    uint64_t events, windows; /* windows with somebody to place */
    uint64_t work,
        most_work;      /* units of the policy, of all windows and of the one with most: the same on every machine */
    uint64_t fell_back; /* windows in which lbm did as srfm does */
    uint64_t inexact;   /* in which optimal has not proved that its assignment is the best */
    int64_t end;        /* when the last event was */
    double seconds, most_time; /* of the policy, by the clock that was given: in all, and in the window with most */
    uint64_t over;             /* windows that took longer than they are long, by that clock */
};

struct batch_settings {
    struct batch_work *work; /* its offers and requests are written over */
    const struct batch_park *park;
    bool extra; /* with the extra clusters */
    enum assign_policy policy;
    struct batch_window window;
    uint64_t effort; /* units of work after which optimal takes what it has, in each window; 0: BATCH_EFFORT */
    int64_t timeout; /* a job that has waited that long goes; 0: none does */
    int64_t horizon; /* no event after that; INT64_MAX: until nothing happens any more */
    double (*clock)(void *user);                              /* seconds; or NULL */
    void (*progress)(void *user, int64_t now, uint32_t jobs); /* now and then, with the jobs that have come; or NULL */
    void *user;
};

/* `outcomes`: one a job, written. -1 and why when the policy cannot. */
int batch_run(const struct batch_settings *settings, struct batch_outcome *outcomes, struct batch_totals *ret,
              struct err *err);

#ifdef __cplusplus
}
#endif
#endif
