/* spell.h: how names and expressions are spelt in forms that cannot carry every byte.
 *
 * JSON and XML carry UTF-8 only, and XML not even all of that. An expression with other bytes is printed with octal escapes, which are ASCII. A name
 * that cannot be carried, or that looks like a quoted one, is written as the language quotes it: 'caf\351'. */
#ifndef BERTH_LANG_FORM_SPELL_H
#define BERTH_LANG_FORM_SPELL_H

#include "lang/base/buf.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Can a form carry this text? */
typedef bool spell_test_fn(const char *text, size_t len);

bool spell_utf8(const char *text, size_t len); /* any UTF-8: for JSON */
bool spell_xml(const char *text, size_t len);  /* UTF-8 of XML 1.0's characters */
/* Where the text that can be carried ends: `len`, or the first bad byte. */
size_t spell_utf8_end(const char *text, size_t len);
size_t spell_xml_end(const char *text, size_t len);

void spell_expr(struct buf *out, const struct tree *tree, const struct expr *e, spell_test_fn *carried);
void spell_name(struct buf *out, const struct dialect *dialect, const char *name, size_t len, spell_test_fn *carried);

#define SPELL_SHOWN_MAX 64

/* A name as an error shows it: its beginning, in ASCII. Returns `out`. */
const char *spell_show(const char *name, size_t len, char out[SPELL_SHOWN_MAX]);

/* Appends to `out` the name that was written in that way. */
void spell_name_read(struct buf *out, const struct dialect *dialect, const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
