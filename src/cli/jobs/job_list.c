/* job_list.c: berth jobs and berth history: the jobs that a customer has, and those that it used to have. */
#include "cli/ask/history_swf.h"
#include "cli/ask/jobs.h"
#include "cli/ask/summary.h"
#include "cli/jobs/dag_parts.h"
#include "cli/jobs/job_list_parts.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define S struct jobs_settings
#define LIST_ROWS                                                                                                     \
    {'c', "constraint", "EXPR", "only those for which it is true", option_text, offsetof(S, constraint)},             \
        {'n', "limit", "N", "so many at most; all if not given", option_limit, offsetof(S, limit)},                   \
        {0, "json", NULL, "JSON lines: an object a row; times and spans in seconds", option_flag, offsetof(S, json)}, \
        {0, "long", NULL, "all that is known of each, as ads in the long form", option_flag, offsetof(S, long_form)}, \
        {0,           "format",                                                                                       \
         "WORDS",     "of each a line with the values of these attributes or expressions: \"Job State\"",             \
         option_text, offsetof(S, format)},                                                                           \
        CUSTOMER_OPTION_ROWS(S)

static const char *const states[] = {"Waiting", "Blocked", "Ready", "Scheduled", "Running", "Held", "Done"};

static int option_state(const char *text, void *target, struct err *err)
{
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (!strcasecmp(text, states[i])) {
            *(const char **)target = states[i];
            return 0;
        }
    return err_set(err, "expected Waiting, Blocked, Ready, Scheduled, Running, Held or Done, got '%.60s'", text);
}

static const struct option jobs_options[] = {
    {'a', "all", NULL, "a row a job, also of those that were submitted together", option_flag, offsetof(S, all)},
    {0, "only", "STATE", "a row for each job in this state: Waiting, Running, Held, ...", option_state,
     offsetof(S, state)},
    {0, "submissions", NULL, "a row a submission, also of those with one job", option_flag, offsetof(S, submissions)},
    {0, "word", NULL, "of one job a word, for programs: running (also while it waits), success or failed", option_flag,
     offsetof(S, word)},
    {'w', "watch", NULL, "again and again, whenever something has changed, until all are over", option_flag,
     offsetof(S, watch)},
    LIST_ROWS,
};
static const struct option history_options[] = {
    {0, "swf", NULL,
     "in the Standard Workload Format: a line of eighteen numbers a job, those submitted first at the front",
     option_flag, offsetof(S, swf)},
    LIST_ROWS,
};
#undef S

static const struct jobs_settings jobs_defaults = {0};

/* ---------------------------------------------------------------------------------------------------------------- lists */

unsigned room_take(struct list_room *room, uint64_t count, size_t kept)
{
    size_t lines = room->lines > kept ? room->lines - kept : 0;

    if (!room->limited || !count)
        return 0;
    if (count < lines) {
        room->lines -= (size_t)count + 1;
        return (unsigned)count;
    }
    room->lines = room->lines > kept ? kept : room->lines;
    return lines > 3 ? (unsigned)lines - 2 : 1; /* beside the heading, a line says how many more there are */
}

void room_tell(const struct rows *rows, const char *what)
{
    struct buf out;

    if (!rows->most || rows->count <= rows->most)
        return;
    buf_init(&out);
    buf_addf(&out, "... and %u more %s\n", rows->count - rows->most, what);
    output_write(&out);
    buf_done(&out);
}

/* A list, and the jobs in it whose requests no matchmaker takes: only those both wait and have a reason. */
struct job_rows {
    struct rows rows;
    struct refusals *refusals;
    struct dag_progresses workflows;
    bool only_over; /* those of the history alone, by their numbers */
};

static bool list_add(void *user, struct tree *job)
{
    struct job_rows *all = user;

    if (all->only_over && !job_is_over(job))
        return true;
    if (job_text_is(job, "State", "Waiting") && ad_find(job, "Reason")) {
        if (!all->refusals->count++) {
            buf_adds(&all->refusals->first, "job ");
            cell_print(&all->refusals->first, job, "Job", CELL_VALUE, 0);
            buf_adds(&all->refusals->first, ": ");
            cell_print(&all->refusals->first, job, "Reason", CELL_VALUE, 0);
        }
    }
    dag_progresses_add(&all->workflows, job);
    return job_rows_add(&all->rows, job);
}

