/* turns.c: requests that are offered by turns, because a pool takes fewer of us than there are.
 *
 *     room        how many requests that pool takes of us: unlimited, until it refuses one because of its limit
 *     offered     the best requests, three of four places;  in the fourth part all others, each for a while, those first that waited longest
 *     parked      the rest: they are not sent, and their jobs say so
 *
 * Best is: the next of each owner, then the second of each, ...; of one owner by Priority, then as they were submitted. All is looked at together and
 * at most once in a short span, when something has changed; else when turns are over. So a request that is parked costs nothing. */
#include "lang/base/mem.h"
#include "pool/customer/customer_parts.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_LEAST 8     /* a limit below that is not believed: it is the one request that is too much */
#define ROTATING_PART 4  /* of the places: for those that are not among the best */
#define RENEWALS 4       /* so often within the lifetime of an ad ... */
#define GROWS_PART 32    /* ... it is tried whether that part more is taken ... */
#define SWAPS_PART 8     /* ... and that part of the places may change hands */
#define LOOK_SHAPES 1500 /* so many requests make the span between two looks longer by that between two repeats */

/* A request that wants a place. What it is sorted by stands in it: the shapes lie all over the memory. */
struct wish {
    struct shape *shape;
    uint64_t owner; /* a hash */
    uint64_t rank;  /* among those of its owner; then among all */
    int64_t last;   /* when it had its last turn; INT64_MIN: it had none */
    double priority;
    uint64_t job; /* its first */
};

struct turns *turns_of(const struct customer *customer, uint32_t pool)
{
    return &customer->turns[pool];
}

void turns_init(struct customer *customer)
{
    uint32_t count = customer->settings->pool_count ? customer->settings->pool_count : 1;

    customer->turns = mem_alloc(count * sizeof *customer->turns);
    for (uint32_t i = 0; i < count; i++)
        customer->turns[i] = (struct turns){.room = TURNS_UNLIMITED, .set = INT64_MAX};
}

/* The literal number of an attribute, which may have a sign; else 0. */
static double ad_number(const struct tree *ad, const char *attribute)
{
    symbol name = symbols_find(ad->symbols, attribute, strlen(attribute));
    const struct expr *e = name ? tree_find(ad, tree_root(ad), name) : NULL;
    double sign = 1;

    if (e && e->kind == EXPR_PREFIX && e->small == OP_SUBTRACT) {
        sign = -1;
        e = tree_parts(ad, e);
    }
    if (!e)
        return 0;
    return e->kind == EXPR_INTEGER ? sign * (double)e->u.integer : e->kind == EXPR_REAL ? sign * e->u.real : 0;
}

double turns_priority(const struct tree *ad)
{
    double own = ad_number(ad, "Priority");

    return own != 0 ? own : ad_number(ad, "JobPrio");
}

static void turns_set(const struct customer_step *step, uint32_t pool, int64_t at)
{
    struct turns *turns = turns_of(step->customer, pool);

    if (at >= turns->set)
        return;
    turns->set = at;
    timers_set(&step->customer->timers, at, TIMER_TURNS, pool);
}

/* Something has changed: they are looked at soon, all at once. */
static void turns_look(const struct customer_step *step, uint32_t pool)
{
    turns_set(step, pool,
              step->env->now +
                  step->customer->spans->retry * (1 + (int64_t)(step->customer->shape_count / LOOK_SHAPES)));
}

bool turns_admit(const struct customer_step *step, struct shape *shape, uint32_t which)
{
    struct turns *turns = turns_of(step->customer, which);
    struct shape_pool *pool = &shape->pools[which];

    if (!pool->parked && !pool->advert.text && turns->room != TURNS_UNLIMITED && turns->offered >= turns->room) {
        pool->parked = true;
        turns->parked++;
        turns_look(step, which);
    }
    return !pool->parked;
}

void turns_offered(const struct customer_step *step, struct shape *shape, uint32_t which, bool before)
{
    struct turns *turns = turns_of(step->customer, which);
    struct shape_pool *pool = &shape->pools[which];
    bool now = pool->advert.text != NULL;

    if (now && !before) {
        turns->offered++;
        pool->since = step->env->now;
    } else if (before && !now) {
        turns->offered--;
        if (turns->parked)
            turns_look(step, which);
    }
}

void turns_unpark(const struct customer_step *step, struct shape *shape, uint32_t which)
{
    struct shape_pool *pool = &shape->pools[which];

    if (!pool->parked)
        return;
    pool->parked = false;
    turns_of(step->customer, which)->parked--;
}

/* Counts the requests that the pool has said it has. It takes as many; and where it takes all that come, more are tried. */
static void turns_count(const struct customer_step *step, struct shape_pool *pool, uint32_t which)
{
    struct turns *turns = turns_of(step->customer, which);

    if (pool->counted == pool->advert.taken)
        return;
    pool->counted = pool->advert.taken;
    turns->taken += pool->counted ? 1 : UINT32_MAX;
    if (!pool->counted || turns->room == TURNS_UNLIMITED || turns->taken < turns->room)
        return;
    turns->room = turns->taken;
    if (!turns->parked)
        return;
    turns->room += turns->room / GROWS_PART + 1;
    turns_look(step, which);
}

