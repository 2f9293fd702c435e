/* bench_gang.c: berth bench gang: measures a cycle over the workloads of chapter 5, or over files, by one algorithm or by all. The ads are made
 * before; the time is that of the cycle alone, including the building of its index. */
#include "cli/bench/bench.h"
#include "cli/bench/gang_workload.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "match/gang/gang.h"
#include "pool/engine/engine.h"

#include <stdlib.h>
#include <time.h>

#define NAIVE_MACHINES 500 /* with more machines, naive takes minutes, and `all` leaves it out */
#define ROUND_LONG 1.0     /* seconds: a round that takes longer is not repeated */
#define LIVE_SLICE 4000    /* units of work in a step, as in the matchmaker */

static const struct env env = {.now = 972223116};

/* The ads of a measurement, and what made them. */
struct bench_pool {
    struct tree **ads; /* requests, then offers */
    size_t requests, offers;
    struct gang_plan plan;
    const struct gang_workload *workload; /* which owns the ads; NULL when they come from files */
};

struct gauge {
    const struct bench_settings *settings;
    struct symbols *symbols;
    struct policy policy;
    struct arena arena;
    struct buf row;
    double slowest; /* slowest step of the last live cycle, in milliseconds */
};

/* The matches of a bilateral workload, in order. */
struct pairs {
    struct gang_pair *items;
    size_t count, requests;
};

static void note_pair(void *user, enum gang_outcome outcome, const struct gang_member *members, uint32_t count)
{
    struct pairs *pairs = user;

    if (pairs->items && outcome == GANG_FORMED && count == 2)
        pairs->items[pairs->count++] = (struct gang_pair){members[0].place, members[1].place - pairs->requests};
}

/* ------------------------------------------------------------------------------------------------- the live engine */

struct live {
    uint64_t gangs;
    double slowest; /* slowest step, in milliseconds */
};

static void live_gang(void *user, uint32_t root, const struct engine_member *members, uint32_t count)
{
    (void)root, (void)members, (void)count;
    ((struct live *)user)->gangs++;
}

static void live_pair(void *user, uint32_t root, uint32_t offer, const struct value *rank, struct tree *left)
{
    (void)rank, (void)left, (void)root, (void)offer;
    ((struct live *)user)->gangs++;
}

static double milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Puts the ads into an empty engine, and runs a cycle in slices. */
static void cycle_live(struct gauge *gauge, const struct bench_pool *pool, struct gang_stats *ret_stats,
                       double *ret_slowest)
{
    struct engine *engine = engine_new(gauge->symbols);
    struct live live = {0};
    bool more = true;

    engine_on_gang(engine, live_gang);
    for (size_t i = 0; i < pool->requests + pool->offers; i++) {
        struct engine_terms terms = {i < pool->requests, 1, i, 0};

        engine_put(engine, (uint32_t)i, pool->ads[i], &terms);
    }
    engine_begin(engine, &env);
    while (more) {
        double from = milliseconds(), took;

        more = engine_step(engine, &gauge->arena, LIVE_SLICE, live_pair, &live);
        took = milliseconds() - from;
        live.slowest = took > live.slowest ? took : live.slowest;
    }
    *ret_stats = (struct gang_stats){.gangs = live.gangs, .probes = engine_counts(engine).probes};
    ret_stats->evaluations = engine_counts(engine).evaluations;
    for (size_t i = 0; i < pool->requests; i++)
        ret_stats->gave_up += engine_outcome(engine, (uint32_t)i) == ENGINE_GAVE_UP;
    *ret_slowest = live.slowest;
    engine_free(engine);
}

/* Runs one cycle. `pairs` forgets those of the last one. */
static void cycle(struct gauge *gauge, const struct bench_pool *pool, enum gang_algorithm algorithm,
                  struct pairs *pairs, struct gang_stats *ret_stats)
{
    struct gang_settings settings = {
        .algorithm = algorithm, .preferences = gauge->settings->preferences != 0, .seed = gauge->settings->seed};

    pairs->count = 0;
    *ret_stats = (struct gang_stats){0};
    if (gauge->settings->live) {
        cycle_live(gauge, pool, ret_stats, &gauge->slowest);
        return;
    }
    gang_run(
        &env, &gauge->arena,
        &(struct gang_field){
            .policy = &gauge->policy, .ads = pool->ads, .request_count = pool->requests, .offer_count = pool->offers},
        &settings, note_pair, pairs, ret_stats);
}

