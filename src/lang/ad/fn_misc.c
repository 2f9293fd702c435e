/* fn_misc.c: choosing, and expressions as values. */
#include "lang/ad/fn.h"
#include "lang/ad/ops.h"
#include "lang/ad/refs.h"
#include "lang/base/frozen.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"

#include <stdlib.h>
#include <strings.h>

#define TEXT_CELLS_MAX 10000 /* of an expression that eval() reads */
#define TEXT_DEPTH 8         /* how much deeper the evaluation counts inside an eval() */
#define KEEP_DEPTH_MAX 64    /* lists inside lists that eval() may give */

void fn_if_then_else(struct call *call, struct value *ret)
{
    bool truth = false;

    call_argument(call, 0, ret);
    switch (op_condition(call->dialect, ret, &truth)) {
    case VALUE_BOOLEAN:
        call_argument(call, truth ? 1 : 2, ret);
        break;
    case VALUE_UNDEFINED:
        *ret = value_undefined();
        break;
    default:
        *ret = value_error();
    }
}

void fn_if_undefined(struct call *call, struct value *ret)
{
    call_argument(call, 0, ret);
    if (ret->type == VALUE_UNDEFINED)
        call_argument(call, 1, ret);
}

void fn_debug(struct call *call, struct value *ret)
{
    *ret = call->arguments[0];
}

static void keep_value(struct call *call, const struct tree *tree, unsigned depth, struct value *v);

static void keep_list(struct call *call, const struct tree *tree, unsigned depth, struct value *list)
{
    struct value *elements =
        depth < KEEP_DEPTH_MAX ? (struct value *)eval_bytes(call->eval, list->len * sizeof *elements) : NULL;

    if (!elements) {
        *list = value_error();
        return;
    }
    for (uint32_t i = 0; i < list->len && !call->eval->exhausted; i++) {
        eval_element(call->eval, list, i, &elements[i]);
        keep_value(call, tree, depth + 1, &elements[i]);
    }
    eval_make_list(call->eval, call->dialect, elements, list->len, list);
}

/* Makes a value outlive the tree that it was evaluated from: copies what borrows from the tree, or may. An
 * ad that stands in the tree cannot be kept. */
static void keep_value(struct call *call, const struct tree *tree, unsigned depth, struct value *v)
{
    if (v->type == VALUE_STRING)
        call_return_text(call, (struct fn_text){v->u.string, v->len}, v);
    else if (v->type == VALUE_AD && v->scope->tree == tree)
        *v = value_error();
    else if (v->type == VALUE_LIST && (v->scope->tree == tree || !v->scope->tree->symbols))
        keep_list(call, tree, depth, v);
}

void fn_eval(struct call *call, struct value *ret)
{
    struct parse_options options = {.cells_max = TEXT_CELLS_MAX, .depth = TREE_DEPTH_MAX / 2};
    struct build build;
    struct tree *tree;
    struct fn_text text;

    *ret = value_error();
    if (!value_get_text(&call->arguments[0], &text) || !eval_steps(call->eval, 1 + text.len / 4))
        return;
    if (!symbols_ask(call->scope->tree->symbols))
        return;
    if (call->eval->depth > EVAL_DEPTH_MAX / 2) { /* reading the text takes stack of its own */
        eval_steps(call->eval, UINT64_MAX);
        return;
    }
    build_init(&build, call->scope->tree->symbols, call->dialect);
    tree = parse_expr(&build, &options, text.at, text.len, NULL);
    build_done(&build);
    if (!tree)
        return;
    call->eval->depth += TEXT_DEPTH;
    eval_tree(call->eval, call->scope, tree, ret);
    call->eval->depth -= TEXT_DEPTH;
    keep_value(call, tree, 0, ret);
    tree_unref(tree);
}

void fn_unparse(struct call *call, struct value *ret)
{
    const struct expr *name = tree_parts(call->scope->tree, call->e), *found;
    const struct scope *scope = call->scope;
    struct buf out;

    if (name->kind != EXPR_NAME) {
        *ret = value_error();
        return;
    }
    buf_init(&out);
    found = scope_find(&scope, name->u.name.id);
    if (found && eval_charge(call->eval, scope->tree, found))
        print_expr(&out, scope->tree, found, PRINT_PLAIN);
    call_return_buf(call, &out, ret);
}

