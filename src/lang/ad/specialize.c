/* specialize.c: folds the known parts of an expression into it; what is left asks only about the unknown.
 *
 * Every part is either *known* (a value; nothing is pushed) or *left over* (its expression lies on the builder). A known aggregate
 * is known in structure only: its parts are looked at when they are needed, and when it is left over it is written as it stood.
 *
 * A reference to the ad's own attribute becomes the rest of the attribute, but only where no other ad stands in between, which could capture a name;
 * otherwise it stays a reference. The rest of an attribute is marked as such (EXPR_WITHIN), so that a reference that comes back to it, through this
 * ad or through the counterpart, is circular as it was before. */
#include "lang/ad/specialize.h"

#include "lang/ad/ops.h"
#include "lang/ad/special.h"

#define SPECIALIZE_DEPTH_MAX 320   /* parts inside one another; the C stack stays below 256 KiB */
#define SPECIALIZE_CELLS_MAX 20000 /* of the result: definitions that double at each step give up here */

static bool list_is_literal(const struct value *v)
{
    const struct expr *parts;

    if (v->type != VALUE_LIST)
        return false;
    parts = tree_parts(v->scope->tree, v->u.aggregate);
    for (uint32_t i = 0; i < v->len; i++)
        if (!expr_is_literal(&parts[i]))
            return false;
    return true;
}

/* Pushes an expression that stands for a known part: its literal, or the part as it was written. */
void special_emit(struct special *sp, const struct scope *scope, const struct expr *e, const struct value *v)
{
    if (value_is_scalar(v)) {
        value_build(&sp->build, v);
    } else if (list_is_literal(v)) {
        build_copy(&sp->build, v->scope->tree, v->u.aggregate);
        build_top(&sp->build)->flags = 0;
    } else {
        build_copy(&sp->build, scope->tree, e);
    }
}

/* Pushes the rest of a part, or its literal when the part is known. */
static void special_push(struct special *sp, const struct scope *scope, const struct expr *e)
{
    struct value v;

    if (special_expr(sp, scope, e, false, &v))
        special_emit(sp, scope, e, &v);
}

bool special_leave(struct special *sp, const struct scope *scope, const struct expr *e)
{
    build_copy(&sp->build, scope->tree, e);
    return false;
}

/* Would an expression of `at` mean the same in `scope`? Yes if no ad lies between them. */
static bool scope_transparent(const struct special *sp, const struct scope *scope, const struct scope *at)
{
    if (at->tree->dialect != sp->dialect)
        return false;
    while (scope && scope != at && !scope->ad)
        scope = scope->parent;
    return scope == at || (scope && scope->ad == at->ad && scope->around == at->around);
}

static bool special_active(const struct special *sp, const struct expr *e, const struct surroundings *around)
{
    for (const struct active *at = sp->eval.active; at; at = at->outer)
        if (at->e == e && at->around == around)
            return true;
    return false;
}

/* Specialises the attribute `found` of scope `at`, called `name` (or an element of a list, which has no name), which `e` in `scope` refers to. */
bool special_bound(struct special *sp, const struct scope *at, const struct expr *found, symbol name,
                   const struct scope *scope, const struct expr *e, bool truth, struct value *ret)
{
    struct build_mark mark = build_mark(&sp->build);
    bool chance = sp->chance, known;
    struct active active;

    if (special_active(sp, found, at->around)) {
        *ret = value_undefined();
        return true;
    }
    active = (struct active){found, at->around, sp->eval.active};
    sp->eval.active = &active;
    sp->chance = false;
    known = special_expr(sp, at, found, truth, ret);
    sp->eval.active = active.outer;
    if (!known && (!name || sp->chance || !scope_transparent(sp, scope, at))) {
        build_rewind(&sp->build, mark);
        special_leave(sp, scope, e);
    } else if (!known) {
        symbols_hold(sp->build.symbols, name);
        build_within(&sp->build, name);
    }
    sp->chance = chance;
    return known;
}

/* self, parent, root and MY are known; any other name that the ad does not define is not known. */
static bool scope_known(const struct scope *scope, symbol name, struct value *ret)
{
    const struct scope *is;

    if (!scope_reserved(scope, name, &is))
        return false;
    *ret = value_undefined();
    if (is)
        *ret = (struct value){.type = VALUE_AD, .u.aggregate = is->ad, .scope = is};
    return true;
}

/* Specialises a label, or a name of the counterpart, where it is known who is docked. False when the name is neither, or the label is open.
 * `ret_known`: as special_expr. */
static bool special_docked(struct special *sp, const struct scope *scope, const struct expr *e, symbol name, bool truth,
                           struct value *ret, bool *ret_known)
{
    const struct scope *at = scope->around ? scope->around->counterpart : NULL;
    const struct expr *found;
    struct label label;

    *ret_known = true;
    if (scope_label(scope, name, &label)) {
        *ret = value_undefined();
        if (label.set && label.scope != LABEL_OPEN)
            *ret = *label.set;
        else if (label.scope && label.scope != LABEL_OPEN)
            *ret = (struct value){.type = VALUE_AD, .u.aggregate = label.scope->ad, .scope = label.scope};
        return label.scope != LABEL_OPEN;
    }
    if (!at || at == LABEL_OPEN || !(found = scope_find(&at, name)))
        return false;
    *ret_known = special_bound(sp, at, found, name, scope, e, truth, ret);
    return true;
}

