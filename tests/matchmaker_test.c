/* matchmaker_test.c: the matchmaker introduces those that fit, and its books balance whatever crosses what.
 *
 * The world here is a list of effects: each event is handed over, and what the role would do is read. */
#include "lang.h"
#include "tap.h"

#include "assign/assign.h"
#include "match/residual.h"
#include "pool/matchmaker.h"
#include "pool/seen.h"
#include "pool/ticket.h"

#include <time.h>

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
    int64_t wake;
    uint64_t notes, tokens;
    const char *fault; /* that the role found in itself */
};

static void draw(void *user, void *bytes, size_t len)
{
    unsigned char *at = bytes;

    for (size_t i = 0; i < len; i++)
        at[i] = (unsigned char)rng_next(user);
}

/* A seal for tests: it depends on everything, and hides nothing. */
static void seal(void *user, const struct key *key, const void *data, size_t len, struct key *ret)
{
    uint64_t state = len;

    (void)user;
    for (int i = 0; i < KEY_BYTES; i++)
        state = rng_mix(state ^ key->bytes[i]);
    for (size_t i = 0; i < len; i++)
        state = rng_mix(state ^ ((const unsigned char *)data)[i]);
    for (int i = 0; i < KEY_BYTES; i++)
        ret->bytes[i] = (unsigned char)(state = rng_mix(state));
}

/* -------------------------------------------------------------------------------------------------------- the world */

static void row_keep(struct pool *pool, const struct record *record)
{
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

static void effect_carry_out(struct pool *pool, const struct effect *effect)
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

static void hand_over(struct pool *pool, const struct event *event)
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

static void role_start(struct pool *pool)
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

static void sent_drop_all(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->sent_count; i++)
        message_done(&pool->sent[i].message);
    pool->sent_count = 0;
}

static void role_restart(struct pool *pool)
{
    matchmaker_role.free(pool->role);
    sent_drop_all(pool);
    role_start(pool);
}

static struct pool *pool_new(void)
{
    struct pool *pool = calloc(1, sizeof *pool);

    lang_init(&pool->lang);
    rng_init(&pool->chance, 1);
    rng_init(&pool->hidden, 2);
    pool->secrets = (struct secrets){&pool->hidden, draw, seal};
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

static void pool_drop(struct pool *pool)
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
static void pool_free(struct pool *pool, const char *what)
{
    if (!tap_ok(!pool->fault, "the books balanced all the time: %s", what))
        tap_diag("%s", pool->fault);
    pool_drop(pool);
}

/* Time passes; the role is woken when it asked for it. */
static void pass(struct pool *pool, int64_t span)
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
static struct advertised put(struct pool *pool, struct put put, const char *text)
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

static enum reason withdraw(struct pool *pool, agent from, uint64_t id, uint64_t version)
{
    struct message message = {.kind = MESSAGE_WITHDRAW, .u.withdraw = {id, version}};

    say_as(pool, peer_of(from), &message);
    return pool->answer.kind == MESSAGE_GOT ? pool->answer.u.got.reason : REASON_COUNT;
}

static enum reason report(struct pool *pool, agent from, uint64_t claim, const char *owner, int64_t used, bool over)
{
    struct message message = {.kind = MESSAGE_REPORT, .u.report = {.claim = claim, .used = used, .over = over}};

    text_set(&message.u.report.owner, owner, strlen(owner));
    say_as(pool, peer_of(from), &message);
    return pool->answer.kind == MESSAGE_GOT ? pool->answer.u.got.reason : REASON_COUNT;
}

/* The same by one who may act for everybody: of a claim that was never matched nobody else is believed for long. */
static enum reason report_any(struct pool *pool, agent from, uint64_t claim, const char *owner, int64_t used, bool over)
{
    struct message message = {.kind = MESSAGE_REPORT, .u.report = {.claim = claim, .used = used, .over = over}};
    struct peer peer = *peer_of(from);

    peer.any = true;
    text_set(&message.u.report.owner, owner, strlen(owner));
    say_as(pool, &peer, &message);
    return pool->answer.kind == MESSAGE_GOT ? pool->answer.u.got.reason : REASON_COUNT;
}

/* The n-th of those sent to that agent; NULL when there are fewer. */
static struct sent *sent_to(struct pool *pool, agent to, uint32_t n)
{
    for (uint32_t i = 0; i < pool->sent_count; i++)
        if (pool->sent[i].to == to && n-- == 0)
            return &pool->sent[i];
    return NULL;
}

static uint32_t sent_count(struct pool *pool, agent to)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < pool->sent_count; i++)
        count += pool->sent[i].to == to;
    return count;
}

/* What was sent is answered and forgotten. */
static void answer_sent(struct pool *pool, struct sent *sent, bool heard)
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

static void answer_all(struct pool *pool)
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

static void entry_look(void *user, const struct entry_view *entry)
{
    struct search *search = user;

    if (entry->agent != search->agent || entry->id != search->id)
        return;
    search->found = *entry;
    search->is = true;
}

/* The ad as the matchmaker has it; all zero when it has none. */
static struct entry_view look(struct pool *pool, agent who, uint64_t id)
{
    struct search search = {.agent = who, .id = id};

    matchmaker_each(pool->role, entry_look, &search);
    return search.found;
}

static bool ad_says(struct pool *pool, const struct tree *ad, const char *text)
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

static uint64_t matches(struct pool *pool)
{
    return matchmaker_counts(pool->role).matches;
}

static struct seen seen_of(struct pool *pool, uint64_t last, uint64_t beyond)
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

/* --------------------------------------------------------------------------------------------------------- versions */

static void versions_rise(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 5, .id = 7, .version = 3};
    struct advertised answer = put(pool, ad, MACHINE);

    tap_ok(answer.reason == REASON_OK && answer.id == 7 && answer.version == 3 &&
               answer.incarnation == matchmaker_incarnation(pool->role) && answer.incarnation,
           "an ad that comes is answered with its version and the matchmaker's incarnation");
    ad.version = 2;
    answer = put(pool, ad, "[ Type = \"Old\" ]");
    tap_ok(answer.reason == REASON_STALE && answer.version == 3 &&
               ad_says(pool, look(pool, 5, 7).ad, "Type == \"Machine\""),
           "an older text is stale, changes nothing, and hears the version that holds");
    ad.version = 3;
    answer = put(pool, ad, MACHINE);
    tap_ok(answer.reason == REASON_OK, "a text of the same version is a repeat");
    ad.version = 4;
    answer = put(pool, ad, "[ Type = \"New\" ]");
    tap_ok(answer.reason == REASON_OK && ad_says(pool, look(pool, 5, 7).ad, "Type == \"New\""),
           "a newer text replaces the one before");
    tap_ok(withdraw(pool, 5, 7, 3) == REASON_STALE && look(pool, 5, 7).ad, "an older withdrawal is stale");
    tap_ok(withdraw(pool, 5, 7, 5) == REASON_OK && !look(pool, 5, 7).ad, "a withdrawal takes the ad away");
    tap_ok(withdraw(pool, 5, 7, 5) == REASON_OK, "a withdrawal may be repeated");
    tap_ok(put(pool, ad, MACHINE).reason == REASON_STALE && !look(pool, 5, 7).ad,
           "a text that was on its way when its ad was withdrawn does not bring it back");
    ad.version = 5;
    tap_ok(put(pool, ad, MACHINE).reason == REASON_STALE, "nor does one of the withdrawal's own version");
    ad.version = 6;
    tap_ok(put(pool, ad, MACHINE).reason == REASON_OK, "a newer one does");
    tap_ok(withdraw(pool, 5, 99, 4) == REASON_OK, "what is not there may be withdrawn");
    ad = (struct put){.from = 5, .id = 99, .version = 4};
    tap_ok(put(pool, ad, MACHINE).reason == REASON_STALE, "and its text may come later than that");
    pass(pool, 2 * pool->spans.lifetime);
    tap_ok(put(pool, ad, MACHINE).reason == REASON_OK, "after a lifetime nothing is remembered");
    pool_free(pool, "versions");
}

static void agents_are_apart(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 5, .id = 7, .version = 3};

    put(pool, ad, MACHINE);
    tap_ok(withdraw(pool, 6, 7, 9) == REASON_OK && look(pool, 5, 7).ad, "nobody can withdraw another agent's ad");
    ad = (struct put){.from = 6, .id = 7, .version = 10};
    tap_ok(put(pool, ad, "[ Type = \"Mine\" ]").reason == REASON_OK &&
               ad_says(pool, look(pool, 5, 7).ad, "Type == \"Machine\"") &&
               ad_says(pool, look(pool, 6, 7).ad, "Type == \"Mine\""),
           "the same id of two agents is two ads");
    pool_free(pool, "agents");
}

