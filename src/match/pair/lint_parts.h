/* lint_parts.h: what the parts of lint share; not installed.
 *
 *     lint.c           the walk over the ad, and what is wrong with an ad as a whole
 *     lint_names.c     references: names that do not exist, or lead in a circle
 *     lint_roles.c     constraints that are never true, ranks that prefer nobody
 *     lint_types.c     operators whose operands never fit
 *     lint_clauses.c   clauses of a conjunction that exclude each other */
#ifndef BERTH_MATCH_PAIR_LINT_PARTS_H
#define BERTH_MATCH_PAIR_LINT_PARTS_H

#include "match/pair/lint.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The attribute `from` of the outermost ad reads `to`; both are places in it. */
struct lint_edge {
    uint32_t from, to;
};

struct lint {
    const struct tree *tree;
    struct arena *scratch;
    lint_report_fn *report;
    void *user;
    uint64_t *meter; /* steps so far; evaluations add theirs by ... */
    struct env env;  /* ... this */
    uint32_t place;  /* of the outermost ad's attribute that is looked at */
    struct buf text; /* of the finding that is being written */
    struct buf told; /* what was told of this attribute so far, a NUL behind each text */
    unsigned told_count;
    unsigned lazy;           /* depth inside lists and ads, which have a value without their parts */
    unsigned elsewhere;      /* depth inside expressions that are evaluated in other ads */
    struct lint_edge *edges; /* in the order of `from` */
    size_t edge_count, edge_room;
    uint32_t *tested; /* names (symbol_name) of which the ad asks somewhere whether they are there, sorted ... */
    size_t tested_count, tested_room;
    bool tested_known;             /* ... once somebody has looked for them */
    const struct expr *ports;      /* the attribute Ports, whatever it is; or NULL */
    symbol labels[LINT_PORTS_MAX]; /* of the ports, those in groups in their place; SYMBOL_NONE where there is none */
    uint32_t label_count, port;    /* the port that is looked at; label_count when there is none */
    bool set;                      /* that port has a Count */
};

/* What is known of an expression before anything is evaluated: its value, or only its type (then `v` is a sample of it). When it
 * is undefined or error instead, the expression around it has no value either. */
struct lint_shape {
    enum { SHAPE_UNKNOWN, SHAPE_TYPE, SHAPE_VALUE } known;
    struct value v;
    bool sure; /* it is neither undefined nor error, whatever it is */
};

/* Counts steps before they are done. False: there have been too many, and nothing more need be looked at. */
static inline bool lint_spend(struct lint *lint, uint64_t steps)
{
    *lint->meter += steps;
    return *lint->meter <= LINT_STEPS_MAX;
}

static inline bool lint_is_spent(const struct lint *lint)
{
    return *lint->meter > LINT_STEPS_MAX;
}

/* How many steps it takes to hold a name against all labels: that is but to compare numbers. */
static inline uint64_t lint_label_steps(const struct lint *lint)
{
    return 1 + lint->label_count / 16;
}

/* How many steps a search for a name takes that goes out through all ads around. */
static inline uint64_t lint_scope_steps(const struct scope *scope)
{
    uint64_t steps = 1;

    for (; scope; scope = scope->parent)
        steps++;
    return steps;
}

/* A finding: begin, add to the text, end. */
struct buf *lint_begin(struct lint *lint);
void lint_quote(struct lint *lint, const struct expr *e); /* 'a + 1', cut when it is long */
void lint_name(struct lint *lint, symbol name);
void lint_end(struct lint *lint, enum lint_kind kind);
void lint_end_with(struct lint *lint, enum lint_kind kind, symbol function);

/* The attribute that a reference means when it is one of this ad's own; NULL when it is not, or when `e` is not a reference. */
const struct expr *lint_definition(const struct lint *lint, const struct scope *scope, const struct expr *e);

/* Looks at a name or a path's beginning; `tested`: the reference stands where undefined is asked for. */
void lint_reference(struct lint *lint, const struct scope *scope, const struct expr *e, bool tested);
void lint_circles(struct lint *lint);
bool lint_is_given(const struct lint *lint, symbol name); /* by the matchmaker */

/* These give the shape of an operation from the shapes of its parts, and tell what does not fit. */
struct lint_shape lint_leaf(struct lint *lint, const struct scope *scope, const struct expr *e);
struct lint_shape lint_prefix(struct lint *lint, const struct expr *e, const struct lint_shape *a);
struct lint_shape lint_binary(struct lint *lint, const struct expr *chain, uint32_t place, const struct lint_shape *a,
                              const struct lint_shape *b);
struct lint_shape lint_clock(struct lint *lint, const struct scope *scope, const struct expr *e); /* of dayTime() */
void lint_condition(struct lint *lint, const struct expr *e, const struct lint_shape *a);
struct lint_shape lint_boolean(void);

/* Looks at an attribute of an ad that takes part in a match: the outermost ad, or a port. */
void lint_role(struct lint *lint, const struct scope *scope, const struct expr *e);

/* Looks at a conjunction that is not part of another. */
void lint_conjunction(struct lint *lint, const struct scope *scope, const struct expr *chain);

static inline enum op lint_chain_op(const struct tree *tree, const struct expr *chain)
{
    return (enum op)tree_parts(tree, chain)[1].label;
}

static inline bool lint_is_conjunction(const struct tree *tree, const struct expr *e)
{
    return e->kind == EXPR_CHAIN && lint_chain_op(tree, e) == OP_AND;
}

#ifdef __cplusplus
}
#endif
#endif
