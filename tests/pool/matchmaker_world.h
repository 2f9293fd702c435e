/* matchmaker_world.h: a matchmaker alone, whose world is a list of effects: each event is handed over, and what the role would do is read. */
#ifndef BERTH_TESTS_MATCHMAKER_WORLD_H
#define BERTH_TESTS_MATCHMAKER_WORLD_H

#include "common/lang.h"
#include "common/tap.h"
#include "plain_secrets.h"

#include "pool/matchmaker/matchmaker.h"
#include "pool/protocol/receipt.h"
#include "pool/protocol/seen.h"
#include "pool/protocol/weight.h"

#define SENT_MAX 4096

/* What was sent and not yet answered. */
struct sent {
    agent to;
    uint64_t token;
    uint32_t tag;
    struct message message;
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
    struct message answer; /* to the last message; NONE: there was none */
    struct sent sent[SENT_MAX];
    uint32_t sent_count;
    struct record rows[64];
    uint32_t row_count;
    uint32_t written[RECORD_COUNT]; /* how often rows of each kind were */
    int64_t wake;
    uint64_t notes, tokens;
    const char *fault; /* that the role found in itself */
};

/* -------------------------------------------------------------------------------------------------------- the world */

static inline void row_keep(struct pool *pool, const struct record *record)
{
    pool->written[record->kind]++;
    for (uint32_t i = 0; i < pool->row_count; i++) {
        if (pool->rows[i].kind != record->kind || pool->rows[i].key != record->key)
            continue;
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

static inline uint32_t rows_of(const struct pool *pool, enum record_kind kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < pool->row_count; i++)
        count += pool->rows[i].kind == kind;
    return count;
}

static inline void effect_carry_out(struct pool *pool, const struct effect *effect)
{
    switch (effect->kind) {
    case EFFECT_SEND:
        if (pool->sent_count < SENT_MAX) {
            struct sent *sent = &pool->sent[pool->sent_count++];

            sent->to = effect->to;
            sent->token = effect->token;
            sent->tag = effect->tag;
            message_copy(&sent->message, &effect->message);
        }
        break;
    case EFFECT_REPLY:
        message_copy(&pool->answer, &effect->message);
        break;
    case EFFECT_WAKE:
        pool->wake = effect->at;
        break;
    case EFFECT_PERSIST:
        row_keep(pool, &effect->record);
        break;
    case EFFECT_NOTE:
        pool->notes++;
        break;
    default:
        break;
    }
}

static inline void hand_over(struct pool *pool, const struct event *event)
{
    message_done(&pool->answer);
    matchmaker_role.step(pool->role, &pool->env, event, &pool->effects);
    arena_reset(&pool->lang.arena);
    for (uint32_t i = 0; i < pool->effects.count; i++)
        effect_carry_out(pool, &pool->effects.items[i]);
    effects_reset(&pool->effects);
    if (!pool->fault)
        matchmaker_role.valid(pool->role, &pool->fault);
}

static inline void role_start(struct pool *pool)
{
    struct event booted = {.kind = EVENT_BOOTED};

    pool->role = matchmaker_role.make(&pool->settings);
    pool->wake = INT64_MAX;
    for (uint32_t i = 0; i < pool->row_count; i++) {
        struct event loaded = {.kind = EVENT_LOADED, .record = &pool->rows[i]};

        hand_over(pool, &loaded);
    }
    hand_over(pool, &booted);
}

static inline void sent_drop_all(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->sent_count; i++)
        message_done(&pool->sent[i].message);
    pool->sent_count = 0;
}

static inline void role_restart(struct pool *pool)
{
    matchmaker_role.free(pool->role);
    sent_drop_all(pool);
    role_start(pool);
}

static inline struct pool *pool_new(void)
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
    pool->settings = (struct matchmaker_settings){.self = 1, .spans = &pool->spans};
    effects_init(&pool->effects);
    role_start(pool);
    return pool;
}

