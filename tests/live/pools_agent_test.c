/* pools_agent_test.c: an agent of two pools: whom it believes, and as whom it speaks in each. The matchmakers are only played, and its role only
 * listens. */
#include "common/folder.h"
#include "common/tap.h"

#include "lang/ad/get.h"
#include "lang/ad/names.h"
#include "live/agent/agent.h"
#include "live/auth/box.h"
#include "live/http/client.h"
#include "live/http/represent.h"
#include "live/http/server.h"
#include "pool/protocol/wire.h"
#include "store/store.h"
#include "sys/encoding.h"

#include <uv.h>

#define PATIENCE 30000 /* milliseconds that anything may take */
#define NAME "heron"

/* A pool: its keys, and a server that plays its matchmaker and all of its agents. */
struct pool {
    struct world *world;
    struct signing_key root;
    char id[TOKEN_ID_DIGITS + 1], url[64];
    const char *urls[1];
    struct box_keys box;
    struct server *server;
    struct exchange *stream;
    struct token_file ours, alice;
    const char *identity;                  /* of our agent there */
    unsigned ads, calls;                   /* requests of either kind */
    struct buf ad, call;                   /* the last body of each */
    struct grant said;                     /* whose token came with the last of them */
    struct box_public theirs;              /* the key that our agent told */
    struct box_keys carol;                 /* of somebody who is reached by the relay alone ... */
    enum { PLAIN, NAMES, REPEATS } carols; /* ... and how she answers */
    struct buf before;                     /* what she answered last */
};

struct world {
    uv_loop_t loop;
    uv_timer_t tick;
    struct folder folder;
    struct symbols *symbols;
    struct pool pools[2];
    struct log log;
    struct networks networks;
    struct spans spans;
    struct agent_pool other;
    struct agent_settings settings;
    struct live_agent *live;
    struct client *client;
    unsigned status;
    /* what the role heard */
    unsigned heard, answers, silences;
    agent from, superior, customer;
    char identity[TOKEN_NAME_MAX + 1];
    /* what it is to say */
    agent to;
    struct message say;
};

static struct world *the_world;

static _Noreturn void bail(const char *why)
{
    printf("Bail out! %s\n", why);
    exit(1);
}

static void tick_due(uv_timer_t *timer)
{
    (void)timer;
}

static bool wait_for(struct world *world, const unsigned *count, unsigned least)
{
    uint64_t ends = uv_hrtime() + (uint64_t)PATIENCE * 1000000;

    while (*count < least && uv_hrtime() < ends)
        uv_run(&world->loop, UV_RUN_ONCE);
    return *count >= least;
}

/* A while in which something could happen that should not. */
static void linger(struct world *world)
{
    for (int i = 0; i < 30; i++)
        uv_run(&world->loop, UV_RUN_ONCE);
}

/* --------------------------------------------------------------------------------------------------------------- the role */

static void *ear_make(const void *settings)
{
    return (void *)(uintptr_t)settings;
}

static void ear_free(void *role)
{
    (void)role;
}

static bool ear_valid(const void *role, const char **ret_why)
{
    (void)role;
    (void)ret_why;
    return true;
}

static void ear_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    struct world *world = the_world;
    struct message answer;

    (void)role;
    (void)env;
    if (event->kind == EVENT_MESSAGE) {
        world->from = event->peer->agent;
        snprintf(world->identity, sizeof world->identity, "%s", event->peer->identity);
        if (event->message->kind == MESSAGE_MATCH)
            world->superior = event->message->u.match_told.superior;
        if (event->message->kind == MESSAGE_START)
            world->customer = event->message->u.start.customer;
        if (message_refusal(event->message->kind, REASON_OK, &answer))
            effects_reply(effects, event->token, &answer, 0);
        world->heard++;
    } else if (event->kind == EVENT_ANSWER) {
        world->answers += event->answer == ANSWER_GOT;
        world->silences += event->answer != ANSWER_GOT;
    } else if (event->kind == EVENT_DRAIN) {
        effects_send(effects, world->to, &world->say, 1, 1, 0);
    }
}

static const struct role_kind ear_role = {"ear", ear_make, ear_free, ear_step, ear_valid};

/* ------------------------------------------------------------------------------------------------ the matchmakers, played */

