/* provider.h: the agent of a machine, or of anything else that is offered.
 *
 *     probes, configuration, policy  ->  ad of each offer  ->  advertised while somebody could be accepted and something is left
 *
 *     FREE -match-> MATCHED -verify-> VERIFIED -commit-> PINNED -activate-> CLAIMED -release-> FREE
 *                      |                  |                  |                  |
 *                      +-- window over ---+---- abort -------+-- pin lease over +-- lost heart beat, veto
 *
 * It accepts by its own constraint in its present state, whatever the matchmaker thought. Pins, claims, starts and results are durable
 * before anybody hears of them. */
#ifndef BERTH_POOL_PROVIDER_PROVIDER_H
#define BERTH_POOL_PROVIDER_PROVIDER_H

#include "pool/claim/duty.h"

#ifdef __cplusplus
extern "C" {
#endif

struct provider;

#define PROVIDER_POOLS_MAX 16

/* A pool that offers are pulled for. */
struct provider_pool {
    agent matchmaker;
    struct tree *
        access; /* an ad whose Constraint says who may come from there, as other.Group == "physics"; NULL: all. It lies beside the
                            offer's own constraint: in what is pulled, and when a claim is verified */
    double share; /* of the last claims that it is promised, from 0 to 1; 0: none */
};

struct provider_settings {
    agent self, matchmaker; /* that hears what was used, unless a pool's does; and where it advertises: */
    const struct spans *spans;
    const char *identity;    /* whose machine it is: the Owner of its ads; NULL: they say it themselves */
    const uint64_t *ids;     /* of the offers' ads */
    struct tree *const *ads; /* configuration and policy of each; they lie over what EVENT_PROBED tells */
    uint32_t count;
    /* Instead of advertising it pulls, of these, in their order; but first of those, from the last to the first, whose part of the last
     * claims is below its share. 0: it advertises. */
    const struct provider_pool *pools;
    uint32_t pool_count;
};

extern const struct role_kind provider_role; /* settings: struct provider_settings; role: struct provider */

enum tenant_state {
    TENANT_MATCHED,
    TENANT_VERIFIED,
    TENANT_PINNED,
    TENANT_CLAIMED,
    TENANT_STOPPING, /* its job is being ended; it still holds its unit */
};

/* A claim in the provider's own record. */
struct tenant_view {
    uint64_t claim, gang, offer, epoch;
    agent superior;
    enum tenant_state state;
    int64_t since, lease; /* pinned since; and, claimed, until */
    uint64_t number, job; /* the last that was started */
    bool running;
    uint64_t port, link;  /* the superior's port, and ours that docks there */
    uint64_t behind;      /* the claim that it waits for, while that is there; 0: none */
    enum reason end;      /* STOPPING: why */
    struct tree *ad;      /* lent: the superior's */
    struct tree *receipt; /* lent: the matchmaker's for the claim (receipt.h); or NULL */
    struct duty duty;     /* what was started: of whose files, and where to ask for them; nothing in it is missing */
};

typedef void provider_tenant_fn(void *user, const struct tenant_view *tenant);
void provider_each(const struct provider *provider, provider_tenant_fn *fn, void *user);

/* Does somebody still have to hear from it: a result that was not taken, a claim that ended and was not confirmed? */
bool provider_owes(const struct provider *provider);

/* The offer as it is now, with nothing given away. NULL when there is none of that place. */
struct tree *provider_offer(const struct provider *provider, uint32_t place);

#ifdef __cplusplus
}
#endif
#endif
