/* xml.h: shared by the files that read XML. For this folder only. */
#ifndef BERTH_LANG_FORM_XML_H
#define BERTH_LANG_FORM_XML_H

#include "lang/form/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline bool xml_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The offset of the '>' of the tag at the offset, quoted values skipped; or SOURCE_END, SOURCE_FAILED. */
ptrdiff_t xml_tag_end(struct source *source, size_t offset, struct err *err);

/* The end of a comment, character data or an instruction that begins with the '<' at the offset: the offset of its last byte. The offset itself when
 * it is a tag; SOURCE_FAILED also when it has no end. */
ptrdiff_t xml_special_end(struct source *source, size_t offset, struct err *err);

/* Pushes the ad in the <c> of that length at the window's start. */
int xml_build(struct form_reader *reader, size_t len, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
