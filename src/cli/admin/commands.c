/* commands.c: berth commands: lists the commands that were given to agents and jobs, and what became of them. */
#include "cli/ask/connection.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "pool/protocol/writers.h"
#include "sys/signals.h"

struct commands_settings {
    struct connection_options pool;
    const char *constraint;
    bool jobs, json, long_form;
};

#define S struct commands_settings
static const struct option commands_options[] = {
    {0, "jobs", NULL, "those to jobs: the customer is asked in place of the pool", option_flag, offsetof(S, jobs)},
    {'c', "constraint", "EXPR", "only those for which it is true", option_text, offsetof(S, constraint)},
    {0, "json", NULL, "JSON lines: an object a row; spans in seconds", option_flag, offsetof(S, json)},
    {0, "long", NULL, "all that is known, as ads in the long form", option_flag, offsetof(S, long_form)},
    CUSTOMER_OPTION_ROW(S),
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct commands_settings commands_defaults = {0};

static const struct table_column agent_columns[] = {
    {"number", "Number", CELL_VALUE}, {"command", "Command", CELL_VALUE}, {"agent", "Name", CELL_VALUE},
    {"by", "By", CELL_VALUE},         {"age", "Age", CELL_SPAN},          {"left", "Left", CELL_SPAN},
    {"state", "State", CELL_VALUE},   {"answer", "Reason", CELL_VALUE},   {"detail", "Detail", CELL_VALUE},
};

static const struct table_column job_command_columns[] = {
    {"number", "Number", CELL_VALUE}, {"command", "Command", CELL_VALUE}, {"job", "Job", CELL_VALUE},
    {"agent", "Name", CELL_VALUE},    {"by", "By", CELL_VALUE},           {"age", "Age", CELL_SPAN},
    {"left", "Left", CELL_SPAN},      {"state", "State", CELL_VALUE},     {"answer", "Reason", CELL_VALUE},
    {"detail", "Detail", CELL_VALUE},
};

/* Prints what a command says besides its word: the file of a peek, the name of a signal, or that a drain is at once. Most commands say nothing
 * more. */
static void detail_print(struct buf *out, const struct tree *what)
{
    const char *text;
    int64_t number;
    bool now;
    size_t len;

    if (ad_string(what, "File", &text, &len))
        buf_add(out, text, len);
    else if (ad_integer(what, "Signal", &number) && number > 0 && number < 64 && signal_name((int)number))
        buf_adds(out, signal_name((int)number));
    else if (ad_flag(what, "Now", &now) && now)
        buf_adds(out, "now");
}

/* Adds a command, with Detail; a connection_ad_fn. */
static bool command_add(void *user, struct tree *ad)
{
    const struct expr *part = ad_find(ad, "What");
    struct tree *what = part && part->kind == EXPR_AD ? ad_part(ad, part) : NULL, *whole = NULL;
    struct ad_setting setting;
    struct buf detail;
    bool more;

    buf_init(&detail);
    if (what)
        detail_print(&detail, what);
    if (detail.len) {
        setting = (struct ad_setting){symbols_take(ad->symbols, "Detail", 6), value_string(detail.text, detail.len)};
        whole = ad_set(ad, &setting, 1, NULL);
        symbols_drop(ad->symbols, setting.name);
    }
    more = rows_add(user, whole ? whole : ad);
    tree_unref(whole);
    tree_unref(what);
    buf_done(&detail);
    return more;
}

static int commands_run(const void *given, int word_count, char **words)
{
    const struct commands_settings *settings = given;
    enum rows_form form;
    struct rows rows;
    struct connection pool;
    struct buf path;
    int status;

    (void)words;
    if (word_count) {
        report("commands takes no arguments, only options");
        return STATUS_BAD;
    }
    if (rows_form(settings->json, settings->long_form, &form) < 0)
        return STATUS_BAD;
    if (settings->jobs)
        rows_init(&rows, form, job_command_columns, sizeof job_command_columns / sizeof *job_command_columns);
    else
        rows_init(&rows, form, agent_columns, sizeof agent_columns / sizeof *agent_columns);
    buf_init(&path);
    buf_adds(&path, "/v1/commands");
    path_query(&path, "constraint", settings->constraint);
    status = settings->jobs ? customer_open(&pool, &settings->pool) : connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE)
        status = connection_list(&pool, buf_string(&path), 0, form == ROWS_LONG ? rows_add : command_add, &rows);
    if (status == STATUS_DONE && !rows.count && settings->constraint)
        status = STATUS_NO;
    rows_finish(&rows);
    connection_close(&pool);
    rows_done(&rows);
    buf_done(&path);
    return status;
}

const struct command command_commands = {
    .name = "commands",
    .summary = "list the commands that wait for agents and jobs",
    .usage = "[OPTIONS]",
    .about =
        "Prints a row a command that was given by `berth agent`, or with --jobs by `berth job ID peek` and `berth job ID signal`: its number, "
        "for whom it is, who gave it and how long ago, how long it still waits, and whether it is waiting, done or expired; `answer` is what the agent "
        "said: ok, or why not; `detail` is the file of a peek, the name of a signal, and `now` of a drain that does not wait. Those that are over are listed for a day. One sees one's own, and those to agents and jobs of one's own; an "
        "administrator sees all.",
    .examples = {{"berth commands", NULL}, {"berth commands --jobs -c 'State == \"waiting\"' --json", NULL}},
    .options = commands_options,
    .option_count = sizeof commands_options / sizeof *commands_options,
    .settings_size = sizeof(struct commands_settings),
    .defaults = &commands_defaults,
    .run = commands_run,
};
