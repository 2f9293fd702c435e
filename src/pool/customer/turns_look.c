/* turns_look.c: a look at all requests that want a place in a pool (turns.c): who gets one, who loses it.
 *
 *     list -> sort by owner -> rank -> sort by rank -> split -> sort by turn -> give
 *
 * There may be a hundred thousand of them: a look that is long goes on in the wakes to come, a part in each, and others are served between. What has
 * changed meanwhile is seen at the end: a request that is gone, or is already where it should be, is passed over. */
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/customer/customer_parts.h"

#include <stdlib.h>
#include <string.h>

#define ROTATING_PART 4  /* of the places: for those that are not among the best */
#define LOOK_WORK 8000   /* in one go, about half a millisecond: so many wishes moved */
#define LIST_WORK 4      /* what it costs to look at a shape: they lie all over the memory */
#define SORTED_FIRST 512 /* side by side, by the C library */
#define SORT_WORK 8      /* what that costs for each */

/* A request that wants a place. */
struct wish {
    uint32_t place; /* of its shape: no other ever has that */
    uint64_t owner; /* a hash */
    uint64_t rank;  /* among those of its owner; then among all */
    int64_t
        last; /* when it had its last turn; INT64_MIN: it had none; of one that is offered, since when it has been */
    double priority;
    uint64_t job; /* its first */
};

enum look_stage { LOOK_LIST, LOOK_BY_OWNER, LOOK_RANK, LOOK_BY_RANK, LOOK_SPLIT, LOOK_BY_TURN, LOOK_GIVE };

/* Sorts in parts. */
struct sorting {
    uint32_t width; /* so many side by side are sorted; 0: not begun */
    uint32_t at;    /* before here the twice as many are, too */
};

struct look {
    enum look_stage stage;
    uint32_t at; /* of the shapes, or of the wishes */
    struct sorting sorting;
    struct wish *wishes, *spare; /* all, the best first in the end; of the same room */
    uint32_t count, room;
    struct wish *best, *rest,
        *offered; /* parked and among the best; parked, not among the best; offered, not among the best */
    uint32_t best_count, rest_count, offered_count;
};

void look_free(struct look *look)
{
    if (!look)
        return;
    free(look->wishes);
    free(look->spare);
    free(look->best);
    free(look->rest);
    free(look->offered);
    free(look);
}

/* ------------------------------------------------------------------------------------------------------------- sorting */

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

/* Of those that are not among the best: who waited longest has the next turn. */
static int by_turn(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;

    if (x->last != y->last)
        return x->last < y->last ? -1 : 1;
    return compare_numbers(x->rank, y->rank);
}

typedef int wish_order(const void *a, const void *b);

