/* engine.h: the matchmaker's cycles over ads that come, change and go: an ad that did not change costs nothing in the
 * next cycle.
 *
 * A cycle matches the ads that are there as match/pair/cycle.h says: each root in its order gets, for
 * each unit that it has left, the candidate with the largest docking vector; among equals the one that arrived first,
 * then the one with the smaller number. A candidate is consumed or goes on as its residual. What the engine remembers from
 * cycle to cycle changes no answer:
 *
 *     roots   ----> classes of roots that are the same to offers ----> index of the classes that were tried and wait
 *     offers  ----> classes of offers that are the same to roots ----> index of all of them
 *
 * A class that found no candidate waits until a class of offers comes that fits it. So a cycle tries the classes that
 * are new and those that a new class of offers fits, and no others, except for ads that depend on the time, on chance, or on
 * names that the matchmaker gives: those are looked at again.
 *
 * Without a policy, an ad is a root if it says Root = true or Type == "Job", or came as a request; all others are
 * candidates. Roots are served by their user's priority (the smaller number first), then by arrival, then by number; a
 * policy's RootOrder replaces the priority.
 *
 * A root whose ad has Ports gathers a gang: a candidate for each of its ports, for each of their ports, and so on, as match/gang/gang.h
 * says, with preferences; a root that finds no gang waits until an offer comes that could be in it. So does a root without Ports
 * that could dock with an offer that has some. Each search has a budget (match/gang/seeker.h).
 *
 * One thing differs: a residual that reads an attribute of roots that no offer has read before (its value holds an expression of the
 * root's) takes part from the next cycle on.
 *
 * A cycle: engine_begin, then engine_step until it returns false. In between ads may be put and removed, also while
 * a match is told: an ad that goes is skipped, one that comes takes part in the next cycle at the latest. */
#ifndef BERTH_POOL_ENGINE_ENGINE_H
#define BERTH_POOL_ENGINE_ENGINE_H

#include "match/pair/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Evaluation steps of a class in a cycle: beyond them the outcome of roots is "gave up", and offers are passed over. */
#define ENGINE_STEPS_MAX 10000000
/* Units of work of a cycle, some seconds: a line of an index that is looked at, 64 steps of evaluation, or a twelfth of
 * a probe of a search count for one. A user's part of a cycle is measured by it; a cycle in which no user waits for
 * another goes on beyond it. */
#define ENGINE_CYCLE_WORK (UINT64_C(1) << 22)
#define ENGINE_TURN_PART 4            /* one user may have that part of it, a quarter, while others wait */
#define ENGINE_CHOICES_MAX (1u << 21) /* candidates that all classes of many units together remember within a cycle */

struct engine;

/* All ads, names and policies use this table of symbols, which must outlive the engine. */
struct engine *engine_new(struct symbols *symbols);
void engine_free(struct engine *engine);

/* Sets the policy, which is held; NULL for the defaults. A change forgets all that is remembered, and ends the present
 * cycle. Returns -1 when the ad is not a policy; `ret_attribute` is then the attribute that is wrong. */
int engine_set_policy(struct engine *engine, struct tree *ad, symbol *ret_attribute, struct err *err);

struct engine_terms {
    bool request;   /* the ad came from a customer: it is a root, unless the policy selects the roots */
    int64_t units;  /* how often the ad can be matched; below 1: not now */
    uint64_t order; /* its arrival: the smaller came first */
    uint32_t user;  /* the ad's user, a small number: for the priority */
};

/* Puts an ad under that small number, in the place of the one before. The ad is held. An ad that is the same as before,
 * on the same terms, except for its units and what nobody reads, costs next to nothing and is no change. */
void engine_put(struct engine *engine, uint32_t id, struct tree *ad, const struct engine_terms *terms);
void engine_remove(struct engine *engine, uint32_t id);

/* A root's place among the roots of its user, where the policy says no RootOrder: the larger priority first, then what was submitted earlier (at a
 * time; and of what was, by number), then what came first. To the roots of other users it says nothing: of users with the same
 * priority the one with the smaller number is served first. Zeros for roots never told of. */
struct engine_turn {
    double priority;
    int64_t submitted, number;
};
void engine_set_turn(struct engine *engine, uint32_t id, const struct engine_turn *turn); /* after the ad was put */

/* The larger the number, the later a user's roots are served; 0 for users never told of. It counts at once, also within
 * a cycle. */
