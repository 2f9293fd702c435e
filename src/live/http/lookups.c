/* lookups.c: requests whose callers are being looked up: a list, and a timer that runs while there is anybody in it. */
#include "live/http/lookups.h"

#include "lang/base/mem.h"
#include "live/http/request.h"
#include "sys/clock.h"

#include <stdlib.h>
#include <uv.h>

#define LOOKUPS_EVERY 5   /* milliseconds between two looks: most accounts are there with the first */
#define LOOKUPS_SPAN 1500 /* microseconds that one of them takes: who is left comes first the next time */

struct lookups {
    uv_timer_t timer;
    struct lookups **owner; /* what the owner knows us by */
    lookups_decide_fn *decide;
    struct request *first, *last;
    uint32_t count;
    bool deciding; /* somebody may come back: this stays */
};

static void timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void lookups_end_if_empty(struct lookups *lookups)
{
    if (lookups->count || lookups->deciding)
        return;
    *lookups->owner = NULL;
    uv_close((uv_handle_t *)&lookups->timer, timer_closed);
}

void lookups_remove(struct request *request)
{
    struct lookups_place *place = &request->lookup;
    struct lookups *lookups = place->lookups;

    if (!lookups)
        return;
    *(place->before ? &place->before->lookup.behind : &lookups->first) = place->behind;
    *(place->behind ? &place->behind->lookup.before : &lookups->last) = place->before;
    *place = (struct lookups_place){0};
    lookups->count--;
    lookups_end_if_empty(lookups);
}

/* Looks at each that waits, once: one that has to go on waiting is at the end of the list then. */
static void lookups_due(uv_timer_t *timer)
{
    struct lookups *lookups = timer->data;
    int64_t now = clock_now();

    lookups->deciding = true;
    for (uint32_t left = lookups->count; left && lookups->first && clock_now() - now < LOOKUPS_SPAN; left--) {
        struct request *request = lookups->first;

        lookups_remove(request);
        lookups->decide(request, now - request->began >= LOOKUPS_PATIENCE);
    }
    lookups->deciding = false;
    lookups_end_if_empty(lookups);
}

void lookups_add(struct lookups **owner, struct uv_loop_s *loop, lookups_decide_fn *decide, struct request *request)
{
    struct lookups *lookups = *owner;

    if (!lookups) {
        lookups = *owner = mem_alloc(sizeof *lookups);
        *lookups = (struct lookups){.owner = owner, .decide = decide};
        uv_timer_init(loop, &lookups->timer);
        lookups->timer.data = lookups;
        uv_timer_start(&lookups->timer, lookups_due, 1, LOOKUPS_EVERY);
    }
    request->lookup = (struct lookups_place){.lookups = lookups, .before = lookups->last};
    *(lookups->last ? &lookups->last->lookup.behind : &lookups->first) = request;
    lookups->last = request;
    lookups->count++;
}
