/* client.c: many requests in the loop: sockets become uv_poll, libcurl's time a uv_timer.
 *
 *     fresh  --wake-->  running (in the multi handle)  -->  idle (to be used again)
 *
 * libcurl must not be entered from its own callbacks. So what callbacks ask for is done a little later: a call that is sent is only put
 * into `fresh`, one that is cancelled is only marked `gone` while libcurl runs. `done` is always called from outside of it. */
#include "live/http/client.h"

#include "lang/base/map.h"
#include "live/http/client_parts.h"
#include "sys/steps.h"

#include <stdlib.h>
#include <uv.h>

struct transfers {
    struct transfer *first, *last;
};

struct client {
    uv_loop_t *loop;
    CURLM *multi;
    uv_timer_t wake;    /* there are fresh calls */
    uv_timer_t due;     /* libcurl wants to be called */
    uv_timer_t silence; /* due when the first stream has been silent for too long */
    unsigned open;      /* timers not yet closed */
    bool inside;        /* libcurl is running */
    bool some_gone;
    bool ending; /* client_free runs: no more calls */
    struct transfers fresh, running, idle;
    uint32_t idle_count, idle_max, streams;
    struct map ids; /* of fresh and running calls */
    uint64_t last_id;
    char *ca_file;
};

/* A socket that libcurl wants to hear about; freed when its handle is closed. */
struct watch {
    uv_poll_t poll;
    struct client *client;
    curl_socket_t socket;
};

uint64_t client_now(const struct client *client)
{
    return uv_now(client->loop);
}

uint32_t client_calls(const struct client *client)
{
    return map_count(&client->ids);
}

static void transfers_add(struct transfers *list, struct transfer *transfer)
{
    transfer->before = list->last;
    transfer->next = NULL;
    *(list->last ? &list->last->next : &list->first) = transfer;
    list->last = transfer;
}

static void transfers_remove(struct transfers *list, struct transfer *transfer)
{
    *(transfer->before ? &transfer->before->next : &list->first) = transfer->next;
    *(transfer->next ? &transfer->next->before : &list->last) = transfer->before;
    transfer->before = transfer->next = NULL;
}

/* --------------------------------------------------------------------------------------------------- ends of calls */

static void transfer_recycle(struct client *client, struct transfer *transfer)
{
    if (client->idle_count == client->idle_max) {
        transfer_free(transfer);
        return;
    }
    transfer_reset(transfer);
    transfers_add(&client->idle, transfer);
    client->idle_count++;
}

/* Takes the transfer out of the lists; then tells the caller, if it still wants to know. */
static void transfer_end(struct client *client, struct transfer *transfer, CURLcode curl, bool cancelled)
{
    if (transfer->added && libcurl()->multi_remove_handle(client->multi, transfer->easy) != CURLM_OK)
        abort(); /* we are inside libcurl, which would go on using what is freed here */
    transfers_remove(transfer->added ? &client->running : &client->fresh, transfer);
    if (transfer->added && transfer_is_stream(transfer) && --client->streams == 0)
        uv_timer_stop(&client->silence);
    map_remove(&client->ids, transfer->id);
    if (!transfer->gone)
        transfer_report(transfer, curl, cancelled);
    transfer_recycle(client, transfer);
}

/* After libcurl ran: ends first the calls that were cancelled meanwhile, then those that are over. */
static void client_settle(struct client *client)
{
    CURLMsg *message;
    int left;

    while (client->some_gone) {
        struct transfer *next, *transfer = client->running.first;

        client->some_gone = false;
        for (; transfer; transfer = next) {
            next = transfer->next;
            if (transfer->gone)
                transfer_end(client, transfer, CURLE_OK, false);
        }
    }
    while ((message = libcurl()->multi_info_read(client->multi, &left))) {
        struct transfer *transfer;

        if (message->msg != CURLMSG_DONE)
            continue;
        libcurl()->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        transfer_end(client, transfer, message->data.result, false);
    }
}

static void client_act(struct client *client, curl_socket_t socket, int events)
{
    int running;

    client->inside = true;
    libcurl()->multi_socket_action(client->multi, socket, events, &running);
    client->inside = false;
    client_settle(client);
}

/* --------------------------------------------------------------------------------------------- libcurl in the loop */

