/* api_admin.c: tokens, codes and keys; and the configuration that the pool serves to its agents. All of it is durable before it is
 * answered. */
#include "net/service_parts.h"

#include "base/mem.h"
#include "net/codes.h"
#include "net/sources.h"
#include "text/parse.h"
#include "text/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_SPAN INT64_C(31536000)      /* seconds that the token of a machine lasts */
#define JOIN_TRIES 100                      /* a second, from one address */
#define MACHINE_NAME_MAX 50                 /* so that it fits into an ad's Owner */
#define REVOKED_SPAN (INT64_C(400) * 86400) /* longer than any token lasts */
#define MACHINE_SCOPES (SCOPE_AD_READ | SCOPE_AD_WRITE | SCOPE_CLAIM | SCOPE_MATCH)

/* ------------------------------------------------------------------------------------------------------------- tokens */

/* Puts a row on the shelf; false, and a problem was answered, when that failed. */
static bool row_put(struct request *request, const char *space, const void *key, size_t key_len, const void *value,
                    size_t len)
{
    struct shelf *shelf = request->service->shelf;
    struct err err;

    if (shelf->kind->put(shelf, space, key, key_len, value, len, &err) == 0)
        return true;
    request_store_failed(request, err.text);
    return false;
}

/* By its text: the numbers of names are used again. */
static void tree_etag(const struct tree *tree, const struct expr *e, char out[24])
{
    struct buf text;

    buf_init(&text);
    print_expr(&text, tree, e, PRINT_COMPACT);
    snprintf(out, 24, "\"%016" PRIx64 "\"", text_hash(0, text.text, text.len));
    buf_done(&text);
}

/* Who made which token, for whom and until when: never the token. */
static bool token_note(struct request *request, const struct token_terms *terms, const char *id)
{
    struct service *service = request->service;
    char key[2 * PUBLIC_KEY_BYTES + 1];
    struct maker maker;
    struct tree *ad;
    struct buf text, scope;
    bool kept;

    buf_init(&text);
    buf_init(&scope);
    scopes_print(&scope, terms->scope);
    maker_init(&maker, service->symbols);
    maker_text(&maker, "Type", "Token");
    maker_text(&maker, "Id", id);
    maker_text(&maker, "Subject", terms->subject);
    maker_text(&maker, "Scope", buf_string(&scope));
    maker_integer(&maker, "Issued", terms->issued);
    maker_integer(&maker, "Expires", terms->expires);
    maker_flag(&maker, "Delegable", terms->delegate);
    if (terms->delegate) {
        hex_print(terms->delegate->bytes, PUBLIC_KEY_BYTES, key);
        maker_text(&maker, "Delegate", key);
    }
    maker_text(&maker, "By", request_identity(request));
    ad = maker_seal(&maker);
    represent_ad(&text, FORM_CLASSAD, ad);
    kept = row_put(request, TOKEN_SPACE, id, strlen(id), text.text, text.len);
    LOG_AUDIT(&service->log, "token", log_text("subject", request_identity(request)), log_text("for", terms->subject),
              log_text("id", id), log_text("scope", buf_string(&scope)), log_number("expires", terms->expires));
    tree_unref(ad);
    buf_done(&text);
    buf_done(&scope);
    return kept;
}

/* Signs it, notes it, and answers with it when that is durable; with a certificate, if there is one. */
static void token_give(struct request *request, unsigned status, const struct token_terms *terms,
                       const char *certificate)
{
    struct service *service = request->service;
    char id[TOKEN_ID_DIGITS + 1];
    struct maker maker;
    struct err err = {0};
    struct buf text;

    buf_init(&text);
    if (token_sign(&text, keyring_current(service->keys), terms, id, &err) < 0) {
        request_problem(request, 400, "%s", err.text);
    } else if (token_note(request, terms, id)) {
        maker_init(&maker, service->symbols);
        maker_text(&maker, "Token", buf_string(&text));
        maker_text(&maker, "Id", id);
        maker_text(&maker, "Subject", terms->subject);
        maker_integer(&maker, "Expires", terms->expires);
        maker_text(&maker, "PoolId", keyring_pool(service->keys));
        maker_text(&maker, "Pool", service->url);
        maker_text(&maker, "Ca", keyring_ca_pem(service->keys));
        maker_text(&maker, "Certificate", certificate);
        request_answer_durable(request, status, maker_seal(&maker));
    }
    buf_wipe(&text);
    buf_done(&text);
}

