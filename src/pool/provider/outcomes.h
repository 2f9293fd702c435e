/* outcomes.h: results that wait to be taken, and superiors that must hear that a claim is over; private to the provider. */
#ifndef BERTH_POOL_PROVIDER_OUTCOMES_H
#define BERTH_POOL_PROVIDER_OUTCOMES_H

#include "pool/provider/provider_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void leaving_add(const struct provider_step *step, const struct tenant *tenant, enum reason reason, uint64_t after);
void leaving_due(const struct provider_step *step, uint64_t claim);
void leaving_answer(const struct provider_step *step, const struct event *event);

void outcomes_done(struct provider *provider);
void outcome_load(const struct provider_step *step, const struct record *record);
void outcomes_boot(const struct provider_step *step);
bool outcome_has(const struct provider *provider, uint64_t claim, uint64_t number);
/* Is a result of that claim kept for that agent? Then the result is offered at once, not at the end of its pause. */
bool outcome_hurry(const struct provider_step *step, uint64_t claim, agent superior);
void outcome_add(const struct provider_step *step, const struct tenant *tenant, const struct event *event);
/* The leader tells the customer its result itself: the superiors in between hear only that it has ended. */
void outcome_tell(const struct provider_step *step, const struct tenant *tenant, const struct event *event);
void outcome_due(const struct provider_step *step, uint64_t key);
void outcome_answer(const struct provider_step *step, const struct event *event);

#ifdef __cplusplus
}
#endif
#endif
