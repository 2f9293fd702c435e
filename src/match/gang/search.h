/* search.h: the search for one gang (chapter 5): one core, and a table of strategies; not installed.
 *
 *     agenda   [ cpu ] [ lic ] ...      the slots that must be filled, in that order
 *     frames     m7      l2             what was tried for each, and what is there now
 *
 * A slot is *filled* by the first candidate that docks; the slots of that candidate come next on the agenda. When there is none,
 * the search goes *back* to an earlier slot and *refills* it with the candidate after the one that was there. Frames keep how far
 * they are, so that no candidate is tried twice in the same place: that is the history of section 5.3. There is no recursion: the
 * stack is an array, and the search can stop anywhere. */
#ifndef BERTH_MATCH_GANG_SEARCH_H
#define BERTH_MATCH_GANG_SEARCH_H

#include "match/gang/stock.h"

#include "lang/base/rng.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SEARCH_AGENDA_MAX MEMBER_SLOTS_MAX /* slots of one gang */

enum fill_order { FILL_LEFT, FILL_RIGHT, FILL_FEWEST };

struct strategy {
    enum stock_way way;
    enum fill_order order;
    bool checks;       /* a port without candidates ends the search at once */
    bool random_start; /* among the candidates of a probe */
    bool ahead;        /* ours: looks ahead, counts, and learns from failure */
};

extern const struct strategy strategies[GANG_ALGORITHMS];

/* Frames, as bits. */
struct frame_set {
    uint64_t words[SEARCH_AGENDA_MAX / 64];
};

struct pending {
    uint32_t member, slot;
};

struct frame {
    uint32_t member, slot;
    uint32_t *faces; /* the candidates, in the order in which they are tried; NULL: all that there are */
    uint32_t count, next;
    bool by_place;        /* the list is not in order: the one whose offer comes first is next */
    uint32_t resume;      /* the row from which more can be had, or INDEX_END */
    struct tree *window;  /* of the slot, while `resume` is a row */
    uint32_t chosen;      /* the face on the list that is docked (or stands for it) */
    uint32_t rest;        /* others of its kind that must be tried as well; INDEX_END: none */
    uint32_t skip_to;     /* those before this one were passed over for a port like this; INDEX_END: none */
    uint32_t offer;       /* the offer that is docked */
    uint32_t docked;      /* the member that is docked; or NOBODY */
    bool filled;          /* somebody has docked there, if only for a while */
    bool may_leave, left; /* the slot may stay empty; it does */
    uint32_t *plan;       /* at the first position of a set: the faces in the set; NULL: they are searched for */
    uint32_t plan_count;
    struct ported *again;    /* what is left of an offer that is in the gang already; owned */
    struct pending *pending; /* the constraints that are still open once this slot is decided */
    uint32_t pending_count;
    uint32_t inserted; /* slots of the candidate, on the agenda behind this one */
    struct frame_set conflict;
    struct arena_mark mark, leave_mark;
};

/* A choice as it is compared with that of another gang. */
struct choice {
    bool filled;
    uint32_t count;
    struct value *vector;
    size_t place;
    uint32_t link;
};

/* The deepest place at which nobody could be found: what was docked then, in order, and the slot. */
struct dead_end {
    uint32_t count; /* of frames before it */
    struct {
        uint32_t member, slot;
        uint32_t offer, link; /* NOBODY: it was left empty */
    } frames[SEARCH_AGENDA_MAX];
    uint32_t member, slot;
    bool known;
};

struct search {
    const struct strategy *strategy;
    bool preferences, greedy;
    bool steady;           /* the root, of tree_ported, means the same at any time and for everybody */
    uint32_t learnt;       /* windows of which the index was told */
    uint64_t only;         /* the ports of the root that are filled; what depends on the others counts as true */
    struct dead_end *dead; /* where the deepest dead end is written; or NULL */
    struct stock *offers;
    struct members *members;
    struct arena arena; /* of frames */
    struct rng rng;
    struct pending agenda[SEARCH_AGENDA_MAX];
    uint32_t agenda_count;
    struct frame frames[SEARCH_AGENDA_MAX];
    uint32_t depth;                /* frames that are decided */
    const struct pending *pending; /* the constraints that are open now */
    uint32_t pending_count;
    uint64_t nodes, budget, probes;
    uint64_t work, steps; /* the limits below, for one root; 0 are the defaults */
    uint64_t ranked;      /* candidates that were ranked, where the work is limited */
    uint64_t meter_most;  /* past this value of the environment's meter every search is given up; 0: no limit */
    uint64_t meter_end;   /* the same for this search: all steps, also of what is folded and looked up on the way */
    uint64_t work_end, steps_end; /* the counts of probes and dockings, and of steps, at which it gives up too */
    bool by_fewest;               /* the slots with the fewest candidates come first, whatever the strategy says */
    bool counted;                 /* there are enough candidates for all slots of the root */
    bool cut;                     /* not all gangs were seen that could have been better */
    bool exhaustive;              /* the first gang need not be the best */
    struct arena best_arenas[2];
    uint32_t best_arena;
    struct choice *best_choices; /* of the best gang so far */
    uint32_t best_choice_count;
    struct gang_member best[GANG_MEMBERS_MAX + 1];
    uint32_t best_count; /* 0: none */
};

void search_init(struct search *search, const struct gang_settings *settings, struct stock *offers,
                 struct members *members);
void search_done(struct search *search);

/* Gathers a gang for a root; its members are in search->best. Nothing is consumed. */
enum gang_outcome search_root(struct search *search, const struct ported *root, size_t place);

/* Adds one to the weight of each face, for every port of the root that it fits when nothing else is known. */
void search_weigh(struct search *search, const struct ported *root, size_t place, uint32_t *weights);

#ifdef __cplusplus
}
#endif
#endif
