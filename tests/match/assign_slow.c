/* assign_slow.c: the policies one pair at a time, and the best by trying all. */
#include "assign_slow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct slow {
    const struct assign_problem *problem;
    double *free;
    uint32_t *placed;
};

static const struct assign_edge *edge_of(const struct slow *slow, uint32_t request, uint32_t offer)
{
    const struct assign_row *row = &slow->problem->rows[slow->problem->requests[request].row];

    for (uint32_t i = 0; i < row->count; i++)
        if (slow->problem->edges[row->first + i].kind == slow->problem->offer_kinds[offer])
            return &slow->problem->edges[row->first + i];
    return NULL;
}

static double amount_of(const struct slow *slow, uint32_t request, uint32_t quantity)
{
    return slow->problem->amounts[request * slow->problem->quantity_count + quantity];
}

static double *free_of(const struct slow *slow, uint32_t offer, uint32_t quantity)
{
    return &slow->free[offer * slow->problem->quantity_count + quantity];
}

/* Compatible, and it has enough now. */
static bool feasible(const struct slow *slow, uint32_t request, uint32_t offer)
{
    if (!edge_of(slow, request, offer))
        return false;
    for (uint32_t q = 0; q < slow->problem->quantity_count; q++)
        if (amount_of(slow, request, q) > *free_of(slow, offer, q))
            return false;
    return true;
}

static void give(struct slow *slow, uint32_t request, uint32_t offer, double sign)
{
    for (uint32_t q = 0; q < slow->problem->quantity_count; q++)
        *free_of(slow, offer, q) -= sign * amount_of(slow, request, q);
    slow->placed[request] = sign > 0 ? offer : ASSIGN_NONE;
}

/* ------------------------------------------------------------------------------------------------------- one after the other */

static void slow_take_best(struct slow *slow, uint32_t request)
{
    uint32_t best = ASSIGN_NONE;

    for (uint32_t offer = 0; offer < slow->problem->offer_count; offer++)
        if (feasible(slow, request, offer) &&
            (best == ASSIGN_NONE || edge_of(slow, request, offer)->weight > edge_of(slow, request, best)->weight))
            best = offer;
    if (best != ASSIGN_NONE)
        give(slow, request, best, 1);
}

/* Is the request's turn before the other's? */
typedef bool before_fn(const struct slow *slow, uint32_t request, uint32_t other);

static bool before_by_order(const struct slow *slow, uint32_t request, uint32_t other)
{
    (void)slow;
    return request < other;
}

static bool before_by_duration(const struct slow *slow, uint32_t request, uint32_t other, bool longest)
{
    double a = slow->problem->requests[request].duration, b = slow->problem->requests[other].duration;
    uint32_t processors = slow->problem->processors;

    if (isnan(a) != isnan(b))
        return isnan(b);
    if (!isnan(a) && a != b)
        return longest ? a > b : a < b;
    if (processors < slow->problem->quantity_count) {
        a = amount_of(slow, request, processors);
        b = amount_of(slow, other, processors);
        if (a != b)
            return longest ? a > b : a < b;
    }
    return request < other;
}

static bool before_by_shortest(const struct slow *slow, uint32_t request, uint32_t other)
{
    return before_by_duration(slow, request, other, false);
}

static bool before_by_longest(const struct slow *slow, uint32_t request, uint32_t other)
{
    return before_by_duration(slow, request, other, true);
}

static bool before_by_priority(const struct slow *slow, uint32_t request, uint32_t other)
{
    double a = slow->problem->requests[request].priority, b = slow->problem->requests[other].priority;

    return a != b ? a > b : request < other;
}

/* The requests in their turns. */
static uint32_t *next_change_make(const struct slow *slow, before_fn *before)
{
    uint32_t count = slow->problem->request_count, *turns = malloc((count + 1) * sizeof *turns);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;

        for (; at > 0 && before(slow, i, turns[at - 1]); at--)
            turns[at] = turns[at - 1];
        turns[at] = i;
    }
    return turns;
}

static void slow_queue(struct slow *slow, before_fn *before)
{
    uint32_t *turns = next_change_make(slow, before);

    for (uint32_t i = 0; i < slow->problem->request_count; i++)
        slow_take_best(slow, turns[i]);
    free(turns);
}

/* -------------------------------------------------------------------------------------------------------------- single pairs */

struct slow_pair {
    double key;
    uint32_t turn, request, offer;
    bool gone;
};

struct slow_pairs {
    struct slow_pair *items;
    uint32_t count;
};

