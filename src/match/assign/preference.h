/* preference.h: pairs of two sides that both have preferences: MINSUM and SINGLES (section 7.5 of the work on GRDL).
 *
 * A pair says what each side's rank of the other is: 1 is its first choice. The lists are plain, so that any code that has ranks can use this. A
 * member of the left side is in one pair at most; for a member of the right side the rules say what still fits. Ties go by the order of the
 * list. */
#ifndef BERTH_MATCH_ASSIGN_PREFERENCE_H
#define BERTH_MATCH_ASSIGN_PREFERENCE_H

#include "lang/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct preference {
    uint32_t left, right;           /* numbers from 0 on, for each side its own */
    uint32_t left_rank, right_rank; /* the left one's rank of the right one, and back */
};

struct preference_rules {
    void *user;
    /* May they still be a pair? Once the answer is no it stays no. NULL: a member of the right side is in one pair at most too. */
    bool (*fits)(void *user, uint32_t left, uint32_t right);
    void (*take)(void *user, uint32_t left, uint32_t right); /* makes them a pair */
};

struct preference_list {
    const struct preference *pairs;
    uint32_t count;
    uint32_t left_count, right_count;
};

/* Takes the pairs in the order of the sum of both ranks, each if it still may be taken. `scratch` is left as it was, here and below. */
void preference_minsum(struct arena *scratch, const struct preference_list *list, const struct preference_rules *rules);

/* Takes only pairs of which at least one side is in no other pair; where several want the same, the first of the list. One round. */
void preference_singles(struct arena *scratch, const struct preference_list *list,
                        const struct preference_rules *rules);

/* Takes singles until there are none, then the one pair with the least sum, and so on until no pair is left. */
void preference_singles_minsum(struct arena *scratch, const struct preference_list *list,
                               const struct preference_rules *rules);

#ifdef __cplusplus
}
#endif
#endif
