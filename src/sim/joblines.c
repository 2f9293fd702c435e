/* joblines.c: jobs as JSON lines, read and written. */
#include "sim/joblines.h"

#include "lang/ad/eval.h"
#include "lang/base/json.h"
#include "lang/base/mem.h"
#include "lang/base/number.h"
#include "lang/form/form.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES_MAX (1u << 20)
#define USERS_MAX 10000000
#define NUMBER_MOST 1e12

enum key {
    KEY_JOB,
    KEY_SUBMIT,
    KEY_DURATION,
    KEY_ESTIMATE,
    KEY_CPUS,
    KEY_MEMORY,
    KEY_DISK,
    KEY_USER,
    KEY_THINK,
    KEY_NUMBERS
};

static const struct {
    const char *name;
    double least, most, otherwise; /* NAN: the key is required */
    bool whole;
} keys[KEY_NUMBERS] = {
    [KEY_JOB] = {"job", 0, UINT32_MAX, -1, true},
    [KEY_SUBMIT] = {"submit", 0, NUMBER_MOST, NAN, false},
    [KEY_DURATION] = {"duration", 0, NUMBER_MOST, NAN, false},
    [KEY_ESTIMATE] = {"estimate", 0, NUMBER_MOST, -1, false},
    [KEY_CPUS] = {"cpus", 0, NUMBER_MOST, 1, false},
    [KEY_MEMORY] = {"memory", 0, NUMBER_MOST, 0, false},
    [KEY_DISK] = {"disk", 0, NUMBER_MOST, 0, false},
    [KEY_USER] = {"user", 0, USERS_MAX, 0, true},
    [KEY_THINK] = {"think", 0, NUMBER_MOST, 0, false},
};
static const char *const other_keys[] = {"clusters", "after", "start", "cluster", "state"};
#define OTHERS (sizeof other_keys / sizeof *other_keys)

struct lines_reader {
    const struct batch_park *park;
    struct batch_work *work;
    struct form_reader *form;
    struct form_text text;
    struct env env;
    struct arena scratch;
    struct assign_edge *edges;
    uint32_t all; /* the row of all kinds; UINT32_MAX: not made yet */
    double largest;
    struct err *err;
};

static int line_fail(struct lines_reader *reader, const char *key, const char *expected)
{
    return err_at(reader->err, form_reader_line(reader->form), form_reader_column(reader->form), "\"%s\": expected %s",
                  key, expected);
}

static int keys_check(struct lines_reader *reader, const struct tree *ad)
{
    const struct expr *parts = tree_parts(ad, tree_root(ad));

    for (uint32_t i = 0; i < tree_root(ad)->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(ad->symbols, parts[i].label, &len);
        bool known = false;

        for (size_t k = 0; k < KEY_NUMBERS && !known; k++)
            known = !strcmp(keys[k].name, name);
        for (size_t k = 0; k < OTHERS && !known; k++)
            known = !strcmp(other_keys[k], name);
        if (!known)
            return line_fail(
                reader, name,
                "job, submit, duration, estimate, cpus, memory, disk, user, clusters, after or think in its place");
    }
    return 0;
}

static int numbers_read(struct lines_reader *reader, struct eval *eval, const struct scope *scope,
                        double numbers[KEY_NUMBERS])
{
    for (int k = 0; k < KEY_NUMBERS; k++) {
        symbol known = symbols_find(scope->tree->symbols, keys[k].name, strlen(keys[k].name));
        struct value value;
        char words[80];

        numbers[k] = keys[k].otherwise;
        snprintf(words, sizeof words, "a%s number from %.0f to %.0f", keys[k].whole ? " whole" : "", keys[k].least,
                 keys[k].most);
        if (!known || !eval_attribute(eval, scope, known, &value)) {
            if (isnan(numbers[k]))
                return line_fail(reader, keys[k].name, words);
            continue;
        }
        numbers[k] = value.type == VALUE_INTEGER                  ? (double)value.u.integer
                     : value.type == VALUE_REAL && !keys[k].whole ? value.u.real
                                                                  : -1;
        if (!(numbers[k] >= keys[k].least && numbers[k] <= keys[k].most))
            return line_fail(reader, keys[k].name, words);
    }
    return 0;
}

static uint32_t kind_named(const struct batch_park *park, const struct value *name)
{
    for (uint32_t i = 0; i < park->kind_count; i++)
        if (strlen(park->kinds[i].name) == name->len && !memcmp(park->kinds[i].name, name->u.string, name->len))
            return i;
    return UINT32_MAX;
}

