/* places.h: where the clauses of a conjunction stand in the text of an ad.
 *
 *     Constraint = Arch == "INTEL" && (Memory > 31 && Disk > 10)
 *                  1                   2              3
 *
 * Trees do not remember places, so that they stay small. Code that must name a place looks it up here, in the text that the tree came from. The
 * clauses are those of the tree, in the same order. */
#ifndef BERTH_LANG_TEXT_PLACES_H
#define BERTH_LANG_TEXT_PLACES_H

#include "lang/text/dialect.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLACES_TOKENS_MAX 65536 /* of one attribute; an attribute with more tokens has no places */

/* `text` begins with an ad, as [ ... ] or as lines of the long form, and is padded as buf_string does. Fills in the offset of each clause of the
 * attribute, at most `room`; returns how many, 0 when the attribute is not there. */
size_t places_of_clauses(const struct dialect *dialect, const char *text, size_t len, const char *attribute,
                         size_t attribute_len, size_t *ret_offsets, size_t room);

#ifdef __cplusplus
}
#endif
#endif