static void on_due(uv_timer_t *timer)
{
    client_act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int on_curl_time(CURLM *multi, long milliseconds, void *user)
{
    struct client *client = user;

    (void)multi;
    if (milliseconds < 0)
        uv_timer_stop(&client->due);
    else
        uv_timer_start(&client->due, on_due, (uint64_t)milliseconds, 0);
    return 0;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    int flags = (events & UV_READABLE ? CURL_CSELECT_IN : 0) | (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0);

    client_act(watch->client, watch->socket, status < 0 ? CURL_CSELECT_ERR : flags);
}

static void on_watch_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static struct watch *watch_new(struct client *client, curl_socket_t socket)
{
    struct watch *watch = mem_alloc(sizeof *watch);

    *watch = (struct watch){.client = client, .socket = socket};
    watch->poll.data = watch;
    if (uv_poll_init(client->loop, &watch->poll, socket)) {
        free(watch);
        return NULL;
    }
    return watch;
}

static int on_curl_socket(CURL *easy, curl_socket_t socket, int what, void *user, void *socket_user)
{
    struct client *client = user;
    struct watch *watch = socket_user;
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        libcurl()->multi_assign(client->multi, socket, NULL);
        if (watch)
            uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
        return 0;
    }
    if (!watch) {
        watch = watch_new(client, socket);
        if (!watch)
            return -1;
        libcurl()->multi_assign(client->multi, socket, watch);
    }
    return uv_poll_start(&watch->poll, events, on_poll) ? -1 : 0;
}

/* --------------------------------------------------------------------------------------------------------- silence */

static uint64_t silence_end(const struct transfer *transfer)
{
    return transfer->heard + (uint64_t)transfer->timeout;
}

static struct transfer *silence_first(struct client *client)
{
    struct transfer *first = NULL;

    for (struct transfer *t = client->running.first; t; t = t->next)
        if (transfer_is_stream(t) && (!first || silence_end(t) < silence_end(first)))
            first = t;
    return first;
}

/* Bytes of a stream do not move the timer: when it is due it looks which streams have spoken. */
static void on_silence(uv_timer_t *timer)
{
    struct client *client = timer->data;
    struct transfer *first;

    while ((first = silence_first(client)) && silence_end(first) <= client_now(client))
        transfer_end(client, first, CURLE_OPERATION_TIMEDOUT, false);
    if (first)
        uv_timer_start(timer, on_silence, silence_end(first) - client_now(client), 0);
}

/* ----------------------------------------------------------------------------------------------------------- calls */

static void transfer_start(struct client *client, struct transfer *transfer)
{
    uint64_t left;

    transfers_remove(&client->fresh, transfer);
    transfers_add(&client->running, transfer);
    transfer->added = true;
    transfer->heard = client_now(client);
    libcurl()->multi_add_handle(client->multi, transfer->easy);
    if (!transfer_is_stream(transfer))
        return;
    left = uv_is_active((uv_handle_t *)&client->silence) ? uv_timer_get_due_in(&client->silence) : UINT64_MAX;
    client->streams++;
    if ((uint64_t)transfer->timeout < left)
        uv_timer_start(&client->silence, on_silence, (uint64_t)transfer->timeout, 0);
}

/* Starts only the calls that are there now: a `done` that sends at once must not hold the loop. */
static void on_wake(uv_timer_t *timer)
{
    struct client *client = timer->data;
    uint64_t last = client->last_id;

    while (client->fresh.first && client->fresh.first->id <= last) {
        struct transfer *transfer = client->fresh.first;

        if (transfer->refused)
            transfer_end(client, transfer, CURLE_OK, false);
        else
            transfer_start(client, transfer);
    }
    client_act(client, CURL_SOCKET_TIMEOUT, 0);
}

uint64_t client_send(struct client *client, const struct http_call *call, call_done_fn *done, void *user)
{
    struct transfer *transfer = client->idle.last;

    if (client->ending)
        return 0;
    step_counts(COUNTED_EXCHANGE);
    if (transfer) {
        transfers_remove(&client->idle, transfer);
        client->idle_count--;
    } else {
        transfer = transfer_new(client);
    }
    transfer->id = ++client->last_id;
    transfer->done = done;
    transfer->user = user;
    transfer_prepare(transfer, call, client->ca_file); /* a malformed call is marked as refused */
    transfers_add(&client->fresh, transfer);
    map_set(&client->ids, transfer->id, (uint64_t)(uintptr_t)transfer);
    if (!uv_is_active((uv_handle_t *)&client->wake))
        uv_timer_start(&client->wake, on_wake, 0, 0);
    return transfer->id;
}

void client_cancel(struct client *client, uint64_t id)
{
    uint64_t found = map_find(&client->ids, id);
    struct transfer *transfer = (struct transfer *)(uintptr_t)found;

    if (found == MAP_NONE)
        return;
    transfer->gone = true;
    if (client->inside && transfer->added)
        client->some_gone = true;
    else
        transfer_end(client, transfer, CURLE_OK, false);
}

