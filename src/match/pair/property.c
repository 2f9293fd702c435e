/* property.c: a clause that compares an attribute of the counterpart with a constant. */
#include "match/pair/property.h"

#include "lang/ad/ops.h"

#include <string.h>

symbol property_asked(const struct tree *ad, const struct expr *e)
{
    const struct expr *root = tree_root(ad);

    if (e->kind == EXPR_NAME) {
        uint32_t number = symbol_name(e->u.name.id);

        if (number <= NAME_NUMBER_TARGET || tree_find(ad, root, e->u.name.id))
            return SYMBOL_NONE; /* a reserved name or a label, or the ad's own */
        return e->u.name.id;
    }
    if (e->kind == EXPR_DOT) {
        symbol base = EXPR_DOT_BASE(e);

        if ((!symbol_same(base, NAME_OTHER) && !symbol_same(base, NAME_TARGET)) || tree_find(ad, root, base))
            return SYMBOL_NONE;
        return e->u.name.id;
    }
    return SYMBOL_NONE;
}

static unsigned char op_outcomes(enum op op)
{
    switch (op) {
    case OP_EQUAL:
        return PROPERTY_SAME;
    case OP_NOT_EQUAL:
        return PROPERTY_LESS | PROPERTY_MORE | PROPERTY_APART;
    case OP_LESS:
        return PROPERTY_LESS;
    case OP_LESS_EQUAL:
        return PROPERTY_LESS | PROPERTY_SAME;
    case OP_GREATER:
        return PROPERTY_MORE;
    case OP_GREATER_EQUAL:
        return PROPERTY_MORE | PROPERTY_SAME;
    default:
        return 0;
    }
}

bool property_read(const struct tree *ad, const struct tree *tree, const struct expr *e, struct property *ret)
{
    const struct expr *parts, *reference, *constant;
    enum op op;
    symbol name;

    while (e->kind == EXPR_WITHIN)
        e = tree_parts(tree, e);
    if (e->kind != EXPR_CHAIN || e->u.run.count != 2 || !tree_is_ad(ad))
        return false;
    parts = tree_parts(tree, e);
    op = (enum op)parts[1].label;
    if (!op_outcomes(op))
        return false;
    reference = &parts[0];
    constant = &parts[1];
    if (expr_is_literal(reference)) {
        reference = &parts[1];
        constant = &parts[0];
        op = op_mirrored(op);
    }
    if (constant->kind < EXPR_BOOLEAN || !expr_is_literal(constant) || !(name = property_asked(ad, reference)))
        return false;
    *ret = (struct property){.name = name, .type = constant->kind, .op = op, .when = op_outcomes(op)};
    if (constant->kind == EXPR_STRING) {
        ret->len = constant->u.run.count;
        ret->u.string = tree_string(tree, constant);
        return ret->len <= PROPERTY_STRING_MAX;
    }
    ret->u.integer = constant->kind == EXPR_BOOLEAN ? constant->small & 1 : constant->u.integer;
    return true;
}

struct value property_constant(const struct property *property)
{
    struct value v = {.type = property->type, .len = property->len, .u.integer = property->u.integer};

    v.boolean = property->type == VALUE_BOOLEAN && property->u.integer;
    return v;
}

static inline bool outcome(unsigned when, bool less, bool more)
{
    return when & (less ? PROPERTY_LESS : more ? PROPERTY_MORE : PROPERTY_SAME);
}

static inline bool real_outcome(unsigned when, double a, double b)
{
    return when & (a < b ? PROPERTY_LESS : a > b ? PROPERTY_MORE : a == b ? PROPERTY_SAME : PROPERTY_APART);
}

static bool string_outcome(const struct property *property, const char *text, uint32_t len)
{
    int order;

    if (property->op <= OP_NOT_EQUAL) { /* equal or not: the lengths say most of it */
        if (len != property->len)
            return property->op == OP_NOT_EQUAL;
        if (!memcmp(text, property->u.string, len))
            return property->op == OP_EQUAL;
    }
    order = op_compare_strings(text, len, property->u.string, property->len);
    return outcome(property->when, order<0, order> 0);
}

static inline enum property_answer answer(bool is)
{
    return is ? PROPERTY_TRUE : PROPERTY_FALSE;
}

/* Compares two literals of different types: as numbers, or as the dialect does. */
static enum property_answer mixed_outcome(const struct property *property, const struct dialect *dialect,
                                          const struct expr *found)
{
    struct value a = {.type = found->kind, .boolean = found->small & 1, .u.integer = found->u.integer};
    struct value b = property_constant(property), v;

    if (found->kind == EXPR_INTEGER && property->type == VALUE_REAL)
        return answer(real_outcome(property->when, (double)found->u.integer, property->u.real));
    if (found->kind == EXPR_REAL && property->type == VALUE_INTEGER)
        return answer(real_outcome(property->when, found->u.real, (double)property->u.integer));
    op_binary(dialect, (enum op)property->op, &a, &b, &v); /* of a string only its type counts here */
    if (v.type == VALUE_BOOLEAN)
        return answer(v.boolean);
    return v.type == VALUE_UNDEFINED ? PROPERTY_UNDEFINED : PROPERTY_ERROR;
}

enum property_answer property_test(const struct property *property, const struct env *env,
                                   const struct dialect *dialect, const struct tree *counterpart)
{
    const struct expr *found = tree_find(counterpart, tree_root(counterpart), property->name);

    if (!found)
        return env->given_count || env->absent_count ? PROPERTY_EVALUATE : PROPERTY_UNDEFINED;
    if (!expr_is_literal(found))
        return PROPERTY_EVALUATE;
    if (found->kind != property->type)
        return mixed_outcome(property, dialect, found);
    if (found->kind == EXPR_STRING)
        return answer(string_outcome(property, tree_string(counterpart, found), found->u.run.count));
    if (found->kind == EXPR_REAL)
        return answer(real_outcome(property->when, found->u.real, property->u.real));
    if (found->kind == EXPR_BOOLEAN)
        return answer(outcome(property->when, (found->small & 1) < property->u.integer,
                              (found->small & 1) > property->u.integer));
    return answer(outcome(property->when, found->u.integer<property->u.integer, found->u.integer> property->u.integer));
}