static void answer(struct exchange *exchange, unsigned status, const char *text)
{
    exchange_answer(exchange,
                    &(struct http_answer){.status = status, .type = TYPE_CLASSAD, .body = text, .len = strlen(text)});
}

static void keys_answer(struct pool *pool, struct exchange *exchange)
{
    char key[2 * PUBLIC_KEY_BYTES + 1], box[2 * BOX_KEY_BYTES + 1], text[512];

    hex_print(pool->root.open.bytes, PUBLIC_KEY_BYTES, key);
    hex_print(pool->box.open.bytes, BOX_KEY_BYTES, box);
    snprintf(text, sizeof text, "[PoolId=\"%s\";Keys={[Id=\"%s\";Key=\"%s\"]};BoxKey=\"%s\";Revoked={}]", pool->id,
             pool->root.id, key, box);
    answer(exchange, 200, text);
}

/* Keeps what was said, and who said it. */
static void body_keep(struct pool *pool, const struct exchange *exchange, struct buf *ret)
{
    const char *field = exchange_field(exchange, "Authorization"), *body;
    size_t len;

    body = exchange_body(exchange, &len);
    buf_reset(ret);
    buf_add(ret, body, len);
    if (field && strlen(field) > 7)
        token_read(field + 7, strlen(field + 7), &pool->said);
}

static void registered(struct pool *pool, struct exchange *exchange)
{
    struct tree *ad;
    const char *body, *key;
    struct err err;
    size_t len;

    body = exchange_body(exchange, &len);
    ad = form_parse(pool->world->symbols, &dialect_classic, FORM_CLASSAD, NULL, body, len, &err);
    if (ad && ad_string(ad, "BoxKey", &key, &len))
        hex_read(key, len, pool->theirs.bytes, BOX_KEY_BYTES);
    tree_unref(ad);
    answer(exchange, 200, "[]");
}

#define CLAIMED_TEXT "[Message=\"claimed\";Claim=\"0000000000000007\";Epoch=\"0000000000000000\";Reason=\"ok\"]"

/* A letter to carol is carried to nobody: what she would answer is sealed here; or what she answered before is given for it. */
static void relay_answer(struct pool *pool, struct exchange *exchange)
{
    struct buf bytes, plain, box, answered;
    const char *body, *text, *nonce = "";
    size_t len, text_len, nonce_len = 0;
    struct tree *ad = NULL, *envelope = NULL;
    struct err err = {0};

    buf_init(&bytes);
    buf_init(&plain);
    buf_init(&box);
    buf_init(&answered);
    body = exchange_body(exchange, &len);
    if (wire_parse(pool->world->symbols, body, len, &ad, &err) < 0 || !ad_string(ad, "Box", &text, &text_len) ||
        !base64url_read(&bytes, text, text_len) ||
        box_open(&plain, &pool->carol, &pool->theirs, bytes.text, bytes.len, &err) < 0 ||
        wire_parse(pool->world->symbols, plain.text, plain.len, &envelope, &err) < 0)
        bail(err.text);
    ad_string(envelope, "Nonce", &nonce, &nonce_len);
    if (pool->carols == NAMES)
        buf_addf(&answered, "=%.*s\n", (int)nonce_len, nonce);
    buf_adds(&answered, CLAIMED_TEXT);
    if (pool->carols != REPEATS) {
        buf_reset(&pool->before);
        box_seal(&box, &pool->carol, &pool->theirs, answered.text, answered.len, &err);
        base64url_print(&pool->before, box.text, box.len);
    }
    answer(exchange, 200, buf_string(&pool->before));
    tree_unref(ad);
    tree_unref(envelope);
    buf_done(&bytes);
    buf_done(&plain);
    buf_done(&box);
    buf_done(&answered);
}

static void played_begin(void *user, struct exchange *exchange)
{
    (void)user;
    exchange_accept(exchange, 1u << 20, true);
}