/* --------------------------------------------------------------------------------------------------------- renewals */

static void renewals_are_bare(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 5, .id = 7, .version = 3, .bare = true};
    struct advertised answer;

    tap_ok(put(pool, ad, NULL).reason == REASON_BODY, "a renewal of nothing asks for the text");
    ad.bare = false;
    put(pool, ad, MACHINE);
    ad.bare = true;
    pass(pool, pool->spans.lifetime - SECOND);
    answer = put(pool, ad, NULL);
    tap_ok(answer.reason == REASON_OK && answer.version == 3, "a renewal without text is enough");
    pass(pool, pool->spans.lifetime - SECOND);
    tap_ok(look(pool, 5, 7).ad, "a renewed ad lives on");
    ad.version = 4;
    tap_ok(put(pool, ad, NULL).reason == REASON_BODY, "a renewal of a newer version asks for the text");
    ad.version = 3;
    ad.seen = seen_of(pool, 1, 0);
    tap_ok(put(pool, ad, NULL).reason == REASON_BODY, "so does one whose sender has seen more than its text says");
    pass(pool, 2 * SECOND);
    tap_ok(!look(pool, 5, 7).ad, "what was not renewed is gone");
    ad.seen = (struct seen){0};
    tap_ok(put(pool, ad, NULL).reason == REASON_BODY, "an expired ad is not renewed without text");
    ad.bare = false;
    tap_ok(put(pool, ad, MACHINE).reason == REASON_OK, "but its text may come again");
    pool_free(pool, "renewals");
}

static void ads_expire(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 5, .id = 7, .version = 1};

    put(pool, ad, "[ Type = \"Machine\"; Lifetime = 2 ]");
    pass(pool, 2 * SECOND - 1);
    tap_ok(look(pool, 5, 7).ad, "an ad lives as long as it says");
    pass(pool, 1);
    tap_ok(!look(pool, 5, 7).ad, "and no longer");
    put(pool, ad, "[ Type = \"Machine\"; Lifetime = relTime(\"00:00:03\") ]");
    tap_ok(look(pool, 5, 7).expires == pool->env.now + 3 * SECOND, "a lifetime may be a relative time");
    ad.version++;
    put(pool, ad, "[ Type = \"Machine\"; Lifetime = 0.001 ]");
    tap_ok(look(pool, 5, 7).expires == pool->env.now + SECOND, "a lifetime is a second at least");
    ad.version++;
    put(pool, ad, "[ Type = \"Machine\"; Lifetime = 1e300 ]");
    tap_ok(look(pool, 5, 7).expires == pool->env.now + 24 * 60 * MINUTE, "and a day at most");
    ad.version++;
    put(pool, ad, "[ Type = \"Machine\"; Lifetime = 5 ]");
    /* a request comes in the very moment in which the offer goes */
    pool->env.now += 5 * SECOND;
    pool->env.wall += 5 * SECOND;
    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOB);
    pass(pool, SECOND);
    tap_ok(matches(pool) == 0, "an ad past its lifetime never matches, not even in its last moment");
    pool_free(pool, "expiry");
}

static void shrinking_lifetimes_end(void)
{
    struct pool *pool = pool_new();
    enum reason reason = REASON_OK;
    char text[64];
    int taken = 0;

    for (int i = 0; i < 100 && reason == REASON_OK; i++) {
        snprintf(text, sizeof text, "[ Lifetime = %d ]", 10000 - i);
        reason = put(pool, (struct put){.from = 5, .id = 7, .version = 1 + (uint64_t)i}, text).reason;
        taken += reason == REASON_OK;
    }
    tap_ok(reason == REASON_LIMIT && taken >= 8, "a lifetime may not shrink for ever");
    pass(pool, 10000 * SECOND);
    tap_ok(!look(pool, 5, 7).ad, "and the ad still ends");
    pool_free(pool, "shrinking lifetimes");
}

/* ------------------------------------------------------------------------------------------------------------ rules */

static void owners_are_proved(void)
{
    static const struct {
        const char *sentence, *text;
        bool any;
        enum reason reason;
    } rows[] = {
        {"an ad without an owner is taken", "[ Type = \"Job\" ]", false, REASON_OK},
        {"the owner may be written if it is the sender", "[ Owner = \"alice\" ]", false, REASON_OK},
        {"the owner may not be somebody else", "[ Owner = \"bob\" ]", false, REASON_IDENTITY},
        {"not even in another case", "[ Owner = \"ALICE\" ]", false, REASON_IDENTITY},
        {"unless the sender acts for all", "[ Owner = \"bob\" ]", true, REASON_OK},
        {"an owner is a string", "[ Owner = 3 ]", true, REASON_INVALID},
        {"an owner who depends on the counterpart is none", "[ Owner = other.Name ]", true, REASON_INVALID},
        {"the matchmaker's own names may not be set", "[ UserPrio = 1 ]", true, REASON_INVALID},
        {"in whatever case", "[ REMOTEUSERPRIO = 1 ]", false, REASON_INVALID},
        {"none of them", "[ Usage = 1 ]", false, REASON_INVALID},
        {"a count is an integer", "[ Count = 1.5 ]", false, REASON_INVALID},
        {"and not below 0", "[ Count = -1 ]", false, REASON_INVALID},
        {"nor is it without bounds", "[ Count = 1000000000001 ]", false, REASON_LIMIT},
        {"a lifetime is a time", "[ Lifetime = \"long\" ]", false, REASON_INVALID},
        {"above 0", "[ Lifetime = 0 ]", false, REASON_INVALID},
        {"and a number", "[ Lifetime = real(\"NaN\") ]", false, REASON_INVALID},
        {"a residual is written as an ad", "[ Residual = 3 ]", false, REASON_INVALID},
    };
    struct pool *pool = pool_new();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct put ad = {.from = 2, .id = i, .version = 1, .request = true, .any = rows[i].any};
        enum reason reason = put(pool, ad, rows[i].text).reason;

        if (!tap_ok(reason == rows[i].reason && (reason == REASON_OK) == (look(pool, 2, i).ad != NULL), "%s",
                    rows[i].sentence))
            tap_diag("%s", reason_words(reason));
    }
    tap_ok(ad_says(pool, look(pool, 2, 0).ad, "Owner is \"alice\" && Identity is \"alice\" && Received is 1800000000"),
           "owner, identity and time of receipt are written by the server");
    put(pool, (struct put){.from = 2, .id = 50, .version = 1, .any = true},
        "[ Identity = \"root\"; Received = 1; Owner = strcat(\"b\", \"ob\") ]");
    tap_ok(ad_says(pool, look(pool, 2, 50).ad, "Owner is \"bob\" && Identity is \"alice\" && Received is 1800000000"),
           "whatever the ad says");
    pool_free(pool, "owners");
}

static void refusals_change_nothing(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 2, .id = 1, .version = 1, .request = true};

    put(pool, ad, JOBS(5));
    ad.version = 2;
    put(pool, ad, "[ Count = -3 ]");
    tap_ok(look(pool, 2, 1).version == 1 && look(pool, 2, 1).free == 5, "what is refused changes nothing");
    tap_ok(put(pool, ad, NULL).reason == REASON_INVALID && look(pool, 2, 1).version == 1, "a text must be there");
    pool_free(pool, "refusals");
}

/* Long ads: few of them fill what an agent may have. */
static void agents_have_so_many_bytes(void)
{
    struct pool *pool = pool_new();
    size_t len = 1u << 20;
    char *text = malloc(len + 64);
    uint64_t taken = 0;

    memcpy(text, "[ A = \"", 7);
    memset(text + 7, 'a', len);
    strcpy(text + 7 + len, "\" ]");
    while (taken < 100 && put(pool, (struct put){.from = 5, .id = taken, .version = 1}, text).reason == REASON_OK)
        taken++;
    tap_ok(taken == 63, "an agent's ads take so many bytes and no more");
    tap_ok(put(pool, (struct put){.from = 5, .id = 3, .version = 2}, text).reason == REASON_OK,
           "one may be replaced by another as long");
    withdraw(pool, 5, 3, 3);
    tap_ok(put(pool, (struct put){.from = 5, .id = 99, .version = 1}, text).reason == REASON_OK,
           "and what goes makes room");
    free(text);
    pool_free(pool, "long ads");
}

