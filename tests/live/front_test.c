/* front_test.c: the fronts of all daemons, by their own tables: who has no right to a route does not get to its handler, what is not there
 * says so in one way, and each front describes exactly what it has. The handlers themselves are played. */
#include "common/tap.h"
#include "web.h"

#include "lang/ad/names.h"
#include "live/agent/agent.h"
#include "live/customerd/customerd_parts.h"
#include "live/http/request.h"
#include "live/matchmakerd/routes.h"
#include "live/providerd/providerd_parts.h"

#include "sys/clock.h"

#include <ctype.h>
#include <limits.h>
#include <sodium.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define ROUTES_MOST 160
#define POOL_AGENT "agent-or-pool" /* the audience */

static const struct daemon_kind {
    const char *name;
    const struct route_table *tables[FRONT_PARTS_MAX];
    size_t count;
} daemons[] = {
    {"the matchmaker", {&matchmakerd_routes}, 1},
    {"the customer", {&customerd_routes, &agent_routes}, 2},
    {"an agent", {&agent_routes}, 1},
    {"the provider's status", {&providerd_routes}, 1},
};

struct world {
    struct web web;
    struct config config;
    struct symbols *symbols;
    struct log log;
    struct gate gate;
    struct front front;
    struct route_table tables[FRONT_PARTS_MAX];
    struct route routes[FRONT_PARTS_MAX][ROUTES_MOST];
    struct signing_key key;
    struct token_keys keys;
    struct token_cache *tokens;
    char revoked[TOKEN_ID_DIGITS + 1]; /* the id of a token that is */
    const char *unready;
    bool near;      /* users of this machine are let in */
    unsigned later; /* so often they are still being looked up */
    bool still;     /* the front has no loop, and lets nobody wait */
    struct client client;
    unsigned handled, status;
};

static void bail(const char *why)
{
    printf("Bail out! %s\n", why);
    exit(1);
}

/* --------------------------------------------------------------------------------------------------------- the front */

static unsigned *handled_count;

static void played(struct request *request)
{
    ++*handled_count;
    request_words(request, 200, "handled\n");
}

static bool is_revoked(void *user, const char *id)
{
    return !strcmp(((struct world *)user)->revoked, id);
}

static bool token_proof(void *user, const char *token, size_t len, struct proof *ret)
{
    struct world *world = user;

    (void)token, (void)len;
    *ret = (struct proof){
        .tokens = world->tokens, .keys = &world->keys, .audience = POOL_AGENT, .revoked = is_revoked, .user = world};
    return true;
}

static void local_admit(void *user, uint32_t uid, int64_t now, struct gate_local *ret)
{
    struct world *world = user;

    (void)now;
    if (world->later) {
        world->later--;
        ret->later = true;
        return;
    }
    snprintf(ret->name, sizeof ret->name, "uid.%u", uid);
    ret->scope = world->near ? SCOPE_ALL : SCOPE_NONE;
}

static const char *unready(const void *daemon)
{
    return ((const struct world *)daemon)->unready;
}

/* The daemon's own tables, with other handlers behind them: but for those that need no daemon. */
static void tables_copy(struct world *world, const struct daemon_kind *kind)
{
    for (size_t i = 0; i < kind->count; i++) {
        world->tables[i] = *kind->tables[i];
        world->tables[i].routes = world->routes[i];
        if (kind->tables[i]->count > ROUTES_MOST)
            bail("there are more routes than this test has room for");
        for (size_t n = 0; n < kind->tables[i]->count; n++) {
            world->routes[i][n] = kind->tables[i]->routes[n];
            if (world->routes[i][n].handle != front_openapi && world->routes[i][n].handle != front_health)
                world->routes[i][n].handle = played;
        }
    }
}

