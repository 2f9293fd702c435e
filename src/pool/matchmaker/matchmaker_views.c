/* matchmaker_views.c: what a matchmaker can be asked: its ads, claims, users and counts. Nothing here changes anything. */
#include "pool/matchmaker/matchmaker_parts.h"

#include "pool/matchmaker/collector_parts.h"
#include "pool/protocol/mutants.h"

#include <string.h>

uint64_t matchmaker_incarnation(const struct matchmaker *matchmaker)
{
    return matchmaker->incarnation;
}

/* The view of a living entry, with the engine's outcome. */
static void live_view(const struct matchmaker *matchmaker, uint32_t number, struct entry_view *ret)
{
    entry_view(&matchmaker->collector.entries[number], ret);
    ret->outcome = engine_outcome(matchmaker->engine, number);
}

bool matchmaker_find(const struct matchmaker *matchmaker, agent who, uint64_t id, struct entry_view *ret)
{
    uint32_t number = matchmaker->incarnation ? entry_find(&matchmaker->collector, who, id) : UINT32_MAX;

    if (number == UINT32_MAX || matchmaker->collector.entries[number].state != ENTRY_LIVE)
        return false;
    live_view(matchmaker, number, ret);
    return true;
}

bool matchmaker_remembers(const struct matchmaker *matchmaker, agent who, uint64_t id)
{
    return matchmaker->incarnation && entry_find(&matchmaker->collector, who, id) != UINT32_MAX;
}

uint64_t matchmaker_version(const struct matchmaker *matchmaker, agent who, uint64_t id)
{
    uint32_t number = matchmaker->incarnation ? entry_find(&matchmaker->collector, who, id) : UINT32_MAX;

    return number == UINT32_MAX ? 0 : matchmaker->collector.entries[number].version;
}

bool matchmaker_pulls_full(const struct matchmaker *matchmaker, const struct peer *peer, uint64_t id)
{
    return matchmaker->incarnation && puller_is_full(&matchmaker->puller, peer, id);
}

bool matchmaker_next(const struct matchmaker *matchmaker, uint32_t from, struct entry_view *ret, uint32_t *ret_next)
{
    for (uint32_t i = from; i < matchmaker->collector.count; i++) {
        if (matchmaker->collector.entries[i].state != ENTRY_LIVE)
            continue;
        live_view(matchmaker, i, ret);
        *ret_next = i + 1;
        return true;
    }
    return false;
}

void matchmaker_each(const struct matchmaker *matchmaker, matchmaker_entry_fn *fn, void *user)
{
    for (uint32_t i = 0; i < matchmaker->collector.count; i++) {
        const struct entry *entry = &matchmaker->collector.entries[i];
        struct entry_view view;

        if (entry->state != ENTRY_LIVE)
            continue;
        entry_view(entry, &view);
        fn(user, &view);
    }
}

/* Is there a match of the machine's offer of which its own word does not know yet? Where the offer was withdrawn, one that came after that word. */
static bool offer_is_matched(const struct matchmaker *matchmaker, const struct machine_record *record,
                             const struct entry *offer)
{
    const struct spans *spans = matchmaker->settings->spans;

    if (!offer->unnamed || offer->request)
        return false;
    return offer->state == ENTRY_LIVE ||
           (offer->state == ENTRY_WITHDRAWN &&
            offer->ledger[offer->ledger_count - 1].settles - spans->window - spans->deadline >= record->said);
}

/* Such a match takes a part of the machine, or all. */
static enum machine_state state_with_matches(const struct matchmaker *matchmaker, const struct machine_record *record,
                                             const struct entry *offer)
{
    if (record->state != MACHINE_IDLE || !offer_is_matched(matchmaker, record, offer))
        return record->state;
    return offer->left ? MACHINE_PART : MACHINE_BUSY;
}

static void machine_view_of(const struct matchmaker *matchmaker, const struct machine_record *record,
                            struct machine_view *ret)
{
    const struct entry *offer = machines_offer(&matchmaker->machines, record->agent, record->id);
    uint32_t number = offer ? UINT32_MAX : entry_find(&matchmaker->collector, record->agent, record->id);
    const struct entry *entry = number == UINT32_MAX ? offer : &matchmaker->collector.entries[number];
    enum machine_state state = entry ? state_with_matches(matchmaker, record, entry) : record->state;

