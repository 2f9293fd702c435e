/* study_page.c: the page of a study: the fates of the jobs, queues and processors over time, waits, and all tables. */
#include "sim/study_page.h"

#include "lang/base/mem.h"
#include "sim/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLOT_WIDTH 560.0
#define PLOT_HEIGHT 250.0
#define WAIT_POINTS 200

static const char style[] =
    ":root{color-scheme:light dark;--page:#f7f7f5;--card:#fff;--ink:#1b1b1a;--soft:#5d5c58;--faint:#8a8984;--line:#e4e3de;"
    "--c0:#2a78d6;--c1:#eb6834;--c2:#1b9c6e;--c3:#c98500;--c4:#c2478f;--c5:#4a3aa7;--c6:#0b7a8c;--c7:#d03b3b;--c8:#6b6a66;"
    "--done:#2a78d6;--run:#86b6ef;--wait:#c3c2bb;--gone:#e0605e}"
    "@media(prefers-color-scheme:dark){:root{--page:#121211;--card:#1c1c1a;--ink:#f3f2ee;--soft:#b8b7b0;--faint:#8a8984;"
    "--line:#34332f;--c0:#4c97ec;--c1:#ef7f50;--c2:#2fb885;--c3:#d9a032;--c4:#df72ad;--c5:#9c90ee;--c6:#43b0c2;--c7:#ec6f6d;"
    "--c8:#a3a29c;--done:#4c97ec;--run:#27568c;--wait:#55544f;--gone:#d4605e}}"
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}"
    "main{max-width:1200px;margin:0 auto;padding:28px 20px 60px}"
    "h1{font-size:26px;line-height:1.2;margin:0 0 6px;font-weight:650}"
    "h2{font-size:17px;margin:36px 0 4px;font-weight:650}"
    "p{margin:0 0 12px;color:var(--soft);max-width:75ch}"
    ".grid2{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,440px),1fr));gap:16px}"
    ".card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px;margin:0}"
    ".card h3{font-size:14px;font-weight:600;margin:0 0 6px;color:var(--ink)}"
    "svg{display:block;width:100%;height:auto;font:11px system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}"
    ".tick{fill:var(--faint);font-variant-numeric:tabular-nums}"
    "svg path.grid{stroke:var(--line);stroke-width:1;fill:none}svg path.axis{stroke:var(--faint);stroke-width:1;fill:none}"
    "svg path.line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}"
    ".s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}.s4{stroke:var(--c4)}"
    ".s5{stroke:var(--c5)}.s6{stroke:var(--c6)}.s7{stroke:var(--c7)}.s8{stroke:var(--c8)}"
    "svg g.mark circle{fill:var(--card);stroke-width:2.5}"
    ".k0{background:var(--c0)}.k1{background:var(--c1)}.k2{background:var(--c2)}.k3{background:var(--c3)}"
    ".k4{background:var(--c4)}.k5{background:var(--c5)}.k6{background:var(--c6)}.k7{background:var(--c7)}"
    ".k8{background:var(--c8)}"
    ".legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:6px 0 12px;color:var(--soft);font-size:13px;padding:0;list-style:none}"
    ".legend i{display:inline-block;width:18px;height:4px;border-radius:2px;margin-right:7px;vertical-align:middle}"
    ".legend i.box{width:11px;height:11px;border-radius:3px}"
    ".done{background:var(--done)}.run{background:var(--run)}.wait{background:var(--wait)}.gone{background:var(--gone)}"
    ".bars{display:grid;grid-template-columns:max-content 1fr max-content;gap:8px 12px;align-items:center;font-size:13px}"
    ".bar{display:flex;gap:2px;height:20px}.bar span{display:block;border-radius:3px;min-width:0}"
    ".bars b{font-weight:600}.bars em{font-style:normal;color:var(--soft);font-variant-numeric:tabular-nums;text-align:right}"
    ".scroll{overflow-x:auto;padding:0}"
    "table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums}"
    "th,td{padding:6px 12px;text-align:right;white-space:nowrap}"
    "th{font-weight:600;color:var(--soft);border-bottom:1px solid var(--line);position:sticky;top:0;background:var(--card)}"
    "th:first-child,td:first-child{text-align:left}"
    "tr.first td{border-top:1px solid var(--line)}td small{color:var(--faint);font-size:12px}"
    "tbody tr:hover td{background:color-mix(in srgb,var(--c0) 7%,transparent)}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px;margin:0;font-size:13.5px}dt{font-weight:600}"
    "dd{margin:0;color:var(--soft)}"
    "@media print{:root{color-scheme:light}body{background:#fff}.card{break-inside:avoid}}";

