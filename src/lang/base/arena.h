/* arena.h: memory that is given back all at once.
 *
 *     first chunk -> next -> next        a mark is (chunk, used); rewinding to it keeps the chunks for the next time
 *
 * Made for evaluation: many small pieces, none freed alone, the caller rewinds when it has looked at the result. */
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
/* The same with a chunk to begin with that the caller lends, aligned to 16 bytes: `chunk` is its head, `size` what follows it. */
void arena_init_lent(struct arena *arena, struct arena_chunk *chunk, size_t size);
void arena_done(struct arena *arena);
void arena_reset(struct arena *arena); /* everything is given back; the chunks are kept */

void *arena_alloc(struct arena *arena, size_t size); /* aligned to 16 bytes, never NULL, not cleared */
char *arena_text(struct arena *arena, const char *text, size_t len);

struct arena_mark arena_mark(const struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);

#ifdef __cplusplus
}
#endif
#endif
