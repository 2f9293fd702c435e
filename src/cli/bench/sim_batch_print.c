/* sim_batch_print.c: prints a study as tables, and as JSON lines. */
#include "cli/bench/sim_batch.h"

#include "cli/term/file.h"
#include "cli/term/table.h"
#include "lang/base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---------------------------------------------------------------------------------------------------------------- tables */

/* A column: a figure and how many digits it has behind the point. */
struct figure_column {
    const char *name;
    enum figure figure;
    int digits;
};

static const struct figure_column columns_52[] = {
    {"submitted", FIGURE_SUBMITTED, 1},   {"completed %", FIGURE_COMPLETED, 2}, {"scheduled %", FIGURE_SCHEDULED, 2},
    {"timed out %", FIGURE_TIMED_OUT, 2}, {"max wait s", FIGURE_WAIT_MAX, 0},   {"avg wait s", FIGURE_WAIT_MEAN, 1},
};

static const struct figure_column columns_beyond[] = {
    {"busy %", FIGURE_UTILISATION, 2},     {"done/h", FIGURE_THROUGHPUT, 2}, {"slowdown", FIGURE_SLOWDOWN, 2},
    {"median", FIGURE_SLOWDOWN_MEDIAN, 2}, {"99 %", FIGURE_SLOWDOWN_99, 2},  {"fairness", FIGURE_FAIRNESS, 3},
    {"starved %", FIGURE_STARVED, 2},      {"waiting %", FIGURE_WAITING, 2},
};

static const char *const first_columns[] = {"policy", "hours", "timeout", "clusters"};
#define FIRST_COLUMNS (sizeof first_columns / sizeof *first_columns)

static void cell_sample(struct table *table, const struct sample *sample, int digits)
{
    if (sample->count > 1)
        table_number(table, "%.*f ±%.*f", digits, sample->mean, digits, sample_margin(sample, STUDY_CONFIDENCE));
    else /* whole numbers have no digits behind the point */
        table_number(table, "%.*f", sample->mean == floor(sample->mean) && digits == 1 ? 0 : digits, sample->mean);
}

static void cells_first(struct table *table, const struct study *study, const struct study_variant *variant,
                        uint32_t hour, bool clusters)
{
    const char *name = batch_policy_names[variant->policy];

    table_text(table, name, strlen(name));
    table_number(table, "%.6g", study->hours[hour]);
    if (variant->timeout > 0)
        table_number(table, "%.10g s", variant->timeout);
    else
        table_number(table, "none");
    if (clusters)
        table_text(table, variant->extra ? "and more" : "as they are", variant->extra ? 8 : 11);
}

/* Prints a table. The rows of one hour stand together, as in the thesis. */
static void print_table(const struct study *study, const struct figure_column *figures, size_t figure_count, bool gain)
{
    bool clusters = study->variants[study->variant_count - 1].extra;
    const char *names[TABLE_COLUMNS_MAX];
    size_t count = 0;
    struct table table;

    for (size_t i = 0; i < FIRST_COLUMNS - !clusters; i++)
        names[count++] = first_columns[i];
    for (size_t i = 0; i < figure_count; i++)
        names[count++] = figures[i].name;
    if (gain)
        names[count++] = "gain %";
    table_init(&table, names, count, false);
    for (uint32_t h = 0; h < study->hour_count; h++)
        for (uint32_t v = 0; v < study->variant_count; v++) {
            const struct study_row *row = &study->variants[v].rows[h];

            cells_first(&table, study, &study->variants[v], h, clusters);
            for (size_t i = 0; i < figure_count; i++)
                cell_sample(&table, &row->figures[figures[i].figure], figures[i].digits);
            if (gain)
                cell_sample(&table, &row->gain, 2);
        }
    table_finish(&table);
    table_done(&table);
}

