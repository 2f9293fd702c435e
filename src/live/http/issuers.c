/* issuers.c: the keys of issuers, and tokens checked by them. */
#include "live/http/issuers.h"

#include "lang/base/mem.h"
#include "live/auth/claims.h"
#include "live/auth/signin_state.h"
#include "live/http/issuers_parts.h"
#include "pool/protocol/role.h"
#include "sys/clock.h"
#include "sys/encoding.h"
#include "sys/read_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WELL_KNOWN "/.well-known/openid-configuration"
#define TOKENS_KEPT 4096

/* -------------------------------------------------------------------------------------------------------------- keys */

static void fetch_failed(struct source *source, const char *why)
{
    source->asking = false;
    LOG(source->issuers->log, LEVEL_WARNING, "issuer.keys", log_text("issuer", source->entry.issuer.url),
        log_text("why", why));
}

/* What was found good by keys that are gone is looked at again. */
static int keys_take(struct source *source, const char *json, size_t len, struct err *err)
{
    struct jwt_keys *keys = jwt_keys_read(json, len, err);

    if (!keys)
        return -1;
    jwt_keys_free(source->keys);
    source->keys = keys;
    source->came = clock_now();
    source->asking = false;
    token_cache_forget(source->issuers->tokens);
    LOG(source->issuers->log, LEVEL_INFO, "issuer.keys", log_text("issuer", source->entry.issuer.url),
        log_number("keys", jwt_keys_count(keys)));
    return 0;
}

static int file_take(struct source *source, struct err *err)
{
    struct buf text;
    int got;

    buf_init(&text);
    got = read_file(source->entry.keys_file, JWT_KEYS_BYTES_MAX, true, &text, err);
    if (got == 0)
        err_set(err, "there is no such file");
    if (got != 1 || keys_take(source, buf_string(&text), text.len, err) < 0) {
        got = -1;
        err_context(err, "%s", source->entry.keys_file);
    }
    buf_done(&text);
    return got < 0 ? -1 : 0;
}

static bool outcome_is_good(struct source *source, const struct http_outcome *outcome)
{
    char status[32];

    if (outcome->result == CALL_ANSWERED && outcome->status == 200)
        return true;
    snprintf(status, sizeof status, "the answer was %u", outcome->status);
    if (outcome->result != CALL_CANCELLED)
        fetch_failed(source, outcome->result == CALL_ANSWERED ? status : outcome->error);
    return false;
}

static void keys_came(void *user, const struct http_outcome *outcome)
{
    struct source *source = user;
    struct err err = {0};

    if (outcome_is_good(source, outcome) && keys_take(source, outcome->body, outcome->len, &err) < 0)
        fetch_failed(source, err.text);
}

/* An issuer may lead to its own host, wherever that is, and otherwise not into the networks of this site. */
static bool may_connect(void *user, const struct sockaddr *address)
{
    const struct source *source = user;

    return !source->elsewhere || address_may_be_contacted(source->issuers->networks, address);
}

static void fetch(struct source *source, const char *url, size_t max, call_done_fn *done)
{
    const struct http_call call = {.url = url,
                                   .accept = "application/json",
                                   .timeout = ISSUERS_FETCH_SPAN,
                                   .bytes_max = max,
                                   .older_tls = true,
                                   .https_only = !source->entry.plain,
                                   .may_connect = may_connect,
                                   .may_user = source};

    source->asking = client_send(source->client, &call, done, source) != 0;
}

/* Reads an address that the issuer names. */
static int address_take(const struct source *source, const struct tree *tree, const char *name,
                        char ret_url[URL_MAX + 1], bool *ret_elsewhere, struct err *err)
{
    const char *url = source->entry.issuer.url, *at;
    struct url here, there;
    size_t len;

    if (!claims_text(tree, NULL, name, URL_MAX, &at, &len))
        return err_set(err, "it does not say where its %s is", name);
    if (url_read(at, len, &there, err) < 0 || url_read(url, strlen(url), &here, err) < 0)
        return err_context(err, "%s", name), -1;
    snprintf(ret_url, URL_MAX + 1, "%.*s", (int)len, at);
    *ret_elsewhere = strcmp(here.host, there.host) != 0;
    return there.secure || (source->entry.plain && url_is_loopback(ret_url))
               ? 0
               : err_set(err, "%s: only https:// is taken", name);
}

