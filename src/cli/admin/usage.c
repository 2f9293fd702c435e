/* usage.c: berth usage: what was used of a pool, by user, group, machine or month. */
#include "cli/ask/connection.h"
#include "cli/ask/history_swf.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"

#include <string.h>

struct usage_settings {
    struct connection_options pool;
    const char *by, *since, *until, *user, *group;
    uint64_t limit;
    bool json, csv, long_form, swf;
};

#define S struct usage_settings
static const struct option usage_options[] = {
    {0, "by", "WHAT", "user (the default), group, machine or month; or one of these and month: user,month", option_text,
     offsetof(S, by)},
    {0, "since", "DATE", "the first month: 2026-11, or a day in it", option_text, offsetof(S, since)},
    {0, "until", "DATE", "the last month, or a day in it", option_text, offsetof(S, until)},
    {0, "user", "NAME", "only what this user has used", option_text, offsetof(S, user)},
    {0, "group", "NAME", "only what was used in this group", option_text, offsetof(S, group)},
    {'n', "limit", "N", "so many rows at most; all if not given", option_limit, offsetof(S, limit)},
    {0, "csv", NULL, "comma-separated values under a line of names; times in seconds", option_flag, offsetof(S, csv)},
    {0, "json", NULL, "JSON lines: an object a row; times in seconds", option_flag, offsetof(S, json)},
    {0, "long", NULL, "all that is known, as ads in the long form", option_flag, offsetof(S, long_form)},
    {0, "swf", NULL, "the jobs of the customer's history in the Standard Workload Format, as `berth history --swf`",
     option_flag, offsetof(S, swf)},
    CUSTOMER_OPTION_ROW(S),
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct usage_settings usage_defaults = {.by = "user"};

static const struct table_column month_column = {"month", "Month", CELL_VALUE};
static const struct table_column name_columns[] = {
    {"user", "User", CELL_VALUE}, {"group", "Group", CELL_VALUE}, {"machine", "Machine", CELL_VALUE}};
static const struct table_column amount_columns[] = {
    {"claims", "Claims", CELL_VALUE},
    {"jobs", "Jobs", CELL_VALUE},
    {"wall", "Wall", CELL_SPAN},
    {"cpu", "Cpu", CELL_SPAN},
    {"normalised", "Normalised", CELL_SPAN},
    {"cpus_held", "CpusHeld", CELL_SPAN},
    {"gpus_held", "GpusHeld", CELL_SPAN},
    {"memory", "Memory", CELL_VALUE},
    {"bytes_in", "BytesIn", CELL_VALUE},
    {"bytes_out", "BytesOut", CELL_VALUE},
};
#define AMOUNTS (sizeof amount_columns / sizeof *amount_columns)
#define COLUMNS_MAX (AMOUNTS + 2)

/* The columns that the rows have: the pool says what is wrong with a `by` that has none. */
static size_t columns_choose(const char *by, struct table_column ret[COLUMNS_MAX])
{
    size_t count = 0, len = strcspn(by, ",");

    if (!strcmp(by, "month") || !strcmp(by + len, ",month"))
        ret[count++] = month_column;
    for (size_t i = 0; i < sizeof name_columns / sizeof *name_columns; i++)
        if (strlen(name_columns[i].name) == len && !memcmp(name_columns[i].name, by, len))
            ret[count++] = name_columns[i];
    memcpy(ret + count, amount_columns, sizeof amount_columns);
    return count + AMOUNTS;
}

/* ----------------------------------------------------------------------------------------------------------------- CSV */

struct csv {
    const struct table_column *columns;
    size_t column_count;
    struct buf out;
};

/* A text as one field. What a spreadsheet would take for a formula gets a quote in front: names are other people's. */
static void field_print(struct buf *out, const char *text, size_t len)
{
    bool formula = len && strchr("=+-@\t", *text);

    if (!formula && !memchr(text, ',', len) && !memchr(text, '"', len)) {
        buf_add(out, text, len);
        return;
    }
    buf_adds(out, formula ? "\"'" : "\"");
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            buf_addc(out, '"');
        buf_addc(out, text[i]);
    }
    buf_addc(out, '"');
}

static bool csv_add(void *user, struct tree *ad)
{
    struct csv *csv = user;
    const char *text;
    double number;
    int64_t integer;
    size_t len;

    for (size_t i = 0; i < csv->column_count; i++) {
        const char *attribute = csv->columns[i].attribute;

        if (i)
            buf_addc(&csv->out, ',');
        if (ad_string(ad, attribute, &text, &len)) {
            size_t from = csv->out.len;

            field_print(&csv->out, text, len);
            text_tame(&csv->out, from);
        } else if (ad_integer(ad, attribute, &integer)) {
            buf_addf(&csv->out, "%lld", (long long)integer);
        } else if (ad_number(ad, attribute, &number)) {
            buf_addf(&csv->out, "%.3f", number);
        }
    }
    buf_addc(&csv->out, '\n');
    return true;
}

