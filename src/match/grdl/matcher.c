/* matcher.c: pairs, hierarchies and sets of peers, and single matchers that find them. */
#include "match/grdl/matcher.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

bool grdl_pair(enum grdl_mode mode, const struct grdl_reading *a, const struct grdl_reading *b,
               struct grdl_counts *counts)
{
    switch (mode) {
    case GRDL_ONE_WAY:
        return grdl_matches(a, b, counts);
    case GRDL_PEER:
        return grdl_matches(a, b, counts) && grdl_matches(b, a, counts);
    case GRDL_PARTIAL:
        return grdl_matches_shared(a, b, counts);
    case GRDL_PARTIAL_PEER:
        return grdl_matches_shared(a, b, counts) && grdl_matches_shared(b, a, counts);
    }
    return false;
}

bool grdl_hierarchy(const struct grdl_reading *const *slaves, uint32_t count, const struct grdl_reading *master,
                    struct grdl_counts *counts)
{
    for (uint32_t i = 0; i < count; i++)
        if (!grdl_matches(slaves[i], master, counts))
            return false;
    return true;
}

bool grdl_peers(const struct grdl_reading *const *readings, uint32_t count, struct grdl_counts *counts)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++)
            if (i != j && !grdl_matches(readings[i], readings[j], counts))
                return false;
    return true;
}

void grdl_compositions_init(struct grdl_compositions *compositions, uint32_t size)
{
    *compositions = (struct grdl_compositions){.size = size};
}

void grdl_compositions_done(struct grdl_compositions *compositions)
{
    if (!compositions)
        return;
    free(compositions->members);
    *compositions = (struct grdl_compositions){0};
}

void grdl_compositions_add(struct grdl_compositions *compositions, const uint32_t *members)
{
    size_t bytes = compositions->size * sizeof *members;

    if (compositions->count == compositions->room) {
        compositions->room = compositions->room ? compositions->room * 2 : 16;
        compositions->members = mem_grow(compositions->members, compositions->room * bytes);
    }
    memcpy(compositions->members + (size_t)compositions->count++ * compositions->size, members, bytes);
}

static bool is_of_class(const struct grdl_reading *reading, const char *class_name)
{
    return !class_name || !strcmp(reading->resource->class_name, class_name);
}

static bool pair_is_wanted(const struct grdl_reading *const *readings, const struct grdl_pairing *pairing, uint32_t i,
                           uint32_t j)
{
    bool symmetric = pairing->mode == GRDL_PEER || pairing->mode == GRDL_PARTIAL_PEER;

    if (i == j || !is_of_class(readings[i], pairing->first_class) || !is_of_class(readings[j], pairing->second_class))
        return false;
    if (!symmetric || i < j)
        return true;
    /* the pair the other way round was here already, unless the classes kept it out */
    return !is_of_class(readings[j], pairing->first_class) || !is_of_class(readings[i], pairing->second_class);
}

void grdl_find_pairs(const struct grdl_reading *const *readings, uint32_t count, const struct grdl_pairing *pairing,
                     struct grdl_counts *counts, struct grdl_compositions *ret_pairs)
{
    grdl_compositions_init(ret_pairs, 2);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++) {
            if (!pair_is_wanted(readings, pairing, i, j) || !grdl_pair(pairing->mode, readings[i], readings[j], counts))
                continue;
            grdl_compositions_add(ret_pairs, (uint32_t[]){i, j});
            if (ret_pairs->count == pairing->limit)
                return;
        }
}

/* Sets of peers grow in ascending order: each new member must be a peer of all that are in. */
struct peer_search {
    const struct grdl_reading *const *readings;
    uint32_t count, limit;
    uint64_t work; /* that is left */
    struct grdl_counts *counts;
    struct grdl_compositions *found;
    uint32_t *members; /* of the set as it grows */
};

static bool search_ended(const struct peer_search *search)
{
    return !search->work || (search->limit && search->found->count == search->limit);
}

static bool is_peer_of_all(struct peer_search *search, uint32_t in, uint32_t candidate)
{
    for (uint32_t i = 0; i < in; i++) {
        if (!search->work)
            return false;
        search->work--;
        if (!grdl_pair(GRDL_PEER, search->readings[search->members[i]], search->readings[candidate], search->counts))
            return false;
    }
    return true;
}

static void peers_grow(struct peer_search *search, uint32_t in, uint32_t from)
{
    if (in == search->found->size) {
        grdl_compositions_add(search->found, search->members);
        return;
    }
    for (uint32_t i = from; i < search->count && !search_ended(search); i++)
        if (is_peer_of_all(search, in, i)) {
            search->members[in] = i;
            peers_grow(search, in + 1, i + 1);
        }
}

bool grdl_find_peers(const struct grdl_reading *const *readings, uint32_t count, uint32_t limit, uint64_t work,
                     struct grdl_counts *counts, struct grdl_compositions *ret_sets)
{
    struct peer_search search = {readings, count, limit, work, counts, ret_sets, NULL};

    if (!ret_sets->size || ret_sets->size > count)
        return true;
    search.members = mem_alloc(ret_sets->size * sizeof *search.members);
    peers_grow(&search, 0, 0);
    free(search.members);
    return !search_ended(&search);
}
