/* judge_shares.h: does a matchmaker keep to the limits and quotas that it was given?
 *
 * By its own record: when it makes matches, what is in use of a limit may not come to lie above it, nor, for a group that may not take
 * surplus, above its quota by more than the last unit. What is told of claims of another life may: that is known too late. */
#ifndef BERTH_SIM_JUDGE_SHARES_H
#define BERTH_SIM_JUDGE_SHARES_H

#include "pool/matchmaker.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JUDGED_MAX 16 /* limits, and groups */

struct judged_share {
    char name[32];
    double used;
};

struct judged_shares {
    struct judged_share limits[JUDGED_MAX], groups[JUDGED_MAX];
    uint32_t limit_count, group_count;
};

/* The matchmaker has made a step; `woken`: one in which it may have made matches, and was told nothing. What is wrong, or NULL. */
const char *judged_step(struct judged_shares *judged, const struct matchmaker *matchmaker, bool woken);

#ifdef __cplusplus
}
#endif
#endif
