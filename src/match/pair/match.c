/* match.c: do two ads fit, and how much do they like each other? */
#include "match/pair/match.h"

#include "lang/ad/ops.h"
#include "lang/ad/specialize.h"
#include "match/pair/pair.h"

#include <string.h>

const struct expr *match_constraint(const struct tree *ad)
{
    const struct expr *root = tree_root(ad), *found = tree_find(ad, root, NAME_CONSTRAINT);

    return found ? found : tree_find(ad, root, NAME_REQUIREMENTS);
}

static bool value_accepts(const struct dialect *dialect, const struct value *v)
{
    bool truth = false;

    return op_condition(dialect, v, &truth) == VALUE_BOOLEAN && truth;
}

/* Evaluates the constraint and the rank of one side. */
static void side_evaluate(const struct env *env, struct arena *arena, const struct scope *scope,
                          struct value *ret_constraint, struct value *ret_rank)
{
    const struct expr *constraint = match_constraint(scope->tree);
    struct eval eval;

    eval_init(&eval, env, arena);
    if (constraint)
        eval_attribute(&eval, scope, constraint->label, ret_constraint);
    else
        *ret_constraint = value_boolean(true);
    eval_init(&eval, env, arena);
    eval_attribute(&eval, scope, NAME_RANK, ret_rank);
}

void match_ads(const struct env *env, struct arena *arena, const struct tree *left, const struct tree *right,
               struct match *ret)
{
    struct pair *pair = arena_alloc(arena, sizeof *pair); /* values may be ads, whose scopes are in here */

    pair_init(pair, left, right);
    side_evaluate(env, arena, &pair->left, &ret->left_constraint, &ret->left_rank);
    side_evaluate(env, arena, &pair->right, &ret->right_constraint, &ret->right_rank);
    ret->matches =
        value_accepts(left->dialect, &ret->left_constraint) && value_accepts(right->dialect, &ret->right_constraint);
}

/* Is the expression of an ad's attribute true when the ad meets the counterpart? */
static bool pair_true(const struct env *env, struct arena *scratch, const struct tree *ad, const struct expr *e,
                      const struct tree *counterpart, uint64_t *steps)
{
    struct arena_mark mark = arena_mark(scratch);
    struct active active;
    struct eval eval;
    uint64_t budget;
    struct pair pair;
    bool is_true;

    pair_init(&pair, ad, counterpart);
    eval_init(&eval, env, scratch);
    budget = eval.steps;
    active = (struct active){e, pair.left.around, NULL};
    eval.active = &active;
    is_true = eval_true(&eval, &pair.left, e) && !eval.exhausted;
    *steps += budget - eval.steps;
    arena_rewind(scratch, mark);
    return is_true;
}

bool match_accepts_counted(const struct env *env, struct arena *scratch, const struct tree *ad,
                           const struct tree *counterpart, uint64_t *steps)
{
    const struct expr *constraint = match_constraint(ad);

    return !constraint || pair_true(env, scratch, ad, constraint, counterpart, steps);
}

bool match_says(const struct env *env, struct arena *scratch, const struct tree *ad, const char *attribute,
                const struct tree *counterpart)
{
    symbol name = symbols_find(ad->symbols, attribute, strlen(attribute));
    const struct expr *e = name ? tree_find(ad, tree_root(ad), name) : NULL;
    uint64_t steps = 0;

    return e && pair_true(env, scratch, ad, e, counterpart, &steps);
}

bool match_accepts(const struct env *env, struct arena *scratch, const struct tree *ad, const struct tree *counterpart)
{
    uint64_t steps = 0;

    return match_accepts_counted(env, scratch, ad, counterpart, &steps);
}

void party_init(struct party *party, const struct env *env, struct arena *scratch, struct tree *ad)
{
    const struct expr *constraint = match_constraint(ad);
    struct scope scope;

    *party = (struct party){.ad = tree_ref(ad)};
    if (constraint) {
        scope_init(&scope, ad, NULL);
        party->constraint = specialize(env, scratch, &scope, constraint, SPECIALIZE_TRUTH);
        clauses_init(&party->clauses, ad, party->constraint);
    }
}

void party_done(struct party *party)
{
    if (!party)
        return;
    clauses_done(&party->clauses);
    tree_unref(party->constraint);
    tree_unref(party->ad);
    *party = (struct party){0};
}

bool party_is_open(const struct party *party)
{
    const struct expr *left = party->constraint ? tree_root(party->constraint) : NULL;

    return !left || left->kind != EXPR_BOOLEAN || left->small;
}

bool match_is_open(const struct env *env, struct arena *scratch, struct tree *ad)
{
    struct party party;
    bool open;

    party_init(&party, env, scratch, ad);
    open = party_is_open(&party);
    party_done(&party);
    return open;
}

bool party_matches(const struct env *env, struct arena *scratch, const struct party *left, const struct party *right)
{
    return clauses_hold(&left->clauses, env, scratch, right->ad) &&
           clauses_hold(&right->clauses, env, scratch, left->ad);
}

bool match_query_counted(const struct env *env, struct arena *scratch, const struct tree *query, const struct tree *ad,
                         uint64_t *steps)
{
    struct arena_mark mark = arena_mark(scratch);
    struct eval eval;
    struct pair pair;
    uint64_t budget;
    bool matches;

    pair_init(&pair, query, ad);
    eval_init(&eval, env, scratch);
    budget = eval.steps;
    matches = eval_true(&eval, &pair.left, tree_root(query)) && !eval.exhausted;
    *steps += budget - eval.steps;
    arena_rewind(scratch, mark);
    return matches;
}

bool match_query(const struct env *env, struct arena *scratch, const struct tree *query, const struct tree *ad)
{
    uint64_t steps = 0;

    return match_query_counted(env, scratch, query, ad, &steps);
}
