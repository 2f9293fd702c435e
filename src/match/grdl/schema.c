/* schema.c: checks resources by the schema. */
#include "match/grdl/schema.h"

#include "lang/base/buf.h"
#include "lang/base/mem.h"
#include "lang/base/number.h"
#include "lang/base/textmap.h"
#include "lang/form/libxml.h"
#include "match/grdl/schema_text.h"

#include <stdlib.h>
#include <string.h>

struct grdl_schema {
    xmlSchemaPtr rules;
    struct textmap known; /* dimensions besides those of the schema */
};

/* ----------------------------------------------------------------------------------------------------------- its making */

/* The lists of units in the schema, and their categories. */
static const struct {
    const char *opens, *category;
} unit_lists[] = {
    {"<xs:simpleType name=\"TimeUnit\">\n", "time"},           {"<xs:simpleType name=\"MetricUnit\">\n", "metric"},
    {"<xs:simpleType name=\"FrequencyUnit\">\n", "frequency"}, {"<xs:simpleType name=\"BinaryUnit\">\n", "binary"},
    {"<xs:simpleType name=\"TransferUnit\">\n", "transfer"},
};

static void escaped_add(struct buf *out, const char *text)
{
    for (; *text; text++)
        if (*text == '<' || *text == '&' || *text == '"')
            buf_addf(out, "&#%d;", *text);
        else
            buf_addc(out, *text);
}

static void units_add(struct buf *out, const struct grdl_units *units, const char *category)
{
    for (uint32_t i = 0; i < grdl_units_count(units); i++) {
        const struct grdl_unit *unit = grdl_units_row(units, i);

        if (strcmp(unit->category, category) != 0)
            continue;
        buf_adds(out, "<xs:enumeration value=\"");
        escaped_add(out, unit->name);
        buf_adds(out, "\"/>\n");
    }
}

struct grdl_schema *grdl_schema_new(const struct grdl_units *units)
{
    struct grdl_schema *schema = mem_alloc(sizeof *schema);
    const char *category = NULL;
    xmlSchemaParserCtxtPtr parser;
    struct buf text;

    buf_init(&text);
    for (unsigned i = 0; i < schema_line_count; i++) {
        bool listed = category && strncmp(schema_lines[i], "<xs:enumeration", 15) == 0;

        if (!listed)
            buf_adds(&text, schema_lines[i]);
        for (size_t n = 0; n < sizeof unit_lists / sizeof *unit_lists; n++)
            if (strcmp(schema_lines[i], unit_lists[n].opens) == 0)
                category = unit_lists[n].category;
        if (category && strncmp(schema_lines[i], "<xs:restriction", 15) == 0)
            units_add(&text, units, category);
        if (strncmp(schema_lines[i], "</xs:simpleType", 15) == 0)
            category = NULL;
    }
    parser = libxml()->SchemaNewMemParserCtxt(text.text, (int)text.len);
    schema->rules = parser ? libxml()->SchemaParse(parser) : NULL;
    libxml()->SchemaFreeParserCtxt(parser);
    buf_done(&text);
    if (!schema->rules) /* it is our own text: memory has run out */
        abort();
    textmap_init(&schema->known, 0);
    return schema;
}

void grdl_schema_free(struct grdl_schema *schema)
{
    if (!schema)
        return;
    libxml()->SchemaFree(schema->rules);
    textmap_done(&schema->known);
    free(schema);
}

void grdl_schema_know(struct grdl_schema *schema, const char *dimension)
{
    textmap_add(&schema->known, dimension, strlen(dimension));
}

/* ----------------------------------------------------------------------------------------------------------- a resource */

struct check {
    const struct grdl_resource *resource;
    struct textmap told; /* dimensions that were told to be unknown */
    xmlSAXHandlerPtr sax;
    void *plug;
    const struct grdl_char *at; /* the property that is being looked at */
    struct err found;           /* what was said about it */
    unsigned count;
    grdl_complain_fn *complain;
    void *user;
};

static int name_order(const void *a, const void *b)
{
    return strcmp(a, ((const struct schema_dimension *)b)->name);
}

/* The element that a dimension is checked as, or NULL: that text outlives the check. */
static const char *schema_element(const char *dimension)
{
    const struct schema_dimension *found =
        bsearch(dimension, schema_dimensions, schema_dimension_count, sizeof *schema_dimensions, name_order);

    return found ? found->element : NULL;
}

static void complaint_tell(struct check *check, enum grdl_complaint complaint, struct err *err)
{
    err->line = check->at->line ? check->at->line : check->resource->line;
    err->column = check->at->line ? check->at->column : check->resource->column;
    check->count++;
    if (check->complain)
        check->complain(check->user, complaint, err);
}

/* What a pattern of the schema asks for, in plain words, by a piece of the pattern. The last row fits every other. */
static const struct {
    const char *piece, *words;
} pattern_words[] = {
    {"[0-9]{4}-", "a date, as 2008-09-30T12:00, or a number"},
    {"'([+\\-]?[0-9]+)?'", "an integer"},
    {"pattern", "a number"},
};

/* Prints the set that libxml2 shows as {'B', 'KB', 'MB'}, without the quotes. */
static void set_print(struct buf *out, const char *message)
{
    const char *at = strrchr(message, '{');

    for (at = at ? at + 1 : ""; *at && *at != '}'; at++)
        if (*at != '\'')
            buf_addc(out, *at);
}

