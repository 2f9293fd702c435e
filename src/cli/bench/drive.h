/* drive.h: a matchmaker alone, without a network: messages are handed to it, what it sends is taken at once, and time passes as its driver says. */
#ifndef BERTH_CLI_BENCH_DRIVE_H
#define BERTH_CLI_BENCH_DRIVE_H

#include "lang/text/build.h"
#include "pool/matchmaker/matchmaker.h"

struct drive {
    struct symbols *symbols;
    struct build build;
    struct arena scratch;
    struct rng chance;
    struct secrets secrets;
    struct spans spans;
    struct matchmaker_settings settings;
    struct matchmaker *role;
    struct role_env env;
    struct effects effects;
    int64_t wake; /* when it wants to be woken */
    uint64_t tokens;
    void (*replied)(void *user, const struct message *reply); /* or NULL */
    void *user;
};

/* What is set by hand comes between these two: settings, spans, replied. */
void drive_init(struct drive *drive, uint64_t seed);
void drive_boot(struct drive *drive); /* a matchmaker begins, in place of the one that was there */
void drive_done(struct drive *drive);

struct tree *drive_ad(struct drive *drive, const char *text);

/* Hands the message over, and drops it. */
void drive_hear(struct drive *drive, const struct peer *peer, struct message *message);

/* Wakes it as it wants, until it wants nothing within that span; the clock stands at the last time that it was woken. */
void drive_settle(struct drive *drive, int64_t span);
/* The same until so much time has passed. */
void drive_pass(struct drive *drive, int64_t span);

#endif
