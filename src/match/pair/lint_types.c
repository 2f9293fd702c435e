/* lint_types.c: operators whose operands never fit.
 *
 * Lint asks the operators themselves: with a literal's value or, where only the type is known, with a sample of that type. With a sample, an
 * operator fails only because of its type. */
#include "lang/ad/ops.h"
#include "match/pair/lint_parts.h"

#include <string.h>

static struct lint_shape shape_unknown(void)
{
    return (struct lint_shape){.known = SHAPE_UNKNOWN};
}

/* Makes a sample of a type: nothing is divided by zero, and no time falls below 1970. */
static struct lint_shape shape_type(enum value_type type)
{
    struct lint_shape shape = {.known = SHAPE_TYPE};

    switch (type) {
    case VALUE_BOOLEAN:
        shape.v = value_boolean(true);
        break;
    case VALUE_INTEGER:
        shape.v = value_integer(1);
        break;
    case VALUE_REAL:
        shape.v = value_real(1);
        break;
    case VALUE_STRING:
        shape.v = value_string("a", 1);
        break;
    case VALUE_ABSTIME:
        shape.v = value_abstime(1000000000, 0);
        break;
    case VALUE_RELTIME:
        shape.v = value_reltime(0);
        break;
    default:
        return shape_unknown();
    }
    return shape;
}

struct lint_shape lint_boolean(void)
{
    return shape_type(VALUE_BOOLEAN);
}

static struct lint_shape shape_result(const struct value *v, bool exact)
{
    if (v->type == VALUE_UNDEFINED || v->type == VALUE_ERROR)
        return shape_unknown();
    return exact ? (struct lint_shape){.known = SHAPE_VALUE, .v = *v} : shape_type((enum value_type)v->type);
}

struct lint_shape lint_leaf(struct lint *lint, const struct scope *scope, const struct expr *e)
{
    const struct expr *literal = e->kind > EXPR_AD ? lint_definition(lint, scope, e) : e;
    struct lint_shape shape = {.known = SHAPE_VALUE};
    struct eval eval;

    if (!literal || literal->kind > (literal == e ? EXPR_AD : EXPR_RELTIME))
        return shape_unknown();
    eval_init(&eval, &lint->env, lint->scratch);
    eval_expr(&eval, scope, literal, &shape.v);
    return shape.v.type == VALUE_ERROR ? shape_unknown() : shape;
}

struct lint_shape lint_clock(struct lint *lint, const struct scope *scope, const struct expr *e)
{
    struct env env = lint->env;
    struct lint_shape shape;
    struct value v;
    struct eval eval;

    env.now = 1000000000;
    eval_init(&eval, &env, lint->scratch);
    eval_expr(&eval, scope, e, &v);
    shape = shape_type((enum value_type)v.type);
    shape.sure = true;
    return shape;
}

/* "string + integer" */
static void add_types(struct buf *text, const struct lint_shape *a, enum op op, const struct lint_shape *b)
{
    buf_addf(text, "%s %s %s", value_type_name((enum value_type)a->v.type), op_table[op].text,
             value_type_name((enum value_type)b->v.type));
}

/* Does the text look like a time: 7:00, 2026-03-02T12:00:00Z? */
static bool looks_like_time(const struct value *v)
{
    size_t at = 0;

    while (v->type == VALUE_STRING && v->len < 32 && at < v->len && memchr("0123456789:-+TZ.", v->u.string[at], 16))
        at++;
    return at && at == v->len && memchr(v->u.string, ':', at);
}

/* Where a time meets a text that looks like one: says how a time is written. */
static void add_spelling(struct lint *lint, struct buf *text, const struct value *time, const struct value *string)
{
    if ((time->type != VALUE_RELTIME && time->type != VALUE_ABSTIME) || !looks_like_time(string))
        return;
    if (lint->tree->dialect->quoted_names)
        buf_addf(text, "; a time is written %sTime(\"%.*s\")", time->type == VALUE_RELTIME ? "rel" : "abs",
                 (int)string->len, string->u.string);
    else
        buf_addf(text, "; a time is written '%.*s'", (int)string->len, string->u.string);
}

