/* byte_ring.c: the bytes of a stream that are on their way. They are moved to the front when some were taken: there are few of them. */
#include "sys/byte_ring.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

void byte_ring_init(struct byte_ring *ring, size_t room)
{
    *ring = (struct byte_ring){.room = room};
}

void byte_ring_done(struct byte_ring *ring)
{
    free(ring->bytes);
    *ring = (struct byte_ring){.room = ring->room, .from = byte_ring_end(ring)};
}

size_t byte_ring_add(struct byte_ring *ring, const char *bytes, size_t len)
{
    size_t room = byte_ring_room(ring);

    len = len < room ? len : room;
    if (!len)
        return 0;
    if (!ring->bytes)
        ring->bytes = mem_alloc(ring->room);
    memcpy(ring->bytes + ring->len, bytes, len);
    ring->len += len;
    return len;
}

void byte_ring_force(struct byte_ring *ring, const char *bytes, size_t len)
{
    if (len > ring->room) {
        byte_ring_drop(ring, byte_ring_end(ring));
        ring->from += (int64_t)(len - ring->room);
        bytes += len - ring->room;
        len = ring->room;
    }
    if (len > byte_ring_room(ring))
        byte_ring_drop(ring, ring->from + (int64_t)(len - byte_ring_room(ring)));
    byte_ring_add(ring, bytes, len);
}

void byte_ring_drop(struct byte_ring *ring, int64_t to)
{
    size_t count;

    if (to <= ring->from)
        return;
    count = to < byte_ring_end(ring) ? (size_t)(to - ring->from) : ring->len;
    ring->from += (int64_t)count;
    ring->len -= count;
    if (ring->len) {
        memmove(ring->bytes, ring->bytes + count, ring->len);
    } else {
        free(ring->bytes);
        ring->bytes = NULL;
    }
}

const char *byte_ring_look(const struct byte_ring *ring, int64_t *at, size_t *ret_len)
{
    *at = *at < ring->from ? ring->from : *at > byte_ring_end(ring) ? byte_ring_end(ring) : *at;
    *ret_len = (size_t)(byte_ring_end(ring) - *at);
    return *ret_len ? ring->bytes + (*at - ring->from) : "";
}
