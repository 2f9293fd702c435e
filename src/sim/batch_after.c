/* batch_after.c: jobs that wait for other jobs: who waits for whom, both ways. */
#include "sim/batch.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

void work_after(struct batch_work *work, uint32_t number)
{
    struct batch_job *job = &work->jobs[work->count - 1];

    ARRAY_ROOM(work->after, work->after_count, work->after_room, 64);
    if (!job->after_count)
        job->after = work->after_count;
    work->after[work->after_count++] = number;
    job->after_count++;
}

/* Turns the numbers that jobs wait for into places. A job that nobody knows is left out, and of two with one number the first is meant; or both are errors. */
static int places_find(struct batch_work *work, bool strict, struct err *err)
{
    struct map places;
    int result = 0;

    map_init(&places, 0);
    for (uint32_t i = 0; i < work->count && result == 0; i++) {
        if (map_find(&places, work->jobs[i].number) == MAP_NONE)
            map_set(&places, work->jobs[i].number, i);
        else if (strict)
            result = err_set(err, "two jobs have the number %u, and jobs wait for others by their numbers",
                             work->jobs[i].number);
    }
    for (uint32_t i = 0; i < work->count && result == 0; i++) {
        struct batch_job *job = &work->jobs[i];
        uint32_t kept = 0;

        for (uint32_t k = 0; k < job->after_count && result == 0; k++) {
            uint64_t place = map_find(&places, work->after[job->after + k]);

            if (place != MAP_NONE)
                work->after[job->after + kept++] = (uint32_t)place;
            else if (strict)
                result = err_set(err, "job %u waits for job %u, and there is none", job->number,
                                 work->after[job->after + k]);
        }
        job->after_count = kept;
    }
    map_done(&places);
    return result;
}

/* Makes the lists of who waits for each. */
static void lists_turn(struct batch_work *work)
{
    uint32_t *first;

    work->before_first = mem_grow(work->before_first, ((size_t)work->count + 2) * sizeof *work->before_first);
    work->before = mem_grow(work->before, ((size_t)work->after_count + 1) * sizeof *work->before);
    first = work->before_first;
    memset(first, 0, ((size_t)work->count + 2) * sizeof *first);
    for (uint32_t i = 0; i < work->count; i++)
        for (uint32_t k = 0; k < work->jobs[i].after_count; k++)
            first[work->after[work->jobs[i].after + k] + 2]++;
    for (uint32_t i = 0; i < work->count; i++)
        first[i + 2] += first[i + 1];
    for (uint32_t i = 0; i < work->count; i++)
        for (uint32_t k = 0; k < work->jobs[i].after_count; k++)
            work->before[first[work->after[work->jobs[i].after + k] + 1]++] = i;
}

/* Takes off those that wait for nobody, again and again: who is left waits for himself. */
static int circles_check(const struct batch_work *work, struct err *err)
{
    uint32_t *left = mem_alloc(((size_t)work->count + 1) * sizeof *left);
    uint32_t *ready = mem_alloc(((size_t)work->count + 1) * sizeof *ready), count = 0, done = 0;
    int result = 0;

    for (uint32_t i = 0; i < work->count; i++) {
        left[i] = work->jobs[i].after_count;
        if (!left[i])
            ready[count++] = i;
    }
    while (done < count) {
        uint32_t job = ready[done++];

        for (uint32_t k = work->before_first[job]; k < work->before_first[job + 1]; k++)
            if (--left[work->before[k]] == 0)
                ready[count++] = work->before[k];
    }
    for (uint32_t i = 0; i < work->count && count < work->count && result == 0; i++)
        if (left[i])
            result = err_set(err, "job %u waits for itself, or for jobs that do", work->jobs[i].number);
    free(left);
    free(ready);
    return result;
}

int work_link(struct batch_work *work, bool strict, struct err *err)
{
    if (!work->after_count)
        return 0;
    if (places_find(work, strict, err) < 0)
        return -1;
    lists_turn(work);
    return circles_check(work, err);
}
