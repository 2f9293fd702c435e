/* openapi_test.c: /openapi.json describes the routes as they are: those of the table and no others, and what each really answers. */
#include "common/tap.h"
#include "live.h"

#include "live/matchmakerd/routes.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct world {
    struct live live;
    struct talk talk;
    char *all, *reader,
        *other; /* tokens: alice's with all scopes, alice's with ad:read, bob's with all scopes but those of administrators */
    struct tree *api;       /* the description */
    size_t untyped[128];    /* of each route, answers whose Content-Type is not listed ... */
    char example[128][160]; /* ... and one of them */
};

/* ----------------------------------------------------------------------------------------------- reading the description */

/* The part of that name of an object; NULL when there is none, or it is no object. */
static const struct expr *part(const struct tree *tree, const struct expr *object, const char *name)
{
    symbol s = symbols_find(tree->symbols, name, strlen(name));

    return object && object->kind == EXPR_AD && s != SYMBOL_NONE ? tree_find(tree, object, s) : NULL;
}

static bool is_text(const struct tree *tree, const struct expr *e, const char *text)
{
    return e && e->kind == EXPR_STRING && e->u.run.count == strlen(text) &&
           (!*text || memcmp(tree_string(tree, e), text, strlen(text)) == 0);
}

/* Is it a list with that text in it? */
static bool list_has(const struct tree *tree, const struct expr *list, const char *text)
{
    const struct expr *items;

    if (!list || list->kind != EXPR_LIST)
        return false;
    items = tree_parts(tree, list);
    for (uint32_t i = 0; i < list->u.run.count; i++)
        if (is_text(tree, &items[i], text))
            return true;
    return false;
}

static const struct expr *operation(const struct world *world, const struct route *route)
{
    char method[16];
    size_t len = strlen(method_name(route->method));

    for (size_t i = 0; i <= len; i++)
        method[i] = method_name(route->method)[i] ? (char)(method_name(route->method)[i] | 32) : '\0';
    return part(world->api, part(world->api, part(world->api, tree_root(world->api), "paths"), route->path), method);
}

static const struct expr *response(const struct world *world, const struct route *route, unsigned status)
{
    char digits[16];

    snprintf(digits, sizeof digits, "%u", status);
    return part(world->api, part(world->api, operation(world, route), "responses"), digits);
}

/* Is the type among those of the answer? What stands behind the ";" is not looked at. */
static bool type_is_listed(const struct world *world, const struct expr *answer, const char *type)
{
    char plain[128];

    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(type, "; "), type);
    return part(world->api, part(world->api, answer, "content"), plain);
}

/* ------------------------------------------------------------------------------------------------------------ the table */

/* Are the parameters of one sort exactly those words? */
static bool parameters_are(const struct world *world, const struct route *route, const char *in, const char *words)
{
    const struct expr *list = part(world->api, operation(world, route), "parameters"), *items;
    uint32_t there = 0, wanted = 0;

    if (!list || list->kind != EXPR_LIST)
        return false;
    items = tree_parts(world->api, list);
    for (uint32_t i = 0; i < list->u.run.count; i++)
        there += is_text(world->api, part(world->api, &items[i], "in"), in);
    while (*(words += strspn(words, " "))) {
        char name[64];
        bool found = false;

        snprintf(name, sizeof name, "%.*s", (int)strcspn(words, " "), words);
        for (uint32_t i = 0; i < list->u.run.count; i++)
            found = found || (is_text(world->api, part(world->api, &items[i], "in"), in) &&
                              is_text(world->api, part(world->api, &items[i], "name"), name) &&
                              part(world->api, &items[i], "schema"));
        if (!found)
            return false;
        wanted++;
        words += strcspn(words, " ");
    }
    return wanted == there;
}

static void variables_of(const char *path, char out[128])
{
    size_t at = 0;

    for (path = strchr(path, '{'); path; path = strchr(path + 1, '{'))
        at += (size_t)snprintf(out + at, 128 - at, "%.*s ", (int)strcspn(path + 1, "}"), path + 1);
    out[at] = '\0';
}

static bool scope_is(const struct world *world, const struct route *route)
{
    const struct expr *list = part(world->api, operation(world, route), "security");
    uint32_t count = 0;
    struct buf words;
    bool good = true;

    if (!list || list->kind != EXPR_LIST)
        return false;
    buf_init(&words);
    for (int i = 0; i < SCOPE_COUNT; i++) { /* any of them is enough: one entry each */
        if (!(route->scope >> i & 1))
            continue;
        buf_reset(&words);
        scopes_print(&words, (scopes)1 << i);
        good =
            good && count < list->u.run.count &&
            list_has(world->api, part(world->api, tree_parts(world->api, list) + count, "token"), buf_string(&words));
        count++;
    }
    buf_done(&words);
    return good && list->u.run.count == count;
}