/* A text of the body; `fallback` when it is not there. False, and a problem was answered, when it is none. */
static bool body_text(struct request *request, const struct tree *ad, const char *name, const char *fallback, char *out,
                      size_t room)
{
    const char *text = fallback;
    size_t len = fallback ? strlen(fallback) : 0;

    if (ad_find(ad, name) && !ad_string(ad, name, &text, &len))
        text = NULL;
    if (!text || len >= room || memchr(text, 0, len)) {
        request_problem(request, 400, "%s: a text of up to %zu bytes is expected", name, room - 1);
        return false;
    }
    memcpy(out, text, len);
    out[len] = '\0';
    return true;
}

static bool body_key(struct request *request, const struct tree *ad, const char *name, struct public_key *ret)
{
    const char *text;
    size_t len;

    if (ad_string(ad, name, &text, &len) && hex_read(text, len, ret->bytes, PUBLIC_KEY_BYTES))
        return true;
    request_problem(request, 400, "%s: %d hexadecimal digits are expected", name, 2 * PUBLIC_KEY_BYTES);
    return false;
}

static void token_create(struct request *request, const struct tree *ad)
{
    struct service *service = request->service;
    char subject[TOKEN_NAME_MAX + 1], scope[256];
    struct token_terms terms = {.issuer = keyring_pool(service->keys),
                                .subject = subject,
                                .audience = keyring_pool(service->keys),
                                .issued = runner_wall() / SECOND};
    double span = (double)config_span(&service->config, CONFIG_TOKEN_LIFETIME) / (double)SECOND;
    struct public_key delegate;

    if (!body_text(request, ad, "Subject", request_identity(request), subject, sizeof subject) ||
        !body_text(request, ad, "Scope", "ad:read", scope, sizeof scope))
        return;
    if (!scopes_read(scope, strlen(scope), &terms.scope)) {
        request_problem(request, 400, "Scope: names of scopes with a blank between are expected");
        return;
    }
    if (strlen(subject) > TEXT_MAX) {
        request_problem(request, 400, "Subject: up to %d bytes are expected", TEXT_MAX);
        return;
    }
    if (!strcmp(subject, "matchmaker")) {
        request_problem(request, 403, "Subject: that identity is the matchmaker's own");
        return;
    }
    if (ad_find(ad, "Lifetime") && (!ad_number(ad, "Lifetime", &span) || !(span >= 1) || span > (double)MACHINE_SPAN)) {
        request_problem(request, 400, "Lifetime: from 1 second to a year is expected");
        return;
    }
    if (ad_find(ad, "Delegate")) {
        if (!body_key(request, ad, "Delegate", &delegate))
            return;
        terms.delegate = &delegate;
    }
    terms.expires = terms.issued + (int64_t)span;
    token_give(request, 201, &terms, NULL);
}

void api_token_create(struct request *request)
{
    struct tree *ad = request_body_of(request, "Subject Scope Lifetime Delegate");

    if (ad)
        token_create(request, ad);
    tree_unref(ad);
}

/* Ids of tokens that have ended, gathered: the shelf may not change while it is read. */
struct ended {
    struct service *service;
    struct buf ids;
    int64_t now;
};

static bool ended_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct ended *ended = user;
    struct err err;
    int64_t expires;
    struct tree *ad = form_parse(ended->service->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);

    if (key_len == TOKEN_ID_DIGITS && (!ad || !ad_integer(ad, "Expires", &expires) || expires < ended->now))
        buf_add(&ended->ids, key, key_len);
    tree_unref(ad);
    return ended->ids.len < TOKEN_ID_DIGITS * 1000; /* the rest another time */
}

void tokens_sweep(struct service *service)
{
    struct ended ended = {.service = service, .now = runner_wall() / SECOND};
    struct shelf *shelf = service->shelf;
    struct err err;

    buf_init(&ended.ids);
    shelf->kind->each(shelf, TOKEN_SPACE, ended_row, &ended, &err);
    for (size_t at = 0; at < ended.ids.len; at += TOKEN_ID_DIGITS)
        shelf->kind->remove(shelf, TOKEN_SPACE, ended.ids.text + at, TOKEN_ID_DIGITS, &err);
    if (ended.ids.len)
        runner_commit(service->runner, NULL, NULL);
    buf_done(&ended.ids);
}

