/* bench_parse.c: berth bench parse: reading, printing and keeping the workstation's ad of 38 attributes (figure 13 of
 * the dissertation), 886 bytes without the blanks around `=` and between lines.
 *
 * The variants differ in digits of names, times, loads and sizes, so that neither the branch predictor nor a cache can
 * learn the text by heart; the lengths stay. All are made before anything is measured. */
#include "ad/names.h"
#include "base/rng.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "cli/report.h"
#include "text/parse.h"
#include "text/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char figure_13[] = BENCH_FIGURE_13;

#define AD_LENGTH (sizeof figure_13 - 1)
_Static_assert(AD_LENGTH == 886, "the ad of figure 13 has 886 bytes");

/* What varies: the text after the name becomes random; letters stay letters, digits digits. */
static const struct vary {
    const char *name;
    unsigned skip, len; /* characters after `=` that stay, and that change */
} varied[] = {
    {"[Name=", 1, 5},
    {";Machine=", 1, 5},
    {";VirtualMemory=", 1, 5},
    {";Disk=", 1, 5},
    {";CondorLoadAvg=", 2, 6},
    {";LoadAvg=", 2, 6},
    {";KeyboardIdle=", 1, 4},
    {";ConsoleIdle=", 1, 4},
    {";Memory=", 1, 2},
    {";Subnet=", 9, 3},
    {";TotalVirtualMemory=", 1, 5},
    {";TotalDisk=", 1, 5},
    {";KFlops=", 1, 4},
    {";Mips=", 1, 2},
    {";LastBenchmark=", 3, 6},
    {";TotalLoadAvg=", 2, 6},
    {";TotalCondorLoadAvg=", 2, 6},
    {";EnteredCurrentState=", 3, 6},
    {";EnteredCurrentActivity=", 3, 6},
    {";LastHeardFrom=", 3, 6},
};
#define VARIED (sizeof varied / sizeof *varied)

struct workload {
    struct symbols *symbols;
    struct build build;
    char *texts; /* all ads, one behind another */
    uint64_t count;
};

static void workload_init(struct workload *workload, const struct bench_settings *settings)
{
    size_t places[VARIED];
    struct rng rng;

    for (size_t i = 0; i < VARIED; i++)
        places[i] = (size_t)(strstr(figure_13, varied[i].name) - figure_13) + strlen(varied[i].name) + varied[i].skip;
    rng_init(&rng, settings->seed);
    workload->count = settings->ads;
    workload->texts = mem_alloc(workload->count * AD_LENGTH);
    for (uint64_t n = 0; n < workload->count; n++) {
        char *text = workload->texts + n * AD_LENGTH;

        memcpy(text, figure_13, AD_LENGTH);
        for (size_t i = 0; i < VARIED && n; i++) /* the first is the figure's own */
            for (size_t k = places[i]; k < places[i] + varied[i].len; k++)
                text[k] = (char)(text[k] >= 'a' ? 'a' + rng_below(&rng, 26) : '0' + rng_below(&rng, 10));
    }
    workload->symbols = names_new(0);
    build_init(&workload->build, workload->symbols, &dialect_classic);
}

static void workload_done(struct workload *workload)
{
    build_done(&workload->build);
    symbols_free(workload->symbols);
    free(workload->texts);
}

static struct tree *workload_parse(struct workload *workload, uint64_t n)
{
    return parse_ad(&workload->build, NULL, workload->texts + n * AD_LENGTH, AD_LENGTH, NULL);
}

static void add_parameters(struct buf *row, const struct bench_settings *settings)
{
    bench_row_integer(row, "ads", settings->ads);
    bench_row_integer(row, "rounds", settings->rounds);
    bench_row_integer(row, "seed", settings->seed);
}

static void add_bytes(struct buf *row, const struct bench *bench, uint64_t bytes)
{
    bench_row_integer(row, "bytes", bytes);
    bench_row_real(row, "bytes_per_ad", (double)bytes / (double)bench->operations);
    bench_row_real(row, "megabytes_per_second", (double)bytes / bench->seconds * 1e-6);
}

