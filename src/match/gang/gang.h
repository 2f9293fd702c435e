/* gang.h: one matchmaking cycle in which a root gathers a whole gang: an ad for each of its ports, for each of their ports, and so
 * on (chapters 3 and 5 of the dissertation).
 *
 *     job --cpu--> machine          each edge docks a port of the parent with the *link*, a port of the child;
 *      '---lic---> licence          both constraints are true, seen from their own ports
 *
 * Roots are served in the order of the policy, each wholly or not at all; what a gang has taken is gone for the roots that follow (or goes on as
 * its residual). With preferences, a root gets the best gang. Gangs are compared port by port from the left, the ports of a member before the next
 * port of its parent, by the docking vector of each; of equal candidates the first is better. An optional or grouped port that is filled counts for
 * more than one that is not. Without preferences any gang will do. */
#ifndef BERTH_MATCH_GANG_GANG_H
#define BERTH_MATCH_GANG_GANG_H

#include "match/gang/ports.h"
#include "match/pair/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The algorithms of chapter 5, and ours. */
enum gang_algorithm {
    GANG_NAIVE, /* from left to right; each offer in turn is evaluated (5.3) */
    GANG_LR,    /* from left to right, by the index (5.4) */
    GANG_RL,    /* from right to left (5.6) */
    GANG_LRC,   /* LR, but first it is checked that no port is without candidates (5.6) */
    GANG_RLC,
    GANG_DYN,   /* the port with the fewest candidates first (5.5) */
    GANG_DYNS,  /* the same, equal offers counted as one (5.8) */
    GANG_DYNSR, /* the same, beginning anywhere among the candidates (5.8.3) */
    GANG_AUTO,
    GANG_ALGORITHMS
};

extern const char *const gang_algorithm_names[GANG_ALGORITHMS]; /* "naive", "lr", ... */

#define GANG_NODES_MAX 200000 /* the default budget: candidates that are tried for one root */
#define GANG_WORK_MAX \
    1000000 /* probes and dockings that are evaluated for one root, and 2 more for each node of the budget */
#define GANG_STEPS_MAX \
    10000000                 /* steps of their evaluation, and 100 more for each node: past any of these it gives up */
#define GANG_MEMBERS_MAX 256 /* members of one gang; a search that would need more fails */
#define GANG_DEPTH_MAX 16    /* members below one another */

struct gang_settings {
    enum gang_algorithm algorithm;
    bool preferences; /* only AUTO knows them; the others take any fit */
    bool sets_greedy; /* sets are put together as in figure 2.10 of the thesis; else exactly, within the budget */
    uint64_t nodes;   /* the budget of a root; 0 is the default */
    uint64_t seed;    /* for DYNSR's random start */
    uint64_t
        steps; /* for all evaluations, where the environment has a meter: past them every search is given up; 0: no such limit */
};

struct gang_stats {
    uint64_t roots, gangs, gave_up;
    uint64_t cut;         /* gangs of which a better one may exist: the budget ended before all had been seen */
    uint64_t probes;      /* of the index */
    uint64_t evaluations; /* dockings that were tested by evaluation */
    uint64_t nodes;       /* candidates that were put into a gang */
};

/* A member of a gang. Members are in the order in which ports are filled: [0] is the root, and every other comes behind its parent. */
struct gang_member {
    size_t place;    /* of its ad among the ads */
    uint32_t parent; /* its parent's number among the members */
    uint32_t port;   /* the parent's port that it docks at */
    uint32_t link;   /* its own port that it docks by */
};

enum gang_outcome { GANG_FORMED, GANG_NONE, GANG_GAVE_UP };

/* Called for each unit of a root; when no gang was formed there is only the root. The members live only during that call. */
typedef void gang_found_fn(void *user, enum gang_outcome outcome, const struct gang_member *members, uint32_t count);

/* The ads that meet. Unless the policy selects the roots among all ads, the requests are the roots, and the offers the candidates. */
struct gang_field {
    const struct policy *policy;
    struct tree *const
        *ads; /* the requests first and then the offers; every ad's ports must be in order (ports_read) */
    size_t request_count, offer_count;
};

/* Runs the cycle. `arena` is left as it was. `ret_stats` may be NULL. */
void gang_run(const struct env *env, struct arena *arena, const struct gang_field *field,
              const struct gang_settings *settings, gang_found_fn *found, void *user, struct gang_stats *ret_stats);

#ifdef __cplusplus
}
#endif
#endif
