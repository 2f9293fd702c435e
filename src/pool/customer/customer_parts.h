/* customer_parts.h: the inside of a customer, shared by its files.
 *
 *     customer.c   the step: passes each event to the right part
 *     shapes.c     requests: what each pool is told
 *     shape_request.c  what of a job's ad they say
 *     shape_times.c  the times before and after which they are not offered
 *     pools.c      offering jobs to several pools
 *     turns.c      offering them by turns, where a pool takes fewer requests than there are
 *     queue.c      jobs: waiting, assigned, ended, held, removed, forgotten
 *     submissions.c  jobs as they come, and what outlives a restart
 *     forgetting.c what is left of them when their jobs are gone goes, too
 *     making.c     the same where they are very many at once: in several steps
 *     owners.c     the submissions of each owner
 *     counts.c     how many jobs are in each state
 *     batch.c      submissions that begin together
 *     workflow.c      workflows: submissions that wait for each other
 *     customer_claims.c      claims of which the customer is the root, from the match to the release
 *     customer_results.c       what comes of their jobs: results, and members that are lost
 *
 *     shape 1 --- jobs (idle ones in a list at the shape that leads, first come first served)
 *       |         ^ at most one root has a job
 *       +-------- roots --- members */
#ifndef BERTH_POOL_CUSTOMER_CUSTOMER_PARTS_H
#define BERTH_POOL_CUSTOMER_CUSTOMER_PARTS_H

#include "lang/base/map.h"
#include "lang/base/textmap.h"
#include "pool/claim/crew.h"
#include "pool/customer/customer.h"
#include "pool/protocol/advert.h"
#include "pool/protocol/job_trace.h"
#include "pool/protocol/timers.h"

#define JOB_ID_MAX (UINT64_C(1) << 40) /* jobs are counted from 1: a larger number was never one */

enum customer_timer {
    TIMER_SHAPE, /* a shape's ad is sent or renewed; `which` is its place */
    TIMER_ROOT,  /* a claim has something due; `which` is its gang */
    TIMER_JOB,   /* a job has rested; `which` is its id */
    TIMER_TURNS, /* turns are over, or something has changed; `which` is the pool */
    TIMER_LOOK,  /* a long look at who has a turn goes on; `which` is the pool */
};

struct root;
struct submission;

/* How a job of a workflow is counted. */
enum tally { TALLY_OPEN, TALLY_GOOD, TALLY_FAILED, TALLY_REMOVED, TALLY_COUNT };

/* What has happened to a job. Mostly nothing: jobs that wait by the million share one that says so (job_untouched), and get their own by job_past(). */
struct job_past {
    uint64_t gang, claim, number; /* where the job runs, or ran last ... */
    agent member;                 /* ... and which agent has it there */
    uint64_t tries;               /* tries that failed */
    uint64_t begun;               /* how often the job was given to a claim */
    int64_t status;
    int64_t changed;        /* since when the job is in this state: seconds, on the wall clock */
    struct root *root;      /* the root that may be running the job; NULL: none can */
    uint64_t promised;      /* the gang of the claim that is to have it next (ahead.c); 0: none ... */
    int64_t promised_until; /* ... until then */
    int64_t rests; /* because of claims that came to nothing it is offered again only then; 0: it does not rest */
    uint64_t stored;
    uint32_t in_vain; /* claims in a row that came to nothing */
    enum reason reason;
    bool failing; /* its claim comes to nothing, and not because a member was lost */
};

struct job {
    uint64_t id;
    struct shape *shape;
    struct submission *from;
    const struct job_past *past;
    struct job *before, *after;          /* in its shape's list while it waits */
    unsigned char state, tally, counted; /* enum job_state, enum tally, enum jobs_as */
    bool waits;
    bool moves; /* in a workflow: the job waits for a machine, or has one */
    bool fresh; /* it has no row: nothing has happened to it since it was submitted */
};

