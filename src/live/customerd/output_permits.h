/* output_permits.h: what a try may leave at the customer, from the job's own ad: a provider is a stranger there, and may call a file whatever it likes.
 *
 *     Outputs = {"a", "tables"}; Out = "log"    a, log, and what lies beneath tables: they take the place of what is there
 *     no Outputs                                a new name, or one that an earlier try of this job has brought
 *     an input that is not named                beside it, as NAME.JOB; likewise what is there already and is not this job's
 *     Checkpoint = {"state"}; logs              state; stdout and stderr
 *
 * A part of a name that begins with a dot is taken only where it is named. Nothing is more than 0644, what is named 0755. A try leaves of
 * each kind no more bytes than the job's disk, and no more than JOB_FILES_MAX files. */
#ifndef BERTH_LIVE_CUSTOMERD_OUTPUT_PERMITS_H
#define BERTH_LIVE_CUSTOMERD_OUTPUT_PERMITS_H

#include "lang/text/tree.h"
#include "live/customerd/jobfiles.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PERMIT_DEPTH_MAX 64 /* folders inside one another */

struct permits;

/* Of that try of the job. What of its ad can only be reckoned where it runs (Gang) is not known here: then new names are taken. `now`: seconds. */
struct permits_try {
    const struct tree *ad, *node; /* lent: of the submission, and of the workflow or NULL */
    uint64_t job, index, tries;
    int64_t now;
};
struct permits *permits_new(const struct permits_try *one);
void permits_free(struct permits *permits);

/* May it leave a file of that name? With PERMIT_NO, `*ret_why` are words for it. */
enum permit permits_look(const struct permits *permits, enum job_file_kind kind, const char *name,
                         const char **ret_why);

/* Bytes that it may leave, of each kind. */
uint64_t permits_bytes(const struct permits *permits);

/* Is that one of the files which the job leaves for stores, by its logical name? Where they cannot be reckoned, all are. And how many are there? */
bool permits_stores(const struct permits *permits, const char *name, size_t len);
uint64_t permits_stored(const struct permits *permits);

#ifdef __cplusplus
}
#endif
#endif
