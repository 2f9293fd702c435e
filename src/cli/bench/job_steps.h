/* job_steps.h: where the time of jobs went, from the notes that the processes of a pool have written (sys/steps.h). */
#ifndef BERTH_CLI_BENCH_JOB_STEPS_H
#define BERTH_CLI_BENCH_JOB_STEPS_H

#include "lang/base/err.h"
#include "sys/steps.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One job: when each step was reached, in nanoseconds; 0: never. */
struct job_way {
    uint64_t claim, number;
    int64_t at[STEP_COUNT];
};

struct job_steps {
    struct job_way *ways; /* in the order in which they were handed out */
    size_t count, room;
    struct step_note *counted; /* what was counted, by process */
    size_t counted_count, counted_room;
};

/* Reads the notes behind that place of the file, which moves to its end. */
int job_steps_read(struct job_steps *steps, const char *path, off_t *at, struct err *err);
void job_steps_done(struct job_steps *steps);

/* Microseconds of all jobs from the step before to this one, of those that reached both; for the first step, from the claim's last job's being durable
 * to the handing of its next. Returns how many there are. */
size_t job_steps_spans(const struct job_steps *steps, enum job_step step, double *ret_median, double *ret_p99);

/* How often a process did that. */
uint64_t job_steps_counted(const struct job_steps *steps, pid_t process, enum counted counted);

#endif
