/* profiles.c: an ad as rectangles: the disjunctive form of what it asks for (section 4.2.2).
 *
 * Each profile is a conjunction of intervals. A disjunction multiplies the profiles; where there would be too many, the disjunction is evaluated
 * instead, and the profiles stay as they are. Two intervals in one dimension are intersected; an impossible profile is dropped. */
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "match/index/index_parts.h"

#include <math.h>
#include <stdlib.h>

void profiles_done(struct profiles *profiles)
{
    for (uint32_t i = 0; i < INDEX_PROFILES_MAX; i++)
        free(profiles->items[i].bounds);
}

static void profile_copy(struct profile *to, const struct profile *from)
{
    if (to->room < from->count) {
        to->room = from->count + 8;
        to->bounds = mem_grow(to->bounds, to->room * sizeof *to->bounds);
    }
    if (from->count)
        memcpy(to->bounds, from->bounds, from->count * sizeof *to->bounds);
    to->count = from->count;
    to->evaluate = from->evaluate;
}

/* The interval of a comparison with a key. */
static struct dim_cell compare_cell(enum op op, double key)
{
    struct dim_cell cell = {.here = true, .low = -INFINITY, .high = INFINITY};

    if ((op == OP_LESS && key == -INFINITY) || (op == OP_GREATER && key == INFINITY))
        return (struct dim_cell){.here = true, .low = INFINITY, .high = -INFINITY}; /* nothing is beyond */
    switch (op) {
    case OP_EQUAL:
        cell.low = cell.high = key;
        break;
    case OP_NOT_EQUAL:
        cell.low = key;
        cell.high = NAN;
        break;
    case OP_LESS:
        cell.high = key_before(key);
        break;
    case OP_LESS_EQUAL:
        cell.high = key;
        break;
    case OP_GREATER:
        cell.low = key_after(key);
        break;
    default:
        cell.low = key;
        break;
    }
    return cell;
}

/* Narrows a cell by one more interval. False when nothing is left. Where one of them is "anything but", the other one stays and the rest is
 * evaluated; of two such, the first stays. */
static bool cell_narrow(struct dim_cell *cell, const struct dim_cell *by, bool *evaluate)
{
    if (isnan(by->high) || isnan(cell->high)) {
        bool is_same = isnan(by->high) && isnan(cell->high) && by->low == cell->low;
        struct dim_cell interval = isnan(cell->high) ? *by : *cell;

        if (is_same)
            return true;
        *evaluate = true;
        if (!isnan(interval.high))
            *cell = interval;
        return isnan(cell->high) || cell->low <= cell->high;
    }
    if (by->low > cell->low)
        cell->low = by->low;
    if (by->high < cell->high)
        cell->high = by->high;
    return cell->low <= cell->high;
}

/* Widens a bound that no number satisfies: NaN, which is not a key, may satisfy it, so all are let through to be evaluated. False when NaN does not
 * satisfy it. */
static bool bound_widen(struct profile *profile, struct bound *bound)
{
    if (!bound->not_number)
        return false;
    profile->evaluate = true;
    bound->cell.low = -INFINITY;
    bound->cell.high = INFINITY;
    return true;
}

static struct bound *bound_add(struct profile *profile, uint32_t dim)
{
    struct bound *bound;

    ARRAY_ROOM(profile->bounds, profile->count, profile->room, 8);
    bound = &profile->bounds[profile->count++];
    *bound = (struct bound){.dim = dim, .cell = {.low = -INFINITY, .high = INFINITY}};
    return bound;
}

/* Can an interval express the leaf? */
static bool is_interval(const struct index *index, const struct want *want)
{
    const struct index_key *key = &index->wants.keys[want->keys];

    if (want->kind != WANT_COMPARE && want->kind != WANT_IS)
        return false;
    if (key->kind == KEY_STRING && want->op > OP_NOT_EQUAL)
        return false;                                 /* strings have no order here */
    return !index_given(index->env, want->attribute); /* else the counterpart may lack the attribute and have a value */
}

