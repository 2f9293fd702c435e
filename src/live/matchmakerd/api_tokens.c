/* api_tokens.c: tokens: made, listed, revoked. What is recorded about a token is durable before it is answered; the token itself is not kept. */
#include "live/matchmakerd/api_tokens.h"
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/api_events.h"
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"
#include "live/matchmakerd/shut_out.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "live/auth/roles.h"
#include "live/http/represent.h"
#include "store/store.h"
#include "sys/encoding.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define REVOKED_SPAN (INT64_C(400) * 86400) /* longer than any token lasts */

/* Records who made which token, for whom and until when; never the token itself. */
static bool token_note(struct request *request, const struct token_terms *terms, const char *id, const char *what)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    char key[2 * PUBLIC_KEY_BYTES + 1];
    struct maker maker;
    struct tree *ad;
    struct buf text, scope, detail;
    const char *by = request->caller.identity == CALLERS_NONE ? terms->subject : request_identity(request);
    bool kept;

    buf_init(&text);
    buf_init(&scope);
    buf_init(&detail);
    scopes_print(&scope, terms->scope);
    maker_init(&maker, matchmakerd->symbols);
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
    maker_text(&maker, "Follows", terms->follows);
    maker_text(&maker, "Code", terms->code);
    if (!strcmp(what, "tokens.lend") || !strcmp(what, "tokens.renew") || !strcmp(what, "tokens.exchange"))
        maker_text(&maker, "How", what); /* no administrator's decision: it counts for who asked (token_tally.h) */
    if (terms->bounded) {                /* what the pool's own token cannot say */
        maker_text(&maker, "Of", terms->follows);
        maker_text(&maker, "Group", terms->group);
        maker_text(&maker, "UnixAccount", terms->unix_account && *terms->unix_account ? terms->unix_account : NULL);
    }
    ad = maker_seal(&maker);
    represent_ad(&text, FORM_CLASSAD, ad);
    buf_addf(&detail, "%s, scope %s", id, buf_string(&scope));
    kept = request_row_put(request, TOKEN_SPACE, id, strlen(id), text.text, text.len) &&
           request_audit_as(request, by, what, terms->subject, buf_string(&detail));
    if (kept)
        token_tally_add(&matchmakerd->made, id, ad);
    LOG_AUDIT(&matchmakerd->log, "token", log_text("subject", request_identity(request)),
              log_text("for", terms->subject), log_text("id", id), log_text("scope", buf_string(&scope)),
              log_number("expires", terms->expires));
    tree_unref(ad);
    buf_done(&text);
    buf_done(&scope);
    buf_done(&detail);
    return kept;
}

bool token_room(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    uint64_t most = config_count(&matchmakerd->config, CONFIG_TOKENS_PER_IDENTITY);
    const char *account = caller_text(&matchmakerd->gate.callers, request->caller.account);

    if (token_tally_of(&matchmakerd->made, account) < most)
        return true;
    request_problem(request, 429,
                    "TokensPerIdentity: %s has %" PRIu64
                    " tokens made that have not ended; there is room when some of them end",
                    account, most);
    return false;
}

static bool made_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct matchmakerd *matchmakerd = user;
    struct err err;
    struct tree *ad = form_parse(matchmakerd->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);

    if (key_len == TOKEN_ID_DIGITS)
        token_tally_add(&matchmakerd->made, key, ad);
    tree_unref(ad);
    return true;
}

int tokens_load(struct matchmakerd *matchmakerd, struct err *err)
{
    return matchmakerd->shelf->kind->each(matchmakerd->shelf, TOKEN_SPACE, made_row, matchmakerd, err);
}

/* The addresses of the matchmakers that stand by for this one, with blanks between. */
static void others_print(const struct matchmakerd *matchmakerd, struct buf *out)
{
    struct store_replica replicas[STORE_REPLICAS_MAX];
    uint32_t count = matchmakerd_replicas(matchmakerd, replicas);

    for (uint32_t i = 0; i < count; i++)
        if (*replicas[i].url && strcmp(replicas[i].url, matchmakerd->url) != 0)
            buf_addf(out, "%s%s", out->len ? " " : "", replicas[i].url);
}

