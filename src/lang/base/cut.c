/* cut.c: text that is cut to a length, at the end of a character. */
#include "lang/base/cut.h"

size_t cut_len(const char *text, size_t len, size_t most)
{
    size_t end = most;

    if (len <= most)
        return len;
    while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    return end;
}

void buf_cut(struct buf *buf, size_t from, size_t most)
{
    if (buf->len <= from + most)
        return;
    buf->len = from + cut_len(buf->text + from, buf->len - from, most);
    buf_adds(buf, "...");
}
