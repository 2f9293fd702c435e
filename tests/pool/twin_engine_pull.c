/* twin_engine_pull.c: an offer that pulls gets the root that a plain scan over all roots would give it, whatever came, changed and
 * went before, and wherever the cycle is.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "common/lang.h"
#include "common/pool.h"
#include "common/tap.h"

#include "match/pair/order.h"
#include "match/pair/pair.h"
#include "pool/engine/engine_state.h"
#include "pool/engine/engine_trial.h"

#include <stdio.h>

#define SLOTS 40
#define USERS 4
#define STEPS 12

struct twin {
    struct lang lang;
    uint64_t seed, rounds, round;
    struct rng rng;
    struct buf text, last[2];
    struct pool_style style;
    struct engine *engine;
    struct policy policy;
    struct env env;
    struct given given;
    const struct dialect *dialect;
    double priorities[USERS];
    uint64_t arrivals;
    uint64_t pulls, served, later, within, cycles;
    int differ;
};

static const char *const policies[] = {
    "[ PullOrder = \"fair\" ]",
    "[ PullOrder = \"best-fit\" ]",
    "[ PullOrder = \"starving\" ]",
    "[ PullOrder = \"priority\" ]",
    "[ RootOrder = Size; PullOrder = \"fair\" ]",
    "[ RootOrder = Size ]",
    "[ RootOrder = time() % 5 * Size; PullOrder = \"best-fit\" ]",
    "[ DockingVector = { label.Memory > 2 ? 1 : undefined } ]",
    "[ RootSelection = Size > 1; PullOrder = \"priority\" ]",
};

static const char *const extras[] = {
    "",
    "",
    "",
    "Priority = 3; ",
    "Priority = 7; ",
    "JobPrio = 5; ",
    "Priority = Size; ",
    "Priority = \"x\"; ",
    "Ports = { [ Label = \"a\"; Constraint = true ] }; ",
    "Rank = other.Size; ",
    "Rank = other.Need - other.Size; ",
    "Rank = other.Odd; ",
    "Odd = 2; ",
};

static uint64_t below(struct twin *twin, uint64_t bound)
{
    return rng_below(&twin->rng, bound);
}

static struct tree *ad_make(struct twin *twin, int side)
{
    struct pool_maker m = {
        .rng = &twin->rng, .out = &twin->text, .style = &twin->style, .side = side, .dialect = twin->dialect};
    struct tree *ad;
    struct buf all;
    struct err err;

    buf_init(&all);
    buf_addf(&all, "[ Name = \"n%llu\"; ", (unsigned long long)below(twin, 1000));
    if (!twin->last[side].len || below(twin, 3) == 0) { /* else the same as the last, but for its name */
        pool_add_ad(&m);
        buf_reset(&twin->last[side]);
        buf_adds(&twin->last[side], extras[below(twin, POOL_COUNT(extras))]);
        if (below(twin, 12) == 0)
            buf_adds(&twin->last[side], side ? "Need = 2; Size = 1; Constraint = UserPrio > 3 ]"
                                             : "Memory = 3; Disk = 4; Constraint = UserPrio < 5 ]");
        else
            buf_adds(&twin->last[side], buf_string(&twin->text) + 1);
    }
    buf_adds(&all, buf_string(&twin->last[side]));
    ad = lang_ad(&twin->lang, twin->dialect, buf_string(&all), &err);
    if (!ad) { /* it had that attribute already */
        buf_reset(&twin->last[side]);
        ad = lang_ad(&twin->lang, twin->dialect, "[]", &err);
    }
    buf_done(&all);
    return ad;
}

/* ----------------------------------------------------------------------------------------------------- the plain scan */

static struct value own_priority(struct twin *twin, const struct tree *ad)
{
    static const char *const names[] = {"Priority", "JobPrio"};
    struct value v = value_undefined();
    struct scope scope;
    struct eval eval;

    scope_init(&scope, ad, NULL);
    for (int i = 0; i < 2 && v.type == VALUE_UNDEFINED; i++) {
        symbol name = symbols_take(twin->lang.symbols, names[i], strlen(names[i]));

        eval_init(&eval, &twin->env, &twin->lang.arena);
        eval_attribute(&eval, &scope, name, &v);
        symbols_drop(twin->lang.symbols, name);
    }
    return v.type == VALUE_INTEGER || v.type == VALUE_REAL ? v : value_integer(0);
}

