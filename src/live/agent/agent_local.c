/* agent_local.c: messages to an agent's own role from within the process: its answer comes back by a function, not by HTTP. */
#include "live/agent/agent_parts.h"

#include "lang/base/mem.h"

#include <stdlib.h>

#define LOCAL_TOKEN (UINT64_C(1) << 63) /* so that they are not taken for those of others */

struct local_call {
    agent_local_fn *done;
    void *user;
};

void agent_local(struct live_agent *live, const struct peer *peer, const struct message *message, agent_local_fn *done,
                 void *user)
{
    struct local_call *call = mem_alloc(sizeof *call);
    uint64_t token = LOCAL_TOKEN | ++live->tokens_given;

    *call = (struct local_call){.done = done, .user = user};
    map_set(&live->locals, token, (uint64_t)(uintptr_t)call);
    runner_event(live->runner,
                 &(struct event){.kind = EVENT_MESSAGE, .token = token, .peer = peer, .message = message});
}

bool agent_local_reply(struct live_agent *live, uint64_t token, const struct message *message)
{
    uint64_t value = token & LOCAL_TOKEN ? map_find(&live->locals, token) : MAP_NONE;
    struct local_call call;

    if (value == MAP_NONE)
        return token & LOCAL_TOKEN;
    call = *(struct local_call *)(uintptr_t)value;
    free((void *)(uintptr_t)value);
    map_remove(&live->locals, token);
    call.done(call.user, message);
    return true;
}

/* Ends all calls from within the process: those that have no answer yet get none. */
void agent_local_done(struct live_agent *live)
{
    uint64_t token, value;
    uint32_t at = 0;

    while (map_next(&live->locals, &at, &token, &value)) {
        struct local_call *call = (struct local_call *)(uintptr_t)value;

        call->done(call->user, NULL);
        free(call);
    }
    map_done(&live->locals);
}
