/* full_disk_test.c: the matchmaker on a disk that gets full: nothing is acknowledged that is not kept, it says why and ends, and
 * with room again it goes on from what it had acknowledged.
 *
 * Two ways to have a full disk: a small tmpfs, which only root can mount, and a limit on the size of files. */
#define _GNU_SOURCE
#include "common/tap.h"
#include "process.h"

#include <sched.h>
#include <sys/mount.h>

#define CLIENTS 4
#define ASKED_MAX 20000
#define TOKEN_MAX 1400
#define FILLER 1500 /* bytes of a section */
#define FILE_MAX (300 << 10)
#define DISK_SMALL "size=400k,mode=700"
#define DISK_LARGE "size=16m,mode=700"

/* What was asked for, in its order: a third each. */
enum sort { SORT_SECTION, SORT_USER, SORT_TOKEN, SORT_COUNT };

struct asked {
    bool acked;
    char *token; /* of a SORT_TOKEN that was acknowledged */
};

struct test {
    struct live live;
    struct talk talks[CLIENTS], local;
    struct reply reply;
    size_t busy[CLIENTS]; /* what each waits for */
    struct asked asked[ASKED_MAX];
    size_t count, acked;
    unsigned refusal; /* how the first that was not taken was answered; 0: the connection was closed */
    bool refused;
    char admin[TOKEN_MAX];
};

static enum sort sort_of(size_t number)
{
    return number % 4 == 3 ? SORT_TOKEN : number % 4 == 2 ? SORT_USER : SORT_SECTION;
}

static void path_of(size_t number, char out[64])
{
    static const char *const forms[] = {"/v1/config/section%zu", "/v1/users/user%zu", "/v1/tokens"};

    snprintf(out, 64, forms[sort_of(number)], number);
}

static bool ask(struct test *test, size_t client)
{
    size_t number = test->count;
    char path[64], body[FILLER + 100];

    if (number == ASKED_MAX)
        return false;
    path_of(number, path);
    if (sort_of(number) == SORT_SECTION)
        snprintf(body, sizeof body, "[ Number = %zu; Filler = \"%0*d\" ]", number, FILLER, 0);
    else if (sort_of(number) == SORT_USER)
        snprintf(body, sizeof body, "[ Factor = %zu.0 ]", number + 2);
    else
        snprintf(body, sizeof body, "[ Subject = \"t%zu\"; Scope = \"ad:read\"; Lifetime = 86400 ]", number);
    test->busy[client] = number;
    test->count++;
    return talk_send(&test->talks[client], sort_of(number) == SORT_TOKEN ? "POST" : "PUT", path, test->admin, NULL,
                     body);
}

/* False when the client is done: refused, or cut. */
static bool heard(struct test *test, size_t client)
{
    enum talk_result result = talk_take(&test->talks[client], &test->reply);
    struct asked *asked = &test->asked[test->busy[client]];
    char text[TOKEN_MAX];

    if (result == TALK_WAIT)
        return true;
    if (result == TALK_REPLY && test->reply.status / 100 == 2) {
        asked->acked = true;
        test->acked++;
        reply_text(&test->reply, "Token", text, sizeof text);
        asked->token = sort_of(test->busy[client]) == SORT_TOKEN ? strdup(text) : NULL;
        if (ask(test, client))
            return true;
        result = TALK_CLOSED;
    }
    if (!test->refused)
        test->refusal = result == TALK_REPLY ? test->reply.status : 0;
    test->refused = true;
    return false;
}

/* Until nobody is served any more. */
static void fill(struct test *test)
{
    int64_t ends = live_now() + 60000;
    bool goes_on[CLIENTS];
    size_t left = CLIENTS;

    for (size_t i = 0; i < CLIENTS; i++)
        goes_on[i] = talk_open(&test->talks[i], &test->live) && ask(test, i);
    while (left && live_now() < ends) {
        struct pollfd at[CLIENTS];

        for (size_t i = 0; i < CLIENTS; i++)
            at[i] = (struct pollfd){.fd = goes_on[i] ? test->talks[i].fd : -1, .events = POLLIN};
        poll(at, CLIENTS, 100);
        left = 0;
        for (size_t i = 0; i < CLIENTS; i++) {
            goes_on[i] = goes_on[i] && heard(test, i);
            left += goes_on[i];
        }
    }
    for (size_t i = 0; i < CLIENTS; i++)
        talk_close(&test->talks[i]);
}