void engine_set_priority(struct engine *engine, uint32_t user, double priority);

/* From now on UserPrio and Usage (of the root's user) and RemoteUserPrio (of the user whose job the offer runs) are names that ads and
 * policies may read, where no ad has them. Their values are those told when a cycle begins. In RootSelection they are undefined. */
enum engine_given { ENGINE_USER_PRIO, ENGINE_REMOTE_USER_PRIO, ENGINE_USAGE, ENGINE_GIVEN };
void engine_give_users(struct engine *engine);
/* The user whose job a stored offer runs: that user's number plus 1; 0: none, as when the offer comes. */
void engine_set_remote(struct engine *engine, uint32_t id, uint32_t remote);
void engine_set_usage(struct engine *engine, uint32_t user, double usage); /* 0 for users never told of */
/* Shares: users are served by the tree of shares that they are in, and within a leaf by their priority. Share 0 is all;
 * `parents` says the parent of each, which has a smaller number (that of share 0 is not read). Users are in leaves: in
 * the first leaf, unless told otherwise. At each level shares within their quota come before shares that take what
 * others leave (`surplus`), then the smaller ratio, then the smaller number: where no user in a share is within all
 * quotas above, the share counts as surplus. Without shares there is one leaf. Setting them puts off to the next cycle
 * all users not served in this one, and clears the keys. A policy's RootOrder knows no users, and so no shares. */
void engine_set_shares(struct engine *engine, const uint32_t *parents, uint32_t count);
void engine_set_share(struct engine *engine, uint32_t user, uint32_t share);
void engine_set_share_key(struct engine *engine, uint32_t share, bool surplus, double ratio);
int engine_compare_shares(const struct engine *engine, uint32_t a, uint32_t b); /* below 0: a's users come first */

/* Gates: something other than ads may hold a root back: a limit that is used up, a quota. Before a root is served, the
 * function is asked for the number of a gate that is closed for that root, or ENGINE_OPEN. All roots of a user in a
 * class wait with it, at no cost, until the gate is opened; then they are tried again in the next cycle. So a gate may
 * depend on the user (where the policy says no RootOrder), and on what tells classes apart: engine_tell_apart adds a
 * name to that. */
#define ENGINE_OPEN UINT32_MAX
typedef uint32_t engine_gate_fn(void *user, uint32_t root);
void engine_set_gates(struct engine *engine, engine_gate_fn *closed, void *user);
void engine_open_gate(struct engine *engine, uint32_t gate);
uint32_t engine_gate(const struct engine *engine, uint32_t id); /* the gate at which the root waits, or ENGINE_OPEN */
void engine_tell_apart(struct engine *engine, symbol name);     /* before the first ad comes */

/* A policy that settles all waiting roots at once, instead of one after the other: one of match/assign/assign.h
 * (ASSIGN_SRFM, ...), with the places of offers, Cpus, Memory and Disk as quantities; ENGINE_ONE_BY_ONE, the default:
 * none. Each cycle is a window of it. Roots with Ports are served afterwards, one by one. A change forgets all that is
 * remembered, and ends the present cycle. */
#define ENGINE_ONE_BY_ONE UINT32_MAX
void engine_set_assignment(struct engine *engine, uint32_t policy);

/* The work of a cycle; 0: the default, ENGINE_CYCLE_WORK. A user whose roots have used a quarter of it, in this cycle
 * or lately (work counts half after each second), comes behind all others. When only such users are left, who have had
 * a part in this cycle, and new ads wait for the next cycle, this one ends: the outcome of their roots is "gave up",
 * and they go on in the next. */
void engine_set_work(struct engine *engine, uint64_t units);

/* Does the policy say a RootOrder? */
bool engine_is_ordered(const struct engine *engine);

/* Would a cycle at that time find anything to look at? */
bool engine_wants(const struct engine *engine, int64_t now);

/* Begins a cycle: its time, seed and given names are those of the environment, of which a copy is kept; the values of
 * the given names must stay until the next cycle begins. If the cycle before has not ended, this one goes on with what
 * is left. */
void engine_begin(struct engine *engine, const struct env *env);

/* A match has been made: one unit of the root, and of the offer. `left` is what remains of the offer, or NULL when it
 * is consumed. `rank` is the root's rank of the offer; it lives for the call. */
