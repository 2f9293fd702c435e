/* status.c: berth status: what the matchmaker says of itself. */
#include "cli/ask/connection.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"

#include <time.h>

struct status_settings {
    struct connection_options pool;
    bool json, long_form;
};

#define S struct status_settings
static const struct option status_options[] = {
    {0, "json", NULL, "one JSON object; spans in seconds", option_flag, offsetof(S, json)},
    {0, "long", NULL, "the matchmaker's ad, in the long form", option_flag, offsetof(S, long_form)},
    POOL_OPTION_ROWS(S),
};
#undef S

#define UNWELL_MAX 20 /* machines that are named, and customers likewise */

static const struct status_settings status_defaults = {0};

/* What people read: words, then the value of an attribute. A line may have several such parts. */
static const struct {
    const char *before, *attribute;
    enum cell cell;
} status_words[] = {
    {"Berth matchmaker ", "Name", CELL_VALUE},
    {", version ", "Version", CELL_VALUE},
    {", up for ", "Up", CELL_SPAN_SAID},
    {"\n  address        ", "Url", CELL_VALUE},
    {"\n  pool           ", "Pool", CELL_VALUE},
    {"\n  process        ", "Process", CELL_VALUE},
    {", incarnation ", "Incarnation", CELL_VALUE},
    {"\n  agents         ", "Agents", CELL_VALUE},
    {", streams ", "Streams", CELL_VALUE},
    {"\n  ads            ", "Ads", CELL_VALUE},
    {"\n  claims         ", "Claims", CELL_VALUE},
    {"\n  matches        ", "Matches", CELL_VALUE},
    {" in ", "Cycles", CELL_VALUE},
    {" cycles\n  notifications  ", "NotificationsWaiting", CELL_VALUE},
    {" waiting, ", "NotificationsGivenUp", CELL_VALUE},
};

static void status_print(const struct tree *ad)
{
    struct buf out;

    buf_init(&out);
    for (size_t i = 0; i < sizeof status_words / sizeof *status_words; i++) {
        size_t from;

        buf_adds(&out, status_words[i].before);
        from = out.len;
        cell_print(&out, ad, status_words[i].attribute, status_words[i].cell, time(NULL));
        text_tame(&out, from);
    }
    buf_adds(&out, " given up\n");
    output_write(&out);
    buf_done(&out);
}

/* Those of a pool with several matchmakers: a line each. */
static void matchmakers_print(const struct tree *ad)
{
    const struct expr *list = ad_find(ad, "Matchmakers"), *parts;
    struct buf out;

    if (!list || list->kind != EXPR_LIST)
        return;
    parts = tree_parts(ad, list);
    buf_init(&out);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        struct tree *row = parts[i].kind == EXPR_AD ? ad_part(ad, &parts[i]) : NULL;
        bool leads = false;
        size_t from;

        if (!row)
            continue;
        ad_flag(row, "Leads", &leads);
        buf_adds(&out, leads ? "  leads          " : "  stands by      ");
        from = out.len;
        cell_print(&out, row, "Url", CELL_VALUE, 0);
        buf_adds(&out, ", for ");
        cell_print(&out, row, "For", CELL_SPAN_SAID, 0);
        text_tame(&out, from);
        buf_addc(&out, '\n');
        tree_unref(row);
    }
    output_write(&out);
    buf_done(&out);
}

/* Agents that do not do what is expected of them, and why: a line each. */
struct ailing {
    const char *before, *path, *constraint, *why;
    struct buf out;
};

static bool ailing_add(void *user, struct tree *ad)
{
    struct ailing *ailing = user;
    const char *const parts[] = {"Name", ailing->why};

    for (size_t i = 0; i < 2; i++) {
        size_t from;

        buf_adds(&ailing->out, i ? ": " : ailing->before);
        from = ailing->out.len;
        cell_print(&ailing->out, ad, parts[i], CELL_VALUE, 0);
        text_tame(&ailing->out, from);
    }
    buf_addc(&ailing->out, '\n');
    return true;
}

static int ailing_print(struct connection *pool, struct ailing ailing)
{
    struct buf path;
    int status;

    buf_init(&path);
    buf_init(&ailing.out);
    buf_adds(&path, ailing.path);
    path_query(&path, "constraint", ailing.constraint);
    status = connection_list(pool, buf_string(&path), UNWELL_MAX, ailing_add, &ailing);
    if (status == STATUS_DONE)
        output_write(&ailing.out);
    buf_done(&path);
    buf_done(&ailing.out);
    return status;
}

/* Prints the machines that take no jobs, with what they lack; and the customers that have left a note, which says that their disk is full. */
static int unwell_print(struct connection *pool)
{
    int status = ailing_print(pool, (struct ailing){.before = "  unwell         ",
                                                    .path = "/v1/ads?kind=offers&select=Name,Unwell",
                                                    .constraint = "Unwell isnt undefined",
                                                    .why = "Unwell"});

    if (status == STATUS_DONE)
        status = ailing_print(pool, (struct ailing){.before = "  customer       ",
                                                    .path = "/v1/agents?select=Name,Note",
                                                    .constraint = "Role == \"customer\" && size(Note) > 0",
                                                    .why = "Note"});
    return status;
}

static int status_run(const void *given, int word_count, char **words)
{
    const struct status_settings *settings = given;
    enum rows_form form;
    struct tree *ad = NULL;
    struct connection pool;
    struct rows rows;
    int status;

    (void)words;
    if (word_count) {
        report("status takes no arguments, only options");
        return STATUS_BAD;
    }
    if (rows_form(settings->json, settings->long_form, &form) < 0)
        return STATUS_BAD;
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE)
        status = connection_fetch_ad(&pool, &(struct connection_ask){.path = "/v1/status"}, &ad);
    if (status == STATUS_DONE && form == ROWS_TABLE) {
        status_print(ad);
        matchmakers_print(ad);
        status = unwell_print(&pool);
    } else if (status == STATUS_DONE) {
        rows_init(&rows, form, NULL, 0);
        rows_add(&rows, ad);
        rows_done(&rows);
    }
    tree_unref(ad);
    connection_close(&pool);
    return status;
}

const struct command command_status = {
    .name = "status",
    .summary = "tell what a pool's matchmaker says of itself",
    .usage = "[OPTIONS]",
    .about =
        "Prints what the matchmaker is called, where it is and how long it has been up, how many agents, ads and claims it knows "
        "of, how many matches it has made in how many cycles, and how many of them have not been told yet or were given up; then up to twenty machines that take no jobs because they are unwell (docs/trouble.md), each with "
        "the reason, and as many customers that take no files because their disk is full.\n"
        "\n"
        "Commands that talk to a pool find it by --pool URL, else by $BERTH_POOL, else by the setting Matchmakers, of which the "
        "first that answers is taken; else it is the matchmaker that runs with the same state folder on this machine, which is "
        "asked by its Unix socket and needs no token. Others want one: that of --token FILE, else of $BERTH_TOKEN, else the file "
        "`token` in the state folder or beside the configuration file. `berth token create` makes one. The status is 3 when no "
        "pool could be reached.",
    .examples = {{"berth status", NULL},
                 {"berth status --pool https://pool.example.org:7600 --token alice.token --json", NULL}},
    .options = status_options,
    .option_count = sizeof status_options / sizeof *status_options,
    .settings_size = sizeof(struct status_settings),
    .defaults = &status_defaults,
    .run = status_run,
};