/* A shape as one pool has it. */
struct shape_pool {
    agent matchmaker;
    bool wanted;         /* the shape is offered to this pool */
    bool dirty;          /* the count has moved */
    int64_t pending;     /* this pool's claims that are on their way to a job */
    bool parked;         /* it is not its turn */
    bool counted;        /* among those that the pool has said it has */
    int64_t since, last; /* since when the pool has it; when it had its last turn (INT64_MIN: it had none) */
    struct advert advert;
};

/* Claims in a row that came to nothing before a job was given to them. */
struct rejection {
    uint32_t count;
    enum reason reason; /* of the last one ... */
    char by[64];        /* ... and the machine's name; "": not known */
};

/* How many requests a pool takes of us. */
#define TURNS_UNLIMITED UINT32_MAX
struct turns {
    uint32_t room;            /* as far as is known */
    uint32_t offered, parked; /* shapes */
    uint32_t taken;           /* that it has said it has */
    uint32_t swaps;           /* how many places may change hands ... */
    int64_t renews;           /* ... until then */
    int64_t set;              /* the timer; INT64_MAX: none */
    struct look *look;        /* that is under way; or NULL */
};

enum needs { NEEDS_NONE, NEEDS_ON_SUCCESS, NEEDS_ALWAYS };

struct shape {
    uint64_t id;
    uint32_t place;
    struct text owner;
    uint64_t owner_hash;
    struct tree *ad;          /* held; without a count */
    struct tree *request;     /* held: what pools are told of it, as of all that its lead leads */
    struct shape *lead;       /* the shape whose request is the same, and is the one that pools have; itself */
    struct job *first, *last; /* jobs that wait */
    int64_t waiting;          /* jobs that wait */
    int64_t retries;          /* how often a failing job is tried again ... */
    int64_t unless;           /* ... but not with this status; -1: with any */
    int64_t success;          /* the status after which it is not tried again */
    bool parallel;            /* its members are processes of one job: the failure of any is the job's */
    bool ends;                /* the job itself says what becomes of it when a try has ended ... */
    bool counts;              /* ... and how often it is tried again */
    enum needs needs;         /* when the outputs that it names have to be there */
    bool local;               /* its jobs run on the customer's own host: no pool is told of them */
    double priority;          /* among those of its owner */
    int64_t patience;         /* seconds that a job may wait, counted from its submission, or from `not_before` */
    int64_t not_before;       /* no job begins before: seconds, on the wall clock; -SHAPE_TIME_NEVER: at any time */
    int64_t finish_by;        /* then a job that waits is given up, likewise; SHAPE_TIME_NEVER: never */
    bool early;               /* as far as is known, `not_before` has not come, or `finish_by` is over */
    uint64_t index;           /* of the first job in its sweep */
    uint64_t uses;            /* by jobs, submissions and roots */
    struct shape_pool *pools;
    uint32_t pool_count;
    struct rejection *rejection; /* NULL: none */
    int64_t told;                /* when the request was last settled: a rush after that is one update */
    bool fresh;                  /* a job was submitted since then */
    int64_t set;                 /* the earliest timer that is set */
    uint64_t stored;
};

struct root {
    uint64_t gang;
    struct shape *shape;
    uint32_t pool;   /* the pool that the match came from */
    struct job *job; /* NULL before the decision, and between jobs */
    uint64_t number; /* how many jobs it has had */
    uint64_t ahead;  /* the job that it is promised next (ahead.c); 0: none */
    enum root_state state;
    int64_t until;   /* VERIFYING: the window's end */
    int64_t began;   /* COMMITTING: the first commit */
    int64_t active;  /* since the decision */
    int64_t started; /* when all members had started its job: seconds, on the wall clock; -1: not yet */
    bool pending;    /* counted in its shape, for its pool */
    struct crew crew;
    struct tree *unit; /* held: the job's own ad; NULL: not made yet */
    uint64_t stored;
    int64_t set; /* the earliest timer that is set */
};

