/* bench_assign.c: berth bench assign: settles a queue of jobs of some kinds over clusters of some kinds.
 *
 * The jobs are like those of table 5.1 of the thesis on GridCAM: half of the kinds want one processor, the others 2 to 30; memory and disk are spread
 * evenly. A kind wants one of three architectures, and half of them one of two systems; half of them like fast clusters more. A cluster has 8 to 95
 * processors and takes no job that is longer than it allows. The jobs together want more than there is. */
#include "cli/bench/bench.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "lang/text/parse.h"
#include "match/assign/ads.h"

#include <stdlib.h>
#include <string.h>

static const struct env env = {.now = 972223116};
static const char *const quantities[] = {"Cpus", "Memory", "Disk"};
static const char *const architectures[] = {"x86_64", "aarch64", "ppc64le"};
static const char *const systems[] = {"Debian", "Rocky"};

struct queue {
    struct symbols *symbols;
    struct tree **requests, **offers;
    uint32_t request_count, offer_count;
    struct assign_built built;
};

static unsigned some(struct rng *rng, unsigned from, unsigned to)
{
    return from + (unsigned)rng_below(rng, to - from + 1);
}

static void job_text(struct buf *out, uint64_t seed, unsigned kind)
{
    struct rng rng;

    rng_init(&rng, rng_mix(seed) ^ rng_mix(kind + 1));
    buf_reset(out);
    buf_addf(out, "[Type=\"Job\";RequestCpus=%u;RequestMemory=%u;RequestDisk=%u;Duration=%u;",
             rng_below(&rng, 2) ? 1 : some(&rng, 2, 30), some(&rng, 100, 1000), some(&rng, 1000, 10000),
             some(&rng, 10, 3600));
    buf_addf(out, "Constraint=other.Type==\"Cluster\"&&other.Arch==\"%s\"", architectures[rng_below(&rng, 3)]);
    if (rng_below(&rng, 2))
        buf_addf(out, "&&other.OpSys==\"%s\"", systems[rng_below(&rng, 2)]);
    buf_adds(out, rng_below(&rng, 2) ? ";Rank=other.Mips]" : "]");
}

static void cluster_text(struct buf *out, uint64_t seed, unsigned kind, unsigned place)
{
    struct rng rng;

    rng_init(&rng, rng_mix(seed + 1) ^ rng_mix(kind + 1));
    buf_reset(out);
    buf_addf(out, "[Type=\"Cluster\";Name=\"c%u\";Arch=\"%s\";OpSys=\"%s\";Mips=%u;", place + 1,
             architectures[rng_below(&rng, 3)], systems[rng_below(&rng, 2)], some(&rng, 1, 20) * 100);
    buf_addf(out, "Cpus=%u;Memory=%u;Disk=%u;MaxDuration=%u;Constraint=other.Duration<=MaxDuration]", some(&rng, 8, 95),
             some(&rng, 2000, 40000), some(&rng, 20000, 400000), some(&rng, 2, 4) * 900);
}

static struct tree *ad_make(struct build *build, const struct buf *text)
{
    struct err err;
    struct tree *ad = parse_ad(build, NULL, text->text, text->len, &err);

    if (!ad)
        abort(); /* the ads are our own */
    return ad;
}

static void queue_make(struct queue *queue, const struct bench_settings *settings)
{
    struct build build;
    struct buf text;
    struct rng rng;

    buf_init(&text);
    build_init(&build, queue->symbols, &dialect_classic);
    rng_init(&rng, settings->seed);
    queue->request_count = (uint32_t)settings->ads;
    queue->offer_count = (uint32_t)(settings->machines ? settings->machines : 1000);
    queue->requests = mem_alloc(queue->request_count * sizeof *queue->requests);
    queue->offers = mem_alloc(queue->offer_count * sizeof *queue->offers);
    for (uint32_t i = 0; i < queue->request_count; i++) {
        unsigned kinds = (unsigned)(settings->kinds ? settings->kinds : 500);

        job_text(&text, settings->seed, i < kinds ? i : (unsigned)rng_below(&rng, kinds));
        queue->requests[i] = ad_make(&build, &text);
    }
    for (uint32_t i = 0; i < queue->offer_count; i++) {
        cluster_text(&text, settings->seed, i % (unsigned)(settings->cluster_kinds ? settings->cluster_kinds : 50), i);
        queue->offers[i] = ad_make(&build, &text);
    }
    build_done(&build);
    buf_done(&text);
}