    *ret = (struct machine_view){.agent = record->agent,
                                 .id = record->id,
                                 .version = record->version,
                                 .state = record->away && !MUTANT(AWAY_FITS) ? MACHINE_AWAY : state,
                                 .pulls = record->pulls,
                                 .sure = record->sure,
                                 .brief = record->shrunk,
                                 .since = record->away ? record->heard : record->since,
                                 .until = record->until,
                                 .heard = record->heard,
                                 .whole = offer && record->state == MACHINE_IDLE ? offer->ad : record->whole,
                                 .told = record->told,
                                 .said = record->said,
                                 .left = offer ? offer->left : NULL,
                                 .matched = offer ? offer->unnamed : 0};
}

bool matchmaker_next_machine(const struct matchmaker *matchmaker, uint32_t from, struct machine_view *ret,
                             uint32_t *ret_next)
{
    for (uint32_t i = from; i < matchmaker->machines.count; i++) {
        if (!matchmaker->machines.items[i].agent)
            continue;
        machine_view_of(matchmaker, &matchmaker->machines.items[i], ret);
        *ret_next = i + 1;
        return true;
    }
    return false;
}

bool matchmaker_find_machine(const struct matchmaker *matchmaker, agent who, uint64_t id, struct machine_view *ret)
{
    const struct machine_record *record =
        matchmaker->incarnation ? machines_find(&matchmaker->machines, who, id) : NULL;

    if (record)
        machine_view_of(matchmaker, record, ret);
    return record != NULL;
}

static void plan_view_of(const struct matchmaker *matchmaker, const struct plan *plan, struct plan_view *ret)
{
    const struct entry *root = &matchmaker->collector.entries[plan->root];

    *ret = (struct plan_view){.root_agent = root->agent,
                              .root = root->id,
                              .agent = plan->agent,
                              .machine = plan->machine,
                              .start = plan->start,
                              .held = plan->held,
                              .span = plan->span};
}

bool matchmaker_planned(const struct matchmaker *matchmaker, agent who, uint64_t id, struct plan_view *ret)
{
    uint32_t number = matchmaker->incarnation ? entry_find(&matchmaker->collector, who, id) : UINT32_MAX;
    const struct plan *plan = number == UINT32_MAX ? NULL : planner_find(&matchmaker->planner, number);

    if (!plan || !plan->planned)
        return false;
    plan_view_of(matchmaker, plan, ret);
    return true;
}

bool matchmaker_planned_there(const struct matchmaker *matchmaker, agent who, uint64_t id, struct plan_view *ret)
{
    const struct plan *plan = matchmaker->incarnation ? planner_holding(&matchmaker->planner, who, id) : NULL;

    if (!plan)
        return false;
    plan_view_of(matchmaker, plan, ret);
    return true;
}

uint32_t matchmaker_machines(const struct matchmaker *matchmaker)
{
    return matchmaker->machines.live;
}

uint64_t matchmaker_machine_bytes(const struct matchmaker *matchmaker)
{
    return matchmaker->incarnation ? machines_bytes(&matchmaker->machines) : 0;
}

int64_t matchmaker_began(const struct matchmaker *matchmaker, int64_t *ret_knows)
{
    *ret_knows = matchmaker->began + matchmaker->settings->spans->lifetime;
    return matchmaker->began;
}

int64_t matchmaker_window(const struct matchmaker *matchmaker, int64_t now, int64_t *ret_left)
{
    int64_t left = matchmaker->cycle_from > now ? matchmaker->cycle_from - now : 0;

    *ret_left = matchmaker->gathers ? left : -1;
    return matchmaker->settings->assignment ? matchmaker->settings->spans->cycle : 0;
}

struct matchmaker_counts matchmaker_counts(const struct matchmaker *matchmaker)
{
    struct matchmaker_counts counts = {.matches = matchmaker->matches,
                                       .told = matchmaker->notifier.told,
                                       .given_up = matchmaker->notifier.given_up,
                                       .claims = matchmaker->registrar.reported,
                                       .history = matchmaker->registrar.history_count,
                                       .cycles = matchmaker->cycles,
                                       .in_cycle = matchmaker->in_cycle};

