/* engine_slots.h: an ad's slot changes; private to the engine. */
#ifndef BERTH_POOL_ENGINE_ENGINE_SLOTS_H
#define BERTH_POOL_ENGINE_ENGINE_SLOTS_H

#include "pool/engine/engine_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void engine_slot_leave(struct engine *engine, uint32_t id);   /* leaves its class, or the list of fresh slots */
void engine_slot_freshen(struct engine *engine, uint32_t id); /* the slot is to be put into a class */
void engine_slot_set_ad(struct engine *engine, uint32_t id,
                        struct tree *ad);                      /* sets another ad, which is held; not in a class */
void engine_slot_read_key(struct engine *engine, uint32_t id); /* of a root, which is fresh if it has changed */
void engine_reset(struct engine *engine);                      /* forgets all that is remembered; all ads are fresh */

/* engine_cycle.c: is this ad a root, at the time of the cycle? */
bool engine_selects(const struct engine *engine, struct arena *scratch, const struct tree *ad, bool request);

#ifdef __cplusplus
}
#endif
#endif
