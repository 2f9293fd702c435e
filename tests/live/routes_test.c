/* routes_test.c: every route against every scope and every kind of token: who has no right to it does not get past the gate, and is not
 * told why. Also what is answered to other methods, other paths and other forms. */
#include "common/tap.h"
#include "live.h"

#include "live/auth/certs.h"
#include "live/auth/join.h"
#include "live/auth/paseto.h"
#include "live/matchmakerd/routes.h"
#include "sys/encoding.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SPAN 3600

struct world {
    struct live live;
    struct talk talk, owner; /* `owner`: by the Unix socket, may do everything */
    struct signing_key other, child, stranger;
    struct buf refusal; /* what the first 401 said, without its number */
    size_t log_at;
};

/* ------------------------------------------------------------------------------------------------------- kinds of token */

static struct token_terms terms_of(const struct world *world, scopes scope)
{
    int64_t now = time(NULL);

    return (struct token_terms){.issuer = world->live.pool,
                                .subject = "alice",
                                .audience = world->live.pool,
                                .scope = scope,
                                .issued = now,
                                .expires = now + SPAN};
}

static void sign(struct buf *out, const struct signing_key *key, const struct token_terms *terms, char *ret_id)
{
    struct err err = {0};

    if (token_sign(out, key, terms, ret_id, &err) < 0)
        live_bail("a token cannot be made: %s", err.text);
}

static void make_good(struct world *world, scopes scope, struct buf *out)
{
    struct token_terms terms = terms_of(world, scope);

    sign(out, &world->live.key, &terms, NULL);
}

static void make_skewed(struct world *world, scopes scope, struct buf *out)
{
    struct token_terms terms = terms_of(world, scope);

    terms.issued += 20; /* another's clock may be somewhat ahead */
    sign(out, &world->live.key, &terms, NULL);
}

static void make_expired(struct world *world, scopes scope, struct buf *out)
{
    struct token_terms terms = terms_of(world, scope);

    terms.issued -= SPAN;
    terms.expires = time(NULL);
    sign(out, &world->live.key, &terms, NULL);
}

static void make_future(struct world *world, scopes scope, struct buf *out)
{
    struct token_terms terms = terms_of(world, scope);

    terms.issued += 1000;
    sign(out, &world->live.key, &terms, NULL);
}

static void make_other_key(struct world *world, scopes scope, struct buf *out)
{
    struct token_terms terms = terms_of(world, scope);

    sign(out, &world->other, &terms, NULL);
}

/* It names the pool's key as the one that signed, and is signed by another. */
static void make_false_name(struct world *world, scopes scope, struct buf *out)
{
    struct token_terms terms = terms_of(world, scope);
    struct signing_key liar = world->other;

    memcpy(liar.id, world->live.key.id, sizeof liar.id);
    sign(out, &liar, &terms, NULL);
}

static void make_other_issuer(struct world *world, scopes scope, struct buf *out)
{
    struct token_terms terms = terms_of(world, scope);
    char pool[TOKEN_ID_DIGITS + 1];

    pool_id_of(&world->other.open, pool);
    terms.issuer = pool;
    sign(out, &world->live.key, &terms, NULL);
}

static void make_other_audience(struct world *world, scopes scope, struct buf *out)
{
    struct token_terms terms = terms_of(world, scope);
    char pool[TOKEN_ID_DIGITS + 1];

    pool_id_of(&world->other.open, pool);
    terms.audience = pool;
    sign(out, &world->live.key, &terms, NULL);
}

static void make_agent_audience(struct world *world, scopes scope, struct buf *out)
{
    struct token_terms terms = terms_of(world, scope);
    char audience[TOKEN_NAME_MAX + 1];

    token_agent_audience(world->live.pool, 0xa1, audience);
    terms.audience = audience;
    sign(out, &world->live.key, &terms, NULL);
}

/* Another digit of base64url in that place. */
static void flip(struct buf *out, size_t at)
{
    out->text[at] = out->text[at] == 'A' ? 'B' : out->text[at] == 'B' ? 'C' : 'B';
}

static size_t footer_at(const struct buf *token)
{
    size_t at = token->len;

    while (at && token->text[at - 1] != '.')
        at--;
    return at;
}

static void make_flipped_claims(struct world *world, scopes scope, struct buf *out)
{
    make_good(world, scope, out);
    flip(out, sizeof "v4.public." - 1 + 60);
}

static void make_flipped_signature(struct world *world, scopes scope, struct buf *out)
{
    make_good(world, scope, out);
    flip(out, footer_at(out) - 30);
}

static void make_flipped_footer(struct world *world, scopes scope, struct buf *out)
{
    make_good(world, scope, out);
    flip(out, footer_at(out) + 20);
}

static void make_flipped_version(struct world *world, scopes scope, struct buf *out)
{
    make_good(world, scope, out);
    out->text[1] = '3';
}

static void make_cut(struct world *world, scopes scope, struct buf *out)
{
    make_good(world, scope, out);
    out->len -= 7;
}

static void make_half(struct world *world, scopes scope, struct buf *out)
{
    make_good(world, scope, out);
    out->len /= 2;
}

static void make_longer(struct world *world, scopes scope, struct buf *out)
{
    make_good(world, scope, out);
    buf_adds(out, "AAAA");
}

static void make_endless(struct world *world, scopes scope, struct buf *out)
{
    make_good(world, scope, out);
    while (out->len <= TOKEN_BYTES_MAX)
        buf_addc(out, 'A');
}

static void make_none(struct world *world, scopes scope, struct buf *out)
{
    (void)world;
    (void)scope;
    (void)out;
}

static void make_word(struct world *world, scopes scope, struct buf *out)
{
    (void)world;
    (void)scope;
    buf_adds(out, "open-sesame");
}

