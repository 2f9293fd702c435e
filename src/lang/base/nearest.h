/* nearest.h: the right name that a wrong one was probably meant to be. */
#ifndef BERTH_LANG_BASE_NEAREST_H
#define BERTH_LANG_BASE_NEAREST_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NEAREST_LEN_MAX 32 /* longer names are not compared */

struct nearest {
    const char *wrong;
    size_t len;
    const char *name; /* the nearest so far; NULL while none is near */
    size_t distance;
};

void nearest_init(struct nearest *nearest, const char *wrong, size_t len);
void nearest_try(struct nearest *nearest, const char *name); /* keeps the pointer */

#ifdef __cplusplus
}
#endif
#endif
