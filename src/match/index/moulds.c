/* moulds.c: ads that are written alike but for the values of their literals. */
#include "match/index/moulds.h"

#include "lang/base/mem.h"
#include "lang/base/rng.h"

#include <stdlib.h>

#define CELLS_MAX 1024  /* larger ads have no mould, ... */
#define BYTES_MAX 16384 /* ... so that all moulds together take little memory */
#define SAMPLE 8        /* cells by which a mould is found */
#define MISSED_MAX 8    /* then a mould makes room */

void moulds_done(struct moulds *moulds)
{
    for (uint32_t i = 0; moulds->items && i < MOULDS; i++)
        tree_unref(moulds->items[i].ad);
    free(moulds->items);
    moulds->items = NULL;
}

/* Both have the same place in their trees. */
static inline bool cell_alike(const struct expr *a, const struct expr *b)
{
    if (a->label != b->label || a->flags != b->flags)
        return false;
    if (expr_is_literal(a))
        return expr_is_literal(b);
    if (a->kind != b->kind || a->small != b->small)
        return false;
    switch (a->kind) {
    case EXPR_NAME:
    case EXPR_ROOT_NAME:
        return a->u.name.id == b->u.name.id;
    case EXPR_TABLE: /* its text lies elsewhere where strings are longer */
        return a->u.run.count == b->u.run.count;
    default:
        return a->u.run.at == b->u.run.at && a->u.run.count == b->u.run.count;
    }
}

bool moulds_alike(const struct tree *a, const struct tree *b)
{
    if (a->cell_count != b->cell_count || a->dialect != b->dialect)
        return false;
    for (uint32_t i = 0; i < a->cell_count; i++)
        if (!cell_alike(&a->cells[i], &b->cells[i]))
            return false;
    return true;
}

static uint32_t mould_place(const struct tree *ad)
{
    uint64_t hash = ad->dialect->bit + ad->cell_count;

    for (uint32_t i = 0; i < SAMPLE; i++) {
        const struct expr *e = &ad->cells[i * ad->cell_count / SAMPLE];

        hash = hash * 0x9e3779b97f4a7c15u + e->label + (expr_is_literal(e) ? 0u : e->kind);
    }
    return (uint32_t)(rng_mix(hash) % MOULDS);
}

uint32_t moulds_find(struct moulds *moulds, struct tree *ad)
{
    struct mould *mould;

    if (ad->cell_count > CELLS_MAX || tree_size(ad) > BYTES_MAX)
        return MOULD_NONE;
    if (!moulds->items) {
        moulds->items = mem_alloc_zeros(MOULDS, sizeof *moulds->items);
        for (uint32_t i = 0; i < MOULDS; i++)
            moulds->items[i].number = i;
    }
    mould = &moulds->items[mould_place(ad)];
    if (mould->ad && moulds_alike(mould->ad, ad)) {
        mould->missed = 0;
        return mould->number;
    }
    if ((mould->ad && ++mould->missed < MISSED_MAX) || mould->number > UINT32_MAX - MOULDS)
        return MOULD_NONE;
    tree_unref(mould->ad);
    mould->ad = tree_ref(ad);
    mould->number += MOULDS;
    mould->missed = 0;
    return mould->number;
}
