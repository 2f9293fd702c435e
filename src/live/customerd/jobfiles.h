/* jobfiles.h: the files that jobs leave at the customer: outputs, logs, checkpoints, each from one try.
 *
 *     FOLDER/ID/files                        a line for each complete file
 *     FOLDER/ID/output checkpoint logs       those files
 *     FOLDER/ID/part/CLAIM-NUMBER/KIND/NAME  files that are still coming
 *     FOLDER/ID.log                          the job's events (joblog.h): most jobs have nothing else
 *
 * Outputs of a job that says where they go (Iwd) are put there when they are complete, and never outside of it. Names come from the
 * machines where jobs run: no link is followed, whoever made it. */
#ifndef BERTH_LIVE_CUSTOMERD_JOBFILES_H
#define BERTH_LIVE_CUSTOMERD_JOBFILES_H

#include "lang/base/symbols.h"
#include "sys/pieces.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JOBFILES_MAX 100000 /* files of one job */
#define JOBFILES_TRIES 4    /* all tries of a job together may leave this many times what one try may */

/* The first word is the Kind in ads, the second the folder's name. */
#define JOB_FILE_KINDS(X) X(OUTPUT, "output", "output") X(CHECKPOINT, "checkpoint", "checkpoint") X(LOG, "log", "logs")

enum job_file_kind {
#define X(id, word, folder) JOB_FILE_##id,
    JOB_FILE_KINDS(X)
#undef X
        JOB_FILE_KIND_COUNT
};

const char *job_file_word(enum job_file_kind kind);
int job_file_kind(const char *word, size_t len); /* -1: there is no such kind */

/* A job and one of its tries; `iwd` is where its outputs go, NULL: they stay here. */
struct job_place {
    uint64_t job, claim, number;
    const char *iwd;
    const char *owner; /* of the job, when it leaves something: whose share it takes */
};

/* How a file may be put where the job says (output_permits.h decides). */
enum permit {
    PERMIT_NO,      /* not at all */
    PERMIT_NEW,     /* where nothing is, or over what this job has brought before; else beside it */
    PERMIT_BESIDE,  /* beside the file of that name: as NAME.JOB */
    PERMIT_REPLACE, /* over whatever is there: the job names the file */
};

/* A file that a try leaves, as its provider says; and what the job's ad permits. */
struct job_leaving {
    enum job_file_kind kind;
    const char *name;
    const char *to; /* where it goes, from iwd on, as the job says; NULL: by its name */
    unsigned mode;
    enum permit permit;
    uint64_t bytes; /* for all files of that kind together */
};

struct job_file {
    enum job_file_kind kind;
    const char *name;
    const char *to; /* of an output: where it goes, or went, if not by its name; or NULL */
    uint64_t size;
    char hash[HASH_DIGITS + 1]; /* "" while it is not complete */
    unsigned mode;
    bool whole;
    bool away;      /* it lies where the job wants it ... */
    bool beside;    /* ... as NAME.JOB */
    bool delivered; /* a copy lies there, and this one is kept */
    bool before;    /* an earlier try has brought one of that name (`before_beside`: as NAME.JOB) */
    bool before_beside;
    enum permit permit; /* how it may be put there, while it is not */
    uint64_t claim, number;
};

struct jobfiles;

/* The highest number of a job that has left a log or a folder; 0: none has. */
uint64_t jobfiles_last(const struct jobfiles *files);

struct jobfiles *jobfiles_new(const char *path, struct symbols *symbols, struct err *err);
void jobfiles_free(struct jobfiles *files);
struct output_shares;
/* From now on it is counted, and bounded, what the jobs of each account have here. Lent. */
void jobfiles_set_shares(struct jobfiles *files, struct output_shares *shares);

/* Takes a piece of a file of that try. With PIECE_WHOLE the file is in its place, and recorded on disk. Then `err` is
 * filled, too, when the file could not be put where the job wants it, or was put beside: it says where the file is.
 * PIECE_FULL: the file is more than the try may leave, and nothing was taken. PIECE_DISK with the limit's name: the account's share is used up. */
enum piece_result jobfiles_store(struct jobfiles *files, const struct job_place *place,
                                 const struct job_leaving *leaving, const struct piece *piece, uint64_t *ret_have,
                                 struct err *err);

/* Calls `fn` for each file of a job: complete ones of that try (and all checkpoints), then those still coming. Lent. -1
 * and errno: not all could be looked at. */
typedef void job_file_fn(void *user, const struct job_file *file);
int jobfiles_each(struct jobfiles *files, const struct job_place *place, job_file_fn *fn, void *user);

/* Opens a file for reading, and tells its size so far; -1 and errno: ENOENT when there is none, else it could not be opened. */
int jobfiles_open(struct jobfiles *files, const struct job_place *place, enum job_file_kind kind, const char *name,
                  uint64_t *ret_size, bool *ret_whole);

/* A copy of that output lies where the job wants it (`beside`: as NAME.JOB), and that is recorded on disk. Ours is removed unless `keep`. -1 and
 * errno. */
int jobfiles_delivered(struct jobfiles *files, const struct job_place *place, const char *name, bool beside, bool keep);

/* jobfiles_drop removes the incomplete files of a try. jobfiles_clear removes all files of a job but its log, jobfiles_remove everything. */
void jobfiles_drop(struct jobfiles *files, uint64_t job, uint64_t claim, uint64_t number);
void jobfiles_clear(struct jobfiles *files, uint64_t job);
void jobfiles_remove(struct jobfiles *files, uint64_t job);

/* Opens the job's log with those flags; or -1. The caller closes it. */
int jobfiles_log(struct jobfiles *files, uint64_t job, int flags);

#ifdef __cplusplus
}
#endif
#endif
