/* sandbox_parts.h: what a job's first process and one that enters its sandbox later have in common. Private. */
#ifndef BERTH_EXEC_SANDBOX_PARTS_H
#define BERTH_EXEC_SANDBOX_PARTS_H

#include "exec/sandbox.h"

#include <sys/resource.h>

#define SANDBOX_INNER 1000 /* who a job seems to be to itself */

/* Becomes the job's user, with no groups but those of its device files; without a user of its own it stays who it is. */
bool sandbox_become(const struct order *order);
void sandbox_leave_named_sockets(void); /* for those that may use the network */
/* Limits this process; no higher than it is limited already. */
void sandbox_limit(int which, rlim_t most);
/* Puts the streams in their places, the signals back, and limits around this process, which is about to begin another program. */
void sandbox_prepare(const struct order *order, const int streams[3], unsigned held, bool staged);
/* The variables of the job for a process to which the job's folder is there, in memory of their own; ends with NULL. */
char **sandbox_environment(const struct order *order, const char *folder);

#endif
