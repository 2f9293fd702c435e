/* buf.c: text that grows at its end. */
#include "lang/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_init(struct buf *buf)
{
    *buf = (struct buf){0};
}

void buf_done(struct buf *buf)
{
    if (!buf)
        return;
    free(buf->text);
    buf_init(buf);
}

void buf_reset(struct buf *buf)
{
    buf->len = 0;
}

void buf_grow(struct buf *buf, size_t extra)
{
    size_t room = buf->room * 2;

    if (room < buf->len + extra)
        room = buf->len + extra;
    if (room < 64)
        room = 64;
    buf->text = mem_grow(buf->text, room);
    buf->room = room;
}

const char *buf_string(struct buf *buf)
{
    memset(buf_reserve(buf, BUF_PADDING), 0, BUF_PADDING);
    return buf->text;
}

void buf_addf(struct buf *buf, const char *format, ...)
{
    va_list args, again;
    int len;

    va_start(args, format);
    va_copy(again, args);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len > 0) {
        vsnprintf(buf_reserve(buf, (size_t)len + 1), (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

void buf_add_count(struct buf *buf, size_t n)
{
    if (n >= 1000) {
        buf_add_count(buf, n / 1000);
        buf_addf(buf, ",%03zu", n % 1000);
    } else {
        buf_addf(buf, "%zu", n);
    }
}
