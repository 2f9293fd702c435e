/* registrar.h: which claims there are, who used how much, and who is served first.
 *
 *     match  -> a claim that is expected from a provider -.
 *     REPORT -> a claim that is active  <-----------------'  -> over, or silent for too long -> history (a ring)
 *
 *     used -> accountant -> priority of the user, more for each claim that it has now -> engine
 *
 * A claim is told of by one agent: the one that was matched. Of what an earlier life of the matchmaker has matched, its receipt (receipt.h)
 * tells, for a while after a restart: whom it is charged to and what it counts for stand there, not in the report. Nobody can tell of a claim
 * that was not matched, and charge another for it. What it says was used can never be more than the time that has passed, and a lease.
 *
 * A claim counts by the weight of its unit (weight.h): in what is charged and in what is in use. While it is known it also counts in the
 * group of its user (groups.h), and holds what its root names in ConcurrencyLimits (limits.h). A match of which nothing was heard a request
 * deadline after its window has lapsed: it holds nothing any more, and takes it again, even beyond a limit, if it is told of after all.
 *
 * Fair share within a cycle: each match counts at once as a unit in use, so that of two users who are alike each gets
 * every other unit. Usage is durable, written once a minute at most. */
#ifndef BERTH_POOL_MATCHMAKER_REGISTRAR_H
#define BERTH_POOL_MATCHMAKER_REGISTRAR_H

#include "lang/base/map.h"
#include "pool/engine/engine.h"
#include "pool/matchmaker/accountant.h"
#include "pool/matchmaker/groups.h"
#include "pool/matchmaker/limits.h"
#include "pool/protocol/receipt.h"
#include "pool/protocol/role.h"
#include "pool/protocol/timers.h"
#include "pool/protocol/weight.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REGISTRAR_CLAIMS_MAX (1u << 22) /* that are active or expected */
#define REGISTRAR_HISTORY_MAX 4096
#define REGISTRAR_WRITE_SPAN MINUTE     /* between two writings of usage, at least */
#define REGISTRAR_LEARNT_MAX (1u << 20) /* claims of another incarnation that are believed */
#define REGISTRAR_USERS_TIDY 1024       /* new users after which those who need not be remembered are forgotten */
#define REGISTRAR_SCALE 1e6             /* usage and factor in a record */
#define REGISTRAR_LEAST 1e-6            /* a usage that need not be remembered */

struct active_claim {
    uint64_t claim, gang; /* claim 0: the place is free */
    uint64_t agent;       /* that tells of it */
    uint32_t user;        /* held; or the next free place */
    bool reported;
    bool lapsed; /* its window closed, and nothing was heard: it holds nothing and counts for nothing until it is */
    int64_t weight;
    struct holdings *holdings;  /* or NULL */
    struct limits_asked *asked; /* until it is reported: to be held again if it lapses; or NULL */
    uint32_t mate;              /* the next of its gang that holds limits, in a ring; itself: there is no other */
    int64_t since, used;        /* known since; charged so far */
    int64_t ends;               /* without another report */
    int64_t timer;              /* that waits for it */
};

struct past_claim {
    uint64_t claim, gang;
    uint64_t agent;
    int64_t since, ended, used;
    enum reason reason; /* as was told, RELEASED where nothing was; LEASE: nothing was heard any more */
};

/* What is known of a user beside the account. */
struct share {
    uint32_t claims;
    int64_t weight; /* of them */
    uint32_t leaf;  /* its group; what was in use is counted there */
    bool placed;    /* that is known */
    double told;    /* the priority that the engine has */
    bool dirty;     /* to be written */
    bool moved;     /* to be told */
};

