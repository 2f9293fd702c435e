/* greedy.h: tries pairs in the order of their keys, the largest first, and takes them when they still fit; not installed.
 *
 *     entry: key, source -> requests alike, in their turns
 *                 target -> a shelf of offers, or one offer
 *
 * An entry stands for all pairs of a source's requests with a target's offers. The result is that of sorting the single pairs: by key, then
 * by the turn of the request, then by the place of the offer. */
#ifndef BERTH_MATCH_ASSIGN_GREEDY_H
#define BERTH_MATCH_ASSIGN_GREEDY_H

#include "match/assign/shelves.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GREEDY_OFFER 0x80000000u /* the target is one offer */
#define GREEDY_ALL UINT32_MAX

struct greedy_entry {
    double key;
    uint32_t source;
    uint32_t target; /* a shelf, or an offer with GREEDY_OFFER */
    uint32_t limit;  /* at most so many pairs */
    uint32_t cursor; /* in the shelf: the offers before it do not fit */
};

struct greedy_source {
    uint32_t group;
    uint32_t first, last; /* turns, linked by `chain`; ASSIGN_NONE: there are no more */
    uint32_t epoch;
};

struct greedy {
    struct settling *settling;
    const struct shelves *shelves;
    uint32_t *order;   /* by turn: the request */
    uint32_t *chain;   /* by turn: the next of the same source */
    uint32_t *touched; /* by offer: when it left its shelf, 0 for never; sources of earlier epochs see it there */
    struct greedy_source *sources;
    struct greedy_entry *entries;
    uint32_t source_count, source_room;
    uint32_t entry_count, entry_room;
};

/* Begins. The turns go by the priorities of the requests, then by their order. */
void greedy_init(struct greedy *greedy, struct settling *settling, const struct shelves *shelves);
void greedy_done(struct greedy *greedy);

uint32_t greedy_add_source(struct greedy *greedy, uint32_t group, uint32_t epoch);
void greedy_add_turn(struct greedy *greedy, uint32_t source, uint32_t turn);
void greedy_add(struct greedy *greedy, double key, uint32_t source, uint32_t target, uint32_t limit);

/* Adds a source for each group, with those of its requests that are not placed. */
void greedy_add_groups(struct greedy *greedy);

/* Places what can be placed; afterwards there are no entries. */
void greedy_run(struct greedy *greedy);

#ifdef __cplusplus
}
#endif
#endif
