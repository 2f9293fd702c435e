/* ranking.h: candidates in the order in which roots like them, for roots whose ranks are the same formula.
 *
 *     order      place 7, place 2, place 9, ...     the best first: by the root's rank, then by the candidate's own, then by place
 *     position   of place 2 is 1                    so of the candidates that fit, the one with the smallest position is the best
 *
 * A candidate that has changed since the order was made, or whose part of the docking vector must be evaluated, is in no order: the caller looks at those by
 * themselves. An order is made when a formula comes for the second time, and forgotten when much has changed or others need its memory. */
#ifndef BERTH_MATCH_PAIR_RANKING_H
#define BERTH_MATCH_PAIR_RANKING_H

#include "match/pair/formula.h"
#include "match/pair/leaders.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RANKING_NONE UINT32_MAX

/* What a candidate's docking vector is made of, where nothing need be evaluated: it is free, and these are the root's rank and its own. */
struct standing {
    struct value rank, back;
};

struct ranking {
    struct formula formula;
    uint64_t hash, used;
    uint32_t made;   /* changes up to this one are in it */
    uint32_t *order; /* places */
    uint32_t count, first;
    uint32_t *position; /* by place, or RANKING_NONE */
    uint32_t *apart;    /* places that are in no order */
    uint32_t apart_count;
};

struct rankings {
    struct columns columns; /* of the candidates, by place */
    uint32_t room;          /* places are below it */
    uint32_t own, preempts; /* columns: the candidates' Rank and Preempts */
    uint32_t *changed_at;   /* by place: its last change, counted from 1; RANKING_GONE: it is no candidate any more */
    uint32_t *changes;      /* places, in the order of their changes */
    uint32_t change_count, change_room;
    struct ranking *items;
    uint32_t count, most;
    uint64_t used;
    struct ranking_seen {
        uint64_t hash;   /* of a formula that has come */
        uint64_t walked; /* candidates that walks for it have looked at */
    } * seen;
    struct leaders leaders; /* for formulas that come once */
};
#define RANKING_GONE UINT32_MAX

/* `ad` gives the ad of a candidate by its place, which is below `room`. */
void rankings_init(struct rankings *rankings, struct symbols *symbols, uint32_t room, columns_ad_fn *ad, void *user);
void rankings_done(struct rankings *rankings);

/* The candidate has another ad now; or is none any more. */
void rankings_change(struct rankings *rankings, uint32_t place, bool gone);

/* Reads a root's rank. False when it has no formula; else the caller calls formula_done. */
bool rankings_read(struct rankings *rankings, const struct env *env, struct arena *scratch, const struct tree *root,
                   struct formula *ret);

/* The order for a formula, or NULL; `ret_wanted`: the formula has come before, so an order will be of use. */
struct ranking *rankings_find(struct rankings *rankings, const struct formula *formula, bool *ret_wanted);
/* Counts what walks (leaders.h) have looked at for a formula for which rankings_find was called. */
uint64_t *rankings_walked(struct rankings *rankings, const struct formula *formula);
/* Makes the order for a formula that has just been read, of all candidates that there are. It stays until the next call. */
struct ranking *rankings_make(struct rankings *rankings, const struct formula *formula, const uint32_t *places,
                              uint32_t count);

/* Is the candidate in the order, as it is now? */
static inline bool ranking_has(const struct rankings *rankings, const struct ranking *ranking, uint32_t place)
{
    return ranking->position[place] != RANKING_NONE && rankings->changed_at[place] <= ranking->made;
}

/* What is known of a candidate without an evaluation, given the root's rank of it. False when it must be evaluated. */
bool rankings_standing(struct rankings *rankings, uint32_t place, const struct formula_value *rank,
                       struct standing *ret);

#ifdef __cplusplus
}
#endif
#endif
