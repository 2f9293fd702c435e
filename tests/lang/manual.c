/* manual.c: the examples in the manual (docs/NAME.md) have the values that the manual says.
 *
 *     ```eval condor                            or only eval: then classic
 *     my [ Memory = 4 ]                         my, target, now and zone come first and hold for the block
 *     Memory * 2   →  8                         parse-error on the right: the left side must not parse
 *     ```
 */
#include "common/lang.h"
#include "common/tap.h"
#include "match/pair/pair.h"

#include <glob.h>

#define ARROW "\xe2\x86\x92"

/* A block of examples that is open. */
struct block {
    const struct dialect *dialect; /* NULL outside of blocks */
    struct env env;
    struct tree *my, *target;
    struct pair pair;
    int examples;
};

static void block_open(struct block *block, const struct dialect *dialect)
{
    *block = (struct block){.dialect = dialect};
    lang_set_now(&block->env, "2026-03-01T12:00:00+00:00");
}

static void block_close(struct block *block)
{
    tree_unref(block->my);
    tree_unref(block->target);
    *block = (struct block){0};
}

/* Takes a line at the head of a block; false when it is none of those. */
static bool block_head(struct lang *lang, struct block *block, const char *place, const char *line)
{
    const char *rest = strchr(line, ' ');
    size_t len = rest ? (size_t)(rest - line) : 0;
    struct tree **ad = len == 2 && memcmp(line, "my", 2) == 0       ? &block->my
                       : len == 6 && memcmp(line, "target", 6) == 0 ? &block->target
                                                                    : NULL;
    if (ad) {
        struct err err = {0};
        *ad = lang_ad(lang, block->dialect, rest, &err);
        if (!tap_ok(*ad != NULL, "%s: the ad of the examples parses", place))
            tap_diag("%u:%u: %s", err.line, err.column, err.text);
    } else if (len == 3 && memcmp(line, "now", 3) == 0)
        lang_set_now(&block->env, rest + 1);
    else if (len == 4 && memcmp(line, "zone", 4) == 0)
        lang_set_zone(&block->env, rest + 1);
    else
        return false;
    return true;
}

/* The scope of the block's expressions, NULL for none. */
static const struct scope *block_scope(struct lang *lang, struct block *block)
{
    if (!block->my && !block->target)
        return NULL;
    if (!block->my)
        block->my = lang_ad(lang, block->dialect, "[]", NULL);
    pair_init(&block->pair, block->my, block->target);
    return &block->pair.left;
}

static void block_example(struct lang *lang, struct block *block, const char *place, const char *expr,
                          const char *expected)
{
    struct err err = {0};
    bool must_fail = strcmp(expected, "parse-error") == 0;
    struct tree *tree = lang_expr(lang, block->dialect, expr, strlen(expr), &err);
    struct tree *value_tree = NULL;

    if (must_fail) {
        if (!tap_ok(!tree, "%s: %s does not parse", place, expr))
            tap_diag("it parses as %s", lang_show_tree(tree));
    } else if (!tree || !(value_tree = lang_expr(lang, block->dialect, expected, strlen(expected), &err))) {
        tap_ok(false, "%s: %s is %s", place, expr, expected);
        tap_diag("%s does not parse: %u:%u: %s", tree ? "the value" : "it", err.line, err.column, err.text);
    } else {
        struct value got, want;
        struct eval eval;
        eval_init(&eval, &block->env, &lang->arena);
        eval_tree(&eval, block_scope(lang, block), tree, &got);
        eval_init(&eval, &block->env, &lang->arena);
        eval_tree(&eval, NULL, value_tree, &want);
        if (!tap_ok(lang_same(&lang->arena, &block->env, &got, &want, 1e-12), "%s: %s is %s", place, expr, expected))
            tap_diag("got: %s", lang_show(block->dialect, &got));
    }
    tree_unref(tree);
    tree_unref(value_tree);
    arena_reset(&lang->arena);
    block->examples++;
}

static void block_line(struct lang *lang, struct block *block, const char *place, char *line)
{
    char *arrow = strstr(line, ARROW);

    if (!arrow) {
        if (*line && !block_head(lang, block, place, line))
            tap_ok(false, "%s: the line is an example: %s", place, line);
        return;
    }
    const char *expected = arrow + strlen(ARROW) + strspn(arrow + strlen(ARROW), " ");
    while (arrow > line && arrow[-1] == ' ')
        arrow--;
    *arrow = '\0';
    block_example(lang, block, place, line, expected);
}

static int check_file(struct lang *lang, const char *path)
{
    size_t len;
    char *text = lang_read(path, &len), *rest = text, *line, place[200];
    struct block block = {0};
    bool fenced = false;
    int examples = 0;

    for (int number = 1; (line = lang_line(&rest)); number++) {
        snprintf(place, sizeof place, "%s:%d", path, number);
        if (strncmp(line, "```", 3) == 0) {
            if (!fenced && strcmp(line, "```eval") == 0)
                block_open(&block, &dialect_classic);
            else if (!fenced && strcmp(line, "```eval condor") == 0)
                block_open(&block, &dialect_condor);
            else if (!fenced && strncmp(line, "```eval", 7) == 0)
                tap_ok(false, "%s: the block's dialect is known", place);
            else if (block.dialect) {
                tap_ok(block.examples > 0, "%s: the block that ends here has examples", place);
                examples += block.examples;
                block_close(&block);
            }
            fenced = !fenced;
        } else if (block.dialect)
            block_line(lang, &block, place, line);
    }
    tap_ok(!fenced, "%s: every block is closed", path);
    block_close(&block);
    free(text);
    return examples;
}

int main(void)
{
    struct lang lang;
    glob_t files;
    size_t root = strlen(lang_path(""));
    int examples = 0;

    lang_init(&lang);
    if (glob(lang_path("docs/*.md"), 0, NULL, &files) == 0) {
        for (size_t i = 0; i < files.gl_pathc; i++)
            examples += check_file(&lang, files.gl_pathv[i] + root);
        globfree(&files);
    }
    tap_ok(examples > 0, "the manual has examples");
    lang_done(&lang);
    return tap_done();
}
