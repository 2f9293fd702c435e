/* lint_clauses.c: clauses of a conjunction that exclude each other, whatever the counterpart: `x < 10 && x > 12` (section 4.2.2), and
 * `x > 5 && x == "a"`, which wants x to be of two types (4.4.4).
 *
 * A clause compares a reference with a constant. Two clauses about the same reference are held against each other: on a line it is enough to look
 * at pairs. */
#include "lang/ad/ops.h"
#include "match/pair/comparison.h"
#include "match/pair/lint_parts.h"

struct clause {
    const struct expr *e;          /* as it is shown */
    const struct expr *reference;  /* what is compared ... */
    struct comparison is;          /* ... how, and with what */
    const struct expr *definition; /* the attribute of this ad that the reference means; or NULL */
    symbol asked;                  /* the name that it asks of the counterpart; or SYMBOL_NONE */
};

struct clauses {
    struct clause *items;
    uint32_t count;
};

/* Is this a name, or a path of names, whose value is not known here? */
static bool is_reference(const struct lint *lint, const struct scope *scope, const struct expr *e)
{
    const struct expr *parts = tree_parts(lint->tree, e), *definition;

    if (e->kind == EXPR_PATH) {
        if (parts[0].kind != EXPR_NAME && parts[0].kind != EXPR_DOT)
            return false;
        for (uint32_t i = 1; i < e->u.run.count; i++)
            if (parts[i].label != STEP_SELECT && !expr_is_literal(&parts[i]))
                return false;
        return true;
    }
    if (e->kind != EXPR_NAME && e->kind != EXPR_DOT && e->kind != EXPR_ROOT_NAME)
        return false;
    definition = lint_definition(lint, scope, e);
    return !definition || !expr_is_literal(definition);
}

/* Finds what an expression is if it is constant: a literal, an operation on literals, or an attribute of this ad that is a literal. False when it
 * is not, or when `op` cannot compare with it. */
static bool constant(const struct lint *lint, const struct scope *scope, const struct expr *e, enum op op,
                     struct value *ret)
{
    const struct expr *parts = tree_parts(lint->tree, e);
    struct eval eval;

    if (e->kind == EXPR_PREFIX || e->kind == EXPR_CHAIN) {
        for (uint32_t i = 0; i < expr_part_count(e); i++)
            if (!expr_is_literal(&parts[i]))
                return false;
    } else if (!expr_is_literal(e)) {
        const struct expr *definition = lint_definition(lint, scope, e);

        if (!definition || !expr_is_literal(definition))
            return false;
        e = definition;
    }
    eval_init(&eval, &lint->env, lint->scratch);
    eval_expr(&eval, scope, e, ret);
    return ret->type != VALUE_ERROR && (ret->type != VALUE_UNDEFINED || op == OP_IS || op == OP_ISNT);
}

/* Reads what a clause says; false when it is of another form. */
static bool read_clause(const struct lint *lint, const struct scope *scope, const struct expr *e, struct clause *ret)
{
    const struct expr *parts = tree_parts(lint->tree, e), *inner = e;
    bool wanted = true;

    *ret = (struct clause){.e = e, .is.op = OP_EQUAL};
    if (e->kind == EXPR_CHAIN && e->u.run.count == 2) {
        enum op op = lint_chain_op(lint->tree, e);

        if (op < OP_EQUAL || op > OP_GREATER_EQUAL)
            return false;
        ret->is.op = op;
        ret->reference = &parts[0];
        if (is_reference(lint, scope, &parts[0]) && constant(lint, scope, &parts[1], op, &ret->is.v))
            return true;
        ret->is.op = op_mirrored(op);
        ret->reference = &parts[1];
        return is_reference(lint, scope, &parts[1]) && constant(lint, scope, &parts[0], op, &ret->is.v);
    }
    if (lint->tree->dialect->booleans_count)
        return false; /* in that dialect a number is a condition too */
    if (e->kind == EXPR_PREFIX && e->small == OP_NOT) {
        inner = parts;
        wanted = false;
    }
    ret->reference = inner;
    ret->is.v = value_boolean(wanted);
    return is_reference(lint, scope, inner);
}

/* Does the name stand for the counterpart: of the ad, or of the port that is looked at? */
static bool is_counterpart(const struct lint *lint, symbol name)
{
    return symbol_same(name, NAME_OTHER) || symbol_same(name, NAME_TARGET) ||
           (lint->port < lint->label_count && symbol_same(name, lint->labels[lint->port]));
}

