/* agenda.c: the heap of what happens next. */
#include "sim/agenda.h"

#include "base/mem.h"

#include <stdlib.h>

#define BRANCHES 4

void agenda_init(struct agenda *agenda)
{
    *agenda = (struct agenda){0};
}

void agenda_done(struct agenda *agenda)
{
    free(agenda->heap);
    *agenda = (struct agenda){0};
}

static bool is_before(const struct agenda_entry *a, const struct agenda_entry *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

uint32_t agenda_push(struct agenda *agenda, int64_t at, uint32_t what)
{
    struct agenda_entry entry = {at, ++agenda->order, what};
    uint32_t place;

    if (agenda->count == agenda->room) {
        agenda->room = agenda->room ? agenda->room * 2 : 256;
        agenda->heap = mem_grow(agenda->heap, agenda->room * sizeof *agenda->heap);
    }
    place = agenda->count++;
    while (place) {
        uint32_t above = (place - 1) / BRANCHES;

        if (!is_before(&entry, &agenda->heap[above]))
            break;
        agenda->heap[place] = agenda->heap[above];
        place = above;
    }
    agenda->heap[place] = entry;
    return entry.order;
}

bool agenda_pop(struct agenda *agenda, struct agenda_entry *ret)
{
    struct agenda_entry last;
    uint32_t place = 0;

    if (!agenda->count)
        return false;
    *ret = agenda->heap[0];
    last = agenda->heap[--agenda->count];
    for (;;) {
        uint32_t first = place * BRANCHES + 1, end = first + BRANCHES, best = first;

        if (first >= agenda->count)
            break;
        if (end > agenda->count)
            end = agenda->count;
        for (uint32_t i = first + 1; i < end; i++)
            if (is_before(&agenda->heap[i], &agenda->heap[best]))
                best = i;
        if (!is_before(&agenda->heap[best], &last))
            break;
        agenda->heap[place] = agenda->heap[best];
        place = best;
    }
    agenda->heap[place] = last;
    return true;
}
