/* units.c: the table of units, and numbers in them.
 *
 * The digits of a value times the factor of its unit are exact in 128 bits. The product is rounded once, with its power of ten: by a division or
 * product of doubles where both are exact, else by the reader of decimal text, which rounds correctly. So two ways to write one quantity give one
 * double. */
#include "match/grdl/units.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/number.h"
#include "lang/base/textmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 19      /* fit in 64 bits */
#define EXACT_TENS 22      /* powers of ten up to this one are doubles */
#define EXPONENT_MAX 10000 /* past it a decimal is nothing or infinite anyway */

struct grdl_units {
    struct textmap names; /* the place is the row */
    struct grdl_unit *rows;
    uint32_t count, room;
};

static const struct {
    const char *category;
    const char *name;
    const char *factor;
} built_in[] = {
    {"time", "fs", "1e-15"},        {"time", "ps", "1e-12"},
    {"time", "ns", "1e-9"},         {"time", "us", "1e-6"},
    {"time", "ms", "1e-3"},         {"time", "s", "1"},
    {"time", "sec", "1"},           {"time", "second", "1"},
    {"time", "min", "60"},          {"time", "minute", "60"},
    {"time", "h", "60*60"},         {"time", "hr", "60*60"},
    {"time", "hour", "60*60"},      {"time", "d", "60*60*24"},
    {"time", "day", "60*60*24"},    {"time", "w", "60*60*24*7"},
    {"time", "wk", "60*60*24*7"},   {"time", "week", "60*60*24*7"},
    {"time", "mon", "60*60*24*30"}, {"time", "month", "60*60*24*30"},
    {"time", "yr", "60*60*24*365"}, {"time", "year", "60*60*24*365"},
    {"binary", "B", "1"},           {"binary", "KB", "2**10"},
    {"binary", "MB", "2**20"},      {"binary", "GB", "2**30"},
    {"binary", "TB", "2**40"},      {"binary", "PB", "2**50"},
    {"frequency", "Hz", "1"},       {"frequency", "KHz", "1e3"},
    {"frequency", "MHz", "1e6"},    {"frequency", "GHz", "1e9"},
    {"frequency", "THz", "1e12"},   {"transfer", "Kb/s", "1e3"},
    {"transfer", "Mb/s", "1e6"},    {"transfer", "Gb/s", "1e9"},
    {"transfer", "Tb/s", "1e12"},   {"transfer", "Pb/s", "1e15"},
    {"metric", "f", "1e-15"},       {"metric", "p", "1e-12"},
    {"metric", "n", "1e-9"},        {"metric", "u", "1e-6"},
    {"metric", "m", "1e-3"},        {"metric", "base", "1"},
    {"metric", "K", "1e3"},         {"metric", "M", "1e6"},
    {"metric", "G", "1e9"},         {"metric", "T", "1e12"},
    {"metric", "P", "1e15"},
};

/* Reads an unsigned decimal at the start of a text as digits * 10^exponent, without zeros at its end; returns the bytes that it took, 0 when there
 * is none. Digits behind the 19th are cut off. */
