/* timers.c: what is due when: a heap with four children to a node, which lie side by side. */
#include "pool/protocol/timers.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdlib.h>

#define BRANCHES 4

void timers_init(struct timers *timers)
{
    *timers = (struct timers){0};
}

void timers_done(struct timers *timers)
{
    if (timers)
        free(timers->heap);
}

static bool timer_before(const struct timer *a, const struct timer *b)
{
    if (a->at != b->at)
        return a->at < b->at;
    return a->what != b->what ? a->what < b->what : a->which < b->which;
}

/* Moves the timer from the place, which is free, up to where it belongs. */
static void timer_rise(struct timer *heap, uint32_t place, struct timer timer)
{
    while (place) {
        uint32_t above = (place - 1) / BRANCHES;

        if (!timer_before(&timer, &heap[above]))
            break;
        heap[place] = heap[above];
        place = above;
    }
    heap[place] = timer;
}

void timers_set(struct timers *timers, int64_t at, uint32_t what, uint64_t which)
{
    ARRAY_ROOM(timers->heap, timers->count, timers->room, 16);
    timer_rise(timers->heap, timers->count++, (struct timer){at, which, what});
}

/* Moves the hole down, without comparing with the timer that will fill it: that one comes from the end and nearly
 * always belongs at the bottom. */
static uint32_t hole_sink(struct timer *heap, uint32_t count)
{
    uint32_t place = 0;

    for (;;) {
        uint32_t first = place * BRANCHES + 1, best = first, end = first + BRANCHES < count ? first + BRANCHES : count;

        if (first >= count)
            return place;
        for (uint32_t i = first + 1; i < end; i++)
            if (timer_before(&heap[i], &heap[best]))
                best = i;
        heap[place] = heap[best];
        place = best;
    }
}

bool timers_pop(struct timers *timers, int64_t now, struct timer *ret)
{
    if (!timers->count || timers->heap[0].at > now)
        return false;
    *ret = timers->heap[0];
    if (--timers->count)
        timer_rise(timers->heap, hole_sink(timers->heap, timers->count), timers->heap[timers->count]);
    return true;
}

int64_t timers_next(const struct timers *timers)
{
    return timers->count ? timers->heap[0].at : INT64_MAX;
}
