/* grdl_load.c: reads resources from files and checks them by the schema; and prints their names and properties. */
#include "cli/ads/grdl.h"

#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/names.h"
#include "lang/base/mem.h"
#include "match/grdl/translate.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- reading */

/* Is this a file of ads? An ad begins with [ and something that is not a JSON object. */
static bool is_ads(const char *text, size_t len)
{
    size_t at = 0;

    while (at < len && strchr(" \t\r\n", text[at]))
        at++;
    if (at == len || text[at] != '[')
        return false;
    for (at++; at < len && strchr(" \t\r\n", text[at]); at++)
        ;
    return at < len && text[at] != '{' && text[at] != ']';
}

/* Reads ClassAds as resources, where that is possible. */
static int ads_read(struct grdl_resources *ret, const char *text, size_t len, struct err *err)
{
    struct symbols *symbols = names_new(0);
    int got = grdl_ads_read(ret, symbols, FORM_CLASSAD, text, len, grdl_from_ad, err);

    symbols_free(symbols);
    return got;
}

struct complaints {
    struct grdl_run *run;
    const char *file;
};

/* Reports a complaint. Unknown dimensions are reported by `validate` alone, unless they are errors. */
static void complaint_note(void *user, enum grdl_complaint complaint, const struct err *err)
{
    struct complaints *complaints = user;
    bool strict = complaints->run->settings->strict;
    bool wrong = strict || (complaint == GRDL_WRONG_VALUE && complaints->run->validates);
    struct err told = *err;

    if (complaint == GRDL_UNKNOWN_DIMENSION && !strict && !complaints->run->validates)
        return;
    if (!wrong)
        err_context(&told, "warning");
    report_error(complaints->file, &told, NULL, 0);
    complaints->run->told = complaints->run->told || wrong;
}

static void line_show(const char *file, const struct err *err, const struct buf *text)
{
    const char *line = NULL;
    size_t len = 0;

    if (!err->line || !text_line(text->text, text->len, err->line, &line, &len))
        line = NULL;
    report_error(file, err, line, len);
}

int grdl_load(struct grdl_run *run, char *file)
{
    struct complaints complaints = {run, file};
    uint32_t before = run->resources.count;
    struct err err = {0};
    struct buf text;
    int got;

    buf_init(&text);
    got = file_read(file, &text);
    if (got == 0) {
        got = is_ads(text.text, text.len)
                  ? ads_read(&run->resources, text.text, text.len, &err)
                  : grdl_document_read(&run->resources, GRDL_FORM_UNKNOWN, text.text, text.len, &err);
        if (got < 0)
            line_show(file, &err, &text);
    }
    buf_done(&text);
    run->file_names = mem_grow(run->file_names, (run->file_count + 1) * sizeof *run->file_names);
    run->file_names[run->file_count++] = file;
    run->files = mem_grow(run->files, (run->resources.count + 1) * sizeof *run->files);
    for (uint32_t i = before; i < run->resources.count; i++) {
        run->files[i] = run->file_count - 1;
        grdl_schema_check(run->kit->schema, run->resources.items[i], complaint_note, &complaints);
    }
    if (run->file_count == 1)
        run->left_count = run->resources.count;
    return got;
}

/* --------------------------------------------------------------------------------------------------------------- sides */

bool grdl_two_sides(const struct grdl_run *run)
{
    return run->file_count > 1;
}

bool grdl_may_pair(const struct grdl_run *run, uint32_t left, uint32_t right)
{
    if (grdl_two_sides(run))
        return left < run->left_count && right >= run->left_count;
    return left != right;
}

/* ----------------------------------------------------------------------------------------------------------- for people */

const char *grdl_name(const struct grdl_run *run, uint32_t resource)
{
    const struct grdl_resource *item = run->resources.items[resource];

    return item->name ? item->name : item->class_name;
}

void grdl_text_cell(struct grdl_run *run, const char *text)
{
    table_text(&run->table, text, strlen(text));
}

void grdl_name_cell(struct grdl_run *run, uint32_t resource)
{
    grdl_text_cell(run, grdl_name(run, resource));
}

void grdl_names_cell(struct grdl_run *run, const uint32_t *resources, uint32_t count)
{
    buf_reset(&run->text);
    for (uint32_t i = 0; i < count; i++)
        buf_addf(&run->text, "%s%s", i ? " " : "", grdl_name(run, resources[i]));
    table_text(&run->table, run->text.text, run->text.len);
}

void grdl_property_print(struct buf *out, const struct grdl_char *at, const enum grdl_operator *match)
{
    buf_adds(out, at->dimension);
    if (match && (at->text || *match != GRDL_EQ))
        buf_addf(out, " %s", grdl_operators[*match].sign);
    if (at->text)
        buf_addf(out, " %s", at->text);
    if (at->type)
        buf_addf(out, " %s", at->type);
}

/* Appends a characteristic as it was understood: "2 hr". */
static void value_print(struct buf *out, const struct grdl_point *point)
{
    const struct grdl_value *value = &point->value;

    if (!point->from->text) {
        buf_adds(out, "no value");
        return;
    }
    buf_adds(out, point->from->text);
    if (value->type_name &&
        value->source != GRDL_FROM_VALUE) /* else the type stands in the text, or follows from its form */
        buf_addf(out, " %s", value->type_name);
}

void grdl_reason_print(struct buf *out, const struct grdl_point *requirement, const struct grdl_reading *by)
{
    struct grdl_points there = grdl_reading_chars(by, requirement->dimension);

    grdl_property_print(out, requirement->from, &requirement->match);
    if (!there.count) {
        buf_adds(out, ": there is none");
        return;
    }
    buf_adds(out, there.count > 1 ? ": there are " : ": there is ");
    for (uint32_t i = 0; i < there.count; i++) {
        const struct grdl_value *value = &there.items[i].value;

        buf_adds(out, i == 0 ? "" : i + 1 < there.count ? ", " : " and ");
        value_print(out, &there.items[i]);
        if (value->kind != GRDL_UNSPECIFIED && requirement->value.kind != GRDL_UNSPECIFIED &&
            !grdl_comparable(value, &requirement->value))
            buf_addf(out, " (a %s, which cannot be compared)", grdl_kind_words[value->kind]);
    }
}

int grdl_print(struct grdl_run *run, const struct grdl_resource *const *resources, uint32_t count, enum grdl_form form)
{
    struct err err = {0};

    buf_reset(&run->text);
    if (grdl_document_write(&run->text, form, resources, count, &err) < 0) {
        report("%s", err.text);
        return STATUS_BAD;
    }
    output_write(&run->text);
    return STATUS_DONE;
}
