/* twin_engine_gang.c: the engine, over ads with and without Ports that come, change and go, makes the gangs that one batch cycle
 * (gang_run) makes over what is there: the same ones in the same order, whatever came and went before.
 *
 *   gangs     the same members, at the same ports
 *   left      what is left of an offer can be made again from the counterpart that is told
 *
 * Some cycles are disturbed: ads come and go between slices, and even while a gang is told; the next cycle is compared again: so
 * nobody was forgotten. A cycle in which a search was long is not compared: the budgets are not the same.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "common/gang_pool.h"
#include "common/lang.h"
#include "common/tap.h"

#include "match/gang/gang.h"
#include "match/pair/match.h"
#include "match/pair/residual.h"
#include "pool/engine/engine.h"

#define SLOTS 24
#define STEPS 10
#define USERS 3
#define NODES_MAX 2000 /* of a batch that is compared */
#define WORK_MAX 8000

struct twin {
    struct lang lang;
    uint64_t seed, rounds, round;
    struct rng rng;
    struct buf text, last[3];
    const struct dialect *dialect;
    struct gang_style style;
    bool services, residuals;
    struct engine *engine;
    struct policy policy;
    struct engine_terms terms[SLOTS]; /* of those that are there */
    struct tree *before[SLOTS];       /* what was there when the cycle began; held */
    double priorities[USERS];
    struct env env;
    uint64_t arrivals;
    bool disturbing;
    struct buf made[2]; /* the gangs of the batch, and of the engine */
    struct tree *ads[SLOTS * 4];
    uint32_t ids[SLOTS * 4]; /* of the ads of a batch */
    uint64_t cycles, gangs, large, deep, skipped, disturbed, residual, shared;
    int differ, wrong_left;
};

static uint64_t below(struct twin *twin, uint64_t bound)
{
    return rng_below(&twin->rng, bound);
}

static const char *const policies[] = {
    "[ DockingVector = { label.Mem, self.Rank } ]",
    "[ RootOrder = Key; DockingVector = { self.Rank, label.Rank } ]",
    "[ RootOrder = Mem ]",
    "[ DockingVector = { label.Key } ]",
};

static const char *const residuals[] = {
    "Residual = [ Mem = Mem - 1 ]; ",
    "Residual = [ Mem = Mem - other.Need; Key = other.Key ]; ",
    "Residual = [ Rate = Rate - 1; Host = other.Host ]; ",
};

/* Kinds: 0 a request, 1 a leaf, 2 a service. Often the same as the last one. */
static struct tree *ad_make(struct twin *twin, int kind)
{
    static void (*const puts[])(struct gang_maker * m) = {gang_put_request, gang_put_leaf, gang_put_service};
    struct gang_maker m = {.rng = &twin->rng, .out = &twin->text, .dialect = twin->dialect, .style = twin->style};
    struct buf *last = &twin->last[kind];
    struct tree *ad;
    struct err err;

    m.services = twin->services;
    if (!last->len || below(twin, 3)) {
        buf_reset(&twin->text);
        puts[kind](&m);
        buf_reset(last);
        buf_adds(last, "[ ");
        if (kind && twin->residuals && below(twin, 2))
            buf_adds(last, residuals[below(twin, 3)]);
        buf_adds(last, buf_string(&twin->text) + 1);
    }
    ad = lang_ad(&twin->lang, twin->dialect, buf_string(last), &err);
    if (!ad) {
        tap_diag("%s: %s", err.text, buf_string(last));
        buf_reset(last);
        ad = lang_ad(&twin->lang, twin->dialect, "[ ]", &err);
    }
    return ad;
}

