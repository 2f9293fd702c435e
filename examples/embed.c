/* embed.c: Berth in a program of your own: two ads meet, and what one thinks of the other is printed.
 *     cc embed.c $(pkg-config --cflags --libs berth) */
#include <berth.h>
#include <stdio.h>

static struct tree *parse(struct symbols *symbols, const char *text)
{
    struct err err;
    struct tree *ad = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &err);

    if (!ad)
        fprintf(stderr, "%u:%u: %s\n", err.line, err.column, err.text);
    return ad;
}

int main(void)
{
    struct symbols *symbols = names_new(0);
    struct tree *job = parse(symbols, "[ Image = 4G; Rank = other.Memory / 1G; Constraint = other.Memory >= Image ]");
    struct tree *machine = parse(symbols, "[ Name = \"heron\"; Memory = 8G ]");
    const struct env env = {.now = 0}; /* nothing here asks for the time */
    struct arena arena;                /* values live here */
    struct eval eval;
    struct value constraint, rank;
    struct pair pair;
    struct buf out;

    if (!job || !machine)
        return 1;
    arena_init(&arena);
    buf_init(&out);
    pair_init(&pair, job, machine);
    eval_init(&eval, &env, &arena);
    eval_attribute(&eval, &pair.left, NAME_CONSTRAINT, &constraint);
    eval_attribute(&eval, &pair.left, NAME_RANK, &rank);
    value_print(&out, &dialect_classic, &rank, PRINT_PLAIN);
    printf("match: %s, rank: %s\n", value_is_true(&constraint) ? "yes" : "no", buf_string(&out));
    buf_done(&out);
    arena_done(&arena);
    tree_unref(job);
    tree_unref(machine);
    symbols_free(symbols);
    return 0;
}
