/* twin_patterns.c: what knapsacks and patterns say that nothing is better than, nothing is: against trying everything.
 *
 * A round is a bag of a few kinds, and a pool that is so small that every assignment can be tried. The bound of the patterns is looked at as it is before
 * any search, which would hide it. BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "assign_check.h"
#include "assign_slow.h"
#include "common/lang.h"
#include "common/tap.h"

#include "lang/base/rng.h"
#include "match/assign/generate.h"

#include <math.h>
#include <string.h>

#define KINDS_MAX 6
#define QUANTITIES_MAX 3
#define REQUESTS_MAX 7
#define WEIGHT_PART 0.01 /* what a weight of one is worth, of a request */

struct twin {
    uint64_t seed, rounds, round;
    struct rng rng;
    struct arena scratch;
    int low, unfit, worse;
    uint64_t proved, bags, pools, tight;
};

static void tell(const struct twin *twin, const char *what, double got, double best)
{
    tap_diag("seed %llu, round %llu: %s: %.12g; the best is %.12g", (unsigned long long)twin->seed,
             (unsigned long long)twin->round, what, got, best);
}

/* ------------------------------------------------------------------------------------------------------------------------ bags */

/* The best bag by trying every one. */
static double bag_best(const struct knapsack *knapsack, uint32_t kind, const double *room, double value)
{
    double left[QUANTITIES_MAX], best = value;

    if (kind == knapsack->count)
        return value;
    memcpy(left, room, knapsack->quantity_count * sizeof *left);
    for (uint32_t n = 0;; n++) {
        best = fmax(best, bag_best(knapsack, kind + 1, left, value + n * knapsack->kinds[kind].value));
        if (n == knapsack->kinds[kind].limit ||
            !assign_fits(knapsack->kinds[kind].amounts, left, knapsack->quantity_count))
            return best;
        for (uint32_t q = 0; q < knapsack->quantity_count; q++)
            left[q] = fmax(left[q] - knapsack->kinds[kind].amounts[q], 0);
    }
}

/* Tenths do not add up in binary; fives leave gaps. */
static void bag_make(struct twin *twin, struct knapsack *knapsack, double *amounts, double *prices, double *room)
{
    double unit = rng_below(&twin->rng, 2) ? 0.1 : 1;

    for (uint32_t q = 0; q < knapsack->quantity_count; q++) {
        room[q] = (double)rng_below(&twin->rng, 14) * unit;
        prices[q] = room[q] > 0 ? (double)(1 + rng_below(&twin->rng, 100)) / 100 / room[q] : 0;
    }
    for (uint32_t i = 0; i < KINDS_MAX; i++) {
        struct knapsack_kind kind = {.amounts = amounts + (size_t)i * QUANTITIES_MAX, .number = i};

        for (uint32_t q = 0; q < knapsack->quantity_count; q++) {
            amounts[i * QUANTITIES_MAX + q] = (double)rng_below(&twin->rng, 7) * unit;
            kind.size += kind.amounts[q] * prices[q];
        }
        kind.value = (double)(1 + rng_below(&twin->rng, 1000)) / 1000;
        kind.limit = (uint32_t)rng_below(&twin->rng, 4);
        if (kind.size > 0)
            knapsack->kinds[knapsack->count++] = kind;
    }
}

static void bag_compare(struct twin *twin)
{
    double amounts[KINDS_MAX * QUANTITIES_MAX], prices[QUANTITIES_MAX], room[QUANTITIES_MAX], left[QUANTITIES_MAX];
    struct knapsack_kind kinds[KINDS_MAX];
    struct knapsack knapsack = {.kinds = kinds,
                                .quantity_count = 1 + (uint32_t)rng_below(&twin->rng, QUANTITIES_MAX),
                                .prices = prices,
                                .nodes = rng_below(&twin->rng, 4) ? 100000 : 5};
    double value, best, sum = 0;

    bag_make(twin, &knapsack, amounts, prices, room);
    knapsack_sort(&knapsack);
    value = knapsack_fill(&knapsack, room);
    best = bag_best(&knapsack, 0, room, 0);
    memcpy(left, room, sizeof left);
    for (uint32_t i = 0; i < knapsack.count; i++)
        for (uint32_t n = 0; n < kinds[i].taken; n++) {
            twin->unfit += n >= kinds[i].limit || !assign_fits(kinds[i].amounts, left, knapsack.quantity_count);
            for (uint32_t q = 0; q < knapsack.quantity_count; q++)
                left[q] = fmax(left[q] - kinds[i].amounts[q], 0);
            sum += kinds[i].value;
        }
    twin->unfit += fabs(sum - value) > 1e-9;
    twin->bags++;
    twin->proved += knapsack.bound < value + 1e-6;
    if (knapsack.bound < best - 1e-12 || value > best + 1e-9) {
        tell(twin, "the bound of a bag", knapsack.bound, best);
        twin->low++;
    }
    if (knapsack.bound < value + 1e-6 && value < best - 1e-6) {
        tell(twin, "a bag that is said to be the best", value, best);
        twin->worse++;
    }
}

/* ----------------------------------------------------------------------------------------------------------------------- pools */

