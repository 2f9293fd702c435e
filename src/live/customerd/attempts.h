/* attempts.h: which try (claim, number) of which job is at which agent, and what was reported about it.
 *
 *     job 7 -> why it was held | try 1, try 2 ... the last try is the one that counts
 *
 * Rows are in the space "try", one for each job. The customer's role knows where a job runs; this keeps what the provider tells besides. */
#ifndef BERTH_LIVE_CUSTOMERD_ATTEMPTS_H
#define BERTH_LIVE_CUSTOMERD_ATTEMPTS_H

#include "lang/base/symbols.h"
#include "lang/text/tree.h"
#include "live/customerd/attempt_members.h"
#include "live/data/missing_files.h"
#include "pool/protocol/fields.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRIES_KEPT 4        /* tries of a job; then the oldest is dropped */
#define TRY_MESSAGE_MAX 256 /* bytes of a line of status */
#define TRY_SPACE "try"

struct job_attempt {
    uint64_t claim, number;
    agent member;
    struct key pass;      /* the gang's key, from which passes are made (pool/claim/duty.h). None: a pair, not a gang */
    bool unbound;         /* an earlier version began it: its passes are good for any agent that has them */
    uint64_t serial;      /* its number among the job's tries: 1, 2, ... */
    int64_t began;        /* when it was decided: seconds on the wall clock */
    int64_t started;      /* when its process started; 0: not yet */
    int64_t heard;        /* when the provider last told us of it */
    int64_t finished;     /* when all its files had come; 0: not yet */
    int64_t suspended;    /* since when it stands still, as its user wants; 0: it does not */
    bool delivering;      /* they are on their way from here into a user's folder (deliveries.h) */
    bool staging;         /* its files are on their way to the machine */
    bool read;            /* it was told which files it reads: older tries cannot change them any more */
    double cpu, wall;     /* seconds */
    int64_t memory, disk; /* bytes, at the most */
    int64_t taken, brought; /* bytes of its files that went to the machine, and came from it */
    double benchmark;       /* how fast the machine is, as it says; 0: not known */
    double may_cpus;        /* what it may use, as its machine says; 0: not known */
    int64_t may_memory, may_disk;
    char *provider;        /* owned, or NULL */
    char *pool;            /* the pool by which the provider is known, if there are several; owned, or NULL */
    char *message, *words; /* owned, or NULL */
    int64_t transfers;     /* how many files are to go to stores */
    struct tree *stored;   /* what became of those files (stored.h); held, or NULL */
    struct tree *samples;  /* what it used over its life (samples_ad.h); held, or NULL. Of the last try alone */
    int64_t moved[2]; /* bytes that it has read from its machine's devices and written to them; 0: none, or not known */
    char *unmade;     /* in words: which outputs it names and has not made; owned, or NULL */
    struct missing missing;         /* files that it should have brought and did not */
    struct attempt_members members; /* that run it together; none where one does */
    int64_t closing;                /* when its leader first said that it has sent everything; 0: not yet. Not stored */
    uint32_t told;                  /* lines about its files in the job's log so far; not stored */
    int tenths; /* the most that it has said to have done, of which the log was told; not stored: the line of status is */
};

struct job_attempts {
    uint64_t job, made;                   /* `made`: how many tries there were */
    uint64_t failed;                      /* how many of them failed, by its log; not stored */
    int64_t hold_code, hold_sub;          /* why, as numbers (job_hold_code); 0: its user held it */
    char *why;                            /* the words with which it was held or removed; owned, or NULL */
    struct job_attempt tries[TRIES_KEPT]; /* in order; the last is the newest */
    uint32_t count;
};

struct attempts;

/* Loads the rows from the shelf; or NULL and `err`. Symbols and shelf must outlive it. */
struct attempts *attempts_new(struct symbols *symbols, struct shelf *shelf, struct err *err);
void attempts_free(struct attempts *tries);

struct job_attempts *attempts_of(const struct attempts *tries, uint64_t job);  /* NULL: none is known */
struct job_attempts *attempts_make(struct attempts *tries, uint64_t job);      /* the same, added when there is none */
struct job_attempt *attempts_last(const struct attempts *tries, uint64_t job); /* NULL: there is none */
struct job_attempt *attempts_find(const struct attempts *tries, uint64_t job, uint64_t claim, uint64_t number);

/* The try of that claim and number: a known one, or a new one, which then is the last. `*ret_new` tells which. */
struct job_attempt *attempts_begin(struct attempts *tries, uint64_t job, uint64_t claim, uint64_t number, agent member,
                                   int64_t now, bool *ret_new);

/* Replaces a text of a try or a job; cut to one line of TRY_MESSAGE_MAX bytes. */
void attempts_text(char **text, const char *bytes, size_t len);

/* Puts the job's row on the shelf, or removes it; durable with the next commit. */
int attempts_store(struct attempts *tries, uint64_t job, struct err *err);
int attempts_forget(struct attempts *tries, uint64_t job, struct err *err);

typedef void attempts_fn(void *user, const struct job_attempts *job);
void attempts_each(const struct attempts *tries, attempts_fn *fn, void *user); /* nothing may change meanwhile */

#ifdef __cplusplus
}
#endif
#endif
