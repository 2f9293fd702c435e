/* generate.c: the patterns that the programme over patterns asks for.
 *
 * The programme puts a price on each group: what one more request of it would be worth. For each shelf, finding the pattern with the most value
 * beyond these prices is a knapsack problem. When that pattern is worth more than what the programme pays for an offer of that shelf, it is a new
 * column. What the knapsacks are worth, at any prices, is also a bound: all requests at their prices, and all offers at the value of their best
 * pattern. */
#include "match/assign/generate.h"

#include <math.h>
#include <string.h>

#define ROUNDS 400        /* at most */
#define ENOUGH 0.0005     /* part of the bound that is near enough, except for half a request */
#define GAIN 1e-6         /* what a pattern must be worth beyond its price */
#define VALUE_LEAST 1e-12 /* what is worth less counts as worth nothing */
#define PRICE_SPACE 0.001 /* price of all of a quantity, so that no size is zero */
#define NODES 1000        /* things tried for a pattern */
#define NODES_WORK 200    /* so many of these are a unit of work */

bool generation_stops(const struct generation *generation, uint64_t spare)
{
    const struct settling *settling = generation->packing->settling;

    return settling->result->work + spare > generation->limit || settling_stops(settling);
}

/* Makes a pattern of the shelf from `counts`. */
static bool pattern_add(struct generation *generation, uint32_t s)
{
    const struct packing *packing = generation->packing;
    const struct programme *programme = packing->programme;
    uint32_t count = 0;
    double value = 0;

    for (uint32_t i = packing->first[s]; i < packing->first[s + 1]; i++) {
        uint32_t column = packing->list[i], group = programme->columns[column].group;

        if (generation->counts[group] == 0)
            continue;
        generation->parts[count++] = (struct pattern_part){group, generation->counts[group]};
        value += programme->lp.objective[column] * generation->counts[group];
        generation->counts[group] = 0;
    }
    return patterns_add(&generation->patterns, s, generation->parts, count, value);
}

/* Adds the patterns of what is placed now. */
static void patterns_placed(struct generation *generation)
{
    const struct packing *packing = generation->packing;
    const struct settling *settling = packing->settling;
    uint32_t offers = settling->problem->offer_count, requests = settling->problem->request_count;
    uint32_t *first = SCRATCH(settling, uint32_t, offers + 2), *list = SCRATCH(settling, uint32_t, requests);

    memset(first, 0, (offers + 2) * sizeof *first);
    for (uint32_t i = 0; i < requests; i++)
        if (settling->placed[i] != ASSIGN_NONE)
            first[settling->placed[i] + 2]++;
    for (uint32_t i = 2; i <= offers + 1; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < requests; i++)
        if (settling->placed[i] != ASSIGN_NONE)
            list[first[settling->placed[i] + 1]++] = i;
    for (uint32_t i = 0; i < offers; i++) {
        for (uint32_t k = first[i]; k < first[i + 1]; k++)
            generation->counts[settling->group_of[list[k]]]++;
        pattern_add(generation, packing->shelves->of[i]);
    }
}

void generation_init(struct generation *generation, struct packing *packing, double bound, uint64_t work)
{
    struct settling *settling = packing->settling;
    uint32_t groups = settling->group_count, shelves = packing->shelves->count;

    *generation = (struct generation){.packing = packing, .bound = bound, .limit = settling->result->work + work};
    generation->rows = SCRATCH(settling, double, groups + shelves);
    generation->counts = SCRATCH(settling, uint32_t, groups);
    generation->parts = SCRATCH(settling, struct pattern_part, groups);
    memset(generation->counts, 0, groups * sizeof *generation->counts);
    for (uint32_t i = 0; i < groups; i++)
        generation->rows[i] = settling->groups[i].count;
    for (uint32_t i = 0; i < shelves; i++)
        generation->rows[groups + i] = packing->shelves->items[i].count;
    patterns_init(&generation->patterns);
    patterns_placed(generation);
    generation->master = master_new(groups, shelves);
    master_limit(generation->master, generation->rows);
}

void generation_done(struct generation *generation)
{
    patterns_done(&generation->patterns);
    master_free(generation->master);
}

