/* collector.c: the ads of a matchmaker. */
#include "pool/matchmaker/collector_parts.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "match/pair/match.h"
#include "match/pair/residual.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/seen.h"

#include <stdlib.h>
#include <string.h>

static const char *const name_texts[] = {
    "Owner",
    "Identity",
    "Received",
    "Lifetime",
    "RemoteUser",
    "Weight",
    "AccountingGroup",
    "ConcurrencyLimits",
    "RemoteGroup",
    "Priority",
    "JobPrio",
    "Submitted",
    "FirstJob",
    "UserPrio",
    "RemoteUserPrio",
    "PlannedOn",
    "Usage",
    "Name",
    "Cpus",
    "GpuCount",
    "RequestCpus",
    "RequestGpus",
    "Benchmark",
    "Residual",
    "Type",
};

void collector_init(struct collector *collector, const struct collector_settings *settings)
{
    *collector = (struct collector){.spans = settings->spans,
                                    .symbols = settings->symbols,
                                    .engine = settings->engine,
                                    .timers = settings->timers,
                                    .accountant = settings->accountant,
                                    .timer_what = settings->timer_what,
                                    .ads_max = settings->ads_max ? settings->ads_max : COLLECTOR_ADS_MAX,
                                    .incarnation = settings->incarnation,
                                    .free = NOBODY};
    for (int i = 0; i < COLLECTOR_NAMES; i++)
        collector->names[i] = symbols_take(settings->symbols, name_texts[i], strlen(name_texts[i]));
    map_init(&collector->places, settings->seed);
    map_init(&collector->agents, settings->seed);
    map_init(&collector->bytes, settings->seed);
}

static void ledger_clear(struct entry *entry)
{
    for (uint32_t i = 0; i < entry->ledger_count; i++)
        tree_unref(entry->ledger[i].counterpart);
    free(entry->ledger);
    entry->ledger = NULL;
    entry->ledger_count = entry->ledger_room = 0;
}

void collector_done(struct collector *collector)
{
    if (!collector || !collector->symbols)
        return;
    for (uint32_t i = 0; i < collector->count; i++) {
        tree_unref(collector->entries[i].ad);
        tree_unref(collector->entries[i].left);
        ledger_clear(&collector->entries[i]);
    }
    free(collector->entries);
    free(collector->unweighed);
    map_done(&collector->places);
    map_done(&collector->agents);
    map_done(&collector->bytes);
    for (int i = 0; i < COLLECTOR_NAMES; i++)
        symbols_drop(collector->symbols, collector->names[i]);
}

/* ---------------------------------------------------------------------------------------------------------- entries */

/* Entries at one place in the map are chained: two pairs of agent and id may mix to the same word. */
static uint64_t place_of(const struct collector *collector, agent who, uint64_t id)
{
    return rng_mix(who ^ collector->places.seed) + id;
}

uint32_t entry_find(const struct collector *collector, agent who, uint64_t id)
{
    uint64_t at = map_find(&collector->places, place_of(collector, who, id));
    uint32_t number = at == MAP_NONE ? NOBODY : (uint32_t)at;

    while (number != NOBODY && (collector->entries[number].agent != who || collector->entries[number].id != id))
        number = collector->entries[number].next;
    return number;
}

/* How many entries, or bytes, the agent has. */
static uint64_t tally_of(const struct map *map, agent who)
{
    uint64_t found = map_find(map, who);

    return found == MAP_NONE ? 0 : found;
}

static void tally_change(struct map *map, agent who, uint64_t more, uint64_t less)
{
    uint64_t now = tally_of(map, who) + more - less;

    if (more == less)
        return;
    if (now)
        map_set(map, who, now);
    else
        map_remove(map, who);
}

static uint64_t agent_entries(const struct collector *collector, agent who)
{
    return tally_of(&collector->agents, who);
}

static void agent_count(struct collector *collector, agent who, uint64_t more, uint64_t less)
{
    tally_change(&collector->agents, who, more, less);
}

