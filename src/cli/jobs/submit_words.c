/* submit_words.c: the words of berth submit. */
#include "cli/jobs/submit_words.h"

#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "lang/text/words.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

void submit_words_init(struct submit_words *words, int word_count, char **all)
{
    *words = (struct submit_words){.files = mem_alloc(((size_t)word_count + 1) * sizeof *words->files),
                                   .given = mem_alloc(((size_t)word_count + 1) * sizeof *words->given)};
    for (int i = 0; i < word_count; i++) {
        size_t name = strcspn(all[i], "=");

        if (all[i][name] && word_is_plain(all[i], name) && word_may_name(all[i], name) && access(all[i], F_OK) != 0)
            words->given[words->given_count++] = (struct submit_given){mem_dup(all[i], name), all[i] + name + 1};
        else
            words->files[words->file_count++] = all[i];
    }
}

void submit_words_done(struct submit_words *words)
{
    while (words->given_count)
        free((char *)(uintptr_t)words->given[--words->given_count].name);
    free(words->given);
    free(words->files);
}

/* Is it a constant, or a list of constants? */
static bool is_constant(const struct tree *tree)
{
    const struct expr *e = tree_root(tree);

    if (e->kind != EXPR_LIST)
        return expr_is_literal(e);
    for (uint32_t i = 0; i < e->u.run.count; i++)
        if (!expr_is_literal(&tree_parts(tree, e)[i]))
            return false;
    return true;
}

/* Is that an attribute whose value is an expression about machines? A text would never be what is meant. */
static bool is_about_machines(const char *name)
{
    static const char *const names[] = {"Constraint", "Requirements", "Rank"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(name, names[i]))
            return true;
    return !strncasecmp(name, "Request", 7);
}

/* Appends a value as the language writes it: a constant as it is, anything else as a text; but what is about machines may be any expression. */
static int value_add(struct buf *out, struct symbols *symbols, const struct submit_given *given)
{
    size_t len = strlen(given->value);
    struct err err = {0};
    struct build build;
    struct tree *tree;
    int result = 0;

    build_init(&build, symbols, &dialect_classic);
    tree = parse_expr(&build, NULL, given->value, len, &err);
    if (tree && (is_about_machines(given->name) || is_constant(tree)))
        print_expr(out, tree, tree_root(tree), PRINT_PLAIN);
    else if (is_about_machines(given->name))
        result = (report("%s=%.200s: %s", given->name, given->value, err.text), -1);
    else
        print_string(out, given->value, len, PRINT_PLAIN);
    tree_unref(tree);
    build_reset(&build);
    build_done(&build);
    return result;
}

/* Of two values for one name the last holds. */
static bool is_set_again(const struct submit_words *words, int place)
{
    for (int i = place + 1; i < words->given_count; i++)
        if (!strcasecmp(words->given[i].name, words->given[place].name))
            return true;
    return false;
}

int submit_words_layer(const struct submit_words *words, struct symbols *symbols, struct tree **ret)
{
    struct err err = {0};
    struct buf text;
    struct tree *layer = NULL;
    int result = 0;

    if (!words->given_count)
        return 0;
    buf_init(&text);
    buf_addc(&text, '[');
    for (int i = 0; i < words->given_count && result == 0; i++) {
        if (is_set_again(words, i))
            continue;
        buf_addf(&text, " %s = ", words->given[i].name);
        result = value_add(&text, symbols, &words->given[i]);
        buf_addc(&text, ';');
    }
    buf_adds(&text, " ]");
    if (result == 0)
        layer = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&text), text.len, &err);
    if (!layer && result == 0)
        report("%s=%.60s: %s", words->given[0].name, words->given[0].value, err.text);
    buf_done(&text);
    *ret = layer;
    return layer ? 0 : -1;
}
