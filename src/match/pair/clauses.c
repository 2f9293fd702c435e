/* clauses.c: a constraint clause by clause. */
#include "match/pair/clauses.h"

#include "lang/ad/ops.h"
#include "lang/base/mem.h"
#include "match/pair/pair.h"

#include <stdlib.h>

static uint32_t clause_count(const struct tree *tree, const struct expr *e)
{
    const struct expr *parts = tree_parts(tree, e);
    uint32_t count = 0;

    if (e->kind == EXPR_WITHIN)
        return clause_count(tree, parts);
    if (e->kind != EXPR_CHAIN || parts[1].label != OP_AND)
        return 1;
    for (uint32_t i = 0; i < e->u.run.count; i++)
        count += clause_count(tree, &parts[i]);
    return count;
}

static bool is_conjunction(const struct tree *tree, const struct expr *e)
{
    while (e->kind == EXPR_WITHIN)
        e = tree_parts(tree, e);
    return e->kind == EXPR_CHAIN && tree_parts(tree, e)[1].label == OP_AND;
}

static void clauses_collect(struct clauses *clauses, const struct expr *e, uint32_t within)
{
    const struct expr *parts = tree_parts(clauses->tree, e);
    uint32_t depth = within ? clauses->within[within - 1].depth : 0;

    if (e->kind == EXPR_WITHIN && depth < CLAUSES_WITHIN_MAX && (depth == 0 || is_conjunction(clauses->tree, e))) {
        clauses->within[clauses->within_count++] = (struct within){e->u.name.id, within, depth + 1};
        clauses_collect(clauses, parts, clauses->within_count);
    } else if (e->kind == EXPR_CHAIN && parts[1].label == OP_AND) {
        for (uint32_t i = 0; i < e->u.run.count; i++)
            clauses_collect(clauses, &parts[i], within);
    } else {
        struct clause *clause = &clauses->items[clauses->count++];

        *clause = (struct clause){.e = e, .within = within};
        clause->simple = property_read(clauses->ad, clauses->tree, e, &clause->property);
    }
}

void clauses_init(struct clauses *clauses, const struct tree *ad, const struct tree *tree)
{
    const struct expr *root = tree_root(tree);
    uint32_t count;

    *clauses = (struct clauses){.ad = ad, .tree = tree};
    if (root->kind == EXPR_BOOLEAN && root->small)
        return;
    count = clause_count(tree, root);
    if (count > CLAUSES_MAX) {
        clauses->items = mem_alloc(sizeof *clauses->items);
        clauses->items[clauses->count++] = (struct clause){.e = root};
        return;
    }
    /* each attribute that is taken apart has a first clause, which it shares only with attributes nested at its front: at most
     * CLAUSES_WITHIN_MAX */
    clauses->items = mem_alloc(count * sizeof *clauses->items);
    clauses->within = mem_alloc(count * CLAUSES_WITHIN_MAX * sizeof *clauses->within);
    clauses_collect(clauses, root, 0);
    clauses->within = mem_grow(clauses->within, clauses->within_count * sizeof *clauses->within);
}

void clauses_done(struct clauses *clauses)
{
    if (!clauses)
        return;
    free(clauses->items);
    free(clauses->within);
    *clauses = (struct clauses){0};
}

/* What an evaluation needs; made when the first clause wants it. */
struct evaluation {
    struct pair pair;
    struct scope inner;
    struct eval eval;
    bool ready;
};

static void evaluation_ready(struct evaluation *at, const struct clauses *clauses, const struct env *env,
                             struct arena *arena, const struct tree *counterpart)
{
    if (at->ready)
        return;
    pair_init(&at->pair, clauses->ad, counterpart);
    scope_inside(&at->inner, &at->pair.left, clauses->tree);
    eval_init(&at->eval, env, arena);
    at->ready = true;
}

/* Marks the attributes that the clause is a part of as being evaluated. `active` has room for all of them. */
static void evaluation_enter(struct evaluation *at, const struct clauses *clauses, uint32_t within,
                             struct active *active)
{
    if (!within)
        return;
    evaluation_enter(at, clauses, clauses->within[within - 1].outer, active + 1);
    active->e = tree_find(clauses->ad, tree_root(clauses->ad), clauses->within[within - 1].name);
    active->around = at->pair.left.around;
    active->outer = at->eval.active;
    at->eval.active = active;
}

static bool evaluate_true(struct evaluation *at, const struct clauses *clauses, const struct clause *clause)
{
    struct active active[CLAUSES_WITHIN_MAX];
    bool truth;

    evaluation_enter(at, clauses, clause->within, active);
    truth = eval_true(&at->eval, &at->inner, clause->e) && !at->eval.exhausted;
    at->eval.active = NULL;
    return truth;
}

bool clauses_hold(const struct clauses *clauses, const struct env *env, struct arena *scratch,
                  const struct tree *counterpart)
{
    struct arena_mark mark = arena_mark(scratch);
    struct evaluation at;
    bool holds = true;

    at.ready = false;
    for (uint32_t i = 0; i < clauses->count && holds; i++) {
        const struct clause *clause = &clauses->items[i];
        enum property_answer answer = clause->simple
                                          ? property_test(&clause->property, env, clauses->tree->dialect, counterpart)
                                          : PROPERTY_EVALUATE;

        if (answer == PROPERTY_EVALUATE) {
            evaluation_ready(&at, clauses, env, scratch, counterpart);
            holds = evaluate_true(&at, clauses, clause);
        } else {
            holds = answer == PROPERTY_TRUE;
        }
    }
    if (at.ready)
        arena_rewind(scratch, mark);
    return holds;
}

bool clause_holds(const struct clauses *clauses, uint32_t place, const struct env *env, struct arena *scratch,
                  const struct tree *counterpart)
{
    struct clauses one = *clauses;

    one.items += place;
    one.count = 1;
    return clauses_hold(&one, env, scratch, counterpart);
}

uint64_t clause_evaluate(const struct clauses *clauses, uint32_t place, const struct env *env, struct arena *arena,
                         const struct tree *counterpart, struct value *ret)
{
    struct evaluation *at = arena_alloc(arena, sizeof *at); /* values may be ads, whose scopes are in here */
    struct active active[CLAUSES_WITHIN_MAX];
    uint64_t budget;

    at->ready = false;
    evaluation_ready(at, clauses, env, arena, counterpart);
    budget = at->eval.steps;
    evaluation_enter(at, clauses, clauses->items[place].within, active);
    eval_expr(&at->eval, &at->inner, clauses->items[place].e, ret);
    if (at->eval.exhausted)
        *ret = value_error();
    return budget - at->eval.steps;
}
