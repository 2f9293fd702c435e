/* lint_roles.c: constraints that are never true and ranks that prefer nobody, whatever the counterpart says: it is left out. */
#include "lang/ad/ops.h"
#include "lang/ad/specialize.h"
#include "lang/text/print.h"
#include "match/pair/lint_parts.h"
#include "match/pair/order.h"

/* The literal that an expression is when all that is known is folded in; NULL when it depends on the counterpart. */
static const struct expr *settled(const struct tree *rest)
{
    const struct expr *e = tree_root(rest);

    while (e->kind == EXPR_WITHIN)
        e = tree_parts(rest, e);
    return e->kind <= EXPR_AD ? e : NULL;
}

/* Has the expression one value, whatever the counterpart? What the value points to lives in the scratch arena; of a list or an ad only the type may
 * be looked at. */
static bool always(struct lint *lint, const struct scope *scope, const struct expr *e, int flags, struct value *ret)
{
    struct tree *rest = specialize(&lint->env, lint->scratch, scope, e, flags);
    const struct expr *literal = settled(rest);
    struct eval eval;

    if (literal) {
        eval_init(&eval, &lint->env, lint->scratch);
        eval_expr(&eval, &(struct scope){.tree = rest}, literal, ret);
        if (ret->type == VALUE_STRING)
            ret->u.string = arena_text(lint->scratch, ret->u.string, ret->len);
    }
    tree_unref(rest);
    return literal && !lint_is_spent(lint);
}

static bool accepts(const struct lint *lint, const struct value *v)
{
    bool truth = false;

    return op_condition(lint->tree->dialect, v, &truth) == VALUE_BOOLEAN && truth;
}

/* Begins a finding. For an attribute of a port it says the name, since the finding belongs to the attribute Ports. */
static struct buf *begin_role(struct lint *lint, const struct expr *e)
{
    struct buf *text = lint_begin(lint);

    if (lint->port < lint->label_count) {
        lint_name(lint, e->label);
        buf_addf(text, " of port %u ", lint->port + 1);
    }
    return text;
}

static void check_constraint(struct lint *lint, const struct scope *scope, const struct expr *e)
{
    struct buf *text;
    struct value v;
    bool truth;

    if (always(lint, scope, e, 0, &v)) {
        if (accepts(lint, &v))
            return;
        text = begin_role(lint, e);
        if (v.type != VALUE_ERROR && op_condition(lint->tree->dialect, &v, &truth) == VALUE_ERROR) {
            buf_addf(text, "is always of type %s, which is not a condition", value_type_name((enum value_type)v.type));
        } else {
            buf_adds(text, "is always ");
            value_print(text, lint->tree->dialect, &v, PRINT_PLAIN);
        }
        buf_adds(text, ", so nothing matches");
        lint_end(lint, LINT_NEVER_TRUE);
    } else if (always(lint, scope, e, SPECIALIZE_TRUTH, &v) && !accepts(lint, &v)) {
        text = begin_role(lint, e);
        buf_adds(text, "is never true, whatever the counterpart");
        lint_end(lint, LINT_NEVER_TRUE);
    }
}

static void check_rank(struct lint *lint, const struct scope *scope, const struct expr *e)
{
    struct buf *text;
    struct value v;

    if (!always(lint, scope, e, 0, &v) || (order_has(&v) && (v.type != VALUE_BOOLEAN || v.boolean)))
        return;
    text = begin_role(lint, e);
    buf_adds(text, "is always ");
    if (v.type <= VALUE_BOOLEAN)
        value_print(text, lint->tree->dialect, &v, PRINT_PLAIN);
    else
        buf_addf(text, "of type %s", value_type_name((enum value_type)v.type));
    buf_adds(text, ", so it prefers nobody");
    lint_end(lint, LINT_NO_PREFERENCE);
}

void lint_role(struct lint *lint, const struct scope *scope, const struct expr *e)
{
    struct arena_mark mark = arena_mark(lint->scratch);
    bool requirements = symbol_same(e->label, NAME_REQUIREMENTS);

    if (requirements && tree_find(lint->tree, scope->ad, NAME_CONSTRAINT)) {
        struct buf *text = begin_role(lint, e);

        buf_adds(text, "is not read, since there is a Constraint as well");
        lint_end(lint, LINT_TWO_CONSTRAINTS);
    } else if (requirements || symbol_same(e->label, NAME_CONSTRAINT)) {
        check_constraint(lint, scope, e);
    } else if (symbol_same(e->label, NAME_RANK)) {
        check_rank(lint, scope, e);
    }
    arena_rewind(lint->scratch, mark);
}
