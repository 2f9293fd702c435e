/* agenda.c: the slots that must be filled, in the order in which they are filled. */
#include "match/gang/search_parts.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

struct ordered {
    uint32_t slot, port, position, key;
};

static int ordered_compare(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static bool count_face(void *user, uint32_t face)
{
    uint32_t *count = user;

    (void)face;
    return ++*count < INDEX_END;
}

/* How many candidates a slot has, by an initial probe. */
static uint32_t slot_candidates(struct search *search, const struct slot *slot)
{
    struct tree *window = slot_window(search, slot, false);
    uint32_t count = 0;

    if (!window)
        return 0;
    search->probes++;
    stock_seek(search->offers, window, 0, count_face, &count);
    tree_unref(window);
    return count;
}

/* Finds the slots that a member must have filled, in order; false when one of them cannot be, or there are too many. */
static bool slots_order(struct search *search, uint32_t number, struct ordered *ret, uint32_t *ret_count)
{
    const struct member *member = &search->members->items[number];
    enum fill_order order = search->by_fewest ? FILL_FEWEST : search->strategy->order;
    bool checks = search->by_fewest || (search->strategy->checks && !search->strategy->ahead);
    uint32_t count = 0, candidates = 0;

    for (uint32_t i = 0; i < member->of->slot_count; i++) {
        const struct slot *slot = &member->slots[i];
        bool may_fill, may_leave;

        if (slot->whole || slot->state != SLOT_OPEN || (number == 0 && !(search->only >> slot->port_number & 1)))
            continue;
        if (count == SEARCH_AGENDA_MAX)
            return false;
        if (checks && slot->position == 0) {
            candidates = slot_candidates(search, slot);
            slot_may(search, slot, &may_fill, &may_leave);
            if (candidates == 0 && !may_leave)
                return false;
        }
        ret[count++] = (struct ordered){i, slot->port_number, slot->position,
                                        order == FILL_LEFT    ? slot->port_number
                                        : order == FILL_RIGHT ? PORTS_MAX - slot->port_number
                                                              : candidates};
    }
    if (order != FILL_LEFT)
        qsort(ret, count, sizeof *ret, ordered_compare);
    *ret_count = count;
    return true;
}

bool agenda_insert(struct search *search, struct frame *frame, uint32_t member)
{
    uint32_t at = frame ? frame_number(search, frame) + 1 : 0, count,
             slots = search->members->items[member].of->slot_count;
    struct ordered few[16], *ordered = slots <= 16 ? few : mem_alloc(slots * sizeof *ordered);
    bool fits = slots <= SEARCH_AGENDA_MAX && slots_order(search, member, ordered, &count) &&
                search->agenda_count + count <= SEARCH_AGENDA_MAX;

    if (fits) {
        memmove(&search->agenda[at + count], &search->agenda[at], (search->agenda_count - at) * sizeof *search->agenda);
        for (uint32_t i = 0; i < count; i++)
            search->agenda[at + i] = (struct pending){member, ordered[i].slot};
        search->agenda_count += count;
        if (frame)
            frame->inserted = count;
    }
    if (ordered != few)
        free(ordered);
    return fits;
}

void agenda_remove(struct search *search, struct frame *frame)
{
    uint32_t at = frame_number(search, frame) + 1;

    search->agenda_count -= frame->inserted;
    memmove(&search->agenda[at], &search->agenda[at + frame->inserted],
            (search->agenda_count - at) * sizeof *search->agenda);
    frame->inserted = 0;
}
