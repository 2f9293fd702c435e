/* span.h: how long something takes or has taken, as people read it.
 *
 *     span_print   3m12s     alone, as the value of a column or of a field: the digits line up
 *     span_say     3 min     amid other words: last heard of 3 min ago
 *
 * Every text for people has its spans from one of the two; what programs read has seconds. */
#ifndef BERTH_LANG_BASE_SPAN_H
#define BERTH_LANG_BASE_SPAN_H

#include "lang/base/buf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends "12s", "3m12s", "5h03m" or "4d07h". */
void span_print(struct buf *out, double seconds);

/* Appends "12 s", "3 min", "5 h" or "4 days". */
void span_say(struct buf *out, double seconds);

#ifdef __cplusplus
}
#endif
#endif
