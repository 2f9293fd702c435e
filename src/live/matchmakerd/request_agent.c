/* request_agent.c: whom a request speaks for: which agent, by the field Berth-Agent, and what it may see and do. */
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "sys/names.h"

#include <stdio.h>
#include <string.h>

bool request_any(const struct request *request)
{
    return request->caller.scope & (SCOPE_ADMIN | SCOPE_OPERATE | SCOPE_AUDIT);
}

bool request_administers(const struct request *request)
{
    return request->caller.scope & (SCOPE_ADMIN | SCOPE_OPERATE);
}

bool request_serves(const struct request *request)
{
    return request->caller.scope & (SCOPE_SERVE | SCOPE_ADMIN);
}

bool identity_owns(const char *owner, const char *identity)
{
    size_t len = strlen(owner);

    return !strncmp(identity, owner, len) && (!identity[len] || identity[len] == '/');
}

/* Two processes with one identity and name are copies of one state: the one that began last counts, and the other is
 * told so. False after that was answered. Callers that do not say which process they are, are let through: tools, and
 * agents of earlier versions. */
static bool incarnation_take(struct request *request, struct agent_row *row)
{
    const char *field = exchange_field(request->exchange, INCARNATION_FIELD);
    unsigned long long number = 0, process = 0;

    if (!field)
        return true;
    if (sscanf(field, "%16llu.%16llx", &number, &process) != 2 || !number || number > INCARNATION_MAX || !process) {
        request_problem(request, 400, INCARNATION_FIELD ": expected a number and a process");
        return false;
    }
    if (number > row->incarnation) {
        if (row->incarnation && row->life != process)
            LOG(&request_matchmakerd(request)->log, LEVEL_INFO, "incarnation",
                log_text("identity", request_identity(request)), log_text("name", row->name),
                log_number("incarnation", (int64_t)number));
        row->incarnation = number;
        row->life = process;
    } else if (number < row->incarnation || process != row->life) {
        request_problem(request, 409, "superseded: incarnation %llu of this agent began later",
                        (unsigned long long)row->incarnation);
        return false;
    }
    return true;
}

bool request_is_superseded(const struct request *request, uint32_t who)
{
    const char *field = exchange_field(request->exchange, INCARNATION_FIELD);
    const struct agent_row *row = &request_matchmakerd(request)->agents.items[who];
    unsigned long long number, process;

    return field && row->incarnation && sscanf(field, "%16llu.%16llx", &number, &process) == 2 && process != row->life;
}

/* A new agent counts for its account: names cost nothing, but rows do. */
uint32_t request_agent_named(struct request *request, const char *name)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct identity *account = &matchmakerd->gate.callers.items[request->caller.account];
    uint32_t place = agents_find(&matchmakerd->agents, agent_handle(request_identity(request), name));

    if (place == TEXTMAP_NONE && account->agents >= config_count(&matchmakerd->config, CONFIG_ADS_PER_IDENTITY)) {
        request_problem(request, 429, "AdsPerIdentity: too many agents of this identity are known");
        return TEXTMAP_NONE;
    }
    place = agents_add(&matchmakerd->agents, request->caller.identity, request->caller.account, name, runner_now());
    if (!incarnation_take(request, &matchmakerd->agents.items[place]))
        return TEXTMAP_NONE;
    matchmakerd->agents.items[place].links = request->caller.links;
    memcpy(matchmakerd->agents.items[place].ids, request->caller.ids, sizeof request->caller.ids);
    return place;
}

uint32_t request_agent(struct request *request)
{
    const char *name = exchange_field(request->exchange, "Berth-Agent");

    if (name && !agent_name_is_good(name, strlen(name))) {
        request_problem(request, 400, "Berth-Agent: expected a name of up to %d letters, digits, '.', '_' and '-'",
                        AGENT_NAME_MAX);
        return TEXTMAP_NONE;
    }
    return request_agent_named(request, name ? name : "");
}

uint32_t request_advertiser(struct request *request)
{
    uint32_t who = request_agent(request);

    if (who == TEXTMAP_NONE || !exchange_field(request->exchange, "Berth-Introduced") ||
        request_matchmakerd(request)->agents.items[who].introduced)
        return who;
    request_problem(request, 412, "this matchmaker has not been told how the agent is reached: PUT /v1/agents/NAME");
    return TEXTMAP_NONE;
}

uint64_t request_handle(struct request *request)
{
    const char *name = exchange_field(request->exchange, "Berth-Agent");

    if (!request->handle && (!name || agent_name_is_good(name, strlen(name))))
        request->handle = agent_handle(request_identity(request), name ? name : "");
    return request->handle;
}

void request_peer(struct request *request, uint32_t who, struct peer *ret)
{
    *ret = (struct peer){.agent = request_matchmakerd(request)->agents.items[who].handle,
                         .identity = request_identity(request),
                         .any = request_serves(request)};
}
