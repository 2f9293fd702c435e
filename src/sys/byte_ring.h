/* byte_ring.h: the bytes of a stream that are on their way: those from `from` on, by their place in the stream, in bounded memory. */
#ifndef BERTH_SYS_BYTE_RING_H
#define BERTH_SYS_BYTE_RING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct byte_ring {
    char *bytes; /* NULL: none are here; they begin at the first */
    size_t len, room;
    int64_t from; /* where in the stream the first of them is */
};

void byte_ring_init(struct byte_ring *ring, size_t room);
void byte_ring_done(struct byte_ring *ring);
/* Adds bytes, as many as there is room for; returns how many. */
size_t byte_ring_add(struct byte_ring *ring, const char *bytes, size_t len);
/* Adds all of them; the oldest go where there is no room. */
void byte_ring_force(struct byte_ring *ring, const char *bytes, size_t len);
/* Drops those in front of that place. */
void byte_ring_drop(struct byte_ring *ring, int64_t to);
static inline size_t byte_ring_room(const struct byte_ring *ring)
{
    return ring->room - ring->len;
}
static inline int64_t byte_ring_end(const struct byte_ring *ring)
{
    return ring->from + (int64_t)ring->len;
}
/* What there is from that place on: the bytes (lent) and how many; a place in front of the first is moved to it. */
const char *byte_ring_look(const struct byte_ring *ring, int64_t *at, size_t *ret_len);

#ifdef __cplusplus
}
#endif
#endif
