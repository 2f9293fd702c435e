/* fair_live_test.c: one customer for a hundred users: how long one user's submission takes alone, and beside the others, who are busy.
 *
 *     fair_live_test [SECONDS [USERS]]     measures for so many seconds each, beside so many (99)
 *
 * The busy ones are in a process of their own, each with one request under way at any time:
 *     6 of 10   submissions of three jobs, one after another          1 of 10   lists of 3,000 jobs, and counts
 *     2 of 10   submissions of thousands of jobs that all differ      1 of 10   files for the spool
 * Those who submit remove their jobs now and then. No machine is there: all jobs wait. The light user submits one job, waits a moment, and so on.
 *
 * Client, customer and crowd share the processors of this machine, with whatever else runs on it. So each figure is given twice: as it was seen, and without the
 * time for which the customer's loop, or the client, stood ready and had no processor (own_...). The second takes off too much where both waited at once, or a
 * wait had begun before the submission: it compares two programs, no more. What does not depend on others is how much processor time the turns of the loop
 * take, of which the customer itself keeps count: whoever comes amid one waits for its end. */
#define _GNU_SOURCE /* nftw, pipe2 */
#include "common/tap.h"
#include "live_token.h"

#include "live/agent/agent.h"
#include "sys/hash.h"

#include <inttypes.h>
#include <math.h>

#define PATH_ROOM (LIVE_PATH_MAX + 64)
#define USERS_MAX 400
#define SAMPLES_MAX 100000
#define PAUSE_MS 100   /* between two submissions of the light user */
#define LARGE_ADS 3000 /* in one submission of a heavy one */
#define FILE_BYTES 65536
#define TURNS_MAX 32     /* bounds that the customer counts turns of its loop by */
#define TURN_LONG_MS 4.2 /* a turn that takes more processor time than this is a long one ... */
#define TURNS_FEW 20
#define TURNS_LONG 10000 /* ... and so many of a million may be: a hundred who connect at once, and interrupts */

#define PERSON "ad:read ad:write claim match job:submit job:own"
#define JOB "[Cmd=\"true\"; RequestCpus=64000; Outputs={}]"

struct shop {
    struct live live;
    char log[PATH_ROOM], token[PATH_ROOM];
    pid_t pid;
    int out, port;
    uint32_t count;
    struct buf bearers[USERS_MAX]; /* tokens: of the light user first */
};

/* ---------------------------------------------------------------------------------------------------------- processes */

static bool customer_start(struct shop *shop)
{
    const char *args[] = {
        live_program(), "customer",           "--state", shop->live.state, "--set", "JobsPerIdentity=20000",
        "--set",        "SpoolMax=536870912", NULL};
    struct pollfd at;
    struct buf text;

    shop->pid = live_spawn(args, shop->log, NULL, &shop->out);
    at = (struct pollfd){.fd = shop->out, .events = POLLIN};
    buf_init(&text);
    while (!shop->port && poll(&at, 1, LIVE_PATIENCE) > 0) {
        ssize_t got = read(shop->out, buf_reserve(&text, 4096), 4096);
        const char *words;

        if (got <= 0)
            break;
        text.len += (size_t)got;
        words = strstr(buf_string(&text), "127.0.0.1:");
        if (words && strchr(words, '\n'))
            shop->port = atoi(words + 10);
    }
    buf_done(&text);
    return shop->port > 0;
}

/* Asks as the customer's own user. */
static bool customer_get(const struct shop *shop, const char *path, struct reply *reply)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct talk talk;
    bool good;

    talk_init(&talk);
    snprintf(at.sun_path, sizeof at.sun_path, "%.60s/customer/customer.sock", shop->live.state);
    good = talk_connect(&talk, (const struct sockaddr *)&at, sizeof at) &&
           talk_send(&talk, "GET", path, NULL, NULL, NULL) && talk_wait(&talk, LIVE_PATIENCE, reply) == TALK_REPLY;
    talk_done(&talk);
    return good;
}

static bool customer_name(const struct shop *shop, char *name, size_t room)
{
    struct reply reply;
    bool good;

    reply_init(&reply);
    good = customer_get(shop, "/v1/status", &reply);
    reply_text(&reply, "Name", name, room);
    reply_done(&reply);
    return good;
}

