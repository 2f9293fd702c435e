/* agent_test.c: what an agent tells its matchmaker, and whom it believes: a provider, and a matchmaker that is only played. */
#include "common/folder.h"
#include "common/tap.h"
#include "wall.h"

#include "lang/ad/get.h"
#include "lang/ad/names.h"
#include "live/agent/agent.h"
#include "live/agent/agent_parts.h"
#include "live/auth/box.h"
#include "live/auth/offer_key.h"
#include "live/http/client.h"
#include "live/http/represent.h"
#include "live/http/server.h"
#include "live/matchmakerd/agents.h"
#include "pool/protocol/wire.h"
#include "pool/provider/provider.h"
#include "store/store.h"
#include "sys/encoding.h"

#include <uv.h>

#define PATIENCE 30000 /* milliseconds that anything may take */
#define NAME "heron"
#define OFFER UINT64_C(0xa1)
#define ROOT_SEED \
    {             \
        1         \
    }

/* The matchmaker as it is played, the agent, and somebody who calls the agent. */
struct world {
    uv_loop_t loop;
    uv_timer_t tick;
    struct folder folder;
    struct symbols *symbols;
    struct signing_key root;
    char pool[TOKEN_ID_DIGITS + 1], url[64];
    const char *urls[1];
    struct box_keys box;
    struct server *server;
    bool keys_fail;          /* GET /v1/keys is answered with 503 */
    bool keys_wait;          /* ... or not before it is let */
    struct exchange *keys;   /* which waits */
    bool knows;              /* it was told who the agent is */
    unsigned introduced;     /* how often */
    unsigned strangers;      /* messages that came before */
    unsigned unmarked;       /* messages that do not say that it was told */
    char revoked[64];        /* what it says beside: "" or a list */
    unsigned keys_asked;     /* and answered */
    unsigned good, bad;      /* calls whose token is good now, and others */
    struct exchange *stream; /* of the agent; NULL: none */
    unsigned streams;        /* that it opened */
    struct buf ads;          /* the last message that was advertised with a text */
    unsigned texts, beats;   /* advertised with a text; renewed */
    struct buf heard;        /* all bodies of POST /v1/ads */
    struct log log;
    struct networks networks;
    struct token_file provider, caller;
    char caller_id[TOKEN_ID_DIGITS + 1]; /* of the caller's token */
    struct spans spans;
    struct provider_settings role;
    uint64_t ids[1];
    struct tree *offers[1];
    struct agent_settings settings;
    struct live_agent *live;
    struct client *client;
    unsigned status;      /* of the last call; 0: none yet */
    struct buf answered;  /* and what was said */
    unsigned asked_about; /* how often the matchmaker was asked about who calls */
    char roster[512];     /* what it says of it; "": it does not know */
};

static _Noreturn void bail(const char *why)
{
    printf("Bail out! %s\n", why);
    exit(1);
}

static void tick_due(uv_timer_t *timer)
{
    (void)timer;
}

/* Lets the loop run until `*count` is at least that. */
static bool wait_for(struct world *world, const unsigned *count, unsigned least)
{
    uint64_t ends = uv_hrtime() + (uint64_t)PATIENCE * 1000000;

    while (*count < least && uv_hrtime() < ends)
        uv_run(&world->loop, UV_RUN_ONCE);
    return *count >= least;
}

/* ------------------------------------------------------------------------------------------------ the matchmaker, played */

static void answer(struct exchange *exchange, unsigned status, const char *text)
{
    exchange_answer(exchange,
                    &(struct http_answer){.status = status, .type = TYPE_CLASSAD, .body = text, .len = strlen(text)});
}

static void keys_answer(struct world *world, struct exchange *exchange)
{
    char key[2 * PUBLIC_KEY_BYTES + 1], box[2 * BOX_KEY_BYTES + 1], text[512];

    world->keys = world->keys_wait ? exchange : NULL;
    if (world->keys)
        return;
    hex_print(world->root.open.bytes, PUBLIC_KEY_BYTES, key);
    hex_print(world->box.open.bytes, BOX_KEY_BYTES, box);
    snprintf(text, sizeof text, "[PoolId=\"%s\";Keys={[Id=\"%s\";Key=\"%s\"]};BoxKey=\"%s\";Revoked={%s}]", world->pool,
             world->root.id, key, box, world->revoked);
    answer(exchange, world->keys_fail ? 503 : 200, text);
    world->keys_asked++;
}

