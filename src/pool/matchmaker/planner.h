/* planner.h: when and where the first of those that wait for room will begin; private to the matchmaker's room.
 *
 *     a request that found nobody -> watched -> for PLAN_WAITS a lifetime -> planned: a machine, and by when it has room there
 *                                                                                |
 *     others on that machine:   their TimeLimit ends before that, or they wait  <-'   (a clause in its offer, as the engine has it)
 *
 * What is planned are the first requests, in the order in which they are served, that some machine would take if enough of its claims had ended, and
 * none does now. The time is the latest at which those claims must end by their limits, as the machine tells: where one has no limit there is no plan.
 * A plan stays when others come first later on. It goes when its request is matched or gone, when its machine is, and a lifetime after its time.
 *
 * Nobody is matched by a plan: it only keeps others away, and from few machines (PLANS_HELD). Losing all of them delays the large. Not planned are
 * requests with Ports, machines that pull, and what is settled in windows.
 *
 * Cost: PLANS_EVERY part of a lifetime, one look at each group of requests that waits, and PLANS_LOOKS machines whose claims are looked into. */
#ifndef BERTH_POOL_MATCHMAKER_PLANNER_H
#define BERTH_POOL_MATCHMAKER_PLANNER_H

#include "pool/matchmaker/machines.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLANS_MAX 512    /* requests that are watched or planned */
#define PLANS_WATCHED 4  /* as many times those that may be planned are watched: some fit no machine */
#define PLANS_EVERY 60   /* times in a lifetime plans are looked at */
#define PLAN_WAITS 5     /* that part of a lifetime a request waits before it is planned */
#define PLANS_LOOKS 1024 /* machines whose claims are looked into each time */
#define PLANS_PASSED 16  /* as many times more of them are passed over */
#define PLANS_HELD 20    /* that part of the machines others are kept from; one at least */

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
    uint32_t at, seen;       /* where to go on among the machines, and how many of them were passed */
};

struct planner {
    struct collector *collector;
    const struct machines *machines;
    struct plan *plans; /* PLANS_MAX places; NULL: nothing is planned */
    struct map roots;   /* request -> place */
    struct map held;    /* mixed agent and machine that others are kept from -> place */
    uint32_t most;      /* requests that may be planned; 0: none */
    uint32_t count;     /* places in use */
    uint64_t made;      /* plans so far */
    int64_t next;       /* when they are looked at next; INT64_MAX: when a cycle was over */
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
