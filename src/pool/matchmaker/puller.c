/* puller.c: offers that ask for a request when they have room. */
#include "pool/matchmaker/puller.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/matchmaker/collector_parts.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/ticket.h"

#include <stdlib.h>
#include <string.h>

#define DOUBLINGS_MAX 20
#define TIDY_MAX 16384 /* offers forgotten in one step at most: some milliseconds */

void puller_init(struct puller *puller, uint32_t ads_max, uint64_t seed)
{
    uint32_t share = ads_max ? ads_max : COLLECTOR_ADS_MAX;

    *puller = (struct puller){.share = share < PULLER_SHARE ? share : PULLER_SHARE,
                              .free = PULLER_NOBODY,
                              .first = PULLER_NOBODY,
                              .last = PULLER_NOBODY};
    map_init(&puller->places, seed);
    map_init(&puller->accounts, seed);
}

void puller_done(struct puller *puller)
{
    if (!puller)
        return;
    for (uint32_t i = puller->first; puller->items && i != PULLER_NOBODY; i = puller->items[i].after) {
        tree_unref(puller->items[i].answer.superior_ad);
        tree_unref(puller->items[i].answer.receipt);
    }
    free(puller->items);
    map_done(&puller->places);
    map_done(&puller->accounts);
}

/* ----------------------------------------------------------------------------------------------------------- memory */

/* Strangers choose both: if they knew the seed, one could take another's place. */
static uint64_t memory_key(const struct puller *puller, uint64_t who, uint64_t id)
{
    return rng_mix(id ^ rng_mix(who ^ puller->places.seed));
}

static uint64_t account_of(const struct puller *puller, const struct peer *peer)
{
    const char *text = peer->account ? peer->account : peer->identity;
    uint64_t account = puller->accounts.seed;

    for (; text && *text; text++)
        account = rng_mix(account ^ (unsigned char)*text);
    return account;
}

static uint64_t account_count(const struct puller *puller, uint64_t account)
{
    uint64_t count = map_find(&puller->accounts, account);

    return count == MAP_NONE ? 0 : count;
}

/* ---- offers in the order in which they were last heard of */

static void memory_unlink(struct puller *puller, uint32_t place)
{
    const struct pull_memory *memory = &puller->items[place];

    *(memory->before == PULLER_NOBODY ? &puller->first : &puller->items[memory->before].after) = memory->after;
    *(memory->after == PULLER_NOBODY ? &puller->last : &puller->items[memory->after].before) = memory->before;
}

static void memory_append(struct puller *puller, uint32_t place)
{
    struct pull_memory *memory = &puller->items[place];

    memory->before = puller->last;
    memory->after = PULLER_NOBODY;
    *(puller->last == PULLER_NOBODY ? &puller->first : &puller->items[puller->last].after) = place;
    puller->last = place;
}

/* ---- what offers count for */

static void memory_count(struct puller *puller, struct pull_memory *memory, bool waits, int64_t weight)
{
    int64_t less = memory->waits ? memory->weight : 0;

    puller->waiting += waits;
    puller->waiting -= memory->waits;
    memory->waits = waits;
    memory->weight = waits ? weight : 0;
    puller->weight += memory->weight - less;
    if (memory->weight < less)
        puller->told -= less - memory->weight < puller->told ? less - memory->weight : puller->told;
}

static void memory_forget(struct puller *puller, uint32_t place)
{
    struct pull_memory *memory = &puller->items[place];
    uint64_t count = account_count(puller, memory->account);

    map_remove(&puller->places, memory_key(puller, memory->agent, memory->id));
    if (count > 1)
        map_set(&puller->accounts, memory->account, count - 1);
    else
        map_remove(&puller->accounts, memory->account);
    memory_count(puller, memory, false, 0);
    memory_unlink(puller, place);
    tree_unref(memory->answer.superior_ad);
    tree_unref(memory->answer.receipt);
    *memory = (struct pull_memory){.after = puller->free};
    puller->free = place;
    puller->count--;
}

/* Forgets offers that have not been heard of for a lifetime, but not very many in one step. */
static void memories_tidy(struct puller *puller, int64_t now, int64_t lifetime)
{
    for (uint32_t i = 0; i < TIDY_MAX && puller->first != PULLER_NOBODY; i++) {
        if (puller->items[puller->first].at + lifetime > now)
            return;
        memory_forget(puller, puller->first);
    }
}

static uint32_t memory_place(struct puller *puller)
{
    uint32_t place = puller->free;

    if (place != PULLER_NOBODY) {
        puller->free = puller->items[place].after;
        return place;
    }
    ARRAY_ROOM(puller->items, puller->count, puller->room, 64);
    return puller->count;
}

/* What is remembered of an offer, or NULL. */
static struct pull_memory *memory_find(const struct puller *puller, uint64_t who, uint64_t id)
{
    uint64_t place = map_find(&puller->places, memory_key(puller, who, id));
    struct pull_memory *memory = place == MAP_NONE ? NULL : &puller->items[place];

    return memory && memory->agent == who && memory->id == id ? memory : NULL;
}

