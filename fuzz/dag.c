/* dag.c (fuzzer): files of workflows from any text.
 *
 * Law: what is refused has a reason and a place within the text, as every remark has; names are good and each is there once; parents are nodes.
 * The nodes as ads are a workflow exactly when taking away those without parents, again and again, leaves none.
 *
 *     byte 0   where the text is cut in two files, in 256ths */
#include "lang/form/dag.h"
#include "fuzz.h"

#include "lang/ad/names.h"
#include "lang/text/print.h"

#define CHECKED_MAX 40

static void any_remark(void *user, const struct err *remark)
{
    const unsigned *lines = user;

    if (!remark->line || remark->line > *lines || !*remark->text)
        fuzz_broken("a remark has a place and words");
}

static void nodes_check(const struct dag *dag)
{
    for (uint32_t i = 0; i < dag->count; i++) {
        const struct dag_node *node = &dag->nodes[i];

        if (!dag_name_is_good(node->name, strlen(node->name)) ||
            textmap_find(&dag->names, node->name, strlen(node->name)) != i || !node->file || !*node->file)
            fuzz_broken("a node has a name of its own, and a file");
        for (uint32_t k = 0; k < node->parent_count; k++)
            if (node->parents[k] >= dag->count)
                fuzz_broken("a parent is a node");
    }
}

/* The slow twin: is there an order? */
static bool has_order(const struct dag *dag)
{
    bool through[CHECKED_MAX] = {false};
    uint32_t left = dag->count;

    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < dag->count; i++) {
            bool ready = !through[i];

            for (uint32_t k = 0; k < dag->nodes[i].parent_count; k++)
                ready = ready && through[dag->nodes[i].parents[k]];
            through[i] = through[i] || ready;
            left -= ready;
            moved = moved || ready;
        }
    }
    return !left;
}

static void order_check(const struct dag *dag, struct symbols *symbols)
{
    struct tree *ads[CHECKED_MAX];
    struct err err = {0};
    uint32_t place = 0;
    struct buf text;
    int result;

    buf_init(&text);
    for (uint32_t i = 0; i < dag->count; i++) {
        const struct dag_node *node = &dag->nodes[i];

        buf_reset(&text);
        buf_adds(&text, "[ Node = ");
        print_string(&text, node->name, strlen(node->name), PRINT_PLAIN);
        buf_adds(&text, "; After = {");
        for (uint32_t k = 0; k < node->parent_count; k++) {
            const char *name = dag->nodes[node->parents[k]].name;

            buf_adds(&text, k ? ", " : " ");
            print_string(&text, name, strlen(name), PRINT_PLAIN);
        }
        buf_adds(&text, " } ]");
        ads[i] = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, text.text, text.len, &err);
        if (!ads[i])
            fuzz_broken("a node can be an ad");
    }
    result = dag_check(ads, dag->count, 0, &place, &err);
    if ((result == 1) != has_order(dag) || (result < 0 && (place >= dag->count || !*err.text)))
        fuzz_broken("a workflow is one that has an order");
    for (uint32_t i = 0; i < dag->count; i++)
        tree_unref(ads[i]);
    buf_done(&text);
}

static bool part_read(struct dag *dag, const uint8_t *data, size_t size)
{
    char *copy = malloc(size + !size); /* of its exact length, so that reading past its end is seen */
    unsigned lines = 1;
    struct err err = {0};
    bool good;

    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    memcpy(copy, data, size);
    dag_recognise(NULL, copy, size);
    good = dag_read(dag, copy, size, any_remark, &lines, &err) == 0;
    if (!good && (!*err.text || !err.line || err.line > lines))
        fuzz_broken("what is refused has a reason, and a place");
    free(copy);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct symbols *symbols;
    struct dag dag;
    size_t cut;

    if (!size)
        return 0;
    if (!symbols)
        symbols = names_new(0);
    cut = (size - 1) * data[0] / 256;
    dag_init(&dag);
    if (part_read(&dag, data + 1, size - 1 - cut) && (!cut || part_read(&dag, data + size - cut, cut))) {
        nodes_check(&dag);
        if (dag.count <= CHECKED_MAX)
            order_check(&dag, symbols);
    }
    dag_done(&dag);
    return 0;
}