static void agents_have_limits(void)
{
    struct pool *pool = pool_new();

    matchmaker_role.free(pool->role);
    pool->settings.ads_max = 3;
    role_start(pool);
    for (uint64_t i = 0; i < 3; i++)
        put(pool, (struct put){.from = 5, .id = i, .version = 1}, MACHINE);
    tap_ok(put(pool, (struct put){.from = 5, .id = 9, .version = 1}, MACHINE).reason == REASON_LIMIT,
           "an agent has so many ads and no more");
    tap_ok(put(pool, (struct put){.from = 6, .id = 9, .version = 1}, MACHINE).reason == REASON_OK,
           "another agent has its own");
    tap_ok(put(pool, (struct put){.from = 5, .id = 1, .version = 2}, MACHINE).reason == REASON_OK,
           "those that are there may change");
    withdraw(pool, 5, 1, 3);
    tap_ok(put(pool, (struct put){.from = 5, .id = 9, .version = 1}, MACHINE).reason == REASON_OK,
           "one that goes makes room");
    for (uint64_t i = 100; i < 200; i++)
        withdraw(pool, 5, i, 1);
    tap_ok(!pool->fault, "withdrawals of nothing do not fill the memory");
    pass(pool, 3 * pool->spans.lifetime);
    pool_free(pool, "limits");
}

/* ---------------------------------------------------------------------------------------------------------- matches */

static void matches_are_told(void)
{
    struct pool *pool = pool_new();
    const struct match_told *root, *member;
    struct key ticket, offer_key = {{7}};
    struct sent *to_root, *to_member;

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOB);
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    to_root = sent_to(pool, 2, 0);
    to_member = sent_to(pool, 5, 0);
    if (!tap_ok(matches(pool) == 1 && to_root && to_member && pool->sent_count == 2, "both sides of a match are told"))
        return;
    root = &to_root->message.u.match_told;
    member = &to_member->message.u.match_told;
    tap_ok(root->id == 1 && root->number == 1 && root->claim == 0 && root->superior == 0 && root->edges &&
               root->edges->count == 1 && root->window == pool->spans.window,
           "the root hears of its ad, its number and its member");
    tap_ok(root->edges->items[0].agent == 5 && root->edges->items[0].offer == 7 &&
               ad_says(pool, root->edges->items[0].ad, "Cpus == 8"),
           "the member is named by its agent and its ad, which is sent as it was matched");
    tap_ok(member->id == 7 && member->number == 1 && member->superior == 2 && !member->edges &&
               member->claim == root->edges->items[0].claim && member->gang == root->gang && member->claim &&
               ad_says(pool, member->superior_ad, "Type == \"Job\" && Owner == \"alice\""),
           "the member hears of its superior, the same claim and the same gang");
    ticket_make(&pool->secrets, &offer_key, 7, member->claim, member->gang, "alice", &ticket);
    tap_ok(key_equal(&ticket, &root->edges->items[0].ticket), "the provider can make the customer's ticket again");
    tap_ok(look(pool, 2, 1).free == 0 && look(pool, 5, 7).free == 0 && look(pool, 5, 7).outstanding == 1,
           "nothing is left of either");
    answer_all(pool);
    pass(pool, SECOND);
    tap_ok(matches(pool) == 1 && matchmaker_counts(pool->role).told == 2, "one match is one match");
    pool_free(pool, "matches");
}

#define GANG                                                                                                     \
    "[ Type = \"Job\"; Ports = { [ Label = cpu; Cpus = 2; Constraint = cpu.Type == \"Machine\" ], [ Label = s; " \
    "Constraint = s.Type == \"Service\" ] } ]"
#define SERVICE                                                                                                         \
    "[ Type = \"Service\"; Ports = { [ Label = disk; Constraint = disk.Type == \"Disk\" ], [ Label = user; Constraint " \
    "= user.Type == \"Job\" ] } ]"

/* Claims that are charged to that user. */
static uint32_t claims_of(const struct pool *pool, const char *user)
{
    struct claim_view view;
    uint32_t count = 0;

    for (uint32_t from = 0; matchmaker_next_claim(pool->role, from, &view, &from);)
        count += view.user && !strcmp(view.user, user);
    return count;
}

static bool edge_is(const struct edge *edge, agent who, uint64_t offer, uint64_t port, uint64_t link, uint64_t depth)
{
    return edge->agent == who && edge->offer == offer && edge->port == port && edge->link == link &&
           edge->depth == depth;
}

static void gangs_are_told(void)
{
    struct pool *pool = pool_new();
    const struct match_told *root, *machine, *service, *disk;
    struct key ticket, service_key = {{8}}, disk_key = {{9}};

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, GANG);
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE);
    put(pool, (struct put){.from = 6, .id = 8, .version = 1}, SERVICE);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 0 && pool->sent_count == 0 && look(pool, 5, 7).free == 1 && look(pool, 2, 1).free == 1,
           "a gang that lacks a member is told to nobody");
    put(pool, (struct put){.from = 9, .id = 9, .version = 1}, "[ Type = \"Disk\" ]");
    pass(pool, CYCLE);
    if (!tap_ok(matches(pool) == 1 && pool->sent_count == 4 && sent_to(pool, 2, 0) && sent_to(pool, 5, 0) &&
                    sent_to(pool, 6, 0) && sent_to(pool, 9, 0),
                "the root of a gang and each member are told"))
        return;
    root = &sent_to(pool, 2, 0)->message.u.match_told;
    machine = &sent_to(pool, 5, 0)->message.u.match_told;
    service = &sent_to(pool, 6, 0)->message.u.match_told;
    disk = &sent_to(pool, 9, 0)->message.u.match_told;
    tap_ok(root->claim == 0 && root->superior == 0 && root->edges && root->edges->count == 2 &&
               edge_is(&root->edges->items[0], 5, 7, 0, 0, 0) && edge_is(&root->edges->items[1], 6, 8, 1, 1, 1),
           "the root hears of those at its ports: which dock, and how many levels are below");
    tap_ok(machine->superior == 2 && !machine->edges && service->superior == 2 && service->edges &&
               service->edges->count == 1 && edge_is(&service->edges->items[0], 9, 9, 0, 0, 0) && disk->superior == 6 &&
               !disk->edges,
           "a member hears of its superior, and of those below it");
    tap_ok(root->gang && machine->gang == root->gang && service->gang == root->gang && disk->gang == root->gang &&
               machine->claim == root->edges->items[0].claim && service->claim == root->edges->items[1].claim &&
               disk->claim == service->edges->items[0].claim && machine->claim != service->claim &&
               service->claim != disk->claim,
           "it is one gang, and each edge is a claim");
    tap_ok(ad_says(pool, disk->superior_ad, "Type == \"Service\"") &&
               ad_says(pool, service->superior_ad, "Type == \"Job\" && Owner == \"alice\"") &&
               ad_says(pool, root->edges->items[1].ad, "Type == \"Service\""),
           "the ads of both ends are sent as they were matched");
    ticket_make(&pool->secrets, &service_key, 8, service->claim, root->gang, "alice", &ticket);
    tap_ok(key_equal(&ticket, &root->edges->items[1].ticket), "the root has tickets for its members");
    ticket_make_below(&pool->secrets, &disk_key, 9, disk->claim, root->gang, "host", "alice", &ticket);
    tap_ok(key_equal(&ticket, &service->edges->items[0].ticket),
           "a member has them for those below, in its own name and in that of the root");
    tap_ok(service->port == root->edges->items[1].port && service->link == root->edges->items[1].link &&
               disk->port == service->edges->items[0].port && disk->link == service->edges->items[0].link &&
               service->port == 1 && machine->port == 0,
           "each hears by which ports it docks");
    tap_ok(disk->customer == 2 && service->customer == 0 && machine->customer == 0 && root->customer == 0,
           "and who has the job, if that is not its superior");
    tap_ok(claims_of(pool, "alice") == 3, "every member is charged to the root's owner");
    tap_ok(look(pool, 2, 1).free == 0 && look(pool, 5, 7).free == 0 && look(pool, 6, 8).free == 0 &&
               look(pool, 9, 9).free == 0 && look(pool, 9, 9).outstanding == 1,
           "nothing is left of any");
    answer_all(pool);
    pass(pool, SECOND);
    tap_ok(matches(pool) == 1 && matchmaker_counts(pool->role).told == 4, "one gang is one match");
    pool_free(pool, "gangs");
}

