/* slow_test.c: clients that send a byte now and then, and such that never read, do not keep others waiting; nor
 * do more connections than there are descriptors for.
 *
 *     slow heads      127.0.0.2 ... strangers: a byte of the head every 300 ms
 *     slow bodies     127.0.0.4 ... with a token: the head at once, then a byte of the body every 300 ms
 *     deaf readers    127.0.0.6     with a token: ask again and again, and read nothing
 *     the others      127.0.0.1     are timed */
#define _GNU_SOURCE
#include "common/tap.h"
#include "process.h"

#define HEADS 100
#define BODIES 100
#define DEAF 20
#define SLOW (HEADS + BODIES)
#define PER_ADDRESS 50 /* below StrangersPerAddress */
#define OTHERS 4
#define BYTE_SPAN 300 /* milliseconds between two bytes */
#define SPAN 5000
#define PACE 1000 /* microseconds from one request to the next, at least */
#define TIMES_MAX 200000
#define TOKEN_MAX 1400
#define BODY_LEN 4000

struct slow {
    int fd;
    int64_t due;
    size_t sent;
};

struct other {
    struct talk talk;
    bool busy;
    int64_t since; /* microseconds */
};

struct test {
    struct live live;
    char token[TOKEN_MAX];
    struct slow slow[SLOW];
    int deaf[DEAF];
    struct other others[OTHERS];
    struct reply reply;
    int64_t times[TIMES_MAX];
    size_t count, wrong;
};

static int64_t now_us(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000000 + at.tv_nsec / 1000;
}

