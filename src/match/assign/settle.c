/* settle.c: a problem made ready: requests in groups, offers by kinds, what is free now. */
#include "match/assign/settle.h"

#include "lang/base/rng.h"

#include <stdlib.h>
#include <string.h>

static uint64_t request_hash(const struct settling *settling, uint32_t request)
{
    const double *amounts = request_amounts(settling, request);
    uint64_t hash = rng_mix(settling->problem->requests[request].row);

    for (uint32_t i = 0; i < settling->quantity_count; i++) {
        double amount = amounts[i] + 0.0; /* -0 is 0 */
        uint64_t word;

        memcpy(&word, &amount, sizeof word);
        hash = rng_mix(hash ^ word);
    }
    return hash;
}

static bool requests_alike(const struct settling *settling, uint32_t a, uint32_t b)
{
    const double *left = request_amounts(settling, a), *right = request_amounts(settling, b);

    if (settling->problem->requests[a].row != settling->problem->requests[b].row)
        return false;
    for (uint32_t i = 0; i < settling->quantity_count; i++)
        if (left[i] != right[i])
            return false;
    return true;
}

/* Puts requests of one row with the same amounts into one group; groups are in the order of their first members. */
static void group_requests(struct settling *settling)
{
    uint32_t count = settling->problem->request_count, room = 16, at = 0;
    uint32_t *slots, *heads = SCRATCH(settling, uint32_t, count);

    while (room < count * 2)
        room *= 2;
    slots = SCRATCH(settling, uint32_t, room);
    memset(slots, 0xff, room * sizeof *slots);
    settling->group_of = SCRATCH(settling, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = (uint32_t)request_hash(settling, i) & (room - 1);

        while (slots[slot] != ASSIGN_NONE && !requests_alike(settling, heads[slots[slot]], i))
            slot = (slot + 1) & (room - 1);
        if (slots[slot] == ASSIGN_NONE) {
            heads[settling->group_count] = i;
            slots[slot] = settling->group_count++;
        }
        settling->group_of[i] = slots[slot];
    }
    settling->groups = SCRATCH(settling, struct request_group, settling->group_count);
    for (uint32_t i = 0; i < settling->group_count; i++)
        settling->groups[i] = (struct request_group){.amounts = request_amounts(settling, heads[i])};
    for (uint32_t i = 0; i < count; i++)
        settling->groups[settling->group_of[i]].count++;
    for (uint32_t i = 0; i < settling->group_count; at += settling->groups[i++].count)
        settling->groups[i].first = at;
    settling->members = SCRATCH(settling, uint32_t, count);
    for (uint32_t i = 0; i < settling->group_count; i++)
        settling->groups[i].count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct request_group *group = &settling->groups[settling->group_of[i]];

        settling->members[group->first + group->count++] = i;
    }
}

static void list_offers(struct settling *settling)
{
    const struct assign_problem *problem = settling->problem;
    uint32_t *first = SCRATCH(settling, uint32_t, problem->kind_count + 1);

    settling->kind_first = first;
    settling->kind_offers = SCRATCH(settling, uint32_t, problem->offer_count);
    memset(first, 0, (problem->kind_count + 1) * sizeof *first);
    for (uint32_t i = 0; i < problem->offer_count; i++)
        first[problem->offer_kinds[i] + 1]++;
    for (uint32_t i = 0; i < problem->kind_count; i++)
        first[i + 1] += first[i];
    for (uint32_t i = 0; i < problem->offer_count; i++)
        settling->kind_offers[first[problem->offer_kinds[i]]++] = i;
    for (uint32_t i = problem->kind_count; i > 0; i--) /* each one is where the next begins */
        first[i] = first[i - 1];
    first[0] = 0;
}

static int edge_compare(const void *a, const void *b)
{
    const struct assign_edge *left = a, *right = b;

    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return 0;
}

/* Copies the edges of a row in the order of their kinds, each once, without the kinds that have no offer now. */
static uint32_t row_edges(struct settling *settling, const struct assign_row *row, struct assign_edge **ret_edges)
{
    const struct assign_edge *edges = settling->problem->edges + row->first;
    struct assign_edge *copy = SCRATCH(settling, struct assign_edge, row->count);
    bool sorted = true;
    uint32_t count = 0;

    for (uint32_t i = 0; i < row->count; i++) {
        if (settling->kind_first[edges[i].kind] == settling->kind_first[edges[i].kind + 1])
            continue;
        sorted = sorted && (count == 0 || copy[count - 1].kind < edges[i].kind);
        copy[count++] = edges[i];
    }
    *ret_edges = copy;
    if (sorted)
        return count;
    qsort(copy, count, sizeof *copy, edge_compare);
    for (uint32_t i = 0, kept = 0;; i++) {
        if (i == count)
            return kept;
        kept -= kept > 0 && copy[kept - 1].kind == copy[i].kind;
        copy[kept++] = copy[i];
    }
}

