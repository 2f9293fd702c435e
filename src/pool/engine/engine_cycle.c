/* engine_cycle.c: a cycle, bite by bite.
 *
 *     refresh   ads that depend on the time, on chance or on given names are looked at again
 *     settle    ads that came are put into classes
 *     place     new classes of offers go into their index, and wake the roots that wait for them
 *     queue     new classes of roots, and those that were woken, take their places
 *     plan      if a policy settles all waiting roots at once, it does
 *     serve     the first in the queue gets its best candidate, until the queue is empty; or the plan is carried out
 *     keep      classes of roots that wait go into their index
 *
 * Ads that come while roots are served are settled in the next cycle. */
#include "lang/ad/names.h"
#include "lang/base/mem.h"
#include "pool/engine/engine_classes.h"
#include "pool/engine/engine_given.h"
#include "pool/engine/engine_queue.h"
#include "pool/engine/engine_serve.h"
#include "pool/engine/engine_slots.h"
#include "pool/engine/engine_state.h"
#include "pool/engine/engine_trial.h"
#include "pool/engine/engine_wake.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------- who is a root */

static bool is_job(const struct value *type)
{
    static const char job[] = "job";

    if (type->type != VALUE_STRING || type->len != sizeof job - 1)
        return false;
    for (uint32_t i = 0; i < type->len; i++)
        if ((type->u.string[i] | 0x20) != job[i])
            return false;
    return true;
}

bool engine_selects(const struct engine *engine, struct arena *scratch, const struct tree *ad, bool request)
{
    struct arena_mark mark = arena_mark(scratch);
    struct value root, type;
    struct scope scope;
    struct eval eval;
    bool selects;

    if (engine->policy.selection)
        return policy_selects(&engine->policy, &engine->env, scratch, ad);
    if (request)
        return true;
    if (!tree_find(ad, tree_root(ad), NAME_ROOT)) { /* as in most ads, and the type is written out */
        const struct expr *written = tree_find(ad, tree_root(ad), NAME_TYPE);

        if (!written)
            return false;
        if (written->kind == EXPR_STRING) {
            type =
                (struct value){.type = VALUE_STRING, .len = written->u.run.count, .u.string = tree_string(ad, written)};
            return is_job(&type);
        }
    }
    scope_init(&scope, ad, NULL);
    eval_init(&eval, &engine->env, scratch);
    eval_attribute(&eval, &scope, NAME_ROOT, &root);
    eval_init(&eval, &engine->env, scratch);
    eval_attribute(&eval, &scope, NAME_TYPE, &type);
    selects = value_is_true(&root) || is_job(&type);
    arena_rewind(scratch, mark);
    return selects;
}

/* ------------------------------------------------------------------------------------------------------- the phases */

/* Looks again at an ad that may mean something else than in the last cycle. */
static void slot_refresh(struct engine *engine, uint32_t id)
{
    struct engine_slot *slot = &engine->slots[id];
    struct engine_class *class;

    if (slot->in_class == NOBODY || !engine_applies(engine, slot->traits | engine->policy_traits))
        return;
    if (engine_selects(engine, engine->scratch, slot->ad, slot->request) != slot->root) {
        engine_slot_leave(engine, id);
        engine_slot_freshen(engine, id);
        return;
    }
    if (slot->root && engine->keys)
        engine_slot_read_key(engine, id);
    if (slot->in_class == NOBODY)
        return;
    class = engine_class_at(engine, slot->root ? ROOTS : OFFERS, slot->in_class);
    if (engine_applies(engine, class->traits))
        engine_class_list(engine, slot->root ? ROOTS : OFFERS, slot->in_class);
    if (slot->root && engine->pulled) /* the index must know it as it is now */
        engine_class_index_late(engine, slot->in_class);
}

/* The ads are settled from the last to the first: so that those that came first are. Members of a class then come in their order, and the index has its rows
 * in that of the ads. */
static void fresh_turn(struct numbers *fresh)
{
    for (uint32_t i = 0, k = fresh->count; i + 1 < k; i++) {
        uint32_t id = fresh->items[--k];

        fresh->items[k] = fresh->items[i];
        fresh->items[i] = id;
    }
}

#define LOOKED_AT 64 /* fresh ads that are looked at before the first is settled */

/* Reads some of the fresh ads, evenly spread, for the names that they read of the other side. What is known before there are classes need not part them
 * afterwards: where offers come first, each would be read again for the names that the requests behind them read. */
static void fresh_look(struct engine *engine)
{
    uint32_t count = engine->fresh.count < LOOKED_AT ? engine->fresh.count : LOOKED_AT;

    if (engine->gangs || (engine->sides[OFFERS].used && engine->sides[ROOTS].used))
        return;
    for (uint32_t i = 0; i < count; i++) {
        const struct engine_slot *slot = &engine->slots[engine->fresh.items[(uint64_t)i * engine->fresh.count / count]];

        if (slot->fresh && !slot->ported)
            engine_slot_read_names(engine, slot,
                                   engine_selects(engine, engine->scratch, slot->ad, slot->request) ? OFFERS : ROOTS);
    }
    engine->work += count;
}

