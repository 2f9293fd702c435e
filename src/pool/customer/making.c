/* making.c: jobs of one ad that are very many are made in several steps, so that nobody waits for all of them.
 *
 *     [ one | other | ... ]      each wake makes some jobs of the first of them, which then is the last
 *
 * The row that says that they are there comes first: after a crash all of them are. Whoever has submitted them is answered when they are. Their numbers are
 * taken at once, and they count for their owner; they wait for machines as they are made. */
#include "lang/base/array.h"
#include "pool/customer/customer_parts.h"

#include <stdlib.h>

/* Those of a batch or of a workflow begin together, and are made together. */
bool making_is_long(const struct customer *customer, const struct submission *submission)
{
    uint32_t most = customer->settings->jobs_step;

    return most && submission->count > most && !submission->batch && !submission->flow;
}

static void making_add(struct customer *customer, struct submission *submission)
{
    submission->making = NULL;
    *customer->making_end = submission;
    customer->making_end = &submission->making;
}

static struct submission *making_take(struct customer *customer)
{
    struct submission *first = customer->making;

    customer->making = first->making;
    if (!customer->making)
        customer->making_end = &customer->making;
    return first;
}

void making_begin(struct customer *customer, struct submission *submission)
{
    submission->alive = submission->count;
    customer->unmade += submission->count;
    customer->last_job = submission->first + submission->count - 1;
    making_add(customer, submission);
}

void making_ask(struct submission *submission, uint64_t token)
{
    ARRAY_ROOM(submission->askers, submission->asker_count, submission->asker_room, 1);
    submission->askers[submission->asker_count++] = token;
}

static void making_end(const struct customer_step *step, struct submission *submission)
{
    for (uint32_t i = 0; i < submission->asker_count; i++)
        reply_submitted(step, submission->askers[i], REASON_OK, submission);
    free(submission->askers);
    submission->askers = NULL;
    submission->asker_count = submission->asker_room = 0;
}

void making_step(const struct customer_step *step)
{
    struct customer *customer = step->customer;
    struct submission *submission;

    if (!customer->making)
        return;
    submission = making_take(customer);
    for (uint32_t i = 0; i < customer->settings->jobs_step && !submission_is_made(submission); i++) {
        struct job *job = job_new(customer, submission->first + submission->made++, submission->shape);

        job->from = submission;
        job->fresh = true;
        submission->fresh++;
        customer->unmade--;
        job_wait(customer, job, false);
    }
    shape_submitted(step, submission->shape);
    if (submission_is_made(submission))
        making_end(step, submission);
    else
        making_add(customer, submission);
}
