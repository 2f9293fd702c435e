/* engine_state.h: the state of the engine, which its files share; private to them. What one of them does for the others is in the header of its name.
 *
 *     engine.c          ads come and go
 *     engine_members.c  ads in their order
 *     engine_classes.c  ads that are the same to the other side
 *     engine_cycle.c    a cycle, bite by bite
 *     engine_wake.c     offers find the roots that wait for them
 *     engine_queue.c    which root is next
 *     engine_gates.c    roots that wait for something other than an ad
 *     engine_trial.c    a root looks for its best candidate
 *     engine_serve.c    the root gets it
 *     engine_given.c    names whose values depend on the ads' users
 *     engine_choices.c  the best candidates of many equal roots
 *     engine_gang.c     a root gathers a gang
 *     engine_window.c   all waiting roots are settled at once
 *     engine_pull.c     an offer that is not stored asks for a root
 *     engine_waiting.c  which roots that wait come first
 *     engine_valid.c    is the engine's state in order?
 *
 *     slot (an ad) -> class -> representative ad -> index                offers: the class has its members
 *                     class -> group -> members, in root order           roots: a group for each user
 *     queue: tree of shares -> heap of users in each leaf -> heap of groups each */
#ifndef BERTH_POOL_ENGINE_ENGINE_STATE_H
#define BERTH_POOL_ENGINE_ENGINE_STATE_H

#include "lang/base/array.h"
#include "match/index/classes.h"
#include "match/index/index.h"
#include "match/index/reads.h"
#include "match/pair/columns.h"
#include "pool/engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the meaning of an ad or a policy depends on, beyond the ads themselves. */
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
    struct tree *ad; /* the ad as it is left, held; NULL: there is no ad of that number */
    int64_t units;
    uint64_t order;
    uint64_t came;           /* the last cycle before the ad came */
    struct engine_turn turn; /* of a root */
    uint32_t user;
    uint32_t remote;      /* of an offer: the user whose job it runs, plus 1; or 0 */
    uint32_t in_class;    /* its class on its side; NOBODY while it is fresh, or no unit is left */
    uint32_t group;       /* of a root in a class */
    uint32_t restless;    /* its place in the list of slots with traits, or NOBODY */
    uint32_t mould;       /* of the ad */
    unsigned char traits; /* of the whole ad */
    bool request, root;
    bool ported; /* the ad has Ports */
    bool fresh;  /* it waits to be put into a class */
};

#define CHOICE_KEYS 3 /* components of the default vector */

/* A candidate that a class of roots remembers. */
struct engine_choice {
    uint32_t in_class, generation;
    uint32_t id;              /* the first member of that class, when it was looked at; */
    uint32_t vector;          /* where its vector begins, if there are vectors */
    uint64_t order;           /* of that member */
    double keys[CHOICE_KEYS]; /* its components as reals, where these are numbers that reals tell apart */
};

/* The best candidates of a class of roots: a heap. */
struct choices {
    struct engine_choice *items;
    uint32_t count, room;
    struct value *vectors; /* `width` components each; no strings; NULL while keys tell all entries apart */
    uint32_t vector_count, vector_room, width;
    uint64_t cycle;             /* the cycle in which they are good */
    uint64_t swept;             /* the matches of that cycle when those that were gone were taken out */
    uint32_t remembered;        /* how many of them count against ENGINE_CHOICES_MAX */
    uint32_t whose;             /* where given names count: good for that user's roots alone; NOBODY: for all */
    bool keyed;                 /* all components are such numbers, so that the keys are all that is kept */
    bool cut;                   /* there are others, none of them better than ... */
    struct engine_choice bound; /* ... this one was */
};

struct ad_group {
    uint32_t in_class, user; /* `user`: the user in whose place in the queue the group stands */
    uint32_t whose;          /* the user whose roots they are */
    uint32_t before, after;  /* the group's neighbours in its class; `after` of a free one: the next free one */
    uint32_t chained;        /* the next group in its bucket, or NOBODY */
    uint32_t place;          /* in the heap of its user, or NOBODY */
    uint32_t gate;           /* the gate at which it waits, or NOBODY; a waiting group is not in the queue, ... */
    uint32_t ahead, behind;  /* ... but between these two at the gate */
    uint32_t done;           /* members at the front that had their turn in this cycle */
    struct engine_members members;
};

