/* agent_fetch.c: what an agent asks a matchmaker besides its role: the answer to a GET or a POST, in the pool of somebody it knows. */
#include "live/agent/agent_parts.h"

#include "lang/base/mem.h"

#include <stdlib.h>

struct fetching {
    agent_fetched_fn *done;
    void *user;
};

static void fetch_done(void *user, const struct http_outcome *outcome)
{
    struct fetching *fetching = user;
    bool good = outcome->result == CALL_ANSWERED && outcome->status / 100 == 2;

    fetching->done(fetching->user, outcome->status, good ? outcome->body : NULL, good ? outcome->len : 0);
    free(fetching);
}

static bool ask(struct live_agent *live, agent who, const char *method, const char *path, const struct buf *body,
                agent_fetched_fn *done, void *user)
{
    struct contact *contact;
    struct membership *pool = membership_of(live, who, &contact);
    struct agent_call call = {.url = ""};
    struct fetching *fetching;

    if (live->closing || !pool || !agent_call(pool, &call, method, path))
        return false;
    if (body) {
        call.call.type = TYPE_CLASSAD;
        call.call.body = body->text;
        call.call.len = body->len;
    }
    fetching = mem_alloc(sizeof *fetching);
    *fetching = (struct fetching){done, user};
    client_send(pool->client, &call.call, fetch_done, fetching);
    return true;
}

bool agent_fetch(struct live_agent *live, agent who, const char *path, agent_fetched_fn *done, void *user)
{
    return ask(live, who, "GET", path, NULL, done, user);
}

bool agent_post(struct live_agent *live, agent who, const char *path, const struct buf *body, agent_fetched_fn *done,
                void *user)
{
    return ask(live, who, "POST", path, body, done, user);
}
