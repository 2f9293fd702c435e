/* customer.h: the agent of users with jobs: a durable queue, and the root of the claims that its jobs run under.
 *
 * Jobs that are equal share a *shape*; shapes that differ in what is for the start of their jobs alone share a request, which is an ad with a count. A match begins a claim. When all members are
 * pinned in time, a job is taken from the queue, the decision is made durable, and the claim is activated; the job starts when the
 * way is free. A claim that has done its job does the next of its shape, or is released.
 *
 *     IDLE -decided-> RUNNING -result-> DONE -> forgotten, when the world has recorded it
 *      |  ^---- claim lost, or failed and to be tried again ----'        any but DONE: held, removed; IDLE: aborted, when it has waited too long
 *
 * A job whose Universe is "local" is offered to no pool: the world runs it on the customer's own host, and tells the role when it begins and how it
 * ends. One that was running when the customer ended waits again.
 *
 * A *workflow* is several submissions that wait for each other, its *nodes*: the jobs of a node are not advertised before all jobs of the nodes
 * that it names have ended well. Being blocked is not recorded: it follows from the results, which are durable. No job of a workflow is
 * forgotten while the workflow has a job that has neither ended well nor been removed. */
#ifndef BERTH_POOL_CUSTOMER_CUSTOMER_H
#define BERTH_POOL_CUSTOMER_CUSTOMER_H

#include "pool/protocol/job_trace.h"
#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUSTOMER_JOBS_MAX 100000        /* queued, of one owner, unless the settings say otherwise */
#define CUSTOMER_SUBMIT_MAX 100000      /* of one submission */
#define CUSTOMER_AGAIN_MAX 1000         /* tries of a job that is run until it says that it is over; then it is held */
#define CUSTOMER_CHECKPOINTS_MAX 100000 /* the same of one that is begun again by its CheckpointExitCode */
#define CUSTOMER_RETRIES 0              /* for a job that does not say MaxRetries */
#define CUSTOMER_NODE_MAX 255           /* bytes of the name of a node */

struct customer;

#define CUSTOMER_POOLS_MAX 16

/* A pool that jobs are offered to. */
struct customer_pool {
    agent matchmaker;
    const char *name; /* a job asks for the pool by this name, in its list Pools */
};

struct customer_settings {
    agent self, matchmaker;
    const struct spans *spans;
    uint64_t jobs_max;  /* of one user; 0: CUSTOMER_JOBS_MAX */
    uint64_t jobs_all;  /* of all users together; 0: as many as come */
    uint32_t jobs_step; /* of one ad that are made in one step (making.c); 0: all of them */
    uint64_t used;      /* the last number that a job had, by a record that outlives the rows; 0: not known */
    /* Jobs are offered to all of these at once, or to those that their Pools names; the first claim that is decided gets the job, and the
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
    JOB_ABORTED,   /* the job waited longer than it may, or until its time was over */
    JOB_FORGOTTEN, /* only on disk */
};

/* Jobs as they are counted. */
enum jobs_as {
    JOBS_NOT,
    JOBS_WAITING,
    JOBS_BLOCKED, /* by others of its workflow, or because its submission is not whole */
    JOBS_CLAIMED, /* it is recorded under a claim */
    JOBS_LOCAL,   /* it runs on the customer's own host */
    JOBS_GOOD,    /* it has ended, with status 0 ... */
    JOBS_FAILED,  /* ... or otherwise */
    JOBS_HELD,
    JOBS_REMOVED,
    JOBS_ABORTED,
    JOBS_COUNT
};

/* How far a claim is of which the customer is the root. */
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
    uint64_t first; /* job of the ad with which it was submitted */
    uint64_t index; /* in its submission, or from the Index of its ad on: 0, 1, ... */
    enum job_state state;
    bool rooted;                  /* a claim has the job ... */
    enum root_state root;         /* ... and is this far */
    uint64_t gang, claim, number; /* where the job runs, or ran last; the claim is that of the member with the job */
    agent member;
    struct key pass;  /* of the gang that has the job (duty.h); none: a pair has it, or nobody */
    uint64_t tries;   /* tries that failed */
    uint64_t begun;   /* how often the job was given to a claim */
    uint32_t in_vain; /* claims in a row that came to nothing: the job was not started, or it is not to blame */
    bool early;       /* the NotBefore of a waiting job has not come ... */
    int64_t begins;   /* ... and is at this second of the wall clock */
    int64_t rests;    /* so it is offered again only then, on the clock that does not jump; 0: it does not rest */
    int64_t submitted, changed; /* seconds, on the wall clock */
    enum reason reason;         /* why the job ended, or is held */
    uint32_t turn_room,
        turn_waiting; /* of a waiting job whose turn to be offered has not come: how many requests the pool takes, how many wait; else 0 */
    int64_t claiming; /* of a waiting job: claims on their way to it and jobs like it ... */
    int64_t alike;    /* ... and how many of those wait */
    uint32_t
        rejected; /* of a waiting job: claims in a row for it and jobs like it that came to nothing before one was given to them ... */
    enum reason rejected_for; /* ... why the last of them did ... */
    const char *rejected_by;  /* ... and at which machine; lent; NULL: not known */
    enum reason refused;      /* of a waiting job: why no matchmaker takes its request; OK: one does, or may yet */
    /* Of a waiting job: a matchmaker has planned it to begin by then, on the clock that does not jump (INT64_MAX: none has), at that machine (NULL: it did
     * not say); it is to say so again by the second of these. */
    int64_t planned, planned_until;
    const char *planned_on; /* lent */
    int64_t status;
    const char *owner;       /* lent */
    const struct tree *ad;   /* lent: what was submitted */
    bool local;              /* the job runs on the customer's own host, without a claim */
    uint64_t workflow;       /* the workflow's name: the smallest number among its jobs; 0: the job is in none */
    const struct tree *node; /* of a workflow, lent: Node, After */
    bool blocked;            /* the job waits for others of its workflow ... */
    bool stuck;              /* ... none of which will move by itself */
    bool kept;               /* its workflow is not over: the job must not be forgotten */
    struct job_trace trace;  /* of its submission; or none */
};

