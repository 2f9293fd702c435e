/* api_renew.c: tokens without thinking: one that is renewed by whoever holds its key, and one for a user on the word of a submit host.
 *
 *     POST /v1/renewals     Id, Proof (token_renewal.h) -> the same token, for as long as the one before
 *     POST /v1/loans      Subject, from a customer with the scope `serve` -> a token with which that user may ask, and do nothing else */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/api_tokens.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "live/auth/token_renewal.h"
#include "sys/encoding.h"

#include <stdio.h>
#include <string.h>

#define LENT_SCOPES (SCOPE_AD_READ | SCOPE_MATCH)
#define LENT_SPAN (INT64_C(12) * 3600) /* seconds */

/* What was recorded about a token. */
struct record_of_token {
    struct symbols *symbols;
    bool found, delegates, foreign; /* foreign: it was given for the token of an institute */
    char subject[TOKEN_NAME_MAX + 1];
    scopes scope;
    int64_t issued, expires;
    struct public_key delegate;
};

static bool record_read(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct record_of_token *record = user;
    struct err err;
    struct tree *ad = form_parse(record->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);
    char scope[256], digits[2 * PUBLIC_KEY_BYTES + 1];

    (void)key, (void)key_len;
    record->found = ad && ad_text(ad, "Subject", record->subject, sizeof record->subject) &&
                    ad_text(ad, "Scope", scope, sizeof scope) && scopes_read(scope, strlen(scope), &record->scope) &&
                    ad_integer(ad, "Issued", &record->issued) && ad_integer(ad, "Expires", &record->expires);
    record->delegates = record->found && ad_text(ad, "Delegate", digits, sizeof digits) &&
                        hex_read(digits, strlen(digits), record->delegate.bytes, PUBLIC_KEY_BYTES);
    record->foreign = record->found && ad_find(ad, "Of");
    tree_unref(ad);
    return false;
}

static void token_renew_by(struct request *request, const struct tree *ad)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct record_of_token record = {.symbols = matchmakerd->symbols};
    struct shelf *shelf = matchmakerd->shelf;
    int64_t now = runner_wall() / SECOND;
    struct token_terms terms = {.issuer = keyring_pool(matchmakerd->keys),
                                .audience = keyring_pool(matchmakerd->keys),
                                .issued = now,
                                .subject = record.subject};
    char id[TOKEN_ID_DIGITS + 1] = "", proof[RENEWAL_PROOF_MAX + 1] = "";
    struct err err = {0};

    if (!body_text(request, ad, "Id", NULL, id, sizeof id) ||
        !body_text(request, ad, "Proof", NULL, proof, sizeof proof))
        return;
    if (shelf->kind->get(shelf, TOKEN_SPACE, id, strlen(id), record_read, &record, &err) < 0) {
        request_problem_with(request, 503, STORE_AWAY_WORDS, "Retry-After", STORE_AWAY_AGAIN);
        return;
    }
    if (record.foreign && request->caller.links && !strcmp(request->caller.ids[0], id)) {
        request_problem(
            request, 403,
            "the token was given for that of an institute, and ends with it: show a new one of the institute");
        return;
    }
    /* Who asks has passed the gate with a token of that root: it is not revoked, and has not ended. */
    if (!request->caller.links || strcmp(request->caller.ids[0], id) != 0 || !record.found || !record.delegates ||
        !token_renewal_proved(&record.delegate, id, proof, strlen(proof), now)) {
        request_problem(request, 403, "only who holds the key of a token can have it renewed");
        return;
    }
    if (now < record.issued + (record.expires - record.issued) / 4) {
        request_problem(request, 409, "it is too early: the token has more than three quarters of its life before it");
        return;
    }
    terms.scope = record.scope;
    terms.expires = now + (record.expires - record.issued);
    terms.delegate = &record.delegate;
    terms.follows = id;
    if (token_room(request))
        token_give(request, 201, &terms, "tokens.renew");
}

void api_token_renew(struct request *request)
{
    struct tree *ad = request_body_of(request, "Id Proof");

    if (ad)
        token_renew_by(request, ad);
    tree_unref(ad);
}

/* A submit host says who its users are, as it does in their requests. With what it gets for them nothing can be done but asking: it can act for them in
 * its own queue alone. */
static void token_lend(struct request *request, const struct tree *ad)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    int64_t now = runner_wall() / SECOND;
    char subject[TOKEN_NAME_MAX + 1];
    struct token_terms terms = {.issuer = keyring_pool(matchmakerd->keys),
                                .subject = subject,
                                .audience = keyring_pool(matchmakerd->keys),
                                .scope = LENT_SCOPES,
                                .issued = now,
                                .expires = now + LENT_SPAN};

    if (!body_text(request, ad, "Subject", NULL, subject, sizeof subject))
        return;
    if (strlen(subject) > TEXT_MAX || !unix_account_valid(subject)) {
        request_problem(request, 400, "Subject: expected the name of a user");
        return;
    }
    if (token_room(request))
        token_give(request, 201, &terms, "tokens.lend");
}

void api_token_lend(struct request *request)
{
    struct tree *ad = request_body_of(request, "Subject");

    if (ad)
        token_lend(request, ad);
    tree_unref(ad);
}
