/* admit.c: who makes a request, and may it be made: identity, scope, pace, and how much is under way.
 *
 *     a token, or the kernel's word -> an identity and its scopes -> that of the route? -> too fast? -> too much at once?
 *
 * All of it is settled from the head alone: nothing of a body is read before. */
#include "live/matchmakerd/matchmakerd_parts.h"

#include <arpa/inet.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define LOCAL_SCOPES (SCOPE_AD_READ | SCOPE_AD_WRITE | SCOPE_JOB_SUBMIT | SCOPE_JOB_OWN | SCOPE_CLAIM | SCOPE_MATCH)
#define RESERVED_IDENTITY "matchmaker" /* ours: nobody else may be called so */
#define LOCAL_SPAN MINUTE              /* that the name of a local user is remembered */

/* ------------------------------------------------------------------------------------------------------------ caller */

static bool token_is_revoked(void *user, const char *id)
{
    const struct matchmakerd *matchmakerd = user;

    return textmap_find(&matchmakerd->revoked, id, strlen(id)) != TEXTMAP_NONE;
}

/* The name of a user of this machine. It is remembered for a while: where names come from a directory, looking one up can take long, and
 * all others would wait. */
static const char *local_name(struct matchmakerd *matchmakerd, uint32_t uid, int64_t now)
{
    struct local_user *user = &matchmakerd->local_users[uid % LOCAL_USERS];
    struct passwd row, *found = NULL;
    char text[2048];

    if (user->until > now && user->uid == uid)
        return user->name;
    getpwuid_r(uid, &row, text, sizeof text, &found);
    if (found && subject_valid(found->pw_name, strlen(found->pw_name)) &&
        strcmp(found->pw_name, RESERVED_IDENTITY) != 0)
        snprintf(user->name, sizeof user->name, "%s", found->pw_name);
    else
        snprintf(user->name, sizeof user->name, "uid.%u", uid);
    user->uid = uid;
    user->until = now + LOCAL_SPAN;
    return user->name;
}

/* A user of this machine, as the kernel says. Whoever runs the service, and the superuser, may do everything. */
static bool caller_by_socket(struct matchmakerd *matchmakerd, const struct exchange *exchange, int64_t now,
                             struct caller *ret)
{
    const char *name;
    uint32_t uid;

    if (!exchange_peer_user(exchange, &uid))
        return false;
    name = local_name(matchmakerd, uid, now);
    *ret = (struct caller){
        .identity = callers_add(&matchmakerd->callers, name, strlen(name), now),
        .scope = uid == geteuid() || uid == 0 ? SCOPE_ALL : LOCAL_SCOPES,
    };
    ret->account = ret->identity;
    return true;
}

/* 0, or the status and why not. */
static unsigned caller_find(struct matchmakerd *matchmakerd, const struct exchange *exchange, int64_t now,
                            struct caller *ret, const char **ret_why)
{
    const char *field = exchange_field(exchange, "Authorization");
    enum token_fault fault;
    struct grant grant;

    ret->identity = CALLERS_NONE;
    if (!field)
        return caller_by_socket(matchmakerd, exchange, now, ret) ? 0 : (*ret_why = "a token is needed", 401);
    if (strncasecmp(field, "Bearer ", 7) != 0)
        return *ret_why = "the token must be a bearer token", 401;
    field += 7;
    field += strspn(field, " ");
    fault = token_check(matchmakerd->tokens, &matchmakerd->token_keys, keyring_pool(matchmakerd->keys), field,
                        strlen(field), runner_wall() / SECOND, token_is_revoked, matchmakerd, &grant);
    if (fault != TOKEN_OK) {
        metrics_add(matchmakerd->metrics, METRIC_TOKENS_REFUSED, fault, 0, 1);
        *ret_why = token_fault_words(fault);
        return 401;
    }
    if (!strcmp(grant.subject, RESERVED_IDENTITY))
        return *ret_why = "that identity is the matchmaker's own", 401;
    *ret = (struct caller){.identity = callers_add(&matchmakerd->callers, grant.subject, strlen(grant.subject), now),
                           .scope = grant.scope,
                           .expires = grant.expires,
                           .links = grant.links};
    memcpy(ret->ids, grant.ids, sizeof ret->ids);
    ret->account = callers_add(&matchmakerd->callers, grant.root, strlen(grant.root), now);
    return 0;
}

bool caller_is_revoked(const struct matchmakerd *matchmakerd, const struct caller *caller)
{
    for (uint32_t i = 0; i < caller->links; i++)
        if (textmap_find(&matchmakerd->revoked, caller->ids[i], strlen(caller->ids[i])) != TEXTMAP_NONE)
            return true;
    return false;
}

