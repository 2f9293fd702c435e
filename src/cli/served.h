/* served.h: what a pool has configured for its agents. */
#ifndef BERTH_CLI_SERVED_H
#define BERTH_CLI_SERVED_H

#include "cli/pool.h"

/* Prints the SECTION, or the value of SECTION/OPTION; an enum status. What went wrong has been reported. */
int served_print(const struct pool_options *options, const char *what);

#endif
