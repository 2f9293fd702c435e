/* claim_jobs.h: which job a claim is for. The pool does not know: it introduces requests, and which of its jobs runs under a claim is the customer's
 * own affair. So the customer that is here is asked, if there is one. */
#ifndef BERTH_CLI_ADMIN_CLAIM_JOBS_H
#define BERTH_CLI_ADMIN_CLAIM_JOBS_H

#include "cli/ask/connection.h"
#include "lang/base/textmap.h"

#define CLAIM_JOBS_MAX 20000 /* jobs that are looked at, and as many of the history */

struct claim_jobs {
    struct textmap claims;
    int64_t *jobs; /* by the claim's place in the map */
    size_t count, room;
};

void claim_jobs_init(struct claim_jobs *jobs);
void claim_jobs_done(struct claim_jobs *jobs);

/* Asks the customer for the claims of its jobs. Where there is none, nothing is known, and nothing is reported. */
void claim_jobs_load(struct claim_jobs *jobs, const struct connection_options *options);

/* The ad of a claim or a match, which is by its attribute Claim, with the Job that it is for, where that is known. The caller unrefs it. */
struct tree *claim_jobs_name(const struct claim_jobs *jobs, struct tree *ad);

#endif