struct submission {
    struct text owner, key;
    struct shape *shape;
    uint64_t first, count;
    uint64_t gone;  /* how many of its jobs, from the first on, are forgotten */
    uint64_t alive; /* how many of all its jobs are not forgotten, made or not ... */
    uint64_t fresh; /* ... and how many of those that are made are fresh */
    uint64_t made;  /* how many of them, from the first on, there are so far, or have been */
    int64_t at;     /* when it was submitted: seconds, on the wall clock */
    int64_t since;  /* the same on the clock that does not jump; after a restart, as good a guess as can be made */
    int64_t ended;  /* on that clock: when its last job was forgotten, or the row was loaded */
    uint64_t stored;
    struct submission *making; /* while its jobs are being made: the next of which they are */
    uint64_t *askers;          /* who wants to be told when all are made */
    uint32_t asker_count, asker_room;
    struct owned *owned;                            /* the list of its owner's; NULL: it is in none yet ... */
    struct submission *owned_before, *owned_behind; /* ... and who is beside it there */
    struct batch *batch;    /* the submissions that begin together with it; NULL: it begins by itself */
    bool begun;             /* with its batch */
    struct job_trace trace; /* by which its jobs are followed through logs; or none */

    /* as a node of a workflow: */
    struct flow *flow;           /* NULL: it is not a node */
    struct tree *node;           /* held */
    uint32_t place;              /* in the workflow */
    uint32_t blocked;            /* how many names in its After are of nodes that are not done */
    bool done;                   /* all jobs have ended well, and the nodes that wait for it know */
    uint64_t tally[TALLY_COUNT]; /* of its jobs */
    uint32_t *children;          /* places of the nodes that wait for it, as often as they name it */
    uint32_t child_count, child_room;
};

/* The submissions of an owner. */
struct owned {
    struct submission *first, *last;
};

/* Submissions that are one for their user: they begin together, and are forgotten together. */
struct batch {
    uint64_t word;
    uint64_t ads;               /* how many there will be */
    uint64_t first, last, next; /* the numbers of their jobs, and of those to come */
    struct submission **items;
    uint32_t count, room, gone; /* `gone`: of the items, those that are forgotten */
    uint32_t over;              /* those of which all jobs are forgotten ... */
    int64_t ended;              /* ... and when the last of them was */
    bool begun;
    bool mixed;   /* they are of several owners */
    bool leaving; /* some are forgotten, the others are about to be */
    uint32_t
        begins; /* so many of the items have begun: where they are very many, some with each wake; the others are still blocked ... */
    uint64_t stored;              /* ... and are asked for when this persist is durable */
    struct batch *next_beginning; /* of those that are beginning */
};

/*     flow --- items: submissions, by place --- children: places       begun: all nodes are here, and who waits for whom is known */
struct flow {
    uint64_t word;
    struct text owner;
    uint64_t first, nodes;
    struct textmap names; /* of nodes -> place */
    struct submission **items;
    uint32_t count, room, gone; /* `gone`: places that are NULL, of submissions that were forgotten */
    uint64_t left;              /* jobs that have neither ended well nor been removed */
    uint64_t moving;            /* jobs that wait for a machine, or have one */
    uint64_t blocked;           /* jobs that wait for others */
    bool begun;
};

