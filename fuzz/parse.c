/* parse.c: whatever parses, in either dialect, prints in every style and parses back to an equal tree.
 *
 * Byte 0 chooses the dialect, and whether strings are the long form's. In HTCondor's spacing reals are cut to 16 digits, so there
 * only trees without reals are compared. */
#include "lang/text/parse.h"
#include "lang/text/print.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has_reals(const struct tree *tree)
{
    for (uint32_t i = 0; i < tree->cell_count; i++)
        if (tree->cells[i].kind == EXPR_REAL)
            return true;
    return false;
}

static void check_style(struct build *build, const struct tree *tree, int style, bool old)
{
    struct parse_options options = {.old_strings = old};
    struct buf text;
    struct err err = {0};

    buf_init(&text);
    print_tree(&text, tree, style | (old ? PRINT_OLD_STRINGS : 0));
    struct tree *again = parse_expr(build, &options, text.text, text.len, &err);
    if (!again ||
        ((style != PRINT_CONDOR || !has_reals(tree)) && !tree_equal(tree, tree_root(tree), again, tree_root(again)))) {
        fprintf(stderr, "style %d, old %d, %s: %.*s\n%s\n", style, old, build->dialect->name, (int)text.len, text.text,
                again ? "reads as another tree" : err.text);
        abort();
    }
    tree_unref(again);
    buf_done(&text);
}

static void check_error(const struct err *err, const char *text, size_t len)
{
    unsigned line, column;
    err_place(text, len, &line, &column);
    if (!err->text[0] || err->line < 1 || err->column < 1 || err->line > line ||
        (err->line == line && err->column > column)) {
        fprintf(stderr, "error without a place in the text: %u:%u: %s\n", err->line, err->column, err->text);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *input = (const char *)data + 1;
    struct symbols *symbols = symbols_new(NULL, 0, 0);
    struct parse_options options = {.old_strings = data[0] & 2};
    struct build build;
    struct err err = {0};

    build_init(&build, symbols, data[0] & 1 ? &dialect_condor : &dialect_classic);
    struct tree *tree = parse_expr(&build, &options, input, size - 1, &err);
    if (tree) {
        for (int style = PRINT_PLAIN; style <= PRINT_CONDOR; style++) {
            check_style(&build, tree, style, false);
            check_style(&build, tree, style, true);
        }
    } else {
        check_error(&err, input, size - 1);
    }
    tree_unref(tree);
    build_done(&build);
    if (symbols_count(symbols) != 0) {
        fprintf(stderr, "%zu names are held by nobody\n", symbols_count(symbols));
        abort();
    }
    symbols_free(symbols);
    return 0;
}
