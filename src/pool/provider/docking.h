/* docking.h: which parties are docked at a tenant's offer, and what a tenant may use of it; private to the provider. */
#ifndef BERTH_POOL_PROVIDER_DOCKING_H
#define BERTH_POOL_PROVIDER_DOCKING_H

#include "pool/provider/provider_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Does our own constraint, in our present state, accept this ad? What other tenants have is not available; for a
 * successor the claims that it follows count as ended. tenant_accepted also asks whether room is left for the offer's
 * successor. */
bool tenant_fits(const struct provider_step *step, uint32_t place, const struct tenant *tenant, struct tree *ad);
bool tenant_accepted(const struct provider_step *step, uint32_t place, const struct tenant *tenant, struct tree *ad);
/* tenant_fits for a superior that comes with its port, behind those claims (NULL: none); the tenant may be NULL. */
bool tenant_docks(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                  const struct fronts *behind, const struct docked *superior);
/* The same when `left` is what is left of the offer (NULL: nothing). Where the answer depends on a crew that is not verified yet, it is yes: it is
 * asked for again then. docks_surely says no there. */
bool tenant_docks_at(const struct provider_step *step, const struct tenant *tenant, struct tree *left,
                     const struct docked *superior);
bool tenant_docks_surely(const struct provider_step *step, const struct tenant *tenant, struct tree *left,
                         const struct docked *superior);
/* Is each of our ports filled that must be? Else anybody could come in by a port that is meant for somebody else. */
bool tenant_is_whole(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                     const struct docked *superior);
struct docked tenant_above(const struct tenant *tenant); /* the superior, as it is docked at us */
/* Is the attribute of that name in our own ad true, as seen from our link, with the superior's port and the parties
 * docked beside it? */
bool tenant_bids(const struct provider_step *step, const struct tenant *tenant, const char *name);
/* What remains of `left` when the tenant has its part; NULL: nothing. The caller unrefs it, here and below. */
struct tree *tenant_residual(const struct role_env *env, const struct tenant *tenant, struct tree *left);
/* The offer as the superior may see it. */
struct tree *tenant_shows(const struct provider_step *step, const struct tenant *tenant, struct tree *left);
/* Does the tenant launch anything itself? Not when the offer says Executes = false, nor when its superior does not want
 * it. */
bool tenant_executes(const struct provider *provider, const struct tenant *tenant);
struct crew_chief tenant_chief(const struct provider *provider, const struct tenant *tenant); /* of its own crew */

/* The ad with plain numbers for all amounts that it takes of the offer, evaluated against what is left for it: not more
 * than `pinned` says, which is the ad itself when it is new. An ad with ports stays as it is. The caller unrefs it,
 * here and below. */
struct tree *pins_fix(const struct provider_step *step, struct tree *offer, struct tree *ad, const struct tree *pinned);
/* The same for an ad with ports: an ad of these numbers alone, for our port; NULL: the ad has no ports. */
struct tree *pins_grant(const struct provider_step *step, const struct tenant *tenant);
/* The job's ad as it is launched: the job may use what was pinned for the superior's port, whatever the job says
 * itself. */
struct tree *tenant_grant(const struct provider_step *step, const struct tenant *tenant, struct tree *job);

#ifdef __cplusplus
}
#endif
#endif
