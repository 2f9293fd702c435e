/* map.h: a hash table of 64-bit keys and values.
 *
 *     slots:  [key value] [-] [key value] ...      a power of two of them, at most three quarters full; linear probing
 *     old:    [-] [-] [-] [key value] ...          the half as large table before: those below `moved` are empty
 *
 * No change takes long, however large the map is: when it has become full, a table of twice the size takes its place, and each later change
 * moves some pairs there. Until all have moved, a key is in one of the two tables, never in both. What is cleared is the system's
 * work, page by page: so an empty slot is all zeros, and a value is kept as the one next to it.
 *
 * Removing a pair closes its slot by moving back the pairs behind it, so removed pairs leave no marks. Where
 * strangers choose the keys, the seed makes the places unguessable. */
#ifndef BERTH_LANG_BASE_MAP_H
#define BERTH_LANG_BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MAP_NONE UINT64_MAX /* stands for no value; so it cannot be a value */

struct map_slot {
    uint64_t key, next_value; /* value + 1; 0: the slot is empty */
};

struct map {
    struct map_slot *slots, *old; /* old: NULL when all pairs have moved */
    uint32_t count, room;         /* count: in both; room: of `slots`, 0 or a power of two */
    uint32_t moved;
    uint32_t run; /* bits: keys that differ in no others lie side by side */
    uint64_t seed;
};

void map_init(struct map *map, uint64_t seed);
void map_init_runs(
    struct map *map,
    uint64_t seed); /* for keys that are mostly looked for one after another: four of them lie side by side */
void map_done(struct map *map);
void map_reset(struct map *map); /* empties the map */

uint64_t map_find(const struct map *map, uint64_t key);      /* MAP_NONE when the key is not there */
void map_set(struct map *map, uint64_t key, uint64_t value); /* replaces the value that the key had */
bool map_remove(struct map *map, uint64_t key);              /* false when the key was not there */

static inline uint32_t map_count(const struct map *map)
{
    return map->count;
}

/* The next pair from place *at on (0 at first), in no order; false when there are no more. The map must not change meanwhile. */
bool map_next(const struct map *map, uint32_t *at, uint64_t *ret_key, uint64_t *ret_value);

#ifdef __cplusplus
}
#endif
#endif
