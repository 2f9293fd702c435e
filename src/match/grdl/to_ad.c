/* to_ad.c: a resource as an ad. The ad is written as text and parsed, once; translate.h tells what is in it. */
#include "lang/base/textmap.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "match/grdl/ad_parts.h"
#include "match/grdl/document.h"
#include "match/grdl/units.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct ad_writer {
    struct buf *out;
    const struct grdl_reading *reading;
    struct grdl_points run; /* the characteristics of one dimension */
};

/* ------------------------------------------------------------------------------------------------- for other resources */

static bool is_specified(const struct grdl_point *point)
{
    return point->value.kind != GRDL_UNSPECIFIED;
}

static bool same_group(const struct grdl_point *a, const struct grdl_point *b)
{
    return a->value.kind == b->value.kind && a->value.type == b->value.type;
}

/* Begins an attribute: ; NAME[SUFFIX] = */
static void group_begin(struct ad_writer *writer, const struct grdl_point *point, bool folded, const char *suffix)
{
    buf_adds(writer->out, "; ");
    ad_group_name(writer->out, writer->reading, point, folded);
    buf_addf(writer->out, "%s = ", suffix);
}

static void dimension_flag(struct ad_writer *writer, const struct grdl_point *point, const char *suffix, bool typed)
{
    buf_adds(writer->out, "; ");
    ad_dimension_name(writer->out, writer->reading, point, suffix, typed);
    buf_adds(writer->out, " = true");
}

struct ends {
    const struct grdl_point *low, *high;
};

/* Finds the smallest and the largest value in the group of the characteristic at `first`. */
static struct ends ends_find(const struct ad_writer *writer, uint32_t first, bool folded)
{
    const struct grdl_point *items = writer->run.items;
    struct ends ends = {&items[first], &items[first]};

    for (uint32_t i = first + 1; i < writer->run.count; i++) {
        if (!same_group(&items[i], &items[first]))
            continue;
        if ((folded ? grdl_value_order_folded : grdl_value_order)(&items[i].value, &ends.low->value) < 0)
            ends.low = &items[i];
        if ((folded ? grdl_value_order_folded : grdl_value_order)(&items[i].value, &ends.high->value) > 0)
            ends.high = &items[i];
    }
    return ends;
}

/* Writes a flag for each value: that is what = asks for. Equal values have one. */
static void flags_write(struct ad_writer *writer, uint32_t first, bool folded)
{
    const struct grdl_point *items = writer->run.items;
    struct textmap told;
    uint32_t count = 0;
    struct buf name;

    buf_init(&name);
    textmap_init(&told, 0);
    for (uint32_t i = first; i < writer->run.count; i++) {
        buf_reset(&name);
        if (!same_group(&items[i], &items[first]) || !ad_value_flag(&name, writer->reading, &items[i], folded) ||
            textmap_add(&told, name.text, name.len) < count)
            continue;
        count++;
        buf_addf(writer->out, "; %s = true", buf_string(&name));
    }
    textmap_done(&told);
    buf_done(&name);
}

static void group_write(struct ad_writer *writer, uint32_t first, bool folded)
{
    const struct grdl_point *items = writer->run.items;
    struct ends ends = ends_find(writer, first, folded);
    bool many = (folded ? grdl_value_order_folded : grdl_value_order)(&ends.low->value, &ends.high->value) != 0;

    group_begin(writer, &items[first], folded, "_lo");
    ad_value_print(writer->out, &ends.low->value, folded);
    group_begin(writer, &items[first], folded, "_hi");
    ad_value_print(writer->out, &ends.high->value, folded);
    flags_write(writer, first, folded);
    if (!folded && (items[first].value.kind == GRDL_TEXT || items[first].value.kind == GRDL_VERSION)) {
        group_begin(writer, &items[first], folded, "_ilo");
        ad_value_print_inverted(writer->out, &ends.low->value);
        group_begin(writer, &items[first], folded, "_ihi");
        ad_value_print_inverted(writer->out, &ends.high->value);
    }
    if (!many)
        return;
    group_begin(writer, &items[first], folded, "_all");
    for (uint32_t i = first; i < writer->run.count; i++) {
        if (!same_group(&items[i], &items[first]))
            continue;
        buf_adds(writer->out, i == first ? "{" : ", ");
        ad_value_print(writer->out, &items[i].value, folded);
    }
    buf_adds(writer->out, "}");
}

