/* samples.c: what a job used over its life, as points of equal distance. */
#include "pool/protocol/samples.h"

#include <string.h>

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void samples_init(struct samples *samples)
{
    memset(samples, 0, sizeof *samples);
    samples->span = SAMPLES_SPAN;
}

/* Makes one point of each two. */
static void samples_halve(struct samples *samples)
{
    for (uint32_t i = 0; i < SAMPLES_MAX / 2; i++) {
        const struct job_sample *a = &samples->points[2 * i], *b = a + 1;

        samples->points[i] = (struct job_sample){.memory = larger(a->memory, b->memory),
                                                 .cpu = (a->cpu + b->cpu + 1) / 2,
                                                 .gpu = (a->gpu + b->gpu + 1) / 2,
                                                 .gpu_memory = larger(a->gpu_memory, b->gpu_memory)};
    }
    samples->count = SAMPLES_MAX / 2;
    samples->span *= 2;
}

void samples_add(struct samples *samples, const struct job_sample *seen)
{
    struct job_sample *next = &samples->next;
    int64_t parts = samples->span / SAMPLES_SPAN;

    next->memory = larger(next->memory, seen->memory);
    next->gpu_memory = larger(next->gpu_memory, seen->gpu_memory);
    next->cpu += seen->cpu;
    next->gpu += seen->gpu;
    if (++samples->begun < parts)
        return;
    next->cpu = (next->cpu + parts / 2) / parts;
    next->gpu = (next->gpu + parts / 2) / parts;
    samples->points[samples->count++] = *next;
    memset(next, 0, sizeof *next);
    samples->begun = 0;
    if (samples->count == SAMPLES_MAX && samples->span < SAMPLES_SPAN_MAX)
        samples_halve(samples);
    else if (samples->count == SAMPLES_MAX)
        samples->count--; /* nobody waits for the end of that */
}
