/* live_pool_test.c: providers and customers over real HTTP, with a matchmaker that is killed, stopped and not there: no claim notices. */
#define _GNU_SOURCE /* nftw, pipe2 */
#include "common/tap.h"
#include "live_token.h"

#include "live/auth/keyring.h"

#define PROVIDERS 3
#define JOBS 24
#define JOB_MS "60"
#define LEASE_MS (300 * LIVE_SLOWER)
#define PATH_ROOM (LIVE_PATH_MAX + 32)

struct party {
    char name[16], state[PATH_ROOM], out[PATH_ROOM], log[PATH_ROOM];
    pid_t pid, thief; /* thief: the proxy by which it is called; 0: there is none */
    int thief_out;
    char listen[32], contact[64];
};

/* The spans of the pool, in leases. */
static const struct {
    const char *key;
    double leases;
} spans[] = {{"Lease", 1}, {"Pin", 1}, {"Window", 1}, {"Deadline", 1}, {"Retry", 0.1}, {"Lifetime", 4}};

/* Who sends again what was said, at any later time, and in any order: of calls between agents, or of letters by the relay. */
enum thief { NO_THIEF, THIEF_OF_CALLS, THIEF_OF_LETTERS };

struct pool {
    struct live live;
    enum thief thief;
    pid_t relay_thief;
    int relay_thief_out;
    char spans[sizeof spans / sizeof *spans][32];
    char folder[LIVE_PATH_MAX], agent[512], url[64], wrong[64];
    struct party providers[PROVIDERS], customer;
};

static bool token_write(const struct pool *pool, const char *subject, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%s/%s.token", pool->folder, subject);
    return live_token_make(&pool->live, subject, "ad:read ad:write claim match", path);
}

static const char *proxy_program;
static int lease_ms = LEASE_MS;

/* A proxy before that port, which repeats a good part of those requests that it has seen; its own port, or 0. */
static int thief_start(int port, const char *only, pid_t *ret_pid, int *ret_out)
{
    char target[32], text[16] = "";
    const char *const args[] = {proxy_program, "0",      target,      "--hoard", "0.5", "--delay",
                                "2",           "--seed", target + 10, "--only",  only,  NULL};
    struct pollfd at;

    snprintf(target, sizeof target, "127.0.0.1:%d", port);
    *ret_pid = live_spawn(args, "/dev/null", NULL, ret_out);
    at = (struct pollfd){.fd = *ret_out, .events = POLLIN};
    return poll(&at, 1, LIVE_PATIENCE) > 0 && read(*ret_out, text, sizeof text - 1) > 0 ? atoi(text) : 0;
}

/* All that it has seen once more, in order; waits until that is over. How many that were. */
static int thief_again(pid_t pid, int out)
{
    char text[64] = "";
    struct pollfd at = {.fd = out, .events = POLLIN};
    int count = 0;

    kill(pid, SIGUSR1);
    if (poll(&at, 1, LIVE_PATIENCE) > 0 && read(out, text, sizeof text - 1) > 0)
        sscanf(text, "again %d", &count);
    return count;
}

static void thief_end(pid_t *pid, int *out)
{
    char said[512];
    ssize_t count;

    if (*pid <= 0)
        return;
    kill(*pid, SIGTERM);
    live_wait_pid(*pid, 5000);
    count = read(*out, said, sizeof said - 1);
    if (count > 0)
        tap_diag("the thief: %.*s", (int)count - 1, said);
    close(*out);
    *pid = 0;
}

/* A port that is free now. */
static int port_free(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || getsockname(fd, (struct sockaddr *)&at, &len) < 0)
        return 0;
    close(fd);
    return ntohs(at.sin_port);
}

/* Where the party listens, and is called. */
static void party_place(const struct pool *pool, struct party *party, bool callable)
{
    int port;

    snprintf(party->listen, sizeof party->listen, "%s", callable ? "127.0.0.1:0" : "-");
    if (pool->thief != THIEF_OF_CALLS)
        return;
    port = port_free();
    snprintf(party->listen, sizeof party->listen, "127.0.0.1:%d", port);
    snprintf(party->contact, sizeof party->contact, "http://127.0.0.1:%d",
             thief_start(port, "POST /v1/messages", &party->thief, &party->thief_out));
}

