/* grdl.c: resources as documents. Whatever is read is written as XML and JSON, and as an ad, and reads back the same; the schema looks at it
 * without an end in a crash; an error has a place in the text.
 *
 *     byte 0   odd: XML, even: JSON; then the text */
#include "match/grdl/document.h"
#include "match/grdl/kit.h"
#include "match/grdl/translate.h"

#include "lang/ad/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECKED_MAX 8 /* resources of which the law is checked: the others are read only */

static struct grdl_kit *kit;
static struct symbols *symbols;

static _Noreturn void broken(const char *law, const char *text, size_t len)
{
    fprintf(stderr, "broken law: %s\n%.*s\n", law, (int)len, text);
    abort();
}

static void check_form(const struct grdl_resource *resource, enum grdl_form form)
{
    struct grdl_resources back;
    struct err err = {0};
    struct buf text;

    buf_init(&text);
    grdl_resources_init(&back);
    if (grdl_document_write(&text, form, &resource, 1, &err) < 0 ||
        grdl_document_read(&back, form, text.text, text.len, &err) < 0 || back.count != 1 ||
        !grdl_resource_same(resource, back.items[0])) {
        fprintf(stderr, "%u:%u: %s\n", err.line, err.column, err.text);
        broken("what is written reads back the same", text.text, text.len);
    }
    grdl_resources_done(&back);
    buf_done(&text);
}

static void check_ad(const struct grdl_resource *resource)
{
    struct grdl_reading *reading = grdl_read(kit->consumer, resource);
    struct tree *ad = grdl_to_ad(symbols, reading, 0);
    struct grdl_resource *back = ad ? grdl_from_ad(ad, NULL) : NULL;

    if (ad && (!back || !grdl_resource_same(resource, back)))
        broken("an ad gives back its resource", "", 0);
    grdl_resource_free(back);
    tree_unref(ad);
    grdl_reading_free(reading);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned runs;
    struct grdl_resources resources;
    struct err err = {0};
    char *text;
    unsigned line, column;

    if (!size)
        return 0;
    if (!kit || ++runs % 1000 == 0) { /* a reader never forgets a dimension */
        grdl_kit_free(kit);
        kit = grdl_kit_new(GRDL_DIMENSION_TRANSFORMING, NULL, 0, NULL);
        symbols = symbols ? symbols : names_new(0);
    }
    text = malloc(size); /* of its exact length, so that reading past its end is seen */
    memcpy(text, data + 1, size - 1);
    grdl_resources_init(&resources);
    if (grdl_document_read(&resources, data[0] & 1 ? GRDL_FORM_XML : GRDL_FORM_JSON, text, size - 1, &err) < 0) {
        err_place(text, size - 1, &line, &column);
        if (!err.text[0] || !err.line || !err.column || err.line > line || (err.line == line && err.column > column))
            broken("an error has a place in the text", text, size - 1);
    }
    for (uint32_t i = 0; i < resources.count && i < CHECKED_MAX; i++) {
        grdl_schema_check(kit->schema, resources.items[i], NULL, NULL);
        check_form(resources.items[i], GRDL_FORM_XML);
        check_form(resources.items[i], GRDL_FORM_JSON);
        check_ad(resources.items[i]);
    }
    grdl_resources_done(&resources);
    free(text);
    return 0;
}
