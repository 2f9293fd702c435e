/* shut_out.c: agents whose token was revoked, or whose user was disabled, lose what they have in the pool. */
#include "live/matchmakerd/shut_out.h"
#include "live/matchmakerd/ad_take.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "pool/protocol/account.h"

#include <string.h>

/* Who is meant: those who showed that token, or those of that user. */
struct meant {
    const char *token, *user;
};

static bool agent_is_meant(const struct matchmakerd *matchmakerd, const struct agent_row *row,
                           const struct meant *meant)
{
    if (meant->user) {
        const char *identity = caller_text(&matchmakerd->gate.callers, row->identity);

        return identity_is_of(identity, strlen(identity), meant->user);
    }
    for (uint32_t i = 0; i < row->links; i++)
        if (!strcmp(row->ids[i], meant->token))
            return true;
    return false;
}

/* Is the ad of an agent that is meant, or a request that another agent has made for the user? */
static bool ad_is_meant(const struct matchmakerd *matchmakerd, uint32_t who, const struct entry_view *view,
                        const struct meant *meant)
{
    const char *owner;
    size_t len;

    if (agent_is_meant(matchmakerd, &matchmakerd->agents.items[who], meant))
        return true;
    return meant->user && view->request && ad_string(view->ad, "Owner", &owner, &len) &&
           identity_is_of(owner, len, meant->user);
}

static bool shut_out(struct request *request, const struct meant *meant)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);

    for (uint32_t i = 0; i < matchmakerd->agents.texts.places; i++) {
        struct agent_row *row = &matchmakerd->agents.items[i];

        if (!row->handle || !agent_is_meant(matchmakerd, row, meant))
            continue;
        row->serves = row->introduced = false;
        row->contact_state = CONTACT_NONE;
        row->contact_try++; /* a check under way has no effect any more */
    }
    for (uint32_t i = 0; i < matchmakerd->ids.texts.places; i++) {
        struct ad_id *ad = &matchmakerd->ids.items[i];
        uint32_t who = ad->live ? agents_find(&matchmakerd->agents, ad->agent) : TEXTMAP_NONE;
        struct message message = {.kind = MESSAGE_WITHDRAW};
        struct entry_view view;
        struct peer peer;

        if (who == TEXTMAP_NONE || !matchmaker_find(matchmakerd->matchmaker, ad->agent, ad->id, &view) ||
            !ad_is_meant(matchmakerd, who, &view, meant))
            continue;
        message.u.withdraw = (struct withdraw){.id = view.id, .version = view.version};
        peer =
            (struct peer){.agent = ad->agent,
                          .identity = caller_text(&matchmakerd->gate.callers, matchmakerd->agents.items[who].identity)};
        if (!request_ask(request, &peer, &message))
            return false;
        if (matchmakerd->reply.u.got.reason == REASON_OK)
            id_unlive(matchmakerd, i);
    }
    return true;
}

/* Forgets the machines of those agents: nothing more will be heard of them, so they are not away but gone. */
static bool machines_forget(struct request *request, const struct meant *meant)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct machine_view view;

    for (uint32_t from = 0; matchmaker_next_machine(matchmakerd->matchmaker, from, &view, &from);) {
        uint32_t who = agents_find(&matchmakerd->agents, view.agent);
        struct message message = {.kind = MESSAGE_STANDS};
        struct peer peer = {.agent = view.agent};

        if (who == TEXTMAP_NONE || !agent_is_meant(matchmakerd, &matchmakerd->agents.items[who], meant))
            continue;
        message.u.stands = (struct stands){.id = view.id, .version = view.version, .until = -1, .gone = true};
        peer.identity = caller_text(&matchmakerd->gate.callers, matchmakerd->agents.items[who].identity);
        if (!request_ask(request, &peer, &message))
            return false;
    }
    return true;
}

bool agents_revoke(struct request *request, const char *id)
{
    const struct meant meant = {.token = id};

    return shut_out(request, &meant) && machines_forget(request, &meant);
}

bool agents_disable(struct request *request, const char *name)
{
    return shut_out(request, &(struct meant){.user = name});
}
