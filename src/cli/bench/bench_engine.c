/* bench_engine.c: berth bench engine: measures a matchmaking cycle over ads that have all just come, after one in a hundred has changed, and when
 * nothing has. */
#include "cli/bench/bench.h"
#include "cli/bench/variants.h"
#include "cli/bench/workload.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "lang/text/parse.h"
#include "pool/engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHANGES 4 /* times in a round that one ad in a hundred changes */
#define KINDS 200 /* kinds of jobs in the queue */

/* Pools: how many of a hundred ads are requests, and what the ads are. */
static const struct scene {
    const char *name;
    unsigned requests;
    unsigned attributes; /* of the ads of section 4.6; 0: workstations, and a queue of jobs of some kinds */
} scenes[] = {
    {"engine-few", 50, 12},
    {"engine-offers", 1, 12},
    {"engine-most", 50, 4},
    {"engine-queue", 50, 0},
};

/* The ads of one side: first those that are there from the beginning, then those that come later. */
struct ads {
    struct tree **items;
    size_t count, there;
};

struct bench_pool {
    struct ads offers, requests;
    struct workload workload; /* which owns the ads, or ... */
    struct variants variants; /* ... from which they are made */
    bool jobs;
};

static const struct env env = {.now = 972223116};

static struct tree *job_make(struct variants *variants, struct rng *rng)
{
    unsigned long long kind = rng_below(rng, KINDS);
    char text[400];

    snprintf(text, sizeof text,
             "[Type=\"Job\";Owner=\"u%llu\";QDate=%llu;ImageSize=31744;Constraint=Arch==\"INTEL\"&&OpSys==\"LINUX\"&&"
             "Disk>=3%02llu000&&other.Memory>=2%02llu;Rank=KFlops/1E3+other.Memory/32]",
             (unsigned long long)rng_below(rng, 50), 972000000 + (unsigned long long)rng_below(rng, 100000), kind % 100,
             kind / 100 * 30 + kind % 7);
    return parse_ad(&variants->build, NULL, text, strlen(text), NULL);
}

/* Makes workstations, and jobs of which many are the same except for what no workstation asks. */
static void jobs_init(struct bench_pool *pool, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed);
    pool->jobs = true;
    variants_init(&pool->variants, seed, pool->offers.count);
    pool->offers.items = mem_alloc(pool->offers.count * sizeof *pool->offers.items);
    pool->requests.items = mem_alloc(pool->requests.count * sizeof *pool->requests.items);
    for (size_t i = 0; i < pool->offers.count; i++)
        pool->offers.items[i] = variants_parse(&pool->variants, i);
    for (size_t i = 0; i < pool->requests.count; i++)
        pool->requests.items[i] = job_make(&pool->variants, &rng);
}

static void pool_init(struct bench_pool *pool, const struct scene *scene, const struct bench_settings *settings,
                      struct symbols *symbols)
{
    *pool = (struct bench_pool){0};
    pool->requests.there = settings->ads * scene->requests / 100;
    pool->offers.there = settings->ads - pool->requests.there;
    pool->requests.count = pool->requests.there + (pool->requests.there / 100 + 1) * CHANGES;
    pool->offers.count = pool->offers.there + (pool->offers.there / 100 + 1) * CHANGES;
    if (!scene->attributes) {
        jobs_init(pool, settings->seed);
        return;
    }
    workload_init(&pool->workload, symbols, settings->seed, pool->offers.count, pool->requests.count, scene->attributes,
                  WORKLOAD_D);
    pool->offers.items = pool->workload.objects;
    pool->requests.items = pool->workload.queries;
}

static void pool_done(struct bench_pool *pool)
{
    if (!pool->jobs) {
        workload_done(&pool->workload);
        return;
    }
    for (size_t i = 0; i < pool->offers.count; i++)
        tree_unref(pool->offers.items[i]);
    for (size_t i = 0; i < pool->requests.count; i++)
        tree_unref(pool->requests.items[i]);
    free(pool->offers.items);
    free(pool->requests.items);
    variants_done(&pool->variants);
}

static struct symbols *pool_symbols(const struct bench_pool *pool, struct symbols *symbols)
{
    return pool->jobs ? pool->variants.symbols : symbols;
}

/* ----------------------------------------------------------------------------------------------------------- cycles */

static void ignore(void *user, uint32_t root, uint32_t offer, const struct value *rank, struct tree *left)
{
    (void)user, (void)root, (void)offer, (void)rank, (void)left;
}

/* A function that is not inlined, so that a profiler can count its instructions by its name. */
#define COUNTED __attribute__((noinline)) static

static void cycle(struct engine *engine, struct arena *arena)
{
    engine_begin(engine, &env);
    while (engine_step(engine, arena, 100000, ignore, NULL))
        ;
}

