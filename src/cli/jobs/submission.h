/* submission.h: takes jobs to a customer: completes their ads, finds, hashes and uploads their files, and sends all of it.
 *
 *     ad of a file -> defaults, inputs as [ Name; Hash; Size; Mode ] -> upload of what the customer does not have -> POST /v1/jobs
 *
 * What an ad does not say is filled in from where it is submitted (section 3.4.1): Type, Constraint and Rank for machines like this one, ImageSize,
 * RequestCpus, RequestMemory, RequestDisk, Iwd. Errors have been reported. */
#ifndef BERTH_CLI_JOBS_SUBMISSION_H
#define BERTH_CLI_JOBS_SUBMISSION_H

#include "cli/ask/jobs.h"
#include "lang/base/textmap.h"
#include "sys/hash.h"

#define SUBMISSION_KEY_MAX 48

/* A file that jobs need. */
struct input_upload {
    char *path;
    char hash[HASH_DIGITS + 1];
    uint64_t size;
};

struct job_submission {
    struct connection *customer;
    struct tree **ads; /* completed */
    size_t count, room;
    struct input_upload *uploads; /* one row for each content */
    size_t upload_count, upload_room;
    struct textmap hashes; /* of the contents, each at the place of its upload */
    struct textmap paths; /* of the files that have been hashed, so that what a thousand jobs read is hashed once ... */
    uint32_t *path_uploads; /* ... and the upload of each */
    size_t path_room;
    struct textmap
        images; /* in registries, as ads name them: each is looked up once, so that all jobs have the same one ... */
    char **digests; /* ... and with its digest */
    size_t digest_room;
    struct buf secrets;  /* a bundle (sys/secret_bundle.h) */
    struct buf misspelt; /* names of attributes that were reported as such */
    bool folds;          /* what can be computed in the ads is computed now */
    bool
        sets_modes; /* a program may be executed at the machine whatever its mode is here, as HTCondor and the grids have it */
    bool quiet;            /* what the jobs will wait for is not reported; why they are not submitted is */
    bool commands;         /* its jobs want machines that let commands be run in them (`berth exec`) */
    uint64_t disk;         /* what an ad asks for that does not say; 0: it was not looked */
    char *program;         /* that the last job calls by its name alone; NULL: none has ... */
    int64_t program_size;  /* ... and how long it is here; -1: it is not here */
    struct buf layer_text; /* what was laid over the last ad ... */
    struct tree *layer;    /* ... and that, read; held, or NULL */
    bool looked, near;     /* it was looked whether the customer is on this machine; and it is */
};

void submission_init(struct job_submission *submission, struct connection *customer);
void submission_done(struct job_submission *submission);

/* Completes an ad (lent; with the customer's symbols, in the classic dialect) and adds it. The names of its inputs are relative to `folder`; `name`
 * is for errors. */
int submission_add(struct job_submission *submission, struct tree *ad, const char *folder, const char *name);

#define SUBMISSION_NAME_MAX 32

/* What an ad is called before it has a number: "the job" when it is the only one, else "ad 3". Returns `out`. */
const char *submission_name(const struct job_submission *submission, size_t place, char out[SUBMISSION_NAME_MAX]);

/* Uploads the files that the customer does not have yet, each content once. */
int submission_upload(struct job_submission *submission);

/* Sends the ads. `each` gets an answer for each of them in order: [ First; Count ]. Sending is repeated once with the same key when it is not known
 * whether the first try arrived. `key` NULL: one is drawn. */
int submission_send(struct job_submission *submission, const char *key, bool force, connection_ad_fn *each, void *user);

/* Prints the ads as they would be sent. */
int submission_print(const struct job_submission *submission, bool json);

/* An option_read_fn: reads the key of a submission. */
int submission_key(const char *text, void *target, struct err *err);

#endif
