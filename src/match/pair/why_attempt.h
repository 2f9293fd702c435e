/* why_attempt.h: a change of the request that is tried; not installed. */
#ifndef BERTH_MATCH_PAIR_WHY_ATTEMPT_H
#define BERTH_MATCH_PAIR_WHY_ATTEMPT_H

#include "match/pair/why_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attempt {
    struct why_swap swaps[WHY_EDIT_PARTS_MAX]; /* their trees are held */
    uint32_t clauses[WHY_EDIT_PARTS_MAX];      /* what each swap replaces, or for what it sets an attribute */
    uint32_t count;
    uint64_t pattern; /* what failed with the offer that the attempt follows */
    size_t offer;
    size_t offers; /* that were seen to want just this */
    double distance;
};

void attempt_done(struct attempt *attempt);

/* Adds a swap; takes the tree. False when there are too many. */
bool attempt_add(struct attempt *attempt, uint32_t clause, const struct expr *e, symbol attribute, struct tree *taken);

/* Is the clause replaced already? A clause may be reached twice, by way of an own attribute. */
bool attempt_has(const struct attempt *attempt, const struct expr *e);

/* Adds what makes the clause true for the offer. `attributes`: rather by changing an own attribute that the clause compares with. */
bool attempt_clause(const struct why_work *work, struct attempt *attempt, uint32_t clause, const struct tree *offer,
                    bool attributes);

/* Makes up what would make the request match that offer; false when nothing would. Call attempt_done in any case. */
bool attempt_follow(const struct why_work *work, struct attempt *attempt, size_t offer, bool attributes);

bool attempt_equal(const struct attempt *a, const struct attempt *b);

/* Counts the offers that the changed request matches; adds to the meetings spent. */
size_t attempt_count(struct why_work *work, const struct attempt *attempt, struct tree *changed, uint64_t *spent);

/* attempt_property gives the comparison that a clause of the request is, or NULL; attempt_value, what the offer has there, if that is a literal
 * that can be compared; attempt_distance, how far a constant would be moved, as a part of itself. */
const struct property *attempt_property(const struct why_work *work, uint32_t clause);
bool attempt_value(const struct property *property, const struct tree *offer, struct value *ret);
double attempt_distance(const struct value *from, const struct value *to);

/* Makes the clause with another constant, so that this value is taken as well; or, with a `name`, the same comparison of that attribute. */
struct tree *attempt_compare(const struct why_work *work, uint32_t clause, symbol name, const struct value *v);
struct tree *attempt_literal(const struct tree *request, const struct value *v);

#ifdef __cplusplus
}
#endif
#endif
