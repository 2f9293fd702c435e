/* output_permits.h: what a try may leave at the customer, by the job's own ad: a provider is a stranger here, and may name a file anything.
 *
 *     Outputs = {"a", "tables"}; Out = "log"    a, log, and all files below tables: they replace what is there
 *     no Outputs                                a new name, or one that an earlier try of this job brought
 *     an input that is not named                beside it, as NAME.JOB; likewise a file that is there already and not from this job
 *     OutputTo = {[Name = "a"; To = "/b/c"]}    a, and all files below a, which go to /b/c
 *     Checkpoint = {"state"}; logs              state; stdout and stderr
 *
 * A name with a part that begins with a dot is taken only if it is listed. A file's mode is at most 0644, or 0755 if it is listed. A try leaves of
 * each kind no more bytes than the job's disk, and no more than JOB_FILES_MAX files. */
#ifndef BERTH_LIVE_CUSTOMERD_OUTPUT_PERMITS_H
#define BERTH_LIVE_CUSTOMERD_OUTPUT_PERMITS_H

#include "lang/base/buf.h"
#include "lang/text/tree.h"
#include "live/customerd/jobfiles.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PERMIT_DEPTH_MAX 64 /* nested folders */

struct permits;

/* A try of a job. Parts of its ad that can be evaluated only where it runs (Gang) are not known here: then new names are taken. `now`: seconds. */
struct permits_try {
    const struct tree *ad, *node; /* lent: the submission's ad, and the workflow's node or NULL */
    uint64_t job, index, tries;
    int64_t now;
};
struct permits *permits_new(const struct permits_try *one);
void permits_free(struct permits *permits);

/* May the try leave a file of that name? With PERMIT_NO, `*ret_why` says why not. */
enum permit permits_look(const struct permits *permits, enum job_file_kind kind, const char *name,
                         const char **ret_why);

/* Is that the name by which the job's standard output or error comes back as well? */
bool permits_streams(const struct permits *permits, const char *name);

/* Where an output of that name goes, by OutputTo: appends it, and true; false: by its name. */
bool permits_to(const struct permits *permits, const char *name, struct buf *ret);

/* Bytes that the try may leave, of each kind. */
uint64_t permits_bytes(const struct permits *permits);

/* permits_stores: does the job leave a file of that logical name for stores? If the list cannot be evaluated, any name
 * is. permits_stored: how many are there? */
bool permits_stores(const struct permits *permits, const char *name, size_t len);
uint64_t permits_stored(const struct permits *permits);

#ifdef __cplusplus
}
#endif
#endif
