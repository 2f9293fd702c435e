/* jobs.c: jobs as the command line names and shows them. */
#include "cli/ask/jobs.h"

#include "cli/term/command.h"
#include "cli/term/moment.h"
#include "cli/term/report.h"
#include "lang/ad/eval.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/map.h"
#include "lang/base/mem.h"
#include "live/customerd/job_outcome.h"
#include "live/data/missing_files.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ID_DIGITS_MAX 18

/* ------------------------------------------------------------------------------------------------------------- numbers */

static const char *number_take(const char *at, uint64_t *ret)
{
    size_t digits = strspn(at, "0123456789");

    if (!digits || digits > ID_DIGITS_MAX)
        return NULL;
    *ret = strtoull(at, NULL, 10);
    return *ret ? at + digits : NULL;
}

static const char *range_take(const char *at, struct job_range *ret)
{
    at = number_take(at, &ret->first);
    if (!at)
        return NULL;
    ret->last = ret->first;
    if (*at == '-')
        at = number_take(at + 1, &ret->last);
    return at && ret->first <= ret->last ? at : NULL;
}

static int range_compare(const void *a, const void *b)
{
    const struct job_range *left = a, *right = b;

    return left->first < right->first ? -1 : left->first > right->first;
}

/* Sorts the ranges and joins those that overlap, so that the jobs can be counted. */
static void ranges_settle(struct job_ids *ids)
{
    size_t kept = 0;

    if (ids->count)
        qsort(ids->ranges, ids->count, sizeof *ids->ranges, range_compare);
    for (size_t i = 0; i < ids->count; i++) {
        struct job_range *before = kept ? &ids->ranges[kept - 1] : NULL;

        if (!before || ids->ranges[i].first > before->last + 1)
            ids->ranges[kept++] = ids->ranges[i];
        else if (ids->ranges[i].last > before->last)
            before->last = ids->ranges[i].last;
    }
    ids->count = kept;
    for (size_t i = 0; i < kept; i++) {
        buf_addf(&ids->text, "%s%" PRIu64, i ? "," : "", ids->ranges[i].first);
        if (ids->ranges[i].last > ids->ranges[i].first)
            buf_addf(&ids->text, "-%" PRIu64, ids->ranges[i].last);
    }
}

int job_ids_read(struct job_ids *ids, int word_count, char **words)
{
    *ids = (struct job_ids){.ranges = mem_alloc(JOBS_RANGES_MAX * sizeof *ids->ranges)};
    buf_init(&ids->text);
    for (int i = 0; i < word_count; i++) {
        const char *at = words[i];

        do {
            if (ids->count == JOBS_RANGES_MAX) {
                report("more than %d job numbers at once", JOBS_RANGES_MAX);
                return -1;
            }
            at = range_take(at, &ids->ranges[ids->count]);
            if (!at || (*at && *at != ',')) {
                report("'%.60s' is not a job number: 5, 5-20 and 5,7,9 are", words[i]);
                return -1;
            }
            ids->count++;
        } while (*at++ == ',');
    }
    ranges_settle(ids);
    return 0;
}

void job_ids_done(struct job_ids *ids)
{
    free(ids->ranges);
    buf_done(&ids->text);
}

uint64_t job_ids_count(const struct job_ids *ids)
{
    uint64_t count = 0;

    for (size_t i = 0; i < ids->count; i++)
        count += ids->ranges[i].last - ids->ranges[i].first + 1;
    return count;
}

int job_ids_fit(const struct job_ids *ids)
{
    if (ids->text.len <= JOBS_QUERY_MAX)
        return 0;
    report("too many job numbers at once; ranges such as 5-20 are shorter");
    return -1;
}

#define FETCHED_SINGLY 100 /* jobs that are asked for one by one: to go through a long history takes longer */

/* The jobs that were asked for. The history gives all jobs between the first and the last of them; a job may go there between the two questions, and
 * is listed once. */
struct wanted {
    const struct job_ids *ids;
    struct map seen; /* the numbers of the jobs so far */
    struct wanted_job {
        uint64_t id;
        struct tree *ad;
    } * jobs;
    size_t count, room;
};

