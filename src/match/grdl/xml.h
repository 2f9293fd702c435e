/* xml.h: resources as XML: what document.c asks of the files that read and write it. For this folder only. */
#ifndef BERTH_MATCH_GRDL_XML_H
#define BERTH_MATCH_GRDL_XML_H

#include "match/grdl/document.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks that a text may be read: tags end and have few attributes, a document type has no declarations, the encoding is UTF-8. -1 when it may
 * not. */
int xml_look_through(const char *text, size_t len, struct err *err);

/* Appends the resources of a document. */
int xml_resources_read(struct grdl_resources *ret, const char *text, size_t len, struct err *err);

/* Appends a document: one resource alone, or <resources> around any other number. */
int xml_resources_write(struct buf *out, const struct grdl_resource *const *resources, uint32_t count, struct err *err);

/* Is the text UTF-8 of characters that XML can hold? */
bool xml_text_is_good(const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
