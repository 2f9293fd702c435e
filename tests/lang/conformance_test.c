/* conformance_test.c: the corpora in tests/lang/conformance hold, but for the lines where HTCondor is wrong.
 *
 * A case a line: both sides are parsed in the file's dialect, evaluated alone and compared as values. For the pairs of ads, a
 * case is one expression of one side, seen from there. */
#include "common/lang.h"
#include "common/tap.h"
#include "match/pair/pair.h"

#include <jansson.h>

/* Where Berth differs from HTCondor on purpose: docs/language.md, "Where HTCondor is wrong and Berth is not". Fractions of a
 * second are in that list too, but not here: a text that has one is read without it, so the values agree. */
struct exception {
    const char *expr, *condor; /* HTCondor's value */
    const char *reason;
};

static const struct exception exceptions[] = {
    {"0x10", "0", "HTCondor does not read hexadecimal numbers"},
    {"stringListMax(\"-3,-4\")", "0", "HTCondor never gives less than zero"},
};
#define EXCEPTION_COUNT (sizeof exceptions / sizeof *exceptions)

static bool exception_has(const char *expr)
{
    for (size_t i = 0; i < EXCEPTION_COUNT; i++)
        if (strcmp(exceptions[i].expr, expr) == 0)
            return true;
    return false;
}

static const struct env env = {.now = 1772366400}; /* 2026-03-01T12:00:00Z; no line depends on it */

static void value_alone(struct lang *lang, const struct tree *tree, struct value *ret)
{
    struct eval eval;
    eval_init(&eval, &env, &lang->arena);
    eval_tree(&eval, NULL, tree, ret);
}

/* Has the expression the expected value? If not, says why in `why`. */
static bool agrees(struct lang *lang, const struct dialect *dialect, const char *expr, const char *expected,
                   struct buf *why)
{
    bool must_fail = strcmp(expected, "parse-error") == 0;
    struct err err = {0};
    struct tree *tree = lang_expr(lang, dialect, expr, strlen(expr), &err);
    struct tree *value_tree = NULL;
    bool same = false;

    if (must_fail) {
        same = !tree;
        buf_adds(why, "it parses");
    } else if (!tree) {
        buf_addf(why, "does not parse: %u:%u: %s", err.line, err.column, err.text);
    } else if (!(value_tree = lang_expr(lang, dialect, expected, strlen(expected), &err))) {
        buf_addf(why, "the expected value does not parse: %u:%u: %s", err.line, err.column, err.text);
    } else {
        struct value got, want;
        value_alone(lang, tree, &got);
        value_alone(lang, value_tree, &want);
        same = lang_same(&lang->arena, &env, &got, &want, 1e-9);
        buf_addf(why, "got:      %s\nexpected: %s", lang_show(dialect, &got), lang_show(dialect, &want));
    }
    tree_unref(tree);
    tree_unref(value_tree);
    arena_reset(&lang->arena);
    return same;
}

static void check_line(struct lang *lang, const struct dialect *dialect, const char *place, const char *expr,
                       const char *expected)
{
    struct buf why;

    buf_init(&why);
    if (dialect == &dialect_condor && exception_has(expr))
        tap_ok(!agrees(lang, dialect, expr, expected, &why), "%s: %s is not %s, though HTCondor says so", place, expr,
               expected);
    else if (!tap_ok(agrees(lang, dialect, expr, expected, &why), "%s: %s is %s", place, expr, expected))
        tap_diag("%s", buf_string(&why));
    buf_done(&why);
}

/* An exception that has come to agree must go. */
static void check_exceptions(struct lang *lang)
{
    for (size_t i = 0; i < EXCEPTION_COUNT; i++) {
        const struct exception *x = &exceptions[i];
        struct buf why;
        buf_init(&why);
        tap_ok(!agrees(lang, &dialect_condor, x->expr, x->condor, &why), "%s is not %s: %s", x->expr, x->condor,
               x->reason);
        buf_done(&why);
    }
}

static void check_file(struct lang *lang, const struct dialect *dialect, const char *name)
{
    char path[200], place[200];
    size_t len;
    snprintf(path, sizeof path, "tests/lang/conformance/%s", name);
    char *text = lang_read(path, &len), *rest = text, *line;

    for (int number = 1; (line = lang_line(&rest)); number++) {
        char *tab = strchr(line, '\t');
        snprintf(place, sizeof place, "%s:%d", name, number);
        if (!tab) {
            tap_ok(false, "%s: the line has a tab", place);
            continue;
        }
        *tab = '\0';
        check_line(lang, dialect, place, line, tab + 1);
    }
    free(text);
}