void token_give(struct request *request, unsigned status, const struct token_terms *terms, const char *what)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    char id[TOKEN_ID_DIGITS + 1];
    struct maker maker;
    struct err err = {0};
    struct buf text, others;

    const struct disabled_entry *disabled =
        disabled_find(&matchmakerd->disabled, terms->subject, strlen(terms->subject));

    if (disabled) {
        request_problem(request, 403, "%s", disabled->words);
        return;
    }
    buf_init(&text);
    if (token_sign(&text, keyring_current(matchmakerd->keys), terms, id, &err) < 0) {
        request_problem(request, 400, "%s", err.text);
    } else if (token_note(request, terms, id, what)) {
        maker_init(&maker, matchmakerd->symbols);
        maker_text(&maker, "Token", buf_string(&text));
        maker_text(&maker, "Id", id);
        maker_text(&maker, "Subject", terms->subject);
        maker_integer(&maker, "Expires", terms->expires);
        maker_text(&maker, "PoolId", keyring_pool(matchmakerd->keys));
        maker_text(&maker, "Pool", matchmakerd->url);
        buf_init(&others);
        others_print(matchmakerd, &others);
        maker_text(&maker, "Others", others.len ? buf_string(&others) : NULL);
        buf_done(&others);
        maker_text(&maker, "Ca", keyring_ca_pem(matchmakerd->keys));
        request_answer_durable(request, status, maker_seal(&maker));
    }
    buf_wipe(&text);
    buf_done(&text);
}

/* Reads the span and the key that a token shall have, where the body says so; `span` is the default. False after a problem was answered. */
static bool body_terms(struct request *request, const struct tree *ad, double span, struct token_terms *terms,
                       struct public_key *delegate)
{
    if (ad_find(ad, "Lifetime") &&
        (!ad_number(ad, "Lifetime", &span) || !(span >= 1) || span > (double)TOKEN_SPAN_MAX)) {
        request_problem(request, 400, "Lifetime: expected 1 second to a year");
        return false;
    }
    if (ad_find(ad, "Delegate")) {
        if (!body_key(request, ad, "Delegate", delegate))
            return false;
        terms->delegate = delegate;
    }
    terms->expires = terms->issued + (int64_t)span;
    return true;
}

static bool body_scope(struct request *request, const struct tree *ad, const char *missing, scopes *ret)
{
    char scope[256];

    if (!body_text(request, ad, "Scope", missing, scope, sizeof scope))
        return false;
    if (scopes_read(scope, strlen(scope), ret))
        return true;
    request_problem(request, 400, "Scope: expected names of scopes with blanks between");
    return false;
}

static double token_span(const struct matchmakerd *matchmakerd)
{
    return (double)config_span(&matchmakerd->config, CONFIG_TOKEN_LIFETIME) / (double)SECOND;
}

bool scopes_are_own(struct request *request, scopes scope)
{
    scopes more = request->caller.scope & SCOPE_ADMIN ? SCOPE_NONE : scope & ~request->caller.scope;
    struct buf words;

    if (!more)
        return true;
    buf_init(&words);
    scopes_print(&words, more);
    request_problem(request, 403, "your own token does not have what this one would: %s", buf_string(&words));
    buf_done(&words);
    return false;
}

static void token_create(struct request *request, const struct tree *ad)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    char subject[TOKEN_NAME_MAX + 1];
    struct token_terms terms = {.issuer = keyring_pool(matchmakerd->keys),
                                .subject = subject,
                                .audience = keyring_pool(matchmakerd->keys),
                                .issued = runner_wall() / SECOND};
    struct public_key delegate;

    if (!body_text(request, ad, "Subject", request_identity(request), subject, sizeof subject) ||
        !body_scope(request, ad, "ad:read", &terms.scope))
        return;
    if (!scopes_are_own(request, terms.scope))
        return;
    if (strlen(subject) > TEXT_MAX) {
        request_problem(request, 400, "Subject: expected up to %d bytes", TEXT_MAX);
        return;
    }
    if (!strcmp(subject, "matchmaker")) {
        request_problem(request, 403, "Subject: that identity is the matchmaker's own");
        return;
    }
    if (body_terms(request, ad, token_span(matchmakerd), &terms, &delegate))
        token_give(request, 201, &terms, "tokens.create");
}

