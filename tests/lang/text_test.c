/* text_test.c: reading and printing keep their laws, on random trees and on hostile texts.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the random trees. The deep texts are read once more by a child that has a stack of 256 KiB
 * (not under the sanitizers, whose frames are larger). */
#include "common/grow.h"
#include "common/rounds.h"
#include "common/small_stack.h"
#include "common/tap.h"
#include "lang/base/arena.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"

#include <math.h>
#include <stdlib.h>

static const struct dialect *const dialects[] = {&dialect_classic, &dialect_condor};

static const char *const names[] = {"a",    "b",       "Memory",  "memory", "other", "MY", "TARGET",
                                    "self", "trueX",   "isnt1",   "e",      "x1",    "K",  "_",
                                    "root", "Parent2", "abstime", "e5",     NULL};

static const char *shown(const struct tree *tree, int style)
{
    static struct buf buf[2];
    static int next;
    struct buf *out = &buf[next++ % 2];
    buf_reset(out);
    if (tree)
        print_tree(out, tree, style);
    return buf_string(out);
}

/* ---------------------------------------------------------------------------------------------------- random trees */

static const char *const style_names[] = {"plain text", "compact text", "HTCondor's spacing"};

/* Prints, reads, compares; says what is wrong with the first that differs. */
static bool reads_back(struct build *build, const struct tree *tree, int style, uint64_t seed)
{
    struct err err = {0};
    struct buf text;
    buf_init(&text);
    print_tree(&text, tree, style);
    struct tree *again = parse_expr(build, NULL, text.text, text.len, &err);
    bool same = again && tree_equal(tree, tree_root(tree), again, tree_root(again));
    if (!same)
        tap_diag("seed %llu, %s:\n%s\n%s%s", (unsigned long long)seed, build->dialect->name, buf_string(&text),
                 again ? "reads as " : "does not parse: ", again ? shown(again, style) : err.text);
    if (same && style == PRINT_PLAIN) { /* printing is a function of the tree and its parentheses: it settles at once */
        struct buf twice;
        buf_init(&twice);
        print_tree(&twice, again, style);
        same = twice.len == text.len && memcmp(twice.text, text.text, text.len) == 0;
        if (!same)
            tap_diag("seed %llu: printed once, and again:\n%s\n%s", (unsigned long long)seed, buf_string(&text),
                     buf_string(&twice));
        buf_done(&twice);
    }
    tree_unref(again);
    buf_done(&text);
    return same;
}

static void random_trees_read_back(const struct dialect *dialect, int style)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(20000);
    struct symbols *symbols = symbols_new(NULL, 0, 0);
    struct build build, reader;
    bool same = true;

    build_init(&build, symbols, dialect);
    build_init(&reader, symbols, dialect);
    for (uint64_t i = 0; i < rounds && same; i++) {
        struct grow grow = {.build = &build, .names = names, .odd = style != PRINT_CONDOR};
        rng_init(&grow.rng, rng_mix(seed) + i);
        grow_expr(&grow, 1 + (unsigned)(i % 5));
        struct tree *tree = build_seal(&build);
        same = reads_back(&reader, tree, style, seed);
        tree_unref(tree);
    }
    tap_ok(same, "%s: random trees read back from their %s", dialect->name, style_names[style]);
    build_done(&build);
    build_done(&reader);
    tap_ok(symbols_count(symbols) == 0, "%s: when the trees are gone no name is held", dialect->name);
    symbols_free(symbols);
}

