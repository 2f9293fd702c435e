/* batch.c: submissions that are one for their user, and come one by one: all of them, or none.
 *
 *     K/0  K/1  K/2 ... K/9     none of their jobs waits for a machine before the last is here; a restart before that drops them all
 *
 * The ads of a body are given to the role in many steps, which become durable in many commits. Rows of a batch go together as well: so a batch that
 * is not whole when the role begins was cut off by a crash, and nobody was told of it. */
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/customer/customer_parts.h"

#include <stdlib.h>
#include <string.h>

#define BEGINS_PART \
    4 /* to begin takes longer than to make: as many jobs in a step as that part of those that one makes */

struct batch *batch_find(const struct customer *customer, uint64_t word)
{
    uint64_t value = map_find(&customer->batches, word);

    return value == MAP_NONE ? NULL : (struct batch *)(uintptr_t)value;
}

static void batch_free(struct batch *batch)
{
    free(batch->items);
    free(batch);
}

void batches_done(struct customer *customer)
{
    uint64_t word, value;
    uint32_t at = 0;

    while (map_next(&customer->batches, &at, &word, &value))
        batch_free((struct batch *)(uintptr_t)value);
    map_done(&customer->batches);
}

bool batch_fits(const struct customer *customer, uint64_t word, uint64_t ads)
{
    const struct batch *batch = batch_find(customer, word);

    return ads && ads <= CUSTOMER_SUBMIT_MAX && (!batch || (batch->ads == ads && batch->count < ads));
}

bool batch_has_room(const struct customer *customer, const struct submit *submit)
{
    const struct batch *batch = batch_find(customer, submit->batch);
    uint64_t room = batch ? batch->last + 1 - batch->next : submit->jobs;

    return batch_fits(customer, submit->batch, submit->ads) && submit->count <= room &&
           submit->jobs < JOB_ID_MAX - customer->last_job;
}

uint64_t batch_number(struct customer *customer, const struct submit *submit, struct batch *batch)
{
    uint64_t first;

    if (!batch->next) { /* the first one takes numbers for all */
        batch->first = batch->next = customer->last_job + 1;
        batch->last = customer->last_job += submit->jobs;
    }
    first = batch->next;
    batch->next += submit->count;
    return first;
}

void batch_join(struct customer *customer, struct submission *submission, uint64_t word, uint64_t ads)
{
    struct batch *batch = batch_find(customer, word);

    if (!batch) {
        batch = mem_alloc(sizeof *batch);
        *batch = (struct batch){.word = word, .ads = ads};
        map_set(&customer->batches, word, (uint64_t)(uintptr_t)batch);
    }
    ARRAY_ROOM(batch->items, batch->count, batch->room, 64);
    batch->items[batch->count++] = submission;
    batch->mixed = batch->mixed || memcmp(&batch->items[0]->owner, &submission->owner, sizeof submission->owner) != 0;
    submission->batch = batch;
}

void batch_leave(struct customer *customer, struct submission *submission)
{
    struct batch *batch = submission->batch;

    if (!batch || ++batch->gone < batch->count)
        return;
    map_remove(&customer->batches, batch->word);
    batch_free(batch);
}

bool batch_is_whole(const struct batch *batch)
{
    return batch->count == batch->ads;
}

/* Its jobs wait for machines from now on. */
static void one_begin(const struct customer_step *step, struct submission *one, uint64_t stored)
{
    one->begun = true;
    if (one->flow)
        return; /* its workflow says when */
    one->since = step->env->now;
    if (stored > one->shape->lead->stored)
        one->shape->lead->stored = stored;
    for (uint64_t id = one->first + one->gone; id < one->first + one->count; id++) {
        struct job *job = job_find(step->customer, id);

        if (job && job->state == JOB_IDLE)
            job_wait(step->customer, job, false);
    }
    shape_submitted(step, one->shape);
}

/* Begins some, of so many jobs. A workflow begins as one. */
static void some_begin(const struct customer_step *step, struct batch *batch, uint64_t most)
{
    most = batch->items[0]->flow ? UINT64_MAX : most;
    for (uint64_t jobs = 0; batch->begins < batch->count && jobs < most; batch->begins++) {
        struct submission *one = batch->items[batch->begins];

        one_begin(step, one, batch->stored);
        jobs += one->count;
    }
}

void batch_begin(const struct customer_step *step, struct batch *batch, uint64_t stored)
{
    struct customer *customer = step->customer;
    uint32_t most = customer->settings->jobs_step;

    batch->begun = true;
    batch->stored = stored;
    some_begin(step, batch, most ? most / BEGINS_PART + 1 : UINT64_MAX);
    if (batch->begins == batch->count)
        return;
    *customer->beginning_end = batch;
    customer->beginning_end = &batch->next_beginning;
}

void batches_step(const struct customer_step *step)
{
    struct customer *customer = step->customer;
    struct batch *batch = customer->beginning;

    if (!batch)
        return;
    some_begin(step, batch, customer->settings->jobs_step / BEGINS_PART + 1);
    if (batch->begins < batch->count)
        return;
    customer->beginning = batch->next_beginning;
    if (!customer->beginning)
        customer->beginning_end = &customer->beginning;
}

bool batch_is_beginning(const struct batch *batch)
{
    return batch->begun && batch->begins < batch->count;
}

/* Has any of its jobs begun? Then it was whole, whatever has become of its rows. */
static bool batch_has_begun(const struct customer *customer, const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++)
        for (uint64_t n = batch->items[i]->gone; n < batch->items[i]->count; n++) {
            const struct job *job = job_find(customer, batch->items[i]->first + n);

            if (job && (job->past->begun || job_ended(job)))
                return true;
        }
    return false;
}

void batches_boot(const struct customer_step *step)
{
    struct customer *customer = step->customer;
    uint64_t word, value;
    uint32_t at = 0, cut = 0;

    while (map_next(&customer->batches, &at, &word, &value)) {
        struct batch *batch = (struct batch *)(uintptr_t)value;

        batch->ended = step->env->now;
        batch->first = UINT64_MAX;
        for (uint32_t i = 0; i < batch->count; i++) {
            const struct submission *one = batch->items[i];

            batch->over += !one->alive;
            batch->first = one->first < batch->first ? one->first : batch->first;
            batch->last = one->first + one->count - 1 > batch->last ? one->first + one->count - 1 : batch->last;
        }
        batch->next = batch->last + 1;
        batch->begun = batch_is_whole(batch) || batch_has_begun(customer, batch);
        batch->begins = batch->begun ? batch->count : 0;
        for (uint32_t i = 0; i < batch->begins; i++)
            batch->items[i]->begun = true;
        cut += !batch->begun;
    }
    if (cut)
        submissions_drop_cut(step);
}