/* Prints how far each workflow is, a line each. */
static void workflows_print(const struct dag_progresses *workflows)
{
    struct buf out;

    buf_init(&out);
    for (uint32_t i = 0; i < workflows->count; i++)
        dag_progress_print(&out, &workflows->items[i]);
    output_write(&out);
    buf_done(&out);
}

static void refusals_print(struct refusals *refusals)
{
    struct buf out;

    if (!refusals->count)
        return;
    buf_init(&out);
    buf_addf(&out, "%" PRIu64 " of them cannot be matched%s: %s\n", refusals->count,
             strstr(buf_string(&refusals->first), ": waits ") ? " now" : "", buf_string(&refusals->first));
    output_write(&out);
    buf_done(&out);
}

/* Appends what is asked for: the constraint, the state. */
static void constraint_query(struct buf *path, const struct jobs_settings *settings)
{
    struct buf both;

    buf_init(&both);
    if (settings->state)
        buf_addf(&both, "State == \"%s\"", settings->state);
    if (settings->constraint)
        buf_addf(&both, "%s(%s)", both.len ? " && " : "", settings->constraint);
    path_query(path, "constraint", settings->state ? buf_string(&both) : settings->constraint);
    buf_done(&both);
}

int list_print(struct connection *customer, const struct jobs_settings *settings, const char *from, struct job_ids *ids,
               enum rows_form form, struct list_room *room, struct refusals *refusals, unsigned *ret_count)
{
    const char *select = form >= ROWS_LONG ? NULL : JOB_SELECT;
    struct job_rows all = {.refusals = refusals, .only_over = ids && !strcmp(from, "/v1/history")};
    struct buf path;
    int status;

    dag_progresses_init(&all.workflows);
    buf_init(&path);
    buf_adds(&path, from);
    constraint_query(&path, settings);
    path_query(&path, "select", select);
    rows_init(&all.rows, form, job_columns, job_column_count(form));
    all.rows.most = room_take(room, UINT32_MAX, 0);
    status = rows_set_format(&all.rows, customer->symbols, settings->format) < 0 ? STATUS_BAD : STATUS_DONE;
    if (status == STATUS_DONE)
        status = ids ? job_ids_list(customer, ids, select, list_add, &all)
                     : connection_list(customer, buf_string(&path), settings->limit, list_add, &all);
    if (all.rows.count || form != ROWS_TABLE)
        rows_finish(&all.rows);
    room_tell(&all.rows, "jobs");
    if (form == ROWS_TABLE && !settings->constraint && !settings->state && !settings->limit && !ids &&
        !strcmp(from, "/v1/jobs"))
        workflows_print(&all.workflows); /* only when all jobs of each were listed */
    *ret_count = all.rows.count;
    rows_done(&all.rows);
    dag_progresses_done(&all.workflows);
    buf_done(&path);
    return status;
}

int jobs_print(struct connection *customer, const struct jobs_settings *settings, struct job_ids *ids,
               enum rows_form form, struct list_room *room, struct tree *summary)
{
    bool chosen = settings->constraint || settings->state;
    struct refusals refusals = {0};
    int status = STATUS_NO;
    unsigned count = 1;

    buf_init(&refusals.first);
    if (form == ROWS_TABLE && !ids && !chosen && !settings->limit && !settings->all)
        status = submissions_print(customer, settings, room, &refusals);
    if (status == STATUS_NO)
        status = list_print(customer, settings, "/v1/jobs", ids, form, room, &refusals, &count);
    if (form == ROWS_TABLE)
        refusals_print(&refusals);
    if (status == STATUS_DONE && form == ROWS_TABLE && !chosen && (count || !ids))
        summary_print(summary);
    if (status == STATUS_DONE && !count && (ids || chosen)) {
        report("there is no such job");
        status = STATUS_NO;
    }
    buf_done(&refusals.first);
    return status;
}

static bool job_keep(void *user, struct tree *job)
{
    struct tree **ret = user;

    tree_unref(*ret);
    *ret = tree_ref(job);
    return true;
}

/* Prints how one job stands in a word. A job is over only when all that it made is here: when it has left the queue, or waits there for
 * its workflow alone. Nobody waits for what a removed one has made. */
