/* seconds.h: the second ads beside the claims of an offer; private to the provider. */
#ifndef BERTH_POOL_PROVIDER_SECONDS_H
#define BERTH_POOL_PROVIDER_SECONDS_H

#include "pool/provider/provider_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void seconds_init(struct provider *provider, uint32_t place);
void seconds_done(struct provider *provider, uint32_t place);
void seconds_look(const struct provider_step *step, uint32_t place);   /* makes them anew where something has changed */
int64_t seconds_run(const struct provider_step *step, uint32_t place); /* sends what is due; says when to look again */
/* The place of the offer that has this id, or one of whose second ads has it; settings->count when there is none. `second` is 0 for the offer's own
 * ad, else the number of that second ad. */
uint32_t offer_named(const struct provider *provider, uint64_t id, uint32_t *ret_second);
struct advert *offer_advert(const struct provider *provider, uint32_t place, uint32_t second);
/* Those of the claims beside that second ad that are there, and may go. */
void second_fronts(const struct provider *provider, uint32_t place, uint32_t second, struct fronts *ret);

#ifdef __cplusplus
}
#endif
#endif
