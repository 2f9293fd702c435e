/* cells.c: what an ad has in a dimension. */
#include "match/index/index_parts.h"

#include <math.h>

double index_key(struct index *index, const struct index_key *key, bool find)
{
    if (key->kind != KEY_STRING)
        return key->number;
    return find ? key_strings_find(&index->strings, key->string, key->len)
                : key_strings_add(&index->strings, key->string, key->len);
}

uint64_t index_slab_bit(const struct index_key *key)
{
    return (uint64_t)1 << key_hash(key) % DIM_STRING_SLABS;
}

/* The cell of a list: the slabs of its elements. An element that is not a literal, or not a key, could be anything. */
static struct dim_cell elements_cell(const struct tree *ad, const struct expr *list)
{
    const struct expr *items = tree_parts(ad, list);
    struct dim_cell cell = {.here = true, .low = NAN};
    struct index_key key;

    for (uint32_t i = 0; i < list->u.run.count; i++) {
        if (items[i].kind <= EXPR_ERROR || items[i].kind == EXPR_LIST || items[i].kind == EXPR_AD)
            continue;                                /* such elements equal nothing */
        for (int counts = 0; counts < 2; counts++) { /* as either dialect reads it */
            if (expr_is_literal(&items[i]) && key_of(ad, &items[i], counts, &key))
                cell.slabs |= index_slab_bit(&key);
            else
                cell.deviant = true;
        }
    }
    return cell;
}

/* The cell of a string that lists: the slabs of its items. */
static struct dim_cell items_cell(const struct tree *ad, const struct expr *string)
{
    const char *text = tree_string(ad, string);
    uint32_t len = string->u.run.count, start = 0;
    struct dim_cell cell = {.here = true, .low = NAN};

    for (uint32_t i = 0; i <= len; i++) {
        cell.deviant =
            cell.deviant || (i < len && (unsigned char)text[i] < ' '); /* blanks of other kinds: to be evaluated */
        if (i < len && text[i] != ',' && text[i] != ' ')
            continue;
        cell.slabs |= index_slab_bit(&(struct index_key){.kind = KEY_STRING, .string = text + start, .len = i - start});
        start = i + 1;
    }
    return cell;
}

struct dim_cell index_cell(struct index *index, const struct dim *dim, const struct tree *ad)
{
    const struct expr *found = NULL;
    enum attribute_state state = attribute_find(ad, dim->attribute, &found);
    struct dim_cell cell = {.low = NAN};
    struct index_key key;

    if (state != ATTRIBUTE_THERE) {
        cell.here = dim->kind == DIM_ABSENCE && state == ATTRIBUTE_MISSING;
        cell.deviant = state == ATTRIBUTE_UNKNOWN;
        return cell;
    }
    if (dim->kind == DIM_ELEMENTS && found->kind == EXPR_LIST)
        return elements_cell(ad, found);
    if (dim->kind == DIM_ITEMS && found->kind == EXPR_STRING)
        return items_cell(ad, found);
    if (!dim_has_columns(dim))
        return cell;
    if (!expr_is_literal(found) || !key_of(ad, found, dim->counts, &key)) {
        cell.deviant = true;
        return cell;
    }
    if (key.kind != dim->kind)
        return cell;
    cell.here = true;
    cell.low = index_key(index, &key, false);
    return cell;
}
