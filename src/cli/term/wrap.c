/* wrap.c: paragraphs of help text, filled to the width of a terminal. */
#include "cli/term/wrap.h"

/* Fills one paragraph from `text` to `end`; its first line has `at` columns already. */
static void wrap_paragraph(struct buf *out, const char *text, const char *end, size_t indent, size_t at)
{
    while (text < end) {
        size_t len = 0;

        while (text + len < end && text[len] != ' ' && text[len] != '\n')
            len++;
        if (at > indent && at + 1 + len > WRAP_WIDTH) {
            buf_addc(out, '\n');
            at = 0;
        }
        if (at > indent) {
            buf_addc(out, ' ');
            at++;
        }
        for (; at < indent; at++)
            buf_addc(out, ' ');
        buf_add(out, text, len);
        at += len;
        text += len;
        while (text < end && (*text == ' ' || *text == '\n'))
            text++;
    }
    buf_addc(out, '\n');
}

void wrap_text(struct buf *out, const char *text, size_t indent)
{
    while (*text) {
        const char *end = text + strcspn(text, "\n");

        if (end == text) {
            buf_addc(out, '\n');
        } else if (!strncmp(text, "    ", 4)) {
            buf_addf(out, "%*s%.*s\n", (int)indent, "", (int)(end - text), text);
        } else {
            while (*end && end[1] && end[1] != '\n' && end[1] != ' ') /* the lines that belong to this paragraph */
                end += 1 + strcspn(end + 1, "\n");
            wrap_paragraph(out, text, end, indent, 0);
        }
        text = *end ? end + 1 : end;
    }
}

void wrap_item(struct buf *out, const char *term, const char *text, size_t column)
{
    size_t len = strlen(term);

    buf_adds(out, term);
    if (len + 2 > column) {
        buf_addc(out, '\n');
        len = 0;
    }
    wrap_paragraph(out, text, text + strlen(text), column, len);
}