static void played_handle(void *user, struct exchange *exchange)
{
    struct pool *pool = user;
    const char *path = exchange_raw_path(exchange);

    if (!strcmp(path, "/v1/keys")) {
        keys_answer(pool, exchange);
    } else if (!strcmp(path, "/v1/events")) {
        exchange_stream(exchange, TYPE_EVENTS, NULL, 0, 1u << 16);
        pool->stream = exchange;
    } else if (!strcmp(path, "/v1/ads")) {
        body_keep(pool, exchange, &pool->ad);
        answer(exchange, 200,
               "[Message=\"advertised\";Id=\"00000000000000a1\";Version=\"0000000000000001\";Reason=\"ok\";"
               "Incarnation=\"0000000000000001\";Settled=\"0000000000000000\";Span=0;Clock=1]");
        pool->ads++;
    } else if (!strcmp(path, "/v1/messages")) {
        body_keep(pool, exchange, &pool->call);
        answer(exchange, 200,
               "[Message=\"claimed\";Claim=\"0000000000000007\";Epoch=\"0000000000000000\";Reason=\"ok\"]");
        pool->calls++;
    } else if (!strncmp(path, "/v1/relay/", 10)) {
        relay_answer(pool, exchange);
    } else if (!strncmp(path, "/v1/agents/", 11)) {
        registered(pool, exchange);
    } else {
        answer(exchange, 200, "[]");
    }
}

static void played_over(void *user, struct exchange *exchange)
{
    struct pool *pool = user;

    if (pool->stream == exchange)
        pool->stream = NULL;
}

/* ----------------------------------------------------------------------------------------------------------------- tokens */

/* A token, as a file would hold it: of that issuer, signed by the root of that pool. */
static void token_make(const struct pool *pool, const char *issuer, const char *subject, scopes scope,
                       struct token_file *ret)
{
    int64_t now = runner_wall() / SECOND;
    struct token_terms terms = {
        .issuer = issuer, .subject = subject, .audience = issuer, .scope = scope, .issued = now, .expires = now + 3600};
    struct err err = {0};
    struct buf text;

    token_file_init(ret);
    signing_key_draw(&ret->key);
    ret->has_key = true;
    terms.delegate = &ret->key.open;
    buf_init(&text);
    if (token_sign(&text, &pool->root, &terms, NULL, &err) < 0)
        bail(err.text);
    ret->token = mem_dup(text.text, text.len);
    buf_done(&text);
}

/* The text that is sent to our agent, as it is known in the pool of that id. */
static void bearer_make(const struct token_file *file, const char *pool, const char *identity, struct buf *ret)
{
    char audience[TOKEN_NAME_MAX + 1];
    struct err err = {0};
    int64_t ends;

    token_agent_audience(pool, agent_self(identity, NAME), audience);
    if (token_file_bearer(ret, file, audience, runner_wall() / SECOND, &ends, &err) < 0)
        bail(err.text);
}

/* ------------------------------------------------------------------------------------------------------------------ calls */

static void call_done(void *user, const struct http_outcome *outcome)
{
    struct world *world = user;

    world->status = outcome->result == CALL_ANSWERED ? outcome->status : 1;
}

/* Somebody called desk says a message to our agent: the status of the answer. */
static unsigned call(struct world *world, const struct token_file *file, const char *pool, const char *identity,
                     const char *name, const char *text)
{
    char url[300];
    struct http_field field = {"Berth-Agent", name};
    struct buf bearer;

    buf_init(&bearer);
    bearer_make(file, pool, identity, &bearer);
    snprintf(url, sizeof url, "http://%s/v1/messages", agent_address(world->live));
    world->status = 0;
    client_send(world->client,
                &(struct http_call){.method = "POST",
                                    .url = url,
                                    .token = buf_string(&bearer),
                                    .type = TYPE_CLASSAD,
                                    .accept = TYPE_CLASSAD,
                                    .fields = &field,
                                    .field_count = *name ? 1 : 0,
                                    .body = text,
                                    .len = strlen(text)},
                call_done, world);
    wait_for(world, &world->status, 1);
    buf_done(&bearer);
    return world->status;
}

#define START_TEXT                                                                                                \
    "[Message=\"start\";Claim=\"0000000000000007\";Epoch=\"0000000000000001\";Sequence=\"0000000000000004\";Job=" \
    "\"0000000000000001\";Number=\"0000000000000001\";Ad=[A=1];Customer=\"0000000000000003\"]"
#define ABORT_TEXT "[Message=\"abort\";Claim=\"0000000000000007\"]"

/* The handle by which the role knows the one who has that token; 0: it was refused. */
static agent known_as(struct world *world, const struct pool *pool, const struct token_file *file)
{
    return call(world, file, pool->id, pool->identity, "desk", ABORT_TEXT) == 200 ? world->from : 0;
}

