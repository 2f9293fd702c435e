/* unit.c: the best assignment when all requests ask a shelf for the same amounts, as far as it could run out: a flow from groups to shelves.
 *
 * The result is exact: the weights are first made whole numbers. */
#include "match/assign/optimal.h"
#include "match/assign/transport.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the first group of a shelf asks for, and what all groups ask for together. */
struct asked {
    const double *amounts;
    double *total; /* by quantity */
    uint64_t requests;
    uint32_t groups;
};

static bool shelf_takes(const struct settling *settling, const struct assign_shelf *shelf,
                        const struct request_group *group)
{
    return assign_fits(group->amounts, shelf->free, settling->quantity_count);
}

static void asked_count(struct settling *settling, const struct shelves *shelves, struct asked *asked)
{
    uint32_t quantities = settling->quantity_count;

    for (uint32_t i = 0; i < settling->group_count; i++) {
        const struct request_group *group = &settling->groups[i];

        for (uint32_t k = 0; k < group->edge_count; k++) {
            uint32_t kind = group->edges[k].kind;

            for (uint32_t s = shelves->kind_first[kind]; s < shelves->kind_first[kind + 1]; s++) {
                if (!shelf_takes(settling, &shelves->items[s], group))
                    continue;
                if (!asked[s].amounts)
                    asked[s].amounts = group->amounts;
                asked[s].groups++;
                asked[s].requests += group->count;
                for (uint32_t q = 0; q < quantities; q++)
                    asked[s].total[q] += group->amounts[q] * group->count;
            }
        }
    }
}

/* May one offer of the shelf run out of that quantity, if all requests came? */
static bool runs_out(const struct assign_shelf *shelf, const struct asked *asked, uint32_t quantity)
{
    return asked->total[quantity] > shelf->free[quantity];
}

/* Does the group ask the shelf for the same amounts as the first group? */
static bool asks_alike(const struct settling *settling, const struct assign_shelf *shelf, const struct asked *asked,
                       const struct request_group *group)
{
    for (uint32_t q = 0; q < settling->quantity_count; q++)
        if (runs_out(shelf, asked, q) && group->amounts[q] != asked->amounts[q])
            return false;
    return true;
}

/* How many requests one offer of the shelf takes. */
static uint64_t shelf_slots(const struct settling *settling, const struct assign_shelf *shelf,
                            const struct asked *asked)
{
    double most = (double)asked->requests;

    for (uint32_t q = 0; q < settling->quantity_count; q++)
        if (runs_out(shelf, asked, q) && asked->amounts[q] > 0)
            most = fmin(most, floor(shelf->free[q] / asked->amounts[q] * (1 + 1e-9)));
    return (uint64_t)most;
}

struct unit {
    struct settling *settling;
    const struct shelves *shelves;
    struct asked *asked;
    uint64_t *slots; /* by shelf */
    struct transport net;
    double most, scale; /* cost = (most - weight) * scale */
};

/* Counts or makes every arc of the flow. False: some shelf is asked for different amounts. */
static bool unit_arcs(struct unit *unit, uint32_t *first, uint32_t *right, double *weight)
{
    const struct settling *settling = unit->settling;
    uint32_t count = 0;

    for (uint32_t i = 0; i < settling->group_count; i++) {
        const struct request_group *group = &settling->groups[i];

        if (first)
            first[i] = count;
        for (uint32_t k = 0; k < group->edge_count; k++) {
            uint32_t kind = group->edges[k].kind;

            for (uint32_t s = unit->shelves->kind_first[kind]; s < unit->shelves->kind_first[kind + 1]; s++) {
                const struct assign_shelf *shelf = &unit->shelves->items[s];

                if (!shelf_takes(settling, shelf, group))
                    continue;
                if (!asks_alike(settling, shelf, &unit->asked[s], group))
                    return false;
                if (right) {
                    right[count] = s;
                    weight[count] = group->edges[k].weight;
                }
                count++;
            }
        }
    }
    unit->net.arc_count = count;
    if (first)
        first[settling->group_count] = count;
    return true;
}

/* Makes whole costs of weights: exact when the weights are whole numbers and not huge. */
static void unit_costs(struct unit *unit, const double *weight, int64_t *cost)
{
    double least = INFINITY, most = -INFINITY;
    bool whole = true;

    for (uint32_t i = 0; i < unit->net.arc_count; i++) {
        least = fmin(least, weight[i]);
        most = fmax(most, weight[i]);
        whole = whole && weight[i] == floor(weight[i]);
    }
    unit->most = most;
    unit->scale = 1;
    if (!whole || most - least > (double)TRANSPORT_COST_MAX)
        unit->scale = (double)TRANSPORT_COST_MAX / (most - least);
    for (uint32_t i = 0; i < unit->net.arc_count; i++)
        cost[i] = (int64_t)llround((most - weight[i]) * unit->scale);
}

