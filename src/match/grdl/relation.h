/* relation.h: one property against another: a characteristic in a requirement, a requirement in a requirement.
 *
 * A requirement is a range of values in its dimension (6.1):
 *
 *     <x match="<">5</x>      all comparable values below 5; an unspecified value is in no range but the next one
 *     <x/>                    the whole dimension; with a type, all values of that type
 *
 * The set-wise ones (table 6.1, and != without a value) are not ranges: they are met by all characteristics of a dimension together.
 *     set_eq set_lt set_le set_gt set_ge   there is one at least, and each is in the range of the pairwise relation
 *     set_ne V                             none equals V, and none is unspecified where it could be V; there may be none
 *     != without a value, set_ne likewise  none is there, or none that is or may be of the type
 *
 * Both requirements of a pair must be of the same dimension. */
#ifndef BERTH_MATCH_GRDL_RELATION_H
#define BERTH_MATCH_GRDL_RELATION_H

#include "match/grdl/consumer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What was done, for callers that count. */
struct grdl_counts {
    uint64_t pairs;       /* of resources that were looked at, in one direction */
    uint64_t comparisons; /* of a characteristic with a requirement */
};

/* Is the characteristic in the range of the requirement, of its pairwise relation if it is set-wise? Equation 6.3. */
bool grdl_char_in_req(const struct grdl_point *characteristic, const struct grdl_point *requirement);

/* Is the requirement met by the characteristics of its dimension? `counts` may be NULL. */
bool grdl_req_met(const struct grdl_point *requirement, struct grdl_points chars, struct grdl_counts *counts);

/* Does whatever meets the first meet the second, too? Equation 6.4, by range: x < 5 lies in x <= 5. True is
 * always right; false may be wrong only where text by bytes (<, <=) meets text without case (`ordered`). */
bool grdl_req_in_req(const struct grdl_point *inner, const struct grdl_point *outer);

/* May one characteristic be in the ranges of both? True when that cannot be ruled out. */
bool grdl_reqs_meet(const struct grdl_point *a, const struct grdl_point *b);

#ifdef __cplusplus
}
#endif
#endif
