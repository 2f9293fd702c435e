/* specialize.h: folds the known parts of an expression into it, so that the rest asks only about the unknown (section 2.6.1).
 *
 * Attributes of the expression's own ad are known; values from a counterpart, from the matchmaker, or by chance are unknown. The
 * operators and functions are those of evaluation.
 *
 *   value mode   the value never changes, whatever the counterpart
 *   truth mode   keeps only whether the expression is true: for constraints
 *
 * The result stands in the same scope as the expression did, and must be evaluated there. Where folding would not be sound (a
 * circular definition seen from inside, a budget spent) the expression comes back unchanged. */
#ifndef BERTH_LANG_AD_SPECIALIZE_H
#define BERTH_LANG_AD_SPECIALIZE_H

#include "lang/ad/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

enum specialize_flags {
    SPECIALIZE_TRUTH = 1,  /* truth mode; otherwise value mode */
    SPECIALIZE_TIME = 2,   /* env->now and the zone are known: fold calls that read them */
    SPECIALIZE_GATHER = 4, /* joins constants across unknowns, 3 + a + 7 to 10 + a: for people, not for matching */
    SPECIALIZE_DOCKED = 8, /* the ads around the expression are known, except those whose labels are open */
};

/* A new tree (the caller unrefs it) for `e`, an expression of scope->tree that stands in `scope`. The scratch arena is
 * left as it was. */
struct tree *specialize(const struct env *env, struct arena *scratch, const struct scope *scope, const struct expr *e,
                        int flags);

/* The same for a part of attributes that are being evaluated (`active`): a reference back to one of them is circular. */
struct tree *specialize_part(const struct env *env, struct arena *scratch, const struct scope *scope,
                             const struct expr *e, const struct active *active, int flags);

/* The same for the root of `tree`, which stands in `scope` of another tree, as in eval_tree. */
struct tree *specialize_tree(const struct env *env, struct arena *scratch, const struct scope *scope,
                             const struct tree *tree, int flags);

#ifdef __cplusplus
}
#endif
#endif
