/* bench_pull.c: berth bench pull: measures offers that ask a matchmaker for one of very many requests, without a network.
 *
 *     pull-count    a request ad with a count for each shape
 *     pull-ones     an ad for each request, in the same shapes */
#include "cli/bench/bench.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "lang/text/parse.h"
#include "pool/matchmaker/matchmaker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PULLERS 10000
#define MACHINES 64 /* different ads of machines */
#define ONES_MAX 1000000

struct drive {
    struct symbols *symbols;
    struct build build;
    struct arena scratch;
    struct rng chance;
    struct secrets secrets;
    struct spans spans;
    struct matchmaker_settings settings;
    struct matchmaker *role;
    struct role_env env;
    struct effects effects;
    int64_t wake;
    uint64_t tokens, given;
    struct tree *machines[MACHINES];
};

static void draw(void *user, void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)rng_next(user);
}

/* Stands in for the real seal: what it makes does not matter here. */
static void seal(void *user, const struct key *key, const void *data, size_t len, struct key *ret)
{
    (void)user, (void)data, (void)len;
    *ret = *key;
}

static void drive_step(struct drive *drive, const struct event *event);

/* Answers a message of the matchmaker at once, as if its receiver had heard it. */
static void drive_answer(struct drive *drive, uint64_t token, uint32_t tag)
{
    struct message got = {.kind = MESSAGE_GOT};
    struct event event = {.kind = EVENT_ANSWER, .token = token, .tag = tag, .answer = ANSWER_GOT, .message = &got};

    drive_step(drive, &event);
}

static void drive_step(struct drive *drive, const struct event *event)
{
    struct effects effects = drive->effects;
    uint64_t tokens[4];
    uint32_t tags[4], count = 0;

    matchmaker_role.step(drive->role, &drive->env, event, &effects);
    arena_reset(&drive->scratch);
    for (uint32_t i = 0; i < effects.count; i++) {
        if (effects.items[i].kind == EFFECT_WAKE)
            drive->wake = effects.items[i].at;
        if (effects.items[i].kind == EFFECT_REPLY && effects.items[i].message.kind == MESSAGE_PULLED)
            drive->given += effects.items[i].message.u.pulled.reason == REASON_OK;
        if (effects.items[i].kind == EFFECT_SEND && count < 4) {
            tokens[count] = effects.items[i].token;
            tags[count++] = effects.items[i].tag;
        }
    }
    effects_reset(&effects);
    drive->effects = effects;
    for (uint32_t i = 0; i < count; i++)
        drive_answer(drive, tokens[i], tags[i]);
}

static struct tree *drive_ad(struct drive *drive, const char *text)
{
    return parse_ad(&drive->build, NULL, text, strlen(text), NULL);
}

static void drive_init(struct drive *drive, uint64_t seed)
{
    struct event booted = {.kind = EVENT_BOOTED};
    char text[600];

    memset(drive, 0, sizeof *drive);
    drive->symbols = names_new(seed);
    build_init(&drive->build, drive->symbols, &dialect_classic);
    arena_init(&drive->scratch);
    rng_init(&drive->chance, seed);
    drive->secrets = (struct secrets){&drive->chance, draw, seal};
    drive->spans = spans_default;
    drive->spans.lifetime = 24 * 60 * MINUTE;
    drive->settings = (struct matchmaker_settings){.self = 1, .spans = &drive->spans, .ads_max = 1u << 24};
    drive->env = (struct role_env){.now = SECOND,
                                   .wall = INT64_C(1800000000) * SECOND,
                                   .chance = &drive->chance,
                                   .secrets = &drive->secrets,
                                   .symbols = drive->symbols,
                                   .scratch = &drive->scratch};
    drive->wake = INT64_MAX;
    effects_init(&drive->effects);
    drive->role = matchmaker_role.make(&drive->settings);
    drive_step(drive, &booted);
    for (unsigned i = 0; i < MACHINES; i++) {
        snprintf(text, sizeof text, BENCH_PULL_TEXT, 30100 + i * 14, 64 + i * 8);
        drive->machines[i] = drive_ad(drive, text);
    }
}

static void drive_done(struct drive *drive)
{
    matchmaker_role.free(drive->role);
    for (unsigned i = 0; i < MACHINES; i++)
        tree_unref(drive->machines[i]);
    effects_done(&drive->effects);
    arena_done(&drive->scratch);
    build_done(&drive->build);
    symbols_free(drive->symbols);
}

