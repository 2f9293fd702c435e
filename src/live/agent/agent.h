/* agent.h: a provider or a customer, live: a role whose messages go to the matchmaker and to other agents over HTTP.
 *
 *     to the matchmaker   ADVERTISE, WITHDRAW -> POST /v1/ads     REPORT -> POST /v1/claims
 *     to another agent    POST ADDRESS/v1/messages, by a token for that agent alone; or, where it cannot be called, by the
 *                         matchmaker's relay, sealed: the matchmaker can delay or drop it, not read or change it
 *     from others         letters of the matchmaker (matches, relayed messages), by a stream of events that is kept open;
 *                         and calls, where the agent listens
 *
 * Several matchmakers may be named: when one does not answer, the next is asked. An agent may belong to several pools: each has its own
 * matchmakers, token and keys, and its role knows them by the handles of agent_pool_matchmaker. */
#ifndef BERTH_LIVE_AGENT_AGENT_H
#define BERTH_LIVE_AGENT_AGENT_H

#include "live/auth/token.h"
#include "live/config/address.h"
#include "live/http/front.h"
#include "live/world/runner.h"
#include "sys/log.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pool that it belongs to. */
struct agent_pool {
    const char *name;               /* by which its owner calls it; "" when there is but one */
    const char *const *matchmakers; /* URLs, or unix:PATH */
    size_t matchmaker_count;
    const struct token_file *token;  /* with a key to delegate by */
    const char *identity;            /* whose agent it is there */
    const char *ca_file;             /* of the pool; NULL: none */
    const struct networks *networks; /* in which others of that pool may be, beside public ones */
    bool private_peers;              /* those that its matchmaker has proved may have private addresses, too */
};

/* A command, as it comes; all is lent. */
struct agent_order {
    uint64_t number, key;
    int64_t life; /* seconds */
    int64_t told; /* what time it was at the matchmaker when it told this: seconds since 1970; 0: it did not say */
    bool late;    /* its time is over: it is carried out no more */
    const char *by;
    const struct tree *what;
};

/* How often an agent has been told of a question. One whose rows have to be durable before it is carried out, or answered, is told again when they are. */
struct agent_turn {
    bool durable; /* it is told again: the rows that were put on the shelf are durable */
    bool waits;   /* set by whoever is asked, the first time: there are such rows; there is no answer yet */
    bool mark;    /* set by the same, and as it was left the second time: what it has to do then */
};

struct agent_settings {
    const struct role_kind *role;
    const void *role_settings; /* self and matchmaker as agent_self and agent_matchmaker say */
    const struct spans *spans;
    struct symbols *symbols; /* of all its ads */
    struct shelf *shelf;
    struct log *log;
    struct metrics *metrics;        /* or NULL */
    struct memory_watch *memory;    /* of the process; or NULL */
    const char *const *matchmakers; /* URLs, or unix:PATH */
    size_t matchmaker_count;
    const struct token_file *token;  /* with a key to delegate by */
    const char *identity, *name;     /* whose agent it is, and which */
    const char *ca_file;             /* of the pool; NULL: none */
    const char *listen;              /* an address where it can be called; NULL: it cannot */
    const char *contact;             /* by which others call it; NULL: that of `listen` */
    const char *contact_host;        /* the host of that, where `listen` is all addresses; NULL: as `listen` has it */
    bool keep_port;                  /* where `listen` leaves the port open: that of the last time, if it is free */
    const struct networks *networks; /* in which others may be, beside public ones */
    bool private_peers;              /* those that its matchmaker has proved may have private addresses, too */
    const char *pool;                /* what the pool of all this is called; NULL: "" */
    const struct agent_pool *others; /* further pools */
    uint32_t other_count;
    const char *version;
    bool draining;                                        /* it takes no more work, and says so from the start */
    void (*job)(void *user, const struct effect *effect); /* EFFECT_JOB, _DEADLINE, _STOP, _SUSPEND; or NULL */
    void (*changed)(void *user, uint64_t job);            /* EFFECT_CHANGED; or NULL */
    /* Another agent asks (agent_ask): the answer, which the agent unrefs; NULL: refused. Or NULL: all are refused. */
    struct tree *(*asked)(void *user, const struct peer *peer, const struct tree *question, struct agent_turn *turn);
    /* Its own pool commands it: [ Command = "drain"; ... ], which has that key, is to be carried out once, and is good for `life` more
     * seconds. The answer, an ad with a text Reason, which the agent unrefs; rows that were put on the shelf are durable before it is sent. Or
     * NULL: it takes no commands. */
    struct tree *(*commanded)(void *user, const struct agent_order *order);
    const struct front_part *other; /* what is served besides messages, by its front; copied; or NULL: nothing is */
    void (*broken)(void *user, const char *why); /* the shelf has failed: it does nothing more */
    /* Another by its identity and name began later, from a copy of its state: it takes no more work. Or NULL: all of it stands still. */
    void (*superseded)(void *user);
    void *user;
};

