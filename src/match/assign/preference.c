/* preference.c: MINSUM, SINGLES, and both by turns.
 *
 *     pair: alive until one of its sides is used up        end: the pairs of one side's member, and how many are alive
 *
 * When a pair is taken, those of its left end die, and those of its right end that no longer fit. An end that is left with one pair is
 * remembered: that pair is a candidate of the next round of singles. So the work of all rounds together is that of the pairs that die. */
#include "match/assign/preference.h"

#include "lang/base/array.h"

#include <stdlib.h>
#include <string.h>

struct end {
    uint32_t first, count; /* in the list of pairs of its side */
    uint32_t alive;
};

struct table {
    const struct preference_list *list;
    const struct preference_rules *rules;
    bool *alive;     /* by pair */
    uint32_t *order; /* pairs by sum */
    struct end *lefts, *rights;
    uint32_t *left_pairs, *right_pairs;
    uint32_t *single; /* pairs that became the last of an end, in no order, maybe twice */
    uint32_t single_count;
};

static void *scratch_array(struct arena *scratch, uint32_t count, size_t size)
{
    return arena_alloc(scratch, ((size_t)count + 1) * size);
}

/* Lists the pairs of each end of a side, in the order of the list. */
static struct end *ends_make(struct arena *scratch, const struct preference_list *list, bool right,
                             uint32_t **ret_pairs)
{
    uint32_t count = right ? list->right_count : list->left_count, at = 0;
    struct end *ends = scratch_array(scratch, count, sizeof *ends);

    *ret_pairs = scratch_array(scratch, list->count, sizeof **ret_pairs);
    memset(ends, 0, count * sizeof *ends);
    for (uint32_t i = 0; i < list->count; i++)
        ends[right ? list->pairs[i].right : list->pairs[i].left].count++;
    for (uint32_t i = 0; i < count; at += ends[i++].count)
        ends[i].first = at;
    for (uint32_t i = 0; i < list->count; i++) {
        struct end *end = &ends[right ? list->pairs[i].right : list->pairs[i].left];

        (*ret_pairs)[end->first + end->alive++] = i;
    }
    return ends;
}

/* The sum of a pair's ranks, and its place in the list. */
struct sum {
    uint64_t sum;
    uint32_t pair;
};

static int sum_compare(const void *a, const void *b)
{
    const struct sum *left = a, *right = b;

    if (left->sum != right->sum)
        return left->sum < right->sum ? -1 : 1;
    return left->pair < right->pair ? -1 : 1;
}

static uint32_t *order_make(struct arena *scratch, const struct preference_list *list)
{
    uint32_t *order = scratch_array(scratch, list->count, sizeof *order);
    struct arena_mark mark = arena_mark(scratch);
    struct sum *sums = scratch_array(scratch, list->count, sizeof *sums);

    for (uint32_t i = 0; i < list->count; i++)
        sums[i] = (struct sum){(uint64_t)list->pairs[i].left_rank + list->pairs[i].right_rank, i};
    qsort(sums, list->count, sizeof *sums, sum_compare);
    for (uint32_t i = 0; i < list->count; i++)
        order[i] = sums[i].pair;
    arena_rewind(scratch, mark);
    return order;
}

static void table_init(struct table *table, struct arena *scratch, const struct preference_list *list,
                       const struct preference_rules *rules)
{
    *table = (struct table){.list = list, .rules = rules};
    table->alive = scratch_array(scratch, list->count, sizeof *table->alive);
    memset(table->alive, true, list->count * sizeof *table->alive);
    table->lefts = ends_make(scratch, list, false, &table->left_pairs);
    table->rights = ends_make(scratch, list, true, &table->right_pairs);
    table->single = scratch_array(scratch, list->left_count + list->right_count, sizeof *table->single);
}

static uint32_t end_last(const struct table *table, const struct end *end, const uint32_t *pairs)
{
    for (uint32_t i = 0; i < end->count; i++)
        if (table->alive[pairs[end->first + i]])
            return pairs[end->first + i];
    return NOBODY;
}

