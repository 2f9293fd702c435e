/* mem.c: memory from the heap that never fails. */
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *mem_alloc(size_t size)
{
    void *got = malloc(size ? size : 1);

    if (!got)
        abort();
    return got;
}

void *mem_alloc_lines(size_t size)
{
    const size_t page = (size_t)2 << 20, line = 64;
    size_t align = size >= page ? page : line, room = (size + align - 1) / align * align;
    void *got = aligned_alloc(align, room ? room : align);

    if (!got)
        abort();
#ifdef MADV_HUGEPAGE
    if (align == page)
        madvise(got, room, MADV_HUGEPAGE); /* this is advice to the kernel: it may fail */
#endif
    memset(got, 0, size);
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
