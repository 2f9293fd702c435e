/* engine_trial.c: a root looks for its best candidate.
 *
 *     index of offers -> hits: classes that may fit -> judged one after the other -> the best
 *
 * How long that takes depends on the ads, so a step that has done its work stops between two hits, and the next step
 * goes on with the same trial if its root is still the first in the queue. Ads may come and go in between: a class that has gone is passed
 * over, and when the best has gone, all are looked at anew. The steps of a class go on counting, so this ends. */
#include "pool/engine/engine_trial.h"
#include "lang/ad/names.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "match/pair/formula.h"
#include "match/pair/order.h"
#include "pool/engine/engine_choices.h"
#include "pool/engine/engine_given.h"
#include "pool/engine/engine_members.h"
#include "pool/engine/engine_state.h"
#include "pool/engine/engine_wake.h"

#include <stdlib.h>
#include <string.h>

/* A root that looks for its best candidate. */
struct trial {
    uint32_t number, generation, root; /* the class of roots, and which of them */
    bool running;
    struct hits hits;    /* classes of offers */
    uint32_t at, member; /* the next hit, and its next member, where each is judged by itself */
    struct choices *all; /* all that fit, if they shall be remembered; else NULL */
    uint32_t best;       /* the best so far, or NOBODY */
    uint32_t best_class, best_generation;
    uint64_t best_order;
    struct value *vector; /* of the best */
    struct arena arena;   /* holds the vector and its strings: ads may go meanwhile */
    bool discarded, gave_up;
    bool alike;                        /* all roots of the class would choose the same */
    bool chance;                       /* if this root fails, others of the class need not */
    bool given;                        /* only the roots of the same user would choose the same */
    bool flat;                         /* all offers have the same vector, so the first that fits is the best ... */
    uint64_t bound;                    /* ... and offers that came later than this one do not count */
    struct formula_value *ranks;       /* by hit: the root's rank of the offer; NULL: not known; else ... */
    struct formula_value *rank_values; /* ... this, with room for so many */
    uint32_t rank_room;
    uint32_t own_rank, preempts; /* columns: the offers' */
    uint32_t rank_steps;         /* of evaluation that a rank counts for */
};

struct env engine_pair_env(const struct engine *engine, uint32_t root, uint32_t offer)
{
    struct env env = engine_env_of(engine, engine->slots[root].user, engine->slots[offer].remote);

    env.seed = rng_mix(env.seed ^ rng_mix((uint64_t)root << 32 | offer));
    return env;
}

/* ------------------------------------------------------------------------------------------------------ one candidate */

static struct engine_class *trial_class(struct engine *engine)
{
    return engine_class_at(engine, ROOTS, engine->trial->number);
}

/* Do the two accept each other, where the index could not tell? Each is charged for its own constraint. */
static bool trial_fits(struct engine *engine, const struct env *env, struct engine_class *offers,
                       const struct tree *offer, unsigned doubts)
{
    const struct tree *root = engine->slots[engine->trial->root].ad;
    uint64_t *steps, before;
    bool fits;

    if (doubts & INDEX_DOUBT_OWN) {
        steps = engine_class_steps(engine, trial_class(engine));
        engine->counts.evaluations++;
        engine->work++;
        if (!match_accepts_counted(env, engine->scratch, root, offer, steps))
            return false;
    }
    if (!(doubts & INDEX_DOUBT_FOUND))
        return true;
    steps = engine_class_steps(engine, offers);
    engine->counts.evaluations++;
    engine->work++;
    if (*steps > ENGINE_STEPS_MAX)
        return false;
    before = *steps;
    fits = match_accepts_counted(env, engine->scratch, offer, root, steps);
    engine->others += *steps - before;
    return fits;
}

/* Is the offer better than the best so far, if their vectors are equal? */
static bool trial_before(const struct trial *trial, uint32_t offer, uint64_t order)
{
    return order != trial->best_order ? order < trial->best_order : offer < trial->best;
}

/* This offer is the best so far. */
static void trial_prefer(struct engine *engine, uint32_t number, uint32_t offer, uint64_t order)
{
    struct trial *trial = engine->trial;

    trial->best = offer;
    trial->best_order = order;
    trial->best_class = number;
    trial->best_generation = engine_class_at(engine, OFFERS, number)->generation;
}

