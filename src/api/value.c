/* value.c: expressions, and what they are worth. */
#include "api/api_parts.h"
#include "lang/ad/refs.h"
#include "lang/ad/specialize.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"

_Static_assert((int)BERTH_ERROR == (int)VALUE_ERROR && (int)BERTH_STRING == (int)VALUE_STRING &&
                   (int)BERTH_AD == (int)VALUE_AD,
               "types");

struct berth_expr *berth_expr_parse(struct berth_context *context, const char *text, size_t len,
                                    struct berth_error *error)
{
    const struct parse_options options = {.cells_max = context->cells_max, .attributes_max = context->attributes_max};
    struct berth_expr *expr = NULL;
    struct tree *tree = NULL;
    struct build build;
    struct err err = {0};

    context_fresh(context);
    if (!text && len) {
        error_set(error, BERTH_BAD_CALL, "there is no text");
        return NULL;
    }
    if (len > context->text_max) {
        error_set(error, BERTH_TOO_MUCH, "this expression is too long: the limit is %zu bytes", context->text_max);
        return NULL;
    }
    changes_begin(context->world);
    if (!names_fit(context, len)) {
        error_set(error, BERTH_TOO_MUCH, "too many different names are in use");
    } else {
        build_init(&build, context->world->symbols, context->dialect);
        tree = parse_expr(&build, &options, text ? text : "", len, &err);
        build_done(&build);
        if (tree)
            expr = expr_take(context->world, tree);
        else
            error_from(error, BERTH_BAD_TEXT, &err);
    }
    changes_end(context->world);
    return expr;
}

const char *berth_expr_text(struct berth_context *context, const struct berth_expr *expr, size_t *ret_len)
{
    const struct tree *tree = expr_tree(context, expr);

    context_fresh(context);
    if (!tree)
        return NULL;
    reads_begin(context);
    print_tree(&context->text, tree, PRINT_PLAIN);
    reads_done(context);
    return context_lend(context, ret_len);
}

int berth_expr_equal(const struct berth_expr *a, const struct berth_expr *b)
{
    return a && b && a->item.world == b->item.world &&
           tree_equal(a->item.tree, tree_root(a->item.tree), b->item.tree, tree_root(b->item.tree));
}

/* Where an expression stands: in the ad of the context's pair; NULL where there is none, and nobody opposite. */
static const struct scope *stand(struct berth_context *context, const struct tree *ad, const struct tree *other)
{
    pair_init(&context->pair, ad, other);
    return ad ? &context->pair.left : NULL;
}

struct berth_expr *berth_expr_specialize(struct berth_context *context, const struct berth_expr *expr,
                                         const struct berth_ad *ad)
{
    const struct tree *tree = expr_tree(context, expr);
    struct berth_expr *made = NULL;
    struct tree *left;

    context_fresh(context);
    if (!tree || !other_fits(context, ad))
        return NULL;
    changes_begin(context->world);
    left = specialize_tree(&context->env, &context->arena, stand(context, ad ? ad->item.tree : NULL, NULL), tree, 0);
    if (!tree_fits(left)) { /* it has grown too deep to be worked with: as it was, it means the same */
        tree_unref(left);
        left = tree_ref((struct tree *)tree);
    }
    made = expr_take(context->world, left);
    changes_end(context->world);
    return made;
}

ptrdiff_t berth_expr_references(struct berth_context *context, const struct berth_expr *expr, const struct berth_ad *ad,
                                const char *const **ret_names)
{
    const struct tree *tree = expr_tree(context, expr);
    const struct scope *outer;
    const char **names;
    struct scope scope;
    struct refs refs;
    uint32_t count;

    context_fresh(context);
    if (!tree || !other_fits(context, ad))
        return -1;
    refs_init(&refs);
    reads_begin(context);
    outer = stand(context, ad ? ad->item.tree : NULL, NULL);
    scope_inside(&scope, outer, tree);
    refs_add(&refs, &scope, tree_root(tree));
    refs_sort(&refs, tree->symbols);
    names = arena_alloc(&context->arena, (refs.count + 1) * sizeof *names);
    for (uint32_t i = 0; i < refs.count; i++) {
        buf_reset(&context->text);
        ref_print(&context->text, tree->symbols, &refs.items[i]);
        names[i] = context_copy(context, context->text.text, context->text.len);
    }
    names[refs.count] = NULL;
    reads_done(context);
    count = refs.count;
    refs_done(&refs);
    *ret_names = names;
    return count;
}

/* ------------------------------------------------------------------------------------------------------------ values */

/* A value that is lent: strings get a NUL. */
static const struct berth_value *lend(struct berth_context *context, const struct value *value)
{
    struct berth_value *lent = arena_alloc(&context->arena, sizeof *lent);

    lent->value = *value;
    if (value->type == VALUE_STRING)
        lent->value.u.string = context_copy(context, value->u.string, value->len);
    context->exhausted = context->eval.exhausted;
    return lent;
}

