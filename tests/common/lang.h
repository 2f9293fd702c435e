/* lang.h: what the tests of the language share: files, parsing, evaluating, comparing values.
 *
 * One world a program: a table of symbols, a builder for each dialect, an arena. Everything is static to the file that
 * includes it. */
#ifndef BERTH_TESTS_LANG_H
#define BERTH_TESTS_LANG_H

#include "common/rounds.h"
#include "lang/ad/eval.h"
#include "lang/ad/ops.h"
#include "lang/ad/specialize.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "lang/text/timetext.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lang {
    struct symbols *symbols;
    struct build classic, condor;
    struct arena arena;
};

static inline void lang_init(struct lang *lang)
{
    lang->symbols = names_new(0);
    build_init(&lang->classic, lang->symbols, &dialect_classic);
    build_init(&lang->condor, lang->symbols, &dialect_condor);
    arena_init(&lang->arena);
}

static inline void lang_done(struct lang *lang)
{
    build_done(&lang->classic);
    build_done(&lang->condor);
    arena_done(&lang->arena);
    symbols_free(lang->symbols);
}

static inline struct build *lang_build(struct lang *lang, const struct dialect *dialect)
{
    return dialect == &dialect_condor ? &lang->condor : &lang->classic;
}

/* The caller unrefs what these give; NULL and `err` when the text is wrong. */
static inline struct tree *lang_expr(struct lang *lang, const struct dialect *dialect, const char *text, size_t len,
                                     struct err *err)
{
    return parse_expr(lang_build(lang, dialect), NULL, text, len, err);
}

static inline struct tree *lang_ad(struct lang *lang, const struct dialect *dialect, const char *text, struct err *err)
{
    return parse_ad(lang_build(lang, dialect), NULL, text, strlen(text), err);
}

/* ------------------------------------------------------------------------------------------------------- values */

static inline bool lang_same_real(double a, double b, double tolerance)
{
    if (a == b || (isnan(a) && isnan(b)))
        return true;
    return isfinite(a) && isfinite(b) && fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static inline bool lang_same_part(struct eval *eval, const struct value *a, const struct value *b, double tolerance,
                                  int depth)
{
    if (a->type != b->type)
        return false;
    switch ((enum value_type)a->type) {
    case VALUE_UNDEFINED:
    case VALUE_ERROR:
        return true;
    case VALUE_BOOLEAN:
        return a->boolean == b->boolean;
    case VALUE_INTEGER:
    case VALUE_RELTIME:
        return a->u.integer == b->u.integer;
    case VALUE_ABSTIME:
        return a->u.integer == b->u.integer && a->zone == b->zone;
    case VALUE_REAL:
        return lang_same_real(a->u.real, b->u.real, tolerance);
    case VALUE_STRING:
        return a->len == b->len && (a->len == 0 || memcmp(a->u.string, b->u.string, a->len) == 0);
    case VALUE_LIST:
        if (a->len != b->len)
            return false;
        if (depth == 0)
            return true;
        for (uint32_t i = 0; i < a->len; i++) {
            struct value x, y;
            eval_element(eval, a, i, &x);
            eval_element(eval, b, i, &y);
            if (!lang_same_part(eval, &x, &y, tolerance, depth - 1))
                return false;
        }
        return true;
    case VALUE_AD: {
        uint32_t count = expr_part_count(a->u.aggregate);
        if (count != expr_part_count(b->u.aggregate))
            return false;
        if (depth == 0)
            return true;
        for (uint32_t i = 0; i < count; i++) {
            symbol name = tree_parts(a->scope->tree, a->u.aggregate)[i].label;
            struct value x, y;
            if (!eval_attribute(eval, a->scope, name, &x) || !eval_attribute(eval, b->scope, name, &y) ||
                !lang_same_part(eval, &x, &y, tolerance, depth - 1))
                return false;
        }
        return true;
    }
    }
    return false;
}

/* Same type and value. Reals within that relative tolerance; aggregates by the values of their parts, eight levels down. */
static inline bool lang_same(struct arena *arena, const struct env *env, const struct value *a, const struct value *b,
                             double tolerance)
{
    struct env wide = *env;
    struct eval eval;

    wide.steps = 1000000;
    wide.bytes = 64u << 20;
    eval_init(&eval, &wide, arena);
    return lang_same_part(&eval, a, b, tolerance, 8);
}

/* Does a constraint of that value hold? */
static inline bool lang_holds(const struct dialect *dialect, const struct value *v)
{
    bool truth = false;
    return op_condition(dialect, v, &truth) == VALUE_BOOLEAN && truth;
}

/* For diagnosis: text that lives until the fourth call after this one. */
static inline struct buf *lang_scratch(void)
{
    static struct buf scratch[4];
    static int next;
    struct buf *buf = &scratch[next++ % 4];

    buf_reset(buf);
    return buf;
}

static inline const char *lang_show(const struct dialect *dialect, const struct value *v)
{
    struct buf *buf = lang_scratch();
    value_print(buf, dialect, v, PRINT_PLAIN);
    return buf_string(buf);
}

static inline const char *lang_show_tree(const struct tree *tree)
{
    struct buf *buf = lang_scratch();
    print_tree(buf, tree, PRINT_PLAIN);
    return buf_string(buf);
}

/* Does the tree read back as itself from its own text in that style? */
static inline bool lang_reads_back(struct lang *lang, const struct tree *tree, int style)
{
    struct buf text;
    buf_init(&text);
    print_tree(&text, tree, style);
    struct tree *again = lang_expr(lang, tree->dialect, text.text, text.len, NULL);
    bool same = again && tree_equal(tree, tree_root(tree), again, tree_root(again));
    tree_unref(again);
    buf_done(&text);
    return same;
}

/* ----------------------------------------------------------------------------------------- surroundings as text */

/* A relative path, from the root of the sources. */
static inline const char *lang_path(const char *path)
{
    static char whole[4096];
    const char *root = getenv("BERTH_SOURCE");
    snprintf(whole, sizeof whole, "%s/%s", root ? root : ".", path);
    return whole;
}

/* A whole file, which the caller frees; exits when there is none: a test without its data must not pass. */
static inline char *lang_read(const char *path, size_t *ret_len)
{
    FILE *file = fopen(lang_path(path), "rb");
    char *text = NULL;
    size_t len = 0, room = 0, got;

    if (!file) {
        printf("Bail out! cannot read %s\n", lang_path(path));
        exit(1);
    }
    do {
        if (room - len < 65537)
            text = realloc(text, room = room * 2 + 65537);
        got = fread(text + len, 1, 65536, file);
        len += got;
    } while (got > 0);
    fclose(file);
    text[len] = '\0';
    *ret_len = len;
    return text;
}

/* Cuts the next line off `*rest`: NUL-terminated, without its end; NULL when there are none left. */
static inline char *lang_line(char **rest)
{
    char *line = *rest;
    if (!*line)
        return NULL;
    char *end = strchr(line, '\n');
    *rest = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    return line;
}

static inline void lang_set_zone(struct env *env, const char *text)
{
    if (!time_parse_zone(text, strlen(text), &env->zone)) {
        printf("Bail out! not a zone: %s\n", text);
        exit(1);
    }
}

static inline void lang_set_now(struct env *env, const char *text)
{
    int zone;
    if (!time_parse_absolute(&dialect_classic, text, strlen(text), 0, &env->now, &zone)) {
        printf("Bail out! not a time: %s\n", text);
        exit(1);
    }
}

#endif
