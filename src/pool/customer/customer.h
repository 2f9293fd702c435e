/* customer.h: the agent of users with jobs: a durable queue, and the root of the claims that its jobs run under.
 *
 * Jobs that are equal share a *shape*, and a shape is one request ad with a count. A match begins a claim; when all members are
 * pinned in time, a job is taken from the queue, the decision is made durable, and the claim is activated; the job starts when the
 * way is free. A claim that has done its job does the next of its shape, or is released.
 *
 *     IDLE -decided-> RUNNING -result-> DONE -> forgotten, when the world has written it down
 *      |  ^---- claim lost, or failed and to be tried again ----'        any but DONE: held, removed; IDLE: aborted, when it tires
 *
 * A *workflow* is several submissions that wait for each other, its *nodes*: the jobs of one are not advertised before all jobs of those
 * that it names have ended well. That is not a state of its own: it follows from the ends that are durable. No job of a workflow is
 * forgotten while one of it is left that has neither ended well nor been removed. */
#ifndef BERTH_POOL_CUSTOMER_CUSTOMER_H
#define BERTH_POOL_CUSTOMER_CUSTOMER_H

#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUSTOMER_JOBS_MAX 100000   /* queued, of one owner, unless the settings say otherwise */
#define CUSTOMER_SUBMIT_MAX 100000 /* of one submission */
#define CUSTOMER_RETRIES 0         /* of a job that fails and does not say MaxRetries */
#define CUSTOMER_NODE_MAX 255      /* bytes of the name of a node */

struct customer;

#define CUSTOMER_POOLS_MAX 16

/* A pool that jobs are offered to. */
struct customer_pool {
    agent matchmaker;
    const char *name; /* by which a job's Pools, a list of texts, asks for it */
};

struct customer_settings {
    agent self, matchmaker;
    const struct spans *spans;
    uint64_t jobs_max; /* 0: CUSTOMER_JOBS_MAX */
    uint64_t used;     /* the last number that a job had, as something knows that outlives the rows; 0: nothing does */
    /* Jobs are offered to all of these at once, or to those that their Pools names; the first claim that is decided has the job, and the
     * others are aborted. 0: to `matchmaker` alone. */
    const struct customer_pool *pools;
    uint32_t pool_count;
};

extern const struct role_kind customer_role; /* settings: struct customer_settings; role: struct customer */

enum job_state {
    JOB_IDLE,
    JOB_RUNNING, /* recorded under a claim, whether or not it has been started yet */
    JOB_DONE,
    JOB_HELD,
    JOB_REMOVED,
    JOB_ABORTED,   /* it waited longer than it may */
    JOB_FORGOTTEN, /* only on disk */
};

/* How far a claim is, of which it is the root. */
enum root_state {
    ROOT_VERIFYING,
    ROOT_COMMITTING,
    ROOT_ACTIVATING, /* decided, and recorded */
    ROOT_STARTING,
    ROOT_RUNNING,
    ROOT_ENDING,    /* being released: its job may run elsewhere when every member is gone */
    ROOT_ATTACHING, /* after a restart */
};

struct job_view {
    uint64_t id, shape;
    uint64_t index; /* in its submission: 0, 1, ... */
    enum job_state state;
    bool rooted;                  /* a claim has it: */
    enum root_state root;         /* how far that is */
    uint64_t gang, claim, number; /* where it runs, or ran last; the claim is that of the member with the job */
    agent member;
    struct key pass;  /* of the gang that has it (duty.h); none: a pair has it, or nobody */
    uint64_t tries;   /* that failed */
    uint64_t begun;   /* how often it was given to a claim */
    uint32_t in_vain; /* so many claims in turn have come to nothing: it was not started, or not by its own fault */
    int64_t rests;    /* therefore it is offered again then, on the clock that does not jump; 0: it does not rest */
    int64_t submitted, changed; /* seconds, on the wall clock */
    enum reason reason;         /* of its end, or of its being held */
    enum reason refused;        /* of one that waits: why no matchmaker takes its request; OK: one does, or may yet */
    int64_t status;
    const char *owner;     /* lent */
    const struct tree *ad; /* lent: what was submitted */
    uint64_t workflow;     /* the smallest number of a job of its workflow, which that is called by; 0: it is of none */
    const struct tree *node; /* of a workflow, lent: Node, After */
    bool blocked;            /* it waits for others of its workflow ... */
    bool stuck;              /* ... none of which will move by itself */
    bool kept;               /* its workflow is not over: it is not to be forgotten */
};

typedef void customer_job_fn(void *user, const struct job_view *job);
void customer_each(const struct customer *customer, customer_job_fn *fn, void *user);
bool customer_job(const struct customer *customer, uint64_t id, struct job_view *ret);
/* The job with the smallest number above that one; false when there is none. */
bool customer_next(const struct customer *customer, uint64_t after, struct job_view *ret);
uint64_t customer_count(const struct customer *customer); /* jobs that are not forgotten */
uint64_t customer_last(const struct customer *customer);  /* the last number that was given to a job; 0: none was */
uint64_t customer_queued(const struct customer *customer,
                         const char *owner); /* jobs of that owner that have not ended */

/* Those that a job which is blocked waits for, in the order of its After; false: enough. */
struct parent_view {
    const char *name; /* lent, without a NUL */
    size_t len;
    bool failed, removed; /* a job of it has, and is not to be tried again */
    bool missing;         /* there is no node of that name */
};
typedef bool customer_parent_fn(void *user, const struct parent_view *parent);
void customer_parents(const struct customer *customer, uint64_t job, customer_parent_fn *fn, void *user);

/* The jobs of the node of that name in a job's workflow: so many from `first` on. False: there is none. */
bool customer_node(const struct customer *customer, uint64_t job, const char *name, size_t len, uint64_t *ret_first,
                   uint64_t *ret_count);

struct root_view {
    uint64_t gang, claim; /* of its first member */
    enum root_state state;
    uint64_t shape, job, number, epoch;
    agent member;
    int64_t lease; /* margin included: then the member is given up */
};

typedef void customer_root_fn(void *user, const struct root_view *root);
void customer_each_root(const struct customer *customer, customer_root_fn *fn, void *user);

#ifdef __cplusplus
}
#endif
#endif
