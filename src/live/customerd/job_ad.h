/* job_ad.h: a job as an ad: what was submitted, and what became of it. Also checks whether an ad can be submitted as a
 * job. */
#ifndef BERTH_LIVE_CUSTOMERD_JOB_AD_H
#define BERTH_LIVE_CUSTOMERD_JOB_AD_H

#include "live/customerd/attempts.h"
#include "live/customerd/spool.h"
#include "pool/customer/customer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* States as people see them, in the order of the summary. The history stores their places: add new ones at the end. */
#define JOB_STATES(X)         \
    X(WAITING, "Waiting")     \
    X(READY, "Ready")         \
    X(SCHEDULED, "Scheduled") \
    X(RUNNING, "Running")     \
    X(HELD, "Held")           \
    X(DONE, "Done")           \
    X(FAILED, "Failed")       \
    X(ABORTED, "Aborted")     \
    X(CANCELLED, "Cancelled") \
    X(BLOCKED, "Blocked")

enum job_standing {
#define X(id, word) STANDING_##id,
    JOB_STATES(X)
#undef X
        STANDING_COUNT
};

const char *job_standing_word(enum job_standing standing); /* "Failed" for FAILED; an ad says "Done" and a Status */

static inline bool job_standing_is_end(enum job_standing standing)
{
    return standing >= STANDING_DONE && standing <= STANDING_CANCELLED;
}

/* Is that an attribute that says what became of the job? */
bool job_ad_says(const char *name, size_t len);

/* Has every attribute that has a meaning its type? */
int job_types_check(const struct tree *ad, struct err *err);

/* `last` is the last try, or NULL. */
enum job_standing job_standing(const struct job_view *view, const struct job_attempt *last);

/* Why a held job is held, in HTCondor's numbers; `tries` may be NULL. */
#define HOLD_BY_USER 1
#define HOLD_BY_POLICY 3 /* an expression of its own was true */
#define HOLD_UNSTARTED 6
#define HOLD_FOR_OUTPUTS 12 /* ... with the subcode ENOENT */
#define HOLD_FOR_INPUTS 13
#define HOLD_FOR_MEMORY 34
#define HOLD_FOR_TIME 47
#define HOLD_TO_VACATE 9000 /* only to leave its machine: it is released when that is so. No number of theirs */
int64_t job_hold_code(const struct job_view *view, const struct job_attempts *tries);
int64_t job_hold_sub(const struct job_view *view, const struct job_attempts *tries);
/* The words with which it was held or removed, if they tell why it is so now; or NULL. */
const char *job_why(const struct job_view *view, const struct job_attempts *tries);

/* Are the job's outputs still to come? */
#define OUTPUTS_KEPT INT64_C(86400) /* how many seconds after a job's end to wait for them */
bool job_outputs_due(const struct job_view *view, const struct job_attempt *last, int64_t now);

/* Are files of the job still on their way to stores? */
bool job_files_due(const struct job_view *view, const struct job_attempt *last, int64_t now);

/* All submitted attributes, and those that tell the job's state; the caller unrefs it. `tries` may be NULL. The role is
 * asked which nodes a blocked job waits for. */
struct tree *job_ad(struct symbols *symbols, const struct customer *customer, const struct job_view *view,
                    const struct job_attempts *tries, int64_t now);
/* The same with all that is known of one job, and is too much for lists: Samples. */
struct tree *job_ad_whole(struct symbols *symbols, const struct customer *customer, const struct job_view *view,
                          const struct job_attempts *tries, int64_t now);

#define JOB_INPUTS_MAX 2000 /* files that a job reads: their list must fit in one answer */

struct job_terms {
    uint64_t count;    /* how many jobs */
    const char *owner; /* lent by the ad; NULL: it does not say */
    size_t owner_len;
    bool iwd; /* the ad says where outputs go */
};

/* May the ad be submitted? If not, -1 and an error that names the attribute. `who` submits it, and must have sent its inputs to the spool. Whether
 * the folder Iwd is there is not looked at: job_iwd_check does that. */
int job_check(const struct tree *ad, const struct spool *spool, const char *who, struct job_terms *ret,
              struct err *err);
/* Is Iwd a folder, at least now? We look with our own rights: for our own user's jobs alone. */
int job_iwd_check(const struct tree *ad, struct err *err);

/* The ad for the role: without Count and the attributes of a node, with a Type. `iwd_user`: the user of this machine with whose rights its
 * outputs are put into Iwd (IWD_OURS: our own; IWD_NOBODY: nobody can, and they stay here). The caller unrefs it. */
#define IWD_OURS (-1)
#define IWD_NOBODY (-2)
struct tree *job_submitted(struct symbols *symbols, const struct tree *ad, int64_t iwd_user);
/* The attributes that make the job a node of a workflow: Node, After, Dag. The caller unrefs it. */
struct tree *job_node(struct symbols *symbols, const struct tree *ad);

/* A file that a job reads: name, hash, size and mode, from its attribute Inputs. Lent. */
struct job_input {
    const char *name, *hash; /* NUL-terminated */
    uint64_t size;
    unsigned mode;
};
typedef bool job_input_fn(void *user, const struct job_input *input); /* false: enough */
void job_inputs(const struct tree *ad, job_input_fn *fn, void *user);

/* Where the job's outputs go when they come; NULL: they stay here. The caller frees it. */
char *job_iwd(const struct tree *ad);
/* Where they go from here, with the rights of that user of this machine (deliveries.h); NULL: they go nowhere. The caller frees it. */
char *job_iwd_of(const struct tree *ad, uint32_t *ret_uid);

#ifdef __cplusplus
}
#endif
#endif
