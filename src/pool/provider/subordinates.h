/* subordinates.h: members that have members; private to the provider. */
#ifndef BERTH_POOL_PROVIDER_SUBORDINATES_H
#define BERTH_POOL_PROVIDER_SUBORDINATES_H

#include "pool/provider/provider_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void tenant_recruit(struct tenant *tenant, const struct edges *edges, const struct edges *below);
/* The crew goes on to that state; when all members have passed it, the message `owed` is answered. */
void tenant_lead(const struct provider_step *step, struct tenant *tenant, enum tenant_waits waits,
                 enum claim_member_state state, uint64_t owed);
void subordinates_verify(const struct provider_step *step, struct tenant *tenant, uint64_t token);
void subordinates_commit(const struct provider_step *step, struct tenant *tenant, int64_t collect, uint64_t token);
void subordinates_activate(const struct provider_step *step, struct tenant *tenant, uint64_t token);
bool subordinates_due(const struct provider_step *step, struct tenant *tenant); /* false: the tenant is gone */
void subordinates_ends(const struct provider_step *step, struct tenant *tenant);
void subordinates_answer(const struct provider_step *step, const struct event *event);
void subordinates_message(const struct provider_step *step, const struct event *event);
void subordinates_load(const struct provider_step *step, const struct record *record);
void subordinates_boot(const struct provider_step *step, struct tenant *tenant);

#ifdef __cplusplus
}
#endif
#endif
