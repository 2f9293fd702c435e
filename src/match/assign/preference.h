/* preference.h: pairs of two sides who both have preferences: MINSUM and SINGLES (section 7.5 of the work on GRDL).
 *
 * A pair says what each side's rank of the other is: 1 is its first choice. The lists are plain, so that whoever has ranks can use this. The
 * one on the left is in one pair at most; for the one on the right the rules say what still fits. Ties go by the order of the list. */
#ifndef BERTH_MATCH_ASSIGN_PREFERENCE_H
#define BERTH_MATCH_ASSIGN_PREFERENCE_H

#include "lang/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct preference {
    uint32_t left, right;           /* who: numbers from 0 on, of each side its own */
    uint32_t left_rank, right_rank; /* the left one's rank of the right one, and back */
};

struct preference_rules {
    void *user;
    /* May they still be a pair? Once it says no it says so for ever. NULL: the one on the right is in one pair at most too. */
    bool (*fits)(void *user, uint32_t left, uint32_t right);
    void (*take)(void *user, uint32_t left, uint32_t right); /* they are a pair */
};

struct preference_list {
    const struct preference *pairs;
    uint32_t count;
    uint32_t left_count, right_count;
};

/* The pairs in the order of the sum of both ranks, each if it still may. `scratch` is left as it was, here and below. */
void preference_minsum(struct arena *scratch, const struct preference_list *list, const struct preference_rules *rules);

/* Only pairs of which at least one side is in no other; where several want the same, the first of the list. Once. */
void preference_singles(struct arena *scratch, const struct preference_list *list,
                        const struct preference_rules *rules);

/* Singles until there are none, then the one pair with the least sum, and again, until no pair is left. */
void preference_singles_minsum(struct arena *scratch, const struct preference_list *list,
                               const struct preference_rules *rules);

#ifdef __cplusplus
}
#endif
#endif