struct customer {
    const struct customer_settings *settings;
    const struct spans *spans;
    struct map jobs;           /* id -> struct job */
    struct map places;         /* id of a shape, and of its ad -> its place */
    struct map shapes;         /* hash of owner and ad -> place (of the last shape with that hash) */
    struct map leads;          /* the same of owner and request, of shapes that lead */
    struct shape **shape_list; /* by place; NULL: gone */
    uint32_t shape_count, shape_room;
    struct turns *turns;  /* by pool */
    struct map keys;      /* hash of owner and key -> struct submission */
    struct map stubs;     /* rows of forgotten jobs before which others are not: the first -> the last of its jobs */
    struct map leftovers; /* while loading: rows of forgotten jobs that are not needed any more */
    struct submission **submissions; /* in the order of their jobs' numbers */
    uint32_t submission_count, submission_room;
    uint32_t forget_at, forget_place;         /* forgetting.c: a round begins with so many; it has come so far */
    struct submission *making, **making_end;  /* those whose jobs are being made; and how many ... */
    uint64_t unmade;                          /* ... of their jobs are not yet */
    struct batch *beginning, **beginning_end; /* those whose jobs are beginning to wait */
    struct map owners;                        /* account_hash -> how many jobs have not ended ... */
    struct map sizes;                         /* ... and how many bytes the ads of its jobs take */
    struct map owned;                         /* hash of an owner -> struct owned */
    uint64_t counted[JOBS_COUNT];             /* jobs by state ... */
    bool counts;                              /* ... since all were loaded */
    struct map flows;                         /* word -> struct flow */
    struct map batches;                       /* word -> struct batch */
    struct map gangs;                         /* gang -> struct root */
    struct map claims;                        /* claim -> struct root */
    struct timers timers;
    struct timers shape_timers; /* TIMER_SHAPE: there may be very many, and none of them holds anybody up */
    bool behind;                /* more of them were due than one step settles: wakes see to the rest */
    uint64_t last_job;          /* the largest id */
    uint64_t last_shape;        /* the name that was given last */
    uint64_t ended_since;       /* jobs that have ended since the rows were copied into a backup */
    uint64_t starts, stored;
    bool booted;
    int64_t woken;
};

struct customer_step {
    struct customer *customer;
    const struct role_env *env;
    struct effects *effects;
};

/* customer.c */
void customer_store(const struct customer_step *step); /* the customer's own row */
uint32_t submission_behind(const struct customer *customer,
                           uint64_t id); /* the place of the first with jobs behind that number */
/* Its first job with a larger number than `after`; false: there is none. */
bool submission_job_behind(const struct customer *customer, const struct submission *submission, uint64_t after,
                           struct job_view *ret);

/* The job's place in its sweep, which may be several submissions: 0, 1, ... */
static inline uint64_t job_index(const struct job *job)
{
    return job->shape->index + (job->id - job->from->first);
}

/* shapes.c */
struct shape *shape_at(const struct customer *customer, uint64_t place); /* NULL: it is gone */
uint64_t owner_hash(const struct text *text, uint64_t seed);
uint64_t account_hash(const struct text *owner); /* of the account that the owner counts for */
struct shape *shape_new(struct customer *customer, uint64_t id, const struct text *owner, struct tree *ad);
void shapes_done(struct customer *customer);
void shapes_boot(const struct customer_step *step);
void shapes_again(const struct customer_step *step, agent matchmaker); /* the matchmaker may have begun anew */
struct shape *shape_find(const struct customer *customer, uint64_t id);
struct shape *shape_like(const struct customer *customer, const struct text *owner, const struct tree *ad);
/* The shape of that owner and ad: one that is there, or a new one, which is recorded. */
struct shape *shape_of(const struct customer_step *step, const struct text *owner, struct tree *ad);
void shape_changed(const struct customer_step *step, struct shape *shape);
void shape_submitted(const struct customer_step *step, struct shape *shape); /* the same, by a job that is new */
void shape_due(const struct customer_step *step, uint32_t place);
void shape_answer(const struct customer_step *step, uint64_t token, const struct event *event);
struct shape_pool *shape_pool(const struct shape *shape, agent matchmaker); /* NULL: not one of its pools */
void shape_disown(const struct customer_step *step, struct shape *shape, struct shape_pool *pool);
enum reason shape_refused(const struct shape *shape); /* why no pool takes its request; OK: one does, or may yet */

/* rejections.c */
void rejection_add(struct shape *shape, const struct claim_member *by, enum reason reason); /* `by` may be NULL */
void rejection_heard(struct root *root, const struct claim_member *member, const struct event *event);
void rejection_late(struct root *root); /* the claim's time is up */
void rejection_forget(struct shape *shape);

