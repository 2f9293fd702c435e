/* shapes.c: resources sorted into shapes, and shapes matched.
 *
 * A reading has a hash of all that the other side can see of it; those with one hash are compared. */
#include "match/grdl/shapes.h"

#include "lang/base/array.h"
#include "lang/base/map.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "lang/base/textmap.h"
#include "match/grdl/profile.h"

#include <stdlib.h>
#include <string.h>

#define NO_SHAPE UINT32_MAX

void grdl_dimensions_init(struct grdl_dimensions *dimensions)
{
    *dimensions = (struct grdl_dimensions){0};
}

void grdl_dimensions_done(struct grdl_dimensions *dimensions)
{
    if (!dimensions)
        return;
    free(dimensions->named);
    *dimensions = (struct grdl_dimensions){0};
}

static void dimension_name(struct grdl_dimensions *dimensions, uint32_t dimension)
{
    if (dimension >= dimensions->room) {
        uint32_t room = dimension < 32 ? 64 : dimension * 2;

        dimensions->named = mem_grow(dimensions->named, room);
        memset(dimensions->named + dimensions->room, 0, room - dimensions->room);
        dimensions->room = room;
    }
    dimensions->named[dimension] = true;
}

void grdl_dimensions_name(struct grdl_dimensions *dimensions, const struct grdl_reading *reading)
{
    for (uint32_t i = 0; i < reading->req_count; i++)
        dimension_name(dimensions, reading->reqs[i].dimension);
    for (uint32_t i = 0; i < reading->pref_count; i++)
        dimension_name(dimensions, reading->prefs[i].dimension);
}

bool grdl_dimensions_have(const struct grdl_dimensions *dimensions, uint32_t dimension)
{
    return dimension < dimensions->room && dimensions->named[dimension];
}

/* ---- what the other side sees ---- */

static uint64_t point_hash(const struct grdl_point *point, uint64_t seed)
{
    const struct grdl_value *value = &point->value;
    uint64_t bits = 0;

    if (value->kind == GRDL_NUMBER || value->kind == GRDL_DATE)
        memcpy(&bits, &value->number, sizeof bits);
    else if (value->text)
        bits = text_hash(0, value->text, strlen(value->text));
    seed = rng_mix(seed ^ point->dimension);
    seed = rng_mix(seed ^ ((uint64_t)value->type << 8 | (uint64_t)value->kind << 5 | (uint64_t)point->match));
    return rng_mix(seed ^ bits);
}

/* Is the same characteristic there already, further to the front? Characteristics are sorted by dimension. */
static bool is_repeated(const struct grdl_reading *reading, uint32_t which)
{
    for (uint32_t i = which; i-- && reading->chars[i].dimension == reading->chars[which].dimension;)
        if (grdl_same_value(&reading->chars[i].value, &reading->chars[which].value))
            return true;
    return false;
}

static uint64_t reading_hash(const struct grdl_reading *reading, const struct grdl_dimensions *seen)
{
    uint64_t hash = reading->req_count, order = 0;

    for (uint32_t i = 0; i < reading->char_count; i++)
        if (grdl_dimensions_have(seen, reading->chars[i].dimension) && !is_repeated(reading, i))
            hash += point_hash(&reading->chars[i], 1); /* sums: the order within a dimension does not count */
    for (uint32_t i = 0; i < reading->req_count; i++)
        hash += point_hash(&reading->reqs[i], 2);
    for (uint32_t i = 0; i < reading->pref_count; i++)
        order = point_hash(&reading->prefs[i], order + 3);
    hash = rng_mix(hash ^ order);
    return hash == MAP_NONE ? 0 : hash;
}

static bool chars_seen_within(const struct grdl_reading *a, const struct grdl_reading *b,
                              const struct grdl_dimensions *seen)
{
    for (uint32_t i = 0; i < a->char_count; i++) {
        const struct grdl_point *point = &a->chars[i];
        struct grdl_points there = grdl_reading_chars(b, point->dimension);
        bool found = !grdl_dimensions_have(seen, point->dimension);

        for (uint32_t j = 0; j < there.count && !found; j++)
            found = grdl_same_value(&point->value, &there.items[j].value);
        if (!found)
            return false;
    }
    return true;
}

static bool reqs_are_in(const struct grdl_reading *a, const struct grdl_reading *b)
{
    for (uint32_t i = 0; i < a->req_count; i++) {
        bool found = false;

        for (uint32_t j = 0; j < b->req_count && !found; j++)
            found = grdl_pref_same(&a->reqs[i], &b->reqs[j]);
        if (!found)
            return false;
    }
    return true;
}

static bool look_alike(const struct grdl_reading *a, const struct grdl_reading *b, const struct grdl_dimensions *seen)
{
    return a->pref_count == b->pref_count && chars_seen_within(a, b, seen) && chars_seen_within(b, a, seen) &&
           reqs_are_in(a, b) && reqs_are_in(b, a) && grdl_prefs_consistent(a, b);
}