static bool by_zero(enum op op, const struct lint_shape *a, const struct lint_shape *b)
{
    return (op == OP_DIVIDE || op == OP_REMAINDER) && value_is_number(&a->v) && value_is_number(&b->v) &&
           (b->v.type == VALUE_INTEGER ? b->v.u.integer == 0 : b->v.u.real == 0);
}

static void tell_unfit(struct lint *lint, const struct expr *e, const struct lint_shape *a, enum op op,
                       const struct lint_shape *b)
{
    bool exact = (a->known == SHAPE_VALUE || a->sure) && (b->known == SHAPE_VALUE || b->sure);
    struct buf *text = lint_begin(lint);

    lint_quote(lint, e);
    buf_adds(text, exact || by_zero(op, a, b) ? " is always error: " : " never has a value: ");
    if (by_zero(op, a, b))
        buf_adds(text, "it divides by zero");
    else
        add_types(text, a, op, b);
    add_spelling(lint, text, &a->v, &b->v);
    add_spelling(lint, text, &b->v, &a->v);
    lint_end(lint, LINT_NEVER_FITS);
}

/* Tells of x == undefined, which is neither true nor false. */
static void tell_undefined(struct lint *lint, const struct expr *e, enum op op)
{
    struct buf *text = lint_begin(lint);

    lint_quote(lint, e);
    buf_adds(text, " is always undefined");
    if (op == OP_EQUAL || op == OP_NOT_EQUAL)
        buf_addf(text, "; `%s` tells", op == OP_EQUAL ? "is" : "isnt");
    lint_end(lint, LINT_NEVER_FITS);
}

void lint_condition(struct lint *lint, const struct expr *e, const struct lint_shape *a)
{
    bool truth;

    if (a->known && a->v.type != VALUE_ERROR && op_condition(lint->tree->dialect, &a->v, &truth) == VALUE_ERROR) {
        struct buf *text = lint_begin(lint);

        lint_quote(lint, e);
        buf_addf(text, " is not a condition: it is of type %s", value_type_name((enum value_type)a->v.type));
        lint_end(lint, LINT_NEVER_FITS);
    }
}

struct lint_shape lint_prefix(struct lint *lint, const struct expr *e, const struct lint_shape *a)
{
    enum op op = (enum op)e->small;
    struct value v;

    if (op == OP_NOT) {
        lint_condition(lint, tree_parts(lint->tree, e), a);
        return lint_boolean();
    }
    if (!a->known)
        return shape_unknown();
    op_prefix(lint->tree->dialect, op, &a->v, &v);
    if (v.type == VALUE_ERROR) {
        struct buf *text = lint_begin(lint);

        lint_quote(lint, e);
        buf_addf(text, " never has a value: %s does not take type %s", op_table[op].text,
                 value_type_name((enum value_type)a->v.type));
        lint_end(lint, LINT_NEVER_FITS);
    }
    return shape_result(&v, a->known == SHAPE_VALUE);
}

struct lint_shape lint_binary(struct lint *lint, const struct expr *chain, uint32_t place, const struct lint_shape *a,
                              const struct lint_shape *b)
{
    const struct expr *parts = tree_parts(lint->tree, chain);
    enum op op = (enum op)parts[place].label;
    bool compares = op >= OP_EQUAL && op <= OP_GREATER_EQUAL;
    struct value v;

    if (op == OP_AND || op == OP_OR) {
        if (place == 1)
            lint_condition(lint, &parts[0], a);
        lint_condition(lint, &parts[place], b);
        return lint_boolean();
    }
    if (op == OP_IS || op == OP_ISNT)
        return lint_boolean();
    if (compares && (parts[place].kind == EXPR_UNDEFINED || (place == 1 && parts[0].kind == EXPR_UNDEFINED))) {
        tell_undefined(lint, chain, op);
        return shape_unknown();
    }
    if (!a->known || !b->known)
        return compares ? lint_boolean() : shape_unknown();
    if (a->v.type == VALUE_STRING && b->v.type == VALUE_STRING &&
        !lint_spend(lint, (a->v.len + b->v.len) / EVAL_STEP_BYTES))
        return shape_unknown();
    op_binary(lint->tree->dialect, op, &a->v, &b->v, &v);
    if (v.type == VALUE_ERROR)
        tell_unfit(lint, chain, a, op, b);
    return shape_result(&v, a->known == SHAPE_VALUE && b->known == SHAPE_VALUE);
}
