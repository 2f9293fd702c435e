/* sets.h: resources as sets: the relations of chapters 5 and 6, as their equations define them.
 *
 * All readings of a call come from one consumer. */
#ifndef BERTH_MATCH_GRDL_SETS_H
#define BERTH_MATCH_GRDL_SETS_H

#include "match/grdl/relation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Chars_A within Chars_B: every characteristic of A is one of B (5.13 to 5.15); the second over the dimensions that both have (5.16,
 * 5.17). An unspecified value is one of its own. */
bool grdl_chars_within(const struct grdl_reading *a, const struct grdl_reading *b);
bool grdl_chars_within_shared(const struct grdl_reading *a, const struct grdl_reading *b);

/* Reqs_A within Reqs_B: every requirement of A lies in one of B (6.6, 6.7). That says nothing about who matches: grdl_space_within does. */
bool grdl_reqs_within(const struct grdl_reading *a, const struct grdl_reading *b);

/* The requirement space of A lies in that of B: every requirement of B is implied by one of A (6.8, 6.9). */
bool grdl_space_within(const struct grdl_reading *a, const struct grdl_reading *b);

/* Can nothing meet the requirements? That is known only where a dimension has one value at most (grdl_consumer_single), or where set-wise relations
 * are involved: else x < 2 and x > 4 are met by {1, 5}. `ret_a` and `ret_b`, unless they are NULL, are the two that contradict each other. */
bool grdl_space_empty(const struct grdl_reading *reading, const struct grdl_point **ret_a,
                      const struct grdl_point **ret_b);

/* A => B: the characteristics of A meet every requirement of B (6.11). The second looks only at requirements in dimensions that A has
 * (6.15). `counts` may be NULL. */
bool grdl_matches(const struct grdl_reading *a, const struct grdl_reading *b, struct grdl_counts *counts);
bool grdl_matches_shared(const struct grdl_reading *a, const struct grdl_reading *b, struct grdl_counts *counts);

/* The first requirement of B that A does not meet, or NULL. */
const struct grdl_point *grdl_first_unmet(const struct grdl_reading *a, const struct grdl_reading *b,
                                          struct grdl_counts *counts);

/* Is the characteristic of A in the range of some requirement of B (8.1)? Does A meet the requirement of B (not: 8.2)? */
bool grdl_char_used(const struct grdl_point *characteristic, const struct grdl_reading *b);
bool grdl_req_met_by(const struct grdl_point *requirement, const struct grdl_reading *a, struct grdl_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
