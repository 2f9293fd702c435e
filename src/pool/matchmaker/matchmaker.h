/* matchmaker.h: introduces ads that fit each other.
 *
 *     ADVERTISE -> collector (identity, version, lifetime, units, ledger) -> engine -> notifier -> MATCH to each member
 *     PULL -> puller -> engine, ledger -> MATCH to the customer, and the answer PULLED
 *     REPORT -> registrar (active claims, history) -> accountant -> root order
 *
 * All but usage is soft state: after a restart the matchmaker learns the pool again from the ads. */
#ifndef BERTH_POOL_MATCHMAKER_MATCHMAKER_H
#define BERTH_POOL_MATCHMAKER_MATCHMAKER_H

#include "pool/engine/engine.h"
#include "pool/matchmaker/shares.h"
#include "pool/matchmaker/usage_book.h"
#include "pool/protocol/machine_state.h"
#include "pool/protocol/receipt.h"
#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

struct matchmaker;

struct matchmaker_settings {
    agent self;
    const struct spans *spans;
    struct tree *policy; /* or NULL */
    struct tree *shares; /* groups and limits (shares.h); or NULL */
    uint64_t slice;      /* units of work of the engine in one step; 0: a default */
    uint64_t work;    /* units of work of a cycle; one user may have a quarter of it while others wait; 0: a default */
    uint32_t ads_max; /* ads of one agent, and machines of one account; 0: a default */
    uint64_t machine_bytes_max; /* of what is known of the machines of one account; 0: a default */
    uint32_t
        assignment; /* a policy of match/assign/assign.h plus 1: cycles are its windows; 0: one root after the other */
    uint32_t plans; /* requests that wait for room and are planned (planner.h); 0: none */
};

extern const struct role_kind matchmaker_role; /* settings: struct matchmaker_settings; role: struct matchmaker */

uint64_t matchmaker_incarnation(const struct matchmaker *matchmaker);

/* An ad as the collector has it. */
struct entry_view {
    uint64_t id, version;
    uint64_t agent;
    bool request;
    uint32_t user; /* the number of its owner, as user_view has it */
    int64_t expires;
    int64_t advertised;  /* units of the text; an offer has one */
    int64_t free;        /* units, or 1 while something is left of an offer */
    int64_t outstanding; /* matches that the text does not name, and that are taken off it */
    uint64_t numbered;   /* matches so far, in this incarnation */
    struct seen seen;
    const struct tree *ad;       /* its text */
    const struct tree *left;     /* what is left of an offer, as it is in the index; or NULL */
    enum engine_outcome outcome; /* the result of a request's last try */
};

/* The ad of that agent and id, if it lives. */
bool matchmaker_find(const struct matchmaker *matchmaker, agent who, uint64_t id, struct entry_view *ret);

/* Is anything of that agent and id still remembered, alive or not? */
bool matchmaker_remembers(const struct matchmaker *matchmaker, agent who, uint64_t id);

/* The last version of that ad that is remembered, alive or not; 0 when none is. */
uint64_t matchmaker_version(const struct matchmaker *matchmaker, agent who, uint64_t id);

/* Would a pull of that offer be refused, because its account has as many pulling offers as it may? */
bool matchmaker_pulls_full(const struct matchmaker *matchmaker, const struct peer *peer, uint64_t id);

/* The first living ad from place `from` on (0 at first): true, and the place behind it. An ad keeps its place while it lives, so
 * a caller that goes on later misses none that stayed. */
bool matchmaker_next(const struct matchmaker *matchmaker, uint32_t from, struct entry_view *ret, uint32_t *ret_next);

typedef void matchmaker_entry_fn(void *user, const struct entry_view *entry);
void matchmaker_each(const struct matchmaker *matchmaker, matchmaker_entry_fn *fn, void *user);

/* A machine, or another thing that is offered, as it is known whether or not it has room (machines.h). Times are on the matchmaker's clock. */
struct machine_view {
    uint64_t agent, id;
    uint64_t version; /* of its last word; 0: it has told nothing */
    enum machine_state state;
    bool pulls, sure, brief; /* `brief`: it has been away for long, and its whole has little more than its name */
    int64_t since, until;    /* until INT64_MAX: not known */
    int64_t heard;
    const struct tree *whole; /* with nothing given away */
    const struct tree *told;  /* what is in use, its claims and words, as its provider tells them; or NULL */
    int64_t said;             /* when it told so */
    const struct tree *left;  /* what may be had of it now; NULL: nothing */
    uint32_t matched;         /* matches of it under way, of which its provider's word may not know yet */
};

/* As matchmaker_next; and the machine of that agent and id. */
bool matchmaker_next_machine(const struct matchmaker *matchmaker, uint32_t from, struct machine_view *ret,
                             uint32_t *ret_next);
bool matchmaker_find_machine(const struct matchmaker *matchmaker, agent who, uint64_t id, struct machine_view *ret);
uint32_t matchmaker_machines(const struct matchmaker *matchmaker); /* how many are known */
uint64_t matchmaker_machine_bytes(
    const struct matchmaker *matchmaker); /* what that takes, beside the texts of offers */

