/* run_jobs.h: worlds by several processes, handed over in the order of their seeds.
 *
 *     process 0: seed, seed + N, ...  --pipe--\
 *     process 1: seed + 1, ...        --pipe---> sim_jobs_next: seed, seed + 1, seed + 2, ...
 *
 * Each process runs every Nth world and writes its report into a pipe of its own; they are read in turn. A process waits when its pipe
 * is full, so none is far ahead. */
#ifndef BERTH_SIM_RUN_JOBS_H
#define BERTH_SIM_RUN_JOBS_H

#include "sim/run.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_jobs;

/* NULL when the settings ask for one process or one world, or there are none to be had. */
struct sim_jobs *sim_jobs_new(const struct sim_settings *settings);
void sim_jobs_free(struct sim_jobs *jobs); /* ends them; NULL is fine */

/* The report of the next world, from the first on. False when its process has ended: that world is to be run here. */
bool sim_jobs_next(struct sim_jobs *jobs, struct sim_report *ret);

#ifdef __cplusplus
}
#endif
#endif
