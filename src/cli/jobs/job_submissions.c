/* job_submissions.c: berth jobs with a row a submission: how many of its jobs stand how, a bar, and about how long the rest will take.
 *
 *     ID      WAITING  RUNNING  SUCCEEDED  FAILED  PROGRESS         LEFT    COMMAND
 *     21-520      380       20         97       3  ##--------  20%  12m30s  ./fit --seed 1
 *
 * Columns of zeros only are left out of the table. A submission of one job is the row of that job. */
#include "cli/jobs/dag_parts.h"
#include "cli/jobs/job_list_parts.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/terminal.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BAR_WIDTH 10
#define LINES_FOR_JOBS \
    5 /* of a terminal, for jobs that were submitted alone: an empty line, the heading and three more */

/* Those that the customer has. */
struct submissions {
    struct tree **ads;
    size_t count, room;
    size_t alone; /* so many have one job */
    bool has_workflow;
};

static int64_t number_of(const struct tree *ad, const char *name)
{
    int64_t number = 0;

    return ad_integer(ad, name, &number) && number > 0 ? number : 0;
}

static bool submission_add(void *user, struct tree *ad)
{
    struct submissions *all = user;

    ARRAY_ROOM(all->ads, all->count, all->room, 64);
    all->ads[all->count++] = tree_ref(ad);
    all->alone += number_of(ad, "Jobs") <= 1;
    all->has_workflow = all->has_workflow || ad_find(ad, "Workflow");
    return true;
}

static void submissions_done(struct submissions *all)
{
    while (all->count)
        tree_unref(all->ads[--all->count]);
    free(all->ads);
}

/* ---------------------------------------------------------------------------------------------------------------- a row */

static const struct table_column table_columns[] = {
    {"id", "Range", CELL_VALUE},        {"waiting", "Waiting", CELL_VALUE},     {"running", "Running", CELL_VALUE},
    {"held", "Held", CELL_VALUE},       {"succeeded", "Succeeded", CELL_VALUE}, {"failed", "Failed", CELL_VALUE},
    {"removed", "Removed", CELL_VALUE}, {"progress", "Progress", CELL_TONED},   {"left", "Estimate", CELL_SPAN},
    {"command", "Command", CELL_VALUE},
};
#define TABLE_COLUMNS (sizeof table_columns / sizeof *table_columns)

static const struct table_column json_columns[] = {
    {"id", "Submission", CELL_VALUE},     {"jobs", "Jobs", CELL_VALUE},       {"waiting", "Waiting", CELL_VALUE},
    {"running", "Running", CELL_VALUE},   {"held", "Held", CELL_VALUE},       {"succeeded", "Succeeded", CELL_VALUE},
    {"failed", "Failed", CELL_VALUE},     {"removed", "Removed", CELL_VALUE}, {"started", "Started", CELL_VALUE},
    {"estimate", "Estimate", CELL_VALUE},
};

/* Adds "##--------  20%", which is red when jobs have failed, and green when all have ended well. */
static void progress_add(struct maker *maker, const struct tree *ad)
{
    double jobs = (double)number_of(ad, "Jobs"), succeeded = (double)number_of(ad, "Succeeded");
    double over = succeeded + (double)number_of(ad, "Failed") + (double)number_of(ad, "Removed");
    double part = jobs > 0 ? over / jobs : 0;
    struct buf text;

    buf_init(&text);
    bar_print(&text, part, BAR_WIDTH);
    buf_addf(&text, " %3.0f%%", part < 1 && part > 0.99 ? 99 : part * 100);
    maker_bytes(maker, "Progress", text.text, text.len);
    if (number_of(ad, "Failed") || succeeded == jobs)
        maker_flag(maker, "Good", !number_of(ad, "Failed"));
    buf_done(&text);
}

/* The row of a table. The caller unrefs it. */
static struct tree *submission_row(const struct tree *ad)
{
    static const char *const copied[] = {"Waiting", "Running", "Held", "Succeeded", "Failed", "Removed"};
    int64_t first = number_of(ad, "Submission"), last = number_of(ad, "Last"), left;
    struct buf text;
    struct arena arena;
    struct maker maker;

    buf_init(&text);
    arena_init(&arena);
    maker_init(&maker, ad->symbols);
    buf_addf(&text, "%" PRId64, first);
    if (last > first)
        buf_addf(&text, "-%" PRId64, last);
    maker_bytes(&maker, "Range", text.text, text.len);
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
        maker_integer(&maker, copied[i], number_of(ad, copied[i]));
    progress_add(&maker, ad);
    if (ad_integer(ad, "Estimate", &left))
        maker_integer(&maker, "Estimate", left);
    buf_reset(&text);
    job_command(&text, ad, &arena);
    maker_bytes(&maker, "Command", text.text ? text.text : "", text.len);
    arena_done(&arena);
    buf_done(&text);
    return maker_seal(&maker);
}

