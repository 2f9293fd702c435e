/* finder.c: a matchmaking cycle that finds its candidates by the index. */
#include "match/index/finder.h"

#include "lang/base/mem.h"
#include "match/index/reads.h"

#include <stdlib.h>

#define LEARN_MOST 64 /* roots that tell the index what will be asked */

/* Lets candidates that are the same to all roots share a row. */
static void finder_share(struct index *index, const struct cycle_parts *parts)
{
    struct reads reads;

    if (!parts->candidate_count)
        return;
    reads_init(&reads, parts->ads[parts->candidates[0]]->symbols);
    reads_add_policy(&reads, parts->policy->ad);
    for (size_t i = 0; i < parts->root_count && !reads.all; i++)
        reads_add_ad(&reads, parts->ads[parts->roots[i]]);
    if (!reads.all)
        index_share(index, reads.symbols, reads.items, reads.count, true);
    reads_done(&reads);
}

static void finder_start(void *user, const struct env *env, struct arena *scratch, const struct cycle_parts *parts)
{
    size_t count = parts->candidate_count ? parts->candidates[parts->candidate_count - 1] + 1 : 0, next = 0;
    struct tree **chosen = mem_alloc(count * sizeof *chosen);

    finder_share(user, parts);
    index_lay_near(user);
    for (size_t i = 0; i < parts->root_count && i < LEARN_MOST; i++)
        index_learn(user, env, scratch, parts->ads[parts->roots[i]]);
    /* candidates are numbered by their places; at the other places there is no ad */
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