static void party_start(struct pool *pool, struct party *party, const char *role, const char *name,
                        const char *identity, const char *token, bool callable, const char *number, bool first_is_dead)
{
    const char *args[] = {pool->agent,
                          role,
                          party->name,
                          identity,
                          party->state,
                          token,
                          party->listen,
                          number,
                          first_is_dead ? pool->wrong : pool->url,
                          first_is_dead ? pool->url : NULL,
                          NULL};

    party_place(pool, party, callable);
    snprintf(party->name, sizeof party->name, "%s", name);
    snprintf(party->state, sizeof party->state, "%s/%s", pool->folder, name);
    snprintf(party->out, sizeof party->out, "%s/%s.out", pool->folder, name);
    snprintf(party->log, sizeof party->log, "%s/%s.log", pool->folder, name);
    party->pid = fork();
    if (party->pid == 0) {
        int out = open(party->out, O_WRONLY | O_CREAT | O_APPEND, 0600);

        if (*party->contact)
            setenv("CONTACT", party->contact, 1);
        live_exec(args, out, party->log, 0);
    }
}

static void party_end(struct party *party)
{
    if (party->pid <= 0)
        return;
    thief_end(&party->thief, &party->thief_out);
    kill(party->pid, SIGTERM);
    if (live_wait_pid(party->pid, 5000) < 0) {
        kill(party->pid, SIGKILL);
        waitpid(party->pid, NULL, 0);
    }
    party->pid = 0;
}

static void pool_start(struct pool *pool, bool callable, bool first_is_dead, enum thief thief)
{
    char alice[PATH_ROOM], bob[PATH_ROOM], jobs[16], *slash;

    memset(pool, 0, sizeof *pool);
    pool->thief = thief;
    live_init(&pool->live);
    live_folder(pool->folder);
    snprintf(pool->agent, sizeof pool->agent, "%s", live_program());
    slash = strrchr(pool->agent, '/');
    snprintf(slash, sizeof pool->agent - (size_t)(slash - pool->agent), "/tests/live/live_agent");
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        snprintf(pool->spans[i], sizeof *pool->spans, "%s=%.3f", spans[i].key, spans[i].leases * lease_ms / 1000.0);
        live_set(&pool->live, pool->spans[i]);
    }
    live_set(&pool->live, "Networks={\"127.0.0.0/8\"}");
    tap_ok(live_start(&pool->live), "the matchmaker is up");
    pool->live.port_wanted = pool->live.port;
    snprintf(pool->url, sizeof pool->url, "http://127.0.0.1:%d",
             thief == THIEF_OF_LETTERS
                 ? thief_start(pool->live.port, "POST /v1/relay", &pool->relay_thief, &pool->relay_thief_out)
                 : pool->live.port);
    snprintf(pool->wrong, sizeof pool->wrong, "http://127.0.0.1:1");
    tap_ok(token_write(pool, "alice", alice) && token_write(pool, "bob", bob), "tokens that can be delegated are made");
    snprintf(jobs, sizeof jobs, "%d", JOBS);
    for (int i = 0; i < PROVIDERS; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        party_start(pool, &pool->providers[i], "provider", name, "bob", bob, callable, JOB_MS, first_is_dead);
    }
    party_start(pool, &pool->customer, "customer", "c", "alice", alice, callable, jobs, first_is_dead);
}

/* Are all jobs done, within that time? `harm` is done every so often meanwhile. */
static bool pool_finishes(struct pool *pool, int64_t milliseconds, void (*harm)(struct pool *pool), int64_t every)
{
    int64_t ends = live_now() + milliseconds * LIVE_SLOWER, next = live_now() + every;

    while (live_now() < ends) {
        if (live_file_says(pool->customer.out, "all "))
            return true;
        if (harm && live_now() >= next) {
            harm(pool);
            next = live_now() + every;
        }
        live_sleep(20);
    }
    return false;
}

