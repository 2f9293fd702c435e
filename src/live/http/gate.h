/* gate.h: who makes a request: proved by a token, or by the kernel where it comes by a Unix socket; and how much each has under way.
 *
 *     Authorization: Bearer ...   -> proof: whose keys, for which audience, what is revoked -> subject, scopes
 *     a Unix socket, no token     -> local: the daemon's word on that user of the machine   -> a name, scopes
 *
 * A daemon has one gate for each interface that it offers. What was delegated counts for the one that it was delegated from, its account. */
#ifndef BERTH_LIVE_HTTP_GATE_H
#define BERTH_LIVE_HTTP_GATE_H

#include "live/auth/token.h"
#include "live/config/config.h"
#include "live/http/callers.h"
#include "live/http/server.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Who makes a request. */
struct caller {
    uint32_t identity; /* its place; CALLERS_NONE: nobody */
    uint32_t account;  /* the place of what it counts for */
    scopes scope;
    bool local;      /* by the kernel's word */
    int64_t expires; /* of its token, in seconds; 0: never */
    uint32_t links;  /* of its token, and the id of each: any of them may be revoked */
    char ids[TOKEN_LINKS_MAX][TOKEN_ID_DIGITS + 1];
    struct proof proof; /* that its token has passed */
};

struct gate_settings {
    void *user;
    /* What that token is held against; false: nothing can be said of tokens yet. NULL: no token opens it. */
    bool (*proof)(void *user, const char *token, size_t len, struct proof *ret);
    /* What that user of this machine may do, and its name here; SCOPE_NONE: nothing. NULL: a token is needed from them too. */
    scopes (*local)(void *user, uint32_t uid, int64_t now, char ret_name[TOKEN_NAME_MAX + 1]);
    /* A token was, that was held against that (zeros: against nothing). May be NULL. */
    void (*refused)(void *user, const struct proof *proof, enum token_fault fault);
    const char *reserved;        /* an identity that nobody comes by; NULL: none */
    const struct config *config; /* for the limits on what a caller may do; NULL: there are none */
    bool people_are_agents;  /* RequestsPerSecond, which is for people, is not asked for: all have the agents' pace */
    uint64_t bodies_account; /* bytes of the requests of one account under way; 0: 64 MiB */
};

struct gate {
    struct gate_settings settings;
    struct callers callers;
    uint64_t bodies;    /* bytes of requests under way */
    const char *called; /* the URL that others know it by; NULL: none. Lent */
};

void gate_init(struct gate *gate, const struct gate_settings *settings, uint64_t seed);
void gate_done(struct gate *gate);

/* 0, or the status and why not (static); then there is no caller. */
unsigned gate_caller(struct gate *gate, const struct exchange *exchange, int64_t now, struct caller *ret,
                     const char **ret_why);
const char *gate_name(const struct gate *gate, const struct caller *caller); /* "": nobody */
bool caller_is_revoked(const struct caller *caller);                         /* its token was, since it was proved */

/* Is the daemon called by a name of its own? Not so where a page of another site has sent a browser here. */
bool gate_host_is_known(const struct gate *gate, const struct exchange *exchange);
bool gate_origin_is_ours(const struct exchange *exchange);

/* May the caller make another request at that pace? If not, the microseconds until it may. */
bool gate_may(struct gate *gate, const struct caller *caller, enum caller_pace pace, int64_t now, int64_t *ret_wait);

/* A request with a body of that many bytes begins: 0; else the status and why there is too much. And it ends. */
unsigned gate_enter(struct gate *gate, const struct caller *caller, uint64_t bytes, const char **ret_why);
void gate_leave(struct gate *gate, const struct caller *caller, uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