/* Keeps the vector of the best. */
static void trial_keep(struct trial *trial, const struct value *vector, uint32_t width)
{
    arena_reset(&trial->arena);
    trial->vector = arena_alloc(&trial->arena, width * sizeof *vector);
    memcpy(trial->vector, vector, width * sizeof *vector);
    for (uint32_t i = 0; i < width; i++)
        if (vector[i].type == VALUE_STRING)
            trial->vector[i].u.string = arena_text(&trial->arena, vector[i].u.string, vector[i].len);
}

/* Is the best still there, as it was judged? */
static bool trial_holds(struct engine *engine)
{
    const struct trial *trial = engine->trial;

    return trial->best == NOBODY ||
           (engine->slots[trial->best].ad && !engine->slots[trial->best].root &&
            engine->slots[trial->best].in_class == trial->best_class &&
            engine_class_at(engine, OFFERS, trial->best_class)->generation == trial->best_generation);
}

/* Makes the docking vector of a candidate from what is known already. False when it must be evaluated. */
static bool trial_vector(struct engine *engine, uint32_t number, struct value *ret)
{
    const struct trial *trial = engine->trial;
    const struct formula_value *rank = trial->ranks ? &trial->ranks[trial->at] : NULL;
    const struct ad_column *own = &engine->columns.items[trial->own_rank];
    struct formula_value back;

    if (!rank || rank->type == FORMULA_EVALUATE ||
        columns_type(&engine->columns, trial->preempts, number) != CELL_ABSENT)
        return false;
    back.type = (unsigned char)columns_type(&engine->columns, trial->own_rank, number);
    back.v = own->cells[number];
    if (back.type == CELL_OTHER)
        return false;
    if (back.type == CELL_ABSENT)
        back.type = VALUE_UNDEFINED;
    ret[0] = value_integer(1);
    ret[1] = formula_value(rank);
    ret[1] = order_rank(&ret[1]);
    ret[2] = formula_value(&back);
    ret[2] = order_rank(&ret[2]);
    *engine_class_steps(engine, trial_class(engine)) += trial->rank_steps;
    engine->meter += trial->rank_steps;
    return true;
}

/* Compares a candidate that fits with the best so far; `width` is 0 if the policy discards it. */
static void trial_take(struct engine *engine, uint32_t number, uint32_t offer, const struct value *vector,
                       uint32_t width)
{
    struct trial *trial = engine->trial;
    const struct engine_class *offers = engine_class_at(engine, OFFERS, number);
    uint64_t came = offer == offers->first ? offers->order : engine->slots[offer].order;
    bool first = trial->best == NOBODY;
    int order;

    trial->discarded = trial->discarded || (!width && (first || trial->all));
    for (uint32_t i = 0; i < width && trial->alike; i++)
        trial->alike = vector[i].type != VALUE_STRING;
    if (width && trial->all && trial->alike) {
        struct engine_choice choice = {number, offers->generation, offer, 0, came, {0}};

        trial->all->width = width;
        engine_choices_push(trial->all, &choice, vector);
    }
    order = width && !first ? engine_vector_compare(vector, trial->vector, width) : 1;
    if (width && (order > 0 || (order == 0 && trial_before(trial, offer, came)))) {
        trial_keep(trial, vector, width);
        trial_prefer(engine, number, offer, came);
    }
}

/* The same for a candidate whose vector must be made, by what is known or by an evaluation. */
static void trial_consider(struct engine *engine, const struct env *env, uint32_t number, uint32_t offer,
                           const struct tree *ad)
{
    struct trial *trial = engine->trial;
    struct env docking = engine_docking_env(engine, env);
    struct arena_mark mark = arena_mark(engine->scratch);
    struct value made[3], *vector = made;
    uint32_t width = 3;

    engine->counts.evaluations++;
    engine->work++;
    if (!trial_vector(engine, number, made))
        width = policy_vector_counted(&engine->policy, &docking, engine->scratch, engine->slots[trial->root].ad, ad,
                                      trial->best == NOBODY || trial->all ? NULL : trial->vector, &vector,
                                      engine_class_steps(engine, trial_class(engine)));
    trial_take(engine, number, offer, vector, width);
    arena_rewind(engine->scratch, mark);
}

/* Judges the next member of a class in which chance plays a part, so that each is judged by itself. False: there is
 * none. */