static void make_matchmaker(struct world *world, scopes scope, struct buf *out)
{
    struct token_terms terms = terms_of(world, scope);

    terms.subject = "matchmaker";
    sign(out, &world->live.key, &terms, NULL);
}

static void parent(struct world *world, scopes scope, struct buf *out, char *ret_id)
{
    struct token_terms terms = terms_of(world, scope);

    terms.delegate = &world->child.open;
    sign(out, &world->live.key, &terms, ret_id);
}

static void make_bare(struct world *world, scopes scope, struct buf *out)
{
    parent(world, scope, out, NULL);
}

static void delegate(struct world *world, const struct buf *above, struct buf *out, char *ret_id)
{
    struct token_terms terms = {.issued = time(NULL), .expires = time(NULL) + SPAN / 2};
    struct err err = {0};

    if (token_delegate(out, above->text, above->len, &world->child, &terms, ret_id, &err) < 0)
        live_bail("a token cannot be delegated: %s", err.text);
}

static void make_delegated(struct world *world, scopes scope, struct buf *out)
{
    struct buf above;

    buf_init(&above);
    parent(world, scope, &above, NULL);
    delegate(world, &above, out, NULL);
    buf_done(&above);
}

/* A link as a liar would write it: with any claims, behind that token. */
static void append_link(struct buf *out, const struct signing_key *key, const char *claims)
{
    struct buf text, footer, above;

    buf_init(&text);
    buf_init(&footer);
    buf_init(&above);
    buf_add(&above, out->text, out->len);
    buf_adds(&text, claims);
    buf_addf(&footer, "{\"kid\":\"%s\"}", key->id);
    buf_addc(out, '~');
    paseto_sign(out, key, (struct span){text.text, text.len}, (struct span){footer.text, footer.len},
                (struct span){above.text, above.len});
    buf_done(&text);
    buf_done(&footer);
    buf_done(&above);
}

static void append_claims(struct world *world, struct buf *out, const struct signing_key *key, const char *subject,
                          scopes scope, int64_t expires)
{
    struct buf claims;

    buf_init(&claims);
    buf_addf(&claims, "{\"iss\":\"%s\",\"sub\":\"%s\",\"aud\":\"%s\",\"scope\":\"", world->live.pool, subject,
             world->live.pool);
    scopes_print(&claims, scope);
    buf_addf(&claims, "\",\"iat\":%lld,\"exp\":%lld,\"jti\":\"00112233445566778899aabbccddeeff\"}",
             (long long)time(NULL), (long long)expires);
    append_link(out, key, buf_string(&claims));
    buf_done(&claims);
}

static void make_wider_scope(struct world *world, scopes scope, struct buf *out)
{
    parent(world, scope, out, NULL);
    append_claims(world, out, &world->child, "alice", SCOPE_ALL, time(NULL) + SPAN / 2);
}

static void make_wider_span(struct world *world, scopes scope, struct buf *out)
{
    parent(world, scope, out, NULL);
    append_claims(world, out, &world->child, "alice", scope, time(NULL) + 10 * SPAN);
}

static void make_wider_subject(struct world *world, scopes scope, struct buf *out)
{
    parent(world, scope, out, NULL);
    append_claims(world, out, &world->child, "root", scope, time(NULL) + SPAN / 2);
}

static void make_stranger_link(struct world *world, scopes scope, struct buf *out)
{
    parent(world, scope, out, NULL);
    append_claims(world, out, &world->stranger, "alice", scope, time(NULL) + SPAN / 2);
}

/* A link behind a token that names no key. */
static void make_link_too_many(struct world *world, scopes scope, struct buf *out)
{
    make_good(world, scope, out);
    append_claims(world, out, &world->child, "alice", scope, time(NULL) + SPAN / 2);
}

/* The last link of one chain behind the parent of another. */
static void make_moved_link(struct world *world, scopes scope, struct buf *out)
{
    struct buf first, chain;
    const char *joint;

    buf_init(&first);
    buf_init(&chain);
    parent(world, SCOPE_ALL, &first, NULL);
    make_delegated(world, scope, &chain);
    joint = strchr(buf_string(&chain), '~');
    buf_add(out, first.text, first.len);
    buf_adds(out, joint);
    buf_done(&first);
    buf_done(&chain);
}

static void token_revoke(struct world *world, const char *id)
{
    char path[128];

    snprintf(path, sizeof path, "/v1/tokens/%s", id);
    if (talk_ask(&world->owner, NULL, "DELETE", path, NULL, NULL) != 204)
        live_bail("a token cannot be revoked: %u", world->owner.reply.status);
}

static void make_revoked(struct world *world, scopes scope, struct buf *out)
{
    struct token_terms terms = terms_of(world, scope);
    char id[TOKEN_ID_DIGITS + 1];

    sign(out, &world->live.key, &terms, id);
    /* It was good, and is remembered as that, before it is revoked. */
    talk_ask(&world->talk, buf_string(out), "GET", "/v1/status", NULL, NULL);
    token_revoke(world, id);
}

static void make_revoked_link(struct world *world, scopes scope, struct buf *out)
{
    char id[TOKEN_ID_DIGITS + 1];
    struct buf above;

    buf_init(&above);
    parent(world, scope, &above, NULL);
    delegate(world, &above, out, id);
    token_revoke(world, id);
    buf_done(&above);
}

static void make_revoked_parent(struct world *world, scopes scope, struct buf *out)
{
    char id[TOKEN_ID_DIGITS + 1];
    struct buf above;

    buf_init(&above);
    parent(world, scope, &above, id);
    delegate(world, &above, out, NULL);
    talk_ask(&world->talk, buf_string(out), "GET", "/v1/status", NULL, NULL);
    token_revoke(world, id);
    buf_done(&above);
}

