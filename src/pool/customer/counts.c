/* counts.c: how many jobs a customer has in each state, kept as they change: whoever asks waits for nothing, however many there are.
 *
 *     a job is made, recorded, waits or is forgotten  ->  it is taken from where it was counted, and counted where it is
 *
 * The slow twin is customer_valid, which counts all of them. */
#include "pool/customer/customer_parts.h"

enum jobs_as job_counted_as(const struct job *job)
{
    switch (job->state) {
    case JOB_IDLE:
        return job->waits || job->past->rests ? JOBS_WAITING : JOBS_BLOCKED;
    case JOB_RUNNING:
        return job->shape->local ? JOBS_LOCAL : JOBS_CLAIMED;
    case JOB_DONE:
        return job->past->reason == REASON_EXITED && job->past->status == 0 ? JOBS_GOOD : JOBS_FAILED;
    case JOB_HELD:
        return JOBS_HELD;
    case JOB_REMOVED:
        return JOBS_REMOVED;
    case JOB_ABORTED:
    case JOB_FORGOTTEN:
        break;
    }
    return JOBS_ABORTED;
}

static void move(struct customer *customer, struct job *job, enum jobs_as to)
{
    struct flow *flow = job->from->flow;

    if (flow)
        flow->blocked += (uint64_t)(to == JOBS_BLOCKED) - (uint64_t)(job->counted == JOBS_BLOCKED);
    if (job->counted != JOBS_NOT)
        customer->counted[job->counted]--;
    if (to != JOBS_NOT)
        customer->counted[to]++;
    job->counted = to;
}

void job_count(struct customer *customer, struct job *job)
{
    enum jobs_as to;

    if (!customer->counts || !job->from)
        return;
    to = job_counted_as(job);
    if (to != job->counted)
        move(customer, job, to);
}

void job_uncount(struct customer *customer, struct job *job)
{
    if (job->counted != JOBS_NOT)
        move(customer, job, JOBS_NOT);
}

void counts_boot(struct customer *customer)
{
    uint64_t id, value;
    uint32_t at = 0;

    customer->counts = true;
    while (map_next(&customer->jobs, &at, &id, &value))
        job_count(customer, (struct job *)(uintptr_t)value);
}

uint64_t customer_counted(const struct customer *customer, enum jobs_as as)
{
    return customer->counted[as];
}

uint64_t customer_stuck(const struct customer *customer)
{
    uint64_t word, value, stuck = 0;
    uint32_t at = 0;

    while (map_next(&customer->flows, &at, &word, &value)) {
        const struct flow *flow = (const struct flow *)(uintptr_t)value;

        stuck += flow->moving ? 0 : flow->blocked;
    }
    return stuck;
}

bool counts_valid(const struct customer *customer)
{
    uint64_t counted[JOBS_COUNT] = {0}, id, value;
    uint32_t at = 0;

    if (!customer->counts)
        return true;
    while (map_next(&customer->jobs, &at, &id, &value))
        counted[job_counted_as((const struct job *)(uintptr_t)value)]++;
    for (int i = 0; i < JOBS_COUNT; i++)
        if (counted[i] != customer->counted[i])
            return false;
    return true;
}
