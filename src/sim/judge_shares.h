/* judge_shares.h: does a matchmaker keep to the limits and quotas that it was given?
 *
 * The judge goes by the matchmaker's own record. When it makes matches, the use of a limit must not rise above the limit. The use of a
 * group that may not take surplus must not rise above its quota by more than the last unit, or the last gang. Reports of claims of an
 * earlier life may do so: they come too late. */
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

/* The matchmaker has made a step, at that time of its clock; `woken`: it may have made matches in that step, and was told
 * nothing. Returns what is wrong, or NULL. */
const char *judged_step(struct judged_shares *judged, const struct matchmaker *matchmaker, int64_t now, bool woken);

/* Since when that group has been below its quota; INT64_MAX: not below. */
int64_t judged_below(const struct judged_shares *judged, const char *group);

#ifdef __cplusplus
}
#endif
#endif