/* A token of that user, for this customer alone. */
static bool bearer_make(const struct shop *shop, const char *name, const char *subject, struct buf *out)
{
    char path[PATH_ROOM], audience[TOKEN_NAME_MAX + 1];
    struct token_file file;
    struct grant grant;
    struct err err = {0};
    int64_t ends;
    bool good;

    buf_init(out);
    snprintf(path, sizeof path, "%s/user.token", shop->live.state);
    unlink(path);
    if (!live_token_make(&shop->live, subject, PERSON, path) || token_file_read(path, &file, &err) < 0)
        return false;
    good = token_read(file.token, strlen(file.token), &grant) == TOKEN_OK;
    token_agent_audience(grant.issuer, agent_self("alice", name), audience);
    good = good && token_file_bearer(out, &file, audience, time(NULL), &ends, &err) == 0;
    token_file_done(&file);
    (void)buf_string(out);
    return good;
}

static bool shop_open(struct shop *shop, uint32_t users)
{
    char path[PATH_ROOM], name[64] = "";
    bool good;

    memset(shop, 0, sizeof *shop);
    live_init(&shop->live);
    live_set(&shop->live, "Networks={\"127.0.0.0/8\"}");
    good = live_start(&shop->live);
    snprintf(path, sizeof path, "%s/customer", shop->live.state);
    mkdir(path, 0700);
    snprintf(shop->log, sizeof shop->log, "%s/customer.log", shop->live.state);
    snprintf(shop->token, sizeof shop->token, "%.90s/token", path);
    good = good && live_token_make(&shop->live, "alice", PERSON " serve", shop->token) && customer_start(shop) &&
           customer_name(shop, name, sizeof name);
    for (; good && shop->count <= users; shop->count++) {
        char subject[32];

        snprintf(subject, sizeof subject, shop->count ? "busy%u" : "light", shop->count);
        good = bearer_make(shop, name, subject, &shop->bearers[shop->count]);
    }
    return good;
}

