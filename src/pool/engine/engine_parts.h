/* engine_parts.h: what the files of the engine share; not installed.
 *
 *     engine.c          ads come and go
 *     engine_members.c  ads in their order
 *     engine_classes.c  who is the same to the other side
 *     engine_cycle.c    a cycle, bite by bite
 *     engine_wake.c     offers find the roots that wait for them
 *     engine_queue.c    which root is next
 *     engine_gates.c    roots that wait for something that is no ad
 *     engine_trial.c    a root looks for its best candidate
 *     engine_serve.c    and gets it
 *     engine_given.c    names whose values depend on whose the ads are
 *     engine_choices.c  the best candidates of many equal roots
 *     engine_gang.c     a root gathers a gang
 *     engine_window.c   all who wait are settled at once
 *     engine_pull.c     an offer that is not stored asks for a root
 *     engine_valid.c    is it in order?
 *
 *     slot (an ad) -> class -> representative ad -> index                offers: the class has its members
 *                     class -> group -> members, in root order           roots: a group for each user
 *     queue: tree of shares -> heap of users in each leaf -> heap of groups each */
#ifndef BERTH_POOL_ENGINE_ENGINE_PARTS_H
#define BERTH_POOL_ENGINE_ENGINE_PARTS_H

#include "lang/base/array.h"
#include "match/index/classes.h"
#include "match/index/index.h"
#include "match/index/reads.h"
#include "pool/engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the meaning of an ad or a policy depends on beyond the ads. */
enum trait { TRAIT_TIME = 1, TRAIT_CHANCE = 2, TRAIT_GIVEN = 4, TRAIT_ANY = 7 };

/* Numbers, in a growing array. */
struct numbers {
    uint32_t *items;
    uint32_t count, room;
};

/* Slots in their order. */
struct engine_members {
    uint32_t *ids;
    uint32_t first, count, room;
};

struct engine_slot {
    struct tree *ad; /* what is left of it, held; NULL: there is none of that number */
    int64_t units;
    uint64_t order;
    uint64_t came; /* the last cycle before it */
    uint32_t user;
    uint32_t remote;      /* of an offer: a user plus 1, or 0 */
    uint32_t in_class;    /* of its side; NOBODY while it is fresh, or nothing is left */
    uint32_t group;       /* of a root in a class */
    uint32_t restless;    /* its place among those with traits, or NOBODY */
    unsigned char traits; /* of the whole ad */
    bool request, root;
    bool ported; /* the ad has Ports */
    bool fresh;  /* waits to be put into a class */
};

/* A candidate that a class of roots remembers. */
struct engine_choice {
    uint32_t in_class, generation;
    uint32_t id; /* the first of that class, when it was looked at, ... */
    uint64_t order;
    uint32_t vector; /* ... and where its vector begins */
};

/* The best candidates of a class of roots: a heap. */
struct choices {
    struct engine_choice *items;
    uint32_t count, room;
    struct value *vectors; /* `width` components each; no strings */
    uint32_t vector_count, vector_room, width;
    uint64_t cycle;             /* in which they are good */
    uint32_t remembered;        /* as many count against ENGINE_CHOICES_MAX */
    uint32_t whose;             /* given names count: good for that user's roots; NOBODY: for all */
    bool cut;                   /* there are others, none of them better than ... */
    struct engine_choice bound; /* ... this one was */
};

struct ad_group {
    uint32_t in_class, user; /* in whose place in the queue it stands, and: */
    uint32_t whose;          /* whose roots they are */
    uint32_t before, after;  /* in its class; or the next free one */
    uint32_t place;          /* in the heap of its user, or NOBODY */
    uint32_t gate;           /* at which it waits, or NOBODY; then it is not in the queue, ... */
    uint32_t ahead, behind;  /* ... but between these there */
    uint32_t done;           /* members at the front that had their turn in this cycle */
    struct engine_members members;
};

