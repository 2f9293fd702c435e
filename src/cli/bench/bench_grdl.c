/* bench_grdl.c: berth bench grdl: tasks of 500 shapes and executors of 100, as GRDL resources, are read, gathered into shapes, and matched by the
 * templates of the shapes. The resources are made before; the time is that of all the rest. */
#include "cli/bench/bench.h"
#include "cli/term/command.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "match/grdl/shapes.h"

#include "match/grdl/matcher.h"

#include <stdio.h>
#include <stdlib.h>

#define TASK_SHAPES 500
#define EXECUTOR_SHAPES 100

static const char *const systems[] = {"linux", "linux", "linux", "solaris"};
static const char *const projects[] = {"physics", "genegrid", "climate", "chemistry", "astro"};

static void task_fill(struct grdl_resource *task, uint64_t shape)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)(10 + shape));
    grdl_add_char(task, "norm_cpu", "min", text, NULL);
    snprintf(text, sizeof text, "%llu", (unsigned long long)(64 + shape % 29 * 32));
    grdl_add_char(task, "mem", "MB", text, NULL);
    grdl_add_req(task, "ram", GRDL_GE, "MB", text, NULL);
    grdl_add_char(task, "vo", NULL, projects[shape % 5], NULL);
    grdl_add_req(task, "os", GRDL_EQ, NULL, systems[shape / 3 % 4], NULL);
    grdl_add_req(task, "openssl", GRDL_GE, NULL, shape % 2 ? "0.9.7d" : "0.9.8a", NULL);
    snprintf(text, sizeof text, "%llu", (unsigned long long)(1000 + shape % 19 * 100));
    grdl_add_req(task, "mhz", GRDL_GE, NULL, text, NULL);
    grdl_add_pref(task, "cost", GRDL_LT, NULL, NULL, 1, NULL);
    grdl_add_pref(task, "mhz", GRDL_GT, NULL, NULL, 2, NULL);
}

static void executor_fill(struct grdl_resource *executor, uint64_t shape)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)(1000 + shape * 25));
    grdl_add_char(executor, "mhz", NULL, text, NULL);
    snprintf(text, sizeof text, "%g", 0.25 * (double)(1 + shape % 7));
    grdl_add_char(executor, "ram", "GB", text, NULL);
    snprintf(text, sizeof text, "%llu", (unsigned long long)(shape % 23));
    grdl_add_char(executor, "cost", NULL, text, NULL);
    grdl_add_char(executor, "os", NULL, systems[shape % 4], NULL);
    grdl_add_char(executor, "openssl", NULL, shape % 3 ? "0.9.7f" : "0.9.8b", NULL);
    grdl_add_char(executor, "software", NULL, "python", NULL);
    grdl_add_char(executor, "software", NULL, "root", NULL);
    snprintf(text, sizeof text, "%llu", (unsigned long long)(1 + shape % 13));
    grdl_add_req(executor, "norm_cpu", GRDL_LE, "hr", text, NULL);
    grdl_add_req(executor, "norm_cpu", GRDL_GE, "min", "5", NULL);
    grdl_add_req(executor, "mem", GRDL_LE, "MB", shape % 2 ? "512" : "1024", NULL);
    grdl_add_pref(executor, "vo", GRDL_EQ, NULL, projects[shape % 5], 1, NULL);
}

/* Makes one side: `count` resources, of each shape first one and then by chance; each has something of its own. */
static struct grdl_resource **side_make(struct rng *rng, uint64_t count, uint64_t shapes, const char *class_name,
                                        void (*fill)(struct grdl_resource *, uint64_t))
{
    struct grdl_resource **side = mem_alloc(count * sizeof *side);
    char name[32];

    for (uint64_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s%llu", class_name, (unsigned long long)i);
        side[i] = grdl_resource_new(class_name, name);
        grdl_add_char(side[i], "host", NULL, name, NULL);
        fill(side[i], i < shapes ? i : rng_below(rng, shapes));
    }
    return side;
}

static void side_free(struct grdl_resource **side, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        grdl_resource_free(side[i]);
    free(side);
}

/* Both sides, read and gathered into shapes. */
struct sides {
    const struct grdl_reading **readings[2];
    struct grdl_dimensions seen[2]; /* the dimensions that each side names */
    struct grdl_shapes shapes[2];
    struct grdl_shape_pairs pairs;
    struct grdl_units *units;
    struct grdl_consumer *consumer;
};

