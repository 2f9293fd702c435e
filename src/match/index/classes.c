/* classes.c: ads that are the same to the other side. */
#include "match/index/classes.h"

#include "lang/ad/functions.h"
#include "lang/ad/names.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"

#include <stdlib.h>
#include <string.h>

/* A name that the meaning of all ads from a mould depends on. */
struct plan_name {
    symbol name;
    uint32_t cell;       /* where they have it; CELL_NONE: nowhere */
    uint32_t first, end; /* the literals in the expression, which is none itself, ... */
    uint64_t hash;       /* ... and what it adds to the hash while these are those of the plan's ad */
};
#define CELL_NONE UINT32_MAX

/* What is the same for all ads from a mould. */
struct class_plan {
    uint32_t mould;
    bool alone;
    struct plan_name *names;
    uint32_t count;
    uint32_t *literals; /* cells */
    uint32_t literal_count, literal_room;
    struct tree *ad; /* one of them, held */
};

static void plan_free(struct class_plan *plan)
{
    if (!plan)
        return;
    tree_unref(plan->ad);
    free(plan->names);
    free(plan->literals);
    free(plan);
}

static void plans_forget(struct class_set *classes)
{
    for (uint32_t i = 0; classes->plans && i < MOULDS; i++)
        plan_free(classes->plans[i]);
    free(classes->plans);
    classes->plans = NULL;
}

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
    plans_forget(classes);
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
    plans_forget(classes);
}

/* Adds a name that the ad's meaning depends on. */
static void key_add(struct class_key *key, symbol name)
{
    uint32_t slot = symbol_name(name) * 0x9e3779b1u >> 16;

    for (; key->slots[slot % CLASS_SLOTS]; slot++)
        if (symbol_same(key->names[key->slots[slot % CLASS_SLOTS] - 1], name))
            return;
    if (key->count == CLASS_NAMES_MAX) {
        key->alone = true;
        return;
    }
    key->names[key->count++] = name;
    key->slots[slot % CLASS_SLOTS] = (uint16_t)key->count;
}

/* Adds what an expression mentions. */
static void key_read(struct class_key *key, const struct tree *tree, const struct expr *e)
{
    const struct expr *parts = tree_parts(tree, e);
    const struct function *function;

    switch (e->kind) {
    case EXPR_DOT:
        key_add(key, EXPR_DOT_BASE(e));
        if (!symbol_same(EXPR_DOT_BASE(e), NAME_OTHER) && !symbol_same(EXPR_DOT_BASE(e), NAME_TARGET))
            key_add(key, e->u.name.id); /* else the name is the other side's, unless the ad hides `other` */
        break;
    case EXPR_NAME:
    case EXPR_ROOT_NAME:
        key_add(key, e->u.name.id);
        break;
    case EXPR_CALL:
        function = function_find(tree->dialect, e->u.name.id);
        if (function && function->traits & (FUNCTION_TIME | FUNCTION_CHANCE | FUNCTION_SCOPE))
            key->alone = true;
        break;
    case EXPR_PATH: /* a subscript may be the name of anything */
        key->alone = key->alone || tree->dialect->ads_take_subscripts;
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < expr_part_count(e) && !key->alone; i++)
        if (!expr_is_literal(&parts[i]))
            key_read(key, tree, &parts[i]);
}

/* Fills in the names, and what the ad has by them. */
static void key_make(struct class_key *key, const struct class_set *classes, const struct tree *ad)
{
    key->count = 0;
    key->mould = MOULD_NONE;
    memset(key->slots, 0, sizeof key->slots);
    key->alone = false;
    key_add(key, NAME_CONSTRAINT);
    key_add(key, NAME_REQUIREMENTS);
    key_add(key, NAME_OTHER); /* an ad that hides them asks for something else */
    key_add(key, NAME_TARGET);
    for (uint32_t i = 0; i < classes->name_count; i++)
        key_add(key, classes->names[i]);
    for (uint32_t i = 0; i < key->count && !key->alone; i++) {
        const struct expr *found = tree_find(ad, tree_root(ad), key->names[i]);

        key->found[i] = found;
        if (found && !expr_is_literal(found))
            key_read(key, ad, found);
        if (found && (symbol_same(key->names[i], NAME_OTHER) || symbol_same(key->names[i], NAME_TARGET)))
            key->alone = true;
    }
}

/* What an attribute adds to the hash: a sum of these, since the names come in any order. */
static uint64_t found_hash(symbol name, const struct tree *ad, const struct expr *found)
{
    return rng_mix(symbol_name(name) + tree_hash(ad, found));
}

bool classes_key(const struct class_set *classes, const struct tree *ad, struct class_key *ret_key)
{
    key_make(ret_key, classes, ad);
    ret_key->hash = ad->dialect->bit;
    for (uint32_t i = 0; i < ret_key->count && !ret_key->alone; i++)
        if (ret_key->found[i])
            ret_key->hash += found_hash(ret_key->names[i], ad, ret_key->found[i]);
    return !ret_key->alone;
}

