/* gate.c: the caller of a request: its identity, its pace, and how much it has under way. All of this is settled from
 * the head alone. */
#include "live/http/gate.h"

#include "live/auth/jwt.h"
#include "live/config/address.h"
#include "live/http/issuers.h"
#include "pool/protocol/role.h"
#include "sys/clock.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PROVED_LEAST 20                         /* microseconds: what takes longer was a proof */
#define BODIES_MAX (UINT64_C(512) << 20)        /* bytes of all bodies under way ... */
#define BODIES_ACCOUNT_MAX (UINT64_C(64) << 20) /* ... and of those of one account, by default */

void gate_init(struct gate *gate, const struct gate_settings *settings, uint64_t seed)
{
    *gate = (struct gate){.settings = *settings};
    if (!gate->settings.bodies_account)
        gate->settings.bodies_account = BODIES_ACCOUNT_MAX;
    callers_init(&gate->callers, seed);
    buf_init(&gate->why);
}

void gate_done(struct gate *gate)
{
    if (!gate)
        return;
    callers_done(&gate->callers);
    buf_done(&gate->why);
}

/* ------------------------------------------------------------------------------------------------------------ caller */

/* Is the caller's user disabled? Whoever may do everything by the kernel's word runs the daemon: were that one shut out, nobody could undo it. */
static unsigned caller_disabled(const struct gate *gate, const struct caller *caller, const char **ret_why)
{
    const char *words = NULL;

    if (gate->settings.disabled && caller->identity != CALLERS_NONE && !(caller->local && caller->scope == SCOPE_ALL))
        words = gate->settings.disabled(gate->settings.user, caller->local ? NULL : &caller->proof,
                                        caller_text(&gate->callers, caller->identity));
    if (!words)
        return 0;
    *ret_why = words;
    return 403;
}

static unsigned caller_by_socket(struct gate *gate, const struct exchange *exchange, int64_t now, struct caller *ret,
                                 const char **ret_why)
{
    struct gate_local local = {.status = 403, .why = "this is for the user who runs it"};
    uint32_t uid;

    if (!gate->settings.local || !exchange_peer_user(exchange, &uid))
        return *ret_why = "a token is needed", 401;
    gate->settings.local(gate->settings.user, uid, now, &local);
    ret->later = local.later;
    if (local.later)
        return *ret_why = GATE_LATER, 503;
    if (local.scope == SCOPE_NONE)
        return *ret_why = local.why, local.status;
    *ret = (struct caller){.identity = callers_add(&gate->callers, local.name, strlen(local.name), now),
                           .scope = local.scope,
                           .local = true,
                           .uid = uid};
    ret->account = ret->identity;
    return caller_disabled(gate, ret, ret_why);
}

/* May a token be proved now that was not shown before? */
static bool proof_is_due(struct gate *gate, int64_t now)
{
    if (now >= gate->proving + GATE_PROVES_IN) {
        gate->proving = now;
        gate->proved = 0;
    }
    return gate->proved < GATE_PROVES;
}

static bool token_is_known(const struct gate *gate, const struct proof *proof, const char *token, size_t len)
{
    struct grant grant;

    return token_cache_find(proof->tokens, token, len, &grant) ||
           (gate->settings.issuers && issuers_know(gate->settings.issuers, token, len));
}

/* Returns TOKEN_OK, with `*ret_later`, when it is to be proved later. */
static enum token_fault token_prove(struct gate *gate, const char *token, int64_t now, bool late, struct proof *proof,
                                    struct grant *ret, bool *ret_later)
{
    enum token_fault fault = TOKEN_UNKNOWN_KEY;
    size_t len = strlen(token);
    struct err why = {0};
    int64_t began;

    *ret_later = false;
    if (gate->settings.proof && gate->settings.proof(gate->settings.user, token, len, proof)) {
        bool due = proof_is_due(gate, now);

        assert(proof->revoked);
        if (!due && !late && !token_is_known(gate, proof, token, len)) {
            *ret_later = true;
            return TOKEN_OK;
        }
        began = clock_now();
        if (gate->settings.issuers && jwt_is(token, len))
            fault = issuers_check(gate->settings.issuers, token, len, clock_wall() / SECOND, proof->revoked,
                                  proof->user, ret, &why);
        else
            fault = token_check(proof, token, len, clock_wall() / SECOND, ret);
        began = clock_now() - began;
        gate->proved += began > PROVED_LEAST ? began : 0; /* what was shown before costs next to nothing */
    }
    if (fault != TOKEN_OK && gate->settings.refused)
        gate->settings.refused(gate->settings.user, proof, fault);
    buf_reset(&gate->why);
    buf_adds(&gate->why, token_fault_words(fault));
    if (*why.text)
        buf_addf(&gate->why, " (%s)", why.text);
    return fault;
}

