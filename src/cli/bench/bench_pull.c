/* bench_pull.c: berth bench pull: measures offers that ask a matchmaker for one of very many requests, without a network.
 *
 *     pull-count    a request ad with a count for each shape
 *     pull-ones     an ad for each request, in the same shapes */
#include "cli/bench/bench.h"
#include "cli/bench/drive.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PULLERS 10000
#define MACHINES 64 /* different ads of machines */
#define ONES_MAX 1000000

struct pulling {
    struct drive drive;
    uint64_t given;
    struct tree *machines[MACHINES];
};

static void pulled(void *user, const struct message *reply)
{
    struct pulling *pulling = user;

    pulling->given += reply->kind == MESSAGE_PULLED && reply->u.pulled.reason == REASON_OK;
}

static void pulling_init(struct pulling *pulling, uint64_t seed)
{
    struct drive *drive = &pulling->drive;
    char text[600];

    *pulling = (struct pulling){0};
    drive_init(drive, seed);
    drive->replied = pulled;
    drive->user = pulling;
    drive->spans.lifetime = 24 * 60 * MINUTE;
    drive_boot(drive);
    for (unsigned i = 0; i < MACHINES; i++) {
        snprintf(text, sizeof text, BENCH_PULL_TEXT, 30100 + i * 14, 64 + i * 8);
        pulling->machines[i] = drive_ad(drive, text);
    }
}

static void pulling_done(struct pulling *pulling)
{
    for (unsigned i = 0; i < MACHINES; i++)
        tree_unref(pulling->machines[i]);
    drive_done(&pulling->drive);
}

static void requests_put(struct drive *drive, uint64_t ads, uint64_t each)
{
    struct peer peer = {.agent = 10, .identity = "", .any = true, .channel = 1};
    char text[600], count[40] = "";

    for (uint64_t i = 0; i < ads; i++) {
        unsigned shape = (unsigned)(i % BENCH_SHAPES);
        struct message message = {.kind = MESSAGE_ADVERTISE};

        if (each > 1)
            snprintf(count, sizeof count, "Count=%llu;", (unsigned long long)each);
        snprintf(text, sizeof text, BENCH_SHAPE_TEXT, shape % 50, shape % 7, 32 + shape, count, shape);
        peer.agent = 10 + i % 50;
        message.u.advertise =
            (struct advertise){.id = i + 1, .version = 1, .request = true, .ad = drive_ad(drive, text)};
        drive_hear(drive, &peer, &message);
    }
    drive_settle(drive, 10 * SECOND);
}

static int double_compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

static void pull_one(struct pulling *pulling, uint64_t n)
{
    struct peer peer = {.agent = 1000 + n % PULLERS, .identity = "host", .channel = n % PULLERS};
    struct message message = {.kind = MESSAGE_PULL};

    message.u.pull = (struct pull){
        .id = 1, .number = n / PULLERS + 1, .key = {{1}}, .ad = tree_ref(pulling->machines[n * 7 % MACHINES])};
    drive_hear(&pulling->drive, &peer, &message);
}

static void measure(const char *name, const struct bench_settings *settings, uint64_t ads, uint64_t each,
                    struct buf *row)
{
    struct pulling pulling;
    struct drive *drive = &pulling.drive;
    struct bench bench;
    double *spans = mem_alloc(settings->ads * sizeof *spans), began;
    uint64_t before;

    pulling_init(&pulling, settings->seed);
    requests_put(drive, ads, each);
    for (uint64_t i = 0; i < 2 * MACHINES; i++) { /* so that it is known what the machines read */
        pull_one(&pulling, i);
        drive_settle(drive, 10 * SECOND);
    }
    bench_init(&bench, settings->ads);
    before = pulling.given;
    bench_start(&bench);
    for (uint64_t i = 0; i < settings->ads; i++) {
        began = bench_clock();
        drive->env.now += 50;
        pull_one(&pulling, PULLERS + i);
        if (drive->wake <= drive->env.now)
            drive_settle(drive, 10 * SECOND);
        spans[i] = bench_clock() - began;
    }
    bench_stop(&bench);
    qsort(spans, settings->ads, sizeof *spans, double_compare);
    bench_row_begin(row, name);
    bench_row_integer(row, "ads", ads);
    bench_row_integer(row, "queued", ads * each);
    bench_row_integer(row, "shapes", BENCH_SHAPES);
    bench_row_integer(row, "given", pulling.given - before);
    bench_row_real(row, "median_us", spans[settings->ads / 2] * 1e6);
    bench_row_real(row, "p99_us", spans[settings->ads * 99 / 100] * 1e6);
    bench_row_real(row, "most_us", spans[settings->ads - 1] * 1e6);
    bench_row_measured(row, &bench);
    bench_row_finish(row);
    bench_done(&bench);
    free(spans);
    pulling_done(&pulling);
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
