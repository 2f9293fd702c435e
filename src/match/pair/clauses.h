/* clauses.h: a specialised constraint taken apart into the clauses of its conjunction, so that it can be tested clause by clause.
 *
 *     other.Type == "Job" && (Memory >= 64 && f(x))     ->     { other.Type == "Job" }  { Memory >= 64 }  { f(x) }
 *
 * The constraint is true when every clause is. Clauses that are properties are tested without an evaluation. */
#ifndef BERTH_MATCH_PAIR_CLAUSES_H
#define BERTH_MATCH_PAIR_CLAUSES_H

#include "match/pair/property.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CLAUSES_MAX 1024     /* of one constraint; one with more stays whole */
#define CLAUSES_WITHIN_MAX 8 /* attributes inside one another that are taken apart */

struct clause {
    const struct expr *e;     /* of the tree */
    uint32_t within;          /* the attribute that it is a part of: 0 is none, else a place in `within` plus one */
    bool simple;              /* a property: */
    struct property property; /* then this */
};

/* What is left of an attribute stands in another's: a reference that comes back to it is circular. */
struct within {
    symbol name;
    uint32_t outer; /* as clause.within */
    uint32_t depth;
};

struct clauses {
    const struct tree *ad, *tree; /* borrowed: the ad, and what is left of its constraint */
    struct clause *items;
    struct within *within;
    uint32_t count, within_count;
};

/* Takes the tree apart; a tree that is `true` has no clauses. */
void clauses_init(struct clauses *clauses, const struct tree *ad, const struct tree *tree);
void clauses_done(struct clauses *clauses);

/* Is each of them true of the counterpart? They share one budget. `scratch` is left as it was. */
bool clauses_hold(const struct clauses *clauses, const struct env *env, struct arena *scratch,
                  const struct tree *counterpart);

/* Is that one? */
bool clause_holds(const struct clauses *clauses, uint32_t place, const struct env *env, struct arena *scratch,
                  const struct tree *counterpart);

/* The value of that one, by evaluation; it lives as long as both ads and the arena. Returns the steps that it took. */
uint64_t clause_evaluate(const struct clauses *clauses, uint32_t place, const struct env *env, struct arena *arena,
                         const struct tree *counterpart, struct value *ret);

#ifdef __cplusplus
}
#endif
#endif
