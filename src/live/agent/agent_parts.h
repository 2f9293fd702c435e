/* agent_parts.h: what the files of a live agent share; not installed.
 *
 *     agent.c       life: its keys, its role, its pools
 *     follow.c      which of its pool's matchmakers it asks
 *     membership.c  one of its pools: that pool's keys, telling the matchmaker there of itself
 *     translate.c   what the role says and hears, as each pool knows it
 *     agent_out.c   what its role sends: to a matchmaker, to other agents, by the relay
 *     entry.c       what comes, by whichever road: proved, translated, taken
 *     agent_in.c    the roads in: letters by the stream of events, calls by HTTP; answers come by agent_out.c
 *     agent_calls.c its routes, and who may call
 *     agent_command.c  commands of its own pool, by the same stream
 *     agent_local.c what comes from within the process
 *     agent_fetch.c what it asks a matchmaker besides its role */
#ifndef BERTH_LIVE_AGENT_AGENT_PARTS_H
#define BERTH_LIVE_AGENT_AGENT_PARTS_H

#include "lang/base/map.h"
#include "lang/base/textmap.h"
#include "live/agent/agent.h"
#include "live/agent/contacts.h"
#include "live/agent/entry.h"
#include "live/auth/certs.h"
#include "live/auth/disabled.h"
#include "live/http/client.h"
#include "live/http/events_reader.h"
#include "live/http/request.h"
#include "live/http/server.h"

#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AGENT_FAILURES 3              /* of a matchmaker, one after the other: then the next is asked */
#define AGENT_KEYS_PAUSE (5 * SECOND) /* after one that failed */
#define AGENT_KEYS_SPAN (60 * SECOND) /* between two questions for the pool's keys */
#define AGENT_REVOKED_MAX 100000      /* ids of revoked tokens that are remembered until the next list */

#define AGENT_PLACES_MAX 16                  /* matchmakers of a pool */
#define AGENT_LEADERLESS (500 * MILLISECOND) /* between two looks for a leader, at most */

#define ANSWER_NONCE 32 /* digits */

/* A message that somebody waits for an answer to. */
struct inbound {
    struct inbound *next;
    uint64_t token;
    struct request *call; /* that it came by; NULL: by letter, or its sender has gone */
    uint64_t relay;       /* by letter: the number that is answered; 0: none is wanted */
    bool sealed;
    struct box_public sender;
    char nonce[ANSWER_NONCE + 1]; /* that the answer to a letter has to name; "": none */
    int64_t at;
    struct membership *pool; /* by which it came */
    struct tree *match;      /* of a letter that tells of one; or NULL */
    bool waits;              /* the role wants it told again */
};

/* An agent in one pool. Each pool is an authority of its own: those whom we know there are known by its keys alone, and are spoken to with
 * our token of that pool. */
struct membership {
    struct live_agent *live;
    struct agent_pool is;
    uint64_t salt;          /* of the handles that its agents have in our role; 0: they are as they are */
    agent self, matchmaker; /* who we are there; and what our role calls its matchmaker */
    struct client *client;
    struct contacts contacts;
    bool contact_bad; /* we could not be called from there, when that was last known: nothing waits for another check */
    bool takes_usage; /* the matchmaker understands the totals in reports, ... */
    bool takes_trace; /* ... and by which word their jobs are followed */
    struct token_keys keys;
    bool has_keys;         /* its id, at least */
    struct box_public box; /* the matchmaker's: offers' keys are sealed to it */
    bool has_box;
    int64_t keys_asked; /* by the clock that never jumps; 0: not yet */
    uint64_t keys_call; /* that asks for them; 0: none does */
    char audience[TOKEN_NAME_MAX + 1];
    struct token_cache *tokens;
    struct textmap revoked;   /* ids of tokens, as the matchmaker last told */
    struct disabled disabled; /* users, as the matchmaker last told */
    struct buf bearer;        /* for the matchmaker */
    struct token_made bearer_made;
    char *places[AGENT_PLACES_MAX]; /* of its matchmakers */
    size_t place_count, own_places; /* the first were not told by a matchmaker */
    size_t at;                      /* the one that is asked */
    uint32_t failures;
    uint32_t moves;         /* to another one, since something came by a stream */
    uint64_t describe_call; /* 0: none is under way */
    uint64_t stream;        /* the call; 0: none */
    bool fresh;             /* nothing has come by it yet */
    struct events_reader reader;
    int64_t pause;
    int64_t absence; /* after which a pull is tried again, while the pool is not there */
    uv_timer_t again;
    enum { UNKNOWN_THERE, BEING_REGISTERED, REGISTERED } standing; /* with the matchmaker that is asked */
    bool accepted;                                                 /* as the one by our name */
    bool describing, describe_again; /* it is being told who we are; and then once more, for that has changed */
    struct bundle *bundle;           /* what goes to the matchmaker with this turn of the loop; NULL: nothing does */
    uv_timer_t bundling;
    struct acquaintance *acquaintances; /* whom the matchmaker is being asked about */
};

