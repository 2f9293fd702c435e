/* model.c: resources put together and taken apart. */
#include "match/grdl/model.h"

#include "lang/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAIRWISE (GRDL_OPERATOR_REQUIRES | GRDL_OPERATOR_PREFERS)
#define SET_WISE (GRDL_OPERATOR_REQUIRES | GRDL_OPERATOR_SET)

const struct grdl_operator_row grdl_operators[GRDL_OPERATORS] = {
    [GRDL_EQ] = {"=", "eq", PAIRWISE, GRDL_EQ},
    [GRDL_NE] = {"!=", "ne", PAIRWISE, GRDL_NE},
    [GRDL_LT] = {"<", "lt", PAIRWISE, GRDL_LT},
    [GRDL_LE] = {"<=", "le", PAIRWISE, GRDL_LE},
    [GRDL_GT] = {">", "gt", PAIRWISE, GRDL_GT},
    [GRDL_GE] = {">=", "ge", PAIRWISE, GRDL_GE},
    [GRDL_EQUIVALENT] = {"equivalent", "equivalent", GRDL_OPERATOR_REQUIRES, GRDL_EQUIVALENT},
    [GRDL_ORDERED] = {"ordered", "ordered", GRDL_OPERATOR_REQUIRES, GRDL_ORDERED},
    [GRDL_SET_EQ] = {"set_eq", "set_eq", SET_WISE, GRDL_EQ},
    [GRDL_SET_NE] = {"set_ne", "set_ne", SET_WISE, GRDL_NE},
    [GRDL_SET_LT] = {"set_lt", "set_lt", SET_WISE, GRDL_LT},
    [GRDL_SET_LE] = {"set_le", "set_le", SET_WISE, GRDL_LE},
    [GRDL_SET_GT] = {"set_gt", "set_gt", SET_WISE, GRDL_GT},
    [GRDL_SET_GE] = {"set_ge", "set_ge", SET_WISE, GRDL_GE},
    [GRDL_CLOSE] = {"><", "close", GRDL_OPERATOR_PREFERS, GRDL_CLOSE},
    [GRDL_FAR] = {"<>", "far", GRDL_OPERATOR_PREFERS, GRDL_FAR},
};

static const char blanks[] = " \t\r\n";

static bool is_spelt(const char *name, const char *text, size_t len)
{
    return strlen(name) == len && !memcmp(name, text, len);
}

bool grdl_operator_read(const char *text, size_t len, enum grdl_operator *ret_operator)
{
    if (is_spelt("==", text, len)) {
        *ret_operator = GRDL_EQ;
        return true;
    }
    for (int i = 0; i < GRDL_OPERATORS; i++)
        if (is_spelt(grdl_operators[i].sign, text, len) || is_spelt(grdl_operators[i].word, text, len)) {
            *ret_operator = (enum grdl_operator)i;
            return true;
        }
    return false;
}

