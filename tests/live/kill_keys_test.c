/* kill_keys_test.c: kill -9 of the matchmaker while it makes its keys, turns them, and gives out codes with which machines join.
 *
 * A start that was killed leaves nothing in the way of the next. Keys that were turned stay turned. A code that was shown lets one key
 * in, and no other, whatever happens in between. BERTH_ROUNDS says how often it is killed, BERTH_SEED when. */
#define _GNU_SOURCE
#include "common/tap.h"
#include "process.h"

#define SAID_MAX 5
#define CODES_MAX 400 /* a pool takes 1,024 */
#define KEYS 3
#define ASKED_MAX 10 /* a code buys some tokens for its key, and not any number */

struct code {
    char secret[33];
    unsigned asked; /* how often its own key was let in again */
    enum { CODE_MADE, CODE_TRIED, CODE_USED } state;
};

enum doing { DOING_ROTATE, DOING_CODE, DOING_JOIN, DOING_COUNT };

struct test {
    struct live live;
    struct rng rng;
    struct talk talk;
    struct reply reply;
    char keys[KEYS][40]; /* the current, the next, the previous, as acknowledged last */
    bool turning;        /* one more turn was asked for, and not acknowledged */
    struct code codes[CODES_MAX];
    size_t code_count;
    uint64_t round, rounds;
    uint64_t acks[DOING_COUNT];
    uint64_t wrong[3];
};

enum { WRONG_KEYS, WRONG_CODE, WRONG_START };

__attribute__((format(printf, 4, 5))) static void look(struct test *test, int which, bool holds, const char *format,
                                                       ...)
{
    char text[512];
    va_list args;

    if (holds || test->wrong[which]++ >= SAID_MAX)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tap_diag("round %llu: %s", (unsigned long long)test->round, text);
}

/* ----------------------------------------------------------------------------------------------------------- first start */

static bool pool_read(struct test *test, struct live *live, char out[64])
{
    *out = '\0';
    if (live_start(live) && talk_ask(&test->talk, live, "GET", "/v1/keys", NULL, NULL, NULL, &test->reply) == 200)
        reply_text(&test->reply, "PoolId", out, 64);
    talk_close(&test->talk);
    return *out != '\0';
}

/* Killed somewhere on its very first start, it starts the next time, and is the same pool from then on. */
static void first_starts(struct test *test, uint64_t rounds)
{
    int64_t took = 30 * LIVE_SLOWER;
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < rounds; i++) {
        char pool[2][64];
        struct live live;
        struct buf log;
        bool good;

        live_init(&live);
        live_fork_only(&live);
        usleep((useconds_t)rng_below(&test->rng, (uint64_t)took * 1000));
        live_kill(&live);
        good = pool_read(test, &live, pool[0]);
        took = live.took;
        live_kill(&live);
        good = pool_read(test, &live, pool[1]) && good && !strcmp(pool[0], pool[1]);
        live_kill(&live);
        buf_init(&log);
        live_read_file(live.log, &log);
        if (!good && wrong++ < SAID_MAX)
            tap_diag("pool '%s', then '%s'; the log:\n%s", pool[0], pool[1], buf_string(&log));
        buf_done(&log);
        live_done(&live);
    }
    tap_ok(!wrong, "killed %llu times within its very first start, it starts the next time and stays the same pool",
           (unsigned long long)rounds);
}

/* ----------------------------------------------------------------------------------------------------------------- keys */

/* The ids that an answer lists. */
static void keys_read(const struct reply *reply, char out[KEYS][40])
{
    const char *at = reply->body.len ? reply->body.text : "";

    memset(out, 0, KEYS * sizeof *out); /* so that lists can be compared as they lie */
    for (int i = 0; i < KEYS; i++) {
        at = strstr(at, " Id = \"");
        snprintf(out[i], 40, "%.*s", at ? (int)strcspn(at + 7, "\"") : 0, at ? at + 7 : "");
        at = at ? at + 7 : "";
    }
}

/* As acknowledged; or turned once more, if that was asked for. */
static void keys_check(struct test *test)
{
    char now[KEYS][40];
    bool same, turned;

    talk_ask(&test->talk, &test->live, "GET", "/v1/keys", NULL, NULL, NULL, &test->reply);
    keys_read(&test->reply, now);
    same = !memcmp(now, test->keys, sizeof now) || !test->keys[0][0];
    turned = test->turning && !strcmp(now[0], test->keys[1]) && !strcmp(now[2], test->keys[0]);
    look(test, WRONG_KEYS, same || turned, "the keys are %s %s %s; acknowledged were %s %s %s", now[0], now[1], now[2],
         test->keys[0], test->keys[1], test->keys[2]);
    memcpy(test->keys, now, sizeof now);
    test->turning = false;
}

/* ---------------------------------------------------------------------------------------------------------------- codes */

/* The secret of a code's text: bytes 1 to 16 of what is written in base64url behind "berth-". */
static bool secret_read(const char *text, char out[33])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char bytes[18];
    unsigned word = 0;
    int bits = 0, count = 0;

    if (strncmp(text, "berth-", 6) != 0)
        return false;
    for (text += 6; *text && count < 18; text++) {
        const char *digit = strchr(digits, *text);

        if (!digit)
            return false;
        word = word << 6 | (unsigned)(digit - digits);
        bits += 6;
        if (bits >= 8)
            bytes[count++] = (unsigned char)(word >> (bits -= 8));
    }
    for (int i = 0; i < 16; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[1 + i]);
    return count == 18;
}

