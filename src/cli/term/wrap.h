/* wrap.h: paragraphs of help text, filled to the width of a terminal. */
#ifndef BERTH_CLI_TERM_WRAP_H
#define BERTH_CLI_TERM_WRAP_H

#include "lang/base/buf.h"

#define WRAP_WIDTH 80

/* Appends paragraphs (with an empty line between them), filled; lines that begin with four blanks are kept as they are. All are indented by
 * `indent`. */
void wrap_text(struct buf *out, const char *text, size_t indent);

/* Appends a term, and what it means in a column of its own, which begins at `column`. */
void wrap_item(struct buf *out, const char *term, const char *text, size_t column);

#endif