static bool ids_have(const struct job_ids *ids, uint64_t id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (id >= ids->ranges[i].first && id <= ids->ranges[i].last)
            return true;
    return false;
}

static bool wanted_add(void *user, struct tree *job)
{
    struct wanted *wanted = user;
    int64_t id = 0;

    if (!ad_integer(job, "Job", &id) || !ids_have(wanted->ids, (uint64_t)id) ||
        map_find(&wanted->seen, (uint64_t)id) != MAP_NONE)
        return true;
    map_set(&wanted->seen, (uint64_t)id, 1);
    ARRAY_ROOM(wanted->jobs, wanted->count, wanted->room, 64);
    wanted->jobs[wanted->count++] = (struct wanted_job){(uint64_t)id, tree_ref(job)};
    return true;
}

static int wanted_compare(const void *a, const void *b)
{
    const struct wanted_job *left = a, *right = b;

    return left->id < right->id ? -1 : left->id > right->id;
}

/* Gives the jobs in the order of their numbers, and frees the list. */
static void wanted_give(struct wanted *wanted, connection_ad_fn *each, void *user)
{
    bool more = true;

    if (wanted->count)
        qsort(wanted->jobs, wanted->count, sizeof *wanted->jobs, wanted_compare);
    for (size_t i = 0; i < wanted->count; i++) {
        more = more && each(user, wanted->jobs[i].ad);
        tree_unref(wanted->jobs[i].ad);
    }
    free(wanted->jobs);
    map_done(&wanted->seen);
}

/* Asks for those that are not in the queue, one by one. */
static int wanted_fetch(struct connection *customer, struct wanted *wanted)
{
    int status = STATUS_DONE;

    for (size_t i = 0; i < wanted->ids->count; i++)
        for (uint64_t id = wanted->ids->ranges[i].first; id <= wanted->ids->ranges[i].last; id++) {
            struct tree *job = NULL;
            struct buf path;

            if (map_find(&wanted->seen, id) != MAP_NONE)
                continue;
            buf_init(&path);
            job_path(&path, id, "");
            status = connection_fetch_ad(
                customer, &(struct connection_ask){.path = buf_string(&path), .may_miss = true, .hush = true}, &job);
            buf_done(&path);
            if (status == STATUS_DONE)
                wanted_add(wanted, job);
            else if (status != STATUS_NO)
                return status;
            tree_unref(job);
        }
    return STATUS_DONE;
}

int job_ids_list(struct connection *customer, struct job_ids *ids, const char *select, connection_ad_fn *each,
                 void *user)
{
    struct wanted wanted = {.ids = ids};
    char constraint[100];
    struct buf path;
    int status;

    map_init(&wanted.seen, 0);
    buf_init(&path);
    buf_adds(&path, "/v1/jobs");
    path_query(&path, "ids", buf_string(&ids->text));
    path_query(&path, "select", select);
    status = connection_list(customer, buf_string(&path), 0, wanted_add, &wanted);
    if (status == STATUS_DONE && job_ids_count(ids) - wanted.count <= FETCHED_SINGLY) {
        status = wanted_fetch(customer, &wanted);
    } else if (status == STATUS_DONE && wanted.count < job_ids_count(ids)) {
        snprintf(constraint, sizeof constraint, "Job >= %" PRIu64 " && Job <= %" PRIu64, ids->ranges[0].first,
                 ids->ranges[ids->count - 1].last);
        buf_reset(&path);
        buf_adds(&path, "/v1/history");
        path_query(&path, "constraint", constraint);
        path_query(&path, "select", select);
        status = connection_list(customer, buf_string(&path), 0, wanted_add, &wanted);
    }
    wanted_give(&wanted, each, user);
    buf_done(&path);
    return status;
}

bool job_id_is(const char *word)
{
    uint64_t id;
    const char *end = number_take(word, &id);

    return end && !*end;
}