/* Ads that are the same to the other side. */
struct engine_class {
    struct tree *ad;      /* the ad that stands for all, held; NULL: the number is free */
    uint32_t place;       /* in the class_set; NO_CLASS: its ad shares with none; of a free number: the next free one */
    uint32_t generation;  /* how often the number was used */
    unsigned char traits; /* what its matches depend on */
    bool listed;          /* offers: it is to be put into the index; roots: it is to be tried in the next cycle */
    bool indexed;
    bool late;      /* roots: it is still to be put into the index */
    bool discarded; /* roots: it waits although candidates fit, because the policy has discarded them */
    bool plain;     /* roots: its choices cannot be remembered */
    bool ported;    /* its ads have Ports: the seeker knows it, and no index here does */
    bool meets;     /* roots: some offer with Ports could dock with it, as found at the stamp ... */
    uint64_t met;
    bool held;    /* roots: it waits at gates, and not because it found no candidate */
    bool dear;    /* roots: it takes long to read for an index */
    bool put_off; /* roots: a cycle ended before it was tried, because its users had had their turn */
    bool choosy;  /* offers: they rank roots, or are not free, or chance or users matter to them */
    unsigned char outcome;
    uint32_t first;     /* offers: the first member, and ... */
    uint64_t order;     /* ... its arrival: a root that looks at all classes looks at these alone */
    int64_t indexed_at; /* the time as of which the index knows it */
    uint64_t stepped;   /* the cycle that `steps` belongs to */
    uint64_t steps;
    struct engine_members members; /* offers */
    uint32_t groups;               /* roots: the first group */
    uint64_t units;                /* roots: of all of them */
    uint64_t queued, failed;       /* the last cycle in which it was queued; in which it failed */
    uint64_t apart;                /* the last cycle in which chance told its roots apart, and each is tried alone */
    uint64_t by_user; /* the last cycle in which given names told its users apart, so that each is tried by itself */
    uint64_t parted;  /* the last cycle in which no candidate was left for one of its users */
    struct choices *choices;
};

/* A class that the index could not rule out, to be judged; it may have gone by then. */
struct hit {
    uint32_t number, generation;
    unsigned doubts;
};

struct hits {
    struct hit *items;
    uint32_t count, room;
};

/* A class of offers that looks for the roots that wait for it, and goes on in the next step. */
struct waking {
    uint32_t number, generation;
    bool running;
    struct hits hits; /* classes of roots */
    uint32_t at;
};

/* What is known of all ads from a mould. */
struct engine_mould {
    uint32_t read[2];     /* the mould, if the names that its ads read of the offers, and of the roots, are known */
    uint32_t known;       /* the mould, if this is known: */
    unsigned char traits; /* of the whole ads */
    bool ported;
};

struct side {
    struct reads reads;   /* the names that the other side reads of this one */
    uint32_t reads_known; /* how many of them the classes know */
    bool alone;           /* any name may be read, so each ad is a class of its own */
    struct class_set set; /* `head` is the class's number here */
    struct engine_class *classes;
    uint32_t count, room, free, used;
    struct index *index;
    uint32_t indexed;      /* how many classes are in it */
    struct numbers listed; /* classes of offers that are to be put into the index, or of roots that are to be tried */
    struct numbers late;   /* classes of roots that were tried, and are put into the index before it is asked */
    uint32_t choosy;       /* classes of offers that are choosy */
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
    uint64_t spent_in, spent; /* `spent`: its work so far in the cycle `spent_in` */
    uint64_t late_in;         /* the last cycle in which its work, there or lately, was too much */
    uint64_t done_in;         /* the last cycle in which it was late and had a late user's part */
    uint64_t debt;            /* its work lately, which counts half after each second, ... */
    int64_t debt_at;          /* ... as of this time */
};

/* Users within their quota; users that take what others leave; users that had their turn. The smaller stage is served
 * first. */
enum stage { STAGE_QUOTA, STAGE_SURPLUS, STAGE_LATE };

