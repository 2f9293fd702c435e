/* stands.h: tells matchmakers how the machine behind each offer stands, whether or not anything of it is offered now; private to the provider. */
#ifndef BERTH_POOL_PROVIDER_STANDS_H
#define BERTH_POOL_PROVIDER_STANDS_H

#include "pool/provider/owner.h"
#include "pool/provider/provider_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void stands_init(struct provider *provider, uint32_t place);
void stands_done(struct provider *provider, uint32_t place);
void stands_boot(const struct provider_step *step, uint32_t place);

/* Looks how the machine stands. `left` is what is left of the offer (NULL: nothing), `open` whether that accepts anybody. Returns the second of
 * the wall clock at which the time alone may change the answer, or OWNER_NEVER. */
int64_t stands_look(const struct provider_step *step, uint32_t place, const struct tree *left,
                    const struct owner *open);

/* What runs there has changed, and nothing else: when the claims must end is told. */
void stands_claims(const struct provider_step *step, uint32_t place);

/* The matchmaker of that claim was reported to, and knows by that that the machine is still there. */
void stands_reported(const struct provider_step *step, const struct tenant *tenant);

/* A booking of the machine came, went or changed. */
void stands_booked(const struct provider_step *step, uint32_t place);

/* The probed state is another: the whole ad may have moved. */
void stands_probed(const struct provider_step *step, uint32_t place);

/* Sends what is due; returns when to look again. */
int64_t stands_run(const struct provider_step *step, uint32_t place);

/* There will be no such machines any more: all matchmakers are told, and nothing else after that. */
void stands_gone(const struct provider_step *step);

/* The answer to such a message; its token names the offer and the matchmaker. */
void stands_answer(const struct provider_step *step, const struct event *event);

/* That matchmaker may have begun anew, and have forgotten all. It is told at once, or when it may be told next. */
void stands_again(const struct provider_step *step, uint32_t place, agent matchmaker, bool at_once);

#ifdef __cplusplus
}
#endif
#endif