static void stream_begin(struct world *world, struct exchange *exchange)
{
    exchange_stream(exchange, TYPE_EVENTS, NULL, 0, 1u << 16);
    exchange_stream_write(exchange, ":\n\n", 3);
    world->stream = exchange;
    world->streams++;
}

static void introduction_answer(struct world *world, struct exchange *exchange)
{
    world->knows = true;
    world->introduced++;
    answer(exchange, 202, "[]");
}

static void roster_answer(struct world *world, struct exchange *exchange, const char *handle)
{
    char expected[17];

    snprintf(expected, sizeof expected, "%016llx", (unsigned long long)agent_handle("alice", ""));
    world->asked_about += !strcmp(handle, expected);
    answer(exchange, *world->roster ? 200 : 404, world->roster);
}

/* Answers one message, on a line of its own; false when it is none. */
static bool ad_answer(struct world *world, const char *line, size_t len, struct buf *out)
{
    const char *id = "", *version = "", *kind = "";
    size_t id_len = 0, version_len = 0, kind_len = 0;
    struct tree *ad = NULL;
    bool bare = false, good;
    struct err err;

    good = wire_parse(world->symbols, line, len, &ad, &err) == 0 && ad_string(ad, "Id", &id, &id_len) &&
           ad_string(ad, "Version", &version, &version_len) && ad_string(ad, "Message", &kind, &kind_len);
    if (good && kind_len == 9 && !memcmp(kind, "advertise", 9)) {
        buf_addf(out,
                 "[Message=\"advertised\";Id=\"%.*s\";Version=\"%.*s\";Reason=\"ok\";Incarnation="
                 "\"0000000000000001\";Settled=\"0000000000000000\";Span=0;Clock=1]\n",
                 (int)id_len, id, (int)version_len, version);
        ad_flag(ad, "Bare", &bare);
        world->beats += bare;
        world->texts += !bare;
        if (!bare) {
            buf_reset(&world->ads);
            buf_add(&world->ads, line, len);
        }
    } else if (good) {
        buf_adds(out, "[Message=\"got\";Reason=\"ok\"]\n");
    }
    tree_unref(ad);
    return good;
}

static void ads_answer(struct world *world, struct exchange *exchange)
{
    const char *line, *end;
    struct buf text;
    size_t len;
    bool good = true;

    world->unmarked += !exchange_field(exchange, "Berth-Introduced");
    if (!world->knows) {
        world->strangers++;
        answer(exchange, 412, "");
        return;
    }
    line = exchange_body(exchange, &len);
    buf_add(&world->heard, line, len);
    buf_init(&text);
    for (const char *last = line + len; good && line < last; line = end + 1) {
        end = memchr(line, '\n', (size_t)(last - line));
        end = end ? end : last;
        good = ad_answer(world, line, (size_t)(end - line), &text);
    }
    answer(exchange, good ? 200 : 400, good ? buf_string(&text) : "");
    buf_done(&text);
}

static void played_begin(void *user, struct exchange *exchange)
{
    (void)user;
    exchange_accept(exchange, 1u << 20, true);
}

/* By the true time. */
static void token_look(struct world *world, struct exchange *exchange)
{
    const char *field = exchange_field(exchange, "Authorization");
    struct token_keys keys = {.count = 1, .keys = {{.open = world->root.open}}};
    struct grant grant;

    memcpy(keys.issuer, world->pool, sizeof keys.issuer);
    memcpy(keys.keys[0].id, world->root.id, sizeof keys.keys[0].id);
    if (field && strlen(field) > 7 &&
        token_verify(&keys, world->pool, field + 7, strlen(field + 7), runner_wall() / SECOND - wall_ahead, &grant) ==
            TOKEN_OK)
        world->good++;
    else
        world->bad++;
}

static void played_handle(void *user, struct exchange *exchange)
{
    struct world *world = user;
    const char *path = exchange_raw_path(exchange);

    token_look(world, exchange);

    if (!strcmp(path, "/v1/keys"))
        keys_answer(world, exchange);
    else if (!strcmp(path, "/v1/events"))
        stream_begin(world, exchange);
    else if (!strcmp(path, "/v1/ads"))
        ads_answer(world, exchange);
    else if (!strcmp(path, "/v1/agents/" NAME))
        introduction_answer(world, exchange);
    else if (!strncmp(path, "/v1/agents/", 11))
        roster_answer(world, exchange, path + 11);
    else
        answer(exchange, 200, "[]");
}

