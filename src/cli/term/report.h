/* report.h: what goes to standard error: complaints with their place, and the source line with a caret on a terminal.
 *
 *     pool.ads:3:14: expected ';' or ']', got a name
 *         Memory = 64 M;
 *                     ^
 */
#ifndef BERTH_CLI_TERM_REPORT_H
#define BERTH_CLI_TERM_REPORT_H

#include "lang/base/buf.h"
#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Is that descriptor a terminal that shows colours? NO_COLOR and TERM=dumb say no. */
bool report_colours(int fd);

/* Would report_error show the source line? Whoever keeps the source for it asks first. */
bool report_wants_line(void);

/* Reports FILE:LINE:COL: TEXT, or FILE: TEXT without a place. `line` is the source line, or NULL when the caller does not have it. */
void report_error(const char *file, const struct err *err, const char *line, size_t line_len);

/* Reports the line of `column` and the caret under it, whether or not standard error is a terminal. */
void report_caret(const char *line, size_t line_len, unsigned column);

/* Reports "berth: TEXT". */
void report(const char *format, ...) ERR_FORMAT(1, 2);

/* Has what is reported from now on appended there, for a command that tells it in its own way; NULL: to standard error again. */
void report_keep(struct buf *kept);

#endif
