/* sim_batch.h: berth sim of a batch system: compares policies, by a scenario or a trace. */
#ifndef BERTH_CLI_BENCH_SIM_BATCH_H
#define BERTH_CLI_BENCH_SIM_BATCH_H

#include "sim/study.h"

#define SIM_WHAT_IF_MAX 8

struct sim_what_if {
    const char *texts[SIM_WHAT_IF_MAX];
    unsigned count;
};

struct sim_batch_options {
    const char *file;        /* a scenario; NULL: the one that is built in, or none when there is a trace */
    const char *trace;       /* a file of jobs, or NULL */
    const char *write_trace; /* a file to write jobs to, or NULL */
    const char *report;      /* a file to write a page to, or NULL */
    const char *policies, *hours, *timeouts, *window; /* as typed, or NULL: as the scenario says */
    const struct sim_what_if *what_if;
    uint64_t seed; /* UINT64_MAX: the scenario's */
    uint64_t runs; /* 0: the scenario's */
    bool json, measure;
};

/* Is the file a scenario of a batch system? 1, 0 when it is one of a pool, -1 when it cannot be read, which has been reported. */
int sim_batch_is(const char *file);
int sim_batch(const struct sim_batch_options *options); /* a status */

/* Prints a study as tables, or as JSON lines. */
void sim_batch_print(const struct plan *plan, const struct study *study, bool json, bool measure);

#endif