/* Random text over the language's own characters and words: mostly wrong, and then with a place inside the text. */
static void random_text_is_judged(const struct dialect *dialect)
{
    static const char *const words[] = {"a",  "b1", "1",  "0x1F", "2.5", "1e5", "\"s\"", "'1:00'", "(",  ")",  "[",
                                        "]",  "{",  "}",  ";",    ",",   "=",   ".",     "?",      ":",  "+",  "-",
                                        "!",  "~",  "*",  "/",    "%",   "<",   "<=",    "==",     "is", "&&", "||",
                                        "//", "/*", "*/", "\"",   "'",   "\\",  "\n",    "true",   "@",  "08", "\xff"};
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(20000);
    struct symbols *symbols = symbols_new(NULL, 0, 0);
    struct build build;
    bool placed = true, same = true;
    uint64_t parsed = 0;

    build_init(&build, symbols, dialect);
    for (uint64_t i = 0; i < rounds && placed && same; i++) {
        struct rng rng;
        char text[200];
        size_t len = 0, count;
        rng_init(&rng, rng_mix(seed + 1) + i);
        count = 1 + rng_below(&rng, 9);
        for (size_t k = 0; k < count; k++) {
            const char *word = words[rng_below(&rng, sizeof words / sizeof *words)];
            memcpy(text + len, word, strlen(word));
            len += strlen(word);
            if (rng_below(&rng, 2))
                text[len++] = ' ';
        }
        struct err err = {0};
        struct tree *tree = parse_expr(&build, NULL, text, len, &err);
        if (tree) {
            parsed++;
            same = reads_back(&build, tree, PRINT_PLAIN, seed) && reads_back(&build, tree, PRINT_COMPACT, seed);
        } else {
            unsigned last_line, last_column;
            err_place(text, len, &last_line, &last_column);
            placed = err.text[0] && err.line >= 1 && err.column >= 1 && err.line <= last_line &&
                     (err.line < last_line || err.column <= last_column);
            if (!placed)
                tap_diag("seed %llu: %.*s: %u:%u: %s", (unsigned long long)seed, (int)len, text, err.line, err.column,
                         err.text);
        }
        tree_unref(tree);
    }
    tap_ok(same && parsed > rounds / 100, "%s: random text that parses reads back from its print", dialect->name);
    tap_ok(placed, "%s: random text that does not parse has an error with a place in it", dialect->name);
    build_done(&build);
    tap_ok(symbols_count(symbols) == 0, "%s: a text that does not parse leaves no name behind", dialect->name);
    symbols_free(symbols);
}

/* ---------------------------------------------------------------------------------------------------------- errors */

struct error_row {
    const char *sentence, *text;
    const char *starts; /* of "LINE:COLUMN: message" */
};

