/* engine.h: the matchmaker's cycles over ads that come, change and go: an ad that did not change costs nothing in the
 * next cycle.
 *
 * What a cycle gives to whom is what match/pair/cycle.h says, over the ads that are there: each root in its order gets, for
 * each unit that it has left, the candidate with the largest docking vector; of equal ones the one that arrived first,
 * then the one with the smaller number. A candidate is consumed or goes on as its residual. What is remembered from
 * cycle to cycle changes no answer:
 *
 *     roots   ----> classes of roots that are the same to offers ----> index of those that were tried and wait
 *     offers  ----> classes of offers that are the same to roots ----> index of all of them
 *
 * A class that was tried in vain waits until a class of offers comes that fits it. So a cycle tries the classes that
 * are new and those that a new class of offers fits, and no others, but for what depends on the time, on chance, or on
 * names that the matchmaker gives: that is looked at again.
 *
 * Without a policy, an ad is a root if it says Root = true or Type == "Job", or came as a request; all others are
 * candidates. Roots are served by their user's priority (the smaller number first), then by arrival, then by number; a
 * policy's RootOrder comes in the place of the priority.
 *
 * A root whose ad has Ports gathers a gang: a candidate for each of its ports, for each of their ports, and so on, as match/gang/gang.h
 * says, with preferences; one that finds nobody waits until an offer comes that could be in its gang. So does a root without Ports
 * that could dock with an offer that has some. Each search has a budget (match/gang/seeker.h).
 *
 * One thing differs: a residual that reads of roots what no offer has read before (its value holds an expression of the
 * root's) takes part from the next cycle on.
 *
 * A cycle: engine_begin, then engine_step until it returns false. In between ads may be put and removed, also while
 * a match is told: who goes is skipped, who comes takes part in the next cycle at the latest. */
#ifndef BERTH_POOL_ENGINE_ENGINE_H
#define BERTH_POOL_ENGINE_ENGINE_H

#include "match/pair/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Evaluation steps of a class in a cycle: past them the outcome of roots is "gave up", and offers are passed over. */
#define ENGINE_STEPS_MAX 10000000
/* Units of work of a cycle: a line of an index that is looked at, 64 steps of evaluation, or a twelfth of a probe of a search count for one;
 * some seconds. It is what a user's part of a cycle is measured by; a cycle in which nobody waits for another goes on beyond it. */
#define ENGINE_CYCLE_WORK (UINT64_C(1) << 22)
#define ENGINE_TURN_PART 4            /* so much of it is for one user while others wait: a quarter */
#define ENGINE_CHOICES_MAX (1u << 20) /* candidates that classes of many units remember within a cycle, in all */

struct engine;

/* Ads, names and policies of one table of symbols, which must outlive the engine. */
struct engine *engine_new(struct symbols *symbols);
void engine_free(struct engine *engine);

/* The policy, which is held; NULL for the defaults. A change forgets all that is remembered, and ends the cycle at
 * hand. -1 when the ad is no policy; `ret_attribute` is then the attribute that is wrong. */
int engine_set_policy(struct engine *engine, struct tree *ad, symbol *ret_attribute, struct err *err);

struct engine_terms {
    bool request;   /* it came from a customer: a root, unless the policy selects the roots */
    int64_t units;  /* how often it can be matched; below 1: not now */
    uint64_t order; /* its arrival: the smaller came first */
    uint32_t user;  /* whose it is, a small number: for the priority */
};

/* An ad of that small number is there from now on, in the place of the one before. The ad is held. One that is the
 * same as before, but for its units and what nobody reads, on the same terms, costs next to nothing and is no
 * change. */
void engine_put(struct engine *engine, uint32_t id, struct tree *ad, const struct engine_terms *terms);
void engine_remove(struct engine *engine, uint32_t id);

/* The larger the number, the later a user's roots are served; 0 for those never told. It counts at once, also within
 * a cycle. */
void engine_set_priority(struct engine *engine, uint32_t user, double priority);

