/* why_hints.c: names that no offer has, with the nearest that offers do have; attributes that are missing, and types that never fit. */
#include "lang/ad/refs.h"
#include "lang/base/mem.h"
#include "lang/base/nearest.h"
#include "match/pair/why_parts.h"

#include <stdlib.h>
#include <string.h>

/* How many offers have an attribute of each name; counted when the first hint needs it. */
struct census {
    symbol *names; /* by the number of the name; SYMBOL_NONE: nobody has it */
    size_t *counts;
    size_t room;
};

static void census_take(struct census *census, const struct why_work *work)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct expr *root = tree_root(work->offers[i]), *parts = tree_parts(work->offers[i], root);

        for (uint32_t k = 0; k < root->u.run.count; k++) {
            uint32_t number = symbol_name(parts[k].label);

            if (number >= census->room) {
                size_t room = (size_t)number * 2;

                census->names = mem_grow(census->names, room * sizeof *census->names);
                census->counts = mem_grow(census->counts, room * sizeof *census->counts);
                memset(census->names + census->room, 0, (room - census->room) * sizeof *census->names);
                memset(census->counts + census->room, 0, (room - census->room) * sizeof *census->counts);
                census->room = room;
            }
            census->names[number] = parts[k].label;
            census->counts[number]++;
        }
    }
}

/* How many offers have the attribute. */
static size_t census_count(struct census *census, const struct why_work *work, symbol name)
{
    if (!census->room)
        census_take(census, work);
    return symbol_name(name) < census->room ? census->counts[symbol_name(name)] : 0;
}

static void census_done(struct census *census)
{
    free(census->names);
    free(census->counts);
}

/* Finds the name in the pool that was probably meant. */
static void find_nearest(struct census *census, const struct why_work *work, struct why_hint *hint)
{
    struct nearest nearest;
    size_t len;
    const char *wrong = symbols_text(work->request->symbols, hint->name, &len);

    census_count(census, work, hint->name);
    nearest_init(&nearest, wrong, len);
    for (size_t i = 0; i < census->room; i++) {
        const char *before = nearest.name;

        if (census->names[i] == SYMBOL_NONE)
            continue;
        nearest_try(&nearest, symbols_text(work->request->symbols, census->names[i], &len));
        if (nearest.name != before) {
            hint->nearest = census->names[i];
            hint->nearest_have = census->counts[i];
        }
    }
}

static bool hint_told(const struct why *why, enum why_hint_kind kind, symbol name)
{
    for (uint32_t i = 0; i < why->hint_count; i++)
        if (why->hints[i].kind == kind && symbol_same(why->hints[i].name, name))
            return true;
    return false;
}

static void hint_add(struct why *why, const struct why_hint *hint)
{
    if (why->hint_count < WHY_HINTS_MAX)
        why->hints[why->hint_count++] = *hint;
}

/* Adds a hint about a name that a clause reads from the offers, when some do not have it. */
static void hint_name(struct why_work *work, struct census *census, uint32_t clause, symbol name)
{
    struct why_hint hint = {.clause = clause, .name = name};

    if (hint_told(work->why, WHY_NO_SUCH_NAME, name) || hint_told(work->why, WHY_MISSING, name))
        return;
    if (work->why->clauses[clause].undefined == work->count) { /* probably nobody has it: the census is wanted anyway */
        hint.count = work->count - census_count(census, work, name);
    } else {
        for (size_t i = 0; i < work->count; i++)
            hint.count += !tree_find(work->offers[i], tree_root(work->offers[i]), name);
    }
    if (hint.count == 0)
        return;
    hint.kind = hint.count == work->count ? WHY_NO_SUCH_NAME : WHY_MISSING;
    if (hint.kind == WHY_NO_SUCH_NAME)
        find_nearest(census, work, &hint);
    hint_add(work->why, &hint);
}

static void hint_names(struct why_work *work, struct census *census, uint32_t clause)
{
    const struct tree *left = work->why->clauses[clause].left;
    struct scope own, inside;
    struct refs refs;

    refs_init(&refs);
    scope_init(&own, work->request, NULL);
    scope_inside(&inside, &own, left);
    refs_add(&refs, &inside, tree_root(left));
    for (uint32_t i = 0; i < refs.count; i++)
        if (refs.items[i].len)
            hint_name(work, census, clause, refs.items[i].path[0]);
    refs_done(&refs);
}

/* Adds a hint about a comparison that is an error for some offers: the type that they have there. */
static void hint_type(struct why_work *work, uint32_t clause)
{
    const struct clauses *leaf = &work->leaves[clause];
    const struct property *property = &leaf->items[0].property;
    struct why_hint hint = {
        .kind = WHY_WRONG_TYPE, .clause = clause, .name = property->name, .wanted = (enum value_type)property->type};

    for (size_t i = 0; i < work->count; i++) {
        const struct expr *found = tree_find(work->offers[i], tree_root(work->offers[i]), property->name);

        if (!found || !expr_is_literal(found) ||
            property_test(property, work->env, leaf->tree->dialect, work->offers[i]) != PROPERTY_ERROR)
            continue;
        if (hint.count++ == 0)
            hint.found = (enum value_type)found->kind;
    }
    if (hint.count)
        hint_add(work->why, &hint);
}

void why_find_hints(struct why_work *work)
{
    struct why *why = work->why;
    struct census census = {0};

    why->hints = arena_alloc(&why->arena, WHY_HINTS_MAX * sizeof *why->hints);
    for (uint32_t i = 0; i < why->clause_count; i++) {
        if (why->clauses[i].undefined)
            hint_names(work, &census, i);
        if (why->clauses[i].error && work->leaves[i].count == 1 && work->leaves[i].items[0].simple)
            hint_type(work, i);
    }
    census_done(&census);
}