/* Narrows the profile by the n-th key of a leaf. False when the profile is impossible. */
static bool profile_narrow(struct profile *profile, struct index *index, const struct want *want, uint32_t n)
{
    const struct index_key *key = &index->wants.keys[want->keys + n];
    uint32_t dim = index_dim(index, true, want->attribute, key->kind, index->wants.counts, true);
    struct bound *bound = NULL;
    struct dim_cell cell;
    bool possible;

    if (dim == NO_DIM) {
        profile->evaluate = true;
        return true;
    }
    cell = compare_cell((enum op)want->op, index_key(index, key, false));
    for (uint32_t i = 0; i < profile->count; i++) {
        if (profile->bounds[i].dim == dim)
            bound = &profile->bounds[i];
        else if (index->dims[dim].shared && profile->bounds[i].cell.here &&
                 attribute_same(index->dims[profile->bounds[i].dim].attribute, want->attribute))
            return false; /* no value is of two kinds at once (4.4.4) */
    }
    if (!bound)
        bound = bound_add(profile, dim);
    bound->not_number |= want->not_number;
    if (bound->cell.here) {
        possible = cell_narrow(&bound->cell, &cell, &profile->evaluate);
    } else {
        cell.deviant = bound->cell.deviant;
        bound->cell = cell;
        possible = cell.low <= cell.high || isnan(cell.high);
    }
    return possible || bound_widen(profile, bound);
}

/* The same for a whole leaf, if an interval can express it. */
static bool profile_leaf(struct profile *profile, struct index *index, const struct want *want)
{
    if (is_interval(index, want))
        return profile_narrow(profile, index, want, 0);
    if (want->kind != WANT_AMONG)
        profile->evaluate = true;
    return true;
}

/* Guards a profile: an attribute of another kind would be an error, which spoils the whole disjunction. */
static void profile_guard(struct profile *profile, struct index *index, const struct want *want)
{
    uint32_t dim =
        index_dim(index, true, want->attribute, index->wants.keys[want->keys].kind, index->wants.counts, true);

    if (dim == NO_DIM) {
        profile->evaluate = true;
        return;
    }
    for (uint32_t i = 0; i < profile->count; i++) {
        if (profile->bounds[i].dim == dim) {
            profile->bounds[i].cell.deviant = true;
            return;
        }
    }
    bound_add(profile, dim)->cell.deviant = true;
}

static bool is_plain_leaf(const struct index *index, uint32_t node)
{
    const struct wants_node *at = &index->wants.nodes[node];
    const struct want *want = &index->wants.items[at->want];

    return at->kind == WANTS_LEAF && want->kind == WANT_COMPARE && is_interval(index, want);
}

/* Does a disjunction consist of comparisons, and (where || does not go from left to right) of conjunctions of them? Then the index can tell,
 * without an evaluation, which counterparts spoil it. */
static bool is_plain(const struct index *index, uint32_t node)
{
    const struct wants_node *nodes = index->wants.nodes;

    for (uint32_t part = nodes[node].child; part; part = nodes[part].after) {
        if (is_plain_leaf(index, part))
            continue;
        if (nodes[part].kind != WANTS_AND || index->wants.ordered)
            return false;
        for (uint32_t leaf = nodes[part].child; leaf; leaf = nodes[leaf].after)
            if (!is_plain_leaf(index, leaf))
                return false;
    }
    return true;
}

/* Guards against errors in the parts of a plain disjunction: in all of them or, where || goes from left to right, in those before one. */
static void profile_guards(struct profile *profile, struct index *index, uint32_t node, uint32_t before)
{
    const struct wants_node *nodes = index->wants.nodes;

    for (uint32_t part = nodes[node].child; part && !(index->wants.ordered && part == before);
         part = nodes[part].after) {
        if (nodes[part].kind == WANTS_LEAF)
            profile_guard(profile, index, &index->wants.items[nodes[part].want]);
        for (uint32_t leaf = nodes[part].child; leaf; leaf = nodes[leaf].after)
            profile_guard(profile, index, &index->wants.items[nodes[leaf].want]);
    }
}

