/* fn_types.c: tests for the type of a value (appendix A.1), and conversions from one type to another (A.9). */
#include "lang/ad/fn.h"
#include "lang/text/lex.h"
#include "lang/text/timetext.h"

#include <math.h>

#define IS(fn, kind)                                             \
    void fn(struct call *call, struct value *ret)                \
    {                                                            \
        *ret = value_boolean(call->arguments[0].type == (kind)); \
    }

IS(fn_is_undefined, VALUE_UNDEFINED)
IS(fn_is_error, VALUE_ERROR)
IS(fn_is_boolean, VALUE_BOOLEAN)
IS(fn_is_integer, VALUE_INTEGER)
IS(fn_is_real, VALUE_REAL)
IS(fn_is_string, VALUE_STRING)
IS(fn_is_abstime, VALUE_ABSTIME)
IS(fn_is_reltime, VALUE_RELTIME)
IS(fn_is_list, VALUE_LIST)
IS(fn_is_ad, VALUE_AD)

void fn_is_number(struct call *call, struct value *ret)
{
    *ret = value_boolean(value_is_number(&call->arguments[0]));
}

/* Reads the literal of a number, without a sign. */
static bool lex_number(const struct dialect *dialect, struct fn_text text, struct value *ret)
{
    struct lexer lexer;
    struct buf copy; /* padded with NULs, as the lexer wants */
    bool whole;

    if (!text.len || !ascii_digit(text.at[0]))
        return false;
    buf_init(&copy);
    buf_add(&copy, text.at, text.len);
    lex_init(&lexer, dialect, buf_string(&copy), text.len, NULL);
    lex_next(&lexer);
    whole = lexer.token.end == lexer.end;
    buf_done(&copy);
    if (whole && lexer.token.kind == TOKEN_INTEGER)
        *ret = value_integer(lexer.token.u.integer);
    else if (whole && lexer.token.kind == TOKEN_REAL)
        *ret = value_real(lexer.token.u.real);
    else
        return false;
    return true;
}

/* The same with a sign and blanks around it, and also the numbers that have no literal. */
static bool read_literal(const struct dialect *dialect, struct fn_text text, struct value *ret)
{
    bool minus;

    text = text_trim(text);
    if (text_same(text, (struct fn_text){"-9223372036854775808", 20})) {
        *ret = value_integer(INT64_MIN);
        return true;
    }
    minus = text.len && text.at[0] == '-';
    if (minus || (text.len && text.at[0] == '+'))
        text = (struct fn_text){text.at + 1, text.len - 1};
    if (text_is_word(text, "inf"))
        *ret = value_real(INFINITY);
    else if (text_is_word(text, "nan"))
        *ret = value_real(NAN);
    else if (!lex_number(dialect, text, ret))
        return false;
    if (minus && ret->type == VALUE_INTEGER)
        ret->u.integer = -ret->u.integer;
    else if (minus)
        ret->u.real = -ret->u.real;
    return true;
}

/* The number that a scalar stands for, integer or real. */
static bool read_number(struct call *call, const struct value *v, struct value *ret)
{
    struct fn_text text;

    switch ((enum value_type)v->type) {
    case VALUE_INTEGER:
    case VALUE_REAL:
        *ret = *v;
        return true;
    case VALUE_BOOLEAN:
        *ret = value_integer(v->boolean);
        return true;
    case VALUE_ABSTIME:
    case VALUE_RELTIME:
        *ret = value_integer(v->u.integer);
        return true;
    case VALUE_STRING:
        value_get_text(v, &text);
        return eval_steps(call->eval, text.len / 16) && read_literal(call->dialect, text, ret);
    default:
        return false;
    }
}

void fn_int(struct call *call, struct value *ret)
{
    int64_t integer;

    if (!read_number(call, &call->arguments[0], ret))
        *ret = value_error();
    else if (ret->type == VALUE_REAL)
        *ret = real_to_integer(ret->u.real, &integer) ? value_integer(integer) : value_error();
}

void fn_real(struct call *call, struct value *ret)
{
    if (!read_number(call, &call->arguments[0], ret))
        *ret = value_error();
    else
        *ret = value_real(number_of(ret));
}

/* HTCondor turns "2.5K" into 2048: it truncates before it scales. */
static bool text_to_integer(struct fn_text text, int64_t *ret)
{
    double real;
    size_t taken = text_to_real(text, &real);

    if (taken)
        *ret = real_to_any_integer(trunc(real) * text_scale(text, taken));
    return taken > 0;
}

void fn_int_condor(struct call *call, struct value *ret)
{
    const struct value *v = &call->arguments[0];
    struct fn_text text;
    int64_t integer;

    if (value_get_text(v, &text))
        *ret = eval_steps(call->eval, text.len / 16) && text_to_integer(text, &integer) ? value_integer(integer)
                                                                                        : value_error();
    else if (v->type == VALUE_REAL)
        *ret = value_integer(real_to_any_integer(v->u.real));
    else
        fn_int(call, ret);
}

