/* pack.c: packs the solution of the linear programme into single offers.
 *
 * The programme fills all offers of a shelf as if they were one, and gives each quantity of a shelf and each group a price. Here the offers are
 * filled one by one, each with its part of what the programme gives to the shelf, so that the rest stays as balanced as the whole. The prices
 * choose what goes in: what a request is worth beyond the price of its group, against the room that it takes. Requests that are left over go where
 * there is room, and squeeze.c makes more of it. */
#include "match/assign/pack.h"
#include "match/assign/greedy.h"

#include <math.h>

#include <string.h>

#define VALUE_LEAST 1e-3
#define GOLDEN 0.6180339887498949 /* its multiples are spread evenly */

/* Lists the columns of each shelf. */
static void columns_list(struct packing *packing)
{
    const struct programme *programme = packing->programme;
    uint32_t *first = packing->first;

    memset(first, 0, (packing->shelves->count + 2) * sizeof *first);
    for (uint32_t i = 0; i < programme->lp.column_count; i++)
        first[programme->columns[i].shelf + 2]++;
    for (uint32_t i = 2; i <= packing->shelves->count + 1; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < programme->lp.column_count; i++)
        packing->list[first[programme->columns[i].shelf + 1]++] = i;
}

void shelf_prices(const struct packing *packing, uint32_t s, double *ret_prices)
{
    uint32_t quantities = packing->settling->quantity_count;

    for (uint32_t q = 0; q < quantities; q++) {
        int row = packing->programme->row_of[(size_t)s * quantities + q];
        double free = packing->shelves->items[s].free[q];

        ret_prices[q] = row >= 0 ? packing->programme->prices[row] / free : 0; /* rows are in parts of an offer */
        if (free > 0 && !isinf(free))
            ret_prices[q] += PACK_PRICE_LEAST / free;
    }
}

/* Lists what the programme gives to a shelf, with its value at the prices. */
static uint32_t shelf_kinds(struct packing *packing, uint32_t s, const double *prices)
{
    const struct settling *settling = packing->settling;
    const struct programme *programme = packing->programme;
    uint32_t count = 0;

    for (uint32_t i = packing->first[s]; i < packing->first[s + 1]; i++) {
        uint32_t column = packing->list[i], group = programme->columns[column].group;
        const struct request_group *of = &settling->groups[group];
        struct knapsack_kind kind = {.amounts = of->amounts, .number = group, .size = PACK_PRICE_LEAST / 1000};

        if (programme->x[column] <= 1e-6)
            continue;
        packing->goals[group] = programme->x[column];
        packing->taken[group] = 0;
        kind.value = fmax(programme->lp.objective[column] - programme->prices[group], VALUE_LEAST);
        for (uint32_t q = 0; q < settling->quantity_count; q++)
            kind.size += of->amounts[q] * prices[q];
        packing->kinds[count++] = kind;
    }
    return count;
}

/* A number from 0 to below 1 for each number; they are spread evenly. */
static double phase_of(const struct packing *packing, uint32_t number)
{
    double phase = number * GOLDEN + packing->shift;

    return phase - floor(phase);
}

/* How many of a group may go into offer `at` of `offers`: its part, and what was due before. */
static uint32_t group_due(const struct packing *packing, uint32_t group, uint32_t at, uint32_t offers)
{
    double due = floor(packing->goals[group] * (at + 1) / offers + phase_of(packing, group));

    if (at + 1 == offers)
        due = ceil(packing->goals[group] - 1e-6);
    due -= packing->taken[group];
    return due <= 0 ? 0 : due < packing->left[group] ? (uint32_t)due : packing->left[group];
}

static void offer_fill(struct packing *packing, struct knapsack *knapsack, const struct assign_shelf *shelf,
                       uint32_t offer)
{
    struct settling *settling = packing->settling;

    knapsack_fill(knapsack, shelf->free);
    for (uint32_t i = 0; i < knapsack->count; i++) {
        uint32_t number = knapsack->kinds[i].number;
        const struct request_group *group = &settling->groups[number];

        packing->taken[number] += knapsack->kinds[i].taken;
        for (uint32_t k = knapsack->kinds[i].taken; k > 0; k--)
            settling_place(settling, settling->members[group->first + group->count - packing->left[number]--], offer);
    }
}

/* Fills the offers of a shelf, one after the other. */
static void shelf_fill(struct packing *packing, uint32_t s)
{
    const struct assign_shelf *shelf = &packing->shelves->items[s];
    double prices[ASSIGN_QUANTITIES_MAX];
    struct knapsack knapsack = {.kinds = packing->kinds,
                                .quantity_count = packing->settling->quantity_count,
                                .prices = prices,
                                .nodes = PACK_NODES};

    shelf_prices(packing, s, prices);
    knapsack.count = shelf_kinds(packing, s, prices);
    knapsack_sort(&knapsack);
    for (uint32_t n = 0; n < shelf->count; n++) {
        for (uint32_t i = 0; i < knapsack.count; i++)
            knapsack.kinds[i].limit = group_due(packing, knapsack.kinds[i].number, n, shelf->count);
        offer_fill(packing, &knapsack, shelf, packing->shelves->members[shelf->first + n]);
    }
}

/* Puts requests that are left over where there is room, the smallest first. */
static void pack_rest(struct packing *packing)
{
    struct settling *settling = packing->settling;
    const struct programme *programme = packing->programme;
    struct greedy greedy;

    greedy_init(&greedy, settling, packing->shelves);
    greedy_add_groups(&greedy);
    for (uint32_t i = 0; i < programme->lp.column_count; i++) {
        const struct column *column = &programme->columns[i];

        greedy_add(&greedy,
                   -desire_of(settling->groups[column->group].amounts, packing->shelves->items[column->shelf].free,
                              settling->quantity_count),
                   column->group, column->shelf, GREEDY_ALL);
    }
    greedy_run(&greedy);
    greedy_done(&greedy);
}

void packing_init(struct packing *packing, struct settling *settling, const struct shelves *shelves,
                  const struct programme *programme)
{
    *packing = (struct packing){.settling = settling, .shelves = shelves, .programme = programme};
    packing->left = SCRATCH(settling, uint32_t, settling->group_count);
    packing->goals = SCRATCH(settling, double, settling->group_count);
    packing->taken = SCRATCH(settling, uint32_t, settling->group_count);
    packing->first = SCRATCH(settling, uint32_t, shelves->count + 2);
    packing->list = SCRATCH(settling, uint32_t, programme->lp.column_count);
    packing->kinds = SCRATCH(settling, struct knapsack_kind, settling->group_count);
    for (uint32_t i = 0; i < settling->group_count; i++)
        packing->left[i] = settling->groups[i].count;
    columns_list(packing);
}

void packing_finish(struct packing *packing)
{
    pack_rest(packing);
    squeeze(packing);
}

void pack_solution(struct settling *settling, const struct shelves *shelves, const struct programme *programme,
                   double shift)
{
    struct packing packing;

    settling_clear(settling);
    packing_init(&packing, settling, shelves, programme);
    packing.shift = shift;
    for (uint32_t s = 0; s < shelves->count; s++)
        shelf_fill(&packing, s);
    packing_finish(&packing);
}
