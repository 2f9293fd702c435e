/* json.c: ads as JSON objects, one after another or in one array.
 *
 *     undefined null    true true    7 7    0.5 0.5    "x" "x"    {1, 2} [1, 2]    [ A = 1 ] {"A": 1}
 *     all else, also strings that are not UTF-8 or look like this:     "\/Expr(Memory > 10)\/"
 *
 * The reader cuts an object out of the stream by counting brackets outside strings, and lets jansson decode it. Then it walks the result together
 * with the text, since jansson does not tell where a value stood. */
#include "lang/form/reader.h"

#include "lang/base/number.h"
#include "lang/form/spell.h"
#include "lang/text/print.h"

#include <jansson.h>
#include <math.h>

#define JSON_BLANKS " \t\n\r"
#define EXPR_OPEN "/Expr("
#define EXPR_CLOSE ")/"

enum { STATE_BEGINNING, STATE_LINES, STATE_ARRAY, STATE_CLOSED };

/* ---- where an object is ---- */

/* Takes the text before the next object: 1 when there is one, 0 at the end, -1. */
static int object_find(struct form_reader *reader, struct err *err)
{
    struct source *source = &reader->source;
    int c = source_skip(source, JSON_BLANKS, err);
    bool first = false;

    if (reader->state == STATE_BEGINNING) {
        first = true;
        reader->state = c == '[' ? STATE_ARRAY : STATE_LINES;
        if (c == '[') {
            source_take(source, 1);
            c = source_skip(source, JSON_BLANKS, err);
        }
    }
    if (reader->state == STATE_ARRAY && c == ']') {
        source_take(source, 1);
        reader->state = STATE_CLOSED;
        c = source_skip(source, JSON_BLANKS, err);
    } else if (reader->state == STATE_ARRAY && !first) {
        if (c != ',')
            return source_expected(source, c, "',' or ']' of the array", err);
        source_take(source, 1);
        c = source_skip(source, JSON_BLANKS, err);
    }
    if (c == SOURCE_END && reader->state != STATE_ARRAY)
        return 0;
    if (reader->state == STATE_CLOSED)
        return source_expected(source, c, "the end after the array", err);
    return c == '{' ? 1 : source_expected(source, c, "'{' of an ad", err);
}

/* The offset of the quote that closes the one at `offset`; SOURCE_FAILED also when there is none. */
static ptrdiff_t string_end(struct source *source, size_t offset, struct err *err)
{
    size_t open = offset;
    int c;

    while ((c = source_at(source, ++offset, err)) != '"') {
        if (c == SOURCE_FAILED)
            return SOURCE_FAILED;
        if (c == SOURCE_END || c == '\n') {
            source_fail(source, open, err, "this string has no end: expected '\"'");
            return SOURCE_FAILED;
        }
        if (c == '\\') {
            int nul = source_is(source, offset, "\\u0000", err);

            if (nul < 0)
                return SOURCE_FAILED;
            c = nul ? 0 : c;
        }
        if (c == 0) {
            source_fail(source, offset, err, "a string cannot hold a NUL");
            return SOURCE_FAILED;
        }
        if (c < ' ') {
            source_fail(source, offset, err, "a string cannot hold the byte 0x%02x: write \\u%04x", (unsigned)c,
                        (unsigned)c);
            return SOURCE_FAILED;
        }
        if (c == '\\' && source_at(source, offset + 1, err) > ' ')
            offset++;
    }
    return (ptrdiff_t)offset;
}

/* The length of the object at the window's start; of the whole rest when the object is not closed: then jansson says what is missing. */
static int object_end(struct source *source, size_t *ret_len, struct err *err)
{
    unsigned depth = 0;
    size_t at = 0;

    for (;; at++) {
        int c = source_at(source, at, err);

        if (c == SOURCE_FAILED)
            return -1;
        if (c == SOURCE_END)
            break;
        if (c == '"') {
            ptrdiff_t end = string_end(source, at, err);

            if (end < 0)
                return -1;
            at = (size_t)end;
        } else if (c == '{' || c == '[') {
            if (++depth > TREE_DEPTH_MAX)
                return source_fail(source, at, err, "nested too deeply: the depth limit is %d", TREE_DEPTH_MAX);
        } else if (c < ' ' && (c == 0 || !strchr(JSON_BLANKS, c))) {
            return source_fail(source, at, err, "unexpected byte 0x%02x", (unsigned)c);
        } else if ((c == '}' || c == ']') && --depth == 0) {
            at++;
            break;
        }
    }
    *ret_len = at;
    return at > source->limit ? source_too_long(source, err) : 0;
}