/* A connection from 127.0.0.HOST. */
static int connect_from(const struct live *live, unsigned host)
{
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000u | host)};
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)live->port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (fd >= 0 && (bind(fd, (const struct sockaddr *)&from, sizeof from) < 0 ||
                    connect(fd, (const struct sockaddr *)&to, sizeof to) < 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Has the other side closed it? What it says is read. */
static bool is_closed(int fd)
{
    char bytes[4096];
    ssize_t count;

    while ((count = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        ;
    return count == 0 || (errno != EAGAIN && errno != EINTR);
}

/* ------------------------------------------------------------------------------------------------------------ slow ones */

static bool slow_open(struct test *test, size_t number)
{
    struct slow *slow = &test->slow[number];
    struct buf head;
    bool sent = true;

    *slow = (struct slow){.fd = connect_from(&test->live, 2 + (unsigned)(number / PER_ADDRESS)),
                          .due = live_now() + (int64_t)(number % BYTE_SPAN)};
    if (slow->fd >= 0 && number >= HEADS) {
        buf_init(&head);
        buf_addf(&head,
                 "PUT /v1/ads/slow%zu HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                 "Content-Type: application/classad\r\nContent-Length: %d\r\n\r\n",
                 number, test->token, BODY_LEN);
        sent = send(slow->fd, head.text, head.len, MSG_NOSIGNAL) == (ssize_t)head.len;
        buf_done(&head);
    }
    return slow->fd >= 0 && sent;
}

/* The next byte of each whose time it is. */
static void slow_run(struct test *test)
{
    static const char head[] = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
    int64_t now = live_now();

    for (size_t i = 0; i < SLOW; i++) {
        struct slow *slow = &test->slow[i];
        char byte = i < HEADS && slow->sent < sizeof head - 1 ? head[slow->sent] : 'x';

        if (slow->fd < 0 || now < slow->due)
            continue;
        slow->due = now + BYTE_SPAN;
        slow->sent += send(slow->fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
    }
}

/* Asks for much, and reads nothing of it. */
static void deaf_open(struct test *test)
{
    struct buf ask;

    buf_init(&ask);
    for (int i = 0; i < 20; i++)
        buf_addf(&ask, "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n",
                 test->token);
    for (size_t i = 0; i < DEAF; i++) {
        test->deaf[i] = connect_from(&test->live, 6);
        if (test->deaf[i] >= 0)
            send(test->deaf[i], ask.text, ask.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    buf_done(&ask);
}

/* --------------------------------------------------------------------------------------------------------------- others */

static void other_run(struct test *test, size_t number)
{
    struct other *other = &test->others[number];
    enum talk_result result;
    char path[64];

    if (!other->busy && now_us() - other->since < PACE)
        return;
    if (!other->busy) {
        snprintf(path, sizeof path, "/v1/ads/quick%zu", number);
        other->since = now_us();
        other->busy = true;
        if (test->count % 2)
            talk_send(&other->talk, "GET", "/v1/status", test->token, NULL, NULL);
        else
            talk_send(&other->talk, "PUT", path, test->token, NULL, "[ Type = \"Machine\"; Memory = 1 ]");
        return;
    }
    result = talk_take(&other->talk, &test->reply);
    if (result == TALK_WAIT)
        return;
    test->wrong += result != TALK_REPLY || test->reply.status / 100 != 2;
    if (test->count < TIMES_MAX)
        test->times[test->count++] = now_us() - other->since;
    other->busy = false;
    if (result == TALK_CLOSED)
        talk_open(&other->talk, &test->live);
}

static void others_run(struct test *test, int64_t milliseconds)
{
    int64_t ends = live_now() + milliseconds;

    while (live_now() < ends) {
        struct pollfd at[OTHERS];

        for (size_t i = 0; i < OTHERS; i++) {
            if (!test->others[i].busy)
                other_run(test, i);
            at[i] = (struct pollfd){.fd = test->others[i].talk.fd, .events = POLLIN};
        }
        poll(at, OTHERS, 1);
        for (size_t i = 0; i < OTHERS; i++)
            if (test->others[i].busy)
                other_run(test, i);
        slow_run(test);
    }
}

static int time_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* ---------------------------------------------------------------------------------------------------------------- cases */

static size_t slow_alive(struct test *test, size_t from, size_t to)
{
    size_t count = 0;

    for (size_t i = from; i < to; i++)
        count += test->slow[i].fd >= 0 && !is_closed(test->slow[i].fd);
    return count;
}

static void quick_beside_slow(struct test *test)
{
    size_t opened = 0, alive;

    for (size_t i = 0; i < SLOW; i++)
        opened += slow_open(test, i);
    deaf_open(test);
    for (size_t i = 0; i < OTHERS; i++)
        talk_open(&test->others[i].talk, &test->live);
    others_run(test, SPAN);
    alive = slow_alive(test, 0, SLOW);
    tap_ok(opened == SLOW && alive == SLOW, "%d slow clients are connected all the while (%zu of %zu still are)", SLOW,
           alive, opened);
    qsort(test->times, test->count, sizeof *test->times, time_compare);
    tap_ok(
        test->count > 200 && test->times[test->count * 99 / 100] < 100000 * LIVE_SLOWER,
        "beside %d slow clients and %d that do not read, 99 of 100 answers take less than a tenth of a second (%zu answers; "
        "%lld us, the longest %lld us)",
        SLOW, DEAF, test->count, test->count ? (long long)test->times[test->count * 99 / 100] : 0,
        test->count ? (long long)test->times[test->count - 1] : 0);
    tap_ok(!test->wrong, "and all answers are right (%zu are not)", test->wrong);
}

/* Nobody holds a connection by bytes that trickle in. */
static void slow_are_cut(struct test *test)
{
    int64_t ends = live_now() + 6000;

    while (slow_alive(test, 0, SLOW) && live_now() < ends)
        others_run(test, 100);
    tap_ok(slow_alive(test, 0, HEADS) == 0,
           "who takes too long over a request's head is cut, however steadily bytes come");
    tap_ok(slow_alive(test, HEADS, SLOW) == 0,
           "who takes too long over a request's body is cut, however steadily bytes come");
}

/* Strangers of one address use up what they may have; who has said who they are goes on. */
static void strangers(struct test *test)
{
    int fds[80];
    size_t open = 0;
    struct talk talk;
    unsigned status;

    talk_init(&talk);
    talk_ask(&talk, &test->live, "GET", "/v1/status", test->token, NULL, NULL, &test->reply);
    for (size_t i = 0; i < 80; i++)
        fds[i] = connect_from(&test->live, 1);
    live_sleep(200);
    for (size_t i = 0; i < 80; i++)
        open += fds[i] >= 0 && !is_closed(fds[i]);
    tap_ok(open > 0 && open <= 64, "one address has 64 connections of strangers at most (%zu of 80)", open);
    status = talk_ask(&talk, &test->live, "GET", "/v1/status", test->token, NULL, NULL, &test->reply);
    tap_ok(status == 200, "who has shown a token goes on, however many strangers there are (%u)", status);
    for (size_t i = 0; i < 80; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    live_sleep(300);
    talk_close(&talk);
    status = talk_ask(&talk, &test->live, "GET", "/v1/status", test->token, NULL, NULL, &test->reply);
    tap_ok(status == 200, "and when they are gone, there is room for new ones (%u)", status);
    talk_done(&talk);
}

static long ticks_of(pid_t pid)
{
    char path[64];
    struct buf text;
    long user = 0, system = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    buf_init(&text);
    live_read_file(path, &text);
    sscanf(buf_string(&text), "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system);
    buf_done(&text);
    return user + system;
}

/* More connections than the system lets it have: who has one is served, it does not spin, and later there is room again. */
static void few_descriptors(void)
{
    struct live live;
    struct talk talk;
    struct reply reply;
    int fds[80];
    unsigned status;
    long ticks;

    live_init(&live);
    live.fd_max = 60;
    live_set(&live, "StrangersPerAddress=1000");
    talk_init(&talk);
    reply_init(&reply);
    if (tap_ok(live_start(&live), "with 60 descriptors it starts")) {
        talk_ask(&talk, &live, "GET", "/v1/status", NULL, NULL, NULL, &reply);
        for (size_t i = 0; i < 80; i++)
            fds[i] = connect_from(&live, 1);
        live_sleep(100);
        ticks = ticks_of(live.pid);
        live_sleep(1000);
        ticks = ticks_of(live.pid) - ticks;
        tap_ok(ticks < sysconf(_SC_CLK_TCK) / 4,
               "with 80 connections for 60 descriptors it does not spin (%ld ticks a second)", ticks);
        status = talk_ask(&talk, &live, "PUT", "/v1/config/kept", NULL, NULL, "[ Value = 1 ]", &reply);
        tap_ok(status / 100 == 2, "with 80 connections for 60 descriptors who has one is served (%u)", status);
        for (size_t i = 0; i < 80; i++)
            if (fds[i] >= 0)
                close(fds[i]);
        live_sleep(300);
        talk_close(&talk);
        status = talk_ask(&talk, &live, "GET", "/v1/config/kept", NULL, NULL, NULL, &reply);
        tap_ok(status == 200, "and when they are gone, there is room for new ones (%u)", status);
        tap_ok(live_stop(&live) == 0, "with 60 descriptors it ends well");
    }
    talk_done(&talk);
    reply_done(&reply);
    live_done(&live);
}

int main(void)
{
    static struct test test;

    live_init(&test.live);
    live_set(&test.live, "AgentRequestsPerSecond=1000000");
    live_set(&test.live, "HeadDeadline=7");
    live_set(&test.live, "BodyDeadline=8");
    reply_init(&test.reply);
    for (size_t i = 0; i < OTHERS; i++)
        talk_init(&test.others[i].talk);
    if (tap_ok(live_start(&test.live) &&
                   live_token(&test.live, "agent", "ad:read ad:write", test.token, sizeof test.token),
               "it starts")) {
        quick_beside_slow(&test);
        slow_are_cut(&test);
        for (size_t i = 0; i < SLOW + DEAF; i++)
            close(i < SLOW ? test.slow[i].fd : test.deaf[i - SLOW]);
        for (size_t i = 0; i < OTHERS; i++)
            talk_close(&test.others[i].talk);
        strangers(&test);
        tap_ok(live_stop(&test.live) == 0, "it ends well");
    }
    for (size_t i = 0; i < OTHERS; i++)
        talk_done(&test.others[i].talk);
    reply_done(&test.reply);
    live_done(&test.live);
    few_descriptors();
    return tap_done();
}
