/* engine.c: the matchmaker's cycles over ads that come, change and go: the ads. */
#include "pool/engine/engine.h"

#include "lang/ad/functions.h"
#include "lang/ad/patterns.h"
#include "lang/base/mem.h"
#include "pool/engine/engine_classes.h"
#include "pool/engine/engine_gang.h"
#include "pool/engine/engine_given.h"
#include "pool/engine/engine_queue.h"
#include "pool/engine/engine_serve.h"
#include "pool/engine/engine_slots.h"
#include "pool/engine/engine_state.h"
#include "pool/engine/engine_trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct engine *engine_new(struct symbols *symbols)
{
    struct engine *engine = mem_alloc(sizeof *engine);

    memset(engine, 0, sizeof *engine);
    engine->symbols = symbols;
    engine->group_free = NOBODY;
    engine->patterns = patterns_new();
    engine->of_moulds = mem_alloc_zeros(MOULDS, sizeof *engine->of_moulds);
    engine_set_work(engine, 0);
    arena_init(&engine->arena);
    engine_queue_init(engine);
    engine_side_init(engine, OFFERS);
    engine_side_init(engine, ROOTS);
    return engine;
}

static void key_clear(struct value *key)
{
    if (key->type == VALUE_STRING)
        free((void *)(uintptr_t)key->u.string);
    *key = value_undefined();
}

/* Forgets the classes, the groups and the queue. */
static void engine_forget(struct engine *engine)
{
    engine_trial_drop(engine);
    engine->waking.running = false;
    engine_queue_reset(engine);
    engine_gates_reset(engine);
    engine_side_done(engine, OFFERS);
    engine_side_done(engine, ROOTS);
    engine_gangs_free(engine->gangs);
    engine->gangs = NULL;
    free(engine->groups);
    engine->groups = NULL;
    free(engine->group_buckets);
    engine->group_buckets = NULL;
    engine->group_bucket_count = 0;
    engine->group_count = engine->group_room = 0;
    engine->group_free = NOBODY;
    for (uint32_t i = 0; engine->keys && i < engine->slot_count; i++)
        key_clear(&engine->keys[i]);
    free(engine->keys);
    engine->keys = NULL;
    memset(engine->of_moulds, 0, MOULDS * sizeof *engine->of_moulds);
}

void engine_free(struct engine *engine)
{
    if (!engine)
        return;
    engine_forget(engine);
    for (uint32_t i = 0; i < engine->slot_count; i++)
        tree_unref(engine->slots[i].ad);
    engine_trial_free(engine);
    free(engine->waking.hits.items);
    policy_done(&engine->policy);
    moulds_done(&engine->moulds);
    free(engine->of_moulds);
    arena_done(&engine->arena);
    engine_queue_done(engine);
    free(engine->fresh.items);
    free(engine->restless.items);
    free(engine->gates);
    free(engine->apart.items);
    free(engine->slots);
    free(engine->users);
    engine_given_done(engine);
    engine_window_free(engine);
    patterns_free(engine->patterns);
    free(engine);
}

/* ----------------------------------------------------------------------------------------------------------- traits */

static unsigned call_traits(const struct function *function)
{
    if (!function)
        return 0;
    if (function->traits & FUNCTION_SCOPE) /* the function may evaluate any text */
        return TRAIT_ANY;
    return (function->traits & FUNCTION_TIME ? TRAIT_TIME : 0u) |
           (function->traits & FUNCTION_CHANCE ? TRAIT_CHANCE : 0u);
}

static bool is_given(const struct engine *engine, symbol name)
{
    for (uint32_t i = 0; i < engine->env.given_count; i++)
        if (symbol_same(engine->env.given[i].name, name))
            return true;
    return false;
}

/* What the meaning of the tree may depend on. */
static unsigned tree_traits(const struct engine *engine, const struct tree *tree)
{
    unsigned traits = 0;

    for (uint32_t i = 0; i < tree->cell_count && traits != TRAIT_ANY; i++) {
        const struct expr *e = &tree->cells[i];

        if (e->kind == EXPR_CALL)
            traits |= call_traits(function_find(tree->dialect, e->u.name.id));
        else if (engine->env.given_count && expr_has_symbol(e) && is_given(engine, e->u.name.id))
            traits |= TRAIT_GIVEN;
        else if (engine->env.given_count && e->kind == EXPR_PATH && tree->dialect->ads_take_subscripts)
            traits |= TRAIT_GIVEN; /* a subscript may be the name of anything */
    }
    return traits;
}

