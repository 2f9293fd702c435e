/* pool_machines.h: the machines of the pool as one question finds them: held, so that they stay while it is answered slice by slice; private to the
 * live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_POOL_MACHINES_H
#define BERTH_LIVE_MATCHMAKERD_POOL_MACHINES_H

#include "live/matchmakerd/machine_facts.h"
#include "live/matchmakerd/matchmakerd_state.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pool_machine {
    struct tree *whole, *left; /* held; left: what may be had of it now, or NULL */
    bool hidden;               /* its policy is not for the caller: the two below are told of in its place ... */
    struct tree *masked,
        *masked_left; /* ... held, or NULL: without the policy, and with its answer to the request that was asked about last */
    struct tree
        *narrow; /* held: what is left for those who would be done before a plan begins there; NULL: there is none */
    uint64_t agent, number; /* whose it is, and its number there */
    char *id;               /* of its ad, as people name it */
    char *words;            /* why it stands so, where the caller may know it; or NULL */
    enum machine_state state;
    bool pulls, sure, counts; /* `counts`: it is a machine's record, and not an ad beside a claim */
    int64_t since, until;
    int64_t first_end; /* seconds; -1: nothing there must end */
    double all[AMOUNTS], used[AMOUNTS];
};

struct pool_machines {
    struct pool_machine *items;
    uint32_t count, room;
    uint32_t total;       /* with those that were left aside: they come last */
    uint32_t present;     /* the first ones: neither away, nor drained, nor sick */
    uint32_t runners;     /* of those that count, machines that run jobs: stores and the like do not */
    struct tree **wholes; /* lent by the items, in their order; once all are there */
    uint32_t at;          /* where to go on, among the records or the ads */
    bool ads;             /* the records are done */
    uint32_t gone_long;   /* away for so long that only their names are known: they are not among the items */
    uint32_t masked;      /* where to go on with what is hidden */
};

/* Is it neither away, nor drained, nor sick? */
bool pool_machine_is_present(const struct pool_machine *machine);

/* Takes up the next one; false when all are there. `caller`: whoever asks; NULL: one who sees all. */
bool pool_machines_next(struct pool_machines *machines, const struct matchmakerd *matchmakerd, struct request *caller);
/* Adds an ad as it might be, idle, in place of the machine whose ad has that id, if there is one. Holds the ad. */
void pool_machines_suppose(struct pool_machines *machines, const char *id, struct tree *ad);
/* Puts them in order, when all are there. */
void pool_machines_end(struct pool_machines *machines);
/* Makes what is told of machines whose policy is hidden, for that request, of some at a time: their answer, and not what decides it. False when
 * that is done: then `wholes` has it, of those that are present, and it can be done for another request. */
bool pool_machines_mask(struct pool_machines *machines, const struct env *env, struct arena *scratch,
                        const struct tree *request);
/* Leaves those with ports aside: they are no longer counted. Returns how many those are. */
uint32_t pool_machines_leave_ported(struct pool_machines *machines);
void pool_machines_done(struct pool_machines *machines);

/* Appends what the machine is called: its Name, or the id of its ad. */
void pool_machine_name(const struct pool_machine *machine, struct buf *out);

#ifdef __cplusplus
}
#endif
#endif
