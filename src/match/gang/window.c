/* window.c: a slot of a gang as a plain ad. */
#include "match/gang/window.h"

#include "lang/ad/functions.h"
#include "lang/ad/specialize.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- name sets */

void name_set_done(struct name_set *set)
{
    free(set->words);
    free(set->items);
    *set = (struct name_set){0};
}

void name_set_add(struct name_set *set, symbol name)
{
    uint32_t number = symbol_name(name), room = number / 64 + 1;

    if (room > set->room) {
        room += set->room;
        set->words = mem_grow(set->words, room * sizeof *set->words);
        memset(set->words + set->room, 0, (room - set->room) * sizeof *set->words);
        set->room = room;
    }
    if (name_set_has(set, name))
        return;
    set->words[number / 64] |= (uint64_t)1 << (number & 63);
    ARRAY_ROOM(set->items, set->count, set->item_room, 32);
    set->items[set->count++] = name;
    set->hash ^= rng_mix(number);
}

/* Does a call look at more of an ad than the names that are written? eval("cpu.Key"), size(cpu). */
static bool call_is_blind(const struct tree *tree, const struct expr *e)
{
    const struct function *function = function_find(tree->dialect, e->u.name.id);
    const struct expr *parts = tree_parts(tree, e);

    if (!function)
        return false;
    return function->traits & FUNCTION_SCOPE ||
           (!strcmp(function->name, "size") && e->small == 1 && parts[0].kind == EXPR_NAME);
}

void name_set_read(struct name_set *set, const struct tree *tree, const struct expr *e)
{
    const struct expr *parts = tree_parts(tree, e);

    if (e->kind == EXPR_CALL && call_is_blind(tree, e))
        set->blind = true;

    if (e->kind == EXPR_NAME || e->kind == EXPR_ROOT_NAME || e->kind == EXPR_DOT)
        name_set_add(set, e->u.name.id);
    if (e->kind == EXPR_DOT)
        name_set_add(set, EXPR_DOT_BASE(e));
    for (uint32_t i = 0; i < expr_part_count(e); i++) {
        if (e->kind == EXPR_PATH && i > 0 && parts[i].label == STEP_SELECT)
            name_set_add(set, parts[i].u.name.id);
        else if (!expr_is_literal(&parts[i]))
            name_set_read(set, tree, &parts[i]);
    }
}

bool window_shows(symbol name)
{
    return !(symbol_same(name, NAME_PORTS) || symbol_same(name, NAME_LABEL) || symbol_same(name, NAME_CONSTRAINT) ||
             symbol_same(name, NAME_REQUIREMENTS) || symbol_same(name, NAME_OTHER) || symbol_same(name, NAME_TARGET) ||
             symbol_same(name, NAME_MY) || symbol_name(name) <= NAME_NUMBER_ROOT);
}

/* ------------------------------------------------------------------------------------------------------------- clauses */

/* Carries an expression of `tree`, which stands in the slot, to the window, if the window can say it; then it is on the builder. */
struct carrying {
    const struct env *env;
    const struct slot *slot;
    const struct tree *tree;
    struct build *build;
};

void window_push_asked(struct build *build, symbol name)
{
    struct expr *cell;

    symbols_hold(build->symbols, NAME_OTHER);
    symbols_hold(build->symbols, name);
    cell = build_new(build, EXPR_DOT);
    EXPR_DOT_BASE(cell) = NAME_OTHER;
    cell->u.name.id = name;
}

/* Pushes an attribute of whoever docks there; false for one that has a meaning of its own in a window. */
static bool carry_asked(const struct carrying *carrying, symbol name)
{
    if (!window_shows(name))
        return false;
    window_push_asked(carrying->build, name);
    return true;
}

/* Does the name stand for whoever docks at the slot? */
static bool is_counterpart(const struct slot *slot, symbol name)
{
    const struct scope *at = &slot->port;

    if (scope_find(&at, name))
        return false;
    if (symbol_same(name, NAME_TARGET))
        name = NAME_OTHER;
    for (uint32_t i = 0; i <= slot->port_number; i++)
        if (symbol_same(slot->labels[i].name, name))
            return i == slot->port_number;
    return symbol_same(name, NAME_OTHER);
}

