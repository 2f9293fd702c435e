/* terminal.h: how large the terminal is, what may be written on it, and a line on it that tells how far something is.
 *
 *     [###-------]  30%: 150 of 500 over, about 12m30s left, 20 run
 *
 * The line is written on standard error, and only where that is a terminal; it is overwritten again and again, without escape sequences. */
#ifndef BERTH_CLI_TERM_TERMINAL_H
#define BERTH_CLI_TERM_TERMINAL_H

#include "lang/base/buf.h"

#include <stdbool.h>

/* Is the file a terminal? Then so many columns and lines, 0 where that is not known. */
bool terminal_size(int fd, size_t *ret_columns, size_t *ret_lines);

/* Puts '?' in the place of control characters, of one byte or of two (U+0080 to U+009F), but for `keep` (0: for none): whatever a file, a machine or a
 * service says, it does not control a terminal. */
void controls_mask(char *text, size_t len, char keep);
bool controls_any(const char *text, size_t len); /* is there one? */

/* How many columns a text takes on a terminal, if each character takes one. */
size_t columns_count(const char *text, size_t len);
/* How many of its bytes take so many columns, at most. */
size_t columns_bytes(const char *text, size_t len, size_t columns);

/* Appends a bar of that width: "####------". */
void bar_print(struct buf *out, double part, unsigned width);

struct progress_line {
    bool wanted;
    size_t shown; /* columns that the last line takes */
};

/* `quiet`: nothing is to be shown. */
void progress_begin(struct progress_line *line, bool quiet);
/* Shows the text, cut to the terminal, in place of the one before. */
void progress_show(struct progress_line *line, const struct buf *text);
/* Takes the line away, before something else is written there. */
void progress_clear(struct progress_line *line);

#endif
