/* cut.h: text that is cut to a length, at the end of a character: half of one is no text, and whoever reads it as UTF-8 may refuse all of it. */
#ifndef BERTH_LANG_BASE_CUT_H
#define BERTH_LANG_BASE_CUT_H

#include "lang/base/buf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many bytes of the text are kept, where that is at most `most`. */
size_t cut_len(const char *text, size_t len, size_t most);

/* Cuts what is behind `from` to at most `most` bytes; where something is cut off, "..." is put behind it. */
void buf_cut(struct buf *buf, size_t from, size_t most);

#ifdef __cplusplus
}
#endif
#endif
