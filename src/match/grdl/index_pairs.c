/* index_pairs.c: pairs of resources by the index: it holds the ads of one side, and those of the other look for the ones that they match. */
#include "lang/ad/names.h"
#include "lang/base/mem.h"
#include "match/grdl/translate.h"
#include "match/index/index.h"

#include <stdlib.h>

struct pairing {
    grdl_pair_fn *found;
    void *user;
    uint32_t left;
};

static void pair_found(void *user, uint32_t right)
{
    struct pairing *pairing = user;

    pairing->found(pairing->user, pairing->left, right);
}

static void ads_make(struct symbols *symbols, const struct grdl_reading *const *readings, uint32_t count,
                     unsigned flags, struct tree **ret_ads)
{
    for (uint32_t i = 0; i < count; i++)
        ret_ads[i] = grdl_to_ad(symbols, readings[i], flags);
}

static void ads_drop(struct tree **ads, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        tree_unref(ads[i]);
    free(ads);
}

void grdl_index_pairs(const struct grdl_reading *const *left, uint32_t left_count,
                      const struct grdl_reading *const *right, uint32_t right_count, bool one_way, grdl_pair_fn *found,
                      void *user, struct grdl_indexed *ret_done)
{
    const struct env env = {0};
    struct symbols *symbols = names_new(0);
    struct tree **lefts = mem_alloc(left_count * sizeof *lefts), **rights = mem_alloc(right_count * sizeof *rights);
    struct pairing pairing = {found, user, 0};
    struct grdl_indexed done = {0};
    struct index *index = index_new();
    struct arena arena;

    arena_init(&arena);
    ads_make(symbols, left, left_count, 0, lefts);
    ads_make(symbols, right, right_count, one_way ? GRDL_AD_WANTS_NOTHING : 0, rights);
    for (uint32_t i = 0; i < left_count; i++)
        if (lefts[i])
            index_learn(index, &env, &arena, lefts[i]);
    index_build(index, &env, &arena, rights, right_count);
    for (uint32_t i = 0; i < left_count; i++) {
        struct index_probed probed;

        if (!lefts[i])
            continue;
        pairing.left = i;
        index_probe(index, &env, &arena, lefts[i], pair_found, &pairing);
        probed = index_probed(index);
        done.candidates += probed.candidates;
        done.evaluations += probed.evaluations;
    }
    index_free(index);
    ads_drop(lefts, left_count);
    ads_drop(rights, right_count);
    arena_done(&arena);
    symbols_free(symbols);
    if (ret_done)
        *ret_done = done;
}
