/* remote_rows.c: changes of rows that are not durable yet, and a view of those of one space. */
#include "store/remote_parts.h"

#include "lang/base/array.h"
#include "lang/base/map.h"

#include <stdlib.h>

void changes_init(struct row_changes *changes)
{
    *changes = (struct row_changes){.count = 0};
    map_init(&changes->places, 0);
}

static void change_free(struct row_change *change)
{
    free(change->value);
    free(change);
}

void changes_done(struct row_changes *changes)
{
    for (uint32_t i = 0; i < changes->count; i++)
        change_free(changes->items[i]);
    free(changes->items);
    map_done(&changes->places);
}

static uint64_t change_hash(const char *space, const void *key, size_t key_len)
{
    return row_sum(space, strlen(space), key, key_len, "", 0);
}

static bool change_is(const struct row_change *change, const char *space, const void *key, size_t key_len)
{
    return !strcmp(change->bytes, space) && change->key_len == key_len && !memcmp(change_key(change), key, key_len);
}

static struct row_change *change_of(const struct row_changes *changes, uint64_t hash, const char *space,
                                    const void *key, size_t key_len)
{
    uint64_t place = map_find(&changes->places, hash);
    struct row_change *change = place == MAP_NONE ? NULL : changes->items[place];

    while (change && !change_is(change, space, key, key_len))
        change = change->same;
    return change;
}

const struct row_change *changes_find(const struct row_changes *changes, const char *space, const void *key,
                                      size_t key_len)
{
    return change_of(changes, change_hash(space, key, key_len), space, key, key_len);
}

static struct row_change *change_new(struct row_changes *changes, uint64_t hash, const char *space, const void *key,
                                     size_t key_len)
{
    size_t space_len = strlen(space);
    struct row_change *change = mem_alloc(sizeof *change + space_len + 1 + key_len);
    uint64_t place = map_find(&changes->places, hash);

    *change = (struct row_change){.space_len = space_len, .key_len = key_len};
    memcpy(change->bytes, space, space_len + 1);
    memcpy(change->bytes + space_len + 1, key, key_len);
    ARRAY_ROOM(changes->items, changes->count, changes->room, 64);
    changes->items[changes->count] = change;
    if (place == MAP_NONE) {
        map_set(&changes->places, hash, changes->count);
    } else {
        change->same = changes->items[place]->same;
        changes->items[place]->same = change;
    }
    changes->count++;
    changes->bytes += sizeof *change + space_len + key_len;
    return change;
}

void changes_add(struct row_changes *changes, const char *space, const void *key, size_t key_len, const void *value,
                 size_t len)
{
    uint64_t hash = change_hash(space, key, key_len);
    struct row_change *change = change_of(changes, hash, space, key, key_len);

    if (!change)
        change = change_new(changes, hash, space, key, key_len);
    changes->bytes -= change->len;
    free(change->value);
    change->value = value ? mem_dup(value, len) : NULL;
    change->removed = !value;
    change->len = value ? len : 0;
    change->sum = value ? row_sum(space, strlen(space), key, key_len, value, len) : 0;
    changes->bytes += change->len;
}

/* --------------------------------------------------------------------------------------------------------------- views */

int key_compare(const void *a, size_t a_len, const void *b, size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

    return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int change_order(const void *a, const void *b)
{
    const struct row_change *one = *(const struct row_change *const *)a;
    const struct row_change *other = *(const struct row_change *const *)b;

    return key_compare(change_key(one), one->key_len, change_key(other), other->key_len);
}

static void view_add(struct row_view *view, const struct row_changes *changes, const struct row_changes *over,
                     const char *space, const void *after, size_t after_len)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        const struct row_change *change = changes->items[i];

        if (strcmp(change->bytes, space) != 0 ||
            key_compare(change_key(change), change->key_len, after, after_len) <= 0 ||
            (over && changes_find(over, space, change_key(change), change->key_len)))
            continue;
        ARRAY_ROOM(view->items, view->count, view->room, 64);
        view->items[view->count++] = change;
    }
}

void view_make(struct row_view *view, const struct row_changes *early, const struct row_changes *late,
               const char *space, const void *after, size_t after_len)
{
    *view = (struct row_view){.count = 0};
    view_add(view, early, late, space, after, after_len);
    view_add(view, late, NULL, space, after, after_len);
    if (view->count)
        qsort(view->items, view->count, sizeof *view->items, change_order);
}

void view_done(struct row_view *view)
{
    free(view->items);
}
