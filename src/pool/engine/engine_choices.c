/* engine_choices.c: the best candidates of many equal roots, found by one probe: a heap by the docking vector, then by
 * arrival.
 *
 * Each entry stands for a class of offers, by its first member when it was looked at. Members that come to the
 * front later are worse, so an entry is looked at again when it is the best. Where not all candidates were kept, an
 * entry that falls behind those left out is dropped, and when none is left all are found anew. */
#include "pool/engine/engine_choices.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "match/pair/order.h"
#include "pool/engine/engine_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A faster order_compare: nearly all components are numbers of one type. */
static int component_compare(const struct value *a, const struct value *b)
{
    if (a->type == VALUE_INTEGER && b->type == VALUE_INTEGER)
        return a->u.integer < b->u.integer ? -1 : a->u.integer > b->u.integer;
    if (a->type == VALUE_REAL && b->type == VALUE_REAL && a->u.real == a->u.real && b->u.real == b->u.real)
        return a->u.real < b->u.real ? -1 : a->u.real > b->u.real;
    return order_compare(a, b);
}

int engine_vector_compare(const struct value *a, const struct value *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int order = component_compare(&a[i], &b[i]);

        if (order)
            return order;
    }
    return 0;
}

/* A component as a real. False when it is none, or so large that it could be another number as well. */
static bool component_key(const struct value *component, double *ret)
{
    if (component->type == VALUE_INTEGER)
        *ret = (double)component->u.integer;
    else if (component->type == VALUE_REAL)
        *ret = component->u.real;
    else
        return false;
    return fabs(*ret) < 0x1p53; /* which NaN is not */
}

struct choices *engine_choices_new(uint32_t width)
{
    struct choices *choices = mem_alloc(sizeof *choices);

    *choices = (struct choices){.width = width, .keyed = true};
    return choices;
}

void engine_choices_free(struct choices *choices)
{
    if (!choices)
        return;
    free(choices->items);
    free(choices->vectors);
    free(choices);
}

void engine_choices_forget(struct engine *engine, struct engine_class *engine_class)
{
    if (!engine_class->choices)
        return;
    engine->remembered -= engine_class->choices->remembered;
    engine_choices_free(engine_class->choices);
    engine_class->choices = NULL;
}

/* Fills in the keys of an entry. False when they would not say all. */
static bool choice_keys(struct engine_choice *choice, const struct value *vector, uint32_t width)
{
    bool keyed = width <= CHOICE_KEYS;

    for (uint32_t i = 0; i < CHOICE_KEYS; i++)
        choice->keys[i] = 0;
    for (uint32_t i = 0; i < width && keyed; i++)
        keyed = component_key(&vector[i], &choice->keys[i]);
    return keyed;
}

static struct value *vector_add(struct choices *choices, struct engine_choice *choice)
{
    if (choices->vector_count == choices->vector_room) {
        choices->vector_room = choices->vector_room ? choices->vector_room * 2 : 16;
        choices->vectors = mem_grow(choices->vectors, choices->vector_room * choices->width * sizeof *choices->vectors);
    }
    choice->vector = choices->vector_count++ * choices->width;
    return &choices->vectors[choice->vector];
}

/* An entry has come whose keys do not say all: the others get vectors, too. These are reals, which are in the same order as the numbers were. */
static void choices_unkey(struct choices *choices)
{
    choices->keyed = false;
    for (uint32_t i = 0; i < choices->count + choices->cut; i++) {
        struct engine_choice *choice = i < choices->count ? &choices->items[i] : &choices->bound;
        struct value *vector = vector_add(choices, choice);

        for (uint32_t k = 0; k < choices->width; k++)
            vector[k] = value_real(choice->keys[k]);
    }
}