static bool join_send(struct test *test, size_t number, bool own)
{
    char body[256];

    snprintf(body, sizeof body, "[ Secret = \"%s\"; Key = \"%064zx\"; Name = \"machine%zu\" ]",
             test->codes[number].secret, number * 2 + 2 + !own, number);
    return talk_send(&test->talk, "POST", "/v1/join", NULL, NULL, body);
}

static unsigned join_ask(struct test *test, size_t number, bool own)
{
    test->reply.status = 0;
    if (!join_send(test, number, own) || talk_wait(&test->talk, LIVE_PATIENCE, &test->reply) != TALK_REPLY)
        talk_close(&test->talk);
    return test->reply.status;
}

static void code_check(struct test *test, size_t number)
{
    struct code *code = &test->codes[number];
    unsigned status;

    if (test->talk.fd < 0 && !talk_open_local(&test->talk, &test->live))
        return;
    if (code->state == CODE_USED) {
        status = join_ask(test, number, false);
        look(test, WRONG_CODE, status == 403, "code %zu was used, and lets another in: %u", number, status);
    }
    if (code->state != CODE_MADE && code->asked++ < ASKED_MAX) {
        status = join_ask(test, number, true);
        look(test, WRONG_CODE, status == 200, "code %zu does not let its own key in again: %u", number, status);
        code->state = CODE_USED;
    }
}

/* --------------------------------------------------------------------------------------------------------------- rounds */

/* One that was shown and never tried; the count when there is none. */
static size_t code_fresh(struct test *test)
{
    size_t i = 0;

    while (i < test->code_count && test->codes[i].state != CODE_MADE)
        i++;
    return i;
}

/* Asks for one change, kills somewhere in it, and reads what had been answered. */
static void change_and_kill(struct test *test)
{
    enum doing doing = (enum doing)rng_below(&test->rng, DOING_COUNT);
    size_t fresh = code_fresh(test);
    enum talk_result got = TALK_WAIT;
    char text[400];

    if (doing == DOING_JOIN && fresh == test->code_count)
        doing = DOING_CODE;
    if (doing == DOING_CODE && test->code_count == CODES_MAX)
        doing = DOING_ROTATE;
    if (test->talk.fd < 0)
        talk_open_local(&test->talk, &test->live);
    if (doing == DOING_JOIN) {
        join_send(test, fresh, true);
        test->codes[fresh].state = CODE_TRIED;
    } else {
        talk_send(&test->talk, "POST", doing == DOING_ROTATE ? "/v1/keys" : "/v1/codes", NULL, NULL, NULL);
        test->turning = doing == DOING_ROTATE;
    }
    if (rng_below(&test->rng, 3) == 0) /* however slow the machine, some changes are acknowledged */
        got = talk_wait(&test->talk, LIVE_PATIENCE, &test->reply);
    else
        usleep((useconds_t)rng_below(&test->rng, (3000u << 2 * rng_below(&test->rng, 3)) * LIVE_SLOWER));
    live_kill(&test->live);
    if (got != TALK_REPLY)
        got = talk_take(&test->talk, &test->reply);
    if (got == TALK_REPLY && test->reply.status / 100 == 2) {
        test->acks[doing]++;
        reply_text(&test->reply, "Code", text, sizeof text);
        if (doing == DOING_CODE && secret_read(text, test->codes[test->code_count].secret))
            test->codes[test->code_count++].state = CODE_MADE;
        if (doing == DOING_JOIN)
            test->codes[fresh].state = CODE_USED;
        if (doing == DOING_ROTATE) {
            keys_read(&test->reply, test->keys);
            test->turning = false;
        }
    }
    talk_close(&test->talk);
}

static bool round_run(struct test *test)
{
    bool up = live_start(&test->live);

    look(test, WRONG_START, up && test->live.took < 1000 * LIVE_SLOWER, "%s after %lld ms", up ? "up" : "not up",
         (long long)test->live.took);
    if (!up)
        return false;
    keys_check(test);
    for (size_t i = 0; i < test->code_count; i++)
        if (i + 5 >= test->code_count || test->codes[i].state == CODE_TRIED ||
            rng_below(&test->rng, test->code_count) < 10)
            code_check(test, i);
    change_and_kill(test);
    return true;
}

int main(void)
{
    static struct test test;
    bool goes_on = true;

    live_init(&test.live);
    live_set(&test.live, "AgentRequestsPerSecond=1000000");
    live_set(&test.live, "RequestsPerSecond=1000000");
    rng_init(&test.rng, live_setting("BERTH_SEED", 1));
    test.rounds = live_setting("BERTH_ROUNDS", 100);
    talk_init(&test.talk);
    reply_init(&test.reply);
    for (; test.round < test.rounds && goes_on; test.round++)
        goes_on = round_run(&test);
    tap_ok(goes_on && !test.wrong[WRONG_START], "killed %llu times, it starts again within a second",
           (unsigned long long)test.round);
    tap_ok(!test.wrong[WRONG_KEYS] && test.acks[DOING_ROTATE] * 20 > test.rounds,
           "keys that were turned stay turned after kill -9 (%llu turns were acknowledged)",
           (unsigned long long)test.acks[DOING_ROTATE]);
    tap_ok(!test.wrong[WRONG_CODE] && test.acks[DOING_JOIN] * 50 > test.rounds,
           "a code that was shown lets one key in, and never another, after kill -9 (%llu codes, %llu used)",
           (unsigned long long)test.acks[DOING_CODE], (unsigned long long)test.acks[DOING_JOIN]);
    first_starts(&test, test.rounds / 3 + 1);
    talk_done(&test.talk);
    reply_done(&test.reply);
    live_done(&test.live);
    return tap_done();
}
