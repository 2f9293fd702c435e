/* api_events.h: streams, relayed messages and commands that wait for agents; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_API_EVENTS_H
#define BERTH_LIVE_MATCHMAKERD_API_EVENTS_H

#include "lang/ad/make.h"
#include "live/matchmakerd/matchmakerd_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void relays_sweep(struct matchmakerd *matchmakerd, int64_t now);
void relay_displaced(void *user, uint64_t number); /* for agents.h: the letter had to give way */
void waitings_sweep(struct matchmakerd *matchmakerd, int64_t now, int64_t wall_seconds);
void waitings_end(struct matchmakerd *matchmakerd); /* answers polling requests */
void waitings_revoked(struct matchmakerd *matchmakerd,
                      const char *id); /* tells every stream that the token of that id is revoked */

/* Tells every stream that a user is disabled; entry NULL: is so no more. */
void waitings_disabled(struct matchmakerd *matchmakerd, const char *name, const struct disabled_entry *entry);

/* Puts the commands that wait for that agent among its letters. */
void commands_tell(struct matchmakerd *matchmakerd, uint32_t who);
/* Adds to a letter what it says of the command with that key. */
void command_letter(struct matchmakerd *matchmakerd, uint64_t key, struct maker *maker);
void command_waits_sweep(struct matchmakerd *matchmakerd, int64_t now, bool all);
void commands_expire(
    struct matchmakerd *matchmakerd); /* expires commands whose time is over; tells agents that listen of the others */

#ifdef __cplusplus
}
#endif
#endif
