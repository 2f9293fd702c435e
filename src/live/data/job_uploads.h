/* job_uploads.h: what a job's ad says of the files that go to stores when it has ended: OutputData, OutputSE, OutputElsewhere,
 * OutputCopies.
 *
 *     OutputData = {[File = "out.dat"; Name = "run7/out.dat"; Store = "se1"], "log.txt"}
 *     OutputSE = {"se1", "se2"}            in that order; then others that take it, unless OutputElsewhere = false
 *     OutputCopies = 2                     so many of them are to have each file */
#ifndef BERTH_LIVE_DATA_JOB_UPLOADS_H
#define BERTH_LIVE_DATA_JOB_UPLOADS_H

#include "lang/base/arena.h"
#include "lang/base/err.h"
#include "lang/text/tree.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JOB_UPLOADS_MAX 1000 /* files of a job that go to stores */
#define JOB_STORES_MAX 64    /* in OutputSE */
#define JOB_COPIES_MAX 16    /* OutputCopies */

struct job_upload {
    const char *file;  /* in the job's folder */
    const char *name;  /* the logical one; the same, when the job does not say */
    const char *store; /* the first that is to have it; or NULL */
};

struct job_uploads {
    const struct job_upload *items;
    size_t count;
    const char *const *stores; /* ends with NULL */
    bool elsewhere;            /* further stores may have it when those cannot be reached */
    uint32_t copies;           /* how many stores are to have each */
};

/* Reads what the ad says; all of it lies in the arena. `now`: seconds, for its expressions. -1 and the attribute that is wrong. */
int job_uploads_read(struct arena *arena, const struct tree *ad, int64_t now, struct job_uploads *ret, struct err *err);

/* Checks the attributes as they are written in an ad that is submitted: what each job computes for itself is good. */
int job_uploads_check(const struct tree *ad, const struct expr *data,
                      struct err *err);                                     /* of OutputData; -1 and why not */
bool job_stores_are_good(const struct tree *ad, const struct expr *stores); /* of OutputSE */
bool job_copies_are_good(const struct tree *ad, const struct expr *copies); /* of OutputCopies */
int job_copies_check(const struct tree *ad, struct err *err);               /* are there stores enough for them? */

#ifdef __cplusplus
}
#endif
#endif
