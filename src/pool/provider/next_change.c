/* next_change.c: when the value of a part of an expression will change. */
#include "pool/provider/next_change.h"

#include "lang/ad/functions.h"
#include "lang/ad/ops.h"
#include "pool/provider/trend.h"

#define TURNS_LOOK_AHEAD (8 * 86400) /* seconds: for expressions that jump for ever, and not weekly */
#define TURNS_ALIASES_MAX 8          /* a = b; b = c; c = [ ... ] */
#define TURNS_SCAN 3600              /* seconds: for expressions that must be tried second by second */

void next_change_init(struct next_change *turns, const struct env *env, struct arena *scratch, uint64_t steps)
{
    *turns = (struct next_change){.env = env, .scratch = scratch, .steps = steps};
}

bool next_change_charge(struct next_change *turns, uint64_t steps)
{
    if (turns->steps < steps)
        turns->spent = true;
    turns->steps -= turns->steps < steps ? turns->steps : steps;
    return !turns->spent;
}

void next_change_value(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t at,
                       struct value *ret)
{
    struct env env = *turns->env;
    struct eval eval;
    bool less;

    if (!next_change_charge(turns, 4)) {
        *ret = value_error();
        return;
    }
    env.now = at;
    env.steps = env.steps ? env.steps : EVAL_STEPS_MAX;
    less = env.steps > turns->steps; /* then an evaluation that is cut short tells nothing */
    if (less)
        env.steps = turns->steps + 1;
    eval_init(&eval, &env, turns->scratch);
    eval_expr(&eval, scope, e, ret);
    next_change_charge(turns, env.steps - eval.steps);
    turns->spent = turns->spent || (less && eval.exhausted);
}

/* -------------------------------------------------------------------------------------------------- references */

static bool expr_refers(const struct expr *e)
{
    return e->kind >= EXPR_NAME && e->kind <= EXPR_PATH;
}

/* Follows to the attribute `name` of the ad that a definition is. */
static enum followed follow_select(struct next_change *turns, const struct scope *scope, const struct expr *e,
                                   symbol name, const struct scope **ret_scope, const struct expr **ret)
{
    const struct scope *reserved;
    struct scope *inner;

    for (int i = 0; expr_refers(e); i++) {
        enum followed followed;

        if (i == TURNS_ALIASES_MAX || turns->depth == COURSE_DEPTH_MAX)
            return FOLLOWED_ODD;
        turns->depth++;
        followed = next_change_follow(turns, scope, e, &scope, &e);
        turns->depth--;
        if (followed != FOLLOWED_OWN)
            return followed == FOLLOWED_OTHER ? followed : FOLLOWED_ODD;
    }
    if (expr_is_literal(e))
        return FOLLOWED_NONE;
    if (e->kind != EXPR_AD || scope_reserved(scope, name, &reserved))
        return FOLLOWED_ODD;
    inner = arena_alloc(turns->scratch, sizeof *inner);
    scope_open(inner, scope, e);
    *ret_scope = inner;
    *ret = scope_find(ret_scope, name);
    return *ret ? FOLLOWED_OWN : FOLLOWED_NONE;
}

static enum followed follow_dot(struct next_change *turns, const struct scope *scope, const struct expr *e,
                                const struct scope **ret_scope, const struct expr **ret)
{
    const struct scope *at = scope, *is;
    const struct expr *found = scope_find(&at, EXPR_DOT_BASE(e));

    if (found)
        return follow_select(turns, at, found, e->u.name.id, ret_scope, ret);
    if (!scope_reserved(scope, EXPR_DOT_BASE(e), &is))
        return FOLLOWED_OTHER;
    if (!is)
        return FOLLOWED_NONE;
    if (scope_reserved(is, e->u.name.id, &at))
        return FOLLOWED_ODD;
    *ret = scope_find(&is, e->u.name.id);
    *ret_scope = is;
    return *ret ? FOLLOWED_OWN : FOLLOWED_NONE;
}

static enum followed follow_path(struct next_change *turns, const struct scope *scope, const struct expr *e,
                                 const struct scope **ret_scope, const struct expr **ret)
{
    const struct expr *parts = tree_parts(scope->tree, e), *from = &parts[0];
    enum followed followed = FOLLOWED_OWN;

    for (uint32_t i = 1; i < e->u.run.count && followed == FOLLOWED_OWN; i++) {
        if (parts[i].label != STEP_SELECT)
            return i == 1 && next_change_follow(turns, scope, from, &scope, &from) == FOLLOWED_OTHER ? FOLLOWED_OTHER
                                                                                                     : FOLLOWED_ODD;
        followed = follow_select(turns, scope, from, parts[i].u.name.id, &scope, &from);
    }
    *ret_scope = scope;
    *ret = from;
    return followed;
}

