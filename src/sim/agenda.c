/* agenda.c: the events to come, in the order of time. */
#include "sim/agenda.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define BRANCHES 4
#define SLOT_BITS 16 /* about a fifteenth of a second: a slot has few entries, so the heap stays tiny */
#define SLOTS 16384  /* a power of two; about a quarter of an hour */
#define LIST_FIRST 8

static int64_t slot_of(int64_t at)
{
    return at >> SLOT_BITS;
}

void agenda_init(struct agenda *agenda)
{
    *agenda = (struct agenda){0};
    agenda->slots = mem_alloc(SLOTS * sizeof *agenda->slots);
    memset(agenda->slots, 0, SLOTS * sizeof *agenda->slots);
}

void agenda_done(struct agenda *agenda)
{
    for (uint32_t i = 0; agenda->slots && i < SLOTS; i++)
        free(agenda->slots[i].items);
    for (uint32_t i = 0; i < agenda->spare_count; i++)
        free(agenda->spare[i].items);
    free(agenda->slots);
    free(agenda->heap.items);
    free(agenda->later.items);
    *agenda = (struct agenda){0};
}

static void list_add(struct agenda *agenda, struct agenda_list *list, struct agenda_entry entry)
{
    if (list->count == list->room) {
        if (!list->room && agenda->spare_count) {
            *list = agenda->spare[--agenda->spare_count];
        } else {
            list->room = list->room ? list->room * 2 : LIST_FIRST;
            list->items = mem_grow(list->items, list->room * sizeof *list->items);
        }
    }
    list->items[list->count++] = entry;
}

/* Empties a list and keeps its memory for another. */
static void list_give(struct agenda *agenda, struct agenda_list *list)
{
    if (list->room && agenda->spare_count < AGENDA_SPARE) {
        list->count = 0;
        agenda->spare[agenda->spare_count++] = *list;
    } else {
        free(list->items);
    }
    *list = (struct agenda_list){0};
}

/* ----------------------------------------------------------------------------------------------------------- the heap */

static bool is_before(const struct agenda_entry *a, const struct agenda_entry *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void heap_push(struct agenda *agenda, struct agenda_entry entry)
{
    struct agenda_list *heap = &agenda->heap;
    uint32_t place = heap->count;

    list_add(agenda, heap, entry);
    while (place) {
        uint32_t above = (place - 1) / BRANCHES;

        if (!is_before(&entry, &heap->items[above]))
            break;
        heap->items[place] = heap->items[above];
        place = above;
    }
    heap->items[place] = entry;
}

/* Puts the entry at that place or below it. */
static void heap_sink(struct agenda_list *heap, uint32_t place, struct agenda_entry entry)
{
    for (;;) {
        uint32_t first = place * BRANCHES + 1, end = first + BRANCHES, best = first;

        if (first >= heap->count)
            break;
        if (end > heap->count)
            end = heap->count;
        for (uint32_t i = first + 1; i < end; i++)
            if (is_before(&heap->items[i], &heap->items[best]))
                best = i;
        if (!is_before(&heap->items[best], &entry))
            break;
        heap->items[place] = heap->items[best];
        place = best;
    }
    heap->items[place] = entry;
}

/* ----------------------------------------------------------------------------------------------------------- the slots */

/* Puts an entry where it belongs, as seen from the current slot. */
static void agenda_place(struct agenda *agenda, struct agenda_entry entry)
{
    int64_t ahead = slot_of(entry.at) - agenda->slot;

    if (ahead <= 0) {
        heap_push(agenda, entry);
    } else if (ahead < SLOTS) {
        list_add(agenda, &agenda->slots[slot_of(entry.at) & (SLOTS - 1)], entry);
        agenda->ahead++;
    } else {
        list_add(agenda, &agenda->later, entry);
    }
}

/* Moves entries that were beyond the ring and are within it now. This is done twice in a round of the ring, so that none is missed. */
static void later_look(struct agenda *agenda)
{
    struct agenda_list later = agenda->later;

    agenda->looked = agenda->slot;
    agenda->later = (struct agenda_list){0};
    for (uint32_t i = 0; i < later.count; i++)
        agenda_place(agenda, later.items[i]);
    free(later.items);
}

/* Turns the first slot that has an entry into the heap. The heap must be empty. */
static void agenda_advance(struct agenda *agenda)
{
    struct agenda_list *slot;

    if (!agenda->ahead) { /* go straight to the first later entry */
        int64_t first = INT64_MAX;

        for (uint32_t i = 0; i < agenda->later.count; i++)
            if (agenda->later.items[i].at < first)
                first = agenda->later.items[i].at;
        agenda->slot = slot_of(first);
        later_look(agenda);
        return;
    }
    do {
        agenda->slot++;
        if (agenda->slot - agenda->looked >= SLOTS / 2)
            later_look(agenda);
        slot = &agenda->slots[agenda->slot & (SLOTS - 1)];
    } while (!slot->count);
    list_give(agenda, &agenda->heap);
    agenda->ahead -= slot->count;
    agenda->heap = *slot;
    *slot = (struct agenda_list){0};
    for (uint32_t i = (agenda->heap.count + BRANCHES - 2) / BRANCHES; i-- > 0;)
        heap_sink(&agenda->heap, i, agenda->heap.items[i]);
}

uint32_t agenda_push(struct agenda *agenda, int64_t at, uint32_t what)
{
    agenda->order += agenda->order == UINT32_MAX ? 2 : 1; /* 0 stands for no order */
    agenda_place(agenda, (struct agenda_entry){at, agenda->order, what});
    return agenda->order;
}

bool agenda_next(struct agenda *agenda, int64_t *ret_at)
{
    if (!agenda->heap.count) {
        if (!agenda->ahead && !agenda->later.count)
            return false;
        agenda_advance(agenda);
    }
    *ret_at = agenda->heap.items[0].at;
    return true;
}

bool agenda_pop(struct agenda *agenda, struct agenda_entry *ret)
{
    int64_t at;

    if (!agenda_next(agenda, &at))
        return false;
    *ret = agenda->heap.items[0];
    if (--agenda->heap.count)
        heap_sink(&agenda->heap, 0, agenda->heap.items[agenda->heap.count]);
    return true;
}

static void list_each(const struct agenda_list *list, agenda_fn *fn, void *user)
{
    for (uint32_t i = 0; i < list->count; i++)
        fn(user, &list->items[i]);
}

void agenda_each(const struct agenda *agenda, agenda_fn *fn, void *user)
{
    list_each(&agenda->heap, fn, user);
    list_each(&agenda->later, fn, user);
    for (uint32_t i = 0; i < SLOTS; i++)
        list_each(&agenda->slots[i], fn, user);
}
