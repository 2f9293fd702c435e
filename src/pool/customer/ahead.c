/* ahead.c: the job that a claim is to have next, chosen while its job still runs: so the machine can fetch that one's files meanwhile.
 *
 *     EVENT_AHEAD -> the first waiting job that is promised to no other claim -> promised to this one, for AHEAD_SPAN
 *     a claim wants a job -> the one that is promised to it, if it still waits; else the first that is promised to nobody
 *
 * A promise is kept in memory, and costs nobody his turn: it is over when the claim is, or its span, and where all that wait are promised the first
 * of them goes to whoever is free. What becomes of a job does not depend on it, only which of equal jobs comes first. */
#include "pool/customer/customer_parts.h"

#define AHEAD_SPAN (10 * MINUTE) /* a claim whose job runs longer keeps no other waiting */
#define AHEAD_LOOKED 64          /* waiting jobs that are looked at */

/* Is the job promised to another claim, which may still come for it? */
static bool is_promised(const struct customer_step *step, const struct job *job, const struct root *root)
{
    return job->past->promised && job->past->promised != root->gang && step->env->now < job->past->promised_until &&
           root_of(&step->customer->gangs, job->past->promised);
}

/* The first of the waiting jobs that the claim may be given without taking another's; NULL: there is none among those that are looked at. */
static struct job *job_free(const struct customer_step *step, const struct root *root)
{
    struct job *job = shape_next(root->shape);

    for (int i = 0; job && i < AHEAD_LOOKED; i++, job = job->after)
        if (!is_promised(step, job, root))
            return job;
    return NULL;
}

/* The job that the claim is promised, as long as it waits; else NULL. */
static struct job *job_promised(const struct customer *customer, const struct root *root)
{
    struct job *job = root->ahead ? job_find(customer, root->ahead) : NULL;

    return job && job->waits && job->past->promised == root->gang && job->shape->lead == root->shape->lead ? job : NULL;
}

struct job *root_choose(const struct customer_step *step, struct root *root)
{
    struct job *first = shape_next(root->shape), *job = first ? job_promised(step->customer, root) : NULL;

    if (!job)
        job = job_free(step, root);
    if (!job)
        job = first;
    root->ahead = 0;
    if (job && job->past->promised)
        job_past(job)->promised = 0;
    return job;
}

void root_promise(const struct customer_step *step, const struct event *event)
{
    struct root *root = root_of(&step->customer->claims, event->claim);
    struct job *job;

    if (!root || root->state != ROOT_RUNNING || root_is_gang(root))
        return;
    job = job_promised(step->customer, root);
    job = job ? job : job_free(step, root);
    root->ahead = job ? job->id : 0;
    if (!job)
        return;
    job_past(job)->promised = root->gang;
    job_past(job)->promised_until = step->env->now + AHEAD_SPAN;
}

uint64_t customer_ahead(const struct customer *customer, uint64_t claim)
{
    const struct root *root = root_of(&customer->claims, claim);
    const struct job *job = root ? job_promised(customer, root) : NULL;

    return job ? job->id : 0;
}
