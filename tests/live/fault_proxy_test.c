/* fault_proxy_test.c PROXY: the proxy that spoils connections does what it is told, and the client tells what it saw of it. */
#include "live/http/client.h"

#include "common/tap.h"
#include "trivial_server.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 40

struct run {
    uv_loop_t loop;
    struct trivial_server server;
    struct client *client;
    pid_t proxy;
    int port, output;
    unsigned done, answered;
    char letters[CALLS + 1]; /* the first letter of each call's result, in their order */
    char counts[512];
    double seconds;
};

static void proxy_start(struct run *run, const char *program, const char *const *options)
{
    const char *arguments[16] = {program, "0"};
    char target[64], port[16] = "";
    int ends[2], count = 3;
    ssize_t len = 0;

    snprintf(target, sizeof target, "127.0.0.1:%d", run->server.port);
    arguments[2] = target;
    while (*options)
        arguments[count++] = *options++;
    if (pipe(ends))
        exit(1);
    run->proxy = fork();
    if (run->proxy == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execv(program, (char *const *)(size_t)arguments);
        _exit(127);
    }
    close(ends[1]);
    while (len < (ssize_t)sizeof port - 1 && !strchr(port, '\n') && read(ends[0], port + len, 1) == 1)
        len++;
    run->port = atoi(port);
    run->output = ends[0];
}

static bool proxy_stop(struct run *run)
{
    size_t len = 0;
    ssize_t count;
    int status;

    kill(run->proxy, SIGTERM);
    while ((count = read(run->output, run->counts + len, sizeof run->counts - 1 - len)) > 0)
        len += (size_t)count;
    run->counts[len] = '\0';
    close(run->output);
    waitpid(run->proxy, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static unsigned counted(const struct run *run, const char *name)
{
    const char *at = strstr(run->counts, name);

    return at ? (unsigned)strtoul(at + strlen(name), NULL, 10) : 999999;
}

static void on_done(void *user, const struct http_outcome *outcome)
{
    struct run *run = user;

    run->letters[run->done++] = outcome->result == CALL_ANSWERED ? 'a' : outcome->result == CALL_UNKNOWN ? '?' : '!';
    run->answered += outcome->result == CALL_ANSWERED && outcome->status == 200 && outcome->len == 300;
    uv_stop(&run->loop);
}

static void on_tick(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

/* One POST after the other, each on a connection of its own if `apart`; then the proxy ends. */
static bool run_all(struct run *run, const char *program, bool apart, const char *const *options)
{
    static const struct http_field close_after = {"Connection", "close"};
    static const char body[300];
    uv_timer_t timer;
    char url[64];
    uint64_t begun;
    bool ended;

    *run = (struct run){0};
    uv_loop_init(&run->loop);
    trivial_start(&run->server, &run->loop, NULL);
    run->client = client_new(&run->loop, NULL, NULL);
    proxy_start(run, program, options);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/echo", run->port);
    begun = uv_hrtime();
    for (unsigned i = 0; i < CALLS; i++) {
        client_send(run->client,
                    &(struct http_call){.method = "POST",
                                        .url = url,
                                        .body = body,
                                        .len = sizeof body,
                                        .fields = &close_after,
                                        .field_count = apart,
                                        .timeout = 300000},
                    on_done, run);
        while (run->done <= i)
            uv_run(&run->loop, UV_RUN_DEFAULT);
    }
    run->seconds = (double)(uv_hrtime() - begun) / 1e9;
    uv_timer_init(&run->loop, &timer); /* what was sent twice may be on its way */
    uv_timer_start(&timer, on_tick, 100, 0);
    uv_run(&run->loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&timer, NULL);
    ended = proxy_stop(run);
    client_free(run->client);
    trivial_stop(&run->server);
    uv_run(&run->loop, UV_RUN_DEFAULT);
    return uv_loop_close(&run->loop) == 0 && ended;
}

static void check(bool good, const struct run *run, const char *sentence)
{
    if (!tap_ok(good, "%s", sentence))
        tap_diag("%s: %u requests came\n%s", run->letters, run->server.requests, run->counts);
}

int main(int argc, char **argv)
{
    struct run run, again, other;
    const char *program = argc > 1 ? argv[1] : "./fault_proxy";
    bool ended;

    signal(SIGPIPE, SIG_IGN);
    ended = run_all(&run, program, false, (const char *const[]){NULL});
    check(ended && run.answered == CALLS && run.server.requests == CALLS && counted(&run, " requests=") == CALLS &&
              counted(&run, "connections=") == 1 && counted(&run, " cut=") == 0 && counted(&run, " stalled=") == 0 &&
              counted(&run, " duplicated=") == 0,
          &run, "a proxy that is told nothing passes all on, and counts it");

    ended = run_all(&run, program, false, (const char *const[]){"--duplicate", "1", NULL});
    check(ended && run.answered == CALLS && run.server.requests == 2 * CALLS && counted(&run, " duplicated=") == CALLS,
          &run, "every request comes twice, and every caller gets one answer");

    ended = run_all(&run, program, true, (const char *const[]){"--delay", "20", NULL});
    check(ended && run.answered == CALLS && run.seconds > CALLS * 0.010, &run,
          "bytes that are delayed come late and whole");

    ended = run_all(&run, program, true, (const char *const[]){"--cut", "0.7", "--seed", "5", NULL});
    check(ended && run.answered > 0 && run.answered < CALLS && !strchr(run.letters, '!') &&
              counted(&run, " cut=") > 0 && run.answered + counted(&run, " cut=") == CALLS,
          &run, "connections are cut at random places, and each cut is a call whose fate is unknown");
    check(run.server.requests > run.answered && run.server.requests < CALLS, &run,
          "some cuts come before the request has arrived and some after");
    run_all(&again, program, true, (const char *const[]){"--cut", "0.7", "--seed", "5", NULL});
    check(!strcmp(run.letters, again.letters) && run.server.requests == again.server.requests, &again,
          "the same seed cuts at the same places");
    run_all(&other, program, true, (const char *const[]){"--cut", "0.7", "--seed", "6", NULL});
    check(strcmp(run.letters, other.letters) != 0, &other, "another seed cuts at others");

    ended = run_all(&run, program, true, (const char *const[]){"--stall", "0.2", "--seed", "3", NULL});
    check(ended && run.answered < CALLS && run.answered + counted(&run, " stalled=") == CALLS &&
              !strchr(run.letters, '!'),
          &run, "a connection that stalls ends by the caller's timeout");
    return tap_done();
}