static int csv_print(struct connection *pool, const struct usage_settings *settings, const char *path,
                     const struct table_column *columns, size_t column_count)
{
    struct csv csv = {.columns = columns, .column_count = column_count};
    int status;

    buf_init(&csv.out);
    for (size_t i = 0; i < column_count; i++)
        buf_addf(&csv.out, "%s%s", i ? "," : "", columns[i].name);
    buf_addc(&csv.out, '\n');
    status = connection_list(pool, path, settings->limit, csv_add, &csv);
    if (status == STATUS_DONE)
        output_write(&csv.out);
    buf_done(&csv.out);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ the command */

static void path_make(struct buf *path, const struct usage_settings *settings)
{
    buf_adds(path, "/v1/usage");
    path_query(path, "by", settings->by);
    path_query(path, "since", settings->since);
    path_query(path, "until", settings->until);
    path_query(path, "user", settings->user);
    path_query(path, "group", settings->group);
}

/* A line is of a job, and the pool knows no jobs: the customer is asked, which has all of its own. */
static int swf_run(const struct usage_settings *settings)
{
    struct connection customer;
    int status;

    if (settings->since || settings->until || settings->user || settings->group || strcmp(settings->by, "user") != 0) {
        report("--swf is of the jobs of the customer: `berth history --swf -c EXPR` chooses among them");
        return STATUS_BAD;
    }
    status = customer_open(&customer, &settings->pool);
    if (status == STATUS_DONE)
        status = history_swf(&customer, NULL, settings->limit);
    connection_close(&customer);
    return status;
}

static int usage_run(const void *given, int word_count, char **words)
{
    const struct usage_settings *settings = given;
    struct table_column columns[COLUMNS_MAX];
    size_t column_count = columns_choose(settings->by, columns);
    enum rows_form form;
    struct connection pool;
    struct buf path;
    struct rows rows;
    int status;

    (void)words;
    if (word_count) {
        report("usage takes no arguments, only options: `berth usage --user NAME` is one user's");
        return STATUS_BAD;
    }
    if ((settings->csv || settings->swf) &&
        (settings->json || settings->long_form || (settings->csv && settings->swf))) {
        report("--csv, --json, --long and --swf cannot be used together");
        return STATUS_BAD;
    }
    if (settings->swf)
        return swf_run(settings);
    if (rows_form(settings->json, settings->long_form, &form) < 0)
        return STATUS_BAD;
    buf_init(&path);
    path_make(&path, settings);
    rows_init(&rows, form, columns, column_count);
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE && settings->csv)
        status = csv_print(&pool, settings, buf_string(&path), columns, column_count);
    else if (status == STATUS_DONE)
        status = connection_list(&pool, buf_string(&path), settings->limit, rows_add, &rows);
    if (status == STATUS_DONE && !settings->csv)
        rows_finish(&rows);
    connection_close(&pool);
    rows_done(&rows);
    buf_done(&path);
    return status;
}

const struct command command_usage = {
    .name = "usage",
    .summary = "print what was used, by user, group, machine or month",
    .usage = "[--by WHAT] [--since DATE] [--until DATE] [OPTIONS]",
    .about =
        "Prints a row a user, group, machine or month: how many claims were active and how many jobs have ended, how long the claims "
        "lasted (`wall`), the processor time of the jobs (`cpu`) and the same times the benchmark of the machine (`normalised`), the "
        "time of the processors and GPUs that were given, whether or not they were busy (`cpus_held`, `gpus_held`), the most memory that "
        "a job had, and the bytes that went to machines and came from them. Months are whole, in UTC: a day stands for its month. Jobs count when they "
        "end, claims as they go on.\n"
        "Everybody sees the use of the own account, in all its groups; an administrator sees all, and machines.",
    .examples = {{"berth usage --by group --since 2026-01", NULL},
                 {"berth usage --by user,month --csv >usage.csv", NULL},
                 {"berth usage --by machine --since 2026-11", NULL}},
    .options = usage_options,
    .option_count = sizeof usage_options / sizeof *usage_options,
    .settings_size = sizeof(struct usage_settings),
    .defaults = &usage_defaults,
    .run = usage_run,
};
