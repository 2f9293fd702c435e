/* finder.c: a matchmaking cycle that finds its candidates by the index. */
#include "index/finder.h"

#include "base/mem.h"

#include <stdlib.h>

static void finder_start(void *user, const struct env *env, struct arena *scratch, const size_t *places, size_t count,
                         struct tree *const *ads)
{
    struct tree **chosen = mem_alloc((count ? places[count - 1] + 1 : 1) * sizeof *chosen);
    size_t next = 0, places_count = count ? places[count - 1] + 1 : 0;

    /* the candidates are called by their places; at those of the others there is nobody */
    for (size_t i = 0; i < places_count; i++)
        chosen[i] = next < count && places[next] == i ? ads[places[next++]] : NULL;
    index_build(user, env, scratch, chosen, (uint32_t)places_count);
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
