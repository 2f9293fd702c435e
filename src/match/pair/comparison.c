/* comparison.c: can two comparisons of one thing be true at once? */
#include "match/pair/comparison.h"

#include "lang/ad/ops.h"

static bool holds(const struct dialect *dialect, enum op op, const struct value *a, const struct value *b)
{
    struct value v;

    op_binary(dialect, op, a, b, &v);
    return value_is_true(&v);
}

static bool is_strict(enum op op)
{
    return op != OP_IS && op != OP_ISNT;
}

bool comparisons_want_two_types(const struct dialect *dialect, const struct comparison *a, const struct comparison *b)
{
    struct value v;

    if (!is_strict(a->op) || !is_strict(b->op))
        return false;
    op_binary(dialect, OP_EQUAL, &a->v, &b->v, &v);
    return v.type == VALUE_ERROR;
}

/* Is this an integer that a real cannot tell from a neighbour? x > 2^53 and x <= 2^53 as a real are both true of the integer 2^53 + 1. */
static bool is_blurred(const struct value *v)
{
    const int64_t exact = (int64_t)1 << 53;

    return v->type == VALUE_INTEGER && (v->u.integer >= exact || v->u.integer <= -exact);
}

bool comparisons_agree(const struct dialect *dialect, const struct comparison *a, const struct comparison *b)
{
    bool a_lower = a->op == OP_GREATER || a->op == OP_GREATER_EQUAL,
         a_upper = a->op == OP_LESS || a->op == OP_LESS_EQUAL;
    bool b_lower = b->op == OP_GREATER || b->op == OP_GREATER_EQUAL,
         b_upper = b->op == OP_LESS || b->op == OP_LESS_EQUAL;

    if (is_blurred(&a->v) || is_blurred(&b->v))
        return true;
    if (a->op == OP_IS) /* what is compared is exactly this value */
        return holds(dialect, b->op, &a->v, &b->v);
    if (b->op == OP_IS)
        return holds(dialect, a->op, &b->v, &a->v);
    if (a->op == OP_ISNT || b->op == OP_ISNT) /* 1 == 1.0 and yet isnt */
        return true;
    if (a->op == OP_EQUAL)
        return holds(dialect, b->op, &a->v, &b->v);
    if (b->op == OP_EQUAL)
        return holds(dialect, a->op, &b->v, &a->v);
    if (a_lower && b_upper) {
        bool touch = a->op == OP_GREATER_EQUAL && b->op == OP_LESS_EQUAL;

        return holds(dialect, touch ? OP_LESS_EQUAL : OP_LESS, &a->v, &b->v);
    }
    if (a_upper && b_lower)
        return comparisons_agree(dialect, b, a);
    return true;
}