/* shape_request.c */
struct tree *shape_request(struct tree *ad); /* the caller unrefs it */

/* shape_times.c */
#define SHAPE_TIME_NEVER (INT64_C(1) << 40) /* seconds: no time of an ad is further from 1970 */
int64_t shape_time(const struct tree *ad, const char *attribute, int64_t otherwise);
/* When that second of the wall clock comes, as far as is known, on the clock that does not jump; INT64_MAX: never. */
int64_t shape_time_comes(const struct customer_step *step, int64_t second);
/* Looks at the clock: may its jobs begin now, have those that wait waited too long? Returns when to look again. */
int64_t shape_look(const struct customer_step *step, struct shape *shape);

/* turns_look.c */
void turns_look(const struct customer_step *step, uint32_t pool); /* begins a look, or goes on with it: TIMER_LOOK */
void look_free(struct look *look);                                /* takes NULL */

/* pools.c */
bool customer_knows(const struct customer *customer, agent who);
struct root *root_pending(const struct customer_step *step, const struct shape *shape, uint32_t pool);
struct job *job_taken(const struct customer_step *step, const struct shape *shape);

/* turns.c */
void turns_init(struct customer *customer);
double turns_priority(const struct tree *ad); /* what the ad says of its place among its owner's */
struct turns *turns_of(const struct customer *customer, uint32_t pool);
void turns_done(struct customer *customer);
void turns_due(const struct customer_step *step, uint32_t pool); /* TIMER_TURNS */
void turns_set(const struct customer_step *step, uint32_t pool, int64_t at);
/* Has the pool refused it because of its limit, and not been believed yet? */
bool turns_refused(const struct shape_pool *pool);
/* The pool has no place for it now: it is parked, and is not refused for its own sake. */
void turns_refuse(const struct customer_step *step, struct shape *shape, uint32_t pool);
/* A look is over, at so many requests that want a place. */
void turns_looked(const struct customer_step *step, uint32_t pool, uint32_t wishes);
/* May that pool have the shape's request? If not, it is parked. */
bool turns_admit(const struct customer_step *step, struct shape *shape, uint32_t pool);
/* The request is wanted there, or is not any more; `before`: it was. */
void turns_offered(const struct customer_step *step, struct shape *shape, uint32_t pool, bool before);
void turns_answered(const struct customer_step *step, struct shape *shape, uint32_t pool); /* by the matchmaker */
void turns_unpark(const struct customer_step *step, struct shape *shape, uint32_t pool);   /* it wants no place */
/* Does the shape wait for its turn in all its pools? Then how many the first takes, and how many wait for that. */
bool turns_waits(const struct customer *customer, const struct shape *shape, uint32_t *ret_room, uint32_t *ret_parked);

bool turns_valid(const struct customer *customer);

/* submissions.c */
void submissions_done(struct customer *customer);
void queue_submit(const struct customer_step *step, const struct event *event);
void queue_load(const struct customer_step *step, const struct record *record);
void queue_boot(const struct customer_step *step);
/* Jobs of it are forgotten: those with rows one by one, those without up to `last`. */
void submission_lost(const struct customer_step *step, struct submission *submission, uint64_t first, uint64_t last,
                     bool has_row);

void reply_submitted(const struct customer_step *step, uint64_t token, enum reason reason,
                     const struct submission *submission);

/* Drops submissions whose batch has not begun: before anything else is done with what was loaded. */
void submissions_drop_cut(const struct customer_step *step);
struct submission *submission_find(const struct customer *customer, const struct text *owner, const struct text *key);
void submission_remove(const struct customer_step *step, struct submission *submission); /* none of its jobs is left */

/* forgetting.c */
bool submission_is_leaving(const struct submission *submission);
void submissions_forget_some(const struct customer_step *step); /* none or a few of those that may go */
void submissions_forget_all(const struct customer_step *step);  /* every one */
/* Before a submission is looked at: what is left of a leaving batch with its key or word goes. */
void submissions_make_way(const struct customer_step *step, const struct submit *submit);