static void gangs_leave_residuals(void)
{
    static const char divided[] = "[ Type = \"Machine\"; Cpus = 8; Constraint = other.Cpus <= Cpus; "
                                  "Residual = [ Cpus = Cpus - other.Cpus ] ]";
    struct pool *pool = pool_new();

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, GANG);
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, divided);
    put(pool, (struct put){.from = 6, .id = 8, .version = 1}, "[ Type = \"Service\" ]");
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 1 && look(pool, 5, 7).free == 1 && ad_says(pool, look(pool, 5, 7).left, "Cpus == 6"),
           "what the port asked for is taken off a machine in a gang");
    put(pool, (struct put){.from = 5, .id = 7, .version = 2}, divided);
    tap_ok(look(pool, 5, 7).outstanding == 1 && ad_says(pool, look(pool, 5, 7).left, "Cpus == 6"),
           "and off a text that was written before");
    put(pool, (struct put){.from = 5, .id = 7, .version = 3, .seen = seen_of(pool, 1, 0)}, divided);
    tap_ok(ad_says(pool, look(pool, 5, 7).left, "Cpus == 8"), "but not off one that names the match");
    pool_free(pool, "residuals of gangs");
}

static void ports_are_checked(void)
{
    struct pool *pool = pool_new();

    tap_ok(put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, "[ Ports = { [ A = 1 ] } ]")
                   .reason == REASON_INVALID,
           "an ad whose ports are not in order is refused");
    tap_ok(put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true},
               "[ Ports = { [ Label = a; Count = 65 ] } ]")
                   .reason == REASON_LIMIT,
           "and one that wants more members than it can be told of");
    tap_ok(put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true},
               "[ Ports = { [ Label = a; Count = 64 ] } ]")
                   .reason == REASON_OK,
           "as many as that are well");
    pool_free(pool, "ports");
}

static void counts_are_units(void)
{
    struct pool *pool = pool_new();

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOBS(3));
    for (uint64_t i = 0; i < 5; i++)
        put(pool, (struct put){.from = 10 + i, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 3 && look(pool, 2, 1).free == 0 && look(pool, 2, 1).numbered == 3,
           "a request of three units is matched three times");
    tap_ok(put(pool, (struct put){.from = 2, .id = 2, .version = 1, .request = true}, JOBS(0)).reason ==
                   REASON_CONSUMED &&
               look(pool, 2, 2).ad,
           "one of no units is stored, and nothing is left of it");
    pool_free(pool, "counts");
}

static void crossing_updates_neither_double_nor_lose(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 2, .id = 1, .version = 1, .request = true};
    struct advertised answer;

    put(pool, ad, JOBS(5));
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE);
    put(pool, (struct put){.from = 6, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(look(pool, 2, 1).free == 3, "two of five units are matched");
    ad.version = 2; /* it was written before the notifications came */
    answer = put(pool, ad, JOBS(6));
    tap_ok(look(pool, 2, 1).free == 4 && look(pool, 2, 1).outstanding == 2 && answer.settled == 0,
           "matches that a text does not name are taken off it again");
    ad.version = 3;
    ad.seen = seen_of(pool, 0, 1); /* the second, but not the first */
    answer = put(pool, ad, JOBS(5));
    tap_ok(look(pool, 2, 1).free == 4 && look(pool, 2, 1).outstanding == 1 && answer.settled == 0,
           "one beyond a gap is named, the gap is not");
    ad.version = 4;
    ad.seen = seen_of(pool, 2, 0);
    answer = put(pool, ad, JOBS(4));
    tap_ok(look(pool, 2, 1).free == 4 && look(pool, 2, 1).outstanding == 0 && answer.settled == 2,
           "when all are named the text stands as it is written, and they are settled");
    ad.version = 5;
    ad.seen = (struct seen){12345, 9, 0};
    put(pool, ad, JOBS(4));
    tap_ok(
        look(pool, 2, 1).free == 2,
        "a sender that knows nothing of this incarnation may have restarted: what it named before is taken off again");
    put(pool, (struct put){.from = 6, .id = 8, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    ad.version = 6;
    put(pool, ad, JOBS(4));
    tap_ok(look(pool, 2, 1).numbered == 3 && look(pool, 2, 1).free == 1,
           "numbers of another incarnation name nothing of this one");
    pool_free(pool, "crossing updates");
}

static void lost_notifications_come_back(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 2, .id = 1, .version = 1, .request = true};
    struct put offer = {.from = 5, .id = 7, .version = 1, .seen = seen_of(pool, 0, 0)};
    struct advertised answer;

    put(pool, ad, JOBS(3));
    put(pool, offer, MACHINE);
    pass(pool, CYCLE);
    offer.bare = true;
    answer = put(pool, offer, NULL);
    tap_ok(answer.reason == REASON_CONSUMED && answer.span > 0,
           "a renewal hears that nothing is left, and for how long");
    offer.bare = false;
    answer = put(pool, offer, MACHINE);
    tap_ok(answer.reason == REASON_CONSUMED && answer.settled == 0, "so does a text that does not name the match");
    pass(pool, answer.span - 1);
    withdraw(pool, 2, 1, 2); /* nobody else shall take it */
    tap_ok(put(pool, offer, MACHINE).reason == REASON_CONSUMED, "that is so for as long as was said");
    pass(pool, 1);
    answer = put(pool, offer, MACHINE);
    tap_ok(answer.reason == REASON_CONSUMED && answer.span == 0,
           "a text may have been long on its way: what it does not name it may have been too early for");
    offer.heard = answer.clock;
    offer.bare = true;
    answer = put(pool, offer, NULL);
    tap_ok(answer.reason == REASON_OK && answer.settled == 1 && look(pool, 5, 7).free == 1,
           "once its sender has heard of that time it comes back: nobody can name the match any more");
    pool_free(pool, "lost notifications");
}

static void incarnations_differ(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 2, .id = 1, .version = 5, .request = true};
    uint64_t before = matchmaker_incarnation(pool->role);

    put(pool, ad, JOBS(5));
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    ad.seen = seen_of(pool, 1, 0);
    role_restart(pool);
    tap_ok(matchmaker_incarnation(pool->role) != before && !look(pool, 2, 1).ad, "a restart is another incarnation");
    ad.bare = true;
    tap_ok(put(pool, ad, NULL).reason == REASON_BODY, "which asks for the texts again");
    ad.bare = false;
    put(pool, ad, JOBS(4));
    put(pool, (struct put){.from = 6, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(look(pool, 2, 1).numbered == 1 && look(pool, 2, 1).free == 3, "and counts from one");
    ad.version++;
    put(pool, ad, JOBS(4));
    tap_ok(look(pool, 2, 1).free == 3, "an unknown incarnation takes off all matches of the present one");
    pool_free(pool, "incarnations");
}

static void numbers_go_on(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 2, .id = 1, .version = 1, .request = true};

    put(pool, ad, JOBS(2));
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    answer_all(pool);
    withdraw(pool, 2, 1, 2);
    ad.version = 3;
    ad.seen = seen_of(pool, 1, 0);
    put(pool, ad, JOBS(2));
    tap_ok(look(pool, 2, 1).numbered == 1 && look(pool, 2, 1).free == 2, "numbers go on over a withdrawal");
    withdraw(pool, 2, 1, 4);
    pass(pool, 10 * pool->spans.lifetime);
    ad.version = 5;
    put(pool, ad, JOBS(2));
    tap_ok(look(pool, 2, 1).numbered == 1,
           "where all was forgotten, the numbers that the sender knows are not used again");
    ad.version = 6;
    ad.seen = seen_of(pool, UINT64_MAX - 3, 7);
    tap_ok(put(pool, ad, JOBS(2)).reason == REASON_INVALID, "numbers that nobody could have given are refused");
    pool_free(pool, "numbers");
}

static void residuals_are_taken_off(void)
{
    struct pool *pool = pool_new();
    struct put offer = {.from = 5, .id = 7, .version = 1};

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true},
        "[ Type = \"Job\"; Cpus = 3; Count = 2; Constraint = other.Type == \"Machine\" ]");
    put(pool, offer, SHARED);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 2 && ad_says(pool, look(pool, 5, 7).left, "Cpus == 2") &&
               ad_says(pool, look(pool, 5, 7).ad, "Cpus == 8"),
           "a machine that divides is matched with two jobs, and what is left goes on");
    offer.version = 2;
    put(pool, offer, SHARED);
    tap_ok(ad_says(pool, look(pool, 5, 7).left, "Cpus == 2") && look(pool, 5, 7).outstanding == 2,
           "a text that names neither loses both parts again");
    offer.version = 3;
    offer.seen = seen_of(pool, 1, 0);
    put(pool, offer,
        "[ Type = \"Machine\"; Cpus = 5; Constraint = Cpus > 0 && other.Cpus <= Cpus; "
        "Residual = [ Cpus = Cpus - other.Cpus ] ]");
    tap_ok(ad_says(pool, look(pool, 5, 7).left, "Cpus == 2") && look(pool, 5, 7).outstanding == 1,
           "one that names the first loses the second");
    put(pool, (struct put){.from = 2, .id = 2, .version = 1, .request = true},
        "[ Type = \"Job\"; Cpus = 2; Constraint = other.Type == \"Machine\" ]");
    pass(pool, CYCLE);
    offer.version = 4;
    tap_ok(look(pool, 5, 7).free == 0 && put(pool, offer,
                                             "[ Type = \"Machine\"; Cpus = 5; "
                                             "Constraint = Cpus > 0 && other.Cpus <= Cpus; "
                                             "Residual = [ Cpus = Cpus - other.Cpus ] ]")
                                                 .reason == REASON_CONSUMED,
           "when nothing of it can be given to anybody, it is consumed");
    pool_free(pool, "residuals");
}

