/* successor.h: the successor pinned behind claims of an offer, and which of them go for it; private to the provider. */
#ifndef BERTH_POOL_PROVIDER_SUCCESSOR_H
#define BERTH_POOL_PROVIDER_SUCCESSOR_H

#include "pool/provider/provider_state.h"

#ifdef __cplusplus
extern "C" {
#endif

bool fronts_have(const struct fronts *fronts, uint64_t claim); /* NULL has none */
struct tree *fronts_ad(const struct provider_step *step,
                       const struct fronts *fronts); /* for its row; NULL: not needed */
void fronts_read(const struct tenant_record *row, struct fronts *ret);

/* How much the owner likes a superior; the value lives in the scratch memory. */
struct value owner_rank(const struct provider_step *step, uint32_t place, const struct docked *superior);
/* Does the owner allow this claim to be ended for another one? */
bool owner_lets_go(const struct provider_step *step, uint32_t place, const struct docked *superior);

/* A claim that may have to go. */
struct goer {
    struct tenant *tenant;
    struct value rank;
};
/* Adds one to those, sorted: first the one that the owner would rather see go: that it likes least, of equal ones the oldest. They are FRONTS_MAX
 * at most; of more the last are left out. */
void goers_add(struct goer *goers, uint32_t *count, const struct goer *goer);
void goers_fronts(const struct goer *goers, uint32_t count, uint64_t set, struct fronts *ret); /* a bit for each */

/* Another tenant that is verified or pinned behind claims on that offer, or NULL; NULL too where nobody is in front. */
const struct tenant *successor_other(const struct provider *provider, uint32_t place, const struct fronts *behind,
                                     uint64_t claim);
/* Does the owner like this ad at least as well as those of all claims in front? */
bool successor_preferred(const struct provider_step *step, const struct fronts *behind, const struct docked *superior);
/* Leaves in front only those that must go to make room, and of these the ones that the owner would rather see go. Where there is no room even without
 * all of them, all stay. The tenant may be NULL. */
void successor_chooses(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                       const struct docked *superior, struct fronts *fronts);
/* The successor is about to be activated: claims that need not go any more are no longer in front. */
void successor_spares(const struct provider_step *step, struct tenant *tenant);
/* Is there room for the ad even when the offer's successor has its turn? */
bool successor_leaves(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                      const struct docked *superior);
/* What is left of the offer when its successor has its part as well: takes `left`. */
struct tree *successor_reserves(const struct provider_step *step, uint32_t place, struct tree *left);
void successor_evicts(const struct provider_step *step,
                      const struct tenant *tenant); /* the successor is activated: the claims in front are ended */
void successor_follows(const struct provider_step *step, const struct tenant *tenant); /* a claim in front is gone */
void successors_load(const struct provider_step *step);                                /* all tenants are there */
void successors_boot(const struct provider_step *step);
bool successor_valid(const struct provider *provider, const struct tenant *tenant, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
