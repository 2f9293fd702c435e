/* role.h: how a role meets a world.
 *
 *     event  ->  role_step  ->  effects
 *
 * A role is a structure and one function. The function gets one event, changes the role's state, and appends effects; it never waits, reads no
 * clock, and keeps nothing that is lent to it. The world carries the effects out and returns what follows as events. Two worlds run the same
 * roles: live/ with sockets, time and a store, and sim/ with none of them.
 *
 * Durability is a barrier: a persist has a number, and an effect that says `after` happens when that persist is on disk. Persists
 * become durable in their order. A role goes on as if they were durable; if one fails, or the host dies, the role starts anew from what is
 * durable, and the effects behind that persist have never happened.
 *
 * A role begins with EVENT_LOADED for each row that was durable, in the order of their kinds, then EVENT_JOB for each job of its own
 * that is found, then one EVENT_BOOTED. */
#ifndef BERTH_POOL_PROTOCOL_ROLE_H
#define BERTH_POOL_PROTOCOL_ROLE_H

#include "lang/base/arena.h"
#include "lang/base/rng.h"
#include "pool/protocol/message.h"
#include "pool/protocol/record.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MILLISECOND INT64_C(1000) /* times are in microseconds */
#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)

/* Whole seconds of a wall clock, which may stand before 1970. */
static inline int64_t wall_seconds(int64_t wall)
{
    return wall / SECOND - (wall % SECOND < 0);
}

/* Random bytes that nobody can guess, and the seal that tickets are made of; live, they come from the kernel and
 * libsodium. */
struct secrets {
    void *user;
    void (*draw)(void *user, void *bytes, size_t len);
    /* 32 bytes that depend on the key and the data, and reveal nothing of either. */
    void (*seal)(void *user, const struct key *key, const void *data, size_t len, struct key *ret);
};

uint64_t secrets_word(const struct secrets *secrets); /* never 0 */

struct role_env {
    int64_t now;   /* a clock that never jumps: timers, leases */
    int64_t wall;  /* the clock that people read: ads, logs */
    int zone;      /* minutes east */
    uint64_t boot; /* of the machine: a `now` of another boot cannot be compared */
    struct rng *chance;
    const struct secrets *secrets;
    struct symbols *symbols;
    struct arena *scratch; /* rewound by the world after the step */
};

/* Who sent a message, as the world has proved it. */
struct peer {
    uint64_t agent;
    const char *identity; /* of the user that the agent acts as */
    bool any;             /* the agent may act for any user */
    uint64_t channel;     /* of the connection: a proof made for one channel proves nothing on another */
    const char *account;  /* the account it counts for: whoever delegated to it; NULL: the identity itself */
};

/* What became of a message that was sent. */
enum answer {
    ANSWER_GOT,     /* event.message is the answer */
    ANSWER_UNKNOWN, /* perhaps it arrived, perhaps not */
};

/* What the launcher of a job says. */
enum job_news {
    JOB_FOUND,  /* after the role began: the job still runs, its deadline is `at` */
    JOB_EXITED, /* the job ended by itself, or its time was up; with the reason FAULT: the machine could not run it */
    JOB_GONE,   /* after `stop`, at the deadline, or the job was not found: nothing of it is left */
};

enum event_kind {
    EVENT_LOADED,  /* record */
    EVENT_BOOTED,  /* all durable rows have been loaded, and all launchers that still run have been found */
    EVENT_MESSAGE, /* message, peer; the role owes an answer: EFFECT_REPLY with `token` */
    EVENT_ANSWER,  /* token and tag of the send, answer; message and the peer who answered, if one did */
    EVENT_WAKE,
    EVENT_JOB,    /* news, claim, number, reason, status, used (and memory, taken, brought), at */
    EVENT_PROBED, /* provider: the machine's state, as an ad, for the offer `claim` (its place: 0, 1, ...) */
    EVENT_DRAIN,  /* provider: take no more claims; those that run may end; with status 1 jobs are warned and must go */
    EVENT_RESUME, /* provider: take claims again */
    EVENT_POLICY, /* matchmaker: `ad` is the policy from now on; NULL: the defaults */
    EVENT_FACTOR, /* matchmaker: the factor of a user's priority */
    EVENT_SHARES, /* matchmaker: `ad` says the groups and limits from now on (shares.h); NULL: there are none */
    EVENT_WEIGH,  /* matchmaker: somebody looks at quotas: they are what they are of the pool as it is now */
    EVENT_ENDED, /* customer, before EVENT_BOOTED: `job` has ended, which its rows, of a backup, do not say: `number` is its state; reason, status, at (seconds) */
    EVENT_FORGET, /* customer: `job`, which has ended, is recorded elsewhere */
    EVENT_DROP, /* customer: the jobs from `job` to `number`, which are alike (customer_alike), are recorded elsewhere as removed */
    EVENT_LOCAL, /* customer: news of `job`, which runs on the customer's own host: FOUND: it begins; EXITED: with reason and status; GONE: it is to begin again. `number`: how often it has begun */
    EVENT_AHEAD, /* customer: `claim` has a job, and prepares for the next: it is promised one (customer_ahead) */
    EVENT_GONE, /* provider: it leaves for good, as a pilot does at its end: matchmakers are told to forget its machines */
    EVENT_SHUT, /* provider: `user` is disabled: its claims get no further jobs; with status 1 those that run must go, too */
    EVENT_BOOK, /* provider: the machine `claim` (its place) is booked as `number`, as `ad` says (calendar.h); NULL: that is given back. `at`: what time it is, by whoever says so (microseconds, UTC; 0: not known) */
    EVENT_KNOWN, /* provider, customer: the matchmaker `claim` knows us now: it may have begun anew, without ads */
};