    if (!matchmaker->incarnation)
        return counts;
    counts.work = engine_counts(matchmaker->engine);
    counts.ads = matchmaker->collector.live;
    counts.waiting = matchmaker->notifier.waiting;
    return counts;
}

static void active_view(const struct matchmaker *matchmaker, const struct active_claim *claim, struct claim_view *ret)
{
    *ret = (struct claim_view){.claim = claim->claim,
                               .gang = claim->gang,
                               .agent = claim->agent,
                               .user = accountant_name(matchmaker->accountant, claim->user),
                               .reported = claim->reported,
                               .since = claim->since,
                               .used = claim->used};
}

bool matchmaker_find_claim(const struct matchmaker *matchmaker, uint64_t claim, struct claim_view *ret)
{
    uint64_t place = matchmaker->incarnation ? map_find(&matchmaker->registrar.claims, claim) : MAP_NONE;

    if (place != MAP_NONE)
        active_view(matchmaker, &matchmaker->registrar.active[place], ret);
    return place != MAP_NONE;
}

static void past_view(const struct past_claim *past, struct claim_view *ret)
{
    *ret = (struct claim_view){.claim = past->claim,
                               .gang = past->gang,
                               .agent = past->agent,
                               .user = past->user,
                               .reported = true,
                               .over = true,
                               .since = past->since,
                               .ended = past->ended,
                               .used = past->used,
                               .reason = past->reason};
}

bool matchmaker_receipt(const struct matchmaker *matchmaker, const struct secrets *secrets, const struct tree *ad,
                        struct receipt *ret)
{
    struct role_env env = {.secrets = secrets};

    return matchmaker->registrar.has_receipts && receipt_read(&env, &matchmaker->registrar.receipts, ad, ret);
}

#define PAST (UINT32_C(1) << 31) /* set in places of claims that are over: the active ones may grow in between */

bool matchmaker_next_claim(const struct matchmaker *matchmaker, uint32_t from, struct claim_view *ret,
                           uint32_t *ret_next)
{
    const struct registrar *registrar = &matchmaker->registrar;

    for (; from < registrar->count; from++)
        if (registrar->active[from].claim) {
            active_view(matchmaker, &registrar->active[from], ret);
            *ret_next = from + 1;
            return true;
        }
    from = from & PAST ? from & ~PAST : 0;
    if (from >= registrar->history_count)
        return false;
    past_view(&registrar->history[from], ret);
    *ret_next = PAST | (from + 1);
    return true;
}

static void user_view_of(const struct matchmaker *matchmaker, int64_t wall, uint32_t number,
                         const struct account *account, struct user_view *ret)
{
    const struct registrar *registrar = &matchmaker->registrar;

    *ret =
        (struct user_view){.name = account->name,
                           .number = number,
                           .usage = accountant_usage(matchmaker->accountant, number, registrar_time(registrar, wall)),
                           .factor = account->factor,
                           .priority = registrar_priority(registrar, number, registrar_time(registrar, wall)),
                           .claims = number < registrar->share_count ? registrar->shares[number].claims : 0};
    ret->units = number < registrar->share_count ? weight_units(registrar->shares[number].use.weight) : 0;
}

bool matchmaker_next_user(const struct matchmaker *matchmaker, int64_t wall, uint32_t from, struct user_view *ret,
                          uint32_t *ret_next)
{
    struct account account;
    uint32_t number;

    if (!matchmaker->incarnation || !accountant_next(matchmaker->accountant, from, &number, &account))
        return false;
    user_view_of(matchmaker, wall, number, &account, ret);
    *ret_next = number + 1;
    return true;
}

bool matchmaker_find_user(const struct matchmaker *matchmaker, int64_t wall, const char *name, struct user_view *ret)
{
    uint32_t number = matchmaker->incarnation
                          ? accountant_find(matchmaker->accountant, name, account_len(name, strlen(name)))
                          : ACCOUNTANT_NOBODY;

    return number != ACCOUNTANT_NOBODY && matchmaker_next_user(matchmaker, wall, number, ret, &number);
}

