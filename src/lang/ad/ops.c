/* ops.c: the operators of the language, on values.
 *
 * Strictness comes first (error, then undefined), then the types of the operands decide; a pair of types without a rule gives error. */
#include "lang/ad/ops.h"

#include "lang/text/timetext.h"

#include <math.h>

static inline int64_t wrap(uint64_t bits)
{
    return (int64_t)bits;
}

static void integer_op(enum op op, int64_t a, int64_t b, struct value *ret)
{
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

    switch (op) {
    case OP_ADD:
        *ret = value_integer(wrap(ua + ub));
        return;
    case OP_SUBTRACT:
        *ret = value_integer(wrap(ua - ub));
        return;
    case OP_MULTIPLY:
        *ret = value_integer(wrap(ua * ub));
        return;
    case OP_DIVIDE:
        if (b == 0)
            break;
        *ret = value_integer(b == -1 ? wrap(0 - ua) : a / b);
        return;
    case OP_REMAINDER:
        if (b == 0)
            break;
        *ret = value_integer(b == -1 ? 0 : a % b);
        return;
    case OP_BIT_OR:
        *ret = value_integer(wrap(ua | ub));
        return;
    case OP_BIT_XOR:
        *ret = value_integer(wrap(ua ^ ub));
        return;
    case OP_BIT_AND:
        *ret = value_integer(wrap(ua & ub));
        return;
    case OP_SHIFT_LEFT:
        *ret = value_integer(wrap(ua << (ub & 63)));
        return;
    case OP_SHIFT_RIGHT: /* the sign comes in from the left */
        *ret = value_integer(a < 0 ? wrap(~(~ua >> (ub & 63))) : wrap(ua >> (ub & 63)));
        return;
    case OP_SHIFT_RIGHT_ZERO:
        *ret = value_integer(wrap(ua >> (ub & 63)));
        return;
    default:
        break;
    }
    *ret = value_error();
}

static void real_op(const struct dialect *dialect, enum op op, double a, double b, struct value *ret)
{
    double result;

    switch (op) {
    case OP_ADD:
        result = a + b;
        break;
    case OP_SUBTRACT:
        result = a - b;
        break;
    case OP_MULTIPLY:
        result = a * b;
        break;
    case OP_DIVIDE:
        if (b == 0 && !dialect->infinite_reals) {
            *ret = value_error();
            return;
        }
        result = a / b;
        break;
    case OP_REMAINDER:
        if (b == 0 || dialect->infinite_reals) {
            *ret = value_error();
            return;
        }
        result = fmod(a, b);
        break;
    default:
        *ret = value_error();
        return;
    }
    if (dialect->infinite_reals && result == INFINITY)
        *ret = value_error();
    else
        *ret = value_real(result);
}

/* Applies a comparison operator to the sign of a three-way comparison. */
static bool order_is(enum op op, int order)
{
    switch (op) {
    case OP_EQUAL:
        return order == 0;
    case OP_NOT_EQUAL:
        return order != 0;
    case OP_LESS:
        return order < 0;
    case OP_LESS_EQUAL:
        return order <= 0;
    case OP_GREATER:
        return order > 0;
    default:
        return order >= 0;
    }
}

bool op_compare_reals(enum op op, double a, double b)
{
    switch (op) {
    case OP_EQUAL:
        return a == b;
    case OP_NOT_EQUAL:
        return a != b;
    case OP_LESS:
        return a < b;
    case OP_LESS_EQUAL:
        return a <= b;
    case OP_GREATER:
        return a > b;
    default:
        return a >= b;
    }
}

static inline int compare_integers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static inline unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

int op_compare_strings(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t len = a_len < b_len ? a_len : b_len;

    for (size_t i = 0; i < len; i++) {
        if (a[i] != b[i] && lower(a[i]) != lower(b[i]))
            return lower(a[i]) < lower(b[i]) ? -1 : 1;
    }
    return (a_len > b_len) - (a_len < b_len);
}

