/* metrics.c: numbers in one array, and their text.
 *
 *     cells:  [cycles] [bucket bucket ... rest, sum] [matches] ... [route 0: 1xx 2xx ... other] [route 1: ...] ... */
#include "live/http/metrics.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum metric_type { COUNTER, GAUGE, HISTOGRAM, WAITS };

#define HISTOGRAM_CELLS (METRIC_BUCKETS + 2) /* one for the rest, and one for the sum of microseconds */
#define FIRST_BUCKET 4                       /* 2^4 microseconds ... */
#define FIRST_OF_WAITS 19                    /* ... and 2^19 */

static const struct metric_row {
    const char *name;
    enum metric_type type;
    const char *unit;
    enum metric_party party;
    enum metric_set sets[2];
    const char *help;
} metric_rows[METRIC_COUNT] = {
#define X(id, name, type, unit, party, first, second, help) \
    [METRIC_##id] = {(name), type, (unit), METRIC_PARTY_##party, {METRIC_SET_##first, METRIC_SET_##second}, (help)},
    METRICS(X)
#undef X
};

static const struct set_row {
    const char *label, *words;
} set_rows[METRIC_SET_COUNT] = {
#define X(id, label, words) [METRIC_SET_##id] = {(label), (words)},
    METRIC_SETS(X)
#undef X
};

/* The words of a set; one more place stands for all other words. METRIC_SET_NONE has only that place. */
struct set {
    char **words;
    size_t count;
};

struct metrics {
    enum metric_party party;
    struct set sets[METRIC_SET_COUNT];
    size_t at[METRIC_COUNT]; /* the place of each metric's first cell */
    uint64_t *cells;
};

static bool is_histogram(const struct metric_row *row)
{
    return row->type == HISTOGRAM || row->type == WAITS;
}

static unsigned first_bucket(const struct metric_row *row)
{
    return row->type == WAITS ? FIRST_OF_WAITS : FIRST_BUCKET;
}

static void set_add(struct set *set, const char *word, size_t len)
{
    if (set->count == METRIC_WORDS_MAX)
        return;
    set->words = mem_grow(set->words, (set->count + 1) * sizeof *set->words);
    set->words[set->count++] = mem_dup(word, len);
}

static size_t set_places(const struct metrics *metrics, enum metric_set set)
{
    return metrics->sets[set].count + 1;
}

static size_t cell_count(const struct metrics *metrics, enum metric metric)
{
    const struct metric_row *row = &metric_rows[metric];

    return set_places(metrics, row->sets[0]) * set_places(metrics, row->sets[1]) *
           (is_histogram(row) ? HISTOGRAM_CELLS : 1);
}

struct metrics *metrics_new(enum metric_party party, const struct metric_words *sets, size_t set_count)
{
    struct metrics *metrics = mem_alloc(sizeof *metrics);
    size_t total = 0;

    *metrics = (struct metrics){.party = party};
    for (int i = 0; i < METRIC_SET_COUNT; i++)
        for (const char *word = set_rows[i].words; *word;) {
            size_t len = strcspn(word, " ");

            set_add(&metrics->sets[i], word, len);
            word += len + strspn(word + len, " ");
        }
    for (size_t i = 0; i < set_count; i++) {
        struct set *set = &metrics->sets[sets[i].set];

        while (set->count)
            free(set->words[--set->count]);
        for (size_t j = 0; j < sets[i].count && sets[i].set != METRIC_SET_NONE; j++)
            set_add(set, sets[i].words[j], strlen(sets[i].words[j]));
    }
    for (int i = 0; i < METRIC_COUNT; i++) {
        metrics->at[i] = total;
        total += cell_count(metrics, (enum metric)i);
    }
    metrics->cells = mem_alloc_lines(total * sizeof *metrics->cells);
    return metrics;
}

void metrics_free(struct metrics *metrics)
{
    if (!metrics)
        return;
    for (int i = 0; i < METRIC_SET_COUNT; i++) {
        while (metrics->sets[i].count)
            free(metrics->sets[i].words[--metrics->sets[i].count]);
        free(metrics->sets[i].words);
    }
    free(metrics->cells);
    free(metrics);
}

static uint64_t *cell(const struct metrics *metrics, enum metric metric, size_t first, size_t second)
{
    const struct metric_row *row = &metric_rows[metric];
    size_t firsts = set_places(metrics, row->sets[0]), seconds = set_places(metrics, row->sets[1]);
    size_t place = (first < firsts ? first : firsts - 1) * seconds + (second < seconds ? second : seconds - 1);

    return &metrics->cells[metrics->at[metric] + place * (is_histogram(row) ? HISTOGRAM_CELLS : 1)];
}

void metrics_add(struct metrics *metrics, enum metric metric, size_t first, size_t second, uint64_t n)
{
    if (metrics && metric_rows[metric].type == COUNTER)
        *cell(metrics, metric, first, second) += n;
}

void metrics_set(struct metrics *metrics, enum metric metric, size_t first, size_t second, int64_t value)
{
    if (metrics && !is_histogram(&metric_rows[metric]))
        *cell(metrics, metric, first, second) = (uint64_t)value;
}

void metrics_observe(struct metrics *metrics, enum metric metric, size_t first, int64_t microseconds)
{
    uint64_t took = microseconds > 0 ? (uint64_t)microseconds : 0, *cells;
    size_t bucket = 0;

    if (!metrics || !is_histogram(&metric_rows[metric]))
        return;
    cells = cell(metrics, metric, first, 0);
    while (bucket < METRIC_BUCKETS && took > UINT64_C(1) << (bucket + first_bucket(&metric_rows[metric])))
        bucket++;
    cells[bucket]++;
    cells[METRIC_BUCKETS + 1] += took;
}

int64_t metrics_value(const struct metrics *metrics, enum metric metric, size_t first, size_t second)
{
    const uint64_t *cells = cell(metrics, metric, first, second);
    uint64_t count = 0;

    if (!is_histogram(&metric_rows[metric]))
        return (int64_t)*cells;
    for (size_t i = 0; i <= METRIC_BUCKETS; i++)
        count += cells[i];
    return (int64_t)count;
}

/* ---------------------------------------------------------------------------------------------------------- printing */

static void print_escaped_text(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\' || *text == '"')
            buf_addc(out, '\\');
        if (*text == '\n')
            buf_adds(out, "\\n");
        else
            buf_addc(out, *text);
    }
}

