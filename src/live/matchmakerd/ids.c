/* ids.c: the ids of ads, and the agents they belong to. */
#include "live/matchmakerd/ids.h"

#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "sys/encoding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HANDLE_LEN 17 /* sixteen digits and a colon */
#define WHOLE_MAX (ID_UNIQUE_MAX + 1)

void ids_init(struct ids *ids, uint64_t seed)
{
    *ids = (struct ids){0};
    textmap_init(&ids->texts, seed);
    map_init(&ids->numbers, seed);
    map_init(&ids->bare, seed);
}

void ids_done(struct ids *ids)
{
    if (!ids)
        return;
    textmap_done(&ids->texts);
    map_done(&ids->numbers);
    map_done(&ids->bare);
    free(ids->items);
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

/* HANDLE:ID */
static size_t whole_text(uint64_t who, const char *text, size_t len, char out[WHOLE_MAX])
{
    snprintf(out, WHOLE_MAX, "%016" PRIx64 ":", who);
    memcpy(out + HANDLE_LEN, text, len);
    return HANDLE_LEN + len;
}

uint32_t ids_find(const struct ids *ids, uint64_t who, const char *text, size_t len)
{
    char whole[WHOLE_MAX];

    return len > ID_LEN_MAX ? TEXTMAP_NONE : textmap_find(&ids->texts, whole, whole_text(who, text, len, whole));
}

const char *ids_text(const struct ids *ids, uint32_t place)
{
    return textmap_text(&ids->texts, place) + HANDLE_LEN;
}

static uint64_t bare_key(const struct ids *ids, const char *text, size_t len)
{
    return text_hash(ids->bare.seed, text, len);
}

static uint32_t bare_first(const struct ids *ids, uint64_t key)
{
    uint64_t found = map_find(&ids->bare, key);

    return found == MAP_NONE ? TEXTMAP_NONE : (uint32_t)found;
}

uint32_t ids_next(const struct ids *ids, const char *text, size_t len, uint32_t before)
{
    uint32_t at = before == TEXTMAP_NONE ? textmap_find(&ids->texts, text, len) : TEXTMAP_NONE;

    if (at != TEXTMAP_NONE)
        return at;
    if (before != TEXTMAP_NONE && strlen(ids_text(ids, before)) != len) /* the text was HANDLE:ID */
        return TEXTMAP_NONE;
    at = before == TEXTMAP_NONE ? bare_first(ids, bare_key(ids, text, len)) : ids->items[before].alike;
    while (at != TEXTMAP_NONE && (strlen(ids_text(ids, at)) != len || memcmp(ids_text(ids, at), text, len) != 0))
        at = ids->items[at].alike;
    return at;
}

const char *ids_unique(const struct ids *ids, uint32_t place)
{
    const char *text = ids_text(ids, place);
    uint32_t first = bare_first(ids, bare_key(ids, text, strlen(text)));

    for (; first != TEXTMAP_NONE; first = ids->items[first].alike)
        if (first != place && !strcmp(ids_text(ids, first), text))
            return textmap_text(&ids->texts, place);
    return text;
}

static void bare_add(struct ids *ids, uint32_t place, uint64_t key, bool first)
{
    uint32_t head = bare_first(ids, key), before = first ? TEXTMAP_NONE : head;
    uint32_t next = before == TEXTMAP_NONE ? head : ids->items[before].alike;

    ids->items[place].unlike = before;
    ids->items[place].alike = next;
    if (next != TEXTMAP_NONE)
        ids->items[next].unlike = place;
    if (before == TEXTMAP_NONE)
        map_set(&ids->bare, key, place);
    else
        ids->items[before].alike = place;
}

static void bare_remove(struct ids *ids, uint32_t place, uint64_t key)
{
    uint32_t before = ids->items[place].unlike, next = ids->items[place].alike;

    if (next != TEXTMAP_NONE)
        ids->items[next].unlike = before;
    if (before != TEXTMAP_NONE)
        ids->items[before].alike = next;
    else if (next != TEXTMAP_NONE)
        map_set(&ids->bare, key, next);
    else
        map_remove(&ids->bare, key);
}

uint32_t ids_find_number(const struct ids *ids, uint64_t who, uint64_t id)
{
    uint32_t at = number_first(ids, number_key(ids, who, id));

    while (at != TEXTMAP_NONE && (ids->items[at].agent != who || ids->items[at].id != id))
        at = ids->items[at].next;
    return at;
}

uint32_t ids_add(struct ids *ids, const char *text, size_t len, uint64_t who, uint32_t account, bool first)
{
    char whole[WHOLE_MAX];
    uint32_t place = textmap_add(&ids->texts, whole, whole_text(who, text, len, whole));
    uint64_t id = id_number(text, len), key = number_key(ids, who, id);

    if (place >= ids->room) {
        ids->room = ids->texts.room;
        ids->items = mem_grow(ids->items, ids->room * sizeof *ids->items);
    }
    ids->items[place] = (struct ad_id){.agent = who, .id = id, .account = account, .next = number_first(ids, key)};
    map_set(&ids->numbers, key, place);
    bare_add(ids, place, bare_key(ids, text, len), first);
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
    bare_remove(ids, place, bare_key(ids, ids_text(ids, place), strlen(ids_text(ids, place))));
    textmap_remove(&ids->texts, place);
}
