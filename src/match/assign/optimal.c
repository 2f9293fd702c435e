/* optimal.c: as many requests as can be placed, and of these ways the one with the most weight. */
#include "match/assign/optimal.h"

#include "match/assign/generate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ALMOST 1e-6       /* the programme's numbers are right to within that */
#define SHIFT 0.7         /* of the parts that go into each offer; other numbers are no better */
#define PATTERNS_SHARE 10 /* no patterns when the first programme took more than so many times the allowed work */

static void worth_init(struct worth *worth, const struct settling *settling)
{
    double most = -INFINITY;
    bool whole = true;

    *worth = (struct worth){.least = INFINITY, .part = 1.0 / (settling->problem->request_count + 1.0)};
    for (uint32_t i = 0; i < settling->group_count; i++)
        for (uint32_t k = 0; k < settling->groups[i].edge_count; k++) {
            double weight = settling->groups[i].edges[k].weight;

            worth->least = fmin(worth->least, weight);
            most = fmax(most, weight);
            whole = whole && weight == floor(weight);
        }
    worth->span = most > worth->least ? most - worth->least : 0;
    worth->step = worth->span == 0 ? 0.5 : whole ? worth->part / worth->span / 2 : worth->part * 1e-7;
}

static double weight_between(const struct settling *settling, uint32_t request, uint32_t offer)
{
    const struct request_group *group = &settling->groups[settling->group_of[request]];
    uint32_t kind = settling->problem->offer_kinds[offer];

    for (uint32_t i = 0; i < group->edge_count; i++)
        if (group->edges[i].kind == kind)
            return group->edges[i].weight;
    return 0;
}

void incumbent_offer(struct incumbent *incumbent, const struct settling *settling, const struct worth *worth)
{
    uint32_t count = settling->problem->request_count;
    double value = 0;

    for (uint32_t i = 0; i < count; i++)
        if (settling->placed[i] != ASSIGN_NONE)
            value += worth_of(worth, weight_between(settling, i, settling->placed[i]));
    if (value <= incumbent->value)
        return;
    incumbent->value = value;
    incumbent->count = settling->placed_count;
    memcpy(incumbent->placed, settling->placed, count * sizeof *incumbent->placed);
}

/* Places the incumbent. */
static void incumbent_restore(const struct incumbent *incumbent, struct settling *settling)
{
    settling_clear(settling);
    for (uint32_t i = 0; i < settling->problem->request_count; i++)
        if (incumbent->placed[i] != ASSIGN_NONE)
            settling_place(settling, i, incumbent->placed[i]);
}

/* Tries the quick policies, which may find the best already. */
static void try_policies(struct settling *settling, const struct worth *worth, struct incumbent *incumbent)
{
    struct err err;

    policy_fcfs(settling, &err);
    incumbent_offer(incumbent, settling, worth);
    settling_clear(settling);
    policy_srfm(settling, &err);
    incumbent_offer(incumbent, settling, worth);
}

/* Can nothing be better than the incumbent? */
static bool is_best(const struct incumbent *incumbent, const struct worth *worth, double bound)
{
    return bound < incumbent->value + worth->step + ALMOST * worth->part;
}

/* Finds a better incumbent and a better bound by patterns. Where the first programme was very much work, those over patterns would be too. */
static void try_patterns(struct settling *settling, const struct shelves *shelves, const struct worth *worth,
                         const struct programme *programme, struct incumbent *incumbent, double *bound)
{
    uint64_t work = settling->options->work ? settling->options->work : ASSIGN_WORK;
    struct generation generation;
    struct packing packing;

    if (settling->result->work / PATTERNS_SHARE > work)
        return;
    incumbent_restore(incumbent, settling);
    packing_init(&packing, settling, shelves, programme);
    generation_init(&generation, &packing, *bound, work);
    if (generate(&generation)) {
        *bound = fmin(*bound, generation.bound + ALMOST * worth->part);
        dive(&generation);
        packing_finish(&packing);
        settling_fill(settling);
        incumbent_offer(incumbent, settling, worth);
    }
    generation_done(&generation);
}

/* Finds an incumbent and a bound of the worth by linear programme. -1: there is no bound. */
static int try_programme(struct settling *settling, const struct shelves *shelves, const struct worth *worth,
                         struct incumbent *incumbent, double *ret_bound, struct err *err)
{
    struct programme programme = {0};

    if (programme_init(&programme, settling, shelves, true, err) < 0)
        return -1;
    for (uint32_t i = 0; i < programme.lp.column_count; i++)
        programme.objective[i] = worth_of(worth, programme.columns[i].weight);
    if (programme_solve(&programme, settling, err) < 0)
        return -1;
    *ret_bound = programme_bound(&programme) + ALMOST * worth->part;
    if (is_best(incumbent, worth, *ret_bound) || settling_stops(settling))
        return 0;
    pack_solution(settling, shelves, &programme, SHIFT);
    settling_fill(settling); /* squeezing may have made room */
    incumbent_offer(incumbent, settling, worth);
    if (!is_best(incumbent, worth, *ret_bound) && !settling_stops(settling))
        try_patterns(settling, shelves, worth, &programme, incumbent, ret_bound);
    return 0;
}

/* Derives bounds of count and weight from the bound of the worth. */
static void result_bound(struct settling *settling, const struct worth *worth, const struct incumbent *incumbent,
                         double bound)
{
    struct assign_result *result = settling->result;

    result->exact = is_best(incumbent, worth, bound);
    if (result->exact)
        bound = incumbent->value;
    result->relaxation = bound;
    result->count_bound = (uint32_t)floor(bound + ALMOST);
    if (result->count_bound > incumbent->count)
        return;
    result->count_bound = incumbent->count;
    result->weight_bound = worth->least * incumbent->count + (bound - incumbent->count) / worth->part * worth->span;
}

int policy_optimal(struct settling *settling, struct err *err)
{
    uint32_t count = settling->problem->request_count;
    struct incumbent incumbent = {.placed = SCRATCH(settling, uint32_t, count), .value = -1};
    struct shelves shelves;
    struct worth worth;
    struct err why;
    double bound = INFINITY;

    (void)err;
    shelves_init(&shelves, settling);
    if (unit_solve(settling, &shelves))
        return 0;
    worth_init(&worth, settling);
    try_policies(settling, &worth, &incumbent);
    if (try_programme(settling, &shelves, &worth, &incumbent, &bound, &why) < 0)
        snprintf(settling->result->why, sizeof settling->result->why, "%.150s", why.text);
    else if (!is_best(&incumbent, &worth, bound))
        bound = branch_search(settling, &worth, &incumbent, bound);
    if (!isinf(bound))
        result_bound(settling, &worth, &incumbent, bound);
    incumbent_restore(&incumbent, settling);
    return 0;
}
