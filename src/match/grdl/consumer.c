/* consumer.c: a resource as its reader understands it: dimensions and types as numbers, values in base units, sorted. */
#include "match/grdl/consumer.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/number.h"
#include "lang/base/textmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a dimension. Types are NULL where nothing is. */
struct dimension {
    char *by_name, *by_default, *by_operation;
    uint32_t same; /* the dimension that it is the same as; itself at first */
    bool single;
};

struct grdl_consumer {
    const struct grdl_units *units;
    enum grdl_comparator comparator;
    struct textmap names;         /* of dimensions: the place is the number */
    struct dimension *dimensions; /* by number */
    uint32_t count, room;
    struct textmap types; /* the place plus 1 is the number: "=NAME" for a type of its own, "/CATEGORY" for units */
};

const char *const grdl_state_words[4] = {"undefined", "unspecified", "single", "multiple"};

/* Types that name a kind. */
static const struct {
    const char *name;
    enum grdl_kind kind;
} kind_types[] = {
    {"number", GRDL_NUMBER},   {"text", GRDL_TEXT}, {"string", GRDL_TEXT},
    {"version", GRDL_VERSION}, {"date", GRDL_DATE}, {"dateTime", GRDL_DATE},
};

static enum grdl_kind kind_named(const char *type)
{
    for (size_t i = 0; i < sizeof kind_types / sizeof *kind_types; i++)
        if (!strcmp(kind_types[i].name, type))
            return kind_types[i].kind;
    return GRDL_UNSPECIFIED;
}

static uint32_t dimension_number(struct grdl_consumer *consumer, const char *name)
{
    uint32_t place = textmap_add(&consumer->names, name, strlen(name));

    if (place == consumer->count) {
        ARRAY_ROOM(consumer->dimensions, consumer->count, consumer->room, 32);
        consumer->dimensions[consumer->count++] = (struct dimension){.same = place};
    }
    return place;
}

struct grdl_consumer *grdl_consumer_new(const struct grdl_units *units, enum grdl_comparator comparator)
{
    return grdl_consumer_new_seeded(units, comparator, 0);
}

struct grdl_consumer *grdl_consumer_new_seeded(const struct grdl_units *units, enum grdl_comparator comparator,
                                               uint64_t seed)
{
    static const char *const frequencies[][2] = {
        {"mhz", "MHz"}, {"ghz", "GHz"}, {"khz", "KHz"}, {"hz", "Hz"}, {"thz", "THz"}};
    struct grdl_consumer *consumer = mem_alloc(sizeof *consumer);

    *consumer = (struct grdl_consumer){.units = units, .comparator = comparator};
    textmap_init(&consumer->names, seed);
    textmap_init(&consumer->types, seed);
    for (size_t i = 0; i < sizeof frequencies / sizeof *frequencies; i++) {
        grdl_consumer_name(consumer, frequencies[i][0], frequencies[i][1]);
        grdl_consumer_same(consumer, frequencies[i][0], "mhz");
    }
    return consumer;
}

void grdl_consumer_free(struct grdl_consumer *consumer)
{
    if (!consumer)
        return;
    for (uint32_t i = 0; i < consumer->count; i++) {
        free(consumer->dimensions[i].by_name);
        free(consumer->dimensions[i].by_default);
        free(consumer->dimensions[i].by_operation);
    }
    free(consumer->dimensions);
    textmap_done(&consumer->names);
    textmap_done(&consumer->types);
    free(consumer);
}

static void type_replace(char **place, const char *type)
{
    free(*place);
    *place = mem_dup(type, strlen(type));
}

void grdl_consumer_name(struct grdl_consumer *consumer, const char *dimension, const char *type)
{
    uint32_t number = dimension_number(consumer, dimension);

    type_replace(&consumer->dimensions[number].by_name, type);
}

void grdl_consumer_default(struct grdl_consumer *consumer, const char *dimension, const char *type)
{
    uint32_t number = dimension_number(consumer, dimension);

    type_replace(&consumer->dimensions[number].by_default, type);
}

void grdl_consumer_operation(struct grdl_consumer *consumer, const char *dimension, const char *type)
{
    uint32_t number = dimension_number(consumer, dimension);

    type_replace(&consumer->dimensions[number].by_operation, type);
}