static struct value pull_key(struct twin *twin, const struct tree *ad, const struct match *match,
                             const struct tree *root)
{
    struct value rank = order_rank(&match->left_rank);

    (void)ad;
    if (twin->policy.pull == PULL_PRIORITY)
        return own_priority(twin, root);
    if (twin->policy.pull != PULL_BEST_FIT || rank.type == VALUE_STRING || rank.type > VALUE_REAL)
        return value_integer(0);
    return rank;
}

static bool older(const struct twin *twin, uint32_t a, uint32_t b)
{
    const struct engine_slot *x = &twin->engine->slots[a], *y = &twin->engine->slots[b];

    return x->order != y->order ? x->order < y->order : a < b;
}

/* Is a served before b, both of one user? */
static bool turn_before(const struct twin *twin, uint32_t a, uint32_t b)
{
    const struct engine_turn *x = &twin->engine->slots[a].turn, *y = &twin->engine->slots[b].turn;

    if (twin->policy.pull == PULL_STARVING)
        return older(twin, a, b);
    if (x->priority != y->priority)
        return x->priority > y->priority;
    if (x->submitted != y->submitted)
        return x->submitted < y->submitted;
    return x->number != y->number ? x->number < y->number : older(twin, a, b);
}

static bool fair_before(struct twin *twin, uint32_t a, uint32_t b)
{
    const struct engine_slot *x = &twin->engine->slots[a], *y = &twin->engine->slots[b];
    struct value left, right;
    int order;

    if (twin->policy.order) {
        policy_key(&twin->policy, &twin->env, &twin->lang.arena, x->ad, &left);
        policy_key(&twin->policy, &twin->env, &twin->lang.arena, y->ad, &right);
        order = policy_key_compare(&left, &right);
        if (order)
            return order < 0;
    } else if (twin->priorities[x->user] != twin->priorities[y->user]) {
        return twin->priorities[x->user] < twin->priorities[y->user];
    } else {
        return x->user != y->user ? x->user < y->user : turn_before(twin, a, b);
    }
    return older(twin, a, b);
}

static uint32_t plain_pull(struct twin *twin, const struct tree *ad)
{
    struct arena *arena = &twin->lang.arena;
    uint32_t best = UINT32_MAX;
    struct value top = value_integer(0);

    if (tree_find(ad, tree_root(ad), NAME_PORTS)) /* it would need a gang */
        return best;
    for (uint32_t i = 0; i < twin->engine->slot_count; i++) {
        const struct engine_slot *slot = &twin->engine->slots[i];
        struct value *components, key;
        struct match match;
        int order;

        if (!slot->ad || slot->units < 1 || !slot->root || slot->in_class == NOBODY ||
            tree_find(slot->ad, tree_root(slot->ad), NAME_PORTS))
            continue;
        match_ads(&twin->env, arena, ad, slot->ad, &match);
        if (!match.matches ||
            (twin->policy.vector && !policy_vector(&twin->policy, &twin->env, arena, slot->ad, ad, NULL, &components)))
            continue;
        key = pull_key(twin, ad, &match, slot->ad);
        order = best == UINT32_MAX ? 1 : order_compare(&key, &top);
        if (order == 0)
            order = (twin->policy.pull == PULL_STARVING ? older(twin, i, best) : fair_before(twin, i, best)) ? 1 : -1;
        if (order > 0) {
            best = i;
            top = key;
        }
    }
    return best;
}

/* ------------------------------------------------------------------------------------------------------------- a pull */

static void complain(struct twin *twin, const struct tree *ad, uint32_t plain, uint32_t got)
{
    if (twin->differ++ >= 3)
        return;
    tap_diag("seed %llu, round %llu: the scan gives %d, the engine %d (phase %d)", (unsigned long long)twin->seed,
             (unsigned long long)twin->round, (int)plain, (int)got, (int)twin->engine->phase);
    tap_diag("pulled by %s", lang_show_tree(ad));
    for (int i = 0; i < 2; i++)
        if ((i ? got : plain) != UINT32_MAX)
            tap_diag("%s %s", i ? "engine" : "scan", lang_show_tree(twin->engine->slots[i ? got : plain].ad));
}

