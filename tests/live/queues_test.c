/* queues_test.c: requests of users take turns at a front: who asks for little passes who asks for much, a long request is served in slices, and what
 * agents say to each other does not wait for users. */
#include "common/tap.h"
#include "web.h"

#include "live/http/request.h"
#include "sys/clock.h"

#include <sodium.h>
#include <time.h>

#define AUDIENCE "front"
#define CLIENTS_MAX 16
#define CROWD 12
#define HEAVY_US 4000 /* longer than a slice */
#define LONG_US 60000

struct world {
    struct web web;
    struct gate gates[2];
    struct front front;
    struct log log;
    struct signing_key key;
    struct token_keys keys;
    struct token_cache *tokens;
    char *heavy, *light; /* tokens */
    struct client clients[CLIENTS_MAX];
    int count;
    struct buf
        order; /* the first letter of who was handled, of an agent's calls `a`; of a long request one for each slice */
    uv_check_t commit; /* adds `|` where rows would be committed, if somebody was handled since */
    int64_t used;      /* by the account of the last step without an end */
    bool enough;       /* those end */
};

static struct world world;

static void bail(const char *why)
{
    printf("Bail out! %s\n", why);
    exit(1);
}

static void busy_for(int64_t span)
{
    for (int64_t ends = clock_now() + span; clock_now() < ends;)
        ;
}

/* ------------------------------------------------------------------------------------------------------------ handlers */

static void note(const struct request *request)
{
    buf_addc(&world.order, request_identity(request)[0]);
}

static void heavy(struct request *request)
{
    note(request);
    busy_for(HEAVY_US);
    request_words(request, 200, "done\n");
}

static void quick(struct request *request)
{
    note(request);
    request_words(request, 200, "done\n");
}

static void agents(struct request *request)
{
    buf_addc(&world.order, 'a');
    request_words(request, 200, "done\n");
}

/* Goes on until all is done; `work` counts. */
static void long_step(struct request *request)
{
    int64_t *left = request->work, began = clock_now();

    note(request);
    while (clock_now() - began < *left)
        if (request_turn_is_over(request)) {
            *left -= clock_now() - began;
            request_again(request, long_step);
            return;
        }
    free(left);
    request->work = NULL;
    request->forget = NULL;
    request_words(request, 200, "done\n");
}

static void long_forget(struct request *request)
{
    free(request->work);
}

static void lengthy(struct request *request)
{
    int64_t *left = malloc(sizeof *left);

    *left = LONG_US;
    request->work = left;
    request->forget = long_forget;
    long_step(request);
}

static void endless(struct request *request)
{
    note(request);
    world.used = request_used(request);
    while (!world.enough)
        if (request_turn_is_over(request)) {
            request_again(request, endless);
            return;
        }
    request_words(request, 200, "done\n");
}

static void turn_ends(uv_check_t *check)
{
    (void)check;
    if (!front_goes_on(&world.front) && world.order.len && world.order.text[world.order.len - 1] != '|')
        buf_addc(&world.order, '|');
}

#define ROUTE(id, path, handle)                                                                          \
    {                                                                                                    \
        id, HTTP_GET, path, SCOPE_JOB_OWN, BODY_NONE, ROUTE_BODY, "", "200", "text/plain", "", handle, 0 \
    }
static const struct route users_routes[] = {ROUTE("heavy", "/heavy", heavy), ROUTE("quick", "/quick", quick),
                                            ROUTE("long", "/long", lengthy), ROUTE("endless", "/endless", endless)};
static const struct route agents_routes[] = {ROUTE("agents", "/agents", agents)};
static const struct route_table users_table = {.title = "users", .summary = "", .routes = users_routes, .count = 4};
static const struct route_table agents_table = {.title = "agents", .summary = "", .routes = agents_routes, .count = 1};

/* --------------------------------------------------------------------------------------------------------------- world */

