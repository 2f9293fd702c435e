/* sampling.c: looks at what a job uses, every ten seconds of its life. */
#include "exec/sampling.h"

#include <string.h>

#define SPAN (SAMPLES_SPAN * INT64_C(1000000))

void sampling_begin(struct sampling *sampling, uint64_t number, int64_t now)
{
    samples_init(&sampling->kept.samples);
    sampling->kept.number = number;
    sampling->kept.read = sampling->kept.written = -1;
    sampling->due = now + SPAN;
    sampling->cpu_before = 0;
    sampling->gpus = NULL;
    sampling->watched = false;
}

/* How busy the job's graphics processors are, and how much of their memory is in use. False: it has none, or nothing here can tell. */
static bool gpus_look(struct sampling *sampling, struct job_sample *ret)
{
    return sampling->gpus && gpu_use_read(sampling->gpus, &ret->gpu, &ret->gpu_memory) &&
           ret->gpu_memory <= SAMPLES_AMOUNT_MAX;
}

void sampling_tick(struct sampling *sampling, const struct order *order, int folder, int64_t now, int64_t cpu,
                   int64_t memory)
{
    struct job_sample seen = {.memory = memory};
    int64_t late = now - sampling->due, used = cpu - sampling->cpu_before;

    if (order->gpus && !sampling->gpus && !sampling->watched) {
        sampling->gpus = gpu_use_new("", order->gpus, order->gpus_len);
        sampling->watched = true;
    }
    if (late < 0)
        return;
    seen.cpu = used > 0 ? (used * 100 + (SPAN + late) / 2) / (SPAN + late) : 0;
    if (seen.cpu > SAMPLES_PERCENT_MAX)
        seen.cpu = SAMPLES_PERCENT_MAX;
    if (gpus_look(sampling, &seen))
        sampling->kept.samples.gpus = true;
    samples_add(&sampling->kept.samples, &seen);
    sampling->cpu_before = cpu;
    /* what was missed, when the machine slept or we were held up, is not made up: a point stands for the time until the next */
    sampling->due = late < SPAN ? sampling->due + SPAN : now + SPAN;
    job_samples_write(folder, &sampling->kept);
}

void sampling_done(struct sampling *sampling)
{
    gpu_use_free(sampling->gpus);
    sampling->gpus = NULL;
}

void sampling_end(struct sampling *sampling, int folder, int64_t read, int64_t written)
{
    sampling_done(sampling);
    sampling->kept.read = read;
    sampling->kept.written = written;
    if (sampling->kept.samples.count || read > 0 || written > 0)
        job_samples_write(folder, &sampling->kept);
}
