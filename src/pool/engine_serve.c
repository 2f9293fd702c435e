/* engine_serve.c: a root gets its best candidate. */
#include "ad/names.h"
#include "base/rng.h"
#include "match/order.h"
#include "match/pair.h"
#include "match/residual.h"
#include "pool/engine_parts.h"

/* A root that looks for its best candidate. */
struct trial {
    struct engine *engine;
    struct kin *roots;
    uint32_t root;
    struct choices *all; /* of them, if they shall be remembered; else: */
    uint32_t best;       /* the best so far, or NOBODY */
    struct value *vector;
    bool discarded, gave_up;
    bool alike;  /* all of the class would choose the same */
    bool chance; /* not all of the class would fail, if this one does */
    bool given;  /* only those of the same user would */
};

/* random() depends on both ads of a pair, and so do the given names. */
static struct env pair_env(const struct engine *engine, uint32_t root, uint32_t offer)
{
    struct env env = engine_env_of(engine, engine->slots[root].user, engine->slots[offer].remote);

    env.seed = rng_mix(env.seed ^ rng_mix((uint64_t)root << 32 | offer));
    return env;
}

/* Do the two accept each other, as far as the index could not tell? Each is charged for its own constraint. */
static bool trial_fits(struct trial *trial, const struct env *env, struct kin *offers, const struct tree *offer,
                       unsigned doubts)
{
    struct engine *engine = trial->engine;
    const struct tree *root = engine->slots[trial->root].ad;
    uint64_t *steps;

    if (doubts & INDEX_DOUBT_OWN) {
        steps = engine_class_steps(engine, trial->roots);
        engine->counts.evaluations++;
        engine->work++;
        if (!match_accepts_counted(env, engine->scratch, root, offer, steps))
            return false;
    }
    if (doubts & INDEX_DOUBT_FOUND) {
        steps = engine_class_steps(engine, offers);
        engine->counts.evaluations++;
        engine->work++;
        if (*steps > ENGINE_STEPS_MAX || !match_accepts_counted(env, engine->scratch, offer, root, steps))
            return false;
    }
    return true;
}

/* Of two offers with equal vectors, is the first better? */
static bool offer_before(const struct engine *engine, uint32_t a, uint32_t b)
{
    const struct slot *x = &engine->slots[a], *y = &engine->slots[b];

    return x->order != y->order ? x->order < y->order : a < b;
}

/* A candidate that fits. What is not better leaves nothing in the arena. */
static void trial_consider(struct trial *trial, const struct env *env, uint32_t number, uint32_t offer,
                           const struct tree *ad)
{
    struct engine *engine = trial->engine;
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
                                  engine_class_steps(engine, trial->roots));
    trial->discarded = trial->discarded || (!width && (first || trial->all));
    for (uint32_t i = 0; i < width && trial->alike; i++)
        trial->alike = vector[i].type != VALUE_STRING;
    if (width && trial->all && trial->alike) {
        struct choice choice = {number, engine_kin(engine, OFFERS, number)->generation, offer,
                                engine->slots[offer].order, 0};

        trial->all->width = width;
        engine_choices_push(trial->all, &choice, vector);
    }
    order = width && !first ? engine_vector_compare(vector, trial->vector, width) : 1;
    if (width && (order > 0 || (order == 0 && offer_before(engine, offer, trial->best)))) {
        trial->best = offer;
        trial->vector = vector;
    } else {
        arena_rewind(engine->scratch, mark);
    }
}