static void same_texts_cost_little(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 2, .id = 1, .version = 1, .request = true};
    const struct tree *before;
    uint64_t cycles;

    put(pool, ad, LONELY);
    pass(pool, SECOND);
    before = look(pool, 2, 1).ad;
    cycles = matchmaker_counts(pool->role).cycles;
    ad.version = 2;
    put(pool, ad, LONELY);
    pass(pool, SECOND);
    tap_ok(look(pool, 2, 1).ad == before && matchmaker_counts(pool->role).cycles == cycles,
           "a text that says the same is no change: no cycle runs for it");
    pool_free(pool, "same texts");
}

/* --------------------------------------------------------------------------------------------------------- notifier */

static void notes_go_in_order(void)
{
    struct pool *pool = pool_new();
    uint64_t number = 0;
    bool in_order = true;

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOBS(5));
    for (uint64_t i = 0; i < 5; i++)
        put(pool, (struct put){.from = 10 + i, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 5 && sent_count(pool, 2) == 1, "one message is on its way to an agent at a time");
    for (struct sent *sent; (sent = sent_to(pool, 2, 0));) {
        in_order = in_order && sent->message.u.match_told.number == ++number;
        answer_sent(pool, sent, true);
    }
    tap_ok(in_order && number == 5, "the others follow in their order");
    pool_free(pool, "order of notes");
}

static void notes_are_repeated(void)
{
    struct pool *pool = pool_new();
    int64_t pause = 0, begun, longest = 0;
    bool grows = true, aged = true;
    struct event stray = {.kind = EVENT_ANSWER, .token = UINT64_MAX, .tag = MESSAGE_MATCH};
    struct sent *sent;
    int tries = 0;

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOB);
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    begun = pool->env.now;
    hand_over(pool, &stray);
    answer_sent(pool, sent_to(pool, 5, 0), true);
    while ((sent = sent_to(pool, 2, 0))) {
        int64_t from = pool->env.now;

        aged = aged && (tries == 0 || sent->message.u.match_told.age >= from - begun);
        answer_sent(pool, sent, false);
        while (!sent_to(pool, 2, 0) && pool->env.now < begun + 2 * pool->spans.window)
            pass(pool, 10 * MILLISECOND);
        pause = pool->env.now - from;
        grows = grows && (tries == 0 || !sent_to(pool, 2, 0) || pause * 4 > longest);
        longest = pause > longest ? pause : longest;
        tries++;
    }
    tap_ok(tries >= 5 && tries < 12 && grows, "what is not answered is sent again, after ever longer pauses");
    tap_ok(aged, "and says how old it is by then");
    tap_ok(matchmaker_counts(pool->role).given_up == 1 && pool->notes == 1 && matchmaker_counts(pool->role).told == 1,
           "when the window is over it is given up, visibly");
    pool_free(pool, "repeats");
}

/* ------------------------------------------------------------------------------------------------------- accounting */

static double usage_of(struct pool *pool, const char *name)
{
    double usage = -1, priority;

    matchmaker_user(pool->role, name, pool->env.wall / SECOND, &usage, &priority);
    return usage;
}

static void who_used_less_is_first(void)
{
    struct pool *pool = pool_new();
    uint64_t claim = 77;

    for (int i = 0; i < 200; i++) { /* alice has used a machine for three hours */
        report(pool, 30, claim, "alice", 54 * SECOND, false);
        pass(pool, 54 * SECOND);
    }
    tap_ok(usage_of(pool, "alice") > 0.05 && matchmaker_counts(pool->role).claims == 1, "reports are charged");
    report(pool, 30, claim, "alice", 0, true);
    tap_ok(matchmaker_counts(pool->role).claims == 0 && matchmaker_counts(pool->role).history == 1,
           "a claim that is over is history");
    for (uint64_t c = 100; c < 140; c++) /* and now many more */
        for (int i = 0; i < 3; i++) {
            report_any(pool, 30, c, "alice", 60 * SECOND, false);
            if (c == 139)
                pass(pool, 60 * SECOND);
        }
    pass(pool, 3 * MINUTE);
    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOB);
    put(pool, (struct put){.from = 3, .id = 1, .version = 1, .request = true}, JOB);
    pass(pool, SECOND);
    tap_ok(matches(pool) == 0, "two users wait");
    tap_ok(report(pool, 31, 500, "alice", 60 * SECOND, false) == REASON_UNKNOWN,
           "a claim that was never matched is not believed for long");
    tap_ok(report_any(pool, 31, 500, "alice", 60 * SECOND, false) == REASON_OK, "one has a claim at the moment");
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(sent_count(pool, 3) == 1 && sent_count(pool, 2) == 0, "the other is served first, though it came later");
    pool_free(pool, "usage");
}

/* A machine on which a job of carol's runs, as its second ad says. */
#define TAKEN(more)                                                                                      \
    "[ Type = \"Machine\"; Cpus = 8; Constraint = other.Cpus <= Cpus; Preempts = \"00000000000000c1\"; " \
    "RemoteUser = \"carol\"; CurrentRank = 2; " more " ]"
#define BY_PRIORITY                                                                                                    \
    "[ RootOrder = UserPrio; DockingVector = { label.RemoteUser is undefined ? 2 : label.RemoteUserPrio > UserPrio * " \
    "1.1 && label.CurrentRank <= label.Rank ? 0 : error, Usage } ]"

static void set_policy(struct pool *pool, const char *text)
{
    struct err err = {0};
    struct event event = {.kind = EVENT_POLICY, .ad = lang_ad(&pool->lang, &dialect_classic, text, &err)};

    hand_over(pool, &event);
    tree_unref(event.ad);
}

static void rank_preempts(void)
{
    struct pool *pool = pool_new();

    put(pool, (struct put){.from = 5, .id = 8, .version = 1}, TAKEN("Rank = 2"));
    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOB);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 0, "without a policy nobody has to go for one who is liked as well");
    put(pool, (struct put){.from = 5, .id = 8, .version = 2}, TAKEN("Rank = other.Cpus + 2"));
    put(pool, (struct put){.from = 6, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 1 && look(pool, 6, 7).free == 0 && look(pool, 5, 8).free == 1,
           "nor while a machine is free");
    put(pool, (struct put){.from = 3, .id = 1, .version = 1, .request = true}, JOB);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 2 && look(pool, 5, 8).free == 0, "but for one who is liked better");
    tap_ok(put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE).reason == REASON_OK,
           "the other ad of that agent is not touched");
    pool_free(pool, "preemption by rank");
}