static int shop_close(struct shop *shop)
{
    int status = -1;

    if (shop->pid > 0) {
        kill(shop->pid, SIGTERM);
        status = live_wait_pid(shop->pid, LIVE_PATIENCE);
        if (status < 0)
            kill(shop->pid, SIGKILL);
        close(shop->out);
    }
    live_stop(&shop->live);
    live_done(&shop->live);
    for (uint32_t i = 0; i < shop->count; i++)
        buf_done(&shop->bearers[i]);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ the busy */

enum busy_kind { BUSY_SMALL, BUSY_LARGE, BUSY_LIST, BUSY_SPOOL, BUSY_KINDS };
static const enum busy_kind busy_kinds[10] = {BUSY_SMALL, BUSY_LARGE, BUSY_SMALL, BUSY_LIST,  BUSY_SMALL,
                                              BUSY_SMALL, BUSY_LARGE, BUSY_SMALL, BUSY_SPOOL, BUSY_SMALL};

struct busy {
    const char *bearer;
    enum busy_kind kind;
    struct talk talk;
    struct buf out;
    size_t sent;
    uint64_t number, steps;
};

static void busy_write(struct busy *busy, const char *method, const char *path, const struct buf *body)
{
    buf_reset(&busy->out);
    busy->sent = 0;
    buf_addf(&busy->out,
             "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: "
             "application/classad\r\nContent-Length: %zu\r\n\r\n",
             method, path, busy->bearer, body->len);
    buf_add(&busy->out, body->text, body->len);
}

static void busy_submit(struct busy *busy, uint32_t ads, bool differ, uint32_t count)
{
    struct buf body;

    buf_init(&body);
    for (uint32_t i = 0; i < ads; i++)
        if (differ)
            buf_addf(&body, "[Cmd=\"sweep\"; Args={\"%u\"}; Number=%u; RequestCpus=64000; Outputs={}]\n", i, i);
        else
            buf_addf(&body, "[Cmd=\"true\"; Count=%u; RequestCpus=64000; Outputs={}]\n", count);
    busy_write(busy, "POST", "/v1/jobs", &body);
    buf_done(&body);
}

static void busy_remove(struct busy *busy)
{
    struct buf body;

    buf_init(&body);
    buf_adds(&body, "[Verb=\"remove\"; Constraint=\"true\"]");
    busy_write(busy, "POST", "/v1/control", &body);
    buf_done(&body);
}

static void busy_file(struct busy *busy)
{
    static char bytes[FILE_BYTES];
    char digits[HASH_DIGITS + 1], path[160];
    struct buf body;

    snprintf(bytes, sizeof bytes, "%llu %llu", (unsigned long long)busy->number, (unsigned long long)busy->steps);
    hash_bytes(bytes, sizeof bytes, digits);
    snprintf(path, sizeof path, "/v1/spool/%s?offset=0&size=%d", digits, FILE_BYTES);
    buf_init(&body);
    buf_add(&body, bytes, sizeof bytes);
    busy_write(busy, "PUT", path, &body);
    buf_done(&body);
}

/* The next request of that user. */
static void busy_next(struct busy *busy)
{
    static const char *const lists[] = {"/v1/jobs?limit=3000", "/v1/summary", "/v1/submissions"};
    uint64_t step = busy->steps++;
    struct buf none;

    buf_init(&none);
    if (busy->kind == BUSY_SMALL && step % 50 < 49)
        busy_submit(busy, 3, false, 1);
    else if (busy->kind == BUSY_LARGE && step % 4 < 3)
        busy_submit(busy, LARGE_ADS, true, 1);
    else if (busy->kind == BUSY_SPOOL)
        busy_file(busy);
    else if (busy->kind == BUSY_LIST && step)
        busy_write(busy, "GET", lists[step % 3], &none);
    else if (busy->kind == BUSY_LIST)
        busy_submit(busy, 1, false, 3000);
    else
        busy_remove(busy);
    buf_done(&none);
}

static void busy_send(struct busy *busy)
{
    while (busy->sent < busy->out.len) {
        ssize_t sent =
            send(busy->talk.fd, busy->out.text + busy->sent, busy->out.len - busy->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent <= 0)
            return;
        busy->sent += (size_t)sent;
    }
}

/* Until it is killed; tells how many answers there were each second, for what it is worth. */
static void busy_run(const struct shop *shop, int told)
{
    static struct busy all[USERS_MAX];
    static struct pollfd fds[USERS_MAX];
    uint64_t counts[BUSY_KINDS + 1] = {0};
    int64_t tell = live_now() + 1000;
    uint32_t count = shop->count - 1;
    struct reply reply;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    reply_init(&reply);
    for (uint32_t i = 0; i < count; i++) {
        all[i] = (struct busy){.bearer = shop->bearers[i + 1].text, .kind = busy_kinds[i % 10], .number = i};
        talk_init(&all[i].talk);
        buf_init(&all[i].out);
        talk_open_at(&all[i].talk, "127.0.0.1", shop->port);
        busy_next(&all[i]);
    }
    for (;;) {
        for (uint32_t i = 0; i < count; i++)
            fds[i] = (struct pollfd){.fd = all[i].talk.fd,
                                     .events = (short)(POLLIN | (all[i].sent < all[i].out.len ? POLLOUT : 0))};
        poll(fds, count, 1000);
        for (uint32_t i = 0; i < count; i++) {
            enum talk_result got;

            if (fds[i].revents & POLLOUT)
                busy_send(&all[i]);
            if (!(fds[i].revents & ~POLLOUT) || (got = talk_take(&all[i].talk, &reply)) == TALK_WAIT)
                continue;
            if (got == TALK_CLOSED || reply.closes)
                talk_open_at(&all[i].talk, "127.0.0.1", shop->port);
            counts[got == TALK_REPLY && reply.status < 300 ? all[i].kind : BUSY_KINDS]++;
            busy_next(&all[i]);
            busy_send(&all[i]);
        }
        if (live_now() < tell)
            continue;
        tell = live_now() + 1000;
        if (write(told, counts, sizeof counts) < 0)
            _exit(1);
        memset(counts, 0, sizeof counts);
    }
}

/* ------------------------------------------------------------------------------------------------------------- the loop */

/* How many turns of the customer's loop there were, by the processor time that they took. */
struct turns {
    uint64_t upto[TURNS_MAX]; /* so many took up to that, or less */
    double bounds[TURNS_MAX]; /* milliseconds; the last is infinite */
    uint32_t count;
};

static void turns_read(const struct shop *shop, struct turns *ret)
{
    static const char name[] = "berth_loop_turn_seconds_bucket{le=\"";
    struct reply reply;

    *ret = (struct turns){.count = 0};
    reply_init(&reply);
    if (!customer_get(shop, "/metrics", &reply) || reply.status != 200)
        tap_diag("the customer did not tell its metrics: %d", reply.status);
    for (const char *at = buf_string(&reply.body); ret->count < TURNS_MAX && (at = strstr(at, name)); at++) {
        const char *value = strstr(at, "\"} ");

        ret->bounds[ret->count] = strtod(at + strlen(name), NULL) * 1e3; /* also +Inf */
        ret->upto[ret->count++] = value ? strtoull(value + 3, NULL, 10) : 0;
    }
    reply_done(&reply);
}

/* Tells of the turns between the two. Returns a time, in milliseconds, that no more than so many of a million took longer than, or TURNS_FEW: where
 * the customer hardly had a processor there were few. */
static double turns_tell(const struct turns *from, const struct turns *to, uint64_t millionths)
{
    uint64_t all = to->count ? to->upto[to->count - 1] - from->upto[to->count - 1] : 0, before = 0;
    uint64_t most = all * millionths / 1000000 > TURNS_FEW ? all * millionths / 1000000 : TURNS_FEW;
    double ret = INFINITY;
    struct buf text;

    buf_init(&text);
    for (uint32_t i = to->count; i-- > 0;)
        if (all - (to->upto[i] - from->upto[i]) <= most)
            ret = to->bounds[i];
    for (uint32_t i = 0; i < to->count; i++) {
        uint64_t upto = to->upto[i] - from->upto[i];

        if (upto > before)
            buf_addf(&text, "%s%" PRIu64 " up to %.3g ms", before ? ", " : "", upto - before, to->bounds[i]);
        before = upto;
    }
    tap_diag("of the loop's turns took, in processor time: %s", buf_string(&text));
    buf_done(&text);
    return ret;
}

/* ----------------------------------------------------------------------------------------------------------- the light */

struct figures {
    double median, p90, p99, most; /* milliseconds */
    double own[2];      /* median and p99 without the time for which customer and client waited for a processor */
    double ran, waited; /* of the time the customer's loop had a processor, and waited for one: percent */
    uint32_t count, failures;
};

static int double_compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

static double now_ms(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec * 1e-6;
}

/* For how long a process's first thread has waited for a processor, in milliseconds; and for how long it had one. */
static double delay_ms(pid_t pid, double *ret_ran)
{
    char path[64], text[96];
    unsigned long long ran = 0, waited = 0;
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, text, sizeof text - 1);
        close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
    if (sscanf(text, "%llu %llu", &ran, &waited) != 2)
        ran = waited = 0;
    *ret_ran = (double)ran * 1e-6;
    return (double)waited * 1e-6;
}