/* ----------------------------------------------------------------------------------------------------------------- groups */

/* Variants that differ only in their policies stand side by side. */
static uint32_t group_size(const struct plan *plan)
{
    return plan->policy_count;
}

static void group_name(const struct study *study, const struct study_variant *variant, char *out, size_t room)
{
    bool several = study->variants[study->variant_count - 1].extra;
    char timeout[60];

    if (variant->timeout > 0 && fmod(variant->timeout, 3600) == 0)
        snprintf(timeout, sizeof timeout, "jobs go after waiting %.0f hour%s", variant->timeout / 3600,
                 variant->timeout > 3600 ? "s" : "");
    else if (variant->timeout > 0)
        snprintf(timeout, sizeof timeout, "jobs go after waiting %.10g s", variant->timeout);
    else
        snprintf(timeout, sizeof timeout, "jobs wait as long as it takes");
    snprintf(out, room, "%s%s", timeout,
             !several         ? ""
             : variant->extra ? ", with the extra clusters"
                              : ", clusters as they are");
}

static void legend_policies(struct buf *out, const struct plan *plan)
{
    buf_adds(out, "<ul class=\"legend\">");
    for (uint32_t i = 0; i < plan->policy_count; i++)
        buf_addf(out, "<li><i class=\"k%u\"></i>%s</li>", i % PLOT_SERIES, batch_policy_names[plan->policies[i]]);
    buf_adds(out, "</ul>");
}

/* --------------------------------------------------------------------------------------------------------- fates of the jobs */

static void bar_part(struct buf *out, const char *class, const char *name, double percent)
{
    if (percent >= 0.05)
        buf_addf(out, "<span class=\"%s\" style=\"flex:%.2f\" title=\"%s: %.1f%%\"></span>", class, percent, name,
                 percent);
}

static void section_bars(struct buf *out, const struct plan *plan, const struct study *study)
{
    uint32_t hour = study->hour_count - 1;
    char name[160];

    buf_addf(out, "<h2>What became of the jobs</h2><p>After %.4g hours, of all jobs that came", study->hours[hour]);
    if (study->runs > 1)
        buf_addf(out, ", in the mean of %" PRIu64 " runs; so are the drawings below", study->runs);
    buf_adds(out, ". The number is what was done.</p>");
    buf_adds(out,
             "<ul class=\"legend\"><li><i class=\"box done\"></i>done</li><li><i class=\"box run\"></i>running</li>"
             "<li><i class=\"box wait\"></i>waiting</li><li><i class=\"box gone\"></i>timed out</li></ul>");
    buf_adds(out, "<div class=\"grid2\">");
    for (uint32_t v = 0; v < study->variant_count; v++) {
        const struct study_variant *variant = &study->variants[v];
        const struct sample *figures = variant->rows[hour].figures;

        if (v % group_size(plan) == 0) {
            group_name(study, variant, name, sizeof name);
            buf_addf(out, "<section class=\"card\"><h3>%s</h3><div class=\"bars\">", name);
        }
        buf_addf(out, "<b>%s</b><div class=\"bar\">", batch_policy_names[variant->policy]);
        bar_part(out, "done", "done", figures[FIGURE_COMPLETED].mean);
        bar_part(out, "run", "running", figures[FIGURE_SCHEDULED].mean);
        bar_part(out, "wait", "waiting", figures[FIGURE_WAITING].mean);
        bar_part(out, "gone", "timed out", figures[FIGURE_TIMED_OUT].mean);
        buf_addf(out, "</div><em>%.1f%%", figures[FIGURE_COMPLETED].mean);
        if (study->runs > 1)
            buf_addf(out, " ±%.1f", sample_margin(&figures[FIGURE_COMPLETED], STUDY_CONFIDENCE));
        buf_adds(out, "</em>");
        if ((v + 1) % group_size(plan) == 0)
            buf_adds(out, "</div></section>");
    }
    buf_adds(out, "</div>");
}

