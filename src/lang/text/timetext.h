/* timetext.h: times as text, read and printed.
 *
 * Relative, classic: [-][Nd]H:M[:S] or [-]Nd, where hours have no bound. Relative, condor: [-][D+]H:M:S, M:S, S, or units
 * (1d2h3m4s); a fraction of a second is cut off. Absolute, both: ISO 8601, or Thu Aug 17 18:21:07 2000 (CDT) -06:00, where
 * weekday and zone name may be missing and are not checked. */
#ifndef BERTH_LANG_TEXT_TIMETEXT_H
#define BERTH_LANG_TEXT_TIMETEXT_H

#include "lang/base/buf.h"
#include "lang/text/dialect.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TIME_ZONE_NONE 32767             /* as `zone_else`: a text without a zone is refused */
#define TIME_ZONE_MAX (24 * 60)          /* minutes east or west, exclusive */
#define TIME_ABSOLUTE_MAX 253402214399   /* the last second of 9999-12-30: every zone can print it */
#define TIME_ABSOLUTE_MIN (-62167132800) /* the first second of the year 0000-01-02 */

/* Does the dialect allow this as an absolute time? */
bool time_absolute_valid(const struct dialect *dialect, int64_t seconds);

bool time_parse_relative(const struct dialect *dialect, const char *text, size_t len, int64_t *ret_seconds);
bool time_parse_absolute(const struct dialect *dialect, const char *text, size_t len, int zone_else,
                         int64_t *ret_seconds, int *ret_zone);
bool time_parse_zone(const char *text, size_t len, int *ret_minutes); /* Z, +05:30, -0600 */

/* The text alone, without quotes or a call around it. */
void time_print_relative(const struct dialect *dialect, int64_t seconds, struct buf *out);
void time_print_absolute(const struct dialect *dialect, int64_t seconds, int zone_minutes, struct buf *out);

#ifdef __cplusplus
}
#endif
#endif
