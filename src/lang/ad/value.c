/* value.c: the value of an expression: printed, compared, turned into a literal. */
#include "lang/ad/value.h"

#include "lang/ad/eval.h"
#include "lang/base/number.h"
#include "lang/text/print.h"
#include "lang/text/timetext.h"

const char *value_type_name(enum value_type type)
{
    static const char *const names[] = {"undefined", "error",         "boolean",       "integer", "real",
                                        "string",    "absolute time", "relative time", "list",    "classad"};

    return names[type];
}

static void print_held(struct buf *out, const struct dialect *dialect, const void *held, int style)
{
    value_print(out, dialect, held, style);
}

void value_print(struct buf *out, const struct dialect *dialect, const struct value *v, int style)
{
    switch ((enum value_type)v->type) {
    case VALUE_UNDEFINED:
        buf_adds(out, "undefined");
        break;
    case VALUE_ERROR:
        buf_adds(out, "error");
        break;
    case VALUE_BOOLEAN:
        buf_adds(out, v->boolean ? "true" : "false");
        break;
    case VALUE_INTEGER:
        print_integer(out, v->u.integer);
        break;
    case VALUE_REAL:
        if ((style & 15) == PRINT_CONDOR)
            print_real_e15(out, v->u.real);
        else
            print_amount(out, dialect, v->u.real, style);
        break;
    case VALUE_STRING:
        print_string(out, v->u.string, v->len, style);
        break;
    case VALUE_ABSTIME:
        print_abstime(out, dialect, v->u.integer, v->zone);
        break;
    case VALUE_RELTIME:
        print_reltime(out, dialect, v->u.integer);
        break;
    case VALUE_LIST:
    case VALUE_AD: {
        struct expr bare = *v->u.aggregate;

        bare.flags = 0;
        print_expr_with(out, v->scope->tree, &bare, style, print_held);
        break;
    }
    }
}

void value_to_text(struct buf *out, const struct dialect *dialect, const struct value *v)
{
    switch ((enum value_type)v->type) {
    case VALUE_STRING:
        buf_add(out, v->u.string, v->len);
        break;
    case VALUE_ABSTIME:
        time_print_absolute(dialect, v->u.integer, v->zone, out);
        break;
    case VALUE_RELTIME:
        time_print_relative(dialect, v->u.integer, out);
        break;
    default:
        value_print(out, dialect, v, dialect->reals_as_e15 ? PRINT_CONDOR : PRINT_PLAIN);
    }
}

void value_build(struct build *build, const struct value *v)
{
    switch ((enum value_type)v->type) {
    case VALUE_UNDEFINED:
        build_undefined(build);
        break;
    case VALUE_ERROR:
        build_error(build);
        break;
    case VALUE_BOOLEAN:
        build_boolean(build, v->boolean);
        break;
    case VALUE_INTEGER:
        build_integer(build, v->u.integer);
        break;
    case VALUE_REAL:
        build_real(build, v->u.real);
        break;
    case VALUE_STRING:
        build_string(build, v->u.string, v->len);
        break;
    case VALUE_ABSTIME:
        build_abstime(build, v->u.integer, v->zone);
        break;
    case VALUE_RELTIME:
        build_reltime(build, v->u.integer);
        break;
    case VALUE_LIST:
        if (v->len && tree_parts(v->scope->tree, v->u.aggregate)->kind == EXPR_VALUE) { /* a function's list */
            const struct expr *parts = tree_parts(v->scope->tree, v->u.aggregate);

            for (uint32_t i = 0; i < v->len; i++)
                value_build(build, parts[i].u.value);
            build_bind(build, EXPR_LIST, v->len);
            break;
        }
        build_copy(build, v->scope->tree, v->u.aggregate);
        break;
    case VALUE_AD:
        build_copy(build, v->scope->tree, v->u.aggregate);
        break;
    }
}

bool value_equal(const struct value *a, const struct value *b)
{
    struct buf text_a, text_b;
    bool same;

    if (a->type != b->type)
        return false;
    switch ((enum value_type)a->type) {
    case VALUE_UNDEFINED:
    case VALUE_ERROR:
        return true;
    case VALUE_BOOLEAN:
        return a->boolean == b->boolean;
    case VALUE_REAL:
        return memcmp(&a->u.real, &b->u.real, sizeof a->u.real) == 0;
    case VALUE_ABSTIME:
        return a->u.integer == b->u.integer && a->zone == b->zone;
    case VALUE_INTEGER:
    case VALUE_RELTIME:
        return a->u.integer == b->u.integer;
    case VALUE_STRING:
        return a->len == b->len && (a->len == 0 || memcmp(a->u.string, b->u.string, a->len) == 0);
    case VALUE_LIST:
    case VALUE_AD:
        break;
    }
    buf_init(&text_a);
    buf_init(&text_b);
    value_print(&text_a, a->scope->tree->dialect, a, PRINT_COMPACT);
    value_print(&text_b, b->scope->tree->dialect, b, PRINT_COMPACT);
    same = text_a.len == text_b.len && memcmp(text_a.text, text_b.text, text_a.len) == 0;
    buf_done(&text_a);
    buf_done(&text_b);
    return same;
}
