/* stock.c: the ads that a gang may take, in an index by their ports. */
#include "match/gang/stock.h"

#include "lang/base/mem.h"
#include "match/gang/kinds.h"

#include <stdlib.h>
#include <string.h>

#define READ_MAX 200 /* names by which equal offers are told; with more no offers share a row */

/* Makes the face of a port: the ad itself where it has no Ports, else a window in which everything is open. NULL: the port takes nobody. */
static struct tree *face_make(struct stock *offers, uint32_t number)
{
    const struct face *face = &offers->faces[number];
    const struct stocked_offer *offer = &offers->items[face->offer];
    const struct ported *of = &offer->ported;
    struct tree *window;
    uint32_t member;

    if (offer->gone || of->ports.items[face->port].set)
        return NULL;
    if (of->ports.implicit)
        return tree_ref(of->ad);
    member = members_push(offers->members, of, offer->place);
    window = window_make(offers->members, members_slot(offers->members, member, member_slot_of(of, face->port)), NULL,
                         NULL, NULL);
    members_pop(offers->members);
    return window;
}

/* Notes what the face asks for: that is what roots must show. It may ask by its own attributes: Ok = other.Size < 5; Constraint = Ok. */
static void face_read(struct stock *offers, const struct tree *face)
{
    if (match_constraint(face))
        name_set_read(&offers->asked, face, tree_root(face));
}

/* Makes a face that is like no other, where the window does not say all that depends on the port: for an ad with several ports, and for one that
 * has attributes or clauses that are known only when somebody docks. */
static struct tree *face_apart(struct tree *window, uint32_t number)
{
    struct build build;
    struct tree *apart;
    uint32_t place;

    build_init(&build, window->symbols, window->dialect);
    build_copy_parts(&build, window, tree_root(window));
    build_integer(&build, number);
    symbols_hold(build.symbols, NAME_PORTS);
    build_attribute(&build, NAME_PORTS);
    if (build_ad(&build, tree_root(window)->u.run.count + 1, &place) < 0)
        abort(); /* windows have no such attribute */
    apart = build_seal(&build);
    build_done(&build);
    tree_unref(window);
    return apart;
}

static struct tree *face_row(struct stock *offers, uint32_t number)
{
    struct tree *window;

    offers->members->veiled = false;
    window = face_make(offers, number);
    if (window && offers->shared &&
        (offers->members->veiled || offers->items[offers->faces[number].offer].ported.ports.count > 1))
        window = face_apart(window, number);
    return window;
}

static void index_fill(struct stock *offers, const struct name_set *read)
{
    struct tree **rows = mem_alloc((offers->face_count + 1) * sizeof *rows);
    struct members *members = offers->members;
    symbol names[READ_MAX + 1];

    index_free(offers->index);
    offers->index = index_new();
    if (offers->shared && read->count <= READ_MAX && offers->count && offers->items[0].ported.ad) {
        memcpy(names, read->items, read->count * sizeof *names);
        names[read->count] = NAME_PORTS;
        index_share(offers->index, offers->items[0].ported.ad->symbols, names, read->count + 1, true);
    } else {
        offers->shared = false;
    }
    for (uint32_t i = 0; i < offers->face_count; i++) {
        rows[i] = face_row(offers, i);
        if (rows[i])
            face_read(offers, rows[i]);
    }
    index_build(offers->index, members->env, members->scratch, rows, offers->face_count);
    for (uint32_t i = 0; i < offers->face_count; i++)
        tree_unref(rows[i]);
    free(rows);
}

/* Does the ad, or a port of it, have an attribute of that name? */
static bool ad_says(const struct tree *ad, symbol name)
{
    for (uint32_t i = 0; i < ad->cell_count; i++)
        if (ad->cells[i].flags & EXPR_FLAG_NAMED && symbol_same(ad->cells[i].label, name))
            return true;
    return false;
}

void stock_init(struct stock *offers, struct members *members, struct tree *const *ads, const size_t *places,
                uint32_t count, enum stock_way way, const struct name_set *read)
{
    struct err err;

    *offers = (struct stock){.members = members, .count = count, .shared = way == STOCK_SHARED && !read->blind};
    offers->entangled = read->blind || name_set_has(read, NAME_PORTS);
    offers->items = mem_alloc((count + 1) * sizeof *offers->items);
    for (uint32_t i = 0; i < count; i++) {
        struct stocked_offer *offer = &offers->items[i];

        *offer = (struct stocked_offer){.place = places[i], .first_face = offers->face_count};
        if (ported_init(&offer->ported, ads[places[i]], &err) < 0 || offer->ported.slot_count > MEMBER_SLOTS_MAX)
            offer->gone = true;
        offers->face_count += offer->ported.ports.count;
        offers->ranked = offers->ranked || ad_says(ads[places[i]], NAME_RANK) || ad_says(ads[places[i]], NAME_PREEMPTS);
        offers->residual = offers->residual || ad_says(ads[places[i]], NAME_RESIDUAL);
    }
    offers->faces = mem_alloc((offers->face_count + 1) * sizeof *offers->faces);
    offers->number = mem_alloc((offers->face_count + 1) * sizeof *offers->number);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t port = 0; port < offers->items[i].ported.ports.count; port++) {
            uint32_t number = offers->items[i].first_face + port;

            offers->faces[number] = (struct face){i, port};
            offers->number[number] = number;
        }
    }
    if (way != STOCK_PLAIN)
        index_fill(offers, read);
}

