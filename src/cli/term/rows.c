/* rows.c: ads that a pool answers with, as rows. */
#include "cli/term/rows.h"

#include "cli/term/terminal.h"

#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/eval.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/json.h"
#include "lang/base/span.h"
#include "lang/form/form.h"
#include "lang/text/print.h"
#include "live/http/represent.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

int rows_form(bool json, bool long_form, enum rows_form *ret)
{
    if (json && long_form) {
        report("--json and --long cannot be used together");
        return -1;
    }
    *ret = json ? ROWS_JSON : long_form ? ROWS_LONG : ROWS_TABLE;
    return 0;
}

int rows_form_of(bool json, bool long_form, const char *format, enum rows_form *ret)
{
    if (format && (json || long_form)) {
        report("--format and --%s cannot be used together", json ? "json" : "long");
        return -1;
    }
    if (rows_form(json, long_form, ret) < 0)
        return -1;
    if (format)
        *ret = ROWS_FORMAT;
    return 0;
}

int rows_set_format(struct rows *rows, struct symbols *symbols, const char *text)
{
    return text ? format_init(&rows->format, symbols, &dialect_classic, text) : 0;
}

void rows_init(struct rows *rows, enum rows_form form, const struct table_column *columns, size_t column_count)
{
    *rows = (struct rows){.form = form, .columns = columns, .column_count = column_count, .now = time(NULL)};
    for (size_t i = 0; i < column_count; i++)
        rows->names[i] = columns[i].name;
    table_init(&rows->table, rows->names, column_count, form == ROWS_JSON);
    buf_init(&rows->out);
}

void rows_done(struct rows *rows)
{
    table_done(&rows->table);
    format_done(&rows->format);
    buf_done(&rows->out);
}

/* -------------------------------------------------------------------------------------------------------------- cells */

static bool value_number(const struct value *value, double *ret)
{
    if (value->type == VALUE_REAL)
        *ret = value->u.real;
    else if (value->type == VALUE_INTEGER || value->type == VALUE_RELTIME || value->type == VALUE_ABSTIME)
        *ret = (double)value->u.integer;
    else
        return false;
    return isfinite(*ret);
}

/* Appends a cell's value for people. True when it is a number. */
static bool value_show(struct buf *out, const struct tree *ad, const struct value *value, enum cell cell, int64_t now)
{
    double number;

    if (cell >= CELL_SPAN && value_number(value, &number)) {
        if (cell == CELL_SINCE || cell == CELL_SINCE_SAID)
            number = (double)now - number;
        else if (cell == CELL_UNTIL)
            number -= (double)now;
        if (cell == CELL_UNTIL && number <= 0)
            buf_adds(out, "over");
        else if (cell == CELL_SPAN_SAID || cell == CELL_SINCE_SAID)
            span_say(out, number);
        else
            span_print(out, number);
        return false;
    }
    if (value->type == VALUE_REAL && value_number(value, &number)) {
        buf_addf(out, "%.6g", number);
        return true;
    }
    if (value->type != VALUE_UNDEFINED)
        value_to_text(out, ad->dialect, value);
    return value->type == VALUE_INTEGER;
}

/* Appends a list of ads as JSON. False: the value is something else. */
static bool ads_json(struct buf *out, const struct value *value)
{
    const struct tree *tree = value->type == VALUE_LIST && value->scope ? value->scope->tree : NULL;
    const struct expr *parts = tree ? tree_parts(tree, value->u.aggregate) : NULL;

    if (!parts || !value->len)
        return false;
    for (uint32_t i = 0; i < value->len; i++)
        if (parts[i].kind != EXPR_AD)
            return false;
    for (uint32_t i = 0; i < value->len; i++) {
        struct tree *one = ad_part(tree, &parts[i]);

        buf_adds(out, i ? ", " : "[");
        represent_ad(out, FORM_JSON, one);
        tree_unref(one);
    }
    buf_addc(out, ']');
    return true;
}

