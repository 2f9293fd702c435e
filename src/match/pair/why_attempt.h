/* why_attempt.h: a change of the request that is tried; not installed. */
#ifndef BERTH_MATCH_PAIR_WHY_ATTEMPT_H
#define BERTH_MATCH_PAIR_WHY_ATTEMPT_H

#include "match/pair/why_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attempt {
    struct why_swap swaps[WHY_EDIT_PARTS_MAX]; /* their trees are held */
    uint32_t clauses[WHY_EDIT_PARTS_MAX];      /* that each replaces, or that made it set an attribute */
    uint32_t count;
    uint64_t pattern; /* what failed with the offer that it follows */
    size_t offer;
    size_t offers; /* that were seen to want just this */
    double distance;
};

void attempt_done(struct attempt *attempt);

/* One more swap; takes the tree. False when there are too many. */
bool attempt_add(struct attempt *attempt, uint32_t clause, const struct expr *e, symbol attribute, struct tree *taken);

/* Is the clause replaced already? It may be reached twice, by way of an own attribute. */
bool attempt_has(const struct attempt *attempt, const struct expr *e);

/* Adds what makes the clause true for the offer. `attributes`: rather by changing an own attribute that it compares with. */
bool attempt_clause(const struct why_work *work, struct attempt *attempt, uint32_t clause, const struct tree *offer,
                    bool attributes);

/* What would make the request match that offer; false when nothing would. Wants attempt_done in any case. */
bool attempt_follow(const struct why_work *work, struct attempt *attempt, size_t offer, bool attributes);

bool attempt_equal(const struct attempt *a, const struct attempt *b);

/* How many offers the changed request matches; adds to the meetings spent. */
size_t attempt_count(struct why_work *work, const struct attempt *attempt, struct tree *changed, uint64_t *spent);

/* The comparison that a clause of the request is, or NULL; what the offer has there, if it is a literal that can be compared; how far
 * a constant would be moved, as a part of itself. */
const struct property *attempt_property(const struct why_work *work, uint32_t clause);
bool attempt_value(const struct property *property, const struct tree *offer, struct value *ret);
double attempt_distance(const struct value *from, const struct value *to);

/* The clause compared with another constant, so that this value is taken as well; or the same of an attribute of another name. */
struct tree *attempt_compare(const struct why_work *work, uint32_t clause, symbol name, const struct value *v);
struct tree *attempt_literal(const struct tree *request, const struct value *v);

#ifdef __cplusplus
}
#endif
#endif