struct token_tour {
    struct collection *collection;
    struct service *service;
};

static bool token_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct token_tour *tour = user;
    struct tree *ad, *whole;
    struct maker maker;
    struct err err;

    ad = form_parse(tour->service->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);
    if (!ad)
        return true;
    maker_init(&maker, tour->service->symbols);
    maker_parts(&maker, ad, NULL);
    maker_flag(&maker, "Revoked", textmap_find(&tour->service->revoked, key, key_len) != TEXTMAP_NONE);
    whole = maker_seal(&maker);
    tree_unref(ad);
    return collection_add(tour->collection, whole);
}

void api_tokens_list(struct request *request)
{
    struct service *service = request->service;
    struct collection collection;
    struct token_tour tour = {&collection, service};
    struct err err;

    if (!collection_begin(&collection, request))
        return;
    service->shelf->kind->each(service->shelf, TOKEN_SPACE, token_row, &tour, &err);
    collection_end(&collection);
}

/* Any id may be revoked: those of tokens that were delegated are not known here. It is remembered for as long as a token can last. */
void api_token_revoke(struct request *request)
{
    struct service *service = request->service;
    const char *id = request_variable(request, 0);
    unsigned char bytes[TOKEN_ID_DIGITS / 2];
    char ends[24];

    if (!hex_read(id, strlen(id), bytes, sizeof bytes)) {
        request_problem(request, 400, "the id of a token is of %d hexadecimal digits", TOKEN_ID_DIGITS);
        return;
    }
    snprintf(ends, sizeof ends, "%" PRId64, runner_wall() / SECOND + REVOKED_SPAN);
    if (!row_put(request, REVOKED_SPACE, id, strlen(id), ends, strlen(ends)))
        return;
    textmap_add(&service->revoked, id, strlen(id));
    LOG_AUDIT(&service->log, "revoked", log_text("subject", request_identity(request)), log_text("id", id));
    request_answer_durable(request, 204, NULL);
}

/* -------------------------------------------------------------------------------------------------------- keys, codes */

void api_keys_rotate(struct request *request)
{
    struct service *service = request->service;
    struct err err = {0};

    if (keyring_rotate(service->keys, &err) < 0) {
        request_problem(request, 503, "%s", err.text);
        return;
    }
    keyring_token_keys(service->keys, &service->token_keys);
    token_cache_retain(service->tokens, &service->token_keys);
    LOG_AUDIT(&service->log, "keys", log_text("subject", request_identity(request)));
    api_keys(request);
}

int service_join_code(struct service *service, struct buf *out, struct err *err)
{
    struct join_code code;
    struct join_row row = {0};
    unsigned char ca[CERT_HASH_BYTES];
    char key[24];

    keyring_ca_fingerprint(service->keys, ca);
    if (join_book_make(service->codes, ca, service->url, runner_wall() / SECOND, &code, &row, err) < 0)
        return -1;
    snprintf(key, sizeof key, "%016" PRIx64, row.number);
    if (service->shelf->kind->put(service->shelf, CODE_SPACE, key, strlen(key), row.bytes, sizeof row.bytes, err) < 0)
        return -1;
    join_code_print(out, &code);
    join_code_done(&code);
    return 0;
}

void api_code_create(struct request *request)
{
    struct service *service = request->service;
    struct err err = {0};
    struct maker maker;
    struct buf text;

    buf_init(&text);
    if (service_join_code(service, &text, &err) < 0) {
        request_problem(request, 429, "%s", err.text);
    } else {
        maker_init(&maker, service->symbols);
        maker_text(&maker, "Code", buf_string(&text));
        maker_integer(&maker, "Expires", runner_wall() / SECOND + JOIN_SPAN);
        LOG_AUDIT(&service->log, "code", log_text("subject", request_identity(request)));
        request_answer_durable(request, 201, maker_seal(&maker));
    }
    buf_wipe(&text);
    buf_done(&text);
}