int job_id_read(const char *command, int word_count, char **words, uint64_t *ret)
{
    if (word_count == 1 && job_id_is(words[0])) {
        number_take(words[0], ret);
        return 0;
    }
    if (word_count == 1)
        report("'%.60s' is not a job number", words[0]);
    else
        report("%s wants one job number", command);
    return -1;
}

void job_path(struct buf *out, uint64_t id, const char *behind)
{
    buf_addf(out, "/v1/jobs/%" PRIu64 "%s", id, behind);
}

int job_fetch(struct connection *customer, uint64_t id, struct tree **ret)
{
    struct buf path;
    int status;

    buf_init(&path);
    job_path(&path, id, "");
    status = connection_fetch_ad(customer, &(struct connection_ask){.path = buf_string(&path), .may_miss = true}, ret);
    buf_done(&path);
    return status;
}

/* --------------------------------------------------------------------------------------------------------------- values */

struct value job_value(const struct tree *job, const char *name, struct arena *arena)
{
    const struct env env = {.now = (int64_t)time(NULL)};
    struct value value = value_undefined();
    symbol label = symbols_find(job->symbols, name, strlen(name));
    struct scope *scope = arena_alloc(arena, sizeof *scope); /* the value of a list refers to this scope */
    struct eval eval;

    if (label == SYMBOL_NONE)
        return value;
    eval_init(&eval, &env, arena);
    scope_init(scope, job, NULL);
    eval_attribute(&eval, scope, label, &value);
    return value;
}

bool job_number(const struct tree *job, const char *name, double *ret)
{
    struct arena arena;
    struct value value;
    bool is_number = true;

    arena_init(&arena);
    value = job_value(job, name, &arena);
    if (value.type == VALUE_REAL)
        *ret = value.u.real;
    else if (value.type == VALUE_INTEGER || value.type == VALUE_RELTIME || value.type == VALUE_ABSTIME)
        *ret = (double)value.u.integer;
    else
        is_number = false;
    arena_done(&arena);
    return is_number;
}

bool job_text_is(const struct tree *job, const char *name, const char *text)
{
    const char *found;
    size_t len;

    return ad_string(job, name, &found, &len) && len == strlen(text) && !memcmp(found, text, len);
}

bool job_is_over(const struct tree *job)
{
    static const char *const states[] = {"Done", "Aborted", "Cancelled", "Cleared"};

    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (job_text_is(job, "State", states[i]))
            return true;
    return false;
}

bool job_is_good(const struct tree *job)
{
    double ended;

    return (job_text_is(job, "State", "Done") || job_text_is(job, "State", "Cleared")) &&
           job_number(job, "Status", &ended) && ended == 0;
}

bool job_misses(const struct tree *job, struct buf *out)
{
    const struct expr *list = ad_find(job, "Missing");
    struct missing missing = {.count = 0};
    int64_t count = 0;

    for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
        struct tree *one = ad_part(job, &tree_parts(job, list)[i]);
        const char *name, *why = "";
        size_t name_len, why_len = 0;

        if (tree_is_ad(one) && ad_string(one, "Name", &name, &name_len)) {
            ad_string(one, "Why", &why, &why_len);
            missing_add(&missing, name, name_len, why, why_len);
        }
        tree_unref(one);
    }
    if (ad_integer(job, "FilesMissing", &count) && count > missing.count)
        missing.count = count;
    count = missing.count;
    missing_words(&missing, out);
    missing_done(&missing);
    return count > 0;
}

/* Appends a word as a shell would take it. The table sees to it that no control character reaches a terminal. */
static void word_add(struct buf *out, const char *text, size_t len)
{
    bool plain = len > 0;

    for (size_t i = 0; i < len; i++)
        plain = plain && (isalnum((unsigned char)text[i]) || (text[i] && strchr("-_./:=,+@%^", text[i])) ||
                          (unsigned char)text[i] >= 128);
    buf_adds(out, out->len ? " " : "");
    if (plain) {
        buf_add(out, text, len);
        return;
    }
    buf_addc(out, '\'');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\'')
            buf_adds(out, "'\\''");
        else
            buf_addc(out, text[i]);
    }
    buf_addc(out, '\'');
}

