/* engine_window.c: a window: an assignment policy settles all waiting roots at once, instead of one after the other.
 *
 *     queue, in its order -> requests, a row for each group of equal roots -\
 *     index -> classes of offers that fit -> kinds, with their members ------+-> assign_solve -> plan: root, offer, one after the other
 *
 * The plan is carried out match by match: each pair is looked at again, since an earlier one may have changed its offer, and gates
 * may be closed. A root without a place in the plan that could have one is left for the next window; a root that fits no offer waits as
 * always. Roots that gather gangs are not part of it: they are served afterwards, one by one.
 *
 * A plan is made in one piece, so it is limited: WINDOW_REQUESTS_MAX units of roots, WINDOW_EDGES_MAX pairs of a group and a class,
 * WINDOW_STEPS_MAX steps of evaluation. What is beyond them is left for the next window. Of a group whose pairs take long to judge, the
 * plan has those pairs that were judged. */
#include "lang/ad/names.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "match/assign/assign.h"
#include "match/pair/order.h"
#include "match/pair/pair.h"
#include "pool/engine/engine_classes.h"
#include "pool/engine/engine_gang.h"
#include "pool/engine/engine_given.h"
#include "pool/engine/engine_members.h"
#include "pool/engine/engine_queue.h"
#include "pool/engine/engine_serve.h"
#include "pool/engine/engine_slots.h"
#include "pool/engine/engine_state.h"
#include "pool/engine/engine_wake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_REQUESTS_MAX 1000
#define WINDOW_EDGES_MAX 20000
#define WINDOW_STEPS_MAX 4000000 /* steps of evaluation for a plan, ... */
#define WINDOW_TURN_PART 4       /* ... of which one user may have this part: a quarter */
#define SOLVE_WORK 16384         /* steps of `optimal` */

/* The quantities: places of an offer that is given as a whole, and the amounts of these attributes. */
enum { PLACES, CPUS, MEMORY, DISK, QUANTITIES };
static const char *const quantity_names[QUANTITIES] = {NULL, "Cpus", "Memory", "Disk"};
static const char *const request_names[QUANTITIES] = {NULL, "RequestCpus", "RequestMemory", "RequestDisk"};

struct candidate {
    uint32_t id, kind;
    uint64_t order;
};

struct window {
    enum assign_policy policy;
    struct assign_problem problem;
    struct assign_result result;
    symbol offered[QUANTITIES], asked[QUANTITIES], duration;
    struct numbers roots;                   /* the root of each request */
    struct numbers kinds;                   /* the class of offers of each kind */
    struct numbers afterwards;              /* groups that are served one by one */
    uint32_t *kind_of_class, *row_of_group; /* only while a plan is made; NOBODY: none */
    bool full;                              /* the plan can hold no more */
    struct env env;                         /* for numbers in ads: their evaluation shares the steps of the plan */
    struct candidate *candidates;           /* for each offer of the problem */
    uint32_t candidate_count, candidate_room;
    uint32_t at;  /* how many pairs of the result have been looked at */
    bool planned; /* the pairs are those of this cycle */
};

/* ------------------------------------------------------------------------------------------------------------------ life */

static symbol name_take(struct engine *engine, const char *text)
{
    return symbols_take(engine->symbols, text, strlen(text));
}

static struct window *window_new(struct engine *engine, enum assign_policy policy)
{
    struct window *window = mem_alloc(sizeof *window);

    *window = (struct window){.policy = policy};
    assign_problem_init(&window->problem, QUANTITIES);
    window->problem.processors = CPUS;
    assign_result_init(&window->result);
    for (int i = CPUS; i < QUANTITIES; i++) {
        window->offered[i] = name_take(engine, quantity_names[i]);
        window->asked[i] = name_take(engine, request_names[i]);
    }
    window->duration = name_take(engine, "Duration");
    return window;
}

void engine_window_free(struct engine *engine)
{
    struct window *window = engine->window;

    engine->window = NULL;
    if (!window)
        return;
    assign_problem_done(&window->problem);
    assign_result_done(&window->result);
    for (int i = CPUS; i < QUANTITIES; i++) {
        symbols_drop(engine->symbols, window->offered[i]);
        symbols_drop(engine->symbols, window->asked[i]);
    }
    symbols_drop(engine->symbols, window->duration);
    free(window->roots.items);
    free(window->kinds.items);
    free(window->afterwards.items);
    free(window->candidates);
    free(window);
}

void engine_set_assignment(struct engine *engine, uint32_t policy)
{
    if (engine->window && policy == engine->window->policy)
        return;
    engine_window_free(engine);
    if (policy < ASSIGN_POLICY_COUNT)
        engine->window = window_new(engine, (enum assign_policy)policy);
    engine_reset(engine);
}

