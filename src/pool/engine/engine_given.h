/* engine_given.h: names whose values depend on the ads' users; private to the engine. */
#ifndef BERTH_POOL_ENGINE_ENGINE_GIVEN_H
#define BERTH_POOL_ENGINE_ENGINE_GIVEN_H

#include "pool/engine/engine_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void engine_given_done(struct engine *engine);
bool engine_given_differs(const struct engine *engine, const struct env *env); /* have the given names changed? */
void engine_given_begin(struct engine *engine, const struct env *env);         /* takes a copy of the environment */
/* The environment of a root of that user, and of an offer (0 for no remote user); good until the next call. The second function is for a
 * policy's vector. */
struct env engine_env_of(const struct engine *engine, uint32_t user, uint32_t remote);
struct env engine_docking_env(const struct engine *engine, const struct env *env);

#ifdef __cplusplus
}
#endif
#endif
