/* claim_member.h: an edge of a gang downwards: what a superior says to one subordinate, and what it hears.
 *
 *     VERIFYING -> VERIFIED -> COMMITTING -> PINNED -> ACTIVATING -> ACTIVE -> STARTING -> STARTED
 *                                                          ^------- used again -------------'
 *     ATTACHING, after a restart, ends in PINNED, ACTIVE or STARTED.     From anywhere: RELEASING -> GONE.
 *
 * In states in -ING the superior repeats a message until it is answered; in the others it waits to be told to go on. */
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

/* In what a provider shows of its offer to a claim: the claim's next job may be started without an ACTIVATE before. */
#define AD_STARTS_NEXT "StartsNext"

#define CLAIM_MEMBER_TAGS 8 /* the tags of a member's messages are 1 more than multiples of this */
#define CLAIM_MEMBER_TAG 1
#define CLAIM_MEMBER_DEPTH_MAX 16

struct claim_member {
    uint64_t claim;
    uint64_t agent;
    uint64_t offer;
    uint64_t depth;      /* levels below the member: each may outlive it by another lease */
    uint64_t port, link; /* our port that the member docks at, and its own that it docks by */
    uint64_t place;      /* among all members of its crew */
    bool dropped;        /* the member was lost and the gang goes on without it: it is being released, or gone */
    struct key ticket;
    struct key pass;      /* the gang's, at its root (duty.h); else none */
    struct tree *ad;      /* held: the subordinate's, as last heard */
    struct edges *below;  /* held: the members further below that run the job, as the matchmaker told us; or NULL */
    struct tree *receipt; /* held: the matchmaker's, handed to the member with VERIFY; or NULL */
    enum claim_member_state state;
    uint64_t epoch, sequence;
    bool attached;           /* we acknowledge its heart beats */
    int64_t lease;           /* margin included: then the member is gone */
    int64_t alive;           /* then the member has been silent too long: the gang ends, though it may still run */
    bool proves;             /* the member has challenged us; ... */
    struct key nonce, proof; /* ... our nonce, and the proof, ... */
    uint64_t channel;        /* ... on that channel */
    bool active;             /* the member has acknowledged an activation */
    uint64_t number, job;    /* what the member started last, as it says when it is attached */
    uint32_t flight, flights;
    int64_t due, pause;
};

/* What a superior's messages are about, and what they need. */
struct docked;
struct claim_member_errand {
    const struct role_env *env;
    const struct spans *spans;
    struct effects *effects;
    uint64_t gang, job, number;
    struct tree *ad;            /* the superior's, or the unit's */
    const struct docked *above; /* the superior's own superior, docked at its link; NULL at the root */
    struct text root_owner;     /* of the job at the root; empty at the root itself, where it is the ad's owner */
    struct duty duty;           /* the superior's own; its references are borrowed */
    bool executes;              /* the superior runs the job itself: nobody below it leads */
    struct duty hand;           /* what the present member gets of `duty`: crew_run fills it in and holds its ad */
    bool again;                 /* the claim is used again: activate for that ad */
    int64_t collect;            /* a commit's time to collect */
    uint64_t after;             /* the persist that our messages stand behind */
};

/* What an answer brought. */
enum claim_member_news {
    CLAIM_MEMBER_SAME,    /* nothing new; perhaps the message is repeated */
    CLAIM_MEMBER_REACHED, /* the member has reached the state behind the -ING */
    CLAIM_MEMBER_BUSY,    /* somebody else is being verified there */
    CLAIM_MEMBER_REFUSED,
    CLAIM_MEMBER_LOST, /* the member is gone */
};

/* The clock that leases are counted on: the one that does not jump. */
int64_t lease_clock(const struct role_env *env);

/* `below`: all members further below that the superior was told of, or NULL. */
void claim_member_init(struct claim_member *member, const struct edge *edge, const struct edges *below);
void claim_member_done(struct claim_member *member);

/* Goes on to a state in -ING: its message is due now. */
void claim_member_go(struct claim_member *member, int64_t now, enum claim_member_state state);

/* Does the superior send anything in this state? */
static inline bool claim_member_speaks(const struct claim_member *member)
{
    return member->state == CLAIM_MEMBER_VERIFYING || member->state == CLAIM_MEMBER_COMMITTING ||
           member->state == CLAIM_MEMBER_ACTIVATING || member->state == CLAIM_MEMBER_STARTING ||
           member->state == CLAIM_MEMBER_ATTACHING || member->state == CLAIM_MEMBER_RELEASING;
}

/* Sends the message that is due; returns when to look again. The token of the message is the claim. */
int64_t claim_member_run(struct claim_member *member, const struct claim_member_errand *errand);

/* Takes the answer, if it answers the message under way. */
enum claim_member_news claim_member_answer(struct claim_member *member, const struct claim_member_errand *errand,
                                           const struct event *event);

/* Sends an abort, once: a member that does not hear it asks, or lets its pin run out. */
void claim_member_abort(const struct claim_member *member, struct effects *effects);

/* The member has shown that it lives: its lease, with the margin, is counted from now. */
void claim_member_lives(struct claim_member *member, const struct role_env *env, const struct spans *spans);

#ifdef __cplusplus
}
#endif
#endif
