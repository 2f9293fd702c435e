/* gang.c: one matchmaking cycle in which a root gathers a whole gang. */
#include "match/gang/gang.h"

#include "lang/base/mem.h"
#include "match/gang/search.h"
#include "match/gang/take.h"
#include "match/pair/cycle.h"

#include <stdlib.h>

#define WEIGHED_MAX 64 /* roots that are asked what they could take, to find the offers that few can take */

const char *const gang_algorithm_names[GANG_ALGORITHMS] = {"naive", "lr",   "rl",    "lrc", "rlc",
                                                           "dyn",   "dyns", "dynsr", "auto"};

struct gang_cycle {
    const struct env *env;
    struct arena *arena;
    const struct policy *policy;
    struct tree *const *ads;
    size_t *roots, *candidates; /* places */
    size_t root_count, candidate_count;
    uint32_t *offer_of; /* by place: the number among the offers */
    struct name_set read;
    struct members members;
    struct stock offers;
    struct search search;
    gang_found_fn *found;
    void *user;
    struct gang_stats stats;
};

/* Divides the ads into roots, in the order in which they are served, and candidates. */
static void cycle_divide(struct gang_cycle *cycle, size_t request_count, size_t offer_count)
{
    size_t count = request_count + offer_count;

    cycle->roots = mem_alloc((count + 1) * sizeof *cycle->roots);
    cycle->candidates = mem_alloc((count + 1) * sizeof *cycle->candidates);
    cycle->offer_of = mem_alloc((count + 1) * sizeof *cycle->offer_of);
    for (size_t i = 0; i < count; i++) {
        bool root = cycle->policy->selection ? policy_selects(cycle->policy, cycle->env, cycle->arena, cycle->ads[i])
                                             : i < request_count;

        if (root) {
            cycle->roots[cycle->root_count++] = i;
        } else {
            cycle->offer_of[i] = (uint32_t)cycle->candidate_count;
            cycle->candidates[cycle->candidate_count++] = i;
        }
        name_set_read(&cycle->read, cycle->ads[i], tree_root(cycle->ads[i]));
    }
    if (cycle->policy->ad)
        name_set_read(&cycle->read, cycle->policy->ad, tree_root(cycle->policy->ad));
    name_set_add(&cycle->read, NAME_RANK);
    name_set_add(&cycle->read, NAME_PREEMPTS); /* as the default vector does */
    name_set_add(&cycle->read, NAME_CURRENTRANK);
    policy_sort(cycle->policy, cycle->env, cycle->arena, cycle->ads, cycle->roots, cycle->root_count);
}

/* Puts the offers that few roots could take in front, where any gang will do: so more is left for the roots that come later. */
static void cycle_weigh(struct gang_cycle *cycle)
{
    uint32_t *weights = mem_alloc((cycle->offers.face_count + 1) * sizeof *weights);
    size_t step = cycle->root_count / WEIGHED_MAX + 1;
    struct err err;

    for (uint32_t i = 0; i < cycle->offers.face_count; i++)
        weights[i] = 0;
    for (size_t i = 0; i < cycle->root_count; i += step) {
        struct ported root;

        if (ported_init(&root, cycle->ads[cycle->roots[i]], &err) == 0)
            search_weigh(&cycle->search, &root, cycle->roots[i], weights);
        ported_done(&root);
    }
    for (uint32_t i = 0; i < cycle->offers.face_count && cycle->offers.shared;
         i++) { /* the head of a kind was weighed for all */
        uint32_t next = index_next(cycle->offers.index, i);

        if (next != INDEX_END)
            weights[next] = weights[i];
    }
    stock_reorder(&cycle->offers, weights, &cycle->read);
    free(weights);
}

/* How many units a root asks for: its Count, if that is a whole number above zero. */
static int64_t root_units(const struct gang_cycle *cycle, const struct tree *ad)
{
    struct value count;
    struct scope scope;
    struct eval eval;

    scope_init(&scope, ad, NULL);
    eval_init(&eval, cycle->env, cycle->arena);
    if (!eval_attribute(&eval, &scope, NAME_COUNT, &count) || count.type != VALUE_INTEGER || count.u.integer < 1)
        return 1;
    return count.u.integer < CYCLE_COUNT_MAX ? count.u.integer : CYCLE_COUNT_MAX;
}