static void priority_preempts(void)
{
    struct pool *pool = pool_new();

    for (uint64_t c = 100; c < 140; c++)
        report_any(pool, 30, c, "carol", 60 * SECOND, false); /* she uses much */
    set_policy(pool, BY_PRIORITY);
    put(pool, (struct put){.from = 5, .id = 8, .version = 1}, TAKEN("Rank = 2"));
    put(pool, (struct put){.from = 4, .id = 1, .version = 1, .request = true}, JOB);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 0, "nobody takes a machine from oneself");
    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOB);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 1 && look(pool, 2, 1).free == 0,
           "a better user's job takes it, though an equal one of its own user was tried in vain before");
    put(pool, (struct put){.from = 3, .id = 1, .version = 1, .request = true}, JOB);
    put(pool, (struct put){.from = 6, .id = 8, .version = 1},
        "[ Type = \"Machine\"; Cpus = 8; Preempts = \"c2\"; RemoteUser = \"dave\"; CurrentRank = 0 ]");
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 1, "one that is no better does not");
    put(pool, (struct put){.from = 7, .id = 8, .version = 1}, TAKEN("Rank = 1"));
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 1, "nor one whom the machine likes less");
    for (uint64_t c = 200; c < 240; c++)
        report_any(pool, 30, c, "dave", 60 * SECOND, false);
    pass(pool, 2 * SECOND);
    tap_ok(matches(pool) == 2 && look(pool, 3, 1).free == 0, "until the other has used more");
    pool_free(pool, "preemption by priority");
}

/* The whole of figure 9, as it is given away with Berth. */
static void figure_nine(void)
{
    struct pool *pool = pool_new();
    size_t len;
    char *text = lang_read("examples/policy/condor.ad", &len);

    for (uint64_t c = 100; c < 140; c++)
        report_any(pool, 30, c, "carol", 60 * SECOND, false);
    set_policy(pool, text);
    put(pool, (struct put){.from = 5, .id = 8, .version = 1},
        TAKEN("Rank = 2; ImageSize = 0; ServiceTime = '2:59:00'"));
    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOBS(2));
    pass(pool, 2 * SECOND);
    tap_ok(matches(pool) == 0, "figure 9: for three hours a claim is safe from better users");
    put(pool, (struct put){.from = 5, .id = 8, .version = 2},
        TAKEN("Rank = 2; ImageSize = 0; ServiceTime = '3:01:00'"));
    put(pool, (struct put){.from = 6, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 2 && look(pool, 6, 7).free == 0 && look(pool, 5, 8).free == 0,
           "figure 9: what nobody uses is given, and then what another has had for long enough");
    tap_ok(sent_to(pool, 6, 0) != NULL, "figure 9: the free machine is told of its match");
    free(text);
    pool_free(pool, "figure 9");
}

