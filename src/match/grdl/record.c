/* record.c: a resource as an ad that says all of it, and back.
 *
 *     [ class = "task"; name = "job1";
 *       chars = { [ dimension = "mem"; type = "MB"; value = "180" ] };
 *       reqs = { [ dimension = "mhz"; match = ">="; value = "2500" ] };
 *       prefs = { [ dimension = "cost"; match = "<"; rank = 1 ] };
 *       defaults = { [ dimension = "cpu"; type = "hr" ], [ type = "MB" ] } ]
 *
 * What is missing is left out: a name, a type, a value. A value is a text; numbers are read too. */
#include "match/grdl/document.h"

#include "lang/base/mem.h"
#include "lang/text/print.h"
#include "match/grdl/xml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- writing */

static void label_push(struct build *build, const char *name)
{
    build_attribute(build, symbols_take(build->symbols, name, strlen(name)));
}

/* Pushes an attribute that is a text, unless there is none; returns how many were pushed. */
static uint32_t text_push(struct build *build, const char *name, const char *text)
{
    if (!text)
        return 0;
    build_string(build, text, strlen(text));
    label_push(build, name);
    return 1;
}

static void ad_bind(struct build *build, uint32_t count)
{
    uint32_t place;

    build_ad(build, count, &place); /* our own names: none is there twice */
}

static void rank_push(struct build *build, double rank)
{
    if (rank == floor(rank) && fabs(rank) < 1e15 && (rank != 0 || !signbit(rank)))
        build_integer(build, (int64_t)rank);
    else
        build_real(build, rank);
    label_push(build, "rank");
}

/* Pushes a property. `match` NULL: it is a characteristic; `rank` NULL: it is not a preference. */
static void property_push(struct build *build, const struct grdl_char *at, const enum grdl_operator *match,
                          const double *rank)
{
    uint32_t count = text_push(build, "dimension", at->dimension);

    if (match)
        count += text_push(build, "match", grdl_operators[*match].sign);
    count += text_push(build, "type", at->type);
    count += text_push(build, "value", at->text);
    if (rank) {
        rank_push(build, *rank);
        count++;
    }
    ad_bind(build, count);
}

/* Makes a list of that name of the properties pushed last, unless there are none. */
static uint32_t list_bind(struct build *build, const char *name, uint32_t count)
{
    if (!count)
        return 0;
    build_bind(build, EXPR_LIST, count);
    label_push(build, name);
    return 1;
}

void grdl_record_push(struct build *build, const struct grdl_resource *resource)
{
    uint32_t count = text_push(build, "class", resource->class_name) + text_push(build, "name", resource->name);

    for (uint32_t i = 0; i < resource->char_count; i++)
        property_push(build, &resource->chars[i], NULL, NULL);
    count += list_bind(build, "chars", resource->char_count);
    for (uint32_t i = 0; i < resource->req_count; i++)
        property_push(build, &resource->reqs[i].at, &resource->reqs[i].match, NULL);
    count += list_bind(build, "reqs", resource->req_count);
    for (uint32_t i = 0; i < resource->pref_count; i++)
        property_push(build, &resource->prefs[i].req.at, &resource->prefs[i].req.match, &resource->prefs[i].rank);
    count += list_bind(build, "prefs", resource->pref_count);
    for (uint32_t i = 0; i < resource->default_count; i++) {
        uint32_t parts = text_push(build, "dimension", resource->defaults[i].dimension);

        ad_bind(build, parts + text_push(build, "type", resource->defaults[i].type));
    }
    count += list_bind(build, "defaults", resource->default_count);
    ad_bind(build, count);
}

/* ------------------------------------------------------------------------------------------------------------- reading */

struct record {
    const struct tree *tree;
    struct grdl_resource *resource;
    struct err *err;
    struct buf texts[4]; /* of the property that is being read: as in property_texts */
};

static const char *const property_texts[] = {"dimension", "match", "type", "value"};
enum { TEXT_DIMENSION, TEXT_MATCH, TEXT_TYPE, TEXT_VALUE, TEXTS };

static const struct expr *part_of(const struct record *record, const struct expr *ad, const char *name)
{
    symbol s = symbols_find(record->tree->symbols, name, strlen(name));
    const struct expr *found = s == SYMBOL_NONE ? NULL : tree_find(record->tree, ad, s);

    return found && found->kind != EXPR_UNDEFINED ? found : NULL;
}

