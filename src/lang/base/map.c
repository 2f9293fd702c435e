/* map.c: a hash table of 64-bit keys and values. */
#include "lang/base/map.h"

#include "lang/base/mem.h"
#include "lang/base/rng.h"

#include <stdlib.h>

#define ROOM_FIRST 16

void map_init(struct map *map, uint64_t seed)
{
    *map = (struct map){.seed = seed};
}

void map_done(struct map *map)
{
    if (!map)
        return;
    free(map->slots);
    map->slots = NULL;
    map->count = map->room = 0;
}

void map_reset(struct map *map)
{
    uint64_t seed = map->seed;

    map_done(map);
    map_init(map, seed);
}

static uint32_t map_home(const struct map *map, uint64_t key)
{
    return (uint32_t)rng_mix(key ^ map->seed) & (map->room - 1);
}

/* The slot of the key, or the empty slot where it would go. */
static struct map_slot *map_slot(const struct map *map, uint64_t key)
{
    uint32_t place = map_home(map, key);

    while (map->slots[place].value != MAP_NONE && map->slots[place].key != key)
        place = (place + 1) & (map->room - 1);
    return &map->slots[place];
}

uint64_t map_find(const struct map *map, uint64_t key)
{
    return map->count ? map_slot(map, key)->value : MAP_NONE;
}

static void map_grow(struct map *map)
{
    struct map_slot *old = map->slots;
    uint32_t room = map->room;

    map->room = room ? room * 2 : ROOM_FIRST;
    map->slots = mem_alloc(map->room * sizeof *map->slots);
    for (uint32_t i = 0; i < map->room; i++)
        map->slots[i].value = MAP_NONE;
    for (uint32_t i = 0; i < room; i++)
        if (old[i].value != MAP_NONE)
            *map_slot(map, old[i].key) = old[i];
    free(old);
}

void map_set(struct map *map, uint64_t key, uint64_t value)
{
    struct map_slot *slot;

    if (map->count >= map->room - map->room / 4)
        map_grow(map);
    slot = map_slot(map, key);
    map->count += slot->value == MAP_NONE;
    *slot = (struct map_slot){key, value};
}

bool map_remove(struct map *map, uint64_t key)
{
    uint32_t mask = map->room - 1, hole, place;

    if (!map->count || map_slot(map, key)->value == MAP_NONE)
        return false;
    hole = (uint32_t)(map_slot(map, key) - map->slots);
    for (place = (hole + 1) & mask; map->slots[place].value != MAP_NONE; place = (place + 1) & mask) {
        uint32_t home = map_home(map, map->slots[place].key);

        if (((place - home) & mask) >= ((place - hole) & mask)) { /* this pair may move into the hole */
            map->slots[hole] = map->slots[place];
            hole = place;
        }
    }
    map->slots[hole].value = MAP_NONE;
    map->count--;
    return true;
}

bool map_next(const struct map *map, uint32_t *at, uint64_t *ret_key, uint64_t *ret_value)
{
    for (; *at < map->room; ++*at) {
        const struct map_slot *slot = &map->slots[*at];

        if (slot->value == MAP_NONE)
            continue;
        ++*at;
        *ret_key = slot->key;
        *ret_value = slot->value;
        return true;
    }
    return false;
}
