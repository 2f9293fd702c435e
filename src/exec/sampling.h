/* sampling.h: looks at what a job uses, every ten seconds of its life, and keeps that in the claim's folder for the agent. */
#ifndef BERTH_EXEC_SAMPLING_H
#define BERTH_EXEC_SAMPLING_H

#include "exec/gpu_use.h"
#include "exec/record.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sampling {
    struct job_samples kept;
    int64_t due, cpu_before; /* microseconds */
    struct gpu_use *gpus;    /* NULL: it has none, or they are not looked at yet */
    bool watched;            /* that was decided */
};

void sampling_begin(struct sampling *sampling, uint64_t number, int64_t now);
/* Takes a sample if one is due: `cpu` is what the job has used so far, `memory` what it uses now. */
void sampling_tick(struct sampling *sampling, const struct order *order, int folder, int64_t now, int64_t cpu,
                   int64_t memory);
/* The job is over: it has read and written so many bytes (-1: not known). */
void sampling_end(struct sampling *sampling, int folder, int64_t read, int64_t written);

void sampling_done(struct sampling *sampling); /* takes a zeroed one, and one that has ended */

#ifdef __cplusplus
}
#endif
#endif