/* Checks that only these names are in the ad. */
static int names_check(const struct record *record, const struct expr *ad, const char *const *names, size_t count)
{
    const struct expr *parts = tree_parts(record->tree, ad);

    for (uint32_t i = 0; i < ad->u.run.count; i++) {
        size_t len, n = 0;
        const char *name = symbols_text(record->tree->symbols, parts[i].label, &len);
        struct buf wanted;

        while (n < count && !symbols_named(record->tree->symbols, parts[i].label, names[n], strlen(names[n])))
            n++;
        if (n < count)
            continue;
        buf_init(&wanted);
        for (n = 0; n < count; n++)
            buf_addf(&wanted, "%s%s", n == 0 ? "" : n + 1 == count ? " or " : ", ", names[n]);
        err_set(record->err, "expected %s, got '%.60s'", buf_string(&wanted), name);
        buf_done(&wanted);
        return -1;
    }
    return 0;
}

/* Reads a text, or a number as one. */
static int literal_text(const struct record *record, const struct expr *e, const char *name, struct buf *ret)
{
    buf_reset(ret);
    switch (e->kind) {
    case EXPR_STRING:
        buf_add(ret, tree_string(record->tree, e), e->u.run.count);
        break;
    case EXPR_INTEGER:
        print_integer(ret, e->u.integer);
        break;
    case EXPR_REAL:
        if (!isfinite(e->u.real))
            return err_set(record->err, "%s: expected a text or a number", name);
        print_real(ret, e->u.real);
        break;
    case EXPR_BOOLEAN:
        buf_adds(ret, e->small ? "true" : "false");
        break;
    default:
        return err_set(record->err, "%s: expected a text or a number", name);
    }
    if (!xml_text_is_good(ret->text, ret->len))
        return err_set(record->err, "%s: there are characters in it that no document can hold", name);
    return 0;
}

static int rank_of(const struct record *record, const struct expr *ad, double *ret)
{
    const struct expr *e = part_of(record, ad, "rank");

    *ret = GRDL_RANK_DEFAULT;
    if (!e)
        return 0;
    if (e->kind == EXPR_PREFIX && e->small == OP_SUBTRACT) { /* an ad has no literals below 0 */
        const struct expr *inner = tree_parts(record->tree, e);

        if (inner->kind == EXPR_INTEGER || inner->kind == EXPR_REAL) {
            *ret = inner->kind == EXPR_INTEGER ? -(double)inner->u.integer : -inner->u.real;
            return 0;
        }
    }
    if (e->kind != EXPR_INTEGER && e->kind != EXPR_REAL)
        return err_set(record->err, "rank: expected a number");
    *ret = e->kind == EXPR_INTEGER ? (double)e->u.integer : e->u.real;
    return isfinite(*ret) ? 0 : err_set(record->err, "rank: expected a number");
}

static const char *text_or_null(struct buf *text, bool there)
{
    return there ? buf_string(text) : NULL;
}

/* Adds one property of a section. */
typedef int property_fn(struct record *record, const struct expr *ad, const bool *there, enum grdl_operator match);

static int char_add(struct record *record, const struct expr *ad, const bool *there, enum grdl_operator match)
{
    (void)ad, (void)match;
    return grdl_add_char(record->resource, buf_string(&record->texts[TEXT_DIMENSION]),
                         text_or_null(&record->texts[TEXT_TYPE], there[TEXT_TYPE]),
                         text_or_null(&record->texts[TEXT_VALUE], there[TEXT_VALUE]), record->err);
}

static int req_add(struct record *record, const struct expr *ad, const bool *there, enum grdl_operator match)
{
    (void)ad;
    return grdl_add_req(record->resource, buf_string(&record->texts[TEXT_DIMENSION]), match,
                        text_or_null(&record->texts[TEXT_TYPE], there[TEXT_TYPE]),
                        text_or_null(&record->texts[TEXT_VALUE], there[TEXT_VALUE]), record->err);
}

static int pref_add(struct record *record, const struct expr *ad, const bool *there, enum grdl_operator match)
{
    double rank;

    if (rank_of(record, ad, &rank) < 0)
        return -1;
    return grdl_add_pref(record->resource, buf_string(&record->texts[TEXT_DIMENSION]), match,
                         text_or_null(&record->texts[TEXT_TYPE], there[TEXT_TYPE]),
                         text_or_null(&record->texts[TEXT_VALUE], there[TEXT_VALUE]), rank, record->err);
}

static int default_add(struct record *record, const struct expr *ad, const bool *there, enum grdl_operator match)
{
    (void)ad, (void)match;
    if (!there[TEXT_TYPE])
        return err_set(record->err, "expected type");
    return grdl_add_default(record->resource, text_or_null(&record->texts[TEXT_DIMENSION], there[TEXT_DIMENSION]),
                            buf_string(&record->texts[TEXT_TYPE]), record->err);
}

