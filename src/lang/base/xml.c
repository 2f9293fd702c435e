/* xml.c: text as XML. */
#include "lang/base/xml.h"

void xml_quote(struct buf *out, enum xml_place place, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        switch (text[i]) {
        case '&':
            buf_adds(out, "&amp;");
            break;
        case '<':
            buf_adds(out, "&lt;");
            break;
        case '>': /* XML needs this only after ]]; in an attribute '>' reads better as it is */
            buf_adds(out, place == XML_ATTRIBUTE ? ">" : "&gt;");
            break;
        case '"':
            buf_adds(out, place == XML_ELEMENT ? "\"" : "&quot;");
            break;
        case '\r': /* a reader would turn this into a plain line end */
            buf_adds(out, "&#13;");
            break;
        case '\n':
        case '\t':
            if (place != XML_ELEMENT) /* a reader would turn them into blanks */
                buf_addf(out, "&#%d;", text[i]);
            else
                buf_addc(out, text[i]);
            break;
        default:
            if ((unsigned char)text[i] >= ' ')
                buf_addc(out, text[i]);
        }
    }
}
