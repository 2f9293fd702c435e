/* constant.c: constants that have no literal are written as calls, and read back. */
#include "lang/text/constant.h"

#include "lang/text/lex.h"
#include "lang/text/print.h"
#include "lang/text/timetext.h"

#include <math.h>

static bool name_is(const char *name, size_t len, const char *word)
{
    size_t i = 0;

    while (i < len && word[i] && (name[i] | 0x20) == word[i])
        i++;
    return i == len && !word[i];
}

static bool text_is(const char *text, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(text, word, len) == 0;
}

/* Is this the very text that the printer gives for that time? */
static bool time_is(const struct dialect *dialect, const char *text, size_t len, const struct expr *literal)
{
    struct buf printed;
    bool same;

    buf_init(&printed);
    if (literal->kind == EXPR_RELTIME)
        time_print_relative(dialect, literal->u.integer, &printed);
    else
        time_print_absolute(dialect, literal->u.integer, literal->small, &printed);
    same = printed.len == len && memcmp(printed.text, text, len) == 0;
    buf_done(&printed);
    return same;
}

/* The literal for CALL("text"), or false. */
static bool constant_of(const struct dialect *dialect, const char *name, size_t name_len, const char *text, size_t len,
                        struct expr *ret)
{
    struct expr e = {0};
    int zone;

    if (name_is(name, name_len, "int") && text_is(text, len, "-9223372036854775808")) {
        e.kind = EXPR_INTEGER;
        e.u.integer = INT64_MIN;
    } else if (name_is(name, name_len, "real") && (text_is(text, len, "INF") || text_is(text, len, "-INF"))) {
        e.kind = EXPR_REAL;
        e.u.real = *text == '-' ? -INFINITY : INFINITY;
    } else if (name_is(name, name_len, "real") && text_is(text, len, "NaN")) {
        e.kind = EXPR_REAL;
        e.u.real = NAN;
    } else if (dialect->quoted_names && name_is(name, name_len, "reltime") &&
               time_parse_relative(dialect, text, len, &e.u.integer)) {
        e.kind = EXPR_RELTIME;
        if (!time_is(dialect, text, len, &e))
            return false;
    } else if (dialect->quoted_names && name_is(name, name_len, "abstime") &&
               time_parse_absolute(dialect, text, len, TIME_ZONE_NONE, &e.u.integer, &zone)) {
        e.kind = EXPR_ABSTIME;
        e.small = (int16_t)zone;
        if (!time_is(dialect, text, len, &e))
            return false;
    } else {
        return false;
    }
    *ret = e;
    return true;
}

/* For unescape("...") whose text is what the printer would write: puts the string that it stands for in the place of the argument. */
static bool unescape(struct build *build, struct expr *argument)
{
    uint32_t start = argument->u.run.at, len = argument->u.run.count, used = 0;
    struct buf decoded, again;
    bool same = false;

    buf_init(&decoded);
    buf_init(&again);
    for (uint32_t i = 0; i < len; used++) {
        const char *at = build->text + start + i, *end = build->text + start + len;

        if (*at == '\\') {
            at++;
            if (at == end || !memchr("ntabfrv\\\"01234567", *at, 17))
                goto done;
            buf_addc(&decoded, lex_escape(&at, end));
        } else {
            buf_addc(&decoded, *at++);
        }
        i = (uint32_t)(at - build->text - start);
    }
    if (decoded.len == 0 || memchr(decoded.text, 0, decoded.len))
        goto done;
    print_escaped(&again, decoded.text, decoded.len);
    same = again.len == len && memcmp(again.text, build->text + start, len) == 0;
    if (same) {
        memcpy(build->text + start, decoded.text, decoded.len);
        argument->u.run.count = (uint32_t)decoded.len;
    }
done:
    buf_done(&decoded);
    buf_done(&again);
    return same;
}

void constant_fold(struct build *build)
{
    struct expr *call = build_top(build), argument, literal;
    const char *name, *text;
    size_t name_len;

    if (call->kind != EXPR_CALL || call->small != 1)
        return;
    argument = build->cells[call->u.name.at];
    if (argument.kind != EXPR_STRING || call->u.name.at + 1 != build->cell_count)
        return;
    name = symbols_text(build->symbols, call->u.name.id, &name_len);
    text = argument.u.run.count ? build->text + argument.u.run.at : "";
    if (name_is(name, name_len, "unescape") && unescape(build, &argument)) {
        literal = argument;
    } else if (constant_of(build->dialect, name, name_len, text, argument.u.run.count, &literal)) {
        build->text_len = argument.u.run.at; /* the string was the last text */
    } else {
        return;
    }
    build->cell_count--;
    symbols_drop(build->symbols, call->u.name.id);
    *call = literal;
}