struct command_reply;

struct live_agent {
    uv_loop_t *loop;
    const struct agent_settings *settings;
    struct symbols *symbols;
    struct runner *runner;
    struct server *server;
    struct gate gate; /* of those who call it */
    struct front front;
    struct membership *pools; /* the first is its own: users who come by HTTP are that one's */
    uint32_t pool_count;
    struct box_keys box;
    struct cert_pair tls;
    char *pin, *contact;
    bool contact_told; /* the log has whether it can be called */
    struct key challenge;
    bool closing;
    uint64_t incarnation,
        process;     /* which of those by our name we are: how often it began, and a number drawn by chance */
    uint64_t raised; /* the next incarnation, whose row is not durable yet; 0: none */
    bool superseded; /* another by our name began later: nothing more is said */
    bool draining;   /* it takes no more work, and says so */
    struct command_reply *replies; /* to commands, that have not arrived yet */
    uint64_t tokens_given;
    char note[AGENT_NOTE_MAX + 1]; /* what it says of itself now */
    struct inbound *inbound;
    struct map locals; /* token -> who waits for the answer, within the process */
    struct agent_counts counts;
    uint32_t handles; /* that are not closed yet, when it goes */
    struct buf text;
};

/* ---- membership.c ---- */

int agent_put_incarnation(struct live_agent *live, uint64_t number, struct err *err); /* the commit is the caller's */
/* Another by our name began later: true when the answer says so, and what follows from it was done. */
bool agent_heard_later(struct membership *pool, const struct http_outcome *outcome);

/* The call to the matchmaker that is asked now: address, token, name. `path` begins with a slash. The texts live until the next one. */
struct agent_call {
    char url[1024];
    struct http_field fields[4];
    struct http_call call;
    char incarnation[40];
};
/* False when there is no token to send. */
bool agent_call(struct membership *pool, struct agent_call *ret, const char *method, const char *path);
/* A POST of what could lead to a match: it is refused, with 412, by a matchmaker that does not know how we are reached. */
bool agent_call_known(struct membership *pool, struct agent_call *ret, const char *path);
void agent_heard(struct membership *pool,
                 const struct http_outcome *outcome); /* of a call to the matchmaker: does it answer? */
void agent_heard_known(struct membership *pool, const struct http_outcome *outcome); /* of agent_call_known */
void agent_describe(struct membership *pool); /* the matchmaker is told who we are and how we are reached */
/* The pool's, when it is time; and makes itself known if it is not. */
void agent_ask_keys(struct membership *pool);
/* That token is refused from now on. */
void agent_revoked(struct membership *pool, const char id[TOKEN_ID_DIGITS]);
/* A user was disabled just now, or enabled again. */
void agent_disabled(struct membership *pool, const char *name, size_t len, bool disabled, bool now);
void agent_doubt_keys(struct membership *pool); /* they may have changed: they are asked for again soon */
void membership_init(struct membership *pool, struct live_agent *live, const struct agent_pool *is);
int membership_start(struct membership *pool,
                     struct err *err);         /* its salt is known: what was kept of that pool is loaded */