static size_t decimal_take(const char *text, size_t len, uint64_t *ret_digits, int *ret_exponent)
{
    uint64_t digits = 0;
    int count = 0, exponent = 0, sign = 1, written = 0;
    bool point = false, any = false;
    size_t i = 0, mark;

    for (; i < len; i++) {
        if (text[i] == '.' && !point && any && i + 1 < len && text[i + 1] >= '0' && text[i + 1] <= '9') {
            point = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9')
            break;
        any = true;
        if (count < DIGITS_MAX) {
            digits = digits * 10 + (uint64_t)(text[i] - '0');
            count += digits != 0;
            exponent -= point;
        } else {
            exponent += !point;
        }
    }
    if (!any)
        return 0;
    mark = i;
    if (i < len && (text[i] == 'e' || text[i] == 'E')) {
        i++;
        if (i < len && (text[i] == '+' || text[i] == '-'))
            sign = text[i++] == '-' ? -1 : 1;
        if (i == len || text[i] < '0' || text[i] > '9')
            i = mark; /* the letter belongs to something else */
        for (; i > mark && i < len && text[i] >= '0' && text[i] <= '9'; i++)
            written = written < EXPONENT_MAX ? written * 10 + (text[i] - '0') : written;
    }
    exponent += sign * written;
    while (digits && digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    *ret_digits = digits;
    *ret_exponent = digits ? exponent : 0;
    return i;
}

/* digits * 10^exponent, as the nearest double; infinite when it is too large. */
static double decimal_value(unsigned __int128 digits, int exponent)
{
    static const double tens[EXACT_TENS + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    char text[64];
    size_t len = 0, at = sizeof text;
    double value = 0;

    if (!digits)
        return 0;
    if (digits < (unsigned __int128)1 << 53 && exponent <= EXACT_TENS && exponent >= -EXACT_TENS)
        return exponent < 0 ? (double)digits / tens[-exponent] : (double)digits * tens[exponent]; /* one rounding */
    if (exponent > 400)
        return INFINITY;
    if (exponent < -500)
        return 0;
    text[--at] = '\0';
    for (unsigned n = (unsigned)abs(exponent); n; n /= 10)
        text[--at] = (char)('0' + n % 10);
    if (exponent) {
        text[--at] = exponent < 0 ? '-' : '+';
        text[--at] = 'e';
    }
    for (; digits; digits /= 10)
        text[--at] = (char)('0' + (int)(digits % 10));
    len = sizeof text - 1 - at;
    if (number_parse_real(text + at, len, &value) != len)
        return INFINITY;
    return value;
}

bool grdl_number_read(const char *text, size_t len, uint64_t factor, int exponent, double *ret_value)
{
    bool negative = len && text[0] == '-';
    size_t at = len && (text[0] == '-' || text[0] == '+');
    uint64_t digits;
    int places;
    double value;

    if (len == at || decimal_take(text + at, len - at, &digits, &places) != len - at)
        return false;
    value = decimal_value((unsigned __int128)digits * factor, places + exponent);
    if (!isfinite(value))
        return false;
    *ret_value = negative && value != 0 ? -value : value;
    return true;
}

/* Reads one term of a factor: a decimal, or a decimal to the power of an integer. */
static size_t term_take(const char *text, size_t len, uint64_t *ret_factor, int *ret_exponent)
{
    uint64_t base, power, factor = 1;
    int exponent, power_exponent;
    size_t used = decimal_take(text, len, &base, &exponent), more;

    if (!used || !base || len - used < 3 || text[used] != '*' || text[used + 1] != '*') {
        *ret_factor = used ? base : 0;
        *ret_exponent = used ? exponent : 0;
        return used;
    }
    more = decimal_take(text + used + 2, len - used - 2, &power, &power_exponent);
    if (!more || power_exponent < 0 || power_exponent > 3)
        return 0;
    for (; power_exponent; power_exponent--)
        power *= 10;
    if (power > 1000)
        return 0;
    for (uint64_t i = 0; i < power; i++)
        if (__builtin_mul_overflow(factor, base, &factor))
            return 0;
    *ret_factor = factor;
    *ret_exponent = exponent * (int)power;
    return used + 2 + more;
}

static bool factor_read(const char *text, uint64_t *ret_factor, int *ret_exponent)
{
    uint64_t factor = 1, term;
    int exponent = 0, term_exponent;
    size_t len = strlen(text), used;

    for (;; text++, len--) {
        used = term_take(text, len, &term, &term_exponent);
        if (!used || !term || __builtin_mul_overflow(factor, term, &factor))
            return false;
        exponent += term_exponent;
        if (exponent > 300 || exponent < -300)
            return false;
        text += used;
        len -= used;
        if (!len)
            break;
        if (*text != '*')
            return false;
    }
    for (; factor % 10 == 0; factor /= 10)
        exponent++;
    *ret_factor = factor;
    *ret_exponent = exponent;
    return true;
}

struct grdl_units *grdl_units_new(void)
{
    struct grdl_units *units = mem_alloc(sizeof *units);

    *units = (struct grdl_units){0};
    textmap_init(&units->names, 0);
    for (size_t i = 0; i < sizeof built_in / sizeof *built_in; i++)
        grdl_units_add(units, built_in[i].name, built_in[i].category, built_in[i].factor, NULL);
    return units;
}

void grdl_units_free(struct grdl_units *units)
{
    if (!units)
        return;
    for (uint32_t i = 0; i < units->count; i++) {
        free((char *)units->rows[i].name);
        free((char *)units->rows[i].category);
    }
    free(units->rows);
    textmap_done(&units->names);
    free(units);
}

const struct grdl_unit *grdl_units_find(const struct grdl_units *units, const char *name, size_t len)
{
    uint32_t row = textmap_find(&units->names, name, len);

    return row == TEXTMAP_NONE ? NULL : &units->rows[row];
}

int grdl_units_add(struct grdl_units *units, const char *name, const char *category, const char *factor,
                   struct err *err)
{
    const struct grdl_unit *there = grdl_units_find(units, name, strlen(name));
    struct grdl_unit row;

    if (!*name || !*category)
        return err_set(err, "a unit needs a name and a category");
    if (!factor_read(factor, &row.factor, &row.exponent))
        return err_set(err, "the factor of %s is not a product of numbers above 0, or does not fit: %s", name, factor);
    if (there) {
        if (strcmp(there->category, category) || there->factor != row.factor || there->exponent != row.exponent)
            return err_set(err, "the unit %s is there already and means something else", name);
        return 0;
    }
    if (units->count >= GRDL_UNITS_MAX)
        return err_set(err, "there are more than %d units", GRDL_UNITS_MAX);
    ARRAY_ROOM(units->rows, units->count, units->room, 64);
    row.name = mem_dup(name, strlen(name));
    row.category = mem_dup(category, strlen(category));
    textmap_add(&units->names, name, strlen(name));
    units->rows[units->count++] = row;
    return 0;
}

uint32_t grdl_units_count(const struct grdl_units *units)
{
    return units->count;
}

const struct grdl_unit *grdl_units_row(const struct grdl_units *units, uint32_t row)
{
    return row < units->count ? &units->rows[row] : NULL;
}