/* Narrows by a part of a disjunction: a leaf, or the leaves of a conjunction. */
static bool profile_take(struct profile *profile, struct index *index, uint32_t node, uint32_t part)
{
    const struct wants_node *nodes = index->wants.nodes;

    if (is_plain(index, node))
        profile_guards(profile, index, node, part);
    else
        profile->evaluate = true;
    if (nodes[part].kind == WANTS_LEAF)
        return profile_leaf(profile, index, &index->wants.items[nodes[part].want]);
    for (uint32_t leaf = nodes[part].child; leaf && nodes[part].kind == WANTS_AND; leaf = nodes[leaf].after)
        if (nodes[leaf].kind == WANTS_LEAF && !profile_leaf(profile, index, &index->wants.items[nodes[leaf].want]))
            return false;
    return true;
}

/* Makes room for `parts` copies of the profiles; false, and all are to be evaluated, when those are too many. */
static bool profiles_copy(struct profiles *profiles, uint32_t parts)
{
    uint32_t before = profiles->count;

    if ((uint64_t)parts * before > INDEX_PROFILES_MAX) {
        for (uint32_t i = 0; i < before; i++)
            profiles->items[i].evaluate = true;
        return false;
    }
    for (uint32_t copies = 1; copies < parts; copies++)
        for (uint32_t i = 0; i < before; i++)
            profile_copy(&profiles->items[copies * before + i], &profiles->items[i]);
    return true;
}

/* Keeps a profile, which moves up to the next place. */
static void profile_keep(struct profiles *profiles, uint32_t i, uint32_t *kept)
{
    struct profile swap = profiles->items[*kept];

    if (*kept != i) {
        profiles->items[*kept] = profiles->items[i];
        profiles->items[i] = swap;
    }
    ++*kept;
}

/* Replaces each profile by one for each part of the disjunction. */
static void profiles_multiply(struct profiles *profiles, struct index *index, uint32_t node)
{
    const struct wants_node *nodes = index->wants.nodes;
    uint32_t parts = 0, before = profiles->count, kept = 0;

    for (uint32_t part = nodes[node].child; part; part = nodes[part].after)
        parts++;
    if (!profiles_copy(profiles, parts))
        return;
    for (uint32_t part = nodes[node].child, n = 0; part; part = nodes[part].after, n++)
        for (uint32_t i = n * before; i < (n + 1) * before; i++)
            if (profile_take(&profiles->items[i], index, node, part))
                profile_keep(profiles, i, &kept);
    profiles->count = kept;
}

/* The same for the keys of member(name, { keys }), which is never an error for a value. */
static void profiles_multiply_keys(struct profiles *profiles, struct index *index, const struct want *want)
{
    uint32_t before = profiles->count, kept = 0;

    if (index_given(index->env, want->attribute) || !profiles_copy(profiles, want->key_count)) {
        for (uint32_t i = 0; i < before; i++)
            profiles->items[i].evaluate = true;
        return;
    }
    for (uint32_t n = 0; n < want->key_count; n++)
        for (uint32_t i = n * before; i < (n + 1) * before; i++)
            if (profile_narrow(&profiles->items[i], index, want, n))
                profile_keep(profiles, i, &kept);
    profiles->count = kept;
}

void profiles_make(struct profiles *profiles, struct index *index)
{
    const struct wants *wants = &index->wants;

    profiles->count = 0;
    if (wants->never)
        return;
    profiles->count = 1;
    profiles->items[0].count = 0;
    profiles->items[0].evaluate = wants->deviant;
    for (uint32_t node = wants->top; node; node = wants->nodes[node].after) {
        const struct wants_node *at = &wants->nodes[node];

        if (at->kind == WANTS_LEAF && !profile_leaf(&profiles->items[0], index, &wants->items[at->want])) {
            profiles->count = 0;
            return;
        }
    }
    for (uint32_t node = wants->top; node && profiles->count; node = wants->nodes[node].after) {
        const struct wants_node *at = &wants->nodes[node];

        if (at->kind == WANTS_OR)
            profiles_multiply(profiles, index, node);
        else if (at->kind == WANTS_LEAF && wants->items[at->want].kind == WANT_AMONG)
            profiles_multiply_keys(profiles, index, &wants->items[at->want]);
    }
}
