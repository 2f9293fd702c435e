/* source.c: a stream of bytes, seen through a window. */
#include "lang/form/source.h"

#include <stdarg.h>
#include <stdio.h>

void source_init(struct source *source, form_read_fn *read, void *user, size_t limit)
{
    *source = (struct source){.read = read, .user = user, .limit = limit, .line = 1, .column = 1};
    buf_init(&source->window);
    buf_reserve(&source->window, SOURCE_CHUNK + BUF_PADDING);
}

void source_done(struct source *source)
{
    if (source)
        buf_done(&source->window);
}

int source_more(struct source *source, struct err *err)
{
    struct buf *window = &source->window;
    ptrdiff_t got;

    if (source->ended)
        return 0;
    if (source_len(source) > source->limit)
        return source_too_long(source, err);
    if (source->start) {
        window->len -= source->start;
        memmove(window->text, window->text + source->start, window->len);
        source->start = 0;
    }
    got = source->read(source->user, buf_reserve(window, SOURCE_CHUNK + BUF_PADDING), SOURCE_CHUNK, err);
    if (got < 0)
        return -1;
    if (got == 0) {
        source->ended = true;
        return 0;
    }
    window->len += (size_t)got;
    return 1;
}

int source_is(struct source *source, size_t offset, const char *text, struct err *err)
{
    for (size_t i = 0; text[i]; i++) {
        int c = source_at(source, offset + i, err);

        if (c == SOURCE_FAILED)
            return -1;
        if (c != (unsigned char)text[i])
            return 0;
    }
    return 1;
}

int source_skip(struct source *source, const char *blanks, struct err *err)
{
    for (;;) {
        int c = source_at(source, 0, err);

        if (c <= 0 || !strchr(blanks, c))
            return c;
        source_take(source, 1);
    }
}

void source_take(struct source *source, size_t count)
{
    const char *at = source_text(source), *end = at + count, *newline;

    source->start += count;
    while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
        source->line++;
        source->column = 1;
        at = newline + 1;
    }
    source->column += (unsigned)(end - at);
}

ptrdiff_t source_find(struct source *source, size_t offset, char c, struct err *err)
{
    for (;;) {
        const char *found;
        int more = source_at(source, offset, err);

        if (more < 0)
            return more;
        found = memchr(source_text(source) + offset, c, source_len(source) - offset);
        if (found)
            return found - source_text(source);
        offset = source_len(source);
    }
}

ptrdiff_t source_find_text(struct source *source, size_t offset, const char *text, struct err *err)
{
    for (;; offset++) {
        ptrdiff_t found = source_find(source, offset, *text, err);
        int same = found < 0 ? 0 : source_is(source, (size_t)found, text, err);

        if (found < 0)
            return found;
        if (same)
            return same < 0 ? SOURCE_FAILED : found;
        offset = (size_t)found;
    }
}

void source_place(const struct source *source, size_t offset, unsigned *ret_line, unsigned *ret_column)
{
    unsigned line, column;

    err_place(source_text(source), offset, &line, &column);
    *ret_column = line == 1 ? column + source->column - 1 : column;
    *ret_line = line + source->line - 1;
}

int source_mark(const struct source *source, size_t offset, struct err *err)
{
    if (err)
        source_place(source, offset, &err->line, &err->column);
    return -1;
}

int source_expected(const struct source *source, int got, const char *what, struct err *err)
{
    if (got == SOURCE_FAILED)
        return -1;
    if (got == SOURCE_END)
        return source_fail(source, 0, err, "expected %s, got the end", what);
    if (got > ' ' && got < 127)
        return source_fail(source, 0, err, "expected %s, got '%c'", what, got);
    return source_fail(source, 0, err, "expected %s, got the byte 0x%02x", what, (unsigned)got);
}

int source_fail(const struct source *source, size_t offset, struct err *err, const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    unsigned line, column;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    source_place(source, offset, &line, &column);
    return err_at(err, line, column, "%s", text);
}

int source_too_long(const struct source *source, struct err *err)
{
    return source_fail(source, 0, err, "this ad is too long: the limit is %zu bytes", source->limit);
}
