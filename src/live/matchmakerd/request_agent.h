/* request_agent.h: which agent a request speaks for, and which ads it may see; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_REQUEST_AGENT_H
#define BERTH_LIVE_MATCHMAKERD_REQUEST_AGENT_H

#include "live/matchmakerd/matchmakerd_state.h"

#ifdef __cplusplus
extern "C" {
#endif

uint64_t request_handle(
    struct request *request); /* of the agent that it speaks for, known or not; 0: its name is malformed */
bool request_any(const struct request *request);             /* may it see what is everybody's? */
bool request_administers(const struct request *request);     /* may it change that? */
bool request_serves(const struct request *request);          /* may it ask for machines for others? */
bool identity_owns(const char *owner, const char *identity); /* the same, or one that `owner` has delegated to */
/* The place of the agent that the request speaks for (Berth-Agent), added if new; TEXTMAP_NONE, after a problem was
 * answered, when its name is malformed. */
uint32_t request_agent(struct request *request);
/* By this field an agent says which process under its name it is, "NUMBER.PROCESS": one that began before another is told so, with 409. */
#define INCARNATION_FIELD "Berth-Incarnation"
bool request_is_superseded(const struct request *request,
                           uint32_t agent); /* for a request that was answered before, and lasts */
#define INCARNATION_MAX (UINT64_C(1) << 48)
/* The same for requests that lead to matches: with Berth-Introduced it is a problem, too, when the agent has not introduced itself here. */
uint32_t request_advertiser(struct request *request);
uint32_t request_agent_named(struct request *request, const char *name); /* by that name, which is valid */
void request_peer(struct request *request, uint32_t who, struct peer *ret);

/* May the caller see that ad at all? */
bool entry_is_own(const struct request *request,
                  const struct entry_view *view); /* is the ad of the caller's identity? */
bool request_sees(struct request *request, const struct entry_view *view);
/* The ad of an id, among those that the caller may see; false when there is none. */
bool entry_named(struct request *request, const char *id, struct entry_view *ret);
const char *entry_id(const struct matchmakerd *matchmakerd, const struct entry_view *view); /* "" when it has none */

#ifdef __cplusplus
}
#endif
#endif
