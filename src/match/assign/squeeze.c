/* squeeze.c: puts more requests into offers that are filled already.
 *
 * First each offer by itself: with what it has and what is left over, more requests, or as many that take less room, is better. Then several of a
 * shelf together: all but one are filled as much as they can be with what they had, so that the last one has the most room for other requests. */
#include "match/assign/pack.h"

#include "lang/base/rng.h"

#include <math.h>
#include <string.h>

#define PRICE_SPACE 0.01 /* price of all of a quantity: what is not scarce is not wasted either */
#define PASSES 4         /* over all offers, as long as one changes */
#define TOGETHER 10      /* offers that are squeezed together ... */
#define ATTEMPTS 3       /* ... so often for each offer of a shelf */

/* Which requests are where: a list for each offer. */
struct census {
    struct packing *packing;
    uint32_t *first; /* by offer: a request, or ASSIGN_NONE */
    uint32_t *next;  /* by request */
    uint32_t *kept;  /* requests that were taken off */
    uint32_t kept_count;
    struct rng rng;
};

static void census_init(struct census *census, struct packing *packing)
{
    struct settling *settling = packing->settling;
    const struct assign_problem *problem = settling->problem;

    *census = (struct census){packing, SCRATCH(settling, uint32_t, problem->offer_count),
                              SCRATCH(settling, uint32_t, problem->request_count),
                              SCRATCH(settling, uint32_t, problem->request_count), .rng = {1}};
    memset(census->first, 0xff, problem->offer_count * sizeof *census->first);
    for (uint32_t i = 0; i < settling->group_count; i++)
        packing->left[i] = packing->taken[i] = 0;
    for (uint32_t i = 0; i < problem->request_count; i++) {
        uint32_t offer = settling->placed[i];

        packing->left[settling->group_of[i]] += offer == ASSIGN_NONE;
        if (offer == ASSIGN_NONE)
            continue;
        census->next[i] = census->first[offer];
        census->first[offer] = i;
    }
}

/* Takes all requests off the offer; they are kept. */
static void offer_empty(struct census *census, uint32_t offer)
{
    struct packing *packing = census->packing;

    for (uint32_t request = census->first[offer]; request != ASSIGN_NONE; request = census->next[request]) {
        packing->left[packing->settling->group_of[request]]++;
        settling_remove(packing->settling, request);
        census->kept[census->kept_count++] = request;
    }
    census->first[offer] = ASSIGN_NONE;
}

static void offer_put(struct census *census, uint32_t request, uint32_t offer)
{
    struct packing *packing = census->packing;

    packing->left[packing->settling->group_of[request]]--;
    settling_place(packing->settling, request, offer);
    census->next[request] = census->first[offer];
    census->first[offer] = request;
}

/* A request of the group that is not placed; the search begins at the last one that was found. */
static uint32_t group_spare(struct packing *packing, uint32_t number)
{
    const struct settling *settling = packing->settling;
    const struct request_group *group = &settling->groups[number];

    for (uint32_t n = 0; n < group->count; n++) {
        uint32_t at = (packing->taken[number] + n) % group->count;

        if (settling->placed[settling->members[group->first + at]] != ASSIGN_NONE)
            continue;
        packing->taken[number] = at;
        return settling->members[group->first + at];
    }
    return ASSIGN_NONE;
}

/* Places what the bag holds at the offer. */
static void offer_take(struct census *census, const struct knapsack *knapsack, uint32_t offer)
{
    for (uint32_t i = 0; i < knapsack->count; i++)
        for (uint32_t n = knapsack->kinds[i].taken; n > 0; n--)
            offer_put(census, group_spare(census->packing, knapsack->kinds[i].number), offer);
}

static void shelf_sizes(const struct packing *packing, uint32_t s, double *ret_prices)
{
    const struct assign_shelf *shelf = &packing->shelves->items[s];

    shelf_prices(packing, s, ret_prices);
    for (uint32_t q = 0; q < packing->settling->quantity_count; q++)
        if (shelf->free[q] > 0 && !isinf(shelf->free[q]))
            ret_prices[q] += PRICE_SPACE / shelf->free[q];
}

/* Lists all that may go to the shelf and is left. */
static void kinds_left(struct packing *packing, struct knapsack *knapsack, uint32_t s)
{
    const struct settling *settling = packing->settling;

    knapsack->count = 0;
    for (uint32_t i = packing->first[s]; i < packing->first[s + 1]; i++) {
        uint32_t column = packing->list[i], group = packing->programme->columns[column].group;
        struct knapsack_kind kind = {.amounts = settling->groups[group].amounts,
                                     .number = group,
                                     .value = packing->programme->lp.objective[column],
                                     .size = PACK_PRICE_LEAST / 1000,
                                     .limit = packing->left[group]};

        for (uint32_t q = 0; q < settling->quantity_count; q++)
            kind.size += kind.amounts[q] * knapsack->prices[q];
        if (kind.limit)
            packing->kinds[knapsack->count++] = kind;
    }
    knapsack_sort(knapsack);
}

/* Lists of those only what was kept; each is worth the room that it takes. */
static void kinds_kept(struct census *census, struct knapsack *knapsack, uint32_t s)
{
    struct packing *packing = census->packing;
    uint32_t count = 0;

    kinds_left(packing, knapsack, s);
    for (uint32_t i = 0; i < knapsack->count; i++)
        packing->goals[knapsack->kinds[i].number] = 0;
    for (uint32_t i = 0; i < census->kept_count; i++)
        if (packing->settling->placed[census->kept[i]] == ASSIGN_NONE)
            packing->goals[packing->settling->group_of[census->kept[i]]]++;
    for (uint32_t i = 0; i < knapsack->count; i++) {
        struct knapsack_kind kind = knapsack->kinds[i];

        kind.value = kind.size;
        kind.limit =
            (uint32_t)packing->goals[kind.number] < kind.limit ? (uint32_t)packing->goals[kind.number] : kind.limit;
        if (kind.limit)
            knapsack->kinds[count++] = kind;
    }
    knapsack->count = count;
    knapsack_sort(knapsack);
}