/* Where people sign in. That the issuer does not say so costs its tokens nothing. */
static void door_take(struct source *source, const struct tree *tree)
{
    static const char secret_ways[] = "token_endpoint_auth_methods_supported";
    const struct expr *ways = claims_find(tree, NULL, secret_ways);
    char authorize[URL_MAX + 1], token[URL_MAX + 1];
    bool elsewhere, ignored;
    struct err err = {0};

    if (!source->door)
        return;
    if (address_take(source, tree, "authorization_endpoint", authorize, &ignored, &err) < 0 ||
        address_take(source, tree, "token_endpoint", token, &elsewhere, &err) < 0) {
        LOG(source->issuers->log, LEVEL_WARNING, "issuer.signin", log_text("issuer", source->entry.issuer.url),
            log_text("why", err.text));
        return;
    }
    memcpy(source->authorize, authorize, sizeof authorize);
    memcpy(source->token, token, sizeof token);
    source->token_elsewhere = elsewhere;
    source->posts_secret =
        ways && claims_has(tree, ways, "client_secret_post") && !claims_has(tree, ways, "client_secret_basic");
}

/* Reads where the keys are from what the issuer says about itself. It must say that it is the one that we know. */
static int description_read(struct source *source, const char *json, size_t len, char ret_url[URL_MAX + 1],
                            bool *ret_elsewhere, struct err *err)
{
    struct symbols *symbols = symbols_new(NULL, 0, 0);
    struct tree *tree;
    int result = -1;

    while (len && strchr(" \t\r\n", json[len - 1]))
        len--;
    while (len && strchr(" \t\r\n", *json))
        json++, len--;
    tree = claims_read(symbols, json, len, JWT_CELLS_MAX, err);
    if (tree && !claims_is(tree, claims_find(tree, NULL, "issuer"), source->entry.issuer.url)) {
        err_set(err, "it says that it is another issuer");
    } else if (tree) {
        result = address_take(source, tree, "jwks_uri", ret_url, ret_elsewhere, err);
        door_take(source, tree);
    }
    tree_unref(tree);
    symbols_free(symbols);
    return result;
}

static void description_came(void *user, const struct http_outcome *outcome)
{
    struct source *source = user;
    char url[URL_MAX + 1];
    struct err err = {0};

    if (!outcome_is_good(source, outcome))
        return;
    if (description_read(source, outcome->body, outcome->len, url, &source->elsewhere, &err) < 0)
        fetch_failed(source, err.text);
    else
        fetch(source, url, JWT_KEYS_BYTES_MAX, keys_came);
}

/* Asks for the keys, unless that is under way or was done a moment ago. */
static void source_ask(struct source *source)
{
    int64_t now = clock_now();
    struct err err = {0};
    struct buf url;

    if (source->asking || (source->tried && now - source->tried < source->entry.keys_pause * SECOND))
        return;
    source->tried = now;
    if (!source->client) {
        if (file_take(source, &err) < 0)
            fetch_failed(source, err.text);
        return;
    }
    buf_init(&url);
    buf_adds(&url, source->entry.issuer.url);
    while (url.len && url.text[url.len - 1] == '/')
        url.len--;
    buf_adds(&url, WELL_KNOWN);
    source->elsewhere = false;
    fetch(source, buf_string(&url), ISSUERS_DESCRIPTION_MAX, description_came);
    buf_done(&url);
}

/* Are there keys to check by? Those that have come of age serve on while new ones are fetched, but not for ever. */
bool source_ready(struct source *source)
{
    int64_t age = source->entry.keys_age * SECOND;

    if (!source->keys || clock_now() - source->came >= age || (source->door && !*source->authorize))
        source_ask(source);
    return source->keys && clock_now() - source->came < ISSUERS_STALE * age;
}

/* ------------------------------------------------------------------------------------------------------------- checks */