/* A class of offers that the index has left. Where chance plays a part, each member is judged by itself. */
static void trial_found(void *user, uint32_t number, unsigned doubts)
{
    struct trial *trial = user;
    struct engine *engine = trial->engine;
    struct kin *offers = engine_kin(engine, OFFERS, number);
    unsigned traits;

    if (*engine_class_steps(engine, trial->roots) > ENGINE_STEPS_MAX)
        trial->gave_up = true;
    if (trial->gave_up)
        return;
    traits = offers->traits | trial->roots->traits | engine->policy_traits;
    trial->given = trial->given || (traits & TRAIT_GIVEN && engine->gives);
    if (!(traits & TRAIT_CHANCE)) {
        uint32_t first = members_at(&offers->members, 0);
        struct env env = engine_env_of(engine, engine->slots[trial->root].user, engine->slots[first].remote);

        if (trial_fits(trial, &env, offers, offers->ad, doubts))
            trial_consider(trial, &env, number, first, offers->ad);
        return;
    }
    trial->alike = false;
    trial->chance = true;
    for (uint32_t i = 0; i < offers->members.count; i++) {
        uint32_t offer = members_at(&offers->members, i);
        struct env env = pair_env(engine, trial->root, offer);

        if (trial_fits(trial, &env, offers, engine->slots[offer].ad, doubts))
            trial_consider(trial, &env, number, offer, engine->slots[offer].ad);
    }
}

#define KEEP_PART 64  /* of what may still be remembered is for one class ... */
#define KEEP_LEAST 16 /* ... or so many */

/* The best are remembered for the others of the class (or of one user), who then hear of offers that come. */
static void class_remember(struct engine *engine, uint32_t number, struct choices *choices, uint32_t whose)
{
    struct kin *class = engine_kin(engine, ROOTS, number);
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

/* The best candidate for a root, by the index; NOBODY when there is none. */
static uint32_t class_probe(struct engine *engine, uint32_t number, uint32_t root)
{
    struct side *side = &engine->sides[OFFERS];
    struct kin *class = engine_kin(engine, ROOTS, number);
    struct trial trial = {.engine = engine, .roots = class, .root = root, .best = NOBODY, .alike = true};

    if (class->units > 1 && !class->plain)
        trial.all = engine_choices_new(0);
    index_sift(side->index, &engine->env, engine->scratch, engine->slots[root].ad, trial_found, &trial);
    engine->counts.probes++;
    engine->counts.tests += index_probed(side->index).tests;
    engine->work += index_probed(side->index).tests;
    class->discarded = trial.discarded || (class->discarded && class->by_user == engine->cycle);
    class->outcome = trial.gave_up ? ENGINE_GAVE_UP : ENGINE_NOBODY;
    if (trial.gave_up)
        trial.best = NOBODY;
    class->plain = class->plain || !trial.alike;
    if (trial.chance)
        class->apart = engine->cycle;
    if (trial.given)
        class->by_user = engine->cycle;
    if (trial.all && trial.alike && trial.best != NOBODY)
        class_remember(engine, number, trial.all, trial.given ? engine->slots[root].user : NOBODY);
    else
        engine_choices_free(trial.all);
    return trial.best;
}

static uint32_t class_choose(struct engine *engine, uint32_t number, uint32_t root)
{
    struct kin *class = engine_kin(engine, ROOTS, number);
    uint32_t offer;

    class->outcome = ENGINE_NOBODY;
    if (!engine->sides[OFFERS].indexed) {
        class->discarded = false;
        return NOBODY;
    }
    if (class->choices && class->choices->cycle == engine->cycle &&
        (class->choices->whose == NOBODY || class->choices->whose == engine->slots[root].user)) {
        offer = engine_choices_first(engine, class->choices);
        if (offer != NOBODY || !class->choices->cut)
            return offer;
    }
    engine_choices_forget(engine, class);
    return class_probe(engine, number, root);
}

/* ---------------------------------------------------------------------------------------------------------- a match */

/* What goes on of an offer that was given to a root, held; NULL when it is consumed. */
static struct tree *offer_left(struct engine *engine, const struct env *env, uint32_t offer, const struct tree *root)
{
    struct slot *slot = &engine->slots[offer];
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

/* The offer goes on as another ad, or not at all. */
void engine_offer_change(struct engine *engine, uint32_t offer, struct tree *left, uint32_t by)
{
    struct slot *slot = &engine->slots[offer];
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
            &engine->sides[OFFERS])) { /* it reads what nobody did, so they must be told apart: in the next cycle */
        engine_slot_part(engine, offer);
        engine_slot_freshen(engine, offer);
        return;
    }
    if (!engine->gangs && members_at(&engine->sides[OFFERS].classes[number].members, 0) != offer)
        return; /* there was one like it before: nobody waits for it, unless a gang wants one more */
    engine_class_unlist(engine, OFFERS, number);
    engine_class_index(engine, OFFERS, number);
    engine_offers_wake(engine, number, by);
}

