/* tables.c: runs the text tables of the language, tests/lang/language/NAME.txt.
 *
 *     # the case's sentence                 a paragraph a case; a line is a key, blanks, and the rest as it stands
 *     expr     TARGET.HasGpu || Memory > 1  what is evaluated
 *     dialect  condor                       else classic
 *     my       [ Memory = 2048 ]            the ad it stands in; else none (with a target: an empty one)
 *     target   [ ]                          the ad it faces; else none
 *     now, zone, seed                       the environment; else 2026-03-01T12:00:00Z, +00:00, 1
 *
 *     value    true                         its value, written as an expression that is evaluated alone
 *     fail     1:7: expected                it does not parse: how the message begins
 *     prints   a + b                        how it prints
 *     special  10 + a                       what specialising leaves, in value mode
 *     truth    a                            the same in truth mode
 *     refs     Arch other.Memory            its external references, sorted
 *
 * Whatever a case asks, these laws are checked as well: print and parse again is the identity; specialising first changes
 * no value, and in truth mode not whether it is true; the question "is it true" has the answer that the value gives. */
#include "common/lang.h"
#include "common/tap.h"
#include "lang/ad/refs.h"
#include "match/pair/pair.h"

#include <glob.h>

enum key {
    KEY_EXPR,
    KEY_DIALECT,
    KEY_MY,
    KEY_TARGET,
    KEY_NOW,
    KEY_ZONE,
    KEY_SEED,
    KEY_VALUE,
    KEY_FAIL,
    KEY_PRINTS,
    KEY_SPECIAL,
    KEY_TRUTH,
    KEY_REFS,
    KEY_COUNT
};

static const char *const key_names[KEY_COUNT] = {"expr",  "dialect", "my",     "target",  "now",   "zone", "seed",
                                                 "value", "fail",    "prints", "special", "truth", "refs"};

struct test {
    const char *name; /* the comment in front, or NULL */
    int line;
    const char *keys[KEY_COUNT]; /* NULL when it is not given */
    bool bad;
};

/* The parts of a case, parsed; `why` collects what is wrong. */
struct run {
    struct lang *lang;
    const struct test *test;
    const struct dialect *dialect;
    struct env env;
    struct tree *expr, *my, *target;
    struct pair pair;
    const struct scope *scope; /* NULL when the expression stands alone */
    struct buf why;
};

/* ------------------------------------------------------------------------------------------------------- parts */

static void wrong(struct run *run, const char *what, const char *got, const char *want)
{
    buf_addf(&run->why, "%s\n  got:      %s\n  expected: %s\n", what, got, want);
}

static void run_value(struct run *run, const struct tree *tree, struct value *ret)
{
    struct eval eval;
    eval_init(&eval, &run->env, &run->lang->arena);
    eval_tree(&eval, run->scope, tree, ret);
}

static bool run_holds(struct run *run, const struct tree *tree)
{
    struct value v;
    run_value(run, tree, &v);
    return lang_holds(run->dialect, &v);
}

static struct tree *run_parse_ad(struct run *run, enum key key)
{
    struct err err = {0};
    const char *text = run->test->keys[key];
    struct tree *tree = lang_ad(run->lang, run->dialect, text ? text : "[]", &err);
    if (!tree)
        buf_addf(&run->why, "%s: %u:%u: %s\n", key_names[key], err.line, err.column, err.text);
    return tree;
}

/* The expression's ad, and the one it faces. False when one of them does not parse. */
static bool run_surround(struct run *run)
{
    const char *const *keys = run->test->keys;
    if (!keys[KEY_MY] && !keys[KEY_TARGET])
        return true;
    if (!(run->my = run_parse_ad(run, KEY_MY)) || (keys[KEY_TARGET] && !(run->target = run_parse_ad(run, KEY_TARGET))))
        return false;
    pair_init(&run->pair, run->my, run->target);
    run->scope = &run->pair.left;
    return true;
}

static bool run_prepare(struct run *run)
{
    const char *const *keys = run->test->keys;

    run->dialect = keys[KEY_DIALECT] ? dialect_find(keys[KEY_DIALECT]) : &dialect_classic;
    if (!run->dialect) {
        buf_adds(&run->why, "no such dialect\n");
        return false;
    }
    run->env.seed = keys[KEY_SEED] ? strtoull(keys[KEY_SEED], NULL, 10) : 1;
    lang_set_now(&run->env, keys[KEY_NOW] ? keys[KEY_NOW] : "2026-03-01T12:00:00+00:00");
    lang_set_zone(&run->env, keys[KEY_ZONE] ? keys[KEY_ZONE] : "+00:00");
    return run_surround(run);
}

/* ------------------------------------------------------------------------------------------------- what a case asks */

static void check_fail(struct run *run, const struct err *err)
{
    const char *want = run->test->keys[KEY_FAIL];
    char got[ERR_TEXT_MAX + 40];

    if (run->expr) {
        wrong(run, "it parses", lang_show_tree(run->expr), want);
        return;
    }
    snprintf(got, sizeof got, "%u:%u: %s", err->line, err->column, err->text);
    if (strncmp(got, want, strlen(want)) != 0)
        wrong(run, "the message", got, want);
}