/* ---- sorting into shapes ---- */

struct sorting {
    const struct grdl_reading *const *readings;
    const struct grdl_dimensions *seen;
    struct grdl_shapes *shapes;
    struct map hashes; /* to the first shape with that hash */
    uint32_t *next;    /* by shape: the next with the same hash */
};

static uint32_t shape_new(struct sorting *sorting, uint32_t head, bool lone)
{
    struct grdl_shapes *shapes = sorting->shapes;

    if (shapes->count == shapes->room) {
        shapes->room = shapes->room ? shapes->room * 2 : 64;
        shapes->items = mem_grow(shapes->items, shapes->room * sizeof *shapes->items);
        sorting->next = mem_grow(sorting->next, shapes->room * sizeof *sorting->next);
    }
    shapes->items[shapes->count] = (struct grdl_shape){.head = head, .lone = lone};
    sorting->next[shapes->count] = NO_SHAPE;
    return shapes->count++;
}

static uint32_t shape_find(struct sorting *sorting, uint32_t reading)
{
    const struct grdl_reading *one = sorting->readings[reading];
    uint64_t hash, first;
    uint32_t shape;

    if (one->set_wise)
        return shape_new(sorting, reading, true);
    hash = reading_hash(one, sorting->seen);
    first = map_find(&sorting->hashes, hash);
    for (shape = first == MAP_NONE ? NO_SHAPE : (uint32_t)first; shape != NO_SHAPE; shape = sorting->next[shape])
        if (look_alike(one, sorting->readings[sorting->shapes->items[shape].head], sorting->seen))
            return shape;
    shape = shape_new(sorting, reading, false);
    sorting->next[shape] = first == MAP_NONE ? NO_SHAPE : (uint32_t)first;
    map_set(&sorting->hashes, hash, shape);
    return shape;
}

void grdl_shapes_make(const struct grdl_reading *const *readings, uint32_t count, const struct grdl_dimensions *seen,
                      struct grdl_shapes *ret_shapes)
{
    struct sorting sorting = {.readings = readings, .seen = seen, .shapes = ret_shapes};
    uint32_t at = 0;

    *ret_shapes = (struct grdl_shapes){.reading_count = count};
    ret_shapes->members = mem_alloc(((size_t)count + 1) * sizeof *ret_shapes->members);
    ret_shapes->shape_of = mem_alloc(((size_t)count + 1) * sizeof *ret_shapes->shape_of);
    map_init(&sorting.hashes, 0);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t shape = shape_find(&sorting, i);

        ret_shapes->shape_of[i] = shape;
        ret_shapes->items[shape].count++;
    }
    for (uint32_t i = 0; i < ret_shapes->count; i++) {
        ret_shapes->items[i].first = at;
        at += ret_shapes->items[i].count;
        ret_shapes->items[i].count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct grdl_shape *shape = &ret_shapes->items[ret_shapes->shape_of[i]];

        ret_shapes->members[shape->first + shape->count++] = i;
    }
    map_done(&sorting.hashes);
    free(sorting.next);
}

void grdl_shapes_done(struct grdl_shapes *shapes)
{
    if (!shapes)
        return;
    free(shapes->items);
    free(shapes->members);
    free(shapes->shape_of);
    *shapes = (struct grdl_shapes){0};
}

/* ---- matching shapes ---- */

static void pair_add(struct grdl_shape_pairs *pairs, uint32_t left, uint32_t right)
{
    ARRAY_ROOM(pairs->items, pairs->count, pairs->room, 64);
    pairs->items[pairs->count++] = (struct grdl_shape_pair){left, right};
}

void grdl_shapes_match(const struct grdl_shapes *left, const struct grdl_reading *const *left_readings,
                       const struct grdl_shapes *right, const struct grdl_reading *const *right_readings,
                       struct grdl_shape_pairs *ret_pairs)
{
    struct grdl_failures failures;

    grdl_failures_init(&failures);
    *ret_pairs = (struct grdl_shape_pairs){.all_pairs = (uint64_t)left->reading_count * right->reading_count};
    for (uint32_t i = 0; i < left->count; i++) {
        const struct grdl_reading *one = left_readings[left->items[i].head];

        for (uint32_t j = 0; j < right->count; j++) {
            const struct grdl_reading *other = right_readings[right->items[j].head];

            if (!grdl_matches_learning(one, other, &failures, &ret_pairs->counts) ||
                !grdl_matches_learning(other, one, &failures, &ret_pairs->counts))
                continue;
            pair_add(ret_pairs, i, j);
            ret_pairs->resource_pairs += (uint64_t)left->items[i].count * right->items[j].count;
        }
    }
    grdl_failures_done(&failures);
}

void grdl_shape_pairs_done(struct grdl_shape_pairs *pairs)
{
    if (!pairs)
        return;
    free(pairs->items);
    *pairs = (struct grdl_shape_pairs){0};
}