static struct source *source_find(struct issuers *issuers, const struct jwt *jwt)
{
    for (uint32_t i = 0; i < issuers->count; i++) {
        const char *url = issuers->sources[i].entry.issuer.url;

        if (strlen(url) == jwt->issuer_len && !memcmp(url, jwt->issuer, jwt->issuer_len))
            return &issuers->sources[i];
    }
    return NULL;
}

static enum token_fault source_prove(struct source *source, const struct jwt *jwt)
{
    enum token_fault fault;

    if (!source_ready(source))
        return TOKEN_KEYS;
    fault = jwt_prove(jwt, source->keys);
    if (fault != TOKEN_UNKNOWN_KEY)
        return fault;
    source_ask(source); /* the issuer may have new keys; of a file they are here at once */
    return source->asking ? TOKEN_KEYS : jwt_prove(jwt, source->keys);
}

enum token_fault source_signed_in(struct source *source, const char *text, size_t len,
                                  const struct issuer_signin *signin, int64_t now, struct grant *ret, struct err *why)
{
    const struct issuer *issuer = &source->entry.issuer;
    enum token_fault fault;
    struct jwt jwt;

    *why = (struct err){0};
    if (len > JWT_BYTES_MAX)
        return TOKEN_TOO_LONG;
    if ((fault = jwt_read(&jwt, text, len, why)))
        return fault;
    fault = source_prove(source, &jwt);
    if (!fault)
        fault = issuer_grant_signin(issuer, &jwt, signin, now, ret, why);
    jwt_done(&jwt);
    if (!fault)
        LOG_AUDIT(source->issuers->log, "identity", log_text("subject", ret->subject), log_text("issuer", issuer->url),
                  log_text("id", ret->ids[0]), log_number("expires", ret->expires));
    return fault;
}

static enum token_fault text_prove(struct issuers *issuers, const char *text, size_t len, int64_t now,
                                   struct grant *ret, struct err *why)
{
    const struct issuer *issuer = NULL;
    enum token_fault fault;
    struct source *source;
    struct jwt jwt;

    if ((fault = jwt_read(&jwt, text, len, why)))
        return fault;
    source = source_find(issuers, &jwt);
    if (!source)
        err_set(why, "%.*s", (int)(jwt.issuer_len < 200 ? jwt.issuer_len : 200), jwt.issuer);
    fault = source ? source_prove(source, &jwt) : TOKEN_NO_ISSUER;
    if (!fault) {
        issuer = &source->entry.issuer;
        fault = issuer_grant(issuer, &jwt, now, ret, why);
    }
    jwt_done(&jwt);
    if (!fault)
        LOG_AUDIT(issuers->log, "identity", log_text("subject", ret->subject), log_text("issuer", issuer->url),
                  log_text("id", ret->ids[0]), log_number("expires", ret->expires));
    return fault;
}

bool issuers_know(const struct issuers *issuers, const char *text, size_t len)
{
    struct grant grant;

    return token_cache_find(issuers->tokens, text, len, &grant);
}

enum token_fault issuers_check(struct issuers *issuers, const char *text, size_t len, int64_t now,
                               token_revoked_fn *revoked, void *user, struct grant *ret, struct err *why)
{
    enum token_fault fault = TOKEN_OK;
    struct grant grant;
    bool kept;

    *why = (struct err){0};
    if (len > JWT_BYTES_MAX)
        return TOKEN_TOO_LONG;
    kept = token_cache_find(issuers->tokens, text, len, &grant);
    if (!kept)
        fault = text_prove(issuers, text, len, now, &grant, why);
    else if (now >= grant.expires)
        fault = TOKEN_EXPIRED;
    if (!fault && (!revoked || revoked(user, grant.ids[0])))
        fault = TOKEN_REVOKED;
    if (fault)
        return fault;
    if (!kept)
        token_cache_keep(issuers->tokens, text, len, &grant);
    *ret = grant;
    return TOKEN_OK;
}

/* --------------------------------------------------------------------------------------------------------- life cycle */