struct live_agent;

/* Makes an agent. All that is named in the settings outlives it. The role has loaded its rows; the caller gives EVENT_BOOTED. */
struct live_agent *agent_new(struct uv_loop_s *loop, const struct agent_settings *settings, struct err *err);
void agent_free(struct live_agent *live); /* the loop has to run once more */

/* Tells the agent's pools whether it takes no more work: `berth agents` shows it. */
void agent_set_draining(struct live_agent *live, bool draining);

/* Has another agent of the same name begun later? */
bool agent_is_superseded(const struct live_agent *live);

struct runner *agent_runner(const struct live_agent *live);
const char *agent_address(const struct live_agent *live); /* where it listens, "" when it does not */

/* Asks another agent something that is not for its role, by the same way as messages: an ad with a text `Ask`. `done` is called once, with
 * its answer (lent), or NULL: perhaps it arrived, perhaps not; also when the agent is freed. False, and `done` is not called, when it
 * cannot be reached at all. */
typedef void agent_answer_fn(void *user, const struct tree *answer);
bool agent_ask(struct live_agent *live, agent to, const struct tree *question, agent_answer_fn *done, void *user);

/* GETs that path of the matchmaker of the pool in which `who` is known; or POSTs it an ad. `done` is called once, with the body (lent) of a good
 * answer, or NULL, and its status, 0 where none came; also when the agent is freed. False, and `done` is not called, when nobody can be asked. */
typedef void agent_fetched_fn(void *user, unsigned status, const char *body, size_t len);
bool agent_fetch(struct live_agent *live, agent who, const char *path, agent_fetched_fn *done, void *user);
bool agent_post(struct live_agent *live, agent who, const char *path, const struct buf *body, agent_fetched_fn *done,
                void *user);

/* Hands a message to the agent's own role from within the process. `done` is called once, with the answer (lent) when what it stands for is durable, or
 * with NULL when the agent is freed before. It may be called from within this call, when nothing has to be durable first. */
typedef void agent_local_fn(void *user, const struct message *answer);
void agent_local(struct live_agent *live, const struct peer *peer, const struct message *message, agent_local_fn *done,
                 void *user);

/* What is known of another agent: "NAME" of "IDENTITY"; false: nothing. Lent until the loop goes on. */
bool agent_known(struct live_agent *live, agent who, const char **ret_identity, const char **ret_name);

/* What tokens of its own pool are held against, for the gate of `other`. False: the keys of the pool are not known yet. */
bool agent_proof(struct live_agent *live, struct proof *ret);
/* That gate has refused a token: where its key is not known, the pool may have a new one, and is asked for its keys. */
void agent_refuses(const struct proof *proof, enum token_fault fault);
/* For a gate of the agent's own: is that identity disabled in the pool that the proof is of; NULL: in the agent's own? */
const char *agent_disables(const struct live_agent *live, const struct proof *proof, const char *identity);
/* The same of its own pool; `ret_now`: what runs of that one is to end, too. */
bool agent_shuts_out(const struct live_agent *live, const char *identity, bool *ret_now);

extern const struct route_table agent_routes; /* that every agent has */
/* Its front, for servers besides the one at `listen`; NULL for no agent. */
struct front *agent_front(struct live_agent *live);
const char *agent_contact(const struct live_agent *live); /* by which others call it; NULL: they do not */
const char *agent_pin(const struct live_agent *live);     /* of its certificate there; NULL: it has none */

bool agent_is_connected(const struct live_agent *live); /* a matchmaker knows it */
const char *agent_asks(
    const struct live_agent *live); /* the URL of the matchmaker that is asked now, in its first pool */

/* Its pools, the first of which is its own. */
struct agent_pool_view {
    const char *name, *url, *identity; /* url: of the matchmaker that is asked now */
    bool connected;
};
uint32_t agent_pools(const struct live_agent *live);
struct agent_pool_view agent_pool_view(const struct live_agent *live, uint32_t place);
/* What the pool is called by which that agent is known; NULL when it is not, or there is but one. */
const char *agent_pool_of(struct live_agent *live, agent who);

/* A line about itself that those see who ask a matchmaker for its agents: "left: idle for 5 min". It takes the place of the one before. */
#define AGENT_NOTE_MAX 255
void agent_say(struct live_agent *live, const char *note);
bool agent_is_saying(const struct live_agent *live); /* the last note is still on its way */

/* The handles that roles go by. */
agent agent_self(const char *identity, const char *name);
agent agent_matchmaker(void);
agent agent_pool_matchmaker(const char *name); /* of the pool that is called so; "" is the one above */

struct agent_counts {
    uint64_t sent, answered, relayed, taken, failed_over, refused;
};
struct agent_counts agent_counts(const struct live_agent *live);

#ifdef __cplusplus
}
#endif
#endif
