/* job_order.h: what a job's ad says of how it is run: from attributes to what an executor is told. docs/jobs.md has the table. */
#ifndef BERTH_LIVE_PROVIDERD_JOB_ORDER_H
#define BERTH_LIVE_PROVIDERD_JOB_ORDER_H

#include "lang/base/arena.h"
#include "pool/protocol/executor.h"
#include "pool/protocol/job_limits.h"

#ifdef __cplusplus
extern "C" {
#endif

struct job_order {
    struct executor_order order; /* without claim, number, folder and deadline */
    const char *const *outputs;  /* names; ends with NULL. NULL: every file that is new */
    const char *out, *err;       /* names by which standard output and error are outputs as well; or NULL */
    const char *const *checkpoint;
    const char *image_secret;  /* the name of the secret that has the account for its image's registry; or NULL */
    const char *image;         /* that it runs in: a file among its inputs, or a folder of the machine; or NULL */
    size_t own_variables;      /* of its environment: how many are ours, in front of those that its ad says */
    const char *const *needs;  /* folders of the machine without which it cannot run; ends with NULL */
    int checkpoint_signal;     /* 0: none is sent */
    int64_t checkpoint_period; /* microseconds; 0: only when it is stopped */
    const char *const *gpus;   /* ids of those that its claim has; ends with NULL */
    uint32_t gpus_asked;       /* how many it must have */
    uint32_t member, members;  /* which of so many members of its gang this is, from 0; 0 of 0: it does not say */
    bool as_owner;             /* it is to run as the user who sent it ... */
    bool shares;               /* ... in the folder that it was sent from, where its files are and stay */
    const char *iwd;           /* that folder; or NULL */
    const char *shared[3];     /* its input, output and errors there; NULL: as of any job */
    uint32_t umask;
    bool reaches; /* its processes may begin commands beside others of the job */
    bool has_inputs;
    bool has_secrets;   /* the customer has them, and they are to be asked for */
    struct arena arena; /* in which all of this lies */
};

/* Reads the order of a job from its ad. `machine`: the ad that its arguments and variables see as their counterpart; NULL: the job has begun, and they do not matter. `now`: seconds, for its
 * expressions. After an error nothing is to be freed. */
int job_order_read(const struct tree *ad, const struct tree *machine, int64_t now, uint64_t job, struct job_order *ret,
                   struct err *err);
/* Adds variables of the job's image: over ours, under those that its ad says. */
void job_order_variables(struct job_order *order, const char *const *variables);
void job_order_done(struct job_order *order); /* takes a zeroed one */

#ifdef __cplusplus
}
#endif
#endif