/* Somebody comes, changes or goes. */
static void disturb(struct twin *twin)
{
    uint32_t id = (uint32_t)below(twin, SLOTS);
    int kind = below(twin, 5) < 2 ? 0 : twin->services && below(twin, 3) == 0 ? 2 : 1;
    struct tree *ad;

    if (engine_ad(twin->engine, id) && below(twin, 4) == 0) {
        engine_remove(twin->engine, id);
        return;
    }
    ad = ad_make(twin, kind);
    twin->terms[id] = (struct engine_terms){kind == 0, kind == 0 ? 1 + (int64_t)(below(twin, 5) == 0) : 1,
                                            below(twin, 8) ? ++twin->arrivals : below(twin, twin->arrivals + 1),
                                            (uint32_t)below(twin, USERS)};
    engine_put(twin->engine, id, ad, &twin->terms[id]);
    tree_unref(ad);
}

/* --------------------------------------------------------------------------------------------------------- the batch */

static bool is_before(struct twin *twin, uint32_t a, uint32_t b)
{
    const struct engine_terms *x = &twin->terms[a], *y = &twin->terms[b];

    if (x->request && !twin->policy.order && twin->priorities[x->user] != twin->priorities[y->user])
        return twin->priorities[x->user] < twin->priorities[y->user];
    if (x->request && !twin->policy.order && x->user != y->user)
        return x->user < y->user;
    return x->order != y->order ? x->order < y->order : a < b;
}

