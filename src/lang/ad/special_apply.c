/* special_apply.c: operators and functions when some operands are known. */
#include "lang/ad/special.h"

#include "lang/ad/functions.h"
#include "lang/ad/ops.h"

void special_sink(struct build *build, uint32_t n)
{
    struct expr *top = build_top(build), cell = *top;

    memmove(top - n + 1, top - n, n * sizeof *top);
    top[-(ptrdiff_t)n] = cell;
}

/* Joins two constants of one kind into one, with its sign. False when integers would wrap: the unknown between them may be a real. */
static bool constant_join(struct expr *into, const struct expr *e, bool product, bool minus)
{
    int64_t joined, by = e->u.integer;

    if (e->kind == EXPR_REAL) {
        double real = e->u.real;

        into->u.real = product ? into->u.real * real : minus ? into->u.real - real : into->u.real + real;
        return true;
    }
    if (product ? __builtin_mul_overflow(into->u.integer, by, &joined)
        : minus ? __builtin_sub_overflow(into->u.integer, by, &joined)
                : __builtin_add_overflow(into->u.integer, by, &joined))
        return false;
    into->u.integer = joined;
    return true;
}

/* Gives the sign of a constant of a sum to the operator in front of it; INT64_MIN keeps its own. */
static void constant_sign(struct expr *e)
{
    bool negative = e->kind == EXPR_REAL ? e->u.real < 0 : e->u.integer < 0 && e->u.integer != INT64_MIN;

    e->label = negative ? OP_SUBTRACT : OP_ADD;
    if (negative && e->kind == EXPR_REAL)
        e->u.real = -e->u.real;
    else if (negative)
        e->u.integer = -e->u.integer;
}

/* Gathers the constants of + and - (or of *) across operands that are not known into the first constant. */
static void special_gather(struct special *sp, uint32_t count, uint32_t *ret_count)
{
    struct expr *parts = &sp->build.stack[sp->build.stack_count - count];
    struct expr sum = {0}; /* of the constants so far, when there are any */
    bool product = parts[1].label == OP_MULTIPLY, any = false;
    uint32_t kept = 0, first = 0;

    for (uint32_t i = 1; i < count; i++)
        if (product ? parts[i].label != OP_MULTIPLY : parts[i].label != OP_ADD && parts[i].label != OP_SUBTRACT)
            return;
    for (uint32_t i = 0; i < count; i++) {
        bool minus = i > 0 && parts[i].label == OP_SUBTRACT;

        if (any && sum.kind == parts[i].kind && constant_join(&sum, &parts[i], product, minus))
            continue;
        if (!any && (parts[i].kind == EXPR_INTEGER || parts[i].kind == EXPR_REAL)) {
            struct expr zero = {.kind = parts[i].kind}; /* a - 3 adds 0 - 3 */

            sum = minus ? zero : parts[i];
            any = !minus || constant_join(&sum, &parts[i], false, true);
            first = kept;
        }
        parts[kept++] = parts[i];
    }
    *ret_count = kept;
    sp->build.stack_count -= count - kept;
    if (kept == count)
        return;
    sum.label = parts[first].label;
    parts[first] = sum;
    if (first && !product)
        constant_sign(&parts[first]);
}

/* Any chain but && and ||. Computes the known operands at the front; an error anywhere makes the whole chain an error. */
bool special_chain(struct special *sp, const struct scope *scope, const struct expr *e, struct value *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    struct build_mark mark = build_mark(&sp->build);
    bool known = special_expr(sp, scope, &parts[0], false, ret);
    uint32_t left = known ? 0 : 1;

    for (uint32_t i = 1; i < e->u.run.count; i++) {
        enum op op = (enum op)parts[i].label;
        bool strict = op != OP_IS && op != OP_ISNT, right_known;
        struct value right;

        right_known = special_expr(sp, scope, &parts[i], false, &right);
        if (known && right_known) {
            eval_charge_pair(&sp->eval, ret, &right);
            op_binary(scope->tree->dialect, op, ret, &right, ret);
            continue;
        }
        if (strict && ((known && ret->type == VALUE_ERROR) || (right_known && right.type == VALUE_ERROR))) {
            build_rewind(&sp->build, mark);
            *ret = value_error();
            known = true;
            left = 0;
            continue;
        }
        if (known) { /* the value so far goes in front of the operand that has just been pushed */
            special_emit(sp, scope, &parts[0], ret);
            special_sink(&sp->build, 1);
            known = false;
            left = 1;
        } else if (right_known) {
            special_emit(sp, scope, &parts[i], &right);
        }
        build_top(&sp->build)->label = op;
        left++;
    }
    if (known)
        return true;
    if (sp->flags & SPECIALIZE_GATHER)
        special_gather(sp, left, &left);
    if (left > 1)
        build_bind(&sp->build, EXPR_CHAIN, left);
    return false;
}