/* Repeats the cycle. The first round warms up, unless it was long: then it is the only one. Returns how many rounds counted. */
static uint64_t repeat(struct gauge *gauge, const struct bench_pool *pool, enum gang_algorithm algorithm,
                       struct bench *bench, struct pairs *pairs, struct gang_stats *ret_stats)
{
    uint64_t rounds = gauge->settings->rounds;

    bench_start(bench);
    cycle(gauge, pool, algorithm, pairs, ret_stats);
    bench_stop(bench);
    if (bench->seconds > ROUND_LONG)
        return 1;
    bench->seconds = bench->instructions = -1;
    for (uint64_t round = 0; round < rounds; round++) {
        bench_start(bench);
        cycle(gauge, pool, algorithm, pairs, ret_stats);
        bench_stop(bench);
    }
    return rounds;
}

static void row_begin(struct gauge *gauge, const struct bench_pool *pool, enum gang_algorithm algorithm)
{
    static const char *const names[GANG_WORKLOADS] = {"gang-base", "gang-duds", "gang-skewed", "gang-opportunity"};
    const struct gang_workload *workload = pool->workload;
    struct buf *row = &gauge->row;

    bench_row_begin(row, workload ? names[pool->plan.kind] : "gang-files");
    bench_row_text(row, "algorithm", gauge->settings->live ? "live" : gang_algorithm_names[algorithm]);
    if (workload) {
        bench_row_integer(row, "machines", workload->machines);
        bench_row_integer(row, "jobs", workload->jobs);
        bench_row_integer(row, "licenses", workload->licenses);
    } else {
        bench_row_integer(row, "requests", pool->requests);
        bench_row_integer(row, "offers", pool->offers);
    }
    if (pool->plan.selectivity)
        bench_row_integer(row, "selectivity", pool->plan.selectivity);
    if (pool->plan.discrimination)
        bench_row_integer(row, "discrimination", pool->plan.discrimination);
    bench_row_text(row, "preferences",
                   gauge->settings->live || (gauge->settings->preferences && algorithm == GANG_AUTO) ? "on" : "off");
    if (workload || algorithm == GANG_DYNSR)
        bench_row_integer(row, "seed", gauge->settings->seed);
}

static void measure(struct gauge *gauge, const struct bench_pool *pool, enum gang_algorithm algorithm)
{
    bool bilateral = pool->workload && pool->workload->traits;
    struct pairs pairs = {.requests = pool->requests};
    struct gang_stats stats;
    struct bench bench;
    uint64_t rounds;

    if (bilateral)
        pairs.items = mem_alloc(pool->requests * sizeof *pairs.items);
    bench_init(&bench, pool->requests);
    rounds = repeat(gauge, pool, algorithm, &bench, &pairs, &stats);
    row_begin(gauge, pool, algorithm);
    bench_row_integer(&gauge->row, "rounds", rounds);
    bench_row_integer(&gauge->row, "gangs", stats.gangs);
    bench_row_integer(&gauge->row, "probes", stats.probes);
    bench_row_integer(&gauge->row, "evaluations", stats.evaluations);
    bench_row_integer(&gauge->row, "nodes", stats.nodes);
    bench_row_integer(&gauge->row, "gave_up", stats.gave_up);
    if (gauge->settings->live)
        bench_row_integer(&gauge->row, "slowest_step_microseconds", (uint64_t)(gauge->slowest * 1e3));
    else if (bilateral)
        bench_row_integer(&gauge->row, "opportunity_cost",
                          gang_opportunity_cost(pool->workload, pairs.items, pairs.count));
    bench_row_measured(&gauge->row, &bench);
    bench_row_finish(&gauge->row);
    bench_done(&bench);
    free(pairs.items);
}

static void measure_all(struct gauge *gauge, const struct bench_pool *pool)
{
    int asked = gauge->settings->algorithm;

    if (asked < GANG_ALGORITHMS || gauge->settings->live) {
        measure(gauge, pool, asked < GANG_ALGORITHMS ? (enum gang_algorithm)asked : GANG_AUTO);
        return;
    }
    for (int i = 0; i < GANG_ALGORITHMS; i++)
        if (i != GANG_NAIVE || pool->requests <= NAIVE_MACHINES)
            measure(gauge, pool, (enum gang_algorithm)i);
}

/* ------------------------------------------------------------------------------------------------- what is measured */

