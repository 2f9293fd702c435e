/* gate.h: the caller of a request: proved by a token, or by the kernel if it comes by a Unix socket; and how much each caller has under way.
 *
 *     Authorization: Bearer ...   -> proof: which keys, which audience, what is revoked         -> subject, scopes
 *     the same, a JWT             -> issuers: who issued it, and what that gives                -> subject, scopes
 *     a Unix socket, no token     -> local: the daemon decides about that user of the machine   -> a name, scopes
 *
 * A daemon has one gate for each interface that it offers. A delegate counts for whoever delegated to it, its account. */
#ifndef BERTH_LIVE_HTTP_GATE_H
#define BERTH_LIVE_HTTP_GATE_H

#include "live/auth/token.h"
#include "live/config/config.h"
#include "live/http/callers.h"
#include "live/http/server.h"

#ifdef __cplusplus
extern "C" {
#endif

struct issuers; /* live/http/issuers.h */

/* Goes with a request that is passed on: the group that an institute has put the caller into; empty: none. */
#define GROUP_FIELD "Berth-Group"

/* The caller of a request. */
struct caller {
    uint32_t identity; /* its place among the callers; CALLERS_NONE: there is no caller */
    uint32_t account;  /* the place of the account that it counts for */
    scopes scope;
    bool later;      /* there is no caller yet: its account is being looked up, so that asking again soon tells */
    bool proves;     /* there is no caller yet: its token is to be proved when it is its turn */
    bool local;      /* proved by the kernel: */
    uint32_t uid;    /* ... this user of the machine */
    int64_t expires; /* when its token expires, in seconds; 0: never */
    uint32_t links;  /* links of its token, and the id of each: any of them may be revoked */
    char ids[TOKEN_LINKS_MAX][TOKEN_ID_DIGITS + 1];
    struct proof proof; /* the proof that its token has passed */
    bool foreign;       /* its token is another issuer's: it has neither key nor links, and these may be "" */
    bool grouped;       /* its issuer says in which group it is: it is charged to no other */
    char group[TOKEN_GROUP_MAX + 1];
    char unix_account[TOKEN_UNIX_MAX + 1];
};

#define GATE_LATER "your account is being looked up on this machine, which takes long; try again in a moment"

/* The one refusal of a token whose reason its bearer is told: it says nothing of the token. */
#define GATE_NO_INSTITUTE \
    "this is the token of an institute, and none is taken here: the setting Issuers would name those that are; a pool that takes them gives one of its own for it (POST /v1/exchange)"

/* What a daemon says of a user of its machine. */
struct gate_local {
    scopes scope;                  /* SCOPE_NONE: it is not admitted, */
    unsigned status;               /* ... with this status */
    const char *why;               /* ... and these words (static, or the daemon's); */
    bool later;                    /* ... or that is not known yet: it is being looked up */
    char name[TOKEN_NAME_MAX + 1]; /* its identity here */
};

struct gate_settings {
    void *user;
    /* Fills in what the token is checked against; false: tokens cannot be checked yet. NULL: no token is accepted. */
    bool (*proof)(void *user, const char *token, size_t len, struct proof *ret);
    /* Who checks tokens of other issuers; NULL: none is accepted. `proof` has to be there too: what is revoked is asked there. Lent. */
    struct issuers *issuers;
    /* Fills in what holds for that user of this machine; at first it is not admitted. NULL: local users need a token too. */
    void (*local)(void *user, uint32_t uid, int64_t now, struct gate_local *ret);
    /* A token was refused, after a check against that proof (zeros: against nothing). May be NULL. */
    void (*refused)(void *user, const struct proof *proof, enum token_fault fault);
    /* Is that identity shut out (live/auth/disabled.h)? The words to tell it, lent until the next change; NULL: it is not. `proof` is what its
     * token has passed, NULL: it came by a Unix socket. Those who may do everything here are not asked about. NULL: nobody is. */
    const char *(*disabled)(void *user, const struct proof *proof, const char *identity);
    const char *reserved;        /* an identity that no token may have; NULL: none */
    const struct config *config; /* has the limits of a caller; NULL: there are none */
    bool people_are_agents;      /* RequestsPerSecond, which is for people, does not apply: all have the agents' pace */
    uint64_t bodies_account;     /* bytes of bodies that one account may have under way; 0: 64 MiB */
};

struct gate {
    struct gate_settings settings;
    struct callers callers;
    uint64_t bodies;    /* bytes of bodies under way */
    const char *called; /* the URL that others know the daemon by; NULL: none. Lent */
    struct buf why;     /* of the last refusal of another issuer's token */
    int64_t
        proving; /* since when tokens are proved that were not shown before, up to GATE_PROVES of each GATE_PROVES_IN ... */
    int64_t proved; /* ... and how long that took, in microseconds */
};

void gate_init(struct gate *gate, const struct gate_settings *settings, uint64_t seed);
void gate_done(struct gate *gate);

/* To prove a token that was not shown before takes some hundred microseconds, and anybody can show any text: so not much of the loop's time goes there. */
#define GATE_PROVES 1000
#define GATE_PROVES_IN 5000

/* Unless it is `late` for that, it may say that the token is to be proved a little later (caller.proves).
 * Returns 0, or the status and why not (good until the next call, or change); then there is no caller, except that one who is disabled is
 * named. */
unsigned gate_caller(struct gate *gate, const struct exchange *exchange, int64_t now, bool late, struct caller *ret,
                     const char **ret_why);
const char *gate_name(const struct gate *gate, const struct caller *caller); /* "": no caller */
/* Has the caller's token been revoked since it was proved, or its user disabled? Returns 0, or the status and why. */
unsigned gate_shuts_out(const struct gate *gate, const struct caller *caller, const char **ret_why);

/* Is the daemon addressed by one of its own names? Not if a page of another site has sent a browser here. */
bool gate_host_is_known(const struct gate *gate, const struct exchange *exchange);
bool gate_origin_is_ours(const struct exchange *exchange);

/* May the caller make another request at that pace? If not, the microseconds until it may. */
bool gate_may(struct gate *gate, const struct caller *caller, enum caller_pace pace, int64_t now, int64_t *ret_wait);

/* gate_enter: a request with a body of that many bytes begins; returns 0, or the status and why there is too much.
 * gate_leave: it ends. */
unsigned gate_enter(struct gate *gate, const struct caller *caller, uint64_t bytes, const char **ret_why);
void gate_leave(struct gate *gate, const struct caller *caller, uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
