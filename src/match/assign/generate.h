/* generate.h: patterns as the prices ask for them, and offers filled by them; not installed.
 *
 *     patterns -> master: which of them, and prices -> a knapsack for each shelf -> more patterns, and a bound   (generate.c)
 *     master   -> whole numbers of patterns         -> what is left, and more patterns for that                  (dive.c) */
#ifndef BERTH_MATCH_ASSIGN_GENERATE_H
#define BERTH_MATCH_ASSIGN_GENERATE_H

#include "match/assign/pack.h"
#include "match/assign/patterns.h"

#ifdef __cplusplus
extern "C" {
#endif

struct generation {
    struct packing *packing;
    struct patterns patterns;
    struct master *master;
    double *rows;               /* the limits of the master: by group, by shelf */
    uint32_t *counts;           /* by group: of the pattern that is made; all 0 in between */
    struct pattern_part *parts; /* of the same pattern */
    double bound;               /* no assignment is worth more */
    uint64_t limit;             /* of all work of the settling: past it the search stops */
};

/* `bound` is a bound of all assignments, and finite. The patterns of what is placed now are the first. `work` is what may be done, half of it
 * before the dive. */
void generation_init(struct generation *generation, struct packing *packing, double bound, uint64_t work);
void generation_done(struct generation *generation);

/* Makes patterns until they are nearly as good as all patterns. The bound may become better. False: CLP failed, or it is time to stop. */
bool generate(struct generation *generation);

/* Makes one more round of patterns: the best of each shelf at the prices of the master, made of what is left. Returns how many are new. Nothing
 * that is made of what is left, with all offers, is worth more than the bound. */
uint32_t generate_more(struct generation *generation, const uint32_t *left, double *ret_bound);

/* Is it time to stop, when `spare` of the work is kept for something else? */
bool generation_stops(const struct generation *generation, uint64_t spare);

/* Fills the offers by whole numbers of patterns; what was placed before is taken off. */
void dive(struct generation *generation);

#ifdef __cplusplus
}
#endif
#endif