static void letter_write(const struct pool *pool, const char *text)
{
    struct buf out;

    buf_init(&out);
    buf_addf(&out, "data: %s\n\n", text);
    if (pool->stream)
        exchange_stream_write(pool->stream, out.text, out.len);
    buf_done(&out);
}

/* A match whose superior is alice's desk, by the stream of that pool. */
static void match_write(const struct pool *pool)
{
    unsigned long long handle = (unsigned long long)agent_self("alice", "desk");
    char text[1500];

    snprintf(text, sizeof text,
             "[Kind=\"match\";Body=[Message=\"match\";Id=\"00000000000000a1\";Incarnation=\"0000000000000001\";"
             "Number=\"0000000000000001\";Age=0;Window=10000000;Gang=\"0000000000000005\";Claim=\"0000000000000007\";"
             "Superior=\"%016llx\";Contacts={[Agent=\"%016llx\";Identity=\"alice\";Name=\"desk\";Contact=\"%s\"]}]]",
             handle, handle, pool->url);
    letter_write(pool, text);
}

/* A letter that is sealed for our agent, with that token in it, by the stream of that pool. */
static void sealed_write_message(const struct pool *pool, const struct token_file *file, const char *issuer,
                                 const char *identity, const char *message)
{
    struct buf bearer, inside, box, digits, text;
    struct box_keys mine;
    struct err err = {0};
    char key[2 * BOX_KEY_BYTES + 1];

    box_keys_draw(&mine);
    buf_init(&bearer);
    buf_init(&inside);
    buf_init(&box);
    buf_init(&digits);
    buf_init(&text);
    bearer_make(file, issuer, identity, &bearer);
    buf_addf(&inside, "[Token=\"%s\";Name=\"desk\";Message=%s]", buf_string(&bearer), message);
    if (box_seal(&box, &mine, &pool->theirs, inside.text, inside.len, &err) < 0)
        bail(err.text);
    base64url_print(&digits, box.text, box.len);
    hex_print(mine.open.bytes, BOX_KEY_BYTES, key);
    buf_addf(&text, "[Kind=\"message\";Relay=\"0000000000000009\";Text=\"[Key=\\\"%s\\\";Box=\\\"%s\\\"]\"]", key,
             buf_string(&digits));
    letter_write(pool, buf_string(&text));
    buf_done(&bearer);
    buf_done(&inside);
    buf_done(&box);
    buf_done(&digits);
    buf_done(&text);
}

static void sealed_write(const struct pool *pool, const struct token_file *file, const char *issuer,
                         const char *identity)
{
    sealed_write_message(pool, file, issuer, identity, ABORT_TEXT);
}

/* -------------------------------------------------------------------------------------------------------------- the agent */

/* Is it known in all its pools, and reads letters there? */
static bool is_up(const struct world *world, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!agent_pool_view(world->live, i).connected || (count > 1 && !world->pools[i].stream))
            return false;
    return true;
}

/* `first` is its own pool; of `count` in all. */
static void agent_begin(struct world *world, uint32_t first, uint32_t count)
{
    static const char *const names[] = {"north", "south"};
    const struct pool *own = &world->pools[first], *other = &world->pools[!first];
    struct err err = {0};

    world->settings = (struct agent_settings){.role = &ear_role,
                                              .role_settings = world,
                                              .spans = &world->spans,
                                              .symbols = world->symbols,
                                              .log = &world->log,
                                              .matchmakers = own->urls,
                                              .matchmaker_count = 1,
                                              .token = &own->ours,
                                              .identity = own->identity,
                                              .name = NAME,
                                              .listen = "127.0.0.1:0",
                                              .networks = &world->networks,
                                              .pool = names[first],
                                              .others = &world->other,
                                              .other_count = count - 1,
                                              .version = "test"};
    world->other = (struct agent_pool){.name = names[!first],
                                       .matchmakers = other->urls,
                                       .matchmaker_count = 1,
                                       .token = &other->ours,
                                       .identity = other->identity,
                                       .networks = &world->networks};
    world->settings.shelf = store_open(folder_path(&world->folder, "berth.db"), &err);
    world->live = world->settings.shelf ? agent_new(&world->loop, &world->settings, &err) : NULL;
    if (!world->live)
        bail(err.text);
    runner_event(agent_runner(world->live), &(struct event){.kind = EVENT_BOOTED});
    for (int i = 0; i < 2000 && !is_up(world, count); i++)
        uv_run(&world->loop, UV_RUN_ONCE);
    linger(world);
}

