/* engine_trial.c: a root looks for its best candidate.
 *
 *     index of offers -> hits: classes that may fit -> judged one after the other -> the best
 *
 * How long that takes depends on the ads, so a step that has done its work stops between two hits, and the next step
 * goes on with the same trial if its root is still the first in the queue. Ads may come and go in between: a class that has gone is passed
 * over, and when the best has gone, all are looked at anew. The steps of a class go on counting, so this ends. */
#include "pool/engine/engine_trial.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
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
    struct value *vector; /* of the best */
    struct arena arena;   /* holds the vector and its strings: ads may go meanwhile */
    bool discarded, gave_up;
    bool alike;  /* all roots of the class would choose the same */
    bool chance; /* if this root fails, others of the class need not */
    bool given;  /* only the roots of the same user would choose the same */
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

/* Of two offers with equal vectors, is the first better? */
static bool offer_before(const struct engine *engine, uint32_t a, uint32_t b)
{
    const struct engine_slot *x = &engine->slots[a], *y = &engine->slots[b];

    return x->order != y->order ? x->order < y->order : a < b;
}

/* This offer is the best so far. */
static void trial_prefer(struct engine *engine, uint32_t number, uint32_t offer, const struct value *vector,
                         uint32_t width)
{
    struct trial *trial = engine->trial;

    arena_reset(&trial->arena);
    trial->vector = arena_alloc(&trial->arena, width * sizeof *vector);
    memcpy(trial->vector, vector, width * sizeof *vector);
    for (uint32_t i = 0; i < width; i++)
        if (vector[i].type == VALUE_STRING)
            trial->vector[i].u.string = arena_text(&trial->arena, vector[i].u.string, vector[i].len);
    trial->best = offer;
    trial->best_class = number;
    trial->best_generation = engine_class_at(engine, OFFERS, number)->generation;
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

/* Compares a candidate that fits with the best so far. */
static void trial_consider(struct engine *engine, const struct env *env, uint32_t number, uint32_t offer,
                           const struct tree *ad)
{
    struct trial *trial = engine->trial;
    struct env docking = engine_docking_env(engine, env);
    struct arena_mark mark = arena_mark(engine->scratch);
    bool first = trial->best == NOBODY;
    struct value *vector;
    uint32_t width;
    int order;

    engine->counts.evaluations++;
    engine->work++;
    width = policy_vector_counted(&engine->policy, &docking, engine->scratch, engine->slots[trial->root].ad, ad,
                                  first || trial->all ? NULL : trial->vector, &vector,
                                  engine_class_steps(engine, trial_class(engine)));
    trial->discarded = trial->discarded || (!width && (first || trial->all));
    for (uint32_t i = 0; i < width && trial->alike; i++)
        trial->alike = vector[i].type != VALUE_STRING;
    if (width && trial->all && trial->alike) {
        struct engine_choice choice = {number, engine_class_at(engine, OFFERS, number)->generation, offer,
                                       engine->slots[offer].order, 0};

        trial->all->width = width;
        engine_choices_push(trial->all, &choice, vector);
    }
    order = width && !first ? engine_vector_compare(vector, trial->vector, width) : 1;
    if (width && (order > 0 || (order == 0 && offer_before(engine, offer, trial->best))))
        trial_prefer(engine, number, offer, vector, width);
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
    if (traits & TRAIT_CHANCE) {
        if (trial_member(engine, hit, offers))
            return;
    } else {
        uint32_t first = members_at(&offers->members, 0);
        struct env env = engine_env_of(engine, engine->slots[trial->root].user, engine->slots[first].remote);

        if (trial_fits(engine, &env, offers, offers->ad, hit->doubts))
            trial_consider(engine, &env, hit->number, first, offers->ad);
    }
    trial->at++;
    trial->member = 0;
}

/* ------------------------------------------------------------------------------------------------------------ a trial */

void engine_hits_add(struct hits *hits, const struct side *side, uint32_t number, unsigned doubts)
{
    ARRAY_ROOM(hits->items, hits->count, hits->room, 64);
    hits->items[hits->count++] = (struct hit){number, side->classes[number].generation, doubts};
}

static void trial_hit(void *user, uint32_t number, unsigned doubts)
{
    struct engine *engine = user;

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
        free(engine->trial->hits.items);
    }
    free(engine->trial);
    engine->trial = NULL;
}

bool engine_trial_runs(const struct engine *engine)
{
    return engine->trial && engine->trial->running;
}

static void trial_begin(struct engine *engine, uint32_t number, uint32_t root)
{
    struct side *side = &engine->sides[OFFERS];
    struct engine_class *class = engine_class_at(engine, ROOTS, number);
    struct trial *trial = engine->trial;
    uint64_t before = engine->meter;

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
                            .alike = true};
    arena_reset(&trial->arena);
    if (class->units > 1 && !class->plain)
        trial->all = engine_choices_new(0);
    index_sift(side->index, &engine->env, engine->scratch, engine->slots[root].ad, trial_hit, engine);
    class->dear = engine->meter - before > ENGINE_DEAR_STEPS;
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
#define KEEP_LEAST 16 /* ... but at least so many */

/* Remembers the best candidates for the other roots of the class (or of one user), which then hear of offers that
 * come. */
static void class_remember(struct engine *engine, uint32_t number, struct choices *choices, uint32_t whose)
{
    struct engine_class *class = engine_class_at(engine, ROOTS, number);
    uint32_t room = engine->remembered < ENGINE_CHOICES_MAX ? (ENGINE_CHOICES_MAX - engine->remembered) / KEEP_PART : 0;

    room = room < KEEP_LEAST ? KEEP_LEAST : room;
    engine_choices_settle(choices, class->units < room ? (uint32_t) class->units : room);
    choices->cycle = engine->cycle;
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