/* making.c */
bool making_is_long(const struct customer *customer, const struct submission *submission);
void making_begin(struct customer *customer, struct submission *submission);
void making_ask(struct submission *submission, uint64_t token); /* is answered when its jobs are made */
void making_step(const struct customer_step *step);             /* makes some more */
static inline bool submission_is_made(const struct submission *submission)
{
    return submission->made == submission->count;
}

/* batch.c */
void batches_done(struct customer *customer);
bool batch_fits(const struct customer *customer, uint64_t word, uint64_t ads);
/* The submission becomes one of the batch; batch_fits has said that it fits. */
void batch_join(struct customer *customer, struct submission *submission, uint64_t word, uint64_t ads);
bool batch_has_room(const struct customer *customer, const struct submit *submit); /* does this one fit as well? */
uint64_t batch_number(struct customer *customer, const struct submit *submit,
                      struct batch *batch);                                 /* of its first job */
struct batch *batch_find(const struct customer *customer, uint64_t word);   /* NULL: none */
void batch_leave(struct customer *customer, struct submission *submission); /* the submission is forgotten */
bool batch_is_whole(const struct batch *batch);
/* All are here: their jobs wait for machines from now on. Their requests must not be sent before the persist `stored` is durable. */
void batch_begin(const struct customer_step *step, struct batch *batch, uint64_t stored);
void batches_step(const struct customer_step *step); /* begins some more */
bool batch_is_beginning(const struct batch *batch);
void batches_boot(const struct customer_step *step); /* those that are not whole are dropped */

/* workflow.c */
void flows_done(struct customer *customer);
bool flow_fits(const struct customer *customer, uint64_t word, uint64_t nodes, const struct tree *node,
               const struct text *owner);
/* The submission becomes the node that `node` describes; flow_fits has said that it fits. */
void flow_join(struct customer *customer, struct submission *submission, uint64_t word, uint64_t nodes,
               struct tree *node);
void flow_count(struct submission *submission);                            /* it is new, and its jobs are made */
void flow_leave(struct customer *customer, struct submission *submission); /* the submission is forgotten */
/* All nodes are here: those that wait for nobody are let go. */
void flow_begin(const struct customer_step *step, struct flow *flow);
void flows_boot(
    const struct customer_step *step); /* counts what follows from the jobs that were loaded; before any job waits */
void flow_tally(const struct customer_step *step, struct job *job); /* after the job was recorded */
void flow_moves(struct job *job);                                   /* it may have begun to wait or run, or stopped */
int64_t flow_since(const struct customer *customer, const struct submission *submission); /* it waits: wall, seconds */
bool flow_is_whole(const struct flow *flow);
static inline bool job_is_blocked(const struct job *job)
{
    const struct submission *from = job->from;

    return from && ((from->batch && !from->begun) || (from->flow && (!from->flow->begun || from->blocked)));
}

/* counts.c */
enum jobs_as job_counted_as(const struct job *job);
void job_count(struct customer *customer, struct job *job);   /* it has changed */
void job_uncount(struct customer *customer, struct job *job); /* it is about to go */
void counts_boot(struct customer *customer);                  /* all are loaded */
bool counts_valid(const struct customer *customer);

/* owners.c */
void submission_own(struct customer *customer, struct submission *submission);    /* its number is known */
void submission_disown(struct customer *customer, struct submission *submission); /* it is about to go */
void owners_boot(struct customer *customer);                                      /* all are loaded, and in order */
void owners_done(struct customer *customer);
bool owners_valid(const struct customer *customer);

