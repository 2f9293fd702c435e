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

/* The same for a job: one that runs, is over or is held does not wait, and that is what is said of it. */
int explain_job(struct connection *pool, const struct tree *job, const char *name, bool json, struct buf *out,
                bool *ret_matches);

/* The first reason why an ad waits, or would. */
struct explained {
    bool matches;
    int64_t machines; /* machines that run jobs, as far as the pool knows */
    char first[16];   /* the word of the reason (wait_reason.h); "": a pool of an earlier version does not say */
    char text[1024];  /* and what people read: "waits for a free machine: ..." */
};
int explain_first(struct connection *pool, const struct tree *ad, struct explained *ret);

/* Copies the ad with the symbols of the connection, without the attribute that may be long and decides nothing (Inputs); the caller unrefs it. */
struct tree *explain_body(struct connection *pool, const struct tree *ad);

#endif
