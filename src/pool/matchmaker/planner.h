/* planner.h: when and where the first of those that wait for room will begin; private to the matchmaker's room.
 *
 *     a request that found nobody -> watched -> for PLAN_WAITS a lifetime -> planned: a machine, and by when it has room there
 *                                                                                |
 *     others on that machine:   their TimeLimit ends before that, or they wait  <-'   (a clause in its offer, as the engine has it)
 *
 * What is planned are the first requests, in the order in which they are served, that some machine would take if enough of its claims had ended, and
 * none does now. The time is the latest at which those claims must end by their limits, as the machine tells: where one has no limit there is no plan.
 * A plan stays when others come first later on, and while it is not known for a while by when (a claim is between two jobs). It goes when its request is
 * matched or gone, when its machine is, and a lifetime after its time.
 *
 * Nobody is matched by a plan: it only keeps others away, and from few machines (PLANS_HELD). Losing all of them delays the large. Not planned are
 * requests with Ports, machines that pull, and what is settled in windows.
 *
 * Cost: PLANS_EVERY part of a lifetime, one look at each group of requests that waits, and PLANS_LOOKS machines whose claims are looked into, but no more
 * than PLANS_STEPS of evaluation, whatever users and machines wrote. */
#ifndef BERTH_POOL_MATCHMAKER_PLANNER_H
#define BERTH_POOL_MATCHMAKER_PLANNER_H

#include "pool/matchmaker/machines.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLANS_MAX 512         /* requests that are watched or planned */
#define PLANS_WATCHED 4       /* as many times those that may be planned are watched: some fit no machine */
#define PLANS_EVERY 60        /* times in a lifetime plans are looked at */
#define PLAN_WAITS 5          /* that part of a lifetime a request waits before it is planned */
#define PLANS_LOOKS 1024      /* machines whose claims are looked into each time, half of them for one request */
#define PLANS_PASSED 16       /* as many times more of them are passed over */
#define PLAN_EVAL_STEPS 10000 /* a constraint that takes more to evaluate is not planned by */
#define PLAN_STEPS 200000     /* of evaluation that a look at one request may take, or little more */
#define PLANS_STEPS 2000000   /* ... and at all that are looked at each time: half of it at those that are planned */
#define PLANS_HELD 20         /* that part of the machines others are kept from; one at least */

#define PLAN_AMOUNTS 4 /* of what a claim takes */

struct plan {
    uint32_t root;           /* the request's entry; NOBODY: the place is free */
    uint64_t numbered;       /* its matches when it was taken up */
    uint64_t number;         /* by which its clause knows it */
    int64_t since;           /* when it was seen to wait, first */
    bool planned;            /* what follows is known; until then it is the best so far */
    bool held;               /* others are kept from the machine */
    uint64_t agent, machine; /* agent 0: no machine was found yet */
    int64_t start;           /* by then there is room, on our clock */
    int64_t span;            /* whoever is done within it may begin there meanwhile; microseconds */
    int64_t unknown;         /* since when that is not known any more; INT64_MAX: it is */
    int64_t said;            /* the machine's word that was looked at last ... */
    uint64_t version;        /* ... and the request's text */
    uint32_t at, seen;       /* where to go on among the machines, and how many of them were passed ... */
    uint32_t looked;         /* ... and looked into */
    uint64_t turn, waits;    /* the last time it was looked at, and was among the first that wait; 0: never */
};

struct planner {
    struct collector *collector;
    const struct machines *machines;
    struct plan *plans;             /* PLANS_MAX places; NULL: nothing is planned */
    struct map roots;               /* request -> place */
    struct map taken;               /* mixed agent and machine that one is planned on -> place */
    uint32_t most;                  /* requests that may be planned; 0: none */
    uint32_t count;                 /* places in use */
    uint64_t made;                  /* plans so far */
    uint64_t meter;                 /* steps of evaluation this time (copying a machine's ad counts too) ... */
    uint64_t meter_end;             /* ... and where the look at one request ends */
    uint64_t turn;                  /* times they were looked at */
    symbol names[PLAN_AMOUNTS + 1]; /* what a claim says, as one look needs it */
    uint32_t renewed;               /* the place among plans from which they are looked at again */
    int64_t next;                   /* when they are looked at next; INT64_MAX: when a cycle was over */
};

/* Sets itself as what dresses the collector's ads. `most`: PLANS_MAX / PLANS_WATCHED at most count. */
void planner_init(struct planner *planner, struct collector *collector, const struct machines *machines, uint32_t most,
                  uint64_t seed);
void planner_done(struct planner *planner);

/* A cycle is over: some may wait. Returns when planner_run is to be called; INT64_MAX: it is known already, or never. */
int64_t planner_cycle(struct planner *planner, const struct role_env *env);

/* Looks at the plans; between two cycles. Returns when it is to be called again; INT64_MAX: not before the next cycle. */
int64_t planner_run(struct planner *planner, const struct role_env *env);

/* The plan of the request, or NULL; and that by which others are kept from that machine. */
const struct plan *planner_find(const struct planner *planner, uint32_t root);
const struct plan *planner_holding(const struct planner *planner, agent who, uint64_t machine);

bool planner_valid(const struct planner *planner, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
