/* number.c: numbers as text, exactly, in no locale. */
#define _GNU_SOURCE /* strtod_l, newlocale */
#include "lang/base/number.h"

#include "lang/base/mem.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_POWERS 22 /* 10^22 is the largest power of ten that a double holds exactly */

static const double power_of_ten[EXACT_POWERS + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static unsigned digits_of(uint64_t value)
{
    unsigned count = 1;

    for (; value >= 10000; value /= 10000)
        count += 4;
    return count + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Writes two digits at a time, from the right. */
static size_t print_unsigned(uint64_t value, char *out)
{
    static const char pairs[] =
        "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243"
        "4445464748495051525354555657585960616263646566676869707172737475767778798081828384858687"
        "888990919293949596979899";
    unsigned count = digits_of(value);
    char *at = out + count;

    for (; value >= 100; value /= 100) {
        at -= 2;
        memcpy(at, &pairs[value % 100 * 2], 2);
    }
    if (value >= 10)
        memcpy(out, &pairs[value * 2], 2);
    else
        *out = (char)('0' + value);
    return count;
}

size_t number_print_integer(int64_t value, char *out)
{
    if (value >= 0)
        return print_unsigned((uint64_t)value, out);
    *out = '-';
    return 1 + print_unsigned(0 - (uint64_t)value, out + 1);
}

/* Finds value = mantissa / 10^places with both exact and as few places as can be: then the decimal text of that quotient reads back as the value. */
static bool few_digits(double value, uint64_t *ret_mantissa, int *ret_places)
{
    double whole;

    if (value >= 0x1p53)
        return false;
    for (int places = 0; places <= 9; places++) {
        double scaled = value * power_of_ten[places];

        if (places && scaled >= 0x1p51) /* the product may be further than half from what it would be exactly */
            return false;
        whole = (double)(uint64_t)(scaled + (places ? 0.5 : 0));
        if (whole / power_of_ten[places] == value) {
            *ret_mantissa = (uint64_t)whole;
            *ret_places = places;
            return true;
        }
    }
    return false;
}

/* "%.*e" with a point, whatever the locale of the program is. */
static size_t print_exponent(double value, int digits, bool upper, char *out)
{
    char text[64];
    int len = snprintf(text, sizeof text, upper ? "%.*E" : "%.*e", digits - 1, value);
    size_t used = 0;

    for (int i = 0; i < len; i++) {
        bool plain = (text[i] >= '0' && text[i] <= '9') || text[i] == '-' || text[i] == '+' || (text[i] | 0x20) == 'e';

        if (plain)
            out[used++] = text[i];
        else if (used && out[used - 1] != '.')
            out[used++] = '.';
    }
    return used;
}

/* Writes d.ddd times 10^exponent, without trailing zeros: in plain form where that is short, else with the exponent. */
static size_t lay_out(const char *digits, int count, int exponent, char *out)
{
    char *at = out;

    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (exponent < -5 || exponent > 16) {
        *at++ = digits[0];
        *at++ = '.';
        memcpy(at, count > 1 ? digits + 1 : "0", count > 1 ? (size_t)count - 1 : 1);
        at += count > 1 ? count - 1 : 1;
        at += sprintf(at, "e%+03d", exponent);
        return (size_t)(at - out);
    }
    if (exponent < 0) {
        *at++ = '0';
        *at++ = '.';
        for (int i = -1; i > exponent; i--)
            *at++ = '0';
        memcpy(at, digits, (size_t)count);
        return (size_t)(at + count - out);
    }
    for (int i = 0; i <= exponent || i < count; i++) {
        *at++ = i < count ? digits[i] : '0';
        if (i == exponent)
            *at++ = '.';
    }
    if (at[-1] == '.')
        *at++ = '0';
    return (size_t)(at - out);
}

/* The shortest text that reads back as the value. It has at most 17 digits. The search begins at 15: where fewer are enough, the rest are zeros at
 * the end. Only numbers so small that they have fewer bits begin at 1. */
static size_t print_many_digits(double value, char *out)
{
    char text[64], digits[32];
    int count = 0, exponent = 0;

    for (int wanted = value < DBL_MIN ? 1 : DBL_DIG; wanted <= DBL_DECIMAL_DIG; wanted++) {
        size_t len = print_exponent(value, wanted, false, text);
        double back;

        number_parse_real(text, len, &back);
        if (back != value && wanted < DBL_DECIMAL_DIG)
            continue;
        for (size_t i = 0; i < len && text[i] != 'e'; i++)
            if (text[i] != '.')
                digits[count++] = text[i];
        text[len] = 0;
        exponent = atoi((char *)memchr(text, 'e', len) + 1);
        break;
    }
    return lay_out(digits, count, exponent, out);
}

size_t number_print_real(double value, char *out)
{
    char *at = out;
    uint64_t mantissa;
    int places;

    if (signbit(value)) {
        *at++ = '-';
        value = -value;
    }
    if (!few_digits(value, &mantissa, &places))
        return (size_t)(at - out) + print_many_digits(value, at);
    if (places == 0) {
        at += print_unsigned(mantissa, at);
        *at++ = '.';
        *at++ = '0';
        return (size_t)(at - out);
    }
    {
        uint64_t unit = (uint64_t)power_of_ten[places], part = mantissa % unit;

        at += print_unsigned(mantissa / unit, at);
        *at++ = '.';
        for (int i = places - 1; i >= 0; i--) {
            at[i] = (char)('0' + part % 10);
            part /= 10;
        }
        at += places;
    }
    return (size_t)(at - out);
}

size_t number_print_e15(double value, char *out)
{
    return print_exponent(value, 16, true, out);
}

/* The slow way: the C library reads the number, in the C locale. */
static double make_slowly(const char *digits, size_t len, int exponent)
{
    char *text = mem_alloc(len + 16), *end;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value;

    memcpy(text, digits, len);
    snprintf(text + len, 16, "e%d", exponent);
    value = plain ? strtod_l(text, &end, plain) : strtod(text, &end);
    if (plain)
        freelocale(plain);
    free(text);
    return value;
}

/* A mantissa and a power of ten that are both exact give the nearest double by one operation. */
static bool make_quickly(uint64_t mantissa, int exponent, double *ret)
{
    if (mantissa >= (1ull << 53) || exponent > EXACT_POWERS || exponent < -EXACT_POWERS)
        return false;
    *ret = exponent < 0 ? (double)mantissa / power_of_ten[-exponent] : (double)mantissa * power_of_ten[exponent];
    return true;
}

/* Reads a number the slow way: its digits without the point, and the exponent. */
static double make_from_text(const char *text, size_t len, size_t point, int exponent)
{
    char few[64], *digits = len <= sizeof few ? few : mem_alloc(len);
    size_t used = 0;
    double value;

    for (size_t i = 0; i < len; i++)
        if (i != point)
            digits[used++] = text[i];
    value = make_slowly(digits, used, exponent);
    if (digits != few)
        free(digits);
    return value;
}

size_t number_parse_real(const char *text, size_t len, double *ret_value)
{
    uint64_t mantissa = 0;
    size_t at = 0, point, digits_end;
    int exponent = 0;

#define IS_DIGIT(i) ((i) < len && text[i] >= '0' && text[i] <= '9')
    for (; IS_DIGIT(at); at++)
        mantissa = mantissa * 10 + (uint64_t)(text[at] - '0');
    if (at == 0)
        return 0;
    point = len;
    if (at + 1 < len && text[at] == '.' && IS_DIGIT(at + 1)) {
        point = at++;
        for (; IS_DIGIT(at); at++)
            mantissa = mantissa * 10 + (uint64_t)(text[at] - '0');
        exponent = -(int)(at - point - 1);
    }
    digits_end = at;
    if (at < len && (text[at] | 0x20) == 'e') {
        size_t from = at + 1;
        bool minus = false;

        if (from < len && (text[from] == '+' || text[from] == '-'))
            minus = text[from++] == '-';
        if (IS_DIGIT(from)) {
            int given = 0;

            for (; IS_DIGIT(from); from++)
                given = given < 100000 ? given * 10 + (text[from] - '0') : given;
            exponent += minus ? -given : given;
            at = from;
        }
    }
#undef IS_DIGIT
    if (digits_end <= 19 && make_quickly(mantissa, exponent, ret_value))
        return at;
    *ret_value = make_from_text(text, digits_end, point, exponent);
    return at;
}
