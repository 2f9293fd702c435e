/* customerd.h: the customer as a process: users submit jobs to it, and it has them run.
 *
 *     berth submit ...  -> Unix socket -> front (front.h) -> the customer's role -> claims, by the agent (agent.h)
 *     providers         -> questions about files (questions.h) -> spool, job files
 *
 * All its state lies in STATE/customer: berth.db, token, spool/, jobs/, customer.sock; spool/ and jobs/ in the folder of the setting CustomerFiles
 * instead. The shelf belongs to the caller, which opens it before and closes it after. Where it may take until another customer is gone, it is opened
 * by a thread, and this one stands by meanwhile (live/http/standby.h). */
#ifndef BERTH_LIVE_CUSTOMERD_CUSTOMERD_H
#define BERTH_LIVE_CUSTOMERD_CUSTOMERD_H

#include "live/config/config.h"
#include "live/http/standby.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUSTOMERD_FOLDER "customer"      /* in the state folder */
#define CUSTOMERD_SOCKET "customer.sock" /* in that folder */

struct customerd_settings {
    const char *version;                  /* of the program */
    const char *program;                  /* the program itself, for the writers of other users (user_writer.h) */
    const struct config_sources *sources; /* for reloading */
    struct shelf *shelf;                  /* NULL: it is opened by this: */
    standby_open_fn *open;
    uint32_t (*replicas)(struct shelf *shelf, struct store_replica *ret); /* store_replicas; or NULL: there are none */
    void (*reached)(struct shelf *shelf, const char *url);                /* store_reached; or NULL */
    bool fresh;        /* it begins with an empty store, and files of another may be there */
    const char *token; /* the file of the token; NULL: STATE/customer/token */
    int log_fd;
    /* Called when the customer is up, with its addresses (ends with NULL) and its matchmaker. For those who start it by
     * hand; or NULL. */
    void (*up)(void *user, const char *const *addresses, const char *matchmaker);
    /* Called when it stands by, or another has its store than before, with where that one is reached and who it is; "": not known. Or NULL. */
    void (*stands_by)(void *user, const char *url, const char *who);
    void *user;
};

/* Runs until it is told to end (SIGTERM, SIGINT) or cannot go on; takes the configuration. Returns 0; -1 and `err` when
 * it could not start; 1 when it had to stop by itself, which the log explains. */
int customerd_run(const struct customerd_settings *settings, struct config *config, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
