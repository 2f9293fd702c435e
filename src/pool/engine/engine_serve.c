/* engine_serve.c: the first in the queue gets its best candidate. */
#include "pool/engine/engine_serve.h"
#include "lang/ad/names.h"
#include "match/pair/order.h"
#include "match/pair/pair.h"
#include "match/pair/residual.h"
#include "pool/engine/engine_choices.h"
#include "pool/engine/engine_classes.h"
#include "pool/engine/engine_gang.h"
#include "pool/engine/engine_members.h"
#include "pool/engine/engine_queue.h"
#include "pool/engine/engine_slots.h"
#include "pool/engine/engine_state.h"
#include "pool/engine/engine_trial.h"
#include "pool/engine/engine_wake.h"

/* ---------------------------------------------------------------------------------------------------------- a match */

/* What remains of an offer that was given to a root, held; NULL when it is consumed. */
static struct tree *offer_left(struct engine *engine, const struct env *env, uint32_t offer, const struct tree *root)
{
    struct engine_slot *slot = &engine->slots[offer];
    struct tree *left = residual_make(env, engine->scratch, slot->ad, root);

    if (left && match_is_open(env, engine->scratch, left))
        return left;
    tree_unref(left);
    if (left || slot->units == 1) {
        slot->units = 0;
        return NULL;
    }
    slot->units--;
    return tree_ref(slot->ad);
}

/* The offer goes on as the ad `left`, or not at all. */
void engine_offer_change(struct engine *engine, uint32_t offer, struct tree *left, uint32_t by)
{
    struct engine_slot *slot = &engine->slots[offer];
    uint32_t number;

    if (left == slot->ad)
        return;
    engine_slot_part(engine, offer);
    if (!left)
        return;
    engine_slot_set_ad(engine, offer, left);
    engine_slot_join(engine, offer);
    number = slot->in_class;
    if (engine_classes_lag(&engine->sides[ROOTS]) ||
        engine_classes_lag(
            &engine->sides[OFFERS])) { /* it reads a new name, so ads must be told apart: in the next cycle */
        engine_slot_part(engine, offer);
        engine_slot_freshen(engine, offer);
        return;
    }
    if (!engine->gangs && members_at(&engine->sides[OFFERS].classes[number].members, 0) != offer)
        return; /* there was an equal offer before: no root waits for this one, unless a gang wants one more */
    engine_class_unlist(engine, OFFERS, number);
    engine_class_index(engine, OFFERS, number);
    engine_offers_wake(engine, number, by);
}

void engine_root_take(struct engine *engine, uint32_t root)
{
    struct engine_slot *slot = &engine->slots[root];

    engine_class_at(engine, ROOTS, slot->in_class)->units--;
    if (--slot->units == 0)
        engine_slot_part(engine, root);
}

void engine_match_make(struct engine *engine, uint32_t root, uint32_t offer, uint32_t by)
{
    struct tree *root_ad = tree_ref(engine->slots[root].ad), *offer_ad = tree_ref(engine->slots[offer].ad), *left;
    struct pair *pair = arena_alloc(engine->scratch, sizeof *pair); /* values may be ads, whose scopes live in it */
    struct env env = engine_pair_env(engine, root, offer);
    struct value rank;
    struct eval eval;

    pair_init(pair, root_ad, offer_ad);
    eval_init(&eval, &env, engine->scratch);
    eval_attribute(&eval, &pair->left, NAME_RANK, &rank);
    rank = order_rank(&rank);
    left = offer_left(engine, &env, offer, root_ad);
    engine_root_take(engine, root);
    engine_offer_change(engine, offer, left, by);
    engine->counts.matches++;
    engine->found(engine->found_user, root, offer, &rank, left);
    tree_unref(left);
    tree_unref(offer_ad);
    tree_unref(root_ad);
}

/* No candidate is left for the class: it waits. */
void engine_class_fail(struct engine *engine, uint32_t number)
{
    struct engine_class *class = engine_class_at(engine, ROOTS, number);

    class->failed = engine->cycle;
    class->held = false;
    engine_choices_forget(engine, class);
    engine_class_index_late(engine, number);
}

/* No candidate is left for the first root of a group. The other roots of its class would find none either, unless
 * chance tells them apart; or, where given names count, the other roots of its user. */
void engine_root_fail(struct engine *engine, uint32_t group)
{
    struct ad_group *at = &engine->groups[group];
    struct engine_class *class = engine_class_at(engine, ROOTS, at->in_class);

    if (class->apart != engine->cycle && class->by_user == engine->cycle) {
        class->parted = engine->cycle;
        engine_choices_forget(engine, class);
        engine_class_index_late(engine, at->in_class);
        engine_queue_remove(engine, group);
        return;
    }
    if (class->apart != engine->cycle) {
        engine_class_fail(engine, at->in_class);
        engine_queue_remove(engine, group);
        return;
    }
    engine_class_index_late(engine, at->in_class);
    if (at->done + 1 == at->members.count)
        engine_queue_remove(engine, group);
    at->done++;
    engine_queue_moved(engine, group);
}