static bool carry(const struct carrying *carrying, const struct expr *e);

static bool carry_parts(const struct carrying *carrying, const struct expr *e)
{
    const struct expr *parts = tree_parts(carrying->tree, e);

    for (uint32_t i = 0; i < expr_part_count(e); i++) {
        if (!carry(carrying, &parts[i]))
            return false;
        build_top(carrying->build)->label = parts[i].label;
        build_top(carrying->build)->flags = 0;
    }
    return true;
}

static bool carry_name(const struct carrying *carrying, symbol name)
{
    const struct scope *at = &carrying->slot->port, *reserved;
    struct label label;

    if (scope_find(&at, name) || scope_reserved(&carrying->slot->port, name, &reserved) ||
        scope_label(&carrying->slot->port, name, &label))
        return false;
    for (uint32_t i = 0; i < carrying->env->given_count; i++)
        if (symbol_same(carrying->env->given[i].name, name))
            return false; /* where the counterpart has none, the matchmaker gives one */
    return carry_asked(carrying, name);
}

/* Can the call be carried? Functions that look about where they stand, read the time, or depend on chance cannot. */
static bool call_carries(const struct tree *tree, const struct expr *e)
{
    const struct function *function = function_find(tree->dialect, e->u.name.id);

    return function && !(function->traits & (FUNCTION_CHANCE | FUNCTION_SCOPE | FUNCTION_TIME));
}

static bool carry(const struct carrying *carrying, const struct expr *e)
{
    struct build *build = carrying->build;

    if (expr_is_literal(e)) {
        build_copy(build, carrying->tree, e);
        return true;
    }
    switch (e->kind) {
    case EXPR_DOT:
        return is_counterpart(carrying->slot, EXPR_DOT_BASE(e)) && carry_asked(carrying, e->u.name.id);
    case EXPR_NAME:
        return carry_name(carrying, e->u.name.id);
    case EXPR_WITHIN:
        return carry(carrying, tree_parts(carrying->tree, e));
    case EXPR_CHAIN:
    case EXPR_LIST:
        if (!carry_parts(carrying, e))
            return false;
        build_bind(build, (enum expr_kind)e->kind, e->u.run.count);
        return true;
    case EXPR_PREFIX:
        if (!carry_parts(carrying, e))
            return false;
        build_prefix(build, (enum op)e->small);
        return true;
    case EXPR_CALL:
        if (!call_carries(carrying->tree, e) || !carry_parts(carrying, e))
            return false;
        symbols_hold(build->symbols, e->u.name.id);
        build_call(build, e->u.name.id, (uint32_t)e->small);
        return true;
    default:
        return false;
    }
}

/* What the clauses of a constraint come to. */
struct clause_run {
    struct members *members;
    const struct slot *slot;
    struct build *build;
    uint32_t count, folded;
    bool never;
    struct window_trace *trace; /* or NULL */
    const struct expr *origin;  /* the clause as it is written */
};

static void trace_add(struct clause_run *run, bool asked, bool timed)
{
    struct window_trace *trace = run->trace;

    if (!trace)
        return;
    ARRAY_ROOM(trace->items, trace->count, trace->room, 8);
    trace->items[trace->count++] = (struct window_origin){run->origin, asked, timed};
}

/* Is the clause, which is false whoever docks, false because of the time? */
static bool origin_timed(const struct clause_run *run)
{
    struct tree *left = specialize(run->members->env, run->members->scratch, &run->slot->port, run->origin,
                                   SPECIALIZE_TRUTH | SPECIALIZE_DOCKED);
    bool timed = tree_root(left)->kind != EXPR_BOOLEAN;

    tree_unref(left);
    return timed;
}

/* Takes a clause that is never true: there is no window then, unless it is to be explained. */
static void clause_never(struct clause_run *run)
{
    run->never = !run->trace;
    if (run->never)
        return;
    build_boolean(run->build, false);
    build_top(run->build)->label = OP_AND;
    run->count++;
    trace_add(run, true, origin_timed(run));
}
#define FOLDED_MAX 64     /* clauses that are folded with care; what costs more is left to evaluation */
#define FOLD_STEPS 4096   /* steps for each of them */
#define FOLD_STEPS_FEW 64 /* steps for each of the others */

