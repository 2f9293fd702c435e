/* json.h: text as JSON, for code that writes JSON. */
#ifndef BERTH_LANG_BASE_JSON_H
#define BERTH_LANG_BASE_JSON_H

#include "lang/base/buf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A string in quotes; bytes that are not UTF-8 become U+FFFD. */
void json_quote(struct buf *out, const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