static int word_print(const struct jobs_settings *settings, const struct job_ids *ids)
{
    struct tree *job = NULL;
    struct connection customer;
    struct buf path;
    bool over;
    int status = customer_open(&customer, &settings->pool);

    buf_init(&path);
    buf_adds(&path, "/v1/jobs");
    path_query(&path, "ids", buf_string((struct buf *)(uintptr_t)&ids->text));
    if (status == STATUS_DONE)
        status = connection_list(&customer, buf_string(&path), 1, job_keep, &job);
    over = !job || (job_is_over(job) && (ad_find(job, "Workflow") || !job_text_is(job, "State", "Done")));
    if (status == STATUS_DONE && !job)
        status = job_fetch(&customer, ids->ranges[0].first, &job);
    if (status == STATUS_DONE && job_text_is(job, "State", "Held"))
        report("job %" PRIu64 " is held: it waits for you (`berth job`)", ids->ranges[0].first);
    if (status == STATUS_DONE)
        puts(!over ? "running" : job_is_good(job) ? "success" : "failed");
    tree_unref(job);
    buf_done(&path);
    connection_close(&customer);
    return status;
}

static int jobs_ask(const struct jobs_settings *settings, struct job_ids *ids, enum rows_form form)
{
    struct tree *summary = NULL;
    struct connection customer;
    int status = customer_open(&customer, &settings->pool);

    if (status == STATUS_DONE && settings->watch) {
        status = jobs_watch(&customer, settings, ids);
    } else if (status == STATUS_DONE && settings->submissions) {
        status = submissions_list(&customer, settings, form);
    } else if (status == STATUS_DONE) {
        struct list_room room = {.limited = false};

        if (form == ROWS_TABLE)
            status = summary_fetch(&customer, ids ? buf_string(&ids->text) : NULL, 0, 0, &summary);
        if (status == STATUS_DONE)
            status = jobs_print(&customer, settings, ids, form, &room, summary);
        tree_unref(summary);
    }
    connection_close(&customer);
    return status;
}

static int jobs_run(const void *given, int word_count, char **words)
{
    const struct jobs_settings *settings = given;
    int status = STATUS_BAD;
    enum rows_form form;
    struct job_ids ids;

    if (rows_form_of(settings->json, settings->long_form, settings->format, &form) < 0)
        return STATUS_BAD;
    if (settings->watch && form != ROWS_TABLE) {
        report("--watch shows a table: %s not go with it", settings->format ? "--format does" : "--json and --long do");
        return STATUS_BAD;
    }
    if (word_count && (settings->constraint || settings->state || settings->limit)) {
        report("jobs wants job numbers, or --constraint%s and --limit, not both", settings->state ? ", --only" : "");
        return STATUS_BAD;
    }
    if (settings->submissions && (word_count || settings->constraint || settings->state || settings->limit ||
                                  settings->all || settings->watch)) {
        report("--submissions lists all of them: job numbers and other options that choose jobs do not go with it");
        return STATUS_BAD;
    }
    if (job_ids_read(&ids, word_count, words) < 0 || job_ids_fit(&ids) < 0)
        status = STATUS_BAD;
    else if (settings->word && (job_ids_count(&ids) != 1 || form != ROWS_TABLE || settings->watch))
        report("--word wants the number of one job, and no other form");
    else if (settings->word)
        status = word_print(settings, &ids);
    else
        status = jobs_ask(settings, ids.count ? &ids : NULL, form);
    job_ids_done(&ids);
    return status;
}

