/* roles.c: whatever happens to the roles of a tiny pool, and in whatever order: none crashes, each stays in order, and
 * what a provider has pinned never exceeds what it has.
 *
 *     byte 0    the seed of the world: a matchmaker, a customer and a provider of one sort or the other
 *     then      what happens: time goes by, or to a host comes a message, an answer or another event
 *
 * Fields are drawn from what was in messages before, or from extremes, as the bytes say. When they are used up, so is
 * the input. */
#include "lang/text/parse.h"
#include "pool/customer/customer.h"
#include "pool/matchmaker/matchmaker.h"
#include "pool/provider/provider.h"
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORDS 32
#define ADS 12
#define HOSTS 3
#define STEPS_MAX 100  /* of an input */
#define EVENTS_MAX 100 /* of the world, while time goes by once */

static const char *const texts[ADS] = {
    "[ Memory = 4096; Constraint = other.RequestMemory <= Memory ]",
    "[ Cpus = 2; Constraint = other.RequestCpus <= Cpus; Residual = [ Cpus = Cpus - other.RequestCpus ] ]",
    "[ Owner = \"u\"; RequestCpus = 1; RequestMemory = 1; Constraint = true ]",
    "[ RequestCpus = 2; RequestMemory = 100; TimeLimit = 1; Constraint = other.Memory > 1 || other.Cpus > 0 ]",
    "[ RequestCpus = 1; RequestMemory = 1; Count = 3; Lifetime = 2; Rank = 1 / 0 ]",
    "[]",
    "[ Constraint = other.Constraint; Rank = Rank; RequestCpus = other.Cpus; RequestMemory = 1 ]",
    "[ Owner = 3; Count = -1; Lifetime = \"x\"; Residual = 3 ]",
    "[ RequestCpus = 9223372036854775807; RequestMemory = 0.0; TimeLimit = 9223372036854775807 ]",
    "[ KeyboardIdle = 1; Constraint = false ]",
    "{ 1, 2 }",
    "3",
};

struct pool {
    struct world *world;
    const uint8_t *data;
    size_t left;
    struct tree *ads[ADS];
    uint64_t words[WORDS];
    uint32_t word_count;
    struct message heard[8]; /* one for each place: the last that came by there */
    uint32_t heard_from[8], heard_to[8], heard_count;
    struct effect posted[8]; /* of sends only: to whom, token, tag; `claim` is the sender's place */
    uint32_t posted_count;
    struct tree *offer;
    bool many;
};

static void broken(const char *law, const char *why)
{
    fprintf(stderr, "broken law: %s: %s\n", law, why);
    abort();
}

static uint8_t byte(struct pool *pool)
{
    if (!pool->left)
        return 0;
    pool->left--;
    return *pool->data++;
}

/* ----------------------------------------------------------------------------------------------------- what is kept */

static void fields_hear(struct pool *pool, const struct layout *layout, const void *from)
{
    for (uint32_t i = 0; i < layout->count; i++)
        if (layout->fields[i].sort == FIELD_WORD)
            memcpy(&pool->words[pool->word_count++ % WORDS], (const char *)from + layout->fields[i].at,
                   sizeof(uint64_t));
}

static void pool_stepped(void *user, struct host *host, const struct role_env *env, const struct event *event)
{
    struct pool *pool = user;
    uint32_t at;

    (void)env;
    if (event->message)
        fields_hear(pool, message_layout(event->message->kind), &event->message->u);
    if (event->message && event->peer) {
        at = pool->heard_count++ % 8;
        message_done(&pool->heard[at]);
        message_copy(&pool->heard[at], event->message);
        pool->heard_from[at] = (uint32_t)event->peer->agent - 1;
        pool->heard_to[at] = host->place;
    }
    for (uint32_t i = 0; i < host->effects.count; i++)
        if (host->effects.items[i].kind == EFFECT_SEND)
            pool->posted[pool->posted_count++ % 8] = (struct effect){
                .claim = host->place, .token = host->effects.items[i].token, .tag = host->effects.items[i].tag};
}

/* ----------------------------------------------------------------------------------------------------- what is made */

static uint64_t make_word(struct pool *pool)
{
    static const uint64_t extremes[] = {0, 1, 2, 1000, UINT64_MAX, INT64_MAX, UINT64_C(1) << 63, 3};
    uint8_t choice = byte(pool);

    return choice & 0xe0 && pool->word_count
               ? pool->words[choice % (pool->word_count < WORDS ? pool->word_count : WORDS)]
               : extremes[choice % 8];
}

static int64_t make_number(struct pool *pool)
{
    static const int64_t extremes[] = {0, 1, -1, INT64_MIN, INT64_MAX, SECOND, MINUTE, 3 * SECOND};
    uint8_t choice = byte(pool);

    return choice & 0x80 ? host_now(pool->world, &pool->world->hosts[choice % HOSTS]) : extremes[choice % 8];
}

/* Made when it is first asked for. */
static struct tree *pool_ad(struct pool *pool, uint32_t which)
{
    struct build build;
    struct err err = {0};