static inline void pool_drop(struct pool *pool)
{
    matchmaker_role.free(pool->role);
    sent_drop_all(pool);
    for (uint32_t i = 0; i < pool->row_count; i++)
        record_done(&pool->rows[i]);
    message_done(&pool->answer);
    effects_done(&pool->effects);
    lang_done(&pool->lang);
    free(pool);
}

/* The last word of every case: the role's own books were in order all the time. */
static inline void pool_free(struct pool *pool, const char *what)
{
    if (!tap_ok(!pool->fault, "the books balanced all the time: %s", what))
        tap_diag("%s", pool->fault);
    pool_drop(pool);
}

/* Time passes; the role is woken when it asked for it. */
static inline void pass(struct pool *pool, int64_t span)
{
    struct event wake = {.kind = EVENT_WAKE};
    int64_t end = pool->env.now + span;

    while (pool->wake <= end) {
        int64_t at = pool->wake > pool->env.now ? pool->wake : pool->env.now;

        pool->env.wall += at - pool->env.now;
        pool->env.now = at;
        pool->wake = INT64_MAX;
        hand_over(pool, &wake);
    }
    pool->env.wall += end - pool->env.now;
    pool->env.now = end;
}

static const struct peer *peer_of(agent who)
{
    static const char *const names[] = {"nobody", "matchmaker", "alice", "bob", "carol"};
    static struct peer peers[64];

    peers[who % 64] = (struct peer){.agent = who, .identity = who < 5 ? names[who] : "host", .channel = who};
    return &peers[who % 64];
}

static const struct message *say_as(struct pool *pool, const struct peer *peer, const struct message *message)
{
    struct event event = {.kind = EVENT_MESSAGE, .token = ++pool->tokens, .peer = peer, .message = message};

    hand_over(pool, &event);
    return &pool->answer;
}

struct put {
    agent from;
    uint64_t id, version;
    bool request, bare, any;
    struct seen seen;
    int64_t heard;
};

/* Advertises a text (NULL: none), and gives the answer. */
static inline struct advertised put(struct pool *pool, struct put put, const char *text)
{
    struct message message = {.kind = MESSAGE_ADVERTISE};
    struct peer peer = *peer_of(put.from);
    struct err err = {0};

    peer.any = put.any;
    message.u.advertise = (struct advertise){.id = put.id,
                                             .version = put.version,
                                             .request = put.request,
                                             .bare = put.bare,
                                             .seen = put.seen,
                                             .heard = put.heard,
                                             .key = {{(unsigned char)put.id}},
                                             .ad = text ? lang_ad(&pool->lang, &dialect_classic, text, &err) : NULL};
    if (text && !message.u.advertise.ad)
        printf("Bail out! %s: %s\n", text, err.text);
    say_as(pool, &peer, &message);
    message_done(&message);
    return pool->answer.kind == MESSAGE_ADVERTISED ? pool->answer.u.advertised
                                                   : (struct advertised){.reason = REASON_COUNT};
}

static inline enum reason withdraw(struct pool *pool, agent from, uint64_t id, uint64_t version)
{
    struct message message = {.kind = MESSAGE_WITHDRAW, .u.withdraw = {id, version}};

    say_as(pool, peer_of(from), &message);
    return pool->answer.kind == MESSAGE_GOT ? pool->answer.u.got.reason : REASON_COUNT;
}

/* The key of the matchmaker's receipts, as it keeps it. */
static inline const struct key *receipts_key(const struct pool *pool)
{
    static const struct key none;

    for (uint32_t i = 0; i < pool->row_count; i++)
        if (pool->rows[i].kind == RECORD_ROLE)
            return &pool->rows[i].u.role_record.receipts;
    return &none;
}

/* A report with that receipt, or with none. */
static inline enum reason report_showing(struct pool *pool, agent from, const struct report *report,
                                         struct tree *receipt)
{
    struct message message = {.kind = MESSAGE_REPORT, .u.report = *report};

    message.u.report.receipt = receipt;
    say_as(pool, peer_of(from), &message);
    return pool->answer.kind == MESSAGE_GOT ? pool->answer.u.got.reason : REASON_COUNT;
}

