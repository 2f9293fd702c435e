/* run.h: pools under faults: a world from each seed, with a phase in which everything breaks, and a quiet phase in which everything must end.
 *
 * One seed is one small pool: a matchmaker or two, customers with users, providers of several sorts; the spans of the
 * protocol, the weather and the jobs all follow from it. */
#ifndef BERTH_SIM_RUN_H
#define BERTH_SIM_RUN_H

#include "lang/base/buf.h"
#include "sim/judge.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_report;

/* A guest takes part in a world: it adds hosts, watches, and plans what it likes (world_plan) from SIM_PLANS on. */
#define SIM_PLANS 0x20000u
struct sim_guest {
    void *user;
    void (*comes)(void *user, struct world *world, struct judge *judge, const struct parties *parties); /* at first */
    void (*plan)(void *user, uint32_t which);
    void (*quiet)(void *user); /* the faults stop; NULL: the world ends there */
    void (*goes)(void *user);  /* the world is about to be freed */
};

/* Matchmakers and customers have a second process each, and their rows in a database (seats.h). */
enum sim_seats {
    SEATS_NONE,
    SEATS_KEPT,  /* what the database has acknowledged, it keeps when it fails over */
    SEATS_LOSSY, /* it loses the newest commits then; the judge heeds only that one process is the party */
};

#define SIM_JOBS_MAX 1024

struct sim_settings {
    uint64_t seed;   /* of the first world; each next world has the next seed */
    uint64_t claims; /* run worlds until so many claims have been activated; 0: one world */
    uint64_t worlds; /* at most; 0: no limit */
    uint32_t jobs;   /* processes that run worlds at the same time; 0 and 1: this one. The report is the same */
    bool faults;     /* false: a world without faults */
    bool flows;      /* users also submit workflows */
    bool gpus;       /* machines with several processors have as many GPUs, and jobs ask for them */
    uint32_t plans;  /* requests that wait for room and are planned; in worlds with a policy of windows, none */
    enum sim_seats seats;
    uint32_t lines;    /* of the trace of each party, when there is a violation; 0: no trace */
    struct buf *trace; /* gets the trace; NULL: no trace */
    bool (*progress)(void *user,
                     const struct sim_report *report); /* after each world, in order; false: stop. Or NULL */
    void *user;
    const struct sim_guest *guest; /* or NULL */
};

struct sim_report {
    uint64_t worlds, events, claims, jobs, faults;
    uint64_t preempted; /* claims that were preempted for others */
    uint64_t several;   /* claims for which several others had to go */
    uint64_t grouped;   /* gangs of several that were matched in a group with a quota */
    struct gang_counts gangs;
    uint64_t by_fault[FAULT_COUNT];
    uint64_t hash;              /* of all events: the same for the same seed */
    int64_t time;               /* simulated, microseconds */
    uint64_t failed;            /* the seed of the world that broke an invariant */
    struct violation violation; /* number 0: none */
};

/* Runs one world. `hash` in its report is that of the world. */
void sim_world(uint64_t seed, const struct sim_settings *settings, struct sim_report *ret);
/* Adds a world's report to the sum. Worlds must come in the order of their seeds. */
void sim_report_add(struct sim_report *sum, const struct sim_report *world);

/* Runs worlds one after another, until one breaks an invariant, or there are enough claims or worlds, or `progress` returns false. 0 when no
 * invariant broke, otherwise -1 with the violation in the report. */
int sim_run(const struct sim_settings *settings, struct sim_report *ret);

#ifdef __cplusplus
}
#endif
#endif
