/* profiles.c: an ad as rectangles: the disjunctive form of what it asks for (section 4.2.2).
 *
 * Each profile is a conjunction of intervals. A disjunction multiplies the profiles; where there would be too many, it is left out,
 * and evaluated: the intervals that all have in common stay. Two intervals in one dimension are intersected; a profile that
 * wants the impossible goes. */
#include "base/mem.h"
#include "index/index_parts.h"

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

/* One more interval in a dimension. False when nothing is left; where both cannot be said in one, the first stays and the rest is
 * evaluated. */
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

/* No number is left; but NaN, which is no key, may be: then all are let through to be evaluated. */
static bool bound_widen(struct profile *profile, struct bound *bound)
{
    if (!bound->not_number)
        return false;
    profile->evaluate = true;
    bound->cell.low = -INFINITY;
    bound->cell.high = INFINITY;
    return true;
}

/* A leaf becomes an interval of the profile. False when the profile is impossible. */
static bool profile_narrow(struct profile *profile, struct index *index, const struct want *want)
{
    const struct key *key = &index->wants.keys[want->keys];
    struct dim_cell cell;
    uint32_t dim;

    if ((want->kind != WANT_COMPARE && want->kind != WANT_IS) || (key->kind == KEY_STRING && want->op > OP_NOT_EQUAL)) {
        profile->evaluate = true; /* strings have no order here */
        return true;
    }
    if (index_given(index->env, want->name)) { /* what the counterpart lacks is not what is seen */
        profile->evaluate = true;
        return true;
    }
    dim = index_dim(index, true, want->name, key->kind, index->wants.counts, true);
    if (dim == NO_DIM) {
        profile->evaluate = true;
        return true;
    }
    cell = compare_cell((enum op)want->op, index_key(index, key, false));
    for (uint32_t i = 0; i < profile->count; i++) {
        if (profile->bounds[i].dim == dim) {
            bool possible = cell_narrow(&profile->bounds[i].cell, &cell, &profile->evaluate);

            profile->bounds[i].not_number |= want->not_number;
            return possible || bound_widen(profile, &profile->bounds[i]);
        }
        if (index->dims[dim].shared && symbol_same(index->dims[profile->bounds[i].dim].name, want->name))
            return false; /* of two kinds at once (4.4.4) */
    }
    if (profile->count == profile->room) {
        profile->room = profile->room ? profile->room * 2 : 8;
        profile->bounds = mem_grow(profile->bounds, profile->room * sizeof *profile->bounds);
    }
    profile->bounds[profile->count++] = (struct bound){dim, want->not_number, cell};
    return cell.low <= cell.high || isnan(cell.high) || bound_widen(profile, &profile->bounds[profile->count - 1]);
}

/* Narrows by a part of a disjunction: a leaf, or the leaves of a conjunction. */
static bool profile_take(struct profile *profile, struct index *index, uint32_t node)
{
    const struct wants_node *nodes = index->wants.nodes;

    profile->evaluate = true; /* an error in another part would spoil this one */
    if (nodes[node].kind == WANTS_LEAF)
        return profile_narrow(profile, index, &index->wants.items[nodes[node].want]);
    for (uint32_t part = nodes[node].child; part && nodes[node].kind == WANTS_AND; part = nodes[part].after)
        if (nodes[part].kind == WANTS_LEAF && !profile_narrow(profile, index, &index->wants.items[nodes[part].want]))
            return false;
    return true;
}

/* Each profile is followed by one for each part of the disjunction, and goes. */
static void profiles_multiply(struct profiles *profiles, struct index *index, uint32_t node)
{
    const struct wants_node *nodes = index->wants.nodes;
    uint32_t parts = 0, before = profiles->count, kept = 0;

    for (uint32_t part = nodes[node].child; part; part = nodes[part].after)
        parts++;
    if (parts * before > INDEX_PROFILES_MAX) {
        for (uint32_t i = 0; i < before; i++)
            profiles->items[i].evaluate = true;
        return;
    }
    for (uint32_t copies = 1; copies < parts; copies++)
        for (uint32_t i = 0; i < before; i++)
            profile_copy(&profiles->items[copies * before + i], &profiles->items[i]);
    for (uint32_t part = nodes[node].child, n = 0; part; part = nodes[part].after, n++) {
        for (uint32_t i = n * before; i < (n + 1) * before; i++) {
            if (!profile_take(&profiles->items[i], index, part))
                continue;
            if (kept != i) {
                struct profile swap = profiles->items[kept];

                profiles->items[kept] = profiles->items[i];
                profiles->items[i] = swap;
            }
            kept++;
        }
    }
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

        if (at->kind == WANTS_LEAF && !profile_narrow(&profiles->items[0], index, &wants->items[at->want])) {
            profiles->count = 0;
            return;
        }
    }
    for (uint32_t node = wants->top; node && profiles->count; node = wants->nodes[node].after)
        if (wants->nodes[node].kind == WANTS_OR)
            profiles_multiply(profiles, index, node);
}
