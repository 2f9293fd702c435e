/* submit_check_stores.h: are the stores that jobs name for their files in the pool? */
#ifndef BERTH_CLI_JOBS_SUBMIT_CHECK_STORES_H
#define BERTH_CLI_JOBS_SUBMIT_CHECK_STORES_H

#include "cli/ask/connection.h"
#include "cli/jobs/submission.h"

/* Warns once of each name in OutputSE, or of a Store in OutputData, that is written as a text and that no store has now: a store of that name may yet
 * come. The pool is asked only when there is such a name. */
int submit_check_stores(struct connection *pool, const struct job_submission *submission);

#endif
