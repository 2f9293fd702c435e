/* judge_charges.c: 10: to whom a matchmaker charges the claims of a gang, and how long a gang holds its limits.
 *
 * The judge reads the owner of a gang, its group and the limits that it needs in the ad of its root, when the root is told of the match. A gang
 * counts while the matchmaker's own record has one of its claims that was reported to it, or that it has just matched. A matchmaker need not know all
 * gangs of its earlier lives, so those hold nothing here; but a claim that is reported to it must have been matched then. */
#include "sim/judge_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- what the ad says */

/* The text of an attribute that is a literal string; cut if it is long, empty if there is none. */
static void ad_word(const struct tree *ad, symbol name, char ret[WORD_SEEN])
{
    const struct expr *e = ad && tree_is_ad(ad) ? tree_find(ad, tree_root(ad), name) : NULL;

    ret[0] = 0;
    if (e && e->kind == EXPR_STRING)
        snprintf(ret, WORD_SEEN, "%.*s", (int)e->u.run.count, tree_string(ad, e));
}

static bool group_is_there(const struct host *matchmaker, const char *name)
{
    struct group_view group;

    for (uint32_t from = 0; matchmaker_next_group(matchmaker->role, from, &group, &from);)
        if (!strcmp(group.name, name))
            return true;
    return false;
}

void judged_account(const struct judge *judge, const struct host *matchmaker, const struct tree *ad,
                    char ret[ACCOUNT_SEEN])
{
    char owner[WORD_SEEN], group[WORD_SEEN];

    ad_word(ad, judge->owner, owner);
    ad_word(ad, judge->group, group);
    owner[strcspn(owner, "/")] = '\0'; /* delegated work counts for the identity that has delegated */
    if (group[0] && group_is_there(matchmaker, group))
        snprintf(ret, ACCOUNT_SEEN, "%s~%s", group, owner);
    else
        snprintf(ret, ACCOUNT_SEEN, "%s", owner);
}

/* How many of a name a text such as "matlab:2, db" asks for. */
static int64_t words_ask(const char *words, const char *name)
{
    int64_t asked = 0;

    while (*words) {
        size_t len = strcspn(words, ",: ");

        if (len == strlen(name) && !strncmp(words, name, len))
            asked += words[len] == ':' ? strtoll(words + len + 1, NULL, 10) : 1;
        words += strcspn(words, ",");
        words += strspn(words, ", ");
    }
    return asked;
}

/* --------------------------------------------------------------------------------------------------- who is charged */

void judge_charges(struct judge *judge, const struct host *host, const struct effect *effect)
{
    const struct match_told *told = &effect->message.u.match_told;
    uint64_t found = map_find(&judge->root_map, told->gang);
    struct entry_view entry;
    struct claim_view claim;
    struct root_fact *root;
    uint32_t members = 0;
    bool fresh = found == MAP_NONE, first;

    if (!host->role)
        return;
    if (fresh) { /* the gang was matched, whoever is told first; the root's ad may be gone by then */
        found = slab_take(&judge->roots);
        map_set(&judge->root_map, told->gang, found);
    }
    root = slab_at(&judge->roots, (uint32_t)found);
    if (fresh)
        *root = (struct root_fact){0};
    if (told->claim || !matchmaker_find(host->role, effect->to, told->id, &entry))
        return;
    first = !root->account[0];
    root->incarnation = told->incarnation;
    judged_account(judge, host, entry.ad, root->account);
    ad_word(entry.ad, judge->limits, root->limits);
    for (uint32_t from = 0; matchmaker_next_claim(host->role, from, &claim, &from) && !claim.over;) {
        if (claim.gang != told->gang || !claim.user)
            continue;
        members++;
        if (strcmp(claim.user, root->account) != 0)
            judge_finds(judge, 10, host, "a member of a gang is charged to %s, but its root is %s's", claim.user,
                        root->account);
    }
    judge->grouped += first && members > 1 && strchr(root->account, '~');
}

/* Checks a claim that counts after a report: it was matched, by this life of the matchmaker or an earlier
 * one, for the account that it is charged to. */
void judge_reported(struct judge *judge, const struct host *host, const struct report *report)
{
    const struct root_fact *root;
    struct claim_view claim;
    uint64_t found;

    for (uint32_t from = 0; matchmaker_next_claim(host->role, from, &claim, &from) && !claim.over;) {
        if (claim.claim != report->claim || !claim.reported)
            continue;
        found = map_find(&judge->root_map, claim.gang);
        root = found == MAP_NONE ? NULL : slab_at(&judge->roots, (uint32_t)found);
        if (!root)
            judge_finds(judge, 10, host, "a claim counts that was never matched, and %s is charged for it", claim.user);
        else if (root->account[0] && strcmp(claim.user, root->account) != 0)
            judge_finds(judge, 10, host, "a claim that was matched for %s is charged to %s", root->account, claim.user);
        return;
    }
}

/* --------------------------------------------------------------------------------------------------------- limits */

/* Does the claim count? A match that was never reported may be forgotten when its window is over; and an agent that says a claim of its own is in
 * somebody else's gang holds nothing for that gang. */
static bool claim_counts(const struct judge *judge, const struct root_fact *root, const struct claim_view *claim)
{
    return claim->user && !strcmp(claim->user, root->account) &&
           (claim->reported || judge->now < claim->since + judge->world->spans->window);
}

/* How many of a limit are held by the gangs that still have a claim. */
static int64_t limit_held(struct judge *judge, const struct host *host, const char *name)
{
    struct claim_view claim;
    int64_t held = 0;

    judge->stamp++;
    for (uint32_t from = 0; matchmaker_next_claim(host->role, from, &claim, &from) && !claim.over;) {
        uint64_t found = map_find(&judge->root_map, claim.gang);
        struct root_fact *root = found == MAP_NONE ? NULL : slab_at(&judge->roots, (uint32_t)found);

        if (!root || root->stamp == judge->stamp || !claim_counts(judge, root, &claim) ||
            root->incarnation != matchmaker_incarnation(host->role))
            continue;
        root->stamp = judge->stamp;
        held += words_ask(root->limits, name);
    }
    return held;
}

void judge_limits(struct judge *judge, const struct host *host)
{
    int64_t *before = &judge->limits_used[(host->place - judge->parties.matchmaker) % MATCHMAKERS_MAX], used = 0;
    struct limit_view limit;

    for (uint32_t from = 0; matchmaker_next_limit(host->role, from, &limit, &from);)
        used += limit.used;
    for (uint32_t from = 0; used < *before && matchmaker_next_limit(host->role, from, &limit, &from);)
        if (limit.used < limit_held(judge, host, limit.name))
            judge_finds(judge, 10, host, "%lld of %s is in use, but gangs that are not over hold %lld",
                        (long long)limit.used, limit.name, (long long)limit_held(judge, host, limit.name));
    *before = used;
}