void engine_root_take(struct engine *engine, uint32_t root)
{
    struct slot *slot = &engine->slots[root];

    engine_kin(engine, ROOTS, slot->in_class)->units--;
    if (--slot->units == 0)
        engine_slot_part(engine, root);
}

void engine_match_make(struct engine *engine, uint32_t root, uint32_t offer, uint32_t by)
{
    struct tree *root_ad = tree_ref(engine->slots[root].ad), *offer_ad = tree_ref(engine->slots[offer].ad), *left;
    struct pair *pair = arena_alloc(engine->scratch, sizeof *pair); /* values may be ads, whose scopes are in here */
    struct env env = pair_env(engine, root, offer);
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

/* Nobody is left for the class: it waits. */
void engine_class_fail(struct engine *engine, uint32_t number)
{
    struct kin *class = engine_kin(engine, ROOTS, number);

    class->failed = engine->cycle;
    class->held = false;
    engine_choices_forget(engine, class);
    engine_class_index_late(engine, number);
}

/* Nobody is left for the first root of a group. The others of its class have no better luck, unless it is one; or, where given names
 * count, the others of its user. */
void engine_root_fail(struct engine *engine, uint32_t group)
{
    struct ad_group *at = &engine->groups[group];
    struct kin *class = engine_kin(engine, ROOTS, at->in_class);

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

#define STEPS_A_UNIT 64 /* of evaluation, in a unit of work */

/* The user has made work: past its turn it comes behind the others. */
static void user_spend(struct engine *engine, uint32_t number, uint64_t work)
{
    struct user *user = &engine->users[number];

    if (user->spent_in != engine->cycle)
        user->spent = 0;
    user->spent_in = engine->cycle;
    user->spent += work;
    if (user->spent <= engine->turn || user->late_in == engine->cycle || engine->keys)
        return;
    user->late_in = engine->cycle;
    engine_queue_user_moved(engine, number);
}

static void group_serve(struct engine *engine, uint32_t group, uint32_t root)
{
    uint32_t number = engine->groups[group].in_class, user = engine->groups[group].user, offer;
    uint64_t work = engine->work, steps = *engine_class_steps(engine, engine_kin(engine, ROOTS, number));

    engine->counts.tried++;
    if (engine_gang_serves(engine, number)) {
        engine_gang_serve(engine, group, root);
        user_spend(engine, user, engine->work - work + 1);
        return;
    }
    offer = class_choose(engine, number, root);
    steps = *engine_class_steps(engine, engine_kin(engine, ROOTS, number)) - steps;
    if (offer == NOBODY)
        engine_root_fail(engine, group);
    else
        engine_match_make(engine, root, offer, root);
    user_spend(engine, user, engine->work - work + steps / STEPS_A_UNIT + 1);
}

/* Are only those left who had their turn, and others wait for the next cycle? */
static bool cycle_is_long(const struct engine *engine, uint32_t group)
{
    return engine->users[engine->groups[group].user].late_in == engine->cycle && engine->fresh.count && !engine->keys;
}

/* They are for the next one. */
static void cycle_cut(struct engine *engine)
{
    for (uint32_t group; (group = engine_queue_first(engine)) != NOBODY;) {
        uint32_t number = engine->groups[group].in_class;

        engine_kin(engine, ROOTS, number)->put_off = true;
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
    if (engine_kin(engine, ROOTS, engine->groups[group].in_class)->failed == engine->cycle) {
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
