/* reads.c: the names of the other side's ads that some ads and a policy read. */
#include "match/index/reads.h"

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

void reads_add(struct reads *reads, symbol name)
{
    for (uint32_t i = 0; i < reads->count; i++)
        if (symbol_same(reads->items[i], name))
            return;
    if (reads->count == READS_MAX) {
        reads->all = true;
        return;
    }
    ARRAY_ROOM(reads->items, reads->count, reads->room, 32);
    symbols_hold(reads->symbols, name);
    reads->items[reads->count++] = name;
}

void reads_add_ad(struct reads *reads, const struct tree *ad)
{
    struct refs refs;

    reads->all = reads->all || refs_bits(ad) == UINT64_MAX;
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
