/* judge_shares.c: does a matchmaker keep to the limits and quotas that it was given? */
#include "sim/judge_shares.h"

#include <stdio.h>
#include <string.h>

/* The facts about that name; NULL when there are too many names. */
static struct judged_share *share_of(struct judged_share *items, uint32_t *count, const char *name)
{
    uint32_t at = 0;

    while (at < *count && strcmp(items[at].name, name) != 0)
        at++;
    if (at == JUDGED_MAX)
        return NULL;
    if (at == *count) {
        items[(*count)++] = (struct judged_share){.below = INT64_MAX};
        snprintf(items[at].name, sizeof items->name, "%s", name);
    }
    return &items[at];
}

/* The most claims that one gang of that group got at that time. */
static uint32_t gang_largest(const struct matchmaker *matchmaker, int64_t now, const char *group)
{
    struct claim_view claim, other;
    uint32_t most = 0;

    for (uint32_t from = 0; matchmaker_next_claim(matchmaker, from, &claim, &from) && !claim.over;) {
        uint32_t count = 0;

        if (claim.since != now || !claim.user || strncmp(claim.user, group, strlen(group)) != 0 ||
            claim.user[strlen(group)] != '~')
            continue;
        for (uint32_t at = 0; matchmaker_next_claim(matchmaker, at, &other, &at) && !other.over;)
            count += other.gang == claim.gang;
        most = count > most ? count : most;
    }
    return most;
}

const char *judged_step(struct judged_shares *judged, const struct matchmaker *matchmaker, int64_t now, bool woken)
{
    const char *wrong = NULL;
    struct limit_view limit;
    struct group_view group;

    for (uint32_t from = 0; matchmaker_next_limit(matchmaker, from, &limit, &from);) {
        struct judged_share *share = share_of(judged->limits, &judged->limit_count, limit.name);

        if (!share)
            continue;
        if (woken && limit.most >= 0 && limit.used > limit.most && (double)limit.used > share->used)
            wrong = "matches took more of a limit than there is";
        share->used = (double)limit.used;
    }
    for (uint32_t from = 0; matchmaker_next_group(matchmaker, from, &group, &from);) {
        struct judged_share *share = share_of(judged->groups, &judged->group_count, group.name);

        if (!share)
            continue;
        if (woken && !group.surplus && group.used > share->used && group.used >= group.quota + 1 &&
            group.used >= group.quota + gang_largest(matchmaker, now, group.name))
            wrong = "matches took more than the quota of a group that may have no surplus";
        share->used = group.used;
        share->below = group.used >= group.quota ? INT64_MAX : share->below == INT64_MAX ? now : share->below;
    }
    return wrong;
}

int64_t judged_below(const struct judged_shares *judged, const char *group)
{
    for (uint32_t i = 0; i < judged->group_count; i++)
        if (!strcmp(judged->groups[i].name, group))
            return judged->groups[i].below;
    return INT64_MAX;
}