static void errors_have_places(void)
{
    static const struct error_row rows[] = {
        {"an error on the third line is placed there", "[\n  a = 1;\n  b = ;\n]", "3:7: expected an expression"},
        {"a bracket that stays open on another line is named with its place", "(1 +\n 2",
         "2:3: expected ')' to close '(' at 1:1"},
        {"an open comment is placed where it begins", "1 + /* two\nthree", "1:5: "},
        {"an open string is placed where it begins", "1 +\n \"abc", "2:2: "},
        {"a wrong escape is placed at its backslash", "\"ab\\qc\"", "1:4: "},
        {"a character that is no token is placed", "1 + \\", "1:5: "},
        {"an attribute that is there twice is placed at the second", "[ a = 1; b = 2; A = 3 ]", "1:17: "},
        {"a reserved name is placed where it is defined", "[ a = 1;\n self = 2 ]", "2:2: "},
        {"a column counts bytes, tabs as one", "\t\t)", "1:3: "},
        {"a number that does not fit is placed at its first digit", "1 + 99999999999999999999", "1:5: "},
        {"the word and is no operator", "a and b", "1:3: 'and' is not an operator; write '&&'"},
    };
    struct symbols *symbols = symbols_new(NULL, 0, 0);
    struct build build;
    build_init(&build, symbols, &dialect_classic);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = {0};
        char got[ERR_TEXT_MAX + 40];
        struct tree *tree = parse_expr(&build, NULL, rows[i].text, strlen(rows[i].text), &err);
        snprintf(got, sizeof got, "%u:%u: %s", err.line, err.column, err.text);
        if (!tap_ok(!tree && strncmp(got, rows[i].starts, strlen(rows[i].starts)) == 0, "%s", rows[i].sentence))
            tap_diag("got:      %s\nexpected: %s...", tree ? "a tree" : got, rows[i].starts);
        tree_unref(tree);
    }

    struct err err = {0};
    tap_ok(!parse_expr(&build, NULL, "1 + \0 2", 7, &err) && err.column == 5,
           "a NUL in the text is an error at its place");
    tap_ok(!parse_expr(&build, NULL, "\"a\0b\"", 5, &err), "a NUL in a string is an error");
    tap_ok(!parse_expr(&build, NULL, "", 0, &err) && err.line == 1 && err.column == 1,
           "an empty text is no expression");
    tap_ok(!parse_ad(&build, NULL, "1", 1, &err) && err.column == 1, "where an ad is wanted a number is refused");
    tap_ok(!parse_expr(&build, NULL, "(", 1, NULL), "nobody need listen to the error");

    struct parse_options options = {.first_line = 10, .first_column = 5};
    parse_expr(&build, &options, ")", 1, &err);
    bool first = err.line == 10 && err.column == 5;
    parse_expr(&build, &options, "\n )", 3, &err);
    tap_ok(first && err.line == 11 && err.column == 2, "a text inside a file has errors with places of the file");

    options = (struct parse_options){.attributes_max = 2};
    struct tree *two = parse_ad(&build, &options, "[a=1;b=2]", 9, &err);
    tap_ok(two && !parse_ad(&build, &options, "[a=1;b=2;c=3]", 13, &err), "a limit on attributes holds");
    tree_unref(two);
    options = (struct parse_options){.cells_max = 100};
    char wide[1000] = "1";
    for (int i = 0; i < 200; i++)
        strcat(wide, "+1");
    tap_ok(!parse_expr(&build, &options, wide, strlen(wide), &err), "a limit on parts holds");
    build_done(&build);
    symbols_free(symbols);
}

/* ---------------------------------------------------------------------------------------------------------- limits */

#define MANY 1000000

struct deep_row {
    const char *unit;  /* MANY of it */
    const char *after; /* then this: a text that would be right if it were not so deep */
    const char *close; /* MANY of it, or NULL */
};

static const struct deep_row deep_rows[] = {
    {"(", "", NULL},       {"(", "1", ")"},     {"[", "", NULL},      {"[a=", "1", "]"}, {"{", "", NULL},
    {"{", "1", "}"},       {"!", "a", NULL},    {"-", "a", NULL},     {"- ", "1", NULL}, {"~", "1", NULL},
    {"+", "1", NULL},      {"a?b:", "c", NULL}, {"a?", "b", ":c"},    {"a.", "a", NULL}, {"f(", "", NULL},
    {"f(", "1", ")"},      {"a[", "0", "]"},    {"a[0].", "a", NULL}, {"(a+", "1", ")"}, {"{[a=", "1", "]}"},
    {"a||(b&&", "c", ")"},
};
#define DEEP_COUNT (sizeof deep_rows / sizeof *deep_rows)

static void repeat(struct buf *text, const char *unit, size_t count)
{
    size_t len = strlen(unit);
    buf_reserve(text, len * count);
    for (size_t i = 0; i < count; i++)
        buf_add(text, unit, len);
}

