/* bench_parse.c: berth bench parse: measures reading, printing and keeping the workstation's ad of 38 attributes (figure 13 of the dissertation), 886
 * bytes without the blanks around `=` and between lines. */
#include "cli/bench/bench.h"
#include "cli/bench/variants.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/names.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void measure_parse(struct variants *variants, const struct bench_settings *settings, struct buf *row)
{
    struct bench bench;

    bench_init(&bench, variants->count);
    for (uint64_t round = 0; round <= settings->rounds; round++) {
        if (round) /* the first round warms up */
            bench_start(&bench);
        for (uint64_t n = 0; n < variants->count; n++)
            tree_unref(variants_parse(variants, n));
        if (round)
            bench_stop(&bench);
    }
    bench_row_begin(row, "parse");
    add_parameters(row, settings);
    bench_row_measured(row, &bench);
    add_bytes(row, &bench, variants->count * VARIANT_LENGTH);
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

/* How many bytes of this process are in memory now. */
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

/* Keeps all ads, and measures what each takes: by its block, and by how much the process grew. */
static void measure_memory(struct variants *variants, struct tree **trees, const struct bench_settings *settings,
                           struct buf *row)
{
    double before, after;
    uint64_t bytes = 0;
    struct bench bench;

    tree_unref(variants_parse(variants, 0)); /* so that the scratch memory is there already */
    memset(trees, 0, variants->count * sizeof *trees);
    before = resident_bytes();
    bench_init(&bench, variants->count);
    bench_start(&bench);
    for (uint64_t n = 0; n < variants->count; n++)
        trees[n] = variants_parse(variants, n);
    bench_stop(&bench);
    after = resident_bytes();
    for (uint64_t n = 0; n < variants->count; n++)
        bytes += tree_size(trees[n]);
    bench_row_begin(row, "memory");
    add_parameters(row, settings);
    bench_row_measured(row, &bench);
    bench_row_integer(row, "bytes", bytes);
    bench_row_real(row, "bytes_per_ad", (double)bytes / (double)variants->count);
    bench_row_real(row, "resident_per_ad", (after - before) / (double)variants->count);
    bench_row_finish(row);
    bench_done(&bench);
}

int bench_parse(const struct bench_settings *settings)
{
    struct variants variants;
    struct tree *first, **trees;
    struct err err;
    struct buf row;

    buf_init(&row);
    variants_init(&variants, settings->seed, settings->ads);
    first = parse_ad(&variants.build, NULL, variants.texts, VARIANT_LENGTH, &err);
    if (!first) {
        report_error("figure 13", &err, variants.texts, VARIANT_LENGTH);
    } else {
        trees = mem_alloc(variants.count * sizeof *trees);
        measure_memory(&variants, trees, settings, &row); /* first: later rounds leave free memory behind */
        measure_parse(&variants, settings, &row);
        measure_print(trees, settings, &row);
        for (uint64_t n = 0; n < variants.count; n++)
            tree_unref(trees[n]);
        free(trees);
    }
    tree_unref(first);
    variants_done(&variants);
    buf_done(&row);
    return first ? STATUS_DONE : STATUS_BAD;
}
