/* special_logic.c: && || and ?: when some operands are known.
 *
 * In classic an error anywhere makes the whole chain an error, so a false operand of && does not settle it while others may be errors. In condor
 * operands count from the left. In truth mode much more can be dropped. */
#include "lang/ad/special.h"

#include "lang/ad/functions.h"
#include "lang/ad/ops.h"

/* Is this a call that gives true or false, whatever its argument? */
static bool call_is_test(const struct tree *tree, const struct expr *e)
{
    const struct function *function = e->kind == EXPR_CALL ? function_find(tree->dialect, e->u.name.id) : NULL;

    return function && (function->traits & FUNCTION_TEST) && e->small == function->min;
}

/* Does this always give a boolean, undefined or error, so that it means the same as `true && e`? */
static bool gives_truth(const struct tree *tree, const struct expr *e)
{
    if (e->kind == EXPR_CHAIN) {
        uint32_t op = tree_parts(tree, e)[e->u.run.count - 1].label;

        return op == OP_AND || op == OP_OR || (op >= OP_EQUAL && op <= OP_GREATER_EQUAL);
    }
    return e->kind == EXPR_BOOLEAN || e->kind == EXPR_UNDEFINED || (e->kind == EXPR_PREFIX && e->small == OP_NOT) ||
           call_is_test(tree, e);
}

/* Is this plainly never error? False when that is not plain to see. */
static bool never_error(const struct tree *tree, const struct expr *e)
{
    const struct expr *parts = tree_parts(tree, e);
    bool classic_is = !tree->dialect->is_refuses_aggregates;

    if (e->kind == EXPR_BOOLEAN || e->kind == EXPR_UNDEFINED)
        return true;
    if (e->kind == EXPR_PREFIX && e->small == OP_NOT)
        return gives_truth(tree, parts) && never_error(tree, parts);
    if (e->kind == EXPR_CALL)
        return call_is_test(tree, e);
    if (e->kind != EXPR_CHAIN)
        return false;
    if (parts[1].label == OP_AND || parts[1].label == OP_OR) {
        for (uint32_t i = 0; i < e->u.run.count; i++)
            if (!gives_truth(tree, &parts[i]) || !never_error(tree, &parts[i]))
                return false;
        return true;
    }
    return classic_is && e->u.run.count == 2 && (parts[1].label == OP_IS || parts[1].label == OP_ISNT);
}

/* The state of a chain of && or || while its operands are specialised. */
struct logic {
    uint32_t left;           /* operands on the builder */
    bool decided;            /* the deciding operand was met: false of &&, true of || */
    bool unknown;            /* an undefined operand was met */
    bool safe;               /* no operand that is left can be error */
    bool truth;              /* all operands that are left give truth values */
    uint32_t settled_at;     /* how many were left when the operand that settles the value was met */
    const struct expr *last; /* the last operand that is left */
};

static void logic_keep(struct special *sp, const struct value *v, enum op op, struct logic *logic)
{
    value_build(&sp->build, v);
    build_top(&sp->build)->label = op;
    logic->left++;
}

/* Takes in a known operand. True when nothing after it matters; *ret is then the value, unless operands are left. */
static bool logic_known(struct special *sp, const struct dialect *dialect, enum op op, const struct value *v,
                        struct logic *logic, struct value *ret)
{
    bool decides = op == OP_OR, is = false;
    enum value_type type = op_condition(dialect, v, &is);

    if (type == VALUE_ERROR) {
        *ret = value_error();
        if (dialect->logic_by_order && logic->left)
            logic_keep(sp, ret, op, logic);
        else
            logic->left = 0;
        return true;
    }
    if (type == VALUE_UNDEFINED) {
        if (dialect->logic_by_order) {
            logic_keep(sp, v, op, logic);
            logic->unknown = true;
        } else if (!logic->unknown) {
            logic->unknown = true;
            logic->settled_at = logic->decided ? logic->settled_at : logic->left;
        }
        return false;
    }
    if (is != decides)
        return false;
    if (!logic->decided)
        logic->settled_at = logic->left;
    logic->decided = true;
    *ret = value_boolean(decides);
    if (!dialect->logic_by_order)
        return false;
    if (logic->left)
        logic_keep(sp, ret, op, logic);
    return true;
}

