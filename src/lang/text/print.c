/* print.c: trees become text. One recursive walk that appends to a buffer. */
#include "lang/text/print.h"

#include "lang/base/number.h"
#include "lang/text/parse.h"
#include "lang/text/timetext.h"
#include "lang/text/words.h"

#include <math.h>

/* A text of up to four bytes with its length. All four bytes are copied, whatever the length. */
struct piece {
    char text[4];
    unsigned len;
};

struct style_row {
    struct piece ad_open, ad_close, ad_empty, assign, semicolon;
    struct piece list_open, list_close, list_empty, comma, argument;
    bool blanks; /* around operators */
    bool e15;    /* reals as C's %.15E */
};

#define P(text)               \
    {                         \
        text, sizeof text - 1 \
    }
static const struct style_row styles[] = {
    [PRINT_PLAIN] = {P("[ "), P(" ]"), P("[]"), P(" = "), P("; "), P("{ "), P(" }"), P("{}"), P(", "), P(", "), true,
                     false},
    [PRINT_COMPACT] = {P("["), P("]"), P("[]"), P("="), P(";"), P("{"), P("}"), P("{}"), P(","), P(","), false, false},
    [PRINT_CONDOR] = {P("[ "), P(" ]"), P("[  ]"), P(" = "), P("; "), P("{ "), P(" }"), P("{  }"), P(","), P(","), true,
                      true},
};
#undef P

struct printer {
    struct buf *out;
    const struct tree *tree;
    const struct style_row *style;
    int style_bits;
    print_value_fn *value;
    size_t most; /* bytes that `out` has when nothing more is wanted */
};

static void print_cell(struct printer *p, const struct expr *e, unsigned level);

static inline bool print_is_full(const struct printer *p)
{
    return p->out->len > p->most;
}

static inline void print_piece(struct printer *p, const struct piece *piece)
{
    memcpy(buf_reserve(p->out, sizeof piece->text), piece->text, sizeof piece->text);
    p->out->len += piece->len;
}

/* Bytes that do not stand for themselves in a string. */
static const bool escaped[256] = {
    true, true, true, true, true, true, true, true, true,         true,          true,         true,
    true, true, true, true, true, true, true, true, true,         true,          true,         true,
    true, true, true, true, true, true, true, true, ['"'] = true, ['\\'] = true, [127] = true,
};

void print_string(struct buf *out, const char *text, size_t len, int style)
{
    static const char from[] = "\n\t\a\b\f\r\v\\\"", to[] = "ntabfrv\\\"";
    bool old = style & PRINT_OLD_STRINGS;
    size_t start = 0;

    if (old) {
        bool plain = true;

        for (size_t i = 0; i < len && plain; i++)
            plain = (unsigned char)text[i] >= ' ' && text[i] != 127;
        if (!plain || (len && text[len - 1] == '\\')) {
            struct buf inner;

            buf_init(&inner);
            print_escaped(&inner, text, len);
            buf_adds(out, "unescape(");
            print_string(out, inner.text, inner.len, style);
            buf_addc(out, ')');
            buf_done(&inner);
            return;
        }
    }
    buf_reserve(out, len + 2);
    buf_addc(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        const char *named;

        if (!escaped[c])
            continue;
        if (old && c != '"') /* a backslash stands for itself, even before an escaped quote */
            continue;
        buf_add(out, text + start, i - start);
        start = i + 1;
        named = memchr(from, c, sizeof from - 1);
        if (named) {
            buf_addc(out, '\\');
            buf_addc(out, to[named - from]);
        } else {
            buf_addf(out, "\\%03o", c);
        }
    }
    buf_add(out, text + start, len - start);
    buf_addc(out, '"');
}

void print_escaped(struct buf *out, const char *text, size_t len)
{
    struct buf quoted;

    buf_init(&quoted);
    print_string(&quoted, text, len, PRINT_PLAIN);
    if (len && text[len - 1] == '\\') {
        buf_add(out, quoted.text + 1, quoted.len - 4);
        buf_adds(out, "\\134");
    } else {
        buf_add(out, quoted.text + 1, quoted.len - 2);
    }
    buf_done(&quoted);
}

