/* daemon_tokens.c: keeps the tokens of an agent good: reads their files again, since somebody else may look after them; and has those that are in the
 * second half of their life renewed by their pools (auth/token_renewal.h), into the same files. */
#include "live/agent/daemon_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/auth/token_renewal.h"
#include "live/http/represent.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOKS 8      /* before a token ends */
#define LOOK_MIN 1   /* seconds between two of them ... */
#define LOOK_MAX 600 /* ... and at most */

/* A token that the daemon has: of its own pool, or of another. */
struct tended {
    const char *path, *identity;
    struct token_file *token;
    agent matchmaker;
};

static void tended_at(struct daemon *daemon, uint32_t place, struct tended *ret)
{
    if (!place) {
        *ret = (struct tended){daemon->token_path, daemon->identity, &daemon->token, agent_matchmaker()};
    } else {
        struct daemon_pool *pool = &daemon->others[place - 1];

        *ret = (struct tended){pool->token_path, pool->identity, &pool->token,
                               agent_pool_matchmaker(daemon->pools[place - 1].name)};
    }
}

/* A file may hold a newer token: whoever looks after it renews it before it ends. */
static void token_renew(struct daemon *daemon, const char *path, const char *identity, struct token_file *token)
{
    struct token_file fresh;
    struct grant grant, before;
    struct err err = {0};

    if (token_file_read(path, &fresh, &err) < 0) {
        LOG(&daemon->log, LEVEL_WARNING, "token", log_text("why", err.text));
        return;
    }
    if (fresh.has_key && strcmp(fresh.token, token->token) != 0 &&
        token_read(fresh.token, strlen(fresh.token), &grant) == TOKEN_OK && !strcmp(grant.subject, identity) &&
        token_read(token->token, strlen(token->token), &before) == TOKEN_OK && !strcmp(grant.issuer, before.issuer)) {
        token_file_done(token);
        *token = fresh;
        LOG(&daemon->log, LEVEL_INFO, "token.renewed", log_text("subject", identity));
        return;
    }
    token_file_done(&fresh);
}

struct renewing {
    struct daemon *daemon;
    uint32_t place;
};

/* Writes the new token in the place of the old one, whose key it has, and takes it on. */
static void renewal_came(void *user, unsigned status, const char *body, size_t len)
{
    struct renewing *renewing = user;
    struct daemon *daemon = renewing->daemon;
    struct err err = {0};
    struct tree *ad = body ? form_parse(daemon->symbols, &dialect_classic, FORM_CLASSAD, NULL, body, len, &err) : NULL;
    struct tended tended;
    struct token_file fresh;
    const char *text;
    size_t text_len;

    (void)status;
    tended_at(daemon, renewing->place, &tended);
    if (ad && ad_string(ad, "Token", &text, &text_len)) {
        fresh = *tended.token;
        fresh.token = mem_dup(text, text_len);
        if (token_file_write(tended.path, &fresh, &err) < 0)
            LOG(&daemon->log, LEVEL_WARNING, "token", log_text("why", err.text));
        else
            token_renew(daemon, tended.path, tended.identity, tended.token);
        free(fresh.token);
    }
    tree_unref(ad);
    free(renewing);
}

static void renewal_ask(struct daemon *daemon, uint32_t place)
{
    char id[TOKEN_ID_DIGITS + 1];
    struct buf proof, body;
    struct tended tended;
    struct grant grant;
    int64_t now = time(NULL);

    tended_at(daemon, place, &tended);
    if (token_read(tended.token->token, strlen(tended.token->token), &grant) != TOKEN_OK ||
        !token_renewal_due(&grant, now))
        return;
    buf_init(&proof);
    buf_init(&body);
    if (token_renewal_prove(&proof, tended.token, now, id) == 0) {
        struct renewing *renewing = mem_alloc(sizeof *renewing);
        struct maker maker;
        struct tree *ad;

        *renewing = (struct renewing){daemon, place};
        maker_init(&maker, daemon->symbols);
        maker_text(&maker, "Id", id);
        maker_text(&maker, "Proof", buf_string(&proof));
        ad = maker_seal(&maker);
        represent_ad(&body, FORM_CLASSAD, ad);
        tree_unref(ad);
        if (!agent_post(daemon->live, tended.matchmaker, "/v1/renewals", &body, renewal_came, renewing))
            free(renewing);
    }
    buf_done(&proof);
    buf_done(&body);
}

/* A token that does not last long is looked at more often. */
static int64_t look_after(const struct token_file *token, int64_t now)
{
    struct grant grant;
    int64_t left = token_read(token->token, strlen(token->token), &grant) == TOKEN_OK ? grant.expires - now : 0;

    return left < 0 || left / LOOKS > LOOK_MAX ? LOOK_MAX : left / LOOKS < LOOK_MIN ? LOOK_MIN : left / LOOKS;
}

uint64_t daemon_tokens_tend(struct daemon *daemon)
{
    int64_t now = time(NULL), soonest = LOOK_MAX;

    for (uint32_t i = 0; i <= daemon->other_count; i++) {
        struct tended tended;

        tended_at(daemon, i, &tended);
        token_renew(daemon, tended.path, tended.identity, tended.token);
        renewal_ask(daemon, i);
        if (look_after(tended.token, now) < soonest)
            soonest = look_after(tended.token, now);
    }
    return (uint64_t)soonest * 1000;
}