static void unit_make(struct unit *unit)
{
    struct settling *settling = unit->settling;
    uint32_t *first = SCRATCH(settling, uint32_t, settling->group_count + 1);
    uint32_t *right = SCRATCH(settling, uint32_t, unit->net.arc_count);
    double *weight = SCRATCH(settling, double, unit->net.arc_count);
    int64_t *cost = SCRATCH(settling, int64_t, unit->net.arc_count);

    unit_arcs(unit, first, right, weight);
    unit_costs(unit, weight, cost);
    unit->net.left_count = settling->group_count;
    unit->net.right_count = unit->shelves->count;
    unit->net.first = first;
    unit->net.right = right;
    unit->net.cost = cost;
    unit->net.flow = SCRATCH(settling, uint32_t, unit->net.arc_count);
    unit->net.supply = SCRATCH(settling, uint32_t, settling->group_count);
    unit->net.capacity = SCRATCH(settling, uint32_t, unit->shelves->count);
    memset(unit->net.flow, 0, unit->net.arc_count * sizeof *unit->net.flow);
    for (uint32_t i = 0; i < settling->group_count; i++)
        unit->net.supply[i] = settling->groups[i].count;
    for (uint32_t s = 0; s < unit->shelves->count; s++) {
        uint64_t all;

        unit->slots[s] = unit->asked[s].amounts ? shelf_slots(settling, &unit->shelves->items[s], &unit->asked[s]) : 0;
        all = unit->slots[s] * unit->shelves->items[s].count;
        unit->net.capacity[s] = all < unit->asked[s].requests ? (uint32_t)all : (uint32_t)unit->asked[s].requests;
    }
}

/* Makes pairs of what flows: the requests of a group in their order, the offers of a shelf one after the other. */
static void unit_place(struct unit *unit)
{
    struct settling *settling = unit->settling;
    uint32_t *offer = SCRATCH(settling, uint32_t, unit->shelves->count);
    uint64_t *left = SCRATCH(settling, uint64_t, unit->shelves->count);

    for (uint32_t s = 0; s < unit->shelves->count; s++) {
        offer[s] = 0;
        left[s] = unit->slots[s];
    }
    for (uint32_t i = 0; i < settling->group_count; i++) {
        const struct request_group *group = &settling->groups[i];
        uint32_t member = group->first;

        for (uint32_t arc = unit->net.first[i]; arc < unit->net.first[i + 1]; arc++) {
            uint32_t s = unit->net.right[arc];
            const struct assign_shelf *shelf = &unit->shelves->items[s];

            for (uint32_t n = unit->net.flow[arc]; n > 0; n--) {
                if (left[s] == 0) {
                    offer[s]++;
                    left[s] = unit->slots[s];
                }
                left[s]--;
                settling_place(settling, settling->members[member++], unit->shelves->members[shelf->first + offer[s]]);
            }
        }
    }
}

bool unit_solve(struct settling *settling, const struct shelves *shelves)
{
    struct unit unit = {.settling = settling, .shelves = shelves};
    struct assign_result *result = settling->result;
    const struct assign_options *options = settling->options;
    double *totals = SCRATCH(settling, double, (size_t)shelves->count * settling->quantity_count);

    memset(totals, 0, (size_t)shelves->count * settling->quantity_count * sizeof *totals);
    unit.asked = SCRATCH(settling, struct asked, shelves->count);
    unit.slots = SCRATCH(settling, uint64_t, shelves->count);
    for (uint32_t s = 0; s < shelves->count; s++)
        unit.asked[s] = (struct asked){.total = totals + (size_t)s * settling->quantity_count};
    asked_count(settling, shelves, unit.asked);
    if (!unit_arcs(&unit, NULL, NULL, NULL))
        return false;
    unit_make(&unit);
    result->exact = transport_solve(settling->scratch, &unit.net, &result->work, options->stop, options->stop_user);
    unit_place(&unit);
    if (result->exact) {
        result->relaxation = settling->placed_count;
        result->count_bound = settling->placed_count;
    } else {
        snprintf(result->why, sizeof result->why, "it was stopped before all was placed");
    }
    return true;
}