static bool pull_once(struct twin *twin, const struct tree *ad)
{
    struct arena scratch;
    uint32_t plain = plain_pull(twin, ad), got;
    int64_t units = plain == UINT32_MAX ? 0 : engine_units(twin->engine, plain);
    bool later;

    arena_init(&scratch);
    got = engine_pull(twin->engine, &scratch, ad, &twin->env, &later);
    arena_done(&scratch);
    twin->pulls++;
    twin->later += later;
    twin->within += !later && twin->engine->phase != PHASE_IDLE;
    if (!later && got != plain)
        complain(twin, ad, plain, got);
    if (later && got != UINT32_MAX)
        complain(twin, ad, plain, got);
    if (!later && got == plain && got != UINT32_MAX) {
        twin->served++;
        if (engine_units(twin->engine, got) != units - 1)
            complain(twin, ad, plain, got);
    }
    arena_reset(&twin->lang.arena);
    return later;
}

static void check_valid(struct twin *twin)
{
    const char *why = "?";

    if (!engine_valid(twin->engine, &why) && twin->differ++ < 3)
        tap_diag("seed %llu, round %llu: %s", (unsigned long long)twin->seed, (unsigned long long)twin->round, why);
}

static void pull_some(struct twin *twin)
{
    struct tree *ad = ad_make(twin, 0);

    for (uint64_t n = 1 + below(twin, 3); n > 0; n--)
        if (pull_once(twin, ad))
            break;
    check_valid(twin);
    tree_unref(ad);
}

/* ---------------------------------------------------------------------------------------------------------- the pool */

static void disturb(struct twin *twin)
{
    uint32_t id = (uint32_t)below(twin, SLOTS);
    bool request = below(twin, 4) != 0;
    struct engine_terms terms = {request, 1 + (int64_t)below(twin, 4), ++twin->arrivals, (uint32_t)below(twin, USERS)};
    struct tree *ad;

    if (below(twin, 5) == 0) {
        engine_remove(twin->engine, id);
        return;
    }
    ad = ad_make(twin, request);
    engine_put(twin->engine, id, ad, &terms);
    tree_unref(ad);
    if (below(twin, 2) == 0)
        engine_set_turn(
            twin->engine, id,
            &(struct engine_turn){(double)below(twin, 3), (int64_t)below(twin, 3), (int64_t)below(twin, 4)});
    if (below(twin, 9) == 0) {
        uint32_t user = (uint32_t)below(twin, USERS);

        twin->priorities[user] = (double)below(twin, 3);
        engine_set_priority(twin->engine, user, twin->priorities[user]);
    }
}

static void found(void *user, uint32_t root, uint32_t offer, const struct value *rank, struct tree *left)
{
    struct twin *twin = user;

    (void)root, (void)offer, (void)rank, (void)left;
    if (below(twin, 9) == 0)
        disturb(twin);
}

/* A cycle, with pulls, comers and goers between its steps or without. */
static void cycle(struct twin *twin, bool disturbed)
{
    struct arena scratch;

    arena_init(&scratch);
    twin->env.now += (int64_t)below(twin, 3);
    twin->env.seed = rng_next(&twin->rng);
    twin->given.value = value_integer((int64_t)below(twin, 8));
    engine_begin(twin->engine, &twin->env);
    while (engine_step(twin->engine, &scratch, disturbed ? 1 + below(twin, 30) : UINT64_MAX, found, twin)) {
        if (!disturbed)
            continue;
        if (below(twin, 3) == 0)
            disturb(twin);
        if (below(twin, 3) == 0)
            pull_some(twin);
    }
    check_valid(twin);
    twin->cycles++;
    arena_done(&scratch);
}

/* After a cycle all roots can be pulled. */
static void check_seen(struct twin *twin)
{
    for (uint32_t i = 0; i < SLOTS && i < twin->engine->slot_count; i++) {
        const struct engine_slot *slot = &twin->engine->slots[i];

        if (slot->ad && slot->units > 0 && slot->in_class == NOBODY && !slot->fresh && twin->differ++ < 3)
            tap_diag("round %llu: %u is in no class", (unsigned long long)twin->round, i);
    }
}

/* What reads of roots what nobody has read before is served after a cycle. */
static void check_later(struct twin *twin)
{
    struct tree *ad = ad_make(twin, 0);

    if (pull_once(twin, ad)) {
        cycle(twin, false);
        if (pull_once(twin, ad) && twin->differ++ < 3)
            tap_diag("round %llu: a pull is put off twice", (unsigned long long)twin->round);
    }
    tree_unref(ad);
}