static bool trial_member(struct engine *engine, const struct hit *hit, struct engine_class *offers)
{
    struct trial *trial = engine->trial;
    struct env env;
    uint32_t offer;

    trial->alike = false;
    trial->chance = true;
    if (trial->member >= offers->members.count)
        return false;
    offer = members_at(&offers->members, trial->member++);
    env = engine_pair_env(engine, trial->root, offer);
    if (trial_fits(engine, &env, offers, engine->slots[offer].ad, hit->doubts))
        trial_consider(engine, &env, hit->number, offer, engine->slots[offer].ad);
    return true;
}

/* Judges a class of offers that the index could not rule out, or one member of it. */
static void trial_judge(struct engine *engine)
{
    struct trial *trial = engine->trial;
    const struct hit *hit = &trial->hits.items[trial->at];
    struct engine_class *offers = engine_class_at(engine, OFFERS, hit->number), *class = trial_class(engine);
    struct value vector[3];
    unsigned traits;

    if (*engine_class_steps(engine, class) > ENGINE_STEPS_MAX) {
        trial->gave_up = true;
        return;
    }
    if (!offers->ad || offers->generation != hit->generation) { /* the class has gone between two steps */
        trial->at++;
        trial->member = 0;
        return;
    }
    traits = offers->traits | class->traits | engine->policy_traits;
    trial->given = trial->given || (traits & TRAIT_GIVEN && engine->gives);
    if (trial->flat && trial->best != NOBODY && !trial_before(trial, offers->first, offers->order)) {
        trial->at++;
        return;
    }
    if (traits & TRAIT_CHANCE) {
        if (trial_member(engine, hit, offers))
            return;
    } else if (!hit->doubts && trial_vector(engine, hit->number, vector)) {
        engine->counts.evaluations++;
        engine->work++;
        trial_take(engine, hit->number, offers->first, vector, 3);
    } else {
        uint32_t first = offers->first;
        struct env env =
            engine_env_of(engine, engine->slots[trial->root].user, engine->gives ? engine->slots[first].remote : 0);

        if (trial_fits(engine, &env, offers, offers->ad, hit->doubts))
            trial_consider(engine, &env, hit->number, first, offers->ad);
    }
    trial->at++;
    trial->member = 0;
}

#define AHEAD 8 /* hits whose classes are asked for before they are judged: they lie far apart in memory */

static void trial_ahead(const struct engine *engine)
{
    const struct trial *trial = engine->trial;
    const struct engine_class *offers;

    if (trial->at + AHEAD >= trial->hits.count)
        return;
    offers = &engine->sides[OFFERS].classes[trial->hits.items[trial->at + AHEAD].number];
    __builtin_prefetch(&offers->ad);
    __builtin_prefetch(&offers->order);
}

/* ------------------------------------------------------------------------------------------------------------ a trial */

void engine_hits_add(struct hits *hits, const struct side *side, uint32_t number, unsigned doubts)
{
    ARRAY_ROOM(hits->items, hits->count, hits->room, 64);
    hits->items[hits->count++] = (struct hit){number, side->classes[number].generation, doubts};
}

/* Where the first that fits is the best: one that surely fits is the best so far, and one that came later than that does not count. */
static bool trial_hit_first(struct engine *engine, uint32_t number, unsigned doubts)
{
    struct trial *trial = engine->trial;
    const struct engine_class *offers = engine_class_at(engine, OFFERS, number);

    if (trial->best != NOBODY && !trial_before(trial, offers->first, offers->order))
        return true;
    if (doubts || *engine_class_steps(engine, trial_class(engine)) > ENGINE_STEPS_MAX)
        return false;
    trial->bound = offers->order;
    trial_prefer(engine, number, offers->first, offers->order);
    engine->work++;
    return true;
}

static void trial_hit(void *user, uint32_t number, unsigned doubts)
{
    struct engine *engine = user;

    if (engine->trial->flat && trial_hit_first(engine, number, doubts))
        return;
    engine_hits_add(&engine->trial->hits, &engine->sides[OFFERS], number, doubts);
}

void engine_trial_drop(struct engine *engine)
{
    struct trial *trial = engine->trial;

    if (!trial || !trial->running)
        return;
    trial->running = false;
    engine_choices_free(trial->all);
    trial->all = NULL;
}

void engine_trial_free(struct engine *engine)
{
    engine_trial_drop(engine);
    if (engine->trial) {
        arena_done(&engine->trial->arena);
        free(engine->trial->rank_values);
        free(engine->trial->hits.items);
    }
    free(engine->trial);
    engine->trial = NULL;
}