/* Users that share a quota, or shares that do. */
struct share_node {
    uint32_t parent; /* share 0 is its own parent */
    bool inner;      /* it consists of shares */
    unsigned char stage;
    double ratio;
    uint32_t place;    /* in the heap of its parent, or NOBODY */
    struct heap items; /* of shares, or of users */
};

#define ENGINE_REMOTE 2 /* attributes of an offer that say whose job it runs */

enum phase { PHASE_IDLE, PHASE_REFRESH, PHASE_SETTLE, PHASE_PLACE, PHASE_QUEUE, PHASE_PLAN, PHASE_SERVE, PHASE_KEEP };

struct engine {
    struct symbols *symbols;
    struct policy policy;
    unsigned policy_traits;
    struct engine_slot *slots;
    struct value *keys; /* of roots, by the policy's RootOrder; their strings are ours. NULL without RootOrder */
    uint32_t slot_count;
    struct numbers fresh;    /* slots that are to be put into classes */
    struct numbers restless; /* slots with traits */
    struct numbers apart;    /* names that tell roots apart although nobody reads them */
    struct side sides[2];
    struct moulds moulds;
    struct engine_mould *of_moulds; /* by place of mould */
    struct ad_group *groups;
    uint32_t group_count, group_room, group_free;
    uint32_t *group_buckets;     /* by class and user: the first group of each, or NOBODY */
    uint32_t group_bucket_count; /* a power of two, or 0 */
    struct user *users;
    uint32_t user_count;
    struct share_node *shares; /* the queue; the first share is the whole */
    uint32_t share_count, share_default;
    engine_gate_fn *gate_closed;
    void *gate_user;
    uint32_t *gates; /* the first group that waits at each, or NOBODY */
    uint32_t gate_count;
    uint64_t turn;                    /* the most work for one user in a cycle while others wait */
    struct env env;                   /* of the present cycle, or the last one */
    struct given *given, *pair_given; /* the given names; and the same with the values for a pair */
    uint32_t given_room;
    bool gives; /* the names below are the last of the given ones */
    symbol given_names[ENGINE_GIVEN], remote_names[ENGINE_REMOTE];
    uint64_t cycle;
    uint32_t remembered; /* how many choices all classes remember */
    uint64_t put_count;  /* ads put since the names were read anew */
    uint32_t ad_count;
    enum phase phase;
    bool pulled;                 /* there have been pulls: new classes of roots go into the index at once */
    bool moved;                  /* the time has changed since the last cycle */
    uint32_t at;                 /* how far the phase is */
    uint64_t work;               /* in this step, without that of evaluations */
    uint64_t meter;              /* all steps of evaluation so far, ... */
    uint64_t begun, cycle_begun; /* ... as of the beginning of this step, and of this cycle */
    uint64_t slice;              /* the units of this step */
    uint64_t others;             /* steps that are not charged to the user who is served */
    struct waking waking;
    struct patterns *patterns; /* of the environment of all cycles */
    struct columns columns;    /* of the classes of offers, for ranks of roots */
    struct trial *trial; /* a root that looks for its best candidate, and goes on in the next step; NULL: none does */
    struct engine_counts counts;
    struct arena arena;  /* for evaluating an ad when it comes */
    struct gangs *gangs; /* NULL: no ad has had Ports yet */
    engine_gang_fn *gang_made;
    struct window *window; /* NULL: one root after the other is served */
    /* for the length of a step */
    struct arena *scratch;
    engine_match_fn *found;
    void *found_user;
};

void engine_numbers_add(struct numbers *numbers, uint32_t number);

#define ENGINE_DEAR_STEPS \
    2000 /* of reading an ad for an index: a class that takes more is put in at once, not together with many others */
#define ENGINE_GRACE 16384     /* units beyond those of a step, for work that cannot be put off */
#define ENGINE_STEPS_A_UNIT 64 /* steps of evaluation in a unit of work */

/* The work of this step so far. */
static inline uint64_t engine_worked(const struct engine *engine)
{
    return engine->work + (engine->meter - engine->begun) / ENGINE_STEPS_A_UNIT;
}

/* Has this step done its units? Loops over many items stop then, and go on in the next step. */
static inline bool engine_is_over(const struct engine *engine)
{
    return engine_worked(engine) >= engine->slice;
}

static inline struct engine_class *engine_class_at(struct engine *engine, unsigned side, uint32_t number)
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