/* Ads that are the same to the other side. */
struct engine_class {
    struct tree *ad;      /* that stands for all, held; NULL: the number is free */
    uint32_t place;       /* in the class_set; NO_CLASS: it is alone; of a free one: the next free one */
    uint32_t generation;  /* how often the number was used */
    unsigned char traits; /* what its matches depend on */
    bool listed;          /* offers: to be put into the index; roots: to be tried in the next cycle */
    bool indexed;
    bool late;      /* roots: to be put into the index */
    bool discarded; /* roots: waits although candidates fit, which the policy has discarded */
    bool plain;     /* roots: its choices cannot be remembered */
    bool ported;    /* its ads have Ports: it is known to the seeker, and in no index here */
    bool meets;     /* roots: some offer with Ports could dock with it, as it was known at: */
    uint64_t met;
    bool held;    /* roots: it waits at gates, and not because it was tried in vain */
    bool dear;    /* roots: it takes long to read for an index */
    bool put_off; /* roots: a cycle ended before it was tried, since its users had had their turn */
    unsigned char outcome;
    int64_t indexed_at; /* the time that the index knows */
    uint64_t stepped;   /* the cycle of these: */
    uint64_t steps;
    struct engine_members members; /* offers */
    uint32_t groups;               /* roots: the first */
    uint64_t units;                /* of all its roots */
    uint64_t queued, failed;       /* the last cycle in which it was */
    uint64_t apart;                /* the last cycle in which chance told its roots apart: each is tried by itself */
    uint64_t by_user; /* the last cycle in which given names told its users apart: each is tried by itself */
    uint64_t parted;  /* the last cycle in which nobody was left for one of them */
    struct choices *choices;
};

/* A class that an index has left, to be judged; it may have gone by then. */
struct hit {
    uint32_t number, generation;
    unsigned doubts;
};

struct hits {
    struct hit *items;
    uint32_t count, room;
};

/* A class of offers that looks for the roots which wait for it, and goes on in the next step. */
struct waking {
    uint32_t number, generation;
    bool running;
    struct hits hits; /* classes of roots */
    uint32_t at;
};

struct side {
    struct reads reads;   /* the names that the other side reads of this one */
    uint32_t reads_known; /* how many of them the classes know */
    bool alone;           /* any name may be read: each ad is a class of its own */
    struct class_set set; /* head is the number here */
    struct engine_class *classes;
    uint32_t count, room, free, used;
    struct index *index;
    uint32_t indexed;      /* classes in it */
    struct numbers listed; /* classes: offers that are to be put into the index, roots that are to be tried */
    struct numbers late;   /* roots that were tried, and are put into the index when somebody asks it */
};

enum { OFFERS, ROOTS };

struct heap {
    uint32_t *items;
    uint32_t count, room;
};

struct user {
    double priority, usage;
    double begun_priority, begun_usage; /* as they were when the cycle began */
    struct heap groups;
    uint32_t place;           /* in the heap of users of its share, or NOBODY */
    uint32_t share;           /* a leaf */
    uint64_t spent_in, spent; /* in that cycle: its work so far */
    uint64_t late_in;         /* the last cycle in which that was too much, or too much lately */
    uint64_t done_in;         /* the last cycle in which it was, and had what such a one may have while others wait */
    uint64_t debt;            /* its work lately: half as much after each second, ... */
    int64_t debt_at;          /* ... as it was then */
};

/* Within the quota; what others leave; those who had their turn. The smaller is served first. */
enum stage { STAGE_QUOTA, STAGE_SURPLUS, STAGE_LATE };

/* Users that share a quota, or shares that do. */
struct share_node {
    uint32_t parent; /* of 0: itself */
    bool inner;      /* it is made of shares */
    unsigned char stage;
    double ratio;
    uint32_t place;    /* in the heap of its parent, or NOBODY */
    struct heap items; /* of shares, or of users */
};

#define ENGINE_REMOTE 2 /* names of an offer that say whose job it runs */

enum phase { PHASE_IDLE, PHASE_REFRESH, PHASE_SETTLE, PHASE_PLACE, PHASE_QUEUE, PHASE_PLAN, PHASE_SERVE, PHASE_KEEP };

