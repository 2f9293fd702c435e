/* dag.c: berth dag: submits, shows, rescues and removes workflows. */
#include "cli/jobs/dag_parts.h"
#include "cli/jobs/job_control.h"

#include "cli/jobs/secrets.h"
#include "cli/jobs/submission.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/nearest.h"
#include "lang/base/textmap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODE_SELECT OUTCOME_SELECT ",Node,Provider,Message,Workflow,Dag,Submitted,CarriesDag,DAGManJobId"

#define S struct dag_settings
static const struct option dag_options[] = {
    {'k', "key", "KEY", "submit: the same key and the same workflow again are the same submission", submission_key,
     offsetof(S, key)},
    {'f', "force", NULL, "submit: also what matches no machine of the pool", option_flag, offsetof(S, force)},
    {'n', "dry-run", NULL, "submit: print the ads of the nodes as they would be sent, and send nothing", option_flag,
     offsetof(S, dry_run)},
    {0, "secret", "NAME=FILE", "submit: a secret that the jobs read at $BERTH_SECRETS/NAME, as with berth submit",
     option_secret, offsetof(S, secrets)},
    {0, "cwd", "FOLDER", "submit: the folder from which files are named; if not given, that of FILE", option_file,
     offsetof(S, cwd)},
    {'o', "file", "FILE", "rescue: nothing runs again; what is done is written there, for another submission",
     option_file, offsetof(S, file)},
    {0, "why", "TEXT", "rm: the reason, which is written into the jobs' logs", option_text, offsetof(S, why)},
    {0, "json", NULL, "JSON lines: an object a workflow, a node, or an answer", option_flag, offsetof(S, json)},
    {0, "long", NULL, "status: all that is known of each job, as ads in the long form", option_flag,
     offsetof(S, long_form)},
    {0, "format", "WORDS", "status: of each job a line with the values of these attributes or expressions", option_text,
     offsetof(S, format)},
    {0, "maxjobs", "N", "submit: so many nodes have their jobs queued at once", option_limit, offsetof(S, most_jobs)},
    {0, "maxidle", "N", "submit: no more are submitted while so many jobs wait for machines; if not given, 1000",
     option_limit, offsetof(S, most_idle)},
    {0, "maxpre", "N", "submit: so many PRE scripts run at once", option_limit, offsetof(S, most_pre)},
    {0, "maxpost", "N", "submit: so many POST scripts run at once", option_limit, offsetof(S, most_post)},
    {0, "batch-name", "NAME", "submit: what the workflow is called in lists, if it is carried out on the submit host",
     option_text, offsetof(S, batch_name)},
    {0, "beside", NULL, "submit: carried out on the submit host, beside its file, also if nothing in it asks for that",
     option_flag, offsetof(S, beside)},
    {0, "anew", NULL, "submit: from the beginning; rescue files beside the workflow's are put aside", option_flag,
     offsetof(S, anew)},
    {0, "no-rescue", NULL, "submit: rescue files beside the workflow's are not looked at", option_flag,
     offsetof(S, no_rescue)},
    {0, "rescue-from", "N", "submit: from the rescue file with that number; if not given, from the last", option_limit,
     offsetof(S, rescue_from)},
    {0, "run", "NAME", "run: the name of the run; under the same name it goes on where it was", option_text,
     offsetof(S, run_name)},
    CUSTOMER_OPTION_ROW(S),
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct dag_settings dag_defaults = {0};

/* --------------------------------------------------------------------------------------------------------------- asking */

static void constraint_of(uint64_t workflow, char ret[64])
{
    snprintf(ret, 64, "Workflow == %" PRIu64, workflow);
}

/* The jobs of a workflow: those in the queue, and when the workflow is over, those in the history. */
struct jobs {
    struct map seen; /* numbers of the jobs so far */
    struct tree **ads;
    size_t count, room;
    bool open; /* a job is left that has neither ended well nor been removed: then all are in the queue */
};

static bool job_add(void *user, struct tree *job)
{
    struct jobs *jobs = user;
    int64_t id = 0;

    if (!ad_integer(job, "Job", &id) || map_find(&jobs->seen, (uint64_t)id) != MAP_NONE)
        return true;
    map_set(&jobs->seen, (uint64_t)id, 1);
    ARRAY_ROOM(jobs->ads, jobs->count, jobs->room, 64);
    jobs->ads[jobs->count++] = tree_ref(job);
    jobs->open =
        jobs->open || !(job_is_good(job) || job_text_is(job, "State", "Cancelled") || ad_find(job, "CarriesDag") ||
                        ad_find(job, "DAGManJobId")); /* those are in the queue only as long as they are under way */
    return true;
}

static int job_order(const void *a, const void *b)
{
    int64_t x = 0, y = 0;

    ad_integer(*(struct tree *const *)a, "Job", &x);
    ad_integer(*(struct tree *const *)b, "Job", &y);
    return (x > y) - (x < y);
}

static int jobs_list(struct connection *customer, uint64_t workflow, const char *from, const char *select,
                     struct jobs *jobs)
{
    char constraint[64];
    struct buf path;
    int status;

    constraint_of(workflow, constraint);
    buf_init(&path);
    buf_adds(&path, from);
    path_query(&path, "constraint", constraint);
    path_query(&path, "select", select);
    status = connection_list(customer, buf_string(&path), 0, job_add, jobs);
    buf_done(&path);
    return status;
}

static int jobs_of(struct connection *customer, uint64_t workflow, const char *select, connection_ad_fn *each,
                   void *user)
{
    struct jobs jobs = {.count = 0};
    int status;

    map_init(&jobs.seen, 0);
    status = jobs_list(customer, workflow, "/v1/jobs", select, &jobs);
    if (status == STATUS_DONE && !jobs.open)
        status = jobs_list(customer, workflow, "/v1/history", select, &jobs);
    if (status == STATUS_DONE && !jobs.count) {
        report("there is no workflow %" PRIu64, workflow);
        status = STATUS_NO;
    }
    if (jobs.count)
        qsort(jobs.ads, jobs.count, sizeof *jobs.ads, job_order);
    for (size_t i = 0; i < jobs.count; i++) {
        each(user, jobs.ads[i]);
        tree_unref(jobs.ads[i]);
    }
    free(jobs.ads);
    map_done(&jobs.seen);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------------- list */

static bool progress_add(void *user, struct tree *row)
{
    rows_add(user, row);
    return true;
}

static int dag_list(const struct dag_settings *settings, struct connection *customer, enum rows_form form)
{
    static const struct table_column columns[] = {
        {"id", "Workflow", CELL_VALUE},     {"submitted", "Submitted", CELL_SINCE},
        {"jobs", "Jobs", CELL_VALUE},       {"done", "Done", CELL_VALUE},
        {"running", "Running", CELL_VALUE}, {"waiting", "Waiting", CELL_VALUE},
        {"blocked", "Blocked", CELL_VALUE}, {"failed", "Failed", CELL_VALUE},
        {"held", "Held", CELL_VALUE},       {"removed", "Removed", CELL_VALUE},
        {"name", "Dag", CELL_VALUE},
    };
    struct rows rows;
    int status;

    rows_init(&rows, form, columns, sizeof columns / sizeof *columns);
    status = rows_set_format(&rows, customer->symbols, settings->format) < 0 ? STATUS_BAD : STATUS_DONE;
    if (status == STATUS_DONE)
        status = connection_list(customer, "/v1/workflows", 0, progress_add, &rows);
    if (status == STATUS_DONE && (rows.count || form != ROWS_TABLE))
        rows_finish(&rows);
    else if (status == STATUS_DONE)
        report("no workflow is under way; `berth history -c 'Workflow > 0'` shows those that are over");
    rows_done(&rows);
    return status;
}

/* --------------------------------------------------------------------------------------------------------------- status */

struct showing {
    struct rows rows;
    struct dag_progresses all;
    unsigned count;
};

/* Says why a node stands where it does: what it said of itself, or how it ended, or what it waits for. */
static void why_print(struct buf *out, const struct tree *job)
{
    double status = 0;

    if (job_is_good(job))
        return;
    if (job_is_over(job) && ad_find(job, "Message"))
        cell_print(out, job, "Message", CELL_VALUE, 0);
    else if (job_number(job, "Status", &status) && status > 0)
        buf_addf(out, "ended with status %.0f", status);
    else if (status < 0)
        buf_addf(out, "ended by signal %.0f", -status);
    else
        cell_print(out, job, "Reason", CELL_VALUE, 0);
}

static bool node_add(void *user, struct tree *job)
{
    struct showing *showing = user;
    struct maker maker;
    struct tree *row;
    struct buf why;
    bool more;

    showing->count++;
    dag_progresses_add(&showing->all, job);
    if (showing->rows.form >= ROWS_LONG)
        return rows_add(&showing->rows, job);
    buf_init(&why);
    why_print(&why, job);
    maker_init(&maker, job->symbols);
    maker_parts(&maker, job, showing->rows.form == ROWS_TABLE ? "State" : NULL);
    if (showing->rows.form == ROWS_TABLE)
        job_standing_add(&maker, job);
    maker_text(&maker, "Why", why.len ? buf_string(&why) : NULL);
    row = maker_seal(&maker);
    more = rows_add(&showing->rows, row);
    tree_unref(row);
    buf_done(&why);
    return more;
}

static int dag_status(const struct dag_settings *settings, struct connection *customer, enum rows_form form,
                      uint64_t workflow)
{
    static const struct table_column columns[] = {
        {"node", "Node", CELL_VALUE},     {"id", "Job", CELL_VALUE},         {"state", "State", CELL_TONED},
        {"status", "Status", CELL_VALUE}, {"where", "Provider", CELL_VALUE}, {"why", "Why", CELL_VALUE},
    };
    struct showing showing = {.count = 0};
    struct buf out;
    int status;

    dag_progresses_init(&showing.all);
    rows_init(&showing.rows, form, columns, sizeof columns / sizeof *columns);
    status = rows_set_format(&showing.rows, customer->symbols, settings->format) < 0 ? STATUS_BAD : STATUS_DONE;
    if (status == STATUS_DONE)
        status = jobs_of(customer, workflow, form >= ROWS_LONG ? NULL : NODE_SELECT, node_add, &showing);
    if (showing.count || form != ROWS_TABLE)
        rows_finish(&showing.rows);
    buf_init(&out);
    for (uint32_t i = 0; status == STATUS_DONE && form == ROWS_TABLE && i < showing.all.count; i++)
        dag_progress_print(&out, &showing.all.items[i]);
    output_write(&out);
    buf_done(&out);
    rows_done(&showing.rows);
    dag_progresses_done(&showing.all);
    return status;
}

/* --------------------------------------------------------------------------------------------------------------- rescue */

/* Nodes by name, and for each how many of its jobs are not done. */
struct rescuing {
    struct textmap names;
    uint64_t *left;
    uint32_t room;
};

static bool rescue_add(void *user, struct tree *job)
{
    struct rescuing *rescuing = user;
    uint32_t known = rescuing->names.places, place;
    const char *name;
    size_t len;

    if (!ad_string(job, "Node", &name, &len))
        return true;
    place = textmap_add(&rescuing->names, name, len);
    ARRAY_ROOM(rescuing->left, place, rescuing->room, 64);
    if (place == known)
        rescuing->left[place] = 0;
    rescuing->left[place] += !job_is_good(job);
    return true;
}

static void rescue_print(const struct rescuing *rescuing, uint64_t workflow, struct buf *out)
{
    buf_addf(out,
             "# What is done of workflow %" PRIu64 ". Submitted behind the file of the workflow, the rest is run:\n"
             "#     berth dag submit WORKFLOW THIS\n",
             workflow);
    for (uint32_t i = 0; i < rescuing->names.places; i++)
        buf_addf(out, "%s %s\n", rescuing->left[i] ? "# not done:" : "DONE", textmap_text(&rescuing->names, i));
}

/* Writes a new file, whole or not at all, or to standard output for "-". A file that is there already is not overwritten. */
static int text_write(const char *file, const struct buf *text)
{
    FILE *to = strcmp(file, "-") ? fopen(file, "wxe") : stdout;
    bool good = to && fwrite(text->text, 1, text->len, to) == text->len && fflush(to) == 0;
    int why = errno;

    if (to && to != stdout && fclose(to) != 0 && good) {
        good = false;
        why = errno;
    }
    if (to && to != stdout && !good)
        unlink(file);
    if (!good)
        report("%s: %s", file, strerror(why));
    return good ? STATUS_DONE : STATUS_BAD;
}

static int rescue_file(const struct dag_settings *settings, struct connection *customer, uint64_t workflow)
{
    struct rescuing rescuing = {.room = 0};
    struct buf out;
    int status;

    textmap_init(&rescuing.names, 0);
    buf_init(&out);
    status = jobs_of(customer, workflow, NODE_SELECT, rescue_add, &rescuing);
    if (status == STATUS_DONE) {
        rescue_print(&rescuing, workflow, &out);
        status = text_write(settings->file, &out);
    }
    buf_done(&out);
    free(rescuing.left);
    textmap_done(&rescuing.names);
    return status;
}

static int changed_tell(const struct dag_settings *settings, uint64_t changed, uint64_t workflow, const char *one,
                        const char *many)
{
    struct buf out;

    if (!changed && !settings->json) {
        report("workflow %" PRIu64 " has no job that can be %s; `berth dag` lists the workflows", workflow,
               !strcmp(many, "removed") ? "removed" : "rescued");
        return STATUS_NO;
    }
    buf_init(&out);
    if (settings->json) {
        buf_addf(&out, "{\"workflow\": %" PRIu64 ", \"changed\": %" PRIu64 "}\n", workflow, changed);
    } else {
        jobs_count_print(&out, changed);
        buf_addf(&out, " of workflow %" PRIu64 " %s\n", workflow, changed == 1 ? one : many);
    }
    output_write(&out);
    buf_done(&out);
    return changed ? STATUS_DONE : STATUS_NO;
}

static int dag_control(const struct dag_settings *settings, struct connection *customer, const char *verb,
                       const char *one, const char *many, uint64_t workflow)
{
    struct jobs_order order = {.verb = verb, .why = settings->why};
    struct jobs_changed sums;
    char constraint[64];
    int status;

    constraint_of(workflow, constraint);
    order.constraint = constraint;
    status = jobs_control(customer, &order, &sums);
    return status == STATUS_DONE ? changed_tell(settings, sums.changed, workflow, one, many) : status;
}

/* ---------------------------------------------------------------------------------------------------------- the command */

static int verb_run(const struct dag_settings *settings, const char *verb, enum rows_form form, uint64_t workflow)
{
    struct connection customer;
    int status = customer_open(&customer, &settings->pool);

    if (status == STATUS_DONE && !verb)
        status = dag_list(settings, &customer, form);
    else if (status == STATUS_DONE && !strcmp(verb, "status"))
        status = dag_status(settings, &customer, form, workflow);
    else if (status == STATUS_DONE && !strcmp(verb, "rescue") && settings->file)
        status = rescue_file(settings, &customer, workflow);
    else if (status == STATUS_DONE && !strcmp(verb, "rescue"))
        status = dag_control(settings, &customer, "rescue", "waits again", "wait again", workflow);
    else if (status == STATUS_DONE)
        status = dag_control(settings, &customer, "remove", "removed", "removed", workflow);
    connection_close(&customer);
    return status;
}

static int dag_run(const void *given, int word_count, char **words)
{
    static const char *const verbs[] = {"submit", "status", "rescue", "rm", "run"};
    const struct dag_settings *settings = given;
    enum rows_form form;
    uint64_t workflow;
    size_t verb = 0;

    if (rows_form_of(settings->json, settings->long_form, settings->format, &form) < 0)
        return STATUS_BAD;
    if (!word_count)
        return verb_run(settings, NULL, form, 0);
    while (verb < 5 && strcmp(verbs[verb], words[0]) != 0)
        verb++;
    if (verb == 4)
        return dag_carry(settings, word_count - 1, words + 1);
    if (verb == 5) {
        report("dag: there is no command '%.60s'; the commands are submit, status, rescue and rm", words[0]);
        return STATUS_BAD;
    }
    if (verb == 0)
        return dag_submit(settings, word_count - 1, words + 1);
    if (word_count != 2 || !job_id_is(words[1])) {
        report("dag %s wants the number of one workflow", verbs[verb]);
        return STATUS_BAD;
    }
    workflow = strtoull(words[1], NULL, 10);
    return verb_run(settings, verbs[verb], form, workflow);
}

const struct command command_dag = {
    .name = "dag",
    .summary = "workflows: jobs that wait for each other",
    .usage =
        "[--json]\nsubmit [OPTIONS] FILE...\nstatus [OPTIONS] ID\nrescue [--file FILE] ID\nrm [--why TEXT] ID\nrun [OPTIONS] FILE...",
    .about =
        "A workflow is a number of jobs, its nodes, that wait for each other: a node runs when all that it comes after have ended "
        "well. It is kept by the customer, and goes on whoever has logged out. Alone, `berth dag` lists the workflows that are not "
        "over, a row each.\n"
        "\n"
        "`submit` reads a file of HTCondor's DAGMan (JOB, PARENT ... CHILD, RETRY, SCRIPT, SUBDAG, SPLICE, FINAL and the rest), or ads with "
        "Node and After. A workflow with scripts, with inputs that its nodes make, or with others of DAGMan's words is carried out on the submit host by a job of its user's, "
        "which `run` is: it goes on where it was when it is begun again, and leaves a rescue file beside the workflow's if not all is done. Several files are read as one. All of it is submitted, or nothing: a cycle, a name that nobody has and what "
        "cannot be carried over are told with their places. The number of the workflow is printed, which is that of its first job.\n"
        "\n"
        "`status` shows the nodes: their jobs, states, and what each waits for; then a line that counts them. A node that fails is "
        "tried again as often as RETRY says; then those that come after it stay blocked, and the rest goes on. `rescue` lets what failed run "
        "again, with all its tries, and all that waits for it; nothing that is done is repeated. With --file it writes what is done, "
        "and that file behind the workflow's own submits the rest anew. `rm` removes all that is left.",
    .examples = {{"berth dag submit diamond.dag", "workflow 17 submitted: 4 jobs, 17-20"},
                 {"berth dag status 17", NULL},
                 {"berth dag rescue 17", "1 job of workflow 17 waits again"},
                 {"berth dag rescue 17 --file diamond.rescue", NULL}},
    .options = dag_options,
    .option_count = sizeof dag_options / sizeof *dag_options,
    .settings_size = sizeof(struct dag_settings),
    .defaults = &dag_defaults,
    .run = dag_run,
};
