/* document.c: resources as text: which form a text has, and its JSON, which is that of the record as an ad. */
#include "match/grdl/document.h"

#include "match/grdl/xml.h"

#include <string.h>

enum grdl_form grdl_form_guess(const char *text, size_t len)
{
    size_t at = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    while (at < len && strchr(" \t\r\n", text[at]) && text[at])
        at++;
    if (at == len)
        return GRDL_FORM_UNKNOWN;
    return text[at] == '<' ? GRDL_FORM_XML : text[at] == '{' || text[at] == '[' ? GRDL_FORM_JSON : GRDL_FORM_UNKNOWN;
}

int grdl_ads_read(struct grdl_resources *ret, struct symbols *symbols, enum form form, const char *text, size_t len,
                  grdl_ad_fn *make, struct err *err)
{
    struct form_text stream = {text, len};
    struct form_reader *reader = form_reader_new(symbols, &dialect_classic, form, NULL, form_text_read, &stream);
    struct tree *ad;
    int got;

    while ((got = form_reader_next(reader, &ad, err)) > 0) {
        struct grdl_resource *resource = make(ad, err);

        tree_unref(ad);
        if (!resource) {
            if (err) {
                err->line = form_reader_line(reader);
                err->column = form_reader_column(reader);
            }
            got = -1;
            break;
        }
        resource->line = form_reader_line(reader);
        resource->column = form_reader_column(reader);
        grdl_resources_take(ret, resource);
    }
    form_reader_free(reader);
    return got;
}

static struct grdl_resource *record_make(const struct tree *ad, struct err *err)
{
    return grdl_record_read(ad, tree_root(ad), err);
}

static int json_resources_read(struct grdl_resources *ret, const char *text, size_t len, struct err *err)
{
    struct symbols *symbols = symbols_new(NULL, 0, 0);
    int got = grdl_ads_read(ret, symbols, FORM_JSON, text, len, record_make, err);

    symbols_free(symbols);
    return got;
}

int grdl_document_read(struct grdl_resources *ret, enum grdl_form form, const char *text, size_t len, struct err *err)
{
    if (len > GRDL_DOCUMENT_MAX)
        return err_at(err, 1, 1, "the document has more than %u bytes", GRDL_DOCUMENT_MAX);
    if (form == GRDL_FORM_UNKNOWN)
        form = grdl_form_guess(text, len);
    switch (form) {
    case GRDL_FORM_XML:
        return xml_resources_read(ret, text, len, err);
    case GRDL_FORM_JSON:
        return json_resources_read(ret, text, len, err);
    default:
        return err_at(err, 1, 1, "expected resources in XML or JSON");
    }
}

static int json_resources_write(struct buf *out, const struct grdl_resource *const *resources, uint32_t count,
                                struct err *err)
{
    struct symbols *symbols = symbols_new(NULL, 0, 0);
    struct build build;
    int written = 0;

    build_init(&build, symbols, &dialect_classic);
    for (uint32_t i = 0; i < count && written == 0; i++) {
        struct tree *ad;

        grdl_record_push(&build, resources[i]);
        ad = build_seal(&build);
        written = form_write_ad(out, FORM_JSON, ad, err);
        tree_unref(ad);
    }
    build_done(&build);
    symbols_free(symbols);
    return written;
}

int grdl_document_write(struct buf *out, enum grdl_form form, const struct grdl_resource *const *resources,
                        uint32_t count, struct err *err)
{
    if (form == GRDL_FORM_JSON)
        return json_resources_write(out, resources, count, err);
    return xml_resources_write(out, resources, count, err);
}
