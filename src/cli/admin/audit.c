/* audit.c: berth audit: who has changed what in a pool, from where and when, or was refused. */
#include "cli/ask/connection.h"
#include "cli/term/command.h"
#include "cli/term/quantity.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/text/print.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

struct audit_settings {
    struct connection_options pool;
    const char *user, *what, *constraint;
    int64_t since; /* seconds; 0: not given */
    uint64_t limit;
    bool jobs, json, long_form;
};

#define S struct audit_settings
static const struct option audit_options[] = {
    {0, "jobs", NULL,
     "what was changed at the customer that has the jobs: submissions, jobs held, released and removed, signals, settings; "
     "who is no administrator sees what it has done itself",
     option_flag, offsetof(S, jobs)},
    {0, "since", "SPAN", "only what happened within the last 90s, 30min, 12h, 7d", option_span, offsetof(S, since)},
    {0, "user", "NAME", "only what that user did, or was done to it", option_text, offsetof(S, user)},
    {0, "what", "WHAT", "only changes of that kind, as in tokens.create; or of all that begin so: tokens, jobs",
     option_text, offsetof(S, what)},
    {'c', "constraint", "EXPR", "only those for which it is true", option_text, offsetof(S, constraint)},
    {'n', "limit", "N", "so many at most, from the oldest on; all if not given", option_limit, offsetof(S, limit)},
    {0, "json", NULL, "JSON lines: an object a row; times in seconds since 1970", option_flag, offsetof(S, json)},
    {0, "long", NULL, "all that is known, as ads in the long form", option_flag, offsetof(S, long_form)},
    CUSTOMER_OPTION_ROW(S),
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct audit_settings audit_defaults = {0};

static const struct table_column audit_columns[] = {
    {"number", "Number", CELL_VALUE}, {"ago", "Time", CELL_SINCE},      {"by", "By", CELL_VALUE},
    {"what", "What", CELL_VALUE},     {"about", "About", CELL_VALUE},   {"from", "From", CELL_VALUE},
    {"via", "Via", CELL_VALUE},       {"result", "Result", CELL_VALUE}, {"count", "Count", CELL_VALUE},
    {"detail", "Detail", CELL_VALUE},
};

/* Appends a clause, behind those that are there. */
static void clause(struct buf *out, const char *format, const char *text)
{
    struct buf quoted;

    buf_init(&quoted);
    print_string(&quoted, text, strlen(text), PRINT_PLAIN);
    if (out->len)
        buf_adds(out, " && ");
    for (; *format; format++)
        if (*format == '@')
            buf_adds(out, buf_string(&quoted));
        else
            buf_addc(out, *format);
    buf_done(&quoted);
}

/* The constraint that the options together are; "" when there is none. Names are compared exactly. */
static void constraint_print(struct buf *out, const struct audit_settings *settings)
{
    if (settings->user)
        clause(out, "(By is @ || About is @)", settings->user);
    if (settings->what)
        clause(out, "(What is @ || substr(What, 0, size(@) + 1) is strcat(@, \".\"))", settings->what);
    if (settings->since)
        buf_addf(out, "%sTime >= %" PRId64, out->len ? " && " : "", (int64_t)time(NULL) - settings->since);
    if (settings->constraint)
        buf_addf(out, "%s(%s)", out->len ? " && " : "", settings->constraint);
}

static int audit_run(const void *given, int word_count, char **words)
{
    const struct audit_settings *settings = given;
    struct connection pool;
    enum rows_form form;
    struct buf constraint, path;
    struct rows rows;
    int status;

    (void)words;
    if (word_count) {
        report("audit takes no arguments, only options");
        return STATUS_BAD;
    }
    if (settings->pool.customer && !settings->jobs) {
        report("--customer is for --jobs: without it the pool is asked");
        return STATUS_BAD;
    }
    if (rows_form(settings->json, settings->long_form, &form) < 0)
        return STATUS_BAD;
    buf_init(&constraint);
    buf_init(&path);
    constraint_print(&constraint, settings);
    buf_adds(&path, "/v1/audit");
    path_query(&path, "constraint", constraint.len ? buf_string(&constraint) : NULL);
    rows_init(&rows, form, audit_columns, sizeof audit_columns / sizeof *audit_columns);
    status = settings->jobs ? customer_open(&pool, &settings->pool) : connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE)
        status = connection_list(&pool, buf_string(&path), settings->limit, rows_add, &rows);
    if (status == STATUS_DONE && !rows.count && constraint.len)
        status = STATUS_NO;
    rows_finish(&rows);
    connection_close(&pool);
    rows_done(&rows);
    buf_done(&constraint);
    buf_done(&path);
    return status;
}

const struct command command_audit = {
    .name = "audit",
    .summary = "list who has changed what in a pool, or was refused",
    .usage = "[OPTIONS]",
    .about =
        "Prints a row a change, the newest last: who did it (`by`), what (`what`: tokens.create, tokens.revoke, codes.create, join, "
        "session, links.create, keys.rotate, policy.put, shares.put, config.put, config.delete, users.put, users.disable, "
        "users.enable, agents.command, ads.delete, config.reload), about whom or what, from which address (`unix` by the Unix socket), by "
        "what it was proved (`via`: the id of a token, or a user's number on that machine), and the `result`: done, or refused and the status. What others than administrators do, and what is refused, is counted in one row "
        "while it repeats within an hour: `count` says how often.\n"
        "\n"
        "With --jobs the customer is asked in place of the matchmaker: jobs.submit (a row a submission, about its jobs), jobs.hold, "
        "jobs.release, jobs.remove, jobs.rescue, jobs.signal, config.reload, and what was refused. Users see what they have done themselves, "
        "administrators all.\n"
        "\n"
        "As many rows are kept as the setting AuditRows says, and for as long as AuditAge; then the oldest go, at a customer those of who "
        "has the most. Rows are durable before a change is answered, and hold no secret. Those of the matchmaker are for "
        "administrators, operators and accountants.",
    .examples = {{"berth audit --since 7d", NULL},
                 {"berth audit --user alice --what tokens", NULL},
                 {"berth audit --jobs --what jobs.remove", NULL},
                 {"berth audit -c 'Result != \"done\"' --json", NULL}},
    .options = audit_options,
    .option_count = sizeof audit_options / sizeof *audit_options,
    .settings_size = sizeof(struct audit_settings),
    .defaults = &audit_defaults,
    .run = audit_run,
};