static void equals_take_turns(void)
{
    struct pool *pool = pool_new();

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOBS(10));
    put(pool, (struct put){.from = 3, .id = 1, .version = 1, .request = true}, JOBS(10));
    for (uint64_t i = 0; i < 6; i++)
        put(pool, (struct put){.from = 10 + i, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(look(pool, 2, 1).free == 7 && look(pool, 3, 1).free == 7,
           "two users who are alike share the machines of one cycle");
    put(pool, (struct put){.from = 20, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    put(pool, (struct put){.from = 21, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(look(pool, 2, 1).free == 6 && look(pool, 3, 1).free == 6, "and those that come one by one");
    pool_free(pool, "turns");
}

static void usage_has_bounds(void)
{
    struct pool *pool = pool_new();
    double once;

    report(pool, 30, 1, "alice", 60 * SECOND, false);
    once = usage_of(pool, "alice");
    for (int i = 0; i < 100; i++)
        report(pool, 30, 1, "alice", INT64_MAX, false);
    tap_ok(usage_of(pool, "alice") == once && once > 0, "nobody can be charged more than the time that has passed");
    tap_ok(report(pool, 30, 1, "alice", -5, false) == REASON_INVALID, "nor less than nothing");
    tap_ok(report(pool, 31, 1, "bob", 5, true) == REASON_IDENTITY && matchmaker_counts(pool->role).claims == 1,
           "a claim is reported by one agent");
    tap_ok(report(pool, 31, 0, "bob", 5, true) == REASON_INVALID && report(pool, 31, 9, "", 5, true) == REASON_INVALID,
           "a report names a claim and an owner");
    pass(pool, pool->spans.lease + pool->spans.lease / 10);
    tap_ok(matchmaker_counts(pool->role).claims == 0 && matchmaker_counts(pool->role).history == 1,
           "a claim of which nothing is heard any more is history");
    tap_ok(report(pool, 30, 1, "alice", 60 * SECOND, false) == REASON_OK && matchmaker_counts(pool->role).claims == 0,
           "what is said of it later changes nothing");
    pool_free(pool, "bounds of usage");
}

static void usage_is_durable(void)
{
    struct pool *pool = pool_new();
    double before;

    for (int i = 0; i < 100; i++) {
        report(pool, 30, 1, "alice", 10 * SECOND, false);
        pass(pool, 10 * SECOND);
    }
    tap_ok(pool->row_count == 1 && pool->effects.persists <= 19, "usage is written once a minute at most");
    pass(pool, MINUTE);
    before = usage_of(pool, "alice");
    role_restart(pool);
    tap_ok(before > 0 && fabs(usage_of(pool, "alice") - before) < before / 100, "and is there after a restart");
    pass(pool, 60 * pool->spans.half);
    report_any(pool, 30, 2, "bob", 10 * SECOND, true);
    pass(pool, MINUTE);
    tap_ok(usage_of(pool, "alice") < 0 && pool->row_count == 1, "what was used very long ago is forgotten");
    pool_free(pool, "durable usage");
}

/* ------------------------------------------------------------------------------------------------------- everything */

static void others_are_refused(void)
{
    struct pool *pool = pool_new();
    bool right = true;

    for (int kind = -1; kind <= MESSAGE_COUNT; kind++) {
        struct message message;
        enum message_kind answer;

        memset(&message, 0, sizeof message);
        message.kind = (enum message_kind)kind;
        answer = message_answer(message.kind);
        say_as(pool, peer_of(5), &message);
        if (pool->answer.kind != answer)
            right = false;
        if (answer == MESSAGE_CLAIMED && pool->answer.u.claimed.reason != REASON_INVALID)
            right = false;
        if (answer == MESSAGE_VERIFIED && pool->answer.u.verified.reason != REASON_INVALID)
            right = false;
        say_as(pool, NULL, &message);
        right = right && pool->answer.kind == answer;
    }
    tap_ok(right, "a message that is not for a matchmaker is refused with an answer of its kind");
    pool_free(pool, "other messages");
}

/* An offer's side of the ledger, as an honest agent would keep it, under random crossing: what the matchmaker has free
 * is never more than what the agent has, once it has heard everything. */
static void random_ledgers_balance(void)
{
    static const char *const texts[] = {MACHINE,
                                        SHARED,
                                        JOB,
                                        JOBS(3),
                                        JOBS(0),
                                        LONELY,
                                        "[ Count = -1 ]",
                                        "[]",
                                        "[ Type = \"Job\"; Residual = [ Cpus = 1 ] ]",
                                        "[ Lifetime = 1 ]",
                                        "[ Constraint = time() % 3 == 0; Type = \"Machine\" ]",
                                        NULL};
    struct pool *pool = pool_new();
    struct rng rng;
    uint64_t rounds = lang_setting("BERTH_ROUNDS", 20000), made;

    rng_init(&rng, lang_setting("BERTH_SEED", 1));
    for (uint64_t i = 0; i < rounds && !pool->fault; i++) {
        agent who = 2 + rng_below(&rng, 6);
        struct put ad = {.from = who, .id = rng_below(&rng, 4), .version = i / 100 + rng_below(&rng, 3)};

        ad.request = rng_below(&rng, 2);
        ad.bare = rng_below(&rng, 3) == 0;
        ad.seen =
            rng_below(&rng, 4) ? look(pool, who, ad.id).seen : seen_of(pool, rng_below(&rng, 9), rng_below(&rng, 8));
        switch (rng_below(&rng, 12)) {
        case 0:
            withdraw(pool, who, ad.id, ad.version);
            break;
        case 1:
            report(pool, who, 1 + rng_below(&rng, 9), rng_below(&rng, 2) ? "alice" : "",
                   (int64_t)rng_below(&rng, 99) - 9, rng_below(&rng, 4) == 0);
            break;
        case 2:
            pass(pool, (int64_t)rng_below(&rng, 40) * SECOND);
            break;
        case 3:
        case 4:
            if (pool->sent_count)
                answer_sent(pool, &pool->sent[rng_below(&rng, pool->sent_count)], rng_below(&rng, 3));
            break;
        case 5:
        case 6:
            pass(pool, CYCLE);
            break;
        default:
            put(pool, ad, texts[rng_below(&rng, sizeof texts / sizeof *texts)]);
        }
    }
    made = matches(pool);
    tap_ok(made > rounds / 200, "random advertising makes matches (%llu)", (unsigned long long)made);
    pass(pool, 3 * 24 * 60 * MINUTE);
    tap_ok(pool->wake == INT64_MAX || pool->wake > pool->env.now, "and comes to rest");
    pool_free(pool, "random advertising");
}

/* -------------------------------------------------------------------------------------------------- honest advertisers
 *
 * A customer with UNITS units, as an honest agent keeps it, and a network that delays what it carries up to the
 * deadline, drops and doubles it. What the matchmaker may still give away is never more than what the customer has,
 * less the matches that it may still hear of. */

#define UNITS 4
#define FLYING 16

struct text_on_way {
    int64_t at; /* it arrives; 0: there is none */
    struct put put;
    int64_t count;
};

struct note_on_way {
    int64_t at, age;
    uint64_t number, incarnation;
};

struct honest {
    struct pool *pool;
    struct rng rng;
    int64_t free;
    struct seen seen, text_seen; /* now, and in the text sent last */
    int64_t text_free, clock;    /* the latter as the matchmaker last told */
    uint64_t version;
    bool answered; /* that text is known to have arrived */
    struct text_on_way texts[FLYING];
    struct note_on_way notes[FLYING];
    uint64_t heard, doubled, ended;
};

static int64_t flight(struct honest *honest)
{
    int64_t deadline = honest->pool->spans.deadline;

    return 1 + (rng_below(&honest->rng, 2) ? (int64_t)rng_below(&honest->rng, (uint64_t)(10 * MILLISECOND))
                                           : (int64_t)rng_below(&honest->rng, (uint64_t)(deadline - SECOND)));
}

static void honest_send(struct honest *honest)
{
    bool moved = honest->free != honest->text_free || !seen_equal(&honest->seen, &honest->text_seen);
    struct put put = {.from = 2, .id = 1, .request = true};

    if (moved || !honest->answered) {
        if (moved)
            honest->version++;
        honest->text_free = honest->free;
        honest->text_seen = honest->seen;
        honest->answered = false;
    } else {
        put.bare = true;
    }
    put.version = honest->version;
    put.seen = honest->text_seen;
    put.heard = honest->clock;
    for (int copies = rng_below(&honest->rng, 5) ? 1 : (int)rng_below(&honest->rng, 3), i = 0; i < FLYING && copies;
         i++)
        if (!honest->texts[i].at) {
            honest->texts[i] = (struct text_on_way){honest->pool->env.now + flight(honest), put, honest->text_free};
            copies--;
        }
}

static void honest_text_arrives(struct honest *honest, struct text_on_way *text)
{
    struct advertised answer;
    char ad[120];

    snprintf(ad, sizeof ad, "[ Type = \"Job\"; Cpus = 1; Count = %d; Constraint = other.Type == \"Machine\" ]",
             (int)text->count);
    answer = put(honest->pool, text->put, text->put.bare ? NULL : ad);
    text->at = 0;
    if (rng_below(&honest->rng, 4) == 0)
        return; /* the answer is lost */
    if (text->put.version == honest->version && (answer.reason == REASON_OK || answer.reason == REASON_CONSUMED))
        honest->answered = true;
    if (answer.reason == REASON_BODY)
        honest->answered = false;
    honest->clock = answer.clock;
    if (answer.incarnation == honest->seen.incarnation)
        seen_settle(&honest->seen, answer.incarnation, answer.settled);
    else
        honest->seen = (struct seen){answer.incarnation, answer.settled, 0};
}

/* The network takes what was sent, and tells nobody whether it arrives. */
static void honest_carry(struct honest *honest)
{
    struct pool *pool = honest->pool;

    while (pool->sent_count) {
        struct match_told told = pool->sent[0].message.u.match_told;
        bool mine = pool->sent[0].to == 2, heard = false;

        for (int i = 0; i < FLYING && mine && rng_below(&honest->rng, 3); i++)
            if (!honest->notes[i].at) {
                honest->notes[i] =
                    (struct note_on_way){pool->env.now + flight(honest), told.age, told.number, told.incarnation};
                heard = rng_below(&honest->rng, 2);
                break;
            }
        answer_sent(pool, &pool->sent[0], !mine || heard);
    }
}

static void honest_note_arrives(struct honest *honest, struct note_on_way *note)
{
    bool late = note->age > honest->pool->spans.window;

    note->at = 0;
    if (late || !seen_add(&honest->seen, note->incarnation, note->number))
        return;
    honest->heard++;
    if (honest->free > 0)
        honest->free--;
    else
        honest->doubled++;
}

static void honest_step(struct honest *honest)
{
    struct pool *pool = honest->pool;

    for (int i = 0; i < FLYING; i++) {
        if (honest->texts[i].at && honest->texts[i].at <= pool->env.now)
            honest_text_arrives(honest, &honest->texts[i]);
        if (honest->notes[i].at && honest->notes[i].at <= pool->env.now)
            honest_note_arrives(honest, &honest->notes[i]);
    }
    if (rng_below(&honest->rng, 12) == 0)
        honest_send(honest);
    if (honest->free < UNITS && rng_below(&honest->rng, 25) == 0) { /* a job has ended, or a claim failed */
        honest->free++;
        honest->ended++;
    }
    if (rng_below(&honest->rng, 15) == 0)
        put(pool, (struct put){.from = 10 + rng_below(&honest->rng, 8), .id = rng_next(&honest->rng), .version = 1},
            "[ Type = \"Machine\"; Cpus = 8; Lifetime = 5 ]");
    pass(pool, (int64_t)rng_below(&honest->rng, 200) * MILLISECOND);
    honest_carry(honest);
}

static void honest_advertisers_balance(void)
{
    uint64_t seeds = lang_setting("BERTH_ROUNDS", 20000) / 2000, heard = 0, doubled = 0, lost = 0;
    struct honest *honest = calloc(1, sizeof *honest);

    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct pool *pool = pool_new();

        *honest = (struct honest){.pool = pool, .free = UNITS, .version = 1};
        rng_init(&honest->rng, seed * 1000 + lang_setting("BERTH_SEED", 1));
        for (int i = 0; i < 4000; i++)
            honest_step(honest);
        for (int i = 0; i < 1000; i++) { /* no more machines, no more faults: all is told and settled */
            honest_carry(honest);
            for (int k = 0; k < FLYING; k++)
                if (honest->texts[k].at && honest->texts[k].at <= pool->env.now)
                    honest_text_arrives(honest, &honest->texts[k]);
                else if (honest->notes[k].at && honest->notes[k].at <= pool->env.now)
                    honest_note_arrives(honest, &honest->notes[k]);
            if (i % 5 == 0)
                honest_send(honest);
            pass(pool, 200 * MILLISECOND);
        }
        heard += honest->heard;
        doubled += honest->doubled;
        lost += look(pool, 2, 1).free != honest->free;
        if (pool->fault)
            break;
        pool->fault = NULL;
        if (seed == seeds)
            pool_free(pool, "honest advertisers");
        else
            pool_drop(pool);
    }
    tap_ok(heard > 50 * seeds && doubled == 0, "of %llu matches under way with crossing texts no unit was given twice",
           (unsigned long long)heard);
    tap_ok(lost == 0, "and when all is quiet none is lost");
    if (doubled || lost)
        tap_diag("%llu doubled, %llu of %llu pools with a wrong count", (unsigned long long)doubled,
                 (unsigned long long)lost, (unsigned long long)seeds);
    free(honest);
}

/* Every field of every message gets any value at all. */
static void fields_scramble(struct pool *pool, struct rng *rng, const struct layout *layout, void *structure)
{
    static const uint64_t words[] = {0, 1, 2, 3, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, UINT64_C(1) << 62};
    static const char *const texts[] = {MACHINE, SHARED, JOBS(2), "[]", "3", "{ [] }", "[ Owner = 1 ]"};

    for (uint32_t i = 0; i < layout->count; i++) {
        const struct field *field = &layout->fields[i];
        char *at = (char *)structure + field->at;
        uint64_t word = rng_below(rng, 3) ? words[rng_below(rng, 8)] : rng_next(rng);
        bool flag = word & 1;

        switch (field->sort) {
        case FIELD_NUMBER:
        case FIELD_WORD:
            memcpy(at, &word, sizeof word);
            break;
        case FIELD_FLAG:
            memcpy(at, &flag, sizeof flag);
            break;
        case FIELD_REASON:
            break;
        case FIELD_TEXT:
            memset(at, rng_below(rng, 2) ? 'x' : (int)(rng_next(rng) & 255), sizeof(struct text));
            break;
        case FIELD_KEY:
            memset(at, 1, sizeof(struct key));
            break;
        case FIELD_SEEN:
            *(struct seen *)(void *)at = (struct seen){rng_below(rng, 2) ? word : matchmaker_incarnation(pool->role),
                                                       words[rng_below(rng, 8)], rng_next(rng)};
            break;
        case FIELD_AD:
            if (rng_below(rng, 4)) {
                const char *text = texts[rng_below(rng, 7)];

                *(struct tree **)(void *)at = lang_expr(&pool->lang, &dialect_classic, text, strlen(text), NULL);
            }
            break;
        case FIELD_EDGES:
            if (rng_below(rng, 2))
                *(struct edges **)(void *)at = edges_new(2);
            break;
        }
    }
}

static void anything_may_be_said(void)
{
    uint64_t rounds = lang_setting("BERTH_ROUNDS", 20000), refused = 0;
    struct pool *pool = pool_new();
    struct rng rng;

    rng_init(&rng, lang_setting("BERTH_SEED", 1));
    for (uint64_t i = 0; i < rounds && !pool->fault; i++) {
        static const enum message_kind likely[] = {MESSAGE_ADVERTISE, MESSAGE_ADVERTISE, MESSAGE_WITHDRAW,
                                                   MESSAGE_REPORT};
        struct peer peer = *peer_of(rng_below(&rng, 8));
        struct message message;
        struct event event = {.kind = rng_below(&rng, 5) ? EVENT_MESSAGE : EVENT_ANSWER,
                              .token = rng_below(&rng, 2) ? rng_next(&rng) : rng_below(&rng, 100),
                              .tag = MESSAGE_MATCH,
                              .peer = rng_below(&rng, 50) ? &peer : NULL,
                              .message = rng_below(&rng, 50) ? &message : NULL,
                              .answer = rng_below(&rng, 2) ? ANSWER_GOT : ANSWER_UNKNOWN};

        memset(&message, 0, sizeof message);
        message.kind =
            rng_below(&rng, 3) ? likely[rng_below(&rng, 4)] : (enum message_kind)rng_below(&rng, MESSAGE_COUNT);
        fields_scramble(pool, &rng, message_layout(message.kind), &message.u);
        if (rng_below(&rng, 30) == 0)
            peer.identity = NULL;
        hand_over(pool, &event);
        refused += pool->answer.kind == MESSAGE_ADVERTISED && pool->answer.u.advertised.reason == REASON_INVALID;
        message_done(&message);
        if (rng_below(&rng, 20) == 0)
            pass(pool, (int64_t)rng_below(&rng, 60) * SECOND);
        if (pool->sent_count > 1000)
            sent_drop_all(pool);
    }
    tap_ok(refused > rounds / 100, "whatever is said, the matchmaker goes on");
    pool_free(pool, "anything");
}

static void renewals_are_quick(void)
{
    struct pool *pool = pool_new();
    struct message message = {.kind = MESSAGE_ADVERTISE};
    struct event event = {.kind = EVENT_MESSAGE, .peer = peer_of(5), .message = &message};
    struct timespec from, to;
    enum { ADS = 20000, ROUNDS = 50 };
    char text[200];
    double spent;

    for (uint64_t i = 0; i < ADS; i++) {
        snprintf(text, sizeof text, "[ Type = \"Machine\"; Name = \"m%d\"; Cpus = %d; Memory = %d ]", (int)i,
                 (int)(i % 64), (int)(i % 1000));
        message.u.advertise = (struct advertise){.id = i, .version = 1};
        message.u.advertise.ad = lang_ad(&pool->lang, &dialect_classic, text, NULL);
        matchmaker_role.step(pool->role, &pool->env, &event, &pool->effects);
        tree_unref(message.u.advertise.ad);
        effects_reset(&pool->effects);
    }
    message.u.advertise = (struct advertise){.version = 1, .bare = true};
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int round = 0; round < ROUNDS; round++)
        for (uint64_t i = 0; i < ADS; i++) {
            message.u.advertise.id = i * 7919 % ADS;
            matchmaker_role.step(pool->role, &pool->env, &event, &pool->effects);
            effects_reset(&pool->effects);
        }
    clock_gettime(CLOCK_MONOTONIC, &to);
    spent = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
    tap_ok(spent / ADS / ROUNDS < 20000, "a renewal takes %.0f ns", spent / ADS / ROUNDS);
    matchmaker_role.valid(pool->role, &pool->fault);
    pool_free(pool, "many ads");
}

static void tickets_are_bound(void)
{
    struct rng hidden;
    struct secrets secrets = {&hidden, draw, seal};
    struct key key = {{1}}, other = {{2}}, a, b;

    rng_init(&hidden, 3);
    ticket_make(&secrets, &key, 1, 2, 3, "alice", &a);
    ticket_make(&secrets, &key, 1, 2, 3, "alice", &b);
    tap_ok(key_equal(&a, &b), "a ticket can be made again");
    ticket_make(&secrets, &key, 1, 2, 4, "alice", &b);
    tap_ok(!key_equal(&a, &b), "it is bound to the gang");
    ticket_make_below(&secrets, &key, 1, 2, 3, "alice", "bob", &b);
    tap_ok(!key_equal(&a, &b), "and to the owner of the root, if that is another");
    ticket_make_below(&secrets, &key, 1, 2, 3, "alice", "", &b);
    tap_ok(key_equal(&a, &b), "of the root itself nothing is said");
    ticket_make(&secrets, &key, 1, 2, 3, "alic", &b);
    tap_ok(!key_equal(&a, &b), "and to the owner");
    ticket_make(&secrets, &other, 1, 2, 3, "alice", &b);
    tap_ok(!key_equal(&a, &b), "and to the offer's key");
    ticket_proof(&secrets, &key, true, &a, &b, 5, &a);
    ticket_proof(&secrets, &key, false, &a, &b, 5, &b);
    tap_ok(!key_equal(&a, &b), "a customer's proof is not a provider's");
}

/* Figure 1.1: who comes first would take what only the last can use. */
static void windows_are_settled_at_once(void)
{
    static const char cluster[] =
        "[ Cpus = %d; Constraint = other.RequestCpus <= Cpus; Residual = [ Cpus = Cpus - other.RequestCpus ] ]";
    struct pool *pool = pool_new();
    char text[200];
    uint64_t early;

    pool->settings.assignment = ASSIGN_SRFM + 1;
    pool->spans.cycle = 10 * SECOND;
    role_restart(pool);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, cluster, i ? 10 : 20);
        put(pool, (struct put){.from = 2, .id = (uint64_t)i + 1, .version = 1}, text);
    }
    put(pool, (struct put){.from = 3, .id = 1, .version = 1, .request = true}, "[ RequestCpus = 5 ]");
    pass(pool, 4 * SECOND);
    put(pool, (struct put){.from = 3, .id = 2, .version = 1, .request = true}, "[ RequestCpus = 5 ]");
    pass(pool, 4 * SECOND);
    put(pool, (struct put){.from = 3, .id = 3, .version = 1, .request = true}, "[ RequestCpus = 20 ]");
    early = matches(pool);
    pass(pool, 3 * SECOND);
    if (!tap_ok(
            early == 0 && matches(pool) == 3,
            "with an assignment requests are gathered for a window, and then all three of figure 1.1 get a cluster"))
        tap_diag("%llu matches early, %llu then", (unsigned long long)early, (unsigned long long)matches(pool));
    pool_free(pool, "windows");
}

int main(void)
{
    versions_rise();
    agents_are_apart();
    renewals_are_bare();
    ads_expire();
    shrinking_lifetimes_end();
    owners_are_proved();
    refusals_change_nothing();
    agents_have_limits();
    agents_have_so_many_bytes();
    matches_are_told();
    windows_are_settled_at_once();
    gangs_are_told();
    gangs_leave_residuals();
    ports_are_checked();
    counts_are_units();
    crossing_updates_neither_double_nor_lose();
    lost_notifications_come_back();
    incarnations_differ();
    numbers_go_on();
    residuals_are_taken_off();
    same_texts_cost_little();
    notes_go_in_order();
    notes_are_repeated();
    who_used_less_is_first();
    rank_preempts();
    priority_preempts();
    figure_nine();
    equals_take_turns();
    usage_has_bounds();
    usage_is_durable();
    others_are_refused();
    tickets_are_bound();
    random_ledgers_balance();
    honest_advertisers_balance();
    anything_may_be_said();
    renewals_are_quick();
    return tap_done();
}
