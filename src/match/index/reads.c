/* reads.c: the names of the other side's ads that some ads and a policy read. */
#include "match/index/reads.h"

#include "lang/ad/functions.h"
#include "lang/ad/refs.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdlib.h>

void reads_init(struct reads *reads, struct symbols *symbols)
{
    *reads = (struct reads){.symbols = symbols};
}

void reads_done(struct reads *reads)
{
    if (!reads)
        return;
    for (uint32_t i = 0; i < reads->count; i++)
        symbols_drop(reads->symbols, reads->items[i]);
    free(reads->items);
    *reads = (struct reads){0};
}

/* The slot of a name: the one that it has, or the one where it would go. */
static unsigned char *reads_slot(struct reads *reads, symbol name)
{
    uint32_t slot = symbol_name(name) * 0x9e3779b1u >> 16;

    for (;; slot++) {
        unsigned char *at = &reads->slots[slot % READS_SLOTS];

        if (!*at || symbol_same(reads->items[*at - 1], name))
            return at;
    }
}

void reads_add(struct reads *reads, symbol name)
{
    unsigned char *slot = reads_slot(reads, name);

    if (*slot)
        return;
    if (reads->count == READS_MAX) {
        reads->all = true;
        return;
    }
    ARRAY_ROOM(reads->items, reads->count, reads->room, 32);
    symbols_hold(reads->symbols, name);
    reads->items[reads->count++] = name;
    *slot = (unsigned char)reads->count;
}

/* Is every name that the ad mentions known, or its own? Then it reads nothing new. Where that takes more than a look at each cell the answer is no. */
static bool reads_nothing_new(struct reads *reads, const struct tree *ad)
{
    const struct expr *root = tree_root(ad);

    if (root->kind != EXPR_AD || tree_find(ad, root, NAME_OTHER) || tree_find(ad, root, NAME_TARGET))
        return false;
    for (uint32_t i = 0; i < ad->cell_count; i++) {
        const struct expr *e = &ad->cells[i];
        const struct function *function;
        symbol name;

        switch (e->kind) {
        case EXPR_NAME:
            name = e->u.name.id;
            break;
        case EXPR_DOT:
            name = EXPR_DOT_BASE(e);
            if (symbol_same(name, NAME_OTHER) || symbol_same(name, NAME_TARGET)) {
                if (!*reads_slot(reads, e->u.name.id))
                    return false;
                continue;
            }
            break;
        case EXPR_CALL:
            function = function_find(ad->dialect, e->u.name.id);
            if (function && function->traits & FUNCTION_SCOPE)
                return false;
            continue;
        case EXPR_AD:
            if (e == root)
                continue;
            return false;
        case EXPR_PATH:
            return false;
        default:
            continue;
        }
        if (symbol_name(name) <= NAME_NUMBER_TARGET || (!*reads_slot(reads, name) && !tree_find(ad, root, name)))
            return false;
    }
    return true;
}

void reads_add_ad(struct reads *reads, const struct tree *ad)
{
    struct refs refs;

    if (reads->all || reads_nothing_new(reads, ad))
        return;
    reads->all = refs_bits(ad) == UINT64_MAX;
    if (reads->all)
        return;
    refs_init(&refs);
    refs_add_ad(&refs, ad);
    for (uint32_t i = 0; i < refs.count && !reads->all; i++) {
        reads->all = refs.items[i].len == 0; /* the whole ad */
        if (!reads->all)
            reads_add(reads, refs.items[i].path[0]);
    }
    refs_done(&refs);
}

void reads_add_policy(struct reads *reads, const struct tree *ad)
{
    reads_add(reads, NAME_RANK);
    reads_add(reads, NAME_PREEMPTS); /* of the default vector */
    reads_add(reads, NAME_CURRENTRANK);
    if (!ad)
        return;
    reads->all = reads->all || refs_bits(ad) == UINT64_MAX;
    for (uint32_t i = 0; i < ad->cell_count; i++) {
        const struct expr *e = &ad->cells[i];

        if (e->kind == EXPR_NAME || e->kind == EXPR_ROOT_NAME || e->kind == EXPR_DOT)
            reads_add(reads, e->u.name.id);
        reads->all = reads->all || (e->kind == EXPR_NAME && (symbol_name(e->u.name.id) <= NAME_NUMBER_TARGET ||
                                                             symbol_same(e->u.name.id, NAME_LABEL)));
    }
}
