/* residual.c: what is left of an offer when a part of it has been given away. */
#include "match/pair/residual.h"

#include "lang/ad/refs.h"
#include "match/pair/pair.h"

const struct expr *residual_of(const struct tree *offer)
{
    const struct expr *residual = tree_find(offer, tree_root(offer), NAME_RESIDUAL);

    return residual && residual->kind == EXPR_AD ? residual : NULL;
}

int residual_check(const struct tree *offer, struct err *err)
{
    const struct expr *residual = tree_find(offer, tree_root(offer), NAME_RESIDUAL), *parts;
    struct scope scope;

    if (!residual)
        return 0;
    if (residual->kind != EXPR_AD)
        return err_set(err, "Residual is not written as an ad: [ Cpus = Cpus - other.RequestCpus ]");
    scope_init(&scope, offer, NULL);
    parts = tree_parts(offer, residual);
    for (uint32_t i = 0; i < residual->u.run.count; i++)
        if (refs_reach(&scope, &parts[i], residual))
            return err_set(err, "Residual reads itself");
    return 0;
}

/* Pushes an attribute of the residual as the value that it has now. All attributes share one budget: past it they are errors. */
static void push_now(struct build *build, struct eval *eval, const struct scope *offer, const struct expr *e)
{
    struct value v;

    eval_expr(eval, offer, e, &v);
    value_build(build, &v);
}

struct tree *residual_make_in(const struct env *env, struct arena *scratch, const struct scope *scope)
{
    const struct tree *offer = scope->tree;
    const struct expr *residual = residual_of(offer), *root = tree_root(offer), *parts = tree_parts(offer, root);
    struct arena_mark mark = arena_mark(scratch);
    uint32_t count = root->u.run.count, from = 0, place;
    struct tree *left = NULL;
    struct build build;
    struct eval eval;

    if (!residual)
        return NULL;
    eval_init(&eval, env, scratch);
    build_init(&build, offer->symbols, offer->dialect);
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        const struct expr *now = tree_find(offer, residual, parts[i].label);

        if (!now)
            continue;
        build_copy_run(&build, offer, &parts[from], i - from);
        push_now(&build, &eval, scope, now);
        symbols_hold(offer->symbols, parts[i].label);
        build_attribute(&build, parts[i].label);
        from = i + 1;
    }
    build_copy_run(&build, offer, &parts[from], root->u.run.count - from);
    parts = tree_parts(offer, residual);
    for (uint32_t i = 0; i < residual->u.run.count; i++) { /* attributes that the offer did not have before */
        if (tree_find(offer, root, parts[i].label))
            continue;
        push_now(&build, &eval, scope, &parts[i]);
        symbols_hold(offer->symbols, parts[i].label);
        build_attribute(&build, parts[i].label);
        count++;
    }
    if (build_ad(&build, count, &place) == 0)
        left = build_seal(&build);
    build_done(&build);
    arena_rewind(scratch, mark);
    return left;
}

struct tree *residual_make(const struct env *env, struct arena *scratch, const struct tree *offer,
                           const struct tree *request)
{
    struct pair pair;

    pair_init(&pair, request, offer);
    return residual_make_in(env, scratch, &pair.right);
}
