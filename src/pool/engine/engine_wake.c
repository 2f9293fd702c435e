/* engine_wake.c: offers find the roots that wait for them. */
#include "pool/engine/engine_wake.h"
#include "lang/base/mem.h"
#include "pool/engine/engine_choices.h"
#include "pool/engine/engine_classes.h"
#include "pool/engine/engine_gang.h"
#include "pool/engine/engine_given.h"
#include "pool/engine/engine_members.h"
#include "pool/engine/engine_queue.h"
#include "pool/engine/engine_serve.h"
#include "pool/engine/engine_state.h"
#include "pool/engine/engine_trial.h"

#include <stdlib.h>

#define BUILD_FROM 64       /* from that many classes on, an empty index is built at once */
#define LEARN_FROM 64       /* ads of the other side that tell the index what will be asked */
#define BUILD_STEPS 1000000 /* steps of evaluation while it is built; further classes are put in one by one */
#define PUT_WORK 8          /* units of work that a change of the index counts for */

uint64_t *engine_class_steps(struct engine *engine, struct engine_class *class)
{
    if (class->stepped != engine->cycle) {
        class->stepped = engine->cycle;
        class->steps = 0;
    }
    return &class->steps;
}

void engine_class_index(struct engine *engine, unsigned which, uint32_t number)
{
    struct side *side = &engine->sides[which];
    struct engine_class *class = &side->classes[number];

    if (class->indexed && !(class->ported && which == ROOTS) &&
        (!(class->traits & TRAIT_TIME) || class->indexed_at == engine->env.now))
        return;
    side->indexed += !class->indexed;
    class->indexed = true;
    class->indexed_at = engine->env.now;
    if (class->ported)
        engine_gang_index(engine, which, number);
    else
        index_put(side->index, &engine->env, engine->scratch, number, class->ad);
    engine->work += PUT_WORK;
}

/* Some ads of the other side tell the index what they will ask for. */
static void side_learn(struct engine *engine, unsigned which)
{
    const struct side *other = &engine->sides[!which];
    uint32_t learnt = 0;

    for (uint32_t i = 0; i < other->count && learnt < LEARN_FROM; i++) {
        if (!other->classes[i].ad)
            continue;
        index_learn(engine->sides[which].index, &engine->env, engine->scratch, other->classes[i].ad);
        learnt = engine_worked(engine) > engine->slice + ENGINE_GRACE ? LEARN_FROM : learnt + 1;
    }
}

void engine_side_build(struct engine *engine, unsigned which, const struct numbers *numbers)
{
    struct side *side = &engine->sides[which];
    struct tree **ads;
    uint32_t built;

    if (side->indexed || numbers->count < BUILD_FROM)
        return;
    ads = mem_alloc(side->count * sizeof *ads);
    for (uint32_t i = 0; i < side->count; i++)
        ads[i] = NULL;
    for (uint32_t i = 0; i < numbers->count; i++) {
        const struct engine_class *class = &side->classes[numbers->items[i]];

        if (class->ad && !class->indexed && !class->ported)
            ads[numbers->items[i]] = class->ad;
    }
    engine_side_index(engine, which);
    side_learn(engine, which);
    built = index_build_some(side->index, &engine->env, engine->scratch, ads, side->count, BUILD_STEPS);
    for (uint32_t i = 0; i < built; i++) {
        if (!ads[i])
            continue;
        side->classes[i].indexed = true;
        side->classes[i].indexed_at = engine->env.now;
        side->indexed++;
    }
    engine->work += (uint64_t)side->indexed * PUT_WORK;
    free(ads);
}

bool engine_keep_next(struct engine *engine)
{
    struct side *side = &engine->sides[ROOTS];
    struct engine_class *class;

    if (side->late.count == 0)
        return false;
    engine_side_build(engine, ROOTS, &side->late);
    class = &side->classes[side->late.items[--side->late.count]];
    if (class->late)
        engine_class_index(engine, ROOTS, side->late.items[side->late.count]);
    class->late = false;
    return true;
}

void engine_class_index_late(struct engine *engine, uint32_t number)
{
    struct engine_class *class = engine_class_at(engine, ROOTS, number);

    if (class->late || (class->indexed && !(class->traits & TRAIT_TIME) && !class->ported))
        return;
    if (class->dear) {
        engine_class_index(engine, ROOTS, number);
        return;
    }
    class->late = true;
    engine_numbers_add(&engine->sides[ROOTS].late, number);
}

