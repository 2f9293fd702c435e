/* job_chart.c: what a job used over its life, as lines of text. */
#define _GNU_SOURCE /* strcasestr */
#include "cli/jobs/job_chart.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/span.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WIDTH 60 /* characters of a row, at most */
#define POINTS_MAX 100000

static const char *const block_levels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const plain_levels[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
#define LEVELS (sizeof block_levels / sizeof *block_levels)

void job_bytes_print(struct buf *out, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;

    for (; bytes >= 1024 && i + 1 < sizeof units / sizeof *units; i++)
        bytes /= 1024;
    buf_addf(out, i ? "%.1f %s" : "%.0f %s", bytes, units[i]);
}

static void processors_print(struct buf *out, double percent)
{
    buf_addf(out, "%.2f", percent / 100);
}

static void percent_print(struct buf *out, double percent)
{
    buf_addf(out, "%.0f %%", percent);
}

static const struct {
    const char *word, *attribute;
    void (*most)(struct buf *out, double value);
} rows[] = {
    {"memory", "Memory", job_bytes_print},
    {"processors", "CpuPercent", processors_print},
    {"GPUs", "GpuPercent", percent_print},
    {"GPU memory", "GpuMemory", job_bytes_print},
};

bool chart_blocks(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *value = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && (!value || !*value); i++)
        value = getenv(names[i]);
    return value && (strcasestr(value, "UTF-8") || strcasestr(value, "UTF8"));
}

static double point(const struct tree *samples, const struct expr *list, uint32_t place)
{
    const struct expr *part = &tree_parts(samples, list)[place];

    return part->kind == EXPR_INTEGER && part->u.integer > 0 ? (double)part->u.integer : 0;
}

/* The largest of the points from one place to another. */
static double most_of(const struct tree *samples, const struct expr *list, uint32_t from, uint32_t to)
{
    double most = 0;

    for (uint32_t i = from; i < to; i++)
        most = point(samples, list, i) > most ? point(samples, list, i) : most;
    return most;
}

static void row_print(struct buf *out, const struct tree *samples, const struct expr *list, size_t row, uint32_t each,
                      bool blocks)
{
    uint32_t count = list->u.run.count;
    double most = most_of(samples, list, 0, count);

    buf_addf(out, "  %-14s ", rows[row].word);
    for (uint32_t from = 0; from < count; from += each) {
        double part = most > 0 ? most_of(samples, list, from, from + each < count ? from + each : count) / most : 0;
        size_t level = (size_t)(part * (double)LEVELS);

        level = level < LEVELS ? level : LEVELS - 1;
        buf_adds(out, blocks ? block_levels[level] : plain_levels[level]);
    }
    buf_adds(out, "  up to ");
    rows[row].most(out, most);
    buf_addc(out, '\n');
}

void job_chart_print(struct buf *out, const struct tree *job, bool blocks)
{
    const struct expr *found = ad_find(job, "Samples"), *list;
    struct tree *samples = found && found->kind == EXPR_AD ? ad_part(job, found) : NULL;
    int64_t span = 0;
    uint32_t each = 0;

    if (samples && ad_integer(samples, "Span", &span) && span > 0)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            list = ad_find(samples, rows[i].attribute);
            if (!list || list->kind != EXPR_LIST || list->u.run.count < 2 || list->u.run.count > POINTS_MAX)
                continue;
            if (!each) {
                each = (list->u.run.count + WIDTH - 1) / WIDTH;
                buf_adds(out, "\nOver its life, ");
                span_say(out, (double)span * each);
                buf_adds(out, " a character:\n");
            }
            row_print(out, samples, list, i, each, blocks);
        }
    tree_unref(samples);
}
