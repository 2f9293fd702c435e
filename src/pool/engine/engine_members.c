/* engine_members.c: ads in their order: a sorted array that shrinks at the front and grows at the end. */
#include "pool/engine/engine_members.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/engine/engine_state.h"

#include <string.h>

void engine_numbers_add(struct numbers *numbers, uint32_t number)
{
    ARRAY_ROOM(numbers->items, numbers->count, numbers->room, 16);
    numbers->items[numbers->count++] = number;
}

bool engine_member_older(const struct engine *engine, uint32_t a, uint32_t b)
{
    const struct engine_slot *x = &engine->slots[a], *y = &engine->slots[b];

    return x->order != y->order ? x->order < y->order : a < b;
}

/* Below 0: x is served before y. */
static int turn_compare(const struct engine_turn *x, const struct engine_turn *y)
{
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    if (x->submitted != y->submitted)
        return x->submitted < y->submitted ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

bool engine_member_before(const struct engine *engine, uint32_t a, uint32_t b)
{
    const struct engine_slot *x = &engine->slots[a], *y = &engine->slots[b];
    int order = 0;

    if (engine->keys && x->root)
        order = policy_key_compare(&engine->keys[a], &engine->keys[b]);
    else if (x->root && engine->policy.pull != PULL_STARVING) /* that policy goes by arrival alone */
        order = turn_compare(&x->turn, &y->turn);
    return order ? order < 0 : engine_member_older(engine, a, b);
}

uint32_t engine_members_after(const struct engine *engine, const struct engine_members *members, uint32_t id)
{
    uint32_t low = 0, high = members->count;

    if (high && engine_member_before(engine, members_at(members, high - 1), id)) /* it belongs at the end */
        return high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (engine_member_before(engine, id, members_at(members, middle)))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void members_grow(struct engine_members *members)
{
    if (members->first > members->room / 2) { /* more than half of it is empty */
        memmove(members->ids, members->ids + members->first, members->count * sizeof *members->ids);
        members->first = 0;
        return;
    }
    members->room = members->room ? members->room * 2 : 1;
    members->ids = mem_grow(members->ids, members->room * sizeof *members->ids);
}

void engine_members_add(const struct engine *engine, struct engine_members *members, uint32_t id)
{
    uint32_t place = engine_members_after(engine, members, id), *at;

    if (members->first + members->count == members->room)
        members_grow(members);
    at = members->ids + members->first + place;
    memmove(at + 1, at, (members->count - place) * sizeof *at);
    *at = id;
    members->count++;
}

uint32_t engine_members_remove(const struct engine *engine, struct engine_members *members, uint32_t id)
{
    uint32_t place = engine_members_after(engine, members, id) - 1, *at = members->ids + members->first + place;

    members->count--;
    if (place == 0)
        members->first++;
    else
        memmove(at, at + 1, (members->count - place) * sizeof *at);
    return place;
}
