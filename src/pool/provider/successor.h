/* successor.h: the second ad beside a claim, and the successor pinned behind it; private to the provider. */
#ifndef BERTH_POOL_PROVIDER_SUCCESSOR_H
#define BERTH_POOL_PROVIDER_SUCCESSOR_H

#include "pool/provider/provider_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void second_init(struct provider *provider, uint32_t place);
/* The place of the offer that has this id, or whose second ad has it; settings->count when there is none. */
uint32_t offer_named(const struct provider *provider, uint64_t id, bool *ret_second);
void second_look(const struct provider_step *step, uint32_t place);   /* makes the ad that should be advertised anew */
int64_t second_run(const struct provider_step *step, uint32_t place); /* sends what is due; says when to look again */
/* The claim that a successor by the second ad follows now; 0: none. */
uint64_t second_claim(const struct provider *provider, uint32_t place);
/* Another tenant that is verified or pinned behind that claim, or NULL. */
const struct tenant *successor_other(const struct provider *provider, uint64_t behind, uint64_t claim);
/* Does the owner like this ad at least as well as that of the claim in front? */
bool successor_preferred(const struct provider_step *step, uint64_t behind, const struct docked *superior);
/* Is there room for the ad even when the offer's successor has its turn? */
bool successor_leaves(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                      const struct docked *superior);
/* What is left of the offer when its successor has its part as well: takes `left`. */
struct tree *successor_reserves(const struct provider_step *step, uint32_t place, struct tree *left);
void successor_evicts(const struct provider_step *step,
                      struct tenant *tenant); /* the successor is activated: the claim in front is ended */
void successor_follows(const struct provider_step *step, const struct tenant *tenant); /* the claim in front is gone */
void successors_load(const struct provider_step *step);                                /* all tenants are there */
void successors_boot(const struct provider_step *step);
bool successor_valid(const struct provider *provider, const struct tenant *tenant, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