void stock_done(struct stock *offers)
{
    index_free(offers->index);
    for (uint32_t i = 0; i < offers->count; i++)
        ported_done(&offers->items[i].ported);
    free(offers->items);
    free(offers->faces);
    free(offers->number);
    name_set_done(&offers->asked);
}

struct weighed {
    struct face face;
    uint32_t weight, number;
};

static int weighed_compare(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

void stock_reorder(struct stock *offers, const uint32_t *weights, const struct name_set *read)
{
    struct weighed *faces = mem_alloc((offers->face_count + 1) * sizeof *faces);

    for (uint32_t i = 0; i < offers->face_count; i++)
        faces[i] = (struct weighed){offers->faces[i], weights[i], i};
    qsort(faces, offers->face_count, sizeof *faces, weighed_compare);
    for (uint32_t i = 0; i < offers->face_count; i++) {
        offers->faces[i] = faces[i].face;
        offers->number[offers->items[faces[i].face.offer].first_face + faces[i].face.port] = i;
    }
    free(faces);
    index_fill(offers, read);
}

void stock_consume(struct stock *offers, uint32_t offer, struct tree *left)
{
    struct stocked_offer *item = &offers->items[offer];
    uint32_t ports = item->ported.ports.count;
    struct err err;

    if (left) {
        struct ported residual;

        if (ported_init(&residual, left, &err) == 0 && ported_kept(&residual, &item->ported)) {
            ported_done(&item->ported);
            item->ported = residual;
        } else {
            ported_done(&residual);
            item->gone = true;
        }
    } else {
        item->gone = true;
    }
    for (uint32_t port = 0; port < ports && offers->index; port++) {
        uint32_t number = offers->number[item->first_face + port];
        struct tree *row = face_row(offers, number);

        if (row) {
            face_read(offers, row);
            index_put(offers->index, offers->members->env, offers->members->scratch, number, row);
        } else {
            index_remove(offers->index, number);
        }
        tree_unref(row);
    }
}

/* ----------------------------------------------------------------------------------------- the offers, whoever keeps them */

uint32_t stock_seek(const struct stock *offers, const struct tree *window, uint32_t from, index_seek_fn *found,
                    void *user)
{
    const struct members *members = offers->members;

    if (offers->kinds)
        return kinds_seek(offers->kinds, window, found, user);
    return index_seek(offers->index, members->env, members->scratch, window, from, found, user);
}

uint32_t stock_next(const struct stock *offers, uint32_t face)
{
    if (offers->kinds)
        return kinds_next(offers->kinds, face);
    return offers->shared ? index_next(offers->index, face) : INDEX_END;
}

struct face stock_face(const struct stock *offers, uint32_t face)
{
    return offers->kinds ? kinds_face(face) : offers->faces[face];
}

const struct ported *stock_ported(const struct stock *offers, uint32_t offer)
{
    const struct seeker_pool *pool = offers->kinds ? offers->kinds->pool : NULL;

    return pool ? kinds_ported(offers->kinds, pool->kind(pool->user, offer)) : &offers->items[offer].ported;
}

uint64_t stock_order(const struct stock *offers, uint32_t offer)
{
    return offers->kinds ? kinds_order(offers->kinds, offer) : offer;
}

bool stock_before(const struct stock *offers, uint32_t a, uint32_t b)
{
    uint64_t x = stock_order(offers, a), y = stock_order(offers, b);

    return x != y ? x < y : a < b;
}

bool stock_place_before(const struct stock *offers, size_t a, size_t b)
{
    return offers->kinds ? stock_before(offers, (uint32_t)a, (uint32_t)b) : a < b;
}

static int face_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

void stock_sort(const struct stock *offers, uint32_t *faces, uint32_t count)
{
    if (offers->kinds)
        kinds_sort(offers->kinds, faces, count);
    else
        qsort(faces, count, sizeof *faces, face_compare);
}

void stock_learn(const struct stock *offers, const struct tree *window)
{
    const struct members *members = offers->members;
    struct index *index = offers->kinds ? offers->kinds->index : offers->index;

    if (index)
        index_learn(index, members->env, members->scratch, window);
}