/* Lines that begin so, in what a party printed. */
static int lines_of(const struct party *party, const char *word)
{
    struct buf text;
    int count = 0;

    buf_init(&text);
    live_read_file(party->out, &text);
    for (const char *at = buf_string(&text); at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        count += !strncmp(at, word, strlen(word));
    buf_done(&text);
    return count;
}

static int providers_said(const struct pool *pool, const char *word)
{
    int count = 0;

    for (int i = 0; i < PROVIDERS; i++)
        count += lines_of(&pool->providers[i], word);
    return count;
}

static void pool_end(struct pool *pool, bool passed)
{
    struct buf text;

    thief_end(&pool->relay_thief, &pool->relay_thief_out);
    party_end(&pool->customer);
    for (int i = 0; i < PROVIDERS; i++)
        party_end(&pool->providers[i]);
    if (!passed) {
        buf_init(&text);
        live_read_file(pool->customer.log, &text);
        live_read_file(pool->customer.out, &text);
        live_read_file(pool->providers[0].log, &text);
        live_read_file(pool->providers[0].out, &text);
        buf_string(&text);
        for (char *line = strtok(text.text, "\n"); line; line = strtok(NULL, "\n"))
            printf("# %.300s\n", line);
        buf_done(&text);
    }
    live_stop(&pool->live);
    live_remove(pool->folder);
    live_done(&pool->live);
}

static void matchmaker_kill(struct pool *pool)
{
    live_kill(&pool->live);
    if (!live_start(&pool->live))
        printf("# it did not start again\n");
}

static void matchmaker_stop(struct pool *pool)
{
    kill(pool->live.pid, SIGSTOP);
    live_sleep(10 * LEASE_MS);
    kill(pool->live.pid, SIGCONT);
}

static void provider_stop(struct pool *pool)
{
    kill(pool->providers[0].pid, SIGSTOP);
    live_sleep(10 * LEASE_MS);
    kill(pool->providers[0].pid, SIGCONT);
}

struct story {
    const char *what;
    bool callable, first_is_dead;
    void (*harm)(struct pool *pool);
    int64_t every;
    bool once; /* does every job start once, and none is stopped? */
    enum thief thief;
};

static const struct story stories[] = {
    {"agents that can be called run all jobs", true, false, NULL, 0, true, NO_THIEF},
    {"agents that cannot be called run them by the relay", false, false, NULL, 0, true, NO_THIEF},
    {"a matchmaker that is killed again and again disturbs no claim", true, false, matchmaker_kill, 250, true,
     NO_THIEF},
    {"a matchmaker that stands still for ten leases disturbs no claim", true, false, matchmaker_stop, 300, true,
     NO_THIEF},
    {"agents pass over a matchmaker that does not answer", true, true, NULL, 0, true, NO_THIEF},
    {"a provider that stands still for ten leases delays nobody for ever", true, false, provider_stop, 300, false,
     NO_THIEF},
    {"whoever repeats calls between agents, at any later time and in any order, disturbs no claim", true, false, NULL,
     0, true, THIEF_OF_CALLS},
    {"nor does who repeats the sealed letters that go by the relay", false, false, NULL, 0, true, THIEF_OF_LETTERS},
};

/* When all is over every message comes once more, in order, as for a claim that begins: nothing begins. */
static void test_again(struct pool *pool, int starts)
{
    int again = 0;

    if (pool->relay_thief)
        again += thief_again(pool->relay_thief, pool->relay_thief_out);
    for (int i = 0; i < PROVIDERS; i++)
        if (pool->providers[i].thief)
            again += thief_again(pool->providers[i].thief, pool->providers[i].thief_out);
    tap_ok(again > JOBS && providers_said(pool, "start ") == starts,
           "when all of it is said once more, in order, no job begins (%d messages)", again);
}

/* All of them, or the one of that number, which is the second argument. The first is the program fault_proxy. */
int main(int argc, char **argv)
{
    char lease[16];

    if (argc < 2)
        return 2;
    proxy_program = argv[1];
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        const struct story *story = &stories[i];
        struct pool pool;
        int starts, stops;
        bool passed;

        if (argc > 2 && (size_t)atoi(argv[2]) != i)
            continue;
        lease_ms = story->thief == NO_THIEF ? LEASE_MS : 4 * LEASE_MS; /* what is repeated keeps the parties busy */
        snprintf(lease, sizeof lease, "%d", lease_ms);
        setenv("LEASE_MS", lease, 1); /* for the agents */
        pool_start(&pool, story->callable, story->first_is_dead, story->thief);
        passed = pool_finishes(&pool, 25000, story->harm, story->every);
        tap_ok(passed, "%s", story->what);
        starts = providers_said(&pool, "start ");
        stops = providers_said(&pool, "stopped ");
        if (story->once)
            tap_ok(starts == JOBS && stops == 0,
                   "each job started once, and none was stopped: %s (%d starts, %d stopped)", story->what, starts,
                   stops);
        else
            tap_ok(starts >= JOBS, "each job started: %s (%d starts)", story->what, starts);
        if (story->thief != NO_THIEF)
            test_again(&pool, starts);
        if (!story->callable)
            tap_ok(!live_file_says(pool.customer.out, "relayed=0 "), "the relay carried their messages");
        if (story->first_is_dead)
            tap_ok(!live_file_says(pool.customer.out, "failed_over=0"), "the second matchmaker was asked");
        pool_end(&pool, passed && (!story->once || starts == JOBS));
    }
    return tap_done();
}