/* A class of offers that looks for roots. */
struct waker {
    struct engine *engine;
    struct engine_class *offers;
    uint32_t number;
    uint32_t by;
};

/* Charges the steps that a class of roots has made to its first user. */
static void roots_charge(struct engine *engine, const struct engine_class *roots, uint64_t steps)
{
    engine->others += steps;
    if (roots->groups != NOBODY)
        engine_user_spend(engine, engine->groups[roots->groups].user, steps / ENGINE_STEPS_A_UNIT);
}

/* Do the two match, where the index could not tell? Each is charged for its own constraint. */
static bool waking_fits(const struct waker *waking, struct engine_class *roots, unsigned doubts)
{
    struct engine *engine = waking->engine;
    uint64_t *steps = engine_class_steps(engine, waking->offers), before = *steps;
    bool fits;

    if (doubts & INDEX_DOUBT_OWN) {
        engine->counts.evaluations++;
        fits = match_accepts_counted(&engine->env, engine->scratch, waking->offers->ad, roots->ad, steps);
        engine->others += *steps - before;
        if (!fits)
            return false;
    }
    if (!(doubts & INDEX_DOUBT_FOUND))
        return true;
    engine->counts.evaluations++;
    steps = engine_class_steps(engine, roots);
    before = *steps;
    fits = match_accepts_counted(&engine->env, engine->scratch, roots->ad, waking->offers->ad, steps);
    roots_charge(engine, roots, *steps - before);
    return fits;
}

/* The class remembers its best candidates: this offer may be one of them. */
static void choices_hear(const struct waker *waking, struct engine_class *roots)
{
    struct engine *engine = waking->engine;
    uint32_t first = members_at(&waking->offers->members, 0);
    struct engine_choice choice = {
        waking->number, waking->offers->generation, first, 0, engine->slots[first].order, {0}};
    struct arena_mark mark = arena_mark(engine->scratch);
    struct env env = engine_env_of(engine, roots->choices->whose, engine->slots[first].remote), docking;
    struct value *vector;
    uint32_t width;

    engine->counts.evaluations++;
    docking = engine_docking_env(engine, &env);
    width = policy_vector_counted(&engine->policy, &docking, engine->scratch, roots->ad, waking->offers->ad, NULL,
                                  &vector, engine_class_steps(engine, roots));
    for (uint32_t i = 0; i < width; i++)
        roots->plain = roots->plain || vector[i].type == VALUE_STRING;
    if (roots->plain)
        engine_choices_forget(engine, roots);
    else if (width)
        engine_choices_insert(roots->choices, &choice, vector);
    roots->discarded = roots->discarded || !width;
    arena_rewind(engine->scratch, mark);
}

/* How many members of a group had their turn before a root, which may be one of them and have units left. */
static uint32_t group_passed(const struct engine *engine, uint32_t number, uint32_t root)
{
    const struct ad_group *group = &engine->groups[number];
    int order = engine->keys ? 0 : engine_queue_compare(engine, group->user, engine->slots[root].user);

    if (order)
        return order < 0 ? group->members.count : 0;
    return engine_members_after(engine, &group->members, root) - (engine->slots[root].group == number);
}

/* A class that found no candidate in this cycle, or was not tried: its roots that come behind the present one are tried
 * in this cycle, the others in the next. */
static void class_revive(struct engine *engine, uint32_t number, uint32_t by)
{
    struct engine_class *class = engine_class_at(engine, ROOTS, number);
    bool now = false, next = false;

    for (uint32_t i = class->groups; i != NOBODY; i = engine->groups[i].after) {
        struct ad_group *group = &engine->groups[i];

        engine_queue_remove(engine, i);
        group->done = group_passed(engine, i, by);
        next = next || group->done;
        if (group->done == group->members.count)
            continue;
        engine_queue_add(engine, i);
        now = true;
    }
    if (now) {
        class->queued = engine->cycle;
        class->failed = 0;
    }
    if (next)
        engine_class_list(engine, ROOTS, number);
}