/* Looks for a token of that subject that was made for another key, and still holds. */
struct namesake {
    struct service *service;
    const char *subject, *key;
    int64_t now;
    bool found;
};

static bool namesake_row(void *user, const void *id, size_t id_len, const void *value, size_t len)
{
    struct namesake *namesake = user;
    const char *subject, *key;
    size_t subject_len, key_len;
    struct err err;
    int64_t expires;
    struct tree *ad = form_parse(namesake->service->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);

    namesake->found = ad && ad_string(ad, "Subject", &subject, &subject_len) &&
                      subject_len == strlen(namesake->subject) && !memcmp(subject, namesake->subject, subject_len) &&
                      ad_integer(ad, "Expires", &expires) && expires > namesake->now &&
                      textmap_find(&namesake->service->revoked, id, id_len) == TEXTMAP_NONE &&
                      !(ad_string(ad, "Delegate", &key, &key_len) && key_len == strlen(namesake->key) &&
                        !memcmp(key, namesake->key, key_len));
    tree_unref(ad);
    return !namesake->found;
}

/* A machine's name belongs to the key that first joined by it. */
static bool name_is_anothers(struct service *service, const char *subject, const struct public_key *key, int64_t now)
{
    char digits[2 * PUBLIC_KEY_BYTES + 1];
    struct namesake namesake = {service, subject, digits, now, false};
    struct err err;

    hex_print(key->bytes, PUBLIC_KEY_BYTES, digits);
    service->shelf->kind->each(service->shelf, TOKEN_SPACE, namesake_row, &namesake, &err);
    return namesake.found;
}

static void join_redeem(struct request *request, const struct tree *ad)
{
    struct service *service = request->service;
    char name[AGENT_NAME_MAX + 1], subject[AGENT_NAME_MAX + 16], key[24], tls[1024];
    unsigned char secret[JOIN_SECRET_BYTES],
        user[PUBLIC_KEY_BYTES + AGENT_NAME_MAX + 1]; /* who redeems it: key and name */
    struct token_terms terms = {.issuer = keyring_pool(service->keys),
                                .subject = subject,
                                .audience = keyring_pool(service->keys),
                                .scope = MACHINE_SCOPES,
                                .issued = runner_wall() / SECOND,
                                .expires = runner_wall() / SECOND + MACHINE_SPAN};
    struct public_key delegate;
    enum join_result result;
    struct join_row row = {0};
    struct err err = {0};
    char *certificate = NULL;
    const char *text;
    size_t len;

    if (!ad_string(ad, "Secret", &text, &len) || !hex_read(text, len, secret, sizeof secret)) {
        request_problem(request, 400, "Secret: %d hexadecimal digits are expected", 2 * JOIN_SECRET_BYTES);
        return;
    }
    if (!body_key(request, ad, "Key", &delegate) || !body_text(request, ad, "Name", NULL, name, sizeof name) ||
        !body_text(request, ad, "TlsKey", "", tls, sizeof tls))
        return;
    if (!agent_name_is_good(name, strlen(name)) || strlen(name) > MACHINE_NAME_MAX) {
        request_problem(request, 400, "Name: up to 50 letters, digits, '.', '_' and '-' are expected");
        return;
    }
    memcpy(user, delegate.bytes, sizeof delegate.bytes);
    memcpy(user + sizeof delegate.bytes, name, sizeof name);
    result = join_book_redeem(service->codes, secret, user, sizeof delegate.bytes + strlen(name), terms.issued, &row);
    LOG_AUDIT(&service->log, "join", log_text("name", name), log_text("result", join_result_words(result)));
    if (result != JOIN_OK) {
        request_problem(request, 403, "%s", join_result_words(result));
        return;
    }
    snprintf(subject, sizeof subject, "machine/%s", name);
    snprintf(key, sizeof key, "%016" PRIx64, row.number);
    terms.delegate = &delegate;
    if (name_is_anothers(service, subject, &delegate, terms.issued))
        request_problem(request, 403,
                        "Name: another machine is called so; revoke its token, or join by a new code and name");
    else if (*tls && keyring_issue(service->keys, tls, name, NULL, 0, terms.issued, &certificate, &err) < 0)
        request_problem(request, 400, "TlsKey: %s", err.text);
    else if (row_put(request, CODE_SPACE, key, strlen(key), row.bytes, sizeof row.bytes))
        token_give(request, 200, &terms, certificate);
    free(certificate);
}