/* ------------------------------------------------------------------------------------------------------ pairs of ads */

/* Each side's expression of that name, against the text of the value it must have. */
static void check_attribute(struct lang *lang, const char *place, const struct scope *scope, symbol name,
                            const char *expected)
{
    const struct dialect *dialect = &dialect_condor;
    const struct expr *e = tree_find(scope->tree, tree_root(scope->tree), name);
    struct tree *value_tree = lang_expr(lang, dialect, expected, strlen(expected), NULL);
    struct value got = value_undefined(), want = value_error();
    struct buf text;
    struct eval eval;

    buf_init(&text);
    if (e)
        print_expr(&text, scope->tree, e, PRINT_PLAIN);
    else
        buf_adds(&text, name == NAME_RANK ? "a missing Rank" : "a missing Requirements");
    eval_init(&eval, &env, &lang->arena);
    eval_attribute(&eval, scope, name, &got);
    if (value_tree)
        value_alone(lang, value_tree, &want);
    if (!tap_ok(value_tree && lang_same(&lang->arena, &env, &got, &want, 1e-9), "%s: %s is %s", place,
                buf_string(&text), expected))
        tap_diag("got: %s", lang_show(dialect, &got));
    tree_unref(value_tree);
    buf_done(&text);
}

static const struct expr *constraint_of(const struct scope *scope)
{
    return tree_find(scope->tree, tree_root(scope->tree), NAME_REQUIREMENTS);
}

static bool accepts(struct lang *lang, const struct scope *scope)
{
    struct eval eval;
    eval_init(&eval, &env, &lang->arena);
    return eval_true(&eval, scope, constraint_of(scope));
}

static void check_pair(struct lang *lang, const char *place, const char *line)
{
    const char *a, *b, *req_a, *req_b, *rank_a, *rank_b;
    int match;
    json_t *json = json_loads(line, 0, NULL);

    if (!json || json_unpack(json, "{s:s, s:s, s:s, s:s, s:s, s:s, s:b}", "a", &a, "b", &b, "req_a", &req_a, "req_b",
                             &req_b, "rank_a", &rank_a, "rank_b", &rank_b, "match", &match)) {
        tap_ok(false, "%s: the line is a case", place);
        json_decref(json);
        return;
    }
    struct err err = {0};
    struct tree *left = lang_ad(lang, &dialect_condor, a, &err);
    struct tree *right = left ? lang_ad(lang, &dialect_condor, b, &err) : NULL;

    if (!left || !right) {
        tap_ok(false, "%s: both ads parse", place);
        tap_diag("%u:%u: %s", err.line, err.column, err.text);
    } else {
        struct pair pair;
        pair_init(&pair, left, right);
        check_attribute(lang, place, &pair.left, NAME_REQUIREMENTS, req_a);
        check_attribute(lang, place, &pair.right, NAME_REQUIREMENTS, req_b);
        check_attribute(lang, place, &pair.left, NAME_RANK, rank_a);
        check_attribute(lang, place, &pair.right, NAME_RANK, rank_b);
        /* to HTCondor a missing constraint refuses; to us it counts as true, and the matchmaker says so, not the language */
        if (constraint_of(&pair.left) && constraint_of(&pair.right))
            tap_ok((accepts(lang, &pair.left) && accepts(lang, &pair.right)) == !!match,
                   "%s: a constraint of %s and one of %s %s", place, req_a, req_b, match ? "match" : "do not match");
    }
    tree_unref(left);
    tree_unref(right);
    json_decref(json);
    arena_reset(&lang->arena);
}

static void check_pairs(struct lang *lang, const char *name)
{
    char path[200], place[200];
    size_t len;
    snprintf(path, sizeof path, "tests/lang/conformance/%s", name);
    char *text = lang_read(path, &len), *rest = text, *line;

    for (int number = 1; (line = lang_line(&rest)); number++) {
        snprintf(place, sizeof place, "%s:%d", name, number);
        check_pair(lang, place, line);
    }
    free(text);
}

int main(void)
{
    struct lang lang;

    lang_init(&lang);
    check_file(&lang, &dialect_classic, "classic.tsv");
    check_file(&lang, &dialect_condor, "condor.tsv");
    check_exceptions(&lang);
    check_pairs(&lang, "condor-match.jsonl");
    lang_done(&lang);
    return tap_done();
}
