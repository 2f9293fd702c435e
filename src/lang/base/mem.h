/* mem.h: memory from the heap that never fails: running out of it aborts. */
#ifndef BERTH_LANG_BASE_MEM_H
#define BERTH_LANG_BASE_MEM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All of these abort when memory has run out. The caller frees with free(). */
void *mem_alloc(size_t size);
/* Memory that is cleared; of a large block, each page when it is first touched. */
void *mem_alloc_zeros(size_t count, size_t size);
/* Memory that is cleared, and aligned to 64 bytes. A large block lies in large pages where the system has them: random access to it is cheaper. */
void *mem_alloc_lines(size_t size);
void *mem_grow(void *old, size_t size);
char *mem_dup(const char *text, size_t len); /* a NUL follows the copy */

#ifdef __cplusplus
}
#endif
#endif
