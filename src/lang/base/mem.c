/* mem.c: memory from the heap that never fails. */
#include "lang/base/mem.h"

#include "lang/base/want.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static mem_want_fn *asked; /* the one setting of the process */
static void *asked_user;

void mem_on_want(mem_want_fn *want, void *user)
{
    asked = want;
    asked_user = user;
}

/* Memory has run out: returns when it is worth another try. */
static void mem_wanting(size_t size)
{
    if (!asked || !asked(asked_user, size))
        abort();
}

void *mem_alloc(size_t size)
{
    void *got;

    while (!(got = malloc(size ? size : 1)))
        mem_wanting(size);
    return got;
}

void *mem_alloc_zeros(size_t count, size_t size)
{
    void *got;

    while (!(got = calloc(count ? count : 1, size)))
        mem_wanting(count * size);
    return got;
}

void *mem_alloc_lines(size_t size)
{
    const size_t page = (size_t)2 << 20, line = 64;
    size_t align = size >= page ? page : line, room = (size + align - 1) / align * align;
    void *got;

    while (!(got = aligned_alloc(align, room ? room : align)))
        mem_wanting(room);
#ifdef MADV_HUGEPAGE
    if (align == page)
        madvise(got, room, MADV_HUGEPAGE); /* this is advice to the kernel: it may fail */
#endif
    memset(got, 0, size);
    return got;
}

void *mem_grow(void *old, size_t size)
{
    void *got;

    while (!(got = realloc(old, size ? size : 1)))
        mem_wanting(size);
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
