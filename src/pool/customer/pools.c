/* pools.c: a customer that offers its jobs to several pools at once. */
#include "pool/customer/customer_parts.h"

/* Is that agent one of our matchmakers? */
bool customer_knows(const struct customer *customer, agent who)
{
    for (uint32_t i = 0; i < customer->settings->pool_count; i++)
        if (customer->settings->pools[i].matchmaker == who)
            return true;
    return !customer->settings->pool_count && who == customer->settings->matchmaker;
}

/* The youngest claim of that pool and shape that is on its way to a job; NULL: none. */
struct root *root_pending(const struct customer_step *step, const struct shape *shape, uint32_t pool)
{
    struct root *found = NULL;
    uint64_t gang, value;
    uint32_t at = 0;

    while (map_next(&step->customer->gangs, &at, &gang, &value)) {
        struct root *root = (struct root *)(uintptr_t)value;

        if (root->pending && root->shape == shape && root->pool == pool &&
            (!found || root->until > found->until || (root->until == found->until && gang > found->gang)))
            found = root;
    }
    return found;
}

/* For a planted bug (STALE_CLAIM): a job of that shape that another claim has. */
struct job *job_taken(const struct customer_step *step, const struct shape *shape)
{
    uint64_t id, value;
    uint32_t at = 0;

    while (map_next(&step->customer->jobs, &at, &id, &value)) {
        struct job *job = (struct job *)(uintptr_t)value;

        if (job->shape->lead == shape && job->state == JOB_RUNNING)
            return job;
    }
    return NULL;
}