/* Whoever tries codes is slow, wherever from. */
static bool join_paced(struct request *request)
{
    struct service *service = request->service;
    char address[ADDRESS_TEXT_MAX], *colon;
    int64_t wait;
    uint32_t place;

    address_print(exchange_from(request->exchange), address);
    colon = strrchr(address, ':');
    if (colon)
        *colon = '\0'; /* without the port */
    place = callers_add(&service->callers, address, strlen(address), runner_now());
    if (caller_may(&service->callers, place, PACE_PERSON, JOIN_TRIES, runner_now(), &wait))
        return true;
    request_problem(request, 429, "too many tries from that address");
    return false;
}

void api_join(struct request *request)
{
    struct tree *ad;

    if (!join_paced(request))
        return;
    ad = request_body_of(request, "Secret Key Name TlsKey");

    if (ad)
        join_redeem(request, ad);
    tree_unref(ad);
}

void api_keys(struct request *request)
{
    struct service *service = request->service;
    char digits[2 * PUBLIC_KEY_BYTES + 1];
    struct maker maker;

    maker_init(&maker, service->symbols);
    maker_text(&maker, "PoolId", keyring_pool(service->keys));
    for (uint32_t i = 0; i < service->token_keys.count; i++) {
        struct maker key;
        struct tree *ad;

        hex_print(service->token_keys.keys[i].open.bytes, PUBLIC_KEY_BYTES, digits);
        maker_init(&key, service->symbols);
        maker_text(&key, "Id", service->token_keys.keys[i].id);
        maker_text(&key, "Key", digits);
        ad = maker_seal(&key);
        build_copy(&maker.build, ad, tree_root(ad));
        tree_unref(ad);
    }
    build_bind(&maker.build, EXPR_LIST, service->token_keys.count);
    build_attribute(&maker.build, symbols_take(service->symbols, "Keys", 4));
    maker.count++;
    hex_print(keyring_box(service->keys)->open.bytes, BOX_KEY_BYTES, digits);
    maker_text(&maker, "BoxKey", digits);
    maker_text(&maker, "Ca", keyring_ca_pem(service->keys));
    request_ad_take(request, 200, maker_seal(&maker));
}

/* ------------------------------------------------------------------------------------------------------ configuration */

/* The section in the path, as it is kept; NULL when there is none. The caller unrefs it. */
struct section_read {
    struct service *service;
    struct tree *ad;
};

static bool section_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct section_read *read = user;
    struct err err;

    (void)key;
    (void)key_len;
    read->ad = form_parse(read->service->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);
    return false;
}

static struct tree *section_find(struct request *request)
{
    struct service *service = request->service;
    const char *section = request_variable(request, 0);
    struct section_read read = {service, NULL};
    struct err err;

    service->shelf->kind->get(service->shelf, CONFIG_SPACE, section, strlen(section), section_row, &read, &err);
    return read.ad;
}

static bool names_are_good(struct request *request, bool option)
{
    for (int i = 0; i < 1 + option; i++) {
        const char *name = request_variable(request, i);
        size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

        if (name[len] || len > SOURCES_NAME_MAX || (*name >= '0' && *name <= '9')) {
            request_problem(request, 400, "sections and options are called by letters, digits and '_'");
            return false;
        }
    }
    return true;
}

void api_config_section(struct request *request)
{
    struct tree *ad = section_find(request);
    char etag[24];
    const struct http_field fields[] = {{"ETag", etag}};

    if (!ad) {
        request_problem(request, 404, "there is no such section");
        return;
    }
    tree_etag(ad, tree_root(ad), etag);
    if (!answered_unchanged(request, etag))
        request_ad(request, 200, ad, fields, 1);
    tree_unref(ad);
}

