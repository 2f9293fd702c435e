/* want.h: what happens when memory has run out: somebody may give some back; else the program ends. */
#ifndef BERTH_LANG_BASE_WANT_H
#define BERTH_LANG_BASE_WANT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called by those of mem.h when memory has run out, with the bytes that are wanted: 1 when it is worth another try; 0 ends the program by abort(). */
typedef int mem_want_fn(void *user, size_t wanted);
void mem_on_want(mem_want_fn *want, void *user); /* for the whole process; NULL: nobody is asked */

#ifdef __cplusplus
}
#endif
#endif