/* Lists what may go to the shelf and is worth more than its price. What takes no room goes in at once; returns its value. */
static double kinds_priced(struct generation *generation, struct knapsack *knapsack, uint32_t s, const uint32_t *left)
{
    const struct packing *packing = generation->packing;
    const struct settling *settling = packing->settling;
    const double *paid = master_prices(generation->master);
    double free_value = 0;

    knapsack->count = 0;
    for (uint32_t i = packing->first[s]; i < packing->first[s + 1]; i++) {
        uint32_t column = packing->list[i], group = packing->programme->columns[column].group;
        struct knapsack_kind kind = {.amounts = settling->groups[group].amounts,
                                     .number = group,
                                     .value = packing->programme->lp.objective[column] - paid[group],
                                     .limit = left[group]};

        if (kind.value <= VALUE_LEAST || kind.limit == 0)
            continue;
        for (uint32_t q = 0; q < settling->quantity_count; q++)
            kind.size += kind.amounts[q] * knapsack->prices[q];
        if (kind.size > 0) {
            knapsack->kinds[knapsack->count++] = kind;
        } else {
            generation->counts[group] = kind.limit;
            free_value += kind.value * kind.limit;
        }
    }
    knapsack_sort(knapsack);
    return free_value;
}

/* Puts the best pattern of the shelf at the prices into `counts`. Returns a bound of what it is worth beyond them. */
static double shelf_best(struct generation *generation, uint32_t s, const uint32_t *left)
{
    struct packing *packing = generation->packing;
    struct settling *settling = packing->settling;
    const double *free = packing->shelves->items[s].free;
    double prices[ASSIGN_QUANTITIES_MAX], value;
    struct knapsack knapsack = {packing->kinds, 0, settling->quantity_count, prices, NODES, 0, 0};

    shelf_prices(packing, s, prices);
    for (uint32_t q = 0; q < settling->quantity_count; q++)
        prices[q] += free[q] > 0 && !isinf(free[q]) ? PRICE_SPACE / free[q] : 0;
    value = kinds_priced(generation, &knapsack, s, left);
    knapsack_fill(&knapsack, free);
    for (uint32_t i = 0; i < knapsack.count; i++)
        generation->counts[knapsack.kinds[i].number] = knapsack.kinds[i].taken;
    settling->result->work += knapsack.tried / NODES_WORK;
    return value + knapsack.bound + VALUE_LEAST * settling->problem->request_count;
}

/* Adds the pattern in `counts` when the master gains by it; `counts` is cleared in any case. */
static bool pattern_offer(struct generation *generation, uint32_t s)
{
    const struct packing *packing = generation->packing;
    const double *paid = master_prices(generation->master);
    double gain = -paid[packing->settling->group_count + s];

    for (uint32_t i = packing->first[s]; i < packing->first[s + 1]; i++) {
        uint32_t column = packing->list[i], group = packing->programme->columns[column].group;

        gain += generation->counts[group] * (packing->programme->lp.objective[column] - paid[group]);
    }
    if (gain > GAIN)
        return pattern_add(generation, s);
    for (uint32_t i = packing->first[s]; i < packing->first[s + 1]; i++)
        generation->counts[packing->programme->columns[packing->list[i]].group] = 0;
    return false;
}

uint32_t generate_more(struct generation *generation, const uint32_t *left, double *ret_bound)
{
    const struct packing *packing = generation->packing;
    const double *prices = master_prices(generation->master);
    double bound = 0;
    uint32_t added = 0;

    for (uint32_t i = 0; i < packing->settling->group_count; i++)
        bound += prices[i] * left[i];
    for (uint32_t s = 0; s < packing->shelves->count; s++) {
        bound += shelf_best(generation, s, left) * packing->shelves->items[s].count;
        added += pattern_offer(generation, s);
    }
    *ret_bound = bound;
    return added;
}

/* Are there patterns that are nearly as good as all? */
static bool is_near(const struct generation *generation)
{
    return generation->bound - master_value(generation->master) <= fmax(generation->bound * ENOUGH - 0.5, GAIN);
}

bool generate(struct generation *generation)
{
    struct settling *settling = generation->packing->settling;
    uint64_t spare = (generation->limit - settling->result->work) / 2;
    uint32_t added;
    double bound;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        master_extend(generation->master, &generation->patterns);
        if (!master_solve(generation->master, &settling->result->work))
            return false;
        if (is_near(generation))
            return true;
        added = generate_more(generation, generation->packing->left, &bound);
        generation->bound = fmin(generation->bound, bound);
        if (added == 0)
            return true;
        if (generation_stops(generation, spare))
            break;
    }
    master_extend(generation->master, &generation->patterns);
    return master_solve(generation->master, &settling->result->work);
}
