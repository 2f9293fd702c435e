/* knapsack.c: which of some kinds of things fill one bag best. */
#include "match/assign/knapsack.h"

#include "match/assign/assign.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 512 /* things in a bag that are chosen by search */
#define ENOUGH 0.999  /* part of the bound that ends the search */
#define GAIN 1e-9     /* a bag that is better by less counts as no better */

struct bag {
    struct knapsack *of;
    double room[ASSIGN_QUANTITIES_MAX];
    double size, value; /* size: that of the room which is left */
    double best, bound;
    uint32_t nodes;
    uint32_t depth, best_depth;
    uint32_t chosen[DEPTH_MAX], kept[DEPTH_MAX]; /* kinds, in their order */
};

static int kind_compare(const void *a, const void *b)
{
    const struct knapsack_kind *left = a, *right = b;

    if (left->worth != right->worth)
        return left->worth > right->worth ? -1 : 1;
    if (left->size != right->size)
        return left->size > right->size ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

void knapsack_sort(struct knapsack *knapsack)
{
    for (uint32_t i = 0; i < knapsack->count; i++) {
        struct knapsack_kind *kind = &knapsack->kinds[i];

        kind->worth = nextafterf((float)(kind->value / kind->size), INFINITY); /* rounding makes no difference */
    }
    if (knapsack->count)
        qsort(knapsack->kinds, knapsack->count, sizeof *knapsack->kinds, kind_compare);
}

static void bag_move(struct bag *bag, uint32_t kind, double sign)
{
    const struct knapsack_kind *of = &bag->of->kinds[kind];

    for (uint32_t q = 0; q < bag->of->quantity_count; q++)
        bag->room[q] -= sign * of->amounts[q];
    bag->size -= sign * of->size;
    bag->value += sign * of->value;
}

static void bag_keep(struct bag *bag)
{
    if (bag->value <= bag->best + 1e-12)
        return;
    bag->best = bag->value;
    bag->best_depth = bag->depth;
    memcpy(bag->kept, bag->chosen, bag->depth * sizeof *bag->kept);
}

/* Does the thing fit? As assign_fits, but rounding may have made the room a little negative. */
static bool bag_fits(const struct bag *bag, const double *amounts)
{
    for (uint32_t q = 0; q < bag->of->quantity_count; q++)
        if (amounts[q] > 0 && amounts[q] - bag->room[q] > amounts[q] * ASSIGN_SLACK)
            return false;
    return true;
}

/* The next kind from `from` on that may be put in and could still lead to a better bag; the count of kinds when there is none. */
static uint32_t bag_next(const struct bag *bag, uint32_t from)
{
    const struct knapsack *of = bag->of;

    for (uint32_t kind = from; kind < of->count; kind++) {
        const struct knapsack_kind *at = &of->kinds[kind];
        uint32_t same = 0;

        if (bag->value + bag->size * at->worth <= bag->best + GAIN)
            break;
        if (at->limit == 0 || !bag_fits(bag, at->amounts))
            continue;
        while (same < bag->depth && bag->chosen[bag->depth - 1 - same] == kind)
            same++;
        if (same < at->limit)
            return kind;
    }
    return of->count;
}

double knapsack_fill(struct knapsack *knapsack, const double *room)
{
    struct bag bag = {.of = knapsack, .best = 0};
    uint32_t from = 0, deepest = 0;

    memcpy(bag.room, room, knapsack->quantity_count * sizeof *room);
    for (uint32_t q = 0; q < knapsack->quantity_count; q++)
        if (knapsack->prices[q] > 0)
            bag.size += knapsack->prices[q] * room[q];
    bag.size *= 1 + 10 * ASSIGN_SLACK; /* what fits may be a little more than the room */
    bag.bound = knapsack->count ? bag.size * knapsack->kinds->worth : 0;
    knapsack->bound = bag.bound;
    for (;;) {
        uint32_t kind = bag.depth < DEPTH_MAX ? bag_next(&bag, from) : knapsack->count;

        if (kind < knapsack->count) {
            bag.chosen[bag.depth++] = kind;
            bag_move(&bag, kind, 1);
            bag_keep(&bag);
            from = kind;
            if (++bag.nodes >= knapsack->nodes || bag.best >= bag.bound * ENOUGH)
                break;
            deepest = bag.depth > deepest ? bag.depth : deepest;
        } else if (bag.depth > 0) {
            from = bag.chosen[--bag.depth];
            bag_move(&bag, from++, -1);
        } else {
            if (deepest < DEPTH_MAX) /* everything was seen */
                knapsack->bound = fmin(bag.bound, bag.best + GAIN);
            break;
        }
    }
    knapsack->tried = bag.nodes;
    for (uint32_t i = 0; i < knapsack->count; i++)
        knapsack->kinds[i].taken = 0;
    for (uint32_t i = 0; i < bag.best_depth; i++)
        knapsack->kinds[bag.kept[i]].taken++;
    return bag.best;
}