void fn_real_condor(struct call *call, struct value *ret)
{
    double real;

    if (eval_steps(call->eval, call->arguments[0].len / 16) && value_to_real(&call->arguments[0], &real))
        *ret = value_real(real);
    else
        *ret = value_error();
}

void fn_string(struct call *call, struct value *ret)
{
    struct buf text;

    if (call->arguments[0].type == VALUE_STRING) {
        *ret = call->arguments[0];
        return;
    }
    buf_init(&text);
    call_add_text(call, &text, &call->arguments[0]);
    call_return_buf(call, &text, ret);
}

void fn_bool(struct call *call, struct value *ret)
{
    const struct value *v = &call->arguments[0];

    switch ((enum value_type)v->type) {
    case VALUE_BOOLEAN:
        *ret = *v;
        break;
    case VALUE_INTEGER:
    case VALUE_ABSTIME:
    case VALUE_RELTIME:
        *ret = value_boolean(v->u.integer != 0);
        break;
    case VALUE_REAL:
        *ret = value_boolean(v->u.real != 0);
        break;
    case VALUE_STRING:
        *ret = value_boolean(v->len != 0);
        break;
    default:
        *ret = value_error();
    }
}

void fn_bool_condor(struct call *call, struct value *ret)
{
    struct fn_text text;

    if (value_get_text(&call->arguments[0], &text))
        *ret = text_is_word(text, "true")    ? value_boolean(true)
               : text_is_word(text, "false") ? value_boolean(false)
                                             : value_undefined();
    else if (call->arguments[0].type == VALUE_ABSTIME)
        *ret = value_error();
    else
        fn_bool(call, ret);
}

static void return_abstime(struct call *call, int64_t seconds, int zone, struct value *ret)
{
    *ret = time_absolute_valid(call->dialect, seconds) ? value_abstime(seconds, zone) : value_error();
}

/* Reads seconds since 1970 from a number or a text. The zone is the text's own; without one, `zone` stays as it was. */
static bool read_abstime(struct call *call, const struct value *v, int64_t *ret_seconds, int *zone)
{
    struct fn_text text;

    switch ((enum value_type)v->type) {
    case VALUE_INTEGER:
        *ret_seconds = v->u.integer;
        return true;
    case VALUE_REAL:
        return real_to_integer(v->u.real, ret_seconds);
    case VALUE_STRING:
        text = text_trim((struct fn_text){v->u.string, v->len});
        return eval_steps(call->eval, v->len / 16) &&
               time_parse_absolute(call->dialect, text.at, text.len, *zone, ret_seconds, zone);
    default:
        return false;
    }
}

void fn_abs_time(struct call *call, struct value *ret)
{
    const struct value *v = &call->arguments[0];
    int zone = call_zone(call);
    int64_t seconds;

    if (v->type == VALUE_ABSTIME)
        *ret = *v;
    else if (read_abstime(call, v, &seconds, &zone))
        return_abstime(call, seconds, zone, ret);
    else
        *ret = value_error();
}

/* Also without an argument, which means now; from a relative time, counted from 1970; and with the zone in seconds as a second argument. */
void fn_abs_time_condor(struct call *call, struct value *ret)
{
    const struct value *zone;
    double offset;

    if (call->count == 0) {
        fn_current_time(call, ret);
        return;
    }
    if (call->arguments[0].type == VALUE_RELTIME)
        return_abstime(call, call->arguments[0].u.integer, call_zone(call), ret);
    else
        fn_abs_time(call, ret);
    if (call->count == 1 || ret->type != VALUE_ABSTIME)
        return;
    zone = &call->arguments[1];
    if ((value_is_number(zone) || zone->type == VALUE_RELTIME) && value_to_real(zone, &offset) &&
        fabs(offset) < TIME_ZONE_MAX * 60)
        ret->zone = (int16_t)(offset / 60);
    else
        *ret = value_error();
}

static bool read_reltime(struct call *call, const struct value *v, int64_t *ret)
{
    struct fn_text text;

    switch ((enum value_type)v->type) {
    case VALUE_INTEGER:
    case VALUE_RELTIME:
        *ret = v->u.integer;
        return true;
    case VALUE_REAL:
        return real_to_integer(v->u.real, ret);
    case VALUE_STRING:
        text = text_trim((struct fn_text){v->u.string, v->len});
        return eval_steps(call->eval, v->len / 16) && time_parse_relative(call->dialect, text.at, text.len, ret);
    default:
        return false;
    }
}

void fn_rel_time(struct call *call, struct value *ret)
{
    int64_t seconds;

    *ret = read_reltime(call, &call->arguments[0], &seconds) ? value_reltime(seconds) : value_error();
}

void fn_rel_time_condor(struct call *call, struct value *ret)
{
    if (call->arguments[0].type == VALUE_ABSTIME)
        *ret = value_reltime(call->arguments[0].u.integer);
    else
        fn_rel_time(call, ret);
}