static void sides_match(struct sides *sides, struct grdl_resource **const *resources, uint64_t count)
{
    sides->units = grdl_units_new();
    sides->consumer = grdl_consumer_new(sides->units, GRDL_DIMENSION_TRANSFORMING);
    for (int side = 0; side < 2; side++) {
        sides->readings[side] = mem_alloc(count * sizeof *sides->readings[side]);
        grdl_dimensions_init(&sides->seen[side]);
        for (uint64_t i = 0; i < count; i++) {
            sides->readings[side][i] = grdl_read(sides->consumer, resources[side][i]);
            grdl_dimensions_name(&sides->seen[side], sides->readings[side][i]);
        }
    }
    for (int side = 0; side < 2; side++)
        grdl_shapes_make(sides->readings[side], (uint32_t)count, &sides->seen[!side], &sides->shapes[side]);
    grdl_shapes_match(&sides->shapes[0], sides->readings[0], &sides->shapes[1], sides->readings[1], &sides->pairs);
}

static void sides_done(struct sides *sides, uint64_t count)
{
    for (int side = 0; side < 2; side++) {
        for (uint64_t i = 0; i < count; i++)
            grdl_reading_free((struct grdl_reading *)sides->readings[side][i]);
        free(sides->readings[side]);
        grdl_dimensions_done(&sides->seen[side]);
        grdl_shapes_done(&sides->shapes[side]);
    }
    grdl_shape_pairs_done(&sides->pairs);
    grdl_consumer_free(sides->consumer);
    grdl_units_free(sides->units);
}

/* How many comparisons it would take to try all pairs: all pairs of the same two shapes take equally many. */
static uint64_t comparisons_of_all(const struct sides *sides)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < sides->shapes[0].count; i++)
        for (uint32_t j = 0; j < sides->shapes[1].count; j++) {
            const struct grdl_shape *a = &sides->shapes[0].items[i], *b = &sides->shapes[1].items[j];
            struct grdl_counts counts = {0};

            grdl_pair(GRDL_PEER, sides->readings[0][a->head], sides->readings[1][b->head], &counts);
            all += counts.comparisons * a->count * b->count;
        }
    return all;
}

static void row_print(const struct bench_settings *settings, const struct sides *sides, const struct bench *bench)
{
    struct buf row;

    buf_init(&row);
    bench_row_begin(&row, "grdl");
    bench_row_integer(&row, "tasks", settings->ads);
    bench_row_integer(&row, "executors", settings->ads);
    bench_row_integer(&row, "rounds", settings->rounds);
    bench_row_integer(&row, "seed", settings->seed);
    bench_row_integer(&row, "task_shapes", sides->shapes[0].count);
    bench_row_integer(&row, "executor_shapes", sides->shapes[1].count);
    bench_row_integer(&row, "matches", sides->pairs.resource_pairs);
    bench_row_integer(&row, "comparisons", sides->pairs.counts.comparisons);
    bench_row_integer(&row, "all_pairs", sides->pairs.all_pairs);
    bench_row_integer(&row, "all_pairs_comparisons", comparisons_of_all(sides));
    bench_row_measured(&row, bench);
    bench_row_finish(&row);
    buf_done(&row);
}

int bench_grdl(const struct bench_settings *settings)
{
    struct grdl_resource **resources[2];
    struct sides sides = {0};
    struct bench bench;
    struct rng rng;

    rng_init(&rng, settings->seed);
    resources[0] = side_make(&rng, settings->ads, TASK_SHAPES, "task", task_fill);
    resources[1] = side_make(&rng, settings->ads, EXECUTOR_SHAPES, "executor", executor_fill);
    bench_init(&bench, settings->ads * settings->ads);
    for (uint64_t round = 0; round <= settings->rounds; round++) {
        if (round) { /* the first round warms up */
            sides_done(&sides, settings->ads);
            bench_start(&bench);
        }
        sides_match(&sides, resources, settings->ads);
        if (round)
            bench_stop(&bench);
    }
    row_print(settings, &sides, &bench);
    sides_done(&sides, settings->ads);
    bench_done(&bench);
    side_free(resources[0], settings->ads);
    side_free(resources[1], settings->ads);
    return STATUS_DONE;
}
