/* weight.c: what a unit of an offer counts for. */
#include "pool/protocol/weight.h"

#include "match/pair/pair.h"

#define STEPS_MAX 2000 /* of evaluation: many offers are weighed at once, and anybody may write a Weight */

int64_t weight_of(const struct env *env, struct arena *arena, symbol name, const struct tree *offer,
                  const struct tree *other)
{
    struct arena_mark mark = arena_mark(arena);
    struct env few = *env;
    double units = 1;
    struct pair *pair;
    struct value v;
    struct eval eval;

    if (!tree_find(offer, tree_root(offer), name))
        return WEIGHT_ONE;
    pair = arena_alloc(arena, sizeof *pair);
    pair_init(pair, offer, other);
    few.steps = STEPS_MAX;
    eval_init(&eval, &few, arena);
    eval_attribute(&eval, &pair->left, name, &v);
    if (value_is_number(&v))
        units = v.type == VALUE_INTEGER ? (double)v.u.integer : v.u.real;
    arena_rewind(arena, mark);
    if (!(units >= 0))
        units = 1;
    return units < weight_units(WEIGHT_MAX) ? (int64_t)(units * (double)WEIGHT_ONE + 0.5) : WEIGHT_MAX;
}
