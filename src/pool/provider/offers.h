/* offers.h: the ads: written, advertised, withdrawn while the owner is there; their keys; private to the provider. */
#ifndef BERTH_POOL_PROVIDER_OFFERS_H
#define BERTH_POOL_PROVIDER_OFFERS_H

#include "pool/provider/provider_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void offers_init(struct provider *provider);
void offers_done(struct provider *provider);
void offers_boot(const struct provider_step *step);
void offer_probed(const struct provider_step *step, uint32_t place, struct tree *probe);
void offer_changed(const struct provider_step *step, uint32_t place);          /* tenants came or went */
void offer_wake(const struct provider_step *step, uint32_t place, int64_t at); /* it is looked at then, or before */
void offer_due(const struct provider_step *step, uint32_t place);
void offer_answer(const struct provider_step *step, uint32_t place, const struct event *event);
void offers_again(const struct provider_step *step, agent matchmaker); /* the matchmaker may have begun anew */
void offer_matched(const struct provider_step *step, uint32_t place, struct advert *advert, uint64_t incarnation,
                   uint64_t number);                               /* the advert is the offer's own, or the second */
uint32_t offer_find(const struct provider *provider, uint64_t id); /* the place; settings->count when there is none */
/* What is left of the offer when all tenants in state `from` or later have their parts, except `except` (or NULL); the
 * caller unrefs it. NULL: nothing. Successors have nothing while the claims in front are there; for whoever comes
 * behind some claims (NULL: none), those have nothing. */
struct tree *offer_left(const struct provider *provider, const struct role_env *env, uint32_t place,
                        enum tenant_state from, const struct tenant *except, const struct fronts *behind);
/* The offer with nothing given away, as it would be advertised: with its Start in its constraint. The caller unrefs it. */
struct tree *offer_whole(const struct provider *provider, uint32_t place);
/* May a job with that ad start here now? The offer's `Start` says so, if it has one. Start is a part of the constraint
 * that is advertised and pulled with, and is asked before each job; it is not asked about a job that runs. */
bool offer_starts(const struct provider_step *step, uint32_t place, const struct tree *ad);
/* Is the machine not fit for jobs now? A probe says so by the text Unwell; or a job has just come to nothing. */
bool offer_ails(const struct provider *provider, uint32_t place);
void offer_fails(const struct provider_step *step, uint32_t place); /* a job came to nothing by the machine's fault */
bool offer_key_used(const struct offer *offer, uint64_t claim);
void offer_use_key(const struct provider_step *step, const struct tenant *tenant);

#ifdef __cplusplus
}
#endif
#endif
