/* notifier.h: tells agents of their matches, each agent's in order, until the agent has heard or it is too late.
 *
 *     recipient (an agent) -> note -> note -> note        only the first note is on its way, or waits to be sent again
 *
 * A note that is not answered by a plain OK is sent again, after a pause that doubles. When the match's window is over the note is
 * given up, and that is counted and noted. A recipient without notes is forgotten. */
#ifndef BERTH_POOL_MATCHMAKER_NOTIFIER_H
#define BERTH_POOL_MATCHMAKER_NOTIFIER_H

#include "lang/base/map.h"
#include "pool/protocol/role.h"
#include "pool/protocol/timers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NOTIFIER_QUEUE_MAX (1u << 17) /* notes of one recipient: further ones are given up at once */

struct note {
    struct match_told told; /* its references are held */
    int64_t at;             /* when the match was made */
    uint32_t next;
};

struct recipient {
    uint64_t agent;
    uint32_t first, last, count; /* notes; count 0: the place is free, and first is the next free one */
    uint32_t token;              /* of the message on its way */
    uint32_t tries;              /* failed sends in a row */
    bool sent;                   /* the first note is on its way; else it waits until `retry` */
    int64_t retry;
};

struct notifier {
    const struct spans *spans;
    struct timers *timers; /* `which` is the recipient's place */
    uint32_t timer_what;
    struct map agents; /* agent -> recipient */
    struct recipient *recipients;
    uint32_t recipient_count, recipient_room, recipient_free;
    struct note *notes;
    uint32_t note_count, note_room, note_free;
    uint32_t tokens;
    uint64_t told, given_up;
    uint64_t waiting; /* notes */
};

void notifier_init(struct notifier *notifier, const struct spans *spans, struct timers *timers, uint32_t timer_what,
                   uint64_t seed);
void notifier_done(struct notifier *notifier);

/* Adds a match that was made now; its references are held anew. `age` is written at each sending. */
void notifier_add(struct notifier *notifier, const struct role_env *env, agent to, const struct match_told *told,
                  struct effects *effects);

/* A note was answered, or not. An answer that no note waits for is ignored. */
void notifier_answer(struct notifier *notifier, const struct role_env *env, uint64_t token, bool heard,
                     struct effects *effects);

/* A recipient's timer is due. */
void notifier_due(struct notifier *notifier, const struct role_env *env, uint32_t recipient, struct effects *effects);

bool notifier_valid(const struct notifier *notifier, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
