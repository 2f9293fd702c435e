/* history_swf.h: jobs of a customer's history in the Standard Workload Format, a line of eighteen numbers each (docs/accounting.md). */
#ifndef BERTH_CLI_ASK_HISTORY_SWF_H
#define BERTH_CLI_ASK_HISTORY_SWF_H

#include "cli/ask/connection.h"

/* Prints the jobs for which the constraint is true (NULL: all), those that were submitted first at the front; up to `limit` of the newest (0: all). */
int history_swf(struct connection *customer, const char *constraint, uint64_t limit);

#endif