enum followed next_change_follow(struct next_change *turns, const struct scope *scope, const struct expr *e,
                                 const struct scope **ret_scope, const struct expr **ret)
{
    const struct scope *at = scope, *is;
    const struct expr *found;

    if (!next_change_charge(turns, 1))
        return FOLLOWED_ODD;
    switch (e->kind) {
    case EXPR_NAME:
        found = scope_find(&at, e->u.name.id);
        break;
    case EXPR_ROOT_NAME:
        at = scope->root;
        found = at ? tree_find(at->tree, at->ad, e->u.name.id) : NULL;
        break;
    case EXPR_DOT:
        return follow_dot(turns, scope, e, ret_scope, ret);
    case EXPR_PATH:
        return follow_path(turns, scope, e, ret_scope, ret);
    default:
        return FOLLOWED_ODD;
    }
    if (!found)
        return e->kind == EXPR_ROOT_NAME || scope_reserved(scope, e->u.name.id, &is) ? FOLLOWED_NONE : FOLLOWED_OTHER;
    *ret_scope = at;
    *ret = found;
    return FOLLOWED_OWN;
}

/* ------------------------------------------------------------------------------------------------ what is read */

enum reads { READS_TIME = 1, READS_OTHER = 2, READS_ODD = 4 };

static int reads_of(struct next_change *turns, const struct scope *scope, const struct expr *e);

static int reads_deeper(struct next_change *turns, const struct scope *scope, const struct expr *e)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    const struct function *function;
    int reads = 0;

    switch ((enum expr_kind)e->kind) {
    case EXPR_NAME:
    case EXPR_ROOT_NAME:
    case EXPR_DOT:
    case EXPR_PATH:
        switch (next_change_follow(turns, scope, e, &scope, &e)) {
        case FOLLOWED_OWN:
            return reads_of(turns, scope, e);
        case FOLLOWED_OTHER:
            return READS_OTHER;
        case FOLLOWED_NONE:
            return 0;
        default:
            return READS_ODD;
        }
    case EXPR_AD:
        return e->u.run.count ? READS_ODD : 0;
    case EXPR_CALL:
        function = function_find(scope->tree->dialect, e->u.name.id);
        if (!function)
            return 0;
        if (function->traits & FUNCTION_TIME)
            reads |= READS_TIME;
        if (function->traits & (FUNCTION_SCOPE | FUNCTION_CHANCE) ||
            (function->traits & (FUNCTION_LAZY | FUNCTION_CHOICE)) == FUNCTION_LAZY)
            reads |= READS_OTHER; /* never folded */
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < expr_part_count(e); i++)
        reads |= reads_of(turns, scope, &parts[i]);
    return reads;
}

static int reads_of(struct next_change *turns, const struct scope *scope, const struct expr *e)
{
    int reads;

    if (!next_change_charge(turns, 1) || turns->depth == COURSE_DEPTH_MAX)
        return READS_ODD;
    turns->depth++;
    reads = reads_deeper(turns, scope, e);
    turns->depth--;
    return reads;
}

/* ------------------------------------------------------------------------------------------------------- leaves */

/* An expression that reads the time and no counterpart. */
struct leaf {
    const struct scope *scope;
    const struct expr *e;
    const struct expr *sides; /* the two sides, if it is a comparison; or NULL */
    bool ties;                /* the comparison asks whether the sides are the same: perhaps true for a moment only */
};

/* The part of a value that counts: true, false, undefined, error or another. */
static int key_of(const struct dialect *dialect, const struct value *v)
{
    bool is = false;

    if (v->type == VALUE_ERROR)
        return 0;
    switch (op_condition(dialect, v, &is)) {
    case VALUE_BOOLEAN:
        return is ? 4 : 3;
    case VALUE_UNDEFINED:
        return 2;
    default:
        return 1;
    }
}

/* The key of the leaf at a second. While a course goes on, a key that has gone must not come back: so where the sides
 * may be the same for a moment, the key also says which one is larger; and for a number, its sign. */
