/* patterns_test.c: a pattern that an environment keeps is compiled once, and nothing else differs: not the value, nor the steps that are counted. */
#include "common/lang.h"
#include "common/tap.h"

#include "lang/ad/patterns.h"

#include <stdio.h>

static const char *const texts[] = {
    "regexp(\"^c[a-z]+\\\\.cs\", \"cobra.cs.wisc.edu\")",
    "regexp(\"^c[a-z]+\\\\.cs\", \"dodo.cs.wisc.edu\")",
    "regexp(\"COBRA\", \"cobra\")",
    "regexp(\"COBRA\", \"cobra\", \"i\")",
    "regexp(\"(\", \"cobra\")",
    "regexp(\"\", \"\")",
    "regexps(\"([a-z]+)\\\\.([a-z]+)\", \"cobra.cs\", \"\\\\2 of \\\\1\")",
    "replaceAll(\"o\", \"foo boo\", \"0\")",
    "regexp(\"(a+)+$\", \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\")",
    "regexp(\"(a{1,100}){1,100}\", \"aaa\")",
    "regexpMember(\"^c\", { \"dodo\", \"cobra\" })",
    "regexpMember(\"^c\", { regexp(\"^c\", \"x\") ? \"cobra\" : \"dodo\", regexps(\"^c\", \"cx\", \"d\"), \"cy\" })",
    "stringListRegexpMember(\"^c\", \"dodo, cobra\")",
};
#define TEXTS (sizeof texts / sizeof *texts)

static void evaluate(struct lang *lang, const struct env *env, const struct tree *tree, struct buf *out)
{
    uint64_t meter = 0;
    struct env counted = *env;
    struct value v;
    struct eval eval;

    counted.meter = &meter;
    eval_init(&eval, &counted, &lang->arena);
    eval_tree(&eval, NULL, tree, &v);
    value_print(out, tree->dialect, &v, 0);
    buf_addf(out, " in %llu steps\n", (unsigned long long)meter);
    arena_reset(&lang->arena);
}

static void test_values(struct lang *lang)
{
    struct env plain = {.now = 1}, keeps = {.now = 1, .patterns = patterns_new()};
    struct buf one, other;

    buf_init(&one);
    buf_init(&other);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < 2 * TEXTS; i++) {
            struct err err;
            struct tree *tree = lang_expr(lang, i < TEXTS ? &dialect_classic : &dialect_condor, texts[i % TEXTS],
                                          strlen(texts[i % TEXTS]), &err);

            evaluate(lang, &plain, tree, &one);
            evaluate(lang, &keeps, tree, &other);
            tree_unref(tree);
        }
    if (!tap_ok(strcmp(buf_string(&one), buf_string(&other)) == 0,
                "a pattern that is kept gives the same value in as many steps"))
        tap_diag("compiled:\n%s\nkept:\n%s", buf_string(&one), buf_string(&other));
    buf_done(&one);
    buf_done(&other);
    patterns_free(keeps.patterns);
}

static void test_once(struct lang *lang)
{
    struct env env = {.now = 1, .patterns = patterns_new()};
    struct buf out;
    struct err err;
    struct tree *tree = lang_expr(lang, &dialect_classic, texts[0], strlen(texts[0]), &err);
    uint64_t once;
    char text[100];

    buf_init(&out);
    for (int i = 0; i < 100; i++)
        evaluate(lang, &env, tree, &out);
    once = patterns_compiled(env.patterns);
    tap_ok(once == 1, "a pattern that is asked for a hundred times is compiled once");
    tree_unref(tree);
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "regexp(\"^c%d\", \"c%d\")", i, i);
        tree = lang_expr(lang, &dialect_classic, text, strlen(text), &err);
        evaluate(lang, &env, tree, &out);
        tree_unref(tree);
    }
    tap_ok(patterns_compiled(env.patterns) == once + 100 && !strstr(buf_string(&out), "false"),
           "more patterns than are kept take each other's places");
    buf_done(&out);
    patterns_free(env.patterns);
}

int main(void)
{
    struct lang lang;

    lang_init(&lang);
    test_values(&lang);
    test_once(&lang);
    lang_done(&lang);
    return tap_done();
}