static void light_run(const struct shop *shop, int64_t seconds, struct figures *ret)
{
    static double spans[SAMPLES_MAX], own[SAMPLES_MAX];
    int64_t ends = live_now() + seconds * 1000;
    double began_at = now_ms(), ran, ran_before, waited_before = delay_ms(shop->pid, &ran_before);
    enum talk_result heard;
    struct talk talk;
    struct reply reply;
    bool sent;

    *ret = (struct figures){0};
    talk_init(&talk);
    reply_init(&reply);
    while (live_now() < ends && ret->count < SAMPLES_MAX) {
        double began, waited = delay_ms(shop->pid, &ran) + delay_ms(getpid(), &ran);

        if (talk.fd < 0)
            talk_open_at(&talk, "127.0.0.1", shop->port);
        began = now_ms();
        sent = talk_send(&talk, "POST", "/v1/jobs", shop->bearers[0].text, NULL, JOB);
        heard = sent ? talk_wait(&talk, LIVE_PATIENCE, &reply) : TALK_CLOSED;
        if (heard != TALK_REPLY || reply.status != 201 || reply.closes) {
            tap_diag("submission %u, after %.1f ms: %s", ret->count, now_ms() - began,
                     !sent                 ? "it could not be sent"
                     : heard == TALK_WAIT  ? "no answer came"
                     : heard != TALK_REPLY ? "the connection was ended"
                     : reply.closes        ? "the connection is ended by the answer"
                                           : "it was refused");
            if (heard == TALK_REPLY)
                tap_diag("status %u: %s", reply.status, buf_string(&reply.body));
            ret->failures++;
            talk_close(&talk);
        }
        spans[ret->count] = now_ms() - began;
        own[ret->count] = spans[ret->count] + waited - delay_ms(shop->pid, &ran) - delay_ms(getpid(), &ran);
        own[ret->count] = own[ret->count] > 0 ? own[ret->count] : 0; /* both may have waited at the same time */
        ret->count++;
        live_sleep(PAUSE_MS);
    }
    talk_done(&talk);
    reply_done(&reply);
    ret->waited = (delay_ms(shop->pid, &ran) - waited_before) / (now_ms() - began_at) * 100;
    ret->ran = (ran - ran_before) / (now_ms() - began_at) * 100;
    qsort(spans, ret->count, sizeof *spans, double_compare);
    ret->median = spans[ret->count / 2];
    ret->p90 = spans[ret->count * 9 / 10];
    ret->p99 = spans[ret->count * 99 / 100];
    ret->most = spans[ret->count - 1];
    qsort(own, ret->count, sizeof *own, double_compare);
    ret->own[0] = own[ret->count / 2];
    ret->own[1] = own[ret->count * 99 / 100];
}

