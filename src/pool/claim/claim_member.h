/* claim_member.h: an edge of a gang downwards: what a superior says to one subordinate, and what it hears.
 *
 *     VERIFYING -> VERIFIED -> COMMITTING -> PINNED -> ACTIVATING -> ACTIVE -> STARTING -> STARTED
 *                                                          ^------- used again -------------'
 *     ATTACHING, after a restart, ends in PINNED, ACTIVE or STARTED.     From anywhere: RELEASING -> GONE.
 *
 * States in -ING say something, again and again, until it is answered; the others wait to be told to go on. */
#ifndef BERTH_POOL_CLAIM_CLAIM_MEMBER_H
#define BERTH_POOL_CLAIM_CLAIM_MEMBER_H

#include "pool/claim/duty.h"

#ifdef __cplusplus
extern "C" {
#endif

enum claim_member_state {
    CLAIM_MEMBER_VERIFYING,
    CLAIM_MEMBER_VERIFIED,
    CLAIM_MEMBER_COMMITTING,
    CLAIM_MEMBER_PINNED,
    CLAIM_MEMBER_ACTIVATING,
    CLAIM_MEMBER_ACTIVE,
    CLAIM_MEMBER_STARTING,
    CLAIM_MEMBER_STARTED,
    CLAIM_MEMBER_ATTACHING,
    CLAIM_MEMBER_RELEASING,
    CLAIM_MEMBER_GONE,
};

#define CLAIM_MEMBER_TAGS 8 /* the tags of its messages are 1 more than multiples of this */
#define CLAIM_MEMBER_TAG 1
#define CLAIM_MEMBER_DEPTH_MAX 16

struct claim_member {
    uint64_t claim;
    uint64_t agent;
    uint64_t offer;
    uint64_t depth;      /* levels below it: they may outlive it by a lease each */
    uint64_t port, link; /* our port that it docks at, and its own that it docks by */
    uint64_t place;      /* among all of its crew */
    bool dropped;        /* it was lost, and the gang goes on without it: it is released, or gone */
    struct key ticket;
    struct key pass;      /* the gang's, at its root (duty.h); else none */
    struct tree *ad;      /* held: the subordinate's, as last heard */
    struct edges *below;  /* held: those who run the job further below it, as the matchmaker has told; or NULL */
    struct tree *receipt; /* held: the matchmaker's for it, handed to it with VERIFY; or NULL */
    enum claim_member_state state;
    uint64_t epoch, sequence;
    bool attached;           /* its heart beats are acknowledged */
    int64_t lease;           /* margin included: then it is gone */
    int64_t alive;           /* then it has been silent for too long: the gang ends, though it may still run */
    bool proves;             /* it has challenged us ... */
    struct key nonce, proof; /* ... and this is ours, and the proof ... */
    uint64_t channel;        /* ... on that channel */
    bool active;             /* it has acknowledged an activation */
    uint64_t number, job;    /* what it started last, as it says when it is attached */
    uint32_t flight, flights;
    int64_t due, pause;
};

/* What the gang is about. */
struct docked;
struct claim_member_errand {
    const struct role_env *env;
    const struct spans *spans;
    struct effects *effects;
    uint64_t gang, job, number;
    struct tree *ad;            /* the superior's, or that of the unit */
    const struct docked *above; /* who is docked at the link of the superior itself; NULL at the root */
    struct text root_owner;     /* of the job; empty at the root, where it is the ad's */
    struct duty duty;           /* the superior's own; all is borrowed */
    bool executes;              /* the superior runs the job itself: nobody below it leads */
    struct duty hand;           /* what the branch at hand gets of it: filled in by crew_run, its ad held */
    bool again;                 /* the claim is used again: activate for that ad */
    int64_t collect;            /* a commit's time to collect */
    uint64_t after;             /* the persist that what we say stands behind */
};

/* What an answer brought. */
enum claim_member_news {
    CLAIM_MEMBER_SAME,    /* nothing new; perhaps it is said again */
    CLAIM_MEMBER_REACHED, /* the state behind the -ING */
    CLAIM_MEMBER_BUSY,    /* somebody else is being verified there */
    CLAIM_MEMBER_REFUSED,
    CLAIM_MEMBER_LOST, /* it is gone */
};

/* The clock that leases are counted on: the one that does not jump. */
int64_t lease_clock(const struct role_env *env);

/* `below`: all of whom the superior was told, or NULL. */
void claim_member_init(struct claim_member *branch, const struct edge *edge, const struct edges *below);
void claim_member_done(struct claim_member *branch);

/* Goes on to a state in -ING: what it has to say is due now. */
void claim_member_go(struct claim_member *branch, int64_t now, enum claim_member_state state);

/* Is anything being said in this state? */
static inline bool claim_member_speaks(const struct claim_member *branch)
{
    return branch->state == CLAIM_MEMBER_VERIFYING || branch->state == CLAIM_MEMBER_COMMITTING ||
           branch->state == CLAIM_MEMBER_ACTIVATING || branch->state == CLAIM_MEMBER_STARTING ||
           branch->state == CLAIM_MEMBER_ATTACHING || branch->state == CLAIM_MEMBER_RELEASING;
}

/* Says what is due; returns when to look again. The token of what it sends is the claim. */
int64_t claim_member_run(struct claim_member *branch, const struct claim_member_errand *errand);

/* The answer, if it is to what is being said now. */
enum claim_member_news claim_member_answer(struct claim_member *branch, const struct claim_member_errand *errand,
                                           const struct event *event);

/* An abort, once: whoever does not hear it asks, or lets its pin run out. */
void claim_member_abort(const struct claim_member *branch, struct effects *effects);

/* It has shown that it lives: from now on for a lease and the margin. */
void claim_member_lives(struct claim_member *branch, const struct role_env *env, const struct spans *spans);

#ifdef __cplusplus
}
#endif
#endif
