/* policy.c: whom a matchmaker serves first, and what it gives them. */
#include "match/pair/policy.h"

#include "lang/base/mem.h"
#include "match/pair/order.h"
#include "match/pair/pair.h"

#include <stdlib.h>
#include <string.h>

/* Reads PullOrder, which is one of four words. */
static int policy_read_pull(struct policy *policy, const struct tree *ad, symbol *ret_attribute, struct err *err)
{
    static const char *const words[] = {"fair", "best-fit", "starving", "priority"};
    symbol name = symbols_find(ad->symbols, "PullOrder", 9);
    const struct expr *e = name ? tree_find(ad, tree_root(ad), name) : NULL;

    if (!e)
        return 0;
    for (unsigned i = 0; e->kind == EXPR_STRING && i < sizeof words / sizeof *words; i++)
        if (e->u.run.count == strlen(words[i]) && memcmp(tree_string(ad, e), words[i], e->u.run.count) == 0) {
            policy->pull = (enum pull_order)i;
            return 0;
        }
    if (ret_attribute)
        *ret_attribute = e->label;
    return err_set(err, "a PullOrder is \"fair\", \"best-fit\", \"starving\" or \"priority\"");
}

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
    if (policy_read_pull(policy, ad, ret_attribute, err) < 0)
        return -1;
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

/* Evaluates an expression of the policy in an ad that stands alone. */
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

void policy_key(const struct policy *policy, const struct env *env, struct arena *arena, const struct tree *ad,
                struct value *ret)
{
    evaluate_alone(policy, env, arena, ad, policy->order, ret);
}

int policy_key_compare(const struct value *a, const struct value *b)
{
    if (order_has(a) != order_has(b))
        return order_has(a) ? -1 : 1;
    return order_has(a) ? order_compare(b, a) : 0;
}

struct index_key {
    struct value value;
    size_t party, place;
};

static int key_compare(const void *a, const void *b)
{
    const struct index_key *x = a, *y = b;
    int order = policy_key_compare(&x->value, &y->value);

    return order ? order : x->place < y->place ? -1 : 1;
}

void policy_sort(const struct policy *policy, const struct env *env, struct arena *scratch, struct tree *const *ads,
                 size_t *order, size_t count)
{
    struct arena_mark mark = arena_mark(scratch);
    struct index_key *keys;

    if (!policy->order || count == 0)
        return;
    keys = mem_alloc(count * sizeof *keys);
    for (size_t i = 0; i < count; i++) {
        keys[i].party = order[i];
        keys[i].place = i;
        policy_key(policy, env, scratch, ads[order[i]], &keys[i].value);
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

/* The policy's expressions stand in the root, and see the candidate. */
static void docking_init(struct docking *docking, const struct policy *policy, const struct tree *root,
                         const struct tree *candidate)
{
    pair_init(&docking->pair, root, candidate);
    if (!policy->vector)
        return;
    docking->labels[0] = (struct label){NAME_OTHER, &docking->pair.right, NULL};
    docking->labels[1] = (struct label){NAME_LABEL, &docking->pair.right, NULL};
    docking->around = (struct surroundings){docking->labels, 2, &docking->pair.right, 0};
    scope_inside(&docking->policy, &docking->pair.left, policy->ad);
    docking->policy.around = &docking->around;
}

static void docking_rank(const struct docking *docking, const struct env *env, struct arena *arena, bool root,
                         symbol name, struct value *ret, uint64_t *steps)
{
    struct eval eval;
    uint64_t budget;

    eval_init(&eval, env, arena);
    budget = eval.steps;
    eval_attribute(&eval, root ? &docking->pair.left : &docking->pair.right, name, ret);
    *ret = order_rank(ret);
    *steps += budget - eval.steps;
}

/* The first component without a vector: 1 when the candidate is free, 0 when its present claim may go for this root, error when it may not. */
static void docking_freedom(const struct docking *docking, const struct env *env, struct arena *arena,
                            struct value *ret, uint64_t *steps)
{
    const struct tree *candidate = docking->pair.right.tree;
    struct value mine, its;

    *ret = value_integer(1);
    if (!tree_find(candidate, tree_root(candidate), NAME_PREEMPTS))
        return;
    docking_rank(docking, env, arena, false, NAME_RANK, &mine, steps);
    docking_rank(docking, env, arena, false, NAME_CURRENTRANK, &its, steps);
    *ret = order_compare(&mine, &its) > 0 ? value_integer(0) : value_error();
}

/* Evaluates the n-th component: that of the policy's vector; or else whether the candidate is free, then the root's rank, then the candidate's. */
static void docking_component(const struct docking *docking, const struct policy *policy, const struct env *env,
                              struct arena *arena, uint32_t n, struct value *ret, uint64_t *steps)
{
    struct eval eval;
    uint64_t budget;

    if (!policy->vector) {
        if (n == 0)
            docking_freedom(docking, env, arena, ret, steps);
        else
            docking_rank(docking, env, arena, n == 1, NAME_RANK, ret, steps);
        return;
    }
    eval_init(&eval, env, arena);
    budget = eval.steps;
    eval_expr(&eval, &docking->policy, &tree_parts(policy->ad, policy->vector)[n], ret);
    *steps += budget - eval.steps;
}

uint32_t policy_vector_counted(const struct policy *policy, const struct env *env, struct arena *arena,
                               const struct tree *root, const struct tree *candidate, const struct value *than,
                               struct value **ret_components, uint64_t *steps)
{
    struct given absent[POLICY_ABSENT_MAX + 1];
    struct docking *docking = arena_alloc(arena, sizeof *docking); /* values may be ads, whose scopes are in here */
    uint32_t count = policy->vector ? policy->vector->u.run.count : 3;
    struct value *components = arena_alloc(arena, count * sizeof *components);
    struct env with_rank = *env;

    if (policy->vector) {
        uint32_t more = env->absent_count < POLICY_ABSENT_MAX ? env->absent_count : POLICY_ABSENT_MAX;

        absent[0] = (struct given){NAME_RANK, value_integer(0)};
        for (uint32_t i = 0; i < more; i++)
            absent[i + 1] = env->absent[i];
        with_rank.absent = absent;
        with_rank.absent_count = more + 1;
    }
    docking_init(docking, policy, root, candidate);
    for (uint32_t i = 0; i < count; i++) {
        int order;

        docking_component(docking, policy, &with_rank, arena, i, &components[i], steps);
        if (!order_has(&components[i]))
            return 0;
        order = than ? order_compare(&components[i], &than[i]) : 0;
        if (order < 0)
            return 0;
        if (order > 0)
            than = NULL; /* this vector is larger, whatever follows */
    }
    *ret_components = components;
    return count;
}

uint32_t policy_vector(const struct policy *policy, const struct env *env, struct arena *arena, const struct tree *root,
                       const struct tree *candidate, const struct value *than, struct value **ret_components)
{
    uint64_t steps = 0;

    return policy_vector_counted(policy, env, arena, root, candidate, than, ret_components, &steps);
}
