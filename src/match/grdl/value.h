/* value.h: a value as a consumer understands it: its kind, its order, and how far two are apart.
 *
 *     kind      order                                         distance
 *     number    by size, in base units                        the difference
 *     date      by time (no zone: that of Greenwich)          the difference in seconds
 *     version   part by part: 0.9 < 0.9.7 < 0.9.7d < 0.10     the first part that differs, then by how much it does
 *     text      by bytes                                      0 when equal, else 1
 *
 * Values of different kinds or types are not comparable: every relation between them is false. */
#ifndef BERTH_MATCH_GRDL_VALUE_H
#define BERTH_MATCH_GRDL_VALUE_H

#include "match/grdl/model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum grdl_kind { GRDL_UNSPECIFIED, GRDL_NUMBER, GRDL_TEXT, GRDL_VERSION, GRDL_DATE };

/* Where a type came from: 5.2.1. The hint goes first, then as numbered there. */
enum grdl_source {
    GRDL_FROM_NOWHERE, /* nobody named a type: the kind is that in which the value is written */
    GRDL_FROM_HINT,
    GRDL_FROM_NAME,
    GRDL_FROM_VALUE,
    GRDL_FROM_RESOURCE,
    GRDL_FROM_CONSUMER,
    GRDL_FROM_OPERATION,
};
#define GRDL_SOURCES (GRDL_FROM_OPERATION + 1)
extern const char *const grdl_source_words[GRDL_SOURCES]; /* for people: "the type attribute", ... */
extern const char *const grdl_kind_words[5];              /* "unspecified", "number", ... */

#define GRDL_TYPE_NONE 0u /* of a value without a type; else a number that the consumer gave */

struct grdl_value {
    enum grdl_kind kind;
    enum grdl_source source;
    uint32_t type;         /* comparable types have the same number */
    const char *type_name; /* as named by its source; NULL: none */
    double number;         /* of a number in base units, of a date in seconds */
    const char *text;      /* as it was written; NULL: unspecified */
};

/* Are both of the same type and kind, with a value each? */
bool grdl_comparable(const struct grdl_value *a, const struct grdl_value *b);

/* Below 0, 0 or above 0; both are comparable. grdl_value_order_folded ignores the case of letters in text. */
int grdl_value_order(const struct grdl_value *a, const struct grdl_value *b);
int grdl_value_order_folded(const struct grdl_value *a, const struct grdl_value *b);

/* How far two comparable values are apart. A distance is compared with one of the same kind only. */
struct grdl_distance {
    double place; /* of versions: how early they differ; else 0 */
    double size;
};
struct grdl_distance grdl_value_distance(const struct grdl_value *a, const struct grdl_value *b);
int grdl_distance_order(const struct grdl_distance *a, const struct grdl_distance *b);

/* `a OP b` for the eight base relations of table 5.2; false when they are not comparable. */
bool grdl_value_holds(const struct grdl_value *a, enum grdl_operator base, const struct grdl_value *b);

/* Append a text whose order by bytes is the order of values of that kind and type, for versions and texts; `folded` as in grdl_value_order_folded.
 * The text has only digits, small letters up to f, and ! (which is below them), so that it is the same to those who ignore case.
 * grdl_value_key_inverted gives the opposite order. */
struct buf;
void grdl_value_key(struct buf *out, const struct grdl_value *value, bool folded);
void grdl_value_key_inverted(struct buf *out, const struct grdl_value *value);

/* How a text is written: does all of it look like a date, or like a version that is not a number too? */
bool grdl_date_read(const char *text, size_t len, double *ret_seconds);
bool grdl_version_like(const char *text, size_t len);
int grdl_version_order(const char *a, const char *b);

#ifdef __cplusplus
}
#endif
#endif
