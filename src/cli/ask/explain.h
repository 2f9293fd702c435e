/* explain.h: what a pool says about why an ad matches, or why nothing does. */
#ifndef BERTH_CLI_ASK_EXPLAIN_H
#define BERTH_CLI_ASK_EXPLAIN_H

#include "cli/ask/connection.h"

/* Appends the explanation that the pool answers with (JSON, or words with no control character among them), and says whether the ad
 * matches. The answer's form is asked for here. */
int explain_fetch(struct connection *pool, const struct connection_ask *ask, bool json, struct buf *out,
                  bool *ret_matches);

/* Of an ad that need not be in the pool, such as a job's (of any symbols), which is called so. */
int explain_ad(struct connection *pool, const struct tree *ad, const char *name, bool json, struct buf *out,
               bool *ret_matches);

/* The same of a job. In words it is also told that there are machines which are not seen, when it matches none of those that are. */
int explain_job(struct connection *pool, const struct tree *job, const char *name, bool json, struct buf *out,
                bool *ret_matches);

/* How many machines are there and offer nothing: they pull, are drained, or have just come. */
int explain_unseen(struct connection *pool, uint64_t *ret_count);

/* The ad as one of the pool's symbols, without what may be long and decides nothing; the caller unrefs it. */
struct tree *explain_body(struct connection *pool, const struct tree *ad);

#endif