/* ---- the text of an object, which jansson has accepted ---- */

struct json_walk {
    struct form_reader *reader;
    const char *text;
    size_t at, len;
    struct err *err;
};

static void walk_blanks(struct json_walk *walk)
{
    while (walk->at < walk->len && (walk->text[walk->at] == ' ' || walk->text[walk->at] == '\n' ||
                                    walk->text[walk->at] == '\t' || walk->text[walk->at] == '\r'))
        walk->at++;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The end of the word or number at `at`. As in jansson, a number ends before any byte that cannot continue it. */
static size_t walk_word(const struct json_walk *walk, size_t at)
{
    static const bool ends[256] = {['{'] = true, ['}'] = true, ['['] = true,  [']'] = true,  [','] = true, [':'] = true,
                                   ['"'] = true, [' '] = true, ['\t'] = true, ['\n'] = true, ['\r'] = true};
    const char *text = walk->text;
    size_t len = walk->len;

    if (text[at] != '-' && !is_digit(text[at])) {
        while (at < len && !ends[(unsigned char)text[at]])
            at++;
        return at;
    }
    for (at++; at < len && is_digit(text[at]); at++)
        ;
    if (at < len && text[at] == '.')
        for (at++; at < len && is_digit(text[at]); at++)
            ;
    if (at < len && (text[at] | 0x20) == 'e') {
        at += 1 + (at + 1 < len && (text[at + 1] == '+' || text[at + 1] == '-'));
        while (at < len && is_digit(text[at]))
            at++;
    }
    return at;
}

/* Moves past one token; returns where it began. */
static size_t walk_token(struct json_walk *walk)
{
    size_t start;

    walk_blanks(walk);
    start = walk->at;
    if (start == walk->len)
        return start;
    if (walk->text[start] == '"') {
        for (walk->at++; walk->at < walk->len && walk->text[walk->at] != '"'; walk->at++)
            walk->at += walk->text[walk->at] == '\\';
        walk->at++;
    } else {
        walk->at = walk_word(walk, start);
        walk->at += walk->at == start; /* a bracket, a comma or a colon */
    }
    if (walk->at > walk->len)
        walk->at = walk->len;
    return start;
}

/* The offset in the text of a byte of the string whose quote is at `start`. Escapes are longer than the bytes that they stand for. */
static size_t string_offset(const struct json_walk *walk, size_t start, size_t byte)
{
    const char *text = walk->text;
    size_t at = start + 1, decoded = 0;

    while (decoded < byte && at < walk->len && text[at] != '"') {
        unsigned c = 0;

        if (text[at] != '\\') {
            at++, decoded++;
            continue;
        }
        if (text[at + 1] != 'u') {
            at += 2, decoded++;
            continue;
        }
        for (int i = 2; i < 6; i++)
            c = c * 16 + (unsigned)(text[at + i] <= '9' ? text[at + i] - '0' : (text[at + i] | 0x20) - 'a' + 10);
        at += c >= 0xd800 && c < 0xdc00 ? 12 : 6;
        decoded += c < 0x80 ? 1 : c < 0x800 ? 2 : c >= 0xd800 && c < 0xdc00 ? 4 : 3;
    }
    return at;
}

static int walk_fail(struct json_walk *walk, size_t offset)
{
    return source_mark(&walk->reader->source, offset, walk->err);
}

static int value_build(struct json_walk *walk, json_t *value, unsigned depth);

static int expr_build(struct json_walk *walk, const char *text, size_t len, size_t start, unsigned depth)
{
    const size_t open = sizeof EXPR_OPEN - 1;
    struct compose *compose = &walk->reader->compose;
    unsigned line, column;
    size_t offset;

    if (compose_expr(compose, text, len, depth) == 0)
        return 0;
    source_place(&walk->reader->source, string_offset(walk, start, open), &line, &column);
    offset = compose_expr_why(compose, text, len, depth, line, column, walk->err);
    return walk_fail(walk, string_offset(walk, start, open + offset));
}

/* Pushes a string, or the expression that a string stands for. */
static int string_build(struct json_walk *walk, const char *text, size_t len, size_t start, unsigned depth)
{
    const size_t open = sizeof EXPR_OPEN - 1, close = sizeof EXPR_CLOSE - 1;

    if (!walk->reader->compose.plain && len >= open + close && memcmp(text, EXPR_OPEN, open) == 0 &&
        memcmp(text + len - close, EXPR_CLOSE, close) == 0)
        return expr_build(walk, text + open, len - open - close, start, depth);
    build_string(&walk->reader->compose.build, text, len);
    return 0;
}

static int array_build(struct json_walk *walk, json_t *array, unsigned depth)
{
    size_t count = json_array_size(array);

    for (size_t i = 0; i < count; i++) {
        if (value_build(walk, json_array_get(array, i), depth) < 0)
            return -1;
        if (compose_fits(&walk->reader->compose, walk->err) < 0)
            return walk_fail(walk, walk->at);
        walk_token(walk); /* the comma or the bracket */
    }
    if (count == 0)
        walk_token(walk);
    build_bind(&walk->reader->compose.build, EXPR_LIST, (uint32_t)count);
    return 0;
}

/* jansson keeps the members of an object in their order. */
static int object_build(struct json_walk *walk, json_t *object, unsigned depth)
{
    struct compose *compose = &walk->reader->compose;
    uint32_t count = 0;
    uint64_t where;
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        size_t start = walk_token(walk);

        walk_token(walk); /* the colon */
        if (compose_begin(compose, count++, start, key, strlen(key), walk->err) < 0)
            return walk_fail(walk, start);
        if (value_build(walk, value, depth) < 0)
            return -1;
        if (compose_attribute(compose, walk->err) < 0)
            return walk_fail(walk, start);
        walk_token(walk); /* the comma or the brace */
    }
    if (count == 0)
        walk_token(walk);
    return compose_ad(compose, count, true, &where, walk->err) < 0 ? walk_fail(walk, (size_t)where) : 0;
}