static const struct section {
    const char *name;
    property_fn *add;
    bool dimension; /* each property needs a dimension */
    const char *names[5];
    size_t name_count;
} sections[] = {
    {"chars", char_add, true, {"dimension", "type", "value"}, 3},
    {"reqs", req_add, true, {"dimension", "match", "type", "value"}, 4},
    {"prefs", pref_add, true, {"dimension", "match", "type", "value", "rank"}, 5},
    {"defaults", default_add, false, {"dimension", "type"}, 2},
};

static int property_read(struct record *record, const struct section *section, const struct expr *ad)
{
    enum grdl_operator match = GRDL_EQ;
    bool there[TEXTS] = {false};

    if (ad->kind != EXPR_AD)
        return err_set(record->err, "expected an object with %s", section->names[0]);
    if (names_check(record, ad, section->names, section->name_count) < 0)
        return -1;
    for (int i = 0; i < TEXTS; i++) {
        const struct expr *e = part_of(record, ad, property_texts[i]);

        there[i] = e != NULL;
        if (e && literal_text(record, e, property_texts[i], &record->texts[i]) < 0)
            return -1;
    }
    if (section->dimension && !there[TEXT_DIMENSION])
        return err_set(record->err, "expected dimension");
    if (there[TEXT_DIMENSION] &&
        !grdl_name_is_good(record->texts[TEXT_DIMENSION].text, record->texts[TEXT_DIMENSION].len))
        return err_set(record->err, "dimension: expected a name, of letters, digits, '_', '-' and '.', got '%.60s'",
                       buf_string(&record->texts[TEXT_DIMENSION]));
    if (there[TEXT_MATCH] && !grdl_operator_read(record->texts[TEXT_MATCH].text, record->texts[TEXT_MATCH].len, &match))
        return err_set(record->err, "match: expected =, !=, <, <=, >, >= or a word for one of them, got '%.60s'",
                       buf_string(&record->texts[TEXT_MATCH]));
    return section->add(record, ad, there, match);
}

static int section_read(struct record *record, const struct section *section, const struct expr *list)
{
    const struct expr *parts;

    if (list->kind != EXPR_LIST)
        return err_set(record->err, "%s: expected a list of objects", section->name);
    parts = tree_parts(record->tree, list);
    for (uint32_t i = 0; i < list->u.run.count; i++)
        if (property_read(record, section, &parts[i]) < 0)
            return err_context(record->err, "%s[%u]", section->name, i);
    return 0;
}

/* Reads the class and the name, and makes the resource. */
static int title_read(struct record *record, const struct expr *ad)
{
    const struct expr *class_part = part_of(record, ad, "class"), *name_part = part_of(record, ad, "name");
    struct buf *class_name = &record->texts[0], *name = &record->texts[1];

    if (!class_part || literal_text(record, class_part, "class", class_name) < 0)
        return class_part ? -1 : err_set(record->err, "expected class");
    if (!grdl_name_is_good(class_name->text, class_name->len))
        return err_set(record->err, "class: expected a name, of letters, digits, '_', '-' and '.', got '%.60s'",
                       buf_string(class_name));
    if (strcmp(buf_string(class_name), "resources") == 0)
        return err_set(record->err, "a class cannot be called resources");
    if (name_part && literal_text(record, name_part, "name", name) < 0)
        return -1;
    if (name_part && (!name->len || name->len > GRDL_NAME_MAX))
        return err_set(record->err, "the name of a resource has 1 to %d bytes", GRDL_NAME_MAX);
    record->resource = grdl_resource_new(buf_string(class_name), text_or_null(name, name_part != NULL));
    return 0;
}

struct grdl_resource *grdl_record_read(const struct tree *tree, const struct expr *e, struct err *err)
{
    static const char *const names[] = {"class", "name", "chars", "reqs", "prefs", "defaults"};
    struct record record = {.tree = tree, .err = err};
    int done = -1;

    for (int i = 0; i < TEXTS; i++)
        buf_init(&record.texts[i]);
    if (e->kind != EXPR_AD)
        err_set(err, "expected a resource");
    else if (names_check(&record, e, names, sizeof names / sizeof *names) == 0)
        done = title_read(&record, e);
    for (size_t i = 0; i < sizeof sections / sizeof *sections && done == 0; i++) {
        const struct expr *list = part_of(&record, e, sections[i].name);

        if (list)
            done = section_read(&record, &sections[i], list);
    }
    for (int i = 0; i < TEXTS; i++)
        buf_done(&record.texts[i]);
    if (done == 0)
        return record.resource;
    grdl_resource_free(record.resource);
    return NULL;
}