static void agent_end(struct world *world)
{
    agent_free(world->live);
    for (int i = 0; i < 3; i++)
        uv_run(&world->loop, UV_RUN_NOWAIT);
    world->settings.shelf->kind->close(world->settings.shelf);
}

/* The role says something to that agent. */
static void say(struct world *world, agent to, const struct message *message)
{
    unsigned before = world->answers + world->silences;

    world->to = to;
    world->say = *message;
    runner_event(agent_runner(world->live), &(struct event){.kind = EVENT_DRAIN});
    for (int i = 0; i < 2000 && world->answers + world->silences == before; i++)
        uv_run(&world->loop, UV_RUN_ONCE);
}

static struct tree *ad_of(struct world *world, const char *text)
{
    struct err err = {0};
    struct tree *ad = form_parse(world->symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &err);

    if (!ad)
        bail(err.text);
    return ad;
}

/* --------------------------------------------------------------------------------------------------------------- the tests */

#define AGENT_SCOPE (SCOPE_AD_READ | SCOPE_AD_WRITE | SCOPE_CLAIM)

static void check_believed(struct world *world, agent *ret_alices)
{
    struct pool *north = &world->pools[0], *south = &world->pools[1];
    struct token_file forged, matchmaker;

    ret_alices[0] = known_as(world, north, &north->alice);
    ret_alices[1] = known_as(world, south, &south->alice);
    tap_ok(ret_alices[0] == agent_self("alice", "desk"), "one of its own pool has the handle that it has there");
    tap_ok(ret_alices[1] && !strcmp(world->identity, "alice"), "one of the other pool is heard as well");
    tap_ok(ret_alices[1] != ret_alices[0], "and is not taken for the one who is called the same in its own pool");

    token_make(south, north->id, "alice", AGENT_SCOPE, &forged);
    tap_ok(call(world, &forged, north->id, north->identity, "desk", ABORT_TEXT) == 401,
           "a token that another pool has signed in the name of the first is refused");
    token_file_done(&forged);
    tap_ok(call(world, &north->alice, north->id, south->identity, "desk", ABORT_TEXT) == 401,
           "and one for somebody else, who is called as we are in the other pool");

    token_make(south, south->id, "matchmaker", SCOPE_MATCH, &matchmaker);
    world->superior = 0;
    tap_ok(call(world, &matchmaker, south->id, south->identity, "",
                "[Message=\"match\";Id=\"00000000000000a1\";Incarnation=\"0000000000000001\";Number="
                "\"0000000000000001\";Age=0;Window=1;Gang=\"0000000000000005\";Claim=\"0000000000000007\";Superior="
                "\"0000000000000003\"]") == 200 &&
               world->from == agent_pool_matchmaker("south") && world->superior && world->superior != 3,
           "a match that the other pool's matchmaker calls with is from that one, and of its agents");
    token_file_done(&matchmaker);

    world->customer = 0;
    tap_ok(call(world, &south->alice, south->id, south->identity, "desk", START_TEXT) == 200 && world->customer &&
               world->customer != 3,
           "the customer whom a call names is of the caller's pool");
}

static void check_letters(struct world *world, const agent *alices)
{
    struct pool *north = &world->pools[0], *south = &world->pools[1];
    unsigned heard = world->heard;

    match_write(south);
    tap_ok(wait_for(world, &world->heard, heard + 1) && world->from == agent_pool_matchmaker("south"),
           "a letter is from the matchmaker whose stream it came by");
    tap_ok(world->superior == alices[1], "whom it names is of that pool");
    heard = world->heard;
    sealed_write(south, &south->alice, south->id, south->identity);
    tap_ok(wait_for(world, &world->heard, heard + 1) && world->from == alices[1], "so is who writes by its relay");
    heard = world->heard;
    sealed_write(south, &north->alice, north->id, north->identity);
    linger(world);
    tap_ok(world->heard == heard, "one pool does not carry letters of another's users");
    sealed_write_message(south, &south->alice, south->id, south->identity, START_TEXT);
    tap_ok(wait_for(world, &world->heard, heard + 1) && world->customer && world->customer != 3,
           "the customer whom a letter names is of the pool that it came by, as when it is told by a call");
    heard = world->heard;
    sealed_write_message(south, &south->alice, south->id, south->identity, "[Message=\"got\";Reason=\"ok\"]");
    linger(world);
    tap_ok(world->heard == heard, "an answer by letter to which nothing was asked is no message, as by a call");
}