/* Writes the ends of all values, when they are of one kind and type: a preference without a value goes by these. */
static void one_write(struct ad_writer *writer, uint32_t first)
{
    struct ends ends = ends_find(writer, first, false);

    buf_adds(writer->out, "; ");
    ad_dimension_name(writer->out, writer->reading, ends.high, "one_hi", false);
    buf_adds(writer->out, " = ");
    ad_value_print(writer->out, &ends.high->value, false);
    buf_adds(writer->out, "; ");
    ad_dimension_name(writer->out, writer->reading, ends.low, "one_ilo", false);
    buf_adds(writer->out, " = ");
    ad_value_print_inverted(writer->out, &ends.low->value);
}

/* Is the i-th characteristic the first of its type in the dimension or, with `by_kind`, of its type and kind? */
static bool first_of(const struct ad_writer *writer, uint32_t i, bool by_kind)
{
    const struct grdl_point *items = writer->run.items;

    for (uint32_t j = 0; j < i; j++)
        if (by_kind ? same_group(&items[j], &items[i]) : items[j].value.type == items[i].value.type)
            return false;
    return true;
}

/* Do all characteristics with a value have the kind and type of the i-th? */
static bool alone(const struct ad_writer *writer, uint32_t i)
{
    const struct grdl_point *items = writer->run.items;

    for (uint32_t j = 0; j < writer->run.count; j++)
        if (is_specified(&items[j]) && !same_group(&items[j], &items[i]))
            return false;
    return true;
}

/* Writes what all characteristics of the dimension have in common. */
static void common_write(struct ad_writer *writer)
{
    const struct grdl_point *items = writer->run.items;
    bool one_type = true, specified = true;

    for (uint32_t i = 0; i < writer->run.count; i++) {
        one_type = one_type && items[i].value.type == items[0].value.type;
        specified = specified && is_specified(&items[i]);
    }
    if (one_type) {
        buf_adds(writer->out, "; ");
        ad_dimension_name(writer->out, writer->reading, items, "onlytype", false);
        buf_adds(writer->out, " = ");
        print_string(writer->out, grdl_consumer_type(writer->reading->consumer, items[0].value.type),
                     strlen(grdl_consumer_type(writer->reading->consumer, items[0].value.type)), PRINT_PLAIN);
    }
    if (specified && alone(writer, 0)) {
        buf_adds(writer->out, "; ");
        ad_dimension_name(writer->out, writer->reading, items, "only", false);
        buf_adds(writer->out, " = \"");
        ad_group_name(writer->out, writer->reading, items, false);
        buf_addc(writer->out, '"');
    }
}

static void dimension_write(struct ad_writer *writer)
{
    const struct grdl_point *items = writer->run.items;

    dimension_flag(writer, items, "has", false);
    common_write(writer);
    for (uint32_t i = 0; i < writer->run.count; i++) {
        bool typed = items[i].value.type != GRDL_TYPE_NONE;

        if (typed && first_of(writer, i, false))
            dimension_flag(writer, &items[i], "has", true);
        if (!first_of(writer, i, true))
            continue;
        if (!is_specified(&items[i])) {
            dimension_flag(writer, &items[i], "open", typed);
            continue;
        }
        group_write(writer, i, false);
        if (items[i].value.kind == GRDL_TEXT)
            group_write(writer, i, true);
        if (alone(writer, i))
            one_write(writer, i);
    }
}

/* --------------------------------------------------------------------------------------------------------- for people */

/* Names that mean something to the matchmaker, or to the language. */
static const char *const taken_names[] = {
    "Name",     "Type",     "Constraint", "Requirements",   "Rank",     "Grdl",    "Preferences", "Ports", "Label",
    "Count",    "Residual", "Root",       "Lifetime",       "Contact",  "Address", "Owner",       "Seen",  "TimeZone",
    "UserPrio", "Usage",    "Identity",   "RemoteUserPrio", "Received", "self",    "parent",      "other", "my",
    "target",   "is",       "isnt",       "true",           "false",    "error",   "undefined"};

