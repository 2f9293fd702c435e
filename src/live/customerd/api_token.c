/* api_token.c: a token with which a user of this machine may ask the pool, on the customer's word (POST /v1/loans of the matchmaker). The same one is
 * given until half of its time is over. */
#include "live/customerd/customerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "sys/secrets.h"

#include <stdlib.h>
#include <string.h>

#define LENT_MOST 4096 /* users whose tokens are kept */

struct lent {
    struct tree *answer; /* the matchmaker's: Token, Pool, Ca, Subject, Expires */
    int64_t again;       /* when another is asked for, in seconds on the wall clock */
};

struct lent_tokens {
    struct textmap users;
    struct lent *items;
    uint32_t room;
};

/* A request that waits for its token. */
struct lending {
    struct customerd *customerd;
    struct request *request; /* NULL: it has gone */
    char user[TOKEN_NAME_MAX + 1];
};

void lent_tokens_done(struct customerd *customerd)
{
    struct lent_tokens *lent = customerd->lent;

    if (!lent)
        return;
    for (uint32_t i = 0; i < lent->users.places; i++)
        if (textmap_text(&lent->users, i))
            tree_unref(lent->items[i].answer);
    free(lent->items);
    textmap_done(&lent->users);
    free(lent);
    customerd->lent = NULL;
}

static struct lent *lent_find(const struct customerd *customerd, const char *user)
{
    uint32_t place = customerd->lent ? textmap_find(&customerd->lent->users, user, strlen(user)) : TEXTMAP_NONE;

    return place == TEXTMAP_NONE ? NULL : &customerd->lent->items[place];
}

static void lent_keep(struct customerd *customerd, const char *user, struct tree *answer, int64_t expires)
{
    int64_t now = runner_wall() / SECOND;
    struct lent_tokens *lent;
    struct lent *one = lent_find(customerd, user);

    if (customerd->lent && customerd->lent->users.count >= LENT_MOST && !one)
        lent_tokens_done(customerd); /* rare, and they are only asked for again */
    if (!customerd->lent) {
        customerd->lent = mem_alloc(sizeof *customerd->lent);
        *customerd->lent = (struct lent_tokens){.items = NULL};
        textmap_init(&customerd->lent->users, secrets_word(&secrets_live));
    }
    lent = customerd->lent;
    if (!one) {
        uint32_t place = textmap_add(&lent->users, user, strlen(user));

        ARRAY_ROOM(lent->items, place, lent->room, 16);
        one = &lent->items[place];
        *one = (struct lent){.answer = NULL};
    }
    tree_unref(one->answer);
    *one = (struct lent){tree_ref(answer), now + (expires - now) / 2};
}

static void lending_forget(struct request *request)
{
    ((struct lending *)request->work)->request = NULL;
}

static void token_came(void *user, const char *body, size_t len)
{
    struct lending *lending = user;
    struct customerd *customerd = lending->customerd;
    struct request *request = lending->request;
    struct err err = {0};
    struct tree *answer =
        body ? form_parse(customerd->daemon.symbols, &dialect_classic, FORM_CLASSAD, NULL, body, len, &err) : NULL;
    int64_t expires = 0;

    if (request) {
        request->work = NULL;
        request->forget = NULL;
    }
    if (answer && ad_find(answer, "Token") && ad_integer(answer, "Expires", &expires))
        lent_keep(customerd, lending->user, answer, expires);
    if (request && expires)
        request_ad_take(request, 201, tree_ref(answer));
    else if (request)
        request_problem(request, 503, "the matchmaker gives no token for you now");
    tree_unref(answer);
    free(lending);
}

/* Asks the matchmaker. */
static void token_ask_for(struct request *request, const char *user)
{
    struct customerd *customerd = request_customerd(request);
    struct lending *lending = mem_alloc(sizeof *lending);
    struct maker maker;
    struct tree *ad;
    struct buf body;

    *lending = (struct lending){.customerd = customerd, .request = request};
    snprintf(lending->user, sizeof lending->user, "%s", user);
    maker_init(&maker, customerd->daemon.symbols);
    maker_text(&maker, "Subject", user);
    ad = maker_seal(&maker);
    buf_init(&body);
    represent_ad(&body, FORM_CLASSAD, ad);
    tree_unref(ad);
    request->work = lending;
    request->forget = lending_forget;
    if (!agent_post(customerd->live, agent_matchmaker(), "/v1/loans", &body, token_came, lending)) {
        request->work = NULL;
        request->forget = NULL;
        free(lending);
        request_problem(request, 503, "the matchmaker cannot be asked now");
    }
    buf_done(&body);
}

void api_user_token(struct request *request)
{
    const struct lent *lent = lent_find(request_customerd(request), request_identity(request));

    if (!request->caller.local || caller_sees_all(request))
        request_problem(request, 403, "tokens are lent to users of this machine, by the customer's socket");
    else if (lent && runner_wall() / SECOND < lent->again)
        request_ad_take(request, 201, tree_ref(lent->answer));
    else
        token_ask_for(request, request_identity(request));
}