/* --------------------------------------------------------------------------------------------------------------- numbers */

/* A number attribute of an ad, without a counterpart; `otherwise` where it has none. */
static double attribute_number(struct engine *engine, const struct tree *ad, symbol name, double otherwise)
{
    struct arena_mark mark = arena_mark(engine->scratch);
    struct value value;
    struct scope scope;
    struct eval eval;
    double number = otherwise;

    scope_init(&scope, ad, NULL);
    eval_init(&eval, &engine->window->env, engine->scratch);
    eval_attribute(&eval, &scope, name, &value);
    engine->counts.evaluations++;
    engine->work++;
    if (value.type == VALUE_INTEGER || value.type == VALUE_RELTIME)
        number = (double)value.u.integer;
    else if (value.type == VALUE_REAL && isfinite(value.u.real))
        number = value.u.real;
    arena_rewind(engine->scratch, mark);
    return number;
}

static double rank_of(struct engine *engine, const struct env *env, struct scope *scope)
{
    struct value rank;
    struct eval eval;

    eval_init(&eval, env, engine->scratch);
    eval_attribute(&eval, scope, NAME_RANK, &rank);
    engine->counts.evaluations++;
    engine->work++;
    rank = order_rank(&rank);
    if (rank.type == VALUE_REAL)
        return rank.u.real;
    return rank.type == VALUE_INTEGER || rank.type == VALUE_BOOLEAN ? (double)rank.u.integer : 0;
}

/* -------------------------------------------------------------------------------------------------------------- a problem */

/* A group of roots that looks for classes of offers. */
struct row_maker {
    struct engine *engine;
    uint32_t root;
    struct engine_class *class;
    uint64_t ends; /* the engine's meter at which the group has looked enough */
};

/* Do the two accept each other, and does the policy not discard the pair? */
static bool pair_fits(struct engine *engine, uint32_t root, struct engine_class *roots, const struct tree *offer,
                      uint32_t remote, unsigned doubts)
{
    struct env env = engine_env_of(engine, engine->slots[root].user, remote), docking;
    const struct tree *ad = engine->slots[root].ad;
    uint64_t *steps = engine_class_steps(engine, roots);
    struct value *vector;

    engine->counts.evaluations += 3;
    engine->work += 3;
    if ((doubts & INDEX_DOUBT_OWN && !match_accepts_counted(&env, engine->scratch, ad, offer, steps)) ||
        (doubts & INDEX_DOUBT_FOUND && !match_accepts_counted(&env, engine->scratch, offer, ad, steps)))
        return false;
    docking = engine_docking_env(engine, &env);
    return policy_vector_counted(&engine->policy, &docking, engine->scratch, ad, offer, NULL, &vector, steps) != 0;
}

static uint32_t kind_of(struct window *window, uint32_t number)
{
    if (window->kind_of_class[number] == NOBODY) {
        window->kind_of_class[number] = window->kinds.count;
        engine_numbers_add(&window->kinds, number);
    }
    return window->kind_of_class[number];
}

static void edge_found(void *user, uint32_t number, unsigned doubts)
{
    struct row_maker *maker = user;
    struct engine *engine = maker->engine;
    struct window *window = engine->window;
    struct engine_class *offers = engine_class_at(engine, OFFERS, number);
    uint32_t first = members_at(&offers->members, 0);
    struct arena_mark mark = arena_mark(engine->scratch);

    window->full = window->full || window->problem.edge_count >= WINDOW_EDGES_MAX;
    if (!window->full && engine->meter < maker->ends && *engine_class_steps(engine, maker->class) <= ENGINE_STEPS_MAX &&
        pair_fits(engine, maker->root, maker->class, offers->ad, engine->slots[first].remote, doubts)) {
        struct env env = engine_env_of(engine, engine->slots[maker->root].user, engine->slots[first].remote);
        struct pair *pair = arena_alloc(engine->scratch, sizeof *pair);
        double weight, back;

        pair_init(pair, engine->slots[maker->root].ad, offers->ad);
        weight = rank_of(engine, &env, &pair->left);
        back = rank_of(engine, &env, &pair->right);
        assign_add_edge(&window->problem, kind_of(window, number), weight, back);
    }
    arena_rewind(engine->scratch, mark);
}

/* The row of a group: the offers that fit its roots, with ranks. A class whose choices differ from root to root, by
 * chance, is judged as its first root would: each pair is looked at again before it is made. */