static const struct kind {
    const char *name;
    void (*make)(struct world *world, scopes scope, struct buf *out);
    const char *how; /* what stands before it; NULL: there is no such field at all */
    const char *why; /* that the log gives; NULL: it is good */
} kinds[] = {
    {"a good token", make_good, "Bearer ", NULL},
    {"a good token, the scheme in other letters and more blanks", make_good, "bEARER   ", NULL},
    {"a token of a clock 20 s ahead", make_skewed, "Bearer ", NULL},
    {"a delegated token", make_delegated, "Bearer ", NULL},
    {"no token", make_none, NULL, "a token is needed"},
    {"an empty Authorization", make_none, "", "a bearer token"},
    {"an empty token", make_none, "Bearer ", ""},
    {"Basic instead of a token", make_word, "Basic ", "a bearer token"},
    {"a good token under Basic", make_good, "Basic ", "a bearer token"},
    {"a word for a token", make_word, "Bearer ", "not a token"},
    {"an expired token", make_expired, "Bearer ", "expired"},
    {"a token of the future", make_future, "Bearer ", "issued in the future"},
    {"a token that another pool's key signed", make_other_key, "Bearer ", "signed by a key that is not known"},
    {"a token that another key signed in the name of ours", make_false_name, "Bearer ", "the signature is not good"},
    {"a token that names another pool as its issuer", make_other_issuer, "Bearer ", "issued by another pool"},
    {"a token for another pool", make_other_audience, "Bearer ", "meant for another audience"},
    {"a token for an agent", make_agent_audience, "Bearer ", "meant for another audience"},
    {"a token with a flipped bit in its claims", make_flipped_claims, "Bearer ", "the signature is not good"},
    {"a token with a flipped bit in its signature", make_flipped_signature, "Bearer ", "the signature is not good"},
    {"a token with a flipped bit in its footer", make_flipped_footer, "Bearer ", ""},
    {"a token of another version", make_flipped_version, "Bearer ", ""},
    {"a token without its end", make_cut, "Bearer ", ""},
    {"half a token", make_half, "Bearer ", ""},
    {"a token with more behind it", make_longer, "Bearer ", ""},
    {"a token that is too long", make_endless, "Bearer ", "too long"},
    {"a delegable token as it is", make_bare, "Bearer ", "names a key, and no link signed by that key follows it"},
    {"a link with more scopes than its parent", make_wider_scope, "Bearer ", "grants more than the one before it"},
    {"a link that lasts longer than its parent", make_wider_span, "Bearer ", "grants more than the one before it"},
    {"a link for another subject", make_wider_subject, "Bearer ", "grants more than the one before it"},
    {"a link that a stranger signed", make_stranger_link, "Bearer ", "signed by a key that is not known"},
    {"a link behind a token that cannot be delegated", make_link_too_many, "Bearer ", "a link where none may be"},
    {"a link that was made for another parent", make_moved_link, "Bearer ", ""},
    {"a revoked token", make_revoked, "Bearer ", "revoked"},
    {"a revoked link", make_revoked_link, "Bearer ", "revoked"},
    {"a link whose parent is revoked", make_revoked_parent, "Bearer ", "revoked"},
    {"a token for the matchmaker itself", make_matchmaker, "Bearer ", "that identity is the matchmaker's own"},
};

/* ---------------------------------------------------------------------------------------------------------- the table */

/* A path of the route with something in the place of its variables. */
static void path_fill(const char *template, char out[256])
{
    size_t at = 0;

    for (; *template; template ++) {
        if (*template != '{') {
            out[at++] = *template;
            continue;
        }
        at += (size_t)snprintf(out + at, 32, "%s", "abcdef0123456789");
        template += strcspn(template, "}");
    }
    out[at] = '\0';
}

/* One that does nothing: it is refused behind the gate, as far as that can be. */
static unsigned route_ask(struct world *world, const struct route *route, const char *fields)
{
    const char *body = route->method == HTTP_PUT || route->method == HTTP_POST ? "" : NULL;
    char path[256];

    path_fill(route->path, path);
    if (!strcmp(route->id, "keys.rotate"))
        body = "x"; /* too long a body, so that the keys stay */
    return talk_ask(&world->talk, NULL, method_name(route->method), path, fields, body);
}

static bool is_denied(unsigned status)
{
    return status == 401 || status == 403;
}

/* A 401 says always the same. The first one that is seen says what. */
static bool refusal_is_plain(struct world *world)
{
    struct buf said;
    const char *text = buf_string(&world->talk.reply.body), *number = strstr(text, "\"request\":");
    bool same;

    buf_init(&said);
    buf_add(&said, text, number ? (size_t)(number - text) : strlen(text));
    if (!world->refusal.len)
        buf_add(&world->refusal, said.text, said.len);
    same = said.len == world->refusal.len && memcmp(said.text, world->refusal.text, said.len) == 0 &&
           reply_field_is(&world->talk.reply, "WWW-Authenticate", "Bearer") &&
           reply_field_is(&world->talk.reply, "Content-Type", "application/problem+json");
    buf_done(&said);
    return same;
}

/* What the log says since the last look: lines of refusals, and those of them that give the reason. */
static void log_look(struct world *world, const char *why, size_t *ret_refusals, size_t *ret_with_reason)
{
    struct buf log;
    char *rest, *line;

    *ret_refusals = *ret_with_reason = 0;
    buf_init(&log);
    live_read_log(&world->live, &log);
    buf_string(&log);
    for (rest = log.text + world->log_at; (line = strsep(&rest, "\n")) && rest;) {
        const char *said = strstr(line, "why=");

        if (!strstr(line, "event=audit.refused") || !strstr(line, "status=401"))
            continue;
        ++*ret_refusals;
        *ret_with_reason += said && strlen(said) > 8 && strstr(said, why) && strstr(line, "route=");
    }
    world->log_at = log.len;
    buf_done(&log);
}

