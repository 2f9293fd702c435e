/* moment.h: points in time, as people type and read them.
 *
 *     20:00               the next time that it is 20:00
 *     +90s +30min +2h +7d     from now
 *     2026-11-20          that day, from midnight
 *     2026-11-20T20:00    also with a blank between, with seconds, and with a zone behind: Z, +01:00
 *
 * What names no zone is local time (TZ). */
#ifndef BERTH_CLI_TERM_MOMENT_H
#define BERTH_CLI_TERM_MOMENT_H

#include "cli/term/options.h"
#include "lang/base/buf.h"

/* Reads a moment as seen at `now`; both are seconds since 1970. False: the text is none, or names a time that is not there. */
bool moment_read(const char *text, int64_t now, int64_t *ret);

option_read_fn option_moment; /* int64_t: seconds since 1970 */

/* Appends "20:00", or with its day when that is not soon: "Fri 20 Nov 20:00". */
void moment_say(struct buf *out, int64_t moment, int64_t now);

#endif