/* The dimension that stands for all that are the same, for a comparator that transforms dimensions. */
static uint32_t dimension_root(const struct grdl_consumer *consumer, uint32_t number)
{
    while (consumer->comparator == GRDL_DIMENSION_TRANSFORMING && consumer->dimensions[number].same != number)
        number = consumer->dimensions[number].same;
    return number;
}

void grdl_consumer_same(struct grdl_consumer *consumer, const char *dimension, const char *as)
{
    uint32_t from = dimension_number(consumer, dimension), to = dimension_number(consumer, as);

    while (consumer->dimensions[from].same != from)
        from = consumer->dimensions[from].same;
    while (consumer->dimensions[to].same != to)
        to = consumer->dimensions[to].same;
    consumer->dimensions[from].same = to; /* two roots: there is never a circle */
}

void grdl_consumer_single(struct grdl_consumer *consumer, const char *dimension)
{
    uint32_t number = dimension_number(consumer, dimension);

    consumer->dimensions[number].single = true;
}

bool grdl_consumer_is_single(const struct grdl_consumer *consumer, uint32_t dimension)
{
    return dimension < consumer->count && consumer->dimensions[dimension].single;
}

const char *grdl_consumer_dimension(const struct grdl_consumer *consumer, uint32_t dimension)
{
    return textmap_text(&consumer->names, dimension);
}

const char *grdl_consumer_type(const struct grdl_consumer *consumer, uint32_t type)
{
    return type == GRDL_TYPE_NONE ? "" : textmap_text(&consumer->types, type - 1);
}

/* ---- where a type comes from ---- */

/* A property whose value is being made. */
struct asked {
    const struct grdl_consumer *consumer;
    const struct grdl_resource *resource;
    const struct dimension *dimension; /* by its own name */
    const struct grdl_char *from;
    size_t len; /* of the text that is the value: without a unit behind a blank */
};

static const char *type_of_hint(struct asked *asked)
{
    return asked->from->type;
}

static const char *type_of_name(struct asked *asked)
{
    return asked->dimension->by_name;
}

static bool is_number(const char *text, size_t len)
{
    double value;

    return text && grdl_number_read(text, len, 1, 0, &value);
}

/* The type that a value shows by itself: a date, a version, or a number with a unit behind it: "512 MB". */
static const char *type_of_value(struct asked *asked)
{
    const char *text = asked->from->text, *blank = text ? strchr(text, ' ') : NULL;
    const struct grdl_unit *unit;
    double ignored;

    if (!text)
        return NULL;
    if (grdl_date_read(text, asked->len, &ignored))
        return "date";
    if (blank && is_number(text, (size_t)(blank - text))) {
        const char *name = blank + strspn(blank, " \t");

        unit = grdl_units_find(asked->consumer->units, name, strlen(name));
        if (unit) {
            asked->len = (size_t)(blank - text);
            return unit->name;
        }
    }
    if (!is_number(text, asked->len) && grdl_version_like(text, asked->len))
        return "version";
    return NULL;
}

/* A default for the dimension goes before one for all, which is for numbers alone. */
static const char *type_of_resource(struct asked *asked)
{
    const struct grdl_resource *resource = asked->resource;
    const char *general = NULL;

    for (uint32_t i = 0; i < resource->default_count; i++) {
        const struct grdl_default *row = &resource->defaults[i];

        if (row->dimension && !strcmp(row->dimension, asked->from->dimension))
            return row->type;
        if (!row->dimension && !general)
            general = row->type;
    }
    return general && is_number(asked->from->text, asked->len) ? general : NULL;
}

static const char *type_of_consumer(struct asked *asked)
{
    return asked->dimension->by_default;
}

static const char *type_of_operation(struct asked *asked)
{
    return asked->dimension->by_operation;
}

/* Section 5.2.1, in its order. */
static const struct {
    enum grdl_source source;
    const char *(*type)(struct asked *asked);
} sources[] = {
    {GRDL_FROM_HINT, type_of_hint},         {GRDL_FROM_NAME, type_of_name},
    {GRDL_FROM_VALUE, type_of_value},       {GRDL_FROM_RESOURCE, type_of_resource},
    {GRDL_FROM_CONSUMER, type_of_consumer}, {GRDL_FROM_OPERATION, type_of_operation},
};

static uint32_t type_number(struct grdl_consumer *consumer, char mark, const char *name)
{
    char text[GRDL_NAME_MAX + 2];
    size_t len = strlen(name);

    len = len < GRDL_NAME_MAX ? len : GRDL_NAME_MAX;
    text[0] = mark;
    memcpy(text + 1, name, len);
    return textmap_add(&consumer->types, text, len + 1) + 1;
}