uint64_t text_bytes(const struct tree *text)
{
    return text ? tree_size(text) : 0;
}

/* agent_may_add: may the agent have another entry? agent_may_live: may it have one more that lives? */
static bool agent_may_add(const struct collector *collector, agent who)
{
    return agent_entries(collector, who) / ENTRY_ONE < UINT64_C(2) * collector->ads_max &&
           (collector->free != NOBODY || collector->count < COLLECTOR_ENTRIES_MAX);
}

static bool agent_may_live(const struct collector *collector, agent who)
{
    return agent_entries(collector, who) % ENTRY_ONE < collector->ads_max;
}

static uint32_t entry_add(struct collector *collector, agent who, uint64_t id)
{
    uint64_t place = place_of(collector, who, id), first = map_find(&collector->places, place);
    uint32_t number = collector->free;

    if (number != NOBODY) {
        collector->free = collector->entries[number].next;
    } else {
        ARRAY_ROOM(collector->entries, collector->count, collector->room, 64);
        number = collector->count++;
        collector->entries[number] = (struct entry){.weight = 0};
    }
    collector->entries[number] = (struct entry){.agent = who,
                                                .id = id,
                                                .state = ENTRY_EXPIRED,
                                                .user = ACCOUNTANT_NOBODY,
                                                .remote = ACCOUNTANT_NOBODY,
                                                .lifetime = collector->spans->lifetime,
                                                .timer = INT64_MAX,
                                                .weight = collector->entries[number].weight,
                                                .unweighed = collector->entries[number].unweighed,
                                                .next = first == MAP_NONE ? NOBODY : (uint32_t)first};
    map_set(&collector->places, place, number);
    agent_count(collector, who, ENTRY_ONE, 0);
    return number;
}

/* Forgets the entry. */
static void entry_forget(struct collector *collector, uint32_t number)
{
    struct entry *entry = &collector->entries[number];
    uint64_t place = place_of(collector, entry->agent, entry->id);
    uint32_t at = (uint32_t)map_find(&collector->places, place);

    if (at == number && entry->next == NOBODY) {
        map_remove(&collector->places, place);
    } else if (at == number) {
        map_set(&collector->places, place, entry->next);
    } else {
        while (collector->entries[at].next != number)
            at = collector->entries[at].next;
        collector->entries[at].next = entry->next;
    }
    agent_count(collector, entry->agent, 0, ENTRY_ONE);
    ledger_clear(entry);
    *entry = (struct entry){
        .state = ENTRY_FREE, .next = collector->free, .weight = entry->weight, .unweighed = entry->unweighed};
    collector->free = number;
}

void entry_set_user(struct collector *collector, struct entry *entry, uint32_t user)
{
    if (user != ACCOUNTANT_NOBODY)
        accountant_hold(collector->accountant, user);
    if (entry->user != ACCOUNTANT_NOBODY)
        accountant_drop(collector->accountant, entry->user);
    entry->user = user;
}

/* Sets the user whose job the offer runs. */
void entry_set_remote(struct collector *collector, struct entry *entry, uint32_t remote)
{
    if (remote != ACCOUNTANT_NOBODY)
        accountant_hold(collector->accountant, remote);
    if (entry->remote != ACCOUNTANT_NOBODY)
        accountant_drop(collector->accountant, entry->remote);
    entry->remote = remote;
}

/* The ad is gone; the entry is remembered for a while. */
static void entry_end(struct collector *collector, uint32_t number, enum entry_state state, int64_t now)
{
    const struct spans *spans = collector->spans;
    struct entry *entry = &collector->entries[number];

    if (entry->state == ENTRY_LIVE) {
        engine_remove(collector->engine, number);
        agent_count(collector, entry->agent, 0, LIVE_ONE);
        collector->live--;
        entry_set_user(collector, entry, ACCOUNTANT_NOBODY);
        entry_set_remote(collector, entry, ACCOUNTANT_NOBODY);
        tally_change(&collector->bytes, entry->agent, 0, text_bytes(entry->ad));
        tree_unref(entry->ad);
        tree_unref(entry->left);
        entry->ad = entry->left = NULL;
        entry->advertised = entry->free = 0;
        entry_unweigh(collector, number);
    }
    entry->state = state;
    entry->forget = now + (entry->lifetime > spans->deadline ? entry->lifetime : spans->deadline);
    if (entry->ledger_count && entry->ledger[entry->ledger_count - 1].settles > entry->forget)
        entry->forget = entry->ledger[entry->ledger_count - 1].settles;
}

