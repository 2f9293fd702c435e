/* job_control.h: changes many jobs by one request: what berth rm, hold and release share with run and dag. */
#ifndef BERTH_CLI_JOBS_JOB_CONTROL_H
#define BERTH_CLI_JOBS_JOB_CONTROL_H

#include "cli/ask/jobs.h"

struct jobs_order {
    const char *verb;             /* "hold", "release", "remove", "rescue" */
    const char *ids, *constraint; /* one of the two is NULL */
    const char *why;              /* or NULL */
};

struct jobs_changed {
    uint64_t changed, unchanged, missing;
    uint64_t storing; /* of the unchanged: jobs that have ended, and whose files go to stores */
};

/* Changes jobs, however many there are: the customer is asked again for the rest until there is none. When something goes wrong, it is reported how
 * many had changed before. */
int jobs_control(struct connection *customer, const struct jobs_order *order, struct jobs_changed *ret);

#endif
