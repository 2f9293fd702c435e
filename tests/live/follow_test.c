/* follow_test.c: which matchmaker of a pool an agent asks, whatever its matchmakers say. */
#include "common/tap.h"
#include "lang/ad/names.h"
#include "lang/base/buf.h"
#include "lang/form/form.h"
#include "live/agent/agent_parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define STANDS_BY(at)                                                                         \
    (struct http_outcome)                                                                     \
    {                                                                                         \
        .result = CALL_ANSWERED, .status = 503, .standby = "true", .leader = (at), .body = "" \
    }
static const struct http_outcome nobody = {.result = CALL_UNREACHED, .body = ""};

struct bench {
    uv_loop_t loop;
    struct log log;
    struct agent_settings settings;
    struct live_agent live;
    struct membership pool;
};

static void bench_init(struct bench *bench, const char *const *places, size_t count, const char *ca_file)
{
    struct err err;

    memset(bench, 0, sizeof *bench);
    uv_loop_init(&bench->loop);
    log_init(&bench->log, open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_LOGFMT, LEVEL_ERROR, NULL, NULL);
    bench->settings.log = &bench->log;
    bench->live.settings = &bench->settings;
    bench->live.symbols = names_new(0);
    bench->pool.live = &bench->live;
    bench->pool.is =
        (struct agent_pool){.name = "", .matchmakers = places, .matchmaker_count = count, .ca_file = ca_file};
    bench->pool.client = client_new(&bench->loop, NULL, &err);
    follow_init(&bench->pool);
}

static void bench_done(struct bench *bench)
{
    follow_done(&bench->pool);
    client_free(bench->pool.client);
    while (uv_run(&bench->loop, UV_RUN_DEFAULT))
        ;
    uv_loop_close(&bench->loop);
    symbols_free(bench->live.symbols);
    close(bench->log.fd);
}

static void learns(struct bench *bench, const char *text)
{
    struct err err;
    struct tree *ad = form_parse(bench->live.symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &err);

    follow_learn(&bench->pool, ad);
    tree_unref(ad);
}

static bool asks(const struct bench *bench, const char *url)
{
    return !strcmp(bench->pool.places[bench->pool.at], url);
}

static void test_following(void)
{
    static const char *const places[] = {"https://a:1", "https://b:1", "https://c:1"};
    struct bench bench;

    bench_init(&bench, places, 3, "ca.pem");
    tap_ok(follow_outcome(&bench.pool, &STANDS_BY("https://c:1")) == FOLLOWED_AT_ONCE && asks(&bench, "https://c:1"),
           "the leader that one names is asked at once");
    tap_ok(follow_outcome(&bench.pool, &nobody) == FOLLOWED_AT_ONCE && asks(&bench, "https://a:1"),
           "where nobody is the next is asked");
    tap_ok(follow_outcome(&bench.pool, &STANDS_BY("https://c:1")) == FOLLOWED_LATER &&
               follow_outcome(&bench.pool, &nobody) == FOLLOWED_LATER,
           "who is sent back and forth takes its time");
    bench.pool.at = 0;
    tap_ok(follow_outcome(&bench.pool, &STANDS_BY("https://evil:1")) == FOLLOWED_LATER && asks(&bench, "https://b:1") &&
               bench.pool.place_count == 3,
           "a leader that is none of the pool's is not followed");
    tap_ok(follow_outcome(&bench.pool, &STANDS_BY("https://b:1")) == FOLLOWED_LATER && asks(&bench, "https://c:1"),
           "nor is one that stands by and names itself");
    tap_ok(follow_outcome(
               &bench.pool,
               &(struct http_outcome){.result = CALL_ANSWERED, .status = 503, .leader = "https://a:1", .body = ""}) ==
               FOLLOWED_NONE,
           "one that is only busy is not left");
    bench_done(&bench);
    bench_init(&bench, places, 1, "ca.pem");
    tap_ok(follow_outcome(&bench.pool, &STANDS_BY(NULL)) == FOLLOWED_LATER && asks(&bench, "https://a:1") &&
               follow_outcome(&bench.pool, &nobody) == FOLLOWED_NONE,
           "the only one is asked again");
    bench_done(&bench);
}

static void test_learning(void)
{
    static const char *const secure[] = {"https://a:1"}, *const plain[] = {"http://127.0.0.1:1"};
    struct bench bench;
    struct buf many;

    bench_init(&bench, secure, 1, "ca.pem");
    learns(&bench, "[ Matchmakers = { \"https://a:1\", \"https://b:1\", \"http://c:1\", \"http://127.0.0.1:2\", "
                   "\"unix:/tmp/x\", \"https://d:1/path\", \"https://e:1\\n\", 7, \"\" } ]");
    tap_ok(bench.pool.place_count == 2 && !strcmp(bench.pool.places[1], "https://b:1"),
           "from https nothing leads down to http, to a socket, or to what is no address");
    bench.pool.at = 1;
    learns(&bench, "[ Matchmakers = { \"https://f:1\" } ]");
    tap_ok(bench.pool.place_count == 3 && asks(&bench, "https://b:1"), "one that is asked is asked until it fails");
    bench.pool.at = 0;
    learns(&bench, "[ PoolId = \"x\" ]");
    tap_ok(bench.pool.place_count == 1 && asks(&bench, "https://a:1"),
           "the last list counts; what was set or is in the token stays");
    buf_init(&many);
    buf_adds(&many, "[ Matchmakers = { \"https://x:1\"");
    for (int i = 0; i < 1000; i++)
        buf_addf(&many, ", \"https://h%d:1\"", i);
    buf_adds(&many, " } ]");
    learns(&bench, buf_string(&many));
    tap_ok(bench.pool.place_count <= AGENT_PLACES_MAX && bench.pool.place_count > 2, "the list is bounded");
    buf_done(&many);
    bench_done(&bench);

    bench_init(&bench, secure, 1, NULL);
    learns(&bench, "[ Matchmakers = { \"https://b:1\" } ]");
    tap_ok(bench.pool.place_count == 1,
           "where the pool's CA is not known nothing is added: anybody could prove that address");
    bench_done(&bench);

    bench_init(&bench, plain, 1, NULL);
    learns(&bench, "[ Matchmakers = { \"http://127.0.0.1:2\", \"http://10.0.0.1:2\", \"http://localhost:2\" } ]");
    tap_ok(bench.pool.place_count == 2 && !strcmp(bench.pool.places[1], "http://127.0.0.1:2"),
           "on one machine, where nothing is encrypted, it stays on that machine");
    bench_done(&bench);
}

static void test_token_file(void)
{
    char others[] = "http://b:1  https://c:1 https://d:1", pool[] = "https://a:1", place[TOKEN_PLACE_MAX + 1];
    struct token_file file = {.pool = pool, .others = others};

    tap_ok(token_file_place(&file, 0, place) && !strcmp(place, "https://a:1") && token_file_place(&file, 1, place) &&
               !strcmp(place, "https://c:1") && token_file_place(&file, 2, place) && !strcmp(place, "https://d:1") &&
               !token_file_place(&file, 3, place),
           "a token's file names further matchmakers; from https none leads down to http");
    tap_ok(token_file_names(&file, "https://d:1") && !token_file_names(&file, "http://b:1"), "and is asked for one");
}

int main(void)
{
    test_following();
    test_learning();
    test_token_file();
    return tap_done();
}
