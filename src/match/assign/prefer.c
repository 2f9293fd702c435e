/* prefer.c: the policies that look at what both sides like: minsum, singles, and both by turns.
 *
 * A side's rank of the other is the place of its weight among the weights of all that it could be paired with now: 1 is the largest; equal weights
 * have one rank, and the next one follows at once. */
#include "match/assign/greedy.h"
#include "match/assign/preference.h"

#include <stdlib.h>
#include <string.h>

/* What the requests of a group and the offers of a shelf, which fit, think of each other. */
struct liking {
    uint32_t group, shelf;
    double weight, back;
    uint32_t left_rank, right_rank;
};

struct likings {
    struct liking *items; /* by group, then by shelf */
    uint32_t *first;      /* by group, and one more */
    uint32_t count;
};

static uint32_t likings_room(const struct settling *settling, const struct shelves *shelves)
{
    uint32_t room = 0;

    for (uint32_t i = 0; i < settling->group_count; i++)
        for (uint32_t k = 0; k < settling->groups[i].edge_count; k++) {
            uint32_t kind = settling->groups[i].edges[k].kind;

            room += shelves->kind_first[kind + 1] - shelves->kind_first[kind];
        }
    return room;
}

static int number_sinks(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left < right) - (left > right);
}

/* The rank of a number among distinct numbers in falling order. */
static uint32_t number_rank(const double *numbers, uint32_t count, double number)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (numbers[middle] > number)
            low = middle + 1;
        else
            high = middle;
    }
    return low + 1;
}

/* Sorts the numbers in falling order, each once; returns how many. */
static uint32_t numbers_arrange(double *numbers, uint32_t count)
{
    uint32_t kept = 0;

    qsort(numbers, count, sizeof *numbers, number_sinks);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || numbers[kept - 1] != numbers[i])
            numbers[kept++] = numbers[i];
    return kept;
}

static void rank_left(struct settling *settling, struct likings *likings)
{
    double *weights = SCRATCH(settling, double, likings->count);

    for (uint32_t i = 0; i < settling->group_count; i++) {
        uint32_t first = likings->first[i], end = likings->first[i + 1], count;

        for (uint32_t k = first; k < end; k++)
            weights[k - first] = likings->items[k].weight;
        count = numbers_arrange(weights, end - first);
        for (uint32_t k = first; k < end; k++)
            likings->items[k].left_rank = number_rank(weights, count, likings->items[k].weight);
    }
}

static void rank_right(struct settling *settling, const struct shelves *shelves, struct likings *likings)
{
    uint32_t *first = SCRATCH(settling, uint32_t, shelves->count + 2);
    uint32_t *by_shelf = SCRATCH(settling, uint32_t, likings->count);
    double *backs = SCRATCH(settling, double, likings->count);

    memset(first, 0, (shelves->count + 2) * sizeof *first);
    for (uint32_t i = 0; i < likings->count; i++)
        first[likings->items[i].shelf + 2]++;
    for (uint32_t i = 1; i <= shelves->count; i++)
        first[i + 1] += first[i];
    for (uint32_t i = 0; i < likings->count; i++)
        by_shelf[first[likings->items[i].shelf + 1]++] = i; /* afterwards each is where the next one begins */
    for (uint32_t i = 0; i < shelves->count; i++) {
        uint32_t count;

        for (uint32_t k = first[i]; k < first[i + 1]; k++)
            backs[k - first[i]] = likings->items[by_shelf[k]].back;
        count = numbers_arrange(backs, first[i + 1] - first[i]);
        for (uint32_t k = first[i]; k < first[i + 1]; k++)
            likings->items[by_shelf[k]].right_rank = number_rank(backs, count, likings->items[by_shelf[k]].back);
    }
}

static void likings_init(struct likings *likings, struct settling *settling, const struct shelves *shelves)
{
    *likings = (struct likings){.items = SCRATCH(settling, struct liking, likings_room(settling, shelves)),
                                .first = SCRATCH(settling, uint32_t, settling->group_count + 1)};
    for (uint32_t i = 0; i < settling->group_count; i++) {
        const struct request_group *group = &settling->groups[i];

        likings->first[i] = likings->count;
        for (uint32_t k = 0; k < group->edge_count; k++) {
            const struct assign_edge *edge = &group->edges[k];

            for (uint32_t shelf = shelves->kind_first[edge->kind]; shelf < shelves->kind_first[edge->kind + 1]; shelf++)
                if (assign_fits(group->amounts, shelves->items[shelf].free, settling->quantity_count))
                    likings->items[likings->count++] =
                        (struct liking){.group = i, .shelf = shelf, .weight = edge->weight, .back = edge->back};
        }
    }
    likings->first[settling->group_count] = likings->count;
    rank_left(settling, likings);
    rank_right(settling, shelves, likings);
}