static void pairs_add(struct slow_pairs *pairs, double key, uint32_t turn, uint32_t request, uint32_t offer)
{
    pairs->items = realloc(pairs->items, (pairs->count + 1) * sizeof *pairs->items);
    pairs->items[pairs->count++] = (struct slow_pair){key, turn, request, offer, false};
}

static int pair_compare(const void *a, const void *b)
{
    const struct slow_pair *left = a, *right = b;

    if (left->key != right->key)
        return left->key > right->key ? -1 : 1;
    if (left->turn != right->turn)
        return left->turn < right->turn ? -1 : 1;
    return left->offer < right->offer ? -1 : 1;
}

static void pairs_try(struct slow *slow, struct slow_pairs *pairs)
{
    if (pairs->count)
        qsort(pairs->items, pairs->count, sizeof *pairs->items, pair_compare);
    for (uint32_t i = 0; i < pairs->count; i++)
        if (slow->placed[pairs->items[i].request] == ASSIGN_NONE &&
            feasible(slow, pairs->items[i].request, pairs->items[i].offer))
            give(slow, pairs->items[i].request, pairs->items[i].offer, 1);
}

/* Equation 4. */
static double slow_desire(const struct slow *slow, uint32_t request, uint32_t offer)
{
    double top = 1, bottom = 1;

    for (uint32_t q = 0; q < slow->problem->quantity_count; q++) {
        double asked = amount_of(slow, request, q), there = *free_of(slow, offer, q);

        if (isinf(there))
            continue;
        top *= asked == 0 ? 1 : asked;
        bottom *= there == 0 ? 1 : there;
    }
    return top / bottom;
}

static void slow_srfm(struct slow *slow)
{
    uint32_t *turns = next_change_make(slow, before_by_priority);
    struct slow_pairs pairs = {0};

    for (uint32_t i = 0; i < slow->problem->request_count; i++) {
        uint32_t degree = 0, only = 0;

        for (uint32_t offer = 0; offer < slow->problem->offer_count; offer++)
            if (feasible(slow, turns[i], offer)) {
                degree++;
                only = offer;
            }
        if (degree == 1)
            give(slow, turns[i], only, 1);
        for (uint32_t offer = 0; offer < slow->problem->offer_count && degree > 1; offer++)
            if (feasible(slow, turns[i], offer))
                pairs_add(&pairs, slow_desire(slow, turns[i], offer), i, turns[i], offer);
    }
    pairs_try(slow, &pairs);
    free(pairs.items);
    free(turns);
}

/* The place of a number among the different ones, the largest is 1. */
static uint32_t place_among(const double *numbers, uint32_t count, double number)
{
    uint32_t place = 1;

    for (uint32_t i = 0; i < count; i++) {
        bool again = false;

        for (uint32_t k = 0; k < i; k++)
            again = again || numbers[k] == numbers[i];
        place += !again && numbers[i] > number;
    }
    return place;
}

/* The sum of both places of a pair. */
static double pair_sum(const struct slow *slow, uint32_t request, uint32_t offer)
{
    uint32_t most = slow->problem->request_count + slow->problem->offer_count, count = 0, sum;
    double *numbers = malloc((most + 1) * sizeof *numbers);

    for (uint32_t i = 0; i < slow->problem->offer_count; i++)
        if (feasible(slow, request, i))
            numbers[count++] = edge_of(slow, request, i)->weight;
    sum = place_among(numbers, count, edge_of(slow, request, offer)->weight);
    count = 0;
    for (uint32_t i = 0; i < slow->problem->request_count; i++)
        if (feasible(slow, i, offer))
            numbers[count++] = edge_of(slow, i, offer)->back;
    sum += place_among(numbers, count, edge_of(slow, request, offer)->back);
    free(numbers);
    return sum;
}

/* All pairs that are feasible, in the order of the turns and the offers. */
static struct slow_pairs pairs_all(struct slow *slow)
{
    uint32_t *turns = next_change_make(slow, before_by_priority);
    struct slow_pairs pairs = {0};

    for (uint32_t i = 0; i < slow->problem->request_count; i++)
        for (uint32_t offer = 0; offer < slow->problem->offer_count; offer++)
            if (feasible(slow, turns[i], offer))
                pairs_add(&pairs, -pair_sum(slow, turns[i], offer), i, turns[i], offer);
    free(turns);
    return pairs;
}

static void slow_minsum(struct slow *slow)
{
    struct slow_pairs pairs = pairs_all(slow);

    pairs_try(slow, &pairs);
    free(pairs.items);
}

