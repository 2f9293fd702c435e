/* judge_shares.h: does a matchmaker keep to the limits and quotas that it was given?
 *
 * By its own record: when it makes matches, what is in use of a limit may not come to lie above it, nor, for a group that may not take
 * surplus, above its quota by more than the last unit, or the last gang. What is told of claims of another life may: that is known too late. */
#ifndef BERTH_SIM_JUDGE_SHARES_H
#define BERTH_SIM_JUDGE_SHARES_H

#include "pool/matchmaker/matchmaker.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JUDGED_MAX 16 /* limits, and groups */

struct judged_share {
    char name[32];
    double used;
    int64_t below; /* since when a group has been below its quota; INT64_MAX: it is not */
};

struct judged_shares {
    struct judged_share limits[JUDGED_MAX], groups[JUDGED_MAX];
    uint32_t limit_count, group_count;
};

/* The matchmaker has made a step, at that time of its clock; `woken`: one in which it may have made matches, and was told nothing. What is
 * wrong, or NULL. */
const char *judged_step(struct judged_shares *judged, const struct matchmaker *matchmaker, int64_t now, bool woken);

/* Since when that group has been below its quota; INT64_MAX: it is not. */
int64_t judged_below(const struct judged_shares *judged, const char *group);

#ifdef __cplusplus
}
#endif
#endif
