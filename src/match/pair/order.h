/* order.h: how values are ordered when one must be chosen: ranks, keys of roots, components of docking vectors.
 *
 * Values of one kind are ordered as the language compares them, but that an integer and a real are compared exactly: as reals, integers beyond 2^53
 * would equal a real and not each other, and the best of several would depend on the order in which they are looked at. Numbers and booleans are one
 * kind, strings another, times another; numbers come below strings, and strings below times. NaN is below every number. */
#ifndef BERTH_MATCH_PAIR_ORDER_H
#define BERTH_MATCH_PAIR_ORDER_H

#include "lang/ad/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Below 0, 0 or above 0, as a is less, equal or greater. Undefined, error and aggregates have no order: see order_has. */
int order_compare(const struct value *a, const struct value *b);
bool order_has(const struct value *v);

/* A rank as it counts: itself, or zero when it is undefined, error, or has no order. */
struct value order_rank(const struct value *rank);

/* A rank as one number, for sums and for people: anything but a number is 0, and NaN is below all others. */
double order_number(const struct value *rank);
double order_finite(const struct value *rank); /* the same, where only finite numbers can be added: 0 for the others */

#ifdef __cplusplus
}
#endif
#endif
