/* relation.c: ranges of requirements: what is in them, which lies in which. */
#include "match/grdl/relation.h"

#include <string.h>

/* The pairwise relation of a requirement. Only text knows case: elsewhere `equivalent` is =, and `ordered` is <=. */
static enum grdl_operator base_relation(const struct grdl_point *requirement)
{
    enum grdl_operator base = grdl_operators[requirement->match].base;

    if (requirement->value.kind == GRDL_TEXT)
        return base;
    return base == GRDL_EQUIVALENT ? GRDL_EQ : base == GRDL_ORDERED ? GRDL_LE : base;
}

static bool is_whole(const struct grdl_point *requirement)
{
    return requirement->value.kind == GRDL_UNSPECIFIED;
}

static bool is_set_wise(const struct grdl_point *requirement)
{
    return grdl_point_set_wise(requirement);
}

/* Is it a negation ("none"): set_ne, or != without a value? */
static bool is_negation(const struct grdl_point *requirement)
{
    return requirement->match == GRDL_SET_NE || (requirement->match == GRDL_NE && is_whole(requirement));
}

/* Is every value of that type in a range that is a whole dimension, or the part of it that has a type? */
static bool type_in_whole(uint32_t type, const struct grdl_point *whole)
{
    return whole->value.type == GRDL_TYPE_NONE || whole->value.type == type;
}

bool grdl_char_in_req(const struct grdl_point *characteristic, const struct grdl_point *requirement)
{
    if (is_whole(requirement))
        return type_in_whole(characteristic->value.type, requirement);
    return grdl_value_holds(&characteristic->value, grdl_operators[requirement->match].base, &requirement->value);
}

/* May the characteristic be what a negation rules out? */
static bool char_may_be(const struct grdl_point *characteristic, const struct grdl_point *negation)
{
    const struct grdl_value *value = &characteristic->value, *out = &negation->value;

    if (value->kind == GRDL_UNSPECIFIED && value->type == GRDL_TYPE_NONE)
        return true;
    if (is_whole(negation))
        return type_in_whole(value->type, negation);
    if (value->kind == GRDL_UNSPECIFIED)
        return value->type == out->type;
    return grdl_value_holds(value, GRDL_EQ, out);
}

bool grdl_req_met(const struct grdl_point *requirement, struct grdl_points chars, struct grdl_counts *counts)
{
    bool set_wise = is_set_wise(requirement), negation = is_negation(requirement);

    for (uint32_t i = 0; i < chars.count; i++) {
        bool holds =
            negation ? !char_may_be(&chars.items[i], requirement) : grdl_char_in_req(&chars.items[i], requirement);

        if (counts)
            counts->comparisons++;
        if (holds != set_wise) /* one in the range is enough; of a set, one that is not */
            return !set_wise;
    }
    return set_wise && (negation || chars.count);
}

/* The order of a text, written in one case of letters, against another text. */
static int cased_order(const char *a, char from, char to, const char *b)
{
    for (;; a++, b++) {
        int x = (unsigned char)*a, y = (unsigned char)*b;

        if (x >= from && x < from + 26)
            x += to - from;
        if (x != y || !x)
            return x - y;
    }
}

/* Are all texts that are equivalent to `a` in the range `x OUTER b`? They lie between `a` in capitals and `a` in small letters. */
static bool equivalent_within(const struct grdl_value *a, enum grdl_operator outer, const struct grdl_value *b)
{
    int first = cased_order(a->text, 'a', 'A', b->text), last = cased_order(a->text, 'A', 'a', b->text);

    switch (outer) {
    case GRDL_EQ:
        return first == 0 && last == 0;
    case GRDL_NE:
        return grdl_value_order_folded(a, b) != 0;
    case GRDL_LT:
        return last < 0;
    case GRDL_LE:
        return last <= 0;
    case GRDL_GT:
        return first > 0;
    case GRDL_GE:
        return first >= 0;
    default:
        return grdl_value_holds(a, outer, b);
    }
}

