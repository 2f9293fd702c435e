/* engine_trial.h: a root looks for its best candidate; private to the engine. */
#ifndef BERTH_POOL_ENGINE_ENGINE_TRIAL_H
#define BERTH_POOL_ENGINE_ENGINE_TRIAL_H

#include "pool/engine/engine_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* engine_trial.c: the best candidate for the first root of a group, or NOBODY: the class's outcome then says why.
 * TRIAL_UNDECIDED: the step is over before all candidates have been looked at, and the next step goes on. */
#define TRIAL_UNDECIDED (UINT32_MAX - 1)
uint32_t engine_trial_run(struct engine *engine, uint32_t group, uint32_t root);
bool engine_trial_runs(const struct engine *engine);
void engine_trial_free(struct engine *engine);
void engine_trial_drop(struct engine *engine); /* the trial is not needed: the root has gone, or another is first */
/* random() depends on both ads of a pair, and so do the given names. */
struct env engine_pair_env(const struct engine *engine, uint32_t root, uint32_t offer);

void engine_hits_add(struct hits *hits, const struct side *side, uint32_t number, unsigned doubts);

#ifdef __cplusplus
}
#endif
#endif
