/* trend.h: how the value of an expression moves with the time; private to next_change.c and trend.c. */
#ifndef BERTH_POOL_PROVIDER_TREND_H
#define BERTH_POOL_PROVIDER_TREND_H

#include "pool/provider/next_change.h"

#ifdef __cplusplus
extern "C" {
#endif

#define COURSE_DEPTH_MAX 128          /* nesting of parts and definitions; deeper, nothing can be told */
#define COURSE_FAR ((int64_t)1 << 33) /* seconds ahead that count as never: 272 years */

/* From some second up to `end`, the value rises by at least `least` and at most `most` every second. */
struct trend {
    double least, most; /* both 0: the value stays; below 0: it falls */
    double size;        /* no number in the computation is larger */
    bool whole;         /* the value is an integer or a time, so that sums are exact */
    bool repeats;       /* the value is the same every week, beyond `end` as well */
    int64_t end;        /* TURNS_NEVER: the trend never ends */
};

static inline bool trend_stays(const struct trend *c)
{
    return c->least == 0 && c->most == 0;
}

static inline bool trend_rises(const struct trend *c)
{
    return c->least >= 0;
}

static inline bool trend_falls(const struct trend *c)
{
    return c->most <= 0;
}

/* Does the value change by exactly the same amount every second? */
static inline bool trend_is_linear(const struct trend *c)
{
    return c->whole && c->least == c->most;
}

/* The trend of `e` from `at` on. False when it cannot be told: then the value may be anything from one second to the
 * next. With `stays`, a trend that stays is wanted, and functions such as GetHours() end where their value changes. */
bool trend_of(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t at, bool stays,
              struct trend *ret);

/* The value at a second, without a counterpart. The value borrows from the scratch arena. */
void next_change_value(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t at,
                       struct value *ret);

/* Charges steps of work; false when there are not enough left. */
bool next_change_charge(struct next_change *turns, uint64_t steps);

/* Moves `next` and `once` forward to the changes of `e`. */
void next_change_walk(struct next_change *turns, const struct scope *scope, const struct expr *e);

/* What a reference leads to. */
enum followed {
    FOLLOWED_OWN,   /* an expression of the ad */
    FOLLOWED_OTHER, /* the counterpart */
    FOLLOWED_NONE,  /* nothing that changes: undefined, or an ad as a whole */
    FOLLOWED_ODD,   /* only evaluation can tell */
};
enum followed next_change_follow(struct next_change *turns, const struct scope *scope, const struct expr *e,
                                 const struct scope **ret_scope, const struct expr **ret);

#ifdef __cplusplus
}
#endif
#endif
