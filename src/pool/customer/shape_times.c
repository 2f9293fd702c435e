/* shape_times.c: the times that an ad names for its jobs: they are offered from NotBefore on, and one that waits at FinishBy, or longer than QueueLimit,
 * is given up.
 *
 * Both are of the wall clock, which people set, while timers are of the clock that does not jump. So nothing is computed once and kept: what the wall clock
 * says is looked at again, each minute at least, and a clock that was put right counts from then on. What has begun is not taken back. */
#include "pool/customer/customer_parts.h"

#include <string.h>

#define LOOK MINUTE
#define TIRED_A_STEP \
    4 /* jobs of a shape that are given up at once: there may be very many; the next at the next wake */

int64_t shape_time(const struct tree *ad, const char *attribute, int64_t otherwise)
{
    symbol name = symbols_find(ad->symbols, attribute, strlen(attribute));
    const struct expr *time = name ? tree_find(ad, tree_root(ad), name) : NULL;

    if (!time || (time->kind != EXPR_INTEGER && time->kind != EXPR_ABSTIME))
        return otherwise;
    return time->u.integer >= SHAPE_TIME_NEVER    ? SHAPE_TIME_NEVER
           : time->u.integer <= -SHAPE_TIME_NEVER ? -SHAPE_TIME_NEVER
                                                  : time->u.integer;
}

int64_t shape_time_comes(const struct customer_step *step, int64_t second)
{
    return second >= SHAPE_TIME_NEVER ? INT64_MAX : step->env->now + (second * SECOND - step->env->wall);
}

/* When a job of the list has waited as long as it may. What comes before NotBefore is not waiting. */
static int64_t job_tires(const struct shape *shape, const struct job *job, int64_t begins)
{
    int64_t since = job->from->since > begins ? job->from->since : begins;

    if (shape->patience >= INT64_MAX / SECOND / 4 || since > INT64_MAX / 2)
        return INT64_MAX;
    return since + shape->patience * SECOND;
}

int64_t shape_look(const struct customer_step *step, struct shape *shape)
{
    int64_t begins = shape_time_comes(step, shape->not_before), ends = shape_time_comes(step, shape->finish_by);
    int64_t now = step->env->now, look = now + LOOK, next, tires;
    bool closed = begins > now || ends <= now;

    for (int i = 0; i < TIRED_A_STEP && shape->first; i++) {
        if (ends > now && job_tires(shape, shape->first, begins) > now)
            break;
        job_give_up(step, shape->first, ends <= now ? REASON_FINISH : REASON_QUEUE);
    }
    if (shape->early != closed) {
        shape->early = closed;
        for (uint32_t i = 0; i < shape->pool_count; i++)
            shape->pools[i].dirty = true;
        for (struct job *job = shape->first; job && shape->local; job = job->after)
            effects_changed(step->effects, job->id, 0); /* the world may begin it */
    }
    if (!shape->first)
        return INT64_MAX;
    next = shape->early && begins < look ? begins : shape->early || ends < INT64_MAX ? look : INT64_MAX;
    next = ends < next ? ends : next;
    tires = job_tires(shape, shape->first, begins);
    next = tires < next ? tires : next;
    return next > now ? next : now + 1;
}
