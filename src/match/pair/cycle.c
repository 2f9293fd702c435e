/* cycle.c: one matchmaking cycle: each root in turn gets the best candidate that is left.
 *
 * Without a finder each candidate is tried, and evaluated: the plain way. With one, roots whose rank is a formula have the candidates in the order of their
 * ranks where others rank alike, so that the first that fits is the best; else the ranks of those that fit are computed at once. */
#include "match/pair/cycle.h"

#include "lang/base/mem.h"
#include "match/pair/order.h"
#include "match/pair/ranking.h"
#include "match/pair/residual.h"

#include <stdlib.h>

#define NO_PARTY SIZE_MAX

struct candidate {
    const struct party *party; /* the party at that place, or what is left of it ... */
    struct party *residual;    /* ... which is ours; else NULL */
    size_t before, after;      /* the places of its neighbours among those that are left, or NO_PARTY */
};

struct cycle {
    const struct env *env;
    struct arena *arena;
    const struct policy *policy;
    const struct party *parties;
    struct tree **ads; /* of the parties */
    const struct cycle_finder *finder;
    size_t *roots; /* their places among the parties */
    size_t root_count;
    struct candidate *candidates; /* by their place among the parties; those that are left are a list in their order */
    size_t first, last;
    size_t candidate_count;    /* at the beginning */
    struct rankings *rankings; /* NULL: every vector is evaluated */
    uint32_t *fits;            /* places of candidates */
    uint32_t fit_count;
};

/* The best candidate for a root so far: its place, and its vector. */
struct best {
    const struct cycle *cycle;
    const struct party *root;
    size_t place;
    struct value *components;
    uint32_t count; /* 0: there is none */
    bool free;      /* its first component says so */
};

static void candidate_add(struct cycle *cycle, size_t place)
{
    cycle->candidates[place] = (struct candidate){&cycle->parties[place], NULL, cycle->last, NO_PARTY};
    if (cycle->last == NO_PARTY)
        cycle->first = place;
    else
        cycle->candidates[cycle->last].after = place;
    cycle->last = place;
    cycle->candidate_count++;
}

static void cycle_divide(struct cycle *cycle, size_t request_count, size_t offer_count)
{
    size_t count = request_count + offer_count;

    cycle->roots = mem_alloc(count * sizeof *cycle->roots);
    cycle->candidates = mem_alloc(count * sizeof *cycle->candidates);
    cycle->ads = mem_alloc(count * sizeof *cycle->ads);
    cycle->first = cycle->last = NO_PARTY;
    for (size_t i = 0; i < count; i++)
        cycle->ads[i] = cycle->parties[i].ad;
    for (size_t i = 0; i < count; i++) {
        bool root = cycle->policy->selection
                        ? policy_selects(cycle->policy, cycle->env, cycle->arena, cycle->parties[i].ad)
                        : i < request_count;

        if (root)
            cycle->roots[cycle->root_count++] = i;
        else
            candidate_add(cycle, i);
    }
    policy_sort(cycle->policy, cycle->env, cycle->arena, cycle->ads, cycle->roots, cycle->root_count);
}

/* Tells the finder who takes part. */
static void cycle_start(struct cycle *cycle, size_t count)
{
    size_t *places = mem_alloc(count * sizeof *places), n = 0;
    struct cycle_parts parts;

    for (size_t place = cycle->first; place != NO_PARTY; place = cycle->candidates[place].after)
        places[n++] = place;
    parts = (struct cycle_parts){cycle->policy, cycle->roots, places, cycle->root_count, n, cycle->ads};
    cycle->finder->start(cycle->finder->user, cycle->env, cycle->arena, &parts);
    free(places);
}

static int vector_compare(const struct value *a, const struct value *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int order = order_compare(&a[i], &b[i]);

        if (order)
            return order;
    }
    return 0;
}

/* Considers a candidate that matches. One that is not better leaves nothing in the arena; of equal ones the first is better. */
static void best_consider(void *user, size_t place)
{
    struct best *best = user;
    const struct cycle *cycle = best->cycle;
    struct arena_mark mark = arena_mark(cycle->arena);
    struct value *components;
    uint32_t count =
        policy_vector(cycle->policy, cycle->env, cycle->arena, best->root->ad, cycle->candidates[place].party->ad,
                      best->count ? best->components : NULL, &components);
    int order = count && best->count ? vector_compare(components, best->components, count) : 0;

    if (count && (!best->count || order > 0 || (order == 0 && place < best->place))) {
        best->place = place;
        best->components = components;
        best->count = count;
        best->free = components[0].type == VALUE_INTEGER && components[0].u.integer == 1;
    } else {
        arena_rewind(cycle->arena, mark);
    }
}