bool engine_trial_runs(const struct engine *engine)
{
    return engine->trial && engine->trial->running;
}

/* Where no offer is choosy, and the root's rank is the same of all offers, they are all as good. A class of many units remembers its candidates all the
 * same. */
static bool trial_is_flat(const struct engine *engine, const struct engine_class *class, const struct tree *root,
                          struct value *ret_rank)
{
    const struct expr *rank = tree_find(root, tree_root(root), NAME_RANK);

    if (engine->policy.vector || engine->sides[OFFERS].choosy || class->units > 1 ||
        (class->traits | engine->policy_traits) & (TRAIT_CHANCE | TRAIT_GIVEN))
        return false;
    *ret_rank = value_integer(0);
    if (rank && rank->kind == EXPR_INTEGER)
        *ret_rank = value_integer(rank->u.integer);
    else if (rank && rank->kind == EXPR_REAL)
        *ret_rank = value_real(rank->u.real);
    return !rank || rank->kind <= EXPR_ERROR || rank->kind == EXPR_INTEGER || rank->kind == EXPR_REAL;
}

#define RANKS_FROM 16 /* hits from which on it pays to read the rank as a formula */

/* Computes the root's ranks of all hits at once, if its rank is a formula. */
static void trial_rank(struct engine *engine, const struct tree *root)
{
    struct trial *trial = engine->trial;
    struct arena_mark mark = arena_mark(engine->scratch);
    struct env env = engine_env_of(engine, engine->slots[trial->root].user, 0);
    struct formula formula;
    uint64_t reads = engine->columns.reads;
    uint32_t *numbers;

    if (engine->policy.vector || trial->flat || trial->hits.count < RANKS_FROM)
        return;
    columns_ask(&engine->columns);
    trial->own_rank = columns_find(&engine->columns, NAME_RANK);
    trial->preempts = columns_find(&engine->columns, NAME_PREEMPTS);
    env = engine_docking_env(engine, &env);
    if (!formula_init(&formula, &env, engine->scratch, root, NAME_RANK, &engine->columns))
        return;
    if (trial->rank_room < trial->hits.count) {
        trial->rank_room = trial->hits.room;
        trial->rank_values = mem_grow(trial->rank_values, trial->rank_room * sizeof *trial->rank_values);
    }
    numbers = arena_alloc(engine->scratch, trial->hits.count * sizeof *numbers);
    for (uint32_t i = 0; i < trial->hits.count; i++)
        numbers[i] = trial->hits.items[i].number;
    formula_compute(&formula, &engine->columns, numbers, trial->hits.count, trial->rank_values);
    engine->work += (engine->columns.reads - reads) * COLUMNS_READ_STEPS / ENGINE_STEPS_A_UNIT;
    trial->ranks = trial->rank_values;
    trial->rank_steps = formula.count;
    formula_done(&formula);
    arena_rewind(engine->scratch, mark);
}

static void trial_begin(struct engine *engine, uint32_t number, uint32_t root)
{
    struct side *side = &engine->sides[OFFERS];
    struct engine_class *class = engine_class_at(engine, ROOTS, number);
    struct trial *trial = engine->trial;
    const struct tree *ad = engine->slots[root].ad;
    uint64_t before = engine->meter;
    struct value flat[3] = {value_integer(1), value_undefined(), value_integer(0)};

    if (!trial) {
        trial = engine->trial = mem_alloc(sizeof *trial);
        *trial = (struct trial){0};
        arena_init(&trial->arena);
    }
    *trial = (struct trial){.number = number,
                            .generation = class->generation,
                            .root = root,
                            .running = true,
                            .hits = {trial->hits.items, 0, trial->hits.room},
                            .best = NOBODY,
                            .arena = trial->arena,
                            .alike = true,
                            .flat = trial_is_flat(engine, class, ad, &flat[1]),
                            .bound = UINT64_MAX,
                            .rank_values = trial->rank_values,
                            .rank_room = trial->rank_room};
    arena_reset(&trial->arena);
    if (trial->flat)
        trial_keep(trial, flat, 3);
    else if (class->units > 1 && !class->plain)
        trial->all = engine_choices_new(0);
    index_sift_within(side->index, &engine->env, engine->scratch, ad, trial->flat ? &trial->bound : NULL, trial_hit,
                      engine);
    trial_rank(engine, ad);
    class->dear = engine->meter - before - index_probed(side->index).computed > ENGINE_DEAR_STEPS;
    engine->counts.probes++;
    engine->counts.tests += index_probed(side->index).tests;
    engine->work += index_probed(side->index).tests;
}