void api_token_create(struct request *request)
{
    struct tree *ad = request_body_of(request, "Subject Scope Lifetime Delegate");

    if (ad)
        token_create(request, ad);
    tree_unref(ad);
}

/* A token of the pool for one of another issuer: for the same person, no wider and no longer; it follows that one, and is revoked with it. Tokens of the pool
 * are not taken: they are renewed, by who has their key. */
static void token_exchange(struct request *request, const struct tree *ad)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const struct caller *caller = &request->caller;
    char subject[TOKEN_NAME_MAX + 1];
    struct token_terms terms = {.issuer = keyring_pool(matchmakerd->keys),
                                .subject = subject,
                                .audience = keyring_pool(matchmakerd->keys),
                                .issued = runner_wall() / SECOND,
                                .bounded = true,
                                .group = caller->grouped ? caller->group : NULL,
                                .unix_account = caller->unix_account,
                                .follows = caller->ids[0]};
    struct public_key delegate;
    struct buf all;
    bool good;

    if (!caller->foreign) {
        request_problem(request, 403, "only the token of an institute is exchanged: this one is the pool's already");
        return;
    }
    buf_init(&all);
    scopes_print(&all, caller->scope);
    good = body_scope(request, ad, buf_string(&all), &terms.scope) &&
           body_terms(request, ad, token_span(matchmakerd), &terms, &delegate);
    buf_done(&all);
    if (!good)
        return;
    if (terms.scope & ~caller->scope) {
        request_problem(request, 403, "Scope: the token that was shown does not have all of it");
        return;
    }
    if (terms.expires > caller->expires)
        terms.expires = caller->expires;
    snprintf(subject, sizeof subject, "%s", request_identity(request));
    if (token_room(request))
        token_give(request, 201, &terms, "tokens.exchange");
}

void api_token_exchange(struct request *request)
{
    struct tree *ad = request_body_of(request, "Scope Lifetime Delegate");

    if (ad)
        token_exchange(request, ad);
    tree_unref(ad);
}

/* The ids of tokens that have expired, collected first: the shelf must not change while it is read. */
struct ended {
    struct matchmakerd *matchmakerd;
    struct buf ids;
    int64_t now;
};

static bool ended_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct ended *ended = user;
    struct err err;
    int64_t expires;
    struct tree *ad = form_parse(ended->matchmakerd->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);

    if (key_len == TOKEN_ID_DIGITS && (!ad || !ad_integer(ad, "Expires", &expires) || expires < ended->now)) {
        buf_add(&ended->ids, key, key_len);
        token_tally_remove(&ended->matchmakerd->made, key, ad);
    }
    tree_unref(ad);
    return ended->ids.len < TOKEN_ID_DIGITS * 1000; /* the rest next time */
}

void tokens_sweep(struct matchmakerd *matchmakerd)
{
    struct ended ended = {.matchmakerd = matchmakerd, .now = runner_settled(matchmakerd->runner) / SECOND};
    struct shelf *shelf = matchmakerd->shelf;
    struct err err;

    buf_init(&ended.ids);
    if (shelf->kind->each(shelf, TOKEN_SPACE, ended_row, &ended, &err) < 0) {
        runner_misread(matchmakerd->runner); /* nothing follows from it: the next sweep looks again */
        buf_reset(&ended.ids);
    }
    for (size_t at = 0; at < ended.ids.len; at += TOKEN_ID_DIGITS)
        shelf->kind->remove(shelf, TOKEN_SPACE, ended.ids.text + at, TOKEN_ID_DIGITS, &err);
    if (ended.ids.len)
        runner_commit(matchmakerd->runner, NULL, NULL);
    buf_done(&ended.ids);
}

struct token_tour {
    struct collection *collection;
    struct matchmakerd *matchmakerd;
};

/* The role that a token's scopes are; NULL: they are none. */
static const struct role_row *row_role(const struct tree *ad)
{
    const char *scope, *subject;
    char whose[TOKEN_NAME_MAX + 1];
    scopes set;
    size_t len, subject_len;

    if (!ad_string(ad, "Scope", &scope, &len) || !scopes_read(scope, len, &set) ||
        !ad_string(ad, "Subject", &subject, &subject_len) || subject_len >= sizeof whose)
        return NULL;
    snprintf(whose, sizeof whose, "%.*s", (int)subject_len, subject);
    return role_of(set, whose);
}