static int edge_compare(const void *a, const void *b)
{
    const struct assign_edge *left = a, *right = b;

    return (left->kind > right->kind) - (left->kind < right->kind);
}

/* Reads the clusters that a job names; each counts once. */
static int row_read(struct lines_reader *reader, struct eval *eval, const struct scope *scope, uint32_t *ret)
{
    symbol known = symbols_find(scope->tree->symbols, "clusters", 8);
    struct value list, name;
    uint32_t count = 0;

    if (!known || !eval_attribute(eval, scope, known, &list)) {
        if (reader->all == UINT32_MAX)
            reader->all = work_row_all(reader->work, reader->park);
        *ret = reader->all;
        return 0;
    }
    if (list.type != VALUE_LIST)
        return line_fail(reader, "clusters", "a list of names");
    for (uint32_t i = 0; i < list.len; i++) {
        uint32_t kind;
        bool there = false;

        eval_element(eval, &list, i, &name);
        if (name.type != VALUE_STRING)
            return line_fail(reader, "clusters", "a list of names");
        kind = kind_named(reader->park, &name);
        if (kind == UINT32_MAX) {
            char words[120];

            snprintf(words, sizeof words, "the name of a cluster, and there is no '%.*s'",
                     (int)(name.len < 64 ? name.len : 64), name.u.string);
            return line_fail(reader, "clusters", words);
        }
        for (uint32_t k = 0; k < count; k++)
            there = there || reader->edges[k].kind == kind;
        if (!there)
            reader->edges[count++] = (struct assign_edge){kind, 0, 0};
    }
    qsort(reader->edges, count, sizeof *reader->edges, edge_compare);
    *ret = work_row(reader->work, reader->edges, count);
    return 0;
}

/* Reads the numbers of the jobs that the one that was added last waits for. */
static int after_read(struct lines_reader *reader, struct eval *eval, const struct scope *scope)
{
    symbol known = symbols_find(scope->tree->symbols, "after", 5);
    struct value list, number;

    if (!known || !eval_attribute(eval, scope, known, &list))
        return 0;
    if (list.type != VALUE_LIST)
        return line_fail(reader, "after", "a list of numbers of jobs");
    for (uint32_t i = 0; i < list.len; i++) {
        eval_element(eval, &list, i, &number);
        if (number.type != VALUE_INTEGER || number.u.integer < 0 || number.u.integer > UINT32_MAX)
            return line_fail(reader, "after", "a list of numbers of jobs");
        if (reader->work->after_count == BATCH_JOBS_MAX)
            return line_fail(reader, "after", "fewer jobs that others wait for");
        work_after(reader->work, (uint32_t)number.u.integer);
    }
    return 0;
}

static int64_t microseconds(double seconds)
{
    return (int64_t)llround(seconds * BATCH_SECOND);
}

static int job_read(struct lines_reader *reader, const struct tree *ad)
{
    double numbers[KEY_NUMBERS];
    struct batch_job *job;
    struct scope scope;
    struct eval eval;
    uint32_t row = 0;

    eval_init(&eval, &reader->env, &reader->scratch);
    scope_init(&scope, ad, NULL);
    if (keys_check(reader, ad) < 0 || numbers_read(reader, &eval, &scope, numbers) < 0 ||
        row_read(reader, &eval, &scope, &row) < 0)
        return -1;
    if (reader->work->count == BATCH_JOBS_MAX)
        return line_fail(reader, "job", "fewer jobs");
    job = work_add(reader->work);
    job->number = numbers[KEY_JOB] >= 0 ? (uint32_t)numbers[KEY_JOB] : job->number;
    job->submit = microseconds(numbers[KEY_SUBMIT]);
    job->duration = microseconds(numbers[KEY_DURATION]);
    job->estimate = numbers[KEY_ESTIMATE] >= 0 ? microseconds(numbers[KEY_ESTIMATE]) : job->duration;
    job->asks[0] = numbers[KEY_CPUS];
    job->asks[1] = numbers[KEY_MEMORY];
    job->asks[2] = numbers[KEY_DISK];
    job->user = (uint32_t)numbers[KEY_USER];
    job->think = microseconds(numbers[KEY_THINK]);
    job->row = row;
    reader->largest = fmax(reader->largest, job->asks[0]);
    if (job->user >= reader->work->users)
        reader->work->users = job->user + 1;
    return after_read(reader, &eval, &scope);
}