static void front_open(struct world *world, const struct daemon_kind *kind, const char *address)
{
    struct gate_settings gate = {
        .user = world, .proof = token_proof, .local = local_admit, .people_are_agents = true, .config = &world->config};
    struct front_settings settings = {.part_count = kind->count,
                                      .log = &world->log,
                                      .version = "1.2.3",
                                      .loop = world->still ? NULL : &world->web.loop};
    struct server_handler handler = front_handler;
    struct err err = {0};

    tables_copy(world, kind);
    for (size_t i = 0; i < kind->count; i++)
        settings.parts[i] = (struct front_part){.table = &world->tables[i],
                                                .daemon = world,
                                                .gate = &world->gate,
                                                .config = &world->config,
                                                .symbols = world->symbols,
                                                .unready = unready};
    gate_init(&world->gate, &gate, 1);
    front_init(&world->front, &settings);
    handler.user = &world->front;
    uv_loop_init(&world->web.loop);
    world->web.server = server_new(&world->web.loop, address, NULL, NULL, NULL, &handler, &err);
    if (!world->web.server)
        bail(err.text);
    world->client.fd = -1;
}

static void front_close(struct world *world)
{
    client_close(&world->client);
    server_free(world->web.server);
    uv_run(&world->web.loop, UV_RUN_DEFAULT);
    uv_loop_close(&world->web.loop);
    front_done(&world->front);
    gate_done(&world->gate);
}

/* ---------------------------------------------------------------------------------------------------------- requests */

