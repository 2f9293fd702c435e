/* json.c: text as JSON. */
#include "lang/base/json.h"

/* The length of the UTF-8 character at the beginning of the text; 0 when there is none. */
static size_t utf8_length(const unsigned char *text, size_t len)
{
    size_t more = text[0] < 0x80 ? 0 : text[0] >= 0xf0 ? 3 : text[0] >= 0xe0 ? 2 : 1;
    unsigned long code = more ? text[0] & (0x3fu >> more) : text[0];

    if (more >= len || (more && (text[0] < 0xc2 || text[0] > 0xf4)))
        return 0;
    for (size_t i = 1; i <= more; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    if ((more == 2 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) ||
        (more == 3 && (code < 0x10000 || code > 0x10ffff)))
        return 0;
    return more + 1;
}

void json_quote(struct buf *out, const char *text, size_t len)
{
    static const char from[] = "\n\t\b\f\r\\\"", to[] = "ntbfr\\\"";

    buf_addc(out, '"');
    for (size_t i = 0; i < len;) {
        size_t step = utf8_length((const unsigned char *)text + i, len - i);
        const char *named = memchr(from, text[i], sizeof from - 1);

        if (named)
            buf_addf(out, "\\%c", to[named - from]);
        else if (step == 0)
            buf_adds(out, "\\ufffd");
        else if ((unsigned char)text[i] < ' ' || text[i] == 127)
            buf_addf(out, "\\u%04x", (unsigned char)text[i]);
        else
            buf_add(out, text + i, step);
        i += step ? step : 1;
    }
    buf_addc(out, '"');
}
