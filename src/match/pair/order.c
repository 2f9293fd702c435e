/* order.c: how values are ordered when one must be chosen. */
#include "match/pair/order.h"

#include "lang/ad/ops.h"

#include <math.h>

enum kind { KIND_NONE, KIND_NUMBER, KIND_STRING, KIND_ABSTIME, KIND_RELTIME };

static enum kind kind_of(const struct value *v)
{
    switch ((enum value_type)v->type) {
    case VALUE_BOOLEAN:
    case VALUE_INTEGER:
    case VALUE_REAL:
        return KIND_NUMBER;
    case VALUE_STRING:
        return KIND_STRING;
    case VALUE_ABSTIME:
        return KIND_ABSTIME;
    case VALUE_RELTIME:
        return KIND_RELTIME;
    default:
        return KIND_NONE;
    }
}

bool order_has(const struct value *v)
{
    return kind_of(v) != KIND_NONE;
}

static bool is_nan(const struct value *v)
{
    return v->type == VALUE_REAL && isnan(v->u.real);
}

/* Compares in the dialect where booleans count, so that one comparison serves all numbers. */
static bool is_less(const struct value *a, const struct value *b)
{
    struct value less;

    op_binary(&dialect_condor, OP_LESS, a, b, &less);
    return value_is_true(&less);
}

/* Compares by what the numbers are. The language compares both as reals, and then integers beyond 2^53 that differ equal the same real. */
static int compare_exactly(int64_t integer, double real)
{
    int64_t whole;

    if (real >= 0x1p63)
        return -1;
    if (real < -0x1p63)
        return 1;
    whole = (int64_t)real;
    if (integer != whole)
        return integer < whole ? -1 : 1;
    return (real < (double)whole) - (real > (double)whole);
}

int order_compare(const struct value *a, const struct value *b)
{
    enum kind x = kind_of(a), y = kind_of(b);

    if (x != y)
        return x < y ? -1 : 1;
    if (is_nan(a) || is_nan(b))
        return is_nan(b) - is_nan(a);
    if (a->type == VALUE_INTEGER && b->type == VALUE_REAL)
        return compare_exactly(a->u.integer, b->u.real);
    if (a->type == VALUE_REAL && b->type == VALUE_INTEGER)
        return -compare_exactly(b->u.integer, a->u.real);
    return is_less(a, b) ? -1 : is_less(b, a);
}

struct value order_rank(const struct value *rank)
{
    return order_has(rank) ? *rank : value_integer(0);
}

double order_number(const struct value *rank)
{
    switch (rank->type) {
    case VALUE_INTEGER:
        return (double)rank->u.integer;
    case VALUE_REAL:
        return is_nan(rank) ? -1e308 : rank->u.real;
    case VALUE_BOOLEAN:
        return rank->boolean;
    default:
        return 0;
    }
}

double order_finite(const struct value *rank)
{
    return rank->type == VALUE_REAL && !isfinite(rank->u.real) ? 0 : order_number(rank);
}
