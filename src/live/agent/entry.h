/* entry.h: the one way in for messages, whichever road they came by; not installed.
 *
 *     letter  --.
 *     call    ---+--> prove: a struct sender --> translate: what the role knows --> take: the road's own function
 *     answer  --'           sender_by_...              entry_take                      struct road
 *
 * The order cannot be changed: what has no proved sender is not read, and a road is handed a message only after its handles are those of the
 * role. Nothing else in this room reads a message from its wire form. */
#ifndef BERTH_LIVE_AGENT_ENTRY_H
#define BERTH_LIVE_AGENT_ENTRY_H

#include "live/auth/token.h"
#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

struct live_agent;
struct membership;

/* Who sent something, proved. It is filled in place, for the peer's texts lie in it: it is not copied. All zeros: nobody is proved. */
struct sender {
    struct membership *pool; /* whose keys proved it */
    struct peer peer;        /* as the role knows it */
    uint64_t there;          /* another agent, as that pool has it; 0: it is the matchmaker */
    bool is_matchmaker;
    struct grant grant; /* what a token said; empty when another thing proved it */
};

/* By a token for this agent alone, signed by that pool or delegated from one that was. `name` is the agent's own, or "". False, and nobody is
 * proved, when it is none for us. */
bool sender_by_token(struct sender *ret, struct membership *pool, const char *token, size_t len, const char *name);
/* A call that the gate has let in by a token of that pool (live/http/gate.h): the same. */
bool sender_by_call(struct sender *ret, struct membership *pool, const char *subject, scopes scope, const char *name);
/* The pool's matchmaker, by the stream of events that we opened. */
void sender_by_stream(struct sender *ret, struct membership *pool);
/* Whom we asked: by the connection that was made to it, or by the box that only it could seal. */
void sender_by_asking(struct sender *ret, struct membership *pool, agent whom, uint64_t channel);

enum entry_result {
    ENTRY_TAKEN,
    ENTRY_UNPROVED,
    ENTRY_UNREAD,     /* it is no message: the error tells why */
    ENTRY_UNASKED,    /* it is an answer, and nothing was asked */
    ENTRY_NOT_AGENTS, /* another agent may not say it */
    ENTRY_DISABLED,   /* it would begin a claim for a user whom the pool has disabled */
};

/* What a road does with what has come by it. All is lent for the call. */
struct road {
    bool answers; /* what comes by it was asked for */
    void (*message)(void *user, const struct sender *sender, const struct message *message);
    /* What is asked of the agent and not of its role; NULL: such a thing is no message. */
    void (*question)(void *user, const struct sender *sender, const struct tree *question);
};

/* Translates what was sent, and has the road take it. */
enum entry_result entry_take(const struct road *road, void *user, const struct sender *sender, const struct tree *ad,
                             struct err *err);
/* The same, of text. */
enum entry_result entry_take_text(const struct road *road, void *user, const struct sender *sender, const char *text,
                                  size_t len, struct err *err);

/* What a matchmaker says, without the contacts beside it, which are kept: so it can be taken more than once. The caller unrefs it. */
struct tree *entry_open(const struct sender *sender, const struct tree *ad);

/* Is that id of a token revoked in the pool (a struct membership)? For token_check. */
bool membership_revokes(void *pool, const char *id);

#ifdef __cplusplus
}
#endif
#endif
