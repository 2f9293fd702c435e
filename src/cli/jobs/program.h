/* program.h: a program of this machine that a job takes along: is it sent, and can it be executed? */
#ifndef BERTH_CLI_JOBS_PROGRAM_H
#define BERTH_CLI_JOBS_PROGRAM_H

#include <stdbool.h>

/* Is a program of that name sent along? One without a slash is looked for on the machine of the job, and so is one in a place that
 * every machine has, such as /usr/bin. */
bool program_is_sent(const char *name);

/* Why the file cannot be sent and executed, in words; NULL: it can. `*ret_missing` is whether it is not there at all. */
const char *program_flaw(const char *path, bool *ret_missing);

#endif
