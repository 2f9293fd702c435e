/* policy.h: whom a matchmaker serves first, and what it gives them: an administrative policy (section 3.2.4).
 *
 * A policy is an ad:
 *   RootSelection   true for the ads that are served; the others are what is given
 *   RootOrder       the larger its value, the sooner an ad is served; undefined and error come last
 *   DockingVector   a list; of the candidates that fit, the one with the largest vector is taken, by the first component
 *                   first; a vector with an undefined or error component is discarded
 *   PullOrder       a string: which of the requests that fit is given to an offer that pulls
 * Each is evaluated in the ad that is served, which is `self`; in the vector the candidate is `label` (and other), and a Rank
 * that an ad does not have reads as 0. Without a vector the ranks of both count, as { self.Rank, label.Rank }; there an undefined or
 * error rank is 0.
 *
 * A candidate that says Preempts has a claim already, which would have to go. Without a vector it comes after all others, and only if its Rank of
 * the root is larger than its CurrentRank. With a vector, the vector decides. */
#ifndef BERTH_MATCH_PAIR_POLICY_H
#define BERTH_MATCH_PAIR_POLICY_H

#include "match/pair/match.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POLICY_COMPONENTS_MAX 64 /* components of a docking vector */
#define POLICY_ABSENT_MAX 8      /* names for which an environment may say how they read where an ad lacks them */

/* Which request an offer that pulls is given, of those that fit it. All but STARVING fall back on the order of roots. */
enum pull_order {
    PULL_FAIR,     /* "fair": the first in the order of roots */
    PULL_BEST_FIT, /* "best-fit": the one that the offer ranks highest */
    PULL_STARVING, /* "starving": the one that came first */
    PULL_PRIORITY, /* "priority": the one with the largest Priority, or JobPrio, of its own */
};

struct policy {
    struct tree *ad;                               /* held; NULL for none */
    const struct expr *selection, *order, *vector; /* in it; NULL where it says nothing */
    enum pull_order pull;
};

/* Reads a policy; NULL for the ad gives the defaults. -1 when the ad is not a policy; `ret_attribute` is then the attribute that is wrong. */
int policy_init(struct policy *policy, struct tree *ad, symbol *ret_attribute, struct err *err);
void policy_done(struct policy *policy);

/* Is the ad served? Only for a policy that has a RootSelection. */
bool policy_selects(const struct policy *policy, const struct env *env, struct arena *scratch, const struct tree *ad);

/* Sorts the ads by who is served first; equal ones stay in their order. `order` holds `count` places of `ads`. */
void policy_sort(const struct policy *policy, const struct env *env, struct arena *scratch, struct tree *const *ads,
                 size_t *order, size_t count);

/* Makes the docking vector of a candidate for a root, in the arena. Returns how many components it has, or 0 when it is discarded. `than`, unless
 * it is NULL, is another candidate's vector: a smaller one is discarded too, as soon as that is known. */
uint32_t policy_vector(const struct policy *policy, const struct env *env, struct arena *arena, const struct tree *root,
                       const struct tree *candidate, const struct value *than, struct value **ret_components);

/* The same; the steps of the evaluations are added to `steps`. */
uint32_t policy_vector_counted(const struct policy *policy, const struct env *env, struct arena *arena,
                               const struct tree *root, const struct tree *candidate, const struct value *than,
                               struct value **ret_components, uint64_t *steps);

/* The key of a root by the RootOrder, which the policy must have; it lives as long as the ad and the arena. */
void policy_key(const struct policy *policy, const struct env *env, struct arena *arena, const struct tree *ad,
                struct value *ret);

/* Below 0, 0 or above 0, as a root of key a is served before, like or after one of key b. */
int policy_key_compare(const struct value *a, const struct value *b);

#ifdef __cplusplus
}
#endif
#endif
