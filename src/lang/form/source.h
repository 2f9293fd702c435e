/* source.h: a stream of bytes, seen through a window that begins at the first byte that has not been taken.
 *
 *     taken and forgotten | start ... bytes that the reader looks at ... | not yet read
 *
 * A reader of a form looks ahead by offset until it has found where an ad ends, reads that text in place, and takes it. The window
 * knows the line and column at which it begins, so every error can tell its place in the stream. It needs memory for the longest
 * ad. Lines and columns count bytes, from 1. */
#ifndef BERTH_LANG_FORM_SOURCE_H
#define BERTH_LANG_FORM_SOURCE_H

#include "lang/form/form.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SOURCE_CHUNK 65536u /* bytes asked for at a time */

enum { SOURCE_END = -1, SOURCE_FAILED = -2 };

struct source {
    form_read_fn *read;
    void *user;
    struct buf window;
    size_t start, limit; /* limit: bytes of one ad */
    unsigned line, column;
    bool ended;
};

void source_init(struct source *source, form_read_fn *read, void *user, size_t limit);
void source_done(struct source *source);

/* Reads on: 1, 0 at the end, -1 with err filled (also when the ad that begins at the window's start is too long). */
int source_more(struct source *source, struct err *err);

static inline const char *source_text(const struct source *source)
{
    return source->window.text + source->start;
}

static inline size_t source_len(const struct source *source)
{
    return source->window.len - source->start;
}

/* The byte at an offset from the window's start, SOURCE_END, or SOURCE_FAILED with err filled. */
static inline int source_at(struct source *source, size_t offset, struct err *err)
{
    while (offset >= source_len(source)) {
        int more = source_more(source, err);

        if (more <= 0)
            return more == 0 ? SOURCE_END : SOURCE_FAILED;
    }
    return (unsigned char)source_text(source)[offset];
}

/* Does the stream have that text at the offset? 1, 0, or -1 with err filled. */
int source_is(struct source *source, size_t offset, const char *text, struct err *err);

/* Takes everything up to the first byte that is not one of `blanks`; returns that byte as source_at does. */
int source_skip(struct source *source, const char *blanks, struct err *err);

void source_take(struct source *source, size_t count); /* from the window */

/* The first `c`, or the first place of a text, from an offset on; or SOURCE_END, SOURCE_FAILED. */
ptrdiff_t source_find(struct source *source, size_t offset, char c, struct err *err);
ptrdiff_t source_find_text(struct source *source, size_t offset, const char *text, struct err *err);

/* The place of an offset in the window. It is counted from the window's start, which is slow: for errors only. */
void source_place(const struct source *source, size_t offset, unsigned *ret_line, unsigned *ret_column);

/* All return -1. `source_mark` gives a place to an error that has none. `source_expected` says what came instead: `got` is the
 * value of source_at at the window's start. */
int source_mark(const struct source *source, size_t offset, struct err *err);
int source_expected(const struct source *source, int got, const char *what, struct err *err);
int source_fail(const struct source *source, size_t offset, struct err *err, const char *format, ...) ERR_FORMAT(4, 5);
int source_too_long(const struct source *source, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
