/* twin_assign.c: policies that work on kinds do what the text says of single pairs; what they say is the best is the best; and all of it fits.
 *
 * Three pools a round: a small one, in which every assignment is tried; one of middle size; and the same in which everybody is of a kind of
 * his own, for which the result must not be another one. BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "assign_check.h"
#include "assign_slow.h"
#include "common/lang.h"
#include "common/tap.h"

#include "lang/base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUESTS_MAX 60

struct twin {
    uint64_t seed, rounds, round;
    struct rng rng;
    struct arena scratch;
    struct assign_result result;
    uint64_t placed, exact, whole;
    uint64_t checks;
    int differ, unfit, worse, loose, apart;
};

static void tell(struct twin *twin, enum assign_policy policy, const char *what)
{
    tap_diag("seed %llu, round %llu, %s: %s", (unsigned long long)twin->seed, (unsigned long long)twin->round,
             assign_policy_names[policy], what);
}

static double some_amount(struct twin *twin, bool unit)
{
    static const double amounts[] = {0, 1, 1, 2, 2, 3, 5, 8};

    return unit ? 1 : amounts[rng_below(&twin->rng, sizeof amounts / sizeof *amounts)];
}

static double some_free(struct twin *twin)
{
    static const double amounts[] = {0, 1, 2, 3, 4, 6, 8, 10, 12, INFINITY};

    return amounts[rng_below(&twin->rng, sizeof amounts / sizeof *amounts)];
}

static void rows_make(struct twin *twin, struct assign_problem *problem, uint32_t rows, uint32_t kinds)
{
    bool ranked = rng_below(&twin->rng, 3) > 0;
    uint64_t density = 20 + rng_below(&twin->rng, 80);

    for (uint32_t i = 0; i < rows; i++) {
        assign_add_row(problem);
        for (uint32_t k = 0; k < kinds; k++)
            if (rng_below(&twin->rng, 100) < density)
                assign_add_edge(problem, k, ranked ? (double)rng_below(&twin->rng, 5) - 1 : 0,
                                (double)rng_below(&twin->rng, 3));
    }
}

/* A pool with few kinds and few amounts, so that there are many ties. */
static void problem_make(struct twin *twin, struct assign_problem *problem, uint32_t requests, uint32_t offers)
{
    uint32_t quantities = (uint32_t)rng_below(&twin->rng, 4);
    uint32_t rows = 1 + (uint32_t)rng_below(&twin->rng, 6), kinds = 1 + (uint32_t)rng_below(&twin->rng, 6);
    bool unit = rng_below(&twin->rng, 4) == 0, prior = rng_below(&twin->rng, 2);
    double amounts[ASSIGN_QUANTITIES_MAX], shared[8][ASSIGN_QUANTITIES_MAX];

    assign_problem_init(problem, quantities);
    problem->processors = (uint32_t)rng_below(&twin->rng, 3);
    rows_make(twin, problem, rows, kinds);
    for (int i = 0; i < 8; i++)
        for (uint32_t q = 0; q < quantities; q++)
            shared[i][q] = some_free(twin);
    for (uint32_t i = 0; i < offers; i++)
        assign_add_offer(problem, (uint32_t)rng_below(&twin->rng, kinds), shared[rng_below(&twin->rng, 8)]);
    for (uint32_t i = 0; i < requests; i++) {
        for (uint32_t q = 0; q < quantities; q++)
            amounts[q] = some_amount(twin, unit);
        assign_add_request(problem, (uint32_t)rng_below(&twin->rng, rows), amounts,
                           rng_below(&twin->rng, 5) ? (double)rng_below(&twin->rng, 4) * 10 : NAN,
                           prior ? (double)rng_below(&twin->rng, 3) : 0);
    }
}

/* The same in which everybody is of a kind of his own. */
static void problem_part(const struct assign_problem *problem, struct assign_problem *ret)
{
    uint32_t count = problem->quantity_count;

    assign_problem_init(ret, count);
    ret->processors = problem->processors;
    for (uint32_t i = 0; i < problem->offer_count; i++)
        assign_add_offer(ret, i, problem->free + i * count);
    for (uint32_t i = 0; i < problem->request_count; i++) {
        const struct assign_row *row = &problem->rows[problem->requests[i].row];
        uint32_t own = assign_add_row(ret);

        for (uint32_t offer = 0; offer < problem->offer_count; offer++)
            for (uint32_t k = 0; k < row->count; k++) {
                const struct assign_edge *edge = &problem->edges[row->first + k];

                if (edge->kind == problem->offer_kinds[offer])
                    assign_add_edge(ret, offer, edge->weight, edge->back);
            }
        assign_add_request(ret, own, problem->amounts + i * count, problem->requests[i].duration,
                           problem->requests[i].priority);
    }
}

/* Solves, and looks whether it fits. */
static bool solve(struct twin *twin, enum assign_policy policy, const struct assign_problem *problem)
{
    struct assign_result *result = &twin->result;
    struct err err;
    char text[200];
    const char *why;

    /* what has many ways is not searched to its end: there the checker alone judges */
    struct assign_options options = {.work = problem->request_count > 7 ? 2000 : 0};

    if (assign_solve(&twin->scratch, policy, problem, &options, result, &err) < 0) {
        tell(twin, policy, err.text);
        twin->unfit++;
        return false;
    }
    twin->checks++;
    twin->placed += result->count;
    why = assign_check(problem, result->pairs, result->count, text, sizeof text);
    if (!why && fabs(assign_check_weight(problem, result->pairs, result->count) - result->weight) > 1e-6)
        why = "the weight is not that of the pairs";
    if (!why && result->fell_back)
        why = "it fell back to srfm";
    if (why) {
        tell(twin, policy, why);
        twin->unfit++;
    }
    return !why;
}

