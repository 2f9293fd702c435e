/* bench_index.c: berth bench index: finds all symmetric matches between two sides of ads (section 4.6), by trying every pair and by the index. Where
 * there are too many pairs to try, only the index is measured, and each probe and some replacements are timed. */
#include "cli/bench/bench.h"
#include "cli/bench/workload.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "match/index/index.h"
#include "match/pair/match.h"

#include <stdlib.h>

#define SCANNED_MAX 300000000 /* the most pairs that are tried one by one */
#define REPLACEMENTS 20000

static const struct env env = {.now = 972223116};

/* Tries every query with every object. */
static uint64_t join_scan(struct arena *arena, const struct workload *workload)
{
    struct party *objects = mem_alloc(workload->object_count * sizeof *objects), query;
    uint64_t matches = 0;

    for (size_t i = 0; i < workload->object_count; i++)
        party_init(&objects[i], &env, arena, workload->objects[i]);
    for (size_t i = 0; i < workload->query_count; i++) {
        party_init(&query, &env, arena, workload->queries[i]);
        for (size_t k = 0; k < workload->object_count; k++)
            matches += party_matches(&env, arena, &query, &objects[k]);
        party_done(&query);
    }
    for (size_t i = 0; i < workload->object_count; i++)
        party_done(&objects[i]);
    free(objects);
    return matches;
}

static void count_found(void *user, uint32_t id)
{
    (void)id;
    ++*(uint64_t *)user;
}

/* What a round of the index took, and how large the index was. */
struct joined {
    uint64_t matches;
    double build, seconds;
    size_t bytes;
};

static struct joined join_index(struct arena *arena, const struct workload *workload)
{
    double started = bench_clock();
    struct index *index = index_new();
    struct joined joined = {0};

    index_build(index, &env, arena, workload->objects, (uint32_t)workload->object_count);
    joined.build = bench_clock() - started;
    for (size_t i = 0; i < workload->query_count; i++)
        index_probe(index, &env, arena, workload->queries[i], count_found, &joined.matches);
    joined.bytes = index_bytes(index);
    index_free(index);
    joined.seconds = bench_clock() - started;
    return joined;
}

static void row_begin(struct buf *row, const struct bench_settings *settings, const struct workload *workload,
                      const char *engine)
{
    bench_row_begin(row, "index");
    bench_row_text(row, "engine", engine);
    bench_row_integer(row, "ads", workload->object_count);
    bench_row_integer(row, "queries", workload->query_count);
    if (settings->requests)
        return;
    bench_row_integer(row, "attributes", settings->attributes);
    bench_row_text(row, "mix", settings->mix == WORKLOAD_T ? "T" : settings->mix == WORKLOAD_M ? "M" : "D");
    bench_row_integer(row, "seed", settings->seed);
}

static uint64_t measure_scan(const struct bench_settings *settings, const struct workload *workload,
                             struct arena *arena, struct buf *row)
{
    struct bench bench;
    uint64_t matches;

    bench_init(&bench, workload->object_count * workload->query_count);
    bench_start(&bench);
    matches = join_scan(arena, workload);
    bench_stop(&bench);
    row_begin(row, settings, workload, "scan");
    bench_row_integer(row, "matches", matches);
    bench_row_measured(row, &bench);
    bench_row_finish(row);
    bench_done(&bench);
    return matches;
}

static uint64_t measure_index(const struct bench_settings *settings, const struct workload *workload,
                              struct arena *arena, struct buf *row)
{
    struct joined best = {.seconds = -1}, joined;
    struct bench bench;

    bench_init(&bench, workload->object_count * workload->query_count);
    for (uint64_t round = 0; round <= settings->rounds; round++) {
        if (round) /* the first round warms up */
            bench_start(&bench);
        joined = join_index(arena, workload);
        if (round)
            bench_stop(&bench);
        if (round && (best.seconds < 0 || joined.seconds < best.seconds))
            best = joined;
    }
    row_begin(row, settings, workload, "index");
    bench_row_integer(row, "matches", best.matches);
    bench_row_real(row, "build_seconds", best.build);
    bench_row_real(row, "probe_seconds", best.seconds - best.build);
    bench_row_integer(row, "bytes", best.bytes);
    bench_row_measured(row, &bench);
    bench_row_finish(row);
    bench_done(&bench);
    return best.matches;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Replaces ads by others of the workload. Each is looked at before, as if it had just been read. Returns the seconds for each. */
static double replace(struct index *index, struct arena *arena, const struct workload *workload, struct rng *rng)
{
    size_t count = workload->object_count;
    uint64_t seen = 0;
    double took = 0;

    for (int i = 0; i < REPLACEMENTS; i++) {
        struct tree *ad = workload->objects[rng_below(rng, count)];
        double started;

        seen += tree_hash(ad, tree_root(ad));
        started = bench_clock();
        index_put(index, &env, arena, (uint32_t)rng_below(rng, count), ad);
        took += bench_clock() - started;
    }
    return seen ? took / REPLACEMENTS : 0;
}

/* Runs one round, and times each probe by itself. */
static void measure_each(const struct bench_settings *settings, const struct workload *workload, struct arena *arena,
                         struct buf *row)
{
    double *times = mem_alloc(workload->query_count * sizeof *times), started = bench_clock(), built, replaced;
    struct index *index = index_new();
    uint64_t matches = 0, tests = 0, candidates = 0, evaluations = 0;
    struct rng rng;

