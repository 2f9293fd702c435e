/* registrar.h: which claims there are, how much each user has used, and who is served first.
 *
 *     match  -> a claim that a provider is expected to report -.
 *     REPORT -> a claim that is active  <---------------------'  -> over, or silent for too long -> history (a ring)
 *
 *     used -> accountant -> priority of the user, plus each claim that it has now -> engine
 *
 * One agent reports a claim: the one that was matched. For a while after a restart, the receipt (receipt.h) of a claim that an earlier life
 * of the matchmaker has matched is believed: the account and the weight are read from it, not from the report. So nobody can report a claim
 * that was not matched, and have somebody else charged for it. Reported usage can never be more than the time that has passed, plus a lease.
 *
 * A claim counts by the weight of its unit (weight.h): in the charge and in the use. While it is known it also counts in the
 * group of its user (groups.h), and holds what its root names in ConcurrencyLimits (limits.h). A match of which nothing is heard until a message's
 * deadline after its window lapses: it holds nothing any more, and takes its limits again, even beyond them, if it is reported after all.
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
#include "pool/matchmaker/tally.h"
#include "pool/protocol/receipt.h"
#include "pool/protocol/role.h"
#include "pool/protocol/timers.h"
#include "pool/protocol/weight.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REGISTRAR_CLAIMS_MAX (1u << 22) /* active or expected claims */
#define REGISTRAR_HISTORY_MAX 4096
#define REGISTRAR_WRITE_SPAN MINUTE     /* the least time between two writings of usage */
#define REGISTRAR_LEARNT_MAX (1u << 20) /* claims of another incarnation that are believed */
#define REGISTRAR_USERS_TIDY 1024       /* after that many new users, those who need not be remembered are forgotten */
#define REGISTRAR_SCALE 1e6             /* usage and factor are multiplied by it in a record */
#define REGISTRAR_LEAST 1e-6            /* a usage that need not be remembered */

struct active_claim {
    uint64_t claim, gang; /* claim 0: the place is free */
    uint64_t agent;       /* the agent that reports it */
    uint64_t offer;       /* and the id of its offer */
    uint32_t user;        /* held; or the next free place */
    bool reported;
    bool lapsed; /* its window closed and it was not reported: it holds nothing and counts for nothing until it is */
    int64_t weight;
    int64_t kinds[SHARE_KINDS]; /* processors, GPUs and licences that it was given, in thousandths */
    struct tally *tally;        /* owned: what it has used, for the book */
    struct holdings *holdings;  /* or NULL */
    struct limits_asked *asked; /* until it is reported: what to hold again if it has lapsed; or NULL */
    uint32_t mate;              /* the next claim of its gang that shares limits, in a ring; itself: none other */
    int64_t since, used;        /* since when it is known; what was charged so far */
    int64_t ends;               /* when it ends without another report */
    int64_t timer;              /* the timer that is set for it */
};

struct past_claim {
    uint64_t claim, gang;
    uint64_t agent;
    char *user; /* owned: the name, for the number may belong to another by now */
    int64_t since, ended, used;
    enum reason reason;  /* as reported, RELEASED where the report says none; LEASE: there were no more reports */
    struct tally *tally; /* owned; of one with LEASE, or that nobody used, of which more may be told; or NULL */
    uint64_t writing;    /* how often the book had been written when it was counted last */
};

/* What the registrar knows of a user beside the account. */
struct share {
    uint32_t claims;
    struct group_use use; /* of these claims */
    uint32_t leaf;        /* the user's group, where its use is counted */
    bool placed;          /* the group is known */
    double told;          /* the priority that the engine has */
    bool dirty;           /* the account is to be written to disk */
    bool moved;           /* the engine is to be told */
};

struct registrar {
    const struct spans *spans;
    struct engine *engine;
    struct accountant *accountant;
    struct groups groups;
    struct limits limits;
    int64_t weight;        /* of all claims */
    struct timers *timers; /* `which` is a claim's place */
    uint32_t timer_claim, timer_write, timer_book;
    struct usage_book book;
    struct map tallies;    /* claims of an earlier life that have a row -> their places in `loaded` */
    struct tally **loaded; /* owned; NULL: the claim is known again */
    uint32_t loaded_count, loaded_room;
    int64_t began;     /* when the role began */
    uint64_t *tallied; /* claims whose rows are to be written, or to be removed */
    uint32_t tallied_count, tallied_room;
    uint32_t book_at;    /* the next claim that is looked at for the book */
    int64_t book_next;   /* when the book is written next; INT64_MAX: there is nothing to write */
    uint64_t writings;   /* how often it was, all of it, in this life ... */
    uint64_t written_by; /* ... and the persist that ended the last writing */
    struct map claims;   /* claim -> place */
    struct map gangs;    /* gang -> the place of the claim that holds the limits for the whole gang */
    struct active_claim *active;
    uint32_t count, room, free;
    uint64_t reported;          /* active claims that were reported */
    struct past_claim *history; /* a ring */
    struct map past;            /* claim -> its place in the ring */
    uint32_t history_count, history_next;
    struct share *shares; /* by the user's number */
    uint32_t share_count;
    struct key receipts; /* the key that receipts are made with ... */
    bool has_receipts;   /* ... is there */
    struct map rows;     /* the rows on disk, by their keys */
    bool clocked;
    int64_t apart;         /* the difference between the wall clock and the one that never jumps, at the last step */
    int64_t jumped;        /* how many seconds the wall clock has jumped ahead, altogether, since the role began */
    int64_t priced;        /* the second in which all priorities were computed last */
    bool folded;           /* rows of delegates were added to their accounts, and are to be removed */
    int64_t written;       /* when usage was written last */
    bool write_waits;      /* a timer for the next writing is set */
    int64_t learns_until;  /* until then claims of another incarnation are believed; INT64_MIN: not begun */
    uint32_t learnt;       /* how many of those so far */
    uint32_t users_tidied; /* how many users were left when users were last forgotten */
};