const struct berth_value *berth_eval(struct berth_context *context, const struct berth_expr *expr,
                                     const struct berth_ad *ad, const struct berth_ad *other)
{
    const struct tree *tree = expr_tree(context, expr);
    struct value value;

    context_fresh(context);
    if (!tree || !other_fits(context, ad) || !other_fits(context, other))
        return NULL;
    do {
        reads_begin(context);
        if (!ad && other) { /* the expression itself is opposite to the ad */
            pair_init(&context->pair, tree, other->item.tree);
            eval_init(&context->eval, &context->env, &context->arena);
            eval_expr(&context->eval, &context->pair.left, tree_root(tree), &value);
        } else {
            const struct scope *scope = stand(context, ad ? ad->item.tree : NULL, other ? other->item.tree : NULL);

            eval_init(&context->eval, &context->env, &context->arena);
            eval_tree(&context->eval, scope, tree, &value);
        }
    } while (reads_end(context));
    return lend(context, &value);
}

const struct berth_value *berth_eval_attribute(struct berth_context *context, const struct berth_ad *ad,
                                               const char *name, const struct berth_ad *other)
{
    const struct tree *tree = ad_tree(context, ad);
    struct value value;

    context_fresh(context);
    if (!tree || !name || !other_fits(context, other))
        return NULL;
    do {
        symbol id;

        reads_begin(context);
        value = value_undefined();
        pair_init(&context->pair, tree, other ? other->item.tree : NULL);
        eval_init(&context->eval, &context->env, &context->arena);
        id = symbols_find(tree->symbols, name, strlen(name));
        if (id != SYMBOL_NONE)
            eval_attribute(&context->eval, &context->pair.left, id, &value);
    } while (reads_end(context));
    return lend(context, &value);
}

int berth_value_type(const struct berth_value *value)
{
    return value ? value->value.type : BERTH_UNDEFINED;
}

int berth_value_integer(const struct berth_value *value, int64_t *ret)
{
    if (!value)
        return -1;
    switch (value->value.type) {
    case VALUE_BOOLEAN:
        *ret = value->value.boolean;
        return 0;
    case VALUE_INTEGER:
    case VALUE_ABSTIME:
    case VALUE_RELTIME:
        *ret = value->value.u.integer;
        return 0;
    case VALUE_REAL:
        return real_to_integer(value->value.u.real, ret) ? 0 : -1;
    default:
        return -1;
    }
}

int berth_value_real(const struct berth_value *value, double *ret)
{
    if (!value || !value_is_number(&value->value))
        return -1;
    *ret = value->value.type == VALUE_REAL ? value->value.u.real : (double)value->value.u.integer;
    return 0;
}

int berth_value_boolean(const struct berth_value *value)
{
    return value && value->value.type == VALUE_BOOLEAN ? value->value.boolean : -1;
}

const char *berth_value_string(const struct berth_value *value, size_t *ret_len)
{
    if (!value || value->value.type != VALUE_STRING)
        return NULL;
    if (ret_len)
        *ret_len = value->value.len;
    return value->value.u.string;
}

int berth_value_zone(const struct berth_value *value)
{
    return value && value->value.type == VALUE_ABSTIME ? value->value.zone : 0;
}

size_t berth_value_count(const struct berth_value *value)
{
    if (value && value->value.type == VALUE_LIST)
        return value->value.len;
    return value && value->value.type == VALUE_AD ? expr_part_count(value->value.u.aggregate) : 0;
}

const struct berth_value *berth_value_element(struct berth_context *context, const struct berth_value *value, size_t n)
{
    struct eval before = context->eval;
    struct value element;

    if (!value || value->value.type != VALUE_LIST || n >= value->value.len)
        return NULL;
    do {
        reads_begin(context);
        context->eval = before;
        eval_element(&context->eval, &value->value, (uint32_t)n, &element);
    } while (reads_end(context));
    return lend(context, &element);
}

const char *berth_value_text(struct berth_context *context, const struct berth_value *value, size_t *ret_len)
{
    if (!value)
        return NULL;
    buf_reset(&context->text);
    reads_begin(context);
    value_print(&context->text,
                value->value.scope && value->value.scope->tree ? value->value.scope->tree->dialect : context->dialect,
                &value->value, PRINT_PLAIN);
    reads_done(context);
    if (ret_len)
        *ret_len = context->text.len;
    return context_copy(context, context->text.text, context->text.len);
}

struct berth_ad *berth_value_ad(struct berth_context *context, const struct berth_value *value)
{
    struct berth_ad *ad = NULL;
    struct build build;
    struct tree *tree;

    if (!value || value->value.type != VALUE_AD)
        return NULL;
    changes_begin(context->world);
    build_init(&build, context->world->symbols,
               value->value.scope && value->value.scope->tree ? value->value.scope->tree->dialect : context->dialect);
    value_build(&build, &value->value);
    tree = build_seal(&build);
    build_done(&build);
    if (tree_fits(tree) && tree_is_ad(tree))
        ad = ad_take(context->world, tree);
    else
        tree_unref(tree);
    changes_end(context->world);
    return ad;
}
