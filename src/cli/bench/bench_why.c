/* bench_why.c: berth bench why: explains one request over many workstations that are already read. */
#include "cli/bench/bench.h"
#include "cli/bench/variants.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "lang/text/parse.h"
#include "match/pair/why.h"

#include <stdlib.h>
#include <string.h>

static const struct question {
    const char *name;
    const char *request;
} questions[] = {
    {"why-none", "[Owner=\"raman\";ImageSize=31744;Need=64000;Constraint=Arch==\"INTEL\"&&OpSys==\"LINUX\"&&"
                 "Disk>=350000&&other.Memory>=self.Need&&KFlops>=62000&&VirtualMemory>=100000]"},
    {"why-misspelt", "[Owner=\"raman\";ImageSize=31744;Constraint=Arch==\"INTEL\"&&OpSys==\"LINUX\"&&Disk>=350000&&"
                     "other.Memroy>=64&&KFlops>=62000&&VirtualMemory>=100000]"},
    {"why-refused", "[Owner=\"raman\";ImageSize=900000;Constraint=Arch==\"INTEL\"&&OpSys==\"LINUX\"&&Disk>=350000&&"
                    "other.Memory>=64&&KFlops>=62000&&VirtualMemory>=100000]"},
    {"why-matches", "[Owner=\"raman\";ImageSize=31744;Constraint=Arch==\"INTEL\"&&OpSys==\"LINUX\"&&Disk>=100000&&"
                    "other.Memory>=64&&KFlops>=1000;Rank=KFlops/1E3+other.Memory/32]"},
};

static const struct env env = {.now = 972223116};

static int measure(const struct question *question, const struct bench_settings *settings, struct variants *variants,
                   struct tree *const *offers, struct buf *row)
{
    const struct policy policy = {0};
    struct bench bench;
    struct arena arena;
    struct err err;
    struct tree *request = parse_ad(&variants->build, NULL, question->request, strlen(question->request), &err);
    struct why why = {0};

    if (!request) {
        report_error(question->name, &err, NULL, 0);
        return STATUS_BAD;
    }
    arena_init(&arena);
    bench_init(&bench, 1);
    for (uint64_t round = 0; round <= settings->rounds; round++) {
        why_done(&why);
        if (round) /* the first round warms up */
            bench_start(&bench);
        why_explain(&why, &env, &arena, &policy, request, offers, settings->ads);
        if (round)
            bench_stop(&bench);
    }
    bench_row_begin(row, question->name);
    bench_row_integer(row, "offers", settings->ads);
    bench_row_integer(row, "rounds", settings->rounds);
    bench_row_integer(row, "seed", settings->seed);
    bench_row_integer(row, "matches", why.matching);
    bench_row_integer(row, "edits", why.edit_count);
    bench_row_measured(row, &bench);
    bench_row_finish(row);
    why_done(&why);
    bench_done(&bench);
    arena_done(&arena);
    tree_unref(request);
    return STATUS_DONE;
}

int bench_why(const struct bench_settings *settings)
{
    struct tree **offers = mem_alloc(settings->ads * sizeof *offers);
    struct variants variants;
    int status = STATUS_DONE;
    struct buf row;

    buf_init(&row);
    variants_init(&variants, settings->seed, settings->ads);
    for (uint64_t i = 0; i < settings->ads; i++)
        offers[i] = variants_parse(&variants, i);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        status |= measure(&questions[i], settings, &variants, offers, &row);
    for (uint64_t i = 0; i < settings->ads; i++)
        tree_unref(offers[i]);
    free(offers);
    variants_done(&variants);
    buf_done(&row);
    return status;
}
