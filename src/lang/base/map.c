/* map.c: a hash table of 64-bit keys and values. */
#include "lang/base/map.h"

#include "lang/base/mem.h"
#include "lang/base/rng.h"

#include <stdlib.h>

#define ROOM_FIRST 16
#define ROOM_AT_ONCE 4096 /* pairs of a table with no more slots move to the next one at once */
#define RUN 2             /* bits: slots of four keys are a cache line */
#define MOVES \
    32 /* of a larger one so many slots are emptied with each change: they are all empty long before the next table is full */

void map_init(struct map *map, uint64_t seed)
{
    *map = (struct map){.seed = seed};
}

void map_init_runs(struct map *map, uint64_t seed)
{
    *map = (struct map){.seed = seed, .run = RUN};
}

void map_done(struct map *map)
{
    if (!map)
        return;
    free(map->slots);
    free(map->old);
    map->slots = map->old = NULL;
    map->count = map->room = 0;
}

void map_reset(struct map *map)
{
    struct map empty = {.seed = map->seed, .run = map->run};

    map_done(map);
    *map = empty;
}

static uint32_t home_of(const struct map *map, uint32_t room, uint64_t key)
{
    uint64_t in_run = key & ((UINT64_C(1) << map->run) - 1);

    return (uint32_t)(rng_mix((key >> map->run) ^ map->seed) << map->run | in_run) & (room - 1);
}

/* The slot of the key in one of the two tables, or the empty slot where it would go. */
static struct map_slot *slot_of(const struct map *map, struct map_slot *slots, uint32_t room, uint64_t key)
{
    uint32_t place = home_of(map, room, key);

    while (slots[place].next_value && slots[place].key != key)
        place = (place + 1) & (room - 1);
    return &slots[place];
}

static uint32_t old_room(const struct map *map)
{
    return map->old ? map->room / 2 : 0;
}

uint64_t map_find(const struct map *map, uint64_t key)
{
    uint64_t next_value;

    if (!map->count)
        return MAP_NONE;
    next_value = slot_of(map, map->slots, map->room, key)->next_value;
    if (!next_value && map->old)
        next_value = slot_of(map, map->old, old_room(map), key)->next_value;
    return next_value - 1;
}

/* Empties some slots of the table before, up to one that was empty: so a run of pairs goes as a whole, from its end, and all that stay can be found. */
static void map_move(struct map *map, uint32_t slots)
{
    uint32_t room = old_room(map), end = room - map->moved > slots ? map->moved + slots : room;

    while (end < room && map->old[end].next_value)
        end++;
    for (uint32_t i = end; i-- > map->moved;) {
        struct map_slot *slot = &map->old[i];

        if (!slot->next_value)
            continue;
        *slot_of(map, map->slots, map->room, slot->key) = *slot;
        slot->next_value = 0;
    }
    map->moved = end;
    if (end < room)
        return;
    free(map->old);
    map->old = NULL;
}

static void map_grow(struct map *map)
{
    map->old = map->slots;
    map->room = map->room ? map->room * 2 : ROOM_FIRST;
    map->moved = 0;
    map->slots = mem_alloc_zeros(map->room, sizeof *map->slots);
    if (old_room(map) <= ROOM_AT_ONCE && map->old)
        map_move(map, ROOM_AT_ONCE);
}

void map_set(struct map *map, uint64_t key, uint64_t value)
{
    struct map_slot *slot = NULL;

    if (map->old)
        map_move(map, MOVES);
    if (map->count >= map->room - map->room / 4)
        map_grow(map);
    if (map->old)
        slot = slot_of(map, map->old, old_room(map), key);
    if (!slot || !slot->next_value)
        slot = slot_of(map, map->slots, map->room, key);
    map->count += !slot->next_value;
    *slot = (struct map_slot){key, value + 1};
}

/* Takes the pair out of one of the two tables, if it is there. */
static bool table_remove(const struct map *map, struct map_slot *slots, uint32_t room, uint64_t key)
{
    uint32_t mask = room - 1, hole, place;
    const struct map_slot *slot = slot_of(map, slots, room, key);

    if (!slot->next_value)
        return false;
    hole = (uint32_t)(slot - slots);
    for (place = (hole + 1) & mask; slots[place].next_value; place = (place + 1) & mask) {
        uint32_t home = home_of(map, room, slots[place].key);

        if (((place - home) & mask) >= ((place - hole) & mask)) { /* this pair may move into the hole */
            slots[hole] = slots[place];
            hole = place;
        }
    }
    slots[hole].next_value = 0;
    return true;
}

bool map_remove(struct map *map, uint64_t key)
{
    if (!map->count)
        return false;
    if (map->old)
        map_move(map, MOVES);
    if (!table_remove(map, map->slots, map->room, key) &&
        !(map->old && table_remove(map, map->old, old_room(map), key)))
        return false;
    map->count--;
    return true;
}

bool map_next(const struct map *map, uint32_t *at, uint64_t *ret_key, uint64_t *ret_value)
{
    for (; *at < map->room + old_room(map); ++*at) {
        const struct map_slot *slot = *at < map->room ? &map->slots[*at] : &map->old[*at - map->room];

        if (!slot->next_value)
            continue;
        ++*at;
        *ret_key = slot->key;
        *ret_value = slot->next_value - 1;
        return true;
    }
    return false;
}
