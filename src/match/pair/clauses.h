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

#define CLAUSES_MAX 1024     /* clauses of one constraint; a constraint with more stays whole */
#define CLAUSES_WITHIN_MAX 8 /* how deep attributes within attributes are taken apart */

struct clause {
    const struct expr *e;     /* of the tree */
    uint32_t within;          /* the attribute that it is a part of: a place in `within` plus one, or 0 for none */
    bool simple;              /* the clause is a property ... */
    struct property property; /* ... namely this one */
};

/* An attribute whose clauses stand inside another's. A reference from there back to the attribute is circular. */
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

/* Is every clause true of the counterpart? All clauses share one budget. `scratch` is left as it was. */
bool clauses_hold(const struct clauses *clauses, const struct env *env, struct arena *scratch,
                  const struct tree *counterpart);

/* Is the clause at that place true of the counterpart? */
bool clause_holds(const struct clauses *clauses, uint32_t place, const struct env *env, struct arena *scratch,
                  const struct tree *counterpart);

/* Gives the value of the clause at that place, by evaluation; it lives as long as both ads and the arena. Returns the steps that it took. */
uint64_t clause_evaluate(const struct clauses *clauses, uint32_t place, const struct env *env, struct arena *arena,
                         const struct tree *counterpart, struct value *ret);

#ifdef __cplusplus
}
#endif
#endif