/* The name that a reference asks of the counterpart, as x, other.x, TARGET.x and, in the port cpu, cpu.x do; else SYMBOL_NONE. */
static symbol asked_name(const struct lint *lint, const struct scope *scope, const struct expr *e)
{
    const struct scope *at = scope, *ignored;

    if (e->kind == EXPR_NAME && !lint_definition(lint, scope, e) && !scope_reserved(scope, e->u.name.id, &ignored))
        return e->u.name.id;
    if (e->kind == EXPR_DOT && !scope_find(&at, EXPR_DOT_BASE(e)) && is_counterpart(lint, EXPR_DOT_BASE(e)))
        return e->u.name.id;
    return SYMBOL_NONE;
}

#define CLAUSE_SEARCHES 6 /* for names, to know a clause */

static void collect(struct lint *lint, const struct scope *scope, const struct expr *chain, struct clauses *clauses)
{
    const struct expr *parts = tree_parts(lint->tree, chain);
    uint64_t steps = CLAUSE_SEARCHES * lint_scope_steps(scope);

    for (uint32_t i = 0; i < chain->u.run.count && clauses->count < LINT_CLAUSES_MAX && lint_spend(lint, steps); i++) {
        struct clause *clause = &clauses->items[clauses->count];

        if (lint_is_conjunction(lint->tree, &parts[i])) {
            collect(lint, scope, &parts[i], clauses);
        } else if (read_clause(lint, scope, &parts[i], clause)) {
            clause->definition = lint_definition(lint, scope, clause->reference);
            clause->asked = asked_name(lint, scope, clause->reference);
            clauses->count++;
        }
    }
}

static bool same_reference(const struct lint *lint, const struct clause *a, const struct clause *b)
{
    if (a->definition || b->definition)
        return a->definition == b->definition;
    if (a->asked != SYMBOL_NONE || b->asked != SYMBOL_NONE)
        return a->asked != SYMBOL_NONE && b->asked != SYMBOL_NONE && symbol_same(a->asked, b->asked);
    return tree_equal(lint->tree, a->reference, lint->tree, b->reference);
}

/* What it costs to hold two clauses against each other. */
static uint64_t pair_steps(const struct clause *a, const struct clause *b)
{
    uint64_t steps = 1;

    if (a->reference->kind == EXPR_PATH && b->reference->kind == EXPR_PATH)
        steps += a->reference->u.run.count;
    if (a->is.v.type == VALUE_STRING && b->is.v.type == VALUE_STRING)
        steps += (a->is.v.len + b->is.v.len) / EVAL_STEP_BYTES;
    return steps;
}

static void tell(struct lint *lint, const struct clause *a, const struct clause *b, bool types)
{
    struct buf *text = lint_begin(lint);

    lint_quote(lint, a->e);
    buf_adds(text, " and ");
    lint_quote(lint, b->e);
    if (types) {
        buf_adds(text, " want ");
        lint_quote(lint, a->reference);
        buf_addf(text, " to be of two types: %s and %s", value_type_name((enum value_type)a->is.v.type),
                 value_type_name((enum value_type)b->is.v.type));
    } else {
        buf_adds(text, " are never both true");
    }
    lint_end(lint, types ? LINT_TWO_TYPES : LINT_CONTRADICTION);
}

/* Tells of the first clause before the n-th that the n-th excludes. */
static void compare(struct lint *lint, const struct clause *clauses, uint32_t n)
{
    for (uint32_t i = 0; i < n && lint_spend(lint, pair_steps(&clauses[i], &clauses[n])); i++) {
        bool types;

        if (!same_reference(lint, &clauses[i], &clauses[n]))
            continue;
        types = comparisons_want_two_types(lint->tree->dialect, &clauses[i].is, &clauses[n].is);
        if (types || !comparisons_agree(lint->tree->dialect, &clauses[i].is, &clauses[n].is)) {
            tell(lint, &clauses[i], &clauses[n], types);
            return;
        }
    }
}

void lint_conjunction(struct lint *lint, const struct scope *scope, const struct expr *chain)
{
    struct arena_mark mark = arena_mark(lint->scratch);
    struct clauses clauses = {0};

    clauses.items = arena_alloc(lint->scratch, LINT_CLAUSES_MAX * sizeof *clauses.items);
    collect(lint, scope, chain, &clauses);
    for (uint32_t i = 1; i < clauses.count && !lint_is_spent(lint); i++)
        compare(lint, clauses.items, i);
    arena_rewind(lint->scratch, mark);
}
