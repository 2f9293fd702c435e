/* assign_check.c: does an assignment fit? */
#include "assign_check.h"

#include <stdio.h>
#include <stdlib.h>

static const struct assign_edge *edge_between(const struct assign_problem *problem, uint32_t request, uint32_t offer)
{
    const struct assign_row *row = &problem->rows[problem->requests[request].row];

    for (uint32_t i = 0; i < row->count; i++)
        if (problem->edges[row->first + i].kind == problem->offer_kinds[offer])
            return &problem->edges[row->first + i];
    return NULL;
}

/* The first pair of the same request, or NULL. */
static bool seen_before(const struct assign_pair *pairs, uint32_t place)
{
    for (uint32_t i = 0; i < place; i++)
        if (pairs[i].request == pairs[place].request)
            return true;
    return false;
}

const char *assign_check(const struct assign_problem *problem, const struct assign_pair *pairs, uint32_t count,
                         char *text, size_t size)
{
    for (uint32_t i = 0; i < count; i++) {
        if (pairs[i].request >= problem->request_count || pairs[i].offer >= problem->offer_count)
            return "a pair of somebody who is not there";
        if (seen_before(pairs, i))
            return "a request is placed twice";
        if (!edge_between(problem, pairs[i].request, pairs[i].offer)) {
            snprintf(text, size, "request %u and offer %u are not compatible", pairs[i].request, pairs[i].offer);
            return text;
        }
    }
    for (uint32_t offer = 0; offer < problem->offer_count; offer++)
        for (uint32_t q = 0; q < problem->quantity_count; q++) {
            double there = problem->free[offer * problem->quantity_count + q], taken = 0;

            for (uint32_t i = 0; i < count; i++)
                if (pairs[i].offer == offer)
                    taken += problem->amounts[pairs[i].request * problem->quantity_count + q];
            if (taken > there + 1e-6 * (there + 1)) {
                snprintf(text, size, "offer %u gives %g of quantity %u and has %g", offer, taken, q, there);
                return text;
            }
        }
    return NULL;
}

double assign_check_weight(const struct assign_problem *problem, const struct assign_pair *pairs, uint32_t count)
{
    double weight = 0;

    for (uint32_t i = 0; i < count; i++)
        weight += edge_between(problem, pairs[i].request, pairs[i].offer)->weight;
    return weight;
}