void membership_done(struct membership *pool); /* its client is gone; its timers are left */
bool membership_is_connected(const struct membership *pool);
/* The one that a role's handle means: its matchmaker, or somebody who is known there (ret_contact, which is NULL for a matchmaker); NULL:
 * nobody. */
struct membership *membership_of(struct live_agent *live, agent who, struct contact **ret_contact);

/* ---- follow.c ---- */

void follow_init(struct membership *pool);
void follow_done(struct membership *pool);
/* Takes the addresses that came with the pool's keys in the place of those that came before. */
void follow_learn(struct membership *pool, const struct tree *keys);
bool follow_next(struct membership *pool); /* the next one is asked from now on; false: there is no other */
enum followed { FOLLOWED_NONE, FOLLOWED_AT_ONCE, FOLLOWED_LATER };
/* The stream of letters ended so: is another to be asked, at once or after a moment? */
enum followed follow_outcome(struct membership *pool, const struct http_outcome *outcome);

/* A row of the keys; true when it is there. */
#define KEY_SPACE "key" /* rows: box, tls.cert, tls.key, home, pool, pool.ID of further ones */
bool key_get(struct live_agent *live, const char *name, struct buf *ret);
int key_put(struct live_agent *live, const char *name, const void *bytes, size_t len, struct err *err);

/* ---- translate.c ---- */

/* The role has one handle for every agent, and a handle is but a hash of names: agents of two pools may have the same. So those of all pools
 * but one are mixed with the pool's id, where they come in. */
uint64_t pool_salt(const char *issuer); /* never 0 */
agent handle_enter(const struct membership *pool, agent there);
void message_enter(const struct membership *pool, struct message *message);
/* The message as it is said there: the ads in it are of the identity that we have there. It is the message itself, or the copy, which the
 * caller gives back in both cases. */
const struct message *message_leave(struct membership *pool, const struct message *message, struct message *copy);

/* ---- acquaint.c ---- */

void agent_acquaint(struct membership *pool, uint64_t from); /* as the pool has it */

/* ---- agent_out.c ---- */

/* One that can neither be called nor sealed to is not spoken to: the matchmaker would read it. */
bool contact_is_reached(const struct membership *pool, const struct contact *contact);

void agent_bundle_send(struct membership *pool); /* what waits for it to know us; nothing when it does not */
void agent_bundle_drop(struct membership *pool); /* nothing of it is sent */
void agent_send(void *user, agent to, const struct message *message, uint64_t token, uint32_t tag);
void agent_reply_letter(struct live_agent *live, const struct inbound *inbound, const struct tree *ad);
/* The message inside what is sent by the relay: who it is from, proved by a token. */
struct tree *agent_envelope(struct live_agent *live, const char *bearer, const char *nonce, const struct tree *message);

/* ---- agent_in.c ---- */

void agent_reply(void *user, uint64_t token, const struct message *message);
void agent_listen(struct membership *pool); /* opens the stream of letters */
void agent_inbound_sweep(struct live_agent *live, bool all);
/* The matchmaker has answered: matches that came by letter before that, and had to wait for it, are told again. */
void agent_matches_again(struct membership *pool);

/* A call whose body is there, of that sender: its message is taken, and the request answered, at once or when the role has. */
void agent_call_take(struct request *request, const struct sender *sender);

/* ---- agent_calls.c ---- */

void agent_front_init(struct live_agent *live); /* its gate, and its front with what else is served there */

/* ---- agent_command.c ---- */

void letter_command(struct membership *pool, const struct tree *letter);
void command_replies_send(struct live_agent *live); /* again, those that did not arrive */
void command_replies_done(struct live_agent *live);

/* ---- agent_local.c ---- */

bool agent_local_reply(struct live_agent *live, uint64_t token,
                       const struct message *message); /* false: it is another's */
void agent_local_done(struct live_agent *live);

#ifdef __cplusplus
}
#endif
#endif
