/* judge_shares.c: does a matchmaker keep to the limits and quotas that it was given? */
#include "sim/judge_shares.h"

#include <stdio.h>
#include <string.h>

/* What was in use of that name before the step; and it is remembered for the next. */
static double before_of(struct judged_share *items, uint32_t *count, const char *name, double used)
{
    double before = 0;
    uint32_t at = 0;

    while (at < *count && strcmp(items[at].name, name) != 0)
        at++;
    if (at == JUDGED_MAX)
        return used;
    if (at == *count)
        snprintf(items[(*count)++].name, sizeof items->name, "%s", name);
    else
        before = items[at].used;
    items[at].used = used;
    return before;
}

const char *judged_step(struct judged_shares *judged, const struct matchmaker *matchmaker, bool woken)
{
    const char *wrong = NULL;
    struct limit_view limit;
    struct group_view group;

    for (uint32_t from = 0; matchmaker_next_limit(matchmaker, from, &limit, &from);) {
        double before = before_of(judged->limits, &judged->limit_count, limit.name, (double)limit.used);

        if (woken && limit.most >= 0 && limit.used > limit.most && (double)limit.used > before)
            wrong = "matches took more of a limit than there is";
    }
    for (uint32_t from = 0; matchmaker_next_group(matchmaker, from, &group, &from);) {
        double before = before_of(judged->groups, &judged->group_count, group.name, group.used);

        if (woken && !group.surplus && group.used > before && group.used >= group.quota + 1)
            wrong = "matches took more than the quota of a group that may have no surplus";
    }
    return wrong;
}