static void check_speech(struct world *world, const agent *alices)
{
    struct pool *north = &world->pools[0], *south = &world->pools[1];
    struct message verify = {.kind = MESSAGE_VERIFY}, advertise = {.kind = MESSAGE_ADVERTISE};
    struct tree *ad = ad_of(world, "[Owner = \"bob\"; Cpus = 1]");
    char audience[TOKEN_NAME_MAX + 1];

    memset(&verify.u, 0, sizeof verify.u);
    memset(&advertise.u, 0, sizeof advertise.u);
    verify.u.verify.ad = ad;
    say(world, alices[0], &verify);
    tap_ok(!north->calls && !south->calls && world->silences == 1,
           "whom only the other pool has told of is not called in the place of one of the same name");
    say(world, alices[1], &verify);
    token_agent_audience(south->id, agent_self("alice", "desk"), audience);
    tap_ok(south->calls == 1 && !strcmp(south->said.issuer, south->id) && !strcmp(south->said.subject, "robert") &&
               !strcmp(south->said.audience, audience),
           "an agent of the other pool is called with a token of that pool, for it alone");
    tap_ok(strstr(buf_string(&south->call), "Owner=\"robert\"") && !strstr(buf_string(&south->call), "bob"),
           "and what is said there is of the user that we are there");
    advertise.u.advertise = (struct advertise){.id = 0xa1, .version = 1, .request = true, .ad = ad};
    say(world, agent_pool_matchmaker("north"), &advertise);
    say(world, agent_pool_matchmaker("south"), &advertise);
    tap_ok(north->ads == 1 && strstr(buf_string(&north->ad), "Owner=\"bob\"") && !strcmp(north->said.issuer, north->id),
           "its own pool is told of its ads");
    tap_ok(south->ads == 1 && strstr(buf_string(&south->ad), "Owner=\"robert\"") &&
               !strcmp(south->said.issuer, south->id),
           "and so is the other, each in the name that we have there");
    tree_unref(ad);
}

/* Whoever carries messages has only the answers of before to give for others. */
static void check_answers(struct world *world)
{
    struct message abort = {.kind = MESSAGE_ABORT, .u.abort.claim = 7};
    struct pool *north = &world->pools[0];
    unsigned long long handle = (unsigned long long)agent_self("carol", "desk");
    unsigned heard = world->heard, answers, silences;
    char text[1500], key[2 * BOX_KEY_BYTES + 1];

    box_keys_draw(&north->carol);
    buf_init(&north->before);
    hex_print(north->carol.open.bytes, BOX_KEY_BYTES, key);
    snprintf(text, sizeof text,
             "[Kind=\"match\";Body=[Message=\"match\";Id=\"00000000000000a1\";Incarnation=\"0000000000000001\";"
             "Number=\"0000000000000002\";Age=0;Window=10000000;Gang=\"0000000000000005\";Claim=\"0000000000000008\";"
             "Superior=\"%016llx\";Contacts={[Agent=\"%016llx\";Identity=\"carol\";Name=\"desk\";BoxKey=\"%s\"]}]]",
             handle, handle, key);
    letter_write(north, text);
    wait_for(world, &world->heard, heard + 1);
    answers = world->answers;
    say(world, (agent)handle, &abort);
    tap_ok(world->answers == answers + 1, "one who does not name what it answers is heard, as long as it never did");
    north->carols = NAMES;
    say(world, (agent)handle, &abort);
    tap_ok(world->answers == answers + 2, "one who names the message is heard");
    north->carols = REPEATS;
    silences = world->silences;
    say(world, (agent)handle, &abort);
    tap_ok(world->answers == answers + 2 && world->silences == silences + 1,
           "the answer to another message is none, though it is sealed by the right one");
    north->carols = PLAIN;
    say(world, (agent)handle, &abort);
    tap_ok(world->answers == answers + 2, "nor is one that names none any more");
    buf_done(&north->before);
}

