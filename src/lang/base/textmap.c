/* textmap.c: texts as small numbers. */
#include "lang/base/textmap.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"

#include <stdlib.h>
#include <string.h>

uint64_t text_hash(uint64_t seed, const char *text, size_t len)
{
    uint64_t hash = rng_mix(seed ^ len), word;

    for (; len >= 8; text += 8, len -= 8) {
        memcpy(&word, text, 8);
        hash = rng_mix(hash ^ word);
    }
    word = 0;
    if (len)
        memcpy(&word, text, len);
    return rng_mix(hash ^ word);
}

void textmap_init(struct textmap *map, uint64_t seed)
{
    *map = (struct textmap){.free = TEXTMAP_NONE};
    map_init(&map->hashes, seed);
}

void textmap_done(struct textmap *map)
{
    if (!map)
        return;
    for (uint32_t i = 0; i < map->places; i++)
        free(map->items[i].text);
    free(map->items);
    map_done(&map->hashes);
}

static uint32_t first_of(const struct textmap *map, uint64_t hash)
{
    uint64_t found = map_find(&map->hashes, hash);

    return found == MAP_NONE ? TEXTMAP_NONE : (uint32_t)found;
}

static bool item_is(const struct textmap_item *item, const char *text, size_t len)
{
    return item->len == len && (!len || memcmp(item->text, text, len) == 0);
}

uint32_t textmap_find(const struct textmap *map, const char *text, size_t len)
{
    uint32_t at = first_of(map, text_hash(map->hashes.seed, text, len));

    while (at != TEXTMAP_NONE && !item_is(&map->items[at], text, len))
        at = map->items[at].next;
    return at;
}

uint32_t textmap_add(struct textmap *map, const char *text, size_t len)
{
    uint64_t hash = text_hash(map->hashes.seed, text, len);
    uint32_t place = textmap_find(map, text, len);

    if (place != TEXTMAP_NONE)
        return place;
    place = map->free;
    if (place != TEXTMAP_NONE) {
        map->free = map->items[place].next;
    } else {
        ARRAY_ROOM(map->items, map->places, map->room, 64);
        place = map->places++;
    }
    map->items[place] =
        (struct textmap_item){.text = mem_dup(text, len), .len = (uint32_t)len, .next = first_of(map, hash)};
    map_set(&map->hashes, hash, place);
    map->count++;
    return place;
}

void textmap_remove(struct textmap *map, uint32_t place)
{
    struct textmap_item *item = &map->items[place];
    uint64_t hash = text_hash(map->hashes.seed, item->text, item->len);
    uint32_t at = first_of(map, hash);

    if (at != place) {
        while (map->items[at].next != place)
            at = map->items[at].next;
        map->items[at].next = item->next;
    } else if (item->next == TEXTMAP_NONE) {
        map_remove(&map->hashes, hash);
    } else {
        map_set(&map->hashes, hash, item->next);
    }
    free(item->text);
    *item = (struct textmap_item){.next = map->free};
    map->free = place;
    map->count--;
}