/* Is it there as it was asked for? */
static bool is_there(struct test *test, size_t number)
{
    const char *token = test->asked[number].token;
    char path[64], text[64];

    if (sort_of(number) == SORT_TOKEN) {
        bool good;

        talk_close(&test->local);
        good =
            token && talk_ask(&test->local, &test->live, "GET", "/v1/status", token, NULL, NULL, &test->reply) == 200;
        talk_close(&test->local);
        return good;
    }
    path_of(number, path);
    if (talk_ask(&test->local, &test->live, "GET", path, NULL, NULL, NULL, &test->reply) != 200)
        return false;
    reply_text(&test->reply, sort_of(number) == SORT_USER ? "Factor" : "Number", text, sizeof text);
    return strtoul(text, NULL, 10) == number + (sort_of(number) == SORT_USER ? 2 : 0);
}

static size_t missing(struct test *test)
{
    size_t count = 0;

    for (size_t i = 0; i < test->count; i++)
        if (test->asked[i].acked && !is_there(test, i)) {
            if (count++ < 5)
                tap_diag("number %zu was acknowledged and is not there: %u", i, test->reply.status);
        }
    return count;
}

/* What was never asked for, or is of no number. */
static size_t strange(struct test *test)
{
    size_t count = 0;

    talk_ask(&test->local, &test->live, "GET", "/v1/tokens?limit=100000", NULL, NULL, NULL, &test->reply);
    for (const char *at = buf_string(&test->reply.body); (at = strstr(at, "Subject = \"t")); at++)
        count += strtoul(at + 12, NULL, 10) >= test->count;
    for (size_t i = test->count; i < test->count + 5; i++)
        count += sort_of(i) != SORT_TOKEN && is_there(test, i);
    return count;
}

static void test_init(struct test *test)
{
    memset(test, 0, sizeof *test);
    live_init(&test->live);
    live_set(&test->live, "AgentRequestsPerSecond=1000000");
    for (size_t i = 0; i < CLIENTS; i++)
        talk_init(&test->talks[i]);
    talk_init(&test->local);
    reply_init(&test->reply);
}

static void test_done(struct test *test)
{
    for (size_t i = 0; i < CLIENTS; i++)
        talk_done(&test->talks[i]);
    for (size_t i = 0; i < test->count; i++)
        free(test->asked[i].token);
    talk_done(&test->local);
    reply_done(&test->reply);
    live_done(&test->live);
}

static void log_show(const struct live *live)
{
    struct buf log;

    buf_init(&log);
    live_read_file(live->log, &log);
    buf_string(&log);
    tap_diag("the log's end:\n%s", log.len > 700 ? log.text + log.len - 700 : log.text);
    buf_done(&log);
}

/* Fills it; false when it did not even start. */
static bool until_full(struct test *test, const char *where)
{
    int status;

    if (!tap_ok(live_start(&test->live) &&
                    live_token(&test->live, "keeper", "ad:read ad:write admin config", test->admin, sizeof test->admin),
                "%s: it starts while there is room", where)) {
        log_show(&test->live);
        return false;
    }
    fill(test);
    status = live_wait(&test->live, 2000 * LIVE_SLOWER);
    tap_ok(test->refused && (test->refusal == 503 || test->refusal == 0),
           "%s: when it is full, a change is answered 503 or the connection is closed (%u, after %zu changes)", where,
           test->refusal, test->acked);
    if (!tap_ok(status == 1, "%s: it ends with status 1 (%d)", where, status))
        log_show(&test->live);
    if (!tap_ok(live_file_says(test->live.log, "event=store.failed"), "%s: the log says that the store has failed",
                where))
        log_show(&test->live);
    live_kill(&test->live);
    return true;
}