static bool statuses_are(const struct world *world, const struct route *route)
{
    static const unsigned gate[] = {401, 403, 406, 429, 503};

    for (const char *at = route->answers; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (!response(world, route, (unsigned)strtoul(at, NULL, 10)))
            return false;
    for (size_t i = 0; i < COUNT(gate) && route->scope != SCOPE_NONE; i++)
        if (!response(world, route, gate[i]))
            return false;
    return true;
}

static void check_description(struct world *world)
{
    const struct expr *root, *paths, *operations;
    struct err err = {0};
    size_t count = 0;
    char type[128], text[128];

    tap_ok(talk_ask(&world->talk, NULL, "GET", "/openapi.json", NULL, NULL) == 200 &&
               reply_field(&world->talk.reply, "Content-Type", type, sizeof type) && strstr(type, "application/json"),
           "the description is there for everybody, as JSON");
    world->api = form_parse(world->live.symbols, &dialect_condor, FORM_JSON, NULL, buf_string(&world->talk.reply.body),
                            world->talk.reply.body.len, &err);
    if (!tap_ok(world->api, "it is JSON, and nothing is in it twice"))
        live_bail("%u:%u: %s", err.line, err.column, err.text);
    root = tree_root(world->api);
    tap_ok(text_of_ad(world->api, "openapi", text, sizeof text) && !strncmp(text, "3.1.", 4), "it is OpenAPI 3.1");
    tap_ok(part(world->api, part(world->api, root, "info"), "title") &&
               part(world->api, part(world->api, root, "info"), "version"),
           "it has a title and a version");
    tap_ok(part(world->api,
                part(world->api, part(world->api, part(world->api, root, "components"), "securitySchemes"), "token"),
                "scheme"),
           "it says how a token is sent");
    paths = part(world->api, root, "paths");
    operations = paths ? tree_parts(world->api, paths) : NULL;
    for (uint32_t i = 0; paths && i < paths->u.run.count; i++)
        count += operations[i].u.run.count;
    tap_ok(count == matchmakerd_routes.count, "it has as many operations as there are routes: %zu",
           matchmakerd_routes.count);
    for (size_t i = 0; i < matchmakerd_routes.count; i++) {
        const struct route *route = &matchmakerd_routes.routes[i];
        const char *method = method_name(route->method);

        variables_of(route->path, text);
        if (!tap_ok(operation(world, route), "%s %s is described", method, route->path))
            continue;
        tap_ok(is_text(world->api, part(world->api, operation(world, route), "operationId"), route->id),
               "%s %s is called %s", method, route->path, route->id);
        tap_ok(scope_is(world, route), "%s %s has its scope", method, route->path);
        tap_ok(parameters_are(world, route, "path", text) && parameters_are(world, route, "query", route->parameters),
               "%s %s has its parameters and no others", method, route->path);
        tap_ok(statuses_are(world, route), "%s %s has its statuses, and those of the gate", method, route->path);
        tap_ok(!part(world->api, operation(world, route), "requestBody") == (route->body == BODY_NONE),
               "%s %s has a body if it takes one", method, route->path);
    }
    for (const char *at = buf_string(&world->talk.reply.body); (at = strstr(at, "#/components/schemas/")); at++) {
        snprintf(text, sizeof text, "%.*s", (int)strcspn(at + 21, "\""), at + 21);
        if (!part(world->api, part(world->api, part(world->api, root, "components"), "schemas"), text)) {
            tap_ok(false, "what it refers to is there: %s", text);
            break;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------- real answers */

enum who { ALL, READER, OTHER, NOBODY };

#define CLASSAD "Content-Type: application/classad\r\n"
#define JSON "Accept: application/json\r\n"
#define PICTURE "Content-Type: image/png\r\n"
#define AGENT_BAD "Berth-Agent: a b\r\n"
#define AGENT_HERON "Berth-Agent: heron\r\n"
#define HERON "85d2db533499bd17" /* the handle of alice's heron, and of machine/stork's stork */
#define STORK "fbfd3aedfa3288c9"
#define KEY64 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define REPORT \
    "[Message=\"report\";Claim=\"00000000000000c1\";Gang=\"00000000000000a1\";Owner=\"alice\";Used=0;Over=false;Group=\"\";Limits=\"\";Weight=0]"

#define REPLICA(store, size) \
    "[Store = \"" store "\"; Url = \"http://h/a\"; Size = " #size "; Hash = \"sha256:" KEY64 "\"]"

/* One after another, to one pool. */
static const struct situation {
    enum who who;
    const char *method, *path, *fields, *body;
    unsigned status; /* that is to be answered */
} situations[] = {
    {ALL, "PUT", "/v1/ads/heron", NULL, "[Memory = 1]", 201},
    {ALL, "PUT", "/v1/ads/heron", JSON, "[Memory = 2]", 200},
    {ALL, "PUT", "/v1/ads/heron", "If-Match: *\r\n", NULL, 200},
    {ALL, "PUT", "/v1/ads/heron", NULL, "[Memory = ", 400},
    {ALL, "PUT", "/v1/ads/heron", NULL, "", 400},
    {ALL, "PUT", "/v1/ads/heron?kind=frob", NULL, "[Memory = 1]", 400},
    {ALL, "PUT", "/v1/ads/heron", AGENT_BAD, "[Memory = 1]", 400},
    {ALL, "PUT", "/v1/ads/heron", "Berth-Version: 1\r\n", "[Memory = 3]", 409},
    {ALL, "PUT", "/v1/ads/heron", "If-Match: \"77\"\r\n", "[Memory = 3]", 412},
    {ALL, "PUT", "/v1/ads/heron", PICTURE, "[Memory = 3]", 415},
    {ALL, "PUT", "/v1/ads/heron", "Content-Length: 99999999\r\n", NULL, 413},
    {READER, "PUT", "/v1/ads/heron", NULL, NULL, 403},
    {NOBODY, "PUT", "/v1/ads/heron", NULL, NULL, 401},
    {ALL, "PUT", "/v1/ads/heron", "Accept: image/png\r\n", NULL, 406},
    {ALL, "GET", "/v1/ads/heron", NULL, NULL, 200},
    {ALL, "GET", "/v1/ads/heron", JSON, NULL, 200},
    {ALL, "HEAD", "/v1/ads/heron", NULL, NULL, 200},
    {ALL, "GET", "/v1/ads/heron", "If-None-Match: *\r\n", NULL, 304},
    {ALL, "GET", "/v1/ads/nobody", NULL, NULL, 404},
    {ALL, "GET", "/v1/ads", NULL, NULL, 200},
    {ALL, "GET", "/v1/ads", JSON, NULL, 200},
    {ALL, "GET", "/v1/ads?constraint=(((", NULL, NULL, 400},
    {ALL, "GET", "/v1/ads?limit=0", NULL, NULL, 400},
    {ALL, "GET", "/v1/ads?kind=frob", NULL, NULL, 400},
    {ALL, "GET", "/v1/ads?outcome=nobody", NULL, NULL, 200},
    {ALL, "GET", "/v1/ads?outcome=frob", NULL, NULL, 400},
    {ALL, "POST", "/v1/ads", NULL, "[Message=\"advertise\";Id=\"a\";Ad=[Memory=1]][Message=\"frob\";Id=\"b\"]", 200},
    {ALL, "POST", "/v1/ads", JSON, "[Message=\"withdraw\";Id=\"a\"]", 200},
    {ALL, "POST", "/v1/ads", NULL, "[[[", 400},
    {ALL, "POST", "/v1/ads", PICTURE, "[]", 415},
    {ALL, "POST", "/v1/ads", "Content-Length: 99999999\r\n", NULL, 413},
    {ALL, "GET", "/v1/ads/heron/matches", NULL, NULL, 200},
    {ALL, "GET", "/v1/ads/heron/matches", JSON, NULL, 200},
    {OTHER, "GET", "/v1/ads/heron/matches", NULL, NULL, 403},
    {ALL, "GET", "/v1/ads/nobody/matches", NULL, NULL, 404},
    {ALL, "GET", "/v1/ads/heron/why", NULL, NULL, 200},
    {ALL, "GET", "/v1/ads/heron/why", JSON, NULL, 200},
    {ALL, "GET", "/v1/ads/nobody/why", NULL, NULL, 404},
    {ALL, "POST", "/v1/match", NULL, "[Constraint = other.Memory > 0]", 200},
    {ALL, "POST", "/v1/match?why", NULL, "[Constraint = other.Memory > 9]", 200},
    {ALL, "POST", "/v1/match?why", JSON, "[Constraint = other.Memory > 9]", 200},
    {ALL, "POST", "/v1/match", NULL, "[Constraint = ", 400},
    {ALL, "POST", "/v1/match", PICTURE, "[]", 415},
    {ALL, "POST", "/v1/match", "Content-Length: 99999999\r\n", NULL, 413},
    {ALL, "POST", "/v1/eval", NULL, "[Expression = \"1 + 1\"]", 200},
    {ALL, "POST", "/v1/eval", JSON, "[Expression = \"1 +\"]", 200},
    {ALL, "POST", "/v1/eval", NULL, "[Expression = 1]", 400},
    {ALL, "POST", "/v1/eval", PICTURE, "[]", 415},
    {ALL, "POST", "/v1/eval", "Content-Length: 99999999\r\n", NULL, 413},
    {ALL, "POST", "/v1/lint", NULL, "[Text = \"[ Cmd = 1; Constraint = self.x ]\"]", 200},
    {ALL, "POST", "/v1/lint", JSON, "[Text = \"executable = /bin/true\nfrob = 1\nqueue 3\"]", 200},
    {ALL, "POST", "/v1/lint", NULL, "[Text = 1]", 400},
    {ALL, "POST", "/v1/lint", PICTURE, "[]", 415},
    {ALL, "POST", "/v1/lint", "Content-Length: 99999999\r\n", NULL, 413},
    {ALL, "GET", "/v1/names", NULL, NULL, 200},
    {ALL, "GET", "/v1/names?prefix=me&kind=offers", JSON, NULL, 200},
    {ALL, "GET", "/v1/names?kind=frob", NULL, NULL, 400},
    {ALL, "GET", "/v1/overview", NULL, NULL, 200},
    {ALL, "GET", "/v1/overview", JSON, NULL, 200},
    {ALL, "GET", "/v1/watch", NULL, NULL, 200},
    {ALL, "GET", "/v1/watch", JSON, NULL, 200},
    {ALL, "GET", "/v1/reasons", NULL, NULL, 200},
    {ALL, "GET", "/v1/reasons", JSON, NULL, 200},
    {ALL, "GET", "/v1/functions", JSON, NULL, 200},
    {ALL, "GET", "/v1/series", NULL, NULL, 200},
    {ALL, "GET", "/v1/series?span=month", JSON, NULL, 200},
    {ALL, "GET", "/v1/series?span=hour&by=user", JSON, NULL, 200},
    {ALL, "GET", "/v1/series?span=frob", NULL, NULL, 400},
    {ALL, "GET", "/v1/whoami", NULL, NULL, 200},
    {ALL, "GET", "/v1/whoami", JSON, NULL, 200},
    {NOBODY, "GET", "/v1/whoami", NULL, NULL, 401},
    {ALL, "POST", "/v1/links", NULL, NULL, 201},
    {ALL, "POST", "/v1/links", JSON, NULL, 201},
    {NOBODY, "POST", "/v1/session", NULL, "[Code = 1]", 400},
    {NOBODY, "POST", "/v1/session", NULL, "[Code = \"00112233445566778899aabbccddeeff\"]", 403},
    {NOBODY, "POST", "/v1/session", PICTURE, "[]", 415},
    {NOBODY, "POST", "/v1/session", "Content-Length: 99999999\r\n", NULL, 413},
    {ALL, "GET", "/v1/desks", NULL, NULL, 200},
    {ALL, "GET", "/v1/desks", JSON, NULL, 200},
    {ALL, "GET", "/v1/desks?limit=0", NULL, NULL, 400},
    {ALL, "GET", "/v1/desk/0123456789abcdef/jobs", NULL, NULL, 404},
    {READER, "GET", "/v1/desk/0123456789abcdef/jobs", NULL, NULL, 403},
    {ALL, "POST", "/v1/desk/0123456789abcdef/jobs", NULL, "x", 404},
    {ALL, "POST", "/v1/files/run7%2Fa/replicas", NULL, REPLICA("se1", 4), 201},
    {OTHER, "POST", "/v1/files/run7%2Fa/replicas", JSON, REPLICA("se2", 4), 403},
    {ALL, "POST", "/v1/files/run7%2Fa/replicas", JSON, REPLICA("se2", 4), 200},
    {OTHER, "POST", "/v1/files/run7%2Fa/replicas", NULL, REPLICA("se2", 4), 200}, /* it is there: nothing changes */
    {OTHER, "POST", "/v1/files/run7%2Fa/replicas", NULL, REPLICA("se1", 5), 409},
    {OTHER, "POST", "/v1/files/run7%2Fa/replicas", NULL,
     "[Store = \"se1\"; Url = \"http://elsewhere/a\"; Size = 4; Hash = \"sha256:" KEY64 "\"]", 403},
    {ALL, "POST", "/v1/files/run7%2Fa/replicas", NULL, "[Store = \"se3\"]", 400},
    {ALL, "POST", "/v1/files/run7%2Fa/replicas", PICTURE, REPLICA("se3", 4), 415},
    {ALL, "POST", "/v1/files/run7%2Fa/replicas", "Content-Length: 99999999\r\n", NULL, 413},
    {READER, "POST", "/v1/files/run7%2Fa/replicas", NULL, NULL, 403},
    {ALL, "GET", "/v1/files", NULL, NULL, 200},
    {ALL, "GET", "/v1/files?prefix=run7/&limit=1", JSON, NULL, 200},
    {ALL, "GET", "/v1/files?limit=0", NULL, NULL, 400},
    {ALL, "GET", "/v1/files/run7%2Fa", NULL, NULL, 200},
    {ALL, "GET", "/v1/files/run7%2Fa", JSON, NULL, 200},
    {ALL, "GET", "/v1/files/run7%2Fa", "If-None-Match: *\r\n", NULL, 304},
    {ALL, "GET", "/v1/files/run7", NULL, NULL, 404},
    {ALL, "PUT", "/v1/files/b", NULL, "[Size = 4; Hash = \"sha256:" KEY64 "\"]", 201},
    {ALL, "PUT", "/v1/files/b", JSON, "[Name = \"b\"; Size = 5; Hash = \"sha256:" KEY64 "\"; Replicas = {}]", 200},
    {ALL, "PUT", "/v1/files/b", NULL, "[Name = \"c\"; Size = 5; Hash = \"sha256:" KEY64 "\"]", 400},
    {OTHER, "PUT", "/v1/files/b", NULL, "[Size = 4; Hash = \"sha256:" KEY64 "\"]", 403},
    {ALL, "PUT", "/v1/files/b", "If-Match: \"77\"\r\n", "[Size = 4; Hash = \"sha256:" KEY64 "\"]", 412},
    {ALL, "PUT", "/v1/files/b", PICTURE, "[]", 415},
    {ALL, "PATCH", "/v1/files/b", NULL, "[Copies = 2; CopiesAt = {\"se1\", \"se2\"}]", 200},
    {ALL, "PATCH", "/v1/files/b", JSON, "[Copies = 1]", 200},
    {ALL, "GET", "/v1/files?kept=alice", NULL, NULL, 200},
    {ALL, "PATCH", "/v1/files/b", NULL, "[Copies = 3; CopiesAt = {\"se1\", \"se2\"}]", 400},
    {ALL, "PATCH", "/v1/files/b", NULL, "[CopiesAt = {\"se1\"}]", 400},
    {ALL, "PATCH", "/v1/files/none", NULL, "[Copies = 1]", 404},
    {ALL, "PATCH", "/v1/files/b", "If-Match: \"77\"\r\n", "[Copies = 1]", 412},
    {ALL, "PATCH", "/v1/files/b", PICTURE, "[]", 415},
    {ALL, "PATCH", "/v1/files/b", "Content-Length: 99999999\r\n", NULL, 413},
    {OTHER, "PATCH", "/v1/files/b", NULL, "[Copies = 1]", 403},
    {ALL, "PATCH", "/v1/files/b", NULL, "[Copies = 0]", 200},
    {ALL, "PUT", "/v1/files/set", NULL, "[Files = {\"b\", \"run7/a\"}]", 201},
    {ALL, "PATCH", "/v1/files/set", NULL, "[Copies = 1]", 409},
    {ALL, "GET", "/v1/files/set", JSON, NULL, 200},
    {ALL, "PUT", "/v1/files/set", JSON, "[Files = {\"b\"}]", 200},
    {ALL, "PUT", "/v1/files/set", NULL, "[Files = {\"b\"}; Size = 1]", 400},
    {OTHER, "PUT", "/v1/files/set", NULL, "[Files = {\"b\"}]", 403},
    {ALL, "POST", "/v1/files/set/replicas", NULL, REPLICA("se1", 4), 409},
    {ALL, "PUT", "/v1/files/b", "Content-Length: 99999999\r\n", NULL, 413},
    {ALL, "PUT", "/v1/files/b%2F", NULL, "[Size = 4; Hash = \"sha256:" KEY64 "\"]", 400},
    {OTHER, "DELETE", "/v1/files/run7%2Fa/replicas?store=se1", NULL, NULL, 403},
    {ALL, "DELETE", "/v1/files/run7%2Fa/replicas", NULL, NULL, 400},
    {ALL, "DELETE", "/v1/files/run7%2Fa/replicas?store=se1", NULL, NULL, 204},
    {ALL, "DELETE", "/v1/files/run7%2Fa/replicas?store=se1", NULL, NULL, 404},
    {OTHER, "DELETE", "/v1/files/run7%2Fa", NULL, NULL, 403},
    {ALL, "DELETE", "/v1/files/run7%2Fa", "If-Match: \"77\"\r\n", NULL, 412},
    {ALL, "DELETE", "/v1/files/run7%2Fa", NULL, NULL, 204},
    {ALL, "DELETE", "/v1/files/run7%2Fa", NULL, NULL, 404},
    {NOBODY, "GET", "/", NULL, NULL, 200},
    {NOBODY, "GET", "/assets/nothing.js", NULL, NULL, 404},
    {ALL, "GET", "/v1/whoami", "Origin: http://evil.example\r\n", NULL, 403},
    {ALL, "DELETE", "/v1/ads/heron", "Berth-Version: 1\r\n", NULL, 409},
    {ALL, "DELETE", "/v1/ads/heron", "If-Match: \"77\"\r\n", NULL, 412},
    {OTHER, "DELETE", "/v1/ads/heron", NULL, NULL, 403},
    {ALL, "DELETE", "/v1/ads/heron", AGENT_BAD, NULL, 400},
    {ALL, "DELETE", "/v1/ads/a%20b", NULL, NULL, 400},
    {ALL, "DELETE", "/v1/ads/heron", NULL, NULL, 204},
    {ALL, "DELETE", "/v1/ads/heron", NULL, NULL, 404},
    {ALL, "GET", "/v1/policy", NULL, NULL, 200},
    {ALL, "GET", "/v1/policy", JSON, NULL, 200},
    {ALL, "PUT", "/v1/policy", NULL, "[]", 200},
    {ALL, "PUT", "/v1/policy", NULL, "[", 400},
    {ALL, "PUT", "/v1/policy", "If-Match: \"77\"\r\n", "[]", 412},
    {ALL, "PUT", "/v1/policy", PICTURE, "[]", 415},
    {ALL, "PUT", "/v1/policy", "Content-Length: 99999999\r\n", NULL, 413},
    {ALL, "POST", "/v1/policy/try", NULL, "[]", 200},
    {ALL, "POST", "/v1/policy/try", JSON, "[]", 200},
    {ALL, "POST", "/v1/policy/try?compare&idle", NULL, "[]", 200},
    {ALL, "POST", "/v1/policy/try", NULL, "[", 400},
    {ALL, "POST", "/v1/policy/try", PICTURE, "[]", 415},
    {ALL, "GET", "/v1/matches", NULL, NULL, 200},
    {ALL, "GET", "/v1/matches", JSON, NULL, 200},
    {ALL, "GET", "/v1/matches?limit=x", NULL, NULL, 400},
    {ALL, "GET", "/v1/claims", NULL, NULL, 200},
    {ALL, "GET", "/v1/claims", JSON, NULL, 200},
    {ALL, "GET", "/v1/claims?cursor=x", NULL, NULL, 400},
    {ALL, "POST", "/v1/claims", NULL, REPORT, 200},
    {ALL, "POST", "/v1/claims", JSON, REPORT, 200},
    {ALL, "POST", "/v1/claims", NULL, REPORT "\n" REPORT, 200},
    {ALL, "POST", "/v1/claims", NULL, "[Message = ", 400},
    {ALL, "POST", "/v1/claims", PICTURE, REPORT, 415},
    {ALL, "POST", "/v1/claims", "Content-Length: 99999999\r\n", NULL, 413},
    {ALL, "GET", "/v1/users", NULL, NULL, 200},
    {ALL, "GET", "/v1/users", JSON, NULL, 200},
    {ALL, "GET", "/v1/users?constraint=)", NULL, NULL, 400},
    {ALL, "GET", "/v1/users/zoe", NULL, NULL, 404},
    {ALL, "PUT", "/v1/users/zoe", NULL, "[Factor = 2]", 200},
    {ALL, "PUT", "/v1/users/zoe", NULL, "[Factor = -1]", 400},
    {ALL, "PUT", "/v1/users/z%20e", NULL, "[Factor = 1]", 400},
    {ALL, "PUT", "/v1/users/zoe", PICTURE, "[Factor = 1]", 415},
    {ALL, "GET", "/v1/users/zoe", NULL, NULL, 200},
    {ALL, "GET", "/v1/users/zoe", JSON, NULL, 200},
    {ALL, "PUT", "/v1/agents/ada", NULL, "[Host = \"h\"]", 200},
    {ALL, "PUT", "/v1/agents/ada", JSON, "[Contact = \"https://192.0.2.1:1\"; Challenge = \"" KEY64 "\"]", 202},
    {ALL, "PUT", "/v1/agents/ada", NULL, "[Contact = \"https://192.0.2.1:1\"]", 400},
    {ALL, "PUT", "/v1/agents/a%20b", NULL, "[]", 400},
    {ALL, "PUT", "/v1/agents/ada", PICTURE, "[]", 415},
    {ALL, "GET", "/v1/agents", NULL, NULL, 200},
    {ALL, "GET", "/v1/agents", JSON, NULL, 200},
    {ALL, "GET", "/v1/agents?limit=0", NULL, NULL, 400},
    {ALL, "GET", "/v1/agents/0123456789abcdef", NULL, NULL, 404},
    {ALL, "PUT", "/v1/agents/heron", NULL, "[Role = \"provider\"; Draining = true]", 200},
    {ALL, "PUT", "/v1/agents/heron", NULL, "[Role = \"provider\"; Draining = 3]", 400},
    {ALL, "POST", "/v1/agents/heron/commands", NULL, "[Command = \"drain\"; Now = true; Lifetime = 60]", 201},
    {ALL, "POST", "/v1/agents/" HERON "/commands", JSON, "[Command = \"resume\"]", 201},
    {ALL, "POST", "/v1/agents/" STORK "/commands", NULL,
     "[Command = \"drain\"; Identity = \"machine/stork\"; Name = \"stork\"]", 201},
    {ALL, "POST", "/v1/agents/" STORK "/commands", NULL,
     "[Command = \"drain\"; Identity = \"machine/crane\"; Name = \"stork\"]", 404},
    {ALL, "POST", "/v1/agents/heron/commands", NULL, "[Command = \"frob\"]", 400},
    {ALL, "POST", "/v1/agents/heron/commands", NULL, "[]", 400},
    {ALL, "POST", "/v1/agents/heron/commands", NULL, "[Command = \"resume\"; Now = true]", 400},
    {ALL, "POST", "/v1/agents/heron/commands", NULL, "[Command = \"drain\"; Lifetime = 0]", 400},
    {ALL, "POST", "/v1/agents/heron/commands", NULL, "[Command = \"drain\"; Frob = 1]", 400},
    {ALL, "POST", "/v1/agents/nobody/commands", NULL, "[Command = \"drain\"]", 404},
    {ALL, "POST", "/v1/agents/ada/commands", NULL, "[Command = \"drain\"]", 409},
    {OTHER, "POST", "/v1/agents/" HERON "/commands", NULL, "[Command = \"drain\"]", 403},
    {READER, "POST", "/v1/agents/heron/commands", NULL, "[Command = \"drain\"]", 403},
    {ALL, "POST", "/v1/agents/heron/commands", PICTURE, "[]", 415},
    {ALL, "POST", "/v1/agents/heron/commands", "Content-Length: 99999999\r\n", NULL, 413},
    {ALL, "GET", "/v1/commands", NULL, NULL, 200},
    {ALL, "GET", "/v1/commands", JSON, NULL, 200},
    {ALL, "GET", "/v1/commands?limit=x", NULL, NULL, 400},
    {ALL, "GET", "/v1/commands/1", NULL, NULL, 200},
    {ALL, "GET", "/v1/commands/1?wait=1", JSON, NULL, 200},
    {ALL, "GET", "/v1/commands/1?wait=99", NULL, NULL, 400},
    {ALL, "GET", "/v1/commands/99", NULL, NULL, 404},
    {OTHER, "GET", "/v1/commands/1", NULL, NULL, 404},
    {ALL, "POST", "/v1/commands/1", NULL, "[Key = \"0123456789abcdef\"; Reason = \"ok\"]", 404},
    {ALL, "POST", "/v1/commands/1", NULL, "(", 400},
    {ALL, "POST", "/v1/commands/1", PICTURE, "[]", 415},
    {ALL, "POST", "/v1/commands/1", "Content-Length: 99999999\r\n", NULL, 413},
    {ALL, "GET", "/v1/events", NULL, NULL, 200},
    {ALL, "GET", "/v1/events", JSON, NULL, 200},
    {ALL, "GET", "/v1/events?after=frob", NULL, NULL, 400},
    {ALL, "GET", "/v1/events?wait=9999", NULL, NULL, 400},
    {ALL, "GET", "/v1/events", AGENT_BAD, NULL, 400},
    {ALL, "POST", "/v1/relay/0123456789abcdef", NULL, "x", 404},
    {ALL, "POST", "/v1/relay/0123456789abcdef", AGENT_BAD, "x", 400},
    {ALL, "POST", "/v1/relay/0123456789abcdef", "Content-Length: 99999999\r\n", NULL, 413},
    {ALL, "POST", "/v1/answers/0123456789abcdef", NULL, "x", 404},
    {ALL, "POST", "/v1/answers/0123456789abcdef", AGENT_BAD, "x", 400},
    {ALL, "GET", "/v1/status", NULL, NULL, 200},
    {ALL, "GET", "/v1/status", JSON, NULL, 200},
    {ALL, "GET", "/v1/config/provider", NULL, NULL, 404},
    {ALL, "PUT", "/v1/config/provider", NULL, "[Start = true]", 201},
    {ALL, "PUT", "/v1/config/provider", NULL, "[Start = false]", 200},
    {ALL, "PUT", "/v1/config/provider", NULL, "[", 400},
    {ALL, "PUT", "/v1/config/pro-vider", NULL, "[]", 400},
    {ALL, "PUT", "/v1/config/provider", "If-Match: \"77\"\r\n", "[]", 412},
    {ALL, "PUT", "/v1/config/provider", PICTURE, "[]", 415},
    {ALL, "PUT", "/v1/config/provider", "Content-Length: 99999999\r\n", NULL, 413},
    {ALL, "GET", "/v1/config/provider", NULL, NULL, 200},
    {ALL, "GET", "/v1/config/provider", JSON, NULL, 200},
    {ALL, "GET", "/v1/config/provider/Start", NULL, NULL, 200},
    {ALL, "GET", "/v1/config/provider/Start", JSON, NULL, 200},
    {ALL, "GET", "/v1/config/provider/None", NULL, NULL, 404},
    {ALL, "PUT", "/v1/config/provider/Start", NULL, "1 + 1", 200},
    {ALL, "PUT", "/v1/config/other/Start", NULL, "1 + 1", 201},
    {ALL, "PUT", "/v1/config/provider/Start", NULL, "1 +", 400},
    {ALL, "PUT", "/v1/config/provider/Start", "If-Match: \"77\"\r\n", "1", 412},
    {ALL, "PUT", "/v1/config/spare", NULL, "[]", 201},
    {ALL, "DELETE", "/v1/config/spare", "If-Match: \"77\"\r\n", NULL, 412},
    {ALL, "DELETE", "/v1/config/provider", NULL, NULL, 204},
    {ALL, "DELETE", "/v1/config/provider", NULL, NULL, 404},
    {ALL, "POST", "/v1/tokens", NULL, "[Subject = \"zoe\"]", 201},
    {ALL, "POST", "/v1/tokens", JSON, "[Subject = \"zoe\"]", 201},
    {ALL, "POST", "/v1/tokens", NULL, "[Subject = \"matchmaker\"]", 403},
    {ALL, "POST", "/v1/tokens", NULL, "[Subject = \"z e\"]", 400},
    {ALL, "POST", "/v1/tokens", NULL, "[Scope = \"frob\"]", 400},
    {ALL, "POST", "/v1/tokens", NULL, "[Lifetime = -1]", 400},
    {ALL, "POST", "/v1/tokens", PICTURE, "[]", 415},
    {ALL, "GET", "/v1/tokens", NULL, NULL, 200},
    {ALL, "GET", "/v1/tokens", JSON, NULL, 200},
    {ALL, "GET", "/v1/tokens?limit=x", NULL, NULL, 400},
    {ALL, "DELETE", "/v1/tokens/00112233445566778899aabbccddeeff", NULL, NULL, 204},
    {ALL, "DELETE", "/v1/tokens/frob", NULL, NULL, 400},
    {ALL, "POST", "/v1/codes", NULL, NULL, 201},
    {ALL, "POST", "/v1/codes", JSON, NULL, 201},
    {NOBODY, "GET", "/v1/keys", NULL, NULL, 200},
    {NOBODY, "GET", "/v1/keys", JSON, NULL, 200},
    {NOBODY, "POST", "/v1/join", NULL, "[]", 400},
    {NOBODY, "POST", "/v1/join", NULL,
     "[Secret = \"00112233445566778899aabbccddeeff\"; Key = \"" KEY64 "\"; Name = \"m\"]", 403},
    {NOBODY, "POST", "/v1/join", PICTURE, "[]", 415},
    {NOBODY, "POST", "/v1/join", "Content-Length: 99999999\r\n", NULL, 413},
    {NOBODY, "GET", "/v1", NULL, NULL, 200},
    {NOBODY, "GET", "/v1", JSON, NULL, 200},
    {NOBODY, "GET", "/openapi.json", NULL, NULL, 200},
    {NOBODY, "GET", "/healthz", NULL, NULL, 200},
    {NOBODY, "GET", "/readyz", NULL, NULL, 200},
    {ALL, "GET", "/metrics", NULL, NULL, 200},
    {ALL, "POST", "/v1/keys", NULL, NULL, 200},
};

static enum http_method method_read(const char *name)
{
    int method = 0;

    while (method < HTTP_OTHER && strcmp(method_name((enum http_method)method), name) != 0)
        method++;
    return (enum http_method)method;
}

/* The answer that is at hand against what is listed. */
static void check_answer(struct world *world, const struct situation *situation, unsigned status)
{
    struct route_match match;
    const struct expr *answer;
    char path[256], type[128] = "";
    size_t route;

    snprintf(path, sizeof path, "%.*s", (int)strcspn(situation->path, "?"), situation->path);
    if (route_find(&(const struct route_table *){&matchmakerd_routes}, 1, method_read(situation->method), path,
                   &match) != ROUTE_FOUND)
        live_bail("%s %s is no route", situation->method, path);
    route = (size_t)(match.route - matchmakerd_routes.routes);
    answer = response(world, match.route, status);
    if (!tap_ok(status == situation->status && answer, "%s %s%s%.30s: %u, which is listed", situation->method,
                situation->path, situation->fields ? " with " : "", situation->fields ? situation->fields : "",
                situation->status))
        tap_diag("%u, %s: %s", status, answer ? "listed" : "not listed", reply_show(&world->talk.reply));
    reply_field(&world->talk.reply, "Content-Type", type, sizeof type);
    if (*type && !type_is_listed(world, answer, type)) {
        world->untyped[route]++;
        snprintf(world->example[route], sizeof world->example[route], "%u %s", status, type);
    }
}

static void check_situations(struct world *world)
{
    const char *tokens[] = {[ALL] = world->all, [READER] = world->reader, [OTHER] = world->other, [NOBODY] = NULL};

    for (size_t i = 0; i < COUNT(situations); i++) {
        const struct situation *s = &situations[i];

        check_answer(world, s, talk_ask(&world->talk, tokens[s->who], s->method, s->path, s->fields, s->body));
    }
}

/* Those that need more than one request. */
static void check_dialogues(struct world *world)
{
    static const struct situation again = {ALL, "GET", "/v1/policy", "If-None-Match: (that)\r\n", NULL, 304};
    static const struct situation section = {ALL, "GET", "/v1/config/other", "If-None-Match: (that)\r\n", NULL, 304};
    static const struct situation option = {ALL,  "GET", "/v1/config/other/Start", "If-None-Match: (that)\r\n",
                                            NULL, 304};
    static const struct situation stream = {ALL, "GET", "/v1/events", "Accept: text/event-stream\r\n", NULL, 200};
    const struct situation *const repeated[] = {&again, &section, &option};
    struct situation relay = {ALL, "POST", "", "(nobody answers)", NULL, 504},
                     agent = {ALL, "GET", "", NULL, NULL, 200};
    char etag[64], fields[128], handle[32], path[64];
    struct buf text;

    for (size_t i = 0; i < COUNT(repeated); i++) {
        talk_ask(&world->talk, world->all, "GET", repeated[i]->path, NULL, NULL);
        reply_field(&world->talk.reply, "ETag", etag, sizeof etag);
        snprintf(fields, sizeof fields, "If-None-Match: %s\r\n", etag);
        check_answer(world, repeated[i], talk_ask(&world->talk, world->all, "GET", repeated[i]->path, fields, NULL));
    }
    talk_ask(&world->talk, world->all, "PUT", "/v1/agents/ada", NULL, "[]");
    talk_text(&world->talk, "Agent", handle, sizeof handle);
    snprintf(path, sizeof path, "/v1/agents/%s", handle);
    agent.path = path;
    check_answer(world, &agent, talk_ask(&world->talk, world->all, "GET", path, NULL, NULL));
    check_answer(world, &agent, talk_ask(&world->talk, world->all, "GET", path, JSON, NULL));
    snprintf(path, sizeof path, "/v1/relay/%s", handle);
    relay.path = path;
    check_answer(world, &relay, talk_ask(&world->talk, world->all, "POST", path, NULL, "hello"));
    buf_init(&text);
    request_text(&text, &world->talk, world->all, "GET", "/v1/events", stream.fields, NULL, 0);
    talk_close(&world->talk);
    check_answer(world, &stream, talk_raw(&world->talk, text.text, text.len, true, LIVE_PATIENCE));
    talk_close(&world->talk);
    buf_done(&text);
}

/* An agent reads what it is commanded, and answers. */
static void check_commands(struct world *world)
{
    struct situation answer = {ALL, "POST", "/v1/commands/1", AGENT_HERON, NULL, 204};
    char body[256], key[17] = "";
    const char *at;

    talk_ask(&world->talk, world->all, "GET", "/v1/events", AGENT_HERON, NULL);
    at = strstr(reply_show(&world->talk.reply), "Number=1;Key=\"");
    tap_ok(at, "an agent finds a command among its letters");
    if (at)
        snprintf(key, sizeof key, "%.16s", at + strlen("Number=1;Key=\""));
    snprintf(body, sizeof body, "[Key = \"%s\"]", key);
    answer.status = 400;
    check_answer(world, &answer, talk_ask(&world->talk, world->all, "POST", answer.path, AGENT_HERON, body));
    snprintf(body, sizeof body, "[Key = \"%s\"; Reason = \"ok\"]", key);
    answer.status = 404;
    check_answer(world, &answer, talk_ask(&world->talk, world->other, "POST", answer.path, AGENT_HERON, body));
    answer.status = 204;
    for (int i = 0; i < 2; i++) /* the second time because our answer might have been lost */
        check_answer(world, &answer, talk_ask(&world->talk, world->all, "POST", answer.path, AGENT_HERON, body));
    talk_ask(&world->talk, world->all, "GET", answer.path, NULL, NULL);
    tap_ok(reply_has(&world->talk.reply, "State = \"done\""), "and what it says is told to whoever asks");
    talk_ask(&world->talk, world->all, "GET", "/v1/events", AGENT_HERON, NULL);
    tap_ok(!reply_has(&world->talk.reply, "Number=1;") && reply_has(&world->talk.reply, "Number=2;"),
           "it is not told again of what it has answered, but of the next");
}

/* The guard stands before every route, so every route may answer 400. */
static void check_guard(struct world *world)
{
    size_t missing = 0;

    for (size_t i = 0; i < matchmakerd_routes.count; i++)
        if (!response(world, &matchmakerd_routes.routes[i], 400) && missing++ < 5)
            tap_diag("%s %s does not list 400", method_name(matchmakerd_routes.routes[i].method),
                     matchmakerd_routes.routes[i].path);
    if (!tap_ok(!missing, "every route lists the 400 that a head which is refused gets"))
        tap_diag("%zu routes do not", missing);
}

int main(void)
{
    static const char *const settings[] = {"RequestsPerSecond=10000000", "AgentRequestsPerSecond=10000000",
                                           "Deadline=0.3"};
    struct world world = {.api = NULL};

    live_start(&world.live, settings, COUNT(settings));
    talk_init(&world.talk, &world.live);
    world.all = live_token(&world.live, "alice", SCOPE_ALL);
    world.reader = live_token(&world.live, "alice", SCOPE_AD_READ);
    world.other = live_token(&world.live, "bob", SCOPE_ALL & ~(SCOPE_ADMIN | SCOPE_OPERATE | SCOPE_AUDIT));
    check_description(&world);
    check_situations(&world);
    check_dialogues(&world);
    check_commands(&world);
    for (size_t i = 0; i < matchmakerd_routes.count; i++)
        if (!tap_ok(!world.untyped[i], "%s %s: the forms of its answers are listed",
                    method_name(matchmakerd_routes.routes[i].method), matchmakerd_routes.routes[i].path))
            tap_diag("%zu are not; one is %s", world.untyped[i], world.example[i]);
    check_guard(&world);
    tree_unref(world.api);
    free(world.all);
    free(world.reader);
    free(world.other);
    talk_done(&world.talk);
    tap_ok(live_stop(&world.live) == 0, "told to end, it ends well");
    live_done(&world.live);
    return tap_done();
}
