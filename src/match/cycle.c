/* cycle.c: one matchmaking cycle: each root in turn gets the best candidate that is left. */
#include "match/cycle.h"

#include "base/mem.h"
#include "match/order.h"
#include "match/residual.h"

#include <stdlib.h>

struct candidate {
    size_t place;              /* among the parties */
    const struct party *party; /* the one there, or what is left of it: */
    struct party *residual;    /* ours, or NULL */
};

struct cycle {
    const struct env *env;
    struct arena *arena;
    const struct policy *policy;
    const struct party *parties;
    size_t *roots; /* their places among the parties */
    size_t root_count;
    struct candidate *candidates; /* that are left, in their order */
    size_t candidate_count;
};

/* The best so far: its place among the candidates, and its vector. */
struct best {
    size_t place;
    struct value *components;
    uint32_t count; /* 0: there is none */
};

static void cycle_divide(struct cycle *cycle, size_t request_count, size_t offer_count)
{
    size_t count = request_count + offer_count;

    cycle->roots = mem_alloc(count * sizeof *cycle->roots);
    cycle->candidates = mem_alloc(count * sizeof *cycle->candidates);
    for (size_t i = 0; i < count; i++) {
        bool root = cycle->policy->selection
                        ? policy_selects(cycle->policy, cycle->env, cycle->arena, cycle->parties[i].ad)
                        : i < request_count;

        if (root)
            cycle->roots[cycle->root_count++] = i;
        else
            cycle->candidates[cycle->candidate_count++] = (struct candidate){i, &cycle->parties[i], NULL};
    }
    policy_sort(cycle->policy, cycle->env, cycle->arena, cycle->parties, cycle->roots, cycle->root_count);
}

static bool vector_larger(const struct value *a, const struct best *than)
{
    for (uint32_t i = 0; i < than->count; i++) {
        int order = order_compare(&a[i], &than->components[i]);

        if (order)
            return order > 0;
    }
    return false;
}

/* The best candidate that is left for a root. What is not better leaves nothing in the arena. */
static void cycle_best(const struct cycle *cycle, const struct party *root, struct best *ret)
{
    *ret = (struct best){0};
    for (size_t i = 0; i < cycle->candidate_count; i++) {
        const struct party *candidate = cycle->candidates[i].party;
        struct arena_mark mark = arena_mark(cycle->arena);
        struct value *components;
        uint32_t count;

        if (!party_matches(cycle->env, cycle->arena, root, candidate))
            continue;
        count = policy_vector(cycle->policy, cycle->env, cycle->arena, root->ad, candidate->ad, &components);
        if (count && (!ret->count || vector_larger(components, ret)))
            *ret = (struct best){i, components, count};
        else
            arena_rewind(cycle->arena, mark);
    }
}

/* How many units a root asks for: its Count, if that is a whole number above zero. */
static int64_t root_units(const struct cycle *cycle, const struct party *root)
{
    struct scope scope;
    struct eval eval;
    struct value count;

    scope_init(&scope, root->ad, NULL);
    eval_init(&eval, cycle->env, cycle->arena);
    if (!eval_attribute(&eval, &scope, NAME_COUNT, &count) || count.type != VALUE_INTEGER || count.u.integer < 1)
        return 1;
    return count.u.integer < CYCLE_COUNT_MAX ? count.u.integer : CYCLE_COUNT_MAX;
}

static void cycle_tell(const struct cycle *cycle, size_t root, const struct candidate *candidate, cycle_found_fn *found,
                       void *user)
{
    struct match match;
    struct value rank;

    match_ads(cycle->env, cycle->arena, cycle->parties[root].ad, candidate->party->ad, &match);
    rank = order_rank(&match.left_rank);
    found(user, root, candidate->place, &rank);
}

static void candidate_done(struct candidate *candidate)
{
    party_done(candidate->residual);
    free(candidate->residual);
    candidate->residual = NULL;
}

/* Can it still accept anybody? Not when what is left of its constraint is false. */
static bool party_is_open(const struct party *party)
{
    const struct expr *left = party->constraint ? tree_root(party->constraint) : NULL;

    return !left || left->kind != EXPR_BOOLEAN || left->small;
}

/* The candidate has been given to a root: it goes on as its residual, or is taken out; the others keep their order. */
static void cycle_consume(struct cycle *cycle, size_t place, const struct party *root)
{
    struct candidate *candidate = &cycle->candidates[place];
    struct tree *left = residual_make(cycle->env, cycle->arena, candidate->party->ad, root->ad);
    struct party *residual = left ? mem_alloc(sizeof *residual) : NULL;

    candidate_done(candidate);
    if (left) {
        party_init(residual, cycle->env, cycle->arena, left);
        tree_unref(left);
        candidate->party = candidate->residual = residual;
        if (party_is_open(residual))
            return;
        candidate_done(candidate);
    }
    cycle->candidate_count--;
    for (size_t i = place; i < cycle->candidate_count; i++)
        cycle->candidates[i] = cycle->candidates[i + 1];
}

void cycle_run(const struct env *env, struct arena *arena, const struct policy *policy, const struct party *parties,
               size_t request_count, size_t offer_count, cycle_found_fn *found, void *user)
{
    struct cycle cycle = {.env = env, .arena = arena, .policy = policy, .parties = parties};
    struct arena_mark mark = arena_mark(arena);

    cycle_divide(&cycle, request_count, offer_count);
    for (size_t i = 0; i < cycle.root_count; i++) {
        const struct party *root = &parties[cycle.roots[i]];

        for (int64_t units = root_units(&cycle, root); units > 0; units--) {
            struct best best;

            cycle_best(&cycle, root, &best);
            if (!best.count)
                break;
            cycle_tell(&cycle, cycle.roots[i], &cycle.candidates[best.place], found, user);
            cycle_consume(&cycle, best.place, root);
            arena_rewind(arena, mark);
        }
        arena_rewind(arena, mark);
    }
    for (size_t i = 0; i < cycle.candidate_count; i++)
        candidate_done(&cycle.candidates[i]);
    free(cycle.roots);
    free(cycle.candidates);
}
