/* engine_classes.h: ads that are the same to the other side; private to the engine. */
#ifndef BERTH_POOL_ENGINE_ENGINE_CLASSES_H
#define BERTH_POOL_ENGINE_ENGINE_CLASSES_H

#include "pool/engine/engine_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a new index for a side, which has nobody in it. */
void engine_side_index(struct engine *engine, unsigned which);
void engine_side_init(struct engine *engine, unsigned side);
void engine_side_done(struct engine *engine, unsigned side);

/* The names that the slot's ad reads of that side are known from now on. */
void engine_slot_read_names(struct engine *engine, const struct engine_slot *slot, unsigned which);

/* The slot, which is in no class, joins the class of equal ads, which is made if there is none. */
void engine_slot_join(struct engine *engine, uint32_t id);

/* Would the slot with this ad be of the same class? Then the ad replaces the slot's, and nothing else changes. */
bool engine_slot_swap(struct engine *engine, uint32_t id, struct tree *ad);

/* The slot leaves its class, which goes if the slot was its last. */
void engine_slot_part(struct engine *engine, uint32_t id);

/* The class is to be looked at in the next cycle, or when its phase comes in this one. */
void engine_class_list(struct engine *engine, unsigned side, uint32_t number);
void engine_class_unlist(struct engine *engine, unsigned side, uint32_t number);

/* Of a class of offers: do they rank roots, or have a claim already, or do chance or users matter to them? */
bool engine_class_chooses(const struct engine_class *offers);

/* Does the other side read names that the classes of this side do not know yet? */
bool engine_classes_lag(const struct side *side);

/* Then the ads that must be told apart become fresh, and the classes know the names. */
void engine_classes_split(struct engine *engine, unsigned side);

/* If classes are not shared on a side, although the ads that caused this may be gone, the names are read anew. */
void engine_classes_reread(struct engine *engine);

#ifdef __cplusplus
}
#endif
#endif
