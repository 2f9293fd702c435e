/* embed.c: Berth in a program of your own: two ads meet, and the value of one's rank of the other is printed.
 *     cc embed.c $(pkg-config --cflags --libs berth) */
#include <berth.h>
#include <stdio.h>

int main(void)
{
    static const char job_text[] = "[ Image = 4G; Rank = other.Memory >= Image ? other.Memory / 1G : 0 ]";
    static const char machine_text[] = "[ Name = \"heron\"; Memory = 8G ]";
    struct symbols *symbols = names_new(0);
    struct build build; /* reads texts; NULL and the error when it cannot */
    struct err err;
    build_init(&build, symbols, &dialect_classic);
    struct tree *job = parse_ad(&build, NULL, job_text, sizeof job_text - 1, &err);
    struct tree *machine = job ? parse_ad(&build, NULL, machine_text, sizeof machine_text - 1, &err) : NULL;
    int status = machine ? 0 : 1;
    struct buf out = {0};
    if (machine) {
        const struct env env = {.now = 0}; /* nothing here asks for the time */
        struct arena arena = {0};          /* what evaluation makes lives here */
        struct pair pair;
        struct eval eval;
        struct value rank;
        pair_init(&pair, job, machine);
        eval_init(&eval, &env, &arena);
        eval_attribute(&eval, &pair.left, NAME_RANK, &rank);
        value_print(&out, &dialect_classic, &rank, PRINT_PLAIN);
        arena_done(&arena);
    }
    machine ? printf("rank: %s\n", buf_string(&out)) : printf("%u:%u: %s\n", err.line, err.column, err.text);
    buf_done(&out);
    tree_unref(machine);
    tree_unref(job);
    build_done(&build);
    symbols_free(symbols);
    return status;
}