void print_name(struct buf *out, const struct dialect *dialect, const char *name, size_t len)
{
    size_t start = 0;

    if (!dialect->quoted_names || word_is_plain(name, len)) {
        buf_add(out, name, len);
        return;
    }
    buf_addc(out, '\'');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)name[i];

        if (c >= ' ' && c != '\'' && c != '\\' && c != 127)
            continue;
        buf_add(out, name + start, i - start);
        start = i + 1;
        if (c == '\'' || c == '\\')
            buf_addf(out, "\\%c", c);
        else
            buf_addf(out, "\\%03o", c);
    }
    buf_add(out, name + start, len - start);
    buf_addc(out, '\'');
}

void print_integer(struct buf *out, int64_t value)
{
    if (value == INT64_MIN) {
        buf_adds(out, "int(\"-9223372036854775808\")");
        return;
    }
    out->len += number_print_integer(value, buf_reserve(out, NUMBER_TEXT_MAX));
}

void print_real(struct buf *out, double value)
{
    if (isnan(value))
        buf_adds(out, "real(\"NaN\")");
    else if (isinf(value))
        buf_adds(out, value < 0 ? "real(\"-INF\")" : "real(\"INF\")");
    else
        out->len += number_print_real(value, buf_reserve(out, NUMBER_TEXT_MAX));
}

void print_amount(struct buf *out, const struct dialect *dialect, double value, int style)
{
    static const struct {
        double factor;
        char letter;
    } units[] = {{0x1p40, 'T'}, {0x1p30, 'G'}, {0x1p20, 'M'}};

    for (size_t i = 0; (style & PRINT_AMOUNTS) && dialect->scale_suffixes && i < sizeof units / sizeof *units; i++) {
        double count = value / units[i].factor;

        if (count >= 1 && count < 1e6 && count == floor(count)) {
            print_integer(out, (int64_t)count);
            buf_addc(out, units[i].letter);
            return;
        }
    }
    print_real(out, value);
}

void print_real_e15(struct buf *out, double value)
{
    if (value == 0 || !isfinite(value))
        print_real(out, value);
    else
        out->len += number_print_e15(value, buf_reserve(out, NUMBER_TEXT_MAX));
}

void print_abstime(struct buf *out, const struct dialect *dialect, int64_t seconds, int zone_minutes)
{
    buf_adds(out, dialect->quoted_names ? "absTime(\"" : "'");
    time_print_absolute(dialect, seconds, zone_minutes, out);
    buf_adds(out, dialect->quoted_names ? "\")" : "'");
}

void print_reltime(struct buf *out, const struct dialect *dialect, int64_t seconds)
{
    buf_adds(out, dialect->quoted_names ? "relTime(\"" : "'");
    time_print_relative(dialect, seconds, out);
    buf_adds(out, dialect->quoted_names ? "\")" : "'");
}

static void print_symbol(struct printer *p, symbol s)
{
    size_t len;
    const char *name = symbols_text(p->tree->symbols, s, &len);

    print_name(p->out, p->tree->dialect, name, len);
}

static void print_ad(struct printer *p, const struct expr *e)
{
    const struct expr *parts = tree_parts(p->tree, e);

    if (e->u.run.count == 0) {
        print_piece(p, &p->style->ad_empty);
        return;
    }
    print_piece(p, &p->style->ad_open);
    for (uint32_t i = 0; i < e->u.run.count && !print_is_full(p); i++) {
        if (i)
            print_piece(p, &p->style->semicolon);
        print_symbol(p, parts[i].label);
        print_piece(p, &p->style->assign);
        print_cell(p, &parts[i], 0);
    }
    print_piece(p, &p->style->ad_close);
}

