/* standby.h: a matchmaker or customer whose store another process holds: it waits for that store, and tells all who ask who leads.
 *
 *     standby_new -- a thread opens the store, which takes as long as another has it --> over
 *                    meanwhile each request is answered with 503, or 307 for the page, and where the leader is */
#ifndef BERTH_LIVE_HTTP_STANDBY_H
#define BERTH_LIVE_HTTP_STANDBY_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uv_loop_s uv_loop_t;

struct standby;
struct request;
struct tree;
struct symbols;
struct store_replica;
struct store_wait;
struct shelf;

/* Opens the store, by another thread. NULL and `err`. */
typedef struct shelf *standby_open_fn(void *user, const struct store_wait *wait, struct err *err);

struct standby_settings {
    uv_loop_t *loop;
    const char *what; /* "matchmaker": what it is, in words */
    const char *url;  /* where we are reached; "": that is not told */
    standby_open_fn *open;
    void *open_user;
    /* Called once in the loop: the shelf, which is the callee's; or NULL, and why. */
    void (*over)(void *user, struct shelf *shelf, const struct err *err);
    /* Called in the loop when another leads than before. */
    void (*leads)(void *user, const struct store_replica *leader);
    void *user;
};

struct standby *standby_new(const struct standby_settings *settings, struct err *err);
/* Waits until the thread has ended, which takes two seconds at most; its shelf is closed, if nobody has it. The loop has to run once more. Takes NULL. */
void standby_free(struct standby *standby);

/* Answers a request that is for the leader: true; false: this one is answered by a standby, too. */
bool standby_answers(struct standby *standby, struct request *request);

/* Answers a request that another process may have to answer by now, as the lease of this one has run out: 503, and whoever asked goes on to the next. */
void standby_deposed(struct request *request, const char *what);

/* A row for each of the processes that a store knows of, for the daemon's own ad, at that second; the caller unrefs them. */
uint32_t replica_rows(struct symbols *symbols, const struct store_replica *replicas, uint32_t count, int64_t wall,
                      struct tree **ret);

#ifdef __cplusplus
}
#endif
#endif