/* ------------------------------------------------------------------------------------------------------ life cycle */

static void on_timer_closed(uv_handle_t *handle)
{
    struct client *client = handle->data;

    if (--client->open == 0)
        free(client);
}

static void timer_init(struct client *client, uv_timer_t *timer)
{
    uv_timer_init(client->loop, timer);
    timer->data = client;
    client->open++;
}

struct client *client_new(uv_loop_t *loop, const struct client_settings *settings, struct err *err)
{
    static const struct client_settings none;
    const struct client_settings *s = settings ? settings : &none;
    long at_once = s->at_once ? s->at_once : CLIENT_AT_ONCE, per_host = s->per_host ? s->per_host : CLIENT_PER_HOST;
    struct client *client;

    if (libcurl_take(err) < 0)
        return NULL;
    client = mem_alloc(sizeof *client);
    *client = (struct client){.loop = loop, .multi = libcurl()->multi_init(), .idle_max = (uint32_t)at_once};
    if (!client->multi)
        abort(); /* out of memory */
    map_init(&client->ids, 0);
    client->ca_file = s->ca_file ? mem_dup(s->ca_file, strlen(s->ca_file)) : NULL;
    timer_init(client, &client->wake);
    timer_init(client, &client->due);
    timer_init(client, &client->silence);
    libcurl()->multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
    libcurl()->multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    libcurl()->multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_curl_time);
    libcurl()->multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    libcurl()->multi_setopt(client->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    libcurl()->multi_setopt(client->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, at_once);
    libcurl()->multi_setopt(client->multi, CURLMOPT_MAX_HOST_CONNECTIONS, per_host);
    libcurl()->multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, at_once);
    return client;
}

void client_free(struct client *client)
{
    struct transfer *transfer;

    if (!client)
        return;
    client->ending = true;
    while ((transfer = client->running.first ? client->running.first : client->fresh.first))
        transfer_end(client, transfer, CURLE_OK, true);
    while ((transfer = client->idle.first)) {
        transfers_remove(&client->idle, transfer);
        transfer_free(transfer);
    }
    libcurl()->multi_cleanup(client->multi);
    libcurl_give();
    map_done(&client->ids);
    free(client->ca_file);
    uv_close((uv_handle_t *)&client->wake, on_timer_closed);
    uv_close((uv_handle_t *)&client->due, on_timer_closed);
    uv_close((uv_handle_t *)&client->silence, on_timer_closed);
}

/* ----------------------------------------------------------------------------------------------------- for tools */

struct fetch {
    uv_loop_t loop;
    struct fetched *fetched;
    struct err *err;
    bool over;
};

static char *text_dup(const char *text)
{
    return text ? mem_dup(text, strlen(text)) : NULL;
}

static void on_fetched(void *user, const struct http_outcome *outcome)
{
    struct fetch *fetch = user;
    struct fetched *fetched = fetch->fetched;

    fetch->over = true;
    uv_stop(&fetch->loop); /* or the loop would wait for further events */
    fetched->result = outcome->result;
    if (outcome->result != CALL_ANSWERED) {
        err_set(fetch->err, "%s", outcome->error);
        return;
    }
    fetched->status = outcome->status;
#define X(member, name) fetched->member = text_dup(outcome->member);
    ANSWER_FIELDS(X)
#undef X
    buf_init(&fetched->body);
    buf_add(&fetched->body, outcome->body, outcome->len);
    buf_string(&fetched->body);
}

void fetched_done(struct fetched *fetched)
{
    if (!fetched)
        return;
#define X(member, name) free(fetched->member);
    ANSWER_FIELDS(X)
#undef X
    buf_done(&fetched->body);
    *fetched = (struct fetched){0};
}

int client_fetch(const struct client_settings *settings, const struct http_call *call, struct fetched *ret,
                 struct err *err)
{
    struct fetch fetch = {.fetched = ret, .err = err};
    struct client *client;

    if (client_local_can(call))
        return client_local_fetch(call, ret, err);
    if (uv_loop_init(&fetch.loop))
        return err_set(err, "no loop can be made");
    ret->result = CALL_UNREACHED;
    client = client_new(&fetch.loop, settings, err);
    if (client) {
        client_send(client, call, on_fetched, &fetch);
        while (!fetch.over)
            uv_run(&fetch.loop, UV_RUN_DEFAULT);
        client_free(client);
    }
    uv_run(&fetch.loop, UV_RUN_DEFAULT);
    uv_loop_close(&fetch.loop);
    return fetch.over && ret->result == CALL_ANSWERED ? 0 : -1;
}
