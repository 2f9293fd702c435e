/* value.h: the value of an expression.
 *
 * A value is small and copied freely. It borrows: a string points into a tree or an arena, an aggregate is an expression of a
 * tree with the scope in which its parts are evaluated. A value lives as long as the trees and the arena of its evaluation. */
#ifndef BERTH_LANG_AD_VALUE_H
#define BERTH_LANG_AD_VALUE_H

#include "lang/base/arena.h"
#include "lang/base/buf.h"
#include "lang/text/build.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

struct scope;

/* The types, in the order of the literals in enum expr_kind. */
enum value_type {
    VALUE_UNDEFINED,
    VALUE_ERROR,
    VALUE_BOOLEAN,
    VALUE_INTEGER,
    VALUE_REAL,
    VALUE_STRING,
    VALUE_ABSTIME,
    VALUE_RELTIME,
    VALUE_LIST,
    VALUE_AD,
};

struct value {
    unsigned char type; /* enum value_type */
    bool boolean;
    int16_t zone; /* ABSTIME: minutes east of Greenwich */
    uint32_t len; /* STRING: bytes; LIST: elements */
    union {
        int64_t integer; /* INTEGER; ABSTIME: seconds since 1970; RELTIME: seconds */
        double real;
        const char *string; /* no NUL at its end */
        const struct expr *aggregate;
    } u;
    const struct scope *scope; /* LIST: where its elements are evaluated; AD: the ad's own scope */
};

static inline struct value value_undefined(void)
{
    struct value v = {VALUE_UNDEFINED, false, 0, 0, {0}, NULL};
    return v;
}

static inline struct value value_error(void)
{
    struct value v = {VALUE_ERROR, false, 0, 0, {0}, NULL};
    return v;
}

static inline struct value value_boolean(bool b)
{
    struct value v = {VALUE_BOOLEAN, b, 0, 0, {0}, NULL};
    return v;
}

static inline struct value value_integer(int64_t i)
{
    struct value v = {VALUE_INTEGER, false, 0, 0, {i}, NULL};
    return v;
}

/* There is one NaN, without a sign. Not NAN: to read math.h takes longer than to read all that most files have of their own. */
static inline struct value value_real(double r)
{
    struct value v = {VALUE_REAL, false, 0, 0, {0}, NULL};
    v.u.real = r == r ? r : __builtin_nan("");
    return v;
}

static inline struct value value_string(const char *text, size_t len)
{
    struct value v = {VALUE_STRING, false, 0, (uint32_t)len, {0}, NULL};
    v.u.string = text;
    return v;
}

static inline struct value value_abstime(int64_t seconds, int zone_minutes)
{
    struct value v = {VALUE_ABSTIME, false, (int16_t)zone_minutes, 0, {seconds}, NULL};
    return v;
}

static inline struct value value_reltime(int64_t seconds)
{
    struct value v = {VALUE_RELTIME, false, 0, 0, {seconds}, NULL};
    return v;
}

/* The whole part of a real; false when it does not fit into an integer, or is NaN. */
static inline bool real_to_integer(double real, int64_t *ret)
{
    const double limit = 9223372036854775808.0; /* 2^63 */

    if (!(real >= -limit && real < limit))
        return false;
    *ret = (int64_t)real;
    return true;
}

static inline bool value_is_number(const struct value *v)
{
    return v->type == VALUE_INTEGER || v->type == VALUE_REAL;
}

static inline bool value_is_true(const struct value *v)
{
    return v->type == VALUE_BOOLEAN && v->boolean;
}

const char *value_type_name(enum value_type type); /* "undefined", "string", ... */

/* Prints the value in the language's own syntax; aggregates as their unevaluated text. `style` as in print.h. */
void value_print(struct buf *out, const struct dialect *dialect, const struct value *v, int style);

/* The text that String() gives: a string as it is; any other value as it prints, except where the dialect differs. */
void value_to_text(struct buf *out, const struct dialect *dialect, const struct value *v);

/* Pushes a literal (or a copy of an aggregate's text) for the value. */
void value_build(struct build *build, const struct value *v);

/* Same type and same value; strings compare by their bytes, reals by their bits, aggregates by their text. For tests and keys: the
 * language's own comparisons are in ops.h. */
bool value_equal(const struct value *a, const struct value *b);

#ifdef __cplusplus
}
#endif
#endif