/* Pushes the value whose text comes next, inside `depth` brackets. */
static int value_build(struct json_walk *walk, json_t *value, unsigned depth)
{
    struct build *build = &walk->reader->compose.build;
    size_t start = walk_token(walk);

    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return object_build(walk, value, depth + 1);
    case JSON_ARRAY:
        return array_build(walk, value, depth + 1);
    case JSON_STRING:
        return string_build(walk, json_string_value(value), json_string_length(value), start, depth);
    case JSON_INTEGER:
        build_integer(build, json_integer_value(value));
        break;
    case JSON_REAL:
        build_real(build, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        build_boolean(build, json_is_true(value));
        break;
    case JSON_NULL:
        build_undefined(build);
        break;
    }
    return 0;
}

/* jansson gives the byte after the token that it rejects. */
static int decode_fail(struct json_walk *walk, json_error_t *error)
{
    if (json_error_code(error) == json_error_out_of_memory)
        abort();
    for (char *c = error->text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    err_set(walk->err, "%s", error->text);
    if (json_error_code(error) == json_error_premature_end_of_input)
        return walk_fail(walk, walk->len);
    for (;;) {
        size_t start = walk_token(walk);

        if (walk->at >= (size_t)error->position || walk->at == walk->len)
            return walk_fail(walk, start);
    }
}

int json_next(struct form_reader *reader, struct tree **ret_ad, struct err *err)
{
    struct source *source = &reader->source;
    int found = object_find(reader, err), built;
    struct json_walk walk = {.reader = reader, .err = err};
    json_error_t error;
    json_t *root;
    size_t bad;

    if (found <= 0)
        return found;
    reader->line = source->line;
    reader->column = source->column;
    if (object_end(source, &walk.len, err) < 0)
        return -1;
    walk.text = source_text(source);
    bad = spell_utf8_end(walk.text, walk.len);
    if (bad < walk.len)
        return source_fail(source, bad, err, "this is not UTF-8: the byte 0x%02x",
                           (unsigned)(unsigned char)walk.text[bad]);
    root = json_loadb(walk.text, walk.len, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return decode_fail(&walk, &error);
    built = value_build(&walk, root, 0);
    json_decref(root);
    if (built < 0)
        return -1;
    source_take(source, walk.len);
    *ret_ad = build_seal(&reader->compose.build);
    return 1;
}

/* ---- writing ---- */

static void text_write(struct buf *out, const char *text, size_t len)
{
    static const char from[] = "\n\t\b\f\r\\\"", to[] = "ntbfr\\\"";
    size_t start = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        const char *named;

        if (c >= ' ' && c != '"' && c != '\\')
            continue;
        buf_add(out, text + start, i - start);
        start = i + 1;
        named = memchr(from, c, sizeof from - 1);
        if (named) {
            buf_addc(out, '\\');
            buf_addc(out, to[named - from]);
        } else {
            buf_addf(out, "\\u%04x", c);
        }
    }
    buf_add(out, text + start, len - start);
}

static void expr_write(struct buf *out, const struct tree *tree, const struct expr *e)
{
    struct buf text;

    buf_init(&text);
    spell_expr(&text, tree, e, spell_utf8);
    buf_adds(out, "\"\\/Expr(");
    text_write(out, text.text, text.len);
    buf_adds(out, ")\\/\"");
    buf_done(&text);
}

/* A string that would be taken for an expression is written as one. */
static void string_write(struct buf *out, const struct tree *tree, const struct expr *e)
{
    const char *text = tree_string(tree, e);
    size_t len = e->u.run.count, open = sizeof EXPR_OPEN - 1;

    if (!spell_utf8(text, len) || (len >= open && memcmp(text, EXPR_OPEN, open) == 0)) {
        expr_write(out, tree, e);
        return;
    }
    buf_addc(out, '"');
    text_write(out, text, len);
    buf_addc(out, '"');
}

static void value_write(struct buf *out, const struct tree *tree, const struct expr *e);

static void object_write(struct buf *out, const struct tree *tree, const struct expr *e)
{
    const struct expr *parts = tree_parts(tree, e);
    struct buf key;

    buf_init(&key);
    buf_addc(out, '{');
    for (uint32_t i = 0; i < e->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(tree->symbols, parts[i].label, &len);

        buf_reset(&key);
        spell_name(&key, tree->dialect, name, len, spell_utf8);
        buf_adds(out, i ? ", \"" : "\"");
        text_write(out, key.text, key.len);
        buf_adds(out, "\": ");
        value_write(out, tree, &parts[i]);
    }
    buf_addc(out, '}');
    buf_done(&key);
}

static void array_write(struct buf *out, const struct tree *tree, const struct expr *e)
{
    const struct expr *parts = tree_parts(tree, e);

    buf_addc(out, '[');
    for (uint32_t i = 0; i < e->u.run.count; i++) {
        buf_adds(out, i ? ", " : "");
        value_write(out, tree, &parts[i]);
    }
    buf_addc(out, ']');
}

static void value_write(struct buf *out, const struct tree *tree, const struct expr *e)
{
    switch (e->kind) {
    case EXPR_UNDEFINED:
        buf_adds(out, "null");
        break;
    case EXPR_BOOLEAN:
        buf_adds(out, e->small ? "true" : "false");
        break;
    case EXPR_INTEGER:
        out->len += number_print_integer(e->u.integer, buf_reserve(out, NUMBER_TEXT_MAX));
        break;
    case EXPR_REAL:
        if (isfinite(e->u.real))
            print_real(out, e->u.real);
        else
            expr_write(out, tree, e);
        break;
    case EXPR_STRING:
        string_write(out, tree, e);
        break;
    case EXPR_LIST:
        array_write(out, tree, e);
        break;
    case EXPR_AD:
        object_write(out, tree, e);
        break;
    default:
        expr_write(out, tree, e);
        break;
    }
}

void json_write(struct buf *out, const struct tree *ad)
{
    value_write(out, ad, tree_root(ad));
    buf_addc(out, '\n');
}