unsigned gate_caller(struct gate *gate, const struct exchange *exchange, int64_t now, bool late, struct caller *ret,
                     const char **ret_why)
{
    const char *field = exchange_field(exchange, "Authorization");
    enum token_fault fault;
    struct proof proof = {0};
    struct grant grant;
    bool later;

    *ret = (struct caller){.identity = CALLERS_NONE};
    if (!field)
        return caller_by_socket(gate, exchange, now, ret, ret_why);
    if (strncasecmp(field, "Bearer ", 7) != 0)
        return *ret_why = "the token must be a bearer token", 401;
    field += 7;
    field += strspn(field, " ");
    fault = token_prove(gate, field, now, late, &proof, &grant, &later);
    ret->proves = later;
    if (later)
        return *ret_why = GATE_LATER, 503;
    if (fault == TOKEN_KEYS) /* which is not the caller's fault, and passes */
        return *ret_why = "the keys of the token's issuer have not come yet; try again soon", 503;
    if (fault != TOKEN_OK && !gate->settings.issuers && jwt_is(field, strlen(field)))
        return *ret_why = GATE_NO_INSTITUTE, 401;
    if (fault != TOKEN_OK)
        return *ret_why = buf_string(&gate->why), 401;
    if (gate->settings.reserved && !strcmp(grant.subject, gate->settings.reserved))
        return *ret_why = "that identity is the matchmaker's own", 401;
    *ret = (struct caller){.identity = callers_add(&gate->callers, grant.subject, strlen(grant.subject), now),
                           .scope = grant.scope,
                           .expires = grant.expires,
                           .links = grant.links,
                           .proof = proof,
                           .foreign = grant.foreign,
                           .grouped = grant.foreign && grant.grouped};
    memcpy(ret->group, grant.group, sizeof ret->group);
    memcpy(ret->unix_account, grant.unix_account, sizeof ret->unix_account);
    memcpy(ret->ids, grant.ids, sizeof ret->ids);
    ret->account = callers_add(&gate->callers, grant.root, strlen(grant.root), now);
    return caller_disabled(gate, ret, ret_why);
}

const char *gate_name(const struct gate *gate, const struct caller *caller)
{
    return caller->identity == CALLERS_NONE ? "" : caller_text(&gate->callers, caller->identity);
}

unsigned gate_shuts_out(const struct gate *gate, const struct caller *caller, const char **ret_why)
{
    for (uint32_t i = 0; i < caller->links; i++)
        if (caller->proof.revoked(caller->proof.user, caller->ids[i])) {
            *ret_why = token_fault_words(TOKEN_REVOKED);
            return 401;
        }
    return caller_disabled(gate, caller, ret_why);
}

/* -------------------------------------------------------------------------------------------------- what it is called */

static bool url_names(const char *text, const char *host)
{
    struct url url;

    return text && url_read(text, strlen(text), &url, NULL) == 0 && !strcasecmp(host, url.host);
}

/* Is the Host one of ours? A page of another site may send a browser here under its own name: so on loopback only
 * addresses, localhost and the names that others know the daemon by are answered. */
bool gate_host_is_known(const struct gate *gate, const struct exchange *exchange)
{
    const char *host = exchange_field(exchange, "Host");
    const struct sockaddr *from = exchange_from(exchange);
    unsigned char bytes[16];
    char name[ADDRESS_HOST_MAX + 1];
    size_t len;

    if (from->sa_family == AF_UNIX || address_sort(from) != ADDRESS_LOOPBACK)
        return true;
    if (!host) /* HTTP/1.0; in 1.1 the guard demands it */
        return true;
    len = *host == '[' ? strcspn(host, "]") : strcspn(host, ":");
    if (len > ADDRESS_HOST_MAX)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(*host == '[' ? len - 1 : len), *host == '[' ? host + 1 : host);
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1 ||
           !strcasecmp(name, "localhost") || url_names(gate->called, name) ||
           (gate->settings.config && url_names(config_text(gate->settings.config, CONFIG_PUBLIC_URL), name));
}

/* Browsers say from which site a script calls: only our own is served. Other clients say nothing. */
bool gate_origin_is_ours(const struct exchange *exchange)
{
    const char *origin = exchange_field(exchange, "Origin"), *host = exchange_field(exchange, "Host");
    const char *mark = origin ? strstr(origin, "://") : NULL;

    return !origin || (mark && host && !strcasecmp(mark + 3, host));
}

/* --------------------------------------------------------------------------------------------- pace, and what is under way */

bool gate_may(struct gate *gate, const struct caller *caller, enum caller_pace pace, int64_t now, int64_t *ret_wait)
{
    enum config_key key = pace == PACE_PERSON ? CONFIG_REQUESTS_PER_SECOND : CONFIG_AGENT_REQUESTS_PER_SECOND;

    return !gate->settings.config || caller_may(&gate->callers, caller->account, pace,
                                                (double)config_count(gate->settings.config, key), now, ret_wait);
}

unsigned gate_enter(struct gate *gate, const struct caller *caller, uint64_t bytes, const char **ret_why)
{
    const struct config *config = gate->settings.config;
    struct identity *account;

    account = &gate->callers.items[caller->account];
    if (gate->bodies + bytes > BODIES_MAX)
        return *ret_why = "too much is under way; try again soon", 503;
    if (account->bodies + bytes > gate->settings.bodies_account ||
        (config && account->requests >= config_count(config, CONFIG_CONNECTIONS) / 2))
        return *ret_why = "too many requests of this identity are under way", 429;
    gate->bodies += bytes;
    account->bodies += bytes;
    account->requests++;
    gate->callers.items[caller->identity].holds++;
    return 0;
}

void gate_leave(struct gate *gate, const struct caller *caller, uint64_t bytes)
{
    struct identity *account = &gate->callers.items[caller->account];

    gate->bodies -= bytes;
    account->bodies -= bytes;
    account->requests--;
    gate->callers.items[caller->identity].holds--;
}