/* Two sorted parts, from..middle and middle..to, become one in `into`. */
static void wishes_merge(const struct wish *from, uint32_t middle, uint32_t to, struct wish *into, wish_order *order)
{
    uint32_t left = 0, right = middle, at = 0;

    while (left < middle && right < to)
        into[at++] = order(&from[right], &from[left]) < 0 ? from[right++] : from[left++];
    memcpy(into + at, from + left, (middle - left) * sizeof *from);
    at += middle - left;
    memcpy(into + at, from + right, (to - right) * sizeof *from);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Goes on sorting `*wishes`, of which `*spare` has room for as many. True when they are sorted; then it is ready for others. */
static bool sort_on(struct sorting *sorting, struct wish **wishes, struct wish **spare, uint32_t count,
                    wish_order *order, uint32_t *work)
{
    if (!count)
        return true;
    while (*work) {
        uint32_t cost, n = least(sorting->width ? 2 * sorting->width : SORTED_FIRST, count - sorting->at);
        struct wish *from = *wishes + sorting->at;

        if (!sorting->width)
            qsort(from, n, sizeof *from, order);
        else
            wishes_merge(from, least(sorting->width, n), n, *spare + sorting->at, order);
        cost = n * (sorting->width ? 1 : SORT_WORK);
        *work = *work > cost ? *work - cost : 0;
        sorting->at += n;
        if (sorting->at < count)
            continue;
        if (sorting->width) {
            struct wish *swapped = *wishes;

            *wishes = *spare;
            *spare = swapped;
        }
        sorting->at = 0;
        sorting->width = sorting->width ? 2 * sorting->width : SORTED_FIRST;
        if (sorting->width >= count) {
            sorting->width = 0;
            return true;
        }
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------------- stages */

static bool list_on(const struct customer_step *step, struct look *look, uint32_t which, uint32_t *work)
{
    const struct customer *customer = step->customer;

    for (; look->at < customer->shape_count && *work; look->at++) {
        struct shape *shape = customer->shape_list[look->at];

        *work = *work > LIST_WORK ? *work - LIST_WORK : 0;
        if (!shape || !shape->pools[which].wanted || shape->waiting <= shape->pools[which].pending)
            continue;
        if (turns_refused(&shape->pools[which])) /* from before it was known that there is a limit */
            turns_refuse(step, shape, which);
        ARRAY_ROOM(look->wishes, look->count, look->room, 64);
        look->wishes[look->count++] = (struct wish){.place = look->at,
                                                    .owner = shape->owner_hash,
                                                    .last = shape->pools[which].last,
                                                    .priority = shape->priority,
                                                    .job = shape->first->id};
    }
    if (look->at < customer->shape_count)
        return false;
    look->spare = mem_alloc((look->count + 1) * sizeof *look->spare);
    return true;
}

/* Ranks them among those of their owner. */
static bool rank_on(struct look *look, uint32_t *work)
{
    struct wish *wishes = look->wishes;

    for (; look->at < look->count && *work; look->at++, --*work)
        wishes[look->at].rank =
            look->at && wishes[look->at].owner == wishes[look->at - 1].owner ? wishes[look->at - 1].rank + 1 : 0;
    return look->at == look->count;
}

static bool split_on(const struct customer_step *step, struct look *look, uint32_t which, uint32_t *work)
{
    uint32_t room = turns_of(step->customer, which)->room, best = room - room / ROTATING_PART;

    if (!look->best) {
        look->best = mem_alloc((look->count + 1) * sizeof *look->best);
        look->rest = mem_alloc((look->count + 1) * sizeof *look->rest);
        look->offered = mem_alloc((look->count + 1) * sizeof *look->offered);
    }
    for (; look->at < look->count && *work; look->at++) {
        struct wish wish = look->wishes[look->at];
        const struct shape *shape = shape_at(step->customer, wish.place);

        *work = *work > LIST_WORK ? *work - LIST_WORK : 0;
        if (!shape)
            continue;
        wish.rank = look->at;
        if (shape->pools[which].parked && look->at < best) {
            look->best[look->best_count++] = wish;
        } else if (shape->pools[which].parked) {
            look->rest[look->rest_count++] = wish;
        } else if (look->at >= best) {
            wish.last = shape->pools[which].since;
            look->offered[look->offered_count++] = wish;
        }
    }
    return look->at == look->count;
}

/* -------------------------------------------------------------------------------------------------------------- giving */

static void shape_park(const struct customer_step *step, struct shape *shape, uint32_t which)
{
    struct shape_pool *pool = &shape->pools[which];

    pool->parked = true;
    pool->last = step->env->now;
    turns_of(step->customer, which)->parked++;
    pool->dirty = true;
    shape_due(step, shape->place);
}

/* Gives it a place, unless it has one, or is gone. */
static bool wish_offer(const struct customer_step *step, const struct wish *wish, uint32_t which)
{
    struct shape *shape = shape_at(step->customer, wish->place);

    if (!shape || !shape->pools[which].parked)
        return false;
    turns_unpark(step, shape, which);
    shape->pools[which].dirty = true;
    shape_due(step, shape->place);
    return true;
}

/* Lets one go that has a place, if a place may change hands. */
static bool wish_swap(const struct customer_step *step, const struct wish *wish, uint32_t which)
{
    struct turns *turns = turns_of(step->customer, which);
    struct shape *shape = shape_at(step->customer, wish->place);

    if (!turns->swaps || !shape || shape->pools[which].parked)
        return false;
    turns->swaps--;
    shape_park(step, shape, which);
    return true;
}

/* Gives places: first to the best that have none; then turns that are over change hands; what is still free goes to those that waited longest. What is
 * withdrawn is sent first, so that there is room. */
static void places_give(const struct customer_step *step, struct look *look, uint32_t which)
{
    const struct turns *turns = turns_of(step->customer, which);
    int64_t over = step->env->now - step->customer->spans->lifetime / 2;
    uint32_t places = turns->room > turns->offered ? turns->room - turns->offered : 0, swapped = 0;
    uint32_t best = least(places, look->best_count);

    places -= best;
    while (best < look->best_count && look->offered_count && turns->swaps)
        best += wish_swap(step, &look->offered[--look->offered_count], which);
    for (uint32_t i = 0; i < look->offered_count && swapped < look->rest_count && turns->swaps; i++)
        if (look->offered[i].last <= over)
            swapped += wish_swap(step, &look->offered[i], which);
    places += swapped;
    for (uint32_t i = 0, given = 0; i < look->best_count && given < best; i++)
        given += wish_offer(step, &look->best[i], which);
    for (uint32_t i = 0, given = 0; i < look->rest_count && given < places; i++)
        given += wish_offer(step, &look->rest[i], which);
}

/* Goes on for a while. True when places are given. */
static bool look_on(const struct customer_step *step, struct look *look, uint32_t which)
{
    uint32_t work = LOOK_WORK;

    while (work) {
        bool done = true;

        switch (look->stage) {
        case LOOK_LIST:
            done = list_on(step, look, which, &work);
            break;
        case LOOK_BY_OWNER:
            done = sort_on(&look->sorting, &look->wishes, &look->spare, look->count, by_owner, &work);
            break;
        case LOOK_RANK:
            done = rank_on(look, &work);
            break;
        case LOOK_BY_RANK:
            done = sort_on(&look->sorting, &look->wishes, &look->spare, look->count, by_rank, &work);
            break;
        case LOOK_SPLIT:
            done = split_on(step, look, which, &work);
            break;
        case LOOK_BY_TURN:
            done = sort_on(&look->sorting, &look->rest, &look->spare, look->rest_count, by_turn, &work);
            break;
        case LOOK_GIVE:
            places_give(step, look, which);
            return true;
        }
        if (!done)
            return false;
        look->stage++;
        look->at = 0;
    }
    return false;
}

void turns_look(const struct customer_step *step, uint32_t which)
{
    struct turns *turns = turns_of(step->customer, which);
    uint32_t count;

    if (!turns->look) {
        turns->look = mem_alloc(sizeof *turns->look);
        memset(turns->look, 0, sizeof *turns->look);
    }
    if (!look_on(step, turns->look, which)) {
        timers_set(&step->customer->shape_timers, step->env->now, TIMER_LOOK, which);
        return;
    }
    count = turns->look->count;
    look_free(turns->look);
    turns->look = NULL;
    turns_looked(step, which, count);
}