/* Must not parse, name the depth limit and be quick. */
static bool deep_is_refused(const struct deep_row *row, const struct dialect *dialect)
{
    struct symbols *symbols = symbols_new(NULL, 0, 0);
    struct build build;
    struct buf text;
    struct err err = {0};

    build_init(&build, symbols, dialect);
    buf_init(&text);
    repeat(&text, row->unit, MANY);
    buf_adds(&text, row->after);
    if (row->close)
        repeat(&text, row->close, MANY);
    struct tree *tree = NULL;
    double took = INFINITY;
    for (int try = 0; try < 3 && !tree && took > small_stack_seconds(); try++) { /* the machine may be busy */
        double start = small_stack_cpu();
        tree = parse_expr(&build, NULL, text.text, text.len, &err);
        took = fmin(took, small_stack_cpu() - start);
    }
    bool wrong_at_once = strcmp(row->unit, "[") == 0; /* a name must follow: what is wrong is not the depth */
    bool refused = !tree && (wrong_at_once || strstr(err.text, "depth limit"));
    if (!refused)
        tap_diag("%s", tree ? "it parses" : err.text);
    if (took > small_stack_seconds())
        tap_diag("took %.1f ms", took * 1e3);
    tree_unref(tree);
    buf_done(&text);
    build_done(&build);
    symbols_free(symbols);
    return refused && took <= small_stack_seconds();
}

static void deep_texts_are_refused(const char *where)
{
    for (size_t i = 0; i < DEEP_COUNT; i++)
        for (int d = 0; d < 2; d++)
            tap_ok(deep_is_refused(&deep_rows[i], dialects[d]), "%s: a million times '%s%s%s' is refused in time%s",
                   dialects[d]->name, deep_rows[i].unit, deep_rows[i].after,
                   deep_rows[i].close ? deep_rows[i].close : "", where);
}

