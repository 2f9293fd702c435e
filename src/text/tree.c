/* tree.c: an expression as one block: sharing, finding, comparing. */
#include "text/tree.h"

#include <stdlib.h>
#include <string.h>

const struct op_row op_table[OP_COUNT] = {
    [OP_NONE] = {"", 0},
    [OP_OR] = {"||", 1},
    [OP_AND] = {"&&", 2},
    [OP_BIT_OR] = {"|", 3},
    [OP_BIT_XOR] = {"^", 4},
    [OP_BIT_AND] = {"&", 5},
    [OP_EQUAL] = {"==", 6},
    [OP_NOT_EQUAL] = {"!=", 6},
    [OP_IS] = {"is", 6},
    [OP_ISNT] = {"isnt", 6},
    [OP_LESS] = {"<", 7},
    [OP_LESS_EQUAL] = {"<=", 7},
    [OP_GREATER] = {">", 7},
    [OP_GREATER_EQUAL] = {">=", 7},
    [OP_SHIFT_LEFT] = {"<<", 8},
    [OP_SHIFT_RIGHT] = {">>", 8},
    [OP_SHIFT_RIGHT_ZERO] = {">>>", 8},
    [OP_ADD] = {"+", 9},
    [OP_SUBTRACT] = {"-", 9},
    [OP_MULTIPLY] = {"*", 10},
    [OP_DIVIDE] = {"/", 10},
    [OP_REMAINDER] = {"%", 10},
    [OP_NOT] = {"!", OP_LEVEL_PREFIX},
    [OP_COMPLEMENT] = {"~", OP_LEVEL_PREFIX},
};

struct tree *tree_ref(struct tree *tree)
{
    if (tree)
        tree->references++;
    return tree;
}

void expr_drop_symbols(struct symbols *symbols, const struct expr *cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct expr *e = &cells[i];

        if (e->flags & EXPR_FLAG_NAMED)
            symbols_drop(symbols, e->label);
        if (expr_has_symbol(e))
            symbols_drop(symbols, e->u.name.id);
        if (e->kind == EXPR_DOT)
            symbols_drop(symbols, EXPR_DOT_BASE(e));
    }
}

void tree_unref(struct tree *tree)
{
    if (!tree || --tree->references)
        return;
    expr_drop_symbols(tree->symbols, tree->cells, tree->cell_count);
    free(tree);
}

uint32_t expr_part_count(const struct expr *e)
{
    switch (e->kind) {
    case EXPR_LIST:
    case EXPR_AD:
    case EXPR_PATH:
    case EXPR_CHAIN:
        return e->u.run.count;
    case EXPR_PREFIX:
    case EXPR_WITHIN:
        return 1;
    case EXPR_CHOICE:
        return 3;
    case EXPR_CALL:
        return (uint32_t)e->small;
    default:
        return 0;
    }
}

/* The table of an ad is a power of two of slots, one byte each for up to 255 attributes, else two: the attribute's place
 * plus one, or 0. `build.c` fills it. */
const struct expr *tree_find(const struct tree *tree, const struct expr *ad, symbol name)
{
    const struct expr *parts = tree_parts(tree, ad);
    uint32_t count = ad->u.run.count;

    if (count < TREE_TABLE_FROM) {
        for (uint32_t i = 0; i < count; i++)
            if (symbol_same(parts[i].label, name))
                return &parts[i];
        return NULL;
    }
    {
        const struct expr *table = parts - 1;
        const unsigned char *slots = (const unsigned char *)tree_text(tree) + table->u.run.at;
        uint32_t mask = table->u.run.count - 1, slot = symbol_name(name) * 0x9e3779b1u >> 16;

        for (;; slot++) {
            uint32_t place = count < 256 ? slots[slot & mask]
                                         : (uint32_t)slots[(slot & mask) * 2] << 8 | slots[(slot & mask) * 2 + 1];

            if (!place)
                return NULL;
            if (symbol_same(parts[place - 1].label, name))
                return &parts[place - 1];
        }
    }
}

bool tree_equal(const struct tree *a, const struct expr *ea, const struct tree *b, const struct expr *eb)
{
    uint32_t count;
    const struct expr *pa, *pb;

    while (ea->kind == EXPR_WITHIN)
        ea = tree_parts(a, ea);
    while (eb->kind == EXPR_WITHIN)
        eb = tree_parts(b, eb);
    count = expr_part_count(ea);
    if (ea->kind != eb->kind || count != expr_part_count(eb))
        return false;
    switch (ea->kind) {
    case EXPR_UNDEFINED:
    case EXPR_ERROR:
        return true;
    case EXPR_BOOLEAN:
        return ea->small == eb->small;
    case EXPR_INTEGER:
    case EXPR_RELTIME:
        return ea->u.integer == eb->u.integer;
    case EXPR_ABSTIME:
        return ea->u.integer == eb->u.integer && ea->small == eb->small;
    case EXPR_REAL:
        return memcmp(&ea->u.real, &eb->u.real, sizeof ea->u.real) == 0;
    case EXPR_STRING:
        return ea->u.run.count == eb->u.run.count &&
               memcmp(tree_string(a, ea), tree_string(b, eb), ea->u.run.count) == 0;
    case EXPR_DOT:
        return symbol_same(EXPR_DOT_BASE(ea), EXPR_DOT_BASE(eb)) && symbol_same(ea->u.name.id, eb->u.name.id);
    case EXPR_NAME:
    case EXPR_ROOT_NAME:
        return symbol_same(ea->u.name.id, eb->u.name.id);
    case EXPR_CALL:
        if (!symbol_same(ea->u.name.id, eb->u.name.id))
            return false;
        break;
    case EXPR_PREFIX:
        if (ea->small != eb->small)
            return false;
        break;
    default:
        break;
    }
    pa = tree_parts(a, ea);
    pb = tree_parts(b, eb);
    for (uint32_t i = 0; i < count; i++) {
        bool labelled = ea->kind == EXPR_AD || ((ea->kind == EXPR_CHAIN || ea->kind == EXPR_PATH) && i > 0);

        if (labelled && !(ea->kind == EXPR_AD ? symbol_same(pa[i].label, pb[i].label) : pa[i].label == pb[i].label))
            return false;
        if (!tree_equal(a, &pa[i], b, &pb[i]))
            return false;
    }
    return true;
}

size_t tree_size(const struct tree *tree)
{
    return (size_t)(tree_text(tree) - (const char *)tree) + tree->text_len;
}
