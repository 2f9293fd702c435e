/* assign_check.h: does an assignment fit? Told from the problem and the pairs alone, sharing nothing with those who make them. */
#ifndef BERTH_TESTS_ASSIGN_CHECK_H
#define BERTH_TESTS_ASSIGN_CHECK_H

#include "match/assign/assign.h"

/* NULL when it does: every request at most once, at an offer that is compatible, and no offer gives more than it has. Else what is wrong. */
const char *assign_check(const struct assign_problem *problem, const struct assign_pair *pairs, uint32_t count,
                         char *text, size_t size);

/* The weight of all pairs together. */
double assign_check_weight(const struct assign_problem *problem, const struct assign_pair *pairs, uint32_t count);

#endif