/* Goes from the last to the first, so that an ad that leaves meanwhile hides no other. */
static void refresh_one(struct engine *engine)
{
    bool all = engine_applies(engine, engine->policy_traits);

    if (engine->at == 0) {
        const struct side *roots = &engine->sides[ROOTS];

        for (uint32_t i = 0; i < roots->count && all; i++)
            if (roots->classes[i].ad && roots->classes[i].discarded)
                engine_class_list(engine, ROOTS, i);
        fresh_turn(&engine->fresh);
        fresh_look(engine);
        engine->phase = PHASE_SETTLE;
        return;
    }
    engine->at--;
    if (all)
        slot_refresh(engine, engine->at);
    else if (engine->at < engine->restless.count)
        slot_refresh(engine, engine->restless.items[engine->at]);
}

static void settle_one(struct engine *engine)
{
    struct engine_slot *slot;
    uint32_t id;

    for (unsigned which = OFFERS; which <= ROOTS; which++) /* at the end, or while it costs nothing */
        if (engine_classes_lag(&engine->sides[which]) && (engine->fresh.count == 0 || engine->sides[which].used == 0))
            engine_classes_split(engine, which);
    if (engine->fresh.count == 0) {
        engine->phase = PHASE_PLACE;
        return;
    }
    id = engine->fresh.items[--engine->fresh.count];
    slot = &engine->slots[id];
    if (!slot->fresh)
        return; /* the ad has gone meanwhile */
    slot->fresh = false;
    slot->root = engine_selects(engine, engine->scratch, slot->ad, slot->request);
    if (slot->root && engine->keys)
        engine_slot_read_key(engine, id);
    engine_slot_join(engine, id);
}

static void place_one(struct engine *engine)
{
    struct side *side = &engine->sides[OFFERS];
    uint32_t number;

    if (engine_waking_next(engine) || engine_keep_next(engine)) /* so that roots can be found */
        return;
    if (side->listed.count == 0) {
        engine->phase = PHASE_QUEUE;
        return;
    }
    engine_side_build(engine, OFFERS, &side->listed);
    number = side->listed.items[--side->listed.count];
    if (!side->classes[number].listed)
        return;
    side->classes[number].listed = false;
    engine_class_index(engine, OFFERS, number);
    engine_offers_wake(engine, number, NOBODY);
}

static void queue_one(struct engine *engine)
{
    struct side *side = &engine->sides[ROOTS];
    struct engine_class *class;
    uint32_t number;

    if (side->listed.count == 0) {
        engine->phase = engine->window ? PHASE_PLAN : PHASE_SERVE;
        return;
    }
    number = side->listed.items[--side->listed.count];
    class = &side->classes[number];
    if (!class->listed)
        return;
    class->listed = false;
    class->queued = engine->cycle;
    class->failed = 0;
    class->held = false;
    class->put_off = false;
    class->outcome = ENGINE_WAITING;
    for (uint32_t i = class->groups; i != NOBODY; i = engine->groups[i].after) {
        engine->groups[i].done = 0;
        engine_queue_add(engine, i);
    }
}

static void keep_one(struct engine *engine)
{
    if (!engine_keep_next(engine))
        engine->phase = PHASE_IDLE;
}

static void (*const phases[])(struct engine *engine) = {
    [PHASE_REFRESH] = refresh_one, [PHASE_SETTLE] = settle_one,       [PHASE_PLACE] = place_one,
    [PHASE_QUEUE] = queue_one,     [PHASE_PLAN] = engine_window_plan, [PHASE_SERVE] = engine_serve_one,
    [PHASE_KEEP] = keep_one,
};

bool engine_step(struct engine *engine, struct arena *scratch, uint64_t units, engine_match_fn *found, void *user)
{
    engine->scratch = scratch;
    engine->found = found;
    engine->found_user = user;
    engine->begun = engine->meter;
    engine->slice = units;
    for (engine->work = 0; engine->phase != PHASE_IDLE && !engine_is_over(engine); engine->work++)
        phases[engine->phase](engine);
    engine->scratch = NULL;
    return engine->phase != PHASE_IDLE;
}

/* -------------------------------------------------------------------------------------------------------- it begins */

void engine_begin(struct engine *engine, const struct env *env)
{
    bool differs = engine_given_differs(engine, env), unfinished = engine->phase != PHASE_IDLE;

    engine_trial_drop(engine);
    engine_waking_put_off(engine);
    engine_queue_put_off(engine);
    engine->moved = (unfinished && engine->moved) || engine->cycle == 0 || env->now != engine->env.now ||
                    env->zone != engine->env.zone;
    engine_given_begin(engine, env);
    if (differs)
        engine_reset(engine);
    else
        engine_classes_reread(engine);
    engine->cycle++;
    engine->counts = (struct engine_counts){0};
    engine->cycle_begun = engine->meter;
    engine->phase = PHASE_REFRESH;
    engine->at = engine_applies(engine, engine->policy_traits) ? engine->slot_count : engine->restless.count;
}