static void restless_remove(struct engine *engine, struct engine_slot *slot)
{
    struct numbers *restless = &engine->restless;
    uint32_t last;

    if (slot->restless == NOBODY)
        return;
    last = restless->items[--restless->count];
    restless->items[slot->restless] = last;
    engine->slots[last].restless = slot->restless;
    slot->restless = NOBODY;
}

/* What is known of an ad before it is evaluated; of ads from one mould it is found out once. */
static void slot_read(struct engine *engine, struct engine_slot *slot)
{
    struct engine_mould *of = slot->mould != MOULD_NONE ? &engine->of_moulds[slot->mould % MOULDS] : NULL;

    if (!of || of->known != slot->mould) {
        slot->traits = slot->ad ? (unsigned char)tree_traits(engine, slot->ad) : 0;
        slot->ported = slot->ad && engine_ad_ported(slot->ad);
        if (of) {
            of->known = slot->mould;
            of->traits = slot->traits;
            of->ported = slot->ported;
        }
    }
    slot->traits = of ? of->traits : slot->traits;
    slot->ported = of ? of->ported : slot->ported;
}

static void slot_read_traits(struct engine *engine, uint32_t id)
{
    struct engine_slot *slot = &engine->slots[id];

    restless_remove(engine, slot);
    slot_read(engine, slot);
    if (!slot->traits)
        return;
    slot->restless = engine->restless.count;
    engine_numbers_add(&engine->restless, id);
}

/* ------------------------------------------------------------------------------------------------------------ slots */

static void slots_grow(struct engine *engine, uint32_t id)
{
    uint32_t count = id + id / 2 + 64;

    if (id < engine->slot_count)
        return;
    engine->slots = mem_grow(engine->slots, count * sizeof *engine->slots);
    for (uint32_t i = engine->slot_count; i < count; i++)
        engine->slots[i] = (struct engine_slot){.in_class = NOBODY, .group = NOBODY, .restless = NOBODY};
    if (engine->policy.order) {
        engine->keys = mem_grow(engine->keys, count * sizeof *engine->keys);
        for (uint32_t i = engine->slot_count; i < count; i++)
            engine->keys[i] = value_undefined();
    }
    engine->slot_count = count;
}

void engine_slot_leave(struct engine *engine, uint32_t id)
{
    struct engine_slot *slot = &engine->slots[id];

    slot->fresh = false;
    if (slot->in_class != NOBODY)
        engine_slot_part(engine, id);
}

void engine_slot_freshen(struct engine *engine, uint32_t id)
{
    struct engine_slot *slot = &engine->slots[id];

    if (slot->fresh || !slot->ad || slot->units < 1)
        return;
    slot->fresh = true;
    engine_numbers_add(&engine->fresh, id);
}

void engine_slot_set_ad(struct engine *engine, uint32_t id, struct tree *ad)
{
    struct engine_slot *slot = &engine->slots[id];

    if (ad)
        tree_ref(ad); /* the new ad may be the one that goes */
    tree_unref(slot->ad);
    slot->ad = ad;
    slot->mould = ad ? moulds_find(&engine->moulds, ad) : MOULD_NONE;
    slot_read_traits(engine, id);
}

void engine_slot_read_key(struct engine *engine, uint32_t id)
{
    struct arena_mark mark = arena_mark(engine->scratch);
    struct env env = engine_env_of(engine, engine->slots[id].user, 0);
    struct value *key = &engine->keys[id], now;

    policy_key(&engine->policy, &env, engine->scratch, engine->slots[id].ad, &now);
    if (policy_key_compare(key, &now) != 0) {
        if (engine->slots[id].in_class != NOBODY) { /* the root is found by its key */
            engine_slot_leave(engine, id);
            engine_slot_freshen(engine, id);
        }
        key_clear(key);
        *key = now;
        if (now.type == VALUE_STRING)
            key->u.string = mem_dup(now.u.string, now.len);
        else if (now.type >= VALUE_LIST) /* a list or an ad has no order */
            *key = value_undefined();
    }
    arena_rewind(engine->scratch, mark);
}

