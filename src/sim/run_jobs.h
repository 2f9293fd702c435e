/* run_jobs.h: runs worlds in several processes, and gives their reports in the order of the seeds.
 *
 *     process 0: seed, seed + N, ...  --pipe--\
 *     process 1: seed + 1, ...        --pipe---> sim_jobs_next: seed, seed + 1, seed + 2, ...
 *
 * Each process runs every Nth world and writes its reports into a pipe of its own; the pipes are read in turn. A process waits when its pipe is full,
 * so no process runs far ahead. */
#ifndef BERTH_SIM_RUN_JOBS_H
#define BERTH_SIM_RUN_JOBS_H

#include "sim/run.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_jobs;

/* NULL when the settings ask for one process or one world, or when processes cannot be started. */
struct sim_jobs *sim_jobs_new(const struct sim_settings *settings);
void sim_jobs_free(struct sim_jobs *jobs); /* ends the processes; NULL is allowed */

/* The report of the next world, from the first on. False when its process has ended: then the caller runs that world itself. */
bool sim_jobs_next(struct sim_jobs *jobs, struct sim_report *ret);

#ifdef __cplusplus
}
#endif
#endif
