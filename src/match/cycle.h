/* cycle.h: one matchmaking cycle over ads that are all at hand: each root in turn gets the best candidate that is left.
 *
 * The best has the largest docking vector (policy.h); of equal ones the first is taken. A root stands for Count equal units (1 when
 * it does not say), each matched by itself. A candidate is one unit and is consumed, or goes on as its residual (residual.h) until
 * nobody can be accepted by that.
 *
 * Every pair is looked at: this is the slow way that quicker ones are held against. */
#ifndef BERTH_MATCH_CYCLE_H
#define BERTH_MATCH_CYCLE_H

#include "match/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CYCLE_COUNT_MAX 1000000 /* units that a root may ask for */

/* A match: the places of both among the parties, and the root's rank of the candidate as it counts. */
typedef void cycle_found_fn(void *user, size_t root, size_t candidate, const struct value *rank);

/* `parties` are the requests first and then the offers. Unless the policy selects the roots among all, they are the requests, and
 * the offers are the candidates. `arena` is left as it was; the rank handed over lives for that call. */
void cycle_run(const struct env *env, struct arena *arena, const struct policy *policy, const struct party *parties,
               size_t request_count, size_t offer_count, cycle_found_fn *found, void *user);

#ifdef __cplusplus
}
#endif
#endif