/* A number, or a boolean where booleans count; VALUE_ERROR for anything else. */
static struct value as_number(const struct dialect *dialect, const struct value *v)
{
    if (value_is_number(v))
        return *v;
    if (v->type == VALUE_BOOLEAN && dialect->booleans_count)
        return value_integer(v->boolean);
    return value_error();
}

static double as_real(const struct value *number)
{
    return number->type == VALUE_REAL ? number->u.real : (double)number->u.integer;
}

static void compare(const struct dialect *dialect, enum op op, const struct value *a, const struct value *b,
                    struct value *ret)
{
    struct value x, y;

    if (a->type == b->type) {
        switch ((enum value_type)a->type) {
        case VALUE_BOOLEAN:
            *ret = value_boolean(order_is(op, a->boolean - b->boolean));
            return;
        case VALUE_INTEGER:
        case VALUE_ABSTIME:
        case VALUE_RELTIME:
            *ret = value_boolean(order_is(op, compare_integers(a->u.integer, b->u.integer)));
            return;
        case VALUE_REAL:
            *ret = value_boolean(op_compare_reals(op, a->u.real, b->u.real));
            return;
        case VALUE_STRING:
            *ret = value_boolean(order_is(op, op_compare_strings(a->u.string, a->len, b->u.string, b->len)));
            return;
        default:
            *ret = value_error();
            return;
        }
    }
    x = as_number(dialect, a);
    y = as_number(dialect, b);
    if (x.type == VALUE_ERROR || y.type == VALUE_ERROR)
        *ret = value_error();
    else if (x.type == VALUE_INTEGER && y.type == VALUE_INTEGER)
        *ret = value_boolean(order_is(op, compare_integers(x.u.integer, y.u.integer)));
    else
        *ret = value_boolean(op_compare_reals(op, as_real(&x), as_real(&y)));
}

static struct value abstime_make(const struct dialect *dialect, uint64_t seconds, int zone)
{
    if (!time_absolute_valid(dialect, wrap(seconds)))
        return value_error();
    return value_abstime(wrap(seconds), zone);
}

/* An interval times or divided by a number, in whole seconds: the fraction is cut off. */
static void interval_scale(enum op op, int64_t seconds, const struct value *by, struct value *ret)
{
    double scaled;
    int64_t whole;

    if (by->type == VALUE_INTEGER) {
        integer_op(op, seconds, by->u.integer, ret);
        if (ret->type == VALUE_INTEGER)
            ret->type = VALUE_RELTIME;
        return;
    }
    if (op == OP_DIVIDE && by->u.real == 0) {
        *ret = value_error();
        return;
    }
    scaled = op == OP_MULTIPLY ? (double)seconds * by->u.real : (double)seconds / by->u.real;
    *ret = real_to_integer(scaled, &whole) ? value_reltime(whole) : value_error();
}

static void time_op(const struct dialect *dialect, enum op op, const struct value *a, const struct value *b,
                    struct value *ret)
{
    uint64_t ua = (uint64_t)a->u.integer, ub = (uint64_t)b->u.integer;
    struct value result = value_error();

    if (a->type == VALUE_ABSTIME && b->type == VALUE_ABSTIME) {
        if (op == OP_SUBTRACT)
            result = value_reltime(wrap(ua - ub));
    } else if (a->type == VALUE_ABSTIME && b->type == VALUE_RELTIME) {
        if (op == OP_ADD || op == OP_SUBTRACT)
            result = abstime_make(dialect, op == OP_ADD ? ua + ub : ua - ub, a->zone);
    } else if (a->type == VALUE_RELTIME && b->type == VALUE_ABSTIME) {
        if (op == OP_ADD)
            result = abstime_make(dialect, ua + ub, b->zone);
    } else if (a->type == VALUE_RELTIME && b->type == VALUE_RELTIME) {
        if (op == OP_ADD || op == OP_SUBTRACT)
            result = value_reltime(wrap(op == OP_ADD ? ua + ub : ua - ub));
    } else if (a->type == VALUE_RELTIME && value_is_number(b)) {
        if (op == OP_MULTIPLY || op == OP_DIVIDE)
            interval_scale(op, a->u.integer, b, &result);
    } else if (value_is_number(a) && b->type == VALUE_RELTIME) {
        if (op == OP_MULTIPLY)
            interval_scale(op, b->u.integer, a, &result);
    }
    *ret = result;
}

