/* waits.h: why a request waits: over all machines that are known, each at the first reason that keeps the request from it; private to the live
 * matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_WAITS_H
#define BERTH_LIVE_MATCHMAKERD_WAITS_H

#include "live/matchmakerd/pool_machines.h"
#include "match/pair/why.h"
#include "pool/matchmaker/user_why.h"
#include "pool/protocol/wait_reason.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WAITS_NAMED 5 /* machines that are named for a reason */
#define WAITS_ENDS 64 /* ends of claims that are remembered */

struct waits {
    const struct pool_machines *machines; /* lent */
    struct tree *request;                 /* lent */
    uint32_t runners;                     /* machines that run jobs: stores, licences and the like do not */
    uint32_t counts[WAIT_REASON_COUNT];   /* machines */
    uint32_t named[WAIT_REASON_COUNT][WAITS_NAMED];
    uint32_t free;   /* of those that fit and are free: of which something is offered now */
    uint32_t wanted; /* of a port of a gang: how many machines must dock there; 0: it is no port, and wants one */
    uint32_t at;     /* the next machine to look at */
    enum wait_reason first; /* once all have been looked at */
    /* Of machines that fit and are in use: how many seconds until the first claim there must end, the earliest of all, in order. Only the first one
     * of each is for everybody to know. */
    struct waits_end {
        int64_t in;
        uint32_t place;
    } ends[WAITS_ENDS];
    uint32_t end_count;
    int64_t
        opens; /* of machines whose owners let nobody in: seconds until the first of them does; -1: of some that is not known */
    uint32_t opens_at;      /* that machine */
    double asked[AMOUNTS];  /* what the request asks for */
    bool has_hold;          /* the matchmaker holds it back ... */
    struct user_hold hold;  /* ... for this */
    int64_t claiming, left; /* units of it that were matched, and whose claims are awaited; and units that wait */
    uint64_t ahead;         /* units of users who come first */
    uint32_t ahead_users;
    int64_t window;      /* all who wait are settled together, every so many seconds; 0: one after the other ... */
    int64_t window_left; /* ... and next in so many; -1: not known */
    uint64_t who, id;    /* whose request it is, and its number there; 0: an ad that only asks */
    bool planned;        /* the matchmaker has planned it: it begins in about so many seconds ... */
    int64_t planned_in;
    uint32_t planned_at; /* ... on that machine; NOBODY: it is not for the caller to know */
    bool learning;       /* the matchmaker has begun lately ... */
    int64_t began;       /* ... so many seconds ago */
};

/* Begins; all machines must be there. `request`: the ad that waits. */
void waits_begin(struct waits *waits, const struct env *env, struct arena *scratch,
                 const struct pool_machines *machines, struct tree *request);

/* What the matchmaker itself knows of the request of that agent and id. */
void waits_place(struct waits *waits, const struct matchmakerd *matchmakerd, agent who, uint64_t id);

/* Looks at some more machines; `why` is over the wholes of those that are present, and is complete. Adds the steps of evaluation to `steps`. False when
 * all have been looked at: then `first` is set. */
bool waits_go_on(struct waits *waits, const struct env *env, struct arena *scratch, const struct why *why,
                 uint64_t *steps);

/* Would nothing but waiting help: some machine fits it, and none may be had now? Then clauses and changes of the request explain nothing. */
bool waits_only(const struct waits *waits);

/* Do the words tell what the matchmaker itself holds the request back for? */
bool waits_tell_hold(const struct waits *waits);

/* In words: a line that begins with the name, and more lines where there is more to say. */
void waits_print(struct buf *out, const struct waits *waits, const char *name);
/* Who comes first, or when all are settled, where that is all that it waits for. */
void waits_print_more(struct buf *out, const struct waits *waits);
/* One reason in a sentence, without its full stop. */
void waits_print_reason(struct buf *out, const struct waits *waits, enum wait_reason reason);
/* All reasons as objects of JSON, the first one first. */
void waits_print_json_reasons(struct buf *out, const struct waits *waits);
/* As fields of a JSON object, with a comma in front: first, reasons, start. */
void waits_print_json(struct buf *out, const struct waits *waits);

#ifdef __cplusplus
}
#endif
#endif