/* Sets a timer unless an earlier one waits. Timers that are overtaken are popped for nothing. */
static void entry_schedule(struct collector *collector, uint32_t number, int64_t now)
{
    struct entry *entry = &collector->entries[number];
    int64_t due = entry->state == ENTRY_LIVE ? entry->expires : entry->forget;

    if (MUTANT(LIFETIME_IGNORED) && due <= now)
        due = now + entry->lifetime;
    if (due >= entry->timer)
        return;
    timers_set(collector->timers, due, collector->timer_what, number);
    entry->timer = due;
    entry->timers++;
}

void collector_due(struct collector *collector, const struct role_env *env, uint32_t number, int64_t at)
{
    struct entry *entry = &collector->entries[number];

    entry->timers--;
    if (at == entry->timer)
        entry->timer = INT64_MAX;
    if (entry->state == ENTRY_LIVE && entry->expires <= env->now && !MUTANT(LIFETIME_IGNORED))
        entry_end(collector, number, ENTRY_EXPIRED, env->now);
    if (entry->state == ENTRY_LIVE || entry->forget > env->now)
        entry_schedule(collector, number, env->now);
    else if (entry->timers == 0)
        entry_forget(collector, number);
}

bool collector_lives(const struct collector *collector, int64_t now, uint32_t number)
{
    const struct entry *entry = &collector->entries[number];

    return entry->state == ENTRY_LIVE && (entry->expires > now || MUTANT(LIFETIME_IGNORED));
}

/* ----------------------------------------------------------------------------------------------------------- ledger */

/* The largest number that `seen` names. */
static uint64_t seen_highest(const struct seen *seen)
{
    uint64_t highest = seen->last;

    for (uint64_t beyond = seen->beyond, number = seen->last + 2; beyond; beyond >>= 1, number++)
        if (beyond & 1)
            highest = number;
    return highest;
}

static bool seen_names(const struct collector *collector, const struct seen *seen, uint64_t number)
{
    uint64_t incarnation = MUTANT(INCARNATION_IGNORED) ? seen->incarnation : collector->incarnation;

    if (MUTANT(SEEN_IGNORED))
        return true;
    if (MUTANT(SEEN_GAPS))
        return seen->incarnation == incarnation && number <= seen_highest(seen);
    return seen_has(seen, incarnation, number);
}

/* A text that was written when our clock was `heard` holds now: matches that it names are taken into account in it, and
 * units of matches that it will never name come back. */
static void ledger_settle(struct collector *collector, struct entry *entry, int64_t now, int64_t heard)
{
    uint32_t kept = 0;

    entry->unnamed = 0;
    for (uint32_t i = 0; i < entry->ledger_count; i++) {
        struct outstanding at = entry->ledger[i];

        at.named = seen_names(collector, &entry->seen, at.number);
        if (at.settles <= now && (at.named || at.settles <= heard)) {
            tree_unref(at.counterpart);
            continue;
        }
        entry->unnamed += !at.named;
        entry->ledger[kept++] = at;
    }
    entry->ledger_count = kept;
    if (!kept)
        ledger_clear(entry);
}

/* The earliest time, by our clock, at which the text was written; what its sender heard from another life of ours tells
 * nothing. */
static int64_t text_heard(const struct collector *collector, const struct advertise *advertise)
{
    return advertise->seen.incarnation == collector->incarnation ? advertise->heard : INT64_MIN;
}

