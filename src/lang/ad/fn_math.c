/* fn_math.c: functions of numbers (appendix A.10, and HTCondor's). */
#include "lang/ad/fn.h"
#include "lang/base/rng.h"

#include <math.h>

static void round_number(struct call *call, double (*how)(double), struct value *ret)
{
    const struct value *v = &call->arguments[0];
    int64_t integer;

    if (v->type == VALUE_INTEGER)
        *ret = *v;
    else if (v->type == VALUE_REAL && real_to_integer(how(v->u.real), &integer))
        *ret = value_integer(integer);
    else
        *ret = value_error();
}

/* HTCondor converts any value to a real first, and past the range gives the smallest integer. */
static void round_any(struct call *call, double (*how)(double), struct value *ret)
{
    double real;

    if (call->arguments[0].type == VALUE_INTEGER)
        *ret = call->arguments[0];
    else if (value_to_real(&call->arguments[0], &real))
        *ret = value_integer(real_to_any_integer(how(real)));
    else
        *ret = value_error();
}

void fn_floor(struct call *call, struct value *ret)
{
    round_number(call, floor, ret);
}

void fn_ceil(struct call *call, struct value *ret)
{
    round_number(call, ceil, ret);
}

void fn_round(struct call *call, struct value *ret)
{
    round_number(call, round, ret);
}

void fn_floor_condor(struct call *call, struct value *ret)
{
    round_any(call, floor, ret);
}

void fn_ceil_condor(struct call *call, struct value *ret)
{
    round_any(call, ceil, ret);
}

void fn_round_condor(struct call *call, struct value *ret)
{
    round_any(call, nearbyint, ret); /* rounds a half to the even neighbour */
}

/* base^exponent for an exponent that is not negative; false when the result does not fit. */
static bool power(int64_t base, int64_t exponent, int64_t *ret)
{
    int64_t result = 1;

    for (; exponent; exponent >>= 1) {
        if ((exponent & 1) && __builtin_mul_overflow(result, base, &result))
            return false;
        if (exponent > 1 && __builtin_mul_overflow(base, base, &base))
            return false;
    }
    *ret = result;
    return true;
}

/* Reads a number, or a value that may count as one. */
static bool read_real(struct call *call, const struct value *v, double *ret)
{
    if (!value_is_number(v) && !call->dialect->booleans_count)
        return false;
    return value_to_real(v, ret);
}

void fn_pow(struct call *call, struct value *ret)
{
    const struct value *base = &call->arguments[0], *exponent = &call->arguments[1];
    double x, y;
    int64_t integer;

    if (base->type == VALUE_INTEGER && exponent->type == VALUE_INTEGER && exponent->u.integer >= 0)
        *ret = power(base->u.integer, exponent->u.integer, &integer) ? value_integer(integer) : value_error();
    else if (read_real(call, base, &x) && read_real(call, exponent, &y))
        *ret = isfinite(pow(x, y)) || !isfinite(x) || !isfinite(y) ? value_real(pow(x, y)) : value_error();
    else
        *ret = value_error();
}

/* The least multiple of `base` (not 0) that is not below n. */
static bool multiple_of(int64_t n, int64_t base, int64_t *ret)
{
    int64_t rest = base == -1 ? 0 : n % base; /* has the sign of n */

    if (rest == 0) {
        *ret = n;
        return true;
    }
    if (rest < 0)
        return !__builtin_sub_overflow(n, rest, ret);
    return !__builtin_sub_overflow(n, rest, &n) &&
           !(base < 0 ? __builtin_sub_overflow(n, base, ret) : __builtin_add_overflow(n, base, ret));
}

static void quantize_by(struct call *call, const struct value *n, const struct value *base, struct value *ret)
{
    double real_n, real_base;
    int64_t integer;

    if (!read_real(call, n, &real_n) || !read_real(call, base, &real_base))
        *ret = value_error();
    else if (real_base == 0)
        *ret = *n;
    else if (n->type == VALUE_INTEGER && base->type == VALUE_INTEGER)
        *ret = multiple_of(n->u.integer, base->u.integer, &integer) ? value_integer(integer) : value_error();
    else
        *ret = value_real(ceil(real_n / fabs(real_base)) * fabs(real_base));
}

void fn_quantize(struct call *call, struct value *ret)
{
    const struct value *n = &call->arguments[0], *list = &call->arguments[1];
    struct value last = value_integer(0);
    double real_n, real;

    if (list->type != VALUE_LIST) {
        quantize_by(call, n, list, ret);
        return;
    }
    *ret = value_error();
    if (!read_real(call, n, &real_n))
        return;
    for (uint32_t i = 0; i < list->len && !call->eval->exhausted; i++) {
        eval_element(call->eval, list, i, &last);
        if (!read_real(call, &last, &real))
            return;
        if (real >= real_n) {
            *ret = last;
            return;
        }
    }
    quantize_by(call, n, &last, ret);
}

/* A random word that depends on the seed and on the place of the call in its tree. */
static uint64_t random_word(const struct call *call)
{
    uint64_t place = (uint64_t)(call->e - call->scope->tree->cells);

    return rng_mix(call->eval->env->seed ^ rng_mix(place));
}

void fn_random(struct call *call, struct value *ret)
{
    struct value one = value_real(1);
    const struct value *below = call->count ? &call->arguments[0] : &one;
    uint64_t word = random_word(call);

    if (below->type == VALUE_INTEGER && below->u.integer > 0)
        *ret = value_integer((int64_t)(word % (uint64_t)below->u.integer));
    else if (below->type == VALUE_REAL && below->u.real > 0 && isfinite(below->u.real))
        *ret = value_real(below->u.real * rng_unit(word));
    else
        *ret = value_error();
}

void fn_log(struct call *call, struct value *ret)
{
    const struct value *v = &call->arguments[0];

    *ret = value_is_number(v) && number_of(v) > 0 ? value_real(log(number_of(v))) : value_error();
}