static void problem_make(struct twin *twin, struct assign_problem *problem)
{
    static const double amounts[] = {0, 1, 2, 3, 3, 5, 7}, frees[] = {0, 4, 6, 8, 8, 10, INFINITY};
    uint32_t quantities = 1 + (uint32_t)rng_below(&twin->rng, QUANTITIES_MAX);
    uint32_t rows = 1 + (uint32_t)rng_below(&twin->rng, 4), kinds = 1 + (uint32_t)rng_below(&twin->rng, 3);
    uint32_t offers = 1 + (uint32_t)rng_below(&twin->rng, 4),
             requests = 1 + (uint32_t)rng_below(&twin->rng, REQUESTS_MAX);
    double some[QUANTITIES_MAX];

    assign_problem_init(problem, quantities);
    for (uint32_t i = 0; i < rows; i++) {
        assign_add_row(problem);
        for (uint32_t k = 0; k < kinds; k++)
            if (rng_below(&twin->rng, 100) < 70)
                assign_add_edge(problem, k, (double)rng_below(&twin->rng, 4), 0);
    }
    for (uint32_t i = 0; i < offers; i++) {
        for (uint32_t q = 0; q < quantities; q++)
            some[q] = frees[rng_below(&twin->rng, sizeof frees / sizeof *frees)];
        for (uint64_t n = rng_below(&twin->rng, 2); n <= 1 && problem->offer_count < offers; n++)
            assign_add_offer(problem, i % kinds, some);
    }
    for (uint32_t i = 0; i < requests; i++) {
        for (uint32_t q = 0; q < quantities; q++)
            some[q] = amounts[rng_below(&twin->rng, sizeof amounts / sizeof *amounts)];
        for (uint64_t n = rng_below(&twin->rng, 3); n <= 2 && problem->request_count < requests; n++)
            assign_add_request(problem, (uint32_t)rng_below(&twin->rng, rows), some, NAN, 0);
    }
}

/* Does what is placed fit? */
static void placed_check(struct twin *twin, const struct settling *settling)
{
    struct assign_pair pairs[REQUESTS_MAX];
    uint32_t count = 0;
    const char *why;
    char text[200];

    for (uint32_t i = 0; i < settling->problem->request_count; i++)
        if (settling->placed[i] != ASSIGN_NONE)
            pairs[count++] = (struct assign_pair){i, settling->placed[i]};
    why = assign_check(settling->problem, pairs, count, text, sizeof text);
    if (!why && count == settling->placed_count)
        return;
    tap_diag("seed %llu, round %llu: %s", (unsigned long long)twin->seed, (unsigned long long)twin->round,
             why ? why : "another number is placed than is said");
    twin->unfit++;
}

/* The bound of the patterns alone, then an assignment by them. */
static void patterns_compare(struct twin *twin, struct settling *settling, double best)
{
    struct generation generation;
    struct programme programme = {0};
    struct packing packing;
    struct shelves shelves;
    struct err err;

    shelves_init(&shelves, settling);
    if (programme_init(&programme, settling, &shelves, true, &err) < 0)
        return;
    for (uint32_t i = 0; i < programme.lp.column_count; i++)
        programme.objective[i] = 1 + programme.columns[i].weight * WEIGHT_PART;
    if (programme.lp.column_count == 0 || programme_solve(&programme, settling, &err) < 0)
        return;
    packing_init(&packing, settling, &shelves, &programme);
    generation_init(&generation, &packing, 2.0 * REQUESTS_MAX, rng_below(&twin->rng, 3) ? 100000 : 20);
    if (generate(&generation)) {
        twin->pools++;
        twin->tight += generation.bound < best + 1e-5;
        if (generation.bound < best - 1e-9) {
            tell(twin, "the bound of the patterns", generation.bound, best);
            twin->low++;
        }
        dive(&generation);
        placed_check(twin, settling);
        packing_finish(&packing);
        placed_check(twin, settling);
    }
    generation_done(&generation);
}

static void pool_compare(struct twin *twin)
{
    static const struct assign_options options;
    struct arena_mark mark = arena_mark(&twin->scratch);
    struct assign_result result;
    struct assign_problem problem;
    struct settling settling;
    uint32_t count;
    double weight;

    problem_make(twin, &problem);
    assign_slow_best(&problem, &count, &weight);
    assign_result_init(&result);
    settling_init(&settling, &twin->scratch, &problem, &options, &result);
    patterns_compare(twin, &settling, count + (count ? weight * WEIGHT_PART : 0));
    assign_result_done(&result);
    assign_problem_done(&problem);
    arena_rewind(&twin->scratch, mark);
}

int main(void)
{
    struct twin twin = {.seed = lang_setting("BERTH_SEED", 1), .rounds = lang_rounds(1000)};

    arena_init(&twin.scratch);
    for (; twin.round < twin.rounds && twin.low + twin.unfit + twin.worse < 10; twin.round++) {
        rng_init(&twin.rng, rng_mix(twin.seed) + twin.round);
        bag_compare(&twin);
        pool_compare(&twin);
    }
    tap_ok(twin.low == 0, "no bag and no assignment is better than the bound says (%llu bags, %llu pools)",
           (unsigned long long)twin.bags, (unsigned long long)twin.pools);
    tap_ok(twin.worse == 0, "a bag that is said to be the best is the best (%llu of them)",
           (unsigned long long)twin.proved);
    tap_ok(twin.unfit == 0, "every bag and every assignment by patterns fits");
    tap_ok(twin.rounds < 100 || (twin.proved * 2 > twin.bags && twin.tight * 2 > twin.pools),
           "the bound of most bags and of most pools is the best itself (%llu pools)", (unsigned long long)twin.tight);
    arena_done(&twin.scratch);
    return tap_done();
}
