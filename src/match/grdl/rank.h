/* rank.h: whom a resource would rather have: preferences (chapter 7).
 *
 * The preferences are applied in the order of their ranks, equal ones as they were written; each orders only what those before left tied
 * (algorithm 7.1). What a preference makes of a candidate (table 7.1), best first:
 *
 *     < <= without a value    by its lowest value, ascending          > >=   by its highest value, descending
 *     = without a value       those that have the dimension           !=     those that have not
 *     < <= V                  values below (at most) V, the nearest first; then, tied, those that have only others
 *     > >= V                  likewise above
 *     = V                     those that have it; then those that have only others
 *     != V                    those that have another; then those that have only it
 *     >< V  <> V              by distance to V, the nearest (farthest) first
 *
 * Of several values the one that serves best counts. After these come, tied, candidates that have the dimension but no value that can be compared
 * (for = and != with a value they are among the others); last come those without the dimension (except for != without a value). Candidates that
 * stay tied keep the order given. */
#ifndef BERTH_MATCH_GRDL_RANK_H
#define BERTH_MATCH_GRDL_RANK_H

#include "match/grdl/sets.h"

#ifdef __cplusplus
extern "C" {
#endif

struct grdl_ranked {
    uint32_t candidate; /* its number in the array given */
    uint32_t position;  /* 1 plus the number of candidates that are better: tied ones have the same */
};

/* Fills `ret_ranked` with the best `top` (0: all) in order; returns how many. Room for `count` is needed. */
uint32_t grdl_rank(const struct grdl_reading *who, const struct grdl_reading *const *candidates, uint32_t count,
                   uint32_t top, struct grdl_ranked *ret_ranked);

/* Below 0 when `a` is preferred, 0 when they are tied. `ret_preference`, unless it is NULL, gets the number of the first preference that tells them
 * apart. */
int grdl_prefer(const struct grdl_reading *who, const struct grdl_reading *a, const struct grdl_reading *b,
                uint32_t *ret_preference);

/* Do they have the same dimension, operator and value (7.3)? Their ranks are compared by the order in their sets. */
bool grdl_pref_same(const struct grdl_point *a, const struct grdl_point *b);

/* Does A order as B does, and perhaps more? The preferences of B are the first of A, in the same order (7.3). */
bool grdl_prefs_consistent(const struct grdl_reading *a, const struct grdl_reading *b);

#ifdef __cplusplus
}
#endif
#endif
