/* textmap.h: texts as small numbers: each text has a place, which it keeps until it is taken out.
 *
 *     map: hash of the text -> the first place of that hash -> next -> ...
 *
 * Places begin at 0 and are used again, so the owner can use them as places in arrays of its own. Where strangers choose the
 * texts, the seed makes the hash unguessable. */
#ifndef BERTH_LANG_BASE_TEXTMAP_H
#define BERTH_LANG_BASE_TEXTMAP_H

#include "lang/base/map.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TEXTMAP_NONE UINT32_MAX

struct textmap_item {
    char *text; /* NUL-terminated; NULL: the place is free */
    uint32_t len;
    uint32_t next; /* the next item with the same hash; or the next free place */
};

struct textmap {
    struct map hashes;
    struct textmap_item *items;
    uint32_t places; /* all places lie below this one */
    uint32_t room, free, count;
};

void textmap_init(struct textmap *map, uint64_t seed);
void textmap_done(struct textmap *map);

uint32_t textmap_find(const struct textmap *map, const char *text, size_t len); /* TEXTMAP_NONE: not there */
uint32_t textmap_add(struct textmap *map, const char *text,
                     size_t len); /* the text's place; the one that it had if it was there already */
void textmap_remove(struct textmap *map, uint32_t place);

/* NULL when no text has that place. */
static inline const char *textmap_text(const struct textmap *map, uint32_t place)
{
    return place < map->places ? map->items[place].text : NULL;
}

/* The hash of these bytes. With the seed 0 anybody can compute it. */
uint64_t text_hash(uint64_t seed, const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