static void value_json(struct buf *out, const struct tree *ad, const struct value *value)
{
    struct buf text;
    double number;

    if (value->type == VALUE_UNDEFINED) {
        buf_adds(out, "null");
    } else if (value->type == VALUE_BOOLEAN) {
        buf_adds(out, value->boolean ? "true" : "false");
    } else if (value->type == VALUE_INTEGER) {
        print_integer(out, value->u.integer);
    } else if (value->type == VALUE_REAL && value_number(value, &number)) {
        print_real(out, number);
    } else if (!ads_json(out, value)) {
        buf_init(&text);
        value_to_text(&text, ad->dialect, value);
        json_quote(out, text.text, text.len);
        buf_done(&text);
    }
}

/* Evaluates an attribute. Its value lives in the arena. */
static struct value attribute_value(const struct tree *ad, const char *name, int64_t now, struct arena *arena)
{
    const struct env env = {.now = now};
    struct value value = value_undefined();
    symbol label = symbols_find(ad->symbols, name, strlen(name));
    struct scope scope;
    struct eval eval;

    if (label == SYMBOL_NONE)
        return value;
    eval_init(&eval, &env, arena);
    scope_init(&scope, ad, NULL);
    eval_attribute(&eval, &scope, label, &value);
    return value;
}

void text_tame(struct buf *text, size_t from)
{
    if (text->len > from)
        controls_mask(text->text + from, text->len - from, 0);
}

bool cell_print(struct buf *out, const struct tree *ad, const char *attribute, enum cell cell, int64_t now)
{
    struct arena arena;
    struct value value;
    bool is_number;

    arena_init(&arena);
    value = attribute_value(ad, attribute, now, &arena);
    is_number = value_show(out, ad, &value, cell, now);
    arena_done(&arena);
    return is_number;
}

/* --------------------------------------------------------------------------------------------------------------- rows */

static enum table_tone column_tone(const struct tree *ad, const struct table_column *column)
{
    bool good;

    if (column->cell != CELL_TONED || !ad_flag(ad, "Good", &good))
        return TABLE_PLAIN;
    return good ? TABLE_GOOD : TABLE_BAD;
}

static void add_cell(struct rows *rows, const struct tree *ad, const struct table_column *column)
{
    struct arena arena;
    struct value value;
    bool is_number = false;

    arena_init(&arena);
    buf_reset(&rows->out);
    if (column->cell == CELL_NAME)
        ad_name(&rows->out, ad, rows->count);
    else
        value = attribute_value(ad, column->attribute, rows->now, &arena);
    if (column->cell != CELL_NAME && rows->form == ROWS_JSON) {
        value_json(&rows->out, ad, &value);
        table_json(&rows->table, rows->out.text, rows->out.len);
    } else {
        if (column->cell != CELL_NAME)
            is_number = value_show(&rows->out, ad, &value, column->cell, rows->now);
        if (is_number)
            table_number(&rows->table, "%s", buf_string(&rows->out));
        else
            table_text(&rows->table, rows->out.text, rows->out.len);
        table_tone(&rows->table, column_tone(ad, column));
    }
    buf_reset(&rows->out);
    arena_done(&arena);
}

static int add_ad(struct rows *rows, const struct tree *ad)
{
    struct err err = {0};

    if (form_write_ad(&rows->out, rows->form == ROWS_JSON ? FORM_JSON : FORM_LONG, ad, &err) < 0) {
        report("%s", err.text);
        return -1;
    }
    return output_write(&rows->out);
}

bool rows_add(void *user, struct tree *ad)
{
    struct rows *rows = user;

    rows->count++;
    if (rows->form == ROWS_FORMAT) {
        const struct env env = {.now = rows->now};

        format_print(&rows->format, &env, ad, &rows->out);
        rows->failed = output_write(&rows->out) < 0;
        return !rows->failed;
    }
    if (rows->form == ROWS_LONG || !rows->column_count) {
        rows->failed = add_ad(rows, ad) < 0;
        return !rows->failed;
    }
    if (rows->form == ROWS_TABLE && rows->most && rows->count > rows->most)
        return true;
    for (size_t i = 0; i < rows->column_count; i++)
        add_cell(rows, ad, &rows->columns[i]);
    if (rows->count % ROWS_AT_ONCE == 0)
        rows->failed = table_flush(&rows->table) < 0 || output_flush() < 0;
    return !rows->failed;
}

void rows_finish(struct rows *rows)
{
    if (rows->form == ROWS_FORMAT)
        return;
    table_finish(&rows->table);
}