/* A copy with a NUL behind it. */
static const char *bytes_keep(struct grdl_resource *resource, const char *text, size_t len)
{
    char *copy = arena_alloc(&resource->arena, len + 1);

    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

static const char *text_keep(struct grdl_resource *resource, const char *text)
{
    return text ? bytes_keep(resource, text, strlen(text)) : NULL;
}

struct grdl_resource *grdl_resource_new(const char *class_name, const char *name)
{
    struct grdl_resource *resource = mem_alloc(sizeof *resource);

    *resource = (struct grdl_resource){0};
    arena_init(&resource->arena);
    resource->class_name = text_keep(resource, class_name);
    resource->name = text_keep(resource, name);
    return resource;
}

void grdl_resource_free(struct grdl_resource *resource)
{
    if (!resource)
        return;
    free(resource->chars);
    free(resource->reqs);
    free(resource->prefs);
    free(resource->defaults);
    arena_done(&resource->arena);
    free(resource);
}

/* Makes room for one more than `count` items; returns where they now are. */
static void *items_grow(void *items, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return items;
    *room = *room ? *room * 2 : 4;
    return mem_grow(items, *room * size);
}

static int name_check(const char *what, const char *name, struct err *err)
{
    if (!*name)
        return err_set(err, "the %s has no name", what);
    if (strlen(name) > GRDL_NAME_MAX)
        return err_set(err, "the name of the %s has more than %d bytes", what, GRDL_NAME_MAX);
    return 0;
}

/* Keeps the text without blanks around it; NULL when nothing is left of it. */
static const char *value_keep(struct grdl_resource *resource, const char *text)
{
    size_t len;

    if (!text)
        return NULL;
    text += strspn(text, blanks);
    len = strlen(text);
    while (len && strchr(blanks, text[len - 1]))
        len--;
    return len ? bytes_keep(resource, text, len) : NULL;
}

/* Makes what characteristics, requirements and preferences have in common. */
static int char_make(struct grdl_resource *resource, uint32_t count, const char *dimension, const char *type,
                     const char *text, struct grdl_char *ret_char, struct err *err)
{
    size_t bytes;

    if (name_check("dimension", dimension, err) || (type && *type && name_check("type", type, err)))
        return -1;
    if (count >= GRDL_PROPERTIES_MAX)
        return err_set(err, "a resource has at most %d properties of a kind", GRDL_PROPERTIES_MAX);
    if (text && strlen(text) > GRDL_TEXT_MAX)
        return err_set(err, "the value of %s has more than %d bytes", dimension, GRDL_TEXT_MAX);
    bytes = strlen(dimension) + (type ? strlen(type) : 0) + (text ? strlen(text) : 0);
    if (bytes > GRDL_BYTES_MAX - resource->bytes)
        return err_set(err, "the properties of a resource have more than %d bytes", GRDL_BYTES_MAX);
    resource->bytes += bytes;
    *ret_char = (struct grdl_char){
        .dimension = text_keep(resource, dimension),
        .type = value_keep(resource, type),
        .text = value_keep(resource, text),
    };
    return 0;
}

static int operator_check(const char *dimension, enum grdl_operator match, unsigned use, const char *where,
                          struct err *err)
{
    if (!(grdl_operators[match].uses & use))
        return err_set(err, "%s: '%s' has no place in a %s", dimension, grdl_operators[match].sign, where);
    return 0;
}

int grdl_add_char(struct grdl_resource *resource, const char *dimension, const char *type, const char *text,
                  struct err *err)
{
    struct grdl_char made;

    if (char_make(resource, resource->char_count, dimension, type, text, &made, err))
        return -1;
    resource->chars = items_grow(resource->chars, resource->char_count, &resource->char_room, sizeof made);
    resource->chars[resource->char_count++] = made;
    return 0;
}

int grdl_add_req(struct grdl_resource *resource, const char *dimension, enum grdl_operator match, const char *type,
                 const char *text, struct err *err)
{
    struct grdl_req made = {.match = match};

    if (operator_check(dimension, match, GRDL_OPERATOR_REQUIRES, "requirement", err) ||
        char_make(resource, resource->req_count, dimension, type, text, &made.at, err))
        return -1;
    resource->reqs = items_grow(resource->reqs, resource->req_count, &resource->req_room, sizeof made);
    resource->reqs[resource->req_count++] = made;
    return 0;
}

int grdl_add_pref(struct grdl_resource *resource, const char *dimension, enum grdl_operator match, const char *type,
                  const char *text, double rank, struct err *err)
{
    struct grdl_pref made = {.req.match = match, .rank = rank};

    if (!isfinite(rank))
        return err_set(err, "%s: the rank is not a number", dimension);
    if ((match == GRDL_CLOSE || match == GRDL_FAR) && (!text || !text[strspn(text, blanks)]))
        return err_set(err, "%s: '%s' needs a value to be close to or far from", dimension, grdl_operators[match].sign);
    if (operator_check(dimension, match, GRDL_OPERATOR_PREFERS, "preference", err) ||
        char_make(resource, resource->pref_count, dimension, type, text, &made.req.at, err))
        return -1;
    resource->prefs = items_grow(resource->prefs, resource->pref_count, &resource->pref_room, sizeof made);
    resource->prefs[resource->pref_count++] = made;
    return 0;
}

int grdl_add_default(struct grdl_resource *resource, const char *dimension, const char *type, struct err *err)
{
    if ((dimension && name_check("dimension", dimension, err)) || name_check("type", type, err))
        return -1;
    if (resource->default_count >= GRDL_PROPERTIES_MAX)
        return err_set(err, "a resource has at most %d properties of a kind", GRDL_PROPERTIES_MAX);
    resource->defaults =
        items_grow(resource->defaults, resource->default_count, &resource->default_room, sizeof *resource->defaults);
    resource->defaults[resource->default_count++] =
        (struct grdl_default){text_keep(resource, dimension), text_keep(resource, type)};
    return 0;
}

void grdl_set_value(struct grdl_resource *resource, struct grdl_char *property, const char *type, const char *text)
{
    property->type = value_keep(resource, type);
    property->text = value_keep(resource, text);
}

/* Copies a property of another resource; its text is kept here. */
static struct grdl_char char_copy(struct grdl_resource *resource, const struct grdl_char *from)
{
    struct grdl_char to = *from;

    to.dimension = text_keep(resource, from->dimension);
    to.type = text_keep(resource, from->type);
    to.text = text_keep(resource, from->text);
    return to;
}

struct grdl_resource *grdl_resource_copy(const struct grdl_resource *from, const char *class_name, const char *name)
{
    struct grdl_resource *to = grdl_resource_new(class_name ? class_name : from->class_name, name ? name : from->name);

    to->line = from->line;
    to->column = from->column;
    to->bytes = from->bytes;
    for (uint32_t i = 0; i < from->char_count; i++) {
        to->chars = items_grow(to->chars, i, &to->char_room, sizeof *to->chars);
        to->chars[to->char_count++] = char_copy(to, &from->chars[i]);
    }
    for (uint32_t i = 0; i < from->req_count; i++) {
        to->reqs = items_grow(to->reqs, i, &to->req_room, sizeof *to->reqs);
        to->reqs[to->req_count++] = (struct grdl_req){char_copy(to, &from->reqs[i].at), from->reqs[i].match};
    }
    for (uint32_t i = 0; i < from->pref_count; i++) {
        const struct grdl_pref *pref = &from->prefs[i];

        to->prefs = items_grow(to->prefs, i, &to->pref_room, sizeof *to->prefs);
        to->prefs[to->pref_count++] = (struct grdl_pref){{char_copy(to, &pref->req.at), pref->req.match}, pref->rank};
    }
    for (uint32_t i = 0; i < from->default_count; i++)
        grdl_add_default(to, from->defaults[i].dimension, from->defaults[i].type, NULL);
    return to;
}

static bool text_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool char_same(const struct grdl_char *a, const struct grdl_char *b)
{
    return text_same(a->dimension, b->dimension) && text_same(a->type, b->type) && text_same(a->text, b->text);
}

bool grdl_resource_same(const struct grdl_resource *a, const struct grdl_resource *b)
{
    if (!text_same(a->class_name, b->class_name) || !text_same(a->name, b->name) || a->char_count != b->char_count ||
        a->req_count != b->req_count || a->pref_count != b->pref_count || a->default_count != b->default_count)
        return false;
    for (uint32_t i = 0; i < a->char_count; i++)
        if (!char_same(&a->chars[i], &b->chars[i]))
            return false;
    for (uint32_t i = 0; i < a->req_count; i++)
        if (a->reqs[i].match != b->reqs[i].match || !char_same(&a->reqs[i].at, &b->reqs[i].at))
            return false;
    for (uint32_t i = 0; i < a->pref_count; i++)
        if (a->prefs[i].req.match != b->prefs[i].req.match || a->prefs[i].rank != b->prefs[i].rank ||
            !char_same(&a->prefs[i].req.at, &b->prefs[i].req.at))
            return false;
    for (uint32_t i = 0; i < a->default_count; i++)
        if (!text_same(a->defaults[i].dimension, b->defaults[i].dimension) ||
            !text_same(a->defaults[i].type, b->defaults[i].type))
            return false;
    return true;
}

void grdl_resources_init(struct grdl_resources *resources)
{
    *resources = (struct grdl_resources){0};
}

void grdl_resources_done(struct grdl_resources *resources)
{
    if (!resources)
        return;
    for (uint32_t i = 0; i < resources->count; i++)
        grdl_resource_free(resources->items[i]);
    free(resources->items);
    *resources = (struct grdl_resources){0};
}

void grdl_resources_take(struct grdl_resources *resources, struct grdl_resource *resource)
{
    resources->items = items_grow(resources->items, resources->count, &resources->room, sizeof *resources->items);
    resources->items[resources->count++] = resource;
}

const struct grdl_resource *grdl_resources_named(const struct grdl_resources *resources, const char *name)
{
    for (uint32_t i = 0; i < resources->count; i++)
        if (text_same(resources->items[i]->name, name))
            return resources->items[i];
    return NULL;
}