/* The deepest that is allowed: each kind of nesting, alone and mixed with chains of every level, goes there and back. */
static void deepest_texts_read_back(const char *where)
{
    static const struct deep_row rows[] = {
        {"(", "1", ")"},   {"{", "1", "}"},
        {"[a=", "1", "]"}, {"!", "a", ""},
        {"-", "a", ""},    {"f(", "1", ")"},
        {"a?b:", "c", ""}, {"a?", "b", ":c"},
        {"a[", "0", "]"},  {"(a||b&&c|d^e&f==g<h<<i+j*", "1", ")"},
        {"a+-", "1", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int d = 0; d < 2; d++) {
            struct symbols *symbols = symbols_new(NULL, 0, 0);
            struct build build;
            struct buf text;
            struct tree *deepest = NULL;
            unsigned depth = 0;

            build_init(&build, symbols, dialects[d]);
            buf_init(&text);
            for (unsigned n = TREE_DEPTH_MAX + 1; n > 0 && !deepest; n--) {
                buf_reset(&text);
                repeat(&text, rows[i].unit, n);
                buf_adds(&text, rows[i].after);
                repeat(&text, rows[i].close, n);
                deepest = parse_expr(&build, NULL, text.text, text.len, NULL);
                depth = n;
            }
            bool same =
                deepest && reads_back(&build, deepest, PRINT_PLAIN, 0) && reads_back(&build, deepest, PRINT_COMPACT, 0);
            if (!tap_ok(same && depth >= 50, "%s: '%s%s' may be nested deeply, and then reads back%s",
                        dialects[d]->name, rows[i].unit, rows[i].close, where))
                tap_diag("the deepest is %u", depth);
            tree_unref(deepest);
            build_done(&build);
            buf_done(&text);
            symbols_free(symbols);
        }
}

struct wide_row {
    const char *sentence, *before, *unit, *after;
    size_t count;
};

static void wide_texts_are_fine(const char *where)
{
    static const struct wide_row rows[] = {
        {"a thousand || are fine", "", "a == 1 || ", "b", 1000},
        {"a hundred thousand || are fine", "", "a||", "b", 100000},
        {"a hundred thousand sums are fine", "", "1 + a - ", "1", 100000},
        {"a list of a hundred thousand is fine", "{", "1, ", "1}", 100000},
        {"a list of a hundred thousand ads is fine", "{", "[a=1], ", "{}}", 100000},
        {"a call of a thousand arguments is fine", "f(", "1, ", "1)", 1000},
        {"a path of two hundred steps is fine", "", "a.", "b", 200},
        {"two hundred subscripts are fine", "a", "[0]", "", 200},
        {"a string of a million bytes is fine", "\"", "x", "\"", 1000000},
        {"a comment of a million bytes is fine", "/*", "x", "*/ 1", 1000000},
        {"a million blanks are fine", "", " ", "1", 1000000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct symbols *symbols = symbols_new(NULL, 0, 0);
        struct build build;
        struct buf text;
        struct err err = {0};

        build_init(&build, symbols, &dialect_classic);
        buf_init(&text);
        buf_adds(&text, rows[i].before);
        repeat(&text, rows[i].unit, rows[i].count);
        buf_adds(&text, rows[i].after);
        struct tree *tree = parse_expr(&build, NULL, text.text, text.len, &err);
        if (!tap_ok(tree && reads_back(&build, tree, PRINT_COMPACT, 0), "%s%s", rows[i].sentence, where))
            tap_diag("%s", err.text);
        tree_unref(tree);
        build_done(&build);
        buf_done(&text);
        symbols_free(symbols);
    }
}

/* An ad of ten thousand attributes, each found; with each name twice it is refused, or the last holds. */
static void large_ads_are_found_in(const struct dialect *dialect)
{
    struct symbols *symbols = symbols_new(NULL, 0, 0);
    struct build build;
    struct buf text;
    bool found = true;

    build_init(&build, symbols, dialect);
    for (int count = 1; count <= 10000; count = count < 20 ? count + 1 : count * 3) {
        buf_init(&text);
        buf_addc(&text, '[');
        for (int i = 0; i < count; i++)
            buf_addf(&text, "Name%d=%d;", i, i);
        buf_addc(&text, ']');
        struct tree *tree = parse_ad(&build, NULL, text.text, text.len, NULL);
        for (int i = 0; i <= count && tree; i++) {
            char name[20];
            snprintf(name, sizeof name, "nAME%d", i);
            symbol s = symbols_take(symbols, name, strlen(name));
            const struct expr *e = tree_find(tree, tree_root(tree), s);
            found = found && (i < count ? e && e->kind == EXPR_INTEGER && e->u.integer == i : !e);
            symbols_drop(symbols, s);
        }
        found = found && tree;
        tree_unref(tree);

        text.len--;
        for (int i = 0; i < count; i++)
            buf_addf(&text, "NAME%d=%d;", i, -i - 1);
        buf_addc(&text, ']');
        tree = parse_ad(&build, NULL, text.text, text.len, NULL);
        if (dialect->last_duplicate_holds) {
            found = found && tree && expr_part_count(tree_root(tree)) == (uint32_t)count;
            for (int i = 0; i < count && tree; i++) {
                char name[20];
                snprintf(name, sizeof name, "name%d", i);
                symbol s = symbols_take(symbols, name, strlen(name));
                const struct expr *e = tree_find(tree, tree_root(tree), s);
                found = found && e && e->u.integer == -i - 1;
                symbols_drop(symbols, s);
            }
        } else {
            found = found && !tree;
        }
        tree_unref(tree);
        buf_done(&text);
    }
    tap_ok(found, "%s: in ads of any size each attribute is found, whatever its case", dialect->name);
    build_done(&build);
    tap_ok(symbols_count(symbols) == 0, "%s: large ads give their names back", dialect->name);
    symbols_free(symbols);
}

int main(int argc, char **argv)
{
    if (small_stack_is_child(argc, argv)) {
        deep_texts_are_refused(", with a stack of 256 KiB");
        deepest_texts_read_back(", with a stack of 256 KiB");
        wide_texts_are_fine(", with a stack of 256 KiB");
        return tap_done();
    }
    for (int d = 0; d < 2; d++) {
        for (int style = PRINT_PLAIN; style <= PRINT_CONDOR; style++)
            random_trees_read_back(dialects[d], style);
        random_text_is_judged(dialects[d]);
        large_ads_are_found_in(dialects[d]);
    }
    errors_have_places();
    deep_texts_are_refused("");
    deepest_texts_read_back("");
    wide_texts_are_fine("");
    small_stack_run(argv[0]);
    return tap_done();
}