/* && and || in value mode. */
static bool logic_value(struct special *sp, const struct scope *scope, const struct expr *e, struct value *ret)
{
    const struct dialect *dialect = scope->tree->dialect;
    const struct expr *parts = tree_parts(scope->tree, e);
    enum op op = (enum op)parts[1].label;
    bool decides = op == OP_OR, stop = false;
    struct build_mark mark = build_mark(&sp->build);
    struct logic logic = {.safe = true, .truth = true};

    for (uint32_t i = 0; i < e->u.run.count && !stop; i++) {
        struct value v;

        if (special_expr(sp, scope, &parts[i], false, &v)) {
            stop = logic_known(sp, dialect, op, &v, &logic, ret);
            continue;
        }
        build_top(&sp->build)->label = op;
        logic.left++;
        logic.last = &parts[i];
        logic.safe = logic.safe && never_error(scope->tree, &parts[i]);
        logic.truth = logic.truth && gives_truth(scope->tree, &parts[i]);
    }
    if (stop && (!logic.last || !dialect->logic_by_order)) {
        build_rewind(&sp->build, mark);
        return true;
    }
    if (!logic.last) { /* all operands are known */
        build_rewind(&sp->build, mark);
        *ret = logic.decided ? value_boolean(decides) : logic.unknown ? value_undefined() : value_boolean(!decides);
        return true;
    }
    if (!dialect->logic_by_order && logic.decided && logic.safe) {
        build_rewind(&sp->build, mark);
        *ret = value_boolean(decides);
        return true;
    }
    if (!dialect->logic_by_order && (logic.decided || logic.unknown)) {
        struct value settled = logic.decided ? value_boolean(decides) : value_undefined();

        logic_keep(sp, &settled, op, &logic);
        special_sink(&sp->build, logic.left - 1 - logic.settled_at);
    }
    if (logic.left == 1 && !logic.truth) { /* `true && e` turns e into a truth value, or an error */
        struct value neutral = value_boolean(!decides);

        logic_keep(sp, &neutral, op, &logic);
    }
    if (logic.left > 1)
        build_bind(&sp->build, EXPR_CHAIN, logic.left);
    return false;
}

/* && in truth mode: an operand that is known to be true is dropped; one that is known not to be true makes the whole false. */
static bool logic_all_true(struct special *sp, const struct scope *scope, const struct expr *e, struct value *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    struct build_mark mark = build_mark(&sp->build);
    uint32_t left = 0;

    for (uint32_t i = 0; i < e->u.run.count; i++) {
        bool is = false;

        if (special_expr(sp, scope, &parts[i], true, ret)) {
            if (op_condition(scope->tree->dialect, ret, &is) == VALUE_BOOLEAN && is)
                continue;
            build_rewind(&sp->build, mark);
            *ret = value_boolean(false);
            return true;
        }
        build_top(&sp->build)->label = OP_AND;
        left++;
    }
    *ret = value_boolean(true);
    if (left > 1)
        build_bind(&sp->build, EXPR_CHAIN, left);
    return left == 0;
}