/* From now on UserPrio and Usage (of the root's user) and RemoteUserPrio (of the user whose job the offer runs) are names that ads and
 * policies may read, where no ad has them: as they are told when a cycle begins. In RootSelection they are undefined. */
enum engine_given { ENGINE_USER_PRIO, ENGINE_REMOTE_USER_PRIO, ENGINE_USAGE, ENGINE_GIVEN };
void engine_give_users(struct engine *engine);
/* Whose job an offer runs that has been put: that user's number plus 1; 0: nobody's, as it is when it comes. */
void engine_set_remote(struct engine *engine, uint32_t id, uint32_t remote);
void engine_set_usage(struct engine *engine, uint32_t user, double usage); /* 0 for those never told */
/* Shares: users are served by the shares that they are in, a tree of them, and within a leaf by their priority. Share 0
 * is all; `parents` says the parent of each, which has a smaller number (that of share 0 is not read). Users are in
 * leaves: in the first leaf, unless told otherwise. At each level those within their quota come before those who take
 * what others leave (`surplus`), then the smaller ratio, then the smaller number: where nobody in a share is within
 * all quotas above him, the share counts as surplus. Without shares there is one leaf. Setting them puts off to the
 * next cycle whoever was not served in this one, and clears the keys. A policy's RootOrder knows no users, and so no
 * shares. */
void engine_set_shares(struct engine *engine, const uint32_t *parents, uint32_t count);
void engine_set_share(struct engine *engine, uint32_t user, uint32_t share);
void engine_set_share_key(struct engine *engine, uint32_t share, bool surplus, double ratio);
int engine_compare_shares(const struct engine *engine, uint32_t a, uint32_t b); /* below 0: a's users come first */

/* Gates: something that is no ad may hold a root back: a limit that is used up, a quota. Whoever comes to be served is
 * asked about: the number of a gate that is closed for that root, or ENGINE_OPEN. All roots of a user in a class wait
 * with it, at no cost, until the gate is opened; then they are tried again in the next cycle. So a gate may depend on
 * the user (where the policy says no RootOrder), and on what tells classes apart: engine_tell_apart adds a name to
 * that. */
#define ENGINE_OPEN UINT32_MAX
typedef uint32_t engine_gate_fn(void *user, uint32_t root);
void engine_set_gates(struct engine *engine, engine_gate_fn *closed, void *user);
void engine_open_gate(struct engine *engine, uint32_t gate);
uint32_t engine_gate(const struct engine *engine, uint32_t id); /* at which the root waits, or ENGINE_OPEN */
void engine_tell_apart(struct engine *engine, symbol name);     /* before the first ad comes */

/* A policy that settles all who wait at once, in the place of one root after the other: of match/assign/assign.h (ASSIGN_SRFM, ...), with the
 * places of offers, Cpus, Memory and Disk as quantities; ENGINE_ONE_BY_ONE, as it is at first: none. Each cycle is a window of it. Roots with Ports are
 * served afterwards, one by one. A change forgets all that is remembered, and ends the cycle at hand. */
#define ENGINE_ONE_BY_ONE UINT32_MAX
void engine_set_assignment(struct engine *engine, uint32_t policy);

/* The work of a cycle; 0: the default, ENGINE_CYCLE_WORK. A user whose roots have made a quarter of it, in this cycle or lately (work counts half after
 * each second), comes behind all others; and when only such users are left, who have had a part in this cycle, and new ads wait for the next cycle, this one ends: the outcome of theirs is "gave up", and they go on in the next. */
void engine_set_work(struct engine *engine, uint64_t units);

/* Does the policy say a RootOrder? */
bool engine_is_ordered(const struct engine *engine);

/* Would a cycle at that time find anything to look at? */
bool engine_wants(const struct engine *engine, int64_t now);

/* A cycle begins: its time, seed and given names are those of the environment, of which a copy is kept; the values
 * of the given names must stay until the next one begins. What is left of a cycle that has not ended is for this
 * one. */
void engine_begin(struct engine *engine, const struct env *env);

/* A match has been made: one unit of the root, and of the offer. `left` is what goes on of the offer, or NULL when
 * it is consumed. The rank is the root's as it counts; it lives for the call. */
