/* forgetting.c: submissions of which no job is left are forgotten, a few with each that comes, so that nobody waits for all of them.
 *
 *     [ kept | kept | kept |  not looked at yet ... ]      a round begins whenever their number has doubled since the last one
 *                            ^ forget_place
 *
 * A batch goes as a whole. Its first row is forgotten when all may be, and then it is *leaving*: the others follow, whatever else changes, and what a restart finds of
 * it is dropped, as of a batch that was cut off. Whoever uses one of its keys meanwhile is new: what is left of it goes before. */
#include "pool/customer/customer_parts.h"

#include <string.h>

#define KEYS_KEPT (24 * 60 * MINUTE) /* how long a key is remembered after its last job was forgotten ... */
#define KEYS_KEPT_ALL 100000 /* ... while there are no more submissions than these; then for the span `keep` alone */
#define FORGETS_PART \
    4 /* to forget one takes longer than to make a job: as many as that part of those that a step makes ... */
#define FORGETS_ROUND \
    1024 /* ... and of all that part: for those behind move up, and a round must not take too many of such moves */

bool submission_is_leaving(const struct submission *submission)
{
    return submission->batch && submission->batch->leaving;
}

static bool submission_may_go(const struct customer_step *step, const struct submission *submission)
{
    const struct customer *customer = step->customer;
    const struct batch *batch = submission->batch;
    int64_t span = customer->submission_count > KEYS_KEPT_ALL ? customer->spans->keep : KEYS_KEPT, now = step->env->now;

    if (submission_is_leaving(submission))
        return true;
    if (submission->alive || now - submission->ended < span)
        return false;
    return !batch || (!batch_is_beginning(batch) && batch->over == batch->count && now - batch->ended >= span);
}

/* Forgets what may go of those from one place to another; returns the place behind those that stay. The largest number given is kept apart, so that it is not
 * given again. */
static uint32_t some_forget(const struct customer_step *step, uint32_t from, uint32_t to)
{
    struct customer *customer = step->customer;
    struct submission **all = customer->submissions;
    uint32_t kept = from;

    for (uint32_t i = from; i < to; i++) {
        struct submission *submission = all[i];

        if (!submission_may_go(step, submission)) {
            all[kept++] = submission;
            continue;
        }
        if (kept == i)
            customer_store(step);
        if (submission->batch)
            submission->batch->leaving = true;
        submission_remove(step, submission);
    }
    if (kept == to)
        return kept;
    memmove(&all[kept], &all[to], (customer->submission_count - to) * sizeof *all);
    customer->submission_count -= to - kept;
    return kept;
}

static void round_go_on(const struct customer_step *step, uint32_t most)
{
    struct customer *customer = step->customer;
    uint32_t place = customer->forget_place, left = customer->submission_count - place;

    customer->forget_place = some_forget(step, place, place + (left < most ? left : most));
    customer->forget_at = 0; /* goes on with the next that comes */
    if (customer->forget_place < customer->submission_count)
        return;
    customer->forget_place = 0;
    customer->forget_at = customer->submission_count * 2 + 64;
}

void submissions_forget_some(const struct customer_step *step)
{
    const struct customer *customer = step->customer;
    uint32_t most = customer->settings->jobs_step;

    if (customer->submission_count >= customer->forget_at)
        round_go_on(step, most ? most / FORGETS_PART + 1 + customer->submission_count / FORGETS_ROUND : UINT32_MAX);
}

void submissions_forget_all(const struct customer_step *step)
{
    step->customer->forget_place = 0;
    round_go_on(step, UINT32_MAX);
}

void submissions_make_way(const struct customer_step *step, const struct submit *submit)
{
    struct customer *customer = step->customer;
    const struct submission *known = submission_find(customer, &submit->owner, &submit->key);
    const struct batch *batch =
        known && submission_is_leaving(known) ? known->batch : batch_find(customer, submit->batch);
    uint32_t from, to;

    if (!batch || !batch->leaving)
        return;
    from = to = submission_behind(customer, batch->first - 1);
    while (to < customer->submission_count && customer->submissions[to]->first <= batch->last)
        to++;
    some_forget(step, from, to);
    if (customer->forget_place > from)
        customer->forget_place = from;
}