/* Of a claim that an earlier life of the matchmaker has matched, for that owner. */
static inline enum reason report(struct pool *pool, agent from, uint64_t claim, const char *owner, int64_t used,
                                 bool over)
{
    struct receipt receipt = {.claim = claim, .agent = from, .offer = 7, .weight = WEIGHT_ONE};
    struct tree *ad;
    enum reason reason;

    text_set(&receipt.account, owner, strlen(owner));
    ad = receipt_make(&pool->env, receipts_key(pool), &receipt);
    reason = report_showing(pool, from, &(struct report){.claim = claim, .used = used, .over = over}, ad);
    tree_unref(ad);
    return reason;
}

/* The n-th of those sent to that agent; NULL when there are fewer. */
static inline struct sent *sent_to(struct pool *pool, agent to, uint32_t n)
{
    for (uint32_t i = 0; i < pool->sent_count; i++)
        if (pool->sent[i].to == to && n-- == 0)
            return &pool->sent[i];
    return NULL;
}

static inline uint32_t sent_count(struct pool *pool, agent to)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < pool->sent_count; i++)
        count += pool->sent[i].to == to;
    return count;
}

/* What was sent is answered and forgotten. */
static inline void answer_sent(struct pool *pool, struct sent *sent, bool heard)
{
    struct message got = {.kind = MESSAGE_GOT};
    struct event event = {.kind = EVENT_ANSWER,
                          .token = sent->token,
                          .tag = sent->tag,
                          .answer = heard ? ANSWER_GOT : ANSWER_UNKNOWN,
                          .message = heard ? &got : NULL};

    message_done(&sent->message);
    *sent = pool->sent[--pool->sent_count];
    hand_over(pool, &event);
}

static inline void answer_all(struct pool *pool)
{
    while (pool->sent_count)
        answer_sent(pool, &pool->sent[0], true);
}

struct search {
    agent agent;
    uint64_t id;
    struct entry_view found;
    bool is;
};

static inline void entry_look(void *user, const struct entry_view *entry)
{
    struct search *search = user;

    if (entry->agent != search->agent || entry->id != search->id)
        return;
    search->found = *entry;
    search->is = true;
}

/* The ad as the matchmaker has it; all zero when it has none. */
static inline struct entry_view look(struct pool *pool, agent who, uint64_t id)
{
    struct search search = {.agent = who, .id = id};

    matchmaker_each(pool->role, entry_look, &search);
    return search.found;
}

static inline bool ad_says(struct pool *pool, const struct tree *ad, const char *text)
{
    struct err err = {0};
    struct tree *query = lang_expr(&pool->lang, &dialect_classic, text, strlen(text), &err);
    struct env env = {.now = 0};
    struct scope scope;
    struct eval eval;
    struct value v;

    if (!query || !ad)
        return false;
    scope_init(&scope, ad, NULL);
    eval_init(&eval, &env, &pool->lang.arena);
    eval_tree(&eval, &scope, query, &v);
    tree_unref(query);
    return value_is_true(&v);
}

static inline uint64_t matches(struct pool *pool)
{
    return matchmaker_counts(pool->role).matches;
}

static inline struct seen seen_of(struct pool *pool, uint64_t last, uint64_t beyond)
{
    return (struct seen){matchmaker_incarnation(pool->role), last, beyond};
}

#define MACHINE "[ Type = \"Machine\"; Cpus = 8; Constraint = other.Cpus <= Cpus ]"
#define SHARED                                                                      \
    "[ Type = \"Machine\"; Cpus = 8; Constraint = Cpus > 0 && other.Cpus <= Cpus; " \
    "Residual = [ Cpus = Cpus - other.Cpus ] ]"
#define JOB "[ Type = \"Job\"; Cpus = 1; Constraint = other.Type == \"Machine\" ]"
#define JOBS(n) "[ Type = \"Job\"; Cpus = 1; Count = " #n "; Constraint = other.Type == \"Machine\" ]"
#define LONELY "[ Type = \"Job\"; Constraint = other.Type == \"Nothing\" ]"
#define CYCLE (100 * MILLISECOND)

#endif
