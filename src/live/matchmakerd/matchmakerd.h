/* matchmakerd.h: the matchmaker as a process: one loop that owns all its state.
 *
 *     HTTP (server.h) -> route, caller, scope -> event -> role -> effects -> answers, letters, rows on the shelf
 *
 * The shelf is the caller's: it is opened before and closed after. */
#ifndef BERTH_LIVE_MATCHMAKERD_MATCHMAKERD_H
#define BERTH_LIVE_MATCHMAKERD_MATCHMAKERD_H

#include "live/config/config.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

struct matchmakerd_settings {
    const char *version;                  /* of the program */
    const struct config_sources *sources; /* for reloading */
    struct shelf *shelf;
    int log_fd;
    /* The service is up: where it listens (ends with NULL) and the URL for others. For those who start it by hand; or NULL. */
    void (*up)(void *user, const char *const *addresses, const char *url, const char *join_code);
    void *user;
};

/* Runs until it is told to end (SIGTERM, SIGINT) or cannot go on; takes the configuration. 0, or -1 and `err` when it could not start;
 * 1 when it had to stop by itself, which the log says. Once it is told to end, being told again changes nothing; those signals stay blocked
 * when this returns, or the next would kill. */
int matchmakerd_run(const struct matchmakerd_settings *settings, struct config *config, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