/* One kind of token, for each scope alone, at each route. */
static void check_kind(struct world *world, const struct kind *kind)
{
    size_t wrong = 0, spoke = 0, refusals, with_reason, expected = 0;
    struct buf fields, token;

    buf_init(&fields);
    buf_init(&token);
    for (int scope = 0; scope < SCOPE_COUNT; scope++) {
        buf_reset(&token);
        kind->make(world, (scopes)1 << scope, &token);
        buf_reset(&fields);
        if (kind->how)
            buf_addf(&fields, "Authorization: %s%s\r\n", kind->how, buf_string(&token));
        if (!scope)
            log_look(world, "", &refusals, &with_reason);
        for (size_t i = 0; i < matchmakerd_routes.count; i++) {
            bool open = matchmakerd_routes.routes[i].scope == SCOPE_NONE;
            bool passes = open || (!kind->why && matchmakerd_routes.routes[i].scope & (scopes)1 << scope);
            /* an operator makes no code for what may do more than himself: a machine advertises, and he may not */
            bool wider = !strcmp(matchmakerd_routes.routes[i].path, "/v1/codes") && (scopes)1 << scope == SCOPE_OPERATE;
            unsigned want = passes && !wider ? 0 : kind->why ? 401 : 403;
            unsigned status = route_ask(world, &matchmakerd_routes.routes[i], buf_string(&fields));
            bool good = want ? status == want : status && !is_denied(status) && status < 500;

            expected += want == 401;
            if (want == 401 && status == 401)
                spoke += !refusal_is_plain(world);
            if (!good && wrong++ < 10)
                tap_diag("%s %s with scope %d: %u", method_name(matchmakerd_routes.routes[i].method),
                         matchmakerd_routes.routes[i].path, scope, status);
        }
    }
    tap_ok(!wrong, "%s %s, at every route and for every scope alone", kind->name,
           kind->why ? "opens nothing but what is open to all" : "opens the routes of its scope and no others");
    if (kind->why) {
        tap_ok(!spoke, "%s is answered like any other that is not good", kind->name);
        log_look(world, kind->why, &refusals, &with_reason);
        if (!tap_ok(refusals == expected && with_reason == expected,
                    "%s: the log has a line for each refusal, with the check that failed", kind->name))
            tap_diag("%zu refused, %zu lines, %zu with the reason", expected, refusals, with_reason);
    }
    buf_done(&fields);
    buf_done(&token);
}

/* What a 403 tells: the scope that is missing; and all scopes together pass everywhere. */
static void check_scopes(struct world *world)
{
    char *all = live_token(&world->live, "alice", SCOPE_ALL), *none;
    struct buf fields, words;

    buf_init(&fields);
    buf_init(&words);
    for (size_t i = 0; i < matchmakerd_routes.count; i++) {
        const struct route *route = &matchmakerd_routes.routes[i];
        bool passes, refused;

        buf_reset(&fields);
        buf_addf(&fields, "Authorization: Bearer %s\r\n", all);
        passes = !is_denied(route_ask(world, route, buf_string(&fields))) && world->talk.reply.status;
        if (route->scope == SCOPE_NONE) {
            tap_ok(passes, "%s %s is open, also to one with all scopes", method_name(route->method), route->path);
            continue;
        }
        if (route->scope == SCOPE_ALL) { /* there is no token without all of them */
            tap_ok(passes, "%s %s: any scope passes", method_name(route->method), route->path);
            continue;
        }
        none = live_token(&world->live, "alice", SCOPE_ALL & ~route->scope);
        buf_reset(&fields);
        buf_addf(&fields, "Authorization: Bearer %s\r\n", none);
        buf_reset(&words);
        scopes_print(&words, route->scope);
        refused =
            route_ask(world, route, buf_string(&fields)) == 403 && reply_has(&world->talk.reply, buf_string(&words));
        if (!tap_ok(passes && refused, "%s %s: all scopes pass; all but %s do not, and the answer names it",
                    method_name(route->method), route->path, buf_string(&words)))
            tap_diag("%u %s", world->talk.reply.status, reply_show(&world->talk.reply));
        free(none);
    }
    free(all);
    buf_done(&fields);
    buf_done(&words);
}

/* One letter after another of a good token and of a delegated one is another. */
static void check_flips(struct world *world)
{
    size_t passed = 0, tried = 0;
    struct buf token;

    buf_init(&token);
    for (int kind = 0; kind < 2; kind++) {
        buf_reset(&token);
        if (kind)
            make_delegated(world, SCOPE_AD_READ, &token);
        else
            make_good(world, SCOPE_AD_READ, &token);
        for (size_t i = 0; i < token.len; i++, tried++) {
            char was = token.text[i];

            flip(&token, i);
            passed += talk_ask(&world->talk, buf_string(&token), "GET", "/v1/status", NULL, NULL) != 401;
            token.text[i] = was;
        }
        tap_ok(talk_ask(&world->talk, buf_string(&token), "GET", "/v1/status", NULL, NULL) == 200,
               "a token is good as it was made");
    }
    tap_ok(!passed, "with any one of its letters changed it is not (%zu tries)", tried);
    buf_done(&token);
}

/* Refused tokens are counted by the check that failed. */
static void check_counters(struct world *world)
{
    static const char *const names[] = {"EXPIRED", "NOT_YET",     "SIGNATURE", "AUDIENCE", "ISSUER", "WIDER",
                                        "BARE",    "UNKNOWN_KEY", "REVOKED",   "TOO_LONG", "CHAIN",  "MALFORMED"};
    char line[128];

    talk_ask(&world->owner, NULL, "GET", "/metrics", NULL, NULL);
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *at;

        snprintf(line, sizeof line, "berth_tokens_refused_total{fault=\"%s\"} ", names[i]);
        at = strstr(buf_string(&world->owner.reply.body), line);
        if (!tap_ok(at && strtoul(at + strlen(line), NULL, 10) > 0, "refused tokens are counted: %s", names[i]))
            tap_diag("no line %s", line);
    }
}

