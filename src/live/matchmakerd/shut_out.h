/* shut_out.h: agents whose token was revoked, or whose user was disabled, lose what they have in the pool; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_SHUT_OUT_H
#define BERTH_LIVE_MATCHMAKERD_SHUT_OUT_H

#include "live/matchmakerd/matchmakerd_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Shuts out agents that came with that token: their ads match nothing, nobody is led to them, and no match is sent to their addresses. Otherwise
 * such an agent would get jobs until its ads end, a day perhaps. Its machines are forgotten. False, after a problem was answered, when the store has failed. */
bool agents_revoke(struct request *request, const char *id);
/* The same for the agents of a user, and for requests that other agents have made for that user. */
bool agents_disable(struct request *request, const char *name);

#ifdef __cplusplus
}
#endif
#endif