/* queue.c */
void queue_control(const struct customer_step *step, const struct event *event);
void queue_forget(const struct customer_step *step, const struct event *event);
void queue_drop(const struct customer_step *step, const struct event *event);
void queue_ended(const struct customer_step *step, const struct event *event);
void queue_local(const struct customer_step *step, const struct event *event);
struct job *job_new(struct customer *customer, uint64_t id, struct shape *shape);
void job_delete(struct job *job);           /* it is in no list any more */
struct job_past *job_past(struct job *job); /* its own, to be written */
int64_t job_changed(const struct job *job); /* since when it is in this state */
struct job *job_find(const struct customer *customer, uint64_t id);
bool job_ended(const struct job *job);
void owner_count(struct customer *customer, const struct text *owner, int64_t more);
struct job *shape_next(const struct shape *shape); /* the job that has waited longest; NULL: none, or not yet */
void job_wait(struct customer *customer, struct job *job, bool first);
void job_give_up(const struct customer_step *step, struct job *job, enum reason why); /* the job has waited too long */
/* The job runs under a claim, waits again, or has ended: recorded at once. */
void job_assign(const struct customer_step *step, struct job *job, struct root *root);
void job_rested(const struct customer_step *step, uint64_t id); /* TIMER_JOB */
void job_requeue(const struct customer_step *step, struct job *job);
void job_spoiled(const struct customer_step *step, struct job *job, const struct result *result); /* by a helper */
void job_result(const struct customer_step *step, struct job *job, const struct result *result);

/* ending.c: what the job itself says of its end */
enum ending { ENDING_USUAL, ENDING_DONE, ENDING_AGAIN, ENDING_HELD, ENDING_CHECKPOINT };
bool ending_is_said(const struct tree *ad);
enum needs ending_needs(const struct tree *ad);
/* Is the job held because this try, its last, lacks outputs? `failed`: it did not end with success. */
bool ending_lacks(const struct job *job, const struct result *result, bool failed);
enum ending ending_of(const struct customer_step *step, const struct job *job, const struct result *result);

/* customer_claims.c */
struct root *root_of(const struct map *map, uint64_t key); /* NULL: none */
bool root_is_gang(const struct root *root);                /* does more than one member work on its job? */
struct claim_member_errand root_errand(const struct customer_step *step, struct root *root);
/* Gives the waiting job to this claim: that is durable before anybody is told. */
void root_take(const struct customer_step *step, struct root *root, struct job *job);
void root_continue(const struct customer_step *step, uint64_t gang); /* goes on while it can; then sends what is due */
/* The member of that claim, if the sender is its subordinate; else NULL. */
struct claim_member *claim_member_heard(const struct customer_step *step, const struct event *event, uint64_t claim,
                                        struct root **ret_root);
void reply_root(const struct customer_step *step, const struct event *event, uint64_t claim, enum reason reason,
                uint64_t after);
void roots_done(struct customer *customer);
void root_load(const struct customer_step *step, const struct record *record);
void roots_boot(const struct customer_step *step);
void root_matched(const struct customer_step *step, const struct event *event);
void root_due(const struct customer_step *step, uint64_t gang);
void root_answer(const struct customer_step *step, const struct event *event);
void root_end(const struct customer_step *step, struct root *root); /* releases all that it claims */
void root_beat(const struct customer_step *step, const struct event *event);
void root_asked(const struct customer_step *step, const struct event *event);
void root_tasked(const struct customer_step *step, const struct event *event);
void root_left(const struct customer_step *step, const struct event *event);

/* ahead.c */
/* The job that the claim is to have now: the promised one, or the one that has waited longest; NULL: none, or not yet. Its promise is over. */
struct job *root_choose(const struct customer_step *step, struct root *root);
void root_promise(const struct customer_step *step, const struct event *event);

/* customer_results.c */
void root_loses(const struct customer_step *step, struct root *root,
                struct claim_member *member); /* the gang ends, or goes on without it */
/* Handles all lost members: does the gang go on? `whole`: the gang has been whole: all members have cleared the way. */
bool root_mourn(const struct customer_step *step, struct root *root, bool whole);

/* After a restart: would the gang go on if the members that have not answered yet were lost? */
bool root_bears(const struct customer_step *step, struct root *root);
void root_result(const struct customer_step *step, const struct event *event);

#endif