static void queue_done(struct queue *queue)
{
    for (uint32_t i = 0; i < queue->request_count; i++)
        tree_unref(queue->requests[i]);
    for (uint32_t i = 0; i < queue->offer_count; i++)
        tree_unref(queue->offers[i]);
    free(queue->requests);
    free(queue->offers);
    assign_built_done(&queue->built);
    symbols_free(queue->symbols);
}

/* Is there another round? There are as many as asked, but only one when it takes longer than a second. */
static bool once_more(const struct bench *bench, const struct bench_settings *settings, uint64_t round)
{
    return round < settings->rounds && (round == 0 || bench->seconds < 1);
}

static void row_begin(struct buf *row, const struct queue *queue, const struct bench_settings *settings,
                      const char *name)
{
    bench_row_begin(row, name);
    bench_row_integer(row, "requests", queue->request_count);
    bench_row_integer(row, "offers", queue->offer_count);
    bench_row_integer(row, "rows", queue->built.problem.row_count);
    bench_row_integer(row, "kinds", queue->built.problem.kind_count);
    bench_row_integer(row, "edges", queue->built.problem.edge_count);
    bench_row_integer(row, "seed", settings->seed);
}

static int measure_build(struct queue *queue, const struct bench_settings *settings, struct arena *arena,
                         struct buf *row)
{
    struct assign_ads ads = {.requests = queue->requests,
                             .offers = queue->offers,
                             .request_count = queue->request_count,
                             .offer_count = queue->offer_count,
                             .quantities = quantities,
                             .quantity_count = 3};
    struct bench bench;
    struct err err;

    bench_init(&bench, queue->request_count);
    for (uint64_t round = 0; once_more(&bench, settings, round); round++) {
        assign_built_done(&queue->built);
        bench_start(&bench);
        if (assign_build(&queue->built, &env, arena, &ads, &err) < 0) {
            report("%s", err.text);
            return STATUS_BAD;
        }
        bench_stop(&bench);
    }
    row_begin(row, queue, settings, "assign-build");
    bench_row_integer(row, "evaluations", queue->built.evaluations);
    bench_row_measured(row, &bench);
    bench_row_finish(row);
    bench_done(&bench);
    return STATUS_DONE;
}

static int measure_policy(const struct queue *queue, const struct bench_settings *settings, enum assign_policy policy,
                          struct arena *arena, struct buf *row)
{
    struct assign_result result;
    struct bench bench;
    struct err err;
    char name[40] = "assign-";

    assign_result_init(&result);
    bench_init(&bench, queue->request_count);
    for (uint64_t round = 0; once_more(&bench, settings, round); round++) {
        bench_start(&bench);
        if (assign_solve(arena, policy, &queue->built.problem, NULL, &result, &err) < 0) {
            report("%s", err.text);
            return STATUS_BAD;
        }
        bench_stop(&bench);
    }
    row_begin(row, queue, settings, strcat(name, assign_policy_names[policy]));
    bench_row_integer(row, "placed", result.count);
    if (result.count_bound != UINT32_MAX) {
        bench_row_integer(row, "bound", result.count_bound);
        bench_row_real(row, "gap", assign_gap(&result));
    }
    bench_row_real(row, "weight", result.weight);
    bench_row_integer(row, "fell_back", result.fell_back);
    bench_row_integer(row, "work", result.work);
    bench_row_measured(row, &bench);
    bench_row_finish(row);
    bench_done(&bench);
    assign_result_done(&result);
    return STATUS_DONE;
}

int bench_assign(const struct bench_settings *settings)
{
    struct queue queue = {.symbols = names_new(0)};
    struct arena arena;
    struct buf row;
    int status;

    arena_init(&arena);
    buf_init(&row);
    queue_make(&queue, settings);
    status = measure_build(&queue, settings, &arena, &row);
    for (int i = 0; i < ASSIGN_POLICY_COUNT && status == STATUS_DONE; i++)
        if (settings->assign_policy < 0 || settings->assign_policy == i)
            status = measure_policy(&queue, settings, (enum assign_policy)i, &arena, &row);
    queue_done(&queue);
    buf_done(&row);
    arena_done(&arena);
    return status;
}
