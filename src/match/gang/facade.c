/* facade.c: ads by their ports, in an index. */
#include "match/gang/facade.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdlib.h>

void facade_init(struct facade *facade)
{
    *facade = (struct facade){.index = index_new(), .free = NOBODY};
}

void facade_done(struct facade *facade)
{
    if (!facade)
        return;
    for (uint32_t i = 0; i < facade->count; i++)
        tree_unref(facade->rows[i].window);
    index_free(facade->index);
    free(facade->rows);
    free(facade->first);
    *facade = (struct facade){.free = NOBODY};
}

uint32_t facade_first(const struct facade *facade, uint32_t owner)
{
    return owner < facade->owner_room ? facade->first[owner] : NOBODY;
}

static void owners_grow(struct facade *facade, uint32_t owner)
{
    uint32_t room = owner + owner / 2 + 16;

    if (owner < facade->owner_room)
        return;
    facade->first = mem_grow(facade->first, room * sizeof *facade->first);
    for (uint32_t i = facade->owner_room; i < room; i++)
        facade->first[i] = NOBODY;
    facade->owner_room = room;
}

static uint32_t row_take(struct facade *facade)
{
    uint32_t row = facade->free;

    facade->used++;
    if (row != NOBODY) {
        facade->free = facade->rows[row].next;
        return row;
    }
    ARRAY_ROOM(facade->rows, facade->count, facade->room, 16);
    return facade->count++;
}

void facade_remove(struct facade *facade, uint32_t owner)
{
    uint32_t row = facade_first(facade, owner), next;

    for (; row != NOBODY; row = next) {
        next = facade->rows[row].next;
        index_remove(facade->index, row);
        tree_unref(facade->rows[row].window);
        facade->rows[row] = (struct facade_row){.next = facade->free};
        facade->free = row;
        facade->used--;
    }
    if (owner < facade->owner_room)
        facade->first[owner] = NOBODY;
}

/* Adds a row; takes the window. */
static void row_add(struct facade *facade, const struct env *env, struct arena *scratch, uint32_t owner, uint32_t port,
                    struct tree *window)
{
    uint32_t row = row_take(facade);

    facade->rows[row] = (struct facade_row){owner, port, window, facade->first[owner]};
    facade->first[owner] = row;
    index_put(facade->index, env, scratch, row, window);
}

void facade_put(struct facade *facade, struct members *members, uint32_t owner, const struct ported *ported)
{
    uint32_t member = members_push(members, ported, 0);

    facade_remove(facade, owner);
    owners_grow(facade, owner);
    for (uint32_t port = 0; port < ported->ports.count; port++) {
        const struct slot *slot = members_slot(members, member, member_slot_of(ported, port));
        struct tree *window = window_make(members, slot, NULL, NULL, NULL);

        if (window)
            row_add(facade, members->env, members->scratch, owner, port, window);
    }
    members_pop(members);
}

void facade_put_windows(struct facade *facade, const struct env *env, struct arena *scratch, uint32_t owner,
                        struct tree *const *windows, uint32_t count, uint64_t which)
{
    facade_remove(facade, owner);
    owners_grow(facade, owner);
    for (uint32_t port = 0; port < count; port++)
        if (which >> port & 1 && windows[port])
            row_add(facade, env, scratch, owner, port, tree_ref(windows[port]));
}

bool facade_valid(const struct facade *facade, const char **ret_why)
{
    uint32_t used = 0;

    for (uint32_t owner = 0; owner < facade->owner_room; owner++) {
        for (uint32_t row = facade->first[owner]; row != NOBODY; row = facade->rows[row].next) {
            used++;
            if (facade->rows[row].owner != owner || !facade->rows[row].window) {
                *ret_why = "a port of another ad";
                return false;
            }
        }
    }
    if (used != facade->used) {
        *ret_why = "ports are miscounted";
        return false;
    }
    return index_valid(facade->index, ret_why);
}
