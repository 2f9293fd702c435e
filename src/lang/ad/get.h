/* get.h: reads attributes of an ad that are plain values, as they are written. Nothing is evaluated: an attribute
 * that is an expression has no value here. */
#ifndef BERTH_LANG_AD_GET_H
#define BERTH_LANG_AD_GET_H

#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* These give the value of an attribute; false when it is missing or of another type. A string is lent: it belongs to the ad. */
bool ad_string(const struct tree *ad, const char *name, const char **ret, size_t *ret_len);
bool ad_text(const struct tree *ad, const char *name, char *ret,
             size_t room); /* a copy; false also when it needs more room */
bool ad_integer(const struct tree *ad, const char *name, int64_t *ret);
bool ad_number(const struct tree *ad, const char *name, double *ret);
bool ad_flag(const struct tree *ad, const char *name, bool *ret);
bool ad_word(const struct tree *ad, const char *name, uint64_t *ret); /* a string of 16 hexadecimal digits */
const struct expr *ad_find(const struct tree *ad, const char *name);  /* NULL: no such attribute */

#ifdef __cplusplus
}
#endif
#endif