void engine_choices_push(struct choices *choices, const struct engine_choice *choice, const struct value *vector)
{
    struct engine_choice *at;

    ARRAY_ROOM(choices->items, choices->count, choices->room, 16);
    at = &choices->items[choices->count];
    *at = *choice;
    if (choices->keyed && !choice_keys(at, vector, choices->width))
        choices_unkey(choices);
    if (!choices->keyed)
        memcpy(vector_add(choices, at), vector, choices->width * sizeof *vector);
    choices->count++;
}

/* Below 0: a is better. */
static int choice_compare(const struct choices *choices, const struct engine_choice *a, const struct engine_choice *b)
{
    int order = 0;

    for (int i = 0; i < CHOICE_KEYS && choices->keyed; i++)
        if (a->keys[i] != b->keys[i])
            return a->keys[i] > b->keys[i] ? -1 : 1;
    if (!choices->keyed && a->vector != b->vector)
        order = engine_vector_compare(&choices->vectors[b->vector], &choices->vectors[a->vector], choices->width);
    if (order)
        return order;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static void choices_sift_down(struct choices *choices, uint32_t at)
{
    struct engine_choice item = choices->items[at];
    uint32_t child;

    for (; (child = 2 * at + 1) < choices->count; at = child) {
        if (child + 1 < choices->count &&
            choice_compare(choices, &choices->items[child + 1], &choices->items[child]) < 0)
            child++;
        if (choice_compare(choices, &choices->items[child], &item) >= 0)
            break;
        choices->items[at] = choices->items[child];
    }
    choices->items[at] = item;
}

static struct engine_choice choices_pop(struct choices *choices)
{
    struct engine_choice first = choices->items[0];

    choices->items[0] = choices->items[--choices->count];
    if (choices->count)
        choices_sift_down(choices, 0);
    return first;
}

/* Keeps only what belongs to the entries that are kept, and to the bound. */
static void choices_pack(struct choices *choices)
{
    uint32_t width = choices->width;
    struct value *kept;

    choices->items = mem_grow(choices->items, choices->count * sizeof *choices->items);
    choices->room = choices->count;
    if (choices->keyed)
        return;
    kept = mem_alloc((choices->count + 1) * width * sizeof *kept);
    for (uint32_t i = 0; i < choices->count; i++) {
        memcpy(&kept[i * width], &choices->vectors[choices->items[i].vector], width * sizeof *kept);
        choices->items[i].vector = i * width;
    }
    memcpy(&kept[choices->count * width], &choices->vectors[choices->bound.vector], width * sizeof *kept);
    choices->bound.vector = choices->count * width;
    free(choices->vectors);
    choices->vectors = kept;
    choices->vector_count = choices->vector_room = choices->count + 1;
}

static void choices_swap(struct choices *choices, uint32_t a, uint32_t b)
{
    struct engine_choice swap = choices->items[a];

    choices->items[a] = choices->items[b];
    choices->items[b] = swap;
}

#define ROUNDS_MAX 64 /* of parting; where chance is against it, what is left is sorted as far as need be */

/* Brings the `keep` best of a part to its front, by sorting as many. */
static void part_sort(const struct choices *choices, uint32_t from, uint32_t end, uint32_t keep)
{
    struct choices part = *choices;
    struct engine_choice *best = mem_alloc((keep + 1) * sizeof *best);
    uint32_t count = 0, rest;

    part.items += from;
    part.count = end - from;
    for (uint32_t i = part.count / 2; i > 0; i--)
        choices_sift_down(&part, i - 1);
    while (count < keep)
        best[count++] = choices_pop(&part);
    rest = part.count;
    memmove(part.items + keep, part.items, rest * sizeof *part.items);
    memcpy(part.items, best, keep * sizeof *best);
    free(best);
}

/* Brings the `keep` best to the front, in any order: by parts around a pivot, as quicksort does, but going on in one of them only. */
static void choices_select(struct choices *choices, uint32_t keep)
{
    uint32_t from = 0, end = choices->count, round = 0;

    while (end - from > 1) {
        uint32_t at = from, middle = from + (uint32_t)(rng_mix(((uint64_t)from << 32) + end) % (end - from));

        choices_swap(choices, middle, end - 1);
        for (uint32_t i = from; i + 1 < end; i++)
            if (choice_compare(choices, &choices->items[i], &choices->items[end - 1]) < 0)
                choices_swap(choices, i, at++);
        choices_swap(choices, at, end - 1); /* the pivot: those before it are better, those behind it worse */
        if (at == keep)
            return;
        if (at < keep)
            from = at + 1;
        else
            end = at;
        if (++round == ROUNDS_MAX) {
            part_sort(choices, from, end, keep - from);
            return;
        }
    }
}

void engine_choices_settle(struct choices *choices, uint32_t keep)
{
    bool cut = choices->count > keep;

    if (cut) {
        choices_select(choices, keep);
        choices->bound = choices->items[keep];
        for (uint32_t i = keep + 1; i < choices->count; i++)
            if (choice_compare(choices, &choices->items[i], &choices->bound) < 0)
                choices->bound = choices->items[i];
        choices->count = keep;
        choices->cut = true;
        choices_pack(choices);
    }
    for (uint32_t i = choices->count / 2; i > 0; i--)
        choices_sift_down(choices, i - 1);
}

void engine_choices_insert(struct choices *choices, const struct engine_choice *choice, const struct value *vector)
{
    uint32_t at;

    engine_choices_push(choices, choice, vector);
    at = choices->count - 1;
    if (choices->cut && choice_compare(choices, &choices->bound, &choices->items[at]) < 0) {
        choices->count--;
        choices->vector_count -= !choices->keyed;
        return;
    }
    for (; at && choice_compare(choices, &choices->items[at], &choices->items[(at - 1) / 2]) < 0; at = (at - 1) / 2) {
        struct engine_choice above = choices->items[(at - 1) / 2];

        choices->items[(at - 1) / 2] = choices->items[at];
        choices->items[at] = above;
    }
}

#define SWEEP_PART 4   /* when matches since the last time are that part of the entries, ... */
#define SWEEP_LEAST 16 /* ... and so many more, all are looked at */

static bool choice_gone(struct engine *engine, const struct engine_choice *choice)
{
    const struct engine_class *class = engine_class_at(engine, OFFERS, choice->in_class);

    return !class->ad || class->generation != choice->generation;
}

#define SWEEP_AHEAD 8

/* Takes out all entries that are gone, if there may be many: one by one they would each be brought to the top of the heap first. */
static void choices_sweep(struct engine *engine, struct choices *choices)
{
    uint32_t kept = 0;

    if (engine->counts.matches - choices->swept <= choices->count / SWEEP_PART + SWEEP_LEAST)
        return;
    choices->swept = engine->counts.matches;
    for (uint32_t i = 0; i < choices->count; i++) {
        if (i + SWEEP_AHEAD < choices->count)
            __builtin_prefetch(engine_class_at(engine, OFFERS, choices->items[i + SWEEP_AHEAD].in_class));
        if (!choice_gone(engine, &choices->items[i]))
            choices->items[kept++] = choices->items[i];
    }
    if (kept == choices->count)
        return;
    choices->count = kept;
    for (uint32_t i = kept / 2; i > 0; i--)
        choices_sift_down(choices, i - 1);
}

uint32_t engine_choices_first(struct engine *engine, struct choices *choices)
{
    choices_sweep(engine, choices);
    while (choices->count) {
        struct engine_choice *first = &choices->items[0];
        const struct engine_class *class = engine_class_at(engine, OFFERS, first->in_class);
        uint32_t id;

        if (choice_gone(engine, first)) { /* all members are */
            choices_pop(choices);
            continue;
        }
        id = class->first;
        if (id == first->id && class->order == first->order)
            return id;
        first->id = id;
        first->order = class->order;
        if (choices->cut && choice_compare(choices, &choices->bound, first) < 0)
            choices_pop(choices);
        else
            choices_sift_down(choices, 0);
    }
    return NOBODY;
}
