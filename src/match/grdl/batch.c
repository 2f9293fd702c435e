/* batch.c: pairs of two sides with the position that each has in the other's preferences; who gets whom is settled by assign/. */
#include "match/grdl/batch.h"

#include "lang/base/arena.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "match/assign/preference.h"
#include "match/grdl/rank.h"
#include "match/grdl/shapes.h"

#include <stdlib.h>
#include <string.h>

static void batch_add(struct grdl_batch *batch, uint32_t left, uint32_t right)
{
    ARRAY_ROOM(batch->pairs, batch->count, batch->room, 64);
    batch->pairs[batch->count++] = (struct grdl_batch_pair){.left = left, .right = right};
}

/* Room for the peers of one resource, and their positions. */
struct peers {
    const struct grdl_reading **readings;
    uint32_t *pairs;
    struct grdl_ranked *ranked;
    uint32_t count;
};

static struct peers peers_new(uint32_t room)
{
    return (struct peers){mem_alloc(((size_t)room + 1) * sizeof(const struct grdl_reading *)),
                          mem_alloc(((size_t)room + 1) * sizeof(uint32_t)),
                          mem_alloc(((size_t)room + 1) * sizeof(struct grdl_ranked)), 0};
}

static void peers_free(struct peers *peers)
{
    free(peers->readings);
    free(peers->pairs);
    free(peers->ranked);
}

/* Ranks the peers of one resource and notes their positions; afterwards `peers` is empty. */
static void positions_fill(struct grdl_batch *batch, const struct grdl_reading *who, bool is_left, struct peers *peers)
{
    grdl_rank(who, peers->readings, peers->count, 0, peers->ranked);
    for (uint32_t i = 0; i < peers->count; i++) {
        struct grdl_batch_pair *pair = &batch->pairs[peers->pairs[peers->ranked[i].candidate]];

        if (is_left)
            pair->left_position = peers->ranked[i].position;
        else
            pair->right_position = peers->ranked[i].position;
    }
    peers->count = 0;
}

static void peers_add(struct peers *peers, const struct grdl_reading *reading, uint32_t pair)
{
    peers->readings[peers->count] = reading;
    peers->pairs[peers->count++] = pair;
}

/* The numbers of the pairs, by their right ones. */
static uint32_t *pairs_by_right(const struct grdl_batch *batch, uint32_t **ret_ends)
{
    uint32_t *ends = mem_alloc(((size_t)batch->right_count + 1) * sizeof *ends);
    uint32_t *order = mem_alloc(((size_t)batch->count + 1) * sizeof *order), at = 0;

    for (uint32_t i = 0; i <= batch->right_count; i++)
        ends[i] = 0;
    for (uint32_t i = 0; i < batch->count; i++)
        ends[batch->pairs[i].right]++;
    for (uint32_t i = 0; i < batch->right_count; i++) { /* starts now, ends when they are filled */
        uint32_t count = ends[i];

        ends[i] = at;
        at += count;
    }
    for (uint32_t i = 0; i < batch->count; i++)
        order[ends[batch->pairs[i].right]++] = i;
    *ret_ends = ends;
    return order;
}

/* The pairs of resources that are peers, by shape: resources that look alike are matched once. */
struct shaped {
    struct grdl_dimensions seen[2];
    struct grdl_shapes shapes[2];
    bool *peers; /* by left shape, then by right shape */
};

static void shaped_make(struct shaped *shaped, const struct grdl_reading *const *const *sides, const uint32_t *counts,
                        struct grdl_counts *ret_counts)
{
    struct grdl_shape_pairs pairs;
    size_t cells;

    for (int side = 0; side < 2; side++) {
        grdl_dimensions_init(&shaped->seen[side]);
        for (uint32_t i = 0; i < counts[side]; i++)
            grdl_dimensions_name(&shaped->seen[side], sides[side][i]);
    }
    for (int side = 0; side < 2; side++)
        grdl_shapes_make(sides[side], counts[side], &shaped->seen[!side], &shaped->shapes[side]);
    grdl_shapes_match(&shaped->shapes[0], sides[0], &shaped->shapes[1], sides[1], &pairs);
    cells = (size_t)shaped->shapes[0].count * shaped->shapes[1].count;
    shaped->peers = mem_alloc(cells + 1);
    memset(shaped->peers, 0, cells);
    for (uint32_t i = 0; i < pairs.count; i++)
        shaped->peers[(size_t)pairs.items[i].left * shaped->shapes[1].count + pairs.items[i].right] = true;
    if (ret_counts) {
        ret_counts->pairs += pairs.counts.pairs;
        ret_counts->comparisons += pairs.counts.comparisons;
    }
    grdl_shape_pairs_done(&pairs);
}