static void figures_tell(const char *what, const struct figures *figures)
{
    tap_diag(
        "{\"name\": \"submit-%s\", \"submissions\": %u, \"failures\": %u, \"median_ms\": %.2f, \"p90_ms\": %.2f, \"p99_ms\": %.2f, "
        "\"most_ms\": %.2f, \"own_median_ms\": %.2f, \"own_p99_ms\": %.2f}",
        what, figures->count, figures->failures, figures->median, figures->p90, figures->p99, figures->most,
        figures->own[0], figures->own[1]);
    tap_diag("the customer's loop had a processor for %.0f %% of the time, and waited for one for %.0f %%",
             figures->ran, figures->waited);
}

/* Returns how long a busy one waits for a submission of three jobs, on average, in milliseconds: of so many each has one under way all the time. */
static double busy_tell(int told, uint32_t users)
{
    uint64_t sum[BUSY_KINDS + 1] = {0}, counts[BUSY_KINDS + 1], seconds = 0;

    fcntl(told, F_SETFL, O_NONBLOCK);
    for (; read(told, counts, sizeof counts) == sizeof counts; seconds++)
        for (int i = 0; i <= BUSY_KINDS; i++)
            sum[i] += counts[i];
    seconds = seconds ? seconds : 1;
    tap_diag("of the busy, each second: %llu small submissions, %llu large ones, %llu lists, %llu files, %llu refused",
             (unsigned long long)(sum[BUSY_SMALL] / seconds), (unsigned long long)(sum[BUSY_LARGE] / seconds),
             (unsigned long long)(sum[BUSY_LIST] / seconds), (unsigned long long)(sum[BUSY_SPOOL] / seconds),
             (unsigned long long)(sum[BUSY_KINDS] / seconds));
    return 1000.0 * (double)seconds * users * 6 / 10 / (double)(sum[BUSY_SMALL] ? sum[BUSY_SMALL] : 1);
}

#define SECONDS_DEFAULT 4

int main(int argc, char **argv)
{
    int64_t seconds = argc > 1 ? atoll(argv[1]) : SECONDS_DEFAULT;
    uint32_t users = argc > 2 ? (uint32_t)atoi(argv[2]) : 99;
    static struct shop shop;
    struct figures alone, beside;
    struct turns before, after;
    double busy, longest;
    int told[2];
    pid_t pid;

    users = users < USERS_MAX - 1 ? users : USERS_MAX - 1;
    if (!tap_ok(shop_open(&shop, users) && pipe2(told, O_CLOEXEC) == 0, "a customer for %u users is up", users + 1))
        return shop_close(&shop), tap_done();
    light_run(&shop, 1, &alone); /* to warm up */
    light_run(&shop, seconds, &alone);
    turns_read(&shop, &before);
    pid = fork();
    if (pid == 0)
        busy_run(&shop, told[1]);
    live_sleep(2000); /* by then all of them are under way */
    light_run(&shop, seconds, &beside);
    turns_read(&shop, &after);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    figures_tell("alone", &alone);
    figures_tell("beside", &beside);
    busy = busy_tell(told[0], users);
    longest = turns_tell(&before, &after, TURNS_LONG);
    tap_ok(!alone.failures && !beside.failures, "no submission of the light user is refused");
    /* Other programs that are at work make both slower. In the order in which requests come, the light user waits as long as the busy ones do. */
    tap_diag("a busy one waits %.1f ms for as much", busy);
    tap_ok(beside.median <= busy / 3, "beside the busy ones it waits much shorter than they do");
    tap_ok(longest <= TURN_LONG_MS,
           "but for one turn in %d none of the customer's loop takes longer than %.1f ms of a processor",
           1000000 / TURNS_LONG, TURN_LONG_MS);
    tap_ok(shop_close(&shop) == 0, "and the customer ends well");
    return tap_done();
}
