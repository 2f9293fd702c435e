/* ranking.c: candidates in the order in which roots like them. */
#include "match/pair/ranking.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "match/pair/order.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)64 << 20) /* of all orders ... */
#define PLACE_BYTES 12               /* ... which have so many for each place: order, position, apart */
#define ORDERS_MAX 256
#define SEEN 1024   /* a power of two */
#define CHANGES 256 /* an order is made anew after so many changes, and a part of the candidates */

void rankings_init(struct rankings *rankings, struct symbols *symbols, uint32_t room, columns_ad_fn *ad, void *user)
{
    size_t most = BYTES_MAX / (PLACE_BYTES * ((size_t)room + 1));

    *rankings = (struct rankings){.room = room, .most = most < 1 ? 1 : most > ORDERS_MAX ? ORDERS_MAX : (uint32_t)most};
    columns_init(&rankings->columns, symbols, ad, user);
    rankings->changed_at = mem_alloc(room * sizeof *rankings->changed_at);
    memset(rankings->changed_at, 0, room * sizeof *rankings->changed_at);
    rankings->items = mem_alloc(rankings->most * sizeof *rankings->items);
    rankings->seen = mem_alloc(SEEN * sizeof *rankings->seen);
    memset(rankings->seen, 0, SEEN * sizeof *rankings->seen);
}

static void ranking_done(struct ranking *ranking)
{
    free(ranking->order);
    free(ranking->position);
    free(ranking->apart);
}

void rankings_done(struct rankings *rankings)
{
    if (!rankings)
        return;
    for (uint32_t i = 0; i < rankings->count; i++)
        ranking_done(&rankings->items[i]);
    free(rankings->items);
    free(rankings->seen);
    free(rankings->changed_at);
    free(rankings->changes);
    leaders_done(&rankings->leaders, rankings->columns.symbols);
    columns_done(&rankings->columns);
}

void rankings_change(struct rankings *rankings, uint32_t place, bool gone)
{
    columns_forget(&rankings->columns, place);
    if (gone) {
        rankings->changed_at[place] = RANKING_GONE;
        return;
    }
    ARRAY_ROOM(rankings->changes, rankings->change_count, rankings->change_room, 64);
    rankings->changes[rankings->change_count++] = place;
    rankings->changed_at[place] = rankings->change_count;
}

bool rankings_read(struct rankings *rankings, const struct env *env, struct arena *scratch, const struct tree *root,
                   struct formula *ret)
{
    columns_ask(&rankings->columns);
    rankings->own = columns_find(&rankings->columns, NAME_RANK);
    rankings->preempts = columns_find(&rankings->columns, NAME_PREEMPTS);
    return formula_init(ret, env, scratch, root, NAME_RANK, &rankings->columns);
}

bool rankings_standing(struct rankings *rankings, uint32_t place, const struct formula_value *rank,
                       struct standing *ret)
{
    struct formula_value own;

    if (rank->type == FORMULA_EVALUATE || columns_type(&rankings->columns, rankings->preempts, place) != CELL_ABSENT)
        return false;
    own.type = (unsigned char)columns_type(&rankings->columns, rankings->own, place);
    own.v = rankings->columns.items[rankings->own].cells[place];
    if (own.type == CELL_OTHER)
        return false;
    if (own.type == CELL_ABSENT)
        own.type = VALUE_UNDEFINED;
    ret->rank = formula_value(rank);
    ret->rank = order_rank(&ret->rank);
    ret->back = formula_value(&own);
    ret->back = order_rank(&ret->back);
    return true;
}

/* --------------------------------------------------------------------------------------------------------- an order */

struct ranked {
    struct standing standing;
    uint32_t place;
};

static int ranked_compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int order = order_compare(&y->standing.rank, &x->standing.rank);

    if (!order)
        order = order_compare(&y->standing.back, &x->standing.back);
    return order ? order : x->place < y->place ? -1 : 1;
}

/* Sorts the candidates, and leaves apart those that must be evaluated. */
static void ranking_fill(struct rankings *rankings, struct ranking *ranking, const uint32_t *places, uint32_t count)
{
    struct formula_value *ranks = mem_alloc((count + 1) * sizeof *ranks);
    struct ranked *ranked = mem_alloc((count + 1) * sizeof *ranked);

    formula_compute(&ranking->formula, &rankings->columns, places, count, ranks);
    ranking->order = mem_alloc((count + 1) * sizeof *ranking->order);
    ranking->apart = mem_alloc((count + 1) * sizeof *ranking->apart);
    ranking->position = mem_alloc((rankings->room + 1) * sizeof *ranking->position);
    memset(ranking->position, 0xff, rankings->room * sizeof *ranking->position);
    for (uint32_t i = 0; i < count; i++) {
        ranked[ranking->count].place = places[i];
        if (rankings_standing(rankings, places[i], &ranks[i], &ranked[ranking->count].standing))
            ranking->count++;
        else
            ranking->apart[ranking->apart_count++] = places[i];
    }
    qsort(ranked, ranking->count, sizeof *ranked, ranked_compare);
    for (uint32_t i = 0; i < ranking->count; i++) {
        ranking->order[i] = ranked[i].place;
        ranking->position[ranked[i].place] = i;
    }
    free(ranked);
    free(ranks);
}

/* A place for one more order: that of one which is not used any more, or, if there are many, of the one that was used longest ago. */
static struct ranking *ranking_place(struct rankings *rankings)
{
    struct ranking *oldest = rankings->items;

    for (uint32_t i = 1; i < rankings->count; i++)
        if (rankings->items[i].used < oldest->used)
            oldest = &rankings->items[i];
    if (rankings->count < rankings->most && (!rankings->count || oldest->used))
        return &rankings->items[rankings->count++];
    ranking_done(oldest);
    return oldest;
}

struct ranking *rankings_find(struct rankings *rankings, const struct formula *formula, bool *ret_wanted)
{
    uint64_t hash = formula_hash(formula) | 1;
    struct ranking_seen *seen = &rankings->seen[(hash >> 8) & (SEEN - 1)];

    *ret_wanted = seen->hash == hash;
    if (!*ret_wanted)
        *seen = (struct ranking_seen){.hash = hash};
    for (uint32_t i = 0; i < rankings->count; i++) {
        struct ranking *ranking = &rankings->items[i];

        if (ranking->hash != hash || !formula_same(&ranking->formula, formula))
            continue;
        *ret_wanted = rankings->change_count - ranking->made > CHANGES + ranking->count / 16;
        if (*ret_wanted) {
            ranking->hash = ranking->used = 0; /* the next one takes its place */
            return NULL;
        }
        ranking->used = ++rankings->used;
        return ranking;
    }
    return NULL;
}

uint64_t *rankings_walked(struct rankings *rankings, const struct formula *formula)
{
    return &rankings->seen[((formula_hash(formula) | 1) >> 8) & (SEEN - 1)].walked;
}

struct ranking *rankings_make(struct rankings *rankings, const struct formula *formula, const uint32_t *places,
                              uint32_t count)
{
    struct ranking *ranking = ranking_place(rankings);

    *ranking = (struct ranking){.formula = *formula,
                                .hash = formula_hash(formula) | 1,
                                .used = ++rankings->used,
                                .made = rankings->change_count};
    ranking_fill(rankings, ranking, places, count);
    ranking->formula.left = NULL; /* its steps are enough from now on: it is compared, and not computed */
    ranking->formula.env = NULL;
    ranking->formula.scratch = NULL;
    ranking->formula.ad = NULL;
    return ranking;
}
