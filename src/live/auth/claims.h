/* claims.h: JSON that others have written (the header and the claims of a token, the keys and the description of an issuer), as a tree.
 *
 * A string is a string and nothing else, no name is there twice in whatever case, and names are looked up as they are spelt. */
#ifndef BERTH_LIVE_AUTH_CLAIMS_H
#define BERTH_LIVE_AUTH_CLAIMS_H

#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads one object; NULL and the reason when the text is not exactly that, or has more than `cells` parts. The caller unrefs it. */
struct tree *claims_read(struct symbols *symbols, const char *json, size_t len, uint32_t cells, struct err *err);

/* The member of an object (NULL: of the outermost one); NULL when there is none. */
const struct expr *claims_find(const struct tree *tree, const struct expr *object, const char *name);

/* The same where it is a string of up to `max` bytes; false also when it is missing, empty or of another sort. The text is lent, and has no NUL behind it. */
bool claims_text(const struct tree *tree, const struct expr *object, const char *name, size_t max, const char **ret,
                 size_t *ret_len);
bool claims_is(const struct tree *tree, const struct expr *value, const char *text); /* is it that string? */

/* Is the string, or one of the strings of the list? */
bool claims_has(const struct tree *tree, const struct expr *value, const char *text);

#ifdef __cplusplus
}
#endif
#endif
