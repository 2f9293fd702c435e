/* xml.h: text as XML, for code that writes XML. */
#ifndef BERTH_LANG_BASE_XML_H
#define BERTH_LANG_BASE_XML_H

#include "lang/base/buf.h"

#ifdef __cplusplus
extern "C" {
#endif

enum xml_place {
    XML_ELEMENT,
    XML_ATTRIBUTE, /* within double quotes, which the caller writes */
    XML_ANYWHERE,  /* good for both */
};

/* Writes text so that it reads back as it was, line ends and tabs too. Leaves out other control characters, which XML cannot carry. */
void xml_quote(struct buf *out, enum xml_place place, const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