/* Of a request that waits for room: the machine where it is planned to begin, and by when, on the matchmaker's clock. */
struct plan_view {
    uint64_t root_agent, root; /* whose request it is, and its number there */
    uint64_t agent, machine;
    int64_t start;
    bool held;    /* others are kept from that machine who would not be done by then */
    int64_t span; /* those who are may begin there if their limit is no longer than that */
};
bool matchmaker_planned(const struct matchmaker *matchmaker, agent who, uint64_t id, struct plan_view *ret);
/* The plan by which others are kept from that machine. */
bool matchmaker_planned_there(const struct matchmaker *matchmaker, agent who, uint64_t id, struct plan_view *ret);

/* The matchmaker has been there since then, on its own clock; and all machines that go on have been heard of by the second time. */
int64_t matchmaker_began(const struct matchmaker *matchmaker, int64_t *ret_knows);

/* Where all who wait are settled together: how long they are gathered for. 0: they are served one after the other. `ret_left`: how long until the
 * next time; -1: those who wait were left over, and the next one begins with whoever comes. */
int64_t matchmaker_window(const struct matchmaker *matchmaker, int64_t now, int64_t *ret_left);

struct matchmaker_counts {
    uint64_t matches, told, given_up; /* matches made; notifications delivered, and not */
    uint64_t claims, history;         /* active claims that were reported, and ended ones that are remembered */
    uint64_t cycles;
    uint64_t ads, waiting;     /* ads that live; notifications under way or waiting */
    struct engine_counts work; /* of the present cycle, or the last one */
    bool in_cycle;
};

struct matchmaker_counts matchmaker_counts(const struct matchmaker *matchmaker);

/* A claim that was matched or reported, or is over. */
struct claim_view {
    uint64_t claim, gang;
    uint64_t agent;   /* the agent that reports it */
    const char *user; /* or NULL */
    bool reported, over;
    int64_t since, ended, used;
    enum reason reason; /* why it ended */
};

/* As matchmaker_next: the active claims, then those that are over. `from` is 0, or the value that the last call
 * gave. */
bool matchmaker_next_claim(const struct matchmaker *matchmaker, uint32_t from, struct claim_view *ret,
                           uint32_t *ret_next);

/* The claim of that number; false when it is not known. */
bool matchmaker_find_claim(const struct matchmaker *matchmaker, uint64_t claim, struct claim_view *ret);

/* Is the ad a receipt of this matchmaker, from any of its lives? Then `ret` gets what it says. */
bool matchmaker_receipt(const struct matchmaker *matchmaker, const struct secrets *secrets, const struct tree *ad,
                        struct receipt *ret);

struct user_view {
    const char *name;
    uint32_t number; /* its own while it is known */
    double usage, factor, priority;
    uint32_t claims;
    double units; /* the units that these claims count for */
};

/* As matchmaker_next; usage is decayed to that time (seconds of the wall clock). */
bool matchmaker_next_user(const struct matchmaker *matchmaker, int64_t wall, uint32_t from, struct user_view *ret,
                          uint32_t *ret_next);
bool matchmaker_find_user(const struct matchmaker *matchmaker, int64_t wall, const char *name, struct user_view *ret);

/* What was used in a month, by an account or of a machine (usage_book.h); as matchmaker_next. */
bool matchmaker_next_usage(const struct matchmaker *matchmaker, uint32_t from, const struct usage_row **ret,
                           uint32_t *ret_next);

/* A group of users, as in matchmaker_next: a group comes before the groups in it. <none> is for users outside all
 * groups. */
struct group_view {
    const char *name;
    double quota, used; /* units */
    bool surplus;
    bool units;                                         /* the quota of units binds it */
    double kinds[SHARE_KINDS], kinds_used[SHARE_KINDS]; /* of processors and GPUs; the first INFINITY: there is none */
};
bool matchmaker_next_group(const struct matchmaker *matchmaker, uint32_t from, struct group_view *ret,
                           uint32_t *ret_next);
/* May that user's requests be charged to the group of that name? */
bool matchmaker_group_takes(const struct matchmaker *matchmaker, const char *group, const char *user);
double matchmaker_pool(const struct matchmaker *matchmaker); /* units in the pool; known only when there are groups */

/* A named thing of which only a number may be in use at a time. */
struct limit_view {
    const char *name;
    int64_t most, used; /* most -1: any number */
};
bool matchmaker_next_limit(const struct matchmaker *matchmaker, uint32_t from, struct limit_view *ret,
                           uint32_t *ret_next);

/* How many requests, and units of them, wait of users who are served before that one; false when the order depends on more than priorities, or the
 * user is not known. It costs one look at every ad. */
bool matchmaker_ahead(const struct matchmaker *matchmaker, int64_t wall, agent who, uint64_t id, uint64_t *ret_units,
                      uint32_t *ret_users);

/* What a user has used, decayed to that time (seconds of the wall clock), and the effective priority; false when the user is not known. */
bool matchmaker_user(const struct matchmaker *matchmaker, const char *name, int64_t wall, double *ret_usage,
                     double *ret_priority);

#ifdef __cplusplus
}
#endif
#endif