static bool is_time(const struct value *v)
{
    return v->type == VALUE_ABSTIME || v->type == VALUE_RELTIME;
}

static void arithmetic(const struct dialect *dialect, enum op op, const struct value *a, const struct value *b,
                       struct value *ret)
{
    struct value x, y;

    if (a->type == VALUE_INTEGER && b->type == VALUE_INTEGER) {
        integer_op(op, a->u.integer, b->u.integer, ret);
        return;
    }
    if (a->type == VALUE_REAL && b->type == VALUE_REAL) {
        real_op(dialect, op, a->u.real, b->u.real, ret);
        return;
    }
    if (is_time(a) || is_time(b)) {
        time_op(dialect, op, a, b, ret);
        return;
    }
    x = as_number(dialect, a);
    y = as_number(dialect, b);
    if (x.type == VALUE_ERROR || y.type == VALUE_ERROR)
        *ret = value_error();
    else if (x.type == VALUE_INTEGER && y.type == VALUE_INTEGER)
        integer_op(op, x.u.integer, y.u.integer, ret);
    else
        real_op(dialect, op, as_real(&x), as_real(&y), ret);
}

bool op_is(const struct dialect *dialect, const struct value *a, const struct value *b)
{
    struct value same;

    if (a->type != b->type)
        return false;
    switch ((enum value_type)a->type) {
    case VALUE_UNDEFINED:
    case VALUE_ERROR:
        return true;
    case VALUE_STRING:
        return a->len == b->len && (a->len == 0 || memcmp(a->u.string, b->u.string, a->len) == 0);
    case VALUE_LIST:
    case VALUE_AD:
        return false;
    default:
        compare(dialect, OP_EQUAL, a, b, &same);
        return same.boolean;
    }
}

enum value_type op_condition(const struct dialect *dialect, const struct value *v, bool *ret)
{
    switch ((enum value_type)v->type) {
    case VALUE_BOOLEAN:
        *ret = v->boolean;
        return VALUE_BOOLEAN;
    case VALUE_UNDEFINED:
        return VALUE_UNDEFINED;
    case VALUE_INTEGER:
        *ret = v->u.integer != 0;
        return dialect->booleans_count ? VALUE_BOOLEAN : VALUE_ERROR;
    case VALUE_REAL:
        *ret = v->u.real != 0;
        return dialect->booleans_count ? VALUE_BOOLEAN : VALUE_ERROR;
    default:
        return VALUE_ERROR;
    }
}

/* && and || of two known operands. `decides` is the operand that settles the value: false for &&, true for ||. */
static void logic(const struct dialect *dialect, bool decides, const struct value *a, const struct value *b,
                  struct value *ret)
{
    bool x = false, y = false;
    enum value_type tx = op_condition(dialect, a, &x), ty = op_condition(dialect, b, &y);

    if (tx == VALUE_ERROR)
        *ret = value_error();
    else if (dialect->logic_by_order && tx == VALUE_BOOLEAN && x == decides)
        *ret = value_boolean(decides);
    else if (ty == VALUE_ERROR)
        *ret = value_error();
    else if ((tx == VALUE_BOOLEAN && x == decides) || (ty == VALUE_BOOLEAN && y == decides))
        *ret = value_boolean(decides);
    else if (tx == VALUE_UNDEFINED || ty == VALUE_UNDEFINED)
        *ret = value_undefined();
    else
        *ret = value_boolean(!decides);
}