struct engine {
    struct symbols *symbols;
    struct policy policy;
    unsigned policy_traits;
    struct engine_slot *slots;
    struct value *keys; /* of roots, by the policy's RootOrder; their strings are ours. NULL without one */
    uint32_t slot_count;
    struct numbers fresh;    /* slots that are to be put into classes */
    struct numbers restless; /* slots with traits */
    struct numbers apart;    /* names that tell roots apart although nobody reads them */
    struct side sides[2];
    struct ad_group *groups;
    uint32_t group_count, group_room, group_free;
    struct user *users;
    uint32_t user_count;
    struct share_node *shares; /* the queue; the first is all of it */
    uint32_t share_count, share_default;
    engine_gate_fn *gate_closed;
    void *gate_user;
    uint32_t *gates; /* the first group that waits there, or NOBODY */
    uint32_t gate_count;
    uint64_t turn;                    /* the work of one user in a cycle, while others wait */
    struct env env;                   /* of the cycle at hand, or the last one */
    struct given *given, *pair_given; /* the same names, with the values for a pair */
    uint32_t given_room;
    bool gives; /* those below are the last of them */
    symbol given_names[ENGINE_GIVEN], remote_names[ENGINE_REMOTE];
    uint64_t cycle;
    uint32_t remembered; /* choices of all classes */
    uint64_t put_count;  /* since the names were read anew */
    uint32_t ad_count;
    enum phase phase;
    bool pulled;                 /* somebody pulls: new classes of roots go into the index at once */
    bool moved;                  /* the time, since the last cycle */
    uint32_t at;                 /* how far the phase is */
    uint64_t work;               /* in this step, but for that of evaluations: */
    uint64_t meter;              /* all steps of evaluation there ever were, ... */
    uint64_t begun, cycle_begun; /* ... and those before this step, and before this cycle */
    uint64_t slice;              /* the units of this step */
    uint64_t others;             /* of all steps, those that are not charged to the user who is served */
    struct waking waking;
    struct trial *trial; /* a root that looks for its best candidate, and goes on in the next step; NULL: none does */
    struct engine_counts counts;
    struct arena arena;  /* for a look at an ad when it comes */
    struct gangs *gangs; /* NULL: no ad has had Ports yet */
    engine_gang_fn *gang_made;
    struct window *window; /* NULL: one root after the other is served */
    /* for the length of a step */
    struct arena *scratch;
    engine_match_fn *found;
    void *found_user;
};

void engine_numbers_add(struct numbers *numbers, uint32_t number);

/* engine.c */
void engine_slot_leave(struct engine *engine, uint32_t id);   /* its class, or the list of the fresh */
void engine_slot_freshen(struct engine *engine, uint32_t id); /* it is to be put into a class */
void engine_slot_set_ad(struct engine *engine, uint32_t id,
                        struct tree *ad);                      /* another ad, which is held; it is in no class */
void engine_slot_read_key(struct engine *engine, uint32_t id); /* of a root; when it has changed, the root is fresh */
void engine_reset(struct engine *engine); /* all that is remembered is forgotten; the ads are fresh */

/* engine_members.c */
bool engine_member_before(const struct engine *engine, uint32_t a, uint32_t b);
void engine_members_add(const struct engine *engine, struct engine_members *members, uint32_t id);
uint32_t engine_members_remove(const struct engine *engine, struct engine_members *members,
                               uint32_t id); /* the place it had */
uint32_t engine_members_after(const struct engine *engine, const struct engine_members *members,
                              uint32_t id); /* the first behind it */

static inline uint32_t members_at(const struct engine_members *members, uint32_t n)
{
    return members->ids[members->first + n];
}

/* engine_classes.c */
void engine_side_init(struct engine *engine, unsigned side);
void engine_side_done(struct engine *engine, unsigned side);

/* The slot joins the class of ads like it, which is made when there is none; it is not in one. */
void engine_slot_join(struct engine *engine, uint32_t id);

/* Would an ad in its place be of the same class? Then it takes the place, and nobody need know. */
bool engine_slot_swap(struct engine *engine, uint32_t id, struct tree *ad);

/* The slot leaves its class, which goes if it was the last. */
void engine_slot_part(struct engine *engine, uint32_t id);

/* The class is to be looked at in the next cycle, or when its phase comes in this one. */
void engine_class_list(struct engine *engine, unsigned side, uint32_t number);
void engine_class_unlist(struct engine *engine, unsigned side, uint32_t number);

/* Are names read that the classes of a side do not know? */
bool engine_classes_lag(const struct side *side);

/* Then those that must be told apart now become fresh, and the classes know. */
void engine_classes_split(struct engine *engine, unsigned side);

/* Is sharing off on a side, although those who made it so may be gone? Then the names are read anew. */
void engine_classes_reread(struct engine *engine);