/* The value of some requests to the shelf, and the room that they take. */
static double requests_worth(const struct packing *packing, uint32_t s, const uint32_t *requests, uint32_t count,
                             const double *prices, double *ret_size)
{
    const struct settling *settling = packing->settling;
    double value = 0;

    *ret_size = 0;
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = packing->first[s]; i < packing->first[s + 1]; i++) {
            const struct column *column = &packing->programme->columns[packing->list[i]];

            if (column->group != settling->group_of[requests[k]])
                continue;
            value += packing->programme->lp.objective[packing->list[i]];
            *ret_size += PACK_PRICE_LEAST / 1000;
            for (uint32_t q = 0; q < settling->quantity_count; q++)
                *ret_size += settling->groups[column->group].amounts[q] * prices[q];
            break;
        }
    return value;
}

/* Fills one offer anew, when that is better. */
static bool offer_again(struct census *census, struct knapsack *knapsack, uint32_t s, uint32_t offer)
{
    struct packing *packing = census->packing;
    double size, value, now = 0, takes = 0;

    census->kept_count = 0;
    offer_empty(census, offer);
    value = requests_worth(packing, s, census->kept, census->kept_count, knapsack->prices, &size);
    kinds_left(packing, knapsack, s);
    knapsack_fill(knapsack, packing->shelves->items[s].free);
    for (uint32_t i = 0; i < knapsack->count; i++) {
        now += knapsack->kinds[i].value * knapsack->kinds[i].taken;
        takes += knapsack->kinds[i].size * knapsack->kinds[i].taken;
    }
    if (now > value + 1e-9 || (now > value - 1e-9 && takes < size - 1e-9)) {
        offer_take(census, knapsack, offer);
        return true;
    }
    for (uint32_t i = 0; i < census->kept_count; i++)
        offer_put(census, census->kept[i], offer);
    return false;
}

static uint32_t shelf_again(struct census *census, uint32_t s)
{
    struct packing *packing = census->packing;
    const struct assign_shelf *shelf = &packing->shelves->items[s];
    double prices[ASSIGN_QUANTITIES_MAX];
    struct knapsack knapsack = {packing->kinds, 0, packing->settling->quantity_count, prices, PACK_NODES, 0, 0};
    uint32_t changed = 0;

    shelf_sizes(packing, s, prices);
    for (uint32_t n = 0; n < shelf->count; n++)
        changed += offer_again(census, &knapsack, s, packing->shelves->members[shelf->first + n]);
    return changed;
}

/* Fills some offers of the shelf together; true when they hold more than before. */
static bool offers_together(struct census *census, struct knapsack *knapsack, uint32_t s, const uint32_t *offers,
                            uint32_t count)
{
    struct packing *packing = census->packing;
    struct settling *settling = packing->settling;
    uint32_t ends[TOGETHER], before = settling->placed_count, kept;

    census->kept_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        offer_empty(census, offers[i]);
        ends[i] = census->kept_count;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i + 1 < count)
            kinds_kept(census, knapsack, s);
        else
            kinds_left(packing, knapsack, s);
        knapsack_fill(knapsack, packing->shelves->items[s].free);
        offer_take(census, knapsack, offers[i]);
    }
    if (settling->placed_count > before)
        return true;
    kept = census->kept_count;
    for (uint32_t i = 0; i < count; i++)
        offer_empty(census, offers[i]);
    for (uint32_t i = 0, k = 0; i < count; i++)
        for (; k < ends[i]; k++)
            offer_put(census, census->kept[k], offers[i]);
    census->kept_count = kept;
    return false;
}

static void shelf_together(struct census *census, uint32_t s)
{
    struct packing *packing = census->packing;
    const struct assign_shelf *shelf = &packing->shelves->items[s];
    double prices[ASSIGN_QUANTITIES_MAX];
    struct knapsack knapsack = {packing->kinds, 0, packing->settling->quantity_count, prices, PACK_NODES, 0, 0};
    uint32_t offers[TOGETHER], together = shelf->count < TOGETHER ? shelf->count : TOGETHER;

    if (together < 2)
        return;
    shelf_sizes(packing, s, prices);
    for (uint32_t n = 0; n < shelf->count * ATTEMPTS; n++) {
        uint32_t place = (uint32_t)rng_below(&census->rng, shelf->count);
        uint32_t step = 1 + (uint32_t)rng_below(&census->rng, (shelf->count - 1) / (together - 1));

        for (uint32_t i = 0; i < together; i++)
            offers[i] = packing->shelves->members[shelf->first + (place + i * step) % shelf->count];
        offers_together(census, &knapsack, s, offers, together);
    }
}

void squeeze(struct packing *packing)
{
    struct settling *settling = packing->settling;
    struct census census;

    census_init(&census, packing);
    for (uint32_t pass = 0, changed = 1; pass < PASSES && changed; pass++) {
        changed = 0;
        for (uint32_t s = 0; s < packing->shelves->count && !settling_stops(settling); s++)
            changed += shelf_again(&census, s);
    }
    for (uint32_t s = 0; s < packing->shelves->count && !settling_stops(settling); s++)
        shelf_together(&census, s);
}
