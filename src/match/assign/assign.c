/* assign.c: the policies by their names, and the settling of a queue by one of them. */
#include "match/assign/settle.h"

#include "lang/base/mem.h"
#include "lang/base/nearest.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef int policy_fn(struct settling *settling, struct err *err);

#define POLICY_FUNCTIONS(X)                  \
    X(FCFS, policy_fcfs)                     \
    X(SJF, policy_sjf)                       \
    X(LJF, policy_ljf)                       \
    X(SRFM, policy_srfm)                     \
    X(LBM, policy_lbm)                       \
    X(MINSUM, policy_minsum)                 \
    X(SINGLES, policy_singles)               \
    X(SINGLES_MINSUM, policy_singles_minsum) \
    X(OPTIMAL, policy_optimal)

static policy_fn *const policies[ASSIGN_POLICY_COUNT] = {
#define X(name, function) [ASSIGN_##name] = function,
    POLICY_FUNCTIONS(X)
#undef X
};

const char *const assign_policy_names[ASSIGN_POLICY_COUNT] = {
#define X(name, text, about) [ASSIGN_##name] = text,
    ASSIGN_POLICIES(X)
#undef X
};

static bool name_is(const char *name, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (tolower((unsigned char)text[i]) != (unsigned char)name[i])
            return false;
    return name[len] == '\0';
}

int assign_policy_find(const char *name, size_t len, enum assign_policy *ret_policy, struct err *err)
{
    struct nearest nearest;

    nearest_init(&nearest, name, len);
    for (int i = 0; i < ASSIGN_POLICY_COUNT; i++) {
        if (len <= strlen(assign_policy_names[i]) && name_is(assign_policy_names[i], name, len)) {
            *ret_policy = (enum assign_policy)i;
            return 0;
        }
        nearest_try(&nearest, assign_policy_names[i]);
    }
    if (nearest.name)
        return err_set(err, "there is no policy '%.*s'; did you mean '%s'?", (int)len, name, nearest.name);
    return err_set(err,
                   "there is no policy '%.*s': fcfs, sjf, ljf, srfm, lbm, minsum, singles, singles-minsum, optimal",
                   len < 100 ? (int)len : 100, name);
}

void assign_result_init(struct assign_result *result)
{
    *result = (struct assign_result){0};
}

void assign_result_done(struct assign_result *result)
{
    if (!result)
        return;
    free(result->pairs);
    assign_result_init(result);
}

static void result_reset(struct assign_result *result)
{
    *result = (struct assign_result){.pairs = result->pairs,
                                     .room = result->room,
                                     .relaxation = INFINITY,
                                     .count_bound = UINT32_MAX,
                                     .weight_bound = INFINITY};
}

static double pair_weight(const struct settling *settling, uint32_t request, uint32_t offer)
{
    const struct request_group *group = &settling->groups[settling->group_of[request]];
    uint32_t kind = settling->problem->offer_kinds[offer];

    for (uint32_t i = 0; i < group->edge_count; i++)
        if (group->edges[i].kind == kind)
            return group->edges[i].weight;
    return 0;
}

/* Makes pairs of what was placed, in the order of the requests. */
static void result_take(const struct settling *settling)
{
    struct assign_result *result = settling->result;

    if (settling->placed_count > result->room) {
        result->room = settling->placed_count * 2;
        result->pairs = mem_grow(result->pairs, result->room * sizeof *result->pairs);
    }
    for (uint32_t i = 0; i < settling->problem->request_count; i++) {
        if (settling->placed[i] == ASSIGN_NONE)
            continue;
        result->pairs[result->count++] = (struct assign_pair){i, settling->placed[i]};
        result->weight += pair_weight(settling, i, settling->placed[i]);
    }
}

/* Is the problem small enough to be kept in memory? */
static int size_check(const struct settling *settling, struct err *err)
{
    uint64_t pairs = 0;

    for (uint32_t i = 0; i < settling->group_count; i++)
        for (uint32_t k = 0; k < settling->groups[i].edge_count; k++) {
            uint32_t kind = settling->groups[i].edges[k].kind;

            pairs += settling->kind_first[kind + 1] - settling->kind_first[kind];
        }
    if (pairs <= ASSIGN_SIZE_MAX)
        return 0;
    return err_set(err, "the problem is too large: %llu pairs of requests that differ with offers; %u are the most",
                   (unsigned long long)pairs, ASSIGN_SIZE_MAX);
}

int assign_solve(struct arena *scratch, enum assign_policy policy, const struct assign_problem *problem,
                 const struct assign_options *options, struct assign_result *result, struct err *err)
{
    static const struct assign_options plain;
    struct arena_mark mark = arena_mark(scratch);
    struct settling settling;
    int status;

    result_reset(result);
    if (problem_check(problem, err) < 0)
        return -1;
    settling_init(&settling, scratch, problem, options ? options : &plain, result);
    status = size_check(&settling, err);
    if (status == 0)
        status = policies[policy](&settling, err);
    if (status == 0)
        result_take(&settling);
    arena_rewind(scratch, mark);
    return status;
}

double assign_gap(const struct assign_result *result)
{
    double room;

    if (result->count_bound == UINT32_MAX)
        return 1;
    if (result->count < result->count_bound)
        return (double)(result->count_bound - result->count) / result->count_bound;
    if (result->exact || isinf(result->weight_bound))
        return 0;
    room = result->weight_bound - result->weight;
    if (room <= 0)
        return 0;
    return fmin(room / fmax(fabs(result->weight_bound), fabs(result->weight)), 1);
}