/* Evaluates the first argument as if it stood in that ad; error when the value is not an ad, undefined when that is. */
static void eval_in(struct call *call, const struct value *ad, struct value *ret)
{
    struct scope *inner = ad->type == VALUE_AD ? (struct scope *)eval_bytes(call->eval, sizeof *inner) : NULL;

    if (!inner) {
        *ret = ad->type == VALUE_UNDEFINED ? value_undefined() : value_error();
        return;
    }
    scope_inside(inner, ad->scope, call->scope->tree);
    eval_expr(call->eval, inner, tree_parts(call->scope->tree, call->e), ret);
}

void fn_eval_in_each_context(struct call *call, struct value *ret)
{
    struct value list, *values;

    call_argument(call, 1, &list);
    *ret = list.type == VALUE_UNDEFINED ? value_undefined() : value_error();
    if (list.type != VALUE_LIST || !(values = (struct value *)eval_bytes(call->eval, list.len * sizeof *values)))
        return;
    for (uint32_t i = 0; i < list.len && !call->eval->exhausted; i++) {
        struct value ad;

        eval_element(call->eval, &list, i, &ad);
        eval_in(call, &ad, &values[i]);
    }
    eval_make_list(call->eval, call->dialect, values, list.len, ret);
}

void fn_count_matches(struct call *call, struct value *ret)
{
    struct value list;
    int64_t count = 0;

    call_argument(call, 1, &list);
    if (list.type != VALUE_LIST) {
        *ret = list.type == VALUE_UNDEFINED ? value_integer(0) : value_error();
        return;
    }
    for (uint32_t i = 0; i < list.len && !call->eval->exhausted; i++) {
        struct value ad, v;
        bool truth = false;

        eval_element(call->eval, &list, i, &ad);
        eval_in(call, &ad, &v);
        count += op_condition(call->dialect, &v, &truth) == VALUE_BOOLEAN && truth;
    }
    *ret = value_integer(count);
}

/* Does the pattern, the second argument, match the name? */
static bool name_matches(struct call *call, const struct value *pattern, struct fn_text name, struct value *ret)
{
    struct value arguments[] = {*pattern, value_string(name.at, name.len)};
    struct call test = *call;

    test.arguments = arguments;
    test.count = 2;
    fn_regexp(&test, ret);
    return ret->type != VALUE_BOOLEAN || value_is_true(ret);
}

static int names_order(const void *left, const void *right)
{
    const struct fn_text *a = left, *b = right;
    int order = strncasecmp(a->at, b->at, a->len < b->len ? a->len : b->len);

    return order ? order : a->len < b->len ? -1 : a->len > b->len;
}

/* The names that the first argument's expression reads from elsewhere, in their order. NULL: the budget is spent. */
static struct fn_text *names_read(struct call *call, uint32_t *ret_count)
{
    const struct tree *tree = call->scope->tree;
    struct fn_text *names = NULL;
    struct refs refs;
    uint32_t count = 0;

    if (!eval_steps(call->eval, tree->cell_count))
        return NULL;
    refs_init(&refs);
    refs_add(&refs, call->scope, tree_parts(tree, call->e));
    names = (struct fn_text *)eval_bytes(call->eval, (refs.count + 1) * sizeof *names);
    for (uint32_t i = 0; names && i < refs.count; i++)
        if (refs.items[i].len) { /* and not the counterpart as a whole */
            names[count].at = symbols_text(tree->symbols, refs.items[i].path[0], &names[count].len);
            count++;
        }
    refs_done(&refs);
    if (count)
        qsort(names, count, sizeof *names, names_order);
    *ret_count = count;
    return names;
}

void fn_unresolved(struct call *call, struct value *ret)
{
    struct value pattern = value_undefined();
    struct fn_text *names;
    uint32_t count;
    struct buf out;

    if (call->count == 2) {
        call_argument(call, 1, &pattern);
        *ret = pattern.type == VALUE_UNDEFINED ? value_undefined() : value_error();
        if (pattern.type != VALUE_STRING)
            return;
    }
    *ret = value_error();
    if (!(names = names_read(call, &count)))
        return;
    buf_init(&out);
    if (call->count == 2)
        *ret = value_boolean(false);
    for (uint32_t i = 0; i < count; i++) {
        if (i && !names_order(&names[i - 1], &names[i]))
            continue;
        if (call->count == 1)
            buf_addf(&out, "%s%.*s", out.len ? "," : "", (int)names[i].len, names[i].at);
        else if (name_matches(call, &pattern, names[i], ret))
            break;
    }
    if (call->count == 1)
        call_return_buf(call, &out, ret);
    else
        buf_done(&out);
}