/* The value, as an expression; as JSON an ad with the one option. */
void api_config_option(struct request *request)
{
    struct tree *ad = section_find(request), *part;
    const struct expr *e = ad ? ad_find(ad, request_variable(request, 1)) : NULL;
    struct buf *out = &request->service->out;
    char etag[24];
    const struct http_field fields[] = {{"ETag", etag}};

    if (!e) {
        request_problem(request, 404, "there is no such option");
        tree_unref(ad);
        return;
    }
    tree_etag(ad, e, etag);
    if (answered_unchanged(request, etag)) {
        tree_unref(ad);
        return;
    }
    if (request->form == FORM_JSON) {
        part = ad_select(request->service->symbols, ad, request_variable(request, 1));
        request_ad(request, 200, part, fields, 1);
        tree_unref(part);
    } else {
        buf_reset(out);
        print_expr(out, ad, e, PRINT_PLAIN);
        buf_addc(out, '\n');
        request_answer(request, 200, TYPE_CLASSAD, out->text, out->len, fields, 1);
    }
    tree_unref(ad);
}

/* Takes the ad: it is the section from now on. */
static void section_write(struct request *request, struct tree *before, struct tree *ad)
{
    struct service *service = request->service;
    const char *section = request_variable(request, 0);
    struct tree *again;
    struct err err;
    struct buf text;
    char etag[24] = "";

    if (before)
        tree_etag(before, tree_root(before), etag);
    if (!conditions_met(request, before ? etag : NULL)) {
        tree_unref(ad);
        return;
    }
    buf_init(&text);
    represent_ad(&text, FORM_CLASSAD, ad);
    again = form_parse(service->symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&text), text.len, &err);
    tree_unref(again);
    if (!again) {
        request_problem(request, 400, "the name of an option is a word of the language");
        tree_unref(ad);
    } else if (row_put(request, CONFIG_SPACE, section, strlen(section), text.text, text.len)) {
        LOG_AUDIT(&service->log, "config", log_text("subject", request_identity(request)),
                  log_text("section", section));
        tree_etag(ad, tree_root(ad), request->answer_etag);
        request_answer_durable(request, before ? 200 : 201, ad);
    } else {
        tree_unref(ad);
    }
    buf_done(&text);
}

void api_config_put(struct request *request)
{
    struct tree *before, *ad;

    if (!names_are_good(request, false) || !(ad = request_body_ad(request)))
        return;
    if (ad->dialect != &dialect_classic) {
        request_problem(request, 400, "a section is written in the classic dialect");
        tree_unref(ad);
        return;
    }
    before = section_find(request);
    section_write(request, before, ad);
    tree_unref(before);
}

void api_config_put_option(struct request *request)
{
    struct service *service = request->service;
    const char *option = request_variable(request, 1), *body;
    struct parse_options options = {.cells_max = (uint32_t)config_count(&service->config, CONFIG_AD_NODES)};
    struct tree *before, *value;
    struct maker maker;
    struct build build;
    struct err err = {0};
    size_t len;

    if (!names_are_good(request, true))
        return;
    body = exchange_body(request->exchange, &len);
    build_init(&build, service->symbols, &dialect_classic);
    value = utf8_check(body, len, &err) == 0 ? parse_expr(&build, &options, body, len, &err) : NULL;
    build_done(&build);
    if (!value) {
        request_problem(request, 400, "line %u, column %u: %s", err.line, err.column, err.text);
        return;
    }
    before = section_find(request);
    maker_init(&maker, service->symbols);
    if (before)
        maker_parts(&maker, before, option);
    maker_ad(&maker, option, value);
    tree_unref(value);
    section_write(request, before, maker_seal(&maker));
    tree_unref(before);
}

void api_config_delete(struct request *request)
{
    struct service *service = request->service;
    const char *section = request_variable(request, 0);
    struct tree *before = section_find(request);
    char etag[24];
    struct err err;

    if (!before) {
        request_problem(request, 404, "there is no such section");
        return;
    }
    tree_etag(before, tree_root(before), etag);
    tree_unref(before);
    if (!conditions_met(request, etag))
        return;
    if (service->shelf->kind->remove(service->shelf, CONFIG_SPACE, section, strlen(section), &err) < 0) {
        request_store_failed(request, err.text);
        return;
    }
    LOG_AUDIT(&service->log, "config", log_text("subject", request_identity(request)), log_text("section", section),
              log_flag("removed", true));
    request_answer_durable(request, 204, NULL);
}
