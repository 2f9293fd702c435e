/* query.c: berth query: lists the ads of a file, or of a pool, for which an expression is true. */
#include "match/pair/match.h"

#include "cli/ads/evaluator.h"
#include "cli/ask/connection.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "cli/term/table.h"

#include <string.h>

struct query_settings {
    const struct dialect *dialect;
    const char *offers, *constraint, *format;
    struct setting setting;
    struct connection_options pool;
    bool json, long_form;
};

#define S struct query_settings
static const struct option query_options[] = {
    {'o', "offers", "FILE", "the ads that are asked for; else those of the pool", option_once, offsetof(S, offers)},
    {'c', "constraint", "EXPR", "the same as EXPR", option_once, offsetof(S, constraint)},
    OPTION_DIALECT(S),
    OPTION_NOW(S),
    OPTION_ZONE(S),
    OPTION_SEED(S),
    {0, "json", NULL, "JSON lines: an object an ad, with its name", option_flag, offsetof(S, json)},
    {0, "long", NULL, "the ads themselves, in the long form", option_flag, offsetof(S, long_form)},
    {0, "format", "WORDS", "of each a line with the values of these attributes or expressions: \"Name Memory\"",
     option_text, offsetof(S, format)},
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct query_settings query_defaults = {.dialect = &dialect_classic};
static const char *const query_columns[] = {"name"};

struct query_run {
    const struct query_settings *settings;
    struct evaluator evaluator;
    struct table table;
    struct format format;
    struct buf out;
    bool found;
};

/* Prints an ad for which the query is true. */
static int query_print(struct query_run *run, const struct tree *ad, unsigned place)
{
    struct err err;

    run->found = true;
    if (run->settings->format) {
        format_print(&run->format, &run->evaluator.env, ad, &run->out);
        return output_write(&run->out);
    }
    if (!run->settings->long_form) {
        ad_name(&run->out, ad, place);
        table_text(&run->table, run->out.text, run->out.len);
        buf_reset(&run->out);
        return 0;
    }
    if (form_write_ad(&run->out, FORM_LONG, ad, &err) < 0) {
        report_error(run->settings->offers, &err, NULL, 0);
        return -1;
    }
    return output_write(&run->out);
}

static int query_file(struct query_run *run, const struct tree *query)
{
    struct input_source source;
    struct tree *ad;
    int got = -1;

    if (source_open(&source, run->evaluator.symbols, run->settings->dialect, FORM_UNKNOWN, run->settings->offers) ==
        0) {
        while ((got = source_next(&source, &ad)) > 0) {
            if (match_query(&run->evaluator.env, &run->evaluator.arena, query, ad) &&
                query_print(run, ad, source.count) < 0)
                got = -1;
            tree_unref(ad);
            if (got < 0)
                break;
        }
    }
    source_close(&source);
    if (got < 0)
        return STATUS_BAD;
    return run->found ? STATUS_DONE : STATUS_NO;
}

/* Asks the pool, which evaluates the expression. It was parsed here before, so that an error in it has a place. */
static int query_pool(const struct query_settings *settings, const char *text)
{
    static const struct table_column columns[] = {{"name", "Name", CELL_NAME}};
    enum rows_form form;
    struct rows rows;
    struct connection pool;
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, "/v1/ads");
    path_query(&path, "constraint", text);
    path_query(&path, "select", settings->long_form || settings->format ? NULL : "Name");
    rows_form_of(settings->json, settings->long_form, settings->format, &form);
    rows_init(&rows, form, columns, 1);
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE && rows_set_format(&rows, pool.symbols, settings->format) < 0)
        status = STATUS_BAD;
    if (status == STATUS_DONE)
        status = connection_list(&pool, buf_string(&path), 0, rows_add, &rows);
    if (status == STATUS_DONE && !rows.count)
        status = STATUS_NO;
    rows_finish(&rows);
    rows_done(&rows); /* first: it holds symbols of the pool */
    connection_close(&pool);
    buf_done(&path);
    return status;
}

static bool query_is_for_file(const struct query_settings *settings)
{
    return settings->dialect != &dialect_classic || settings->setting.has_now || settings->setting.has_seed ||
           settings->setting.zone;
}

static int query_run(const void *given, int word_count, char **words)
{
    const struct query_settings *settings = given;
    struct query_run run = {.settings = settings};
    const char *text = "true"; /* --format alone prints all ads */
    enum rows_form form;
    struct tree *query;
    struct err err;
    int status = STATUS_BAD;

    if (word_count + (settings->constraint != NULL) > 1 ||
        (!word_count && !settings->constraint && !settings->format)) {
        report("query wants one expression, and -o FILE with the ads or a pool");
        return STATUS_BAD;
    }
    if (word_count)
        text = words[0];
    else if (settings->constraint)
        text = settings->constraint;
    if (rows_form_of(settings->json, settings->long_form, settings->format, &form) < 0)
        return STATUS_BAD;
    if (settings->offers && settings->pool.url) {
        report("-o FILE and --pool URL cannot be used together");
        return STATUS_BAD;
    }
    if (!settings->offers && query_is_for_file(settings)) {
        report("a pool evaluates in the classic dialect and at its own time: --dialect, --now, --zone and --seed are "
               "for -o");
        return STATUS_BAD;
    }
    evaluator_init(&run.evaluator, settings->dialect, &settings->setting);
    table_init(&run.table, query_columns, 1, settings->json);
    buf_init(&run.out);
    query = evaluator_parse(&run.evaluator, 1, text, strlen(text), &err);
    if (!query)
        report_error("expression", &err, text, strlen(text));
    else if (!settings->format ||
             format_init(&run.format, run.evaluator.symbols, settings->dialect, settings->format) == 0)
        status = settings->offers ? query_file(&run, query) : query_pool(settings, text);
    if (form == ROWS_TABLE || form == ROWS_JSON)
        table_finish(&run.table);
    format_done(&run.format);
    table_done(&run.table);
    buf_done(&run.out);
    tree_unref(query);
    evaluator_done(&run.evaluator);
    return status;
}

const struct command command_query = {
    .name = "query",
    .summary = "list the ads of a file or a pool for which an expression is true",
    .usage = "[OPTIONS] -o FILE EXPR\n[OPTIONS] [--pool URL] [--token FILE] EXPR",
    .about =
        "Prints the name of each ad for which EXPR is true: its Name, or its place in the file (#1, #2, ...). In EXPR a "
        "plain name is the ad's attribute, and so is other.NAME. The ads' own constraints are not asked: the match is "
        "one-way. --format prints a line of values in place of the name, as -af of HTCondor's tools does; without EXPR, of every ad. Without -o the pool is asked, of whose ads one sees all offers and one's own requests. The status is 1 when "
        "there is no such ad.",
    .examples = {{"berth query -d condor -o machines.ad 'Memory > 32 && Arch == \"INTEL\"'", NULL},
                 {"berth query -d condor -o status.txt --format 'Name Memory/1024'", NULL},
                 {"berth query 'Memory > 32'", NULL}},
    .options = query_options,
    .option_count = sizeof query_options / sizeof *query_options,
    .settings_size = sizeof(struct query_settings),
    .defaults = &query_defaults,
    .run = query_run,
};
