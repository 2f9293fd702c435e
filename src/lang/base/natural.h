/* natural.h: the order in which people look for names: node2 comes before node10. */
#ifndef BERTH_LANG_BASE_NATURAL_H
#define BERTH_LANG_BASE_NATURAL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Below, at or above 0, as of memcmp: numbers in the names count by their value, whatever their size; letters whether small or not. Two names are
 * equal only if all their bytes are. */
int natural_compare(const char *a, size_t a_len, const char *b, size_t b_len);

#ifdef __cplusplus
}
#endif
#endif