static void print_label(struct buf *out, const char *name, const char *value, bool *any)
{
    buf_addf(out, "%s%s=\"", *any ? "," : "{", name);
    print_escaped_text(out, value);
    buf_addc(out, '"');
    *any = true;
}

/* The name of a sample with its labels and a blank. `le` may be NULL. */
static void print_name(struct buf *out, const struct metrics *metrics, const struct metric_row *row, const char *end,
                       const size_t places[2], const char *le)
{
    bool any = false;

    buf_addf(out, "%s%s", row->name, end);
    for (int i = 0; i < 2; i++) {
        const struct set *set = &metrics->sets[row->sets[i]];

        if (row->sets[i] != METRIC_SET_NONE)
            print_label(out, set_rows[row->sets[i]].label, places[i] < set->count ? set->words[places[i]] : "other",
                        &any);
    }
    if (le)
        print_label(out, "le", le, &any);
    buf_adds(out, any ? "} " : " ");
}

static void print_seconds(struct buf *out, int64_t microseconds)
{
    buf_addf(out, "%" PRId64 ".%06" PRId64, microseconds / 1000000, microseconds % 1000000);
}

static void print_histogram(struct buf *out, const struct metrics *metrics, const struct metric_row *row,
                            const size_t places[2], const uint64_t *cells)
{
    uint64_t count = 0;

    for (size_t i = 0; i <= METRIC_BUCKETS; i++) {
        uint64_t bound = UINT64_C(1) << (i + first_bucket(row));
        char le[32];

        if (i < METRIC_BUCKETS)
            snprintf(le, sizeof le, "%" PRIu64 ".%06" PRIu64, bound / 1000000, bound % 1000000);
        count += cells[i];
        print_name(out, metrics, row, "_bucket", places, i < METRIC_BUCKETS ? le : "+Inf");
        buf_addf(out, "%" PRIu64 "\n", count);
    }
    print_name(out, metrics, row, "_count", places, NULL);
    buf_addf(out, "%" PRIu64 "\n", count);
    print_name(out, metrics, row, "_sum", places, NULL);
    print_seconds(out, (int64_t)cells[METRIC_BUCKETS + 1]);
    buf_addc(out, '\n');
}

static void print_number(struct buf *out, const struct metrics *metrics, const struct metric_row *row,
                         const size_t places[2], int64_t value)
{
    print_name(out, metrics, row, row->type == COUNTER ? "_total" : "", places, NULL);
    if (!strcmp(row->unit, "seconds"))
        print_seconds(out, value);
    else
        buf_addf(out, "%" PRId64, value);
    buf_addc(out, '\n');
}

/* Is that series printed even when it is zero? Those with many labels would drown the rest. */
static bool is_always_there(const struct metrics *metrics, const struct metric_row *row, const size_t places[2])
{
    if (row->sets[0] == METRIC_SET_NONE)
        return true;
    return row->sets[1] == METRIC_SET_NONE && !is_histogram(row) && places[0] < metrics->sets[row->sets[0]].count;
}

static void print_metric(struct buf *out, const struct metrics *metrics, enum metric metric)
{
    static const char *const types[] = {"counter", "gauge", "histogram", "histogram"};
    const struct metric_row *row = &metric_rows[metric];
    size_t places[2];

    buf_addf(out, "# TYPE %s %s\n", row->name, types[row->type]);
    if (*row->unit)
        buf_addf(out, "# UNIT %s %s\n", row->name, row->unit);
    buf_addf(out, "# HELP %s ", row->name);
    print_escaped_text(out, row->help);
    buf_addc(out, '\n');
    for (places[0] = 0; places[0] < set_places(metrics, row->sets[0]); places[0]++)
        for (places[1] = 0; places[1] < set_places(metrics, row->sets[1]); places[1]++) {
            int64_t value = metrics_value(metrics, metric, places[0], places[1]);

            if (value == 0 && !is_always_there(metrics, row, places))
                continue;
            if (is_histogram(row))
                print_histogram(out, metrics, row, places, cell(metrics, metric, places[0], places[1]));
            else
                print_number(out, metrics, row, places, value);
        }
}

void metrics_print(struct buf *out, const struct metrics *metrics)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (metric_rows[i].party & metrics->party)
            print_metric(out, metrics, (enum metric)i);
    buf_adds(out, "# EOF\n");
}

int64_t metrics_resident(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long long size, resident = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%lld %lld", &size, &resident) != 2)
        resident = 0;
    fclose(file);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}