static void with_room_again(struct test *test, const char *where)
{
    struct buf said;
    size_t lost;

    buf_init(&said);
    if (!tap_ok(live_store_is_sound(&test->live, &said), "%s: the store is sound", where))
        tap_diag("%s", buf_string(&said));
    buf_done(&said);
    if (!tap_ok(live_start(&test->live), "%s: with room again it starts", where)) {
        log_show(&test->live);
        return;
    }
    lost = missing(test);
    tap_ok(lost == 0 && test->acked > 20, "%s: all %zu changes that were acknowledged are there (%zu are not)", where,
           test->acked, lost);
    tap_ok(strange(test) == 0, "%s: nothing is there that was not asked for", where);
    tap_ok(talk_ask(&test->local, &test->live, "PUT", "/v1/config/more", NULL, NULL, "[ More = 1 ]", &test->reply) /
                   100 ==
               2,
           "%s: it takes changes again", where);
    tap_ok(live_stop(&test->live) == 0, "%s: it ends well", where);
}

/* ------------------------------------------------------------------------------------------------------------- the ways */

static void limit_of_files(struct test *test, const char *where, bool with_signal)
{
    test_init(test);
    test->live.file_max = FILE_MAX;
    test->live.file_signal = with_signal;
    if (until_full(test, where)) {
        test->live.file_max = 0;
        with_room_again(test, where);
    }
    test_done(test);
}

/* Started again while the disk is still full: it serves what is there, or says why not; it neither hangs nor falls. */
static void still_full(struct test *test)
{
    bool up = live_start(&test->live);
    int status = up ? 0 : live_wait(&test->live, LIVE_PATIENCE);

    if (up) {
        size_t lost = missing(test);

        tap_ok(lost == 0, "tmpfs: started while it is still full it has all that was acknowledged (%zu lost)", lost);
        live_kill(&test->live);
    } else if (!tap_ok(status == 2 || status == 1, "tmpfs: started while it is still full it says so and ends (%d)",
                       status)) {
        log_show(&test->live);
    }
    talk_close(&test->local);
}

static void first_start_full(void)
{
    struct live live;
    int status;

    live_init(&live);
    if (mount("tmpfs", live.state, "tmpfs", 0, "size=4k,mode=700") == 0) {
        status = live_start(&live) ? -2 : live_wait(&live, LIVE_PATIENCE);
        if (!tap_ok(status == 2 || status == 1, "tmpfs: a first start without any room says so and ends (%d)", status))
            log_show(&live);
        live_kill(&live);
        mount("tmpfs", live.state, "tmpfs", MS_REMOUNT, DISK_LARGE);
        if (!tap_ok(live_start(&live), "tmpfs: what is left of a first start without room is not in the way later"))
            log_show(&live);
        live_kill(&live);
        umount2(live.state, MNT_DETACH);
    }
    live_done(&live);
}

/* What is mounted from here on goes with this process, however that ends. */
static bool mounts_are_ours(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static void small_disk(struct test *test)
{
    test_init(test);
    if (!mounts_are_ours() || mount("tmpfs", test->live.state, "tmpfs", 0, DISK_SMALL) < 0) {
        tap_ok(true, "tmpfs: a small disk gets full # SKIP it cannot be mounted here: %s", strerror(errno));
    } else {
        if (until_full(test, "tmpfs")) {
            still_full(test);
            mount("tmpfs", test->live.state, "tmpfs", MS_REMOUNT, DISK_LARGE);
            with_room_again(test, "tmpfs");
        }
        live_kill(&test->live);
        umount2(test->live.state, MNT_DETACH);
        first_start_full();
    }
    test_done(test);
}

int main(void)
{
    static struct test test;

    limit_of_files(&test, "a limit on files", false);
    limit_of_files(&test, "a limit on files, set by a shell", true);
    small_disk(&test);
    return tap_done();
}