bool engine_root_held(struct engine *engine, uint32_t group, uint32_t root)
{
    uint32_t gate = engine->gate_closed ? engine->gate_closed(engine->gate_user, root) : ENGINE_OPEN;

    if (gate == ENGINE_OPEN)
        return false;
    engine_queue_remove(engine, group);
    engine_gate_wait(engine, group, gate);
    return true;
}

#define DEBT_MOST 4  /* a quarter of a turn is much work, when work counts half after each second */
#define DEBT_PART 16 /* users with much work lately get this part of a turn in each cycle, while others wait */

/* A cycle has one time, and may be long: work done in the last one counts as done just now. */
static uint64_t user_debt(const struct engine *engine, const struct user *user)
{
    int64_t passed = engine->env.now - user->debt_at;

    if (passed > 1 && user->spent_in + 1 >= engine->cycle)
        passed = 1;
    return passed <= 0 ? user->debt : passed < 64 ? user->debt >> passed : 0;
}

bool engine_user_owes(const struct engine *engine, struct user *user)
{
    user->debt = user_debt(engine, user);
    user->debt_at = engine->env.now;
    return user->debt > engine->turn / DEBT_MOST;
}

/* Charges work to a user. Beyond its turn the user comes behind the others; but not in the midst of a trial, which
 * would have been for nothing. */
void engine_user_spend(struct engine *engine, uint32_t number, uint64_t work)
{
    struct user *user = engine_user(engine, number);
    bool late, done;

    if (user->spent_in != engine->cycle)
        user->spent = 0;
    user->spent_in = engine->cycle;
    user->spent += work;
    user->debt = user_debt(engine, user) + work;
    user->debt_at = engine->env.now;
    if (engine_trial_runs(engine) || engine->keys)
        return;
    late = user->late_in == engine->cycle || user->spent > engine->turn;
    done = late && user->spent > engine->turn / DEBT_PART;
    if (late == (user->late_in == engine->cycle) && done == (user->done_in == engine->cycle))
        return;
    user->late_in = late ? engine->cycle : user->late_in;
    user->done_in = done ? engine->cycle : user->done_in;
    engine_queue_user_moved(engine, number);
}

/* Serves the first root of a group. The work is charged to its user, except what offers caused: that is not the asker's
 * fault. */
static void group_serve(struct engine *engine, uint32_t group, uint32_t root)
{
    uint32_t number = engine->groups[group].in_class, user = engine->groups[group].user, offer;
    uint64_t work = engine_worked(engine), others = engine->others;

    if (engine_gang_serves(engine, number)) {
        engine_trial_drop(engine);
        engine->counts.tried++;
        engine_gang_serve(engine, group, root);
    } else {
        offer = engine_trial_run(engine, group, root);
        if (offer == NOBODY)
            engine_root_fail(engine, group);
        else if (offer != TRIAL_UNDECIDED)
            engine_match_make(engine, root, offer, root);
    }
    work = engine_worked(engine) - work;
    others = (engine->others - others) / ENGINE_STEPS_A_UNIT;
    engine_user_spend(engine, user, work > others ? work - others + 1 : 1);
}

/* Are only users left who had their turn, while new ads wait for the next cycle? */
static bool cycle_is_long(const struct engine *engine, uint32_t group)
{
    return engine->users[engine->groups[group].user].done_in == engine->cycle && engine->fresh.count && !engine->keys;
}

/* Leaves the rest of the queue for the next cycle. */
static void cycle_cut(struct engine *engine)
{
    for (uint32_t group; (group = engine_queue_first(engine)) != NOBODY;) {
        uint32_t number = engine->groups[group].in_class;

        engine_class_at(engine, ROOTS, number)->put_off = true;
        engine_class_list(engine, ROOTS, number);
        engine_queue_remove(engine, group);
    }
}

void engine_serve_one(struct engine *engine)
{
    struct arena_mark mark = arena_mark(engine->scratch);
    uint32_t group, root;

    if (engine_window_serve(engine)) {
        arena_rewind(engine->scratch, mark);
        return;
    }
    group = engine_queue_first(engine);
    if (group == NOBODY) {
        engine->phase = PHASE_KEEP;
        return;
    }
    engine->work++;
    if (engine_class_at(engine, ROOTS, engine->groups[group].in_class)->failed == engine->cycle) {
        engine_queue_remove(engine, group);
        return;
    }
    if (cycle_is_long(engine, group)) {
        cycle_cut(engine);
        return;
    }
    root = members_at(&engine->groups[group].members, engine->groups[group].done);
    if (!engine_root_held(engine, group, root))
        group_serve(engine, group, root);
    arena_rewind(engine->scratch, mark);
}
