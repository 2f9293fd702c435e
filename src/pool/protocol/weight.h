/* weight.h: what a unit of an offer counts for: its `Weight`, in thousandths. * Weight is evaluated in the offer, with
 * the root that gets the unit as `other`; without one, for the size of the pool. A value that is not a number, or is
 * below 0, counts as 1; one above WEIGHT_MAX as WEIGHT_MAX. */
#ifndef BERTH_POOL_PROTOCOL_WEIGHT_H
#define BERTH_POOL_PROTOCOL_WEIGHT_H

#include "lang/ad/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIGHT_ONE INT64_C(1000)
#define WEIGHT_MAX (1000 * WEIGHT_ONE) /* a cap, because the offer's owner sets the weight and the root's owner pays */

/* `name` is Weight; `other` may be NULL. The arena is left as it was. */
int64_t weight_of(const struct env *env, struct arena *arena, symbol name, const struct tree *offer,
                  const struct tree *other);

static inline double weight_units(int64_t weight)
{
    return (double)weight / (double)WEIGHT_ONE;
}

#ifdef __cplusplus
}
#endif
#endif
