/* why_change.c: the request as it would be, changed. */
#include "match/pair/why_parts.h"

struct change {
    struct build build;
    const struct tree *request;
    const struct why_swap *swaps;
    uint32_t count;
};

static const struct why_swap *swap_of(const struct change *change, const struct expr *e)
{
    for (uint32_t i = 0; i < change->count; i++)
        if (change->swaps[i].e == e)
            return &change->swaps[i];
    return NULL;
}

static const struct why_swap *swap_of_attribute(const struct change *change, symbol name)
{
    for (uint32_t i = 0; i < change->count; i++)
        if (!change->swaps[i].e && symbol_same(change->swaps[i].attribute, name))
            return &change->swaps[i];
    return NULL;
}

static void push_tree(struct change *change, const struct tree *tree)
{
    if (tree)
        build_copy(&change->build, tree, tree_root(tree));
    else
        build_boolean(&change->build, true);
}

/* Pushes an expression with its clauses changed. Clauses stand in conjunctions only. */
static void push_changed(struct change *change, const struct expr *e)
{
    const struct expr *parts = tree_parts(change->request, e);
    const struct why_swap *swap = swap_of(change, e);

    if (swap) {
        push_tree(change, swap->to);
    } else if (e->kind == EXPR_CHAIN && parts[1].label == OP_AND) {
        for (uint32_t i = 0; i < e->u.run.count; i++) {
            push_changed(change, &parts[i]);
            build_top(&change->build)->label = i ? OP_AND : OP_NONE;
        }
        build_bind(&change->build, EXPR_CHAIN, e->u.run.count);
        build_top(&change->build)->flags |= e->flags & EXPR_FLAG_PARENTHESES;
    } else {
        build_copy(&change->build, change->request, e);
    }
}

static void name_top(struct change *change, symbol name)
{
    symbols_hold(change->build.symbols, name);
    build_attribute(&change->build, name);
}

struct tree *why_change(const struct tree *request, const struct why_swap *swaps, uint32_t count)
{
    struct change change = {.request = request, .swaps = swaps, .count = count};
    const struct expr *root = tree_root(request), *parts = tree_parts(request, root);
    uint32_t attributes = root->u.run.count, place;
    struct tree *tree = NULL;

    build_init(&change.build, request->symbols, request->dialect);
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        const struct why_swap *swap = swap_of_attribute(&change, parts[i].label);

        if (swap)
            push_tree(&change, swap->to);
        else
            push_changed(&change, &parts[i]);
        name_top(&change, parts[i].label);
    }
    for (uint32_t i = 0; i < count; i++) { /* attributes that are new */
        if (swaps[i].e || tree_find(request, root, swaps[i].attribute) ||
            swap_of_attribute(&change, swaps[i].attribute) != &swaps[i])
            continue;
        push_tree(&change, swaps[i].to);
        name_top(&change, swaps[i].attribute);
        attributes++;
    }
    if (build_ad(&change.build, attributes, &place) == 0)
        tree = build_seal(&change.build);
    build_done(&change.build);
    return tree;
}