static bool special_name(struct special *sp, const struct scope *scope, const struct expr *e, symbol name, bool truth,
                         struct value *ret)
{
    const struct scope *at = scope;
    const struct expr *found = scope_find(&at, name);
    bool known;

    if (found)
        return special_bound(sp, at, found, name, scope, e, truth, ret);
    if (scope_known(scope, name, ret))
        return true;
    if (sp->flags & SPECIALIZE_DOCKED && special_docked(sp, scope, e, name, truth, ret, &known))
        return known;
    return special_leave(sp, scope, e);
}

/* base.name for a base that is known; `e` is the whole reference. */
static bool special_select(struct special *sp, const struct scope *scope, const struct expr *e, symbol name, bool truth,
                           struct value *ret)
{
    const struct scope *at = ret->scope;
    const struct expr *found;

    if (ret->type == VALUE_UNDEFINED)
        return true;
    if (ret->type == VALUE_LIST && (scope->tree->dialect->lists_take_names || sp->flags & SPECIALIZE_DOCKED))
        return special_leave(sp, scope, e);
    if (ret->type != VALUE_AD) {
        *ret = value_error();
        return true;
    }
    found = scope_find(&at, name);
    if (found)
        return special_bound(sp, at, found, name, scope, e, truth, ret);
    if (symbol_same(name, NAME_MY) || !scope_known(ret->scope, name, ret))
        *ret = env_absent(sp->eval.env, name);
    return true;
}

static bool special_dot(struct special *sp, const struct scope *scope, const struct expr *e, bool truth,
                        struct value *ret)
{
    struct build_mark mark = build_mark(&sp->build);

    if (!special_name(sp, scope, e, EXPR_DOT_BASE(e), false, ret)) {
        build_rewind(&sp->build, mark);
        return special_leave(sp, scope, e);
    }
    return special_select(sp, scope, e, e->u.name.id, truth, ret);
}

static bool special_element(struct special *sp, const struct scope *scope, const struct expr *e,
                            const struct value *index, struct value *ret)
{
    const struct dialect *dialect = scope->tree->dialect;
    struct value base = *ret;

    if (base.type == VALUE_ERROR || index->type == VALUE_ERROR) {
        *ret = value_error();
    } else if (base.type == VALUE_UNDEFINED || index->type == VALUE_UNDEFINED) {
        *ret = value_undefined();
    } else if (base.type == VALUE_LIST && index->type == VALUE_INTEGER) {
        if (index->u.integer >= 0 && index->u.integer < base.len)
            return special_bound(sp, base.scope, &tree_parts(base.scope->tree, base.u.aggregate)[index->u.integer],
                                 SYMBOL_NONE, scope, e, false, ret);
        *ret = dialect->outside_list_is_error ? value_error() : value_undefined();
    } else if (base.type == VALUE_AD && index->type == VALUE_STRING && dialect->ads_take_subscripts) {
        return special_leave(sp, scope, e);
    } else {
        *ret = value_error();
    }
    return true;
}

/* Steps from an unknown base stay, with their subscripts folded. Steps from a known base are followed; the first step that is
 * not known leaves the whole path as it was. */
static bool special_path(struct special *sp, const struct scope *scope, const struct expr *e, struct value *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    struct build_mark mark = build_mark(&sp->build);
    bool base_known = special_expr(sp, scope, &parts[0], false, ret), known = base_known;

    for (uint32_t i = 1; i < e->u.run.count && known; i++) {
        struct value index;

        if (parts[i].label == STEP_SELECT)
            known = special_select(sp, scope, e, parts[i].u.name.id, false, ret);
        else
            known = special_expr(sp, scope, &parts[i], false, &index) && special_element(sp, scope, e, &index, ret);
    }
    if (known)
        return true;
    if (base_known) {
        build_rewind(&sp->build, mark);
        return special_leave(sp, scope, e);
    }
    for (uint32_t i = 1; i < e->u.run.count; i++) {
        if (parts[i].label == STEP_SELECT) {
            symbols_hold(sp->build.symbols, parts[i].u.name.id);
            build_select(&sp->build, parts[i].u.name.id);
        } else {
            special_push(sp, scope, &parts[i]);
            build_subscript(&sp->build);
        }
    }
    return false;
}

/* Specialises again what an earlier specialisation left. */
static bool special_within(struct special *sp, const struct scope *scope, const struct expr *e, bool truth,
                           struct value *ret)
{
    const struct scope *at = scope;
    struct active active = {scope_find(&at, e->u.name.id), at ? at->around : NULL, sp->eval.active};
    bool known;

    sp->eval.active = &active;
    known = special_expr(sp, scope, tree_parts(scope->tree, e), truth, ret);
    sp->eval.active = active.outer;
    if (!known) {
        symbols_hold(sp->build.symbols, e->u.name.id);
        build_within(&sp->build, e->u.name.id);
    }
    return known;
}

