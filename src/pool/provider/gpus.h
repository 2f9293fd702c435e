/* gpus.h: which GPUs of the machine are whose; private to the provider.
 *
 *     offer    Gpus = { [ Uuid = "GPU-1"; Memory = 80G ], [ Uuid = "GPU-2"; Memory = 40G ], [ Name = "no Uuid: it cannot be given" ] }
 *     ad       RequestGpus = 1; RequireGpus = Memory >= 60G
 *     tenant   gpus = [ AssignedGpus = { "GPU-1" } ], in its row before the commit is acknowledged
 *
 * A claim has its GPUs from its commit to its end; no other claim on any offer of this provider has one of them. An offer that says no Gpus
 * has none to give out one by one: its GpuCount is a number like any other. */
#ifndef BERTH_POOL_PROVIDER_GPUS_H
#define BERTH_POOL_PROVIDER_GPUS_H

#include "pool/provider/provider_state.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GPUS_MAX 64 /* of an offer; the others are not given */
#define GPUS_ASSIGNED "AssignedGpus"

/* Are there enough for that ad, for whoever comes behind those claims (NULL: none)? The tenant may be NULL. An ad with ports is not looked at: what
 * it asks for at our port is known when it has docked. */
bool gpus_suffice(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                  const struct fronts *behind, struct tree *ad);

/* Gives the tenant as many as the ad asks for, of those that nobody else has and that its RequireGpus accepts: first those that the tenant
 * has. False: there are not enough, and the tenant has what it had. The caller writes the tenant's row. */
bool gpus_assign(const struct provider_step *step, struct tenant *tenant, struct tree *ad);

/* What is left of an offer, without the GPUs that tenants have; takes `left`, which may be NULL. */
struct tree *gpus_left(const struct provider *provider, struct tree *left, const struct tenant *except,
                       const struct fronts *behind);

/* The job's ad as it is launched: AssignedGpus is what the tenant has, whatever the job says; takes `job`. Where that is an attribute
 * more than an ad can have, AssignedGpus is missing: whoever launches the job sees that it lacks what it asked for. */
struct tree *gpus_tell(const struct tenant *tenant, struct tree *job);

/* The tenant gets or leaves GPUs: all offers of the machine have to say so. */
void gpus_moved(const struct provider_step *step, const struct tenant *tenant);

#ifdef __cplusplus
}
#endif
#endif
