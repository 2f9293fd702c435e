/* engine_members.h: slots in their order; private to the engine. */
#ifndef BERTH_POOL_ENGINE_ENGINE_MEMBERS_H
#define BERTH_POOL_ENGINE_ENGINE_MEMBERS_H

#include "pool/engine/engine_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Does ad a come before ad b: roots, of one user or by the policy's RootOrder; or offers? */
bool engine_member_before(const struct engine *engine, uint32_t a, uint32_t b);
bool engine_member_older(const struct engine *engine, uint32_t a, uint32_t b); /* did a come first? */
void engine_members_add(const struct engine *engine, struct engine_members *members, uint32_t id);
uint32_t engine_members_remove(const struct engine *engine, struct engine_members *members,
                               uint32_t id); /* returns the place that it had */
uint32_t engine_members_after(const struct engine *engine, const struct engine_members *members,
                              uint32_t id); /* the place of the first behind it */

static inline uint32_t members_at(const struct engine_members *members, uint32_t n)
{
    return members->ids[members->first + n];
}

#ifdef __cplusplus
}
#endif
#endif