/* Puts an ad. Offers have even numbers, requests odd ones. */
static void put(struct engine *engine, const struct ads *ads, size_t place, size_t slot, bool request)
{
    struct engine_terms terms = {request, 1, place, (uint32_t)(slot % 50)};

    engine_put(engine, (uint32_t)(2 * slot + request), ads->items[place], &terms);
}

COUNTED void cycle_full(struct engine *engine, struct arena *arena, const struct bench_pool *pool)
{
    for (size_t i = 0; i < pool->offers.there; i++)
        put(engine, &pool->offers, i, i, false);
    for (size_t i = 0; i < pool->requests.there; i++)
        put(engine, &pool->requests, i, i, true);
    cycle(engine, arena);
}

/* Replaces one in a hundred ads of a side by an ad that has not been there. */
static void change(struct engine *engine, const struct ads *ads, unsigned time, bool request)
{
    size_t count = ads->there / 100 + 1;

    for (size_t i = 0; i < count; i++)
        put(engine, ads, ads->there + time * count + i, (i * 97 + time * 31) % ads->there, request);
}

COUNTED void cycle_changed(struct engine *engine, struct arena *arena, const struct bench_pool *pool, unsigned time)
{
    change(engine, &pool->offers, time, false);
    change(engine, &pool->requests, time, true);
    cycle(engine, arena);
}

COUNTED void cycle_same(struct engine *engine, struct arena *arena)
{
    cycle(engine, arena);
}

/* ------------------------------------------------------------------------------------------------------------- rows */

enum { FULL, CHANGED, SAME, MEASURES };
static const char *const measures[MEASURES] = {"full", "changed", "same"};

struct measured {
    struct bench bench[MEASURES];
    struct engine_counts counts[MEASURES];
};

static void tell(const struct scene *scene, const struct bench_settings *settings, const struct bench_pool *pool,
                 const struct measured *measured, struct buf *row)
{
    for (int i = 0; i < MEASURES; i++) {
        bench_row_begin(row, scene->name);
        bench_row_text(row, "cycle", measures[i]);
        bench_row_integer(row, "offers", pool->offers.there);
        bench_row_integer(row, "requests", pool->requests.there);
        bench_row_integer(row, "rounds", settings->rounds);
        bench_row_integer(row, "seed", settings->seed);
        bench_row_integer(row, "matches", measured->counts[i].matches);
        bench_row_integer(row, "tried", measured->counts[i].tried);
        bench_row_integer(row, "probes", measured->counts[i].probes);
        bench_row_integer(row, "evaluations", measured->counts[i].evaluations);
        bench_row_real(row, "of_full", measured->bench[i].seconds / measured->bench[FULL].seconds);
        bench_row_measured(row, &measured->bench[i]);
        bench_row_finish(row);
    }
}

static void round_run(struct measured *measured, const struct bench_pool *pool, struct engine *engine,
                      struct arena *arena)
{
    bench_start(&measured->bench[FULL]);
    cycle_full(engine, arena, pool);
    bench_stop(&measured->bench[FULL]);
    measured->counts[FULL] = engine_counts(engine);
    for (unsigned time = 0; time < CHANGES; time++) {
        bench_start(&measured->bench[CHANGED]);
        cycle_changed(engine, arena, pool, time);
        bench_stop(&measured->bench[CHANGED]);
        measured->counts[CHANGED] = engine_counts(engine);
        bench_start(&measured->bench[SAME]);
        cycle_same(engine, arena);
        bench_stop(&measured->bench[SAME]);
        measured->counts[SAME] = engine_counts(engine);
    }
}

static void measure(const struct scene *scene, const struct bench_settings *settings, struct symbols *symbols,
                    struct arena *arena, struct buf *row)
{
    struct measured measured = {0}, first = {0};
    struct bench_pool pool;

    pool_init(&pool, scene, settings, symbols);
    for (int i = 0; i < MEASURES; i++) {
        bench_init(&measured.bench[i], 1);
        first.bench[i].counter = -1;
    }
    for (uint64_t round = 0; round <= settings->rounds; round++) {
        struct engine *engine = engine_new(pool_symbols(&pool, symbols));

        round_run(round ? &measured : &first, &pool, engine, arena); /* the first round warms up */
        engine_free(engine);
    }
    tell(scene, settings, &pool, &measured, row);
    for (int i = 0; i < MEASURES; i++)
        bench_done(&measured.bench[i]);
    pool_done(&pool);
}

int bench_engine(const struct bench_settings *settings)
{
    struct symbols *symbols = names_new(0);
    struct arena arena;
    struct buf row;

    if (settings->ads < 200) {
        report("bench engine wants --ads of 200 or more");
        symbols_free(symbols);
        return STATUS_BAD;
    }
    arena_init(&arena);
    buf_init(&row);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        if (!settings->scene || strcmp(settings->scene, scenes[i].name + strlen("engine-")) == 0)
            measure(&scenes[i], settings, symbols, &arena, &row);
    buf_done(&row);
    arena_done(&arena);
    symbols_free(symbols);
    return STATUS_DONE;
}