/* Are all parts of an aggregate known? Then a function may look into it. */
static bool value_is_closed(struct special *sp, const struct value *v)
{
    const struct expr *parts;
    bool closed = true;

    if (value_is_scalar(v))
        return true;
    parts = tree_parts(v->scope->tree, v->u.aggregate);
    if (!eval_steps(&sp->eval, v->u.aggregate->u.run.count))
        sp->failed = true;
    for (uint32_t i = 0; i < v->u.aggregate->u.run.count && closed && !sp->failed; i++) {
        struct build_mark mark = build_mark(&sp->build);
        struct value part;

        closed = expr_is_literal(&parts[i]) ||
                 (special_bound(sp, v->scope, &parts[i], SYMBOL_NONE, v->scope, &parts[i], false, &part) &&
                  value_is_scalar(&part));
        build_rewind(&sp->build, mark);
    }
    return closed;
}

/* The value of a call whose arguments are all known. */
static void special_apply(struct special *sp, const struct function *function, const struct scope *scope,
                          const struct expr *e, const struct value *arguments, struct value *ret)
{
    struct call call = {.eval = &sp->eval,
                        .scope = scope,
                        .dialect = scope->tree->dialect,
                        .e = e,
                        .arguments = arguments,
                        .count = (uint32_t)e->small};

    function_apply(function, &call, ret);
    if (sp->eval.exhausted)
        sp->failed = true;
}

bool special_call(struct special *sp, const struct scope *scope, const struct expr *e, bool truth, struct value *ret)
{
    const struct function *function = function_find(scope->tree->dialect, e->u.name.id);
    const struct expr *parts = tree_parts(scope->tree, e);
    struct build_mark mark = build_mark(&sp->build);
    uint32_t count = (uint32_t)e->small, known_count = 0;
    struct value *arguments;
    bool foldable;

    if (!function || (int)count < function->min || (int)count > function->max) {
        *ret = value_error();
        return true;
    }
    if (function->traits & FUNCTION_CHOICE)
        return special_choice(sp, scope, e, parts, truth, ret);
    if (function->traits & FUNCTION_CHANCE)
        sp->chance = true;
    if (function->traits & FUNCTION_LAZY)
        return special_leave(sp, scope, e); /* the function may want the expression, not its value */
    foldable = !(function->traits & (FUNCTION_SCOPE | FUNCTION_CHANCE)) &&
               (!(function->traits & FUNCTION_TIME) || (sp->flags & SPECIALIZE_TIME));
    arguments = arena_alloc(sp->eval.arena, (count + 1) * sizeof *arguments);
    for (uint32_t i = 0; i < count; i++) {
        if (special_expr(sp, scope, &parts[i], false, &arguments[i])) {
            if ((function->traits & FUNCTION_STRICT) && arguments[i].type == VALUE_ERROR) {
                build_rewind(&sp->build, mark);
                *ret = value_error();
                return true;
            }
            known_count += foldable && value_is_closed(sp, &arguments[i]);
            special_emit(sp, scope, &parts[i], &arguments[i]);
        }
    }
    if (foldable && known_count == count && !sp->failed) {
        special_apply(sp, function, scope, e, arguments, ret);
        if (value_is_scalar(ret)) {
            build_rewind(&sp->build, mark);
            return true;
        }
    }
    symbols_hold(sp->build.symbols, e->u.name.id);
    build_call(&sp->build, e->u.name.id, count);
    return false;
}