static void choose_policy(struct twin *twin)
{
    struct tree *ad = NULL;
    struct err err;
    symbol wrong;

    if (below(twin, 4))
        ad = lang_ad(&twin->lang, twin->dialect, policies[below(twin, POOL_COUNT(policies))], &err);
    policy_done(&twin->policy);
    policy_init(&twin->policy, ad, &wrong, &err);
    engine_set_policy(twin->engine, ad, &wrong, &err);
    tree_unref(ad);
}

static void round_run(struct twin *twin)
{
    struct pool_maker m = {.rng = &twin->rng};

    rng_init(&twin->rng, rng_mix(twin->seed) + twin->round);
    twin->style = pool_style(&m);
    twin->style.extras = 0;
    twin->dialect = below(twin, 3) ? &dialect_classic : &dialect_condor;
    buf_reset(&twin->last[0]);
    buf_reset(&twin->last[1]);
    twin->style.window = below(twin, 2) ? 15 + (unsigned)below(twin, 5) : 29 + (unsigned)below(twin, 4);
    if (below(twin, 3)) { /* many match */
        twin->style.none = 70;
        twin->style.clauses = 1 + (unsigned)below(twin, 2);
        twin->style.many = false;
    }
    twin->engine = engine_new(twin->lang.symbols);
    twin->arrivals = 0;
    twin->env = (struct env){.now = POOL_NOW};
    if (below(twin, 2)) {
        twin->given = (struct given){symbols_take(twin->lang.symbols, "UserPrio", 8), value_undefined()};
        twin->env.given = &twin->given;
        twin->env.given_count = 1;
    }
    for (uint32_t user = 0; user < USERS; user++) {
        twin->priorities[user] = (double)below(twin, 3);
        engine_set_priority(twin->engine, user, twin->priorities[user]);
    }
    choose_policy(twin);
    for (uint64_t step = 0; step < STEPS && twin->differ < 3; step++) {
        for (uint64_t i = step ? below(twin, 10) : SLOTS; i > 0; i--)
            disturb(twin);
        if (below(twin, 15) == 0)
            choose_policy(twin);
        cycle(twin, below(twin, 2));
        check_seen(twin);
        for (uint64_t i = below(twin, 6); i > 0; i--) {
            pull_some(twin);
            if (below(twin, 3) == 0)
                disturb(twin);
        }
        check_later(twin);
    }
    if (twin->env.given_count)
        symbols_drop(twin->lang.symbols, twin->given.name);
    engine_free(twin->engine);
    arena_reset(&twin->lang.arena);
}

static void test_words(struct twin *twin)
{
    struct err err = {0};
    symbol wrong = 0;
    struct tree *ad = lang_ad(&twin->lang, &dialect_classic, "[ PullOrder = \"fairest\" ]", &err);
    struct policy policy;

    tap_ok(policy_init(&policy, ad, &wrong, &err) < 0, "a PullOrder that is none is refused: %s", err.text);
    tree_unref(ad);
}

int main(void)
{
    struct twin twin = {.seed = lang_setting("BERTH_SEED", 1), .rounds = lang_rounds(600)};

    lang_init(&twin.lang);
    buf_init(&twin.text);
    buf_init(&twin.last[0]);
    buf_init(&twin.last[1]);
    for (twin.round = 0; twin.round < twin.rounds && twin.differ < 3; twin.round++)
        round_run(&twin);
    policy_done(&twin.policy);
    tap_ok(twin.differ == 0, "a pull gets what a scan over all roots would give it");
    tap_ok(twin.served > twin.pulls / 4, "many pulls get something: %llu of %llu", (unsigned long long)twin.served,
           (unsigned long long)twin.pulls);
    tap_ok(twin.within > twin.rounds, "many come between the steps of a cycle: %llu", (unsigned long long)twin.within);
    tap_ok(twin.later > 0 && twin.later < twin.pulls / 2, "some are put off to the next cycle: %llu",
           (unsigned long long)twin.later);
    test_words(&twin);
    buf_done(&twin.last[0]);
    buf_done(&twin.last[1]);
    buf_done(&twin.text);
    lang_done(&twin.lang);
    return tap_done();
}
