/* engine_serve.h: a root gets its candidate, one after the other or by a plan; private to the engine. */
#ifndef BERTH_POOL_ENGINE_ENGINE_SERVE_H
#define BERTH_POOL_ENGINE_ENGINE_SERVE_H

#include "pool/engine/engine_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void engine_user_spend(struct engine *engine, uint32_t user, uint64_t work); /* charges that much work to the user */
bool engine_user_owes(const struct engine *engine, struct user *user);       /* has the user made much work lately? */
void engine_serve_one(struct engine *engine);
void engine_root_take(struct engine *engine, uint32_t root);    /* takes one unit of the root */
void engine_root_fail(struct engine *engine, uint32_t group);   /* no candidate is left for the first root of a group */
void engine_class_fail(struct engine *engine, uint32_t number); /* ... or for a class of roots, which waits */

/* Does a gate hold the first root of a group back? Then the whole group waits there. */
bool engine_root_held(struct engine *engine, uint32_t group, uint32_t root);

/* A unit of the root gets the offer. Roots that wait for what is left of the offer are tried in this cycle if they come
 * behind `by`; NOBODY: in the next. */
void engine_match_make(struct engine *engine, uint32_t root, uint32_t offer, uint32_t by);

/* The offer goes on as the ad `left`, or not at all; `by` is the root that took the rest. */
void engine_offer_change(struct engine *engine, uint32_t offer, struct tree *left, uint32_t by);

/* engine_window.c: makes a plan for the roots in the queue; looks at the next pair of the plan: false when there is
 * none. */
void engine_window_plan(struct engine *engine);
bool engine_window_serve(struct engine *engine);
void engine_window_free(struct engine *engine);

#ifdef __cplusplus
}
#endif
#endif