static bool same_ad(const struct tree *a, const struct tree *b)
{
    return a == b || (a && a->dialect == b->dialect && tree_equal(a, tree_root(a), b, tree_root(b)));
}

/* Would the root have the same key with this other ad? */
static bool same_key(struct engine *engine, uint32_t id, const struct tree *ad)
{
    struct arena_mark mark = arena_mark(&engine->arena);
    struct env env = engine_env_of(engine, engine->slots[id].user, 0);
    struct value key;
    bool same;

    policy_key(&engine->policy, &env, &engine->arena, ad, &key);
    same = policy_key_compare(&engine->keys[id], &key) == 0;
    arena_rewind(&engine->arena, mark);
    return same;
}

/* The new ad may differ only in what nobody reads, such as a time stamp. Then the slot stays where it is. */
static bool slot_stays(struct engine *engine, uint32_t id, struct tree *ad)
{
    const struct engine_slot *slot = &engine->slots[id];

    if (slot->in_class == NOBODY)
        return slot->fresh && same_ad(slot->ad, ad);
    if (same_ad(slot->ad, ad))
        return true;
    return engine_selects(engine, &engine->arena, ad, slot->request) == slot->root &&
           (!slot->root || !engine->keys || same_key(engine, id, ad)) && engine_slot_swap(engine, id, ad);
}

static void slot_set_units(struct engine *engine, struct engine_slot *slot, int64_t units)
{
    if (slot->in_class != NOBODY && slot->root)
        engine_class_at(engine, ROOTS, slot->in_class)->units += (uint64_t)(units - slot->units);
    slot->units = units;
}

void engine_put(struct engine *engine, uint32_t id, struct tree *ad, const struct engine_terms *terms)
{
    struct engine_slot *slot;

    slots_grow(engine, id);
    slot = &engine->slots[id];
    engine->put_count++;
    if (slot->ad && slot->units > 0 && terms->units > 0 && slot->order == terms->order && slot->user == terms->user &&
        slot->request == terms->request && slot_stays(engine, id, ad)) {
        slot_set_units(engine, slot, terms->units);
        return;
    }
    engine_slot_leave(engine, id);
    engine->ad_count += !slot->ad;
    engine_slot_set_ad(engine, id, ad);
    slot->units = terms->units;
    slot->order = terms->order;
    slot->came = engine->cycle;
    slot->user = terms->user;
    slot->remote = 0;
    if (engine->gives)
        engine_user(engine, terms->user); /* makes room for the user */
    slot->request = terms->request;
    engine_slot_freshen(engine, id);
}

void engine_set_turn(struct engine *engine, uint32_t id, const struct engine_turn *turn)
{
    struct engine_slot *slot = id < engine->slot_count ? &engine->slots[id] : NULL;
    double priority = isnan(turn->priority) ? 0 : turn->priority;

    if (!slot || !slot->ad ||
        (slot->turn.priority == priority && slot->turn.submitted == turn->submitted &&
         slot->turn.number == turn->number))
        return;
    if (slot->root && slot->in_class != NOBODY) { /* the root is found by its turn */
        engine_slot_leave(engine, id);
        engine_slot_freshen(engine, id);
    }
    slot->turn = (struct engine_turn){priority, turn->submitted, turn->number};
}

void engine_remove(struct engine *engine, uint32_t id)
{
    struct engine_slot *slot = id < engine->slot_count ? &engine->slots[id] : NULL;

    if (!slot || !slot->ad)
        return;
    engine_slot_leave(engine, id);
    engine_slot_set_ad(engine, id, NULL);
    if (engine->keys)
        key_clear(&engine->keys[id]);
    *slot = (struct engine_slot){.in_class = NOBODY, .group = NOBODY, .restless = NOBODY};
    engine->ad_count--;
}

