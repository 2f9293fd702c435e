/* submit_check.h: can jobs ever be matched? The pool is asked before they are submitted. */
#ifndef BERTH_CLI_JOBS_SUBMIT_CHECK_H
#define BERTH_CLI_JOBS_SUBMIT_CHECK_H

#include "cli/jobs/submission.h"

/* STATUS_DONE: submit them; doubts have been reported as warnings. STATUS_NO: one of them matches no machine that the pool knows, not even an idle one;
 * the reason has been reported. A pool that cannot be asked is a warning. */
int submit_check_jobs(const struct connection_options *options, const struct job_submission *submission);

#endif
