/* fn_strings.c: functions that join, cut and compare strings (appendix A.8). Positions count bytes; letters are ASCII's. */
#include "lang/ad/fn.h"
#include "lang/ad/ops.h"
#include "lang/text/lex.h"

/* The first argument that is undefined or error decides; in the strict row no argument is. */
void fn_strcat(struct call *call, struct value *ret)
{
    struct buf out;

    buf_init(&out);
    for (uint32_t i = 0; i < call->count; i++) {
        const struct value *v = &call->arguments[i];

        if (v->type == VALUE_UNDEFINED || v->type == VALUE_ERROR || !call_add_text(call, &out, v)) {
            *ret = v->type == VALUE_UNDEFINED ? *v : value_error();
            buf_done(&out);
            return;
        }
    }
    call_return_buf(call, &out, ret);
}

static char ascii_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c;
}

static void change_each(struct call *call, char (*change)(char), struct value *ret)
{
    const struct value *v = &call->arguments[0];
    char *out;

    if (v->type != VALUE_STRING || !eval_steps(call->eval, v->len / 16) || !(out = eval_bytes(call->eval, v->len))) {
        *ret = value_error();
        return;
    }
    for (uint32_t i = 0; i < v->len; i++)
        out[i] = change(v->u.string[i]);
    *ret = value_string(out, v->len);
}

void fn_to_upper(struct call *call, struct value *ret)
{
    change_each(call, ascii_upper, ret);
}

void fn_to_lower(struct call *call, struct value *ret)
{
    change_each(call, ascii_lower, ret);
}

void fn_substr(struct call *call, struct value *ret)
{
    const struct value *v = call->arguments;
    int64_t from, rest, len;

    if (call_undefined_first(call, ret))
        return;
    if (v[0].type != VALUE_STRING || v[1].type != VALUE_INTEGER || (call->count == 3 && v[2].type != VALUE_INTEGER)) {
        *ret = value_error();
        return;
    }
    from = v[1].u.integer;
    if (from < 0)
        from += v[0].len;
    from = from < 0 ? 0 : from > v[0].len ? v[0].len : from;
    rest = v[0].len - from;
    len = call->count == 3 ? v[2].u.integer : rest;
    if (len < 0)
        len += rest;
    len = len < 0 ? 0 : len > rest ? rest : len;
    *ret = value_string(v[0].u.string + from, (size_t)len);
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static int compare_bytes(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t len = a_len < b_len ? a_len : b_len;
    int order = len ? memcmp(a, b, len) : 0;

    return order ? order : (a_len > b_len) - (a_len < b_len);
}

static void compare(struct call *call, int (*order)(const char *, size_t, const char *, size_t), struct value *ret)
{
    struct fn_text text[2];

    if (call_get_texts(call, 0, text) && eval_steps(call->eval, text[0].len / 16))
        *ret = value_integer(sign(order(text[0].at, text[0].len, text[1].at, text[1].len)));
    else
        *ret = value_error();
}

void fn_strcmp(struct call *call, struct value *ret)
{
    compare(call, compare_bytes, ret);
}

void fn_stricmp(struct call *call, struct value *ret)
{
    compare(call, op_compare_strings, ret);
}

static bool hexadecimal(char c)
{
    return ascii_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'f');
}

/* Does an escape of the language follow the backslash? */
static bool escape_right(const char *at, const char *end)
{
    if (at == end)
        return false;
    if (*at >= '0' && *at <= '7') /* three octal digits must stay below 256 */
        return !(*at > '3' && end - at > 2 && at[1] >= '0' && at[1] <= '7' && at[2] >= '0' && at[2] <= '7');
    if (*at == 'x')
        return end - at > 1 && hexadecimal(at[1]);
    return memchr("ntabfrv\\\"'", *at, 10) != NULL;
}

void fn_unescape(struct call *call, struct value *ret)
{
    const struct value *v = &call->arguments[0];
    const char *at = v->u.string, *end = at + v->len;
    size_t len = 0;
    char *out;

    *ret = value_error();
    if (v->type != VALUE_STRING || !eval_steps(call->eval, v->len / 16) || !(out = eval_bytes(call->eval, v->len)))
        return;
    while (at < end) {
        char c = *at++;

        if (c == '\\') {
            if (!escape_right(at, end))
                return;
            c = lex_escape(&at, end);
        }
        if (c == 0)
            return;
        out[len++] = c;
    }
    *ret = value_string(out, len);
}

/* The two parts around the first @. Without an @, the whole text is the second part if `slot`, otherwise the first. */
static void split_at(struct call *call, bool slot, struct value *ret)
{
    struct value parts[2] = {value_string("", 0), value_string("", 0)};
    struct fn_text text;
    const char *at;

    if (!call_get_texts(call, 0, &text) || !eval_steps(call->eval, text.len / 64)) {
        *ret = value_error();
        return;
    }
    at = text.len ? memchr(text.at, '@', text.len) : NULL;
    if (at) {
        parts[0] = value_string(text.at, (size_t)(at - text.at));
        parts[1] = value_string(at + 1, text.len - (size_t)(at - text.at) - 1);
    } else {
        parts[slot] = call->arguments[0];
    }
    eval_make_list(call->eval, call->dialect, parts, 2, ret);
}

void fn_split_user_name(struct call *call, struct value *ret)
{
    split_at(call, false, ret);
}

void fn_split_slot_name(struct call *call, struct value *ret)
{
    split_at(call, true, ret);
}