    for (size_t i = 0; i < 4 && i < workload->query_count; i++) /* enough: all queries ask for the same */
        index_learn(index, &env, arena, workload->queries[i]);
    index_build(index, &env, arena, workload->objects, (uint32_t)workload->object_count);
    built = bench_clock() - started;
    for (size_t i = 0; i < workload->query_count; i++) {
        started = bench_clock();
        index_probe(index, &env, arena, workload->queries[i], count_found, &matches);
        times[i] = bench_clock() - started;
        tests += index_probed(index).tests;
        candidates += index_probed(index).candidates;
        evaluations += index_probed(index).evaluations;
    }
    qsort(times, workload->query_count, sizeof *times, compare_times);
    rng_init(&rng, settings->seed);
    replaced = replace(index, arena, workload, &rng);
    row_begin(row, settings, workload, "index");
    bench_row_integer(row, "matches", matches);
    bench_row_real(row, "tests", (double)tests / (double)workload->query_count);
    bench_row_real(row, "candidates", (double)candidates / (double)workload->query_count);
    bench_row_real(row, "evaluations", (double)evaluations / (double)workload->query_count);
    bench_row_real(row, "build_seconds", built);
    bench_row_real(row, "probe_microseconds_50", times[workload->query_count / 2] * 1e6);
    bench_row_real(row, "probe_microseconds_99", times[workload->query_count * 99 / 100] * 1e6);
    bench_row_real(row, "replace_microseconds", replaced * 1e6);
    bench_row_integer(row, "bytes", index_bytes(index));
    bench_row_real(row, "bytes_per_ad", (double)index_bytes(index) / (double)workload->object_count);
    bench_row_finish(row);
    index_free(index);
    free(times);
}

/* Makes the workload from the ads of the files, or from those of section 4.6. */
static int workload_make(const struct bench_settings *settings, struct symbols *symbols, struct workload *workload)
{
    *workload = (struct workload){0};
    if (!settings->requests && !settings->offers) {
        workload_init(workload, symbols, settings->seed, settings->ads,
                      settings->queries ? settings->queries : settings->ads, (unsigned)settings->attributes,
                      (enum workload_mix)settings->mix);
        return 0;
    }
    if (!settings->requests || !settings->offers) {
        report("bench index wants both -r FILE and -o FILE, or neither");
        return -1;
    }
    if (bench_ads_read(settings, symbols, settings->requests, &workload->queries, &workload->query_count) < 0)
        return -1;
    return bench_ads_read(settings, symbols, settings->offers, &workload->objects, &workload->object_count);
}

static bool measure_all(const struct bench_settings *settings, const struct workload *workload, struct arena *arena,
                        struct buf *row)
{
    uint64_t scanned = 0, found = 0;

    if (workload->object_count * workload->query_count > SCANNED_MAX) {
        measure_each(settings, workload, arena, row);
        return true;
    }
    if (settings->engine != BENCH_INDEX)
        scanned = measure_scan(settings, workload, arena, row);
    if (settings->engine != BENCH_SCAN)
        found = measure_index(settings, workload, arena, row);
    return settings->engine != BENCH_BOTH || scanned == found;
}

int bench_index(const struct bench_settings *settings)
{
    struct symbols *symbols = names_new(0);
    struct workload workload;
    int status = STATUS_BAD;
    struct arena arena;
    struct buf row;

    arena_init(&arena);
    buf_init(&row);
    if (workload_make(settings, symbols, &workload) == 0) {
        if (measure_all(settings, &workload, &arena, &row))
            status = STATUS_DONE;
        else
            report("index: the engines do not find the same");
    }
    workload_done(&workload);
    buf_done(&row);
    arena_done(&arena);
    symbols_free(symbols);
    return status;
}
