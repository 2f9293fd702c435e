/* walk.c: a request that looks at many jobs, some in each turn. */
#include "live/customerd/walk.h"

#define WALK_SOME 16 /* jobs between two looks at the time */

static void walk_forget(struct request *request)
{
    struct walk *walk = request->work;

    walk->drop(walk);
}

static void walk_step(struct request *request)
{
    struct walk *walk = request->work;

    for (uint32_t i = 1; walk->one(walk, request); i++)
        if (i % WALK_SOME == 0 && request_turn_is_over(request)) {
            request_again(request, walk_step);
            return;
        }
    request->work = NULL;
    request->forget = NULL;
    walk->end(walk, request);
    walk->drop(walk);
}

void walk_begin(struct request *request, struct walk *walk)
{
    request->work = walk;
    request->forget = walk_forget;
    walk_step(request);
}