static void played_over(void *user, struct exchange *exchange)
{
    struct world *world = user;

    if (world->stream == exchange)
        world->stream = NULL;
    if (world->keys == exchange)
        world->keys = NULL;
}

/* -------------------------------------------------------------------------------------------------------------- the agent */

/* A token of the pool's that can be delegated, as a file would hold it. */
static void token_make(struct world *world, const char *subject, struct token_file *ret,
                       char ret_id[TOKEN_ID_DIGITS + 1])
{
    int64_t now = runner_wall() / SECOND;
    struct token_terms terms = {.issuer = world->pool,
                                .subject = subject,
                                .audience = world->pool,
                                .scope = SCOPE_AD_READ | SCOPE_AD_WRITE | SCOPE_CLAIM,
                                .issued = now,
                                .expires = now + 3600};
    char id[TOKEN_ID_DIGITS + 1];
    struct err err = {0};
    struct buf text;

    token_file_init(ret);
    signing_key_draw(&ret->key);
    ret->has_key = true;
    terms.delegate = &ret->key.open;
    buf_init(&text);
    if (token_sign(&text, &world->root, &terms, id, &err) < 0)
        bail(err.text);
    ret->token = mem_dup(text.text, text.len);
    if (ret_id)
        memcpy(ret_id, id, sizeof id);
    buf_done(&text);
}

static struct tree *ad_of(struct world *world, const char *text)
{
    struct err err = {0};
    struct tree *ad = form_parse(world->symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &err);

    if (!ad)
        bail(err.text);
    return ad;
}

static void agent_begin(struct world *world)
{
    struct err err = {0};
    struct tree *probed;

    world->settings.shelf = store_open(folder_path(&world->folder, "berth.db"), &err);
    world->live = world->settings.shelf ? agent_new(&world->loop, &world->settings, &err) : NULL;
    if (!world->live)
        bail(err.text);
    runner_event(agent_runner(world->live), &(struct event){.kind = EVENT_BOOTED});
    probed = ad_of(world, "[State = \"Idle\"]");
    runner_event(agent_runner(world->live), &(struct event){.kind = EVENT_PROBED, .ad = probed});
    tree_unref(probed);
}

static void agent_end(struct world *world)
{
    agent_free(world->live);
    for (int i = 0; i < 3; i++)
        uv_run(&world->loop, UV_RUN_NOWAIT);
    world->settings.shelf->kind->close(world->settings.shelf);
}

static void call_done(void *user, const struct http_outcome *outcome)
{
    struct world *world = user;

    world->status = outcome->result == CALL_ANSWERED ? outcome->status : 1;
    buf_reset(&world->answered);
    buf_add(&world->answered, outcome->body, outcome->len);
}

/* Somebody asks for the offer, or for all of it: the status of the answer. */
static unsigned agent_is_asked(struct world *world, enum message_kind kind)
{
    struct message message = {.kind = kind};
    char audience[TOKEN_NAME_MAX + 1], url[300];
    struct buf bearer, body;
    struct err err = {0};
    struct tree *ad;
    int64_t ends;

    memset(&message.u, 0, sizeof message.u);
    if (kind == MESSAGE_VERIFY) {
        message.u.verify.offer = OFFER;
        message.u.verify.claim = 7;
    } else {
        message.u.commit.claim = 7;
    }
    buf_init(&bearer);
    buf_init(&body);
    token_agent_audience(world->pool, agent_self("bob", NAME), audience);
    if (token_file_bearer(&bearer, &world->caller, audience, runner_wall() / SECOND, &ends, &err) < 0)
        bail(err.text);
    ad = wire_message(world->symbols, &message);
    wire_print(&body, ad);
    tree_unref(ad);
    snprintf(url, sizeof url, "http://%s/v1/messages", agent_address(world->live));
    world->status = 0;
    client_send(world->client,
                &(struct http_call){.method = "POST",
                                    .url = url,
                                    .token = buf_string(&bearer),
                                    .type = TYPE_CLASSAD,
                                    .accept = TYPE_CLASSAD,
                                    .body = body.text,
                                    .len = body.len},
                call_done, world);
    wait_for(world, &world->status, 1);
    buf_done(&bearer);
    buf_done(&body);
    return world->status;
}

/* --------------------------------------------------------------------------------------------------------------- the world */