const struct command command_jobs = {
    .name = "jobs",
    .summary = "list the jobs that were submitted, and what they are doing",
    .usage = "[OPTIONS] [ID...]",
    .about =
        "Prints a row a submission with several jobs: their numbers, how many of them stand how (those in the history are counted), a bar, about "
        "how long the rest will take, and what the first of them runs. Then a row for each job that was submitted alone: its number, its state, how long ago it was submitted, how long it has run, "
        "on which machine, and what it runs; then a line that counts the jobs. With --all there is a row for every job, with --only STATE or --constraint for those, and with numbers (5, 5-20, 5,7,9) for those alone. "
        "Jobs whose results have been fetched are in `berth history`.\n"
        "\n"
        "--json has an object a job, whatever was submitted together; with --submissions one a submission: id (its first job), jobs, waiting, running, held, succeeded, failed, removed, started, and "
        "estimate, the seconds that are left. On a terminal the widest columns are cut so that a line fits; --watch shows as many rows as there is room for, and ends when all jobs are over.\n"
        "\n"
        "--word prints one word for programs that wait for a job: running, also while it waits, is held or its files are on their way; success, when all that it made is here; or failed.\n"
        "\n"
        "The states: Waiting (in the queue), Ready (matched, and being claimed), Scheduled (its files are on their way), "
        "Running, Suspended (Running in JSON: it stands still, as its user wants), Held (waits for its user), Blocked (waits for other jobs of its workflow). Of a job that is over, how it ended: "
        "Succeeded, Failed (exit 3), Out of memory, Out of time, Out of disk, Killed (signal 9), Removed, Expired (waited longer "
        "than its QueueLimit, or until its FinishBy). JSON has the state (Done, Cleared, Aborted or Cancelled, then) and the outcome. Of each workflow a line says how far it is; `berth dag` tells "
        "more. Of a job with OutputData the state says how many of those files are in stores.\n"
        "\n"
        "Commands about jobs ask the customer that has them: that of --customer URL, else of $BERTH_CUSTOMER, else the one that "
        "runs with the same state folder on this machine, which is asked by its Unix socket and needs no token. The status is "
        "1 when there is no such job, 3 when no customer could be reached.",
    .examples = {{"berth jobs", NULL},
                 {"berth jobs --only held", NULL},
                 {"berth jobs 5-20 --watch", NULL},
                 {"berth jobs -c 'State == \"Held\"' --json", NULL}},
    .options = jobs_options,
    .option_count = sizeof jobs_options / sizeof *jobs_options,
    .settings_size = sizeof(struct jobs_settings),
    .defaults = &jobs_defaults,
    .run = jobs_run,
};

static int history_run(const void *given, int word_count, char **words)
{
    const struct jobs_settings *settings = given;
    enum rows_form form;
    struct list_room room = {.limited = false};
    struct refusals refusals = {0};
    struct connection customer;
    unsigned count = 0;
    struct job_ids ids;
    int status;

    if (word_count && (settings->constraint || settings->limit || settings->swf)) {
        report("history wants job numbers, or --constraint, --limit and --swf, not both");
        return STATUS_BAD;
    }
    if (rows_form_of(settings->json, settings->long_form, settings->format, &form) < 0)
        return STATUS_BAD;
    if (settings->swf && form != ROWS_TABLE) {
        report("--swf goes with no other form");
        return STATUS_BAD;
    }
    if (job_ids_read(&ids, word_count, words) < 0 || job_ids_fit(&ids) < 0) {
        job_ids_done(&ids);
        return STATUS_BAD;
    }
    buf_init(&refusals.first);
    status = customer_open(&customer, &settings->pool);
    count = settings->swf;
    if (status == STATUS_DONE && settings->swf)
        status = history_swf(&customer, settings->constraint, settings->limit);
    else if (status == STATUS_DONE)
        status =
            list_print(&customer, settings, "/v1/history", ids.count ? &ids : NULL, form, &room, &refusals, &count);
    buf_done(&refusals.first);
    if (status == STATUS_DONE && !count && ids.count)
        report("there is no such job that is over");
    if (status == STATUS_DONE && !count && (settings->constraint || ids.count))
        status = STATUS_NO;
    job_ids_done(&ids);
    connection_close(&customer);
    return status;
}

const struct command command_history = {
    .name = "history",
    .summary = "list the jobs that are over and done with",
    .usage = "[OPTIONS] [ID...]",
    .about =
        "Prints the jobs that the customer no longer has in its queue, the newest first, as `berth jobs` does. With numbers (5, 5-20) it prints those of them that are over, also while "
        "they are still in the queue. With --swf they are "
        "lines of the Standard Workload Format, for tools that study or simulate batch systems, as `berth sim --trace` does.",
    .examples = {{"berth history -n 20", NULL},
                 {"berth history 5-20", NULL},
                 {"berth history -c 'Outcome != \"Succeeded\"'", NULL}},
    .options = history_options,
    .option_count = sizeof history_options / sizeof *history_options,
    .settings_size = sizeof(struct jobs_settings),
    .defaults = &jobs_defaults,
    .run = history_run,
};
