/* support.h: how jobs can be held on this machine. */
#ifndef BERTH_EXEC_SUPPORT_H
#define BERTH_EXEC_SUPPORT_H

#include "exec/record.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SUPPORT_UID_FIRST 1879048192u /* as root each claim has a user of its own; nobody else uses these numbers */
#define SUPPORT_UID_COUNT 200000000u
#define SUPPORT_UID_UNPACKS (SUPPORT_UID_FIRST + SUPPORT_UID_COUNT - 1) /* unpacks images; no claim has it */

struct support {
    bool sandbox, landlock;
    bool users; /* each claim can have a user of its own: we are root, and these users are there */
    char why_not[200];
    const char *no_accounts; /* why jobs cannot run as users of this machine; "": they can */
    bool jobnet;             /* a job can have a network of its own that leads out (jobnet.h) */
    char no_jobnet[200];     /* why not */
    struct cgroups cgroups;
    char unheld[800]; /* which limits cgroups do not hold, and why; "": they hold all */
};

/* Finds out how jobs can be held here, by trying. */
void support_probe(uint32_t tag, struct support *ret);
/* The same without cgroups: nothing is changed on the machine. */
void support_look(struct support *ret);
/* Fills `err` with what is missing and what the owner can do; returns -1. */
int support_refuse(const struct support *support, struct err *err);
/* `jobnets`: jobs with the network have one of their own. */
void support_describe(const struct support *support, bool jobnets, struct buf *out);

#ifdef __cplusplus
}
#endif
#endif