/* Takes the unnamed matches of the ledger off the text, as the engine would have; what is left goes into the engine, or
 * the ad leaves it. */
static void entry_offer(struct collector *collector, const struct role_env *env, uint32_t number)
{
    struct entry *entry = &collector->entries[number];
    struct tree *left = tree_ref(entry->ad), *next;
    struct env at = eval_env(env);
    int64_t units = entry->advertised;

    for (uint32_t i = 0; i < entry->ledger_count && units > 0; i++) {
        if (entry->ledger[i].named)
            continue;
        if (!entry->ledger[i].counterpart || !residual_of(left)) {
            units--;
            continue;
        }
        next = residual_make(&at, env->scratch, left, entry->ledger[i].counterpart);
        if (!next || !match_is_open(&at, env->scratch, next))
            units = 0;
        tree_unref(left);
        left = next;
    }
    if (units <= 0) {
        tree_unref(left);
        left = NULL;
    }
    tree_unref(entry->left);
    entry->left = left;
    entry->free = left ? units : 0;
    entry_unweigh(collector, number);
    collector_restore(collector, number);
}

void collector_restore(struct collector *collector, uint32_t number)
{
    struct entry *entry = &collector->entries[number];
    struct tree *worn = NULL;
    struct engine_terms terms = {
        .request = entry->request, .units = entry->free, .order = entry->order, .user = entry->user};

    if (entry->state == ENTRY_LIVE && entry->left && collector->dress)
        worn = collector->dress(collector->dresser, number);
    entry->dressed = worn != NULL;
    if (entry->state == ENTRY_LIVE && entry->left)
        engine_put(collector->engine, number, worn ? worn : entry->left, &terms);
    else
        engine_remove(collector->engine, number);
    tree_unref(worn);
    engine_set_remote(collector->engine, number, entry->remote == ACCOUNTANT_NOBODY ? 0 : entry->remote + 1);
    engine_set_turn(collector->engine, number, &entry->turn);
}

uint64_t collector_match(struct collector *collector, const struct role_env *env, uint32_t number,
                         struct tree *counterpart)
{
    const struct spans *spans = collector->spans;
    struct entry *entry = &collector->entries[number];
    struct tree *left;

