/* cycle.h: one matchmaking cycle over a fixed set of ads: each root in turn gets the best candidate that is left.
 *
 * The best has the largest docking vector (policy.h); of equal ones the first is taken. A root stands for Count equal units (1 when it does not
 * say), each matched by itself. A candidate is one unit and is consumed, or goes on as its residual (residual.h) until that can accept nobody.
 *
 * The candidates that match are found by trying each of them, or by a finder (match/index/finder.h), which must find the same. */
#ifndef BERTH_MATCH_PAIR_CYCLE_H
#define BERTH_MATCH_PAIR_CYCLE_H

#include "match/pair/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CYCLE_COUNT_MAX 1000000 /* units that a root may ask for */

/* Tells of a match: the places of both ads among the parties, and the root's rank of the candidate as it counts. */
typedef void cycle_found_fn(void *user, size_t root, size_t candidate, const struct value *rank);

/* Tells of a candidate that matches a root: its place among the parties. */
typedef void cycle_fits_fn(void *user, size_t candidate);

/* Who takes part: the places of the roots and of the candidates, in their order; ads[place] is the ad of each. */
struct cycle_parts {
    const struct policy *policy;
    const size_t *roots, *candidates;
    size_t root_count, candidate_count;
    struct tree *const *ads;
};

/* A quicker way to find the candidates that match. */
struct cycle_finder {
    void *user;
    void (*start)(void *user, const struct env *env, struct arena *scratch, const struct cycle_parts *parts);
    /* Calls `fits` once for each candidate that matches the ad, in any order. Of candidates that neither a root nor the policy can tell apart, the
     * first is enough. */
    void (*find)(void *user, const struct env *env, struct arena *scratch, const struct tree *root, cycle_fits_fn *fits,
                 void *fits_user);
    /* A candidate goes on as another ad, or (NULL) not at all. */
    void (*change)(void *user, const struct env *env, struct arena *scratch, size_t place, struct tree *left);
};

/* The ads that meet. Unless the policy selects the roots among all ads, the requests are the roots, and the offers the candidates. */
struct cycle_field {
    const struct policy *policy;
    const struct party *parties; /* the requests first and then the offers */
    size_t request_count, offer_count;
    const struct cycle_finder *finder; /* NULL: every candidate is tried */
};

/* Runs the cycle and calls `found` for each match; the rank lives only during that call. `arena` is left as it was. */
void cycle_run(const struct env *env, struct arena *arena, const struct cycle_field *field, cycle_found_fn *found,
               void *user);

#ifdef __cplusplus
}
#endif
#endif
