/* shares_world.h: a matchmaker alone, whose world is a list of effects; for tests of shares. Agents below 100 ask, those above offer. */
#ifndef BERTH_TESTS_SHARES_WORLD_H
#define BERTH_TESTS_SHARES_WORLD_H

#include "common/lang.h"
#include "common/tap.h"
#include "plain_secrets.h"

#include "pool/matchmaker/matchmaker.h"
#include "pool/matchmaker/user_why.h"

#define CLAIMS_KEPT 4096

enum { ALICE = 2, BOB = 3, CAROL = 4, DAVE = 5 };

/* A claim that a provider was told of. */
struct told {
    uint64_t claim, gang, id;
    agent provider, superior;
    char owner[16];
    struct tree *receipt; /* held */
};

struct pool {
    struct lang lang;
    struct rng chance, hidden;
    struct secrets secrets;
    struct role_env env;
    struct spans spans;
    struct matchmaker_settings settings;
    struct matchmaker *role;
    struct effects effects;
    struct message answer;
    struct told told[CLAIMS_KEPT];
    uint32_t told_count;
    struct record rows[64];
    uint32_t row_count;
    int64_t wake;
    uint64_t notes, versions;
    const char *fault;
};

#define DELEGATE 6 /* the first of nine who act by what carol has delegated */
#define POOL_NAMES 15
static const char *const pool_names[POOL_NAMES] = {"nobody",   "pool",     "alice",    "bob",      "carol",
                                                   "dave",     "carol/s1", "carol/s2", "carol/s3", "carol/s4",
                                                   "carol/s5", "carol/s6", "carol/s7", "carol/s8", "carol/s9"};

static inline const char *pool_name(agent who)
{
    return who < POOL_NAMES ? pool_names[who] : "host";
}

static inline void pool_step(struct pool *pool, const struct event *event);

/* What a matchmaker sends is always heard. */
static inline void pool_heard(struct pool *pool, const struct effect *effect)
{
    struct message got = {.kind = MESSAGE_GOT};
    const struct match_told *match = &effect->message.u.match_told;

    if (match->claim && pool->told_count < CLAIMS_KEPT) {
        struct told *told = &pool->told[pool->told_count++];

        *told = (struct told){match->claim,
                              match->gang,
                              match->id,
                              effect->to,
                              match->superior,
                              "",
                              match->receipt ? tree_ref(match->receipt) : NULL};
        snprintf(told->owner, sizeof told->owner, "%s", pool_name(match->superior));
    }
    pool_step(
        pool,
        &(struct event){
            .kind = EVENT_ANSWER, .token = effect->token, .tag = effect->tag, .answer = ANSWER_GOT, .message = &got});
}

static inline void pool_keep(struct pool *pool, const struct record *record)
{
    for (uint32_t i = 0; i < pool->row_count; i++)
        if (pool->rows[i].kind == record->kind && pool->rows[i].key == record->key) {
            record_done(&pool->rows[i]);
            if (record->removed)
                pool->rows[i] = pool->rows[--pool->row_count];
            else
                record_copy(&pool->rows[i], record);
            return;
        }
    if (!record->removed && pool->row_count < 64)
        record_copy(&pool->rows[pool->row_count++], record);
}

static inline void pool_step(struct pool *pool, const struct event *event)
{
    struct effects mine;

    effects_init(&mine);
    mine.persists = pool->effects.persists;
    matchmaker_role.step(pool->role, &pool->env, event, &mine);
    arena_reset(&pool->lang.arena);
    pool->effects.persists = mine.persists;
    for (uint32_t i = 0; i < mine.count; i++) {
        const struct effect *effect = &mine.items[i];

        if (effect->kind == EFFECT_SEND)
            pool_heard(pool, effect);
        else if (effect->kind == EFFECT_WAKE)
            pool->wake = effect->at;
        else if (effect->kind == EFFECT_PERSIST)
            pool_keep(pool, &effect->record);
        else if (effect->kind == EFFECT_NOTE)
            pool->notes++;
        else if (effect->kind == EFFECT_REPLY) {
            message_done(&pool->answer);
            message_copy(&pool->answer, &effect->message);
        }
    }
    effects_done(&mine);
}

static inline void pool_check(struct pool *pool)
{
    if (!pool->fault)
        matchmaker_role.valid(pool->role, &pool->fault);
}

/* Time passes; the role is woken when it asked for it. */
static inline void pass(struct pool *pool, int64_t span)
{
    int64_t end = pool->env.now + span;

    while (pool->wake <= end) {
        int64_t at = pool->wake > pool->env.now ? pool->wake : pool->env.now;

        pool->env.wall += at - pool->env.now;
        pool->env.now = at;
        pool->wake = INT64_MAX;
        pool_step(pool, &(struct event){.kind = EVENT_WAKE});
    }
    pool->env.wall += end - pool->env.now;
    pool->env.now = end;
    pool_check(pool);
}