static void shaped_done(struct shaped *shaped)
{
    for (int side = 0; side < 2; side++) {
        grdl_dimensions_done(&shaped->seen[side]);
        grdl_shapes_done(&shaped->shapes[side]);
    }
    free(shaped->peers);
}

static bool shaped_has(const struct shaped *shaped, uint32_t left, uint32_t right)
{
    return shaped
        ->peers[(size_t)shaped->shapes[0].shape_of[left] * shaped->shapes[1].count + shaped->shapes[1].shape_of[right]];
}

void grdl_batch_make(const struct grdl_reading *const *left, uint32_t left_count,
                     const struct grdl_reading *const *right, uint32_t right_count, struct grdl_counts *counts,
                     struct grdl_batch *ret_batch)
{
    struct peers peers = peers_new(left_count > right_count ? left_count : right_count);
    struct shaped shaped = {0};
    uint32_t *order, *ends, at = 0;

    *ret_batch = (struct grdl_batch){.left_count = left_count, .right_count = right_count};
    shaped_make(&shaped, (const struct grdl_reading *const *const[]){left, right},
                (const uint32_t[]){left_count, right_count}, counts);
    for (uint32_t i = 0; i < left_count; i++) {
        for (uint32_t j = 0; j < right_count; j++)
            if (shaped_has(&shaped, i, j)) {
                peers_add(&peers, right[j], ret_batch->count);
                batch_add(ret_batch, i, j);
            }
        positions_fill(ret_batch, left[i], true, &peers);
    }
    shaped_done(&shaped);
    order = pairs_by_right(ret_batch, &ends);
    for (uint32_t j = 0; j < right_count; j++) {
        for (; at < ends[j]; at++)
            peers_add(&peers, left[ret_batch->pairs[order[at]].left], order[at]);
        positions_fill(ret_batch, right[j], false, &peers);
    }
    free(order);
    free(ends);
    peers_free(&peers);
}

void grdl_batch_done(struct grdl_batch *batch)
{
    if (!batch)
        return;
    free(batch->pairs);
    *batch = (struct grdl_batch){0};
}

/* ---- who gets whom ---- */

struct choice {
    const struct grdl_batch *batch;
    uint32_t *chosen;
    uint32_t count;
    bool *left_taken, *right_taken;
};

static bool choice_fits(void *user, uint32_t left, uint32_t right)
{
    const struct choice *choice = user;

    return !choice->left_taken[left] && !choice->right_taken[right];
}

/* Finds a pair; they are sorted by left, then by right. */
static uint32_t pair_find(const struct grdl_batch *batch, uint32_t left, uint32_t right)
{
    uint32_t low = 0, high = batch->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct grdl_batch_pair *pair = &batch->pairs[middle];

        if (pair->left < left || (pair->left == left && pair->right < right))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void choice_take(void *user, uint32_t left, uint32_t right)
{
    struct choice *choice = user;

    choice->left_taken[left] = choice->right_taken[right] = true;
    choice->chosen[choice->count++] = pair_find(choice->batch, left, right);
}

uint32_t grdl_batch_choose(const struct grdl_batch *batch, enum grdl_batch_policy policy, uint32_t *ret_chosen)
{
    static void (*const policies[])(struct arena *, const struct preference_list *, const struct preference_rules *) = {
        [GRDL_MINSUM] = preference_minsum,
        [GRDL_SINGLES] = preference_singles,
        [GRDL_SINGLES_MINSUM] = preference_singles_minsum,
    };
    struct arena arena;
    struct choice choice = {.batch = batch, .chosen = ret_chosen};
    struct preference_rules rules = {&choice, choice_fits, choice_take};
    struct preference *pairs;

    arena_init(&arena);
    pairs = arena_alloc(&arena, ((size_t)batch->count + 1) * sizeof *pairs);
    choice.left_taken = arena_alloc(&arena, (size_t)batch->left_count + 1);
    choice.right_taken = arena_alloc(&arena, (size_t)batch->right_count + 1);
    for (uint32_t i = 0; i < batch->left_count; i++)
        choice.left_taken[i] = false;
    for (uint32_t i = 0; i < batch->right_count; i++)
        choice.right_taken[i] = false;
    for (uint32_t i = 0; i < batch->count; i++)
        pairs[i] = (struct preference){batch->pairs[i].left, batch->pairs[i].right, batch->pairs[i].left_position,
                                       batch->pairs[i].right_position};
    policies[policy](&arena, &(struct preference_list){pairs, batch->count, batch->left_count, batch->right_count},
                     &rules);
    arena_done(&arena);
    return choice.count;
}