static void check_value(struct run *run)
{
    const char *text = run->test->keys[KEY_VALUE];
    struct err err = {0};
    struct tree *tree = lang_expr(run->lang, run->dialect, text, strlen(text), &err);
    struct value got, want;
    struct eval eval;

    if (!tree) {
        buf_addf(&run->why, "the expected value: %u:%u: %s\n", err.line, err.column, err.text);
        return;
    }
    run_value(run, run->expr, &got);
    eval_init(&eval, &run->env, &run->lang->arena);
    eval_tree(&eval, NULL, tree, &want);
    if (!lang_same(&run->lang->arena, &run->env, &got, &want, 1e-12))
        wrong(run, "the value", lang_show(run->dialect, &got), text);
    tree_unref(tree);
}

static void check_prints(struct run *run)
{
    const char *got = lang_show_tree(run->expr), *want = run->test->keys[KEY_PRINTS];
    if (strcmp(got, want) != 0)
        wrong(run, "the text", got, want);
}

static void check_special(struct run *run, enum key key, int flags)
{
    const char *text = run->test->keys[key];
    struct err err = {0};
    struct tree *want = lang_expr(run->lang, run->dialect, text, strlen(text), &err);

    if (!want) {
        buf_addf(&run->why, "%s: %u:%u: %s\n", key_names[key], err.line, err.column, err.text);
        return;
    }
    struct tree *got = specialize_tree(&run->env, &run->lang->arena, run->scope, run->expr, flags);
    if (!tree_equal(got, tree_root(got), want, tree_root(want)))
        wrong(run, key == KEY_TRUTH ? "specialised for truth" : "specialised", lang_show_tree(got), text);
    tree_unref(got);
    tree_unref(want);
}

static void check_refs(struct run *run)
{
    struct scope alone;
    struct refs refs;
    struct buf got;
    struct tree *in_ad = NULL;

    refs_init(&refs);
    buf_init(&got);
    if (!run->scope) {
        scope_init(&alone, run->expr, NULL);
        refs_add(&refs, &alone, tree_root(run->expr));
    } else {
        /* references are asked of an expression of the ad itself: put it there under a name of its own */
        struct build *build = lang_build(run->lang, run->dialect);
        const struct expr *root = tree_root(run->my);
        uint32_t count = expr_part_count(root), place;
        for (uint32_t i = 0; i < count; i++) {
            const struct expr *part = &tree_parts(run->my, root)[i];
            build_copy(build, run->my, part);
            symbols_hold(run->lang->symbols, part->label);
            build_attribute(build, part->label);
        }
        build_copy(build, run->expr, tree_root(run->expr));
        build_attribute(build, symbols_take(run->lang->symbols, "_case", 5));
        if (build_ad(build, count + 1, &place) == 0) {
            struct scope scope;
            in_ad = build_seal(build);
            scope_init(&scope, in_ad, run->scope->around);
            symbol name = symbols_find(run->lang->symbols, "_case", 5);
            refs_add(&refs, &scope, tree_find(in_ad, tree_root(in_ad), name));
        } else {
            build_reset(build);
        }
    }
    refs_sort(&refs, run->lang->symbols);
    for (uint32_t i = 0; i < refs.count; i++) {
        if (i > 0)
            buf_addc(&got, ' ');
        ref_print(&got, run->lang->symbols, &refs.items[i]);
    }
    if (strcmp(buf_string(&got), run->test->keys[KEY_REFS]) != 0)
        wrong(run, "the references", buf_string(&got), run->test->keys[KEY_REFS]);
    buf_done(&got);
    refs_done(&refs);
    tree_unref(in_ad);
}

/* ----------------------------------------------------------------------------------------------------------- laws */

static void law_reads_back(struct run *run)
{
    static const char *const names[] = {"plain text", "compact text"};
    for (int style = PRINT_PLAIN; style <= PRINT_COMPACT; style++)
        if (!lang_reads_back(run->lang, run->expr, style)) {
            struct buf *text = lang_scratch();
            print_tree(text, run->expr, style);
            buf_addf(&run->why, "its %s does not read back: %s\n", names[style], buf_string(text));
        }
}

static void law_same_value(struct run *run, int flags, double tolerance)
{
    struct tree *special = specialize_tree(&run->env, &run->lang->arena, run->scope, run->expr, flags);
    struct value plain, first;

    run_value(run, run->expr, &plain);
    run_value(run, special, &first);
    if (!lang_same(&run->lang->arena, &run->env, &plain, &first, tolerance)) {
        buf_addf(&run->why, "specialised with flags %d: %s\n", flags, lang_show_tree(special));
        wrong(run, "specialising first changes the value", lang_show(run->dialect, &first),
              lang_show(run->dialect, &plain));
    }
    tree_unref(special);
}

