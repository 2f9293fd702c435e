/* job_ad.h: a job as an ad: what was submitted, and what became of it; and whether an ad can be submitted as a job. */
#ifndef BERTH_LIVE_CUSTOMERD_JOB_AD_H
#define BERTH_LIVE_CUSTOMERD_JOB_AD_H

#include "live/customerd/attempts.h"
#include "live/customerd/spool.h"
#include "pool/customer/customer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What people are told; the order is that of the summary. The history keeps their places: new ones are added behind. */
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

const char *job_standing_word(enum job_standing standing); /* of FAILED: "Failed"; an ad says "Done" and a Status */

static inline bool job_standing_is_end(enum job_standing standing)
{
    return standing >= STANDING_DONE && standing <= STANDING_CANCELLED;
}

/* `last` is the last try, or NULL. */
enum job_standing job_standing(const struct job_view *view, const struct job_attempt *last);

/* Are its outputs still to come? */
#define OUTPUTS_KEPT INT64_C(86400) /* seconds after a job's end that are waited for them */
bool job_outputs_due(const struct job_view *view, const struct job_attempt *last, int64_t now);

/* Are files of it still on their way to stores? */
bool job_files_due(const struct job_view *view, const struct job_attempt *last, int64_t now);

/* All attributes that were submitted, and those that tell how it stands; the caller unrefs it. `tries` may be NULL. Whom one that is
 * blocked waits for the role is asked. */
struct tree *job_ad(struct symbols *symbols, const struct customer *customer, const struct job_view *view,
                    const struct job_attempts *tries, int64_t now);

#define JOB_INPUTS_MAX 2000 /* files that a job reads: the list of them goes in one answer */

struct job_terms {
    uint64_t count;    /* of units */
    const char *owner; /* lent by the ad; NULL: it does not say */
    size_t owner_len;
    bool iwd; /* it says where its outputs go */
};

/* May the ad be submitted? -1 and the attribute and what is wrong with it. `who` submits it, and must have sent what it reads to the spool. */
int job_check(const struct tree *ad, const struct spool *spool, const char *who, struct job_terms *ret,
              struct err *err);

/* The ad as the role is given it: without Count and what makes it a node, with a Type. The caller unrefs it. */
struct tree *job_submitted(struct symbols *symbols, const struct tree *ad);
/* What makes it a node of a workflow: Node, After, Dag. The caller unrefs it. */
struct tree *job_node(struct symbols *symbols, const struct tree *ad);

/* Each file that a job reads: name, hash, size and mode as its attribute Inputs says. Lent. */
struct job_input {
    const char *name, *hash; /* with a NUL */
    uint64_t size;
    unsigned mode;
};
typedef bool job_input_fn(void *user, const struct job_input *input); /* false: enough */
void job_inputs(const struct tree *ad, job_input_fn *fn, void *user);

/* Where its outputs go; NULL: they stay. A string of mem_dup's. */
char *job_iwd(const struct tree *ad);

#ifdef __cplusplus
}
#endif
#endif