typedef void engine_match_fn(void *user, uint32_t root, uint32_t offer, const struct value *rank, struct tree *left);

/* A member of a gang, its superior before it. */
struct engine_member {
    uint32_t offer;
    uint32_t parent;     /* its superior's place among the members; ENGINE_ROOT: the root */
    uint32_t port, link; /* the superior's port that it docks at, and its own; 0 for an ad without Ports */
    struct tree *left;   /* what goes on of it, or NULL when it is consumed */
    struct tree
        *counterpart; /* who it docks with, as a plain ad by which its residual can be made again; NULL: it has none */
};
#define ENGINE_ROOT UINT32_MAX

/* A gang has been made: one unit of the root, and of each member. All lives for the call. */
typedef void engine_gang_fn(void *user, uint32_t root, const struct engine_member *members, uint32_t count);

/* Who is told of gangs, with the user of engine_step. Without one there are none: roots with Ports wait, and offers with Ports are given
 * to nobody. */
void engine_on_gang(struct engine *engine, engine_gang_fn *made);

/* Does about so many units of work (lines of the index, evaluations); returns true while there is more to do.
 * Whatever the ads say, its evaluations take no more than ENGINE_OVERRUN steps beyond the units: it stops also in the midst of a class, and goes on there in
 * the next step, which changes no match. Only a policy that settles all at once looks at more, and a gang at twice SEEKER_STEPS_KIND more for each class of offers.
 * `scratch` is left as it was. */
#define ENGINE_OVERRUN 2000000
bool engine_step(struct engine *engine, struct arena *scratch, uint64_t units, engine_match_fn *found, void *user);

/* An offer of one unit that is not stored asks for a request: one unit of the root that it fits, and that comes first by
 * the policy's PullOrder, is taken off; its number, or ENGINE_NO_ONE. Also between the steps of a cycle. Roots are seen
 * once a cycle has put them into classes; those with Ports are never given. `ret_later`: somebody may be found when the
 * next cycle is under way, for the ad reads of roots what nobody has read before, or what depends on the time is being
 * looked at. Time, zone and seed are those of `env`,
 * but for the time where ads that are stored depend on it: then it is that of the cycle. Where chance plays a part, it is
 * thrown once for all that are the same to offers. `scratch` is left as it was. */
#define ENGINE_NO_ONE UINT32_MAX
uint32_t engine_pull(struct engine *engine, struct arena *scratch, const struct tree *ad, const struct env *env,
                     bool *ret_later);

/* How much is left of an ad, and what; 0 and NULL when there is none of that number. */
int64_t engine_units(const struct engine *engine, uint32_t id);
struct tree *engine_ad(const struct engine *engine, uint32_t id);

enum engine_outcome {
    ENGINE_NO_ROOT, /* an offer, or nobody */
    ENGINE_WAITING, /* it has not been tried since it, or an offer that fits it, has come */
    ENGINE_MATCHED, /* nothing is left of it */
    ENGINE_NOBODY,  /* there was no candidate for what is left of it */
    ENGINE_GAVE_UP, /* finding one took too long, or too little was left of its user's part of the cycle */
    ENGINE_HELD,    /* a gate is closed */
};
enum engine_outcome engine_outcome(const struct engine *engine, uint32_t id);

/* What the last cycle did, or the one at hand has done. */
struct engine_counts {
    uint64_t probes;      /* of an index */
    uint64_t tests;       /* lines of the indexes that were looked at */
    uint64_t evaluations; /* constraints and docking vectors */
    uint64_t steps;       /* of all evaluations */
    uint64_t tried;       /* roots, or rather classes of them */
    uint64_t matches;
    uint64_t windows,
        fell_back; /* plans that were made; of these, those that the policy could not make, and srfm did */
};
struct engine_counts engine_counts(const struct engine *engine);

/* How many classes of roots and of offers there are: for curiosity and tests. */
uint32_t engine_classes(const struct engine *engine, bool roots);

/* Is it in order? Else why not; for tests. */
bool engine_valid(const struct engine *engine, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
