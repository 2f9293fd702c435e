/* attempts.h: which try (claim, number) of which job is at which agent, and what was reported of it.
 *
 *     job 7 -> why it was held | try 1, try 2 ... the last one is the one that counts
 *
 * Rows in the space "try", one a job. The customer's role says where a job runs; what is here is what the provider tells besides. */
#ifndef BERTH_LIVE_CUSTOMERD_ATTEMPTS_H
#define BERTH_LIVE_CUSTOMERD_ATTEMPTS_H

#include "lang/base/symbols.h"
#include "lang/text/tree.h"
#include "live/data/missing_files.h"
#include "pool/protocol/fields.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRIES_KEPT 4        /* of a job; then the oldest goes */
#define TRY_MESSAGE_MAX 256 /* bytes of a line of status */
#define TRY_SPACE "try"

struct job_attempt {
    uint64_t claim, number;
    agent member;
    struct key pass;      /* the key of its gang, from which passes are made (pool/claim/duty.h). None: it was a pair */
    bool unbound;         /* an earlier version began it: its passes are good for whoever has them */
    uint64_t serial;      /* of the job's tries: 1, 2, ... */
    int64_t began;        /* seconds on the wall clock: when it was decided */
    int64_t started;      /* when its process ran; 0: it does not, yet */
    int64_t heard;        /* when something was told of it last */
    int64_t finished;     /* when all was stored; 0: not yet */
    bool staging;         /* its files are on their way there */
    bool read;            /* it was told what its files are: nothing of an older try changes them any more */
    double cpu, wall;     /* seconds */
    int64_t memory, disk; /* bytes, at most */
    double may_cpus;      /* what it may use, as its machine says; 0: that is not known */
    int64_t may_memory, may_disk;
    char *provider;         /* owned, or NULL */
    char *pool;             /* of several, the one by which it is known; owned, or NULL */
    char *message, *words;  /* the same */
    int64_t transfers;      /* files that are to go to stores */
    struct tree *stored;    /* what became of them (stored.h); held, or NULL */
    struct missing missing; /* what it was to bring and did not */
    uint32_t told;          /* lines about its files in the job's log; not stored */
};

struct job_attempts {
    uint64_t job, made;                   /* how many tries there were */
    uint64_t failed;                      /* how many of them, as far as its log tells; not stored */
    char *why;                            /* the words with which it was held or removed; owned, or NULL */
    struct job_attempt tries[TRIES_KEPT]; /* the last one last */
    uint32_t count;
};

struct attempts;

/* With what is on the shelf. NULL and `err`. Both outlive it. */
struct attempts *attempts_new(struct symbols *symbols, struct shelf *shelf, struct err *err);
void attempts_free(struct attempts *tries);

struct job_attempts *attempts_of(const struct attempts *tries, uint64_t job);  /* NULL: nothing is known */
struct job_attempts *attempts_make(struct attempts *tries, uint64_t job);      /* the same, made when there is none */
struct job_attempt *attempts_last(const struct attempts *tries, uint64_t job); /* NULL: there was none */
struct job_attempt *attempts_find(const struct attempts *tries, uint64_t job, uint64_t claim, uint64_t number);

/* A try: the one that is known, or a new one, which is the last one then. `*ret_new` tells. */
struct job_attempt *attempts_begin(struct attempts *tries, uint64_t job, uint64_t claim, uint64_t number, agent member,
                                   int64_t now, bool *ret_new);

/* A text of a try or a job in the place of the one before, cut to one line of TRY_MESSAGE_MAX bytes. */
void attempts_text(char **text, const char *bytes, size_t len);

/* Puts the job's row on the shelf, or takes it away; durable with the next commit. */
int attempts_store(struct attempts *tries, uint64_t job, struct err *err);
int attempts_forget(struct attempts *tries, uint64_t job, struct err *err);

typedef void attempts_fn(void *user, const struct job_attempts *job);
void attempts_each(const struct attempts *tries, attempts_fn *fn, void *user); /* nothing may change meanwhile */

#ifdef __cplusplus
}
#endif
#endif
