/* fn_versions.c: compares versions of programs, "8.9.11", as people do. */
#include "lang/ad/fn.h"

static char at(struct fn_text text, size_t i)
{
    return i < text.len ? text.at[i] : 0;
}

static size_t skip_zeros(struct fn_text text, size_t i)
{
    size_t start = i;

    while (at(text, i) == '0')
        i++;
    return i > start && !ascii_digit(at(text, i)) ? i - 1 : i; /* the last zero of a number is its value */
}

static size_t skip_digits(struct fn_text text, size_t i)
{
    while (ascii_digit(at(text, i)))
        i++;
    return i;
}

/* Compares by byte; but where the texts first differ inside numbers, more leading zeros come first, then the smaller number. */
static int64_t version_compare(struct fn_text a, struct fn_text b)
{
    size_t differ = 0, start, zeros_a, zeros_b, end_a, end_b;
    int64_t by_byte;

    while (differ < a.len && differ < b.len && a.at[differ] == b.at[differ])
        differ++;
    by_byte = (unsigned char)at(a, differ) - (unsigned char)at(b, differ);
    for (start = differ; start > 0 && ascii_digit(a.at[start - 1]);)
        start--;
    if (by_byte == 0 || (start == differ && !(ascii_digit(at(a, differ)) && ascii_digit(at(b, differ)))))
        return by_byte;
    zeros_a = skip_zeros(a, start);
    zeros_b = skip_zeros(b, start);
    if (zeros_a != zeros_b)
        return (int64_t)zeros_b - (int64_t)zeros_a;
    if (zeros_a > start)
        return by_byte;
    end_a = skip_digits(a, start);
    end_b = skip_digits(b, start);
    return end_a != end_b ? (int64_t)end_a - (int64_t)end_b : by_byte;
}

/* Compares the two arguments; false, and error, when they are not strings. */
static bool compare(struct call *call, int64_t *ret_order, struct value *ret)
{
    struct fn_text text[2];

    *ret = value_error();
    if (!call_get_texts(call, 0, text) || !eval_steps(call->eval, text[0].len / 16))
        return false;
    *ret_order = version_compare(text[0], text[1]);
    return true;
}

void fn_versioncmp(struct call *call, struct value *ret)
{
    int64_t order;

    if (compare(call, &order, ret))
        *ret = value_integer(order);
}

#define TEST(fn, relation)                          \
    void fn(struct call *call, struct value *ret)   \
    {                                               \
        int64_t order;                              \
                                                    \
        if (compare(call, &order, ret))             \
            *ret = value_boolean(order relation 0); \
    }

TEST(fn_version_gt, >)
TEST(fn_version_ge, >=)
TEST(fn_version_lt, <)
TEST(fn_version_le, <=)
TEST(fn_version_eq, ==)

void fn_version_in_range(struct call *call, struct value *ret)
{
    struct fn_text text[3];

    if (call_get_texts(call, 0, text) && eval_steps(call->eval, text[0].len / 8))
        *ret = value_boolean(version_compare(text[1], text[0]) <= 0 && version_compare(text[0], text[2]) <= 0);
    else
        *ret = value_error();
}