static bool is_revoked(void *user, const char *id)
{
    (void)user, (void)id;
    return false;
}

static bool token_proof(void *user, const char *token, size_t len, struct proof *ret)
{
    (void)user, (void)token, (void)len;
    *ret = (struct proof){
        .tokens = world.tokens, .keys = &world.keys, .audience = AUDIENCE, .revoked = is_revoked, .user = &world};
    return true;
}

static char *token_make(const char *subject)
{
    int64_t now = time(NULL);
    struct token_terms terms = {.issuer = world.keys.issuer,
                                .subject = subject,
                                .audience = AUDIENCE,
                                .scope = SCOPE_ALL,
                                .issued = now,
                                .expires = now + 3600};
    struct err err = {0};
    struct buf text;
    char *token;

    buf_init(&text);
    if (token_sign(&text, &world.key, &terms, NULL, &err) < 0)
        bail(err.text);
    token = strdup(buf_string(&text));
    buf_done(&text);
    return token;
}

static void world_open(bool turns)
{
    struct gate_settings gate = {.proof = token_proof, .people_are_agents = true};
    struct front_settings settings = {.part_count = 2, .log = &world.log, .loop = &world.web.loop};
    struct server_handler handler = front_handler;
    struct err err = {0};

    uv_loop_init(&world.web.loop);
    for (int i = 0; i < 2; i++)
        gate_init(&world.gates[i], &gate, 1);
    settings.parts[0] = (struct front_part){.table = &users_table, .gate = &world.gates[0], .turns = turns};
    settings.parts[1] = (struct front_part){.table = &agents_table, .gate = &world.gates[1]};
    front_init(&world.front, &settings);
    handler.user = &world.front;
    world.web.server = server_new(&world.web.loop, "127.0.0.1:0", NULL, NULL, NULL, &handler, &err);
    if (!world.web.server)
        bail(err.text);
    buf_init(&world.order);
}

static void world_close(void)
{
    for (int i = 0; i < world.count; i++)
        client_close(&world.clients[i]);
    world.count = 0;
    server_free(world.web.server);
    front_done(&world.front);
    uv_run(&world.web.loop, UV_RUN_DEFAULT);
    uv_loop_close(&world.web.loop);
    for (int i = 0; i < 2; i++)
        gate_done(&world.gates[i]);
    buf_done(&world.order);
}

static struct client *ask(const char *token, const char *path)
{
    struct client *client = &world.clients[world.count++];
    struct buf text;