/* engine_choices.c */
void engine_choices_free(struct choices *choices);
void engine_choices_forget(struct engine *engine, struct engine_class *engine_class); /* those that a class remembers */
struct choices *engine_choices_new(uint32_t width);
void engine_choices_push(struct choices *choices, const struct engine_choice *choice, const struct value *vector);
void engine_choices_settle(struct choices *choices,
                           uint32_t keep); /* those pushed are put in order; the best are kept */
void engine_choices_insert(struct choices *choices, const struct engine_choice *choice, const struct value *vector);
uint32_t engine_choices_first(struct engine *engine,
                              struct choices *choices); /* an offer that is still there, or NOBODY */
int engine_vector_compare(const struct value *a, const struct value *b, uint32_t count);

/* engine_queue.c */
void engine_queue_init(struct engine *engine);
void engine_queue_reset(struct engine *engine); /* it is empty; the shares stay */
void engine_queue_done(struct engine *engine);
void engine_queue_put_off(struct engine *engine); /* all who are in it are for the next cycle */
void engine_queue_add(struct engine *engine, uint32_t group);
void engine_queue_remove(struct engine *engine, uint32_t group);
void engine_queue_moved(struct engine *engine, uint32_t group); /* another member is first now */
void engine_queue_user_moved(struct engine *engine, uint32_t user);
uint32_t engine_queue_first(const struct engine *engine); /* a group, or NOBODY */
struct user *engine_user(struct engine *engine, uint32_t user);
int engine_queue_compare(const struct engine *engine, uint32_t a, uint32_t b); /* of two users; below 0: a is first */

/* engine_gates.c */
void engine_gate_wait(struct engine *engine, uint32_t group, uint32_t gate); /* it is not in the queue */
void engine_gate_leave(struct engine *engine, uint32_t group);               /* if it waits at one */
void engine_gates_reset(struct engine *engine);                              /* nobody waits */

/* engine_cycle.c: is such an ad a root? At the time of the cycle. */
bool engine_selects(const struct engine *engine, struct arena *scratch, const struct tree *ad, bool request);

/* engine_given.c */
void engine_given_done(struct engine *engine);
bool engine_given_differs(const struct engine *engine, const struct env *env); /* are the given names other ones? */
void engine_given_begin(struct engine *engine, const struct env *env);         /* takes a copy of the environment */
/* The environment of a root of that user, and of an offer (0 for no remote user); good until the next is asked for. The second is for a
 * policy's vector. */
struct env engine_env_of(const struct engine *engine, uint32_t user, uint32_t remote);
struct env engine_docking_env(const struct engine *engine, const struct env *env);

/* engine_trial.c: the best candidate for the first root of a group, or NOBODY: the class then knows why. TRIAL_UNDECIDED: the step is over before
 * all have been looked at, and the next one goes on. */
#define TRIAL_UNDECIDED (UINT32_MAX - 1)
uint32_t engine_trial_run(struct engine *engine, uint32_t group, uint32_t root);
bool engine_trial_runs(const struct engine *engine);
void engine_trial_free(struct engine *engine);
void engine_trial_drop(struct engine *engine); /* it is for nothing: the root has gone, or another one is first */
/* random() depends on both ads of a pair, and so do the given names. */
struct env engine_pair_env(const struct engine *engine, uint32_t root, uint32_t offer);

void engine_hits_add(struct hits *hits, const struct side *side, uint32_t number, unsigned doubts);

/* engine_serve.c */
void engine_user_spend(struct engine *engine, uint32_t user, uint64_t work); /* it has made that much */
bool engine_user_owes(const struct engine *engine, struct user *user);       /* it has made much work lately */
void engine_serve_one(struct engine *engine);
void engine_root_take(struct engine *engine, uint32_t root);    /* a unit of it */
void engine_root_fail(struct engine *engine, uint32_t group);   /* nobody is left for the first root of a group */
void engine_class_fail(struct engine *engine, uint32_t number); /* ... or for a class of roots: it waits */

/* Something that is no ad holds the first root of a group back: all of the group wait there. */
bool engine_root_held(struct engine *engine, uint32_t group, uint32_t root);

/* A unit of the root gets the offer. Roots that wait for what is left of it are tried in this cycle if they come behind `by`; NOBODY: in
 * the next. */
void engine_match_make(struct engine *engine, uint32_t root, uint32_t offer, uint32_t by);

