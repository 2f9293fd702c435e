/* doctor.h: what `berth doctor` finds: parts that are looked over, and findings, each with what to do about it.
 *
 *     doctor_host.c    this machine, whatever runs on it
 *     doctor_setup.c   settings, state folder, stores, tokens, certificates, and the daemons on this machine
 *     doctor_pool.c    the pool as it answers from here, and the customer
 *     doctor_bundle.c  all of it in a file for others, without secrets */
#ifndef BERTH_CLI_ADMIN_DOCTOR_H
#define BERTH_CLI_ADMIN_DOCTOR_H

#include "cli/ask/connection.h"

enum doctor_level {
    DOCTOR_GOOD,
    DOCTOR_NOTE,    /* worth knowing; nothing is broken */
    DOCTOR_PROBLEM, /* something does not work, or soon will not */
};

struct doctor_finding {
    enum doctor_level level;
    const char *part, *about; /* "setup", "token" */
    struct buf found, advice; /* an empty one: there is nothing to do */
};

struct doctor {
    const struct connection_options *options;
    struct config config; /* defaults where the settings cannot be loaded */
    bool configured;
    const char *state, *part;
    struct doctor_finding *findings;
    size_t count, room;
    bool unreached; /* a pool is known here, and does not answer */
};

/* Adds a finding, and what to do about the last one. Control characters are taken out of both. */
void doctor_say(struct doctor *doctor, enum doctor_level level, const char *about, const char *format, ...)
    ERR_FORMAT(4, 5);
void doctor_advise(struct doctor *doctor, const char *format, ...) ERR_FORMAT(2, 3);

/* What was reported since report_keep, as one line without "berth: "; the reports are dropped, and go to standard error again. */
void doctor_reported(struct buf *kept);

/* Appends the findings as people read them; `all`: also where all is well. */
void doctor_print(const struct doctor *doctor, bool all, struct buf *out);

void doctor_host(struct doctor *doctor);
void doctor_setup(struct doctor *doctor);
void doctor_pool(struct doctor *doctor);

/* Writes the file; -1 when that failed, which has been reported. */
int doctor_bundle(const struct doctor *doctor, const char *path);

/* Takes out of a text whatever may be a secret. */
void doctor_strike(struct buf *text);

#endif