/* ------------------------------------------------------------------------------------------------------- by formula */

static const struct tree *candidate_ad(void *user, uint32_t place)
{
    const struct cycle *cycle = user;

    return cycle->candidates[place].party->ad;
}

/* Considers a candidate that matches, of which the root's rank is known. */
static void best_rank(struct best *best, uint32_t place, const struct formula_value *rank)
{
    const struct cycle *cycle = best->cycle;
    struct standing standing;
    int order = 1;

    if (!rankings_standing(cycle->rankings, place, rank, &standing)) {
        best_consider(best, place);
        return;
    }
    if (best->count && best->free)
        order = order_compare(&standing.rank, &best->components[1]);
    if (best->count && best->free && !order)
        order = order_compare(&standing.back, &best->components[2]);
    if (order < 0 || (order == 0 && place > best->place))
        return;
    best->components = arena_alloc(cycle->arena, 3 * sizeof *best->components);
    best->components[0] = value_integer(1);
    best->components[1] = standing.rank;
    best->components[2] = standing.back;
    best->count = 3;
    best->place = place;
    best->free = true;
}

#define BATCH 256

/* Considers candidates that match. */
static void best_ranks(struct best *best, const struct formula *formula, const uint32_t *places, uint32_t count)
{
    struct formula_value ranks[BATCH];

    for (uint32_t done = 0; done < count; done += BATCH) {
        uint32_t part = count - done < BATCH ? count - done : BATCH;

        formula_compute(formula, &best->cycle->rankings->columns, places + done, part, ranks);
        for (uint32_t i = 0; i < part; i++) /* nearly all are worse, and by their rank alone */
            if (!best->count || !best->free || !formula_below(&ranks[i], &best->components[1]))
                best_rank(best, places[done + i], &ranks[i]);
    }
}

static bool best_fits(const struct best *best, uint32_t place)
{
    return party_matches(best->cycle->env, best->cycle->arena, best->root, best->cycle->candidates[place].party);
}

#define TRIES 128   /* candidates that are tried from the front of an order, and ... */
#define PASSED 4096 /* ... that are passed over since they are gone, before the index is asked */

/* Looks for the first in an order that fits. False when none is near its front; else *ret_place is the place, or RANKING_NONE. */
static bool order_walk(const struct best *best, struct ranking *ranking, uint32_t *ret_place)
{
    const struct rankings *rankings = best->cycle->rankings;
    uint32_t tries = 0;

    while (ranking->first < ranking->count && !ranking_has(rankings, ranking, ranking->order[ranking->first]))
        ranking->first++;
    *ret_place = RANKING_NONE;
    for (uint32_t i = ranking->first; i < ranking->count; i++) {
        if (i - ranking->first > PASSED)
            return false;
        if (!ranking_has(rankings, ranking, ranking->order[i]))
            continue;
        if (tries++ == TRIES)
            return false;
        if (best_fits(best, ranking->order[i])) {
            *ret_place = ranking->order[i];
            return true;
        }
    }
    return true;
}

/* Collects the candidates that are in no order and match. False when there are too many to try. */
static bool order_apart(struct best *best, const struct ranking *ranking, uint32_t *fits, uint32_t *ret_count)
{
    const struct rankings *rankings = best->cycle->rankings;
    uint32_t changed = rankings->change_count - ranking->made;

    *ret_count = 0;
    if (ranking->apart_count > TRIES || changed > TRIES)
        return false;
    for (uint32_t i = 0; i < ranking->apart_count + changed; i++) {
        uint32_t place =
            i < ranking->apart_count ? ranking->apart[i] : rankings->changes[ranking->made + i - ranking->apart_count];

        if (rankings->changed_at[place] != RANKING_GONE && best_fits(best, place))
            fits[(*ret_count)++] = place;
    }
    return true;
}

/* What the finder finds: of those in the order the first, the others one by one. */
struct collect {
    struct cycle *cycle;
    const struct ranking *ranking;
    uint32_t position;
};

static void collect_fit(void *user, size_t place)
{
    struct collect *collect = user;
    struct cycle *cycle = collect->cycle;
    uint32_t position;

    if (!collect->ranking || !ranking_has(cycle->rankings, collect->ranking, (uint32_t)place)) {
        cycle->fits[cycle->fit_count++] = (uint32_t)place;
        return;
    }
    position = collect->ranking->position[place];
    if (position < collect->position)
        collect->position = position;
}

