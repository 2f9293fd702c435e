/* ads.c: berth ads: the ads that a pool holds. */
#include "cli/ask/connection.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/base/mem.h"

#include "lang/text/print.h"
#include "pool/protocol/writers.h"

#include <stdlib.h>
#include <string.h>

struct ads_settings {
    struct connection_options pool;
    const char *constraint, *kind, *select, *format;
    uint64_t limit;
    bool json, long_form;
};

static int option_kind(const char *text, void *target, struct err *err)
{
    if (strcmp(text, "offers") != 0 && strcmp(text, "requests") != 0)
        return err_set(err, "expected offers or requests, got '%.60s'", text);
    *(const char **)target = text;
    return 0;
}

#define S struct ads_settings
static const struct option ads_options[] = {
    {'c', "constraint", "EXPR", "only those for which it is true", option_text, offsetof(S, constraint)},
    {'k', "kind", "KIND", "only offers, or only requests", option_kind, offsetof(S, kind)},
    {'s', "select", "A,B,...", "only these attributes", option_text, offsetof(S, select)},
    {'n', "limit", "N", "so many at most; all if not given", option_limit, offsetof(S, limit)},
    {0, "json", NULL, "JSON lines: an ad a line", option_flag, offsetof(S, json)},
    {0, "long", NULL, "the ads themselves, in the long form", option_flag, offsetof(S, long_form)},
    {0, "format", "WORDS", "of each a line with the values of these attributes or expressions: \"Name Memory\"",
     option_text, offsetof(S, format)},
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct ads_settings ads_defaults = {0};

static const struct table_column ads_columns[] = {
    {"id", "AdId", CELL_VALUE},     {"name", "Name", CELL_VALUE},      {"type", "Type", CELL_VALUE},
    {"owner", "Owner", CELL_VALUE}, {"heard", "Received", CELL_SINCE},
};
#define ADS_SELECT "AdId,Name,Type,Owner,Received" /* the attributes of those columns */

/* The columns of a table, and the attributes that the pool is asked for. */
struct view {
    struct table_column columns[TABLE_COLUMNS_MAX];
    size_t count;
    const char *select; /* NULL: all */
    struct buf names;   /* the selected names without blanks, each ended by a NUL */
    struct buf list;    /* the same with commas */
};

static int view_select(struct view *view, const char *text, bool table)
{
    size_t starts[TABLE_COLUMNS_MAX], count = 0;

    while (*text) {
        size_t len = strcspn(text, ","), from = strspn(text, " "), end = len;

        while (end > from && text[end - 1] == ' ')
            end--;
        if (end <= from) {
            report("--select: expected names with commas between");
            return -1;
        }
        if (table && count == TABLE_COLUMNS_MAX) {
            report("--select: a table has up to %d columns; --json and --long have no such limit", TABLE_COLUMNS_MAX);
            return -1;
        }
        if (table)
            starts[count++] = view->names.len;
        buf_add(&view->names, text + from, end - from);
        buf_addc(&view->names, '\0');
        buf_adds(&view->list, view->list.len ? "," : "");
        buf_add(&view->list, text + from, end - from);
        text += len + (text[len] == ',');
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = view->names.text + starts[i];

        view->columns[view->count++] = (struct table_column){name, name, CELL_VALUE};
    }
    view->select = buf_string(&view->list);
    return 0;
}

static int view_init(struct view *view, const struct ads_settings *settings, enum rows_form form)
{
    *view = (struct view){.count = 0};
    buf_init(&view->names);
    buf_init(&view->list);
    if (settings->select)
        return view_select(view, settings->select, form == ROWS_TABLE);
    if (form == ROWS_TABLE) {
        view->count = sizeof ads_columns / sizeof *ads_columns;
        memcpy(view->columns, ads_columns, sizeof ads_columns);
        view->select = ADS_SELECT;
    }
    return 0;
}

static void view_done(struct view *view)
{
    buf_done(&view->names);
    buf_done(&view->list);
}

static int ads_list(struct connection *pool, const struct ads_settings *settings, const struct view *view,
                    struct rows *rows)
{
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, "/v1/ads");
    path_query(&path, "constraint", settings->constraint);
    path_query(&path, "kind", settings->kind);
    path_query(&path, "select", view->select);
    status = connection_list(pool, buf_string(&path), settings->limit, rows_add, rows);
    if (status == STATUS_DONE && !rows->count && settings->constraint)
        status = STATUS_NO;
    buf_done(&path);
    return status;
}

/* Takes an ad, and gives it with the id by which it was asked for, as lists do. */
static struct tree *ad_with_id(struct tree *ad, const char *id)
{
    struct ad_setting setting = {symbols_take(ad->symbols, "AdId", 4), value_string(id, strlen(id))};
    struct tree *named = ad_set(ad, &setting, 1, NULL);