/* Is the running trial that of this root? */
static bool trial_is(const struct engine *engine, uint32_t number, uint32_t root)
{
    const struct trial *trial = engine->trial;

    return engine_trial_runs(engine) && trial->root == root && trial->number == number &&
           trial->generation == engine->sides[ROOTS].classes[number].generation;
}

#define KEEP_PART 64  /* one class may have this part of the room that is left for choices ... */
#define KEEP_LEAST 16 /* ... but at least so many ... */
#define KEEP_SPARE 8  /* ... for each of its units, since other classes take some of them */

/* Remembers the best candidates for the other roots of the class (or of one user), which then hear of offers that
 * come. */
static void class_remember(struct engine *engine, uint32_t number, struct choices *choices, uint32_t whose)
{
    struct engine_class *class = engine_class_at(engine, ROOTS, number);
    uint32_t room = engine->remembered < ENGINE_CHOICES_MAX ? (ENGINE_CHOICES_MAX - engine->remembered) / KEEP_PART : 0;
    uint64_t wanted = class->units * KEEP_SPARE;

    room = room < KEEP_LEAST ? KEEP_LEAST : room;
    engine_choices_settle(choices, wanted < room ? (uint32_t)wanted : room);
    choices->cycle = engine->cycle;
    choices->swept = engine->counts.matches;
    choices->whose = whose;
    choices->remembered = choices->count;
    engine->remembered += choices->count;
    class->choices = choices;
    engine_class_index_late(engine, number);
}

/* All candidates have been looked at, or it was too much work. */
static uint32_t trial_end(struct engine *engine)
{
    struct trial *trial = engine->trial;
    struct engine_class *class = trial_class(engine);

    trial->running = false;
    class->discarded = trial->discarded || (class->discarded && class->by_user == engine->cycle);
    class->outcome = trial->gave_up ? ENGINE_GAVE_UP : ENGINE_NOBODY;
    if (trial->gave_up)
        trial->best = NOBODY;
    class->plain = class->plain || !trial->alike;
    if (trial->chance)
        class->apart = engine->cycle;
    if (trial->given)
        class->by_user = engine->cycle;
    if (trial->all && trial->alike && trial->best != NOBODY)
        class_remember(engine, trial->number, trial->all, trial->given ? engine->slots[trial->root].user : NOBODY);
    else
        engine_choices_free(trial->all);
    trial->all = NULL;
    return trial->best;
}

/* A remembered candidate, if it is still good; else TRIAL_UNDECIDED. */
static uint32_t class_recall(struct engine *engine, struct engine_class *class, uint32_t root)
{
    uint32_t offer;

    if (!class->choices || class->choices->cycle != engine->cycle ||
        (class->choices->whose != NOBODY && class->choices->whose != engine->slots[root].user))
        return TRIAL_UNDECIDED;
    offer = engine_choices_first(engine, class->choices);
    return offer != NOBODY || !class->choices->cut ? offer : TRIAL_UNDECIDED;
}

uint32_t engine_trial_run(struct engine *engine, uint32_t group, uint32_t root)
{
    uint32_t number = engine->groups[group].in_class, offer;
    struct engine_class *class = engine_class_at(engine, ROOTS, number);
    struct trial *trial;

    if (!trial_is(engine, number, root)) {
        engine_trial_drop(engine);
        engine->counts.tried++;
        class->outcome = ENGINE_NOBODY;
        if (!engine->sides[OFFERS].indexed) {
            class->discarded = false;
            return NOBODY;
        }
        offer = class_recall(engine, class, root);
        if (offer != TRIAL_UNDECIDED)
            return offer;
        engine_choices_forget(engine, class);
        trial_begin(engine, number, root);
    }
    trial = engine->trial;
    while (trial->at < trial->hits.count && !trial->gave_up) {
        trial_ahead(engine);
        trial_judge(engine);
        if (engine_is_over(engine) && trial->at < trial->hits.count && !trial->gave_up)
            return TRIAL_UNDECIDED;
    }
    if (!trial->gave_up && !trial_holds(engine)) {
        engine_trial_drop(engine);
        return TRIAL_UNDECIDED;
    }
    return trial_end(engine);
}
