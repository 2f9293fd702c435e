/* greedy.c: tries pairs in the order of their keys, and takes them when they still fit. */
#include "match/assign/greedy.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

struct rank {
    double priority;
    uint32_t request;
};

static int rank_compare(const void *a, const void *b)
{
    const struct rank *left = a, *right = b;

    if (left->priority != right->priority)
        return left->priority > right->priority ? -1 : 1;
    return left->request < right->request ? -1 : 1;
}

void greedy_init(struct greedy *greedy, struct settling *settling, const struct shelves *shelves)
{
    const struct assign_problem *problem = settling->problem;
    uint32_t count = problem->request_count;
    struct rank *ranks = SCRATCH(settling, struct rank, count);

    *greedy = (struct greedy){.settling = settling,
                              .shelves = shelves,
                              .order = SCRATCH(settling, uint32_t, count),
                              .chain = SCRATCH(settling, uint32_t, count),
                              .touched = SCRATCH(settling, uint32_t, problem->offer_count)};
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = (struct rank){problem->requests[i].priority, i};
    qsort(ranks, count, sizeof *ranks, rank_compare);
    for (uint32_t i = 0; i < count; i++)
        greedy->order[i] = ranks[i].request;
    memset(greedy->touched, 0, problem->offer_count * sizeof *greedy->touched);
}

void greedy_done(struct greedy *greedy)
{
    free(greedy->sources);
    free(greedy->entries);
    greedy->sources = NULL;
    greedy->entries = NULL;
}

uint32_t greedy_add_source(struct greedy *greedy, uint32_t group, uint32_t epoch)
{
    ARRAY_ROOM(greedy->sources, greedy->source_count, greedy->source_room, 64);
    greedy->sources[greedy->source_count] = (struct greedy_source){group, ASSIGN_NONE, ASSIGN_NONE, epoch};
    return greedy->source_count++;
}

void greedy_add_turn(struct greedy *greedy, uint32_t source, uint32_t turn)
{
    struct greedy_source *of = &greedy->sources[source];

    greedy->chain[turn] = ASSIGN_NONE;
    if (of->first == ASSIGN_NONE)
        of->first = turn;
    else
        greedy->chain[of->last] = turn;
    of->last = turn;
}

void greedy_add(struct greedy *greedy, double key, uint32_t source, uint32_t target, uint32_t limit)
{
    ARRAY_ROOM(greedy->entries, greedy->entry_count, greedy->entry_room, 256);
    greedy->entries[greedy->entry_count++] = (struct greedy_entry){key, source, target, limit, 0};
}

void greedy_add_groups(struct greedy *greedy)
{
    const struct settling *settling = greedy->settling;

    for (uint32_t i = 0; i < settling->group_count; i++)
        greedy_add_source(greedy, i, 0);
    for (uint32_t turn = 0; turn < settling->problem->request_count; turn++)
        if (settling->placed[greedy->order[turn]] == ASSIGN_NONE)
            greedy_add_turn(greedy, settling->group_of[greedy->order[turn]], turn);
}

static int entry_compare(const void *a, const void *b)
{
    const struct greedy_entry *left = a, *right = b;

    if (left->key != right->key)
        return left->key > right->key ? -1 : 1;
    if (left->source != right->source)
        return left->source < right->source ? -1 : 1;
    return (left->target > right->target) - (left->target < right->target);
}

/* The first offer of an entry that fits the source's requests, or ASSIGN_NONE. */
static uint32_t entry_first(const struct greedy *greedy, struct greedy_entry *entry)
{
    const struct settling *settling = greedy->settling;
    const struct greedy_source *source = &greedy->sources[entry->source];
    const struct request_group *group = &settling->groups[source->group];
    const struct assign_shelf *shelf;

    if (entry->limit == 0)
        return ASSIGN_NONE;
    if (entry->target & GREEDY_OFFER) {
        uint32_t offer = entry->target & ~GREEDY_OFFER;

        return offer_fits(settling, group, offer) ? offer : ASSIGN_NONE;
    }
    shelf = &greedy->shelves->items[entry->target];
    for (; entry->cursor < shelf->count; entry->cursor++) {
        uint32_t offer = greedy->shelves->members[shelf->first + entry->cursor];

        if ((greedy->touched[offer] == 0 || greedy->touched[offer] > source->epoch) &&
            offer_fits(settling, group, offer))
            return offer;
    }
    return ASSIGN_NONE;
}

/* Gives the next request of the source the first offer of these entries, which are all its own. False: nothing fits. */
static bool source_serve(struct greedy *greedy, struct greedy_entry *entries, uint32_t count)
{
    struct greedy_source *source = &greedy->sources[entries->source];
    uint32_t best = ASSIGN_NONE, which = 0;

    if (source->first == ASSIGN_NONE)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offer = entry_first(greedy, &entries[i]);

        if (offer < best) {
            best = offer;
            which = i;
        }
    }
    if (best == ASSIGN_NONE)
        return false;
    settling_place(greedy->settling, greedy->order[source->first], best);
    source->first = greedy->chain[source->first];
    entries[which].limit -= entries[which].limit != GREEDY_ALL;
    return true;
}

/* The entries of one source among those of one key; they are in a heap by the turn of the source. */
struct part {
    uint32_t turn, first, count;
};

static void heap_sink(struct part *heap, uint32_t count, uint32_t at)
{
    for (;;) {
        uint32_t least = at;

        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (heap[child].turn < heap[least].turn)
                least = child;
        if (least == at)
            return;
        struct part part = heap[at];

        heap[at] = heap[least];
        heap[least] = part;
        at = least;
    }
}

/* Serves entries of one key and several sources: the source whose turn it is goes first. */
static void parts_serve(struct greedy *greedy, struct greedy_entry *entries, struct part *heap, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;)
        heap_sink(heap, count, i);
    while (count) {
        if (source_serve(greedy, entries + heap->first, heap->count))
            heap->turn = greedy->sources[entries[heap->first].source].first;
        else
            heap->turn = ASSIGN_NONE;
        if (heap->turn == ASSIGN_NONE)
            heap[0] = heap[--count];
        heap_sink(heap, count, 0);
    }
}

/* Serves the entries of one key. */
static void run_serve(struct greedy *greedy, struct greedy_entry *entries, uint32_t count, struct part *heap)
{
    uint32_t parts = 0;

    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && entries[end].source == entries[i].source; end++)
            ;
        if (greedy->sources[entries[i].source].first != ASSIGN_NONE)
            heap[parts++] = (struct part){greedy->sources[entries[i].source].first, i, end - i};
    }
    if (parts == 1)
        while (source_serve(greedy, entries + heap->first, heap->count))
            ;
    else if (parts)
        parts_serve(greedy, entries, heap, parts);
}

void greedy_run(struct greedy *greedy)
{
    struct greedy_entry *entries = greedy->entries;
    struct part *heap = SCRATCH(greedy->settling, struct part, greedy->source_count);

    if (greedy->entry_count)
        qsort(entries, greedy->entry_count, sizeof *entries, entry_compare);
    for (uint32_t i = 0, end; i < greedy->entry_count; i = end) {
        for (end = i + 1; end < greedy->entry_count && entries[end].key == entries[i].key; end++)
            ;
        run_serve(greedy, entries + i, end - i, heap);
    }
    greedy->entry_count = 0;
}
