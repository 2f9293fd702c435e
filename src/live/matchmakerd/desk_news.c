/* desk_news.c: when something has changed at a customer, for those who watch the pool: one question is held there, however many they are.
 *
 *     watcher --.
 *     watcher ---+-- the matchmaker  GET CONTACT/v1/summary?after=17&wait=20  -->  the customer answers when it has had an 18th change
 *     watcher --'  <-- event: desk, once a second at most
 *
 * It is asked with the rights of one of those who watch it, in turns. Of the answer only the number of changes is used: how its jobs stand each asks
 * for oneself. The customer is a stranger: whatever it says, it is asked once a second at most. */
#include "live/matchmakerd/desk_news.h"

#include "live/matchmakerd/api_pool.h"
#include "live/matchmakerd/delivery.h"
#include "live/matchmakerd/desks.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "sys/encoding.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NEWS_HELD 20                 /* seconds that the customer may keep the question */
#define NEWS_WAIT (30 * SECOND)      /* time for its answer */
#define NEWS_BYTES_MAX (64u << 10)   /* of it */
#define NEWS_PAUSE_MAX (30 * SECOND) /* after questions that came to nothing */

struct desk_news *desk_news_join(struct matchmakerd *matchmakerd, uint64_t desk)
{
    struct desk_news *news = matchmakerd->desk_news;

    while (news && news->desk != desk)
        news = news->next;
    if (!news) {
        news = mem_alloc(sizeof *news);
        *news = (struct desk_news){
            .next = matchmakerd->desk_news, .matchmakerd = matchmakerd, .desk = desk, .pause = SECOND, .changes = -1};
        matchmakerd->desk_news = news;
    }
    news->watchers++;
    return news;
}

void desk_news_leave(struct desk_news *news)
{
    struct desk_news **link = &news->matchmakerd->desk_news;

    if (--news->watchers)
        return;
    while (*link != news)
        link = &(*link)->next;
    *link = news->next;
    if (news->call)
        client_cancel(news->matchmakerd->client, news->call);
    free(news);
}

/* How many changes it has had; false: it does not say. */
static bool changes_read(struct matchmakerd *matchmakerd, const struct http_outcome *outcome, int64_t *ret)
{
    struct media media = {FORM_UNKNOWN, &dialect_classic};
    struct tree *ad;
    struct err err;
    bool good;

    if (outcome->result != CALL_ANSWERED || outcome->status != 200)
        return false;
    ad = represent_read(matchmakerd->symbols, &media, NULL, outcome->body, outcome->len, &err);
    good = ad && ad_integer(ad, "Changes", ret) && *ret >= 0;
    tree_unref(ad);
    return good;
}

static void news_answered(void *user, const struct http_outcome *outcome)
{
    struct desk_news *news = user;
    int64_t changes;

    news->call = 0;
    if (outcome->result == CALL_CANCELLED)
        return;
    if (!changes_read(news->matchmakerd, outcome, &changes)) {
        news->changes = -1; /* one that begins anew counts anew */
        news->due = runner_now() + news->pause;
        news->pause = news->pause < NEWS_PAUSE_MAX / 2 ? 2 * news->pause : NEWS_PAUSE_MAX;
        return;
    }
    news->due = news->asked + SECOND;
    news->pause = SECOND;
    if (changes == news->changes)
        return;
    news->changes = changes;
    observers_desk(news->matchmakerd, news);
}

/* Asks with the rights of that watcher. */
static void news_ask(struct desk_news *news, const struct request *watcher, const struct agent_row *row)
{
    struct http_call call = {.accept = TYPE_CLASSAD, .timeout = NEWS_WAIT, .bytes_max = NEWS_BYTES_MAX};
    struct buf token, path;

    buf_init(&token);
    buf_init(&path);
    buf_adds(&path, "/v1/summary");
    if (news->changes >= 0)
        buf_addf(&path, "?after=%" PRId64 "&wait=%d", news->changes, NEWS_HELD);
    if (desk_token_print(watcher, row, &token)) {
        call.token = buf_string(&token);
        news->call = contact_send(news->matchmakerd, row, buf_string(&path), &call, news_answered, news);
    }
    buf_wipe(&token);
    buf_done(&token);
    buf_done(&path);
}

void desk_news_sweep(struct matchmakerd *matchmakerd, int64_t now)
{
    for (struct desk_news *news = matchmakerd->desk_news; news; news = news->next) {
        const struct request *watcher;
        uint32_t place;

        if (news->call || now < news->due)
            continue;
        place = agents_find(&matchmakerd->agents, news->desk);
        watcher = place == TEXTMAP_NONE ? NULL : observer_of_desk(matchmakerd, news, news->turn++);
        news->asked = now;
        news->due = now + SECOND;
        if (watcher)
            news_ask(news, watcher, &matchmakerd->agents.items[place]);
    }
}
