/* arena.c: memory that is given back all at once. */
#include "lang/base/arena.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_CHUNK_MIN 4096
#define ARENA_ALIGN 16

_Static_assert(sizeof(struct arena_chunk) % ARENA_ALIGN == 0, "what follows the head of a chunk is aligned as it is");

void arena_init(struct arena *arena)
{
    *arena = (struct arena){0};
}

void arena_init_lent(struct arena *arena, struct arena_chunk *chunk, size_t size)
{
    *chunk = (struct arena_chunk){NULL, size};
    *arena = (struct arena){.first = chunk, .current = chunk, .lent = true};
}

void arena_done(struct arena *arena)
{
    if (!arena)
        return;
    for (struct arena_chunk *chunk = arena->first, *next; chunk; chunk = next) {
        next = chunk->next;
        if (chunk != arena->first || !arena->lent)
            free(chunk);
    }
    arena_init(arena);
}

void arena_reset(struct arena *arena)
{
    arena->current = arena->first;
    arena->used = 0;
}

/* The next chunk that holds `size` bytes: a chunk kept from before, or a new one put behind the current one. */
static void arena_next(struct arena *arena, size_t size)
{
    struct arena_chunk *next = arena->current ? arena->current->next : arena->first;

    if (!next || next->size < size) {
        size_t room = arena->current ? arena->current->size * 2 : ARENA_CHUNK_MIN;
        struct arena_chunk *chunk;

        if (room > (1u << 20))
            room = 1u << 20;
        if (room < size)
            room = size;
        chunk = mem_alloc(sizeof *chunk + room);
        chunk->size = room;
        chunk->next = next;
        if (arena->current)
            arena->current->next = chunk;
        else
            arena->first = chunk;
        next = chunk;
    }
    arena->current = next;
    arena->used = 0;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    void *got;

    size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (!arena->current || arena->current->size - arena->used < size)
        arena_next(arena, size);
    got = (char *)(arena->current + 1) + arena->used;
    arena->used += size;
    return got;
}

char *arena_text(struct arena *arena, const char *text, size_t len)
{
    char *copy = arena_alloc(arena, len);

    if (len)
        memcpy(copy, text, len);
    return copy;
}

struct arena_mark arena_mark(const struct arena *arena)
{
    return (struct arena_mark){arena->current, arena->used};
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
    arena->current = mark.chunk;
    arena->used = mark.used;
    if (!mark.chunk)
        arena_reset(arena);
}
