/* tree.c: an expression as one block: sharing, finding, comparing. */
#include "lang/text/tree.h"

#include "lang/base/rng.h"

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
        if (expr_is_literal(e)) /* most cells need no further question */
            continue;
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
    if (tree->note)
        tree->note->free(tree->note);
    expr_drop_symbols(tree->symbols, tree->cells, tree->cell_count);
    free(tree);
}

/* Compares two cells of one kind, without their parts. */
static inline bool cell_equal(const struct tree *a, const struct expr *ea, const struct tree *b, const struct expr *eb)
{
    switch (ea->kind) {
    case EXPR_BOOLEAN:
    case EXPR_PREFIX:
        return ea->small == eb->small;
    case EXPR_INTEGER:
    case EXPR_RELTIME:
    case EXPR_REAL: /* compared by its bits */
        return ea->u.integer == eb->u.integer;
    case EXPR_ABSTIME:
        return ea->u.integer == eb->u.integer && ea->small == eb->small;
    case EXPR_STRING:
        return ea->u.run.count == eb->u.run.count &&
               memcmp(tree_string(a, ea), tree_string(b, eb), ea->u.run.count) == 0;
    case EXPR_DOT:
        return symbol_same(EXPR_DOT_BASE(ea), EXPR_DOT_BASE(eb)) && symbol_same(ea->u.name.id, eb->u.name.id);
    case EXPR_NAME:
    case EXPR_ROOT_NAME:
    case EXPR_CALL:
        return symbol_same(ea->u.name.id, eb->u.name.id);
    default:
        return true;
    }
}

bool tree_equal(const struct tree *a, const struct expr *ea, const struct tree *b, const struct expr *eb)
{
    uint32_t count;
    const struct expr *pa, *pb;
    bool names, operators;

    while (ea->kind == EXPR_WITHIN)
        ea = tree_parts(a, ea);
    while (eb->kind == EXPR_WITHIN)
        eb = tree_parts(b, eb);
    if (ea->kind != eb->kind || !cell_equal(a, ea, b, eb))
        return false;
    count = expr_part_count(ea);
    if (count != expr_part_count(eb))
        return false;
    pa = tree_parts(a, ea);
    pb = tree_parts(b, eb);
    names = ea->kind == EXPR_AD;
    operators = ea->kind == EXPR_CHAIN || ea->kind == EXPR_PATH;
    for (uint32_t i = 0; i < count; i++) {
        if ((names && !symbol_same(pa[i].label, pb[i].label)) || (operators && i && pa[i].label != pb[i].label))
            return false;
        if (expr_is_literal(&pa[i]) || pa[i].kind == EXPR_NAME || pa[i].kind == EXPR_DOT) { /* most parts: no call */
            if (pa[i].kind != pb[i].kind ? !tree_equal(a, &pa[i], b, &pb[i]) : !cell_equal(a, &pa[i], b, &pb[i]))
                return false;
        } else if (!tree_equal(a, &pa[i], b, &pb[i])) {
            return false;
        }
    }
    return true;
}

/* A cell without its parts. */
static inline uint64_t cell_hash(const struct tree *tree, const struct expr *e)
{
    uint64_t hash = (uint64_t)e->kind << 56;

    switch (e->kind) {
    case EXPR_STRING: {
        const char *text = tree_string(tree, e);
        uint32_t len = e->u.run.count, i = 0;

        for (hash += len; i + 8 <= len; i += 8) {
            uint64_t word;

            memcpy(&word, text + i, sizeof word);
            hash = rng_mix(hash ^ word);
        }
        for (; i < len; i++)
            hash = hash * 0x100000001b3u ^ (unsigned char)text[i];
        return hash;
    }
    case EXPR_BOOLEAN:
    case EXPR_PREFIX:
        return hash ^ (uint16_t)e->small;
    case EXPR_ABSTIME:
        return hash ^ ((uint64_t)e->u.integer + ((uint64_t)(uint16_t)e->small << 40));
    case EXPR_INTEGER:
    case EXPR_RELTIME:
    case EXPR_REAL:
        return hash ^ (uint64_t)e->u.integer;
    case EXPR_DOT:
        return hash ^ ((uint64_t)symbol_name(e->u.name.id) << 32 | symbol_name(EXPR_DOT_BASE(e)));
    case EXPR_NAME:
    case EXPR_ROOT_NAME:
    case EXPR_CALL:
        return hash ^ (uint64_t)symbol_name(e->u.name.id) << 32;
    default:
        return hash;
    }
}

uint64_t tree_hash(const struct tree *tree, const struct expr *e)
{
    const struct expr *parts;
    uint32_t count;
    uint64_t hash;

    while (e->kind == EXPR_WITHIN)
        e = tree_parts(tree, e);
    hash = rng_mix(cell_hash(tree, e));
    if (expr_is_literal(e))
        return hash;
    count = expr_part_count(e);
    hash += count;
    parts = tree_parts(tree, e);
    for (uint32_t i = 0; i < count; i++) {
        const struct expr *part = &parts[i];
        uint64_t label = e->kind == EXPR_AD                                         ? symbol_name(part->label)
                         : (e->kind == EXPR_CHAIN || e->kind == EXPR_PATH) && i > 0 ? part->label
                                                                                    : 0;

        while (part->kind == EXPR_WITHIN)
            part = tree_parts(tree, part);
        hash = rng_mix(hash) + (label << 40);
        if (expr_is_literal(part) || part->kind == EXPR_NAME || part->kind == EXPR_DOT) /* most parts: no call */
            hash ^= cell_hash(tree, part);
        else
            hash ^= tree_hash(tree, part);
    }
    return rng_mix(hash);
}

size_t tree_size(const struct tree *tree)
{
    return (size_t)(tree_text(tree) - (const char *)tree) + tree->text_len;
}
