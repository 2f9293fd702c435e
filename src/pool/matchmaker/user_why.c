/* user_why.c: a user's place among the users who wait, and why it is there. */
#include "pool/matchmaker/user_why.h"

#include "lang/base/mem.h"
#include "pool/matchmaker/collector_parts.h"
#include "pool/matchmaker/matchmaker_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------- what would change */

#define HALVES_MAX 64.0 /* half-lives after which nothing changes any more */
#define SCAN 4096

static double priority_after(double halves, double usage, double factor, double units)
{
    double then = units + (usage - units) * exp2(-halves);

    return factor * (fmax(ACCOUNTANT_LEAST, then) + units);
}

double user_overtakes(double half_life, double usage, double factor, double other_usage, double other_factor,
                      double other_units)
{
    double low = 0, high;

    if (priority_after(0, usage, factor, 0) < priority_after(0, other_usage, other_factor, other_units))
        return 0;
    for (uint32_t i = 1; i <= SCAN; i++, low = high) {
        high = HALVES_MAX * i / SCAN;
        if (priority_after(high, usage, factor, 0) < priority_after(high, other_usage, other_factor, other_units))
            break;
        if (i == SCAN)
            return (double)NAN;
    }
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;

        if (priority_after(middle, usage, factor, 0) < priority_after(middle, other_usage, other_factor, other_units))
            high = middle;
        else
            low = middle;
    }
    return high * half_life;
}

/* ------------------------------------------------------------------------------------------------------------- who waits */

struct asking {
    const struct matchmaker *matchmaker;
    int64_t wall;
    uint32_t user, user_count;
    bool *waits; /* for each user: it waits for an offer */
    struct user_why *ret;
};

static void hold_add(struct user_why *why, enum hold_kind kind, const char *name, double used, double most)
{
    for (uint32_t i = 0; i < why->hold_count; i++)
        if (why->holds[i].kind == kind && !strcmp(why->holds[i].name.bytes, name)) {
            why->holds[i].requests++;
            return;
        }
    if (why->hold_count == USER_WHY_REASONS)
        return;
    why->holds[why->hold_count] = (struct user_hold){.kind = kind, .used = used, .most = most, .requests = 1};
    text_set(&why->holds[why->hold_count++].name, name, strlen(name));
}

/* Notes a request of the user that waits at a gate. */
static void hold_see(const struct asking *asking, uint32_t gate)
{
    const struct registrar *registrar = &asking->matchmaker->registrar;
    struct limit limit;
    const char *name;

    if (gate < registrar->groups.count) {
        const struct group *group = &registrar->groups.items[gate];
        double used, most;

        group_fullest(group, &used, &most);
        hold_add(asking->ret, HOLD_QUOTA, group->name, used, most);
    } else if (gate == LIMITS_GATE_NEVER) {
        hold_add(asking->ret, HOLD_NEVER, "", 0, 0);
    } else if (gate == LIMITS_GATE_LEARNS) {
        hold_add(asking->ret, HOLD_LEARNS, "", 0, 0);
    } else if ((name = limits_gate(&registrar->limits, gate, &limit))) {
        hold_add(asking->ret, HOLD_LIMIT, name, (double)limit.used, (double)limit.most);
    }
}

bool request_hold(const struct matchmaker *matchmaker, agent who, uint64_t id, struct user_hold *ret)
{
    uint32_t number = matchmaker->incarnation ? entry_find(&matchmaker->collector, who, id) : UINT32_MAX;
    struct user_why why = {.hold_count = 0};
    struct asking asking = {.matchmaker = matchmaker, .ret = &why};
    enum engine_outcome outcome;

    outcome = number == UINT32_MAX ? ENGINE_NO_ROOT : engine_outcome(matchmaker->engine, number);
    if (outcome == ENGINE_HELD)
        hold_see(&asking, engine_gate(matchmaker->engine, number));
    else if (outcome == ENGINE_GAVE_UP)
        hold_add(&why, HOLD_GAVE_UP, "", 0, 0);
    else
        return false;
    *ret = why.holds[0];
    return why.hold_count == 1;
}

/* Notes a request of the user that names a group to which it is not charged. */
static void group_see(const struct asking *asking, const struct entry *entry)
{
    const struct collector *collector = &asking->matchmaker->collector;
    const struct expr *e = tree_find(entry->ad, tree_root(entry->ad), collector->names[COLLECTOR_GROUP]);
    struct text owner, group, account;
    enum groups_reason reason;

    if (!e || e->kind != EXPR_STRING || !e->u.run.count || !text_set(&group, tree_string(entry->ad, e), e->u.run.count))
        return;
    collector_owner(collector, entry->ad, &owner);
    reason = groups_account(collector->groups, owner.bytes, group.bytes, &account);
    if (reason != GROUPS_OK)
        hold_add(asking->ret, reason == GROUPS_UNKNOWN ? HOLD_NO_GROUP : HOLD_NOT_HIS, group.bytes, 0, 0);
}