static int leaf_key(struct next_change *turns, const struct leaf *leaf, int64_t at)
{
    const struct dialect *dialect = leaf->scope->tree->dialect;
    struct arena_mark mark = arena_mark(turns->scratch);
    struct value v, sides[2], order;
    int key, sign = 0;

    next_change_value(turns, leaf->scope, leaf->e, at, &v);
    key = key_of(dialect, &v);
    if (leaf->ties) {
        for (int i = 0; i < 2; i++)
            next_change_value(turns, leaf->scope, &leaf->sides[i], at, &sides[i]);
        op_binary(dialect, OP_LESS, &sides[0], &sides[1], &order);
        key = key * 8 + key_of(dialect, &order);
        op_binary(dialect, OP_GREATER, &sides[0], &sides[1], &order);
        key = key * 8 + key_of(dialect, &order);
    } else if (v.type == VALUE_INTEGER) {
        sign = (v.u.integer > 0) - (v.u.integer < 0);
    } else if (v.type == VALUE_REAL) {
        sign = (v.u.real > 0) - (v.u.real < 0);
    }
    arena_rewind(turns->scratch, mark);
    return key * 4 + sign + 1;
}

/* Two sides as one: how the left side moves as seen from the right one. False when they may pass each other more than
 * once. */
static bool sides_course(struct next_change *turns, const struct leaf *leaf, int64_t at, bool stays, struct trend *ret)
{
    struct trend right;

    if (!trend_of(turns, leaf->scope, &leaf->sides[0], at, stays, ret) ||
        !trend_of(turns, leaf->scope, &leaf->sides[1], at, stays, &right))
        return false;
    if (trend_is_linear(ret) && trend_is_linear(&right)) {
        ret->least = ret->most -= right.least;
    } else if ((trend_rises(ret) && trend_falls(&right)) || (trend_falls(ret) && trend_rises(&right))) {
        ret->least -= right.most;
        ret->most -= right.least;
    } else {
        return false;
    }
    ret->repeats = ret->repeats && right.repeats;
    ret->end = ret->end < right.end ? ret->end : right.end;
    return !stays || trend_stays(ret);
}

static bool leaf_course(struct next_change *turns, const struct leaf *leaf, int64_t at, struct trend *ret)
{
    if (!leaf->sides)
        return trend_of(turns, leaf->scope, leaf->e, at, false, ret) ||
               (trend_of(turns, leaf->scope, leaf->e, at, true, ret) && trend_stays(ret));
    return sides_course(turns, leaf, at, false, ret) || sides_course(turns, leaf, at, true, ret);
}

/* The first second after `same` with another key; the key at `differs` is another one. */
static int64_t leaf_halve(struct next_change *turns, const struct leaf *leaf, int key, int64_t same, int64_t differs)
{
    while (differs - same > 1 && !turns->spent) {
        int64_t middle = same + (differs - same) / 2;

        if (leaf_key(turns, leaf, middle) == key)
            same = middle;
        else
            differs = middle;
    }
    return differs;
}

/* The first second after `at` whose key differs from that at `at`; or how far it looked: up to `bound`, and with half
 * of the steps that are left, so that others may look as well. */
static int64_t leaf_scan(struct next_change *turns, const struct leaf *leaf, int64_t at, int64_t bound)
{
    struct leaf plain = {.scope = leaf->scope, .e = leaf->e};
    int key = leaf_key(turns, &plain, at);
    uint64_t least = turns->steps / 2;

    do
        at++;
    while (at < bound && turns->steps > least && leaf_key(turns, &plain, at) == key);
    return at;
}

static void leaf_add(struct next_change *turns, const struct leaf *leaf)
{
    int64_t at = turns->from, bound = at + COURSE_FAR, end;
    int key = leaf_key(turns, leaf, at);
    bool repeats = false, told;
    struct trend c;

    for (;;) {
        told = leaf_course(turns, leaf, at, &c);
        if (at == turns->from) { /* how far is it worth looking? */
            repeats = told && c.repeats;
            if (repeats)
                bound = turns->next < at + TURNS_WEEK ? turns->next : at + TURNS_WEEK;
            else if (turns->once < bound)
                bound = turns->once;
            if (!repeats && (!told || c.end != TURNS_NEVER) && at + TURNS_LOOK_AHEAD < bound)
                bound = at + TURNS_LOOK_AHEAD;
        }
        if (!told) {
            end = at + TURNS_SCAN;
            at = leaf_scan(turns, leaf, at, end < bound ? end : bound);
            repeats = false;
            break;
        }
        end = c.end < bound ? c.end : bound;
        if (!trend_stays(&c) && end - 1 > at && leaf_key(turns, leaf, end - 1) != key) {
            at = leaf_halve(turns, leaf, key, at, end - 1);
            break;
        }
        at = end;
        if (at >= bound || turns->spent || leaf_key(turns, leaf, at) != key)
            break;
    }
    if (at >= turns->from + (repeats ? TURNS_WEEK : COURSE_FAR))
        at = TURNS_NEVER;
    if (at < turns->next)
        turns->next = at;
    if (!repeats && at < turns->once)
        turns->once = at;
}

