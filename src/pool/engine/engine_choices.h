/* engine_choices.h: the best candidates of many equal roots; private to the engine. */
#ifndef BERTH_POOL_ENGINE_ENGINE_CHOICES_H
#define BERTH_POOL_ENGINE_ENGINE_CHOICES_H

#include "pool/engine/engine_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void engine_choices_free(struct choices *choices);
void engine_choices_forget(struct engine *engine, struct engine_class *engine_class); /* that a class remembers */
struct choices *engine_choices_new(uint32_t width);
void engine_choices_push(struct choices *choices, const struct engine_choice *choice, const struct value *vector);
void engine_choices_settle(struct choices *choices,
                           uint32_t keep); /* puts those pushed in order, and keeps only the best of them */
void engine_choices_insert(struct choices *choices, const struct engine_choice *choice, const struct value *vector);
uint32_t engine_choices_first(struct engine *engine,
                              struct choices *choices); /* an offer that is still there, or NOBODY */
int engine_vector_compare(const struct value *a, const struct value *b, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