static bool token_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct token_tour *scan = user;
    const struct role_row *role;
    struct tree *ad, *whole;
    struct maker maker;
    struct err err;

    ad = form_parse(scan->matchmakerd->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);
    if (!ad)
        return true;
    maker_init(&maker, scan->matchmakerd->symbols);
    maker_parts(&maker, ad, NULL);
    role = row_role(ad);
    maker_text(&maker, "Role", role ? role->name : NULL);
    maker_flag(&maker, "Revoked", textmap_find(&scan->matchmakerd->revoked, key, key_len) != TEXTMAP_NONE);
    whole = maker_seal(&maker);
    tree_unref(ad);
    return collection_add(scan->collection, whole);
}

void api_tokens_list(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct collection collection;
    struct token_tour scan = {&collection, matchmakerd};
    struct err err;

    if (!collection_begin(&collection, request))
        return;
    matchmakerd->shelf->kind->each(matchmakerd->shelf, TOKEN_SPACE, token_row, &scan, &err);
    collection_end(&collection);
}

/* Finds the tokens that follow one of these: they were made by renewing it. */
struct followers {
    struct matchmakerd *matchmakerd;
    struct textmap ids;
    bool more;
};

static bool follower_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct followers *followers = user;
    struct err err;
    const char *before;
    bool follows = false;
    size_t before_len;
    struct tree *ad =
        form_parse(followers->matchmakerd->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);

    if (ad && ad_string(ad, "Follows", &before, &before_len))
        for (size_t at = 0; at + TOKEN_ID_DIGITS <= before_len; at += TOKEN_ID_DIGITS + 1)
            follows = follows || textmap_find(&followers->ids, before + at, TOKEN_ID_DIGITS) != TEXTMAP_NONE;
    if (follows && textmap_find(&followers->ids, key, key_len) == TEXTMAP_NONE) {
        textmap_add(&followers->ids, key, key_len);
        followers->more = true;
    }
    tree_unref(ad);
    return true;
}

/* Fills in the token and all that followed it; -1: not all of them could be read. */
static int followers_find(struct followers *followers, const char *id)
{
    struct shelf *shelf = followers->matchmakerd->shelf;
    struct err err;
    int failed;

    textmap_init(&followers->ids, 0);
    textmap_add(&followers->ids, id, strlen(id));
    do {
        followers->more = false;
        failed = shelf->kind->each(shelf, TOKEN_SPACE, follower_row, followers, &err);
    } while (!failed && followers->more);
    return failed;
}

/* Revokes one id. False, after a problem was answered, when the store has failed. */
static bool id_revoke(struct request *request, const char *id)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    char ends[24];

    snprintf(ends, sizeof ends, "%" PRId64, runner_wall() / SECOND + REVOKED_SPAN);
    if (!request_row_put(request, REVOKED_SPACE, id, strlen(id), ends, strlen(ends)))
        return false;
    textmap_add(&matchmakerd->revoked, id, strlen(id));
    waitings_revoked(matchmakerd, id);
    return agents_revoke(request, id);
}

/* Any id may be revoked, since the ids of delegated tokens are not known here; those that the token was renewed by go with it. A revoked id is
 * remembered for as long as a token can last. */
void api_token_revoke(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct followers followers = {.matchmakerd = matchmakerd};
    const char *id = request_variable(request, 0);
    unsigned char bytes[TOKEN_ID_DIGITS / 2];
    bool good = true;

    if (!hex_read(id, strlen(id), bytes, sizeof bytes)) {
        request_problem(request, 400, "the id of a token has %d hexadecimal digits", TOKEN_ID_DIGITS);
        return;
    }
    if (followers_find(&followers, id) < 0) {
        request_problem_with(request, 503, STORE_AWAY_WORDS, "Retry-After", STORE_AWAY_AGAIN);
        good = false;
    }
    for (uint32_t i = 0; good && i < followers.ids.places; i++)
        good = id_revoke(request, textmap_text(&followers.ids, i));
    textmap_done(&followers.ids);
    if (!good || !request_audit(request, "tokens.revoke", id, NULL))
        return;
    LOG_AUDIT(&matchmakerd->log, "revoked", log_text("subject", request_identity(request)), log_text("id", id));
    request_answer_durable(request, 204, NULL);
}