/* Gives groups their edges; groups of one row share them. */
static void group_edges(struct settling *settling)
{
    const struct assign_problem *problem = settling->problem;
    struct assign_edge **edges = SCRATCH(settling, struct assign_edge *, problem->row_count);
    uint32_t *counts = SCRATCH(settling, uint32_t, problem->row_count);

    memset(edges, 0, problem->row_count * sizeof *edges);
    for (uint32_t i = 0; i < settling->group_count; i++) {
        struct request_group *group = &settling->groups[i];
        uint32_t row = problem->requests[settling->members[group->first]].row;

        if (!edges[row])
            counts[row] = row_edges(settling, &problem->rows[row], &edges[row]);
        group->edges = edges[row];
        group->edge_count = counts[row];
    }
}

void settling_clear(struct settling *settling)
{
    const struct assign_problem *problem = settling->problem;
    size_t cells = (size_t)problem->offer_count * settling->quantity_count;

    if (cells)
        memcpy(settling->free, problem->free, cells * sizeof *settling->free);
    memset(settling->placed, 0xff, problem->request_count * sizeof *settling->placed);
    settling->placed_count = 0;
    for (uint32_t i = 0; i < settling->group_count; i++)
        settling->groups[i].cursors = NULL;
}

void settling_init(struct settling *settling, struct arena *scratch, const struct assign_problem *problem,
                   const struct assign_options *options, struct assign_result *result)
{
    *settling = (struct settling){.problem = problem,
                                  .options = options,
                                  .result = result,
                                  .scratch = scratch,
                                  .quantity_count = problem->quantity_count};
    settling->free = SCRATCH(settling, double, (size_t)problem->offer_count * settling->quantity_count);
    settling->placed = SCRATCH(settling, uint32_t, problem->request_count);
    list_offers(settling);
    group_requests(settling);
    group_edges(settling);
    settling_clear(settling);
}

void settling_place(struct settling *settling, uint32_t request, uint32_t offer)
{
    const double *amounts = request_amounts(settling, request);
    double *free = offer_free(settling, offer);

    for (uint32_t i = 0; i < settling->quantity_count; i++)
        free[i] = free[i] > amounts[i] ? free[i] - amounts[i] : 0;
    settling->placed[request] = offer;
    settling->placed_count++;
}

void settling_remove(struct settling *settling, uint32_t request)
{
    const double *amounts = request_amounts(settling, request);
    double *free = offer_free(settling, settling->placed[request]);

    for (uint32_t i = 0; i < settling->quantity_count; i++)
        free[i] += amounts[i];
    settling->placed[request] = ASSIGN_NONE;
    settling->placed_count--;
}

uint32_t group_first(struct settling *settling, struct request_group *group, uint32_t edge)
{
    uint32_t kind = group->edges[edge].kind, end = settling->kind_first[kind + 1];

    if (!group->cursors) {
        group->cursors = SCRATCH(settling, uint32_t, group->edge_count);
        for (uint32_t i = 0; i < group->edge_count; i++)
            group->cursors[i] = settling->kind_first[group->edges[i].kind];
    }
    while (group->cursors[edge] < end && !offer_fits(settling, group, settling->kind_offers[group->cursors[edge]]))
        group->cursors[edge]++;
    return group->cursors[edge] < end ? settling->kind_offers[group->cursors[edge]] : ASSIGN_NONE;
}

uint32_t group_best(struct settling *settling, struct request_group *group)
{
    uint32_t best = ASSIGN_NONE;
    double weight = 0;

    for (uint32_t i = 0; i < group->edge_count; i++) {
        uint32_t offer;

        if (best != ASSIGN_NONE && group->edges[i].weight < weight)
            continue;
        offer = group_first(settling, group, i);
        if (offer == ASSIGN_NONE || (best != ASSIGN_NONE && group->edges[i].weight == weight && offer > best))
            continue;
        best = offer;
        weight = group->edges[i].weight;
    }
    return best;
}
