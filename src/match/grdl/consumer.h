/* consumer.h: the reader of resources: what it knows of units and dimensions, and a resource as it understands it.
 *
 *     resource --(consumer)--> reading:  chars  [c c c][c][c c]     by dimension, in document order within one
 *                                        reqs   [r][r r]
 *                                        prefs  p p p               by rank, in document order among equals
 *
 * The class of comparator is settled here, once, and not at each comparison:
 *     basic              a type is its name; dimensions are their names                 (5.4.1)
 *     type               types of one category are one type, values are in base units   (5.5.1)
 *     dimension and type dimensions declared to be one are one, too: ghz and mhz        (5.5.2)
 *
 * Where a value's type comes from is a table of six sources, tried in the order of 5.2.1; the first that names a type is taken and remembered in
 * the value. A reading borrows from its resource and its consumer; both must outlive it. Readings can be compared only when one consumer made
 * them. */
#ifndef BERTH_MATCH_GRDL_CONSUMER_H
#define BERTH_MATCH_GRDL_CONSUMER_H

#include "lang/base/buf.h"
#include "match/grdl/model.h"
#include "match/grdl/units.h"
#include "match/grdl/value.h"

#ifdef __cplusplus
extern "C" {
#endif

enum grdl_comparator { GRDL_BASIC, GRDL_TYPE_TRANSFORMING, GRDL_DIMENSION_TRANSFORMING };

struct grdl_consumer;

/* Names that force a kind when they stand as a type: "number", "text" (and "string"), "version", "date" (and "dateTime"). */

/* Makes a consumer. `units` is lent and must not change while readings are made. The names of the units of frequency are known as dimensions: mhz
 * is in MHz, and ghz, mhz, khz, hz and thz are one dimension for a comparator that transforms dimensions. */
struct grdl_consumer *grdl_consumer_new(const struct grdl_units *units, enum grdl_comparator comparator);

/* The same with a seed that makes its tables' places unguessable where strangers choose the names. A consumer remembers every name of a
 * dimension or type that it has read: one that reads strangers' resources is made for a task, not for a life. */
struct grdl_consumer *grdl_consumer_new_seeded(const struct grdl_units *units, enum grdl_comparator comparator,
                                               uint64_t seed);
void grdl_consumer_free(struct grdl_consumer *consumer);

/* Tell the consumer what else it should know, before the first reading. Each copies its texts. A later row takes the place of an earlier one. */
void grdl_consumer_name(struct grdl_consumer *consumer, const char *dimension, const char *type);      /* source 1 */
void grdl_consumer_default(struct grdl_consumer *consumer, const char *dimension, const char *type);   /* source 4 */
void grdl_consumer_operation(struct grdl_consumer *consumer, const char *dimension, const char *type); /* source 5 */
void grdl_consumer_same(struct grdl_consumer *consumer, const char *dimension,
                        const char *as); /* is the dimension `as` */
void grdl_consumer_single(struct grdl_consumer *consumer,
                          const char *dimension); /* has one value at most, everywhere */

#define GRDL_DIMENSION_NONE UINT32_MAX
uint32_t grdl_consumer_find(const struct grdl_consumer *consumer, const char *dimension); /* its number; or NONE */
bool grdl_consumer_is_single(const struct grdl_consumer *consumer, uint32_t dimension);
const char *grdl_consumer_dimension(const struct grdl_consumer *consumer, uint32_t dimension); /* its name */

/* The name of a type by its number: "/time" for the units of time, "=SI2K" for a type of its own, "" for none. */
const char *grdl_consumer_type(const struct grdl_consumer *consumer, uint32_t type);

/* A property as it was understood. */
struct grdl_point {
    uint32_t dimension;
    enum grdl_operator match; /* of requirements and preferences */
    double rank;              /* of preferences */
    struct grdl_value value;
    const struct grdl_char *from; /* as it was written */
};

struct grdl_reading {
    const struct grdl_consumer *consumer;
    const struct grdl_resource *resource;
    struct grdl_point *chars, *reqs, *prefs;
    uint32_t char_count, req_count, pref_count;
    bool set_wise; /* some requirement looks at all characteristics of a dimension: 6.4 and 6.5 */
};

/* Makes a reading of a resource; the caller frees it. */
struct grdl_reading *grdl_read(struct grdl_consumer *consumer, const struct grdl_resource *resource);
void grdl_reading_free(struct grdl_reading *reading);

/* Does the requirement look at all characteristics of its dimension? The set-wise ones do, and != without a value. */
bool grdl_point_set_wise(const struct grdl_point *requirement);

/* Are they the same value of the same type? Unspecified values are the same when their types are. */
bool grdl_same_value(const struct grdl_value *a, const struct grdl_value *b);

/* The type that must be written beside a value so that it stays what it is in another resource; NULL: none. */
const char *grdl_point_type(const struct grdl_point *point);

/* Prints a number, which is in base units, in the unit that the type is. */
void grdl_number_print(const struct grdl_consumer *consumer, double number, const char *type, struct buf *out);

/* Reads a number that is written in the unit that the type is; gives it in base units. */
bool grdl_number_in(const struct grdl_consumer *consumer, const char *text, const char *type, double *ret_number);

/* The characteristics of one dimension. */
struct grdl_points {
    const struct grdl_point *items;
    uint32_t count;
};
struct grdl_points grdl_reading_chars(const struct grdl_reading *reading, uint32_t dimension);

/* The states that a dimension of a resource can be in (5.2). Characteristics that are equal count once. */
enum grdl_state { GRDL_STATE_UNDEFINED, GRDL_STATE_UNSPECIFIED, GRDL_STATE_SINGLE, GRDL_STATE_MULTIPLE };
enum grdl_state grdl_reading_state(const struct grdl_reading *reading, const char *dimension);
extern const char *const grdl_state_words[4];

#ifdef __cplusplus
}
#endif
#endif
