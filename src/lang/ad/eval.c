/* eval.c: expressions get their values. One recursive walk.
 *
 * Costs: one step for each cell that is not a literal, and one step for each eight attributes that are searched to see whether a reference is
 * circular. The depth of the walk and the work are both bounded; so are the C stack and the time. */
#include "lang/ad/eval.h"

#include "lang/ad/functions.h"
#include "lang/ad/ops.h"
#include "lang/text/timetext.h"

#define WIDE 8 /* so many operands of a chain cost a step, since literals alone cost none */

void eval_init(struct eval *eval, const struct env *env, struct arena *arena)
{
    *eval = (struct eval){.env = env,
                          .arena = arena,
                          .steps = env->steps ? env->steps : EVAL_STEPS_MAX,
                          .bytes = env->bytes ? env->bytes : EVAL_BYTES_MAX};
    if (env->meter_end && env->meter && *env->meter >= env->meter_end && eval->steps > EVAL_SPENT_STEPS)
        eval->steps = EVAL_SPENT_STEPS;
    eval->metered = eval->steps;
}

void eval_meter(struct eval *eval)
{
    if (eval->env->meter)
        *eval->env->meter += eval->metered - eval->steps;
    eval->metered = eval->steps;
}

/* The budget is spent: every value from here on is error. */
static void eval_exhaust(struct eval *eval)
{
    eval->steps = eval->bytes = 0;
    eval->exhausted = true;
}

bool eval_steps(struct eval *eval, uint64_t n)
{
    if (eval->steps < n) {
        eval_exhaust(eval);
        return false;
    }
    eval->steps -= n;
    return true;
}

char *eval_bytes(struct eval *eval, size_t size)
{
    if (eval->bytes < size || eval->exhausted) {
        eval_exhaust(eval);
        return NULL;
    }
    eval->bytes -= size;
    return arena_alloc(eval->arena, size);
}

