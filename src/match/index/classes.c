/* classes.c: ads that are the same to the other side. */
#include "match/index/classes.h"

#include "lang/ad/functions.h"
#include "lang/ad/names.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"

#include <stdlib.h>
#include <string.h>

void classes_start(struct class_set *classes, struct symbols *symbols, const symbol *names, uint32_t count)
{
    classes_done(classes, symbols);
    *classes = (struct class_set){.on = true, .name_count = count, .free = NO_CLASS, .bucket_count = 64};
    classes->names = mem_alloc((count + 1) * sizeof *classes->names);
    for (uint32_t i = 0; i < count; i++) {
        symbols_hold(symbols, names[i]);
        classes->names[i] = names[i];
    }
    classes->buckets = mem_alloc(classes->bucket_count * sizeof *classes->buckets);
    memset(classes->buckets, 0xff, classes->bucket_count * sizeof *classes->buckets);
}

void classes_done(struct class_set *classes, struct symbols *symbols)
{
    for (uint32_t i = 0; i < classes->name_count; i++)
        symbols_drop(symbols, classes->names[i]);
    free(classes->names);
    free(classes->items);
    free(classes->buckets);
    *classes = (struct class_set){0};
}

void classes_add_name(struct class_set *classes, struct symbols *symbols, symbol name)
{
    classes->names = mem_grow(classes->names, (classes->name_count + 2) * sizeof *classes->names);
    symbols_hold(symbols, name);
    classes->names[classes->name_count++] = name;
}

/* The names that an ad's meaning depends on. */
struct closure {
    symbol names[CLASS_NAMES_MAX];
    uint32_t count;
    bool alone;
    uint64_t bits; /* a rough set of the names, to save searches */
};

static void closure_add(struct closure *closure, symbol name)
{
    uint64_t bit = (uint64_t)1 << (symbol_name(name) * 0x9e3779b1u >> 26);

    for (uint32_t i = 0; i < closure->count && closure->bits & bit; i++)
        if (symbol_same(closure->names[i], name))
            return;
    if (closure->count == CLASS_NAMES_MAX) {
        closure->alone = true;
        return;
    }
    closure->bits |= bit;
    closure->names[closure->count++] = name;
}

/* Adds what an expression mentions. */
static void closure_read(struct closure *closure, const struct tree *tree, const struct expr *e)
{
    const struct expr *parts = tree_parts(tree, e);
    const struct function *function;

    switch (e->kind) {
    case EXPR_DOT:
        closure_add(closure, EXPR_DOT_BASE(e));
        if (!symbol_same(EXPR_DOT_BASE(e), NAME_OTHER) && !symbol_same(EXPR_DOT_BASE(e), NAME_TARGET))
            closure_add(closure, e->u.name.id); /* else the name is the other side's, unless the ad hides `other` */
        break;
    case EXPR_NAME:
    case EXPR_ROOT_NAME:
        closure_add(closure, e->u.name.id);
        break;
    case EXPR_CALL:
        function = function_find(tree->dialect, e->u.name.id);
        if (function && function->traits & (FUNCTION_TIME | FUNCTION_CHANCE | FUNCTION_SCOPE))
            closure->alone = true;
        break;
    case EXPR_PATH: /* a subscript may be the name of anything */
        closure->alone = closure->alone || tree->dialect->ads_take_subscripts;
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < expr_part_count(e) && !closure->alone; i++)
        if (!expr_is_literal(&parts[i]))
            closure_read(closure, tree, &parts[i]);
}

static void closure_make(struct closure *closure, const struct class_set *classes, const struct tree *ad)
{
    closure->count = 0;
    closure->bits = 0;
    closure->alone = false;
    closure_add(closure, NAME_CONSTRAINT);
    closure_add(closure, NAME_REQUIREMENTS);
    closure_add(closure, NAME_OTHER); /* an ad that hides them asks for something else */
    closure_add(closure, NAME_TARGET);
    for (uint32_t i = 0; i < classes->name_count; i++)
        closure_add(closure, classes->names[i]);
    for (uint32_t i = 0; i < closure->count && !closure->alone; i++) {
        const struct expr *found = tree_find(ad, tree_root(ad), closure->names[i]);

        if (found && !expr_is_literal(found))
            closure_read(closure, ad, found);
        if (found && (symbol_same(closure->names[i], NAME_OTHER) || symbol_same(closure->names[i], NAME_TARGET)))
            closure->alone = true;
    }
}

