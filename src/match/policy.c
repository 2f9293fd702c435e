/* policy.c: whom a matchmaker serves first, and what it gives them. */
#include "match/policy.h"

#include "base/mem.h"
#include "match/order.h"
#include "match/pair.h"

#include <stdlib.h>

int policy_init(struct policy *policy, struct tree *ad, symbol *ret_attribute, struct err *err)
{
    const struct expr *root = ad ? tree_root(ad) : NULL;

    *policy = (struct policy){0};
    if (!ad)
        return 0;
    policy->selection = tree_find(ad, root, NAME_ROOTSELECTION);
    policy->order = tree_find(ad, root, NAME_ROOTORDER);
    policy->vector = tree_find(ad, root, NAME_DOCKINGVECTOR);
    if (policy->vector && policy->vector->kind != EXPR_LIST) {
        *ret_attribute = policy->vector->label;
        return err_set(err, "a DockingVector is a list of expressions: { self.Rank, label.Rank }");
    }
    if (policy->vector && (policy->vector->u.run.count == 0 || policy->vector->u.run.count > POLICY_COMPONENTS_MAX)) {
        *ret_attribute = policy->vector->label;
        return err_set(err, "a DockingVector has from 1 to %d components", POLICY_COMPONENTS_MAX);
    }
    policy->ad = tree_ref(ad);
    return 0;
}

void policy_done(struct policy *policy)
{
    if (!policy)
        return;
    tree_unref(policy->ad);
    *policy = (struct policy){0};
}

/* An expression of the policy, evaluated in an ad that stands alone. */
static void evaluate_alone(const struct policy *policy, const struct env *env, struct arena *arena,
                           const struct tree *ad, const struct expr *e, struct value *ret)
{
    struct scope *scopes = arena_alloc(arena, 2 * sizeof *scopes);
    struct eval eval;

    scope_init(&scopes[0], ad, NULL);
    scope_inside(&scopes[1], &scopes[0], policy->ad);
    eval_init(&eval, env, arena);
    eval_expr(&eval, &scopes[1], e, ret);
}

bool policy_selects(const struct policy *policy, const struct env *env, struct arena *scratch, const struct tree *ad)
{
    struct arena_mark mark = arena_mark(scratch);
    struct value v;

    evaluate_alone(policy, env, scratch, ad, policy->selection, &v);
    arena_rewind(scratch, mark);
    return value_is_true(&v);
}

struct key {
    struct value value;
    size_t party, place;
};

static int key_compare(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int order = order_compare(&y->value, &x->value);

    if (order_has(&x->value) != order_has(&y->value))
        return order_has(&x->value) ? -1 : 1;
    if (order && order_has(&x->value))
        return order;
    return x->place < y->place ? -1 : 1;
}

void policy_sort(const struct policy *policy, const struct env *env, struct arena *scratch, const struct party *parties,
                 size_t *order, size_t count)
{
    struct arena_mark mark = arena_mark(scratch);
    struct key *keys;

    if (!policy->order || count == 0)
        return;
    keys = mem_alloc(count * sizeof *keys);
    for (size_t i = 0; i < count; i++) {
        keys[i].party = order[i];
        keys[i].place = i;
        evaluate_alone(policy, env, scratch, parties[order[i]].ad, policy->order, &keys[i].value);
    }
    qsort(keys, count, sizeof *keys, key_compare);
    for (size_t i = 0; i < count; i++)
        order[i] = keys[i].party;
    free(keys);
    arena_rewind(scratch, mark);
}

/* A pair with the candidate seen as `label` from the policy's expressions. */
struct docking {
    struct pair pair;
    struct label labels[2];
    struct surroundings around;
    struct scope policy;
};

static void vector_by_policy(const struct policy *policy, const struct env *env, struct arena *arena,
                             struct docking *docking, struct value *components)
{
    static const struct given rank_absent = {NAME_RANK, {VALUE_INTEGER, false, 0, 0, {0}, NULL}};
    const struct expr *parts = tree_parts(policy->ad, policy->vector);
    struct env with_rank = *env;

    with_rank.absent = &rank_absent;
    with_rank.absent_count = 1;
    docking->labels[0] = (struct label){NAME_OTHER, &docking->pair.right};
    docking->labels[1] = (struct label){NAME_LABEL, &docking->pair.right};
    docking->around = (struct surroundings){docking->labels, 2, &docking->pair.right};
    scope_inside(&docking->policy, &docking->pair.left, policy->ad);
    docking->policy.around = &docking->around;
    for (uint32_t i = 0; i < policy->vector->u.run.count; i++) {
        struct eval eval;

        eval_init(&eval, &with_rank, arena);
        eval_expr(&eval, &docking->policy, &parts[i], &components[i]);
    }
}

static void vector_by_ranks(const struct env *env, struct arena *arena, const struct docking *docking,
                            struct value *components)
{
    const struct scope *sides[2] = {&docking->pair.left, &docking->pair.right};

    for (int i = 0; i < 2; i++) {
        struct eval eval;

        eval_init(&eval, env, arena);
        eval_attribute(&eval, sides[i], NAME_RANK, &components[i]);
        components[i] = order_rank(&components[i]);
    }
}

uint32_t policy_vector(const struct policy *policy, const struct env *env, struct arena *arena, const struct tree *root,
                       const struct tree *candidate, struct value **ret_components)
{
    struct docking *docking = arena_alloc(arena, sizeof *docking); /* values may be ads, whose scopes are in here */
    uint32_t count = policy->vector ? policy->vector->u.run.count : 2;
    struct value *components = arena_alloc(arena, count * sizeof *components);

    pair_init(&docking->pair, root, candidate);
    if (policy->vector)
        vector_by_policy(policy, env, arena, docking, components);
    else
        vector_by_ranks(env, arena, docking, components);
    for (uint32_t i = 0; i < count; i++)
        if (!order_has(&components[i]))
            return 0;
    *ret_components = components;
    return count;
}
