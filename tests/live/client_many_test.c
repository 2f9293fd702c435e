/* client_many_test.c: many requests at once: bounds are held, all are answered, and how fast. */
#include "client_world.h"

#include <signal.h>
#include <sys/wait.h>

#if defined(TESTS_SANITIZED)
#define MEASURED_POSTS 4000
#else
#define MEASURED_POSTS 20000
#endif

/* ---------------------------------------------------------------------------------------------------------- many */

static void check_bounds(void)
{
    struct world world;
    struct got got = {0}, waiting = {0};

    world_open(&world, &(struct client_settings){.per_host = 3});
    for (int i = 0; i < 3; i++)
        client_send(world.client, &(struct http_call){.url = url(&world, "/silent"), .timeout = SECOND_US / 2}, on_done,
                    &got);
    turn_until(&world, &world.server.requests, 3, PATIENCE);
    client_send(world.client, &(struct http_call){.url = url(&world, "/silent"), .timeout = SECOND_US / 10}, on_done,
                &waiting);
    turn_until_done(&world, &waiting);
    check(&waiting, CALL_UNREACHED, 0, world.server.connections == 3,
          "no more connections to a host than allowed; a call that waited in vain was not sent");
    got_done(&waiting);
    waiting = (struct got){0};
    client_send(world.client, &(struct http_call){.url = url(&world, "/hello")}, on_done, &waiting);
    turn_until_done(&world, &waiting);
    check(&waiting, CALL_ANSWERED, 200, world.server.connections > 3, "a call that waits gets its turn");
    got_done(&got);
    got_done(&waiting);
    world_close(&world);
}

static void check_thousand(void)
{
    struct world world;
    struct got got = {0};
    uint64_t begun;

    world_open(&world, NULL);
    begun = uv_hrtime();
    for (int i = 0; i < 1000; i++)
        client_send(world.client,
                    &(struct http_call){.method = "POST", .url = url(&world, "/echo"), .body = "{}", .len = 2}, on_done,
                    &got);
    turn_until(&world, &got.count, 1000, PATIENCE);
    tap_ok(got.count == 1000 && world.server.requests == 1000 && world.server.connections <= CLIENT_PER_HOST,
           "1,000 POSTs at once are all answered over a few connections");
    tap_diag("1,000 POSTs at once: %.1f ms, %u connections", (double)(uv_hrtime() - begun) / 1e6,
             world.server.connections);
    got_done(&got);
    world_close(&world);
}

/* -------------------------------------------------------------------------------------------------------- measured */

struct flood {
    struct world *world;
    const char *url;
    unsigned left, good, done;
};

static void flood_send(struct flood *flood);

static void flood_done(void *user, const struct http_outcome *outcome)
{
    struct flood *flood = user;

    flood->done++;
    flood->good += outcome->result == CALL_ANSWERED && outcome->status == 200;
    flood_send(flood);
}

static void flood_send(struct flood *flood)
{
    static const char body[900];

    if (flood->left == 0)
        return;
    flood->left--;
    client_send(flood->world->client,
                &(struct http_call){.method = "POST",
                                    .url = flood->url,
                                    .token = "v4.public.token",
                                    .type = "application/json",
                                    .body = body,
                                    .len = sizeof body},
                flood_done, flood);
}

/* The server in a process of its own, as in life. Returns its port. */
static int server_fork(pid_t *ret_child)
{
    int ends[2], port = 0;

    if (pipe(ends))
        exit(1);
    *ret_child = fork();
    if (*ret_child == 0) {
        struct trivial_server server;
        uv_loop_t loop;

        uv_loop_init(&loop);
        if (trivial_start(&server, &loop, NULL) || write(ends[1], &server.port, sizeof server.port) < 0)
            _exit(1);
        uv_run(&loop, UV_RUN_DEFAULT);
        _exit(0);
    }
    if (read(ends[0], &port, sizeof port) != sizeof port)
        exit(1);
    close(ends[0]);
    close(ends[1]);
    return port;
}

static void check_speed(void)
{
    struct world world;
    char text[64];
    pid_t child;
    int port = server_fork(&child);
    struct flood flood = {.world = &world, .url = text, .left = MEASURED_POSTS};
    uint64_t begun;
    double seconds;

    world_open(&world, &(struct client_settings){.per_host = 32});
    snprintf(text, sizeof text, "http://127.0.0.1:%d/echo", port);
    begun = uv_hrtime();
    for (int i = 0; i < 32; i++)
        flood_send(&flood);
    turn_until(&world, &flood.done, MEASURED_POSTS, 20000);
    seconds = (double)(uv_hrtime() - begun) / 1e9;
    tap_ok(flood.good == MEASURED_POSTS, "%d POSTs over 32 kept connections are all answered", MEASURED_POSTS);
    tap_diag("%.0f POSTs of 900 bytes a second", flood.done / seconds);
    world_close(&world);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    check_speed();
    check_bounds();
    check_thousand();
    return tap_done();
}
