/* settle.h: what all policies share: requests and offers by kinds, what is free now, who has been placed; not installed.
 *
 *     group -> its requests, in their order         of one row, with the same amounts
 *     kind  -> its offers, in their order
 *
 * An offer only ever gets less free, so what did not fit a group once does not later: for each group and edge a *cursor* goes over the offers of
 * that kind once (group_first). */
#ifndef BERTH_MATCH_ASSIGN_SETTLE_H
#define BERTH_MATCH_ASSIGN_SETTLE_H

#include "match/assign/assign.h"

#ifdef __cplusplus
extern "C" {
#endif

struct request_group {
    const double *amounts;
    const struct assign_edge *edges; /* in the order of their kinds, each once; only kinds that have an offer */
    uint32_t edge_count;
    uint32_t first, count; /* in `members` */
    uint32_t *cursors;     /* by edge; NULL until it is asked for */
};

struct settling {
    const struct assign_problem *problem;
    const struct assign_options *options; /* never NULL */
    struct assign_result *result;
    struct arena *scratch;
    uint32_t quantity_count;

    double *free;     /* by offer, as in the problem: what is left now */
    uint32_t *placed; /* by request: its offer, or ASSIGN_NONE */
    uint32_t placed_count;

    struct request_group *groups;
    uint32_t group_count;
    uint32_t *group_of; /* by request */
    uint32_t *members;  /* requests by group, in their order */

    uint32_t *kind_first; /* by kind, and one more: where its offers are in kind_offers */
    uint32_t *kind_offers;
};

int problem_check(const struct assign_problem *problem, struct err *err);

/* Makes a problem ready. All memory is in the scratch, which the caller rewinds. */
void settling_init(struct settling *settling, struct arena *scratch, const struct assign_problem *problem,
                   const struct assign_options *options, struct assign_result *result);

static inline const double *request_amounts(const struct settling *settling, uint32_t request)
{
    return settling->problem->amounts + (size_t)request * settling->quantity_count;
}

static inline double *offer_free(const struct settling *settling, uint32_t offer)
{
    return settling->free + (size_t)offer * settling->quantity_count;
}

/* Do the amounts of that group fit into what the offer has free now? */
static inline bool offer_fits(const struct settling *settling, const struct request_group *group, uint32_t offer)
{
    return assign_fits(group->amounts, offer_free(settling, offer), settling->quantity_count);
}

/* Places a request at that offer, which has so much less free; takes it off again. Cursors do not go back. */
void settling_place(struct settling *settling, uint32_t request, uint32_t offer);
void settling_remove(struct settling *settling, uint32_t request);
void settling_clear(struct settling *settling); /* nobody is placed */

/* The first offer of that edge's kind that fits the group, or ASSIGN_NONE. */
uint32_t group_first(struct settling *settling, struct request_group *group, uint32_t edge);

/* The offer that the group ranks highest among those that fit, the first of equal ones; or ASSIGN_NONE. */
uint32_t group_best(struct settling *settling, struct request_group *group);

/* Gives the requests that are not placed, in order, what each likes most of what has room (queue.c). */
void settling_fill(struct settling *settling);

/* Memory for so many items, not cleared. */
#define SCRATCH(settling, type, count) ((type *)arena_alloc((settling)->scratch, ((size_t)(count) + 1) * sizeof(type)))

/* Is it time to stop? */
static inline bool settling_stops(const struct settling *settling)
{
    return settling->options->stop && settling->options->stop(settling->options->stop_user);
}

/* The policies. Each places what it can; -1 when the problem is too large for it. */
int policy_fcfs(struct settling *settling, struct err *err);
int policy_sjf(struct settling *settling, struct err *err);
int policy_ljf(struct settling *settling, struct err *err);
int policy_srfm(struct settling *settling, struct err *err);
int policy_lbm(struct settling *settling, struct err *err);
int policy_minsum(struct settling *settling, struct err *err);
int policy_singles(struct settling *settling, struct err *err);
int policy_singles_minsum(struct settling *settling, struct err *err);
int policy_optimal(struct settling *settling, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