/* The status of the answer, which is in client.in. `fields` is NULL or has lines with CRLF. */
static unsigned ask(struct world *world, const char *method, const char *path, const char *token, const char *fields)
{
    struct buf text;

    client_close(&world->client);
    client_open(&world->web, &world->client);
    buf_init(&text);
    buf_addf(&text, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n", method, path);
    if (token)
        buf_addf(&text, "Authorization: Bearer %s\r\n", token);
    buf_addf(&text, "%s\r\n", fields ? fields : "");
    world->handled = 0;
    client_send_bytes(&world->client, text.text, text.len);
    buf_done(&text);
    client_wait_closed(&world->web, &world->client, 5000);
    world->status = 0;
    sscanf(buf_string(&world->client.in), "HTTP/1.1 %u", &world->status);
    return world->status;
}

static bool says(struct world *world, const char *words)
{
    return strstr(buf_string(&world->client.in), words);
}

static bool is_problem(struct world *world, unsigned status)
{
    char words[32];

    snprintf(words, sizeof words, "\"status\":%u,", status);
    return world->status == status && says(world, "application/problem+json") && says(world, words) &&
           says(world, "\"title\":\"") && says(world, "\"detail\":\"") && says(world, "\"request\":\"") &&
           says(world, "Cache-Control: no-store");
}

static void path_fill(const char *shape, char out[256])
{
    size_t at = 0;

    for (; *shape; shape++) {
        if (*shape != '{') {
            out[at++] = *shape;
            continue;
        }
        at += (size_t)snprintf(out + at, 32, "abcdef0123456789");
        shape += strcspn(shape, "}");
    }
    out[at] = '\0';
}

static char *token_make(struct world *world, scopes scope, char *ret_id)
{
    int64_t now = time(NULL);
    struct token_terms terms = {.issuer = world->keys.issuer,
                                .subject = "alice",
                                .audience = POOL_AGENT,
                                .scope = scope,
                                .issued = now,
                                .expires = now + 3600};
    struct err err = {0};
    struct buf text;
    char *token;

    buf_init(&text);
    if (token_sign(&text, &world->key, &terms, ret_id, &err) < 0)
        bail(err.text);
    token = strdup(buf_string(&text));
    buf_done(&text);
    return token;
}

/* ------------------------------------------------------------------------------------------------------------ checks */

struct wrong {
    size_t count;
    char first[160];
};

static void wrong_add(struct wrong *wrong, const struct world *world, const struct route *route)
{
    if (!wrong->count++)
        snprintf(wrong->first, sizeof wrong->first, "%s %s: %u, handled %u times", method_name(route->method),
                 route->path, world->status, world->handled);
}

static void told(const struct wrong *wrong, const char *kind, const char *sentence)
{
    if (!tap_ok(!wrong->count, "%s: %s", kind, sentence))
        tap_diag("%zu are not so; the first is %s", wrong->count, wrong->first);
}

/* Every route, with a token that has all scopes but its own, with a revoked one, with none, and with the right one. */
static void check_tokens(struct world *world, const struct daemon_kind *kind)
{
    struct wrong scope = {0}, revoked = {0}, none = {0}, good = {0};
    char id[TOKEN_ID_DIGITS + 1], path[256];
    char *all = token_make(world, SCOPE_ALL, NULL), *bad = token_make(world, SCOPE_ALL, id);

    snprintf(world->revoked, sizeof world->revoked, "%s", id);
    for (size_t i = 0; i < kind->count; i++) {
        for (size_t n = 0; n < world->tables[i].count; n++) {
            const struct route *route = &world->routes[i][n];
            const char *method = method_name(route->method);
            char *other;

            path_fill(route->path, path);
            if (ask(world, method, path, all, NULL) != 200 || world->handled != (route->handle == played))
                wrong_add(&good, world, route);
            if (route->scope == SCOPE_NONE)
                continue;
            if (ask(world, method, path, bad, NULL) != 401 || !is_problem(world, 401) || world->handled ||
                !says(world, "WWW-Authenticate: Bearer"))
                wrong_add(&revoked, world, route);
            if (ask(world, method, path, NULL, NULL) != 401 || !is_problem(world, 401) || world->handled)
                wrong_add(&none, world, route);
            if (route->scope == SCOPE_ALL)
                continue; /* any token will do */
            other = token_make(world, SCOPE_ALL & ~route->scope, NULL);
            if (ask(world, method, path, other, NULL) != 403 || !is_problem(world, 403) || world->handled)
                wrong_add(&scope, world, route);
            free(other);
        }
    }
    told(&good, kind->name, "a good token with the scope of a route gets to its handler");
    told(&revoked, kind->name, "a revoked token is refused by every route that wants one");
    told(&none, kind->name, "so is a request without a token");
    told(&scope, kind->name, "and a token with every scope but the route's");
    world->revoked[0] = '\0';
    free(all);
    free(bad);
}

static bool path_has(const struct world *world, const struct daemon_kind *kind, const char *path,
                     enum http_method method)
{
    for (size_t i = 0; i < kind->count; i++)
        for (size_t n = 0; n < world->tables[i].count; n++)
            if (!strcmp(world->routes[i][n].path, path) && world->routes[i][n].method == method)
                return true;
    return false;
}

static void check_ways(struct world *world, const struct daemon_kind *kind)
{
    static const char *const absent[] = {"/nothing", "/v1/nothing/at/all", "/v1/status/", "//healthz", "/healthz/x"};
    char *all = token_make(world, SCOPE_ALL, NULL), path[256], allow[32];
    struct wrong other = {0}, fields = {0};
    size_t missing = 0;

    for (size_t i = 0; i < COUNT(absent); i++)
        missing += ask(world, "GET", absent[i], all, NULL) == 404 && is_problem(world, 404);
    tap_ok(missing == COUNT(absent), "%s: a path that is not there is answered with 404 and a problem", kind->name);
    for (size_t i = 0; i < kind->count; i++) {
        for (size_t n = 0; n < world->tables[i].count; n++) {
            const struct route *route = &world->routes[i][n];

            path_fill(route->path, path);
            snprintf(allow, sizeof allow, "%s", method_name(route->method));
            for (int m = HTTP_GET; m < HTTP_OTHER; m++) {
                if (m == HTTP_HEAD || path_has(world, kind, route->path, (enum http_method)m))
                    continue;
                if (ask(world, method_name((enum http_method)m), path, all, NULL) != 405 || !is_problem(world, 405) ||
                    world->handled || !says(world, "Allow: ") || !says(world, allow))
                    wrong_add(&other, world, route);
                break; /* the others go the same way */
            }
            if (ask(world, method_name(route->method), path, all, "Origin: https://elsewhere.example\r\n") != 403 ||
                !is_problem(world, 403) || world->handled ||
                ask(world, method_name(route->method), path, all, "Accept: image/png\r\n") != 406 ||
                !is_problem(world, 406) || world->handled)
                wrong_add(&fields, world, route);
        }
    }
    told(&other, kind->name, "another method is answered with 405, and the field Allow names those that there are");
    told(&fields, kind->name, "neither a page of another site nor one who wants a picture gets to a handler");
    free(all);
}

/* The words that stand for a route in the description. */
static void operation_print(const struct route *route, struct buf *out)
{
    buf_addc(out, '"');
    for (const char *at = method_name(route->method); *at; at++)
        buf_addc(out, (char)tolower((unsigned char)*at));
    buf_addf(out, "\":{\"operationId\":\"%s\"", route->id);
}

static void check_description(struct world *world, const struct daemon_kind *kind)
{
    size_t total = 0, found = 0, paths = 0, twice = 0;
    struct buf words;

    buf_init(&words);
    ask(world, "GET", "/openapi.json", NULL, NULL);
    for (size_t i = 0; i < kind->count; i++) {
        for (size_t n = 0; n < world->tables[i].count; n++) {
            const struct route *route = &world->routes[i][n];

            total++;
            buf_reset(&words);
            operation_print(route, &words);
            found += client_count(&world->client, buf_string(&words)) == 1;
            buf_reset(&words);
            buf_addf(&words, "\"%s\":{", route->path);
            paths += client_count(&world->client, buf_string(&words)) == 1;
            for (size_t other = 0; other < i; other++)
                for (size_t m = 0; m < world->tables[other].count; m++)
                    twice += !strcmp(world->routes[other][m].path, route->path);
        }
    }
    tap_ok(world->status == 200 && found == total && paths == total &&
               client_count(&world->client, "\"operationId\"") == total,
           "%s: /openapi.json lists exactly its table, %zu routes", kind->name, total);
    tap_ok(says(world, kind->tables[0]->title) && says(world, "\"version\":\"1.2.3\"") && !twice,
           "%s: it says what it describes, and no path is in two tables", kind->name);
    buf_done(&words);
}

static bool parameter_is_there(const struct route_table *table, const char *name, size_t len)
{
    for (size_t i = 0; i < table->parameter_count; i++)
        if (strlen(table->parameters[i].name) == len && !memcmp(table->parameters[i].name, name, len))
            return true;
    return false;
}

static void check_table(const struct daemon_kind *kind)
{
    size_t unknown = 0;

    for (size_t i = 0; i < kind->count; i++)
        for (size_t n = 0; n < kind->tables[i]->count; n++)
            for (const char *at = kind->tables[i]->routes[n].parameters; *at; at += strspn(at, " ")) {
                size_t len = strcspn(at, " ");

                unknown += !parameter_is_there(kind->tables[i], at, len);
                at += len;
            }
    tap_ok(!unknown, "%s: every parameter of a route is explained", kind->name);
}

static void check_state(struct world *world, const struct daemon_kind *kind)
{
    char *all = token_make(world, SCOPE_ALL, NULL);

    world->unready = "it goes down";
    tap_ok(ask(world, "GET", "/healthz", all, NULL) == 503 && is_problem(world, 503) && says(world, "it goes down"),
           "%s: while it goes down it takes nothing, and says why", kind->name);
    world->unready = NULL;
    tap_ok(ask(world, "GET", "/healthz", all, "Content-Length: 99999999\r\n") == 413 && is_problem(world, 413),
           "%s: a body where none is expected is not read", kind->name);
    free(all);
}

/* By the Unix socket, without a token. */
static void check_near(struct world *world, const struct daemon_kind *kind)
{
    const char *scoped = kind->tables == daemons[2].tables ? "/v1/messages" : "/v1/status";
    const char *method = kind->tables == daemons[2].tables ? "POST" : "GET";
    char folder[] = "/tmp/front-test-XXXXXX", address[64];
    struct buf waits;

    if (!mkdtemp(folder))
        bail("no folder");
    snprintf(address, sizeof address, "unix:%s/s", folder);
    buf_init(&waits);
    buf_addf(&waits, "%s %s HTTP/1.1\r\nHost: localhost\r\n\r\n", method, scoped);
    front_open(world, kind, address);
    world->near = true;
    tap_ok(ask(world, method, scoped, NULL, NULL) == 200 && world->handled == 1,
           "%s: a user of this machine whom it knows needs no token", kind->name);
    world->near = false;
    tap_ok(ask(world, method, scoped, NULL, NULL) == 403 && is_problem(world, 403) && !world->handled,
           "%s: another one is refused, with a reason", kind->name);
    world->near = true;
    world->later = 3;
    tap_ok(ask(world, method, scoped, NULL, NULL) == 200 && world->handled == 1 && !world->later,
           "%s: one who is still being looked up waits for that, and is served then", kind->name);
    world->later = UINT_MAX;
    tap_ok(ask(world, "GET", "/healthz", NULL, NULL) == 200, "%s: meanwhile others are served", kind->name);
    client_close(&world->client);
    client_open(&world->web, &world->client);
    client_send_bytes(&world->client, waits.text, waits.len);
    for (unsigned before = world->later; before - world->later < 3;)
        uv_run(&world->web.loop, UV_RUN_ONCE);
    front_close(world); /* while that one waits */
    tap_ok(!world->front.lookups, "%s: a server that ends lets nobody wait any more", kind->name);
    world->later = 1;
    world->still = true;
    front_open(world, kind, address);
    tap_ok(ask(world, method, scoped, NULL, NULL) == 503 && is_problem(world, 503) &&
               says(world, "Retry-After: 5\r\n") && !world->handled,
           "%s: one who cannot wait any longer is told to come again", kind->name);
    front_close(world);
    world->near = world->still = false;
    buf_done(&waits);
    rmdir(folder);
}

/* What one account does too fast is refused, whatever names it has delegated to; and nobody else is kept waiting by it. */
static void check_pace(struct world *world)
{
    static const char *const variables[] = {"HOME=/nonexistent", NULL};
    static const struct config_given given[] = {{"--set", "AgentRequestsPerSecond", "3"}};
    static const struct config_sources sources = {
        .variables = variables, .etc = "/nonexistent", .given = given, .given_count = 1};
    char *all = token_make(world, SCOPE_ALL, NULL), *again = token_make(world, SCOPE_JOB_OWN, NULL);
    struct config usual = world->config;
    unsigned served = 0;
    struct err err = {0};

    if (config_load(&world->config, &sources, &err) < 0)
        bail(err.text);
    front_open(world, &daemons[1], "127.0.0.1:0");
    for (int i = 0; i < 3; i++)
        served += ask(world, "GET", "/v1/status", i % 2 ? again : all, NULL) == 200;
    tap_ok(served == 3 && ask(world, "GET", "/v1/status", all, NULL) == 429 && is_problem(world, 429) &&
               says(world, "Retry-After: ") && says(world, "AgentRequestsPerSecond") && !world->handled,
           "whoever asks too often is told which limit that is, and when to come again");
    tap_ok(ask(world, "GET", "/healthz", NULL, NULL) == 200, "others are served meanwhile");
    front_close(world);
    config_done(&world->config);
    world->config = usual;
    free(all);
    free(again);
}

/* Others have shown so many new tokens just now that there is no time left for more of them. */
static void proofs_spend(struct world *world, int64_t span)
{
    world->gate.proving = clock_now() + span;
    world->gate.proved = GATE_PROVES;
}

static void check_proofs(struct world *world)
{
    char *known = token_make(world, SCOPE_ALL, NULL), *fresh = token_make(world, SCOPE_ALL, NULL);
    int64_t began;

    front_open(world, &daemons[1], "127.0.0.1:0");
    ask(world, "GET", "/v1/status", known, NULL);
    proofs_spend(world, 60 * SECOND);
    tap_ok(ask(world, "GET", "/v1/status", known, NULL) == 200,
           "a token that was shown before is served while strangers show many");
    proofs_spend(world, 300 * MILLISECOND);
    began = clock_now();
    tap_ok(ask(world, "GET", "/v1/status", fresh, NULL) == 200 && clock_now() - began >= 250 * MILLISECOND,
           "a new one waits until it is its turn to be proved, and is served then");
    proofs_spend(world, 300 * MILLISECOND);
    fresh[strlen(fresh) / 2] ^= 1;
    began = clock_now();
    tap_ok(ask(world, "GET", "/v1/status", fresh, NULL) == 401 && clock_now() - began >= 250 * MILLISECOND,
           "so does a bad one, which is refused then");
    front_close(world);
    world->still = true;
    fresh[strlen(fresh) / 2] ^= 1;
    token_cache_forget(world->tokens);
    front_open(world, &daemons[1], "127.0.0.1:0");
    proofs_spend(world, 60 * SECOND);
    tap_ok(ask(world, "GET", "/v1/status", fresh, NULL) == 200, "where nobody can wait it is proved at once");
    front_close(world);
    world->still = false;
    free(known);
    free(fresh);
}

#define A_51 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A_255 A_51 A_51 A_51 A_51 A_51 /* as long as a variable may be */

/* Which path is of which shape, and what its variables say. */
static void check_paths(void)
{
    static const char longest[] = "/v1/log/" A_255, longer[] = "/v1/log/" A_255 "a";
    static const struct {
        const char *shape, *path;
        unsigned flags;
        bool fits;
        const char *first, *second;
    } rows[] = {
        {"/v1/jobs", "/v1/jobs", 0, true, "", ""},
        {"/v1/jobs", "/v1/job", 0, false, "", ""},
        {"/v1/jobs/{id}", "/v1/jobs/7", 0, true, "7", ""},
        {"/v1/jobs/{id}", "/v1/jobs/", 0, false, "", ""},
        {"/v1/jobs/{id}", "/v1/jobs/7/8", 0, false, "", ""},
        {"/v1/{kind}/{name...}", "/v1/log/a/b%2fc", ROUTE_FILE, true, "log", "a/b/c"},
        {"/v1/{kind}/{name}", "/v1/log/a%20b", 0, true, "log", "a b"},
        {"/v1/{kind}/{name}", "/v1/log/a%0ab", 0, false, "", ""},
        {"/v1/{kind}/{name...}", "/v1/log/a%0ab", 0, false, "", ""},
        {"/v1/{kind}/{name...}", "/v1/log/a%0ab", ROUTE_FILE, true, "log", "a\nb"},
        {"/v1/{kind}/{name...}", "/v1/lo%0ag/a", ROUTE_FILE, false, "", ""},
        {"/v1/{kind}/{name...}", "/v1/log/a%00b", ROUTE_FILE, false, "", ""},
        {"/v1/{kind}/{name...}", "/v1/log/a%2", ROUTE_FILE, false, "", ""},
        {"/v1/{kind}/{name}", longest, 0, true, "log", A_255},
        {"/v1/{kind}/{name}", longer, 0, false, "", ""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct route route = {.id = "x", .method = HTTP_GET, .path = rows[i].shape, .flags = rows[i].flags};
        const struct route_table table = {.routes = &route, .count = 1};
        struct route_match match = {0};
        bool fits = route_find(&(const struct route_table *){&table}, 1, HTTP_GET, rows[i].path, &match) == ROUTE_FOUND;

        tap_ok(fits == rows[i].fits && (!fits || (!strcmp(match.variables[0], rows[i].first) &&
                                                  !strcmp(match.variables[1], rows[i].second))),
               "%.60s %s %s", rows[i].path, rows[i].fits ? "fits" : "does not fit", rows[i].shape);
    }
}

/* Who watches one job is woken by that job's news, and by no other's; who watches none has to wait until all are woken. */
static void check_marks(void)
{
    struct request requests[] = {{.watches = 7}, {.watches = 8}, {.watches = 0}, {.watches = 7}};
    struct front front = {.waiting = requests};

    for (size_t i = 0; i + 1 < COUNT(requests); i++)
        requests[i].next = &requests[i + 1];
    tap_ok(!front_mark(NULL, 7) && !front_mark(&front, 9) && !front_mark(&front, 0) && !requests[2].marked,
           "news of a job that nobody watches marks nobody, and news of none neither");
    tap_ok(front_mark(&front, 7) && requests[0].marked && requests[3].marked && !requests[1].marked &&
               !requests[2].marked,
           "news of a job marks all who watch it, and them alone");
}

/* Is there one example of each route, and none of anything else? That they are true, examples_live_test.sh shows. */
static void check_examples(const struct route_table *table)
{
    size_t strays = 0;

    for (size_t i = 0; i < table->count; i++) {
        const struct route *route = &table->routes[i];
        char status[16] = "";
        size_t found = 0;

        for (const struct route_example *example = table->examples; example && example->id; example++)
            if (!strcmp(example->id, route->id) && ++found)
                snprintf(status, sizeof status, "%u", example->status);
        tap_ok(found == 1 && (strstr(route->answers, status) || strstr("401 403", status)),
               "%s, %s: it has one example, whose answer is listed", table->title, route->id);
    }
    for (const struct route_example *example = table->examples; example && example->id; example++) {
        bool known = false;

        for (size_t i = 0; i < table->count; i++)
            known = known || !strcmp(table->routes[i].id, example->id);
        strays += !known;
    }
    tap_ok(!strays, "%s: there is no example of what is no route", table->title);
}

int main(void)
{
    static const char *const variables[] = {"HOME=/nonexistent", NULL};
    static const struct config_sources sources = {.variables = variables, .etc = "/nonexistent"};
    static struct world world;
    struct err err = {0};

    if (sodium_init() < 0 || config_load(&world.config, &sources, &err) < 0)
        bail(err.text);
    handled_count = &world.handled;
    world.symbols = names_new(1);
    log_init(&world.log, -1, LOG_LOGFMT, LEVEL_ERROR, NULL, NULL);
    signing_key_draw(&world.key);
    pool_id_of(&world.key.open, world.keys.issuer);
    world.keys.count = 1;
    world.keys.keys[0].open = world.key.open;
    memcpy(world.keys.keys[0].id, world.key.id, sizeof world.keys.keys[0].id);
    world.tokens = token_cache_new(0);
    for (size_t i = 0; i < COUNT(daemons); i++) {
        check_table(&daemons[i]);
        front_open(&world, &daemons[i], "127.0.0.1:0");
        check_description(&world, &daemons[i]);
        check_ways(&world, &daemons[i]);
        check_tokens(&world, &daemons[i]);
        check_state(&world, &daemons[i]);
        front_close(&world);
        check_near(&world, &daemons[i]);
    }
    check_examples(&matchmakerd_routes);
    check_examples(&customerd_routes);
    check_examples(&providerd_routes);
    check_examples(&providerd_calls);
    check_examples(&agent_routes);
    check_pace(&world);
    check_proofs(&world);
    check_paths();
    check_marks();
    token_cache_free(world.tokens);
    symbols_free(world.symbols);
    config_done(&world.config);
    return tap_done();
}
