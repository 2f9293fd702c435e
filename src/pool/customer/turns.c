/* turns.c: requests that are offered by turns, because a pool takes fewer of us than there are.
 *
 *     room        how many requests that pool takes of us: unlimited, until it refuses one because of its limit
 *     offered     the best requests, three of four places;  in the fourth part all others, each for a while, those first that waited longest
 *     parked      the rest: they are not sent, and their jobs say so
 *
 * Best is: the next of each owner, then the second of each, ...; of one owner by Priority, then as they were submitted. All is looked at together and
 * at most once in a short span (turns_look.c), when something has changed; else when turns are over. So a request that is parked costs nothing. */
#include "lang/base/mem.h"
#include "pool/customer/customer_parts.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_LEAST 8     /* a limit below that is not believed: it is the one request that is too much */
#define RENEWALS 4       /* so often within the lifetime of an ad ... */
#define GROWS_PART 32    /* ... it is tried whether that part more is taken ... */
#define SWAPS_PART 8     /* ... and that part of the places may change hands */
#define LOOK_SHAPES 1500 /* so many requests make the span between two looks longer by that between two repeats */

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

void turns_set(const struct customer_step *step, uint32_t pool, int64_t at)
{
    struct turns *turns = turns_of(step->customer, pool);

    if (at >= turns->set)
        return;
    turns->set = at;
    timers_set(&step->customer->timers, at, TIMER_TURNS, pool);
}

/* Something has changed: they are looked at soon, all at once. */
static void turns_change(const struct customer_step *step, uint32_t pool)
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
        turns_change(step, which);
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
            turns_change(step, which);
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
    turns_change(step, which);
}

/* The pool has no place for it now: it is parked, and is not refused for its own sake. */
void turns_refuse(const struct customer_step *step, struct shape *shape, uint32_t which)
{
    struct shape_pool *pool = &shape->pools[which];

    pool->advert.refused = REASON_OK;
    pool->parked = true;
    turns_of(step->customer, which)->parked++;
    pool->dirty = true;
    shape_due(step, shape->place);
}

bool turns_refused(const struct shape_pool *pool)
{
    return pool->advert.refused == REASON_LIMIT && !pool->advert.taken && !pool->parked && pool->advert.text;
}

void turns_answered(const struct customer_step *step, struct shape *shape, uint32_t which)
{
    struct turns *turns = turns_of(step->customer, which);
    struct shape_pool *pool = &shape->pools[which];

    turns_count(step, pool, which);
    if (!turns_refused(pool) || turns->taken < ROOM_LEAST)
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
    turns_refuse(step, shape, which);
    turns_change(step, which);
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

    if (turns->set <= step->env->now)
        turns->set = INT64_MAX;
    if (turns->room == TURNS_UNLIMITED)
        return;
    if (turns->look) { /* what has changed since that began is looked at by the next */
        turns_change(step, which);
        return;
    }
    turns_renew(step, turns);
    turns_look(step, which);
}

void turns_looked(const struct customer_step *step, uint32_t which, uint32_t wishes)
{
    struct turns *turns = turns_of(step->customer, which);

    if (!turns->parked && wishes < turns->room / 2)
        turns->room = TURNS_UNLIMITED;
    else if (turns->parked)
        turns_set(step, which, turns->renews);
}

void turns_done(struct customer *customer)
{
    uint32_t count = customer->settings->pool_count ? customer->settings->pool_count : 1;

    for (uint32_t i = 0; i < count; i++)
        look_free(customer->turns[i].look);
    free(customer->turns);
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
