/* kit.h: all that a reader of resources needs, put together: units, what is known of dimensions, and the schema.
 *
 * A file of one's own adds to it, one fact a line; `#` begins a comment:
 *
 *     unit       KiB   binary   2**10        one more unit, of a category that is there or a new one
 *     dimension  mem   MB                    values of this dimension are in MB when they say no type; it is known from now on
 *     default    cost  euro                  the same, when the resource has no default either
 *     operation  eta   hr                    the same, when nobody else says it
 *     same       ghz   mhz                   one dimension, for a comparator that transforms them
 *     single     ram                         nobody has more than one value in it */
#ifndef BERTH_MATCH_GRDL_KIT_H
#define BERTH_MATCH_GRDL_KIT_H

#include "match/grdl/consumer.h"
#include "match/grdl/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRDL_FACTS_MAX 65536 /* lines of such a file that say something */

struct grdl_kit {
    struct grdl_units *units;
    struct grdl_consumer *consumer;
    struct grdl_schema *schema;
};

/* Makes a kit. `text` is that of the file, or NULL. Returns NULL, with the place of what is wrong in the file. */
struct grdl_kit *grdl_kit_new(enum grdl_comparator comparator, const char *text, size_t len, struct err *err);
void grdl_kit_free(struct grdl_kit *kit);

#ifdef __cplusplus
}
#endif
#endif