static void world_init(struct world *world)
{
    static const unsigned char seed[SIGNING_SEED_BYTES] = ROOT_SEED;
    struct server_handler handler = {
        .user = world, .begin = played_begin, .handle = played_handle, .over = played_over};
    struct err err = {0};

    memset(world, 0, sizeof *world);
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&world->loop);
    uv_timer_init(&world->loop, &world->tick);
    uv_timer_start(&world->tick, tick_due, 10, 10);
    folder_init(&world->folder);
    world->symbols = names_new(1);
    signing_key_from_seed(seed, &world->root);
    pool_id_of(&world->root.open, world->pool);
    box_keys_draw(&world->box);
    buf_init(&world->ads);
    buf_init(&world->heard);
    buf_init(&world->answered);
    token_make(world, "bob", &world->provider, NULL);
    token_make(world, "alice", &world->caller, world->caller_id);
    log_init(&world->log, STDERR_FILENO, LOG_LOGFMT, LEVEL_ERROR, NULL, NULL);
    networks_init(&world->networks);
    networks_add(&world->networks, "127.0.0.0/8", &err);
    world->server =
        server_new(&world->loop, "127.0.0.1:0", NULL, NULL, &(struct server_limits){.head = 0}, &handler, &err);
    world->client = client_new(&world->loop, &(struct client_settings){.at_once = 4}, &err);
    if (!world->server || !world->client)
        bail(err.text);
    snprintf(world->url, sizeof world->url, "http://%s", server_address(world->server));
    world->urls[0] = world->url;
    world->spans = spans_default;
    world->spans.retry = 50 * MILLISECOND;
    world->spans.lifetime = world->spans.deadline = SECOND;
    world->ids[0] = OFFER;
    world->offers[0] = ad_of(world, "[Type = \"Machine\"; Constraint = true]");
    world->role = (struct provider_settings){.self = agent_self("bob", NAME),
                                             .matchmaker = agent_matchmaker(),
                                             .spans = &world->spans,
                                             .identity = "bob",
                                             .ids = world->ids,
                                             .ads = world->offers,
                                             .count = 1};
    world->settings = (struct agent_settings){.role = &provider_role,
                                              .role_settings = &world->role,
                                              .spans = &world->spans,
                                              .symbols = world->symbols,
                                              .log = &world->log,
                                              .matchmakers = world->urls,
                                              .matchmaker_count = 1,
                                              .token = &world->provider,
                                              .identity = "bob",
                                              .name = NAME,
                                              .listen = "127.0.0.1:0",
                                              .networks = &world->networks,
                                              .version = "test"};
}