/* Takes an error of libxml2. The first one counts: those that follow repeat it. */
static void on_invalid(void *user, xmlErrorPtr error)
{
    const char *message = error->message ? error->message : "";
    struct check *check = user;
    struct buf set;
    size_t row = 0;

    if (!check->at || check->found.text[0])
        return;
    if (error->code == XML_SCHEMAV_CVC_PATTERN_VALID) {
        while (!strstr(message, pattern_words[row].piece) && row + 1 < sizeof pattern_words / sizeof *pattern_words)
            row++;
        err_set(&check->found, "%s: expected %s, got '%.60s'", check->at->dimension, pattern_words[row].words,
                check->at->text);
    } else if (error->code == XML_SCHEMAV_CVC_ENUMERATION_VALID && strstr(message, "attribute 'type'")) {
        buf_init(&set);
        set_print(&set, message);
        err_set(&check->found, "%s: type: expected one of %.200s, got '%.60s'", check->at->dimension, buf_string(&set),
                check->at->type);
        buf_done(&set);
    } else {
        if (strncmp(message, "Element '", 9) == 0) /* the name that it was checked by */
            message += 9 + strcspn(message + 9, "'") + 1;
        err_set(&check->found, "%s%.*s", check->at->dimension, (int)strcspn(message, "\n"), message);
    }
}

static void element_begin(struct check *check, const char *name, const char *const *attributes, int count)
{
    const xmlChar *five[3 * 5]; /* name, prefix, namespace, value, its end */

    for (int i = 0; i < count; i++) {
        const char *value = attributes[i * 2 + 1];

        five[i * 5] = BAD_CAST attributes[i * 2];
        five[i * 5 + 1] = five[i * 5 + 2] = NULL;
        five[i * 5 + 3] = BAD_CAST value;
        five[i * 5 + 4] = BAD_CAST(value + strlen(value));
    }
    check->sax->startElementNs(check->plug, BAD_CAST name, NULL, NULL, 0, NULL, count, 0, count ? five : NULL);
}

static void element_end(struct check *check, const char *name)
{
    check->sax->endElementNs(check->plug, BAD_CAST name, NULL, NULL);
}

static void property_check(struct check *check, struct grdl_schema *schema, const struct grdl_char *at,
                           const enum grdl_operator *match, const double *rank)
{
    const char *name = schema_element(at->dimension), *attributes[6];
    char number[NUMBER_TEXT_MAX + 1];
    struct err err = {0};
    int count = 0;

    check->at = at;
    if (!name && textmap_find(&schema->known, at->dimension, strlen(at->dimension)) == TEXTMAP_NONE &&
        textmap_find(&check->told, at->dimension, strlen(at->dimension)) == TEXTMAP_NONE) {
        textmap_add(&check->told, at->dimension, strlen(at->dimension));
        err_set(&err, "%s: this dimension is not known", at->dimension);
        complaint_tell(check, GRDL_UNKNOWN_DIMENSION, &err);
    }
    if (at->type)
        attributes[count * 2] = "type", attributes[count++ * 2 + 1] = at->type;
    if (match)
        attributes[count * 2] = "match", attributes[count++ * 2 + 1] = grdl_operators[*match].sign;
    if (rank) {
        bool minus = *rank < 0;

        number[0] = '-';
        number[minus + number_print_real(minus ? -*rank : *rank, number + minus)] = '\0';
        attributes[count * 2] = "rank", attributes[count++ * 2 + 1] = number;
    }
    check->found.text[0] = '\0';
    name = name ? name : "dimension";
    element_begin(check, name, attributes, count);
    if (at->text)
        check->sax->characters(check->plug, BAD_CAST at->text, (int)strlen(at->text));
    element_end(check, name);
    if (check->found.text[0])
        complaint_tell(check, GRDL_WRONG_VALUE, &check->found);
    check->at = NULL;
}

unsigned grdl_schema_check(struct grdl_schema *schema, const struct grdl_resource *resource, grdl_complain_fn *complain,
                           void *user)
{
    xmlSchemaValidCtxtPtr valid = libxml()->SchemaNewValidCtxt(schema->rules);
    struct check check = {.resource = resource, .complain = complain, .user = user};
    xmlSchemaSAXPlugPtr plug;

    libxml()->SchemaSetValidStructuredErrors(valid, on_invalid, &check);
    plug = libxml()->SchemaSAXPlug(valid, &check.sax, &check.plug);
    if (!plug)
        abort();
    textmap_init(&check.told, 0);
    element_begin(&check, "resource", NULL, 0);
    element_begin(&check, "chars", NULL, 0);
    for (uint32_t i = 0; i < resource->char_count; i++)
        property_check(&check, schema, &resource->chars[i], NULL, NULL);
    element_end(&check, "chars");
    element_begin(&check, "reqs", NULL, 0);
    for (uint32_t i = 0; i < resource->req_count; i++)
        property_check(&check, schema, &resource->reqs[i].at, &resource->reqs[i].match, NULL);
    element_end(&check, "reqs");
    element_begin(&check, "prefs", NULL, 0);
    for (uint32_t i = 0; i < resource->pref_count; i++) {
        const struct grdl_pref *pref = &resource->prefs[i];

        property_check(&check, schema, &pref->req.at, &pref->req.match, &pref->rank);
    }
    element_end(&check, "prefs");
    element_end(&check, "resource");
    libxml()->SchemaSAXUnplug(plug);
    libxml()->SchemaFreeValidCtxt(valid);
    textmap_done(&check.told);
    return check.count;
}
