/* machine_resource.h: a machine as a resource: its row with a tag, a time and links, or what it is as a GRDL resource; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_MACHINE_RESOURCE_H
#define BERTH_LIVE_MATCHMAKERD_MACHINE_RESOURCE_H

#include "live/http/request.h"
#include "pool/matchmaker/matchmaker.h"

#ifdef __cplusplus
extern "C" {
#endif

struct message;

/* What those watch who wait for a change of that machine (resource_waits) ... */
uint64_t machine_mark(agent who, uint64_t id);
/* ... and marks them, if the message of that agent is about one. */
void machine_message_mark(struct front *front, agent who, const struct message *message);

/* Answers with a machine: `row`, with its claims and its ad, as far as the caller may know them. `forgettable`: the caller may let it be forgotten, now. */
void machine_answer(struct request *request, const struct machine_view *view, const struct tree *row, bool own,
                    bool forgettable);

#ifdef __cplusplus
}
#endif
#endif