typedef void engine_match_fn(void *user, uint32_t root, uint32_t offer, const struct value *rank, struct tree *left);

/* A member of a gang; its superior comes before it in the list. */
struct engine_member {
    uint32_t offer;
    uint32_t parent;     /* its superior's place among the members; ENGINE_ROOT: the root */
    uint32_t port, link; /* the superior's port that it docks at, and its own; 0 for an ad without Ports */
    struct tree *left;   /* what remains of the offer, or NULL when it is consumed */
    struct tree
        *counterpart; /* its counterpart as a plain ad, from which its residual can be made again; NULL: it has none */
};
#define ENGINE_ROOT UINT32_MAX

/* A gang has been made: one unit of the root, and of each member. All pointers live for the call. */
typedef void engine_gang_fn(void *user, uint32_t root, const struct engine_member *members, uint32_t count);

/* The function that is told of gangs, with the user of engine_step. Without one there are no gangs: roots with Ports
 * wait, and offers with Ports are given to nobody. */
void engine_on_gang(struct engine *engine, engine_gang_fn *made);

/* Does about so many units of work (lines of the index, evaluations); returns true while there is more to do. Whatever
 * the ads say, a step's evaluations take no more than ENGINE_OVERRUN steps beyond the units: it stops even in the midst
 * of a class, and goes on there in the next step, which changes no match. Only a policy that settles all at once looks
 * at more, and a gang at twice SEEKER_STEPS_KIND more for each class of offers. `scratch` is left as it was. */
#define ENGINE_OVERRUN 2000000
bool engine_step(struct engine *engine, struct arena *scratch, uint64_t units, engine_match_fn *found, void *user);

/* An offer of one unit that is not stored asks for a request: among the roots that it fits, one unit of the root that comes first by
 * the policy's PullOrder is taken; returns its number, or ENGINE_NO_ONE. May be called between the steps of a cycle. Roots are seen
 * once a cycle has put them into classes; roots with Ports are never given. `ret_later`: a root may be found when the
 * next cycle is under way, because the ad reads attributes of roots that nobody has read before, or ads that depend on the time are being
 * looked at. Time, zone and seed are those of `env`,
 * except that where stored ads depend on the time, it is that of the cycle. Where chance plays a part, it is
 * drawn once for all roots that are the same to offers. `scratch` is left as it was. */
#define ENGINE_NO_ONE UINT32_MAX
uint32_t engine_pull(struct engine *engine, struct arena *scratch, const struct tree *ad, const struct env *env,
                     bool *ret_later);

/* The units that are left of an ad, and the ad as it is left; 0 and NULL when there is no ad of that number. */
int64_t engine_units(const struct engine *engine, uint32_t id);
struct tree *engine_ad(const struct engine *engine, uint32_t id);

enum engine_outcome {
    ENGINE_NO_ROOT, /* an offer, or no ad of that number */
    ENGINE_WAITING, /* not tried since it, or an offer that fits it, has come */
    ENGINE_MATCHED, /* no unit is left */
    ENGINE_NOBODY,  /* there was no candidate for its remaining units */
    ENGINE_GAVE_UP, /* finding a candidate took too long, or too little was left of its user's part of the cycle */
    ENGINE_HELD,    /* a gate is closed */
};
enum engine_outcome engine_outcome(const struct engine *engine, uint32_t id);

/* The first roots, in the order in which they are served, that found no candidate and wait at no gate: of those of a user that are the same to
 * offers, the first; none with Ports. Returns how many there are in `ret`, `max` at most. */
uint32_t engine_waiting(const struct engine *engine, uint32_t *ret, uint32_t max);

/* What the last cycle did, or the present one has done so far. */
struct engine_counts {
    uint64_t probes;      /* of an index */
    uint64_t tests;       /* lines of the indexes that were looked at */
    uint64_t evaluations; /* constraints and docking vectors */
    uint64_t steps;       /* of all evaluations */
    uint64_t tried;       /* classes of roots that were tried */
    uint64_t matches;
    uint64_t windows,
        fell_back; /* plans that were made; and how many of them the policy could not make, so that srfm did */
};
struct engine_counts engine_counts(const struct engine *engine);

/* How many classes of roots and of offers there are: for metrics and tests. */
uint32_t engine_classes(const struct engine *engine, bool roots);

/* Is the engine's state in order? If not, why; for tests. */
bool engine_valid(const struct engine *engine, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