static bool same_as(const struct twin *twin, const struct assign_problem *problem, const uint32_t *placed)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < problem->request_count; i++) {
        uint32_t offer = ASSIGN_NONE;

        if (next < twin->result.count && twin->result.pairs[next].request == i)
            offer = twin->result.pairs[next++].offer;
        if (offer != placed[i])
            return false;
    }
    return next == twin->result.count;
}

static void compare_slow(struct twin *twin, const struct assign_problem *problem)
{
    uint32_t placed[REQUESTS_MAX];

    for (enum assign_policy policy = 0; policy < ASSIGN_POLICY_COUNT; policy++)
        if (solve(twin, policy, problem) && assign_slow(policy, problem, placed) && !same_as(twin, problem, placed)) {
            tell(twin, policy, "another assignment than that of the single pairs");
            twin->differ++;
        }
}

/* Everybody by himself: the same pairs; of lbm the same value, of optimal a result that is as good. */
static void compare_parted(struct twin *twin, const struct assign_problem *problem)
{
    struct assign_problem parted;
    uint32_t placed[REQUESTS_MAX];

    problem_part(problem, &parted);
    for (enum assign_policy policy = 0; policy < ASSIGN_POLICY_COUNT; policy++) {
        struct assign_result of;

        if (!solve(twin, policy, problem))
            continue;
        of = twin->result;
        memset(placed, 0xff, sizeof placed);
        for (uint32_t i = 0; i < of.count; i++)
            placed[of.pairs[i].request] = of.pairs[i].offer;
        if (!solve(twin, policy, &parted))
            continue;
        if (policy == ASSIGN_LBM ? fabs(of.relaxation - twin->result.relaxation) > 1e-5
            : policy == ASSIGN_OPTIMAL
                ? of.exact && twin->result.exact &&
                      (of.count != twin->result.count || fabs(of.weight - twin->result.weight) > 1e-6)
                : !same_as(twin, problem, placed)) {
            tell(twin, policy, "another result when everybody is of a kind of his own");
            twin->apart++;
        }
    }
    assign_problem_done(&parted);
}

static void compare_best(struct twin *twin, const struct assign_problem *problem)
{
    uint32_t count;
    double weight;

    assign_slow_best(problem, &count, &weight);
    if (solve(twin, ASSIGN_LBM, problem) && twin->result.relaxation < count - 1e-6) {
        tell(twin, ASSIGN_LBM, "the relaxation is worth less than the best assignment");
        twin->loose++;
    }
    if (!solve(twin, ASSIGN_OPTIMAL, problem))
        return;
    twin->exact += twin->result.exact;
    twin->whole++;
    if (twin->result.count != count || fabs(twin->result.weight - weight) > 1e-6 || !twin->result.exact) {
        char text[160];

        snprintf(text, sizeof text, "%u placed, weight %g, %s; the best is %u and %g", twin->result.count,
                 twin->result.weight, twin->result.exact ? "exact" : "not proved", count, weight);
        tell(twin, ASSIGN_OPTIMAL, text);
        twin->worse++;
    }
    if (twin->result.count_bound < count || twin->result.relaxation < count - 1e-6) {
        tell(twin, ASSIGN_OPTIMAL, "its bound is below the best");
        twin->loose++;
    }
}

static void round_run(struct twin *twin)
{
    struct assign_problem small, middle;

    rng_init(&twin->rng, rng_mix(twin->seed) + twin->round);
    problem_make(twin, &small, (uint32_t)rng_below(&twin->rng, 7), (uint32_t)rng_below(&twin->rng, 5));
    compare_best(twin, &small);
    compare_slow(twin, &small);
    assign_problem_done(&small);
    problem_make(twin, &middle, (uint32_t)rng_below(&twin->rng, 40), (uint32_t)rng_below(&twin->rng, 20));
    compare_slow(twin, &middle);
    compare_parted(twin, &middle);
    assign_problem_done(&middle);
}

int main(void)
{
    struct twin twin = {.seed = lang_setting("BERTH_SEED", 1), .rounds = lang_rounds(300)};

    arena_init(&twin.scratch);
    assign_result_init(&twin.result);
    for (; twin.round < twin.rounds && twin.differ + twin.unfit + twin.worse + twin.loose + twin.apart < 10;
         twin.round++)
        round_run(&twin);
    tap_ok(twin.unfit == 0, "every assignment of every policy fits (%llu of them, %llu requests placed)",
           (unsigned long long)twin.checks, (unsigned long long)twin.placed);
    tap_ok(twin.differ == 0, "policies that work on kinds place the same requests as by single pairs");
    tap_ok(twin.apart == 0, "when everybody is of a kind of his own the result is the same");
    tap_ok(twin.worse == 0 && twin.exact == twin.whole, "optimal is what trying every assignment finds (%llu pools)",
           (unsigned long long)twin.whole);
    tap_ok(twin.loose == 0, "no relaxation is worth less than the best assignment");
    tap_ok(twin.rounds < 100 || twin.placed > 1000, "and there was something to place");
    assign_result_done(&twin.result);
    arena_done(&twin.scratch);
    return tap_done();
}