typedef void customer_job_fn(void *user, const struct job_view *job);
void customer_each(const struct customer *customer, customer_job_fn *fn, void *user);
bool customer_job(const struct customer *customer, uint64_t id, struct job_view *ret);
/* The job with the smallest number above that one; false when there is none. */
bool customer_next(const struct customer *customer, uint64_t after, struct job_view *ret);
/* The same of the jobs of that owner alone: of others there may be any number. */
bool customer_next_of(const struct customer *customer, const char *owner, uint64_t after, struct job_view *ret);
/* How many jobs from that one on, up to `last`, are alike: of one submission, waiting, and nothing has happened to any of them. There may be more; 0: the
 * first is not so. */
uint64_t customer_alike(const struct customer *customer, uint64_t id, uint64_t last);
/* The same of jobs that may differ, of one owner: they stand alike (in their state, in why no pool takes their requests, and in whether they run on the customer's own host), so that one counts for all. */
uint64_t customer_stand_alike(const struct customer *customer, uint64_t id, uint64_t last);
uint64_t customer_count(const struct customer *customer);                    /* jobs that are not forgotten ... */
uint64_t customer_counted(const struct customer *customer, enum jobs_as as); /* ... and those in that state */
uint64_t customer_stuck(const struct customer *customer); /* of the blocked, those that will not move by themselves */
uint64_t customer_ended_since(const struct customer *customer); /* jobs that EVENT_ENDED has ended */
uint64_t customer_last(const struct customer *customer); /* the last number that was given to a job; 0: none was */
/* Is there a submission of that owner under that key? */
bool customer_knows_key(const struct customer *customer, const char *owner, const char *key);
uint64_t customer_bytes(const struct customer *customer,
                        const char *owner); /* that the ads of its jobs take, of its whole account */
uint64_t customer_queued(const struct customer *customer,
                         const char *owner); /* jobs of that owner that have not ended */

/* What was submitted together with a job, under one key: the ads KEY/0, KEY/1, ... of one request. */
struct submission_view {
    const char *key; /* lent, and without a NUL: only KEY */
    size_t key_len;
    uint64_t first, last; /* the numbers of its jobs, as far as they are remembered */
    uint64_t ads;         /* so many of its ads are remembered ... */
    bool whole;           /* ... from the first on */
};
bool customer_submission(const struct customer *customer, uint64_t job, struct submission_view *ret);

/* The nodes that a blocked job waits for, in the order of its After. The callback returns false when it has seen
 * enough. */
struct parent_view {
    const char *name; /* lent, without a NUL */
    size_t len;
    bool failed, removed; /* a job of this node has, and is not to be tried again */
    bool missing;         /* there is no node of that name */
};
typedef bool customer_parent_fn(void *user, const struct parent_view *parent);
void customer_parents(const struct customer *customer, uint64_t job, customer_parent_fn *fn, void *user);

/* The jobs of the node of that name in a job's workflow: `count` of them from `first` on. False: there is no such
 * node. */
bool customer_node(const struct customer *customer, uint64_t job, const char *name, size_t len, uint64_t *ret_first,
                   uint64_t *ret_count);

/* The members that run a job that several run: which agent, what its machine is called, in the order of their numbers. Returns how many there are; 0: one
 * alone runs it, or nobody now. At most `room` are filled in. */
struct member_view {
    agent who;
    uint64_t claim;
    const char *name; /* lent, without a NUL */
    size_t name_len;
};
uint32_t customer_members(const struct customer *customer, uint64_t job, struct member_view *ret, uint32_t room);

/* The job that a claim is to have next, as EVENT_AHEAD has promised it and as long as it waits; 0: none. */
uint64_t customer_ahead(const struct customer *customer, uint64_t claim);

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