static inline struct tree *pool_ad(struct pool *pool, const char *text)
{
    struct err err = {0};
    struct tree *ad = lang_ad(&pool->lang, &dialect_classic, text, &err);

    if (!ad) {
        printf("Bail out! %s: %s\n", text, err.text);
        exit(1);
    }
    return ad;
}

static inline void pool_start(struct pool *pool)
{
    pool->role = matchmaker_role.make(&pool->settings);
    pool->wake = INT64_MAX;
    for (uint32_t i = 0; i < pool->row_count; i++)
        pool_step(pool, &(struct event){.kind = EVENT_LOADED, .record = &pool->rows[i]});
    pool_step(pool, &(struct event){.kind = EVENT_BOOTED});
}

/* `shares`: the text of the ad, or NULL. */
static inline struct pool *pool_new(const char *shares)
{
    struct pool *pool = calloc(1, sizeof *pool);

    lang_init(&pool->lang);
    rng_init(&pool->chance, 1);
    rng_init(&pool->hidden, 2);
    pool->secrets = (struct secrets){&pool->hidden, plain_draw, plain_seal};
    pool->env = (struct role_env){.now = 1000 * SECOND,
                                  .wall = INT64_C(1800000000) * SECOND,
                                  .chance = &pool->chance,
                                  .secrets = &pool->secrets,
                                  .symbols = pool->lang.symbols,
                                  .scratch = &pool->lang.arena};
    pool->spans = spans_default;
    pool->settings = (struct matchmaker_settings){
        .self = 1, .spans = &pool->spans, .shares = shares ? pool_ad(pool, shares) : NULL, .ads_max = 1u << 22};
    effects_init(&pool->effects);
    pool_start(pool);
    return pool;
}

static inline void pool_restart(struct pool *pool)
{
    matchmaker_role.free(pool->role);
    pool_start(pool);
}

static inline void pool_free(struct pool *pool, const char *what)
{
    pool_check(pool);
    if (!tap_ok(!pool->fault, "the books balanced all the time: %s", what))
        tap_diag("%s", pool->fault);
    matchmaker_role.free(pool->role);
    for (uint32_t i = 0; i < pool->told_count; i++)
        tree_unref(pool->told[i].receipt);
    for (uint32_t i = 0; i < pool->row_count; i++)
        record_done(&pool->rows[i]);
    message_done(&pool->answer);
    effects_done(&pool->effects);
    tree_unref(pool->settings.shares);
    lang_done(&pool->lang);
    free(pool);
}

static inline const struct message *say(struct pool *pool, agent from, const struct message *message)
{
    struct peer peer = {.agent = from, .identity = pool_name(from), .channel = from};

    pool_step(pool, &(struct event){.kind = EVENT_MESSAGE, .token = 1, .peer = &peer, .message = message});
    return &pool->answer;
}

static inline enum reason put(struct pool *pool, agent from, uint64_t id, bool request, const char *text)
{
    struct message message = {.kind = MESSAGE_ADVERTISE};

    message.u.advertise =
        (struct advertise){.id = id, .version = ++pool->versions, .request = request, .ad = pool_ad(pool, text)};
    say(pool, from, &message);
    message_done(&message);
    return pool->answer.u.advertised.reason;
}

static inline void machines(struct pool *pool, uint32_t from, uint32_t count, const char *text)
{
    for (uint32_t i = 0; i < count; i++)
        put(pool, 100 + from + i, 1, false, text);
}

static inline enum reason report(struct pool *pool, const struct told *told, int64_t used, bool over, const char *group,
                                 const char *limits)
{
    struct message message = {.kind = MESSAGE_REPORT};

    message.u.report =
        (struct report){.claim = told->claim, .gang = told->gang, .used = used, .over = over, .receipt = told->receipt};
    text_set(&message.u.report.owner, told->owner, strlen(told->owner));
    text_set(&message.u.report.group, group, strlen(group));
    text_set(&message.u.report.limits, limits, strlen(limits));
    return say(pool, told->provider, &message)->u.got.reason;
}

/* The claims there are of an agent's ads, as the matchmaker told of them. */
static inline uint32_t given(const struct pool *pool, agent who)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < pool->told_count; i++)
        count += pool->told[i].superior == who;
    return count;
}

static inline struct user_why why_of(struct pool *pool, const char *name)
{
    struct user_why why;

    if (!user_why(pool->role, pool->env.wall / SECOND, name, &why))
        why.requests = UINT64_MAX;
    return why;
}

static inline struct limit_view limit_of_name(struct pool *pool, const char *name)
{
    struct limit_view view;

    for (uint32_t from = 0; matchmaker_next_limit(pool->role, from, &view, &from);)
        if (!strcmp(view.name, name))
            return view;
    return (struct limit_view){"", -2, -2};
}

static inline struct group_view group_of_name(struct pool *pool, const char *name)
{
    struct group_view view;

    for (uint32_t from = 0; matchmaker_next_group(pool->role, from, &view, &from);)
        if (!strcmp(view.name, name))
            return view;
    return (struct group_view){.name = "", .quota = -2, .used = -2};
}

#endif
