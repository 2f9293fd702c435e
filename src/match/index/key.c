/* key.c: values as an index orders them. */
#include "match/index/key.h"

#include "lang/ad/names.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct key_string {
    uint64_t hash;
    size_t at; /* in the text */
    uint32_t len;
};

enum attribute_state attribute_find(const struct tree *ad, struct attribute attribute, const struct expr **ret)
{
    const struct expr *root = tree_root(ad), *found = tree_find(ad, root, attribute.name);

    if (found && attribute.then != SYMBOL_NONE) {
        switch (found->kind) {
        case EXPR_AD: /* in that ad, or further out */
            if (symbol_name(attribute.then) <= NAME_NUMBER_TARGET)
                return ATTRIBUTE_UNKNOWN;
            found = tree_find(ad, found, attribute.then);
            if (!found)
                found = tree_find(ad, root, attribute.then);
            break;
        case EXPR_UNDEFINED:
            return ATTRIBUTE_MISSING;
        case EXPR_LIST:
            return ATTRIBUTE_UNKNOWN;
        default:
            return expr_is_literal(found) ? ATTRIBUTE_WRONG : ATTRIBUTE_UNKNOWN;
        }
    }
    if (!found || found->kind == EXPR_UNDEFINED)
        return ATTRIBUTE_MISSING;
    if (found->kind == EXPR_ERROR)
        return ATTRIBUTE_WRONG;
    if (found->kind > EXPR_AD)
        return ATTRIBUTE_UNKNOWN;
    *ret = found;
    return ATTRIBUTE_THERE;
}

bool key_of(const struct tree *tree, const struct expr *literal, bool counts, struct index_key *ret)
{
    const int64_t exact = (int64_t)1 << 53;

    ret->string = NULL;
    ret->len = 0;
    switch (literal->kind) {
    case EXPR_BOOLEAN:
        ret->kind = counts ? KEY_NUMBER : KEY_BOOLEAN;
        ret->number = literal->small & 1;
        return true;
    case EXPR_REAL:
        ret->kind = KEY_NUMBER;
        ret->number = literal->u.real;
        return !isnan(literal->u.real);
    case EXPR_INTEGER:
    case EXPR_ABSTIME:
    case EXPR_RELTIME:
        ret->kind = literal->kind == EXPR_INTEGER   ? KEY_NUMBER
                    : literal->kind == EXPR_ABSTIME ? KEY_ABSTIME
                                                    : KEY_RELTIME;
        ret->number = (double)literal->u.integer;
        return literal->u.integer > -exact && literal->u.integer < exact;
    case EXPR_STRING:
        ret->kind = KEY_STRING;
        ret->number = 0;
        ret->string = tree_string(tree, literal);
        ret->len = literal->u.run.count;
        return ret->len <= KEY_STRING_MAX;
    default:
        return false;
    }
}

void key_strings_init(struct key_strings *strings)
{
    *strings = (struct key_strings){.slot_count = 64};
    strings->slots = mem_alloc(strings->slot_count * sizeof *strings->slots);
    memset(strings->slots, 0, strings->slot_count * sizeof *strings->slots);
}

void key_strings_done(struct key_strings *strings)
{
    free(strings->items);
    free(strings->slots);
    free(strings->text);
    *strings = (struct key_strings){0};
}

static inline char fold(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static uint64_t text_hash(const char *text, uint32_t len)
{
    uint64_t hash = len;

    for (uint32_t i = 0; i < len; i++)
        hash = hash * 0x100000001b3u ^ (unsigned char)fold(text[i]);
    return rng_mix(hash);
}

uint64_t key_hash(const struct index_key *key)
{
    double number = key->number == 0 ? 0 : key->number; /* one zero */
    uint64_t bits;

    if (key->kind == KEY_STRING)
        return text_hash(key->string, key->len);
    memcpy(&bits, &number, sizeof bits);
    return rng_mix(bits + key->kind);
}

static bool text_is(const struct key_strings *strings, const struct key_string *item, const char *text, uint32_t len)
{
    const char *have = strings->text + item->at;

    if (item->len != len)
        return false;
    for (uint32_t i = 0; i < len; i++)
        if (have[i] != fold(text[i]))
            return false;
    return true;
}

/* The slot where the string is, or would be. */
static uint32_t find_slot(const struct key_strings *strings, uint64_t hash, const char *text, uint32_t len)
{
    uint32_t slot = (uint32_t)hash & (strings->slot_count - 1);

    for (; strings->slots[slot]; slot = (slot + 1) & (strings->slot_count - 1)) {
        const struct key_string *item = &strings->items[strings->slots[slot] - 1];

        if (item->hash == hash && text_is(strings, item, text, len))
            break;
    }
    return slot;
}

uint32_t key_strings_find(const struct key_strings *strings, const char *text, uint32_t len)
{
    uint32_t slot = find_slot(strings, text_hash(text, len), text, len);

    return strings->slots[slot] ? strings->slots[slot] - 1 : KEY_STRING_NONE;
}

bool key_strings_text(const struct key_strings *strings, double number, const char **ret_text, uint32_t *ret_len)
{
    if (!(number >= 0 && number < strings->count))
        return false;
    *ret_text = strings->text + strings->items[(uint32_t)number].at;
    *ret_len = strings->items[(uint32_t)number].len;
    return true;
}

static void slots_grow(struct key_strings *strings)
{
    strings->slot_count *= 2;
    strings->slots = mem_grow(strings->slots, strings->slot_count * sizeof *strings->slots);
    memset(strings->slots, 0, strings->slot_count * sizeof *strings->slots);
    for (uint32_t i = 0; i < strings->count; i++) {
        uint32_t slot = (uint32_t)strings->items[i].hash & (strings->slot_count - 1);

        while (strings->slots[slot])
            slot = (slot + 1) & (strings->slot_count - 1);
        strings->slots[slot] = i + 1;
    }
}

uint32_t key_strings_add(struct key_strings *strings, const char *text, uint32_t len)
{
    uint64_t hash = text_hash(text, len);
    uint32_t slot = find_slot(strings, hash, text, len);

    if (strings->slots[slot])
        return strings->slots[slot] - 1;
    ARRAY_ROOM(strings->items, strings->count, strings->room, 64);
    if (strings->text_room - strings->text_len < len) {
        strings->text_room = (strings->text_room + len) * 2;
        strings->text = mem_grow(strings->text, strings->text_room);
    }
    for (uint32_t i = 0; i < len; i++)
        strings->text[strings->text_len + i] = fold(text[i]);
    strings->items[strings->count] = (struct key_string){hash, strings->text_len, len};
    strings->text_len += len;
    strings->slots[slot] = ++strings->count;
    if (strings->count * 2 > strings->slot_count)
        slots_grow(strings);
    return strings->count - 1;
}