/* Appends what can be said of an expression in the window, conjunct by conjunct. */
static void clause_add(struct clause_run *run, const struct tree *tree, const struct expr *e)
{
    const struct carrying carrying = {run->members->env, run->slot, tree, run->build};
    const struct expr *parts = tree_parts(tree, e);
    struct build_mark mark;

    while (e->kind == EXPR_WITHIN)
        parts = tree_parts(tree, e = parts);
    if (e->kind == EXPR_BOOLEAN) {
        if (!e->small)
            clause_never(run);
        return;
    }
    if (e->kind == EXPR_CHAIN && parts[1].label == OP_AND) {
        for (uint32_t i = 0; i < e->u.run.count; i++)
            clause_add(run, tree, &parts[i]);
        return;
    }
    mark = build_mark(run->build);
    if (carry(&carrying, e)) {
        build_top(run->build)->label = OP_AND;
        build_top(run->build)->flags = 0;
        run->count++;
        trace_add(run, true, false);
    } else {
        run->members->veiled = true;
        build_rewind(run->build, mark);
        trace_add(run, false, false);
    }
}

/* Is the clause `x op literal`, where x is an attribute of whoever docks there? Then nothing need be folded. */
static bool clause_is_plain(const struct slot *slot, const struct tree *tree, const struct expr *e)
{
    const struct expr *parts = tree_parts(tree, e);

    return e->kind == EXPR_CHAIN && e->u.run.count == 2 && parts[1].label >= OP_EQUAL &&
           parts[1].label <= OP_GREATER_EQUAL && parts[0].kind == EXPR_DOT && expr_is_literal(&parts[1]) &&
           is_counterpart(slot, EXPR_DOT_BASE(&parts[0]));
}

static bool clause_window(void *user, const struct slot *slot, const struct expr *e)
{
    struct clause_run *run = user;
    struct env env = *run->members->env;
    struct tree *left;

    run->origin = e;
    if (clause_is_plain(slot, slot->port.tree, e)) {
        clause_add(run, slot->port.tree, e);
        return true;
    }
    env.steps = run->folded++ < FOLDED_MAX ? FOLD_STEPS : FOLD_STEPS_FEW;
    left =
        specialize(&env, run->members->scratch, &slot->port, e, SPECIALIZE_TRUTH | SPECIALIZE_TIME | SPECIALIZE_DOCKED);
    clause_add(run, left, tree_root(left));
    tree_unref(left);
    return !run->never;
}

/* ---------------------------------------------------------------------------------------------------------- attributes */

static bool list_is_plain(const struct tree *tree, const struct expr *e)
{
    const struct expr *parts = tree_parts(tree, e);

    if (e->kind != EXPR_LIST)
        return false;
    for (uint32_t i = 0; i < e->u.run.count; i++)
        if (!expr_is_literal(&parts[i]))
            return false;
    return true;
}

/* Pushes an attribute as it is seen now. One that is open, or not a scalar, becomes a reference to the counterpart's own: the index leaves it in
 * doubt. */
static void attribute_push(struct members *members, struct build *build, const struct scope *scope,
                           const struct expr *e)
{
    struct arena_mark mark;
    struct value v;

    if (expr_is_literal(e) || list_is_plain(scope->tree, e)) {
        build_copy(build, scope->tree, e);
    } else {
        mark = arena_mark(members->scratch);
        if (members_evaluate(members, scope, e, &v) && v.type < VALUE_LIST) {
            value_build(build, &v);
        } else {
            members->veiled = true;
            window_push_asked(build, e->label);
        }
        arena_rewind(members->scratch, mark);
    }
    symbols_hold(build->symbols, e->label);
    build_attribute(build, e->label);
}