/* Adds a new offer. */
static struct pull_memory *memory_add(struct puller *puller, const struct peer *peer, uint64_t id)
{
    uint64_t account = account_of(puller, peer), key = memory_key(puller, peer->agent, id);
    uint64_t other = map_find(&puller->places, key);
    uint32_t place;

    if (other != MAP_NONE)
        memory_forget(puller, (uint32_t)other);
    if (puller->count == PULLER_MEMORY)
        memory_forget(puller, puller->first);
    place = memory_place(puller);
    puller->items[place] = (struct pull_memory){.agent = peer->agent, .id = id, .account = account};
    puller->count++;
    memory_append(puller, place);
    map_set(&puller->places, key, place);
    map_set(&puller->accounts, account, account_count(puller, account) + 1);
    return &puller->items[place];
}

bool puller_is_full(const struct puller *puller, const struct peer *peer, uint64_t id)
{
    return !memory_find(puller, peer->agent, id) && account_count(puller, account_of(puller, peer)) >= puller->share;
}

/* Keeps the answer to the offer's last pull. */
static void memory_keep(struct puller *puller, struct pull_memory *memory, const struct pulled *answer, int64_t weight,
                        int64_t now)
{
    uint32_t place = (uint32_t)(memory - puller->items);

    tree_unref(memory->answer.superior_ad);
    tree_unref(memory->answer.receipt);
    memory->answer = *answer;
    memory->at = now;
    memory_count(puller, memory, answer->reason == REASON_WAIT, weight);
    if (place != puller->last) {
        memory_unlink(puller, place);
        memory_append(puller, place);
    }
}

/* The answer that was given before, if this is the same pull; false when it is a new one. */
static bool memory_answers(const struct pull_memory *memory, const struct pull *pull, int64_t now, struct pulled *ret)
{
    if (!memory || pull->number > memory->answer.number ||
        (pull->number == memory->answer.number && memory->answer.reason == REASON_WAIT)) /* that pull found nothing */
        return false;
    if (pull->number < memory->answer.number || now - memory->at >= memory->answer.window) {
        ret->reason = REASON_STALE;
        ret->number = memory->answer.number;
        return true;
    }
    *ret = memory->answer;
    ret->age = now - memory->at;
    return true;
}

/* --------------------------------------------------------------------------------------------------------- a match */

/* For a planted bug (PULL_TWICE): puts the unit that was taken back. */
static void unit_put_back(struct collector *collector, uint32_t place, struct tree *ad)
{
    struct entry *entry = &collector->entries[place];

    entry->ledger_count--;
    entry->unnamed--;
    entry->free++;
    if (!entry->left)
        entry->left = tree_ref(ad);
    collector_restore(collector, place);
}

/* The engine has taken a unit of the request. Tells its ledger, the registrar and its customer, and fills in the
 * offer's answer. The caller unrefs the superior's ad and the receipt. */
static void pull_matched(const struct puller_pool *pool, const struct role_env *env, const struct peer *peer,
                         const struct pull *pull, struct tree *text, uint32_t place, struct pulled *ret,
                         struct effects *effects)
{
    struct collector *collector = pool->collector;
    const struct entry *root = &collector->entries[place];
    struct match_told told = {
        .id = root->id, .incarnation = collector->incarnation, .window = collector->spans->window};
    struct edges *edges = edges_new(1);
    struct tally_unit unit;
    struct limits_asked asked;
    struct text owner;

    ret->reason = REASON_OK;
    ret->window = told.window;
    ret->gang = told.gang = secrets_word(env->secrets);
    ret->claim = secrets_word(env->secrets);
    ret->superior = root->agent;
    ret->superior_ad = tree_ref(root->left); /* the ad as it was matched */
    collector_owner(collector, ret->superior_ad, &owner);
    edges->items[0] = (struct edge){.claim = ret->claim, .agent = peer->agent, .offer = pull->id, .ad = tree_ref(text)};
    ticket_make(env->secrets, &pull->key, pull->id, ret->claim, ret->gang, owner.bytes, &edges->items[0].ticket);
    told.edges = edges;
    told.number = collector_match(collector, env, place, NULL);
    if (MUTANT(PULL_TWICE))
        unit_put_back(collector, place, ret->superior_ad);
    collector_asks(collector, env, ret->superior_ad, &asked);
    collector_unit(collector, env, &(struct collector_match_ads){.offer = text, .root = ret->superior_ad}, &unit);
    ret->receipt =
        registrar_expect(pool->registrar, env,
                         &(struct expected){.claim = ret->claim,
                                            .gang = ret->gang,
                                            .from = peer->agent,
                                            .offer = pull->id,
                                            .user = root->user,
                                            .weight = collector_weight(collector, env, text, ret->superior_ad),
                                            .asked = &asked,
                                            .unit = &unit});
    edges->items[0].receipt = ret->receipt ? tree_ref(ret->receipt) : NULL;
    notifier_add(pool->notifier, env, root->agent, &told, effects);
    edges_unref(edges);
}

