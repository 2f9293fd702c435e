/* formula.h: an expression of an ad over attributes of its counterpart, made ready to be computed for many counterparts at once: a Rank, as a rule.
 *
 *     Rank = other.Memory > Least ? KFlops / 1E3 : 0     with Least = 64, as steps on a stack:
 *     column Memory, constant 64, >, column KFlops, constant 1000.0, /, constant 0, choose
 *
 * What depends on the ad alone is folded in once (lang/ad/specialize.h). Each step is done for a batch of counterparts: where all operands are of one type
 * by a plain loop, else value by value with the operators of the language. A part that is no arithmetic and asks for one attribute is a step, too: it is
 * evaluated once for each value that the attribute has, and looked up from then on (answers.h).
 *
 *     Constraint = (regexp("^x86", other.Arch) || other.Arch == "arm") && other.Memory >= 64
 *     answer for Arch, column Memory, constant 64, >=, &&
 *
 * So the values are those of an evaluation; where that is not sure, since the counterpart's attribute is no literal, or an answer took long, the formula says
 * that it must be evaluated. An expression of another form has no formula. */
#ifndef BERTH_MATCH_PAIR_FORMULA_H
#define BERTH_MATCH_PAIR_FORMULA_H

#include "lang/ad/eval.h"
#include "match/pair/columns.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FORMULA_STEPS_MAX 256
#define FORMULA_DEPTH_MAX 12 /* of the stack */
#define FORMULA_EVALUATE 255 /* in place of a type */

struct formula_step {
    unsigned char kind;  /* private to formula.c */
    unsigned char op;    /* of an answer: its place */
    unsigned char type;  /* of a constant */
    symbol name;         /* of a column, and ... */
    uint32_t column;     /* ... its place */
    union cell constant; /* of an answer: its serial number */
};

struct formula {
    const struct dialect *dialect;
    struct formula_step steps[FORMULA_STEPS_MAX];
    uint32_t count, depth;
    uint32_t answers;  /* steps that are */
    struct tree *left; /* what is left of the expression, held */
    const struct env *env;
    struct arena *scratch;
    const struct tree *ad; /* whose expression it is */
};

/* The formula's value for a counterpart. */
struct formula_value {
    unsigned char type; /* enum value_type, never of a string, a list or an ad; or FORMULA_EVALUATE */
    union cell v;
};

/* Reads the ad's attribute of that name; an absent one is undefined. The columns that it needs are kept until columns_ask is called again, so long the formula
 * can be computed, and environment, arena and ad must stay. False when it has no formula; otherwise the caller calls formula_done. `scratch` is left as it was,
 * here and wherever the formula is computed. */
bool formula_init(struct formula *formula, const struct env *env, struct arena *scratch, const struct tree *ad,
                  symbol name, struct columns *columns);
void formula_done(struct formula *formula);

/* Reads clauses of a tree, which is what specialisation has left of an expression of the ad: the formula is true where all of them are. The tree is borrowed. */
bool formula_read(struct formula *formula, const struct env *env, struct arena *scratch, const struct tree *ad,
                  const struct tree *tree, const struct expr *const *clauses, uint32_t count, struct columns *columns);
/* Is the value true, as a condition of that dialect? */
bool formula_is_true(const struct formula *formula, const struct formula_value *value);

/* Have both the same value for every counterpart, as far as their steps tell? Formulas that are the same have the same hash. */
bool formula_same(const struct formula *a, const struct formula *b);
uint64_t formula_hash(const struct formula *formula);

/* The attributes of a formula that rises or falls with each of them, whatever the others are: sums and differences of them, and multiples and quotients by constants. */
#define FORMULA_SLOPES_MAX 4
struct formula_slope {
    symbol name;
    uint32_t column;
    bool rises;
};
struct formula_slopes {
    struct formula_slope items[FORMULA_SLOPES_MAX];
    uint32_t count;
};

/* False when the formula is of another form, or has no attribute or too many. */
bool formula_slopes(const struct formula *formula, struct formula_slopes *ret);
/* Could a sum or product of integers wrap, if the attributes are between these bounds? */
bool formula_may_wrap(const struct formula *formula, const struct formula_slopes *slopes, const double *least,
                      const double *most);

/* Computes it for these ads. What is asked of an attribute's value for the first time is counted by the environment's meter. */
void formula_compute(const struct formula *formula, struct columns *columns, const uint32_t *ids, uint32_t count,
                     struct formula_value *ret);

/* Is it surely below that value? Numbers of one type are compared; of others the answer is false. */
static inline bool formula_below(const struct formula_value *a, const struct value *b)
{
    if (a->type != b->type)
        return false;
    return a->type == VALUE_REAL ? a->v.real < b->u.real : a->type == VALUE_INTEGER && a->v.integer < b->u.integer;
}

/* As a value; not for FORMULA_EVALUATE. */
struct value formula_value(const struct formula_value *value);

#ifdef __cplusplus
}
#endif
#endif