/* --------------------------------------------------------------------------------------------------- paths and methods */

static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ' || at[-1] == ',') && (!at[len] || at[len] == ','))
            return true;
    return false;
}

static bool path_has(const char *path, enum http_method method)
{
    for (size_t i = 0; i < matchmakerd_routes.count; i++)
        if (!strcmp(matchmakerd_routes.routes[i].path, path) && matchmakerd_routes.routes[i].method == method)
            return true;
    return false;
}

static void check_methods(struct world *world)
{
    static const char *const tried[] = {"GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "PATCH", "TRACE", "FROB"};

    for (size_t i = 0; i < matchmakerd_routes.count; i++) {
        bool first = true, good = true;
        char path[256], allow[256];

        for (size_t n = 0; n < i; n++)
            first = first && strcmp(matchmakerd_routes.routes[n].path, matchmakerd_routes.routes[i].path) != 0;
        if (!first)
            continue;
        path_fill(matchmakerd_routes.routes[i].path, path);
        for (size_t n = 0; n < COUNT(tried); n++) {
            bool head = !strcmp(tried[n], "HEAD");
            bool there =
                n < HTTP_OTHER && path_has(matchmakerd_routes.routes[i].path, head ? HTTP_GET : (enum http_method)n);
            unsigned status;

            if (there)
                continue;
            status = talk_ask(&world->talk, NULL, tried[n], path, NULL, NULL);
            good = good && status == 405 && reply_field(&world->talk.reply, "Allow", allow, sizeof allow);
            for (int m = 0; m < HTTP_OTHER && good; m++)
                good = has_word(allow, method_name((enum http_method)m)) ==
                       path_has(matchmakerd_routes.routes[i].path, m == HTTP_HEAD ? HTTP_GET : (enum http_method)m);
            if (status != 405)
                tap_diag("%s %s: %u", tried[n], path, status);
        }
        tap_ok(good, "%s answers 405 to methods that it does not have, and names those that it has",
               matchmakerd_routes.routes[i].path);
    }
}

static const struct {
    const char *path;
    unsigned status;
} lost[] = {
    {"/assets", 404},
    {"/v1/", 404},
    {"/v2", 404},
    {"/v1/nothing", 404},
    {"/V1/ads", 404},
    {"/v1/ads/", 404},
    {"/v1//ads", 404},
    {"/v1/ads/x/", 404},
    {"/v1/ads/x/frob", 404},
    {"/v1/ads//why", 404},
    {"/v1/config/a/b/c", 404},
    {"/openapi.json/x", 404},
    {"/metrics/", 404},
    {"/v1/ads/../status", 400},
    {"/v1/ads/%2e%2e/status", 400},
    {"/v1/ads/x%00y", 400},
    {"/v1/ads/%zz", 400},
    {"/v1/ads/a%0ab", 400},
};

static void check_paths(struct world *world)
{
    char *token = live_token(&world->live, "alice", SCOPE_ALL), path[600] = "/v1/ads/";

    for (size_t i = 0; i < COUNT(lost); i++) {
        unsigned with = talk_ask(&world->talk, token, "GET", lost[i].path, NULL, NULL);
        unsigned without = talk_ask(&world->talk, NULL, "GET", lost[i].path, NULL, NULL);

        if (!tap_ok(with == lost[i].status && without == lost[i].status &&
                        reply_field_is(&world->talk.reply, "Content-Type", "application/problem+json"),
                    "%s is answered with %u, whoever asks", lost[i].path, lost[i].status))
            tap_diag("%u, without a token %u", with, without);
    }
    memset(path + 8, 'a', 256);
    tap_ok(talk_ask(&world->talk, token, "GET", path, NULL, NULL) == 404, "a name of 256 bytes is nowhere");
    free(token);
}

/* What is told to one is kept by nobody else: every answer says so, problems too. */
static void check_caches(struct world *world)
{
    char *token = live_token(&world->live, "alice", SCOPE_ALL);
    char path[256], etag[64], fields[128], control[64], vary[64];

    talk_ask(&world->talk, token, "PUT", "/v1/ads/abcdef0123456789", NULL, "[Memory = 1]");
    for (size_t i = 0; i < matchmakerd_routes.count; i++) {
        bool forms = strchr(matchmakerd_routes.routes[i].types, ' '), tagged;
        bool callers =
            matchmakerd_routes.routes[i].scope != SCOPE_NONE || !strcmp(matchmakerd_routes.routes[i].id, "keys");
        unsigned status;

        if (matchmakerd_routes.routes[i].method != HTTP_GET)
            continue;
        path_fill(matchmakerd_routes.routes[i].path, path);
        status = talk_ask(&world->talk, token, "GET", path, NULL, NULL);
        tagged = reply_field(&world->talk.reply, "ETag", etag, sizeof etag);
        reply_field(&world->talk.reply, "Cache-Control", control, sizeof control);
        *vary = '\0';
        reply_field(&world->talk.reply, "Vary", vary, sizeof vary);
        if (!tap_ok(!strcmp(control, tagged ? "private, no-cache" : "no-store") &&
                        !strcmp(vary, forms && callers ? "Accept, Authorization"
                                      : forms          ? "Accept"
                                      : callers        ? "Authorization"
                                                       : ""),
                    "GET %s says who may keep the answer, and what it depends on", matchmakerd_routes.routes[i].path))
            tap_diag("%u %s: '%s', '%s'", status, path, control, vary);
    }
    talk_ask(&world->talk, token, "GET", "/v1/policy", NULL, NULL);
    reply_field(&world->talk.reply, "ETag", etag, sizeof etag);
    snprintf(fields, sizeof fields, "If-None-Match: %s\r\n", etag);
    tap_ok(talk_ask(&world->talk, token, "GET", "/v1/policy", fields, NULL) == 304 &&
               reply_field_is(&world->talk.reply, "Cache-Control", "private, no-cache") &&
               reply_field_is(&world->talk.reply, "Vary", "Accept, Authorization"),
           "so does 304");
    tap_ok(talk_ask(&world->talk, NULL, "GET", "/v1/ads", NULL, NULL) == 401 &&
               reply_field_is(&world->talk.reply, "Cache-Control", "no-store") &&
               reply_field_is(&world->talk.reply, "Vary", "Accept, Authorization"),
           "so does a refusal");
    tap_ok(talk_ask(&world->talk, NULL, "GET", "/nowhere", NULL, NULL) == 404 &&
               reply_field_is(&world->talk.reply, "Cache-Control", "no-store"),
           "and the answer where nothing is");
    tap_ok(talk_ask(&world->talk, token, "POST", "/v1/tokens", NULL, "[Subject = \"carol\"]") == 201 &&
               reply_field_is(&world->talk.reply, "Cache-Control", "no-store"),
           "a token that was made is kept nowhere");
    free(token);
}

static void check_head(struct world *world)
{
    char *token = live_token(&world->live, "alice", SCOPE_ALL);
    char path[256], length[32];

    talk_ask(&world->talk, token, "PUT", "/v1/ads/abcdef0123456789", NULL, "[Memory = 1]");
    for (size_t i = 0; i < matchmakerd_routes.count; i++) {
        unsigned get, head;
        size_t len;

        if (matchmakerd_routes.routes[i].method != HTTP_GET)
            continue;
        path_fill(matchmakerd_routes.routes[i].path, path);
        get = talk_ask(&world->talk, token, "GET", path, NULL, NULL);
        len = world->talk.reply.body.len;
        head = talk_ask(&world->talk, token, "HEAD", path, NULL, NULL);
        live_sleep(1);
        if (!tap_ok(get == head && head && reply_field(&world->talk.reply, "Content-Length", length, sizeof length) &&
                        (strtoul(length, NULL, 10) > 0) == (len > 0) &&
                        talk_ask(&world->talk, token, "GET", "/healthz", NULL, NULL) == 200,
                    "HEAD %s is GET without the body", matchmakerd_routes.routes[i].path))
            tap_diag("GET %u, HEAD %u, %zu bytes, %s", get, head, len, length);
    }
    tap_ok(talk_ask(&world->talk, NULL, "HEAD", "/v1/ads", NULL, NULL) == 401, "HEAD wants a token where GET does");
    talk_close(&world->talk);
    {
        struct buf text;

        buf_init(&text);
        request_text(&text, &world->talk, token, "HEAD", "/v1/events", "Accept: text/event-stream\r\n", NULL, 0);
        tap_ok(talk_raw(&world->talk, text.text, text.len, true, 3000) == 200,
               "HEAD of the stream of events is answered");
        talk_close(&world->talk);
        buf_done(&text);
    }
    free(token);
}

static void check_forms(struct world *world)
{
    char *token = live_token(&world->live, "alice", SCOPE_ALL), path[256];

    for (size_t i = 0; i < matchmakerd_routes.count; i++) {
        bool takes_ads = matchmakerd_routes.routes[i].body == BODY_AD || matchmakerd_routes.routes[i].body == BODY_ADS;

        path_fill(matchmakerd_routes.routes[i].path, path);
        if (matchmakerd_routes.routes[i].scope != SCOPE_NONE && strcmp(matchmakerd_routes.routes[i].id, "events") != 0)
            tap_ok(talk_ask(&world->talk, token, method_name(matchmakerd_routes.routes[i].method), path,
                            "Accept: image/png\r\n",
                            matchmakerd_routes.routes[i].method == HTTP_GET ||
                                    matchmakerd_routes.routes[i].method == HTTP_DELETE
                                ? NULL
                                : "") == 406,
                   "%s %s answers 406 when a picture is asked for", method_name(matchmakerd_routes.routes[i].method),
                   matchmakerd_routes.routes[i].path);
        if (takes_ads && !tap_ok(talk_ask(&world->talk, token, method_name(matchmakerd_routes.routes[i].method), path,
                                          "Content-Type: image/png\r\n", "[A = 1]") == 415,
                                 "%s %s answers 415 to a picture", method_name(matchmakerd_routes.routes[i].method),
                                 matchmakerd_routes.routes[i].path))
            tap_diag("%u", world->talk.reply.status);
    }
    tap_ok(talk_ask(&world->talk, token, "GET", "/v1/status", "Accept: image/png, application/json\r\n", NULL) == 200 &&
               reply_field_is(&world->talk.reply, "Content-Type", "application/json"),
           "of several forms the one that can be given is given");
    tap_ok(talk_ask(&world->talk, token, "GET", "/v1/status", "Accept: application/classad;q=0, application/json\r\n",
                    NULL) == 200 &&
               reply_field_is(&world->talk.reply, "Content-Type", "application/json"),
           "a form that is asked for with weight 0 is not given");
    tap_ok(talk_ask(&world->talk, token, "GET", "/v1/status", NULL, NULL) == 200 &&
               reply_field_is(&world->talk.reply, "Content-Type", "application/classad"),
           "who does not say gets a classad");
    tap_ok(talk_ask(&world->talk, token, "GET", "/metrics", "Accept: application/openmetrics-text\r\n", NULL) == 200,
           "the numbers are given to one who asks for OpenMetrics and nothing else");
    free(token);
}

/* --------------------------------------------------------------------------------------------------------- other gates */

static void check_host(struct world *world)
{
    char *token = live_token(&world->live, "alice", SCOPE_ALL);
    struct buf text;

    buf_init(&text);
    buf_addf(&text, "GET /v1/status HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer %s\r\n\r\n", token);
    tap_ok(talk_raw(&world->talk, text.text, text.len, false, LIVE_PATIENCE) == 400,
           "on loopback a Host that is not ours is refused");
    buf_reset(&text);
    buf_addf(&text, "GET /v1/status HTTP/1.1\r\nHost: localhost:1\r\nAuthorization: Bearer %s\r\n\r\n", token);
    tap_ok(talk_raw(&world->talk, text.text, text.len, false, LIVE_PATIENCE) == 200, "localhost is ours");
    buf_done(&text);
    free(token);
}

/* A token that is made by the service is as good as one that is made here. */
static void check_made(struct world *world)
{
    char token[TOKEN_BYTES_MAX + 1], id[64], path[128], words[256];

    tap_ok(talk_ask(&world->owner, NULL, "POST", "/v1/tokens", NULL,
                    "[Subject = \"carol\"; Scope = \"ad:read match\"; Lifetime = 60]") == 201 &&
               talk_text(&world->owner, "Token", token, sizeof token) && talk_text(&world->owner, "Id", id, sizeof id),
           "the user who runs the service makes tokens by the Unix socket, without a token");
    tap_ok(talk_ask(&world->talk, token, "GET", "/v1/ads", NULL, NULL) == 200, "the token that was made is good");
    tap_ok(talk_ask(&world->talk, token, "PUT", "/v1/ads/x", NULL, "[A = 1]") == 403, "for its scopes");
    snprintf(path, sizeof path, "/v1/tokens/%s", id);
    tap_ok(talk_ask(&world->owner, NULL, "DELETE", path, NULL, NULL) == 204 &&
               talk_ask(&world->talk, token, "GET", "/v1/ads", NULL, NULL) == 401,
           "once it is revoked it is good no more");
    tap_ok(talk_ask(&world->owner, NULL, "GET", "/v1/tokens?limit=100000", NULL, NULL) == 200 &&
               reply_has(&world->owner.reply, id) && !reply_has(&world->owner.reply, "v4.public"),
           "tokens are listed by their ids, never as they are");
    snprintf(words, sizeof words, "[Subject = \"matchmaker\"; Scope = \"admin\"]");
    tap_ok(talk_ask(&world->owner, NULL, "POST", "/v1/tokens", NULL, words) == 403,
           "nobody is given a token for the matchmaker itself");
    tap_ok(talk_ask(&world->owner, "v4.public.AAAA", "GET", "/v1/ads", NULL, NULL) == 401,
           "a token that is not good is refused by the Unix socket as well");
}

/* ---------------------------------------------------------------------------------------------------------------- joining */

/* A code of the service's own; its secret in digits. */
static void code_make(struct world *world, char secret[2 * JOIN_SECRET_BYTES + 1])
{
    char text[JOIN_TEXT_MAX + 1];
    struct join_code code;
    struct err err = {0};

    if (talk_ask(&world->owner, NULL, "POST", "/v1/codes", NULL, NULL) != 201 ||
        !talk_text(&world->owner, "Code", text, sizeof text) || join_code_read(text, strlen(text), &code, &err) < 0)
        live_bail("no code: %u %s", world->owner.reply.status, err.text);
    hex_print(code.secret, sizeof code.secret, secret);
    join_code_done(&code);
}

static unsigned join(struct world *world, const char *secret, const struct signing_key *key, const char *name)
{
    char digits[2 * PUBLIC_KEY_BYTES + 1], ad[512];

    hex_print(key->open.bytes, PUBLIC_KEY_BYTES, digits);
    snprintf(ad, sizeof ad, "[Secret = \"%s\"; Key = \"%s\"; Name = \"%s\"]", secret, digits, name);
    return talk_ask(&world->talk, NULL, "POST", "/v1/join", NULL, ad);
}

/* With a certificate of the pool's CA for a name of its choice a machine could pose as the matchmaker: none is signed. */
static void check_no_certificate(struct world *world, const char *secret, const struct signing_key *key)
{
    char digits[2 * PUBLIC_KEY_BYTES + 1], *tls = NULL, *open = NULL, text[16];
    struct err err = {0};
    struct buf ad;
    unsigned status;

    if (cert_make_key(&tls, &open, &err) < 0)
        live_bail("no key: %s", err.text);
    hex_print(key->open.bytes, PUBLIC_KEY_BYTES, digits);
    buf_init(&ad);
    buf_addf(&ad, "[Secret = \"%s\"; Key = \"%s\"; Name = \"localhost\"; TlsKey = \"", secret, digits);
    for (const char *at = open; *at; at++)
        *at == '\n' ? buf_adds(&ad, "\\n") : buf_addc(&ad, *at);
    buf_adds(&ad, "\"]");
    status = talk_ask(&world->talk, NULL, "POST", "/v1/join", NULL, buf_string(&ad));
    tap_ok(status == 400 && !talk_text(&world->talk, "Certificate", text, sizeof text) &&
               !strstr(world->talk.reply.body.text, "BEGIN CERTIFICATE"),
           "no certificate is signed for a machine that joins, whatever it calls itself");
    buf_done(&ad);
    free(open);
    text_wipe(tls);
}

static void check_joining(struct world *world)
{
    char secret[2 * JOIN_SECRET_BYTES + 1], second[2 * JOIN_SECRET_BYTES + 1], token[TOKEN_BYTES_MAX + 1];
    struct token_file file = {.token = token, .has_key = true};
    struct signing_key machine, other;
    struct buf bearer, log;
    struct err err = {0};
    struct grant grant;
    int64_t expires;

    buf_init(&bearer);
    buf_init(&log);
    signing_key_draw(&machine);
    signing_key_draw(&other);
    code_make(world, secret);
    tap_ok(join(world, "00112233445566778899aabbccddeeff", &machine, "m1") == 403,
           "a code that nobody made lets nobody in");
    check_no_certificate(world, secret, &machine);
    tap_ok(join(world, secret, &machine, "m1") == 200 && talk_text(&world->talk, "Token", token, sizeof token),
           "a machine joins with a code, without a token");
    file.key = machine;
    tap_ok(token_read(token, strlen(token), &grant) == TOKEN_OK && !strcmp(grant.subject, "machine/m1") &&
               !(grant.scope & (SCOPE_ADMIN | SCOPE_CONFIG | SCOPE_JOB_ANY)),
           "the token that it gets is a machine's, not an administrator's");
    tap_ok(token_file_bearer(&bearer, &file, NULL, time(NULL), &expires, &err) == 0 &&
               talk_ask(&world->talk, buf_string(&bearer), "GET", "/v1/ads", NULL, NULL) == 200,
           "it is good with a link that the machine signs");
    tap_ok(talk_ask(&world->talk, token, "GET", "/v1/ads", NULL, NULL) == 401, "and not without");
    tap_ok(join(world, secret, &machine, "m1") == 200, "the same key may ask again");
    tap_ok(join(world, secret, &other, "m2") == 403, "another key may not use the code");
    tap_ok(join(world, secret, &other, "m1") == 403, "not for the same name either");
    code_make(world, second);
    tap_ok(join(world, second, &other, "m1") / 100 == 4,
           "with another code another key does not become a machine that is there");
    live_read_log(&world->live, &log);
    tap_ok(!strstr(buf_string(&log), secret) && !strstr(buf_string(&log), "v4.public"),
           "neither codes nor tokens are in the log");
    buf_done(&bearer);
    buf_done(&log);
}

/* Rotation: a token of the current key outlives one, not two. The last thing that is done with these keys. */
static void check_rotation(struct world *world)
{
    char *token = live_token(&world->live, "alice", SCOPE_AD_READ);

    tap_ok(talk_ask(&world->talk, token, "GET", "/v1/ads", NULL, NULL) == 200 &&
               talk_ask(&world->owner, NULL, "POST", "/v1/keys", NULL, NULL) == 200 &&
               talk_ask(&world->talk, token, "GET", "/v1/ads", NULL, NULL) == 200,
           "after a rotation tokens of the key before are good");
    tap_ok(talk_ask(&world->owner, NULL, "POST", "/v1/keys", NULL, NULL) == 200 &&
               talk_ask(&world->talk, token, "GET", "/v1/ads", NULL, NULL) == 401,
           "after two they are not, though they were remembered");
    free(token);
}

/* A revocation outlives the process. */
static void check_restart(struct world *world, const char *const *settings, size_t count)
{
    struct token_terms terms = terms_of(world, SCOPE_AD_READ);
    char id[TOKEN_ID_DIGITS + 1];
    struct buf token;

    buf_init(&token);
    sign(&token, &world->live.key, &terms, id);
    token_revoke(world, id);
    tap_ok(live_stop(&world->live) == 0, "told to end, it ends well");
    live_run(&world->live, settings, count);
    talk_close(&world->talk);
    talk_close(&world->owner);
    tap_ok(talk_ask(&world->talk, buf_string(&token), "GET", "/v1/ads", NULL, NULL) == 401,
           "a token that was revoked stays revoked over a restart");
    buf_done(&token);
}

static void check_metrics_open(void)
{
    static const char *const open[] = {"Metrics=true"};
    struct live live;
    struct talk talk;

    live_start(&live, NULL, 0);
    talk_init(&talk, &live);
    tap_ok(talk_ask(&talk, NULL, "GET", "/metrics", NULL, NULL) == 401,
           "without settings the numbers are not open to this machine, where jobs may run");
    talk_done(&talk);
    live_stop(&live);
    live_done(&live);
    live_start(&live, open, 1);
    talk_init(&talk, &live);
    tap_ok(talk_ask(&talk, NULL, "GET", "/metrics", NULL, NULL) == 200, "they are where the setting says so");
    tap_ok(talk_ask(&talk, NULL, "GET", "/v1/status", NULL, NULL) == 401, "and nothing else is that is not open");
    talk_done(&talk);
    tap_ok(live_stop(&live) == 0, "told to end, it ends well");
    live_done(&live);
}

int main(void)
{
    static const char *const settings[] = {"Metrics=false", "RequestsPerSecond=10000000",
                                           "AgentRequestsPerSecond=10000000"};
    struct world world = {.log_at = 0};

    live_start(&world.live, settings, COUNT(settings));
    talk_init(&world.talk, &world.live);
    talk_init(&world.owner, &world.live);
    world.owner.by_socket = true;
    buf_init(&world.refusal);
    signing_key_draw(&world.other);
    signing_key_draw(&world.child);
    signing_key_draw(&world.stranger);
    for (size_t i = 0; i < COUNT(kinds); i++)
        check_kind(&world, &kinds[i]);
    check_scopes(&world);
    check_flips(&world);
    check_counters(&world);
    check_methods(&world);
    check_caches(&world);
    check_paths(&world);
    check_head(&world);
    check_forms(&world);
    check_host(&world);
    check_made(&world);
    check_joining(&world);
    check_restart(&world, settings, COUNT(settings));
    check_rotation(&world);
    tap_ok(live_is_up(&world.live) && talk_ask(&world.talk, NULL, "GET", "/healthz", NULL, NULL) == 200,
           "after all that it lives and answers");
    talk_done(&world.talk);
    talk_done(&world.owner);
    buf_done(&world.refusal);
    tap_ok(live_stop(&world.live) == 0, "told to end, it ends well");
    live_done(&world.live);
    check_metrics_open();
    return tap_done();
}