    client_open(&world.web, client);
    buf_init(&text);
    buf_addf(&text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n\r\n", path, token);
    client_send_bytes(client, text.text, text.len);
    buf_done(&text);
    return client;
}

/* The order in which all were handled, when all are answered. */
static const char *order(void)
{
    bool all = true;

    for (int i = 0; i < world.count; i++)
        all = client_wait(&world.web, &world.clients[i], "done\n") && all;
    return all ? buf_string(&world.order) : "not all are answered";
}

static uint32_t letters(const char *text, char letter)
{
    uint32_t count = 0;

    for (; *text; text++)
        count += *text == letter;
    return count;
}

/* How often one is followed by another. */
static uint32_t changes(const char *text)
{
    uint32_t count = 0;

    for (; *text && text[1]; text++)
        count += text[0] != text[1];
    return count;
}

/* --------------------------------------------------------------------------------------------------------------- cases */

static void check_passes(void)
{
    const char *text;

    world_open(true);
    for (int i = 0; i < 5; i++)
        ask(world.heavy, "/heavy");
    ask(world.light, "/heavy");
    text = order();
    if (!tap_ok(strlen(text) == 6 && letters(text, 'h') == 5 && strchr(text, 'l') - text <= 2,
                "who asks once passes who has asked five times, but for the request at hand"))
        tap_diag("%s", text);
    world_close();
}

static void check_slices(void)
{
    const char *text;

    world_open(true);
    ask(world.heavy, "/long");
    ask(world.light, "/quick");
    text = order();
    if (!tap_ok(letters(text, 'h') > 4 && letters(text, 'l') == 1 && strchr(text, 'l') - text <= 2,
                "a long request is served in slices, and others between them"))
        tap_diag("%s", text);
    buf_reset(&world.order);
    world.count--;
    client_close(&world.clients[world.count]);
    client_close(&world.clients[--world.count]);
    ask(world.heavy, "/long");
    ask(world.light, "/long");
    text = order();
    if (!tap_ok(changes(text) >= 6, "two that both ask for much are served by turns"))
        tap_diag("%s", text);
    world_close();
}

/* A dozen always want more. One who was away passes all of them, and rows are committed for it. */
static void check_away(void)
{
    char name[16], *tokens[CROWD];
    const char *text, *found;
    uint32_t before;

    world_open(true);
    uv_check_init(&world.web.loop, &world.commit);
    uv_check_start(&world.commit, turn_ends);
    world.used = 0;
    world.enough = false;
    for (int i = 0; i < CROWD; i++) {
        snprintf(name, sizeof name, "heavy%d", i);
        tokens[i] = token_make(name);
        ask(tokens[i], "/endless");
    }
    while (world.used < 8000)
        web_run_for(&world.web, 1);
    before = letters(buf_string(&world.order), 'h');
    ask(world.light, "/quick");
    client_wait(&world.web, &world.clients[CROWD], "done\n");
    world.enough = true;
    text = order();
    found = strchr(text, 'l');
    if (!tap_ok(found && letters(text, 'h') - letters(found, 'h') - before <= CROWD / 2,
                "who was away passes those who always want more"))
        tap_diag("%s", text);
    tap_ok(found && found[1] == '|', "and rows are committed at once for it");
    tap_ok(strstr(text, "hh") != NULL, "those of the others wait for the end of a slice");
    uv_close((uv_handle_t *)&world.commit, NULL);
    world_close();
    for (int i = 0; i < CROWD; i++)
        free(tokens[i]);
}

static void check_agents(void)
{
    const char *text;

    world_open(true);
    for (int i = 0; i < 5; i++)
        ask(world.heavy, "/heavy");
    ask(world.light, "/agents");
    text = order();
    if (!tap_ok(letters(text, 'h') == 5 && strchr(text, 'a') && strchr(text, 'a') - text <= 2,
                "calls of agents do not wait for users"))
        tap_diag("%s", text);
    world_close();
}

static void check_ends(void)
{
    world_open(true);
    for (int i = 0; i < 4; i++)
        ask(world.heavy, i ? "/heavy" : "/long");
    ask(world.light, "/long");
    for (int i = 0; i < 20 && !world.order.len; i++)
        web_run_for(&world.web, 1);
    tap_ok(world.order.len && front_is_busy(&world.front), "requests wait for their turn");
    world_close();
    tap_ok(true, "and go with the server");
    world_open(false);
    ask(world.heavy, "/long");
    tap_ok(!strcmp(order(), "h"), "where requests take no turns, a long one is served at once");
    world_close();
}

int main(void)
{
    if (sodium_init() < 0)
        return 1;
    log_init(&world.log, -1, LOG_LOGFMT, LEVEL_ERROR, NULL, NULL);
    signing_key_draw(&world.key);
    pool_id_of(&world.key.open, world.keys.issuer);
    world.keys.count = 1;
    world.keys.keys[0].open = world.key.open;
    memcpy(world.keys.keys[0].id, world.key.id, sizeof world.keys.keys[0].id);
    world.tokens = token_cache_new(0);
    world.heavy = token_make("heavy");
    world.light = token_make("light");
    check_passes();
    check_slices();
    check_away();
    check_agents();
    check_ends();
    token_cache_free(world.tokens);
    free(world.heavy);
    free(world.light);
    return tap_done();
}
