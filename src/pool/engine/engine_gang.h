/* engine_gang.h: a root gathers a gang; private to the engine. */
#ifndef BERTH_POOL_ENGINE_ENGINE_GANG_H
#define BERTH_POOL_ENGINE_ENGINE_GANG_H

#include "pool/engine/engine_state.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gangs *engine_gangs_new(struct engine *engine);
void engine_gangs_free(struct gangs *gangs);

/* Notes the names that an ad of a side reads of others. */
void engine_gang_read(struct engine *engine, unsigned side, struct tree *ad, bool ported);
/* The same for an ad that replaces another, whose names were noted. */
void engine_gang_reread(struct engine *engine, unsigned which, const struct tree *before, struct tree *ad, bool ported);
void engine_gang_reads_add(struct reads *reads, struct tree *ad, bool ported);
bool engine_gang_offers(const struct engine *engine); /* do offers read offers? */

/* Tells the seeker of a class with Ports, as it is at the time of the cycle; and that a class goes. */
void engine_gang_index(struct engine *engine, unsigned side, uint32_t number);
void engine_gang_forget(struct engine *engine, unsigned side, uint32_t number);

/* Is a class of roots served by gangs? Then engine_gang_serve gets one for the first root of a group. */
bool engine_gang_serves(struct engine *engine, uint32_t number);
void engine_gang_serve(struct engine *engine, uint32_t group, uint32_t root);

/* Marks the waiting roots that could have this class of offers in their gangs to be tried, as in engine_offers_wake. */
void engine_gang_wake(struct engine *engine, uint32_t number, uint32_t by);
bool engine_gang_valid(const struct engine *engine, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
