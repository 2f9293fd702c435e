/* ids.c: the ids by which ads are called, and whose they are. */
#include "net/ids.h"

#include "base/mem.h"
#include "base/rng.h"
#include "net/codes.h"

#include <stdlib.h>
#include <string.h>

void ids_init(struct ids *ids, uint64_t seed)
{
    *ids = (struct ids){0};
    textmap_init(&ids->texts, seed);
    map_init(&ids->numbers, seed);
}

void ids_done(struct ids *ids)
{
    if (!ids)
        return;
    textmap_done(&ids->texts);
    map_done(&ids->numbers);
    free(ids->items);
}

uint64_t id_number(const char *text, size_t len)
{
    unsigned char bytes[8];
    uint64_t number = 0;

    if (!hex_read(text, len, bytes, sizeof bytes))
        return text_hash(0, text, len);
    for (int i = 0; i < 8; i++)
        number = number << 8 | bytes[i];
    return number;
}

bool id_is_good(const char *text, size_t len)
{
    if (!len || len > ID_LEN_MAX || (len == 1 && *text == '.'))
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 0x7f || strchr("/\\\"<>", text[i]))
            return false;
    return true;
}

static uint64_t number_key(const struct ids *ids, uint64_t who, uint64_t id)
{
    return rng_mix(who ^ ids->numbers.seed) + id;
}

static uint32_t number_first(const struct ids *ids, uint64_t key)
{
    uint64_t found = map_find(&ids->numbers, key);

    return found == MAP_NONE ? TEXTMAP_NONE : (uint32_t)found;
}

uint32_t ids_find(const struct ids *ids, const char *text, size_t len)
{
    return textmap_find(&ids->texts, text, len);
}

uint32_t ids_find_number(const struct ids *ids, uint64_t who, uint64_t id)
{
    uint32_t at = number_first(ids, number_key(ids, who, id));

    while (at != TEXTMAP_NONE && (ids->items[at].agent != who || ids->items[at].id != id))
        at = ids->items[at].next;
    return at;
}

uint32_t ids_add(struct ids *ids, const char *text, size_t len, uint64_t who, uint32_t account)
{
    uint32_t place = textmap_add(&ids->texts, text, len);
    uint64_t id = id_number(text, len), key = number_key(ids, who, id);

    if (place >= ids->room) {
        ids->room = ids->texts.room;
        ids->items = mem_grow(ids->items, ids->room * sizeof *ids->items);
    }
    ids->items[place] = (struct ad_id){.agent = who, .id = id, .account = account, .next = number_first(ids, key)};
    map_set(&ids->numbers, key, place);
    return place;
}

void ids_remove(struct ids *ids, uint32_t place)
{
    const struct ad_id *ad = &ids->items[place];
    uint64_t key = number_key(ids, ad->agent, ad->id);
    uint32_t at = number_first(ids, key);

    if (at != place) {
        while (ids->items[at].next != place)
            at = ids->items[at].next;
        ids->items[at].next = ad->next;
    } else if (ad->next == TEXTMAP_NONE) {
        map_remove(&ids->numbers, key);
    } else {
        map_set(&ids->numbers, key, ad->next);
    }
    textmap_remove(&ids->texts, place);
}