/* Takes the members of the gang out of the stock, except for what is left of them. */
static void cycle_consume(struct gang_cycle *cycle, const struct ported *root)
{
    const struct search *search = &cycle->search;
    struct ported *again = mem_alloc(search->best_count * sizeof *again);
    const struct ported **of = mem_alloc(search->best_count * sizeof(const struct ported *));

    of[0] = root;
    for (uint32_t i = 0; i < search->best_count; i++) {
        again[i] = (struct ported){0};
        if (i)
            of[i] = &cycle->offers.items[cycle->offer_of[search->best[i].place]].ported;
    }
    taken_dock(search, of, again);
    for (uint32_t i = 1; i < search->best_count; i++) {
        struct stocked_offer *offer = &cycle->offers.items[cycle->offer_of[search->best[i].place]];

        tree_unref(offer->left); /* of an offer that is in the gang twice, the last time counts */
        offer->left = taken_left(&cycle->members, i);
    }
    while (cycle->members.count)
        members_pop(&cycle->members);
    for (uint32_t i = 1; i < search->best_count; i++) {
        uint32_t number = cycle->offer_of[search->best[i].place];
        struct tree *left = cycle->offers.items[number].left;

        cycle->offers.items[number].left = NULL;
        if (!taken_before(search, i))
            stock_consume(&cycle->offers, number, left);
        tree_unref(left);
        ported_done(&again[i]);
    }
    free(of);
    free(again);
}

/* Serves one unit of a root. */
static enum gang_outcome cycle_unit(struct gang_cycle *cycle, const struct ported *root, size_t place)
{
    struct gang_member alone = {place, 0, 0, 0};
    enum gang_outcome outcome = search_root(&cycle->search, root, place);

    cycle->stats.nodes += cycle->search.nodes;
    if (outcome == GANG_FORMED) {
        cycle->stats.gangs++;
        cycle->stats.cut += cycle->search.cut;
        cycle->found(cycle->user, outcome, cycle->search.best, cycle->search.best_count);
        cycle_consume(cycle, root);
    } else {
        cycle->stats.gave_up += outcome == GANG_GAVE_UP;
        cycle->found(cycle->user, outcome, &alone, 1);
    }
    return outcome;
}

static void cycle_serve(struct gang_cycle *cycle)
{
    struct arena_mark mark = arena_mark(cycle->arena);
    struct err err;

    for (size_t i = 0; i < cycle->root_count; i++) {
        size_t place = cycle->roots[i];
        struct ported root;

        cycle->stats.roots++;
        if (ported_init(&root, cycle->ads[place], &err) < 0)
            continue;
        for (int64_t units = root_units(cycle, cycle->ads[place]); units > 0; units--)
            if (cycle_unit(cycle, &root, place) != GANG_FORMED)
                break;
        ported_done(&root);
        arena_rewind(cycle->arena, mark);
    }
}

void gang_run(const struct env *env, struct arena *arena, const struct gang_field *field,
              const struct gang_settings *settings, gang_found_fn *found, void *user, struct gang_stats *ret_stats)
{
    struct gang_cycle *cycle = mem_alloc(sizeof *cycle);
    struct arena_mark mark = arena_mark(arena);

    *cycle = (struct gang_cycle){
        .env = env, .arena = arena, .policy = field->policy, .ads = field->ads, .found = found, .user = user};
    members_init(&cycle->members, env, field->policy, arena);
    cycle_divide(cycle, field->request_count, field->offer_count);
    stock_init(&cycle->offers, &cycle->members, field->ads, cycle->candidates, (uint32_t)cycle->candidate_count,
               strategies[settings->algorithm].way, &cycle->read);
    search_init(&cycle->search, settings, &cycle->offers, &cycle->members);
    if (settings->algorithm == GANG_AUTO && !settings->preferences)
        cycle_weigh(cycle);
    cycle_serve(cycle);
    if (ret_stats) {
        cycle->stats.probes = cycle->search.probes;
        cycle->stats.evaluations = cycle->members.evaluations;
        *ret_stats = cycle->stats;
    }
    search_done(&cycle->search);
    stock_done(&cycle->offers);
    members_done(&cycle->members);
    name_set_done(&cycle->read);
    free(cycle->roots);
    free(cycle->candidates);
    free(cycle->offer_of);
    free(cycle);
    arena_rewind(arena, mark);
}
