/* crons.h: jobs that come again: a schedule and an ad, from which a job is submitted each time; private to the live customer.
 *
 *     POST /v1/crons -> a row on the shelf -> a look each second: is a moment due? -> SUBMIT to the role, for the owner, under a key made of the moment
 *
 * The row that says that a moment is settled becomes durable together with its job, and the key is the same if it is tried again: so no moment has
 * two jobs. */
#ifndef BERTH_LIVE_CUSTOMERD_CRONS_H
#define BERTH_LIVE_CUSTOMERD_CRONS_H

#include "lang/base/schedule.h"
#include "live/auth/token.h"
#include "live/customerd/customerd_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CRONS_SPACE "cron"               /* on the shelf */
#define CRONS_PER_ACCOUNT 100            /* of one account ... */
#define CRONS_BYTES (UINT64_C(16) << 20) /* ... and bytes that their ads take */
#define CRONS_MAX 10000                  /* of all */
#define CRONS_LATE 60                    /* seconds: what is later was missed */
#define CRONS_WHY_MAX 200

enum cron_missed { MISSED_RUN, MISSED_SKIP };                  /* a moment at which the customer was not there */
enum cron_overlap { OVERLAP_SKIP, OVERLAP_WAIT, OVERLAP_RUN }; /* a moment at which its last jobs are not over */

struct cron {
    uint64_t id;
    char owner[TOKEN_NAME_MAX + 1];
    char text[SCHEDULE_TEXT_MAX + 1];
    struct schedule schedule;
    enum cron_missed missed;
    enum cron_overlap overlap;
    bool held;
    bool waits;                  /* a moment waits for the end of the last jobs */
    bool giving;                 /* the role has not answered yet */
    struct tree *ad;             /* held: of its jobs */
    uint64_t count;              /* how many jobs a moment has */
    int64_t iwd_user;            /* as job_submitted is told */
    int64_t created, settled;    /* seconds; `settled`: moments up to then */
    int64_t due;                 /* the next; SCHEDULE_NEVER: there is none */
    int64_t last;                /* the last moment that has had jobs; 0: none had ... */
    uint64_t first;              /* ... and the first of them ... */
    uint64_t open;               /* ... and the first that may not be over: behind the last, all are */
    uint64_t runs, skipped;      /* moments */
    char why[CRONS_WHY_MAX + 1]; /* why the last moment has had no jobs; "": it had */
};

struct crons;

struct crons *crons_new(struct customerd *customerd,
                        struct err *err); /* loads what is there; NULL: it cannot be read */
void crons_free(struct crons *crons);     /* after the agent. Takes NULL */
void crons_tick(struct crons *crons);     /* once a second */

/* Adds one: takes `cron->ad`, and fills in its number and its times. 1: there is no room; -1: it cannot be kept. A commit follows. */
int crons_add(struct crons *crons, struct cron *cron, struct err *err);
int crons_remove(struct crons *crons, uint64_t id, struct err *err);
int crons_hold(struct crons *crons, uint64_t id, bool held, struct err *err);

struct cron *crons_find(const struct crons *crons, uint64_t id);        /* NULL: there is none */
const struct cron *crons_after(const struct crons *crons, uint64_t id); /* the next by number; NULL: none is left */
struct tree *cron_ad(const struct customerd *customerd, const struct cron *cron,
                     bool whole); /* `whole`: with the ad of its jobs */

extern const char *const cron_missed_words[2], *const cron_overlap_words[3]; /* as users write them */

#ifdef __cplusplus
}
#endif
#endif