/* The number of a type: comparable types have one. */
static uint32_t type_class(struct grdl_consumer *consumer, const char *type, const struct grdl_unit *unit)
{
    if (!type)
        return GRDL_TYPE_NONE;
    if (consumer->comparator == GRDL_BASIC)
        return type_number(consumer, '=', type);
    if (unit)
        return type_number(consumer, '/', unit->category);
    if (kind_named(type) != GRDL_UNSPECIFIED)
        return GRDL_TYPE_NONE; /* the kind alone tells them apart */
    return type_number(consumer, '=', type);
}

/* Reads the kind that the text has, and its number. A kind that was named but does not fit leaves a text. */
static void value_read(const char *text, size_t len, enum grdl_kind wanted, const struct grdl_unit *unit,
                       struct grdl_value *value)
{
    uint64_t factor = unit ? unit->factor : 1;
    int exponent = unit ? unit->exponent : 0;

    value->kind = GRDL_TEXT;
    if (wanted == GRDL_UNSPECIFIED || wanted == GRDL_NUMBER)
        if (grdl_number_read(text, len, factor, exponent, &value->number))
            value->kind = GRDL_NUMBER;
    if (wanted == GRDL_DATE && grdl_date_read(text, len, &value->number))
        value->kind = GRDL_DATE;
    if (wanted == GRDL_VERSION)
        value->kind = GRDL_VERSION;
}

static struct grdl_value value_make(struct grdl_consumer *consumer, const struct grdl_resource *resource,
                                    const struct grdl_char *from, const struct dimension *dimension)
{
    struct asked asked = {consumer, resource, dimension, from, from->text ? strlen(from->text) : 0};
    struct grdl_value value = {.text = from->text};
    const struct grdl_unit *unit = NULL;
    enum grdl_kind wanted = GRDL_UNSPECIFIED;

    for (size_t i = 0; i < sizeof sources / sizeof *sources && !value.type_name; i++) {
        value.type_name = sources[i].type(&asked);
        value.source = value.type_name ? sources[i].source : GRDL_FROM_NOWHERE;
    }
    if (value.type_name) {
        unit = grdl_units_find(consumer->units, value.type_name, strlen(value.type_name));
        wanted = unit ? GRDL_UNSPECIFIED : kind_named(value.type_name);
    }
    value.type = type_class(consumer, value.type_name, unit);
    if (value.text)
        value_read(value.text, asked.len, wanted, consumer->comparator == GRDL_BASIC ? NULL : unit, &value);
    return value;
}

/* ---- readings ---- */

static struct grdl_point point_make(struct grdl_consumer *consumer, const struct grdl_resource *resource,
                                    const struct grdl_char *from)
{
    uint32_t number = dimension_number(consumer, from->dimension);

    return (struct grdl_point){
        .dimension = dimension_root(consumer, number),
        .value = value_make(consumer, resource, from, &consumer->dimensions[number]),
        .from = from,
    };
}

/* Compares by document order; `a` and `b` come from one array. */
static int from_order(const struct grdl_point *a, const struct grdl_point *b)
{
    return (a->from > b->from) - (a->from < b->from);
}

static int by_dimension(const void *a, const void *b)
{
    const struct grdl_point *x = a, *y = b;

    if (x->dimension != y->dimension)
        return x->dimension < y->dimension ? -1 : 1;
    return from_order(x, y);
}

static int by_rank(const void *a, const void *b)
{
    const struct grdl_point *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return from_order(x, y);
}

bool grdl_point_set_wise(const struct grdl_point *requirement)
{
    return (grdl_operators[requirement->match].uses & GRDL_OPERATOR_SET) ||
           (requirement->match == GRDL_NE && requirement->value.kind == GRDL_UNSPECIFIED);
}

struct grdl_reading *grdl_read(struct grdl_consumer *consumer, const struct grdl_resource *resource)
{
    uint32_t total = resource->char_count + resource->req_count + resource->pref_count;
    struct grdl_reading *reading = mem_alloc(sizeof *reading + total * sizeof(struct grdl_point));
    struct grdl_point *points = (struct grdl_point *)(reading + 1);

