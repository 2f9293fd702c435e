/* distinct.c: the values that an attribute has in many ads, each with a number. */
#include "match/pair/distinct.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 64
#define SEARCH_MAX \
    64 /* slots: more are in a row only where somebody has chosen values for that; those get no numbers */

void distinct_done(struct distinct *distinct)
{
    free(distinct->items);
    free(distinct->slots);
    free(distinct->text);
    *distinct = (struct distinct){0};
}

size_t distinct_bytes(const struct distinct *distinct)
{
    return distinct->room * sizeof *distinct->items + distinct->slot_count * sizeof *distinct->slots +
           distinct->text_room;
}

/* --------------------------------------------------------------------------------------------------- what a value is */

/* A value as bytes. */
struct spelt {
    char bytes[DISTINCT_BYTES_MAX];
    uint32_t len;
};

static bool spelt_add(struct spelt *spelt, const void *bytes, uint32_t len)
{
    if (len > DISTINCT_BYTES_MAX - spelt->len)
        return false;
    if (len)
        memcpy(spelt->bytes + spelt->len, bytes, len);
    spelt->len += len;
    return true;
}

static bool spelt_literal(struct spelt *spelt, const struct tree *ad, const struct expr *e)
{
    int16_t small = e->kind == EXPR_BOOLEAN || e->kind == EXPR_ABSTIME ? e->small : 0;
    uint32_t len = e->u.run.count;

    if (!spelt_add(spelt, &e->kind, sizeof e->kind) || !spelt_add(spelt, &small, sizeof small))
        return false;
    if (e->kind == EXPR_STRING)
        return spelt_add(spelt, &len, sizeof len) && spelt_add(spelt, tree_string(ad, e), len);
    return e->kind <= EXPR_BOOLEAN || spelt_add(spelt, &e->u.integer, sizeof e->u.integer);
}

/* A list prints as it was written, in the dialect of its ad. */
static bool spelt_list(struct spelt *spelt, const struct tree *ad, const struct expr *e)
{
    const struct expr *parts = tree_parts(ad, e);

    if (!spelt_add(spelt, &e->kind, sizeof e->kind) || !spelt_add(spelt, &ad->dialect->bit, sizeof ad->dialect->bit) ||
        !spelt_add(spelt, &e->flags, sizeof e->flags))
        return false;
    for (uint32_t i = 0; i < e->u.run.count; i++)
        if (!expr_is_literal(&parts[i]) || !spelt_add(spelt, &parts[i].flags, sizeof parts[i].flags) ||
            !spelt_literal(spelt, ad, &parts[i]))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ numbers */

static uint64_t spelt_hash(const struct spelt *spelt)
{
    uint64_t hash = spelt->len, word;
    uint32_t at = 0;

    for (; spelt->len - at >= sizeof word; at += sizeof word) {
        memcpy(&word, spelt->bytes + at, sizeof word);
        hash = rng_mix(hash ^ word);
    }
    word = 0;
    memcpy(&word, spelt->bytes + at, spelt->len - at);
    return rng_mix(hash ^ word);
}

static void slots_grow(struct distinct *distinct)
{
    uint32_t count = distinct->slot_count ? distinct->slot_count * 2 : SLOTS_FIRST;

    distinct->slots = mem_grow(distinct->slots, count * sizeof *distinct->slots);
    memset(distinct->slots, 0, count * sizeof *distinct->slots);
    distinct->slot_count = count;
    for (uint32_t i = 0; i < distinct->count; i++) {
        uint32_t slot = (uint32_t)distinct->items[i].hash & (count - 1);

        while (distinct->slots[slot])
            slot = (slot + 1) & (count - 1);
        distinct->slots[slot] = i + 1;
    }
}

static uint32_t number_make(struct distinct *distinct, const struct spelt *spelt, uint64_t hash, uint32_t slot)
{
    ARRAY_ROOM(distinct->items, distinct->count, distinct->room, 16);
    if (distinct->text_room - distinct->text_len < spelt->len) {
        distinct->text_room = (distinct->text_room + spelt->len) * 2;
        distinct->text = mem_grow(distinct->text, distinct->text_room);
    }
    memcpy(distinct->text + distinct->text_len, spelt->bytes, spelt->len);
    distinct->items[distinct->count++] = (struct distinct_item){hash, distinct->text_len, spelt->len};
    distinct->text_len += spelt->len;
    distinct->slots[slot] = distinct->count;
    return distinct->count;
}

uint32_t distinct_number(struct distinct *distinct, const struct tree *ad, const struct expr *value)
{
    struct spelt spelt;
    uint64_t hash;
    uint32_t slot, searched = 0;

    if (!value)
        return DISTINCT_ABSENT;
    spelt.len = 0;
    if (!(expr_is_literal(value)     ? spelt_literal(&spelt, ad, value)
          : value->kind == EXPR_LIST ? spelt_list(&spelt, ad, value)
                                     : false))
        return DISTINCT_NONE;
    if (distinct->count * 2 >= distinct->slot_count)
        slots_grow(distinct);
    hash = spelt_hash(&spelt);
    for (slot = (uint32_t)hash & (distinct->slot_count - 1); distinct->slots[slot];
         slot = (slot + 1) & (distinct->slot_count - 1)) {
        uint32_t number = distinct->slots[slot];
        const struct distinct_item *item = &distinct->items[number - 1];

        if (item->hash == hash && item->len == spelt.len &&
            memcmp(distinct->text + item->at, spelt.bytes, spelt.len) == 0)
            return number;
        if (++searched == SEARCH_MAX)
            return DISTINCT_NONE;
    }
    return number_make(distinct, &spelt, hash, slot);
}