static void law_same_truth(struct run *run)
{
    struct tree *special = specialize_tree(&run->env, &run->lang->arena, run->scope, run->expr, SPECIALIZE_TRUTH);
    bool plain = run_holds(run, run->expr);

    if (plain != run_holds(run, special)) {
        buf_addf(&run->why, "specialised for truth: %s\n", lang_show_tree(special));
        wrong(run, "specialising for truth changes it", plain ? "not true" : "true", plain ? "true" : "not true");
    }
    tree_unref(special);
    if (!run->scope) {
        struct scope alone;
        struct eval eval;
        scope_init(&alone, run->expr, NULL);
        eval_init(&eval, &run->env, &run->lang->arena);
        if (eval_true(&eval, &alone, tree_root(run->expr)) != plain)
            buf_adds(&run->why, "asked whether it is true, the answer is not what its value says\n");
    }
}

/* ---------------------------------------------------------------------------------------------------------- cases */

static void run_checks(struct run *run)
{
    const char *const *keys = run->test->keys;
    struct err err = {0};

    run->expr = lang_expr(run->lang, run->dialect, keys[KEY_EXPR], strlen(keys[KEY_EXPR]), &err);
    if (keys[KEY_FAIL]) {
        check_fail(run, &err);
        return;
    }
    if (!run->expr) {
        buf_addf(&run->why, "does not parse: %u:%u: %s\n", err.line, err.column, err.text);
        return;
    }
    if (keys[KEY_VALUE])
        check_value(run);
    if (keys[KEY_PRINTS])
        check_prints(run);
    if (keys[KEY_SPECIAL])
        check_special(run, KEY_SPECIAL, 0);
    if (keys[KEY_TRUTH])
        check_special(run, KEY_TRUTH, SPECIALIZE_TRUTH);
    if (keys[KEY_REFS])
        check_refs(run);
    law_reads_back(run);
    law_same_value(run, 0, 0);
    law_same_value(run, SPECIALIZE_TIME, 0);
    law_same_value(run, SPECIALIZE_GATHER, 1e-9);
    law_same_truth(run);
}

static bool test_asks(const struct test *test)
{
    for (int key = KEY_VALUE; key < KEY_COUNT; key++)
        if (test->keys[key])
            return true;
    return false;
}

static void test_run(struct lang *lang, const char *file, const struct test *test)
{
    struct run run = {.lang = lang, .test = test};

    buf_init(&run.why);
    if (test->bad)
        buf_adds(&run.why, "a key that is not known, or there twice\n");
    else if (!test->keys[KEY_EXPR] || !test_asks(test))
        buf_adds(&run.why, "the case asks nothing\n");
    else if (run_prepare(&run))
        run_checks(&run);
    if (!tap_ok(run.why.len == 0, "%s:%d: %s", file, test->line, test->name ? test->name : test->keys[KEY_EXPR]))
        tap_diag("%s", buf_string(&run.why));
    tree_unref(run.expr);
    tree_unref(run.my);
    tree_unref(run.target);
    buf_done(&run.why);
    arena_reset(&lang->arena);
}

static void test_read_line(struct test *test, char *line)
{
    size_t len = strcspn(line, " \t");
    char *rest = line + len + strspn(line + len, " \t");

    for (int key = 0; key < KEY_COUNT; key++)
        if (strlen(key_names[key]) == len && memcmp(key_names[key], line, len) == 0) {
            test->bad |= test->keys[key] != NULL;
            test->keys[key] = rest;
            return;
        }
    test->bad = true;
}

/* Returns the number of cases. */
static int run_file(struct lang *lang, const char *path)
{
    size_t len;
    char *text = lang_read(path, &len), *rest = text, *line;
    const char *file = strrchr(path, '/') + 1, *comment = NULL;
    struct test test = {0};
    bool open = false;
    int cases = 0;

    for (int number = 1;; number++) {
        line = lang_line(&rest);
        if (!line || !*line) {
            if (open) {
                test_run(lang, file, &test);
                cases++;
            }
            open = false;
            comment = NULL;
            if (!line)
                break;
        } else if (*line == '#') {
            comment = line + 1 + strspn(line + 1, " ");
        } else {
            if (!open)
                test = (struct test){.name = comment, .line = number};
            open = true;
            test_read_line(&test, line);
        }
    }
    free(text);
    return cases;
}

int main(int argc, char **argv)
{
    struct lang lang;
    glob_t files;
    size_t root = strlen(lang_path(""));

    lang_init(&lang);
    if (argc > 1) /* only these, by their paths in the sources */
        for (int i = 1; i < argc; i++)
            tap_ok(run_file(&lang, argv[i]) > 0, "%s has cases", argv[i]);
    else if (glob(lang_path("tests/lang/language/*.txt"), 0, NULL, &files) == 0) {
        for (size_t i = 0; i < files.gl_pathc; i++)
            tap_ok(run_file(&lang, files.gl_pathv[i] + root) > 0, "%s has cases", files.gl_pathv[i] + root);
        globfree(&files);
    } else
        tap_ok(false, "there are tables");
    lang_done(&lang);
    return tap_done();
}
