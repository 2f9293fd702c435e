/* summary.h: how many jobs are in which state, as the customer counts them, and waiting until that changes. */
#ifndef BERTH_CLI_ASK_SUMMARY_H
#define BERTH_CLI_ASK_SUMMARY_H

#include "cli/ask/connection.h"

/* Fetches the summary of the jobs with those numbers (NULL: of all jobs); the caller unrefs it. With `wait` seconds, the answer comes when Changes is
 * past `after`, or the time is up. */
int summary_fetch(struct connection *customer, const char *ids, double after, int wait, struct tree **ret);

double summary_number(const struct tree *summary, const char *name); /* 0 when the summary does not say */
bool summary_is_over(const struct tree *summary);                    /* no job moves by itself any more */

/* Prints a line: "20 jobs: 12 waiting, 8 running". */
void summary_print(const struct tree *summary);

#endif
