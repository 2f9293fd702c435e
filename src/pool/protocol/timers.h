/* timers.h: what is due when, in a role: a heap of (time, what, which).
 *
 * Nothing is ever taken out before it is due: whoever pops an entry checks whether it is still wanted, and sets it anew if it is due
 * later. So moving a lease costs nothing; a role keeps about one entry for each thing that waits. */
#ifndef BERTH_POOL_PROTOCOL_TIMERS_H
#define BERTH_POOL_PROTOCOL_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct timer {
    int64_t at; /* microseconds, on the clock that does not jump */
    uint64_t which;
    uint32_t what;
};

struct timers {
    struct timer *heap;
    uint32_t count, room;
};

void timers_init(struct timers *timers);
void timers_done(struct timers *timers);

void timers_set(struct timers *timers, int64_t at, uint32_t what, uint64_t which);

/* The earliest entry that is due at that time; false when none is. Equal times are ordered by what, then which. */
bool timers_pop(struct timers *timers, int64_t now, struct timer *ret);

/* When the next is due; INT64_MAX when there is none. */
int64_t timers_next(const struct timers *timers);

#ifdef __cplusplus
}
#endif
#endif
