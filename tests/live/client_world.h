/* client_world.h: a client and a trivial server in one loop, and what became of the calls; for tests of the client.
 *
 * Included by one file a program. */
#ifndef BERTH_TESTS_CLIENT_WORLD_H
#define BERTH_TESTS_CLIENT_WORLD_H

#include "live/http/client.h"

#include "common/tap.h"
#include "trivial_server.h"

#include <unistd.h>

#define SECOND_US INT64_C(1000000)
#define PATIENCE 30000 /* milliseconds that a case may take */
#define TICK 2

struct world {
    uv_loop_t loop;
    struct trivial_server server;
    struct client *client;
    char socket_path[64];
    char url[128];
};

/* What became of calls. */
struct got {
    unsigned count; /* of outcomes */
    enum call_result result;
    unsigned status;
    char type[64], etag[64], location[64], retry_after[64], error[256];
    struct buf body, bytes;
};

static inline void got_done(struct got *got)
{
    buf_done(&got->body);
    buf_done(&got->bytes);
}

static inline void text_keep(char *room, size_t size, const char *text)
{
    snprintf(room, size, "%s", text ? text : "(none)");
}

static inline void on_done(void *user, const struct http_outcome *outcome)
{
    struct got *got = user;

    got->count++;
    got->result = outcome->result;
    got->status = outcome->status;
    text_keep(got->type, sizeof got->type, outcome->type);
    text_keep(got->etag, sizeof got->etag, outcome->etag);
    text_keep(got->location, sizeof got->location, outcome->location);
    text_keep(got->retry_after, sizeof got->retry_after, outcome->retry_after);
    text_keep(got->error, sizeof got->error, outcome->error);
    buf_reset(&got->body);
    buf_add(&got->body, outcome->body, outcome->len);
}

static inline void on_bytes(void *user, const char *bytes, size_t len)
{
    struct got *got = user;

    buf_add(&got->bytes, bytes, len);
}

static inline bool body_is(struct got *got, const char *text)
{
    return strcmp(buf_string(&got->body), text) == 0;
}

static inline bool bytes_are(struct got *got, const char *text)
{
    return strcmp(buf_string(&got->bytes), text) == 0;
}

static inline const char *url(struct world *world, const char *path)
{
    snprintf(world->url, sizeof world->url, "http://127.0.0.1:%d%s", world->server.port, path);
    return world->url;
}

static inline void on_tick(uv_timer_t *timer)
{
    (void)timer; /* it only ends the wait of uv_run */
}

/* Runs the loop until the number is reached; false when that takes too long. */
static inline bool turn_until(struct world *world, const unsigned *number, unsigned wanted, unsigned milliseconds)
{
    uint64_t end = uv_hrtime() + (uint64_t)milliseconds * 1000000;
    uv_timer_t timer;

    uv_timer_init(&world->loop, &timer);
    uv_timer_start(&timer, on_tick, TICK, TICK);
    while (*number < wanted && uv_hrtime() < end)
        uv_run(&world->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&world->loop, UV_RUN_NOWAIT);
    return *number >= wanted;
}

static inline bool turn_until_done(struct world *world, struct got *got)
{
    return turn_until(world, &got->count, 1, PATIENCE);
}

/* Waits a little: nothing more is to come. */
static inline void turn_for(struct world *world, unsigned milliseconds)
{
    unsigned never = 0;

    turn_until(world, &never, 1, milliseconds);
}

static inline void call_once(struct world *world, const struct http_call *call, struct got *got)
{
    *got = (struct got){0};
    client_send(world->client, call, on_done, got);
    turn_until_done(world, got);
}

static inline void world_open(struct world *world, const struct client_settings *settings)
{
    uv_loop_init(&world->loop);
    snprintf(world->socket_path, sizeof world->socket_path, "/tmp/berth-client-%ld", (long)getpid());
    unlink(world->socket_path);
    if (trivial_start(&world->server, &world->loop, world->socket_path))
        exit(1);
    world->client = client_new(&world->loop, settings, NULL);
}

static inline bool world_close(struct world *world)
{
    client_free(world->client);
    trivial_stop(&world->server);
    uv_run(&world->loop, UV_RUN_DEFAULT);
    unlink(world->socket_path);
    return uv_loop_close(&world->loop) == 0;
}

static inline bool check(struct got *got, enum call_result result, unsigned status, bool more, const char *sentence)
{
    bool good = tap_ok(got->count == 1 && got->result == result && got->status == status && more, "%s", sentence);

    if (!good)
        tap_diag("%u outcomes, the last: %s, status %u, type %s, etag %s, error %s\n%.2000s", got->count,
                 call_result_name(got->result), got->status, got->type, got->etag, got->error, buf_string(&got->body));
    return good;
}

#endif
