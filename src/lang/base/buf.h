/* buf.h: text that grows at its end. */
#ifndef BERTH_LANG_BASE_BUF_H
#define BERTH_LANG_BASE_BUF_H

#include "lang/base/err.h"
#include "lang/base/mem.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct buf {
    char *text; /* not NUL-terminated: ask buf_string */
    size_t len, room;
};

void buf_init(struct buf *buf);
void buf_done(struct buf *buf);
void buf_reset(struct buf *buf);              /* empty, memory kept */
void buf_grow(struct buf *buf, size_t extra); /* makes room for that many bytes more */

#define BUF_PADDING 16                   /* NULs behind what buf_string gives, for readers that look ahead */
const char *buf_string(struct buf *buf); /* NUL-terminated, valid until the next change */
void buf_addf(struct buf *buf, const char *format, ...) ERR_FORMAT(2, 3);
void buf_add_count(struct buf *buf, size_t n); /* with a comma between thousands: 12,345 */

static inline char *buf_reserve(struct buf *buf, size_t extra)
{
    if (buf->room - buf->len < extra)
        buf_grow(buf, extra);
    return buf->text + buf->len;
}

static inline void buf_add(struct buf *buf, const char *text, size_t len)
{
    if (len) {
        memcpy(buf_reserve(buf, len), text, len);
        buf->len += len;
    }
}

static inline void buf_adds(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

static inline void buf_addc(struct buf *buf, char c)
{
    *buf_reserve(buf, 1) = c;
    buf->len++;
}

#ifdef __cplusplus
}
#endif
#endif