/* Which columns are shown: those in which something is, where zero is what is hoped for. */
static size_t columns_choose(const struct submissions *all, bool alone, struct table_column ret[TABLE_COLUMNS])
{
    static const char *const quiet[] = {"Held", "Failed", "Removed"};
    size_t count = 0;

    for (size_t i = 0; i < TABLE_COLUMNS; i++) {
        bool shown = true;

        for (size_t k = 0; k < sizeof quiet / sizeof *quiet; k++)
            if (!strcmp(table_columns[i].attribute, quiet[k]))
                shown = false;
        for (size_t k = 0; k < all->count && !shown; k++)
            shown = (alone || number_of(all->ads[k], "Jobs") > 1) && number_of(all->ads[k], table_columns[i].attribute);
        if (shown)
            ret[count++] = table_columns[i];
    }
    return count;
}

/* Prints a table of them; those of one job only if they are asked for. */
static void table_print(const struct submissions *all, bool alone, struct list_room *room)
{
    struct table_column columns[TABLE_COLUMNS];
    struct rows rows;

    rows_init(&rows, ROWS_TABLE, columns, columns_choose(all, alone, columns));
    rows.most = room_take(room, alone ? all->count : all->count - all->alone, all->alone ? LINES_FOR_JOBS : 0);
    for (size_t i = 0; i < all->count; i++) {
        struct tree *row;

        if (!alone && number_of(all->ads[i], "Jobs") <= 1)
            continue;
        row = submission_row(all->ads[i]);
        rows_add(&rows, row);
        tree_unref(row);
    }
    if (rows.count)
        rows_finish(&rows);
    room_tell(&rows, "submissions");
    rows_done(&rows);
}

/* ---------------------------------------------------------------------------------------------------------------- lists */

int submissions_list(struct connection *customer, const struct jobs_settings *settings, enum rows_form form)
{
    struct list_room room = {.limited = false};
    struct submissions all = {0};
    struct rows rows;
    int status;

    rows_init(&rows, form, json_columns, sizeof json_columns / sizeof *json_columns);
    status = rows_set_format(&rows, customer->symbols, settings->format) < 0 ? STATUS_BAD : STATUS_DONE;
    if (status == STATUS_DONE)
        status = connection_list(customer, "/v1/submissions", 0, form == ROWS_TABLE ? submission_add : rows_add,
                                 form == ROWS_TABLE ? (void *)&all : (void *)&rows);
    if (status == STATUS_DONE && form == ROWS_TABLE)
        table_print(&all, true, &room);
    else if (status == STATUS_DONE)
        rows_finish(&rows);
    rows_done(&rows);
    submissions_done(&all);
    return status;
}

/* Prints a line of the progress of a workflow; a connection_ad_fn whose user is a buffer. */
static bool workflow_print(void *user, struct tree *ad)
{
    struct dag_progress one = {.workflow = number_of(ad, "Workflow"),
                               .total = (uint64_t)number_of(ad, "Jobs"),
                               .done = (uint64_t)number_of(ad, "Done"),
                               .failed = (uint64_t)number_of(ad, "Failed"),
                               .removed = (uint64_t)number_of(ad, "Removed"),
                               .held = (uint64_t)number_of(ad, "Held"),
                               .running = (uint64_t)number_of(ad, "Running"),
                               .waiting = (uint64_t)number_of(ad, "Waiting"),
                               .blocked = (uint64_t)number_of(ad, "Blocked")};
    const char *name;
    size_t len;

    if (ad_string(ad, "Dag", &name, &len))
        one.name = mem_dup(name, len);
    dag_progress_print(user, &one);
    free(one.name);
    return true;
}

static int workflows_list(struct connection *customer)
{
    struct buf out;
    int status;

    buf_init(&out);
    status = connection_list(customer, "/v1/workflows", 0, workflow_print, &out);
    output_write(&out);
    buf_done(&out);
    return status;
}

/* Adds the jobs of submissions that cannot be matched. Those of one job are seen when they are listed. */
static void refusals_add(struct refusals *refusals, const struct submissions *all)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct tree *ad = all->ads[i];

        if (number_of(ad, "Jobs") <= 1 || !number_of(ad, "Refused"))
            continue;
        if (!refusals->count) {
            buf_addf(&refusals->first,
                     "job %" PRId64 ": the matchmaker refuses its request: ", number_of(ad, "RefusedJob"));
            cell_print(&refusals->first, ad, "Reason", CELL_VALUE, 0);
        }
        refusals->count += (uint64_t)number_of(ad, "Refused");
    }
}

int submissions_print(struct connection *customer, const struct jobs_settings *settings, struct list_room *room,
                      struct refusals *refusals)
{
    struct submissions all = {0};
    unsigned count = 0;
    int status = connection_list_if(customer, "/v1/submissions", submission_add, &all);

    if (status == STATUS_DONE) {
        room->lines -= all.has_workflow && room->lines > 2 ? 2 : 0;
        table_print(&all, false, room);
        refusals_add(refusals, &all);
    }
    if (status == STATUS_DONE && all.alone) {
        struct buf out;

        buf_init(&out);
        buf_adds(&out, all.count > all.alone ? "\n" : "");
        room->lines -= room->lines > 0 && out.len;
        output_write(&out);
        buf_done(&out);
        status = list_print(customer, settings, "/v1/jobs?alone=true", NULL, ROWS_TABLE, room, refusals, &count);
    }
    if (status == STATUS_DONE && all.has_workflow)
        status = workflows_list(customer);
    submissions_done(&all);
    return status;
}