/* Notes the owner of a request of the user, if that is a delegate. */
static void delegate_see(const struct asking *asking, const struct entry *entry)
{
    struct user_why *why = asking->ret;
    struct text owner;

    collector_owner(&asking->matchmaker->collector, entry->ad, &owner);
    if (account_len(owner.bytes, strlen(owner.bytes)) == strlen(owner.bytes))
        return;
    for (uint32_t i = 0; i < why->delegate_count; i++)
        if (!strcmp(why->delegates[i].bytes, owner.bytes))
            return;
    if (why->delegate_count < USER_WHY_DELEGATES)
        why->delegates[why->delegate_count++] = owner;
    else
        why->delegate_more = true;
}

/* Does the ad of that number wait: is it a request that was not matched? */
static bool entry_waits(const struct matchmaker *matchmaker, uint32_t number, enum engine_outcome *ret_outcome)
{
    const struct entry *entry = &matchmaker->collector.entries[number];

    if (entry->state != ENTRY_LIVE || entry->free < 1)
        return false;
    *ret_outcome = engine_outcome(matchmaker->engine, number);
    return *ret_outcome != ENGINE_NO_ROOT && *ret_outcome != ENGINE_MATCHED;
}

static void entries_see(struct asking *asking)
{
    const struct matchmaker *matchmaker = asking->matchmaker;
    const struct collector *collector = &matchmaker->collector;

    for (uint32_t i = 0; i < collector->count; i++) {
        const struct entry *entry = &collector->entries[i];
        enum engine_outcome outcome;
        uint32_t gate;

        if (entry->user >= asking->user_count || !entry_waits(matchmaker, i, &outcome))
            continue;
        /* a request for which there was no offer was not checked against its quota */
        gate = outcome == ENGINE_HELD ? engine_gate(matchmaker->engine, i)
                                      : registrar_closed(&matchmaker->registrar, entry->user);
        asking->waits[entry->user] = asking->waits[entry->user] || gate == ENGINE_OPEN;
        if (entry->user != asking->user)
            continue;
        asking->ret->requests++;
        delegate_see(asking, entry);
        if (gate != ENGINE_OPEN)
            hold_see(asking, gate);
        else if (outcome == ENGINE_GAVE_UP)
            hold_add(asking->ret, HOLD_GAVE_UP, "", 0, 0);
        group_see(asking, entry);
    }
}

/* ------------------------------------------------------------------------------------------------------------ who is first */

static uint32_t leaf_of(const struct asking *asking, uint32_t user)
{
    return groups_share(&asking->matchmaker->registrar.groups, accountant_name(asking->matchmaker->accountant, user));
}

/* Below 0: a is served before b. */
static int users_compare(const struct asking *asking, uint32_t a, uint32_t b)
{
    const struct matchmaker *matchmaker = asking->matchmaker;
    uint32_t x = leaf_of(asking, a), y = leaf_of(asking, b);
    int64_t seconds = registrar_time(&matchmaker->registrar, asking->wall);
    double one, two;

    if (x != y)
        return engine_compare_shares(matchmaker->engine, x, y);
    one = registrar_priority(&matchmaker->registrar, a, seconds);
    two = registrar_priority(&matchmaker->registrar, b, seconds);
    return one < two ? -1 : one > two;
}

static void ahead_fill(const struct asking *asking, uint32_t user, struct user_ahead *ret)
{
    const struct matchmaker *matchmaker = asking->matchmaker;
    const struct groups *groups = &matchmaker->registrar.groups;
    const char *name = accountant_name(matchmaker->accountant, user);
    uint32_t leaf = leaf_of(asking, user);
    struct user_view view;

    *ret = (struct user_ahead){.factor = 1};
    text_set(&ret->name, name, strlen(name));
    if (!matchmaker_find_user(matchmaker, asking->wall, name, &view))
        return;
    ret->usage = view.usage;
    ret->factor = view.factor;
    ret->units = view.units;
    ret->priority = view.priority;
    if (leaf != leaf_of(asking, asking->user))
        text_set(&ret->group, groups->items[leaf].name, strlen(groups->items[leaf].name));
}

/* Puts a user in its place in the list of users ahead, which begins with the nearest. */
static void ahead_add(const struct asking *asking, uint32_t numbers[USER_WHY_AHEAD], uint32_t user)
{
    struct user_why *why = asking->ret;
    uint32_t at = why->ahead_count < USER_WHY_AHEAD ? why->ahead_count++ : USER_WHY_AHEAD - 1;

    if (at == USER_WHY_AHEAD - 1 && why->ahead_count == USER_WHY_AHEAD && numbers[at] != UINT32_MAX &&
        users_compare(asking, user, numbers[at]) < 0)
        return; /* further ahead than all that are listed */
    for (; at && users_compare(asking, user, numbers[at - 1]) > 0; at--)
        numbers[at] = numbers[at - 1];
    numbers[at] = user;
}

static void places_see(struct asking *asking)
{
    uint32_t numbers[USER_WHY_AHEAD];
    struct user_why *why = asking->ret;

    memset(numbers, 0xff, sizeof numbers);
    why->place = 1;
    for (uint32_t i = 0; i < asking->user_count; i++) {
        if (!asking->waits[i] && i != asking->user)
            continue;
        why->places += asking->waits[i];
        if (i == asking->user || users_compare(asking, i, asking->user) >= 0)
            continue;
        why->place++;
        ahead_add(asking, numbers, i);
    }
    for (uint32_t i = 0; i < why->ahead_count; i++)
        ahead_fill(asking, numbers[i], &why->ahead[i]);
    if (!asking->waits[asking->user]) /* it does not wait: nobody is served before it */
        why->place = why->ahead_count = 0;
}