    symbols_drop(ad->symbols, setting.name);
    if (!named)
        return ad;
    tree_unref(ad);
    return named;
}

/* Lists the ads of that Name: people know machines by their names, since nobody chose their ids. */
static int ads_named(struct connection *pool, const struct view *view, struct rows *rows, const char *name)
{
    unsigned before = rows->count;
    struct buf path, constraint;
    int status;

    buf_init(&path);
    buf_init(&constraint);
    buf_adds(&constraint, "Name == ");
    print_string(&constraint, name, strlen(name), PRINT_PLAIN);
    buf_adds(&path, "/v1/ads");
    path_query(&path, "constraint", buf_string(&constraint));
    path_query(&path, "select", view->select);
    status = connection_list(pool, buf_string(&path), 0, rows_add, rows);
    if (status == STATUS_DONE && rows->count == before) {
        report("%s: there is no such ad", name);
        status = STATUS_NO;
    }
    buf_done(&constraint);
    buf_done(&path);
    return status;
}

/* Prints the ad of that id, or else those of that name. */
static int ads_called(struct connection *pool, const struct view *view, struct rows *rows, const char *word)
{
    struct tree *ad = NULL;
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, "/v1/ads/");
    path_escape(&path, word);
    path_query(&path, "select", view->select);
    status = connection_fetch_ad(
        pool, &(struct connection_ask){.path = buf_string(&path), .may_miss = true, .hush = true, .about = word}, &ad);
    buf_done(&path);
    if (status == STATUS_NO)
        return ads_named(pool, view, rows, word);
    if (status == STATUS_DONE) {
        ad = ad_with_id(ad, word);
        rows_add(rows, ad);
    }
    tree_unref(ad);
    return status;
}

/* Prints each ad that is named. An ad that is not there does not keep the others from being printed. */
static int ads_each(struct connection *pool, const struct view *view, struct rows *rows, int count, char **words)
{
    int status = STATUS_DONE;

    for (int i = 0; i < count && status <= STATUS_NO; i++) {
        int got = ads_called(pool, view, rows, words[i]);

        status = got == STATUS_DONE ? status : got;
    }
    return status;
}

static int ads_run(const void *given, int word_count, char **words)
{
    const struct ads_settings *settings = given;
    enum rows_form form;
    struct view view;
    struct rows rows;
    struct connection pool;
    int status;

    if (word_count && (settings->constraint || settings->kind || settings->limit)) {
        report("ads wants ids or names, or --constraint, --kind and --limit, not both");
        return STATUS_BAD;
    }
    for (int i = 0; i < word_count; i++)
        if (!*words[i]) {
            report("an id or a name cannot be empty");
            return STATUS_BAD;
        }
    if (rows_form_of(settings->json, settings->long_form, settings->format, &form) < 0)
        return STATUS_BAD;
    if (view_init(&view, settings, form) < 0) {
        view_done(&view);
        return STATUS_BAD;
    }
    rows_init(&rows, form, view.columns, view.count);
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE && rows_set_format(&rows, pool.symbols, settings->format) < 0)
        status = STATUS_BAD;
    if (status == STATUS_DONE)
        status =
            word_count ? ads_each(&pool, &view, &rows, word_count, words) : ads_list(&pool, settings, &view, &rows);
    rows_finish(&rows);
    rows_done(&rows); /* first: it holds symbols of the pool */
    connection_close(&pool);
    view_done(&view);
    return status;
}

const struct command command_ads = {
    .name = "ads",
    .summary = "list the ads that a pool holds",
    .usage = "[OPTIONS]\n[OPTIONS] ID|NAME...",
    .about =
        "Prints a row an ad: its id, its Name (or its place in the list: #1, #2, ...), its Type, whose it is, and how long ago it was "
        "received. With --select the columns are the values of those attributes. With ids or names, those ads alone. One's own "
        "requests are listed, and all offers; an administrator sees all requests. Attributes that an ad calls Private "
        "are for its owner.\n"
        "\n"
        "In EXPR a plain name is the ad's attribute. The status is 1 when there is no ad for which it is true, or none of an "
        "id or name. Rows are printed as they come.",
    .examples = {{"berth ads", NULL},
                 {"berth ads --kind offers -c 'Memory >= 4096' --select Name,Arch,Memory", NULL},
                 {"berth ads heron --long", NULL},
                 {"berth ads --json | jq .Name", NULL}},
    .options = ads_options,
    .option_count = sizeof ads_options / sizeof *ads_options,
    .settings_size = sizeof(struct ads_settings),
    .defaults = &ads_defaults,
    .run = ads_run,
};
