/* submit_check_urls.h: does a machine of the pool fetch what jobs name by URLs of other sorts than our own? */
#ifndef BERTH_CLI_JOBS_SUBMIT_CHECK_URLS_H
#define BERTH_CLI_JOBS_SUBMIT_CHECK_URLS_H

#include "cli/ask/connection.h"
#include "cli/jobs/submission.h"

/* STATUS_NO: none does, which has been reported. A pool that cannot be asked is not waited for. */
int submit_check_urls(const struct connection_options *options, const struct job_submission *submission);

#endif
