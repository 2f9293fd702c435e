/* exec_beside.h: berth exec within a parallel job: a command beside another process of the same job. */
#ifndef BERTH_CLI_JOBS_EXEC_BESIDE_H
#define BERTH_CLI_JOBS_EXEC_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

#define EXEC_BESIDE_VARIABLE "BERTH_BESIDE" /* names the socket; it is set where a job's processes may do this */

/* Runs the command beside that process, and stays until it is over; `input`: standard input goes to it. The status to end with. */
int exec_beside(const char *door, uint64_t member, bool input, int word_count, char **words);

#endif
