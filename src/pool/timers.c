/* timers.c: what is due when: a binary heap. */
#include "pool/timers.h"

#include "base/mem.h"

#include <stdlib.h>

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

void timers_set(struct timers *timers, int64_t at, uint32_t what, uint64_t which)
{
    struct timer timer = {at, which, what};
    uint32_t place;

    if (timers->count == timers->room) {
        timers->room = timers->room ? timers->room * 2 : 16;
        timers->heap = mem_grow(timers->heap, timers->room * sizeof *timers->heap);
    }
    for (place = timers->count++; place; place = (place - 1) / 2) {
        const struct timer *above = &timers->heap[(place - 1) / 2];

        if (!timer_before(&timer, above))
            break;
        timers->heap[place] = *above;
    }
    timers->heap[place] = timer;
}

bool timers_pop(struct timers *timers, int64_t now, struct timer *ret)
{
    struct timer last;
    uint32_t place = 0;

    if (!timers->count || timers->heap[0].at > now)
        return false;
    *ret = timers->heap[0];
    last = timers->heap[--timers->count];
    for (;;) {
        uint32_t child = 2 * place + 1;

        if (child >= timers->count)
            break;
        if (child + 1 < timers->count && timer_before(&timers->heap[child + 1], &timers->heap[child]))
            child++;
        if (!timer_before(&timers->heap[child], &last))
            break;
        timers->heap[place] = timers->heap[child];
        place = child;
    }
    timers->heap[place] = last;
    return true;
}

int64_t timers_next(const struct timers *timers)
{
    return timers->count ? timers->heap[0].at : INT64_MAX;
}
