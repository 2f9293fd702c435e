/* job_list.c: berth jobs and berth history: the jobs that a customer has, and those that it used to have. */
#include "cli/ask/jobs.h"
#include "cli/ask/summary.h"
#include "cli/jobs/dag_parts.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"

#include <string.h>
#include <unistd.h>

struct jobs_settings {
    struct connection_options pool;
    const char *constraint, *format;
    uint64_t limit;
    bool json, long_form, watch;
};

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

static const struct option jobs_options[] = {
    {'w', "watch", NULL, "again and again, whenever something has changed, until all are over", option_flag,
     offsetof(S, watch)},
    LIST_ROWS,
};
static const struct option history_options[] = {LIST_ROWS};
#undef S

static const struct jobs_settings jobs_defaults = {0};

/* ---------------------------------------------------------------------------------------------------------------- lists */

/* A list, and the jobs in it whose requests no matchmaker takes: only those both wait and have a reason. */
struct job_rows {
    struct rows rows;
    unsigned refused;
    struct buf first; /* the number of the first refused job, and the reason */
    struct dag_progresses workflows;
};

static bool list_add(void *user, struct tree *job)
{
    struct job_rows *all = user;

    if (job_text_is(job, "State", "Waiting") && ad_find(job, "Reason")) {
        if (!all->refused++) {
            buf_adds(&all->first, "job ");
            cell_print(&all->first, job, "Job", CELL_VALUE, 0);
            buf_adds(&all->first, ": ");
            cell_print(&all->first, job, "Reason", CELL_VALUE, 0);
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

static void refused_print(struct job_rows *all)
{
    struct buf out;

    if (!all->refused || all->rows.form != ROWS_TABLE)
        return;
    buf_init(&out);
    buf_addf(&out, "%u of them cannot be matched: %s\n", all->refused, buf_string(&all->first));
    output_write(&out);
    buf_done(&out);
}

/* Prints the jobs with these numbers (NULL: all) that are there. */
static int list_print(struct connection *customer, const struct jobs_settings *settings, const char *from,
                      struct job_ids *ids, enum rows_form form, unsigned *ret_count)
{
    const char *select = form >= ROWS_LONG ? NULL : JOB_SELECT;
    struct job_rows all = {.refused = 0};
    struct buf path;
    int status;

    dag_progresses_init(&all.workflows);
    buf_init(&all.first);
    buf_init(&path);
    buf_adds(&path, from);
    path_query(&path, "constraint", settings->constraint);
    path_query(&path, "select", select);
    rows_init(&all.rows, form, job_columns, job_column_count(form));
    status = rows_set_format(&all.rows, customer->symbols, settings->format) < 0 ? STATUS_BAD : STATUS_DONE;
    if (status == STATUS_DONE)
        status = ids ? job_ids_list(customer, ids, select, list_add, &all)
                     : connection_list(customer, buf_string(&path), settings->limit, list_add, &all);
    if (all.rows.count || form != ROWS_TABLE)
        rows_finish(&all.rows);
    refused_print(&all);
    if (form == ROWS_TABLE && !settings->constraint && !settings->limit && !ids && !strcmp(from, "/v1/jobs"))
        workflows_print(&all.workflows); /* only when all jobs of each were listed */
    *ret_count = all.rows.count;
    rows_done(&all.rows);
    dag_progresses_done(&all.workflows);
    buf_done(&all.first);
    buf_done(&path);
    return status;
}

/* Prints the jobs once, and a line that counts them all. */
static int jobs_print(struct connection *customer, const struct jobs_settings *settings, struct job_ids *ids,
                      enum rows_form form, struct tree *summary)
{
    unsigned count = 0;
    int status = list_print(customer, settings, "/v1/jobs", ids, form, &count);

    if (status == STATUS_DONE && form == ROWS_TABLE && !settings->constraint && (count || !ids))
        summary_print(summary);
    if (status == STATUS_DONE && !count && (ids || settings->constraint)) {
        report("there is no such job");
        status = STATUS_NO;
    }
    return status;
}

static const char *ids_text(struct job_ids *ids)
{
    return ids ? buf_string(&ids->text) : NULL;
}

static int jobs_watch(struct connection *customer, const struct jobs_settings *settings, struct job_ids *ids)
{
    bool clears = isatty(STDOUT_FILENO), over = false;
    double after = 0;
    int status = STATUS_DONE;

    for (bool first = true; status == STATUS_DONE && !over; first = false) {
        struct tree *summary = NULL;
        double before = after;
        struct buf out;

        status = summary_fetch(customer, ids_text(ids), after, first ? 0 : JOBS_WAIT, &summary);
        if (status == STATUS_DONE) {
            after = summary_number(summary, "Changes");
            over = summary_is_over(summary);
        }
        if (status == STATUS_DONE && (first || after != before)) {
            buf_init(&out);
            buf_adds(&out, clears ? "\033[H\033[2J" : first ? "" : "\n");
            output_write(&out);
            buf_done(&out);
            status = jobs_print(customer, settings, ids, ROWS_TABLE, summary);
            if (output_flush() < 0)
                over = true;
        }
        tree_unref(summary);
        if (status == STATUS_DONE && !over)
            usleep(200000); /* when much changes, not all of it is shown */
    }
    return status;
}

static int jobs_ask(const struct jobs_settings *settings, struct job_ids *ids, enum rows_form form)
{
    struct tree *summary = NULL;
    struct connection customer;
    int status = customer_open(&customer, &settings->pool);

    if (status == STATUS_DONE && settings->watch) {
        status = jobs_watch(&customer, settings, ids);
    } else if (status == STATUS_DONE) {
        if (form == ROWS_TABLE)
            status = summary_fetch(&customer, ids_text(ids), 0, 0, &summary);
        if (status == STATUS_DONE)
            status = jobs_print(&customer, settings, ids, form, summary);
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
    if (word_count && (settings->constraint || settings->limit)) {
        report("jobs wants job numbers, or --constraint and --limit, not both");
        return STATUS_BAD;
    }
    if (job_ids_read(&ids, word_count, words) == 0 && job_ids_fit(&ids) == 0)
        status = jobs_ask(settings, ids.count ? &ids : NULL, form);
    job_ids_done(&ids);
    return status;
}

const struct command command_jobs = {
    .name = "jobs",
    .summary = "list the jobs that were submitted, and what they are doing",
    .usage = "[OPTIONS] [ID...]",
    .about =
        "Prints a row a job: its number, its state, how long ago it was submitted, how long it has run, on which machine, and "
        "what it runs; then a line that counts them. With numbers (5, 5-20, 5,7,9), those alone. Jobs whose results have been "
        "fetched are in `berth history`.\n"
        "\n"
        "The states: Waiting (in the queue), Ready (matched, and being claimed), Scheduled (its files are on their way), "
        "Running, Held (waits for its user), Blocked (waits for other jobs of its workflow). Of a job that is over, how it ended: "
        "Succeeded, Failed (exit 3), Out of memory, Out of time, Out of disk, Killed (signal 9), Removed, Expired (waited longer "
        "than its QueueLimit). JSON has the state (Done, Cleared, Aborted or Cancelled, then) and the outcome. Of each workflow a line says how far it is; `berth dag` tells "
        "more. Of a job with OutputData the state says how many of those files are in stores.\n"
        "\n"
        "Commands about jobs ask the customer that has them: that of --customer URL, else of $BERTH_CUSTOMER, else the one that "
        "runs with the same state folder on this machine, which is asked by its Unix socket and needs no token. The status is "
        "1 when there is no such job, 3 when no customer could be reached.",
    .examples = {{"berth jobs", NULL},
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
    struct connection customer;
    unsigned count = 0;
    int status;

    (void)words;
    if (word_count) {
        report("history takes no arguments, only options");
        return STATUS_BAD;
    }
    if (rows_form_of(settings->json, settings->long_form, settings->format, &form) < 0)
        return STATUS_BAD;
    status = customer_open(&customer, &settings->pool);
    if (status == STATUS_DONE)
        status = list_print(&customer, settings, "/v1/history", NULL, form, &count);
    if (status == STATUS_DONE && !count && settings->constraint)
        status = STATUS_NO;
    connection_close(&customer);
    return status;
}

const struct command command_history = {
    .name = "history",
    .summary = "list the jobs that are over and done with",
    .usage = "[OPTIONS]",
    .about = "Prints the jobs that the customer no longer has in its queue, the newest first, as `berth jobs` does.",
    .examples = {{"berth history -n 20", NULL}, {"berth history -c 'Outcome != \"Succeeded\"'", NULL}},
    .options = history_options,
    .option_count = sizeof history_options / sizeof *history_options,
    .settings_size = sizeof(struct jobs_settings),
    .defaults = &jobs_defaults,
    .run = history_run,
};