static void handle_close(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void world_done(struct world *world)
{
    server_free(world->server);
    client_free(world->client);
    uv_run(&world->loop, UV_RUN_NOWAIT);
    uv_walk(&world->loop, handle_close, NULL);
    while (uv_run(&world->loop, UV_RUN_DEFAULT))
        ;
    uv_loop_close(&world->loop);
    tree_unref(world->offers[0]);
    symbols_free(world->symbols);
    token_file_done(&world->provider);
    token_file_done(&world->caller);
    networks_done(&world->networks);
    buf_done(&world->ads);
    buf_done(&world->heard);
    buf_done(&world->answered);
    folder_done(&world->folder);
}

/* --------------------------------------------------------------------------------------------------------------- the tests */

static void check_sealed_key(struct world *world)
{
    static const struct key none = {{0}};
    struct key key = none;
    struct tree *ad = NULL;
    const char *text;
    struct err err;
    size_t len;

    if (!tap_ok(wait_for(world, &world->texts, 1), "a provider advertises"))
        return;
    tap_ok(wire_parse(world->symbols, buf_string(&world->ads), world->ads.len, &ad, &err) == 0 &&
               ad_string(ad, "SealedKey", &text, &len) &&
               offer_key_open(&world->box, agent_self("bob", NAME), OFFER, text, len, &key) == OFFER_KEY_OK &&
               memcmp(&key, &none, sizeof none) != 0,
           "the key of its offer is sealed to the matchmaker, for this agent and offer");
    tree_unref(ad);
    tap_ok(wait_for(world, &world->beats, 1), "it renews what it has advertised");
    tap_ok(!strstr(buf_string(&world->heard), ";Key="), "a key is never sent as it is, and not with a renewal");
}

/* Another matchmaker is there, and no stream has broken: what was said to the one before it is known to nobody now. */
static void check_forgotten(struct world *world)
{
    unsigned introduced = world->introduced, beats = world->beats;

    tap_ok(introduced == 1 && !world->strangers, "an agent says who it is, once, before it advertises");
    world->knows = false;
    tap_ok(wait_for(world, &world->strangers, 1), "to a matchmaker that does not know it, its ads go as a stranger's");
    tap_ok(wait_for(world, &world->introduced, introduced + 1), "when it is told so, it says who it is again");
    tap_ok(wait_for(world, &world->beats, beats + 1) && world->introduced == introduced + 1,
           "and goes on, without a word more");
    tap_ok(!world->unmarked, "all that could lead to a match is marked: only if you know me");
}

static bool commit_waits(struct world *world)
{
    return agent_is_asked(world, MESSAGE_COMMIT) == 200 && strstr(buf_string(&world->answered), "Reason=\"wait\"");
}

/* What is said to us must arrive, too: until it could, nobody has a claim. */
static void check_strange_caller(struct world *world)
{
    unsigned asked;
    char row[400];

    snprintf(row, sizeof row,
             "[Agent=\"%016llx\";Identity=\"alice\";Name=\"\";Contact=\"http://127.0.0.1:9\";ContactState=",
             (unsigned long long)agent_handle("alice", ""));
    tap_ok(agent_is_asked(world, MESSAGE_VERIFY) == 200 && wait_for(world, &world->asked_about, 1),
           "the matchmaker is asked about a caller of whom it has told nothing");
    tap_ok(commit_waits(world) && commit_waits(world), "who could not be answered waits with its claim");
    snprintf(world->roster, sizeof world->roster, "%s\"checking\"]", row);
    asked = world->asked_about;
    tap_ok(commit_waits(world) && wait_for(world, &world->asked_about, asked + 1) && commit_waits(world),
           "also while its address is not proved");
    snprintf(world->roster, sizeof world->roster, "%s\"good\"]", row);
    for (int i = 0; i < 100 && commit_waits(world); i++)
        uv_run(&world->loop, UV_RUN_ONCE);
    tap_ok(!commit_waits(world) && world->status == 200, "and no longer when it is known how it is reached");
}

/* A member below a service knows from its start alone who the customer is, when the news of its match was lost. */
static void check_unknown_customer(struct world *world)
{
    struct message task = {.kind = MESSAGE_TASK};
    unsigned asked = world->asked_about;

    agent_send(world->live, agent_handle("alice", ""), &task, 1, 1000);
    tap_ok(wait_for(world, &world->asked_about, asked + 1),
           "of a customer whom only a service has named the matchmaker is asked how it is reached");
}

static void check_unknown_box(struct world *world)
{
    unsigned asked = world->keys_asked, texts = world->texts;

    folder_done(&world->folder); /* another agent, which has never seen the keys */
    folder_init(&world->folder);
    world->keys_fail = true;
    agent_begin(world);
    wait_for(world, &world->keys_asked, asked + 1);
    for (int i = 0; i < 50; i++)
        uv_run(&world->loop, UV_RUN_ONCE);
    tap_ok(world->texts == texts, "an offer is not advertised before its key can be sealed");
    world->keys_fail = false;
    tap_ok(wait_for(world, &world->texts, texts + 1), "and it is when the matchmaker has told its key");
    check_unknown_customer(world);
    agent_end(world);
}

/* The keys may come behind the answer to the introduction: what could not be said before is said then, not at the next try. */
static void check_late_keys(struct world *world)
{
    unsigned introduced = world->introduced, texts = world->texts;

    folder_done(&world->folder);
    folder_init(&world->folder);
    world->spans.retry = world->spans.deadline = world->spans.lifetime = 600 * SECOND;
    world->keys_wait = true;
    agent_begin(world);
    wait_for(world, &world->introduced, introduced + 1);
    for (int i = 0; i < 50; i++)
        uv_run(&world->loop, UV_RUN_ONCE);
    tap_ok(world->keys && world->texts == texts, "an agent is known before it has the keys");
    world->keys_wait = false;
    if (world->keys)
        keys_answer(world, world->keys);
    tap_ok(wait_for(world, &world->texts, texts + 1), "and advertises when they come");
    agent_end(world);
    world->spans.retry = 50 * MILLISECOND;
    world->spans.deadline = world->spans.lifetime = SECOND;
}

static void check_revoked(struct world *world)
{
    unsigned asked = world->keys_asked;

    tap_ok(agent_is_asked(world, MESSAGE_VERIFY) == 200, "an agent answers another that has a good token for it");
    agent_end(world);
    snprintf(world->revoked, sizeof world->revoked, "\"%s\"", world->caller_id);
    agent_begin(world);
    wait_for(world, &world->keys_asked, asked + 1);
    wait_for(world, &world->texts, world->texts + 1);
    tap_ok(agent_is_asked(world, MESSAGE_VERIFY) == 401,
           "a token that hangs on one that the matchmaker has revoked is refused");
    agent_end(world);
    asked = world->keys_asked;
    world->keys_fail = true;
    agent_begin(world);
    wait_for(world, &world->keys_asked, asked + 1);
    tap_ok(agent_is_asked(world, MESSAGE_VERIFY) == 401,
           "also by an agent that starts again while the matchmaker is away");
    agent_end(world);
    asked = world->keys_asked;
    world->keys_fail = false;
    world->revoked[0] = '\0';
    agent_begin(world);
    wait_for(world, &world->keys_asked, asked + 1);
    wait_for(world, &world->texts, world->texts + 1);
    tap_ok(agent_is_asked(world, MESSAGE_VERIFY) == 200,
           "what is no longer listed is good again: the last list counts");
    agent_end(world);
}

/* What is revoked while the agent runs comes by its stream; what was while it had none is asked for when it has one again. */
static void check_told(struct world *world)
{
    unsigned asked, streams;
    char event[160];

    asked = world->keys_asked;
    streams = world->streams;
    agent_begin(world);
    tap_ok(wait_for(world, &world->streams, streams + 1) && wait_for(world, &world->keys_asked, asked + 2) &&
               agent_is_asked(world, MESSAGE_VERIFY) == 200,
           "the list is asked for again when the stream stands: nothing is missed in between");
    snprintf(event, sizeof event, "event: revoked\ndata: [Kind=\"revoked\";Id=\"%s\"]\n\n", world->caller_id);
    if (!world->stream)
        bail("the agent has no stream");
    exchange_stream_write(world->stream, event, strlen(event));
    for (int64_t ends = runner_now() + 5 * SECOND; agent_is_asked(world, MESSAGE_VERIFY) == 200 && runner_now() < ends;)
        ;
    tap_ok(world->status == 401, "a token whose revocation comes by the stream is refused at once");
    snprintf(world->revoked, sizeof world->revoked, "\"%s\"", world->caller_id);
    agent_end(world);
    world->revoked[0] = '\0';
}

/* It is probed, and says so to the matchmaker. */
static void agent_probed(struct world *world, const char *text)
{
    struct tree *probed = ad_of(world, text);
    unsigned texts = world->texts;

    world->good = world->bad = 0;
    runner_event(agent_runner(world->live), &(struct event){.kind = EVENT_PROBED, .ad = probed});
    tree_unref(probed);
    wait_for(world, &world->texts, texts + 1);
}

static void check_clock(struct world *world)
{
    static const int64_t jumps[] = {1800, -1800};
    unsigned asked, good;

    for (int i = 0; i < 2; i++) {
        asked = world->keys_asked;
        wall_ahead = jumps[i];
        agent_begin(world);
        wait_for(world, &world->keys_asked, asked + 1);
        if (!i) {
            wall_ahead = 0;
            runner_settled(agent_runner(world->live));
            wall_ahead = jumps[i];
            tap_ok(runner_settled(agent_runner(world->live)) < runner_wall() - 1700 * SECOND,
                   "nor is anything thrown away by it");
        }
        agent_probed(world, i ? "[State = \"Idle\"; Turn = 2]" : "[State = \"Idle\"; Turn = 1]");
        good = i ? world->good : world->bad;
        wall_ahead = 0;
        agent_probed(world, "[State = \"Busy\"]");
        tap_ok(good && world->good && !world->bad,
               i ? "nor does one that was behind"
                 : "a clock that was ahead for a while shuts no agent out when it is right again");
        agent_end(world);
    }
}

int main(void)
{
    static struct world world;

    world_init(&world);
    agent_begin(&world);
    check_sealed_key(&world);
    check_forgotten(&world);
    check_strange_caller(&world);
    check_revoked(&world);
    check_told(&world);
    check_unknown_box(&world);
    check_late_keys(&world);
    check_clock(&world);
    world_done(&world);
    return tap_done();
}
