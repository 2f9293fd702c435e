/* cycle.h: one matchmaking cycle over ads that are all at hand: each request in turn gets the best offer that is left.
 *
 * The best is the one that the request ranks highest; of those, the one that ranks the request highest; of those, the first. A request
 * stands for Count equal units (1 when it does not say), each matched by itself; an offer is one unit and is consumed.
 *
 * Every pair is looked at: this is the slow way that quicker ones are held against. */
#ifndef BERTH_MATCH_CYCLE_H
#define BERTH_MATCH_CYCLE_H

#include "match/match.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CYCLE_COUNT_MAX 1000000 /* units that a request may ask for */

/* A match: places in the two arrays, and the request's rank of the offer as it counts. */
typedef void cycle_found_fn(void *user, size_t request, size_t offer, const struct value *rank);

/* Requests are taken in their order. `arena` is left as it was; the rank handed over lives for that call. */
void cycle_run(const struct env *env, struct arena *arena, const struct party *requests, size_t request_count,
               const struct party *offers, size_t offer_count, cycle_found_fn *found, void *user);

#ifdef __cplusplus
}
#endif
#endif
