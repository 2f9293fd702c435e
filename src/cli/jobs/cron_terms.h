/* cron_terms.h: a job that comes again, as its ad says or as it was typed, and how the customer is told of it.
 *
 *     [ CronSchedule = "0 8 * * mon-fri"; CronMissed = "skip"; Cmd = ... ]  ->  POST /v1/crons [ Schedule; Missed; JobAd = [ Cmd = ... ] ] */
#ifndef BERTH_CLI_JOBS_CRON_TERMS_H
#define BERTH_CLI_JOBS_CRON_TERMS_H

#include "cli/ask/jobs.h"

/* What was typed; NULL: nothing. */
struct cron_terms {
    const char *schedule, *missed, *overlap;
};

/* Does the ad say that its job comes again? */
bool cron_terms_said(const struct tree *ad);
/* Adds the rule, and prints what the customer says of it. What was typed counts more than what the ad says. */
int cron_terms_send(struct connection *customer, struct tree *ad, const struct cron_terms *terms, bool json);
/* Prints "cron 3: the next time is 20:00"; or the ad. */
void cron_terms_tell(const struct tree *rule, bool json);

#endif
