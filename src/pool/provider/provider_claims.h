/* provider_claims.h: what jobs and time do to a tenant, and what outlives a restart; private to the provider. */
#ifndef BERTH_POOL_PROVIDER_PROVIDER_CLAIMS_H
#define BERTH_POOL_PROVIDER_PROVIDER_CLAIMS_H

#include "pool/provider/provider_state.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BEATS 4    /* heart beats within a lease */
#define ASK_PART 4 /* a pinned tenant asks after P / 4, and then every P / 8 */
struct tenant *tenant_find(const struct provider *provider, uint64_t claim);
struct tenant *tenant_new(const struct provider_step *step, uint64_t claim, uint32_t offer);
void tenant_drop(const struct provider_step *step, struct tenant *tenant);
void tenant_set_ad(struct tenant *tenant, struct tree *ad);
void tenant_set_receipt(struct tenant *tenant, struct tree *receipt); /* NULL leaves the present one */
void tenant_store(const struct provider_step *step, struct tenant *tenant);
void tenant_set(const struct provider_step *step, struct tenant *tenant, int64_t at); /* sets a timer */
void tenant_set_duty(struct tenant *tenant, const struct duty *duty);                 /* the ad is held anew */
/* The tenant's duty with every field filled in, to hand on to its own members; borrowed. */
struct duty tenant_duty(const struct tenant *tenant);
/* Who is charged for the claim: the owner of the job at the root. */
const struct text *tenant_charged(const struct tenant *tenant);
/* A text attribute of the job's ad; "" when it has none, or the ad is not known yet. */
void tenant_text(const struct provider_step *step, const struct tenant *tenant, const char *name, struct text *ret);
/* The claim ends for that reason: at once, or when its job is gone. A claim that was never pinned is just forgotten. */
void tenant_end(const struct provider_step *step, struct tenant *tenant, enum reason reason, int64_t grace);
void reply_claimed(const struct provider_step *step, uint64_t token, uint64_t claim, uint64_t epoch, enum reason reason,
                   uint64_t after);
void tenants_done(struct provider *provider);
void tenants_load(const struct provider_step *step, const struct record *record);
void tenants_boot(const struct provider_step *step);
void tenant_due(const struct provider_step *step, struct tenant *tenant);
void tenants_check(const struct provider_step *step, uint32_t offer); /* the offer's state changed: who may stay? */
void tenant_job(const struct provider_step *step, const struct event *event);
void tenants_spare(const struct provider_step *step, uint32_t offer); /* claims without a job go: none would come */
void tenants_shut(const struct provider_step *step, const char *user, bool now); /* the same, for those of one user */
void tenants_drain(const struct provider_step *step, bool now); /* now: jobs are warned, and ended after the grace */

void tenant_over(const struct provider_step *step, struct tenant *tenant); /* provider_claims.c */
void tenant_report(const struct provider_step *step, struct tenant *tenant,
                   bool over); /* provider_claims.c: to the registrar */

#ifdef __cplusplus
}
#endif
#endif