static bool special_deeper(struct special *sp, const struct scope *scope, const struct expr *e, bool truth,
                           struct value *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);

    switch ((enum expr_kind)e->kind) {
    case EXPR_LIST:
    case EXPR_AD:
        eval_expr(&sp->eval, scope, e, ret);
        return true;
    case EXPR_NAME:
        return special_name(sp, scope, e, e->u.name.id, truth, ret);
    case EXPR_ROOT_NAME: {
        const struct expr *found = scope->root ? tree_find(scope->root->tree, scope->root->ad, e->u.name.id) : NULL;

        *ret = value_undefined();
        return !found || special_bound(sp, scope->root, found, e->u.name.id, scope, e, truth, ret);
    }
    case EXPR_DOT:
        return special_dot(sp, scope, e, truth, ret);
    case EXPR_PATH:
        return special_path(sp, scope, e, ret);
    case EXPR_PREFIX:
        if (special_expr(sp, scope, parts, false, ret)) {
            op_prefix(scope->tree->dialect, (enum op)e->small, ret, ret);
            return true;
        }
        build_prefix(&sp->build, (enum op)e->small);
        return false;
    case EXPR_CHAIN:
        if (parts[1].label == OP_AND || parts[1].label == OP_OR)
            return special_logic(sp, scope, e, truth, ret);
        return special_chain(sp, scope, e, ret);
    case EXPR_CHOICE:
        return special_choice(sp, scope, e, parts, truth, ret);
    case EXPR_CALL:
        return special_call(sp, scope, e, truth, ret);
    case EXPR_WITHIN:
        return special_within(sp, scope, e, truth, ret);
    default: /* literals, and values in lists that functions made */
        eval_expr(&sp->eval, scope, e, ret);
        return true;
    }
}

/* True and the value when `e` is known; false when the rest of it has been pushed. */
bool special_expr(struct special *sp, const struct scope *scope, const struct expr *e, bool truth, struct value *ret)
{
    bool known;

    if (sp->failed || sp->depth == SPECIALIZE_DEPTH_MAX || !eval_steps(&sp->eval, 1) ||
        sp->build.cell_count > SPECIALIZE_CELLS_MAX) {
        sp->failed = true;
        *ret = value_error();
        return true;
    }
    sp->depth++;
    known = special_deeper(sp, scope, e, truth, ret);
    sp->depth--;
    return known;
}

/* Returns the expression unchanged, to be evaluated where it stands: a whole tree is shared, an attribute is referred to, anything else is copied. */
static struct tree *special_give_up(struct special *sp, const struct scope *scope, const struct expr *e)
{
    build_reset(&sp->build);
    if (e == tree_root(scope->tree))
        return tree_ref((struct tree *)scope->tree); /* only its reference count changes */
    if (e->flags & EXPR_FLAG_NAMED) {
        symbols_hold(sp->build.symbols, e->label);
        build_name(&sp->build, EXPR_NAME, e->label);
    } else {
        build_copy(&sp->build, scope->tree, e);
    }
    return build_seal(&sp->build);
}

struct tree *specialize(const struct env *env, struct arena *scratch, const struct scope *scope, const struct expr *e,
                        int flags)
{
    return specialize_part(env, scratch, scope, e, NULL, flags);
}

struct tree *specialize_part(const struct env *env, struct arena *scratch, const struct scope *scope,
                             const struct expr *e, const struct active *outer, int flags)
{
    struct arena_mark mark = arena_mark(scratch);
    bool truth = flags & SPECIALIZE_TRUTH, is = false;
    struct special sp = {.dialect = scope->tree->dialect, .flags = flags};
    struct active active = {e, scope->around, outer};
    struct tree *tree;
    struct value v;

    build_init(&sp.build, scope->tree->symbols, scope->tree->dialect);
    eval_init(&sp.eval, env, scratch);
    sp.eval.active = &active; /* if `e` is an attribute, it is the one being evaluated */
    if (special_expr(&sp, scope, e, truth, &v) && !sp.failed) {
        if (truth) {
            is = op_condition(sp.dialect, &v, &is) == VALUE_BOOLEAN && is;
            build_boolean(&sp.build, is);
        } else {
            special_emit(&sp, scope, e, &v);
        }
    }
    eval_meter(&sp.eval);
    if (sp.failed || sp.chance || sp.eval.exhausted || sp.eval.open) {
        tree = special_give_up(&sp, scope, e);
    } else {
        build_top(&sp.build)->flags = 0;
        if ((e->flags & EXPR_FLAG_NAMED) && !expr_is_literal(build_top(&sp.build))) {
            symbols_hold(sp.build.symbols, e->label);
            build_within(&sp.build, e->label);
        }
        tree = build_seal(&sp.build);
    }
    build_done(&sp.build);
    arena_rewind(scratch, mark);
    return tree;
}

struct tree *specialize_tree(const struct env *env, struct arena *scratch, const struct scope *scope,
                             const struct tree *tree, int flags)
{
    struct scope inner;

    scope_inside(&inner, scope, tree);
    return specialize(env, scratch, &inner, tree_root(tree), flags);
}
