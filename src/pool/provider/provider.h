/* provider.h: the agent of a machine, or of anything else that is offered.
 *
 *     probes, configuration, policy  ->  ad of each offer  ->  advertised while a claim could be accepted and something is left
 *
 *     FREE -match-> MATCHED -verify-> VERIFIED -commit-> PINNED -activate-> CLAIMED -release-> FREE
 *                      |                  |                  |                  |
 *                      +-- window over ---+---- abort -------+-- pin lease over +-- lost heart beat, veto
 *
 * The provider accepts a claim by its own constraint in its present state, whatever the matchmaker thought. Pins, claims, starts and
 * results are durable before anybody hears of them. */
#ifndef BERTH_POOL_PROVIDER_PROVIDER_H
#define BERTH_POOL_PROVIDER_PROVIDER_H

#include "lang/ad/eval.h"
#include "pool/claim/duty.h"
#include "pool/protocol/machine_state.h"

#ifdef __cplusplus
extern "C" {
#endif

struct provider;

#define PROVIDER_POOLS_MAX 16
#define STANDS_WORDS_MAX 400 /* bytes of the words that are told of a machine */

/* A pool that the provider pulls requests from. */
struct provider_pool {
    agent matchmaker;
    struct tree *
        access; /* an ad whose Constraint says whose requests are let in, as other.Group == "physics"; NULL: all. It holds beside the
                            offer's own constraint: in the ad that pulls, and when a claim is verified */
    double share; /* the part of the last claims that the pool is promised, from 0 to 1; 0: none */
};

struct provider_settings {
    agent self, matchmaker; /* `matchmaker` gets the reports, unless a pool's does, and the ads */
    const struct spans *spans;
    const char *identity;    /* the machine's owner: Owner of its ads; NULL: the ads say it themselves */
    const uint64_t *ids;     /* of the offers' ads */
    struct tree *const *ads; /* configuration and policy of each; they lie over the state that EVENT_PROBED brings */
    uint32_t count;
    /* The provider pulls from these pools instead of advertising, in their order; but first from those, from the last
     * to the first, whose part of the last claims is below their share. 0: it advertises. */
    const struct provider_pool *pools;
    uint32_t pool_count;
};

extern const struct role_kind provider_role; /* settings: struct provider_settings; role: struct provider */

enum tenant_state {
    TENANT_MATCHED,
    TENANT_VERIFIED,
    TENANT_PINNED,
    TENANT_CLAIMED,
    TENANT_STOPPING, /* the job is being ended; the claim still holds its unit */
};

#define FRONTS_MAX 64 /* claims that may have to go for one */

/* The claims that one follows: it has their place when they are gone. */
struct fronts {
    uint32_t count;
    uint64_t claims[FRONTS_MAX];
};

/* A claim in the provider's own record. */
struct tenant_view {
    uint64_t claim, gang, offer, epoch;
    agent superior;
    enum tenant_state state;
    int64_t since, lease; /* `since`: when it was pinned; `lease`: of a claim, until when it holds */
    uint64_t number, job; /* the last job that was started */
    bool running;
    uint64_t port, link;  /* the superior's port, and our port that docks there */
    struct fronts behind; /* the claims that this one follows, while they are there */
    enum reason end;      /* STOPPING: why */
    const char *
        owner; /* lent: whose job it is, as its customer has proved with a token of its own; "": it came by another's service */
    struct tree *ad;      /* lent: the superior's */
    struct tree *gpus;    /* lent: [ AssignedGpus = { ids } ], the GPUs that it has; or NULL */
    struct tree *receipt; /* lent: the matchmaker's for the claim (receipt.h); or NULL */
    struct duty duty;     /* what was started, with whose files, and where to ask for them; all fields are set */
};

typedef void provider_tenant_fn(void *user, const struct tenant_view *tenant);
void provider_each(const struct provider *provider, provider_tenant_fn *fn, void *user);

/* Does the provider still owe anybody news: a result that was not taken, or the end of a claim that was not
 * confirmed? */
bool provider_owes(const struct provider *provider);

/* The offer as it is now, with nothing given away. NULL when there is no offer at that place. */
struct tree *provider_offer(const struct provider *provider, uint32_t place);

/* Have all matchmakers answered that it leaves for good (EVENT_GONE)? */
bool provider_told_gone(const struct provider *provider);

/* A booking of one of its machines (calendar.h): they are counted from 0. False: there are no more. */
struct booking_view {
    uint64_t id;
    uint32_t place;
    int64_t from, until;   /* seconds since 1970 */
    bool held;             /* it is not confirmed yet */
    const struct tree *ad; /* lent: as it was ordered */
};
bool provider_booking(const struct provider *provider, uint32_t at, struct booking_view *ret);
/* Why the last EVENT_BOOK was refused; NULL: it was not. */
const char *provider_booking_refused(const struct provider *provider);

/* How the machine behind the offer at that place stands, as it was looked at last; false when there is no such offer. */
struct stands_view {
    uint64_t id;
    enum machine_state state;
    int64_t since; /* on the clock that does not jump */
    int64_t until; /* OWNER: on the wall clock in seconds; INT64_MAX: not known */
    bool sure;
};
bool provider_stands(const struct provider *provider, uint32_t place, struct stands_view *ret);

/* Appends what an Owner machine waits for, as its matchmaker is told it: the clauses of its owner that nobody satisfies now, with their values. */
void provider_owner_why(const struct provider *provider, uint32_t place, const struct env *env, struct arena *scratch,
                        struct buf *ret);

#ifdef __cplusplus
}
#endif
#endif