/* -------------------------------------------------------------------------------------------------------- walk */

/* Nothing can be foretold: the whole must be looked at again in a second. */
static void next_change_odd(struct next_change *turns)
{
    turns->next = turns->once = turns->from + 1;
}

static void walk_parts(struct next_change *turns, const struct scope *scope, const struct expr *e)
{
    const struct expr *parts = tree_parts(scope->tree, e);

    for (uint32_t i = 0; i < expr_part_count(e) && !turns->spent; i++)
        next_change_walk(turns, scope, &parts[i]);
}

/* An expression other than && || ! ?:. */
static void walk_operation(struct next_change *turns, const struct scope *scope, const struct expr *e)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    struct leaf leaf = {.scope = scope, .e = e};
    int reads = reads_of(turns, scope, e);

    if (reads & READS_ODD) {
        next_change_odd(turns);
    } else if ((reads & READS_TIME) && (reads & READS_OTHER)) {
        walk_parts(turns, scope, e);
    } else if (reads & READS_TIME) {
        if (e->kind == EXPR_CHAIN && e->u.run.count == 2 && parts[1].label >= OP_EQUAL &&
            parts[1].label <= OP_GREATER_EQUAL) {
            leaf.sides = parts;
            leaf.ties = parts[1].label <= OP_ISNT;
        }
        leaf_add(turns, &leaf);
    }
}

static void walk_deeper(struct next_change *turns, const struct scope *scope, const struct expr *e)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    const struct function *function;

    switch ((enum expr_kind)e->kind) {
    case EXPR_NAME:
    case EXPR_ROOT_NAME:
    case EXPR_DOT:
    case EXPR_PATH:
        switch (next_change_follow(turns, scope, e, &scope, &e)) {
        case FOLLOWED_OWN:
            next_change_walk(turns, scope, e);
            break;
        case FOLLOWED_ODD:
            next_change_odd(turns);
            break;
        default:
            break;
        }
        break;
    case EXPR_WITHIN:
    case EXPR_CHOICE:
    case EXPR_LIST:
        walk_parts(turns, scope, e);
        break;
    case EXPR_PREFIX:
        if (e->small == OP_NOT)
            walk_parts(turns, scope, e);
        else
            walk_operation(turns, scope, e);
        break;
    case EXPR_CHAIN:
        if (parts[1].label == OP_AND || parts[1].label == OP_OR)
            walk_parts(turns, scope, e);
        else
            walk_operation(turns, scope, e);
        break;
    case EXPR_CALL:
        function = function_find(scope->tree->dialect, e->u.name.id);
        if (function && function->traits & FUNCTION_CHOICE && e->small == function->min)
            walk_parts(turns, scope, e);
        else
            walk_operation(turns, scope, e);
        break;
    case EXPR_AD:
        if (e->u.run.count)
            next_change_odd(turns);
        break;
    default:
        break;
    }
}

void next_change_walk(struct next_change *turns, const struct scope *scope, const struct expr *e)
{
    if (turns->spent || !next_change_charge(turns, 1))
        return;
    if (turns->depth == COURSE_DEPTH_MAX) {
        next_change_odd(turns);
        return;
    }
    turns->depth++;
    walk_deeper(turns, scope, e);
    turns->depth--;
}

/* Does anything in the tree read the time? */
static bool tree_reads_time(const struct tree *tree)
{
    for (uint32_t i = 0; i < tree->cell_count; i++) {
        const struct expr *e = &tree->cells[i];
        const struct function *function = e->kind == EXPR_CALL ? function_find(tree->dialect, e->u.name.id) : NULL;

        if (function && function->traits & FUNCTION_TIME)
            return true;
    }
    return false;
}

void next_change_find(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t from)
{
    struct arena_mark mark = arena_mark(turns->scratch);
    bool reads = false;

    turns->from = from;
    turns->next = turns->once = TURNS_NEVER;
    for (const struct scope *at = scope; at && !reads; at = at->parent)
        reads = tree_reads_time(at->tree);
    if (reads)
        next_change_walk(turns, scope, e);
    arena_rewind(turns->scratch, mark);
}