static void print_work(const struct study *study, bool measure)
{
    static const char *const names[] = {"policy",    "timeout",    "window",  "windows",    "work",       "most",
                                        "fell back", "not proved", "ms each", "longest ms", "over window"};
    bool clusters = study->variants[study->variant_count - 1].extra;
    const char *all[TABLE_COLUMNS_MAX];
    size_t count = 0;
    struct table table;

    for (size_t i = 0; i < (measure ? 11 : 8); i++) {
        all[count++] = names[i];
        if (i == 1 && clusters)
            all[count++] = "clusters";
    }
    table_init(&table, all, count, false);
    for (uint32_t v = 0; v < study->variant_count; v++) {
        const struct study_variant *variant = &study->variants[v];
        const struct batch_totals *totals = &variant->totals;
        const char *name = batch_policy_names[variant->policy];

        table_text(&table, name, strlen(name));
        if (variant->timeout > 0)
            table_number(&table, "%.10g s", variant->timeout);
        else
            table_number(&table, "none");
        if (clusters)
            table_text(&table, variant->extra ? "and more" : "as they are", variant->extra ? 8 : 11);
        if (!batch_policy_has_windows(variant->policy))
            table_number(&table, "none");
        else if (variant->window.least == variant->window.most)
            table_number(&table, "%.4g s", (double)variant->window.least / BATCH_SECOND);
        else
            table_number(&table, "%.4g..%.4g s", (double)variant->window.least / BATCH_SECOND,
                         (double)variant->window.most / BATCH_SECOND);
        table_number(&table, "%" PRIu64, totals->windows);
        table_number(&table, "%" PRIu64, totals->work);
        table_number(&table, "%" PRIu64, totals->most_work);
        table_number(&table, "%" PRIu64, totals->fell_back);
        table_number(&table, "%" PRIu64, totals->inexact);
        if (!measure)
            continue;
        table_number(&table, "%.4f", totals->windows ? 1e3 * totals->seconds / (double)totals->windows : 0);
        table_number(&table, "%.3f", 1e3 * totals->most_time);
        table_number(&table, "%" PRIu64, totals->over);
    }
    table_finish(&table);
    table_done(&table);
}

/* ------------------------------------------------------------------------------------------------------------------ JSON */

static void json_sample(struct buf *out, const char *key, const struct sample *sample)
{
    buf_addf(out, ", \"%s\": %.6f", key, sample->mean);
    if (sample->count > 1)
        buf_addf(out, ", \"%s_margin\": %.6f", key, sample_margin(sample, STUDY_CONFIDENCE));
}

static void print_json(const struct plan *plan, const struct study *study, bool measure)
{
    struct buf out;

    buf_init(&out);
    for (uint32_t h = 0; h < study->hour_count; h++)
        for (uint32_t v = 0; v < study->variant_count; v++) {
            const struct study_variant *variant = &study->variants[v];
            const struct batch_totals *totals = &variant->totals;

            buf_adds(&out, "{\"scenario\": ");
            json_quote(&out, plan->scenario->name, strlen(plan->scenario->name));
            buf_addf(&out, ", \"policy\": \"%s\", \"hours\": %.10g, \"timeout\": %.10g, \"extra\": %s",
                     batch_policy_names[variant->policy], study->hours[h], variant->timeout,
                     variant->extra ? "true" : "false");
            if (batch_policy_has_windows(variant->policy))
                buf_addf(&out, ", \"window\": [%.6g, %.6g]", (double)variant->window.least / BATCH_SECOND,
                         (double)variant->window.most / BATCH_SECOND);
            else
                buf_adds(&out, ", \"window\": null");
            buf_addf(&out, ", \"runs\": %" PRIu64 ", \"seed\": %" PRIu64, study->runs, study->seed);
            for (int i = 0; i < FIGURE_COUNT; i++)
                json_sample(&out, figure_keys[i], &variant->rows[h].figures[i]);
            json_sample(&out, "gain", &variant->rows[h].gain);
            buf_addf(&out,
                     ", \"windows\": %" PRIu64 ", \"work\": %" PRIu64 ", \"most_work\": %" PRIu64
                     ", \"fell_back\": %" PRIu64 ", \"not_proved\": %" PRIu64,
                     totals->windows, totals->work, totals->most_work, totals->fell_back, totals->inexact);
            if (measure)
                buf_addf(&out, ", \"seconds\": %.6f, \"longest\": %.6f, \"over_window\": %" PRIu64, totals->seconds,
                         totals->most_time, totals->over);
            buf_adds(&out, "}\n");
        }
    output_write(&out);
    buf_done(&out);
}

static void print_line(const char *text)
{
    struct buf out;

    buf_init(&out);
    buf_adds(&out, text);
    output_write(&out);
    buf_done(&out);
}

void sim_batch_print(const struct plan *plan, const struct study *study, bool json, bool measure)
{
    char head[200];

    if (json) {
        print_json(plan, study, measure);
        return;
    }
    snprintf(head, sizeof head, "%s: %" PRIu64 " run%s, %" PRIu64 " jobs, %.0f processors%s\n\n",
             *plan->scenario->name ? plan->scenario->name : "scenario", study->runs, study->runs == 1 ? "" : "s",
             study->jobs, study->processors[0], study->runs > 1 ? "; ± is a 95 % confidence interval" : "");
    print_line(head);
    print_table(study, columns_52, sizeof columns_52 / sizeof *columns_52, false);
    print_line("\n");
    print_table(study, columns_beyond, sizeof columns_beyond / sizeof *columns_beyond, plan->policy_count > 1);
    print_line("\n");
    print_work(study, measure);
}