static bool pair_left(const struct slow *slow, const struct slow_pair *pair)
{
    return slow->placed[pair->request] == ASSIGN_NONE && feasible(slow, pair->request, pair->offer);
}

/* One round: false when no pair was single. */
static bool slow_round(struct slow *slow, const struct slow_pairs *pairs)
{
    bool *single = calloc(pairs->count + 1, 1), any = false;

    for (uint32_t i = 0; i < pairs->count; i++) {
        uint32_t lefts = 0, rights = 0;

        if (!pair_left(slow, &pairs->items[i]))
            continue;
        for (uint32_t k = 0; k < pairs->count; k++) {
            if (!pair_left(slow, &pairs->items[k]))
                continue;
            lefts += pairs->items[k].request == pairs->items[i].request;
            rights += pairs->items[k].offer == pairs->items[i].offer;
        }
        single[i] = lefts == 1 || rights == 1;
    }
    for (uint32_t i = 0; i < pairs->count; i++)
        if (single[i] && pair_left(slow, &pairs->items[i])) {
            give(slow, pairs->items[i].request, pairs->items[i].offer, 1);
            any = true;
        }
    free(single);
    return any;
}

static void slow_singles(struct slow *slow)
{
    struct slow_pairs pairs = pairs_all(slow);

    slow_round(slow, &pairs);
    free(pairs.items);
}

static void slow_singles_minsum(struct slow *slow)
{
    struct slow_pairs pairs = pairs_all(slow);

    for (;;) {
        uint32_t best = ASSIGN_NONE;

        while (slow_round(slow, &pairs))
            ;
        for (uint32_t i = 0; i < pairs.count; i++)
            if (pair_left(slow, &pairs.items[i]) && (best == ASSIGN_NONE || pairs.items[i].key > pairs.items[best].key))
                best = i;
        if (best == ASSIGN_NONE)
            break;
        give(slow, pairs.items[best].request, pairs.items[best].offer, 1);
    }
    free(pairs.items);
}

/* ------------------------------------------------------------------------------------------------------------------ together */

static void slow_init(struct slow *slow, const struct assign_problem *problem, uint32_t *placed)
{
    size_t cells = (size_t)problem->offer_count * problem->quantity_count;

    *slow = (struct slow){problem, malloc((cells + 1) * sizeof(double)), placed};
    for (size_t i = 0; i < cells; i++)
        slow->free[i] = problem->free[i];
    for (uint32_t i = 0; i < problem->request_count; i++)
        placed[i] = ASSIGN_NONE;
}

bool assign_slow(enum assign_policy policy, const struct assign_problem *problem, uint32_t *placed)
{
    struct slow slow;
    bool known = true;

    slow_init(&slow, problem, placed);
    switch (policy) {
    case ASSIGN_FCFS:
        slow_queue(&slow, before_by_order);
        break;
    case ASSIGN_SJF:
        slow_queue(&slow, before_by_shortest);
        break;
    case ASSIGN_LJF:
        slow_queue(&slow, before_by_longest);
        break;
    case ASSIGN_SRFM:
        slow_srfm(&slow);
        break;
    case ASSIGN_MINSUM:
        slow_minsum(&slow);
        break;
    case ASSIGN_SINGLES:
        slow_singles(&slow);
        break;
    case ASSIGN_SINGLES_MINSUM:
        slow_singles_minsum(&slow);
        break;
    default:
        known = false;
    }
    free(slow.free);
    return known;
}

struct slow_best {
    struct slow slow;
    uint32_t count;
    double weight;
};

static void best_from(struct slow_best *best, uint32_t request, uint32_t count, double weight)
{
    if (request == best->slow.problem->request_count) {
        if (count > best->count || (count == best->count && weight > best->weight)) {
            best->count = count;
            best->weight = weight;
        }
        return;
    }
    for (uint32_t offer = 0; offer < best->slow.problem->offer_count; offer++)
        if (feasible(&best->slow, request, offer)) {
            give(&best->slow, request, offer, 1);
            best_from(best, request + 1, count + 1, weight + edge_of(&best->slow, request, offer)->weight);
            give(&best->slow, request, offer, -1);
        }
    best_from(best, request + 1, count, weight);
}

void assign_slow_best(const struct assign_problem *problem, uint32_t *ret_count, double *ret_weight)
{
    uint32_t *placed = malloc((problem->request_count + 1) * sizeof *placed);
    struct slow_best best = {.weight = -INFINITY};

    slow_init(&best.slow, problem, placed);
    best_from(&best, 0, 0, 0);
    *ret_count = best.count;
    *ret_weight = best.weight;
    free(best.slow.free);
    free(placed);
}