static uint32_t cycle_left(void *user, uint32_t *places)
{
    const struct cycle *cycle = user;
    uint32_t count = 0;

    for (size_t place = cycle->first; place != NO_PARTY; place = cycle->candidates[place].after)
        places[count++] = (uint32_t)place;
    return count;
}

#define WALK_FROM 256 /* candidates, from which on it pays to walk */
#define WALK_PART 2   /* one of so many candidates may be looked at, else the index is asked: ... */
#define WALK_TIMES 16 /* all walks for a formula may look at so many times as many, then an order is cheaper */
#define WALK_FIT 32   /* ... sooner when, after the first so many tries, fewer than one of so many fits */

/* How many candidates were tried, and how many of them fit. */
struct tried {
    uint32_t count, fit;
};

/* Considers those of the candidates that match and are not surely worse. */
static void best_try(struct best *best, const struct formula *formula, const uint32_t *places, uint32_t count,
                     struct tried *tried)
{
    struct formula_value ranks[BATCH];

    formula_compute(formula, &best->cycle->rankings->columns, places, count, ranks);
    for (uint32_t i = 0; i < count; i++) {
        if (best->count && best->free && formula_below(&ranks[i], &best->components[1]))
            continue;
        tried->count++;
        if (!best_fits(best, places[i]))
            continue;
        tried->fit++;
        best_rank(best, places[i], &ranks[i]);
    }
}

/* Looks at candidates from the best on, as far as their attributes tell which those are. False when that does not lead to an end soon; what was considered
 * counts all the same. */
static bool best_walk(struct best *best, struct cycle *cycle, const struct formula *formula, uint64_t *walked)
{
    uint32_t places[LEADERS_APART], count, looked = 0, part = 8;
    struct tried tried = {0};
    struct leaders_walk walk;
    struct formula_value bound;
    struct value most;

    if (!leaders_begin(&walk, cycle->rankings, formula, cycle_left, cycle, places, &count))
        return false;
    for (;;) {
        best_try(best, formula, places, count, &tried);
        if (!leaders_bound(&walk, &bound))
            return true;
        most = formula_value(&bound);
        if (best->count && best->free && order_compare(&most, &best->components[1]) < 0)
            return true;
        if (looked > cycle->candidate_count / WALK_PART ||
            (tried.count > WALK_FIT && tried.fit < tried.count / WALK_FIT))
            return false;
        count = leaders_next(&walk, places, part);
        looked += count;
        *walked += count;
        part = part < BATCH ? part * 2 : BATCH;
    }
}

/* The order for a formula; NULL when there is none, which is so when the formula comes for the first time. If the order must be made, another way is tried
 * before: *ret_done says that it has led to the end. */
static struct ranking *cycle_ranking(struct cycle *cycle, struct best *best, const struct formula *formula,
                                     bool *ret_done)
{
    bool wanted;
    struct ranking *ranking = rankings_find(cycle->rankings, formula, &wanted);
    uint64_t *walked = rankings_walked(cycle->rankings, formula);

    *ret_done = !ranking && cycle->candidate_count >= WALK_FROM && *walked < cycle->candidate_count * WALK_TIMES &&
                best_walk(best, cycle, formula, walked);
    if (ranking || *ret_done || !wanted)
        return ranking;
    return rankings_make(cycle->rankings, formula, cycle->fits, cycle_left(cycle, cycle->fits));
}

/* Finds the best candidate by the formula of the root's rank. False when it has none. */
static bool cycle_best_formula(struct cycle *cycle, const struct party *root, struct best *best)
{
    struct formula formula;
    struct collect collect = {cycle, NULL, RANKING_NONE};
    struct ranking *ranking;
    uint32_t place = RANKING_NONE;
    bool done;

    if (!cycle->rankings || !rankings_read(cycle->rankings, cycle->env, cycle->arena, root->ad, &formula))
        return false;
    collect.ranking = ranking = cycle_ranking(cycle, best, &formula, &done);
    if (done) {
        formula_done(&formula);
        return true;
    }
    cycle->fit_count = 0;
    if (!ranking || !order_apart(best, ranking, cycle->fits, &cycle->fit_count) || !order_walk(best, ranking, &place)) {
        cycle->fit_count = 0;
        cycle->finder->find(cycle->finder->user, cycle->env, cycle->arena, root->ad, collect_fit, &collect);
        place = collect.position != RANKING_NONE ? ranking->order[collect.position] : RANKING_NONE;
    }
    if (place != RANKING_NONE)
        best_ranks(best, &formula, &place, 1);
    best_ranks(best, &formula, cycle->fits, cycle->fit_count);
    formula_done(&formula);
    return true;
}