int policy_minsum(struct settling *settling, struct err *err)
{
    struct shelves shelves;
    struct likings likings;
    struct greedy greedy;

    (void)err;
    shelves_init(&shelves, settling);
    likings_init(&likings, settling, &shelves);
    greedy_init(&greedy, settling, &shelves);
    greedy_add_groups(&greedy);
    for (uint32_t i = 0; i < likings.count; i++)
        greedy_add(&greedy, -((double)likings.items[i].left_rank + likings.items[i].right_rank), likings.items[i].group,
                   likings.items[i].shelf, GREEDY_ALL);
    greedy_run(&greedy);
    greedy_done(&greedy);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------------ singles */

/* How many single pairs there are. */
static uint64_t pairs_count(const struct settling *settling, const struct shelves *shelves,
                            const struct likings *likings)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < likings->count; i++)
        count +=
            (uint64_t)settling->groups[likings->items[i].group].count * shelves->items[likings->items[i].shelf].count;
    return count;
}

/* Lists all single pairs, by the turn of the request (left), then by the offer (right). */
static void pairs_list(struct greedy *greedy, const struct likings *likings, struct preference *ret)
{
    struct settling *settling = greedy->settling;
    const struct shelves *shelves = greedy->shelves;
    uint32_t *liking_of = SCRATCH(settling, uint32_t, shelves->count), count = 0;

    memset(liking_of, 0xff, shelves->count * sizeof *liking_of);
    for (uint32_t turn = 0; turn < settling->problem->request_count; turn++) {
        uint32_t group = settling->group_of[greedy->order[turn]];

        for (uint32_t i = likings->first[group]; i < likings->first[group + 1]; i++)
            liking_of[likings->items[i].shelf] = i;
        for (uint32_t offer = 0; offer < settling->problem->offer_count; offer++) {
            uint32_t liking = liking_of[shelves->of[offer]];

            if (liking != ASSIGN_NONE)
                ret[count++] = (struct preference){turn, offer, likings->items[liking].left_rank,
                                                   likings->items[liking].right_rank};
        }
        for (uint32_t i = likings->first[group]; i < likings->first[group + 1]; i++)
            liking_of[likings->items[i].shelf] = ASSIGN_NONE;
    }
}

static bool turn_fits(void *user, uint32_t left, uint32_t right)
{
    const struct greedy *greedy = user;
    const struct settling *settling = greedy->settling;

    return offer_fits(settling, &settling->groups[settling->group_of[greedy->order[left]]], right);
}

static void turn_take(void *user, uint32_t left, uint32_t right)
{
    const struct greedy *greedy = user;

    settling_place(greedy->settling, greedy->order[left], right);
}

typedef void preference_fn(struct arena *scratch, const struct preference_list *list,
                           const struct preference_rules *rules);

static int settle_singles(struct settling *settling, preference_fn *algorithm, struct err *err)
{
    struct shelves shelves;
    struct likings likings;
    struct greedy greedy;
    struct preference *pairs;
    struct preference_rules rules = {&greedy, turn_fits, turn_take};
    uint64_t count;

    shelves_init(&shelves, settling);
    likings_init(&likings, settling, &shelves);
    count = pairs_count(settling, &shelves, &likings);
    if (count > ASSIGN_PAIRS_MAX)
        return err_set(err, "%llu pairs of a request and an offer are too many for singles, which looks at %u at most",
                       (unsigned long long)count, ASSIGN_PAIRS_MAX);
    greedy_init(&greedy, settling, &shelves);
    pairs = SCRATCH(settling, struct preference, count);
    pairs_list(&greedy, &likings, pairs);
    algorithm(settling->scratch,
              &(struct preference_list){pairs, (uint32_t)count, settling->problem->request_count,
                                        settling->problem->offer_count},
              &rules);
    greedy_done(&greedy);
    return 0;
}

int policy_singles(struct settling *settling, struct err *err)
{
    return settle_singles(settling, preference_singles, err);
}

int policy_singles_minsum(struct settling *settling, struct err *err)
{
    return settle_singles(settling, preference_singles_minsum, err);
}
