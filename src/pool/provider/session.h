/* session.h: matches and verifications, and what a superior tells a tenant; private to the provider. */
#ifndef BERTH_POOL_PROVIDER_SESSION_H
#define BERTH_POOL_PROVIDER_SESSION_H

#include "pool/provider/provider_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void match_unwanted(struct provider *provider, uint64_t claim, agent superior);
void told_match(const struct provider_step *step, const struct event *event);
struct tenant *match_admit(const struct provider_step *step, uint32_t place,
                           const struct match_told *told); /* or NULL */
void told_verify(const struct provider_step *step, const struct event *event);
bool tenant_owns(const struct tenant *tenant, const struct tree *ad); /* does the ad belong to the claim's owner? */

void tenant_message(const struct provider_step *step, const struct event *event);
void tenant_answer(const struct provider_step *step, struct tenant *tenant, const struct event *event);
void task_answer(const struct provider_step *step, struct tenant *tenant, const struct event *event);

/* Answers that may have waited for the crew. */
void tenant_verified(const struct provider_step *step, struct tenant *tenant, uint64_t token); /* admission.c */
void reply_verified(const struct provider_step *step, uint64_t token, const struct verified *verified);
void tenant_pin(const struct provider_step *step, struct tenant *tenant, uint64_t token); /* session.c */

/* How long the job may run, by its ad; INT64_MAX when it does not say. */
int64_t job_span(const struct provider_step *step, const struct tree *ad);

#ifdef __cplusplus
}
#endif
#endif
