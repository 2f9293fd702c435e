/* fn.c: helpers that the functions share. */
#include "lang/ad/fn.h"

#include "lang/base/number.h"

#include <math.h>

bool text_is_word(struct fn_text text, const char *word)
{
    size_t i = 0;

    while (i < text.len && word[i] && ascii_lower(text.at[i]) == word[i])
        i++;
    return i == text.len && !word[i];
}

struct fn_text text_trim(struct fn_text text)
{
    while (text.len && ascii_blank(text.at[0]))
        text = (struct fn_text){text.at + 1, text.len - 1};
    while (text.len && ascii_blank(text.at[text.len - 1]))
        text.len--;
    return text;
}

bool call_get_texts(const struct call *call, uint32_t from, struct fn_text *ret)
{
    for (uint32_t i = from; i < call->count; i++)
        if (!value_get_text(&call->arguments[i], &ret[i - from]))
            return false;
    return true;
}

bool call_undefined_first(const struct call *call, struct value *ret)
{
    bool error = false;

    for (uint32_t i = 0; i < call->count; i++) {
        if (call->arguments[i].type == VALUE_UNDEFINED) {
            *ret = value_undefined();
            return true;
        }
        error = error || call->arguments[i].type == VALUE_ERROR;
    }
    if (error)
        *ret = value_error();
    return error;
}

bool call_add_text(struct call *call, struct buf *out, const struct value *v)
{
    size_t before = out->len;

    if (v->type >= VALUE_LIST && !eval_charge(call->eval, v->scope->tree, v->u.aggregate))
        return false;
    value_to_text(out, call->dialect, v);
    return out->len <= call->eval->bytes && eval_steps(call->eval, 1 + (out->len - before) / 64);
}

void call_return_text(struct call *call, struct fn_text text, struct value *ret)
{
    char *copy = eval_bytes(call->eval, text.len);

    if (!copy) {
        *ret = value_error();
        return;
    }
    if (text.len)
        memcpy(copy, text.at, text.len);
    *ret = value_string(copy, text.len);
}

void call_return_buf(struct call *call, struct buf *buf, struct value *ret)
{
    call_return_text(call, (struct fn_text){buf->text, buf->len}, ret);
    buf_done(buf);
}

int64_t real_to_any_integer(double real)
{
    int64_t integer = INT64_MIN;

    (void)real_to_integer(real, &integer);
    return integer;
}

static size_t take_digits(struct fn_text text, size_t at, struct buf *out)
{
    for (; at < text.len && ascii_digit(text.at[at]); at++)
        buf_addc(out, text.at[at]);
    return at;
}

/* Reads DIGITS[.DIGITS][e[+-]DIGITS] with digits on at least one side of the point; number_parse_real wants them on both. */
static size_t take_decimal(struct fn_text text, double *ret)
{
    struct buf plain;
    size_t at, before, after;

    buf_init(&plain);
    buf_addc(&plain, '0');
    before = at = take_digits(text, 0, &plain);
    if (at < text.len && text.at[at] == '.') {
        buf_addc(&plain, '.');
        after = take_digits(text, at + 1, &plain);
        if (after == at + 1)
            buf_addc(&plain, '0');
        before += after - (at + 1);
        at = after;
    }
    if (before && at + 1 < text.len && ascii_lower(text.at[at]) == 'e') {
        size_t sign = text.at[at + 1] == '+' || text.at[at + 1] == '-';

        if (at + 1 + sign < text.len && ascii_digit(text.at[at + 1 + sign])) {
            buf_add(&plain, text.at + at, 1 + sign);
            at = take_digits(text, at + 1 + sign, &plain);
        }
    }
    if (before)
        number_parse_real(plain.text, plain.len, ret);
    buf_done(&plain);
    return before ? at : 0;
}

static size_t take_hexadecimal(struct fn_text text, double *ret)
{
    static const char digits[] = "0123456789abcdef";
    double value = 0;
    size_t at = 2;

    if (text.len < 3 || text.at[0] != '0' || ascii_lower(text.at[1]) != 'x')
        return 0;
    for (; at < text.len; at++) {
        const char *digit = memchr(digits, ascii_lower(text.at[at]), 16);

        if (!digit)
            break;
        value = value * 16 + (double)(digit - digits);
    }
    *ret = value;
    return at > 2 ? at : 0;
}

static size_t take_word(struct fn_text text, double *ret)
{
    static const struct word {
        const char *text;
        size_t len;
        double value;
    } words[] = {{"infinity", 8, INFINITY}, {"inf", 3, INFINITY}, {"nan", 3, NAN}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (text.len >= words[i].len && text_is_word((struct fn_text){text.at, words[i].len}, words[i].text)) {
            *ret = words[i].value;
            return words[i].len;
        }
    }
    return 0;
}

size_t text_to_real(struct fn_text text, double *ret)
{
    size_t at = 0, taken;
    bool minus;
    double value = 0;

    while (at < text.len && ascii_blank(text.at[at]))
        at++;
    minus = at < text.len && text.at[at] == '-';
    at += minus || (at < text.len && text.at[at] == '+');
    text = (struct fn_text){text.at + at, text.len - at};
    if (!(taken = take_word(text, &value)) && !(taken = take_hexadecimal(text, &value)) &&
        !(taken = take_decimal(text, &value)))
        return 0;
    *ret = minus ? -value : value;
    return at + taken;
}

double text_scale(struct fn_text text, size_t at)
{
    static const char scales[] = "bkmgt";
    const char *found = at < text.len ? memchr(scales, ascii_lower(text.at[at]), sizeof scales - 1) : NULL;

    return found ? ldexp(1, 10 * (int)(found - scales)) : 1;
}

bool value_to_real(const struct value *v, double *ret)
{
    struct fn_text text;
    size_t taken;

    switch ((enum value_type)v->type) {
    case VALUE_BOOLEAN:
        *ret = v->boolean;
        return true;
    case VALUE_REAL:
        *ret = v->u.real;
        return true;
    case VALUE_INTEGER:
    case VALUE_ABSTIME:
    case VALUE_RELTIME:
        *ret = (double)v->u.integer;
        return true;
    case VALUE_STRING:
        value_get_text(v, &text);
        taken = text_to_real(text, ret);
        if (taken)
            *ret *= text_scale(text, taken);
        return taken > 0;
    default:
        return false;
    }
}

int call_zone(struct call *call)
{
    return eval_zone(call->eval, call->scope);
}
