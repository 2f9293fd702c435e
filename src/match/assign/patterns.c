/* patterns.c: the pool of patterns, each once. */
#include "match/assign/patterns.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"

#include <stdlib.h>
#include <string.h>

void patterns_init(struct patterns *patterns)
{
    *patterns = (struct patterns){0};
}

void patterns_done(struct patterns *patterns)
{
    if (!patterns)
        return;
    free(patterns->items);
    free(patterns->parts);
    free(patterns->slots);
    patterns_init(patterns);
}

static uint64_t parts_hash(uint32_t shelf, const struct pattern_part *parts, uint32_t count)
{
    uint64_t hash = rng_mix(shelf);

    for (uint32_t i = 0; i < count; i++)
        hash = rng_mix(hash ^ ((uint64_t)parts[i].group << 32 | parts[i].count));
    return hash;
}

static void slots_grow(struct patterns *patterns)
{
    uint32_t room = patterns->slot_room ? patterns->slot_room * 2 : 1024;

    free(patterns->slots);
    patterns->slots = mem_alloc(room * sizeof *patterns->slots);
    memset(patterns->slots, 0, room * sizeof *patterns->slots);
    patterns->slot_room = room;
    for (uint32_t i = 0; i < patterns->count; i++) {
        const struct pattern *at = &patterns->items[i];
        uint32_t slot = (uint32_t)parts_hash(at->shelf, patterns->parts + at->first, at->count) & (room - 1);

        while (patterns->slots[slot])
            slot = (slot + 1) & (room - 1);
        patterns->slots[slot] = i + 1;
    }
}

static void room_make(struct patterns *patterns, uint32_t parts)
{
    ARRAY_ROOM(patterns->items, patterns->count, patterns->room, 512);
    while (patterns->part_count + parts > patterns->part_room) {
        patterns->part_room = patterns->part_room ? patterns->part_room * 2 : 4096;
        patterns->parts = mem_grow(patterns->parts, patterns->part_room * sizeof *patterns->parts);
    }
    if ((patterns->count + 1) * 2 > patterns->slot_room)
        slots_grow(patterns);
}

bool patterns_add(struct patterns *patterns, uint32_t shelf, const struct pattern_part *parts, uint32_t count,
                  double value)
{
    uint32_t slot;

    if (count == 0 || patterns->count == PATTERNS_MAX || patterns->part_count + count > PATTERN_PARTS_MAX)
        return false;
    room_make(patterns, count);
    slot = (uint32_t)parts_hash(shelf, parts, count) & (patterns->slot_room - 1);
    for (; patterns->slots[slot]; slot = (slot + 1) & (patterns->slot_room - 1)) {
        const struct pattern *at = &patterns->items[patterns->slots[slot] - 1];

        if (at->shelf == shelf && at->count == count &&
            memcmp(patterns->parts + at->first, parts, count * sizeof *parts) == 0)
            return false;
    }
    patterns->items[patterns->count++] = (struct pattern){shelf, patterns->part_count, count, value};
    patterns->slots[slot] = patterns->count;
    memcpy(patterns->parts + patterns->part_count, parts, count * sizeof *parts);
    patterns->part_count += count;
    return true;
}
