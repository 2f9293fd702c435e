/* customer_parts.h: the inside of a customer, shared by its files.
 *
 *     customer.c   the step: what came is handed to the right part
 *     queue.c      jobs and their shapes: submitted, advertised, held, removed, ended
 *     roots.c      claims of which it is the root, from the match to the release
 *
 *     shape 1 --- jobs (idle ones in a list, first come first served)
 *       |         ^ at most one root has a job
 *       +-------- roots --- branches */
#ifndef BERTH_POOL_CUSTOMER_PARTS_H
#define BERTH_POOL_CUSTOMER_PARTS_H

#include "base/map.h"
#include "pool/advert.h"
#include "pool/crew.h"
#include "pool/customer.h"
#include "pool/timers.h"

enum customer_timer {
    TIMER_SHAPE, /* its ad is sent or renewed; `which` is its place */
    TIMER_ROOT,  /* what is due of a claim; `which` is its gang */
};

struct root;

struct job {
    uint64_t id;
    struct shape *shape;
    enum job_state state;
    uint64_t gang, claim, number; /* where it runs, or ran last ... */
    agent member;                 /* ... and who has it there */
    uint64_t tries;               /* that failed */
    enum reason reason;
    int64_t status;
    struct root *root;          /* that may be running it; NULL: none can */
    struct job *before, *after; /* in its shape's list while it waits */
    bool waits;
    uint64_t stored;
};

struct shape {
    uint64_t id;
    uint32_t place;
    struct text owner;
    struct tree *ad;          /* held; without a count */
    struct job *first, *last; /* that wait */
    int64_t waiting, pending; /* jobs that wait; claims on their way to one */
    int64_t retries;          /* of a job that fails */
    struct advert advert;
    bool dirty;   /* the count has moved */
    int64_t rest; /* not to be advertised before, so that a rush is one update */
    int64_t set;  /* the earliest timer that is set */
    uint64_t stored;
};

struct root {
    uint64_t gang;
    struct shape *shape;
    struct job *job; /* NULL before the decision, and between jobs */
    uint64_t number; /* of its jobs so far */
    enum root_state state;
    int64_t until;  /* VERIFYING: the window's end */
    int64_t began;  /* COMMITTING: the first commit */
    int64_t active; /* since the decision */
    bool pending;   /* counted in its shape */
    struct crew crew;
    uint64_t stored;
    int64_t set; /* the earliest timer that is set */
};

struct submission {
    struct text owner, key;
    struct shape *shape;
    uint64_t first, count, stored;
};

struct customer {
    const struct customer_settings *settings;
    const struct spans *spans;
    struct map jobs;   /* id -> struct job */
    struct map places; /* id of a shape, and of its ad -> its place */
    struct map shapes; /* hash of what it says -> struct shape (the first of that hash) */
    struct shape **shape_list;
    uint32_t shape_count, shape_room;
    struct map keys;   /* hash of owner and key -> struct submission */
    struct map owners; /* hash of the name -> jobs that are not at an end */
    struct map gangs;  /* gang -> struct root */
    struct map claims; /* claim -> struct root */
    struct timers timers;
    uint64_t last_job; /* the largest id */
    uint64_t starts, stored;
    bool booted;
    int64_t woken;
};

struct customer_step {
    struct customer *customer;
    const struct role_env *env;
    struct effects *effects;
};

/* queue.c */
void queue_init(struct customer *customer);
void queue_done(struct customer *customer);
void queue_load(const struct customer_step *step, const struct record *record);
void queue_boot(const struct customer_step *step);
void queue_submit(const struct customer_step *step, const struct event *event);
void queue_control(const struct customer_step *step, const struct event *event);
struct job *job_find(const struct customer *customer, uint64_t id);
struct shape *shape_find(const struct customer *customer, uint64_t id);
void shape_changed(const struct customer_step *step, struct shape *shape);
void shape_due(const struct customer_step *step, uint32_t place);
void shape_answer(const struct customer_step *step, uint64_t place, const struct event *event);
struct job *shape_next(struct shape *shape); /* the job that has waited longest; NULL: none */
/* The job runs under a claim, waits again, or has ended: recorded at once. */
void job_assign(const struct customer_step *step, struct job *job, struct root *root);
void job_requeue(const struct customer_step *step, struct job *job);
void job_result(const struct customer_step *step, struct job *job, const struct result *result);

/* roots.c */
void roots_done(struct customer *customer);
void root_load(const struct customer_step *step, const struct record *record);
void roots_boot(const struct customer_step *step);
void root_matched(const struct customer_step *step, const struct event *event);
void root_due(const struct customer_step *step, uint64_t gang);
void root_answer(const struct customer_step *step, const struct event *event);
void root_end(const struct customer_step *step, struct root *root); /* what it claims is released */
void root_beat(const struct customer_step *step, const struct event *event);
void root_asked(const struct customer_step *step, const struct event *event);
void root_result(const struct customer_step *step, const struct event *event);
void root_left(const struct customer_step *step, const struct event *event);

#endif
