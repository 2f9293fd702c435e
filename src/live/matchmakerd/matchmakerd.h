/* matchmakerd.h: the matchmaker as a process: one loop that owns all its state.
 *
 *     HTTP (server.h) -> route, caller, scope -> event -> role -> effects -> answers, letters, rows on the shelf
 *
 * The shelf belongs to the caller, which opens it before and closes it after. Where it may take until another matchmaker is gone, it is opened by a
 * thread, and this one stands by meanwhile (live/http/standby.h). */
#ifndef BERTH_LIVE_MATCHMAKERD_MATCHMAKERD_H
#define BERTH_LIVE_MATCHMAKERD_MATCHMAKERD_H

#include "live/config/config.h"
#include "live/http/standby.h"
#include "pool/protocol/shelf.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct store_replica;

struct matchmakerd_settings {
    const char *version;                  /* of the program */
    const struct config_sources *sources; /* for reloading */
    struct shelf *shelf;                  /* NULL: it is opened by this: */
    standby_open_fn *open;
    uint32_t (*replicas)(struct shelf *shelf, struct store_replica *ret); /* store_replicas; or NULL: there are none */
    int log_fd;
    /* Called when the matchmaker is up, with its addresses (ends with NULL), the URL for others, and a join code or
     * NULL. For those who start it by hand; or NULL. */
    void (*up)(void *user, const char *const *addresses, const char *url, const char *join_code);
    /* Called when it stands by, or another leads than before, with the URL for others and that of the leader ("": it is not known). Or NULL. */
    void (*stands_by)(void *user, const char *url, const char *leader);
    void *user;
};

/* Runs until it is told to end (SIGTERM, SIGINT) or cannot go on; takes the configuration. Returns 0; -1 and `err` when
 * it could not start; 1 when it had to stop by itself, which the log explains. Further signals to end change nothing,
 * and stay blocked when this returns, or the next one would kill the process. */
int matchmakerd_run(const struct matchmakerd_settings *settings, struct config *config, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