/* The ads of a side in their order, a unit each. */
static size_t batch_list(struct twin *twin, bool requests, size_t from)
{
    uint32_t sorted[SLOTS], count = 0;
    size_t end = from;

    for (uint32_t id = 0; id < SLOTS; id++) {
        uint32_t at = count;

        if (!engine_units(twin->engine, id) || twin->terms[id].request != requests)
            continue;
        for (count++; at && is_before(twin, id, sorted[at - 1]); at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = id;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (int64_t n = requests ? engine_units(twin->engine, sorted[i]) : 1; n > 0; n--) {
            twin->ads[end] = engine_ad(twin->engine, sorted[i]);
            twin->ids[end++] = sorted[i];
        }
    }
    return end - from;
}

static void batch_found(void *user, enum gang_outcome outcome, const struct gang_member *members, uint32_t count)
{
    struct twin *twin = user;

    if (outcome != GANG_FORMED || count < 2)
        return;
    buf_addf(&twin->made[0], "%u:", twin->ids[members[0].place]);
    for (uint32_t i = 1; i < count; i++) {
        buf_addf(&twin->made[0], " %u(%d %u %u)", twin->ids[members[i].place], (int)members[i].parent - 1,
                 members[i].port, members[i].link);
        twin->deep += members[i].parent > 0;
    }
    buf_adds(&twin->made[0], "\n");
    twin->gangs++;
    twin->large += count > 2;
}

/* False when it was too much. */
static bool batch_run(struct twin *twin)
{
    struct gang_settings settings = {.algorithm = GANG_AUTO, .preferences = true};
    size_t requests = batch_list(twin, true, 0), offers = batch_list(twin, false, requests);
    struct gang_stats stats;
    struct arena arena;

    arena_init(&arena);
    buf_reset(&twin->made[0]);
    gang_run(&twin->env, &arena,
             &(struct gang_field){
                 .policy = &twin->policy, .ads = twin->ads, .request_count = requests, .offer_count = offers},
             &settings, batch_found, twin, &stats);
    arena_done(&arena);
    return !stats.cut && !stats.gave_up && stats.nodes < NODES_MAX && stats.probes + stats.evaluations < WORK_MAX;
}

/* -------------------------------------------------------------------------------------------------------- the engine */

static void before_forget(struct twin *twin, uint32_t id)
{
    tree_unref(twin->before[id]);
    twin->before[id] = NULL;
}

static void engine_found(void *user, uint32_t root, uint32_t offer, const struct value *rank, struct tree *left)
{
    struct twin *twin = user;

    (void)rank, (void)left;
    buf_addf(&twin->made[1], "%u: %u(-1 0 0)\n", root, offer);
    before_forget(twin, offer);
    if (twin->disturbing && below(twin, 5) == 0)
        disturb(twin);
}

/* Made from the ads as they were when the cycle began: so only the first time that an offer is given. */
static void check_left(struct twin *twin, const struct engine_member *member, struct arena *arena)
{
    struct tree *was = twin->before[member->offer], *left;

    if (!was || twin->disturbing || !member->counterpart)
        return;
    left = residual_make(&twin->env, arena, was, member->counterpart);
    if (left && !match_is_open(&twin->env, arena, left)) {
        tree_unref(left);
        left = NULL;
    }
    if ((!left != !member->left ||
         (left && !tree_equal(left, tree_root(left), member->left, tree_root(member->left)))) &&
        twin->wrong_left++ < 3)
        tap_diag("seed %llu, round %llu: left %s", (unsigned long long)twin->seed, (unsigned long long)twin->round,
                 left ? lang_show_tree(left) : "nothing");
    tree_unref(left);
    twin->residual++;
}

static void engine_gang(void *user, uint32_t root, const struct engine_member *members, uint32_t count)
{
    struct twin *twin = user;
    struct arena arena;

    arena_init(&arena);
    buf_addf(&twin->made[1], "%u:", root);
    for (uint32_t i = 0; i < count; i++) {
        bool twice = false;

        buf_addf(&twin->made[1], " %u(%d %u %u)", members[i].offer,
                 members[i].parent == ENGINE_ROOT ? -1 : (int)members[i].parent, members[i].port, members[i].link);
        for (uint32_t k = 0; k < count; k++)
            twice |= k != i && members[k].offer == members[i].offer;
        twin->shared += twice;
        if (!twice)
            check_left(twin, &members[i], &arena);
    }
    for (uint32_t i = 0; i < count; i++)
        before_forget(twin, members[i].offer);
    buf_adds(&twin->made[1], "\n");
    arena_done(&arena);
    if (twin->disturbing && below(twin, 5) == 0) /* even while a gang is told */
        disturb(twin);
}

static void check_valid(struct twin *twin, const char *when)
{
    const char *why = "?";

    if (!engine_valid(twin->engine, &why) && twin->differ++ < 5)
        tap_diag("seed %llu, round %llu, %s: %s", (unsigned long long)twin->seed, (unsigned long long)twin->round, when,
                 why);
}

static void cycle_disturbed(struct twin *twin)
{
    struct arena scratch;

    arena_init(&scratch);
    twin->disturbing = true;
    engine_begin(twin->engine, &twin->env);
    while (engine_step(twin->engine, &scratch, 1 + below(twin, 80), engine_found, twin)) {
        if (below(twin, 3) == 0)
            disturb(twin);
        check_valid(twin, "disturbed");
        if (below(twin, 40) == 0)
            break; /* and another one begins */
    }
    twin->disturbing = false;
    twin->disturbed++;
    arena_done(&scratch);
}

static void tell_pool(struct twin *twin)
{
    for (uint32_t id = 0; id < SLOTS; id++)
        if (engine_ad(twin->engine, id))
            tap_diag("%u (%s, order %llu, %lld left): %s", id, twin->terms[id].request ? "request" : "offer",
                     (unsigned long long)twin->terms[id].order, (long long)engine_units(twin->engine, id),
                     lang_show_tree(engine_ad(twin->engine, id)));
}

static void cycle_compared(struct twin *twin, uint64_t step)
{
    struct arena scratch;
    bool small;

    arena_init(&scratch);
    for (uint32_t id = 0; id < SLOTS; id++)
        twin->before[id] = engine_units(twin->engine, id) ? tree_ref(engine_ad(twin->engine, id)) : NULL;
    small = batch_run(twin);
    buf_reset(&twin->made[1]);
    engine_begin(twin->engine, &twin->env);
    while (engine_step(twin->engine, &scratch, below(twin, 3) ? UINT64_MAX : 1 + below(twin, 200), engine_found, twin))
        ;
    twin->skipped += !small;
    twin->cycles++;
    if (small && strcmp(buf_string(&twin->made[0]), buf_string(&twin->made[1])) != 0 && twin->differ++ < 3) {
        tap_diag("seed %llu, round %llu, step %llu: by the batch\n%s\nby the engine\n%s",
                 (unsigned long long)twin->seed, (unsigned long long)twin->round, (unsigned long long)step,
                 buf_string(&twin->made[0]), buf_string(&twin->made[1]));
        tell_pool(twin);
    }
    check_valid(twin, "after a cycle");
    for (uint32_t id = 0; id < SLOTS; id++)
        before_forget(twin, id);
    arena_done(&scratch);
}

/* ---------------------------------------------------------------------------------------------------------- a round */

static void round_run(struct twin *twin)
{
    struct tree *ad = NULL;
    struct err err;
    symbol wrong;

    rng_init(&twin->rng, rng_mix(twin->seed) + twin->round);
    twin->style = gang_style(&twin->rng);
    twin->services = below(twin, 2);
    twin->residuals = below(twin, 2);
    if (twin->residuals) /* of an offer that fits only as what is left of it, whether it is found hangs on the index */
        twin->style.shared = 0;
    twin->dialect = below(twin, 3) ? &dialect_classic : &dialect_condor;
    for (int i = 0; i < 3; i++)
        buf_reset(&twin->last[i]);
    twin->engine = engine_new(twin->lang.symbols);
    engine_on_gang(twin->engine, engine_gang);
    twin->arrivals = 0;
    twin->env = (struct env){.now = 1772366400};
    for (uint32_t user = 0; user < USERS; user++) {
        twin->priorities[user] = (double)below(twin, 2);
        engine_set_priority(twin->engine, user, twin->priorities[user]);
    }
    if (below(twin, 4) == 0)
        ad = lang_ad(&twin->lang, twin->dialect, policies[below(twin, 4)], &err);
    policy_init(&twin->policy, ad, &wrong, &err);
    engine_set_policy(twin->engine, ad, &wrong, &err);
    tree_unref(ad);
    for (uint64_t step = 0; step < STEPS && twin->differ < 3; step++) {
        for (uint64_t i = step ? below(twin, 6) : below(twin, SLOTS); i > 0; i--)
            disturb(twin);
        if (below(twin, 5) == 0)
            cycle_disturbed(twin);
        cycle_compared(twin, step);
        twin->env.now += (int64_t)below(twin, 2);
    }
    policy_done(&twin->policy);
    engine_free(twin->engine);
    arena_reset(&twin->lang.arena);
}

int main(void)
{
    struct twin twin = {.seed = lang_setting("BERTH_SEED", 1), .rounds = lang_rounds(400)};

    lang_init(&twin.lang);
    buf_init(&twin.text);
    for (int i = 0; i < 3; i++)
        buf_init(&twin.last[i]);
    for (int i = 0; i < 2; i++)
        buf_init(&twin.made[i]);
    for (twin.round = 0; twin.round < twin.rounds && twin.differ < 3; twin.round++)
        round_run(&twin);
    tap_ok(twin.differ == 0, "the engine makes the gangs that a batch makes of what is there");
    tap_ok(twin.wrong_left == 0, "what is left of an offer can be made again from its counterpart");
    tap_ok(twin.gangs > twin.rounds && twin.large > twin.rounds / 4 && twin.deep > twin.rounds / 40,
           "there are many gangs, some of several members, and some of several levels");
    tap_ok(twin.residual > 0 && twin.shared > 0, "offers go on as their residuals, and some are shared");
    tap_ok(twin.skipped < twin.cycles / 4, "few cycles are too long to compare");
    tap_diag(
        "%llu cycles (%llu too long, %llu disturbed ones), %llu gangs, %llu of several, %llu members below others, "
        "%llu residuals, %llu shared",
        (unsigned long long)twin.cycles, (unsigned long long)twin.skipped, (unsigned long long)twin.disturbed,
        (unsigned long long)twin.gangs, (unsigned long long)twin.large, (unsigned long long)twin.deep,
        (unsigned long long)twin.residual, (unsigned long long)twin.shared);
    for (int i = 0; i < 3; i++)
        buf_done(&twin.last[i]);
    for (int i = 0; i < 2; i++)
        buf_done(&twin.made[i]);
    buf_done(&twin.text);
    lang_done(&twin.lang);
    return tap_done();
}