/* || in truth mode. Operands keep their value, since an error may spoil the others. */
static bool logic_any_true(struct special *sp, const struct scope *scope, const struct expr *e, struct value *ret)
{
    const struct dialect *dialect = scope->tree->dialect;
    const struct expr *parts = tree_parts(scope->tree, e), *last = NULL;
    struct build_mark mark = build_mark(&sp->build);
    uint32_t left = 0, found_at = 0;
    bool found = false, safe = true;

    for (uint32_t i = 0; i < e->u.run.count; i++) {
        bool is = false;
        enum value_type type;

        if (!special_expr(sp, scope, &parts[i], false, ret)) {
            build_top(&sp->build)->label = OP_OR;
            safe = safe && never_error(scope->tree, &parts[i]);
            last = &parts[i];
            left++;
            continue;
        }
        type = op_condition(dialect, ret, &is);
        if (type == VALUE_ERROR && !dialect->logic_by_order) {
            build_rewind(&sp->build, mark);
            *ret = value_boolean(false);
            return true;
        }
        if (type == VALUE_ERROR)
            break; /* an operand after an error cannot make the chain true */
        if (type == VALUE_BOOLEAN && is) {
            found_at = found ? found_at : left;
            found = true;
            if (dialect->logic_by_order)
                break;
        }
    }
    if (left == 0 || (found && safe)) {
        build_rewind(&sp->build, mark);
        *ret = value_boolean(found);
        return true;
    }
    if (left == 1 && !found) {
        build_rewind(&sp->build, mark);
        return special_expr(sp, scope, last, true, ret);
    }
    if (found) {
        build_boolean(&sp->build, true);
        build_top(&sp->build)->label = OP_OR;
        special_sink(&sp->build, left++ - found_at);
    }
    build_bind(&sp->build, EXPR_CHAIN, left);
    return false;
}

bool special_logic(struct special *sp, const struct scope *scope, const struct expr *e, bool truth, struct value *ret)
{
    if (!truth)
        return logic_value(sp, scope, e, ret);
    if (tree_parts(scope->tree, e)[1].label == OP_AND)
        return logic_all_true(sp, scope, e, ret);
    return logic_any_true(sp, scope, e, ret);
}

/* True when the expression cannot be true, whatever the counterpart. The rest of the expression is dropped. */
static bool never_true(struct special *sp, const struct scope *scope, const struct expr *e)
{
    struct build_mark mark = build_mark(&sp->build);
    bool is = false;
    struct value v;

    if (!special_expr(sp, scope, e, true, &v)) {
        build_rewind(&sp->build, mark);
        return false;
    }
    return op_condition(scope->tree->dialect, &v, &is) != VALUE_BOOLEAN || !is;
}

bool special_choice(struct special *sp, const struct scope *scope, const struct expr *e, const struct expr *parts,
                    bool truth, struct value *ret)
{
    const struct expr *yes = &parts[1], *no = &parts[2];
    struct build_mark mark = build_mark(&sp->build);
    bool is = false, yes_known, no_known;
    struct value v;

    if (special_expr(sp, scope, &parts[0], false, ret)) {
        switch (op_condition(scope->tree->dialect, ret, &is)) {
        case VALUE_BOOLEAN:
            return special_expr(sp, scope, is ? yes : no, truth, ret);
        case VALUE_UNDEFINED:
            *ret = value_undefined();
            return true;
        default:
            *ret = value_error();
            return true;
        }
    }
    yes_known = special_expr(sp, scope, yes, truth, ret);
    if (yes_known)
        special_emit(sp, scope, yes, ret);
    no_known = special_expr(sp, scope, no, truth, &v);
    if (no_known)
        special_emit(sp, scope, no, &v);
    if (truth && no_known) {
        bool first = !yes_known, second = false; /* may either branch be true? */

        if (yes_known)
            op_condition(scope->tree->dialect, ret, &first);
        op_condition(scope->tree->dialect, &v, &second);
        if (!second && (!first || never_true(sp, scope, &parts[0]))) {
            build_rewind(&sp->build, mark);
            *ret = value_boolean(false);
            return true;
        }
    }
    if (e->kind == EXPR_CALL) {
        symbols_hold(sp->build.symbols, e->u.name.id);
        build_call(&sp->build, e->u.name.id, 3);
    } else {
        build_bind(&sp->build, EXPR_CHOICE, 3);
    }
    return false;
}