/* The pool has no place for it now: it is parked, and is not refused for its own sake. */
static void shape_refused_there(const struct customer_step *step, struct shape *shape, uint32_t which)
{
    struct shape_pool *pool = &shape->pools[which];

    pool->advert.refused = REASON_OK;
    pool->parked = true;
    turns_of(step->customer, which)->parked++;
    pool->dirty = true;
    shape_due(step, shape->place);
}

static bool is_refused_there(const struct shape_pool *pool)
{
    return pool->advert.refused == REASON_LIMIT && !pool->advert.taken && !pool->parked && pool->advert.text;
}

void turns_answered(const struct customer_step *step, struct shape *shape, uint32_t which)
{
    struct turns *turns = turns_of(step->customer, which);
    struct shape_pool *pool = &shape->pools[which];

    turns_count(step, pool, which);
    if (!is_refused_there(pool) || turns->taken < ROOM_LEAST)
        return;
    if (turns->room == TURNS_UNLIMITED) {
        turns->renews = step->env->now + step->customer->spans->lifetime / RENEWALS;
        turns->swaps = turns->taken / SWAPS_PART + 1;
        effects_note(step->effects, REASON_LIMIT, turns->taken,
                     "the matchmaker takes no more requests: from now on they are offered by turns");
    }
    if (turns->room == TURNS_UNLIMITED)
        turns->room = turns->taken;
    else /* half the way: the pool may have said so because of others that are under way */
        turns->room = turns->taken + (turns->room - turns->taken) / 2;
    shape_refused_there(step, shape, which);
    turns_look(step, which);
}

/* ------------------------------------------------------------------------------------------------------------- a look */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* The wishes of one owner side by side, the best first. */
static int by_owner(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;

    if (x->owner != y->owner)
        return compare_numbers(x->owner, y->owner);
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return compare_numbers(x->job, y->job);
}

static int by_rank(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;

    if (x->rank != y->rank)
        return compare_numbers(x->rank, y->rank);
    return compare_numbers(x->job, y->job);
}

/* Sorts them, unless they are: those of one owner come in the order in which they want to be. */
static void wishes_sort(struct wish *wishes, uint32_t count, int (*compare)(const void *a, const void *b))
{
    for (uint32_t i = 1; i < count; i++)
        if (compare(&wishes[i - 1], &wishes[i]) > 0) {
            qsort(wishes, count, sizeof *wishes, compare);
            return;
        }
}

/* All requests that want a place in that pool, the best first; the caller frees them. */
static struct wish *wishes_list(const struct customer_step *step, uint32_t which, uint32_t *ret_count)
{
    const struct customer *customer = step->customer;
    struct wish *wishes = mem_alloc((customer->shape_count + 1) * sizeof *wishes);
    uint32_t count = 0;

    for (uint32_t i = 0; i < customer->shape_count; i++) {
        struct shape *shape = customer->shape_list[i];

        if (shape && shape->pools[which].wanted && shape->waiting > shape->pools[which].pending)
            wishes[count++] = (struct wish){.shape = shape,
                                            .owner = shape->owner_hash,
                                            .last = shape->pools[which].last,
                                            .priority = shape->priority,
                                            .job = shape->first->id};
    }
    wishes_sort(wishes, count, by_owner);
    for (uint32_t i = 1; i < count; i++)
        wishes[i].rank = wishes[i].owner == wishes[i - 1].owner ? wishes[i - 1].rank + 1 : 0;
    wishes_sort(wishes, count, by_rank);
    for (uint32_t i = 0; i < count; i++)
        wishes[i].rank = i;
    *ret_count = count;
    return wishes;
}

static void shape_park(const struct customer_step *step, struct shape *shape, uint32_t which)
{
    struct shape_pool *pool = &shape->pools[which];

    if (pool->parked)
        return;
    pool->parked = true;
    pool->last = step->env->now;
    turns_of(step->customer, which)->parked++;
    pool->dirty = true;
    shape_due(step, shape->place);
}

static void shape_offer(const struct customer_step *step, struct shape *shape, uint32_t which)
{
    struct shape_pool *pool = &shape->pools[which];

    if (!pool->parked)
        return;
    turns_unpark(step, shape, which);
    pool->dirty = true;
    shape_due(step, shape->place);
}

/* Of those that are not among the best: who waited longest has the next turn. */
static int by_last(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;

    if (x->last != y->last)
        return x->last < y->last ? -1 : 1;
    return compare_numbers(x->rank, y->rank);
}

/* Wishes by what is to be done with them. The first of them are among the best. */
struct sorting {
    struct wish *parked_best, *parked_rest, *offered_rest;
    uint32_t parked_best_count, parked_rest_count, offered_rest_count;
};