/* A secret that cannot be read is told at the start, not to the first who signs in. */
static int secret_check(const char *path, struct err *err)
{
    struct buf secret;
    int failed;

    buf_init(&secret);
    failed = signin_secret_read(path, &secret, err);
    buf_wipe(&secret);
    buf_done(&secret);
    return failed;
}

static int source_init(struct source *source, struct issuers *issuers, struct issuer_entry *entry, uv_loop_t *loop,
                       struct err *err)
{
    const struct client_settings settings = {.ca_file = entry->ca_file, .at_once = 2, .per_host = 2},
                                 door = {.ca_file = entry->ca_file, .at_once = 8, .per_host = 8};

    *source = (struct source){.issuers = issuers, .entry = *entry};
    *entry = (struct issuer_entry){.plain = false};
    if (source->entry.keys_file) {
        source->tried = clock_now();
        return file_take(source, err);
    }
    source->client = client_new(loop, &settings, err);
    if (!source->client || !source->entry.issuer.client)
        return source->client ? 0 : -1;
    if (source->entry.secret_file && secret_check(source->entry.secret_file, err) < 0)
        return -1;
    signin_issuer(source->entry.issuer.url, source->entry.issuer.client, source->mark);
    source->door = client_new(loop, &door, err);
    return source->door ? 0 : -1;
}

/* The issuers of the list, of which nothing is known yet. */
static struct issuers *issuers_make(uv_loop_t *loop, struct issuer_list *list, struct log *log,
                                    const struct networks *networks, struct err *err)
{
    struct issuers *issuers = mem_alloc(sizeof *issuers);

    *issuers = (struct issuers){.log = log, .networks = networks, .tokens = token_cache_new(TOKENS_KEPT)};
    for (uint32_t i = 0; i < list->count; i++) {
        struct source *source = &issuers->sources[issuers->count++];

        if (source_init(source, issuers, &list->items[i], loop, err) < 0) {
            err_context(err, "Issuers: %s", source->entry.issuer.name);
            issuers_free(issuers);
            return NULL;
        }
    }
    *list = (struct issuer_list){.count = 0};
    return issuers;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Takes over what was fetched from an issuer that is asked in the same way. */
static void source_take(struct source *source, struct source *before)
{
    const struct issuer_entry *now = &source->entry, *then = &before->entry;

    if (!source->client || !before->client || strcmp(now->issuer.url, then->issuer.url) != 0 ||
        now->plain != then->plain || !same_text(now->ca_file, then->ca_file))
        return;
    source->keys = before->keys;
    before->keys = NULL;
    source->came = before->came;
    source->tried = before->asking ? 0 : before->tried; /* what was under way is asked again */
    if (!source->door)
        return;
    memcpy(source->authorize, before->authorize, sizeof source->authorize);
    memcpy(source->token, before->token, sizeof source->token);
    source->token_elsewhere = before->token_elsewhere;
    source->posts_secret = before->posts_secret;
    if (!*source->authorize)
        source->tried = 0;
}

int issuers_set(struct issuers **issuers, uv_loop_t *loop, struct issuer_list *list, struct log *log,
                const struct networks *networks, struct err *err)
{
    struct issuers *fresh = NULL, *before = *issuers;

    if (list->count && !(fresh = issuers_make(loop, list, log, networks, err)))
        return -1;
    for (uint32_t i = 0; fresh && before && i < fresh->count; i++)
        for (uint32_t j = 0; j < before->count; j++)
            source_take(&fresh->sources[i], &before->sources[j]);
    *issuers = fresh;
    issuers_free(before);
    for (uint32_t i = 0; fresh && i < fresh->count; i++)
        source_ready(&fresh->sources[i]);
    return 0;
}

void issuers_free(struct issuers *issuers)
{
    if (!issuers)
        return;
    for (uint32_t i = 0; i < issuers->count; i++) {
        struct source *source = &issuers->sources[i];

        client_free(source->client);
        client_free(source->door);
        jwt_keys_free(source->keys);
        issuer_entry_done(&source->entry);
    }
    token_cache_free(issuers->tokens);
    free(issuers);
}
