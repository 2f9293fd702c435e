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
    struct lending *next;
    struct asking *asking;
    struct request *request;
};

/* The matchmaker is being asked for the token of a user: once, however many requests wait for it. */
struct asking {
    struct asking *next;
    struct customerd *customerd;
    struct lending *first;
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
    struct lending *lending = request->work, **link = &lending->asking->first;

    while (*link != lending)
        link = &(*link)->next;
    *link = lending->next;
    free(lending);
}

static void asking_end(struct asking *asking)
{
    struct asking **link = &asking->customerd->askings;

    while (*link != asking)
        link = &(*link)->next;
    *link = asking->next;
    free(asking);
}

/* Answers one of those who wait; NULL: there is no token. */
static void lending_answer(struct asking *asking, struct tree *answer, const char *why)
{
    struct lending *lending = asking->first;
    struct request *request = lending->request;

    asking->first = lending->next;
    free(lending);
    request->work = NULL;
    request->forget = NULL;
    if (answer)
        request_ad_take(request, 201, tree_ref(answer));
    else
        request_problem(request, 503, "%s", why);
}

static void token_came(void *user, unsigned status, const char *body, size_t len)
{
    struct asking *asking = user;
    struct customerd *customerd = asking->customerd;
    struct err err = {0};
    struct tree *answer =
        body ? form_parse(customerd->daemon.symbols, &dialect_classic, FORM_CLASSAD, NULL, body, len, &err) : NULL;
    int64_t expires = 0;

    (void)status;
    if (answer && ad_find(answer, "Token") && ad_integer(answer, "Expires", &expires))
        lent_keep(customerd, asking->user, answer, expires);
    while (asking->first)
        lending_answer(asking, expires ? answer : NULL, "the matchmaker gives no token for you now");
    tree_unref(answer);
    asking_end(asking);
}

/* Asks the matchmaker. False: it cannot be asked. */
static bool asking_post(struct asking *asking)
{
    struct customerd *customerd = asking->customerd;
    struct maker maker;
    struct tree *ad;
    struct buf body;
    bool posted;

    maker_init(&maker, customerd->daemon.symbols);
    maker_text(&maker, "Subject", asking->user);
    ad = maker_seal(&maker);
    buf_init(&body);
    represent_ad(&body, FORM_CLASSAD, ad);
    tree_unref(ad);
    posted = agent_post(customerd->live, agent_matchmaker(), "/v1/loans", &body, token_came, asking);
    buf_done(&body);
    return posted;
}

static void token_ask_for(struct request *request, const char *user)
{
    struct customerd *customerd = request_customerd(request);
    struct lending *lending = mem_alloc(sizeof *lending);
    struct asking *asking = customerd->askings;
    bool begun;

    while (asking && strcmp(asking->user, user) != 0)
        asking = asking->next;
    begun = asking;
    if (!begun) {
        asking = mem_alloc(sizeof *asking);
        *asking = (struct asking){.next = customerd->askings, .customerd = customerd};
        snprintf(asking->user, sizeof asking->user, "%s", user);
        customerd->askings = asking;
    }
    *lending = (struct lending){.next = asking->first, .asking = asking, .request = request};
    asking->first = lending;
    request->work = lending;
    request->forget = lending_forget;
    if (!begun && !asking_post(asking)) {
        lending_answer(asking, NULL, "the matchmaker cannot be asked now");
        asking_end(asking);
    }
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
