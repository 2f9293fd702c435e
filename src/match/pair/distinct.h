/* distinct.h: the values that an attribute has in many ads, each with a number; equal values have the same one.
 *
 *     Os = "linux"    Os = "linux"    no Os    Os = "plan9"    Os = f(x)
 *     1               1               0        2               DISTINCT_NONE: it is no literal
 *
 * Values are the same when nothing in the language can tell them apart: strings byte by byte, times with their zones, lists of literals element by element.
 * Long ones have no number, since whoever writes ads could fill the memory with them. */
#ifndef BERTH_MATCH_PAIR_DISTINCT_H
#define BERTH_MATCH_PAIR_DISTINCT_H

#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DISTINCT_ABSENT 0
#define DISTINCT_NONE UINT32_MAX
#define DISTINCT_BYTES_MAX 512 /* of a value that has a number */

struct distinct_item {
    uint64_t hash;
    size_t at; /* in the text */
    uint32_t len;
};

struct distinct {
    struct distinct_item *items; /* number n is at n - 1 */
    uint32_t count, room;
    uint32_t *slots; /* a power of two: numbers, or 0 */
    uint32_t slot_count;
    char *text; /* what the values are, one behind another */
    size_t text_len, text_room;
};

void distinct_done(struct distinct *distinct);

/* The number of an attribute of the ad, NULL where it has none. A value that is new gets one. */
uint32_t distinct_number(struct distinct *distinct, const struct tree *ad, const struct expr *value);

size_t distinct_bytes(const struct distinct *distinct);

#ifdef __cplusplus
}
#endif
#endif