/* The offer goes on as another ad, or not at all; `by` is the root that has it. */
void engine_offer_change(struct engine *engine, uint32_t offer, struct tree *left, uint32_t by);

/* engine_gang.c */
struct gangs *engine_gangs_new(struct engine *engine);
void engine_gangs_free(struct gangs *gangs);

/* What an ad of a side reads of others is read of them from now on. */
void engine_gang_read(struct engine *engine, unsigned side, struct tree *ad, bool ported);
/* The same of one that takes the place of another, whose names were read. */
void engine_gang_reread(struct engine *engine, unsigned which, const struct tree *before, struct tree *ad, bool ported);
void engine_gang_reads_add(struct reads *reads, struct tree *ad, bool ported);
bool engine_gang_offers(const struct engine *engine); /* offers are read by offers */

/* A class with Ports is known as it is at the time of the cycle. A class goes. */
void engine_gang_index(struct engine *engine, unsigned side, uint32_t number);
void engine_gang_forget(struct engine *engine, unsigned side, uint32_t number);

/* Is a class of roots served by gangs? Then the first of a group gets one. */
bool engine_gang_serves(struct engine *engine, uint32_t number);
void engine_gang_serve(struct engine *engine, uint32_t group, uint32_t root);

/* The roots that wait and that could have a class of offers in their gangs are to be tried, as in engine_offers_wake. */
void engine_gang_wake(struct engine *engine, uint32_t number, uint32_t by);
bool engine_gang_valid(const struct engine *engine, const char **ret_why);

/* engine_window.c: a plan is made for those in the queue; the next pair of it is looked at: false when there is none. */
void engine_window_plan(struct engine *engine);
bool engine_window_serve(struct engine *engine);
void engine_window_free(struct engine *engine);

/* engine_pull.c: the names of roots that pulls go by. */
void engine_pull_reads(const struct engine *engine, struct reads *reads);

/* engine_wake.c */
void engine_class_index(struct engine *engine, unsigned side, uint32_t number); /* as it is at the time of the cycle */
void engine_class_index_late(struct engine *engine, uint32_t number);           /* roots: when somebody asks for them */

/* Those that were tried are put into their index: one of them; false when there is none left. */
bool engine_keep_next(struct engine *engine);

/* A class of roots is to be tried, as in engine_offers_wake. */
void engine_class_wake(struct engine *engine, uint32_t number, uint32_t by);

/* Puts many in at once, where none is in the index yet. */
void engine_side_build(struct engine *engine, unsigned side, const struct numbers *numbers);

/* The roots that a class of offers fits and that wait are to be tried: in the next cycle or when their phase comes,
 * or if `by` is not NOBODY but the root that is being served, in this cycle those that come behind it. */
void engine_offers_wake(struct engine *engine, uint32_t number, uint32_t by);
void engine_waking_put_off(struct engine *engine); /* it begins anew in the next cycle */
bool engine_waking_next(struct engine *engine);    /* goes on with it: one of those roots; false when it is done */

/* The steps of a class in this cycle. */
uint64_t *engine_class_steps(struct engine *engine, struct engine_class *engine_class);

#define ENGINE_DEAR_STEPS \
    2000 /* of reading an ad for an index: more than that is done at once, and not for many in one go */
#define ENGINE_GRACE 16384     /* units that what cannot be put off may do beyond those of a step */
#define ENGINE_STEPS_A_UNIT 64 /* of evaluation, in a unit of work */

/* The work of this step so far. */
static inline uint64_t engine_worked(const struct engine *engine)
{
    return engine->work + (engine->meter - engine->begun) / ENGINE_STEPS_A_UNIT;
}

/* Has it done what it was to do? Whoever looks at one after the other stops then, and goes on in the next. */
static inline bool engine_is_over(const struct engine *engine)
{
    return engine_worked(engine) >= engine->slice;
}

static inline struct engine_class *engine_kin(struct engine *engine, unsigned side, uint32_t number)
{
    return &engine->sides[side].classes[number];
}

static inline bool engine_ad_ported(const struct tree *ad)
{
    return tree_find(ad, tree_root(ad), NAME_PORTS) != NULL;
}

static inline bool engine_applies(const struct engine *engine, unsigned traits)
{
    return (traits & (TRAIT_CHANCE | TRAIT_GIVEN)) || (traits & TRAIT_TIME && engine->moved);
}

#ifdef __cplusplus
}
#endif
#endif