/* ------------------------------------------------------------------------------------------------------------------ plots */

enum plot_of { PLOT_OF_QUEUE, PLOT_OF_BUSY };

static double series_most(const struct plan *plan, const struct study *study, uint32_t first, enum plot_of of)
{
    double most = 0;

    for (uint32_t v = first; v < first + group_size(plan); v++)
        for (uint32_t i = 0; i < STUDY_PARTS; i++)
            most = fmax(most, study->variants[v].queue[i]);
    return of == PLOT_OF_QUEUE ? most : 100;
}

static void draw_series(struct buf *out, const struct plan *plan, const struct study *study, uint32_t first,
                        enum plot_of of, double most)
{
    double hours = study->hours[study->hour_count - 1], x[STUDY_PARTS], y[STUDY_PARTS];
    struct plot plot = {out,
                        PLOT_WIDTH,
                        PLOT_HEIGHT,
                        {.scale = PLOT_HOURS, .most = hours, .label = "hours"},
                        {.scale = of == PLOT_OF_QUEUE ? PLOT_PLAIN : PLOT_PERCENT, .most = most, .label = ""}};

    plot_open(&plot, of == PLOT_OF_QUEUE ? "jobs that wait, over time, by policy"
                                         : "processors that are busy, over time, by policy");
    for (uint32_t p = 0; p < group_size(plan); p++) {
        const struct study_variant *variant = &study->variants[first + p];
        double processors = study->processors[variant->extra];

        for (uint32_t i = 0; i < STUDY_PARTS; i++) {
            x[i] = hours * (i + 0.5) / STUDY_PARTS;
            y[i] = of == PLOT_OF_QUEUE ? variant->queue[i] : processors > 0 ? 100 * variant->busy[i] / processors : 0;
        }
        plot_line(&plot, x, y, STUDY_PARTS, p, batch_policy_names[variant->policy]);
    }
    plot_close(&plot);
}

/* Draws how much more than the first policy each of the others completes, with confidence intervals, after each of the hours. */
static void draw_gains(struct buf *out, const struct plan *plan, const struct study *study, uint32_t first)
{
    struct plot plot = {out,
                        PLOT_WIDTH,
                        PLOT_HEIGHT,
                        {.scale = PLOT_NAMES, .most = study->hour_count, .label = ""},
                        {.scale = PLOT_PLAIN, .most = 0.5, .label = "", .least = -0.5}};
    char texts[STUDY_HOURS_MAX][32];
    const char *names[STUDY_HOURS_MAX];

    for (uint32_t h = 0; h < study->hour_count; h++) {
        snprintf(texts[h], sizeof texts[h], "%.4g hour%s", study->hours[h], study->hours[h] == 1 ? "" : "s");
        names[h] = texts[h];
        for (uint32_t p = 1; p < group_size(plan); p++) {
            const struct sample *gain = &study->variants[first + p].rows[h].gain;
            double margin = sample_margin(gain, STUDY_CONFIDENCE);

            plot.y.least = fmin(plot.y.least, gain->mean - margin);
            plot.y.most = fmax(plot.y.most, gain->mean + margin);
        }
    }
    plot.x.names = names;
    plot_open(&plot, "gain in completed jobs over the first policy, in percent of all, with 95 % confidence intervals");
    for (uint32_t h = 0; h < study->hour_count; h++)
        for (uint32_t p = 1; p < group_size(plan); p++) {
            const struct study_variant *variant = &study->variants[first + p];
            const struct sample *gain = &variant->rows[h].gain;
            double margin = sample_margin(gain, STUDY_CONFIDENCE);
            double at = h + 0.5 + 0.6 * ((double)p / group_size(plan) - 0.5);

            plot_interval(&plot, at, gain->mean - margin, gain->mean, gain->mean + margin, p,
                          batch_policy_names[variant->policy]);
        }
    plot_close(&plot);
}