static void sorting_make(struct sorting *sorting, const struct wish *wishes, uint32_t count, uint32_t best,
                         uint32_t which)
{
    *sorting = (struct sorting){.parked_best = mem_alloc((count + 1) * sizeof *wishes),
                                .parked_rest = mem_alloc((count + 1) * sizeof *wishes),
                                .offered_rest = mem_alloc((count + 1) * sizeof *wishes)};
    for (uint32_t i = 0; i < count; i++) {
        const struct shape_pool *pool = &wishes[i].shape->pools[which];

        if (pool->parked && i < best)
            sorting->parked_best[sorting->parked_best_count++] = wishes[i];
        else if (pool->parked)
            sorting->parked_rest[sorting->parked_rest_count++] = wishes[i];
        else if (i >= best)
            sorting->offered_rest[sorting->offered_rest_count++] = wishes[i];
    }
    wishes_sort(sorting->parked_rest, sorting->parked_rest_count, by_last);
}

static void sorting_done(struct sorting *sorting)
{
    free(sorting->parked_best);
    free(sorting->parked_rest);
    free(sorting->offered_rest);
}

/* Lets one go, if a place is wanted and may change hands. */
static bool place_swap(const struct customer_step *step, struct shape *shape, uint32_t which)
{
    struct turns *turns = turns_of(step->customer, which);

    if (!turns->swaps)
        return false;
    turns->swaps--;
    shape_park(step, shape, which);
    return true;
}

/* Gives places: first to the best that have none; then turns that are over change hands; what is still free goes to those that waited longest. What is
 * withdrawn is sent first, so that there is room. */
static void places_give(const struct customer_step *step, struct sorting *sorting, uint32_t which)
{
    const struct turns *turns = turns_of(step->customer, which);
    int64_t over = step->env->now - step->customer->spans->lifetime / 2;
    uint32_t free_places = turns->room > turns->offered ? turns->room - turns->offered : 0, best = 0, rest = 0;

    while (best < sorting->parked_best_count) {
        if (free_places)
            free_places--;
        else if (!sorting->offered_rest_count ||
                 !place_swap(step, sorting->offered_rest[--sorting->offered_rest_count].shape, which))
            break;
        best++;
    }
    for (uint32_t i = 0; i < sorting->offered_rest_count && rest < sorting->parked_rest_count; i++)
        if (sorting->offered_rest[i].shape->pools[which].since <= over)
            rest += place_swap(step, sorting->offered_rest[i].shape, which);
    rest += free_places < sorting->parked_rest_count - rest ? free_places : sorting->parked_rest_count - rest;
    for (uint32_t i = 0; i < best; i++)
        shape_offer(step, sorting->parked_best[i].shape, which);
    for (uint32_t i = 0; i < rest; i++)
        shape_offer(step, sorting->parked_rest[i].shape, which);
}

/* From time to time the pool may take more, and places may change hands again: not too many, for it remembers each for a while. */
static void turns_renew(const struct customer_step *step, struct turns *turns)
{
    if (step->env->now < turns->renews)
        return;
    turns->room += turns->room / GROWS_PART + 1;
    turns->swaps = turns->room / SWAPS_PART + 1;
    turns->renews = step->env->now + step->customer->spans->lifetime / RENEWALS;
}

void turns_due(const struct customer_step *step, uint32_t which)
{
    struct turns *turns = turns_of(step->customer, which);
    struct sorting sorting;
    struct wish *wishes;
    uint32_t count;

    if (turns->set <= step->env->now)
        turns->set = INT64_MAX;
    if (turns->room == TURNS_UNLIMITED)
        return;
    turns_renew(step, turns);
    wishes = wishes_list(step, which, &count);
    for (uint32_t i = 0; i < count; i++) /* from before it was known that there is a limit */
        if (is_refused_there(&wishes[i].shape->pools[which]))
            shape_refused_there(step, wishes[i].shape, which);
    sorting_make(&sorting, wishes, count, turns->room - turns->room / ROTATING_PART, which);
    places_give(step, &sorting, which);
    sorting_done(&sorting);
    free(wishes);
    if (!turns->parked && count < turns->room / 2)
        turns->room = TURNS_UNLIMITED;
    else if (turns->parked)
        turns_set(step, which, turns->renews);
}

bool turns_waits(const struct customer *customer, const struct shape *shape, uint32_t *ret_room, uint32_t *ret_parked)
{
    for (uint32_t i = 0; i < shape->pool_count; i++)
        if (shape->pools[i].wanted && !shape->pools[i].parked)
            return false;
    for (uint32_t i = 0; i < shape->pool_count; i++)
        if (shape->pools[i].parked) {
            *ret_room = customer->turns[i].room;
            *ret_parked = customer->turns[i].parked;
            return true;
        }
    return false;
}

bool turns_valid(const struct customer *customer)
{
    uint32_t pools = customer->settings->pool_count ? customer->settings->pool_count : 1;

    for (uint32_t k = 0; k < pools; k++) {
        struct turns left = customer->turns[k];

        for (uint32_t i = 0; i < customer->shape_count; i++) {
            const struct shape_pool *pool = customer->shape_list[i] ? &customer->shape_list[i]->pools[k] : NULL;

            left.offered -= pool && pool->advert.text;
            left.parked -= pool && pool->parked;
            left.taken -= pool && pool->counted;
        }
        if (left.offered || left.parked || left.taken)
            return false;
    }
    return true;
}