    if (!pool->ads[which]) {
        build_init(&build, pool->world->symbols, &dialect_classic);
        pool->ads[which] = parse_expr(&build, NULL, texts[which], strlen(texts[which]), &err);
        build_done(&build);
    }
    return pool->ads[which];
}

static struct tree *make_ad(struct pool *pool)
{
    uint8_t choice = byte(pool) % (ADS + 1);

    return choice < ADS ? tree_ref(pool_ad(pool, choice)) : NULL;
}

static struct edges *make_edges(struct pool *pool)
{
    static const uint32_t counts[] = {0, 1, 2, EDGES_MAX};
    uint8_t choice = byte(pool);
    struct edges *edges;

    if (choice & 0x80)
        return NULL;
    edges = edges_new(counts[choice % 4]);
    for (uint32_t i = 0; i < edges->count && i < 2; i++)
        edges->items[i] = (struct edge){.claim = make_word(pool),
                                        .agent = 1 + byte(pool) % (HOSTS + 1),
                                        .offer = 1000,
                                        .depth = choice & 0x40 ? choice : 0,
                                        .ad = make_ad(pool)};
    return edges;
}

static void fields_make(struct pool *pool, const struct layout *layout, void *to)
{
    static const char *const names[] = {"u", "somebody", "", "k"};

    for (uint32_t i = 0; i < layout->count; i++) {
        void *at = (char *)to + layout->fields[i].at;
        const char *name;

        switch (layout->fields[i].sort) {
        case FIELD_NUMBER:
            *(int64_t *)at = make_number(pool);
            break;
        case FIELD_WORD:
            *(uint64_t *)at = make_word(pool);
            break;
        case FIELD_FLAG:
            *(bool *)at = byte(pool) & 1;
            break;
        case FIELD_REASON:
            *(enum reason *)at = (enum reason)(byte(pool) % REASON_COUNT);
            break;
        case FIELD_TEXT:
            name = names[byte(pool) % 4];
            text_set(at, name, strlen(name));
            break;
        case FIELD_KEY:
            memset(at, byte(pool), sizeof(struct key));
            break;
        case FIELD_SEEN:
            *(struct seen *)at = (struct seen){make_word(pool), make_word(pool), make_word(pool)};
            break;
        case FIELD_AD:
            *(struct tree **)at = make_ad(pool);
            break;
        case FIELD_EDGES:
            *(struct edges **)at = make_edges(pool);
            break;
        }
    }
}

/* A new one, or one that came by, as it was or with some of its words changed. */
static void message_make(struct pool *pool, struct message *ret, uint32_t *ret_from, uint32_t *ret_to)
{
    uint8_t choice = byte(pool);
    uint32_t at = choice % 8;

    memset(ret, 0, sizeof *ret);
    if (choice & 0x80 && pool->heard[at].kind) {
        message_copy(ret, &pool->heard[at]);
        *ret_from = pool->heard_from[at];
        *ret_to = pool->heard_to[at];
        if (choice & 0x40) {
            const struct layout *layout = message_layout(ret->kind);

            for (uint32_t i = 0; i < layout->count; i++)
                if (layout->fields[i].sort == FIELD_WORD && byte(pool) & 1)
                    *(uint64_t *)(void *)((char *)&ret->u + layout->fields[i].at) = make_word(pool);
        }
        return;
    }
    ret->kind = (enum message_kind)(1 + choice % (MESSAGE_COUNT - 1));
    fields_make(pool, message_layout(ret->kind), &ret->u);
    if (ret->kind == MESSAGE_SUBMIT)
        ret->u.submit.count %= 4;
    *ret_from = byte(pool) % HOSTS;
}

/* --------------------------------------------------------------------------------------------------- what must hold */

static void count_pinned(void *user, const struct tenant_view *tenant)
{
    struct pool *pool = user;
    symbol name = symbols_find(pool->world->symbols, "RequestCpus", 11);
    const struct expr *cpus = name ? tree_find(tenant->ad, tree_root(tenant->ad), name) : NULL;

    if (tenant->state < TENANT_PINNED)
        return;
    pool->words[0] += 1;
    pool->words[1] += cpus && cpus->kind == EXPR_INTEGER ? (uint64_t)cpus->u.integer : 0; /* it may ask for nothing */
}

/* All hosts, or the one. */
static void pool_check(struct pool *pool, const struct host *only)
{
    uint64_t kept[2] = {pool->words[0], pool->words[1]};

    for (uint32_t i = 0; i < HOSTS; i++) {
        const struct host *host = &pool->world->hosts[i];
        const char *why = "no reason";

        if (host->role && (!only || host == only) && !host->kind->valid(host->role, &why))
            broken("a role is in order", why);
    }
    if (pool->world->broken)
        broken("the world is in order", pool->world->broken);
    pool->words[0] = pool->words[1] = 0;
    if (pool->world->hosts[2].role)
        provider_each(pool->world->hosts[2].role, count_pinned, pool);
    if (pool->many ? pool->words[1] > 2 : pool->words[0] > 1)
        broken("what is pinned never exceeds what the provider has", "it does");
    memcpy(pool->words, kept, sizeof kept);
}

