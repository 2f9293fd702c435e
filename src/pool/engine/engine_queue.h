/* engine_queue.h: which root is next, and gates at which roots wait; private to the engine. */
#ifndef BERTH_POOL_ENGINE_ENGINE_QUEUE_H
#define BERTH_POOL_ENGINE_ENGINE_QUEUE_H

#include "pool/engine/engine_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void engine_queue_init(struct engine *engine);
void engine_queue_reset(struct engine *engine); /* empties it; the shares stay */
void engine_queue_done(struct engine *engine);
void engine_queue_put_off(struct engine *engine); /* all roots in it are left for the next cycle */
void engine_queue_add(struct engine *engine, uint32_t group);
void engine_queue_remove(struct engine *engine, uint32_t group);
void engine_queue_moved(struct engine *engine, uint32_t group); /* another member is first now */
void engine_queue_user_moved(struct engine *engine, uint32_t user);
uint32_t engine_queue_first(const struct engine *engine); /* a group, or NOBODY */
struct user *engine_user(struct engine *engine, uint32_t user);
int engine_queue_compare(const struct engine *engine, uint32_t a, uint32_t b); /* of two users; below 0: a is first */
bool engine_root_before(const struct engine *engine, uint32_t a, uint32_t b);  /* is root a served before b? */

void engine_gate_wait(struct engine *engine, uint32_t group, uint32_t gate); /* the group must not be in the queue */
void engine_gate_leave(struct engine *engine, uint32_t group);               /* if the group waits at one */
void engine_gates_reset(struct engine *engine);                              /* no group waits any more */

#ifdef __cplusplus
}
#endif
#endif