static void measure_parse(struct workload *workload, const struct bench_settings *settings, struct buf *row)
{
    struct bench bench;

    bench_init(&bench, workload->count);
    for (uint64_t round = 0; round <= settings->rounds; round++) {
        if (round) /* the first warms up */
            bench_start(&bench);
        for (uint64_t n = 0; n < workload->count; n++)
            tree_unref(workload_parse(workload, n));
        if (round)
            bench_stop(&bench);
    }
    bench_row_begin(row, "parse");
    add_parameters(row, settings);
    bench_row_measured(row, &bench);
    add_bytes(row, &bench, workload->count * AD_LENGTH);
    bench_row_finish(row);
    bench_done(&bench);
}

static void measure_print(struct tree *const *trees, const struct bench_settings *settings, struct buf *row)
{
    struct bench bench;
    struct buf text;
    uint64_t bytes = 0;

    buf_init(&text);
    bench_init(&bench, settings->ads);
    for (uint64_t round = 0; round <= settings->rounds; round++) {
        bytes = 0;
        if (round)
            bench_start(&bench);
        for (uint64_t n = 0; n < settings->ads; n++) {
            buf_reset(&text);
            print_tree(&text, trees[n], PRINT_COMPACT);
            bytes += text.len;
        }
        if (round)
            bench_stop(&bench);
    }
    bench_row_begin(row, "print");
    add_parameters(row, settings);
    bench_row_measured(row, &bench);
    add_bytes(row, &bench, bytes);
    bench_row_finish(row);
    bench_done(&bench);
    buf_done(&text);
}

/* Bytes of this process that are in memory now. */
static double resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (file && fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* Keeps all ads: what each takes, by its block and by what the process grew. */
static void measure_memory(struct workload *workload, struct tree **trees, const struct bench_settings *settings,
                           struct buf *row)
{
    double before, after;
    uint64_t bytes = 0;
    struct bench bench;

    tree_unref(workload_parse(workload, 0)); /* the scratch memory is there */
    memset(trees, 0, workload->count * sizeof *trees);
    before = resident_bytes();
    bench_init(&bench, workload->count);
    bench_start(&bench);
    for (uint64_t n = 0; n < workload->count; n++)
        trees[n] = workload_parse(workload, n);
    bench_stop(&bench);
    after = resident_bytes();
    for (uint64_t n = 0; n < workload->count; n++)
        bytes += tree_size(trees[n]);
    bench_row_begin(row, "memory");
    add_parameters(row, settings);
    bench_row_measured(row, &bench);
    bench_row_integer(row, "bytes", bytes);
    bench_row_real(row, "bytes_per_ad", (double)bytes / (double)workload->count);
    bench_row_real(row, "resident_per_ad", (after - before) / (double)workload->count);
    bench_row_finish(row);
    bench_done(&bench);
}

int bench_parse(const struct bench_settings *settings)
{
    struct workload workload;
    struct tree *first, **trees;
    struct err err;
    struct buf row;

    buf_init(&row);
    workload_init(&workload, settings);
    first = parse_ad(&workload.build, NULL, workload.texts, AD_LENGTH, &err);
    if (!first) {
        report_error("figure 13", &err, figure_13, AD_LENGTH);
    } else {
        trees = mem_alloc(workload.count * sizeof *trees);
        measure_memory(&workload, trees, settings, &row); /* first: later rounds leave free memory behind */
        measure_parse(&workload, settings, &row);
        measure_print(trees, settings, &row);
        for (uint64_t n = 0; n < workload.count; n++)
            tree_unref(trees[n]);
        free(trees);
    }
    tree_unref(first);
    workload_done(&workload);
    buf_done(&row);
    return first ? STATUS_DONE : STATUS_BAD;
}
