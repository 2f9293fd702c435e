/* token_ask.c: asks the pool for a token. */
#include "cli/ask/token_ask.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/auth/token_renewal.h"
#include "sys/encoding.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct tree *wish_body(struct connection *pool, const struct token_wish *wish, const struct token_file *file)
{
    char digits[2 * PUBLIC_KEY_BYTES + 1];
    struct maker maker;

    maker_init(&maker, pool->symbols);
    maker_text(&maker, "Subject", wish->subject);
    maker_text(&maker, "Scope", wish->scope);
    if (wish->lifetime)
        maker_integer(&maker, "Lifetime", wish->lifetime);
    if (file->has_key) {
        hex_print(file->key.open.bytes, PUBLIC_KEY_BYTES, digits);
        maker_text(&maker, "Delegate", digits);
    }
    return maker_seal(&maker);
}

static char *ad_text_dup(const struct tree *ad, const char *name)
{
    const char *text;
    size_t len;

    return ad_string(ad, name, &text, &len) ? mem_dup(text, len) : NULL;
}

void machine_name(const char *given, char ret[MACHINE_NAME_MAX + 1])
{
    char host[256] = "";
    size_t len = 0;

    if (!given && gethostname(host, sizeof host - 1) == 0)
        given = host;
    for (; given && *given && len < MACHINE_NAME_MAX; given++)
        if (isalnum((unsigned char)*given) || strchr("._-", *given))
            ret[len++] = *given;
    ret[len] = '\0';
    if (!len)
        snprintf(ret, MACHINE_NAME_MAX + 1, "machine");
}

int token_answer(const struct tree *answer, struct token_file *file)
{
    file->token = ad_text_dup(answer, "Token");
    file->pool = ad_text_dup(answer, "Pool");
    file->others = ad_text_dup(answer, "Others");
    file->ca = ad_text_dup(answer, "Ca");
    if (file->token)
        return STATUS_DONE;
    report("the pool answered without a token");
    return STATUS_UNREACHABLE;
}

int token_ask(struct connection *pool, const struct token_wish *wish, struct token_file *ret)
{
    struct connection_ask ask = {.method = "POST", .path = "/v1/tokens"};
    struct tree *body, *answer = NULL;
    int status;

    token_file_init(ret);
    if (!wish->no_delegation) {
        signing_key_draw(&ret->key);
        ret->has_key = true;
    }
    body = wish_body(pool, wish, ret);
    ask.body = body;
    status = connection_fetch_ad(pool, &ask, &answer);
    tree_unref(body);
    if (status == STATUS_DONE)
        status = token_answer(answer, ret);
    tree_unref(answer);
    return status;
}

/* What is asked for, and the proof; NULL: the token cannot be renewed. */
static struct tree *renewal_body(struct connection *pool)
{
    char id[TOKEN_ID_DIGITS + 1];
    struct tree *body = NULL;
    struct maker maker;
    struct buf proof;

    buf_init(&proof);
    if (token_renewal_prove(&proof, &pool->token, time(NULL), id) == 0) {
        maker_init(&maker, pool->symbols);
        maker_text(&maker, "Id", id);
        maker_text(&maker, "Proof", buf_string(&proof));
        body = maker_seal(&maker);
    }
    buf_done(&proof);
    return body;
}

bool token_is_old(const struct connection *pool)
{
    struct grant grant;

    return pool->token_name && !pool->token_named && pool->token.has_key &&
           token_read(pool->token.token, strlen(pool->token.token), &grant) == TOKEN_OK &&
           token_renewal_due(&grant, time(NULL));
}

void token_keep_good(struct connection *pool)
{
    struct connection_ask ask = {
        .method = "POST", .path = "/v1/renewals", .hush = true, .mute = true, .quiet = true, .hasty = true};
    char *text, *before = pool->token.token;
    struct tree *body, *answer = NULL;

    if (pool->places[0].socket || !token_is_old(pool))
        return;
    body = renewal_body(pool);
    ask.body = body;
    if (body && connection_fetch_ad(pool, &ask, &answer) == STATUS_DONE) {
        text = ad_text_dup(answer, "Token");
        if (text) {
            pool->token.token = text;
            token_file_write(pool->token_name, &pool->token, NULL); /* or else the next command tries it again */
            buf_wipe(&pool->bearer);
            free(before);
        }
    }
    tree_unref(body);
    tree_unref(answer);
}