/* Does the range `x INNER a` lie in the range `x OUTER b`? Both of pairwise relations, with comparable values. */
static bool range_within(enum grdl_operator inner, const struct grdl_value *a, enum grdl_operator outer,
                         const struct grdl_value *b)
{
    int order = grdl_value_order(a, b);

    switch (inner) {
    case GRDL_EQ:
        return grdl_value_holds(a, outer, b);
    case GRDL_NE:
        return outer == GRDL_NE && order == 0;
    case GRDL_LT:
        return order <= 0 && (outer == GRDL_LT || outer == GRDL_LE || outer == GRDL_NE);
    case GRDL_LE:
        return (order <= 0 && outer == GRDL_LE) || (order < 0 && (outer == GRDL_LT || outer == GRDL_NE));
    case GRDL_GT:
        return order >= 0 && (outer == GRDL_GT || outer == GRDL_GE || outer == GRDL_NE);
    case GRDL_GE:
        return (order >= 0 && outer == GRDL_GE) || (order > 0 && (outer == GRDL_GT || outer == GRDL_NE));
    case GRDL_EQUIVALENT:
        return equivalent_within(a, outer, b);
    case GRDL_ORDERED:
        order = grdl_value_order_folded(a, b);
        return (outer == GRDL_ORDERED && order <= 0) || (outer == GRDL_NE && order < 0);
    default:
        return false;
    }
}

/* Does the range of one requirement lie in that of the other, as if both were pairwise? */
static bool req_range_within(const struct grdl_point *inner, const struct grdl_point *outer)
{
    if (is_whole(outer))
        return type_in_whole(inner->value.type, outer);
    return !is_whole(inner) && grdl_comparable(&inner->value, &outer->value) &&
           range_within(base_relation(inner), &inner->value, base_relation(outer), &outer->value);
}

/* Is what the outer negation rules out never there, given the inner one? */
static bool negation_within(const struct grdl_point *inner, const struct grdl_point *outer)
{
    if (is_whole(inner))
        return type_in_whole(outer->value.type, inner);
    return !is_whole(outer) && grdl_value_holds(&inner->value, GRDL_EQ, &outer->value);
}

/* All characteristics are in the range of the inner one: is none of them what the outer one rules out? */
static bool set_within_negation(const struct grdl_point *inner, const struct grdl_point *outer)
{
    if (is_whole(outer) && outer->value.type == GRDL_TYPE_NONE)
        return false;    /* nothing may be there, and something is */
    if (is_whole(inner)) /* they may be unspecified: their type must rule it out */
        return inner->value.type != GRDL_TYPE_NONE && inner->value.type != outer->value.type;
    if (is_whole(outer))
        return outer->value.type != inner->value.type;
    if (!grdl_comparable(&inner->value, &outer->value))
        return true;
    return range_within(base_relation(inner), &inner->value, GRDL_NE, &outer->value);
}

bool grdl_req_in_req(const struct grdl_point *inner, const struct grdl_point *outer)
{
    if (is_negation(outer)) {
        if (is_negation(inner))
            return negation_within(inner, outer);
        return is_set_wise(inner) && set_within_negation(inner, outer);
    }
    if (is_negation(inner))
        return false;
    if (is_set_wise(outer) &&
        !is_set_wise(inner)) /* the others may be anything: all that is known is that one is there */
        return is_whole(outer) && outer->value.type == GRDL_TYPE_NONE;
    return req_range_within(inner, outer);
}

static bool is_upper(enum grdl_operator op)
{
    return op == GRDL_LT || op == GRDL_LE;
}

static bool is_lower(enum grdl_operator op)
{
    return op == GRDL_GT || op == GRDL_GE;
}

/* Is it set_ne with a value? That leaves out the value, and nothing that cannot be compared with it. */
static bool is_set_ne(const struct grdl_point *requirement)
{
    return requirement->match == GRDL_SET_NE && !is_whole(requirement);
}

bool grdl_reqs_meet(const struct grdl_point *a, const struct grdl_point *b)
{
    enum grdl_operator x = base_relation(a), y = base_relation(b);
    int order;

    if ((is_set_ne(a) || is_set_ne(b)) && !grdl_comparable(&a->value, &b->value))
        return true;
    if (is_whole(a))
        return is_whole(b) ? type_in_whole(a->value.type, b) || type_in_whole(b->value.type, a)
                           : type_in_whole(b->value.type, a);
    if (is_whole(b))
        return type_in_whole(a->value.type, b);
    if (!grdl_comparable(&a->value, &b->value))
        return false;
    if (x == GRDL_EQ)
        return grdl_value_holds(&a->value, y, &b->value);
    if (y == GRDL_EQ)
        return grdl_value_holds(&b->value, x, &a->value);
    if (x == GRDL_EQUIVALENT && y == GRDL_EQUIVALENT)
        return grdl_value_order_folded(&a->value, &b->value) == 0;
    order = grdl_value_order(&a->value, &b->value);
    if (is_lower(x) && is_upper(y))
        return order < 0 || (order == 0 && x == GRDL_GE && y == GRDL_LE);
    if (is_upper(x) && is_lower(y))
        return order > 0 || (order == 0 && x == GRDL_LE && y == GRDL_GE);
    return true;
}