static void waking_found(void *user, uint32_t number, unsigned doubts)
{
    const struct waker *waking = user;
    struct engine *engine = waking->engine;
    struct engine_class *roots = engine_class_at(engine, ROOTS, number);
    bool tried = roots->queued == engine->cycle && roots->failed != engine->cycle; /* the class looks for itself */
    bool remembers = roots->choices && roots->choices->cycle == engine->cycle;
    bool chance = (waking->offers->traits | roots->traits | engine->policy_traits) & TRAIT_CHANCE;
    bool given = engine->gives && (waking->offers->traits | roots->traits) & TRAIT_GIVEN; /* the user matters */
    bool parted = tried && roots->parted == engine->cycle; /* some of its users found nobody */
    bool unknown = chance || given || *engine_class_steps(engine, waking->offers) > ENGINE_STEPS_MAX ||
                   *engine_class_steps(engine, roots) > ENGINE_STEPS_MAX ||
                   engine_worked(engine) > engine->slice + ENGINE_GRACE; /* then it is taken to match */

    engine->work++;
    if (waking->by != NOBODY && roots->apart == engine->cycle) /* some roots were tried, others not */
        engine_class_list(engine, ROOTS, number);
    if (waking->by == NOBODY ? roots->listed : tried && !remembers && !parted)
        return;
    if (!unknown && !waking_fits(waking, roots, doubts))
        return;
    if (waking->by == NOBODY) {
        engine_class_list(engine, ROOTS, number);
    } else if (tried && remembers) {
        roots->plain = roots->plain || chance;
        if (unknown)
            engine_choices_forget(engine, roots);
        else
            choices_hear(waking, roots);
    }
    if (waking->by != NOBODY && (!tried || parted))
        class_revive(engine, number, waking->by);
}

void engine_class_wake(struct engine *engine, uint32_t number, uint32_t by)
{
    const struct engine_class *roots = engine_class_at(engine, ROOTS, number);
    bool tried = roots->queued == engine->cycle && roots->failed != engine->cycle; /* the class looks for itself */
    bool parted = tried && roots->parted == engine->cycle;                         /* except for some users */

    engine->work++;
    if (by == NOBODY || roots->apart == engine->cycle)
        engine_class_list(engine, ROOTS, number);
    if (by != NOBODY && (!tried || parted))
        class_revive(engine, number, by);
}

static void waking_hit(void *user, uint32_t number, unsigned doubts)
{
    struct engine *engine = user;

    engine_hits_add(&engine->waking.hits, &engine->sides[ROOTS], number, doubts);
}

bool engine_waking_next(struct engine *engine)
{
    struct waking *waking = &engine->waking;
    struct waker waker = {engine, NULL, waking->number, NOBODY};
    const struct hit *hit;

    if (!waking->running)
        return false;
    waker.offers = engine_class_at(engine, OFFERS, waking->number);
    waking->running =
        waking->at < waking->hits.count && waker.offers->ad && waker.offers->generation == waking->generation;
    if (!waking->running)
        return false;
    hit = &waking->hits.items[waking->at++];
    if (engine_class_at(engine, ROOTS, hit->number)->ad &&
        engine_class_at(engine, ROOTS, hit->number)->generation == hit->generation)
        waking_found(&waker, hit->number, hit->doubts);
    return true;
}

void engine_waking_put_off(struct engine *engine)
{
    struct waking *waking = &engine->waking;
    const struct engine_class *offers = waking->running ? engine_class_at(engine, OFFERS, waking->number) : NULL;

    if (offers && offers->ad && offers->generation == waking->generation)
        engine_class_list(engine, OFFERS, waking->number);
    waking->running = false;
}

/* Roots that may match are judged one after the other, in this step and the next ones. But when a root is being served,
 * all are judged in this step: a root for which the work does not suffice is tried. */
void engine_offers_wake(struct engine *engine, uint32_t number, uint32_t by)
{
    struct waker waker = {engine, engine_class_at(engine, OFFERS, number), number, by};
    struct side *roots = &engine->sides[ROOTS];

    while (engine_keep_next(engine)) /* so that roots can be found */
        ;
    if (!roots->indexed)
        return;
    if (engine->gangs)
        engine_gang_wake(engine, number, by);
    if (waker.offers->ported)
        return;
    if (by == NOBODY) {
        engine->waking = (struct waking){
            number, waker.offers->generation, true, {engine->waking.hits.items, 0, engine->waking.hits.room}, 0};
        index_sift(roots->index, &engine->env, engine->scratch, waker.offers->ad, waking_hit, engine);
    } else {
        index_sift(roots->index, &engine->env, engine->scratch, waker.offers->ad, waking_found, &waker);
    }
    engine->counts.probes++;
    engine->counts.tests += index_probed(roots->index).tests;
    engine->work += 1 + index_probed(roots->index).tests;
}