    *reading = (struct grdl_reading){
        .consumer = consumer,
        .resource = resource,
        .chars = points,
        .reqs = points + resource->char_count,
        .prefs = points + resource->char_count + resource->req_count,
        .char_count = resource->char_count,
        .req_count = resource->req_count,
        .pref_count = resource->pref_count,
    };
    for (uint32_t i = 0; i < resource->char_count; i++)
        reading->chars[i] = point_make(consumer, resource, &resource->chars[i]);
    for (uint32_t i = 0; i < resource->req_count; i++) {
        reading->reqs[i] = point_make(consumer, resource, &resource->reqs[i].at);
        reading->reqs[i].match = resource->reqs[i].match;
        reading->set_wise |= grdl_point_set_wise(&reading->reqs[i]);
    }
    for (uint32_t i = 0; i < resource->pref_count; i++) {
        reading->prefs[i] = point_make(consumer, resource, &resource->prefs[i].req.at);
        reading->prefs[i].match = resource->prefs[i].req.match;
        reading->prefs[i].rank = resource->prefs[i].rank;
    }
    qsort(reading->chars, reading->char_count, sizeof *points, by_dimension);
    qsort(reading->reqs, reading->req_count, sizeof *points, by_dimension);
    qsort(reading->prefs, reading->pref_count, sizeof *points, by_rank);
    return reading;
}

void grdl_reading_free(struct grdl_reading *reading)
{
    free(reading);
}

const char *grdl_point_type(const struct grdl_point *point)
{
    if (point->from->type)
        return point->from->type;
    return point->value.source == GRDL_FROM_RESOURCE ? point->value.type_name : NULL;
}

/* The unit whose numbers this reader turns into base units. */
static const struct grdl_unit *unit_of(const struct grdl_consumer *consumer, const char *type)
{
    if (!type || consumer->comparator == GRDL_BASIC)
        return NULL;
    return grdl_units_find(consumer->units, type, strlen(type));
}

void grdl_number_print(const struct grdl_consumer *consumer, double number, const char *type, struct buf *out)
{
    const struct grdl_unit *unit = unit_of(consumer, type);

    if (unit && unit->exponent < 0)
        number = number * pow(10, -unit->exponent) / (double)unit->factor;
    else if (unit)
        number /= (double)unit->factor * pow(10, unit->exponent);
    buf_reserve(out, NUMBER_TEXT_MAX);
    if (number == floor(number) && fabs(number) < 1e15)
        out->len += number_print_integer((int64_t)number, out->text + out->len);
    else
        out->len += number_print_real(number, out->text + out->len);
}

bool grdl_number_in(const struct grdl_consumer *consumer, const char *text, const char *type, double *ret_number)
{
    const struct grdl_unit *unit = unit_of(consumer, type);

    return grdl_number_read(text, strlen(text), unit ? unit->factor : 1, unit ? unit->exponent : 0, ret_number);
}

struct grdl_points grdl_reading_chars(const struct grdl_reading *reading, uint32_t dimension)
{
    uint32_t low = 0, high = reading->char_count, end;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (reading->chars[middle].dimension < dimension)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < reading->char_count && reading->chars[end].dimension == dimension;)
        end++;
    return (struct grdl_points){reading->chars + low, end - low};
}

uint32_t grdl_consumer_find(const struct grdl_consumer *consumer, const char *dimension)
{
    uint32_t place = textmap_find(&consumer->names, dimension, strlen(dimension));

    return place == TEXTMAP_NONE ? GRDL_DIMENSION_NONE : dimension_root(consumer, place);
}

bool grdl_same_value(const struct grdl_value *a, const struct grdl_value *b)
{
    if (a->kind == GRDL_UNSPECIFIED || b->kind == GRDL_UNSPECIFIED)
        return a->kind == b->kind && a->type == b->type;
    return grdl_comparable(a, b) && grdl_value_order(a, b) == 0;
}

enum grdl_state grdl_reading_state(const struct grdl_reading *reading, const char *dimension)
{
    uint32_t number = grdl_consumer_find(reading->consumer, dimension);
    struct grdl_points points = grdl_reading_chars(reading, number);
    bool specified = false, differ = false;

    if (!points.count)
        return GRDL_STATE_UNDEFINED;
    for (uint32_t i = 0; i < points.count; i++) {
        specified |= points.items[i].value.kind != GRDL_UNSPECIFIED;
        differ |= !grdl_same_value(&points.items[i].value, &points.items[0].value);
    }
    if (!specified)
        return GRDL_STATE_UNSPECIFIED;
    return differ ? GRDL_STATE_MULTIPLE : GRDL_STATE_SINGLE;
}