/* Steps until nothing is left to be done now. */
static void drive_settle(struct drive *drive)
{
    struct event wake = {.kind = EVENT_WAKE};

    while (drive->wake <= drive->env.now + 10 * SECOND) {
        if (drive->wake > drive->env.now)
            drive->env.now = drive->wake;
        drive->wake = INT64_MAX;
        drive_step(drive, &wake);
    }
}

static void requests_put(struct drive *drive, uint64_t ads, uint64_t each)
{
    struct peer peer = {.agent = 10, .identity = "", .any = true, .channel = 1};
    char text[600], count[40] = "";

    for (uint64_t i = 0; i < ads; i++) {
        unsigned shape = (unsigned)(i % BENCH_SHAPES);
        struct message message = {.kind = MESSAGE_ADVERTISE};
        struct event event = {.kind = EVENT_MESSAGE, .token = ++drive->tokens, .peer = &peer, .message = &message};

        if (each > 1)
            snprintf(count, sizeof count, "Count=%llu;", (unsigned long long)each);
        snprintf(text, sizeof text, BENCH_SHAPE_TEXT, shape % 50, shape % 7, 32 + shape, count, shape);
        peer.agent = 10 + i % 50;
        message.u.advertise =
            (struct advertise){.id = i + 1, .version = 1, .request = true, .ad = drive_ad(drive, text)};
        drive_step(drive, &event);
        message_done(&message);
    }
    drive_settle(drive);
}

static int double_compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

static void pull_one(struct drive *drive, uint64_t n)
{
    struct peer peer = {.agent = 1000 + n % PULLERS, .identity = "host", .channel = n % PULLERS};
    struct message message = {.kind = MESSAGE_PULL};
    struct event event = {.kind = EVENT_MESSAGE, .token = ++drive->tokens, .peer = &peer, .message = &message};

    message.u.pull = (struct pull){
        .id = 1, .number = n / PULLERS + 1, .key = {{1}}, .ad = tree_ref(drive->machines[n * 7 % MACHINES])};
    drive_step(drive, &event);
    message_done(&message);
}

static void measure(const char *name, const struct bench_settings *settings, uint64_t ads, uint64_t each,
                    struct buf *row)
{
    struct drive drive;
    struct bench bench;
    double *spans = mem_alloc(settings->ads * sizeof *spans), began;
    uint64_t before;

    drive_init(&drive, settings->seed);
    requests_put(&drive, ads, each);
    for (uint64_t i = 0; i < 2 * MACHINES; i++) { /* so that it is known what the machines read */
        pull_one(&drive, i);
        drive_settle(&drive);
    }
    bench_init(&bench, settings->ads);
    before = drive.given;
    bench_start(&bench);
    for (uint64_t i = 0; i < settings->ads; i++) {
        began = bench_clock();
        drive.env.now += 50;
        pull_one(&drive, PULLERS + i);
        if (drive.wake <= drive.env.now)
            drive_settle(&drive);
        spans[i] = bench_clock() - began;
    }
    bench_stop(&bench);
    qsort(spans, settings->ads, sizeof *spans, double_compare);
    bench_row_begin(row, name);
    bench_row_integer(row, "ads", ads);
    bench_row_integer(row, "queued", ads * each);
    bench_row_integer(row, "shapes", BENCH_SHAPES);
    bench_row_integer(row, "given", drive.given - before);
    bench_row_real(row, "median_us", spans[settings->ads / 2] * 1e6);
    bench_row_real(row, "p99_us", spans[settings->ads * 99 / 100] * 1e6);
    bench_row_real(row, "most_us", spans[settings->ads - 1] * 1e6);
    bench_row_measured(row, &bench);
    bench_row_finish(row);
    bench_done(&bench);
    free(spans);
    drive_done(&drive);
}

int bench_pull(const struct bench_settings *settings)
{
    uint64_t queued = settings->queued ? settings->queued : 1000000;
    struct buf row;

    if (queued < 2 * BENCH_SHAPES) {
        report("bench pull wants --queued of %d or more", 2 * BENCH_SHAPES);
        return STATUS_BAD;
    }
    buf_init(&row);
    measure("pull-count", settings, BENCH_SHAPES, queued / BENCH_SHAPES, &row);
    measure("pull-ones", settings, queued < ONES_MAX ? queued : ONES_MAX, 1, &row);
    buf_done(&row);
    return STATUS_DONE;
}
