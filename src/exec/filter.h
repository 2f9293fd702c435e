/* filter.h: which system calls a job may not make. */
#ifndef BERTH_EXEC_FILTER_H
#define BERTH_EXEC_FILTER_H

#include "lang/base/err.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the filter as the kernel takes it, in a file in memory, and returns its descriptor. `fixed_cores`: the job may not choose its processors,
 * because that is how its cores are limited. */
int filter_make(bool fixed_cores, struct err *err);

/* Loads what filters are made by: a process that forks for each claim has it before. */
void filter_ready(void);

#ifdef __cplusplus
}
#endif
#endif