void job_command(struct buf *out, const struct tree *job, struct arena *arena)
{
    static const struct env env = {0};
    struct value value = job_value(job, "Cmd", arena), part;
    struct eval eval;

    if (value.type == VALUE_STRING)
        word_add(out, value.u.string, value.len);
    value = job_value(job, "Args", arena);
    if (value.type == VALUE_STRING && value.len) {
        buf_addc(out, ' ');
        buf_add(out, value.u.string, value.len);
    }
    eval_init(&eval, &env, arena);
    for (uint32_t i = 0; value.type == VALUE_LIST && i < value.len; i++) {
        eval_element(&eval, &value, i, &part);
        if (part.type == VALUE_STRING)
            word_add(out, part.u.string, part.len);
        else
            break;
    }
}

/* ----------------------------------------------------------------------------------------------------------------- rows */

const struct table_column job_columns[] = {
    {"id", "Job", CELL_VALUE},
    {"state", "State", CELL_TONED},
    {"submitted", "Submitted", CELL_SINCE},
    {"run_time", "RunTime", CELL_SPAN},
    {"status", "Status", CELL_VALUE},
    {"where", "Provider", CELL_VALUE},
    {"command", "Command", CELL_VALUE},
    /* only for JSON: in a table the state says it in words */
    {"files_to_store", "FilesToStore", CELL_VALUE},
    {"files_stored", "FilesStored", CELL_VALUE},
    {"stored", "Stored", CELL_VALUE},
    {"outcome", "Outcome", CELL_VALUE},
    {"progress", "Progress", CELL_VALUE},
};

size_t job_column_count(enum rows_form form)
{
    return sizeof job_columns / sizeof *job_columns - (form == ROWS_JSON ? 0 : 5);
}

void job_standing_print(struct buf *out, const struct tree *job)
{
    enum job_outcome outcome;
    const char *state;
    size_t len;

    if (job_outcome(job, &outcome))
        job_outcome_print(out, outcome, job);
    else if (ad_find(job, "Suspended")) /* it runs, and its user lets it stand still */
        buf_adds(out, "Suspended");
    else if (ad_string(job, "State", &state, &len))
        buf_add(out, state, len);
}

void job_standing_add(struct maker *maker, const struct tree *job)
{
    double all, stored = 0, other;
    enum job_outcome outcome;
    struct buf words;

    buf_init(&words);
    job_standing_print(&words, job);
    if (job_number(job, "FilesToStore", &all) && all > 0) {
        job_number(job, "FilesStored", &stored);
        buf_addf(&words, ", %.0f of %.0f file%s stored", stored, all, all == 1 ? "" : "s");
        if (job_number(job, "FilesNotMade", &other))
            buf_addf(&words, ", %.0f not made", other);
        if (job_number(job, "FilesLost", &other))
            buf_addf(&words, ", %.0f lost", other);
    }
    if (job_text_is(job, "State", "Running") && job_number(job, "Progress", &other))
        buf_addf(&words, ", %.0f%%", floor(100 * other + 1e-9));
    maker_bytes(maker, "State", buf_string(&words), words.len);
    if (job_outcome(job, &outcome) && job_outcome_tone(outcome) != TONE_PLAIN)
        maker_flag(maker, "Good", job_outcome_tone(outcome) == TONE_GOOD);
    buf_done(&words);
}

/* Adds the attributes that only JSON has. */
static void json_copy(struct maker *maker, const struct tree *job)
{
    static const char *const counts[] = {"FilesToStore", "FilesStored"};
    const struct expr *list = ad_find(job, "Stored");
    enum job_outcome outcome;
    double number;

    if (job_outcome(job, &outcome))
        maker_text(maker, "Outcome", job_outcome_word(outcome));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (job_number(job, counts[i], &number))
            maker_integer(maker, counts[i], (int64_t)number);
    if (job_number(job, "Progress", &number))
        maker_real(maker, "Progress", number);
    if (list) {
        struct tree *stored = ad_part(job, list);

        maker_ad(maker, "Stored", stored);
        tree_unref(stored);
    }
}