static uint32_t row_make(struct engine *engine, uint32_t group, uint32_t root)
{
    struct window *window = engine->window;
    struct side *side = &engine->sides[OFFERS];
    uint64_t before = engine->meter;
    struct row_maker maker = {engine, root, engine_class_at(engine, ROOTS, engine->groups[group].in_class),
                              before + WINDOW_STEPS_MAX / WINDOW_TURN_PART};

    if (window->row_of_group[group] != NOBODY)
        return window->row_of_group[group];
    window->row_of_group[group] = assign_add_row(&window->problem);
    engine->counts.tried++;
    if (side->indexed) {
        index_sift(side->index, &engine->env, engine->scratch, engine->slots[root].ad, edge_found, &maker);
        engine->counts.probes++;
        engine->counts.tests += index_probed(side->index).tests;
        engine->work += index_probed(side->index).tests;
    }
    engine_user_spend(engine, engine->groups[group].user, (engine->meter - before) / ENGINE_STEPS_A_UNIT);
    return window->row_of_group[group];
}

/* Adds the root's units as requests: as many as there is room for. */
static void root_add(struct engine *engine, uint32_t root, uint32_t row)
{
    struct window *window = engine->window;
    const struct engine_slot *slot = &engine->slots[root];
    double duration = attribute_number(engine, slot->ad, window->duration, (double)NAN), amounts[QUANTITIES] = {1};

    for (int i = CPUS; i < QUANTITIES; i++) {
        amounts[i] = attribute_number(engine, slot->ad, window->asked[i], (double)NAN);
        if (isnan(amounts[i]))
            amounts[i] = attribute_number(engine, slot->ad, window->offered[i], 0);
        if (amounts[i] < 0)
            amounts[i] = 0;
    }
    for (int64_t i = 0; i < slot->units && !window->full; i++) {
        assign_add_request(&window->problem, row, amounts, duration, (double)(engine->cycle - slot->came));
        engine_numbers_add(&window->roots, root);
        window->full = window->problem.request_count >= WINDOW_REQUESTS_MAX;
    }
}

static int candidate_compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Adds the members of all kinds, in the order of their arrival; of one kind not more than there are requests. */
static void offers_add(struct engine *engine)
{
    struct window *window = engine->window;
    double free[QUANTITIES];

    window->candidate_count = 0;
    for (uint32_t kind = 0; kind < window->kinds.count; kind++) {
        const struct engine_members *members = &engine_class_at(engine, OFFERS, window->kinds.items[kind])->members;

        for (uint32_t i = 0; i < members->count && i < window->problem.request_count; i++) {
            uint32_t id = members_at(members, i);

            ARRAY_ROOM(window->candidates, window->candidate_count, window->candidate_room, 64);
            window->candidates[window->candidate_count++] = (struct candidate){id, kind, engine->slots[id].order};
        }
    }
    if (window->candidate_count)
        qsort(window->candidates, window->candidate_count, sizeof *window->candidates, candidate_compare);
    for (uint32_t i = 0; i < window->candidate_count; i++) {
        const struct engine_slot *slot = &engine->slots[window->candidates[i].id];

        free[PLACES] = tree_find(slot->ad, tree_root(slot->ad), NAME_RESIDUAL) ? (double)INFINITY : (double)slot->units;
        for (int k = CPUS; k < QUANTITIES; k++) {
            free[k] = attribute_number(engine, slot->ad, window->offered[k], (double)INFINITY);
            if (free[k] < 0)
                free[k] = 0;
        }
        assign_add_offer(&window->problem, window->candidates[i].kind, free);
    }
}

/* -------------------------------------------------------------------------------------------------------------- the plan */

static uint32_t *unknown_new(uint32_t count)
{
    uint32_t *items = mem_alloc(((size_t)count + 1) * sizeof *items);

    memset(items, 0xff, count * sizeof *items);
    return items;
}

/* Has the user had its part of the plan? Then its other requests are left for the next window. */
static bool user_had_its_part(const struct engine *engine, uint32_t number)
{
    const struct user *user = &engine->users[number];

    return user->spent_in == engine->cycle && user->spent > WINDOW_STEPS_MAX / WINDOW_TURN_PART / ENGINE_STEPS_A_UNIT;
}

/* Takes the next root in the order of the queue: it becomes requests, or its group is served afterwards. False: none is
 * left. */
static bool root_next(struct engine *engine)
{
    struct window *window = engine->window;
    uint32_t group = engine_queue_first(engine), root;
    struct ad_group *at;

    if (group == NOBODY || window->full || engine->meter >= window->env.meter_end)
        return false;
    engine->work++;
    at = &engine->groups[group];
    if (engine_gang_serves(engine, at->in_class)) {
        engine_queue_remove(engine, group);
        engine_numbers_add(&window->afterwards, group);
        return true;
    }
    if (user_had_its_part(engine, at->user)) {
        engine_class_list(engine, ROOTS, at->in_class);
        engine_queue_remove(engine, group);
        return true;
    }
    root = members_at(&at->members, at->done);
    if (engine_root_held(engine, group, root))
        return true;
    root_add(engine, root, row_make(engine, group, root));
    if (at->done + 1 == at->members.count) {
        engine_queue_remove(engine, group);
        at->done = 0;
    } else {
        at->done++;
        engine_queue_moved(engine, group);
    }
    return true;
}

