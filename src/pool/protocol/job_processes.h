/* job_processes.h: parallel jobs: what an ad says of a job that runs as several processes at once, and the ports that follow from it.
 *
 *     Processes = 4; ProcessesOn = "any"       Ports = { [ Label = process; Count = 4; Share = true; Executes = true; Constraint = ... ] }
 *                    "spread"                   the same without Share: each on another machine
 *                    "one"                      { [ Label = process; ... ], [ Label = processes; Count = 3; Share = true; ... other.Name == process.Name ] }
 *
 * The job's own Constraint and Rank are those of every port. */
#ifndef BERTH_POOL_PROTOCOL_JOB_PROCESSES_H
#define BERTH_POOL_PROTOCOL_JOB_PROCESSES_H

#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JOB_PROCESSES_MAX 64 /* as many members as one superior may have */
#define JOB_PROCESSES_COUNT "Processes"
#define JOB_PROCESSES_ON "ProcessesOn"
#define JOB_PROCESSES_EXEC "ProcessesExec" /* its processes may begin commands beside one another */

/* Are these what the attributes must be? */
bool job_processes_are_good(const struct tree *ad, const struct expr *e);
bool job_processes_on_is_good(const struct tree *ad, const struct expr *e);

/* Does the job run as several processes, and has no Ports yet? */
bool job_has_processes(const struct tree *ad);
/* The ad with those ports. The caller unrefs it; NULL and `err`: it would be none. */
struct tree *job_processes_set(const struct tree *ad, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