/* Draws, for each wait, the part of the started jobs that waited no longer. */
static void draw_waits(struct buf *out, const struct plan *plan, const struct study *study, uint32_t first, double most)
{
    struct plot plot = {out,
                        PLOT_WIDTH,
                        PLOT_HEIGHT,
                        {.scale = PLOT_SPANS, .most = most, .label = "waited no longer than"},
                        {.scale = PLOT_PERCENT, .most = 100, .label = ""}};
    double x[WAIT_POINTS], y[WAIT_POINTS];

    plot_open(&plot, "the part of the jobs that waited no longer, by policy");
    for (uint32_t p = 0; p < group_size(plan); p++) {
        const struct study_variant *variant = &study->variants[first + p];

        for (uint32_t i = 0; i < WAIT_POINTS; i++) {
            y[i] = 100.0 * i / (WAIT_POINTS - 1);
            x[i] = variant->waits->count ? spread_quantile(variant->waits, fmax(y[i] / 100, 1e-9)) / 1000 : 0;
        }
        plot_line(&plot, x, y, WAIT_POINTS, p, batch_policy_names[variant->policy]);
    }
    plot_close(&plot);
}

static void section_plots(struct buf *out, const struct plan *plan, const struct study *study, const char *title,
                          const char *words, int which)
{
    double most = 10;
    char name[160];

    for (uint32_t v = 0; v < study->variant_count && which == 2; v++)
        most = fmax(most, (double)study->variants[v].waits->most / 1000);
    buf_addf(out, "<h2>%s</h2><p>%s</p>", title, words);
    legend_policies(out, plan);
    buf_adds(out, "<div class=\"grid2\">");
    for (uint32_t v = 0; v < study->variant_count; v += group_size(plan)) {
        group_name(study, &study->variants[v], name, sizeof name);
        buf_addf(out, "<section class=\"card\"><h3>%s</h3>", name);
        if (which == 3)
            draw_gains(out, plan, study, v);
        else if (which < 2)
            draw_series(out, plan, study, v, (enum plot_of)which, series_most(plan, study, v, (enum plot_of)which));
        else
            draw_waits(out, plan, study, v, most);
        buf_adds(out, "</section>");
    }
    buf_adds(out, "</div>");
}

/* ----------------------------------------------------------------------------------------------------------------- tables */

struct page_column {
    const char *name;
    int figure; /* -1: the gain */
    int digits;
};

static void cell_sample(struct buf *out, const struct sample *sample, int digits)
{
    buf_addf(out, "<td>%.*f", digits, sample->mean);
    if (sample->count > 1)
        buf_addf(out, " <small>±%.*f</small>", digits, sample_margin(sample, STUDY_CONFIDENCE));
    buf_adds(out, "</td>");
}

static void cells_first(struct buf *out, const struct study_variant *variant, double hours, bool extra)
{
    buf_addf(out, "<td>%s</td><td>%.4g</td>", batch_policy_names[variant->policy], hours);
    if (variant->timeout > 0)
        buf_addf(out, "<td>%.10g s</td>", variant->timeout);
    else
        buf_adds(out, "<td>none</td>");
    if (extra)
        buf_addf(out, "<td>%s</td>", variant->extra ? "and more" : "as they are");
}

static void page_table(struct buf *out, const struct plan *plan, const struct study *study,
                       const struct page_column *columns, size_t count)
{
    bool extra = study->variants[study->variant_count - 1].extra;

    buf_adds(out, "<div class=\"card scroll\"><table><thead><tr><th>policy</th><th>hours</th><th>timeout</th>");
    buf_adds(out, extra ? "<th>clusters</th>" : "");
    for (size_t i = 0; i < count; i++)
        buf_addf(out, "<th>%s</th>", columns[i].name);
    buf_adds(out, "</tr></thead><tbody>");
    for (uint32_t h = 0; h < study->hour_count; h++)
        for (uint32_t v = 0; v < study->variant_count; v++) {
            const struct study_row *row = &study->variants[v].rows[h];

            buf_adds(out, v % group_size(plan) == 0 && (h || v) ? "<tr class=\"first\">" : "<tr>");
            cells_first(out, &study->variants[v], study->hours[h], extra);
            for (size_t i = 0; i < count; i++)
                cell_sample(out, columns[i].figure < 0 ? &row->gain : &row->figures[columns[i].figure],
                            columns[i].digits);
            buf_adds(out, "</tr>");
        }
    buf_adds(out, "</tbody></table></div>");
}

