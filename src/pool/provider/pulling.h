/* pulling.h: asking for requests, from one pool or several; private to the provider. */
#ifndef BERTH_POOL_PROVIDER_PULLING_H
#define BERTH_POOL_PROVIDER_PULLING_H

#include "pool/provider/provider_state.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POOL_CLAIMS 32 /* the parts of the pools count about that many claims */
int64_t pulling_run(const struct provider_step *step, uint32_t place); /* pulls if due; says when to look again */
void pulling_moved(const struct provider_step *step, uint32_t place);  /* the offer's text has changed */
/* The matchmaker may have begun anew. */
void pulling_again(const struct provider_step *step, uint32_t place, agent matchmaker);
void pulling_answer(const struct provider_step *step, const struct event *event);
void pulling_claimed(const struct provider_step *step, const struct tenant *tenant); /* the claim counts for its pool */
bool pulling_admits(const struct provider_step *step, const struct tenant *tenant, const struct tree *ad);
/* The pool that has that matchmaker, plus 1; 0: none. */
uint32_t pulling_pool(const struct provider *provider, agent matchmaker);
agent pulling_registrar(const struct provider *provider, const struct tenant *tenant);

#ifdef __cplusplus
}
#endif
#endif
