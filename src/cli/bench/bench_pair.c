/* bench_pair.c: berth bench pair: tries symmetric matches of ads made ready: all pairs of the four-attribute workload of section 4.6, and a
 * workstation (figure 13) with a job, once matching and once failing at the last clause. */
#include "cli/bench/bench.h"
#include "cli/bench/workload.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "lang/text/parse.h"
#include "match/pair/match.h"

#include <stdlib.h>
#include <string.h>

#define MEETINGS 500 /* matches that pair-job tries in a round for each ad of --ads: a million, if not given */

#define WORKSTATION "[Type=\"Machine\";" BENCH_FIGURE_13_REST
#define JOB(memory)                                                                                                 \
    "[Type=\"Job\";Owner=\"raman\";Cmd=\"run_sim\";Iwd=\"/usr/raman/sim2\";Args=\"-Q 17 3200 10\";ImageSize=31744;" \
    "Constraint=other.Type==\"Machine\"&&Arch==\"INTEL\"&&OpSys==\"LINUX\"&&Disk>=10000&&other.Memory>=" memory "]"

static const struct env env = {.now = 972223116};

static void row(struct buf *out, const struct bench *bench, const char *name, const char *outcome,
                const struct bench_settings *settings, uint64_t matches)
{
    bench_row_begin(out, name);
    if (outcome)
        bench_row_text(out, "outcome", outcome);
    bench_row_integer(out, "rounds", settings->rounds);
    bench_row_integer(out, "matches", matches);
    bench_row_measured(out, bench);
    bench_row_finish(out);
}

static struct party *parties_make(struct arena *arena, struct tree **ads, size_t count)
{
    struct party *parties = mem_alloc(count * sizeof *parties);

    for (size_t i = 0; i < count; i++)
        party_init(&parties[i], &env, arena, ads[i]);
    return parties;
}

static void parties_free(struct party *parties, size_t count)
{
    for (size_t i = 0; i < count; i++)
        party_done(&parties[i]);
    free(parties);
}

/* Tries all queries with all objects. */
static uint64_t meet(struct arena *arena, const struct party *queries, const struct party *objects, size_t count)
{
    uint64_t matches = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            matches += party_matches(&env, arena, &queries[i], &objects[j]);
    return matches;
}

static void measure_four(const struct bench_settings *settings, struct symbols *symbols, struct arena *arena,
                         struct buf *out)
{
    size_t side = settings->ads;
    struct party *queries, *objects;
    struct workload workload;
    struct bench bench;
    uint64_t matches = 0;

    workload_init(&workload, symbols, settings->seed, side, side, 4, WORKLOAD_D);
    queries = parties_make(arena, workload.queries, side);
    objects = parties_make(arena, workload.objects, side);
    bench_init(&bench, (uint64_t)side * side);
    for (uint64_t round = 0; round <= settings->rounds; round++) {
        if (round) /* the first round warms up */
            bench_start(&bench);
        matches = meet(arena, queries, objects, side);
        if (round)
            bench_stop(&bench);
    }
    row(out, &bench, "pair-4", NULL, settings, matches);
    bench_done(&bench);
    parties_free(queries, side);
    parties_free(objects, side);
    workload_done(&workload);
}

static int measure_job(const struct bench_settings *settings, struct symbols *symbols, struct arena *arena,
                       struct buf *out, const char *job, bool fits)
{
    const char *texts[2] = {job, WORKSTATION};
    struct tree *ads[2] = {NULL, NULL};
    struct party *parties;
    uint64_t matches = 0, meetings = settings->ads * MEETINGS;
    struct bench bench;
    struct build build;
    struct err err;

    build_init(&build, symbols, &dialect_classic);
    for (int i = 0; i < 2; i++) {
        ads[i] = parse_ad(&build, NULL, texts[i], strlen(texts[i]), &err);
        if (!ads[i])
            report_error("pair-job", &err, NULL, 0);
    }
    build_done(&build);
    if (!ads[0] || !ads[1])
        return STATUS_BAD;
    parties = parties_make(arena, ads, 2);
    bench_init(&bench, meetings);
    for (uint64_t round = 0; round <= settings->rounds; round++) {
        if (round)
            bench_start(&bench);
        matches = 0;
        for (uint64_t i = 0; i < meetings; i++)
            matches += party_matches(&env, arena, &parties[0], &parties[1]);
        if (round)
            bench_stop(&bench);
    }
    row(out, &bench, "pair-job", fits ? "matches" : "fails at the last clause", settings, matches);
    bench_done(&bench);
    parties_free(parties, 2);
    tree_unref(ads[0]);
    tree_unref(ads[1]);
    if (matches == (fits ? meetings : 0))
        return STATUS_DONE;
    report("pair-job: the ads %s", fits ? "do not match, and they should" : "match, and they should not");
    return STATUS_BAD;
}

int bench_pair(const struct bench_settings *settings)
{
    struct symbols *symbols = names_new(0);
    struct arena arena;
    struct buf out;
    int status;

    arena_init(&arena);
    buf_init(&out);
    measure_four(settings, symbols, &arena, &out);
    status = measure_job(settings, symbols, &arena, &out, JOB("31"), true);
    status |= measure_job(settings, symbols, &arena, &out, JOB("252"), false);
    buf_done(&out);
    arena_done(&arena);
    symbols_free(symbols);
    return status;
}