/* ------------------------------------------------------------------------------------------------------- every root */

/* Finds the best candidate that is left for a root. */
static void cycle_best(struct cycle *cycle, const struct party *root, struct best *ret)
{
    *ret = (struct best){.cycle = cycle, .root = root};
    if (cycle_best_formula(cycle, root, ret))
        return;
    if (cycle->finder) {
        cycle->finder->find(cycle->finder->user, cycle->env, cycle->arena, root->ad, best_consider, ret);
        return;
    }
    for (size_t place = cycle->first; place != NO_PARTY; place = cycle->candidates[place].after)
        if (party_matches(cycle->env, cycle->arena, root, cycle->candidates[place].party))
            best_consider(ret, place);
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

static void cycle_tell(const struct cycle *cycle, size_t root, size_t place, cycle_found_fn *found, void *user)
{
    struct match match;
    struct value rank;

    match_ads(cycle->env, cycle->arena, cycle->parties[root].ad, cycle->candidates[place].party->ad, &match);
    rank = order_rank(&match.left_rank);
    found(user, root, place, &rank);
}

static void candidate_done(struct candidate *candidate)
{
    party_done(candidate->residual);
    free(candidate->residual);
    candidate->residual = NULL;
}

static void candidate_drop(struct cycle *cycle, size_t place)
{
    const struct candidate *candidate = &cycle->candidates[place];

    if (candidate->before == NO_PARTY)
        cycle->first = candidate->after;
    else
        cycle->candidates[candidate->before].after = candidate->after;
    if (candidate->after == NO_PARTY)
        cycle->last = candidate->before;
    else
        cycle->candidates[candidate->after].before = candidate->before;
}

/* Consumes a candidate that was given to a root: it goes on as its residual, or is taken out. */
static void cycle_consume(struct cycle *cycle, size_t place, const struct party *root)
{
    struct candidate *candidate = &cycle->candidates[place];
    struct tree *left = residual_make(cycle->env, cycle->arena, candidate->party->ad, root->ad);
    struct party *residual = left ? mem_alloc(sizeof *residual) : NULL;

    candidate_done(candidate);
    if (left) {
        party_init(residual, cycle->env, cycle->arena, left);
        candidate->party = candidate->residual = residual;
    }
    if (!left || !party_is_open(residual)) {
        candidate_done(candidate);
        candidate_drop(cycle, place);
        tree_unref(left);
        left = NULL;
    }
    if (cycle->rankings)
        rankings_change(cycle->rankings, (uint32_t)place, !left);
    if (cycle->finder)
        cycle->finder->change(cycle->finder->user, cycle->env, cycle->arena, place, left);
    tree_unref(left);
}

void cycle_run(const struct env *env, struct arena *arena, const struct cycle_field *field, cycle_found_fn *found,
               void *user)
{
    struct cycle cycle = {
        .env = env, .arena = arena, .policy = field->policy, .parties = field->parties, .finder = field->finder};
    struct arena_mark mark = arena_mark(arena);
    struct rankings rankings;

    cycle_divide(&cycle, field->request_count, field->offer_count);
    if (field->finder)
        cycle_start(&cycle, field->request_count + field->offer_count);
    if (field->finder && !field->policy->vector && cycle.first != NO_PARTY) {
        size_t count = field->request_count + field->offer_count;

        rankings_init(&rankings, cycle.candidates[cycle.first].party->ad->symbols, (uint32_t)count, candidate_ad,
                      &cycle);
        cycle.rankings = &rankings;
        cycle.fits = mem_alloc((count + TRIES * 2) * sizeof *cycle.fits);
    }
    for (size_t i = 0; i < cycle.root_count; i++) {
        const struct party *root = &field->parties[cycle.roots[i]];

        for (int64_t units = root_units(&cycle, root); units > 0; units--) {
            struct best best;

            cycle_best(&cycle, root, &best);
            if (!best.count)
                break;
            cycle_tell(&cycle, cycle.roots[i], best.place, found, user);
            cycle_consume(&cycle, best.place, root);
            arena_rewind(arena, mark);
        }
        arena_rewind(arena, mark);
    }
    for (size_t place = cycle.first; place != NO_PARTY; place = cycle.candidates[place].after)
        candidate_done(&cycle.candidates[place]);
    rankings_done(cycle.rankings);
    free(cycle.fits);
    free(cycle.roots);
    free(cycle.ads);
    free(cycle.candidates);
}