static bool name_is_plain(const struct grdl_reading *reading, const struct grdl_char *at)
{
    const struct grdl_resource *resource = reading->resource;

    if (strncasecmp(at->dimension, "G_", 2) == 0)
        return false;
    for (const char *c = at->dimension; *c; c++)
        if (!((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z') && *c != '_' && !(c > at->dimension && *c >= '0' && *c <= '9'))
            return false;
    for (size_t i = 0; i < sizeof taken_names / sizeof *taken_names; i++)
        if (strcasecmp(at->dimension, taken_names[i]) == 0)
            return false;
    for (uint32_t i = 0; i < resource->char_count; i++) /* another that differs in case alone */
        if (strcasecmp(resource->chars[i].dimension, at->dimension) == 0 &&
            strcmp(resource->chars[i].dimension, at->dimension) != 0)
            return false;
    return true;
}

static void plain_value(struct buf *out, const struct grdl_char *at)
{
    double number;

    if (!at->text)
        buf_adds(out, "true");
    else if (grdl_number_read(at->text, strlen(at->text), 1, 0, &number))
        print_real(out, number);
    else
        print_string(out, at->text, strlen(at->text), PRINT_PLAIN);
}

/* Writes the characteristics by the names of their dimensions, in document order; a dimension is where its first characteristic is. */
static void plain_write(struct buf *out, const struct grdl_reading *reading)
{
    const struct grdl_resource *resource = reading->resource;

    for (uint32_t i = 0; i < resource->char_count; i++) {
        const struct grdl_char *at = &resource->chars[i];
        uint32_t same = 0;
        bool first = true;

        for (uint32_t j = 0; j < resource->char_count; j++) {
            bool is = strcmp(resource->chars[j].dimension, at->dimension) == 0;

            first = first && (!is || j >= i);
            same += is;
        }
        if (!first || !name_is_plain(reading, at))
            continue;
        buf_addf(out, "; %s = %s", at->dimension, same > 1 ? "{" : "");
        for (uint32_t j = i; j < resource->char_count; j++)
            if (strcmp(resource->chars[j].dimension, at->dimension) == 0) {
                buf_adds(out, j > i ? ", " : "");
                plain_value(out, &resource->chars[j]);
            }
        buf_adds(out, same > 1 ? "}" : "");
    }
}

/* ---------------------------------------------------------------------------------------------------------------------- */

static void record_write(struct buf *out, struct symbols *symbols, const struct grdl_resource *resource)
{
    struct build build;
    struct tree *record;

    build_init(&build, symbols, &dialect_classic);
    grdl_record_push(&build, resource);
    record = build_seal(&build);
    buf_adds(out, "; Grdl = ");
    print_tree(out, record, PRINT_PLAIN);
    tree_unref(record);
    build_done(&build);
}

struct tree *grdl_to_ad(struct symbols *symbols, const struct grdl_reading *reading, unsigned flags)
{
    const struct grdl_resource *resource = reading->resource;
    struct build build;
    struct tree *ad;
    struct buf out;
    struct ad_writer writer = {.out = &out, .reading = reading};
    struct err err;

    buf_init(&out);
    buf_adds(&out, "[Type = ");
    print_string(&out, resource->class_name, strlen(resource->class_name), PRINT_PLAIN);
    if (resource->name) {
        buf_adds(&out, "; Name = ");
        print_string(&out, resource->name, strlen(resource->name), PRINT_PLAIN);
    }
    plain_write(&out, reading);
    for (uint32_t i = 0; i < reading->char_count; i += writer.run.count) {
        writer.run = grdl_reading_chars(reading, reading->chars[i].dimension);
        dimension_write(&writer);
    }
    if (!(flags & GRDL_AD_WANTS_NOTHING))
        ad_constraint_print(&out, reading);
    ad_preferences_print(&out, reading);
    record_write(&out, symbols, resource);
    buf_addc(&out, ']');
    build_init(&build, symbols, &dialect_classic);
    ad = parse_ad(&build, NULL, buf_string(&out), out.len, &err);
    build_done(&build);
    buf_done(&out);
    return ad; /* NULL only where the ad is larger than an ad can be */
}