void op_binary(const struct dialect *dialect, enum op op, const struct value *a, const struct value *b,
               struct value *ret)
{
    switch (op) {
    case OP_AND:
    case OP_OR:
        logic(dialect, op == OP_OR, a, b, ret);
        return;
    case OP_IS:
    case OP_ISNT:
        if (a->type == b->type && a->type >= VALUE_LIST && dialect->is_refuses_aggregates)
            *ret = value_error();
        else
            *ret = value_boolean(op_is(dialect, a, b) == (op == OP_IS));
        return;
    default:
        break;
    }
    if (a->type == VALUE_ERROR || b->type == VALUE_ERROR) {
        *ret = value_error();
        return;
    }
    if (a->type == VALUE_UNDEFINED || b->type == VALUE_UNDEFINED) {
        *ret = value_undefined();
        return;
    }
    switch (op) {
    case OP_EQUAL:
    case OP_NOT_EQUAL:
    case OP_LESS:
    case OP_LESS_EQUAL:
    case OP_GREATER:
    case OP_GREATER_EQUAL:
        compare(dialect, op, a, b, ret);
        return;
    case OP_ADD:
    case OP_SUBTRACT:
    case OP_MULTIPLY:
    case OP_DIVIDE:
    case OP_REMAINDER:
        arithmetic(dialect, op, a, b, ret);
        return;
    default:
        if (a->type == VALUE_INTEGER && b->type == VALUE_INTEGER)
            integer_op(op, a->u.integer, b->u.integer, ret);
        else
            *ret = value_error();
        return;
    }
}

void op_prefix(const struct dialect *dialect, enum op op, const struct value *a, struct value *ret)
{
    bool truth;

    if (op == OP_NOT) {
        switch (op_condition(dialect, a, &truth)) {
        case VALUE_BOOLEAN:
            *ret = value_boolean(!truth);
            return;
        case VALUE_UNDEFINED:
            *ret = value_undefined();
            return;
        default:
            *ret = value_error();
            return;
        }
    }
    switch ((enum value_type)a->type) {
    case VALUE_UNDEFINED:
        *ret = value_undefined();
        return;
    case VALUE_INTEGER:
        if (op == OP_COMPLEMENT)
            *ret = value_integer(~a->u.integer);
        else
            *ret = op == OP_ADD ? *a : value_integer(wrap(0 - (uint64_t)a->u.integer));
        return;
    case VALUE_REAL:
        if (op != OP_COMPLEMENT) {
            *ret = op == OP_ADD ? *a : value_real(-a->u.real);
            return;
        }
        break;
    case VALUE_RELTIME:
        if (op != OP_COMPLEMENT) {
            *ret = op == OP_ADD ? *a : value_reltime(wrap(0 - (uint64_t)a->u.integer));
            return;
        }
        break;
    case VALUE_ABSTIME:
        if (op == OP_ADD) {
            *ret = *a;
            return;
        }
        break;
    default:
        break;
    }
    *ret = value_error();
}

enum op op_mirrored(enum op op)
{
    switch (op) {
    case OP_LESS:
        return OP_GREATER;
    case OP_LESS_EQUAL:
        return OP_GREATER_EQUAL;
    case OP_GREATER:
        return OP_LESS;
    case OP_GREATER_EQUAL:
        return OP_LESS_EQUAL;
    default:
        return op;
    }
}

enum op op_find(const char *text, size_t len)
{
    static const struct {
        const char *text;
        enum op op;
    } more[] = {{"=?=", OP_IS}, {"=!=", OP_ISNT}};

    for (int op = OP_OR; op < OP_COUNT; op++)
        if (strlen(op_table[op].text) == len && op_compare_strings(op_table[op].text, len, text, len) == 0)
            return (enum op)op;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (strlen(more[i].text) == len && memcmp(more[i].text, text, len) == 0)
            return more[i].op;
    return OP_NONE;
}