/* ----------------------------------------------------------------------------------------------------- what happens */

static void happen_message(struct pool *pool, struct host *host)
{
    struct message message;
    uint32_t from = 0, to = host->place;
    struct peer peer;

    message_make(pool, &message, &from, &to);
    peer = (struct peer){.agent = from + 1,
                         .identity = pool->world->hosts[from].identity,
                         .any = pool->world->hosts[from].any,
                         .channel = byte(pool)};
    /* nobody is owed an answer by that token */
    host_event(pool->world, &pool->world->hosts[to],
               &(struct event){.kind = EVENT_MESSAGE, .token = UINT32_MAX, .peer = &peer, .message = &message});
    message_done(&message);
}

static void happen_answer(struct pool *pool, struct host *host)
{
    const struct effect *posted = &pool->posted[byte(pool) % 8];
    struct message message;
    uint32_t from = 0, to;
    struct peer peer = {.agent = 1, .identity = "somebody"};
    struct event event = {.kind = EVENT_ANSWER, .token = posted->token, .tag = posted->tag, .answer = ANSWER_UNKNOWN};

    if (byte(pool) & 1) {
        event.token = make_word(pool);
        event.tag = byte(pool);
    } else if (posted->claim < HOSTS) {
        host = &pool->world->hosts[posted->claim];
    }
    message_make(pool, &message, &from, &to);
    if (byte(pool) & 3) {
        event.answer = ANSWER_GOT;
        event.message = &message;
        event.peer = &peer;
    }
    host_event(pool->world, host, &event);
    message_done(&message);
}

static void happen_other(struct pool *pool, struct host *host)
{
    uint8_t choice = byte(pool);
    struct event event = {.kind = EVENT_WAKE};

    if (choice % 4 == 0) {
        event = (struct event){.kind = EVENT_JOB,
                               .news = (enum job_news)(choice / 4 % 3),
                               .claim = make_word(pool),
                               .number = make_word(pool),
                               .at = make_number(pool)};
    } else if (choice % 4 == 1) {
        static const uint8_t probes[] = {5, 9, 10, 11}; /* none of them says how much there is */

        event = (struct event){.kind = EVENT_PROBED, .ad = tree_ref(pool_ad(pool, probes[byte(pool) % 4]))};
    } else if (choice % 4 == 2 && choice > 200) {
        host_crash(pool->world, host, choice & 16, pool->world->time + SECOND);
        return;
    }
    host_event(pool->world, host, &event);
    tree_unref(event.ad);
}

static void happen(struct pool *pool)
{
    uint8_t choice = byte(pool);
    struct host *host = &pool->world->hosts[choice % HOSTS];
    int64_t until = pool->world->time + (choice & 0x40 ? SECOND : 20 * MILLISECOND);

    switch (choice / HOSTS % 8) {
    case 0:
    case 1:
        for (int n = 0; n < EVENTS_MAX && world_next(pool->world, until); n++)
            ;
        break;
    case 2:
        happen_answer(pool, host);
        break;
    case 3:
        happen_other(pool, host);
        break;
    default:
        happen_message(pool, host);
        break;
    }
    pool_check(pool, host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct spans spans;
    struct pool pool = {.data = data, .left = size};
    uint8_t seed = byte(&pool);
    uint64_t id = 1000;
    struct matchmaker_settings matchmaker = {.self = 1, .spans = &spans};
    struct customer_settings customer = {.self = 2, .matchmaker = 1, .spans = &spans, .jobs_max = 20};
    struct provider_settings provider = {
        .self = 3, .matchmaker = 1, .spans = &spans, .identity = "o", .ids = &id, .count = 1};

    spans = spans_default;
    spans.window = 2 * SECOND;
    spans.pin = spans.lease = 4 * SECOND;
    pool.world = world_new(seed, &spans);
    pool.many = seed & 1;
    pool.offer = pool_ad(&pool, pool.many);
    provider.ads = &pool.offer;
    world_add(pool.world, &matchmaker_role, &matchmaker, "pool", true, "matchmaker");
    world_add(pool.world, &customer_role, &customer, "customer", true, "customer");
    world_add(pool.world, &provider_role, &provider, "o", false, "provider");
    world_watch(pool.world, &(struct watch){.user = &pool, .stepped = pool_stepped});
    for (uint32_t i = 0; i < HOSTS; i++)
        host_start(pool.world, &pool.world->hosts[i]);
    for (int n = 0; n < STEPS_MAX && pool.left; n++)
        happen(&pool);
    for (int i = 0; i < 8; i++)
        message_done(&pool.heard[i]);
    for (uint32_t i = 0; i < ADS; i++)
        tree_unref(pool.ads[i]);
    world_free(pool.world);
    return 0;
}
