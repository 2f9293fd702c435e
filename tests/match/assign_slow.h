/* assign_slow.h: the policies as the text tells them, one pair at a time; and the best of all assignments, by trying every one. */
#ifndef BERTH_TESTS_ASSIGN_SLOW_H
#define BERTH_TESTS_ASSIGN_SLOW_H

#include "match/assign/assign.h"

/* Fills `placed`, by request the offer or ASSIGN_NONE. False: this policy has no slow twin. */
bool assign_slow(enum assign_policy policy, const struct assign_problem *problem, uint32_t *placed);

/* The most requests that can be placed, and the most weight of those ways. */
void assign_slow_best(const struct assign_problem *problem, uint32_t *ret_count, double *ret_weight);

#endif