/* The policy decides. If it cannot, srfm replaces it for this window, which is counted. */
static void plan_solve(struct engine *engine)
{
    struct window *window = engine->window;
    struct assign_options options = {.work = SOLVE_WORK};
    struct err err;

    engine->counts.windows++;
    if (assign_solve(engine->scratch, window->policy, &window->problem, &options, &window->result, &err) < 0) {
        window->result.count = 0;
        if (assign_solve(engine->scratch, ASSIGN_SRFM, &window->problem, &options, &window->result, &err) < 0)
            window->result.count = 0;
        engine->counts.fell_back++;
    } else {
        engine->counts.fell_back += window->result.fell_back;
    }
    engine->work += window->result.work;
}

/* Classes of which no group fits any offer wait until one comes. */
static void vain_fail(struct engine *engine)
{
    struct window *window = engine->window;
    const struct side *side = &engine->sides[ROOTS];

    for (uint32_t i = 0; i < side->count; i++) {
        uint32_t edges = 0;
        bool seen = false;

        if (!side->classes[i].ad || side->classes[i].queued != engine->cycle)
            continue;
        for (uint32_t group = side->classes[i].groups; group != NOBODY; group = engine->groups[group].after) {
            uint32_t row = window->row_of_group[group];

            seen = seen || row != NOBODY;
            edges += row == NOBODY ? 0 : window->problem.rows[row].count;
        }
        if (!seen || edges)
            continue;
        side->classes[i].outcome = ENGINE_NOBODY;
        engine_class_fail(engine, i);
    }
}

void engine_window_plan(struct engine *engine)
{
    struct window *window = engine->window;
    struct arena_mark mark = arena_mark(engine->scratch);

    engine->phase = PHASE_SERVE;
    assign_problem_reset(&window->problem);
    window->roots.count = window->kinds.count = window->afterwards.count = 0;
    window->at = 0;
    window->full = false;
    window->env = engine->env;
    window->env.meter_end = engine->meter + WINDOW_STEPS_MAX;
    window->planned = true;
    window->kind_of_class = unknown_new(engine->sides[OFFERS].count);
    window->row_of_group = unknown_new(engine->group_count);
    while (root_next(engine))
        arena_rewind(engine->scratch, mark);
    engine_queue_put_off(engine); /* roots that were not looked at */
    offers_add(engine);
    plan_solve(engine);
    vain_fail(engine);
    for (uint32_t i = 0; i < window->afterwards.count; i++)
        engine_queue_add(engine, window->afterwards.items[i]);
    free(window->kind_of_class);
    free(window->row_of_group);
    arena_rewind(engine->scratch, mark);
}

/* --------------------------------------------------------------------------------------------------------- it is carried out */

static bool pair_is_good(struct engine *engine, uint32_t root, uint32_t offer)
{
    const struct engine_slot *from = &engine->slots[root], *to = &engine->slots[offer];

    return from->in_class != NOBODY && from->root && to->in_class != NOBODY && !to->root && to->units > 0 &&
           !to->ported && engine->groups[from->group].gate == NOBODY && !engine_root_held(engine, from->group, root) &&
           pair_fits(engine, root, engine_class_at(engine, ROOTS, from->in_class), to->ad, to->remote,
                     INDEX_DOUBT_OWN | INDEX_DOUBT_FOUND);
}

/* Roots of the plan that are left, and could have had something, are left for the next window. */
static void plan_end(struct engine *engine)
{
    struct window *window = engine->window;

    window->planned = false;
    for (uint32_t i = 0; i < window->roots.count; i++) {
        const struct engine_slot *slot = &engine->slots[window->roots.items[i]];

        if (slot->in_class != NOBODY && slot->root &&
            engine_class_at(engine, ROOTS, slot->in_class)->failed != engine->cycle &&
            engine->groups[slot->group].gate == NOBODY)
            engine_class_list(engine, ROOTS, slot->in_class);
    }
}

bool engine_window_serve(struct engine *engine)
{
    struct window *window = engine->window;
    const struct assign_pair *pair;
    uint32_t root, offer;

    if (!window || !window->planned)
        return false;
    if (window->at == window->result.count) {
        plan_end(engine);
        return false;
    }
    pair = &window->result.pairs[window->at++];
    root = window->roots.items[pair->request];
    offer = window->candidates[pair->offer].id;
    if (pair_is_good(engine, root, offer))
        engine_match_make(engine, root, offer, NOBODY);
    return true;
}
