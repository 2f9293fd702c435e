/* arena.h: memory that is given back all at once.
 *
 *     first chunk -> next -> next        a mark is (chunk, used); rewinding to it keeps the chunks for the next time
 *
 * Arenas are made for evaluation: it needs many small pieces and frees none of them alone. The caller rewinds when it has looked at the result. */
#ifndef BERTH_LANG_BASE_ARENA_H
#define BERTH_LANG_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The head of a chunk; its bytes follow. */
struct arena_chunk {
    struct arena_chunk *next;
    size_t size;
};

struct arena {
    struct arena_chunk *first;
    struct arena_chunk *current;
    size_t used; /* of the current chunk */
    bool lent;   /* the first chunk is somebody else's */
};

struct arena_mark {
    struct arena_chunk *chunk;
    size_t used;
};

void arena_init(struct arena *arena);
/* The same, but the first chunk is one that the caller lends, aligned to 16 bytes: `chunk` is its head,
 * `size` counts the bytes that follow the head. */
void arena_init_lent(struct arena *arena, struct arena_chunk *chunk, size_t size);
void arena_done(struct arena *arena);
void arena_reset(struct arena *arena); /* gives everything back and keeps the chunks */

void *arena_alloc(struct arena *arena, size_t size); /* aligned to 16 bytes, never NULL, not cleared */
char *arena_text(struct arena *arena, const char *text, size_t len);

struct arena_mark arena_mark(const struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);

#ifdef __cplusplus
}
#endif
#endif