static void print_parts(struct printer *p, const struct expr *parts, uint32_t count, const struct piece *comma)
{
    for (uint32_t i = 0; i < count && !print_is_full(p); i++) {
        if (i)
            print_piece(p, comma);
        print_cell(p, &parts[i], 0);
    }
}

static void print_chain(struct printer *p, const struct expr *e)
{
    const struct expr *parts = tree_parts(p->tree, e);
    unsigned level = op_table[parts[1].label].level;

    print_cell(p, &parts[0], level + 1);
    for (uint32_t i = 1; i < e->u.run.count && !print_is_full(p); i++) {
        enum op op = (enum op)parts[i].label;
        bool blanks = p->style->blanks || op == OP_IS || op == OP_ISNT;

        if (blanks)
            buf_addc(p->out, ' ');
        buf_adds(p->out, op_table[op].text);
        if (blanks)
            buf_addc(p->out, ' ');
        print_cell(p, &parts[i], level + 1);
    }
}

static void print_path(struct printer *p, const struct expr *e)
{
    const struct expr *parts = tree_parts(p->tree, e);

    if (parts[0].kind == EXPR_WITHIN) /* steps inside the WITHIN, if that is a path, are not steps of this path */
        buf_addc(p->out, '(');
    print_cell(p, &parts[0], parts[0].kind == EXPR_WITHIN ? 0 : OP_LEVEL_PREFIX + 1);
    if (parts[0].kind == EXPR_WITHIN)
        buf_addc(p->out, ')');
    for (uint32_t i = 1; i < e->u.run.count && !print_is_full(p); i++) {
        if (parts[i].label == STEP_SELECT) {
            buf_addc(p->out, '.');
            print_symbol(p, parts[i].u.name.id);
        } else {
            buf_addc(p->out, '[');
            print_cell(p, &parts[i], 0);
            buf_addc(p->out, ']');
        }
    }
}

static void print_prefix(struct printer *p, const struct expr *e)
{
    const struct expr *operand = tree_parts(p->tree, e);
    bool number = (operand->kind == EXPR_INTEGER && operand->u.integer >= 0) ||
                  (operand->kind == EXPR_REAL && isfinite(operand->u.real) && !signbit(operand->u.real));

    buf_adds(p->out, op_table[e->small].text);
    if (number && e->small == OP_SUBTRACT &&
        !(operand->flags & EXPR_FLAG_PARENTHESES)) { /* -(5) is not the literal -5 */
        buf_addc(p->out, '(');
        print_cell(p, operand, 0);
        buf_addc(p->out, ')');
    } else {
        print_cell(p, operand, OP_LEVEL_PREFIX);
    }
}

static void print_call(struct printer *p, const struct expr *e)
{
    const struct expr *parts = tree_parts(p->tree, e);

    if (e->flags & EXPR_FLAG_OPERATOR) {
        print_cell(p, &parts[0], 1);
        buf_adds(p->out, p->style->blanks ? " ?: " : "?:");
        print_cell(p, &parts[1], 0);
        return;
    }
    print_symbol(p, e->u.name.id);
    buf_addc(p->out, '(');
    print_parts(p, parts, (uint32_t)e->small, &p->style->argument);
    buf_addc(p->out, ')');
}

/* The highest level at which a cell stands without parentheses. */
static unsigned cell_level(const struct printer *p, const struct expr *e)
{
    switch (e->kind) {
    case EXPR_CHOICE:
        return 0;
    case EXPR_CALL:
        return e->flags & EXPR_FLAG_OPERATOR ? 0 : OP_LEVEL_PREFIX + 1;
    case EXPR_CHAIN:
        return op_table[tree_parts(p->tree, e)[1].label].level;
    case EXPR_PREFIX:
        return OP_LEVEL_PREFIX;
    case EXPR_INTEGER: /* a point after digits makes a real; a minus is a prefix */
    case EXPR_REAL:
        return OP_LEVEL_PREFIX;
    default:
        return OP_LEVEL_PREFIX + 1;
    }
}

