/* delivery.h: matches to agents, by call or by letter, and contacts that prove themselves; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_DELIVERY_H
#define BERTH_LIVE_MATCHMAKERD_DELIVERY_H

#include "live/matchmakerd/matchmakerd_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void delivery_send(void *user, agent to, const struct message *message, uint64_t token, uint32_t tag);
/* A match as it is told: with its present age, and the contacts of the agents it names. The caller unrefs it. */
struct tree *match_letter(struct matchmakerd *matchmakerd, const struct agent_row *to, const struct message *match,
                          int64_t at);
/* A list of how the agents that a match names are reached. The caller unrefs it. */
struct tree *match_contacts(struct matchmakerd *matchmakerd, const struct match_told *told);
/* Calls an agent whose contact is good; fills in the address. Returns the call's id. */
uint64_t contact_send(struct matchmakerd *matchmakerd, const struct agent_row *row, const char *path,
                      struct http_call *call, call_done_fn *done, void *user);
#define CHECKS_MAX 16 /* checks of one account at a time */
/* Asks the agent's contact address, if it has one, to prove itself within that time; then answers the request, if there
 * is one. False when too many checks of its account are under way. */
bool contact_check(struct matchmakerd *matchmakerd, uint32_t who, struct request *waits, int64_t most);
/* Tells whose contact could not be checked, when its time is over. INT64_MAX: at the end, all of them. */
void checks_sweep(struct matchmakerd *matchmakerd, int64_t now);

#ifdef __cplusplus
}
#endif
#endif
