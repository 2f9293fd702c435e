/* grdl_forms.c: berth grdl validate and convert: resources as they are written. */
#include "cli/ads/grdl.h"

#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/names.h"
#include "match/grdl/translate.h"

#include <inttypes.h>
#include <string.h>

static const char *const resource_columns[] = {"file", "resource", "class", "chars", "reqs", "prefs"};
static const char *const value_columns[] = {"resource", "in", "dimension", "value", "kind", "type", "from"};

/* Prints a row for each value: what it was taken for, and who says so. */
static void points_explain(struct grdl_run *run, uint32_t resource, const char *section,
                           const struct grdl_point *points, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct grdl_value *value = &points[i].value;

        grdl_name_cell(run, resource);
        grdl_text_cell(run, section);
        grdl_text_cell(run, points[i].from->dimension);
        grdl_text_cell(run, points[i].from->text ? points[i].from->text : "");
        grdl_text_cell(run, grdl_kind_words[value->kind]);
        grdl_text_cell(run, value->type_name ? value->type_name : "");
        grdl_text_cell(run, grdl_source_words[value->source]);
    }
}

int grdl_validate(struct grdl_run *run)
{
    bool explain = run->settings->explain;

    table_init(&run->table, explain ? value_columns : resource_columns, explain ? 7 : 6, run->settings->json);
    for (uint32_t i = 0; i < run->resources.count; i++) {
        const struct grdl_resource *resource = run->resources.items[i];
        const struct grdl_reading *reading = run->readings[i];

        if (explain) {
            points_explain(run, i, "chars", reading->chars, reading->char_count);
            points_explain(run, i, "reqs", reading->reqs, reading->req_count);
            points_explain(run, i, "prefs", reading->prefs, reading->pref_count);
            continue;
        }
        grdl_text_cell(run, run->file_names[run->files[i]]);
        grdl_name_cell(run, i);
        grdl_text_cell(run, resource->class_name);
        table_number(&run->table, "%" PRIu32, resource->char_count);
        table_number(&run->table, "%" PRIu32, resource->req_count);
        table_number(&run->table, "%" PRIu32, resource->pref_count);
    }
    table_finish(&run->table);
    table_done(&run->table);
    return run->told ? STATUS_BAD : STATUS_DONE;
}

/* Prints each resource as an ad. */
static int classads_print(struct grdl_run *run)
{
    struct symbols *symbols = names_new(0);
    struct err err = {0};
    int status = STATUS_DONE;

    buf_reset(&run->text);
    for (uint32_t i = 0; i < run->resources.count && status == STATUS_DONE; i++) {
        struct tree *ad = grdl_to_ad(symbols, run->readings[i], 0);

        if (!ad || form_write_ad(&run->text, FORM_CLASSAD, ad, &err) < 0) {
            report("%s: it is too large for an ad", grdl_name(run, i));
            status = STATUS_BAD;
        }
        tree_unref(ad);
        output_write(&run->text);
    }
    symbols_free(symbols);
    return status;
}

int grdl_convert(struct grdl_run *run)
{
    const struct grdl_resource *const *resources = (const struct grdl_resource *const *)run->resources.items;
    const char *to = run->settings->to ? run->settings->to : run->settings->json ? "json" : "xml";

    if (strcmp(to, "classad") == 0)
        return classads_print(run);
    if (strcmp(to, "xml") != 0 && strcmp(to, "json") != 0) {
        report("grdl convert: --to: expected xml, json or classad, got '%.60s'", to);
        return STATUS_BAD;
    }
    return grdl_print(run, resources, run->resources.count, *to == 'x' ? GRDL_FORM_XML : GRDL_FORM_JSON);
}