struct registrar {
    const struct spans *spans;
    struct engine *engine;
    struct accountant *accountant;
    struct groups groups;
    struct limits limits;
    int64_t weight;        /* of all claims */
    struct timers *timers; /* `which` is a claim's place */
    uint32_t timer_claim, timer_write;
    struct map claims; /* claim -> place */
    struct map gangs;  /* gang -> the place of the claim that holds limits for all of it */
    struct active_claim *active;
    uint32_t count, room, free;
    uint64_t reported;          /* claims that are active and were reported */
    struct past_claim *history; /* a ring */
    struct map past;            /* claim -> its place in the ring */
    uint32_t history_count, history_next;
    struct share *shares; /* by the user's number */
    uint32_t share_count;
    struct key receipts; /* the key that they are made with ... */
    bool has_receipts;   /* ... once it is there */
    struct map rows;     /* that are on disk, by their keys */
    bool clocked;
    int64_t apart;         /* the wall clock and the one that never jumps, at the last step */
    int64_t jumped;        /* seconds that the wall clock has jumped ahead, altogether, since this began */
    int64_t priced;        /* the second of the last time that all priorities were looked at */
    bool folded;           /* rows of delegates were added to those of their accounts, and are to go */
    int64_t written;       /* when usage was written last */
    bool write_waits;      /* a timer for that has been set */
    int64_t learns_until;  /* claims of another incarnation are believed; INT64_MIN: it has not begun */
    uint32_t learnt;       /* of them, so far */
    uint32_t users_tidied; /* that were left when those who need not be remembered were forgotten */
};

void registrar_init(struct registrar *registrar, const struct spans *spans, struct engine *engine,
                    struct accountant *accountant, struct timers *timers, uint32_t timer_claim, uint32_t timer_write,
                    uint64_t seed);
void registrar_done(struct registrar *registrar);

/* It is up: for a while claims that it does not know are believed, with their receipts. */
void registrar_begin(struct registrar *registrar, int64_t now);

/* When all claims that live have been told of, if it began at that time: those that were matched before have been activated by then, and
 * each is told of several times within a lease. */
int64_t registrar_knows(const struct registrar *registrar, int64_t began);

/* A row that was durable. */
void registrar_load(struct registrar *registrar, const struct record *record);

/* All rows have been loaded: where there is no key of receipts yet, one is drawn and written. */
void registrar_loaded(struct registrar *registrar, const struct role_env *env, struct effects *effects);

/* A match was made: the agent may tell of the claim, which is charged to that user. It counts as that weight in use from now on, and what it
 * holds of limits is taken. */
struct expected {
    uint64_t claim, gang;
    agent from;
    uint64_t offer; /* its ad's id there */
    uint32_t user;
    int64_t weight;
    const struct limits_asked
        *asked; /* or NULL; of a gang each says the same, and it is taken once, until the last of them ends */
};

/* The receipt, for both sides: the caller unrefs it. NULL: there is no key yet. */
struct tree *registrar_expect(struct registrar *registrar, const struct role_env *env, const struct expected *expected);

/* Groups and limits are others from now on; the rows are taken over. */
void registrar_set_shares(struct registrar *registrar, struct shares *shares);

/* The pool has offers of that weight that nobody has, beside the claims. */
void registrar_resize(struct registrar *registrar, int64_t weight);

/* The share that is closed for a user, or ENGINE_OPEN. */
uint32_t registrar_closed(const struct registrar *registrar, uint32_t user);

enum reason registrar_report(struct registrar *registrar, const struct role_env *env, const struct peer *peer,
                             const struct report *report);

/* The factor of a user's priority, above 0: it is known from now on, and written at once. */
void registrar_set_factor(struct registrar *registrar, const struct role_env *env, const char *name, double factor,
                          struct effects *effects);

/* Timers are due: that of a claim, and that of writing. */
void registrar_claim_due(struct registrar *registrar, const struct role_env *env, uint32_t place, int64_t at);
void registrar_write_due(struct registrar *registrar, const struct role_env *env, struct effects *effects);

/* The engine is told of all priorities that have moved; a cycle begins. */
void registrar_price(struct registrar *registrar, const struct role_env *env);

/* To be called at the begin of each step: how far the wall clock has jumped. */
void registrar_clock(struct registrar *registrar, const struct role_env *env);
/* The seconds that usage is reckoned by, at that second of the wall clock. */
static inline int64_t registrar_time(const struct registrar *registrar, int64_t wall_seconds)
{
    return wall_seconds - registrar->jumped;
}

/* What the engine goes by, at that second of registrar_time. */
double registrar_priority(const struct registrar *registrar, uint32_t user, int64_t seconds);

bool registrar_valid(const struct registrar *registrar, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
