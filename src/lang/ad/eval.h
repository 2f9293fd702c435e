/* eval.h: expressions get their values.
 *
 * An evaluation is a function of a tree, the scope around the expression and an environment; it reads no clock, no global, and
 * changes no tree. Its work is counted: past the budget the value of the whole evaluation is error.
 *
 * Scopes and strings that it makes live in the arena; the caller rewinds it when it has looked at the value. */
#ifndef BERTH_LANG_AD_EVAL_H
#define BERTH_LANG_AD_EVAL_H

#include "lang/ad/scope.h"
#include "lang/ad/value.h"
#include "lang/base/arena.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A name with a value that the matchmaker gives; looked up after both ads. */
struct given {
    symbol name;
    struct value value;
};

#define EVAL_STEPS_MAX 100000
#define EVAL_SPENT_STEPS 1000 /* for one evaluation, once the meter has reached its end */
#define EVAL_BYTES_MAX (4u << 20)
#define EVAL_DEPTH_MAX 640 /* evaluations inside one another; the C stack stays below 256 KiB */

struct patterns;

struct env {
    int64_t now;           /* seconds since 1970: one value for one evaluation */
    int zone;              /* minutes east, where an ad does not say TimeZone */
    uint64_t seed;         /* of random(): mix in everything that random() shall depend on */
    uint64_t steps, bytes; /* the budget; 0 is the default above */
    const struct given *given;
    uint32_t given_count;
    uint64_t *meter;            /* every evaluation adds its steps here; NULL: nobody counts */
    uint64_t meter_end;         /* from this reading on, each evaluation has EVAL_SPENT_STEPS at most; 0: no end */
    const struct given *absent; /* values of attributes that are selected from an ad which lacks them */
    uint32_t absent_count;
    struct patterns *patterns; /* compiled ones (patterns.h); NULL: each call compiles its own */
};

/* The value of an attribute that is selected from an ad which lacks it: undefined, unless `absent` says otherwise. */
struct value env_absent(const struct env *env, symbol name);

/* An attribute (or an element) that is being evaluated. A reference back to it is undefined. */
struct active {
    const struct expr *e;
    const struct surroundings *around;
    const struct active *outer;
};

struct eval {
    const struct env *env;
    struct arena *arena;
    uint64_t steps, bytes; /* what is left of the budget */
    uint64_t metered;      /* how many steps were left when the meter was last updated */
    unsigned depth;
    bool exhausted;
    bool open; /* a label was read at which nobody is docked yet: the value may still change */
    const struct active *active;
};

void eval_init(struct eval *eval, const struct env *env, struct arena *arena);

/* The value of an expression of scope->tree, standing in that scope. */
void eval_expr(struct eval *eval, const struct scope *scope, const struct expr *e, struct value *ret);

/* The value of a tree's root that stands in `scope`. The scope may belong to another tree (an expression typed against an ad), or be NULL. */
void eval_tree(struct eval *eval, const struct scope *scope, const struct tree *tree, struct value *ret);

/* The attribute of that name in the scope's own ad (not further out); false and undefined when there is none. */
bool eval_attribute(struct eval *eval, const struct scope *scope, symbol name, struct value *ret);

/* The n-th element of a list value, evaluated. */
void eval_element(struct eval *eval, const struct value *list, uint32_t n, struct value *ret);

/* Is the expression true? Like an evaluation, but it may stop at the first top-level conjunct that is not true. */
bool eval_true(struct eval *eval, const struct scope *scope, const struct expr *e);

/* For functions: memory that counts against the budget (NULL when it is spent: then the value is error), n steps of work (false
 * when they are spent), and the zone that holds in a scope. */
char *eval_bytes(struct eval *eval, size_t size);
void eval_meter(struct eval *eval); /* adds to the meter the steps that it lacks; evaluations do so by themselves */
bool eval_steps(struct eval *eval, uint64_t n);
/* How many bytes of text one step pays for. */
#define EVAL_STEP_BYTES 32

/* Charges the steps for looking through a text of that length. */
static inline bool eval_charge_text(struct eval *eval, size_t len)
{
    return len < EVAL_STEP_BYTES || eval_steps(eval, len / EVAL_STEP_BYTES);
}

/* Charges the steps for comparing two values: long strings cost. */
static inline bool eval_charge_pair(struct eval *eval, const struct value *a, const struct value *b)
{
    return a->type != VALUE_STRING || b->type != VALUE_STRING ||
           eval_charge_text(eval, a->len < b->len ? a->len : b->len);
}

/* Charges as many steps as the expression has cells. Call it before printing one. */
bool eval_charge(struct eval *eval, const struct tree *tree, const struct expr *e);
int eval_zone(struct eval *eval, const struct scope *scope);

/* Makes an ad of n ready values with these names, which are known to every table of symbols, in the arena; error when the budget is spent. n is below
 * TREE_TABLE_FROM. */
void eval_make_ad(struct eval *eval, const struct tree *like, const symbol *names, const struct value *values,
                  uint32_t n, struct value *ret);

/* Makes a list value of n ready values in the arena; error when the budget is spent. */
void eval_make_list(struct eval *eval, const struct dialect *dialect, const struct value *elements, uint32_t n,
                    struct value *ret);

#ifdef __cplusplus
}
#endif
#endif
