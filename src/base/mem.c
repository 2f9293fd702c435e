/* mem.c: memory from the heap that never fails. */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void *mem_alloc(size_t size)
{
    void *got = malloc(size ? size : 1);

    if (!got)
        abort();
    return got;
}

void *mem_grow(void *old, size_t size)
{
    void *got = realloc(old, size ? size : 1);

    if (!got)
        abort();
    return got;
}

char *mem_dup(const char *text, size_t len)
{
    char *copy = mem_alloc(len + 1);

    if (len)
        memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}
