/* engine_wake.h: offers find the roots that wait for them; private to the engine. */
#ifndef BERTH_POOL_ENGINE_ENGINE_WAKE_H
#define BERTH_POOL_ENGINE_ENGINE_WAKE_H

#include "pool/engine/engine_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* engine_pull.c: adds the attributes of roots that pulls depend on. */
void engine_pull_reads(const struct engine *engine, struct reads *reads);

void engine_class_index(struct engine *engine, unsigned side, uint32_t number); /* as it is at the time of the cycle */
void engine_class_index_late(struct engine *engine, uint32_t number);           /* roots: before the index is asked */

/* Puts one of the classes of roots that were tried into the index; false when there is none left. */
bool engine_keep_next(struct engine *engine);

/* Marks a class of roots to be tried, as in engine_offers_wake. */
void engine_class_wake(struct engine *engine, uint32_t number, uint32_t by);

/* Puts many classes into the index at once, where it is still empty. */
void engine_side_build(struct engine *engine, unsigned side, const struct numbers *numbers);

/* Marks the waiting roots that a class of offers fits to be tried: in the next cycle, or when their phase comes. If
 * `by` is not NOBODY but the root that is being served, those that come behind it are tried in this cycle. */
void engine_offers_wake(struct engine *engine, uint32_t number, uint32_t by);
void engine_waking_put_off(struct engine *engine); /* waking begins anew in the next cycle */
bool engine_waking_next(struct engine *engine);    /* looks at one more of those roots; false when all are done */

/* The steps of a class in this cycle. */
uint64_t *engine_class_steps(struct engine *engine, struct engine_class *engine_class);

#ifdef __cplusplus
}
#endif
#endif
