/* best.c: which of two gangs is the better one: the choices are compared one after the other, from the left (gang.h). */
#include "match/gang/search_parts.h"

#include "match/pair/order.h"

#include <string.h>

/* The choices of a gang as it stands, in order. */
struct choices {
    struct search *search;
    struct arena *arena;
    struct choice *items;
    uint32_t count, room;
    bool open;      /* the next choice is not known yet */
    bool discarded; /* a docking vector is discarded */
};

static struct choice *choice_add(struct choices *choices)
{
    if (choices->count == choices->room) {
        uint32_t room = choices->room ? choices->room * 2 : 16;
        struct choice *items = arena_alloc(choices->arena, room * sizeof *items);

        if (choices->count)
            memcpy(items, choices->items, choices->count * sizeof *items);
        choices->items = items;
        choices->room = room;
    }
    choices->items[choices->count] = (struct choice){0};
    return &choices->items[choices->count++];
}

static void choice_vector(struct choices *choices, struct choice *choice, const struct slot *slot)
{
    bool open;

    choice->count = members_vector(choices->search->members, slot, choices->arena, &choice->vector, &open);
    if (!choice->count)
        choices->discarded = true;
    if (open) {
        choices->open = true;
        choices->count--;
    }
}

static void member_choices(struct choices *choices, uint32_t number);

static void slot_choice(struct choices *choices, const struct slot *slot, bool by_set)
{
    const struct members *members = choices->search->members;
    struct choice *choice;

    if (slot->state == SLOT_OPEN) {
        choices->open = true;
        return;
    }
    choice = choice_add(choices);
    choice->filled = slot->state == SLOT_FILLED;
    if (!choice->filled)
        return;
    choice->place = members->items[slot->docked].place;
    choice->link = members_slot(members, slot->docked, slot->docked_slot)->port_number;
    if (!by_set)
        choice_vector(choices, choice, slot);
    if (!choices->open && !choices->discarded)
        member_choices(choices, slot->docked);
}

static void member_choices(struct choices *choices, uint32_t number)
{
    const struct member *member = &choices->search->members->items[number];

    for (uint32_t i = 0; i < member->of->slot_count && !choices->open && !choices->discarded; i++) {
        const struct slot *slot = &member->slots[i];
        const struct port *port = slot_port(choices->search, slot);
        bool by_set = port->set && port_ranks_set(&member->of->ports, slot->port_number);

        if (slot->whole || (number && i == member->link))
            continue;
        if (by_set && slot->position == 0) { /* the rank of the whole comes first */
            const struct slot *whole = slot + port->max;

            if (whole->state == SLOT_OPEN) {
                choices->open = true;
                return;
            }
            choice_add(choices)->filled = whole->state == SLOT_FILLED;
            if (whole->state == SLOT_FILLED)
                choice_vector(choices, &choices->items[choices->count - 1], whole);
            if (choices->open || choices->discarded)
                return;
        }
        slot_choice(choices, slot, by_set);
    }
}

static int choice_compare(const struct stock *offers, const struct choice *a, const struct choice *b)
{
    if (a->filled != b->filled)
        return a->filled ? 1 : -1;
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        int order = order_compare(&a->vector[i], &b->vector[i]);

        if (order)
            return order;
    }
    if (a->place != b->place)
        return stock_place_before(offers, a->place, b->place) ? 1 : -1;
    return a->link == b->link ? 0 : a->link < b->link ? 1 : -1;
}

static int choices_compare(const struct choices *choices)
{
    const struct search *search = choices->search;

    for (uint32_t i = 0; i < choices->count && i < search->best_choice_count; i++) {
        int order = choice_compare(search->offers, &choices->items[i], &search->best_choices[i]);

        if (order)
            return order;
    }
    return 0;
}

int gang_compare(struct search *search)
{
    struct arena *arena = &search->best_arenas[1 - search->best_arena];
    struct choices choices = {.search = search, .arena = arena};

    arena_reset(arena);
    member_choices(&choices, 0);
    return choices.discarded ? -1 : choices_compare(&choices);
}

/* Writes the gang down in the order of choice. */
static void gang_write(struct search *search, uint32_t number, uint32_t as)
{
    const struct member *member = &search->members->items[number];

    for (uint32_t i = 0; i < member->of->slot_count; i++) {
        const struct slot *slot = &member->slots[i];
        const struct member *child;

        if (slot->whole || slot->state != SLOT_FILLED || (number && i == member->link))
            continue;
        child = &search->members->items[slot->docked];
        search->best[search->best_count] =
            (struct gang_member){child->place, as, slot->port_number, child->slots[child->link].port_number};
        gang_write(search, slot->docked, search->best_count++);
    }
}

bool gang_offer(struct search *search)
{
    struct arena *arena = &search->best_arenas[1 - search->best_arena];
    struct choices choices = {.search = search, .arena = arena};

    if (search->preferences) {
        arena_reset(arena);
        member_choices(&choices, 0);
        if (choices.discarded)
            return false;
        if (search->best_count && choices_compare(&choices) <= 0)
            return true;
        search->best_choices = choices.items;
        search->best_choice_count = choices.count;
        search->best_arena = 1 - search->best_arena;
    }
    search->best[0] = (struct gang_member){search->members->items[0].place, 0, 0, 0};
    search->best_count = 1;
    gang_write(search, 0, 0);
    return true;
}