static void change_see(struct user_why *why)
{
    why->later = (why->usage + why->units) / 2;
    why->seconds = why->least_factor = (double)NAN;
    for (uint32_t i = 0; i < why->ahead_count; i++) {
        const struct user_ahead *other = &why->ahead[i];

        if (*other->group.bytes)
            continue;
        why->seconds =
            user_overtakes(why->half_life, why->usage, why->factor, other->usage, other->factor, other->units);
        why->least_factor = other->priority / (fmax(ACCOUNTANT_LEAST, why->usage) + why->units);
        return;
    }
}

static void group_fill(const struct asking *asking, struct user_why *why)
{
    const struct groups *groups = &asking->matchmaker->registrar.groups;
    const struct group *group = &groups->items[leaf_of(asking, asking->user)];

    if (groups->count == 1)
        return;
    why->pool = groups->pool;
    if (group->itself)
        group = &groups->items[group->parent];
    text_set(&why->group, group->name, strlen(group->name));
    why->surplus = group->surplus;
    why->quota = group->quota;
    why->group_units = weight_units(group->used);
}

/* ------------------------------------------------------------------------------------------------------ which account */

/* The accounts that a name without a group may mean: the one of that name first, if there is one, then those in groups. */
static uint32_t accounts_find(const struct matchmaker *matchmaker, const char *name, size_t len,
                              uint32_t ret[1 + USER_WHY_ACCOUNTS])
{
    struct account account;
    uint32_t count = 0;

    ret[0] = accountant_find(matchmaker->accountant, name, len);
    count += ret[0] != ACCOUNTANT_NOBODY;
    for (uint32_t i = 0; accountant_next(matchmaker->accountant, i, &i, &account) && count <= USER_WHY_ACCOUNTS; i++) {
        const char *mark = memchr(account.name, GROUPS_MARK, account.len);

        if (mark && account.len - (size_t)(mark + 1 - account.name) == len && !memcmp(mark + 1, name, len))
            ret[count++] = i;
    }
    return count;
}

/* The account that is meant by a name: itself if it has a group or asks for something, else the one in a group that asks for most. The
 * others are noted. */
static const char *account_choose(const struct matchmaker *matchmaker, const char *name, struct user_why *ret)
{
    uint32_t numbers[1 + USER_WHY_ACCOUNTS], waits[1 + USER_WHY_ACCOUNTS] = {0}, count, best = 0;
    size_t len = account_len(name, strlen(name));
    enum engine_outcome outcome;
    bool own;

    if (!matchmaker->incarnation || memchr(name, GROUPS_MARK, len))
        return name;
    count = accounts_find(matchmaker, name, len, numbers);
    own = count && !strchr(accountant_name(matchmaker->accountant, numbers[0]), GROUPS_MARK);
    for (uint32_t i = 0; count && i < matchmaker->collector.count; i++)
        for (uint32_t j = 0; j < count; j++)
            waits[j] += matchmaker->collector.entries[i].user == numbers[j] && entry_waits(matchmaker, i, &outcome);
    for (uint32_t j = 1; j < count && !(own && waits[0]); j++)
        if (waits[j] > waits[best])
            best = j;
    for (uint32_t j = 0; j < count; j++)
        if (j != best) {
            const char *other = accountant_name(matchmaker->accountant, numbers[j]);

            text_set(&ret->accounts[ret->account_count++], other, strlen(other));
        }
    return count ? accountant_name(matchmaker->accountant, numbers[best]) : name;
}

bool user_why(const struct matchmaker *matchmaker, int64_t wall, const char *name, struct user_why *ret)
{
    struct asking asking = {.matchmaker = matchmaker, .wall = wall, .ret = ret};
    struct user_view view;
    struct account account;

    *ret = (struct user_why){.claims = 0};
    name = account_choose(matchmaker, name, ret);
    if (!matchmaker_find_user(matchmaker, wall, name, &view))
        return false;
    name = view.name;
    asking.user = accountant_find(matchmaker->accountant, name, strlen(name));
    for (uint32_t i = 0; accountant_next(matchmaker->accountant, i, &i, &account); i++)
        asking.user_count = i + 1;
    text_set(&ret->name, name, strlen(name));
    ret->usage = view.usage;
    ret->factor = view.factor;
    ret->units = view.units;
    ret->priority = view.priority;
    ret->claims = view.claims;
    ret->half_life = accountant_half_life(matchmaker->accountant);
    asking.waits = mem_alloc((asking.user_count + 1) * sizeof *asking.waits);
    memset(asking.waits, 0, (asking.user_count + 1) * sizeof *asking.waits);
    entries_see(&asking);
    places_see(&asking);
    group_fill(&asking, ret);
    change_see(ret);
    free(asking.waits);
    return true;
}
