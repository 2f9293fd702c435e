/* kinds.c: a stock that somebody else keeps, in kinds of offers that are alike. */
#include "match/gang/kinds.h"

#include "lang/base/mem.h"

#include <stdlib.h>

void kinds_init(struct kinds *kinds, const struct seeker_pool *pool, struct members *members)
{
    *kinds = (struct kinds){.pool = pool, .members = members};
    facade_init(&kinds->faces);
}

void kinds_done(struct kinds *kinds)
{
    for (uint32_t i = 0; i < kinds->room; i++)
        kinds_forget(kinds, i);
    free((void *)kinds->ported);
    facade_done(&kinds->faces);
}

void kinds_forget(struct kinds *kinds, uint32_t kind)
{
    if (kind >= kinds->room)
        return;
    if (kinds->ported[kind])
        tree_unref(kinds->ported[kind]->ad);
    kinds->ported[kind] = NULL;
}

const struct ported *kinds_ported(struct kinds *kinds, uint32_t kind)
{
    uint32_t room = kind + kind / 2 + 64;
    const struct ported *ported;

    if (kind >= kinds->room) {
        kinds->ported = mem_grow((void *)kinds->ported, room * sizeof *kinds->ported);
        for (uint32_t i = kinds->room; i < room; i++)
            kinds->ported[i] = NULL;
        kinds->room = room;
    }
    if (kinds->ported[kind])
        return kinds->ported[kind];
    ported = tree_ported(kinds->pool->ad_of_kind(kinds->pool->user, kind));
    if (!ported || ported->slot_count > MEMBER_SLOTS_MAX)
        return NULL;
    tree_ref(ported->ad);
    return kinds->ported[kind] = ported;
}

/* ---------------------------------------------------------------------------------------------------------- candidates */

struct seeking {
    const struct kinds *kinds;
    index_seek_fn *found;
    void *user;
    bool enough;
};

static bool head_found(struct seeking *seeking, uint32_t kind, uint32_t port)
{
    const struct seeker_pool *pool = seeking->kinds->pool;
    uint32_t offer = pool->first(pool->user, kind);

    if (offer >= SEEKER_OFFERS_MAX - 1)
        return true;
    seeking->enough = !seeking->found(seeking->user, port << KINDS_SHIFT | offer);
    return !seeking->enough;
}

static bool kind_found(void *user, uint32_t kind)
{
    return head_found(user, kind, 0);
}

static bool row_found(void *user, uint32_t number)
{
    struct seeking *seeking = user;
    const struct facade_row *row = &seeking->kinds->faces.rows[number];

    if (seeking->kinds->ported[row->owner]->ports.items[row->port].set)
        return true; /* nobody docks by a set */
    return head_found(seeking, row->owner, row->port);
}

uint32_t kinds_seek(const struct kinds *kinds, const struct tree *window, index_seek_fn *found, void *user)
{
    const struct members *members = kinds->members;
    struct seeking seeking = {kinds, found, user, false};

    if (kinds->index)
        index_seek(kinds->index, members->env, members->scratch, window, 0, kind_found, &seeking);
    if (kinds->faces.used && !seeking.enough)
        index_seek(kinds->faces.index, members->env, members->scratch, window, 0, row_found, &seeking);
    return INDEX_END;
}

uint32_t kinds_next(const struct kinds *kinds, uint32_t face)
{
    struct face of = kinds_face(face);
    uint32_t offer = kinds->pool->next(kinds->pool->user, of.offer);

    return offer < SEEKER_OFFERS_MAX - 1 ? of.port << KINDS_SHIFT | offer : INDEX_END;
}

/* --------------------------------------------------------------------------------------------------------------- order */

struct sorted {
    uint64_t order;
    uint32_t face;
};

static int sorted_compare(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    struct face p = kinds_face(x->face), q = kinds_face(y->face);

    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (p.offer != q.offer)
        return p.offer < q.offer ? -1 : 1;
    return (p.port > q.port) - (p.port < q.port);
}

void kinds_sort(const struct kinds *kinds, uint32_t *faces, uint32_t count)
{
    struct sorted *sorted = mem_alloc((count + 1) * sizeof *sorted);

    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct sorted){kinds_order(kinds, kinds_face(faces[i]).offer), faces[i]};
    qsort(sorted, count, sizeof *sorted, sorted_compare);
    for (uint32_t i = 0; i < count; i++)
        faces[i] = sorted[i].face;
    free(sorted);
}
