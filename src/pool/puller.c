/* puller.c: offers that ask for a request when they have room. */
#include "pool/puller.h"

#include "base/mem.h"
#include "pool/collector_parts.h"
#include "pool/plants.h"
#include "pool/ticket.h"

#include <stdlib.h>
#include <string.h>

#define DOUBLINGS_MAX 20

void puller_init(struct puller *puller, uint64_t seed)
{
    *puller = (struct puller){0};
    map_init(&puller->places, seed);
}

void puller_done(struct puller *puller)
{
    if (!puller)
        return;
    for (uint32_t i = 0; i < puller->count; i++)
        tree_unref(puller->items[i].answer.superior_ad);
    free(puller->items);
    map_done(&puller->places);
}

/* ----------------------------------------------------------------------------------------------------------- memory */

static uint64_t memory_key(uint64_t who, uint64_t id)
{
    return rng_mix(id ^ rng_mix(who));
}

static uint32_t memory_place(struct puller *puller)
{
    if (puller->count < PULLER_MEMORY) {
        if (puller->count == puller->room) {
            puller->room = puller->room ? puller->room * 2 : 64;
            puller->items = mem_grow(puller->items, puller->room * sizeof *puller->items);
        }
        puller->items[puller->count] = (struct pull_memory){0};
        return puller->count++;
    }
    return puller->next++ % PULLER_MEMORY;
}

/* It has a claim, which counts, or is forgotten. */
static void memory_uncount(struct puller *puller, struct pull_memory *memory)
{
    puller->weight -= memory->counted;
    memory->counted = 0;
}

/* What is remembered of an offer: of number 0 when it is new. */
static struct pull_memory *memory_of(struct puller *puller, uint64_t who, uint64_t id)
{
    uint64_t key = memory_key(who, id), place = map_find(&puller->places, key);
    struct pull_memory *memory = place != MAP_NONE ? &puller->items[place] : NULL;

    if (memory && memory->agent == who && memory->id == id)
        return memory;
    if (!memory) {
        place = memory_place(puller);
        memory = &puller->items[place];
    }
    if (map_find(&puller->places, memory_key(memory->agent, memory->id)) == place)
        map_remove(&puller->places, memory_key(memory->agent, memory->id));
    tree_unref(memory->answer.superior_ad);
    memory_uncount(puller, memory);
    *memory = (struct pull_memory){.agent = who, .id = id};
    map_set(&puller->places, key, place);
    return memory;
}

/* The answer that was given before, if it is the same pull; false when it is another. */
static bool memory_answers(const struct pull_memory *memory, const struct pull *pull, int64_t now, struct pulled *ret)
{
    if (!memory->answer.number || pull->number > memory->answer.number ||
        (pull->number == memory->answer.number && memory->answer.reason == REASON_WAIT)) /* nothing came of it */
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

/* A bug that can be planted: what was taken is put back. */
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

/* The engine has taken a unit of the request: its ledger, the registrar and its customer hear of it, and the offer's part is answered.
 * The caller unrefs the superior's ad. */
static void pull_matched(const struct puller_pool *pool, const struct role_env *env, const struct peer *peer,
                         const struct pull *pull, struct tree *text, uint32_t place, struct pulled *ret,
                         struct effects *effects)
{
    struct collector *collector = pool->collector;
    const struct entry *root = &collector->entries[place];
    struct match_told told = {
        .id = root->id, .incarnation = collector->incarnation, .window = collector->spans->window};
    struct edges *edges = edges_new(1);
    struct limits_asked asked;
    struct text owner;

    ret->reason = REASON_OK;
    ret->window = told.window;
    ret->gang = told.gang = secrets_word(env->secrets);
    ret->claim = secrets_word(env->secrets);
    ret->superior = root->agent;
    ret->superior_ad = tree_ref(root->left); /* as it was matched */
    collector_owner(collector, ret->superior_ad, &owner);
    edges->items[0] = (struct edge){.claim = ret->claim, .agent = peer->agent, .offer = pull->id, .ad = tree_ref(text)};
    ticket_make(env->secrets, &pull->key, pull->id, ret->claim, ret->gang, owner.bytes, &edges->items[0].ticket);
    told.edges = edges;
    told.number = collector_match(collector, env->now, place, NULL);
    if (PLANTED(PULL_TWICE))
        unit_put_back(collector, place, ret->superior_ad);
    collector_asks(collector, env, ret->superior_ad, &asked);
    registrar_expect(pool->registrar, env,
                     &(struct expected){.claim = ret->claim,
                                        .gang = ret->gang,
                                        .from = peer->agent,
                                        .user = root->user,
                                        .weight = collector_weight(collector, env, text, ret->superior_ad),
                                        .asked = &asked});
    notifier_add(pool->notifier, env, root->agent, &told, effects);
    edges_unref(edges);
}

/* When to ask again, after so many times in vain: with some chance in it, so that those who came together part. */
static int64_t wait_span(const struct puller *puller, const struct spans *spans, const struct role_env *env,
                         uint32_t vain)
{
    int64_t most = (int64_t)puller->count * (SECOND / PULLER_RATE), span = spans->cycle > 0 ? spans->cycle : 1;

    most = most > SECOND ? most : SECOND;
    for (uint32_t i = 0; i < vain && i < DOUBLINGS_MAX && span < most; i++)
        span *= 2;
    span = span < most ? span : most;
    return span / 2 + (int64_t)rng_below(env->chance, (uint64_t)span + 1);
}

/* What the ad may ask for, it gets: OK, or WAIT, or why it may not ask. */
static void pull_try(struct puller *puller, const struct puller_pool *pool, const struct role_env *env,
                     const struct peer *peer, const struct pull *pull, struct pull_memory *memory, struct pulled *ret,
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
        memory->vain = 0;
        memory_uncount(puller, memory);
    } else {
        if (place != ENGINE_NO_ONE)
            collector_restore(collector, place);
        ret->reason = REASON_WAIT;
        memory->weight = collector_weight(collector, env, text, NULL);
        ret->span = wait_span(puller, collector->spans, env, later ? 0 : memory->vain);
        memory->vain += !later && memory->vain < DOUBLINGS_MAX;
    }
    tree_unref(text);
}

int64_t puller_weight(struct puller *puller, int64_t now, int64_t lifetime)
{
    if (puller->weighed && now < puller->weighed + SECOND)
        return puller->weight;
    puller->weighed = now;
    puller->weight = 0;
    for (uint32_t i = 0; i < puller->count; i++) {
        struct pull_memory *memory = &puller->items[i];

        memory->counted = memory->answer.reason == REASON_WAIT && memory->at + lifetime > now ? memory->weight : 0;
        puller->weight += memory->counted;
    }
    return puller->weight;
}

uint64_t puller_take(struct puller *puller, const struct puller_pool *pool, const struct role_env *env,
                     const struct peer *peer, const struct pull *pull, struct pulled *ret, struct effects *effects)
{
    struct pull_memory *memory = memory_of(puller, peer->agent, pull->id);

    *ret = (struct pulled){.id = pull->id,
                           .number = pull->number ? pull->number : memory->answer.number + 1,
                           .incarnation = pool->collector->incarnation};
    if (pull->number && memory_answers(memory, pull, env->now, ret))
        return 0;
    pull_try(puller, pool, env, peer, pull, memory, ret, effects);
    if (ret->reason != REASON_OK && ret->reason != REASON_WAIT)
        return 0; /* it was none */
    tree_unref(memory->answer.superior_ad);
    memory->answer = *ret;
    memory->at = env->now;
    return ret->reason == REASON_OK;
}