const char *request_identity(const struct request *request)
{
    return request->caller.identity == CALLERS_NONE
               ? ""
               : caller_text(&request->matchmakerd->callers, request->caller.identity);
}

bool request_any(const struct request *request)
{
    return request->caller.scope & SCOPE_ADMIN;
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

/* Two by one identity and name are copies of one state: whoever began last is the one, and the other is told. False, and it was. Those who do
 * not say which they are, are not looked at: tools, and agents of before. */
static bool incarnation_take(struct request *request, struct agent_row *row)
{
    const char *field = exchange_field(request->exchange, INCARNATION_FIELD);
    unsigned long long number = 0, process = 0;

    if (!field)
        return true;
    if (sscanf(field, "%16llu.%16llx", &number, &process) != 2 || !number || number > INCARNATION_MAX || !process) {
        request_problem(request, 400, INCARNATION_FIELD ": a number and a process are expected");
        return false;
    }
    if (number > row->incarnation) {
        if (row->incarnation && row->life != process)
            LOG(&request->matchmakerd->log, LEVEL_INFO, "incarnation", log_text("identity", request_identity(request)),
                log_text("name", row->name), log_number("incarnation", (int64_t)number));
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
    const struct agent_row *row = &request->matchmakerd->agents.items[who];
    unsigned long long number, process;

    return field && row->incarnation && sscanf(field, "%16llu.%16llx", &number, &process) == 2 && process != row->life;
}

/* One that is new counts for its account: names cost nothing, and rows do. */
uint32_t request_agent_named(struct request *request, const char *name)
{
    struct matchmakerd *matchmakerd = request->matchmakerd;
    struct identity *account = &matchmakerd->callers.items[request->caller.account];
    uint32_t place = agents_find(&matchmakerd->agents, agent_handle(request_identity(request), name));

    if (place == TEXTMAP_NONE && account->agents >= config_count(&matchmakerd->config, CONFIG_ADS_PER_IDENTITY)) {
        request_problem(request, 429, "AdsPerIdentity: so many agents are known of this identity");
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
        request_problem(request, 400, "Berth-Agent: a name of up to %d letters, digits, '.', '_' and '-' is expected",
                        AGENT_NAME_MAX);
        return TEXTMAP_NONE;
    }
    return request_agent_named(request, name ? name : "");
}

uint32_t request_advertiser(struct request *request)
{
    uint32_t who = request_agent(request);

    if (who == TEXTMAP_NONE || !exchange_field(request->exchange, "Berth-Introduced") ||
        request->matchmakerd->agents.items[who].introduced)
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
    *ret = (struct peer){.agent = request->matchmakerd->agents.items[who].handle,
                         .identity = request_identity(request),
                         .any = request_serves(request)};
}

/* ---------------------------------------------------------------------------------------------------------- admission */

static void audit_refusal(const struct request *request, unsigned status, const char *why)
{
    char from[ADDRESS_TEXT_MAX];

    LOG_AUDIT(&request->matchmakerd->log, "refused", log_word("request", request->number),
              log_text("route", request->route ? request->route->id : NULL), log_number("status", status),
              log_text("subject", request_identity(request)),
              log_text("from", address_print(exchange_from(request->exchange), from)), log_text("why", why));
}

/* A renewal without text has a pace of its own, so that heart beats get through when all else is too much. */
static enum caller_pace request_pace(const struct request *request)
{
    const char *len = exchange_field(request->exchange, "Content-Length");

    if (request->route->handle == api_ad_put && (!len || !strcmp(len, "0")))
        return PACE_BEAT;
    return request->caller.scope & (SCOPE_AD_WRITE | SCOPE_CLAIM) ? PACE_AGENT : PACE_PERSON;
}

static bool request_paced(struct request *request, int64_t now)
{
    struct matchmakerd *matchmakerd = request->matchmakerd;
    enum caller_pace pace = request_pace(request);
    uint64_t rate = config_count(&matchmakerd->config,
                                 pace == PACE_PERSON ? CONFIG_REQUESTS_PER_SECOND : CONFIG_AGENT_REQUESTS_PER_SECOND);
    char seconds[24];
    int64_t wait;

    if (caller_may(&matchmakerd->callers, request->caller.account, pace, (double)rate, now, &wait))
        return true;
    snprintf(seconds, sizeof seconds, "%lld", (long long)(wait / SECOND + 1));
    request_problem_with(request, 429,
                         pace == PACE_PERSON ? "RequestsPerSecond: too many requests a second"
                                             : "AgentRequestsPerSecond: too many requests a second",
                         "Retry-After", seconds);
    return false;
}

/* The Host that a browser is told by another site's page is not ours: on loopback only addresses, this machine's own name for itself and
 * that of PublicUrl are answered. */
bool host_is_known(const struct request *request)
{
    const char *host = exchange_field(request->exchange, "Host");
    const char *public_url = config_text(&request->matchmakerd->config, CONFIG_PUBLIC_URL);
    const struct sockaddr *from = exchange_from(request->exchange);
    unsigned char bytes[16];
    char name[ADDRESS_HOST_MAX + 1];
    struct url url;
    size_t len;

    if (from->sa_family == AF_UNIX || address_sort(from) != ADDRESS_LOOPBACK)
        return true;
    if (!host) /* HTTP/1.0; the guard wants it in 1.1 */
        return true;
    len = *host == '[' ? strcspn(host, "]") : strcspn(host, ":");
    if (len > ADDRESS_HOST_MAX)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(*host == '[' ? len - 1 : len), *host == '[' ? host + 1 : host);
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1 ||
           !strcasecmp(name, "localhost") ||
           (url_read(public_url, strlen(public_url), &url, NULL) == 0 && !strcasecmp(name, url.host));
}

/* Browsers say from which page a script calls: only from one of ours. Others say nothing. */
bool origin_is_ours(const struct request *request)
{
    const char *origin = exchange_field(request->exchange, "Origin"), *host = exchange_field(request->exchange, "Host");
    const char *mark = origin ? strstr(origin, "://") : NULL;

    return !origin || (mark && host && !strcasecmp(mark + 3, host));
}

bool request_admitted(struct request *request, int64_t now)
{
    struct matchmakerd *matchmakerd = request->matchmakerd;
    const struct route *route = request->route;
    bool metrics_open = route->handle == api_metrics && config_flag(&matchmakerd->config, CONFIG_METRICS) &&
                        address_sort(exchange_from(request->exchange)) == ADDRESS_LOOPBACK;
    const char *why = NULL;
    unsigned status = caller_find(matchmakerd, request->exchange, now, &request->caller, &why);

    if (route->scope == SCOPE_NONE || metrics_open)
        return true;
    if (!status && !(request->caller.scope & route->scope)) {
        status = 403;
        why = "the token does not have the scope that this needs";
    }
    if (status) {
        struct buf words;

        audit_refusal(request, status, why);
        buf_init(&words);
        buf_adds(&words, why);
        if (status == 403) {
            buf_adds(&words, ": ");
            scopes_print(&words, route->scope);
        }
        request_problem(request, status, "%s", status == 401 ? "a good token is needed" : buf_string(&words));
        buf_done(&words);
        return false;
    }
    return request_paced(request, now);
}

/* ---------------------------------------------------------------------------------------------------- what is under way */

#define BODIES_MAX (UINT64_C(512) << 20)        /* bytes of all requests under way ... */
#define BODIES_ACCOUNT_MAX (UINT64_C(64) << 20) /* ... and of those of one account */

bool request_counted(struct request *request)
{
    struct matchmakerd *matchmakerd = request->matchmakerd;
    const char *len = exchange_field(request->exchange, "Content-Length");
    uint64_t bytes = len ? strtoull(len, NULL, 10) : 0;
    struct identity *account;

    if (request->caller.identity == CALLERS_NONE)
        return true;
    account = &matchmakerd->callers.items[request->caller.account];
    if (matchmakerd->bodies + bytes > BODIES_MAX) {
        request_problem(request, 503, "too much is under way; try again soon");
        return false;
    }
    if (account->bodies + bytes > BODIES_ACCOUNT_MAX ||
        account->requests >= config_count(&matchmakerd->config, CONFIG_CONNECTIONS) / 2) {
        request_problem(request, 429, "too many requests of this identity are under way");
        return false;
    }
    request->counted = true;
    request->body = bytes;
    matchmakerd->bodies += bytes;
    account->bodies += bytes;
    account->requests++;
    matchmakerd->callers.items[request->caller.identity].holds++;
    return true;
}

void request_uncount(struct request *request)
{
    struct matchmakerd *matchmakerd = request->matchmakerd;
    struct identity *account;

    if (!request->counted)
        return;
    account = &matchmakerd->callers.items[request->caller.account];
    matchmakerd->bodies -= request->body;
    account->bodies -= request->body;
    account->requests--;
    matchmakerd->callers.items[request->caller.identity].holds--;
}