static void measure_plan(struct gauge *gauge, const struct gang_plan *plan)
{
    struct gang_workload workload;
    struct bench_pool pool = {.plan = *plan, .workload = &workload};

    gang_workload_init(&workload, gauge->symbols, plan);
    pool.ads = workload.ads;
    pool.requests = workload.jobs;
    pool.offers = workload.machines + workload.dud_machines + workload.licenses + workload.dud_licenses;
    measure_all(gauge, &pool);
    gang_workload_done(&workload);
}

static void measure_base(struct gauge *gauge, struct gang_plan plan)
{
    static const unsigned percents[] = {50, 100};
    const struct bench_settings *settings = gauge->settings;

    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        if (settings->licenses && settings->licenses != percents[i])
            continue;
        plan.percent = percents[i];
        for (plan.selectivity = 1; plan.selectivity <= GANG_SELECTIVITY_MAX; plan.selectivity *= 2)
            if (!settings->selectivity || settings->selectivity == plan.selectivity)
                measure_plan(gauge, &plan);
    }
}

static void measure_opportunity(struct gauge *gauge, struct gang_plan plan)
{
    static const unsigned discriminations[] = {1, 4, 6, 8, 10};

    if (gauge->settings->discrimination) {
        plan.discrimination = (unsigned)gauge->settings->discrimination;
        measure_plan(gauge, &plan);
        return;
    }
    for (size_t i = 0; i < sizeof discriminations / sizeof *discriminations; i++) {
        plan.discrimination = discriminations[i];
        measure_plan(gauge, &plan);
    }
}

static int measure_workload(struct gauge *gauge)
{
    const struct bench_settings *settings = gauge->settings;
    struct gang_plan plan = {.kind = (enum gang_workload_kind)settings->kind, .seed = settings->seed};

    if (settings->duds && plan.kind != GANG_BASE) {
        report("bench gang has --duds for the base workload alone");
        return STATUS_BAD;
    }
    plan.machines = settings->machines ? settings->machines : plan.kind == GANG_SKEWED ? 500 : 4000;
    if (settings->duds)
        plan.kind = GANG_DUDS;
    if (plan.kind == GANG_SKEWED)
        measure_plan(gauge, &plan);
    else if (plan.kind == GANG_OPPORTUNITY)
        measure_opportunity(gauge, plan);
    else
        measure_base(gauge, plan);
    return STATUS_DONE;
}

/* Are the ports of the ads of a file correct? The first error is reported. */
static bool ports_are_sound(const char *file, struct tree *const *ads, size_t count)
{
    struct ports ports;
    struct buf name;
    struct err err;
    bool sound = true;

    buf_init(&name);
    for (size_t i = 0; i < count && sound; i++) {
        sound = ports_read(&ports, ads[i], &err) == 0;
        if (sound) {
            ports_done(&ports);
            continue;
        }
        ad_name(&name, ads[i], (unsigned)i + 1);
        report("%s: %s: %s", file, buf_string(&name), err.text);
    }
    buf_done(&name);
    return sound;
}

static int measure_files(struct gauge *gauge)
{
    const struct bench_settings *settings = gauge->settings;
    struct bench_pool pool = {0};
    int status = STATUS_BAD;
    size_t count = 0;

    if (!settings->requests || !settings->offers) {
        report("bench gang wants both -r FILE and -o FILE, or neither");
        return STATUS_BAD;
    }
    if (bench_ads_read(settings, gauge->symbols, settings->requests, &pool.ads, &count) == 0) {
        pool.requests = count;
        if (bench_ads_read(settings, gauge->symbols, settings->offers, &pool.ads, &count) == 0) {
            pool.offers = count - pool.requests;
            if (pool.requests == 0)
                report("%s: there are no ads", settings->requests);
            else if (ports_are_sound(settings->requests, pool.ads, pool.requests) &&
                     ports_are_sound(settings->offers, pool.ads + pool.requests, pool.offers))
                status = STATUS_DONE;
        }
    }
    if (status == STATUS_DONE)
        measure_all(gauge, &pool);
    for (size_t i = 0; i < count; i++)
        tree_unref(pool.ads[i]);
    free(pool.ads);
    return status;
}

int bench_gang(const struct bench_settings *settings)
{
    struct gauge gauge = {.settings = settings, .symbols = names_new(0)};
    int status;

    arena_init(&gauge.arena);
    buf_init(&gauge.row);
    policy_init(&gauge.policy, NULL, NULL, NULL);
    status = settings->requests || settings->offers ? measure_files(&gauge) : measure_workload(&gauge);
    policy_done(&gauge.policy);
    buf_done(&gauge.row);
    arena_done(&gauge.arena);
    symbols_free(gauge.symbols);
    return status;
}