bool classes_hash(const struct class_set *classes, const struct tree *ad, uint64_t *ret_hash)
{
    struct closure closure;

    closure_make(&closure, classes, ad);
    *ret_hash = ad->dialect->bit;
    for (uint32_t i = 0; i < closure.count; i++) {
        const struct expr *found = tree_find(ad, tree_root(ad), closure.names[i]);

        if (found) /* as a sum, since the names come in any order */
            *ret_hash += rng_mix(symbol_name(closure.names[i]) + tree_hash(ad, found));
    }
    return !closure.alone;
}

static bool same_class(const struct class_set *classes, const struct tree *a, const struct tree *b)
{
    struct closure closure;

    closure_make(&closure, classes, a); /* the other ad's closure is the same if all of this is written alike */
    for (uint32_t i = 0; i < closure.count; i++) {
        const struct expr *x = tree_find(a, tree_root(a), closure.names[i]);
        const struct expr *y = tree_find(b, tree_root(b), closure.names[i]);

        if (!x != !y || (x && !tree_equal(a, x, b, y)))
            return false;
    }
    return a->dialect == b->dialect && !closure.alone;
}

bool classes_has(const struct class_set *classes, uint32_t place, const struct tree *ad)
{
    return same_class(classes, classes->items[place].ad, ad);
}

uint32_t classes_find(const struct class_set *classes, const struct tree *ad, uint64_t hash)
{
    uint32_t place = classes->buckets[hash & (classes->bucket_count - 1)];

    while (place != NO_CLASS &&
           (classes->items[place].hash != hash || !same_class(classes, classes->items[place].ad, ad)))
        place = classes->items[place].after;
    return place;
}

static void buckets_grow(struct class_set *classes)
{
    uint32_t count = classes->bucket_count * 2, *buckets = mem_alloc(count * sizeof *buckets);

    memset(buckets, 0xff, count * sizeof *buckets);
    for (uint32_t i = 0; i < classes->bucket_count; i++) {
        for (uint32_t place = classes->buckets[i], next; place != NO_CLASS; place = next) {
            uint32_t bucket = (uint32_t)classes->items[place].hash & (count - 1);

            next = classes->items[place].after;
            classes->items[place].after = buckets[bucket];
            buckets[bucket] = place;
        }
    }
    free(classes->buckets);
    classes->buckets = buckets;
    classes->bucket_count = count;
}

uint32_t classes_add(struct class_set *classes, const struct tree *ad, uint32_t id, uint64_t hash)
{
    uint32_t place = classes->free, bucket;

    if (place != NO_CLASS) {
        classes->free = classes->items[place].after;
    } else {
        if (classes->count == classes->room) {
            classes->room = classes->room ? classes->room + classes->room / 2 : 64;
            classes->items = mem_grow(classes->items, classes->room * sizeof *classes->items);
        }
        place = classes->count++;
    }
    if (classes->count > classes->bucket_count)
        buckets_grow(classes);
    bucket = (uint32_t)hash & (classes->bucket_count - 1);
    classes->items[place] = (struct ad_class){hash, ad, id, id, classes->buckets[bucket]};
    classes->buckets[bucket] = place;
    return place;
}

void classes_remove(struct class_set *classes, uint32_t place)
{
    uint32_t *link = &classes->buckets[classes->items[place].hash & (classes->bucket_count - 1)];

    while (*link != place)
        link = &classes->items[*link].after;
    *link = classes->items[place].after;
    classes->items[place].after = classes->free;
    classes->items[place].ad = NULL;
    classes->free = place;
}
