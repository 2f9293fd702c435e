/* optimal.h: the parts of `optimal`; not installed.
 *
 *     unit: every request asks a shelf for the same amounts       -> a flow, exact (unit.c)
 *     else: a linear programme as the bound, its solution packed  -> (pack.c)
 *           whole ways to fill an offer, against each other       -> (generate.c, dive.c)
 *           and, where that is not yet the best, a search         -> (branch.c) */
#ifndef BERTH_MATCH_ASSIGN_OPTIMAL_H
#define BERTH_MATCH_ASSIGN_OPTIMAL_H

#include "match/assign/programme.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What one more request is worth: 1, and a little for its weight, so little that all weights together are less than one request. So the assignment
 * of the largest worth has the most requests, and of those the most weight. */
struct worth {
    double least, span; /* of the weights */
    double part;        /* what the whole span is worth */
    double step;        /* two assignments differ by at least that, or are equally good */
};

static inline double worth_of(const struct worth *worth, double weight)
{
    return worth->span > 0 ? 1 + (weight - worth->least) / worth->span * worth->part : 1;
}

/* The best assignment so far: by request its offer, or ASSIGN_NONE. */
struct incumbent {
    uint32_t *placed;
    uint32_t count;
    double value; /* the worth of all its pairs */
};

/* Makes what is placed now the incumbent, when it is better. */
void incumbent_offer(struct incumbent *incumbent, const struct settling *settling, const struct worth *worth);

/* Does every request that a shelf may take ask it for the same amounts, as far as it could run out? Then finds the best by a flow; else returns
 * false. */
bool unit_solve(struct settling *settling, const struct shelves *shelves);

/* Places what the solution of the programme says, as much of it as can be packed, and then what else fits. Another `shift` packs it in another
 * way. */
void pack_solution(struct settling *settling, const struct shelves *shelves, const struct programme *programme,
                   double shift);

/* Branch and bound over single offers, until the work is spent or it is told to stop. Returns a bound of the worth of all assignments. */
double branch_search(struct settling *settling, const struct worth *worth, struct incumbent *incumbent, double bound);

#ifdef __cplusplus
}
#endif
#endif
