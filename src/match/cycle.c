/* cycle.c: one matchmaking cycle: each request in turn gets the best offer that is left. */
#include "match/cycle.h"

#include "base/mem.h"
#include "match/order.h"
#include "match/pair.h"

#include <stdlib.h>
#include <string.h>

struct cycle {
    const struct env *env;
    struct arena *arena;
    const struct party *offers;
    size_t offer_count;
    bool *taken; /* by offer */
};

/* What each thinks of the other. */
struct ranks {
    struct value request, offer;
};

static struct value rank_in(const struct cycle *cycle, const struct scope *scope)
{
    struct eval eval;
    struct value rank;

    eval_init(&eval, cycle->env, cycle->arena);
    eval_attribute(&eval, scope, NAME_RANK, &rank);
    return order_rank(&rank);
}

static bool ranks_better(const struct ranks *a, const struct ranks *b)
{
    int order = order_compare(&a->request, &b->request);

    return order ? order > 0 : order_compare(&a->offer, &b->offer) > 0;
}

/* The best offer that is left for a request; false when none fits. */
static bool cycle_best(const struct cycle *cycle, const struct party *request, size_t *ret_offer,
                       struct ranks *ret_ranks)
{
    bool found = false;

    for (size_t i = 0; i < cycle->offer_count; i++) {
        struct arena_mark mark = arena_mark(cycle->arena);
        struct ranks ranks;
        struct pair *pair;

        if (cycle->taken[i] || !party_matches(cycle->env, cycle->arena, request, &cycle->offers[i]))
            continue;
        pair = arena_alloc(cycle->arena, sizeof *pair);
        pair_init(pair, request->ad, cycle->offers[i].ad);
        ranks.request = rank_in(cycle, &pair->left);
        ranks.offer = rank_in(cycle, &pair->right);
        if (!found || ranks_better(&ranks, ret_ranks)) {
            *ret_ranks = ranks;
            *ret_offer = i;
            found = true;
        } else {
            arena_rewind(cycle->arena, mark);
        }
    }
    return found;
}

/* How many units a request asks for: its Count, if that is a whole number above zero. */
static int64_t request_count_of(const struct cycle *cycle, const struct party *request)
{
    struct scope scope;
    struct eval eval;
    struct value count;

    scope_init(&scope, request->ad, NULL);
    eval_init(&eval, cycle->env, cycle->arena);
    if (!eval_attribute(&eval, &scope, NAME_COUNT, &count) || count.type != VALUE_INTEGER || count.u.integer < 1)
        return 1;
    return count.u.integer < CYCLE_COUNT_MAX ? count.u.integer : CYCLE_COUNT_MAX;
}

void cycle_run(const struct env *env, struct arena *arena, const struct party *requests, size_t request_count,
               const struct party *offers, size_t offer_count, cycle_found_fn *found, void *user)
{
    struct cycle cycle = {env, arena, offers, offer_count, mem_alloc(offer_count)};
    struct arena_mark mark = arena_mark(arena);

    memset(cycle.taken, 0, offer_count);
    for (size_t i = 0; i < request_count; i++) {
        int64_t units = request_count_of(&cycle, &requests[i]);
        struct ranks ranks;
        size_t offer;

        for (; units > 0 && cycle_best(&cycle, &requests[i], &offer, &ranks); units--) {
            cycle.taken[offer] = true;
            found(user, i, offer, &ranks.request);
            arena_rewind(arena, mark);
        }
        arena_rewind(arena, mark);
    }
    free(cycle.taken);
}