    ARRAY_ROOM(entry->ledger, entry->ledger_count, entry->ledger_room, 1);
    /* the match may be told at the end of the window, and take a deadline to arrive */
    entry->unnamed++;
    entry->ledger[entry->ledger_count++] =
        (struct outstanding){.number = ++entry->numbered,
                             .settles = env->now + spans->window + spans->deadline,
                             .counterpart = counterpart ? tree_ref(counterpart) : NULL};
    if (entry->dressed) { /* what the engine has left is not what is left of the ad */
        entry_offer(collector, env, number);
        return entry->numbered;
    }
    entry->free = engine_units(collector->engine, number);
    left = entry->free > 0 ? tree_ref(engine_ad(collector->engine, number)) : NULL;
    tree_unref(entry->left);
    entry->left = left;
    entry_unweigh(collector, number);
    return entry->numbered;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

/* The n-th of the matches that the text does not name; n is below their number. */
static const struct outstanding *ledger_unnamed(const struct entry *entry, int64_t n)
{
    const struct outstanding *at = entry->ledger;

    for (; at->named || n-- > 0; at++)
        ;
    return at;
}

/* The number up to which all matches no longer count. */
static uint64_t entry_settled(const struct entry *entry)
{
    return entry->unnamed ? ledger_unnamed(entry, 0)->number - 1 : entry->numbered;
}

/* How long until a text like this one has something left again. */
static int64_t entry_returns(const struct entry *entry, int64_t now)
{
    int64_t excess = (int64_t)entry->unnamed - entry->advertised, settles; /* so many matches, and one more */

    if (entry->advertised == 0 || entry->unnamed == 0)
        return entry->lifetime;
    if (excess < 0 || residual_of(entry->ad))
        excess = 0;
    settles = ledger_unnamed(entry, excess)->settles;
    return settles > now ? settles - now : 0;
}

static void entry_answer(const struct entry *entry, int64_t now, struct advertised *ret)
{
    ret->version = entry->version;
    ret->settled = entry_settled(entry);
    ret->reason = entry->free > 0 ? REASON_OK : REASON_CONSUMED;
    ret->span = entry->free > 0 ? 0 : entry_returns(entry, now);
}

/* ------------------------------------------------------------------------------------------------------------ texts */

/* Is there room for the ad? */
static enum reason check_limits(const struct collector *collector, agent who, const struct entry *entry,
                                int64_t expires)
{
    if (!entry && !agent_may_add(collector, who))
        return REASON_LIMIT;
    if ((!entry || entry->state != ENTRY_LIVE) && !agent_may_live(collector, who))
        return REASON_LIMIT;
    if (entry && entry->timers >= COLLECTOR_TIMERS_MAX && expires < entry->timer)
        return REASON_LIMIT;
    return REASON_OK;
}

/* The new text replaces the one before. */
static void entry_take(struct collector *collector, const struct role_env *env, uint32_t number, struct tree *text,
                       const struct advertise *advertise, const struct text_terms *terms)
{
    struct entry *entry = &collector->entries[number];

    if (entry->state != ENTRY_LIVE) {
        agent_count(collector, entry->agent, LIVE_ONE, 0);
        collector->live++;
        entry->order = ++collector->arrivals;
        entry->turn.submitted = wall_seconds(env->wall);
    }
    entry->turn.priority = terms->turn.priority;
    entry->turn.number = terms->turn.number;
    if (terms->turn.submitted) /* else it counts from when the ad came */
        entry->turn.submitted = terms->turn.submitted;
    entry->state = ENTRY_LIVE;
    entry->version = advertise->version;
    entry->request = advertise->request;
    entry->seen = advertise->seen;
    entry->key = advertise->key;
    tally_change(&collector->bytes, entry->agent, text_bytes(text), text_bytes(entry->ad));
    tree_unref(entry->ad);
    entry->ad = text;
    entry->advertised = terms->units;
    entry->lifetime = terms->lifetime;
    entry->expires = env->now + terms->lifetime;
    entry_set_user(collector, entry, entry_account(collector, &terms->owner, &terms->group));
    entry_set_remote(collector, entry,
                     terms->remote.bytes[0] ? entry_account(collector, &terms->remote, &terms->remote_group)
                                            : ACCOUNTANT_NOBODY);
    /* The entry may have been forgotten, but its sender knows numbers: they have been used. */
    if (entry->seen.incarnation == collector->incarnation && seen_highest(&entry->seen) > entry->numbered)
        entry->numbered = seen_highest(&entry->seen);
    ledger_settle(collector, entry, env->now, text_heard(collector, advertise));
    entry_offer(collector, env, number);
    entry_schedule(collector, number, env->now);
}

static enum reason entry_put(struct collector *collector, const struct role_env *env, const struct peer *peer,
                             uint32_t number, const struct advertise *advertise, struct advertised *ret)
{
    const struct entry *entry = number == NOBODY ? NULL : &collector->entries[number];
    const char *identity = peer->identity ? peer->identity : "";
    struct text_terms terms = {0};
    struct tree *text;
    enum reason reason = text_check(collector, env, peer, advertise, &terms);

    if (reason == REASON_OK)
        reason = check_limits(collector, peer->agent, entry, env->now + terms.lifetime);
    if (reason != REASON_OK)
        return reason;
    if (entry && entry->ad && text_is_same(collector, entry->ad, advertise->ad, identity, &terms))
        text = tree_ref(entry->ad);
    else
        text = text_write(collector, env, advertise->ad, identity, &terms);
    if (!text || tally_of(&collector->bytes, peer->agent) + text_bytes(text) - (entry ? text_bytes(entry->ad) : 0) >
                     COLLECTOR_BYTES_MAX) {
        tree_unref(text);
        return REASON_LIMIT;
    }
    if (!entry)
        number = entry_add(collector, peer->agent, advertise->id);
    entry_take(collector, env, number, text, advertise, &terms);
    entry_answer(&collector->entries[number], env->now, ret);
    return ret->reason;
}

/* A renewal without text. It stands for the text: units of matches that no text can name any more come back. */
static enum reason entry_renew(struct collector *collector, const struct role_env *env, uint32_t number,
                               const struct advertise *advertise, struct advertised *ret)
{
    struct entry *entry = number == NOBODY ? NULL : &collector->entries[number];
    bool moved;

    if (!entry || !collector_lives(collector, env->now, number))
        return REASON_BODY;
    moved = advertise->version != entry->version || !seen_equal(&advertise->seen, &entry->seen);
    if (moved && !MUTANT(BARE_MOVED))
        return REASON_BODY;
    entry->expires = env->now + entry->lifetime;
    if (entry->ledger_count && entry->ledger[0].settles <= env->now) {
        ledger_settle(collector, entry, env->now, text_heard(collector, advertise));
        entry_offer(collector, env, number);
    }
    entry_answer(entry, env->now, ret);
    return ret->reason;
}

void collector_advertise(struct collector *collector, const struct role_env *env, const struct peer *peer,
                         const struct advertise *advertise, struct advertised *ret)
{
    uint32_t number = entry_find(collector, peer->agent, advertise->id);
    const struct entry *entry = number == NOBODY ? NULL : &collector->entries[number];

    *ret = (struct advertised){
        .id = advertise->id, .version = advertise->version, .incarnation = collector->incarnation, .clock = env->now};
    if (entry) {
        bool withdrawn = entry->state == ENTRY_WITHDRAWN && advertise->version == entry->version;

        ret->settled = entry_settled(entry);
        if ((advertise->version < entry->version || withdrawn) && !MUTANT(VERSION_IGNORED)) {
            ret->version = entry->version;
            ret->reason = REASON_STALE;
            return;
        }
    }
    ret->reason = advertise->bare ? entry_renew(collector, env, number, advertise, ret)
                                  : entry_put(collector, env, peer, number, advertise, ret);
}

enum reason collector_withdraw(struct collector *collector, const struct role_env *env, const struct peer *peer,
                               const struct withdraw *withdraw)
{
    uint32_t number = entry_find(collector, peer->agent, withdraw->id);

    if (number == NOBODY && !agent_may_add(collector, peer->agent))
        return REASON_OK;
    if (number == NOBODY) /* the ad's text may still be on its way */
        number = entry_add(collector, peer->agent, withdraw->id);
    if (withdraw->version < collector->entries[number].version && !MUTANT(VERSION_IGNORED))
        return REASON_STALE;
    collector->entries[number].version = withdraw->version;
    entry_end(collector, number, ENTRY_WITHDRAWN, env->now);
    if (collector->entries[number].timers < COLLECTOR_TIMERS_MAX)
        entry_schedule(collector, number, env->now);
    return REASON_OK;
}

/* -------------------------------------------------------------------------------------------------------- questions */

void collector_owner(const struct collector *collector, const struct tree *ad, struct text *ret)
{
    const struct expr *owner = tree_find(ad, tree_root(ad), collector->names[COLLECTOR_OWNER]);

    if (owner && owner->kind == EXPR_STRING && owner->u.run.count)
        text_set(ret, tree_string(ad, owner), owner->u.run.count);
    else
        text_set(ret, "", 0);
}

void entry_view(const struct entry *entry, struct entry_view *ret)
{
    *ret = (struct entry_view){.id = entry->id,
                               .user = entry->user,
                               .version = entry->version,
                               .agent = entry->agent,
                               .request = entry->request,
                               .expires = entry->expires,
                               .advertised = entry->advertised,
                               .free = entry->free,
                               .outstanding = entry->unnamed,
                               .numbered = entry->numbered,
                               .seen = entry->seen,
                               .ad = entry->ad,
                               .left = entry->left};
}
