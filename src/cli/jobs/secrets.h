/* secrets.h: the secrets that a submission takes along: read from files here, sent apart from the ads, and named in them. */
#ifndef BERTH_CLI_JOBS_SECRETS_H
#define BERTH_CLI_JOBS_SECRETS_H

#include "cli/jobs/submission.h"
#include "cli/term/quantity.h"

#define SECRET_OPTION_HELP                                                                                            \
    "a secret that the jobs read at $BERTH_SECRETS/NAME: what is in FILE (- is standard input); it is in no ad, log " \
    "or list. May be repeated"

option_read_fn option_secret; /* struct option_words: adds a NAME=FILE */

/* Reads the files, with our own rights; an enum status. Before the first ad is added. */
int submission_secrets(struct job_submission *submission, const struct option_words *given);

/* Reads the credentials that the ad names by SecretsFrom = { [ Name; From ] }, each once: from the file From, or from where users keep them. -1, which was
 * reported: one is not there. */
int secrets_from(struct job_submission *submission, const struct tree *ad, const char *folder, const char *name);

/* Appends the attribute Secrets for an ad that does not have it. -1, which was reported: the ad names one that was not given. */
int secrets_add(const struct job_submission *submission, const struct tree *ad, const char *name, struct buf *out);
bool secrets_are_named(const struct job_submission *submission, const struct tree *ad); /* has the job any? */

/* Sends them to the customer, if there are any; `ret_id` is by which the jobs' submission names them, or "". An enum status. */
#define SECRETS_ID_MAX 32
int secrets_send(struct job_submission *submission, char ret_id[SECRETS_ID_MAX + 1]);

#endif