bool matchmaker_next_usage(const struct matchmaker *matchmaker, uint32_t from, const struct usage_row **ret,
                           uint32_t *ret_next)
{
    const struct usage_book *book = &matchmaker->registrar.book;

    while (from < book->room && !book->rows[from].name)
        from++;
    if (from >= book->room)
        return false;
    *ret = &book->rows[from];
    *ret_next = from + 1;
    return true;
}

bool matchmaker_next_group(const struct matchmaker *matchmaker, uint32_t from, struct group_view *ret,
                           uint32_t *ret_next)
{
    const struct groups *groups = &matchmaker->registrar.groups;

    for (uint32_t i = from ? from : 1; i < groups->count && matchmaker->incarnation; i++) {
        const struct group *group = &groups->items[i];

        if (group->itself)
            continue;
        *ret = (struct group_view){.name = group->name,
                                   .quota = group->quota,
                                   .used = weight_units(group->used),
                                   .surplus = group->surplus,
                                   .units = group->units};
        for (int k = 0; k < SHARE_KINDS; k++) {
            ret->kinds[k] = group->kinds[k];
            ret->kinds_used[k] = weight_units(group->kinds_used[k]);
        }
        *ret_next = i + 1;
        return true;
    }
    return false;
}

bool matchmaker_group_takes(const struct matchmaker *matchmaker, const char *group, const char *user)
{
    struct text account;

    return groups_account(&matchmaker->registrar.groups, user, group, &account) == GROUPS_OK;
}

double matchmaker_pool(const struct matchmaker *matchmaker)
{
    return matchmaker->registrar.groups.pool;
}

bool matchmaker_next_limit(const struct matchmaker *matchmaker, uint32_t from, struct limit_view *ret,
                           uint32_t *ret_next)
{
    struct limit limit;

    if (!matchmaker->incarnation || !limits_next(&matchmaker->registrar.limits, from, &ret->name, &limit, ret_next))
        return false;
    ret->most = limit.most;
    ret->used = limit.used;
    return true;
}

bool matchmaker_user(const struct matchmaker *matchmaker, const char *name, int64_t wall, double *ret_usage,
                     double *ret_priority)
{
    uint32_t user;

    if (!matchmaker->incarnation)
        return false;
    user = accountant_find(matchmaker->accountant, name, account_len(name, strlen(name)));
    if (user == ACCOUNTANT_NOBODY)
        return false;
    wall = registrar_time(&matchmaker->registrar, wall);
    *ret_usage = accountant_usage(matchmaker->accountant, user, wall);
    *ret_priority = registrar_priority(&matchmaker->registrar, user, wall);
    return true;
}

bool matchmaker_ahead(const struct matchmaker *matchmaker, int64_t wall, agent who, uint64_t id, uint64_t *ret_units,
                      uint32_t *ret_users)
{
    const struct collector *collector = &matchmaker->collector;
    const struct registrar *registrar = &matchmaker->registrar;
    uint32_t own = matchmaker->incarnation ? entry_find(collector, who, id) : UINT32_MAX;
    double priority;
    struct map users; /* 1: served before */

    *ret_units = *ret_users = 0;
    if (own == UINT32_MAX || collector->entries[own].state != ENTRY_LIVE || registrar->groups.count > 1 ||
        engine_is_ordered(matchmaker->engine))
        return false;
    wall = registrar_time(registrar, wall);
    priority = registrar_priority(registrar, collector->entries[own].user, wall);
    map_init(&users, collector->places.seed);
    for (uint32_t i = 0; i < collector->count; i++) {
        const struct entry *entry = &collector->entries[i];
        uint64_t before;

        if (entry->state != ENTRY_LIVE || !entry->request || entry->free < 1 ||
            entry->user == collector->entries[own].user)
            continue;
        before = map_find(&users, entry->user);
        if (before == MAP_NONE) {
            before = registrar_priority(registrar, entry->user, wall) < priority;
            map_set(&users, entry->user, before);
            *ret_users += (uint32_t)before;
        }
        *ret_units += before ? (uint64_t)entry->free : 0;
    }
    map_done(&users);
    return true;
}