/* Pushes the attributes of one of the ads around the slot that no inner one hides. */
static uint32_t attributes_push(struct members *members, struct build *build, const struct slot *slot,
                                const struct scope *scope, const struct name_set *asked)
{
    const struct expr *parts = tree_parts(scope->tree, scope->ad);
    uint32_t count = 0;

    for (uint32_t i = 0; i < scope->ad->u.run.count; i++) {
        const struct scope *seen = &slot->port;

        if (!window_shows(parts[i].label) || (asked && !name_set_has(asked, parts[i].label)) ||
            scope_find(&seen, parts[i].label) != &parts[i])
            continue;
        attribute_push(members, build, scope, &parts[i]);
        count++;
    }
    return count;
}

/* Makes a constraint of the clauses that are on the builder. */
static void constraint_bind(struct build *build, uint32_t count)
{
    if (count > 1)
        build_bind(build, EXPR_CHAIN, count);
    symbols_hold(build->symbols, NAME_CONSTRAINT);
    build_attribute(build, NAME_CONSTRAINT);
}

static struct tree *window_run(struct members *members, const struct slot *slot, const struct name_set *asked,
                               window_more_fn *more, void *user, struct window_trace *trace)
{
    const struct tree *ad = slot->port.tree;
    struct clause_run run = {.members = members, .slot = slot, .trace = trace};
    struct tree *window = NULL;
    uint32_t count = 0, place;
    struct build build;

    build_init(&build, ad->symbols, ad->dialect);
    run.build = &build;
    for (const struct scope *scope = &slot->port; scope; scope = scope->parent)
        count += attributes_push(members, &build, slot, scope, asked);
    if (slot_clauses(members, slot, clause_window, &run) && more)
        run.count += more(user, &build);
    if (!run.never) {
        if (run.count) {
            constraint_bind(&build, run.count);
            count++;
        }
        if (build_ad(&build, count, &place) == 0)
            window = build_seal(&build);
    }
    build_done(&build);
    return window;
}

struct tree *window_make(struct members *members, const struct slot *slot, const struct name_set *asked,
                         window_more_fn *more, void *user)
{
    return window_run(members, slot, asked, more, user, NULL);
}

/* Is the expression a conjunction of several clauses? A clause alone never is. */
static bool is_conjunction(const struct tree *tree, const struct expr *e)
{
    return e->kind == EXPR_CHAIN && tree_parts(tree, e)[1].label == OP_AND;
}

/* Pushes the clauses of a constraint; returns how many. */
static uint32_t clauses_push(struct build *build, const struct tree *tree, const struct expr *e)
{
    if (is_conjunction(tree, e)) {
        build_copy_parts(build, tree, e);
        return e->u.run.count;
    }
    build_copy(build, tree, e);
    build_top(build)->label = OP_AND;
    return 1;
}

static struct tree *window_with(const struct tree *window, const struct tree *clauses)
{
    const struct expr *root = tree_root(window), *parts = tree_parts(window, root), *own = NULL;
    uint32_t count = 1, asked = 0, place;
    struct tree *with = NULL;
    struct build build;

    build_init(&build, window->symbols, window->dialect);
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        if (symbol_same(parts[i].label, NAME_CONSTRAINT)) {
            own = &parts[i];
            continue;
        }
        build_copy(&build, window, &parts[i]);
        symbols_hold(build.symbols, parts[i].label);
        build_attribute(&build, parts[i].label);
        count++;
    }
    if (own)
        asked = clauses_push(&build, window, own);
    asked += clauses_push(&build, clauses, tree_root(clauses));
    constraint_bind(&build, asked);
    if (build_ad(&build, count, &place) == 0)
        with = build_seal(&build);
    build_done(&build);
    return with;
}

struct tree *window_extend(struct tree *window, window_more_fn *more, void *user)
{
    struct tree *clauses, *with;
    struct build build;
    uint32_t count;

    build_init(&build, window->symbols, window->dialect);
    count = more(user, &build);
    if (!count) {
        build_done(&build);
        return tree_ref(window);
    }
    if (count > 1)
        build_bind(&build, EXPR_CHAIN, count);
    clauses = build_seal(&build);
    build_done(&build);
    with = window_with(window, clauses);
    tree_unref(clauses);
    return with;
}

struct tree *window_traced(struct members *members, const struct slot *slot, struct window_trace *trace)
{
    return window_run(members, slot, NULL, NULL, NULL, trace);
}
