/* bench_eval.c: berth bench eval: evaluates the constraints of the dissertation's figures 1, 4, 6 and 13, each against an ad that fits, so that all
 * of the constraint is evaluated and its value is true. */
#include "cli/bench/bench.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "cli/term/setting.h"
#include "lang/text/parse.h"
#include "match/pair/pair.h"

#include <string.h>

#define NOW 916300000 /* 14 January 1999, three days after the job of figure 6 was queued */

static const struct figure {
    const char *name;
    const char *ad, *counterpart;
} figures[] = {
    {"eval-figure-1",
     "[Type=\"Machine\";Activity=\"Idle\";KeybrdIdle='00:23:12';Disk=323.4M;Memory=64M;State=\"Unclaimed\";"
     "LoadAvg=0.042969;Mips=104;Arch=\"INTEL\";OpSys=\"SOLARIS251\";KFlops=21893;Name=\"foo.cs.wisc.edu\";"
     "Rank=other.Owner==\"raman\" ? 1 : 0;"
     "Constraint=other.Type==\"Job\" && LoadAvg<0.3 && KeybrdIdle>'00:15' && Memory-other.ImageSize>=15M]",
     "[Type=\"Job\";Owner=\"raman\";Cmd=\"run_sim\";ImageSize=31M;Rank=other.Memory]"},
    {"eval-figure-4",
     "[Type=\"Machine\";Activity=\"Idle\";KeybrdIdle='00:23:12';Disk=323.4m;Memory=64m;State=\"Unclaimed\";"
     "LoadAvg=0.042969;Mips=104;Arch=\"INTEL\";OpSys=\"SOLARIS251\";KFlops=21893;Name=\"foo.cs.wisc.edu\";"
     "ResearchGp={\"raman\",\"miron\",\"solomon\"};Friends={\"calvin\",\"hobbes\"};Untrusted={\"rival\",\"riffraff\"};"
     "Rank=member(other.Owner,ResearchGp)?10:member(other.Owner,Friends)?1:0;"
     "Constraint=!member(other.Owner,Untrusted)&&Rank>=10?true:Rank>0?LoadAvg<0.3&&KeybrdIdle>'00:15':"
     "DayTime()<'8:00'||DayTime()>'18:00']",
     "[Type=\"Job\";Owner=\"calvin\";Cmd=\"run_sim\";ImageSize=31M]"},
    {"eval-figure-6",
     "[Type=\"Job\";CompletionDate=undefined;RemoteSyscalls=true;Checkpoint=true;"
     "QDate='Mon Jan 11 10:53:31 1999 (CST) -06:00';Owner=\"raman\";Cmd=\"run_sim\";Iwd=\"/usr/raman/sim2\";"
     "Args=\"-Q 17 3200 10\";ImageSize=31M;ElapsedTime=CurrentTime()-QDate;Rank=other.Memory;"
     "Constraint=other.Type==\"Machine\"&&Arch==\"INTEL\"&&OpSys==\"SOLARIS251\"&&"
     "other.Memory>=(ElapsedTime>'2:00'?0.5G:1.0G)]",
     "[Type=\"Machine\";Activity=\"Idle\";KeybrdIdle='00:23:12';Disk=323.4M;Memory=768M;State=\"Unclaimed\";"
     "LoadAvg=0.042969;Mips=104;Arch=\"INTEL\";OpSys=\"SOLARIS251\";KFlops=21893;Name=\"foo.cs.wisc.edu\"]"},
    {"eval-figure-13", BENCH_FIGURE_13, "[Type=\"Job\";Owner=\"raman\";Cmd=\"run_sim\";ImageSize=31744]"},
};

/* Runs one round: evaluates the constraint again and again. Returns how often it was true. */
static uint64_t evaluate(const struct env *env, struct arena *arena, const struct scope *scope, const struct expr *e,
                         uint64_t count)
{
    uint64_t matched = 0;

    for (uint64_t n = 0; n < count; n++) {
        struct value value;
        struct eval eval;

        eval_init(&eval, env, arena);
        eval_expr(&eval, scope, e, &value);
        matched += value_is_true(&value);
        arena_reset(arena);
    }
    return matched;
}

static int measure_figure(const struct figure *figure, const struct bench_settings *settings, const struct tree *ad,
                          const struct tree *counterpart, struct buf *row)
{
    const struct env env = {.now = NOW, .zone = -360, .seed = settings->seed};
    const struct expr *constraint = tree_find(ad, tree_root(ad), NAME_CONSTRAINT);
    uint64_t matched = 0;
    struct bench bench;
    struct arena arena;
    struct pair pair;

    arena_init(&arena);
    bench_init(&bench, settings->ads);
    pair_init(&pair, ad, counterpart);
    for (uint64_t round = 0; round <= settings->rounds; round++) {
        if (round) /* the first round warms up */
            bench_start(&bench);
        matched = evaluate(&env, &arena, &pair.left, constraint, settings->ads);
        if (round)
            bench_stop(&bench);
    }
    bench_row_begin(row, figure->name);
    bench_row_integer(row, "rounds", settings->rounds);
    bench_row_measured(row, &bench);
    bench_row_finish(row);
    bench_done(&bench);
    arena_done(&arena);
    if (matched == settings->ads)
        return STATUS_DONE;
    report("%s: the constraint is not true, and it should be", figure->name);
    return STATUS_BAD;
}

int bench_eval(const struct bench_settings *settings)
{
    struct symbols *symbols = names_new(0);
    int status = STATUS_DONE;
    struct build build;
    struct buf row;

    buf_init(&row);
    build_init(&build, symbols, &dialect_classic);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const struct figure *figure = &figures[i];
        struct err err;
        struct tree *ad = parse_ad(&build, NULL, figure->ad, strlen(figure->ad), &err), *counterpart = NULL;

        if (ad)
            counterpart = parse_ad(&build, NULL, figure->counterpart, strlen(figure->counterpart), &err);
        if (counterpart) {
            status |= measure_figure(figure, settings, ad, counterpart, &row);
        } else {
            report_error(figure->name, &err, NULL, 0);
            status = STATUS_BAD;
        }
        tree_unref(ad);
        tree_unref(counterpart);
    }
    build_done(&build);
    symbols_free(symbols);
    buf_done(&row);
    return status;
}