static void section_tables(struct buf *out, const struct plan *plan, const struct study *study)
{
    static const struct page_column jobs[] = {
        {"submitted", FIGURE_SUBMITTED, 1},   {"completed %", FIGURE_COMPLETED, 2},
        {"scheduled %", FIGURE_SCHEDULED, 2}, {"timed out %", FIGURE_TIMED_OUT, 2},
        {"max wait, s", FIGURE_WAIT_MAX, 0},  {"average wait, s", FIGURE_WAIT_MEAN, 1},
    };
    static const struct page_column beyond[] = {
        {"busy %", FIGURE_UTILISATION, 2},
        {"done an hour", FIGURE_THROUGHPUT, 2},
        {"slowdown", FIGURE_SLOWDOWN, 2},
        {"its median", FIGURE_SLOWDOWN_MEDIAN, 2},
        {"99 % below", FIGURE_SLOWDOWN_99, 2},
        {"fairness", FIGURE_FAIRNESS, 3},
        {"starved %", FIGURE_STARVED, 2},
        {"waiting %", FIGURE_WAITING, 2},
        {"gain %", -1, 2},
    };
    char first[40];

    buf_adds(out, "<h2>Jobs and waits</h2><p>Waits are of jobs that started.");
    buf_addf(out, "%s</p>", study->runs > 1 ? " ± is a 95 % confidence interval, by Student's t." : "");
    page_table(out, plan, study, jobs, sizeof jobs / sizeof *jobs);
    snprintf(first, sizeof first, "%s", batch_policy_names[plan->policies[0]]);
    buf_adds(out, "<h2>How well the clusters were used, and how fairly</h2>");
    buf_addf(
        out,
        "<p>Gain is the difference to %s in the same runs, in percent of all jobs: when its interval does not reach 0, the "
        "policies differ.</p>",
        first);
    page_table(out, plan, study, beyond, sizeof beyond / sizeof *beyond - (plan->policy_count < 2));
}

static void section_work(struct buf *out, const struct study *study, bool measured)
{
    buf_adds(
        out,
        "<h2>What the policies took</h2><p>Windows with jobs that could be placed, in all runs; units of work are "
        "counted, so they are the same on every machine.</p>"
        "<div class=\"card scroll\"><table><thead><tr><th>policy</th><th>timeout</th><th>window</th><th>windows</th>"
        "<th>work</th><th>most in one</th><th>fell back</th><th>not proved</th>");
    buf_adds(out, measured ? "<th>ms each</th><th>longest, ms</th><th>longer than the window</th>" : "");
    buf_adds(out, "</tr></thead><tbody>");
    for (uint32_t v = 0; v < study->variant_count; v++) {
        const struct study_variant *variant = &study->variants[v];
        const struct batch_totals *totals = &variant->totals;
        double least = (double)variant->window.least / BATCH_SECOND, most = (double)variant->window.most / BATCH_SECOND;

        buf_addf(out, "<tr><td>%s%s</td>", batch_policy_names[variant->policy], variant->extra ? ", and more" : "");
        if (variant->timeout > 0)
            buf_addf(out, "<td>%.10g s</td>", variant->timeout);
        else
            buf_adds(out, "<td>none</td>");
        if (!batch_policy_has_windows(variant->policy))
            buf_adds(out, "<td>none</td>");
        else if (least < most)
            buf_addf(out, "<td>%.4g to %.4g s</td>", least, most);
        else
            buf_addf(out, "<td>%.4g s</td>", least);
        buf_addf(out,
                 "<td>%" PRIu64 "</td><td>%" PRIu64 "</td><td>%" PRIu64 "</td><td>%" PRIu64 "</td><td>%" PRIu64 "</td>",
                 totals->windows, totals->work, totals->most_work, totals->fell_back, totals->inexact);
        if (measured)
            buf_addf(out, "<td>%.4f</td><td>%.3f</td><td>%" PRIu64 "</td>",
                     totals->windows ? 1e3 * totals->seconds / (double)totals->windows : 0, 1e3 * totals->most_time,
                     totals->over);
        buf_adds(out, "</tr>");
    }
    buf_adds(out, "</tbody></table></div>");
}

