/* resource.c: ads as GRDL resources. */
#include "live/http/resource.h"

#include "live/http/represent.h"
#include "match/grdl/translate.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *type;
    enum grdl_form form;
} resource_rows[] = {{TYPE_GRDL_XML, GRDL_FORM_XML}, {TYPE_GRDL_JSON, GRDL_FORM_JSON}};
#define ROWS (sizeof resource_rows / sizeof *resource_rows)

enum grdl_form resource_media(const char *type)
{
    size_t len = type ? strcspn(type, "; ") : 0;

    for (size_t i = 0; i < ROWS; i++)
        if (strlen(resource_rows[i].type) == len && strncasecmp(resource_rows[i].type, type, len) == 0)
            return resource_rows[i].form;
    return GRDL_FORM_UNKNOWN;
}

/* Resources are given only when asked for by name: a general Accept gets an ad. */
enum grdl_form resource_accept(const char *accept, const char *types)
{
    while (accept && *accept) {
        size_t part;

        accept += strspn(accept, " ");
        part = strcspn(accept, ",");
        for (size_t i = 0; i < ROWS; i++) {
            char one[sizeof TYPE_GRDL_JSON + 32];
            size_t len = part < sizeof one - 1 ? part : sizeof one - 1;

            memcpy(one, accept, len);
            one[len] = '\0';
            if (strstr(types, resource_rows[i].type) && media_wants(one, resource_rows[i].type))
                return resource_rows[i].form;
            if (media_wants(one, TYPE_CLASSAD) || media_wants(one, TYPE_JSON) || strncmp(one, "*/*", 3) == 0)
                return GRDL_FORM_UNKNOWN; /* an ad is asked for first, and can be given */
        }
        accept += part;
        accept += *accept == ',';
    }
    return GRDL_FORM_UNKNOWN;
}

const char *resource_type(enum grdl_form form)
{
    return form == GRDL_FORM_JSON ? TYPE_GRDL_JSON : TYPE_GRDL_XML;
}

static struct tree *resource_translate(struct symbols *symbols, const struct grdl_resource *resource)
{
    struct grdl_units *units = grdl_units_new();
    struct grdl_consumer *consumer = grdl_consumer_new(units, GRDL_DIMENSION_TRANSFORMING); /* for this one alone */
    struct grdl_reading *reading = grdl_read(consumer, resource);
    struct tree *ad = grdl_to_ad(symbols, reading, 0);

    grdl_reading_free(reading);
    grdl_consumer_free(consumer);
    grdl_units_free(units);
    return ad;
}

struct tree *resource_read(struct symbols *symbols, enum grdl_form form, const struct form_limits *limits,
                           const char *text, size_t len, struct err *err)
{
    struct grdl_resources resources;
    struct tree *ad = NULL;

    if (utf8_check(text, len, err) < 0)
        return NULL;
    if (limits && limits->bytes && len > limits->bytes) {
        err_set(err, "a resource has at most %zu bytes here", limits->bytes);
        return NULL;
    }
    grdl_resources_init(&resources);
    if (grdl_document_read(&resources, form, text, len, err) == 0) {
        if (resources.count == 1)
            ad = resource_translate(symbols, resources.items[0]);
        if (!ad)
            err_set(err, resources.count == 1 ? "the resource is too large to be an ad" : "expected one resource");
    }
    if (ad && limits &&
        ((limits->cells && ad->cell_count > limits->cells) ||
         (limits->attributes && tree_root(ad)->u.run.count > limits->attributes))) {
        err_set(err, "the resource is too large to be an ad here: it has %u attributes and %u parts",
                tree_root(ad)->u.run.count, ad->cell_count);
        tree_unref(ad);
        ad = NULL;
    }
    grdl_resources_done(&resources);
    return ad;
}

int resource_write(struct buf *out, enum grdl_form form, const struct tree *ad, struct err *err)
{
    struct grdl_resource *resource = grdl_from_ad(ad, err);
    const struct grdl_resource *one = resource;
    int written = resource ? grdl_document_write(out, form, &one, 1, err) : -1;

    grdl_resource_free(resource);
    return written;
}
