/* submitting.h: a submission under way, shared by the files that take it through its stages; private to them and to crons.c and api_crons.c.
 *
 *     api_submit.c        looked at -> read, each ad checked -> files of the catalogue found
 *     submitting.c          -> given to the role -> durable -> answered;   or an ad is refused: all that was given is removed
 *     submission_keys.c   the row of its key
 *
 * Each stage is done in slices, in the turns of its account (live/http/queues.h). */
#ifndef BERTH_LIVE_CUSTOMERD_SUBMITTING_H
#define BERTH_LIVE_CUSTOMERD_SUBMITTING_H

#include "live/customerd/audited.h"
#include "live/customerd/customerd_parts.h"
#include "sys/hash_parts.h"

#define SUBMISSION_KEY_MAX 48
#define SUBMISSION_ADS_MAX 100000

struct submitting {
    struct customerd_task task; /* removes what was given, when the request has gone */
    struct customerd *customerd;
    struct request *request; /* NULL: the request has gone */
    char key[SUBMISSION_KEY_MAX + 1], row_key[SHELF_KEY_MAX], hash[HASH_DIGITS + 1];
    bool again;                        /* the same was submitted before */
    bool lost;                         /* the customer is ending, and there will be no answer */
    uint64_t secrets;                  /* the set of secrets that its jobs read; 0: none ... */
    bool holds;                        /* ... which it holds */
    bool gives;                        /* there are jobs to give */
    bool refused;                      /* the role has refused an ad */
    bool local;                        /* a job runs on this host */
    bool reads;                        /* an ad reads files that a catalogue has */
    bool hides;                        /* an ad names secrets */
    bool named;                        /* an ad says what the nodes of workflows say */
    bool mixed;                        /* an ad names an Owner */
    bool said;                         /* an ad says something that is to be known of its jobs (newcomers.h) */
    char identity[TOKEN_NAME_MAX + 1]; /* of the caller, */
    struct peer peer;                  /* as the role is told */
    struct audit_who who;              /* ... and as the audit log is */
    uint64_t audited;                  /* the number of its row there; 0: it has none yet */
    bool audited_whole;                /* the row says which jobs they are */
    int64_t iwd_user;                  /* with whose rights its outputs are put into Iwd */

    struct media media;
    size_t looked; /* bytes of the body */
    struct hashing hashing;
    struct form_text text;
    struct form_reader *form; /* NULL: the body is not being read */

    struct tree **ads;
    struct job_terms *terms;
    struct submitted *answers;
    uint32_t count, room;
    uint64_t jobs;  /* of all ads; */
    uint64_t bytes; /* ... the ads themselves, in memory */
    uint64_t last;  /* of its jobs, if that is in the row already; else 0. While they are given: the last before them */
    uint32_t given; /* to the role, of `count` */
    uint32_t waiting;    /* for so many answers of the role, and one while not all are given */
    uint32_t place;      /* of the ad at hand, when they are removed, told or let go */
    uint64_t first, end; /* the first and the last of the jobs that the role has answered; 0: it has not */
    uint64_t removed;    /* of that ad's jobs */
    struct listing listing;
    struct buf out; /* the answer */

    uint64_t word;               /* of the key; 0: it comes from a time when keys had none */
    uint64_t flow;               /* the jobs are a workflow, under that word; 0: they are not */
    uint64_t batch;              /* they are given in many turns, under that word; 0: in one */
    struct job_trace trace;      /* by which its jobs are followed through logs */
    struct resolving *resolving; /* the catalogue's files that its jobs read; or NULL */
};

void submitting_end(struct submitting *all); /* frees it: one of very many ads in several turns of the loop */
void submitting_owner(const struct submitting *all, uint32_t place, struct text *ret); /* of an ad's jobs */
/* Everything is known: gives the jobs to the role, and answers. Takes `all`. */
void submitting_begin(struct submitting *all);
/* The ad of a job as the role gets it; NULL: it would be none. `secrets`: its set; 0: none. The caller unrefs it. */
struct tree *job_finished(struct customerd *customerd, const struct tree *ad, int64_t iwd_user, uint64_t secrets);

/* A trace by which jobs are followed that came without one. */
void trace_draw(struct job_trace *ret);
/* Writes into the log that the jobs are there. `first` to `last` are their numbers. */
void submission_log(struct customerd *customerd, const char *owner, uint64_t first, uint64_t last,
                    const struct job_trace *trace);

/* ---- api_submit.c ---- */

/* May this caller submit that ad? Else the status to answer with, and why. */
unsigned job_refused(const struct request *request, const struct tree *ad, struct job_terms *ret, struct err *err);
int64_t job_iwd_user(
    const struct request *request); /* with whose rights the outputs of its jobs are put into its folders */

/* ---- submission_keys.c ---- */

bool key_read(struct request *request, char ret[SUBMISSION_KEY_MAX + 1]); /* false after a problem was answered */
/* Is the key new, or did the same body come under it? False after a problem was answered, when it was another body. */
bool body_check(struct submitting *all);
/* Writes the row of a new submission: it becomes durable together with its first jobs. False after a problem was answered. */
bool body_keep(struct submitting *all);
int body_put(const struct submitting *all, uint64_t first, uint64_t last, struct err *err);

#endif
