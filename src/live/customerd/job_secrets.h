/* job_secrets.h: what a job's ad says of its secrets (docs/jobs.md, "Secrets"). */
#ifndef BERTH_LIVE_CUSTOMERD_JOB_SECRETS_H
#define BERTH_LIVE_CUSTOMERD_JOB_SECRETS_H

#include "lang/base/buf.h"
#include "lang/text/tree.h"
#include "sys/secret_bundle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Is it a list of good names, none of them twice? */
bool job_secrets_are_good(const struct tree *ad, const struct expr *e);

bool job_has_secrets(const struct tree *ad); /* does it name any? */

/* The number of the set of secrets that the customer has for the job; 0: none. */
uint64_t job_secrets_id(const struct tree *ad);

/* The ad with that number, and with a constraint for machines that give jobs their secrets: one that does not know of them would run it without. The
 * caller unrefs it; NULL and the error. */
struct tree *job_secrets_set(const struct tree *ad, uint64_t id, struct err *err);

/* Does it name one that is not in the bundle? Then *ret is its name. */
bool job_secrets_missing(const struct tree *ad, const struct buf *bundle, char ret[SECRET_NAME_MAX + 1]);

/* Appends those of the bundle that the job names; -1: one of them is not there. */
int job_secrets_choose(const struct tree *ad, const struct buf *bundle, struct buf *ret, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