static void cell_capacity(struct buf *out, double capacity)
{
    if (isinf(capacity))
        buf_adds(out, "<td>no limit</td>");
    else
        buf_addf(out, "<td>%.10g</td>", capacity);
}

static void section_clusters(struct buf *out, const struct plan *plan)
{
    buf_adds(
        out,
        "<h2>Clusters</h2><div class=\"card scroll\"><table><thead><tr><th>name</th><th>count</th><th>processors</th>"
        "<th>memory</th><th>disk</th></tr></thead><tbody>");
    for (uint32_t i = 0; i < plan->park.kind_count; i++) {
        const struct batch_kind *kind = &plan->park.kinds[i];

        buf_adds(out, "<tr><td>");
        page_text(out, kind->name);
        buf_addf(out, "%s</td><td>%" PRIu32 "</td>", kind->extra ? " <small>what if</small>" : "", kind->count);
        for (int q = 0; q < BATCH_QUANTITIES; q++)
            cell_capacity(out, kind->capacity[q]);
        buf_adds(out, "</tr>");
    }
    buf_adds(out, "</tbody></table></div>");
}

static void section_words(struct buf *out, const struct plan *plan)
{
    buf_adds(out, "<h2>What the words mean</h2><div class=\"card\"><dl>"
                  "<dt>completed, scheduled</dt><dd>done; assigned to a cluster and running</dd>");
    buf_addf(
        out,
        "<dt>slowdown</dt><dd>of jobs that are done: (wait + run) / run, where a run shorter than %.4g s counts as that long</dd>",
        plan->bound);
    buf_adds(
        out,
        "<dt>fairness</dt><dd>Jain's index of the users' mean slowdowns, jobs that wait or went included: 1 when all fare alike"
        "</dd>");
    buf_addf(out, "<dt>starved</dt><dd>waited for %.4g s or longer, whatever became of them</dd>", plan->starved);
    buf_adds(
        out,
        "<dt>fell back, not proved</dt><dd>windows in which lbm's programme could not be solved and srfm stood in; in which "
        "optimal stopped before it had proved its assignment the best</dd></dl></div>");
}

void study_page(struct buf *out, const struct plan *plan, const struct study *study, bool measured)
{
    const char *name = *plan->scenario->name ? plan->scenario->name : "scenario";

    buf_adds(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                  "content=\"width=device-width,initial-scale=1\"><title>");
    page_text(out, name);
    buf_addf(out, ": policies compared</title><style>%s</style></head><body><main><h1>", style);
    page_text(out, name);
    buf_addf(out,
             ": policies compared</h1><p>%" PRIu64 " run%s of %.4g simulated hours, %" PRIu64
             " jobs in all, %u kind%s of clusters with %.10g processors, seed %" PRIu64
             ". Every policy had the same jobs.</p>",
             study->runs, study->runs == 1 ? "" : "s", study->hours[study->hour_count - 1], study->jobs,
             plan->park.kind_count, plan->park.kind_count == 1 ? "" : "s", study->processors[0], study->seed);
    if (study->variants[study->variant_count - 1].extra)
        buf_addf(out, "<p>With the extra clusters there are %.10g processors.</p>", study->processors[1]);
    section_bars(out, plan, study);
    if (study->runs > 1 && plan->policy_count > 1) {
        char words[200];

        snprintf(
            words, sizeof words,
            "Jobs completed more than under %s in the same runs, in percent of all jobs that came; the lines are 95 %% "
            "confidence intervals.",
            batch_policy_names[plan->policies[0]]);
        section_plots(out, plan, study, "Gains", words, 3);
    }
    section_plots(out, plan, study, "Queue", "Jobs that wait. Each drawing has a scale of its own.", 0);
    section_plots(out, plan, study, "Processors", "Busy ones, of all.", 1);
    section_plots(
        out, plan, study, "Waits",
        "How many of the jobs that started had waited no longer. Who never started is not in it: see the bars above.",
        2);
    section_tables(out, plan, study);
    section_work(out, study, measured);
    section_clusters(out, plan);
    section_words(out, plan);
    buf_adds(out, "</main></body></html>\n");
}