/* When to ask again, after that many failed pulls: somewhat random, so that offers that came together spread out. */
static int64_t wait_span(const struct puller *puller, const struct spans *spans, const struct role_env *env,
                         uint32_t vain)
{
    int64_t most = (int64_t)puller->waiting * (SECOND / PULLER_RATE), span = spans->cycle > 0 ? spans->cycle : 1;

    most = most > SECOND ? most : SECOND;
    for (uint32_t i = 0; i < vain && i < DOUBLINGS_MAX && span < most; i++)
        span *= 2;
    span = span < most ? span : most;
    return span / 2 + (int64_t)rng_below(env->chance, (uint64_t)span + 1);
}

/* What is remembered of a pull beside its answer. */
struct attempt {
    uint32_t vain;  /* failed pulls in a row: first without this one, then with it */
    int64_t weight; /* that the offer counts for while it waits */
};

/* Tries to find a request for the ad. The answer is OK or WAIT, or why the ad may not ask. */
static void pull_try(const struct puller *puller, const struct puller_pool *pool, const struct role_env *env,
                     const struct peer *peer, const struct pull *pull, struct attempt *attempt, struct pulled *ret,
                     struct effects *effects)
{
    struct collector *collector = pool->collector;
    struct advertise as_offer = {.id = pull->id, .ad = pull->ad};
    struct env eval = eval_env(env);
    struct text_terms terms = {0};
    struct tree *text;
    bool later = false;
    uint32_t place;

    ret->reason = text_check(collector, env, peer, &as_offer, &terms);
    if (ret->reason != REASON_OK)
        return;
    text = text_write(collector, env, pull->ad, peer->identity ? peer->identity : "", &terms);
    if (!text) {
        ret->reason = REASON_LIMIT;
        return;
    }
    eval.seed = rng_next(env->chance);
    place = engine_pull(collector->engine, env->scratch, text, &eval, &later);
    if (place != ENGINE_NO_ONE && collector_lives(collector, env->now, place)) {
        pull_matched(pool, env, peer, pull, text, place, ret, effects);
        attempt->vain = 0;
    } else {
        if (place != ENGINE_NO_ONE)
            collector_restore(collector, place);
        ret->reason = REASON_WAIT;
        attempt->weight = collector_weight(collector, env, text, NULL);
        ret->span = wait_span(puller, collector->spans, env, later ? 0 : attempt->vain);
        attempt->vain += !later && attempt->vain < DOUBLINGS_MAX;
    }
    tree_unref(text);
}

/* Computing quotas from the weight is much work: so a larger weight is told only once a second. An offer that has a
 * claim counts there from then on. */
int64_t puller_weight(struct puller *puller, int64_t now, int64_t lifetime)
{
    memories_tidy(puller, now, lifetime);
    if (!puller->told_at || now >= puller->told_at + SECOND) {
        puller->told = puller->weight;
        puller->told_at = now;
    }
    return puller->told;
}

uint64_t puller_take(struct puller *puller, const struct puller_pool *pool, const struct role_env *env,
                     const struct peer *peer, const struct pull *pull, struct pulled *ret, struct effects *effects)
{
    struct pull_memory *memory;
    struct attempt attempt = {0};

    memories_tidy(puller, env->now, pool->collector->spans->lifetime);
    memory = memory_find(puller, peer->agent, pull->id);
    attempt.vain = memory ? memory->vain : 0;
    *ret = (struct pulled){.id = pull->id,
                           .number = pull->number ? pull->number
                                     : memory     ? memory->answer.number + 1
                                                  : 1,
                           .incarnation = pool->collector->incarnation};
    if (pull->number && memory_answers(memory, pull, env->now, ret))
        return 0;
    if (!memory && puller_is_full(puller, peer, pull->id)) {
        ret->reason = REASON_LIMIT;
        return 0;
    }
    pull_try(puller, pool, env, peer, pull, &attempt, ret, effects);
    if (ret->reason != REASON_OK && ret->reason != REASON_WAIT)
        return 0; /* it was not a valid pull */
    if (!memory)
        memory = memory_add(puller, peer, pull->id);
    memory->vain = attempt.vain;
    memory_keep(puller, memory, ret, attempt.weight, env->now);
    return ret->reason == REASON_OK;
}

bool puller_valid(const struct puller *puller, const char **ret_why)
{
    uint32_t count = 0, waiting = 0, before = PULLER_NOBODY;
    int64_t weight = 0;
    const char *why = NULL;

    for (uint32_t i = puller->first; i != PULLER_NOBODY && count <= puller->count; i = puller->items[i].after) {
        const struct pull_memory *memory = &puller->items[i];

        count++;
        waiting += memory->waits;
        weight += memory->weight;
        if (map_find(&puller->places, memory_key(puller, memory->agent, memory->id)) != i || memory->before != before)
            why = "an offer that pulls is not found";
        if (account_count(puller, memory->account) > puller->share)
            why = "an account has more offers that pull than it may";
        before = i;
    }
    if (count != puller->count || count != map_count(&puller->places) || before != puller->last)
        why = "the offers that pull are not counted right";
    if (waiting != puller->waiting || weight != puller->weight)
        why = "those who pull in vain are not counted right";
    if (why)
        *ret_why = why;
    return !why;
}