void registrar_init(struct registrar *registrar, const struct spans *spans, struct engine *engine,
                    struct accountant *accountant, struct timers *timers, uint32_t timer_claim, uint32_t timer_write,
                    uint32_t timer_book, uint64_t seed);
void registrar_done(struct registrar *registrar);

/* The registrar begins: for a while it believes claims that it does not know, by their receipts. */
void registrar_begin(struct registrar *registrar, int64_t now);

/* The time by which all living claims have been reported, if the registrar began at `began`: claims matched before have
 * been activated by then, and each is reported several times within a lease. */
int64_t registrar_knows(const struct registrar *registrar, int64_t began);

/* Loads a durable row. */
void registrar_load(struct registrar *registrar, const struct role_env *env, const struct record *record);

/* All rows are loaded: if there is no key for receipts yet, one is drawn and written. */
void registrar_loaded(struct registrar *registrar, const struct role_env *env, struct effects *effects);

/* A match was made: the agent may report the claim, which is charged to that user. Its weight counts as in use from now
 * on, and its limits are taken. */
struct expected {
    uint64_t claim, gang;
    agent from;
    uint64_t offer; /* the ad's id at that agent */
    uint32_t user;
    int64_t weight;
    const struct limits_asked
        *asked; /* or NULL; all members of a gang say the same, and it is taken once, until the last of them ends */
    const struct tally_unit *unit; /* what the claim is on; or NULL: not known */
};

/* Returns the receipt, for both sides; the caller unrefs it. NULL: there is no key yet. */
struct tree *registrar_expect(struct registrar *registrar, const struct role_env *env, const struct expected *expected);

/* Sets other groups and limits; takes over the rows. */
void registrar_set_shares(struct registrar *registrar, struct shares *shares);

/* The pool has free offers of that weight, beside the claims. */
void registrar_resize(struct registrar *registrar, int64_t weight);

/* The share that is closed for a user, or ENGINE_OPEN. */
uint32_t registrar_closed(const struct registrar *registrar, uint32_t user);

/* The answer to the last report of a claim is WAIT until the book was written with what it says; then it stands behind the persist `ret_after`. */
enum reason registrar_report(struct registrar *registrar, const struct role_env *env, const struct peer *peer,
                             const struct report *report, uint64_t *ret_offer, uint64_t *ret_after);

/* Sets the factor of a user's priority, above 0, and writes it at once. */
void registrar_set_factor(struct registrar *registrar, const struct role_env *env, const char *name, double factor,
                          struct effects *effects);

/* A claim's timer, or the timer of writing, is due. */
void registrar_claim_due(struct registrar *registrar, const struct role_env *env, uint32_t place, int64_t at);
void registrar_write_due(struct registrar *registrar, const struct role_env *env, struct effects *effects);

/* Tells the engine all priorities that have moved, as a cycle begins. */
void registrar_price(struct registrar *registrar, const struct role_env *env);

/* Called at the beginning of each step: notes how far the wall clock has jumped. */
void registrar_clock(struct registrar *registrar, const struct role_env *env);
/* That second of the wall clock, as usage counts it. */
static inline int64_t registrar_time(const struct registrar *registrar, int64_t wall_seconds)
{
    return wall_seconds - registrar->jumped;
}

/* The priority that the engine goes by, at that second of registrar_time. */
double registrar_priority(const struct registrar *registrar, uint32_t user, int64_t seconds);

/* registrar_book.c: what claims have used, on its way into the book. `take` is for a report; `settle` books
 * all that was told; `end` does the same when the claim is over, and frees the tally, which may be NULL. */
enum reason registrar_book_take(struct registrar *registrar, const struct role_env *env, struct tally *tally,
                                const struct report *report, int64_t charged, int64_t known);
void registrar_book_end(struct registrar *registrar, uint64_t claim, struct tally *tally);
void registrar_book_settle(struct registrar *registrar, uint64_t claim, struct tally *tally);
void registrar_book_due(struct registrar *registrar, const struct role_env *env, struct effects *effects);
void registrar_book_load(struct registrar *registrar, const struct role_env *env, const struct record *record);
/* The tally of a claim that an earlier life has begun: of its row, or one that is unsure. */
struct tally *registrar_book_learn(struct registrar *registrar, const struct receipt *receipt, int64_t weight);
bool registrar_book_has(const struct registrar *registrar, uint64_t claim); /* is there such a row? */
void registrar_book_done(struct registrar *registrar);

bool registrar_valid(const struct registrar *registrar, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