static void print_cell(struct printer *p, const struct expr *e, unsigned level)
{
    bool parentheses;

    while (e->kind == EXPR_WITHIN)
        e = tree_parts(p->tree, e);
    parentheses = (e->flags & EXPR_FLAG_PARENTHESES) || (level && cell_level(p, e) < level);
    if (parentheses)
        buf_addc(p->out, '(');
    switch (e->kind) {
    case EXPR_UNDEFINED:
        buf_add(p->out, "undefined", 9);
        break;
    case EXPR_ERROR:
        buf_add(p->out, "error", 5);
        break;
    case EXPR_BOOLEAN:
        buf_add(p->out, e->small ? "true" : "false", e->small ? 4 : 5);
        break;
    case EXPR_INTEGER:
        print_integer(p->out, e->u.integer);
        break;
    case EXPR_REAL:
        if (p->style->e15)
            print_real_e15(p->out, e->u.real);
        else
            print_amount(p->out, p->tree->dialect, e->u.real, p->style_bits);
        break;
    case EXPR_STRING:
        print_string(p->out, tree_string(p->tree, e), e->u.run.count, p->style_bits);
        break;
    case EXPR_ABSTIME:
        print_abstime(p->out, p->tree->dialect, e->u.integer, e->small);
        break;
    case EXPR_RELTIME:
        print_reltime(p->out, p->tree->dialect, e->u.integer);
        break;
    case EXPR_LIST:
        if (e->u.run.count == 0) {
            print_piece(p, &p->style->list_empty);
            break;
        }
        print_piece(p, &p->style->list_open);
        print_parts(p, tree_parts(p->tree, e), e->u.run.count, &p->style->comma);
        print_piece(p, &p->style->list_close);
        break;
    case EXPR_AD:
        print_ad(p, e);
        break;
    case EXPR_ROOT_NAME:
        buf_addc(p->out, '.');
        print_symbol(p, e->u.name.id);
        break;
    case EXPR_NAME:
        print_symbol(p, e->u.name.id);
        break;
    case EXPR_DOT:
        print_symbol(p, EXPR_DOT_BASE(e));
        buf_addc(p->out, '.');
        print_symbol(p, e->u.name.id);
        break;
    case EXPR_PATH:
        print_path(p, e);
        break;
    case EXPR_PREFIX:
        print_prefix(p, e);
        break;
    case EXPR_CHAIN:
        print_chain(p, e);
        break;
    case EXPR_CHOICE: {
        const struct expr *parts = tree_parts(p->tree, e);

        print_cell(p, &parts[0], 1);
        buf_adds(p->out, p->style->blanks ? " ? " : "?");
        print_cell(p, &parts[1], 0);
        buf_adds(p->out, p->style->blanks ? " : " : ":");
        print_cell(p, &parts[2], 0);
        break;
    }
    case EXPR_CALL:
        print_call(p, e);
        break;
    case EXPR_VALUE:
        if (p->value)
            p->value(p->out, p->tree->dialect, e->u.value, p->style_bits);
        break;
    default:
        break;
    }
    if (parentheses)
        buf_addc(p->out, ')');
}

void print_expr_with(struct buf *out, const struct tree *tree, const struct expr *e, int style, print_value_fn *value)
{
    struct printer printer = {out, tree, &styles[style & 15], style, value, SIZE_MAX};

    print_cell(&printer, e, 0);
}

void print_expr_most(struct buf *out, const struct tree *tree, const struct expr *e, int style, size_t most)
{
    struct printer printer = {out, tree, &styles[style & 15], style, NULL, out->len + most};

    print_cell(&printer, e, 0);
}

void print_expr(struct buf *out, const struct tree *tree, const struct expr *e, int style)
{
    print_expr_with(out, tree, e, style, NULL);
}

void print_tree(struct buf *out, const struct tree *tree, int style)
{
    print_expr(out, tree, tree_root(tree), style);
}