int joblines_read(struct symbols *symbols, const char *text, size_t len, const struct batch_park *park,
                  struct batch_work *work, double *ret_largest, struct err *err)
{
    struct form_limits limits = {.bytes = LINE_BYTES_MAX};
    struct lines_reader reader = {
        .park = park, .work = work, .text = {text, len}, .env = {.steps = 1000000}, .all = UINT32_MAX, .err = err};
    struct tree *ad;
    int result;

    arena_init(&reader.scratch);
    reader.edges = mem_alloc((park->kind_count + 1) * sizeof *reader.edges);
    reader.form = form_reader_new(symbols, &dialect_classic, FORM_JSON, &limits, form_text_read, &reader.text);
    work_reset(work);
    work->users = 1;
    while ((result = form_reader_next(reader.form, &ad, err)) > 0) {
        result = job_read(&reader, ad);
        tree_unref(ad);
        arena_reset(&reader.scratch);
        if (result < 0)
            break;
    }
    form_reader_free(reader.form);
    free(reader.edges);
    arena_done(&reader.scratch);
    work_sort(work);
    if (result == 0)
        result = work_link(work, true, err);
    if (result == 0)
        *ret_largest = reader.largest;
    return result;
}

/* -------------------------------------------------------------------------------------------------------------- writing */

static void seconds_write(struct buf *out, const char *key, int64_t time)
{
    buf_addf(out, ", \"%s\": %" PRId64, key, time / BATCH_SECOND);
    if (time % BATCH_SECOND)
        buf_addf(out, ".%06" PRId64, time % BATCH_SECOND);
}

static void number_write(struct buf *out, const char *key, double number)
{
    char digits[NUMBER_TEXT_MAX];
    bool whole = number == floor(number) && fabs(number) < 1e15;
    size_t len = whole ? number_print_integer((int64_t)number, digits) : number_print_real(number, digits);

    buf_addf(out, ", \"%s\": ", key);
    buf_add(out, digits, len);
}

static void clusters_write(struct buf *out, const struct batch_work *work, uint32_t row, const struct batch_park *park)
{
    const struct assign_row *edges = &work->problem.rows[row];

    if (edges->count == park->kind_count)
        return;
    buf_adds(out, ", \"clusters\": [");
    for (uint32_t i = 0; i < edges->count; i++) {
        const char *name = park->kinds[work->problem.edges[edges->first + i].kind].name;

        buf_adds(out, i ? ", " : "");
        json_quote(out, name, strlen(name));
    }
    buf_addc(out, ']');
}

static void after_write(struct buf *out, const struct batch_work *work, const struct batch_job *job)
{
    for (uint32_t i = 0; i < job->after_count; i++)
        buf_addf(out, "%s%" PRIu32, i ? ", " : ", \"after\": [", work->jobs[work->after[job->after + i]].number);
    buf_adds(out, job->after_count ? "]" : "");
    if (job->think)
        seconds_write(out, "think", job->think);
}

static void fate_write(struct buf *out, const struct batch_job *job, const struct batch_outcome *outcome,
                       const struct batch_fate *fate, const struct batch_park *park)
{
    bool late = fate->timeout && outcome->ready < fate->end && fate->end - outcome->ready >= fate->timeout;

    if (outcome->start < 0) {
        buf_addf(out, ", \"state\": \"%s\"", late ? "timed out" : "waiting");
        return;
    }
    seconds_write(out, "start", outcome->start);
    buf_adds(out, ", \"cluster\": ");
    json_quote(out, park->kinds[outcome->kind].name, strlen(park->kinds[outcome->kind].name));
    buf_addf(out, ", \"state\": \"%s\"", job->duration <= fate->end - outcome->start ? "done" : "running");
}

void joblines_write(struct buf *out, const struct batch_work *work, const struct batch_fate *fate,
                    const struct batch_park *park)
{
    for (uint32_t i = 0; i < work->count; i++) {
        const struct batch_job *job = &work->jobs[i];

        buf_addf(out, "{\"job\": %" PRIu32, job->number);
        seconds_write(out, "submit", job->submit);
        seconds_write(out, "duration", job->duration);
        if (job->estimate != job->duration)
            seconds_write(out, "estimate", job->estimate);
        number_write(out, "cpus", job->asks[0]);
        if (job->asks[1] > 0)
            number_write(out, "memory", job->asks[1]);
        if (job->asks[2] > 0)
            number_write(out, "disk", job->asks[2]);
        number_write(out, "user", job->user);
        clusters_write(out, work, job->row, park);
        after_write(out, work, job);
        if (fate)
            fate_write(out, job, &fate->outcomes[i], fate, park);
        buf_adds(out, "}\n");
    }
}