/* Adds how long the job's last try ran: until its end, or until it was held, or so far. */
static void run_time_add(struct maker *maker, const struct tree *job, int64_t now)
{
    bool held = job_text_is(job, "State", "Held"), over = job_is_over(job);
    double started, used, since, ended = (double)now;

    if (held && job_number(job, "Since", &since))
        ended -= since;
    if (job_number(job, "WallUsed", &used) && used > 0 && (held || over))
        maker_real(maker, "RunTime", used);
    else if (job_number(job, "Started", &started) && started > 0 && (!over || job_number(job, "Ended", &ended)))
        maker_real(maker, "RunTime", ended > started ? ended - started : 0);
}

struct tree *job_row(const struct tree *job, enum rows_form form, int64_t now)
{
    static const char *const copied[] = {"Job", "State", "Submitted", "Status", "Provider"};
    double used;
    struct arena arena;
    struct maker maker;
    struct buf command;

    arena_init(&arena);
    buf_init(&command);
    maker_init(&maker, job->symbols);
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
        const struct expr *value = ad_find(job, copied[i]);

        if (form != ROWS_JSON && !strcmp(copied[i], "State")) {
            job_standing_add(&maker, job);
            continue;
        }
        if (value && value->kind == EXPR_STRING)
            maker_bytes(&maker, copied[i], tree_string(job, value), value->u.run.count);
        else if (job_number(job, copied[i], &used))
            maker_integer(&maker, copied[i], (int64_t)used);
    }
    run_time_add(&maker, job, now);
    job_command(&command, job, &arena);
    maker_bytes(&maker, "Command", command.text ? command.text : "", command.len);
    if (form == ROWS_JSON)
        json_copy(&maker, job);
    buf_done(&command);
    arena_done(&arena);
    return maker_seal(&maker);
}

/* In a table, a job that waits for others, or for a time, says so where its machine would stand; one that is planned, where and when. Takes the row. */
static struct tree *row_waits(struct tree *row, const struct tree *job, int64_t now)
{
    struct tree *told = row;
    struct maker maker;
    struct buf words;
    const char *why;
    size_t len;

    buf_init(&words);
    if (job_text_is(job, "State", "Blocked") && ad_string(job, "Reason", &why, &len))
        buf_add(&words, why, len);
    else if (!job_waits_say(&words, job, now))
        job_plan_say(&words, job, now);
    if (words.len) {
        maker_init(&maker, row->symbols);
        maker_parts(&maker, row, "Provider");
        maker_bytes(&maker, "Provider", words.text, words.len);
        told = maker_seal(&maker);
        tree_unref(row);
    }
    buf_done(&words);
    return told;
}

bool job_waits_say(struct buf *out, const struct tree *job, int64_t now)
{
    int64_t until;

    if (!job_text_is(job, "State", "Waiting") || !ad_integer(job, "WaitsUntil", &until))
        return false;
    buf_adds(out, "waits until ");
    moment_say(out, until, now);
    return true;
}

bool job_plan_say(struct buf *out, const struct tree *job, int64_t now)
{
    const char *machine;
    int64_t start;
    size_t len;

    if (!job_text_is(job, "State", "Waiting") || !ad_integer(job, "PlannedStart", &start))
        return false;
    buf_adds(out, "planned for about ");
    moment_say(out, start, now);
    if (ad_string(job, "PlannedMachine", &machine, &len) && len) {
        buf_adds(out, " on ");
        buf_add(out, machine, len);
    }
    return true;
}

bool job_rows_add(void *user, struct tree *job)
{
    struct rows *rows = user;
    struct tree *row;
    bool more;

    if (rows->form >= ROWS_LONG || !rows->column_count)
        return rows_add(rows, job);
    row = job_row(job, rows->form, rows->now);
    if (rows->form == ROWS_TABLE)
        row = row_waits(row, job, rows->now);
    more = rows_add(rows, row);
    tree_unref(row);
    return more;
}

void jobs_count_print(struct buf *out, uint64_t count)
{
    buf_addf(out, "%" PRIu64 " job%s", count, count == 1 ? "" : "s");
}