static void plan_literals(struct class_plan *plan, const struct tree *ad, const struct expr *e)
{
    const struct expr *parts = tree_parts(ad, e);

    for (uint32_t i = 0; i < expr_part_count(e); i++) {
        if (!expr_is_literal(&parts[i])) {
            plan_literals(plan, ad, &parts[i]);
            continue;
        }
        ARRAY_ROOM(plan->literals, plan->literal_count, plan->literal_room, 32);
        plan->literals[plan->literal_count++] = (uint32_t)(&parts[i] - ad->cells);
    }
}

static struct class_plan *plan_new(const struct class_set *classes, struct tree *ad, uint32_t mould)
{
    struct class_plan *plan = mem_alloc(sizeof *plan);
    struct class_key key;

    key_make(&key, classes, ad);
    *plan = (struct class_plan){.mould = mould, .alone = key.alone, .ad = tree_ref(ad)};
    if (plan->alone)
        return plan;
    plan->count = key.count;
    plan->names = mem_alloc(plan->count * sizeof *plan->names);
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct expr *found = key.found[i];
        struct plan_name *at = &plan->names[i];

        *at = (struct plan_name){.name = key.names[i], .cell = CELL_NONE, .first = plan->literal_count};
        if (found)
            at->cell = (uint32_t)(found - ad->cells);
        if (found && !expr_is_literal(found)) {
            at->hash = found_hash(at->name, ad, found);
            plan_literals(plan, ad, found);
        }
        at->end = plan->literal_count;
    }
    return plan;
}

/* Has the ad the same literals in there as the plan's? */
static bool literals_same(const struct class_plan *plan, const struct plan_name *at, const struct tree *ad)
{
    for (uint32_t i = at->first; i < at->end; i++)
        if (!tree_equal(ad, &ad->cells[plan->literals[i]], plan->ad, &plan->ad->cells[plan->literals[i]]))
            return false;
    return true;
}

static struct class_plan *plan_of(struct class_set *classes, struct tree *ad, uint32_t mould)
{
    struct class_plan **place;

    if (!classes->plans)
        classes->plans = mem_alloc_zeros(MOULDS, sizeof *classes->plans);
    place = &classes->plans[mould % MOULDS];
    if (!*place || (*place)->mould != mould) {
        plan_free(*place);
        *place = plan_new(classes, ad, mould);
    }
    return *place;
}

bool classes_key_moulded(struct class_set *classes, struct tree *ad, uint32_t mould, struct class_key *ret_key)
{
    const struct class_plan *plan;

    if (mould == MOULD_NONE)
        return classes_key(classes, ad, ret_key);
    plan = plan_of(classes, ad, mould);
    ret_key->count = plan->count;
    ret_key->mould = mould;
    ret_key->alone = plan->alone;
    ret_key->hash = ad->dialect->bit;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct plan_name *at = &plan->names[i];
        const struct expr *found = at->cell == CELL_NONE ? NULL : &ad->cells[at->cell];

        ret_key->names[i] = at->name;
        ret_key->found[i] = found;
        if (found)
            ret_key->hash +=
                !expr_is_literal(found) && literals_same(plan, at, ad) ? at->hash : found_hash(at->name, ad, found);
    }
    return !plan->alone;
}

/* Is the other ad the same by that key? Its own key has the same names then: it is made of what is written alike. */
static bool same_class(const struct class_key *key, const struct tree *ad, const struct tree *other, bool alike)
{
    if (ad == other)
        return !key->alone;
    for (uint32_t i = 0; i < key->count && !key->alone; i++) {
        const struct expr *x = key->found[i], *y;

        if (alike && !x)
            continue;
        y = alike ? &other->cells[x - ad->cells] : tree_find(other, tree_root(other), key->names[i]);
        if (!x != !y || (x && !tree_equal(ad, x, other, y)))
            return false;
    }
    return ad->dialect == other->dialect && !key->alone;
}

bool classes_has(const struct class_set *classes, uint32_t place, const struct tree *ad)
{
    struct class_key key;

    key_make(&key, classes, ad);
    return same_class(&key, ad, classes->items[place].ad, false);
}

uint32_t classes_find(const struct class_set *classes, const struct tree *ad, const struct class_key *key)
{
    uint32_t place = classes->buckets[key->hash & (classes->bucket_count - 1)];

    while (place != NO_CLASS && (classes->items[place].hash != key->hash ||
                                 !same_class(key, ad, classes->items[place].ad,
                                             key->mould != MOULD_NONE && key->mould == classes->items[place].mould)))
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

uint32_t classes_add(struct class_set *classes, const struct tree *ad, uint32_t id, const struct class_key *key)
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
    bucket = (uint32_t)key->hash & (classes->bucket_count - 1);
    classes->items[place] = (struct ad_class){key->hash, ad, id, id, key->mould, classes->buckets[bucket]};
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

void classes_stand(struct class_set *classes, uint32_t place, const struct tree *ad, uint32_t mould)
{
    classes->items[place].ad = ad;
    classes->items[place].mould = mould;
}