/* Takes one pair from an end; the last one is remembered. Each end comes to one pair once, so there is room. */
static void end_lose(struct table *table, struct end *end, const uint32_t *pairs)
{
    if (--end->alive == 1)
        table->single[table->single_count++] = end_last(table, end, pairs);
}

static void pair_kill(struct table *table, uint32_t pair)
{
    const struct preference *of = &table->list->pairs[pair];

    table->alive[pair] = false;
    end_lose(table, &table->lefts[of->left], table->left_pairs);
    end_lose(table, &table->rights[of->right], table->right_pairs);
}

static void pair_take(struct table *table, uint32_t pair)
{
    const struct preference *of = &table->list->pairs[pair];
    const struct end *left = &table->lefts[of->left], *right = &table->rights[of->right];

    table->rules->take(table->rules->user, of->left, of->right);
    for (uint32_t i = 0; i < left->count; i++)
        if (table->alive[table->left_pairs[left->first + i]])
            pair_kill(table, table->left_pairs[left->first + i]);
    for (uint32_t i = 0; i < right->count; i++) {
        uint32_t other = table->right_pairs[right->first + i];

        if (table->alive[other] &&
            (!table->rules->fits || !table->rules->fits(table->rules->user, table->list->pairs[other].left, of->right)))
            pair_kill(table, other);
    }
}

static int place_compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* Takes the pairs that are single now, in the order of the list. Pairs that become single by that are for the next round. */
static bool singles_round(struct table *table, struct arena *scratch)
{
    uint32_t count = table->single_count;
    struct arena_mark mark = arena_mark(scratch);
    uint32_t *now = scratch_array(scratch, count, sizeof *now);

    memcpy(now, table->single, count * sizeof *now);
    table->single_count = 0;
    qsort(now, count, sizeof *now, place_compare);
    for (uint32_t i = 0; i < count; i++)
        if (now[i] != NOBODY && table->alive[now[i]])
            pair_take(table, now[i]);
    arena_rewind(scratch, mark);
    return count > 0;
}

/* Finds the pairs that are single to begin with. */
static void singles_first(struct table *table)
{
    for (uint32_t i = 0; i < table->list->left_count; i++)
        if (table->lefts[i].alive == 1)
            table->single[table->single_count++] = table->left_pairs[table->lefts[i].first];
    for (uint32_t i = 0; i < table->list->right_count; i++)
        if (table->rights[i].alive == 1)
            table->single[table->single_count++] = table->right_pairs[table->rights[i].first];
}

void preference_singles(struct arena *scratch, const struct preference_list *list, const struct preference_rules *rules)
{
    struct arena_mark mark = arena_mark(scratch);
    struct table table;

    table_init(&table, scratch, list, rules);
    singles_first(&table);
    singles_round(&table, scratch);
    arena_rewind(scratch, mark);
}

void preference_singles_minsum(struct arena *scratch, const struct preference_list *list,
                               const struct preference_rules *rules)
{
    struct arena_mark mark = arena_mark(scratch);
    struct table table;

    table_init(&table, scratch, list, rules);
    table.order = order_make(scratch, list);
    singles_first(&table);
    for (uint32_t next = 0;;) {
        while (singles_round(&table, scratch))
            ;
        while (next < list->count && !table.alive[table.order[next]])
            next++;
        if (next == list->count)
            break;
        pair_take(&table, table.order[next]);
    }
    arena_rewind(scratch, mark);
}

void preference_minsum(struct arena *scratch, const struct preference_list *list, const struct preference_rules *rules)
{
    struct arena_mark mark = arena_mark(scratch);
    struct table table;

    table_init(&table, scratch, list, rules);
    table.order = order_make(scratch, list);
    for (uint32_t i = 0; i < list->count; i++)
        if (table.alive[table.order[i]])
            pair_take(&table, table.order[i]);
    arena_rewind(scratch, mark);
}
