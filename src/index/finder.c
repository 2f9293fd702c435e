/* finder.c: a matchmaking cycle that finds its candidates by the index. */
#include "index/finder.h"

#include "ad/refs.h"
#include "base/mem.h"
#include "index/classes.h"

#include <stdlib.h>

/* The names that roots and the policy read of candidates. */
struct names {
    symbol *items;
    uint32_t count, room;
    bool all; /* it cannot be told: any could be */
};

static void names_add(struct names *names, symbol name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (symbol_same(names->items[i], name))
            return;
    if (names->count == CLASS_NAMES_MAX / 2) {
        names->all = true;
        return;
    }
    if (names->count == names->room) {
        names->room = names->room ? names->room * 2 : 32;
        names->items = mem_grow(names->items, names->room * sizeof *names->items);
    }
    names->items[names->count++] = name;
}

static void names_of_root(struct names *names, struct refs *refs, const struct tree *ad)
{
    uint32_t before = refs->count;

    names->all = names->all || refs_bits(ad) == UINT64_MAX;
    refs_add_ad(refs, ad);
    for (uint32_t i = before; i < refs->count && !names->all; i++) {
        names->all = refs->items[i].len == 0; /* the whole ad */
        if (!names->all)
            names_add(names, refs->items[i].path[0]);
    }
}

/* A policy's expressions stand in a root, so any name there may be the candidate's. */
static void names_of_policy(struct names *names, const struct tree *ad)
{
    names_add(names, NAME_RANK);
    if (!ad)
        return;
    names->all = names->all || refs_bits(ad) == UINT64_MAX;
    for (uint32_t i = 0; i < ad->cell_count; i++) {
        const struct expr *e = &ad->cells[i];

        if (e->kind == EXPR_NAME || e->kind == EXPR_ROOT_NAME || e->kind == EXPR_DOT)
            names_add(names, e->u.name.id);
        names->all = names->all || (e->kind == EXPR_NAME && (symbol_name(e->u.name.id) <= NAME_NUMBER_TARGET ||
                                                             symbol_same(e->u.name.id, NAME_LABEL)));
    }
}

/* Candidates that are the same to all roots share a row. */
static void finder_share(struct index *index, const struct cycle_parts *parts)
{
    struct names names = {0};
    struct refs refs;

    refs_init(&refs);
    names_of_policy(&names, parts->policy->ad);
    for (size_t i = 0; i < parts->root_count && !names.all; i++)
        names_of_root(&names, &refs, parts->ads[parts->roots[i]]);
    if (!names.all && parts->candidate_count)
        index_share(index, parts->ads[parts->candidates[0]]->symbols, names.items, names.count, true);
    free(names.items);
    refs_done(&refs);
}

static void finder_start(void *user, const struct env *env, struct arena *scratch, const struct cycle_parts *parts)
{
    size_t count = parts->candidate_count ? parts->candidates[parts->candidate_count - 1] + 1 : 0, next = 0;
    struct tree **chosen = mem_alloc(count * sizeof *chosen);

    finder_share(user, parts);
    /* the candidates are called by their places; at those of the others there is nobody */
    for (size_t i = 0; i < count; i++)
        chosen[i] = parts->candidates[next] == i ? parts->ads[parts->candidates[next++]] : NULL;
    index_build(user, env, scratch, chosen, (uint32_t)count);
    free(chosen);
}

struct fits {
    cycle_fits_fn *fits;
    void *user;
};

static void finder_found(void *user, uint32_t id)
{
    const struct fits *fits = user;

    fits->fits(fits->user, id);
}

static void finder_find(void *user, const struct env *env, struct arena *scratch, const struct tree *root,
                        cycle_fits_fn *fits, void *fits_user)
{
    struct fits both = {fits, fits_user};

    index_probe(user, env, scratch, root, finder_found, &both);
}

static void finder_change(void *user, const struct env *env, struct arena *scratch, size_t place, struct tree *left)
{
    if (left)
        index_put(user, env, scratch, (uint32_t)place, left);
    else
        index_remove(user, (uint32_t)place);
}

struct cycle_finder finder_of(struct index *index)
{
    return (struct cycle_finder){index, finder_start, finder_find, finder_change};
}