void engine_reset(struct engine *engine)
{
    engine_forget(engine);
    if (engine->policy.order && engine->slot_count) {
        engine->keys = mem_alloc(engine->slot_count * sizeof *engine->keys);
        for (uint32_t i = 0; i < engine->slot_count; i++)
            engine->keys[i] = value_undefined();
    }
    engine_side_init(engine, OFFERS);
    engine_side_init(engine, ROOTS);
    engine->phase = PHASE_IDLE;
    engine->put_count = 0;
    engine->policy_traits = engine->policy.ad ? tree_traits(engine, engine->policy.ad) : 0;
    engine->fresh.count = 0;
    for (uint32_t id = 0; id < engine->slot_count; id++) {
        struct engine_slot *slot = &engine->slots[id];

        slot->in_class = slot->group = NOBODY;
        slot->fresh = false;
        slot_read_traits(engine, id);
        engine_slot_freshen(engine, id);
    }
}

int engine_set_policy(struct engine *engine, struct tree *ad, symbol *ret_attribute, struct err *err)
{
    struct policy policy;

    if (policy_init(&policy, ad, ret_attribute, err) < 0)
        return -1;
    if (ad == engine->policy.ad || (ad && engine->policy.ad && same_ad(engine->policy.ad, ad))) {
        policy_done(&policy);
        return 0;
    }
    policy_done(&engine->policy);
    engine->policy = policy;
    engine_reset(engine);
    return 0;
}

void engine_on_gang(struct engine *engine, engine_gang_fn *made)
{
    engine->gang_made = made;
}

void engine_set_priority(struct engine *engine, uint32_t user, double priority)
{
    engine_user(engine, user)->priority = isnan(priority) ? (double)INFINITY : priority;
    engine_queue_user_moved(engine, user);
}

void engine_set_work(struct engine *engine, uint64_t units)
{
    engine->turn = (units ? units : ENGINE_CYCLE_WORK) / ENGINE_TURN_PART;
}

void engine_tell_apart(struct engine *engine, symbol name)
{
    engine_numbers_add(&engine->apart, name);
    engine_reset(engine);
}

bool engine_is_ordered(const struct engine *engine)
{
    return engine->policy.order != NULL;
}

/* -------------------------------------------------------------------------------------------------------- questions */

static const struct engine_slot *slot_of(const struct engine *engine, uint32_t id)
{
    return id < engine->slot_count && engine->slots[id].ad ? &engine->slots[id] : NULL;
}

int64_t engine_units(const struct engine *engine, uint32_t id)
{
    const struct engine_slot *slot = slot_of(engine, id);

    return slot && slot->units > 0 ? slot->units : 0;
}

struct tree *engine_ad(const struct engine *engine, uint32_t id)
{
    const struct engine_slot *slot = slot_of(engine, id);

    return slot ? slot->ad : NULL;
}

enum engine_outcome engine_outcome(const struct engine *engine, uint32_t id)
{
    const struct engine_slot *slot = slot_of(engine, id);
    const struct engine_class *class;

    if (!slot)
        return ENGINE_NO_ROOT;
    if (slot->fresh) /* no cycle has looked yet whether it is a root */
        return slot->request || slot->root ? ENGINE_WAITING : ENGINE_NO_ROOT;
    if (!slot->root)
        return ENGINE_NO_ROOT;
    if (slot->in_class == NOBODY)
        return ENGINE_MATCHED;
    class = &engine->sides[ROOTS].classes[slot->in_class];
    if (!class->listed && engine->groups[slot->group].gate != NOBODY)
        return ENGINE_HELD;
    if (class->listed)
        return class->put_off ? ENGINE_GAVE_UP : ENGINE_WAITING;
    return (enum engine_outcome) class->outcome;
}

struct engine_counts engine_counts(const struct engine *engine)
{
    struct engine_counts counts = engine->counts;

    counts.steps = engine->meter - engine->cycle_begun;
    return counts;
}

uint32_t engine_classes(const struct engine *engine, bool roots)
{
    return engine->sides[roots ? ROOTS : OFFERS].used;
}

bool engine_wants(const struct engine *engine, int64_t now)
{
    bool restless = engine->restless.count || engine->policy_traits;

    return engine->phase != PHASE_IDLE || engine->fresh.count || engine->sides[OFFERS].listed.count ||
           engine->sides[ROOTS].listed.count || engine_classes_lag(&engine->sides[ROOTS]) ||
           (restless && (engine->cycle == 0 || now != engine->env.now));
}
