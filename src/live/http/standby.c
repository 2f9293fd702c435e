/* standby.c: a daemon that stands by: a thread waits for the store, the loop answers who leads. */
#include "live/http/standby.h"

#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/http/request.h"
#include "live/http/server.h"
#include "store/store.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define AGAIN "1" /* seconds until who found no leader may ask again */

struct standby {
    struct standby_settings settings;
    uv_thread_t thread;
    uv_async_t news;
    bool begun;
    atomic_bool stop;
    uv_mutex_t lock;
    /* under the lock: */
    struct store_replica leader; /* an empty `who`: none is known */
    uint64_t leaders;            /* how often it was another */
    bool ended;
    struct shelf *shelf;
    struct err why;
    /* of the loop: */
    uint64_t told;
    bool over;
};

static bool leader_is(const struct store_replica *one, const struct store_replica *two)
{
    return !strcmp(one->who, two->who) && !strcmp(one->url, two->url) && one->since == two->since;
}

static void standby_sees(void *user, const struct store_replica *replicas, uint32_t count)
{
    struct standby *standby = user;
    struct store_replica leader = {.leads = false};
    bool changed;

    if (count && replicas->leads)
        leader = *replicas;
    uv_mutex_lock(&standby->lock);
    changed = !standby->leaders || !leader_is(&leader, &standby->leader);
    if (changed) {
        standby->leader = leader;
        standby->leaders++;
    }
    uv_mutex_unlock(&standby->lock);
    if (changed)
        uv_async_send(&standby->news);
}

static bool standby_stops(const void *user)
{
    const struct standby *standby = user;

    return atomic_load(&standby->stop);
}

static void standby_run(void *given)
{
    struct standby *standby = given;
    struct store_wait wait = {
        .url = standby->settings.url, .stops = standby_stops, .seen = standby_sees, .user = standby};
    struct err err = {0};
    struct shelf *shelf = standby->settings.open(standby->settings.open_user, &wait, &err);

    uv_mutex_lock(&standby->lock);
    standby->shelf = shelf;
    standby->why = err;
    standby->ended = true;
    uv_mutex_unlock(&standby->lock);
    uv_async_send(&standby->news);
}

static void news_come(uv_async_t *async)
{
    struct standby *standby = async->data;
    struct store_replica leader;
    struct shelf *shelf = NULL;
    bool ends, changed;
    struct err why;

    uv_mutex_lock(&standby->lock);
    leader = standby->leader;
    changed = standby->leaders != standby->told;
    standby->told = standby->leaders;
    ends = standby->ended && !standby->over;
    if (ends) {
        shelf = standby->shelf;
        standby->shelf = NULL;
        standby->over = true;
    }
    why = standby->why;
    uv_mutex_unlock(&standby->lock);
    if (changed && !standby->over)
        standby->settings.leads(standby->settings.user, &leader);
    if (ends)
        standby->settings.over(standby->settings.user, shelf, &why);
}

struct standby *standby_new(const struct standby_settings *settings, struct err *err)
{
    struct standby *standby = mem_alloc(sizeof *standby);

    memset(standby, 0, sizeof *standby);
    standby->settings = *settings;
    uv_mutex_init(&standby->lock);
    uv_async_init(settings->loop, &standby->news, news_come);
    standby->news.data = standby;
    standby->begun = uv_thread_create(&standby->thread, standby_run, standby) == 0;
    if (standby->begun)
        return standby;
    standby_free(standby);
    err_set(err, "no thread could be started");
    return NULL;
}

static void news_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void standby_free(struct standby *standby)
{
    if (!standby)
        return;
    atomic_store(&standby->stop, true);
    if (standby->begun)
        uv_thread_join(&standby->thread);
    if (standby->shelf)
        standby->shelf->kind->close(standby->shelf);
    uv_mutex_destroy(&standby->lock);
    uv_close((uv_handle_t *)&standby->news, news_closed);
}

/* ---------------------------------------------------------------------------------------------------------- requests */

/* The page is looked at where the leader is; by another path of it browsers come back here. */
static bool answer_page(struct request *request, const char *url)
{
    char to[320];
    const struct http_field field = {"Location", to};

    if (!*url || !strncmp(url, "unix:", 5) || strcmp(exchange_raw_path(request->exchange), "/") != 0 ||
        !request->route || request->route->method != HTTP_GET)
        return false;
    snprintf(to, sizeof to, "%s/", url);
    request_answer(request, 307, "text/plain", "", 0, &field, 1);
    return true;
}

bool standby_answers(struct standby *standby, struct request *request)
{
    struct http_field fields[3] = {{"Retry-After", AGAIN}, {"Berth-Standby", "true"}};
    struct store_replica leader;
    struct buf words;
    size_t count = 2;

    if (request->route && request->route->handle == front_health)
        return false;
    uv_mutex_lock(&standby->lock);
    leader = standby->leader;
    uv_mutex_unlock(&standby->lock);
    if (answer_page(request, leader.url))
        return true;
    if (*leader.url)
        fields[count++] = (struct http_field){"Berth-Leader", leader.url};
    buf_init(&words);
    buf_addf(&words, "this %s stands by", standby->settings.what);
    if (*leader.who)
        buf_addf(&words, ": %.*s leads (%s)", *leader.url ? (int)strcspn(leader.url, "#") : 7,
                 *leader.url ? leader.url : "another", leader.who);
    else
        buf_adds(&words, "; none is known to lead now");
    request_problem_fields(request, 503, buf_string(&words), fields, count);
    buf_done(&words);
    return true;
}

void standby_deposed(struct request *request, const char *what)
{
    const struct http_field fields[] = {{"Retry-After", AGAIN}, {"Berth-Standby", "true"}};
    char words[80];

    snprintf(words, sizeof words, "the lease has run out: another %s may lead", what);
    request_problem_fields(request, 503, words, fields, 2);
}

uint32_t replica_rows(struct symbols *symbols, const struct store_replica *replicas, uint32_t count, int64_t wall,
                      struct tree **ret)
{
    for (uint32_t i = 0; i < count; i++) {
        struct maker maker;

        maker_init(&maker, symbols);
        maker_text(&maker, "Url", replicas[i].url);
        maker_text(&maker, "Who", replicas[i].who);
        maker_flag(&maker, "Leads", replicas[i].leads);
        maker_integer(&maker, "Since", replicas[i].since);
        maker_integer(&maker, "For", wall > replicas[i].since ? wall - replicas[i].since : 0);
        ret[i] = maker_seal(&maker);
    }
    return count;
}