static void check_order(struct world *world, const agent *alices)
{
    struct message verify = {.kind = MESSAGE_VERIFY};

    agent_end(world);
    agent_begin(world, 1, 2);
    tap_ok(known_as(world, &world->pools[0], &world->pools[0].alice) == alices[0] &&
               known_as(world, &world->pools[1], &world->pools[1].alice) == alices[1],
           "when the order of the pools is another, everybody has the handle that they had");
    memset(&verify.u, 0, sizeof verify.u);
    world->pools[1].calls = 0;
    say(world, alices[1], &verify);
    tap_ok(world->pools[1].calls == 1, "and is known after a restart");
    agent_end(world);
}

/* One that had one pool gets another, and puts that before its own. */
static void check_second(struct world *world)
{
    folder_done(&world->folder);
    folder_init(&world->folder);
    agent_begin(world, 0, 1);
    tap_ok(known_as(world, &world->pools[0], &world->pools[0].alice) == agent_self("alice", "desk") &&
               !known_as(world, &world->pools[1], &world->pools[1].alice),
           "an agent of one pool knows its own users alone");
    agent_end(world);
    agent_begin(world, 1, 2);
    tap_ok(known_as(world, &world->pools[0], &world->pools[0].alice) == agent_self("alice", "desk") &&
               known_as(world, &world->pools[1], &world->pools[1].alice) != agent_self("alice", "desk"),
           "when another pool is put before its own, those that it knew are still who they were");
    agent_end(world);
}

/* ------------------------------------------------------------------------------------------------------------------ life */

static void pool_init(struct world *world, uint32_t place)
{
    const unsigned char seed[SIGNING_SEED_BYTES] = {(unsigned char)(place + 1)};
    struct pool *pool = &world->pools[place];
    struct server_handler handler = {.user = pool, .begin = played_begin, .handle = played_handle, .over = played_over};
    struct err err = {0};

    pool->world = world;
    pool->identity = place ? "robert" : "bob";
    signing_key_from_seed(seed, &pool->root);
    pool_id_of(&pool->root.open, pool->id);
    box_keys_draw(&pool->box);
    buf_init(&pool->ad);
    buf_init(&pool->call);
    token_make(pool, pool->id, pool->identity, AGENT_SCOPE, &pool->ours);
    token_make(pool, pool->id, "alice", AGENT_SCOPE, &pool->alice);
    pool->server =
        server_new(&world->loop, "127.0.0.1:0", NULL, NULL, &(struct server_limits){.head = 0}, &handler, &err);
    if (!pool->server)
        bail(err.text);
    snprintf(pool->url, sizeof pool->url, "http://%s", server_address(pool->server));
    pool->urls[0] = pool->url;
}

static void world_init(struct world *world)
{
    struct err err = {0};

    memset(world, 0, sizeof *world);
    the_world = world;
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&world->loop);
    uv_timer_init(&world->loop, &world->tick);
    uv_timer_start(&world->tick, tick_due, 10, 10);
    folder_init(&world->folder);
    world->symbols = names_new(1);
    log_init(&world->log, STDERR_FILENO, LOG_LOGFMT, LEVEL_ERROR, NULL, NULL);
    networks_init(&world->networks);
    networks_add(&world->networks, "127.0.0.0/8", &err);
    world->client = client_new(&world->loop, &(struct client_settings){.at_once = 4}, &err);
    if (!world->client)
        bail(err.text);
    world->spans = spans_default;
    world->spans.retry = 50 * MILLISECOND;
    for (uint32_t i = 0; i < 2; i++)
        pool_init(world, i);
}

static void handle_close(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void world_done(struct world *world)
{
    client_free(world->client);
    for (uint32_t i = 0; i < 2; i++) {
        struct pool *pool = &world->pools[i];

        server_free(pool->server);
        token_file_done(&pool->ours);
        token_file_done(&pool->alice);
        buf_done(&pool->ad);
        buf_done(&pool->call);
    }
    uv_run(&world->loop, UV_RUN_NOWAIT);
    uv_walk(&world->loop, handle_close, NULL);
    while (uv_run(&world->loop, UV_RUN_DEFAULT))
        ;
    uv_loop_close(&world->loop);
    symbols_free(world->symbols);
    networks_done(&world->networks);
    folder_done(&world->folder);
}

int main(void)
{
    static struct world world;
    agent alices[2];

    world_init(&world);
    agent_begin(&world, 0, 2);
    check_believed(&world, alices);
    check_letters(&world, alices);
    check_speech(&world, alices);
    check_answers(&world);
    check_order(&world, alices);
    check_second(&world);
    world_done(&world);
    return tap_done();
}