struct event {
    enum event_kind kind;
    uint64_t token;
    uint32_t tag;
    const struct peer *peer;
    const struct message *message;
    enum answer answer;
    const struct record *record;
    enum job_news news;
    uint64_t claim, number, job;
    enum reason reason;
    int64_t status, used, at;
    int64_t memory, taken, brought; /* of a job: bytes; the most it had, and what went to it and came from it */
    bool unmade;                    /* of a job: it has not made all the outputs that it names */
    struct tree *ad;
    const char *user; /* with EVENT_FACTOR and EVENT_SHUT */
    double factor;
};

enum effect_kind {
    EFFECT_SEND,     /* message to `to`; token and tag come back with the answer */
    EFFECT_REPLY,    /* message in answer to `token` */
    EFFECT_WAKE,     /* wake the role at `at`; replaces any earlier wake; INT64_MAX: never */
    EFFECT_PERSIST,  /* record; its number is `token` */
    EFFECT_JOB,      /* launch: claim, number, job; the launcher ends it at `at`, and when it has run for `span` */
    EFFECT_DEADLINE, /* the launcher of `claim` is to end the job at `at` */
    EFFECT_STOP,     /* the job of `claim`: warned, and after `span` ended; EVENT_JOB says when nothing is left */
    EFFECT_SUSPEND,  /* the job of `claim` stands still (span 1) or goes on (span 0) */
    EFFECT_CHANGED,  /* customer: `job` is in another state */
    EFFECT_NOTE,     /* for the log: reason, claim, and words */
};

struct effect {
    enum effect_kind kind;
    uint64_t token;
    uint64_t after; /* only when that persist is durable; 0: at once */
    uint32_t tag;
    enum reason reason;
    agent to;
    uint64_t claim, number, job;
    int64_t at, span;
    const char *note; /* static words */
    struct tree *ad;  /* held; EFFECT_JOB */
    struct message message;
    struct record record;
};

struct effects {
    struct effect *items;
    uint32_t count, room;
    uint64_t persists; /* how many the role has made */
};

void effects_init(struct effects *effects);
void effects_done(struct effects *effects);
void effects_reset(struct effects *effects); /* empties the list; the count of persists stays */

/* Each appends one effect. The message or record is copied, and its references are held anew. */
void effects_send(struct effects *effects, agent to, const struct message *message, uint64_t token, uint32_t tag,
                  uint64_t after);
void effects_reply(struct effects *effects, uint64_t token, const struct message *message, uint64_t after);
void effects_wake(struct effects *effects, int64_t at);
uint64_t effects_persist(struct effects *effects, const struct record *record); /* its number */
uint64_t effects_remove(struct effects *effects, enum record_kind kind, uint64_t key);
void effects_job(struct effects *effects, uint64_t claim, uint64_t number, uint64_t job, struct tree *ad, int64_t at,
                 int64_t span, uint64_t after);
void effects_deadline(struct effects *effects, uint64_t claim, int64_t at, uint64_t after);
void effects_stop(struct effects *effects, uint64_t claim, int64_t span, uint64_t after);
void effects_suspend(struct effects *effects, uint64_t claim, bool suspended);
void effects_changed(struct effects *effects, uint64_t job, uint64_t after);
void effects_note(struct effects *effects, enum reason reason, uint64_t claim, const char *words);

/* A role as the world sees it. `make` is called when a host starts it; the durable rows then come as events. */
struct role_kind {
    const char *name;
    void *(*make)(const void *settings); /* the settings outlive it */
    void (*free)(void *role);
    void (*step)(void *role, const struct role_env *env, const struct event *event, struct effects *effects);
    bool (*valid)(const void *role, const char **ret_why); /* for tests: is its state in order? */
};

/* The spans of the protocol; one table for all roles of a pool. */
struct spans {
    int64_t window;   /* a claim must be complete this long after its match */
    int64_t pin;      /* P: how long a pin holds without activation */
    int64_t lease;    /* L >= P: how long a claim holds without acknowledged heart beats */
    int64_t life;     /* of a claim: after that it gets no further job */
    int64_t deadline; /* of a message: after that its outcome is unknown */
    int64_t retry;    /* the first pause before a message is repeated; it doubles up to the deadline */
    int64_t lifetime; /* of an ad that does not say one itself */
    int64_t cycle;    /* the least time between cycles */
    int64_t keep;     /* how long a result is kept that nobody takes */
    int64_t grace;    /* between a job's warning and its end */
    int64_t half;     /* the half-life of usage */
};

extern const struct spans spans_default;

static inline int64_t spans_margin(const struct spans *spans)
{
    return spans->lease / 10;
}

#ifdef __cplusplus
}
#endif
#endif