bool eval_charge(struct eval *eval, const struct tree *tree, const struct expr *e)
{
    const struct expr *parts = tree_parts(tree, e);
    uint32_t count = expr_part_count(e);

    if (!eval_steps(eval, 1 + (uint64_t)count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (expr_part_count(&parts[i]) && !eval_charge(eval, tree, &parts[i]))
            return false;
    return true;
}

static inline void eval_literal(const struct tree *tree, const struct expr *e, struct value *ret)
{
    *ret = (struct value){.type = e->kind, .boolean = e->small & 1, .zone = e->small, .u.integer = e->u.integer};
    if (e->kind == EXPR_STRING) {
        ret->len = e->u.run.count;
        ret->u.string = tree_string(tree, e);
    }
}

static void value_of_scope(const struct scope *scope, struct value *ret)
{
    if (scope)
        *ret = (struct value){.type = VALUE_AD, .u.aggregate = scope->ad, .scope = scope};
    else
        *ret = value_undefined();
}

/* Is this attribute (or element) being evaluated already? The search is work, and is counted. */
static bool eval_is_active(struct eval *eval, const struct expr *e, const struct surroundings *around)
{
    unsigned walked = 0;

    for (const struct active *at = eval->active; at; at = at->outer, walked++)
        if (at->e == e && at->around == around)
            return true;
    if (walked >= 8)
        eval_steps(eval, walked / 8);
    return false;
}

/* The value of an attribute's expression in the scope where it was found. */
static void eval_bound(struct eval *eval, const struct scope *scope, const struct expr *e, struct value *ret)
{
    struct active active;

    if (expr_is_literal(e)) {
        eval_literal(scope->tree, e, ret);
        return;
    }
    if (eval_is_active(eval, e, scope->around)) {
        *ret = value_undefined();
        return;
    }
    active = (struct active){e, scope->around, eval->active};
    eval->active = &active;
    eval_expr(eval, scope, e, ret);
    eval->active = active.outer;
}

/* A name that is neither an attribute nor a label: the counterpart's attribute, or a value that the matchmaker gives. */
static void eval_free_name(struct eval *eval, const struct scope *scope, symbol name, struct value *ret)
{
    const struct scope *counterpart = scope->around ? scope->around->counterpart : NULL;
    const struct expr *found;

    if (counterpart == LABEL_OPEN)
        eval->open = true;
    else if (counterpart && (found = scope_find(&counterpart, name))) {
        eval_bound(eval, counterpart, found, ret);
        return;
    }
    for (uint32_t i = 0; i < eval->env->given_count; i++) {
        if (symbol_same(eval->env->given[i].name, name)) {
            *ret = eval->env->given[i].value;
            return;
        }
    }
    *ret = value_undefined();
}

/* The value that a reserved name or a label stands for: an ad, a list of ads, or undefined. False when the name is neither. */
static bool eval_named(struct eval *eval, const struct scope *scope, symbol name, struct value *ret)
{
    const struct scope *at;
    struct label label;

    if (scope_reserved(scope, name, &at)) {
        value_of_scope(at, ret);
        return true;
    }
    if (!scope_label(scope, name, &label))
        return false;
    if (label.scope == LABEL_OPEN) {
        eval->open = true;
        *ret = value_undefined();
    } else if (label.set) {
        *ret = *label.set;
    } else {
        value_of_scope(label.scope, ret);
    }
    return true;
}

static void eval_name(struct eval *eval, const struct scope *scope, symbol name, struct value *ret)
{
    const struct scope *at = scope;
    const struct expr *found = scope_find(&at, name);

    if (found)
        eval_bound(eval, at, found, ret);
    else if (!eval_named(eval, scope, name, ret))
        eval_free_name(eval, scope, name, ret);
}

struct value env_absent(const struct env *env, symbol name)
{
    for (uint32_t i = 0; i < env->absent_count; i++)
        if (symbol_same(env->absent[i].name, name))
            return env->absent[i].value;
    return value_undefined();
}

/* expr.attr where expr is the ad of `from`: the search goes from there outward. */
static void eval_selected(struct eval *eval, const struct scope *from, symbol name, struct value *ret)
{
    const struct scope *at = from;
    const struct expr *found = scope_find(&at, name);

    if (found) {
        eval_bound(eval, at, found, ret);
        return;
    }
    if (from && !symbol_same(name, NAME_MY) && scope_reserved(from, name, &at))
        value_of_scope(at, ret);
    else
        *ret = env_absent(eval->env, name);
}

static void eval_select(struct eval *eval, const struct dialect *dialect, symbol name, struct value *ret);

/* list.attr: the attribute of each element, in dialects that allow it. A list may hold itself, so this counts as going deeper. */
static void eval_select_each(struct eval *eval, const struct dialect *dialect, symbol name, struct value *ret)
{
    struct value list = *ret, *each;

    if (eval->depth == EVAL_DEPTH_MAX)
        eval_exhaust(eval);
    each = (struct value *)eval_bytes(eval, list.len * sizeof *each);
    if (!each) {
        *ret = value_error();
        return;
    }
    eval->depth++;
    for (uint32_t i = 0; i < list.len && !eval->exhausted; i++) {
        eval_element(eval, &list, i, &each[i]);
        eval_select(eval, dialect, name, &each[i]);
    }
    eval->depth--;
    eval_make_list(eval, dialect, each, list.len, ret); /* error when the budget was spent on the way */
}

/* ret.name, in place. */
static void eval_select(struct eval *eval, const struct dialect *dialect, symbol name, struct value *ret)
{
    switch ((enum value_type)ret->type) {
    case VALUE_AD:
        eval_selected(eval, ret->scope, name, ret);
        break;
    case VALUE_UNDEFINED:
        break;
    case VALUE_LIST:
        if (dialect->lists_take_names) {
            eval_select_each(eval, dialect, name, ret);
            break;
        }
        /* fall through */
    default:
        *ret = value_error();
    }
}

static void eval_dot(struct eval *eval, const struct scope *scope, const struct expr *e, struct value *ret)
{
    const struct scope *at = scope;
    symbol base = EXPR_DOT_BASE(e);
    const struct expr *found = scope_find(&at, base);

    if (found) {
        eval_bound(eval, at, found, ret);
    } else if (eval_named(eval, scope, base, ret)) {
        if (ret->type == VALUE_AD) {
            eval_selected(eval, ret->scope, e->u.name.id, ret);
            return;
        }
        if (ret->type == VALUE_LIST) { /* a label of several ads, whatever the dialect says of lists */
            eval_select_each(eval, scope->tree->dialect, e->u.name.id, ret);
            return;
        }
    } else {
        eval_free_name(eval, scope, base, ret);
    }
    eval_select(eval, scope->tree->dialect, e->u.name.id, ret);
}

void eval_element(struct eval *eval, const struct value *list, uint32_t n, struct value *ret)
{
    const struct expr *e = &tree_parts(list->scope->tree, list->u.aggregate)[n];

    if (!eval_steps(eval, 1)) {
        *ret = value_error();
        return;
    }
    eval_bound(eval, list->scope, e, ret);
}

/* ret[index], in place. */
static void eval_subscript(struct eval *eval, const struct dialect *dialect, const struct value *index,
                           struct value *ret)
{
    struct value base = *ret;

    if (base.type == VALUE_ERROR || index->type == VALUE_ERROR) {
        *ret = value_error();
    } else if (base.type == VALUE_UNDEFINED || index->type == VALUE_UNDEFINED) {
        *ret = value_undefined();
    } else if (base.type == VALUE_LIST && index->type == VALUE_INTEGER) {
        if (index->u.integer >= 0 && index->u.integer < base.len)
            eval_element(eval, &base, (uint32_t)index->u.integer, ret);
        else
            *ret = dialect->outside_list_is_error ? value_error() : value_undefined();
    } else if (base.type == VALUE_AD && index->type == VALUE_STRING && dialect->ads_take_subscripts) {
        symbol name = eval_charge_text(eval, index->len)
                          ? symbols_find(base.scope->tree->symbols, index->u.string, index->len)
                          : SYMBOL_NONE;
        const struct expr *found = name ? tree_find(base.scope->tree, base.scope->ad, name) : NULL;

        if (found)
            eval_bound(eval, base.scope, found, ret);
        else
            *ret = value_undefined();
    } else {
        *ret = value_error();
    }
}

static void eval_path(struct eval *eval, const struct scope *scope, const struct expr *e, struct value *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    uint32_t count = e->u.run.count;

    eval_expr(eval, scope, &parts[0], ret);
    for (uint32_t i = 1; i < count; i++) {
        if (parts[i].label == STEP_SELECT) {
            eval_select(eval, scope->tree->dialect, parts[i].u.name.id, ret);
        } else {
            struct value index;

            eval_expr(eval, scope, &parts[i], &index);
            eval_subscript(eval, scope->tree->dialect, &index, ret);
        }
    }
}

/* The attribute of the counterpart that other.x means in an outermost ad, if it is a literal; otherwise NULL. */
static inline const struct expr *counterpart_literal(const struct scope *scope, const struct expr *e,
                                                     const struct scope **ret)
{
    const struct surroundings *around = scope->around;
    symbol base = EXPR_DOT_BASE(e);
    const struct expr *found;

    if (scope->root != scope || !around || !around->label_count || !symbol_same(around->labels[0].name, NAME_OTHER) ||
        !(symbol_same(base, NAME_OTHER) || symbol_same(base, NAME_TARGET)) || tree_find(scope->tree, scope->ad, base))
        return NULL;
    *ret = around->counterpart;
    if (!*ret || *ret != around->labels[0].scope || !(*ret)->ad || (*ret)->parent)
        return NULL;
    found = tree_find((*ret)->tree, (*ret)->ad, e->u.name.id);
    return found && expr_is_literal(found) ? found : NULL;
}

/* Evaluates an operand. Most operands are literals, or names of literals near by: for them there is a short way. */
static inline void eval_operand(struct eval *eval, const struct scope *scope, const struct expr *e, struct value *ret)
{
    if (expr_is_literal(e)) {
        eval_literal(scope->tree, e, ret);
        return;
    }
    if (e->kind == EXPR_NAME && eval->steps && scope->ad) {
        const struct expr *found = tree_find(scope->tree, scope->ad, e->u.name.id);

        if (found && expr_is_literal(found)) {
            eval->steps--;
            eval_literal(scope->tree, found, ret);
            return;
        }
    }
    if (e->kind == EXPR_DOT && eval->steps) {
        const struct scope *other;
        const struct expr *found = counterpart_literal(scope, e, &other);

        if (found) {
            eval->steps--;
            eval_literal(other->tree, found, ret);
            return;
        }
    }
    eval_expr(eval, scope, e, ret);
}

/* && and ||. The value is error as soon as an operand is; in a dialect that goes by order, the deciding operand ends the walk. */
static void eval_logic(struct eval *eval, const struct scope *scope, const struct expr *e, bool decides,
                       struct value *ret)
{
    const struct dialect *dialect = scope->tree->dialect;
    const struct expr *parts = tree_parts(scope->tree, e);
    bool decided = false, unknown = false;

    if (e->u.run.count >= WIDE && !eval_steps(eval, e->u.run.count / WIDE)) {
        *ret = value_error();
        return;
    }
    for (uint32_t i = 0; i < e->u.run.count; i++) {
        bool truth = false;

        eval_expr(eval, scope, &parts[i], ret);
        switch (op_condition(dialect, ret, &truth)) {
        case VALUE_BOOLEAN:
            if (truth != decides)
                continue;
            if (dialect->logic_by_order) {
                *ret = value_boolean(decides);
                return;
            }
            decided = true;
            continue;
        case VALUE_UNDEFINED:
            unknown = true;
            continue;
        default:
            *ret = value_error();
            return;
        }
    }
    *ret = decided ? value_boolean(decides) : unknown ? value_undefined() : value_boolean(!decides);
}

static void eval_chain(struct eval *eval, const struct scope *scope, const struct expr *e, struct value *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    struct value right;

    if (e->u.run.count >= WIDE && !eval_steps(eval, e->u.run.count / WIDE)) {
        *ret = value_error();
        return;
    }
    eval_operand(eval, scope, &parts[0], ret);
    for (uint32_t i = 1; i < e->u.run.count; i++) {
        enum op op = (enum op)parts[i].label;

        if (ret->type == VALUE_ERROR && op != OP_IS && op != OP_ISNT)
            continue; /* the value stays error */
        eval_operand(eval, scope, &parts[i], &right);
        eval_charge_pair(eval, ret, &right);
        op_binary(scope->tree->dialect, op, ret, &right, ret);
    }
}

static void eval_choice(struct eval *eval, const struct scope *scope, const struct expr *e, struct value *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    bool truth = false;

    eval_expr(eval, scope, &parts[0], ret);
    switch (op_condition(scope->tree->dialect, ret, &truth)) {
    case VALUE_BOOLEAN:
        eval_expr(eval, scope, &parts[truth ? 1 : 2], ret);
        break;
    case VALUE_UNDEFINED:
        *ret = value_undefined();
        break;
    default:
        *ret = value_error();
    }
}

static void eval_call(struct eval *eval, const struct scope *scope, const struct expr *e, struct value *ret)
{
    const struct function *function = function_find(scope->tree->dialect, e->u.name.id);
    uint32_t count = (uint32_t)e->small;
    struct call call = {.eval = eval, .scope = scope, .dialect = scope->tree->dialect, .e = e, .count = count};

    if (!function) {
        *ret = value_error();
        return;
    }
    if (!(function->traits & FUNCTION_LAZY) && count) {
        const struct expr *parts = tree_parts(scope->tree, e);
        struct value *arguments = arena_alloc(eval->arena, count * sizeof *arguments);

        for (uint32_t i = 0; i < count; i++)
            eval_expr(eval, scope, &parts[i], &arguments[i]);
        call.arguments = arguments;
    }
    function_apply(function, &call, ret);
}

/* An ad literal opens a scope inside the one it stands in. */
static void eval_ad(struct eval *eval, const struct scope *scope, const struct expr *e, struct value *ret)
{
    struct scope *inner;

    if (e == scope->ad) { /* the outermost ad itself */
        value_of_scope(scope, ret);
        return;
    }
    inner = (struct scope *)eval_bytes(eval, sizeof *inner);
    if (!inner) {
        *ret = value_error();
        return;
    }
    scope_open(inner, scope, e);
    value_of_scope(inner, ret);
}

/* Evaluates the rest of an attribute as the attribute itself would be evaluated. */
static void eval_within(struct eval *eval, const struct scope *scope, const struct expr *e, struct value *ret)
{
    const struct scope *at = scope;
    struct active active = {scope_find(&at, e->u.name.id), at ? at->around : NULL, eval->active};

    eval->active = &active;
    eval_expr(eval, scope, tree_parts(scope->tree, e), ret);
    eval->active = active.outer;
}

static void eval_deeper(struct eval *eval, const struct scope *scope, const struct expr *e, struct value *ret)
{
    switch ((enum expr_kind)e->kind) {
    case EXPR_LIST:
        *ret = (struct value){.type = VALUE_LIST, .len = e->u.run.count, .u.aggregate = e, .scope = scope};
        break;
    case EXPR_AD:
        eval_ad(eval, scope, e, ret);
        break;
    case EXPR_NAME:
        eval_name(eval, scope, e->u.name.id, ret);
        break;
    case EXPR_ROOT_NAME: {
        const struct expr *found = scope->root ? tree_find(scope->root->tree, scope->root->ad, e->u.name.id) : NULL;

        if (found)
            eval_bound(eval, scope->root, found, ret);
        else
            *ret = value_undefined();
        break;
    }
    case EXPR_DOT:
        eval_dot(eval, scope, e, ret);
        break;
    case EXPR_PATH:
        eval_path(eval, scope, e, ret);
        break;
    case EXPR_PREFIX:
        eval_expr(eval, scope, tree_parts(scope->tree, e), ret);
        op_prefix(scope->tree->dialect, (enum op)e->small, ret, ret);
        break;
    case EXPR_CHAIN: {
        uint32_t op = tree_parts(scope->tree, e)[1].label;

        if (op == OP_AND || op == OP_OR)
            eval_logic(eval, scope, e, op == OP_OR, ret);
        else
            eval_chain(eval, scope, e, ret);
        break;
    }
    case EXPR_CHOICE:
        eval_choice(eval, scope, e, ret);
        break;
    case EXPR_CALL:
        eval_call(eval, scope, e, ret);
        break;
    case EXPR_WITHIN:
        eval_within(eval, scope, e, ret);
        break;
    case EXPR_VALUE:
        *ret = *(const struct value *)e->u.value;
        break;
    default:
        *ret = value_error();
    }
}

void eval_expr(struct eval *eval, const struct scope *scope, const struct expr *e, struct value *ret)
{
    if (expr_is_literal(e)) {
        eval_literal(scope->tree, e, ret);
        return;
    }
    if (eval->steps == 0 || eval->depth == EVAL_DEPTH_MAX) {
        eval_exhaust(eval);
        *ret = value_error();
        return;
    }
    eval->steps--;
    eval->depth++;
    eval_deeper(eval, scope, e, ret);
    if (--eval->depth == 0) {
        eval_meter(eval);
        if (eval->exhausted)
            *ret = value_error();
    }
}

void eval_tree(struct eval *eval, const struct scope *scope, const struct tree *tree, struct value *ret)
{
    struct scope *inner = arena_alloc(eval->arena, sizeof *inner);

    scope_inside(inner, scope, tree);
    eval_expr(eval, inner, tree_root(tree), ret);
}

bool eval_attribute(struct eval *eval, const struct scope *scope, symbol name, struct value *ret)
{
    const struct expr *found = scope && scope->ad ? tree_find(scope->tree, scope->ad, name) : NULL;

    if (!found) {
        *ret = value_undefined();
        return false;
    }
    eval_bound(eval, scope, found, ret);
    return true;
}

bool eval_true(struct eval *eval, const struct scope *scope, const struct expr *e)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    struct value v;
    bool truth = false;

    if (e->kind == EXPR_WITHIN) {
        const struct scope *at = scope;
        struct active active = {scope_find(&at, e->u.name.id), at ? at->around : NULL, eval->active};

        eval->active = &active;
        truth = eval_true(eval, scope, parts);
        eval->active = active.outer;
        return truth;
    }
    if (e->kind == EXPR_CHAIN && parts[1].label == OP_AND) {
        for (uint32_t i = 0; i < e->u.run.count; i++)
            if (!eval_true(eval, scope, &parts[i]))
                return false;
        return true;
    }
    eval_expr(eval, scope, e, &v);
    return op_condition(scope->tree->dialect, &v, &truth) == VALUE_BOOLEAN && truth;
}

int eval_zone(struct eval *eval, const struct scope *scope)
{
    const struct scope *at = scope;
    const struct expr *found = scope_find(&at, NAME_TIMEZONE);
    struct value v;
    int zone;

    if (!found)
        return eval->env->zone;
    eval_bound(eval, at, found, &v);
    if (v.type == VALUE_RELTIME && v.u.integer > -TIME_ZONE_MAX * 60 && v.u.integer < TIME_ZONE_MAX * 60)
        return (int)(v.u.integer / 60);
    if (v.type == VALUE_STRING && time_parse_zone(v.u.string, v.len, &zone))
        return zone;
    return eval->env->zone;
}

/* Copies n values into a tree of its own, whose last cell is the aggregate of them; NULL when the budget is spent. */
static struct tree *make_tree(struct eval *eval, const struct value *from, uint32_t n)
{
    struct tree *tree = (struct tree *)eval_bytes(eval, sizeof *tree + ((size_t)n + 1) * sizeof(struct expr));
    struct value *values = (struct value *)eval_bytes(eval, n * sizeof *values);

    if (!tree || !values)
        return NULL;
    *tree = (struct tree){.references = 1, .cell_count = n + 1};
    for (uint32_t i = 0; i < n; i++) {
        values[i] = from[i];
        tree->cells[i] = (struct expr){.kind = EXPR_VALUE, .u.value = &values[i]};
    }
    tree->cells[n] = (struct expr){.kind = EXPR_LIST, .u.run = {0, n}};
    return tree;
}

void eval_make_list(struct eval *eval, const struct dialect *dialect, const struct value *elements, uint32_t n,
                    struct value *ret)
{
    struct tree *tree = make_tree(eval, elements, n);
    struct scope *scope = (struct scope *)eval_bytes(eval, sizeof *scope);

    if (!tree || !scope) {
        *ret = value_error();
        return;
    }
    tree->dialect = dialect;
    *scope = (struct scope){.tree = tree};
    *ret = (struct value){.type = VALUE_LIST, .len = n, .u.aggregate = &tree->cells[n], .scope = scope};
}

void eval_make_ad(struct eval *eval, const struct tree *like, const symbol *names, const struct value *values,
                  uint32_t n, struct value *ret)
{
    struct tree *tree = make_tree(eval, values, n);
    struct scope *scope = (struct scope *)eval_bytes(eval, sizeof *scope);

    if (!tree || !scope) {
        *ret = value_error();
        return;
    }
    tree->dialect = like->dialect;
    tree->symbols = like->symbols;
    for (uint32_t i = 0; i < n; i++) {
        tree->cells[i].flags = EXPR_FLAG_NAMED;
        tree->cells[i].label = names[i];
    }
    tree->cells[n].kind = EXPR_AD;
    scope_init(scope, tree, NULL);
    *ret = (struct value){.type = VALUE_AD, .len = n, .u.aggregate = &tree->cells[n], .scope = scope};
}
