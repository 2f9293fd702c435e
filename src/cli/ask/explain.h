/* explain.h: what a pool says about why an ad matches, or why nothing does. */
#ifndef BERTH_CLI_ASK_EXPLAIN_H
#define BERTH_CLI_ASK_EXPLAIN_H

#include "cli/ask/connection.h"

/* Appends the explanation that the pool answers with (JSON, or words without control characters), and says whether the ad matches. It sets the form
 * of the answer itself. */
int explain_fetch(struct connection *pool, const struct connection_ask *ask, bool json, struct buf *out,
                  bool *ret_matches);

/* Explains an ad that need not be in the pool, such as a job's (with any symbols); the explanation calls it `name`. */
int explain_ad(struct connection *pool, const struct tree *ad, const char *name, bool json, struct buf *out,
               bool *ret_matches);

/* The same for a job. In words it also says that there are machines which are not seen, when the job matches none of those that are. */
int explain_job(struct connection *pool, const struct tree *job, const char *name, bool json, struct buf *out,
                bool *ret_matches);

/* Counts the machines that are there and offer nothing now: they pull, are drained or unwell, or have just come. */
int explain_unseen(struct connection *pool, uint64_t *ret_count);

/* Copies the ad with the symbols of the connection, without the attribute that may be long and decides nothing (Inputs); the caller unrefs it. */
struct tree *explain_body(struct connection *pool, const struct tree *ad);

#endif
