/* twin_engine.c: the engine, which remembers what it can from cycle to cycle, makes the matches that a plain loop makes
 * which remembers nothing: the same ones in the same order, whatever came, changed and went before.
 *
 * Some cycles are disturbed: ads come and go between slices. Then the loop takes over what the engine made of it, and
 * the next cycle is compared again: so nobody was forgotten.
 *
 * In some rounds UserPrio, Usage and RemoteUserPrio are given: equal roots of two users then need not choose alike.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "common/lang.h"
#include "common/pool.h"
#include "common/tap.h"

#include "match/pair/order.h"
#include "match/pair/pair.h"
#include "match/pair/residual.h"
#include "pool/engine/engine.h"

#include <stdio.h>

#define SLOTS 48
#define USERS 80 /* of which every twentieth has ads */
#define STEPS 14

/* An ad as the plain loop keeps it. */
struct plain {
    struct tree *ad; /* held; NULL: there is none */
    struct engine_terms terms;
    uint32_t remote; /* whose job it runs, plus 1; or 0 */
    struct engine_turn turn;
};

struct twin {
    struct lang lang;
    uint64_t seed, rounds, round;
    struct rng rng;
    struct buf text, last[2]; /* the last ad of each side, behind its name */
    const struct dialect *dialect;
    struct pool_style style;
    struct engine *engine;
    struct policy policy;
    struct plain slots[SLOTS];
    double priorities[USERS];
    struct env env;
    struct given given;
    bool gives;
    bool flat; /* nobody ranks anybody */
    symbol remote_name;
    struct given pair[ENGINE_GIVEN];    /* the names, with the values for a pair */
    double begun[USERS], usages[USERS]; /* as the last cycle began */
    uint64_t given_cycles, arrivals;
    bool disturbing;
    struct buf made[2]; /* the matches of the loop, and of the engine */
    uint64_t matches, cycles, disturbed, shared, classes;
    int differ;
};

static const char *const policies[] = {
    "[ DockingVector = { label.Memory, self.Rank } ]",
    "[ RootOrder = Size; DockingVector = { self.Rank, label.Rank, -label.Disk } ]",
    "[ RootSelection = Owner isnt undefined && Size > 1 ]",
    "[ RootOrder = Owner ]",
    "[ RootOrder = time() % 7 * Size; DockingVector = { label.Memory > time() % 5 ? label.Memory : undefined } ]",
    "[ DockingVector = { random(3), label.Disk } ]",
    "[ DockingVector = { label.Arch } ]",
    "[ RootSelection = Need > time() % 3 ]",
    "[ RootOrder = -UserPrio; DockingVector = { self.Rank, label.RemoteUser is undefined ? 2 : label.CurrentRank < label.Rank "
    "? 1 : label.RemoteUserPrio > UserPrio * 1.1 ? 0 : error, label.RemoteUser is undefined ? 0 : label.RemoteUserPrio } ]",
    "[ DockingVector = { UserPrio > 0 ? label.Memory : UserPrio < Usage ? -label.Memory : error } ]",
    "[ RootOrder = Size * UserPrio; DockingVector = { RemoteUserPrio is undefined || RemoteUserPrio > UserPrio, label.Disk } ]",
};

static const char *const extras[] = {
    "",
    "",
    "",
    "Rank = other.Memory; ",
    "Rank = other.Load + other.Disk; ",
    "Rank = 3; ",
    "Rank = random(3); ",
    "Rank = other.Arch; ",
    "Rank = UserPrio; ",
    "Rank = UserPrio < 2 ? other.Memory : 0 - other.Memory; ",
    "RemoteUser = \"20\"; ",
    "RemoteUser = \"60\"; CurrentRank = 1; Rank = UserPrio; ",
    "RemoteUser = \"0\"; Preempts = \"c\"; CurrentRank = 1; Rank = other.Size; ",
    "Preempts = \"c\"; CurrentRank = 2; Rank = 3; ",
    "Rank = other.Name == \"n3\"; ",
    "Type = \"JOB\"; ",
    "Residual = [ Memory = Memory - 1; Constraint = Memory > 0 ]; ",
    "Residual = [ Disk = Disk - other.Size ]; ",
    "Residual = [ Memory = other.Need + 0; Load = time() % 4 ]; ",
    "Residual = [ Odd = other.Size + 0; Constraint = other.Least >= 2 ]; ",
};

/* Ads that the style does not make. */
#define SPECIALS 6
static const char *const specials[2][SPECIALS] = {
    {"Memory = 3; Disk = 2; Constraint = random(2) == 1 ]", "Memory = 3; Disk = 4; Constraint = UserPrio < 5 ]",
     "Memory = time() % 4; Disk = 9 ]",
     "Memory = 8; Residual = [ Memory = Memory - other.Need ]; "
     "Constraint = Memory > 0 && other.Need <= Memory ]",
     "Memory = 5; Disk = 3; RemoteUser = \"40\"; Constraint = RemoteUserPrio > UserPrio ]",
     "Memory = 9; Residual = [ Memory = Memory - 1 ]; Constraint = Memory > 0 && Usage < 2 ]"},
    {"Need = 1; Size = 2; Constraint = random(4) < other.Memory ]", "Need = 2; Size = 1; Constraint = UserPrio > 3 ]",
     "Need = 2; Size = time() % 3; Constraint = other.Memory == time() % 4 ]",
     "Need = 2; Size = 3; Constraint = other.Memory >= 2 && other.Memory < 5 ]",
     "Need = 1; Size = 1; Constraint = other.Memory >= 1 && UserPrio < 2 ]",
     "Need = 3; Size = 2; Constraint = RemoteUserPrio is undefined || RemoteUserPrio > 0 ]"},
};

static uint64_t below(struct twin *twin, uint64_t bound)
{
    return rng_below(&twin->rng, bound);
}

static uint32_t some_user(struct twin *twin)
{
    return 20 * (uint32_t)below(twin, USERS / 20);
}

static struct tree *ad_make(struct twin *twin, int side)
{
    struct pool_maker m = {.rng = &twin->rng, .out = &twin->text, .style = &twin->style, .side = side};
    struct tree *ad;
    struct buf all;
    struct err err;

    m.dialect = twin->dialect;
    buf_init(&all);
    buf_addf(&all, "[ Name = \"n%llu\"; ", (unsigned long long)below(twin, 1000));
    if (!twin->last[side].len || below(twin, 3) == 0) { /* else the same as the last, but for its name */
        pool_add_ad(&m);
        buf_reset(&twin->last[side]);
        buf_adds(&twin->last[side], extras[below(twin, twin->flat ? 3 : POOL_COUNT(extras))]);
        if (below(twin, 6) == 0)
            buf_adds(&twin->last[side], specials[side][below(twin, SPECIALS)]);
        else
            buf_adds(&twin->last[side], buf_string(&twin->text) + 1); /* behind its bracket */
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

/* --------------------------------------------------------------------------------------------------- the plain loop */

/* What is given to a user's root, and an offer; in a policy it may be selected, too. */
static struct env env_of(struct twin *twin, uint32_t user, uint32_t remote, bool policy)
{
    struct env env = twin->env;

    if (!twin->gives)
        return env;
    twin->pair[ENGINE_USER_PRIO].value = value_real(twin->begun[user]);
    twin->pair[ENGINE_USAGE].value = value_real(twin->usages[user]);
    twin->pair[ENGINE_REMOTE_USER_PRIO].value = remote ? value_real(twin->begun[remote - 1]) : value_undefined();
    env.given = twin->pair;
    env.given_count = ENGINE_GIVEN;
    env.absent = policy ? twin->pair : NULL;
    env.absent_count = policy ? ENGINE_GIVEN : 0;
    return env;
}

static struct env pair_env(struct twin *twin, uint32_t root, uint32_t offer, bool policy)
{
    struct env env = env_of(twin, twin->slots[root].terms.user, twin->slots[offer].remote, policy);

    env.seed = rng_mix(env.seed ^ rng_mix((uint64_t)root << 32 | offer));
    return env;
}

static bool plain_is_root(struct twin *twin, const struct plain *plain)
{
    struct scope scope;
    struct eval eval;
    struct value v;

    if (twin->policy.selection)
        return policy_selects(&twin->policy, &twin->env, &twin->lang.arena, plain->ad);
    if (plain->terms.request)
        return true;
    scope_init(&scope, plain->ad, NULL);
    eval_init(&eval, &twin->env, &twin->lang.arena);
    eval_attribute(&eval, &scope, NAME_ROOT, &v);
    if (value_is_true(&v))
        return true;
    eval_attribute(&eval, &scope, NAME_TYPE, &v);
    return v.type == VALUE_STRING && v.len == 3 && strncasecmp(v.u.string, "job", 3) == 0;
}

/* Is a served before b, both of one user? */
static bool turn_before(const struct twin *twin, uint32_t a, uint32_t b)
{
    const struct engine_turn *x = &twin->slots[a].turn, *y = &twin->slots[b].turn;

    if (x->priority != y->priority)
        return x->priority > y->priority;
    if (x->submitted != y->submitted)
        return x->submitted < y->submitted;
    if (x->number != y->number)
        return x->number < y->number;
    return twin->slots[a].terms.order != twin->slots[b].terms.order
               ? twin->slots[a].terms.order < twin->slots[b].terms.order
               : a < b;
}

static bool root_before(struct twin *twin, uint32_t a, uint32_t b)
{
    const struct engine_terms *x = &twin->slots[a].terms, *y = &twin->slots[b].terms;
    struct value left, right;
    int order;

    if (twin->policy.order) {
        struct env env = env_of(twin, x->user, 0, false);

        policy_key(&twin->policy, &env, &twin->lang.arena, twin->slots[a].ad, &left);
        env = env_of(twin, y->user, 0, false);
        policy_key(&twin->policy, &env, &twin->lang.arena, twin->slots[b].ad, &right);
        order = policy_key_compare(&left, &right);
        if (order)
            return order < 0;
    } else if (twin->priorities[x->user] != twin->priorities[y->user]) {
        return twin->priorities[x->user] < twin->priorities[y->user];
    } else {
        return x->user != y->user ? x->user < y->user : turn_before(twin, a, b);
    }
    return x->order != y->order ? x->order < y->order : a < b;
}

static bool offer_before(const struct twin *twin, uint32_t a, uint32_t b)
{
    const struct engine_terms *x = &twin->slots[a].terms, *y = &twin->slots[b].terms;

    return x->order != y->order ? x->order < y->order : a < b;
}

static int vectors_compare(const struct value *a, const struct value *b, uint32_t count)
{
    int order = 0;

    for (uint32_t i = 0; i < count && !order; i++)
        order = order_compare(&a[i], &b[i]);
    return order;
}

static uint32_t plain_best(struct twin *twin, const bool *is_offer, uint32_t root)
{
    struct arena *arena = &twin->lang.arena;
    uint32_t best = UINT32_MAX;
    struct value *vector = NULL;

    for (uint32_t i = 0; i < SLOTS; i++) {
        struct env env = pair_env(twin, root, i, false);
        struct value *components;
        struct match match;
        uint32_t count;
        int order;

        if (!is_offer[i] || !twin->slots[i].ad || twin->slots[i].terms.units < 1)
            continue;
        match_ads(&env, arena, twin->slots[root].ad, twin->slots[i].ad, &match);
        if (!match.matches)
            continue;
        env = pair_env(twin, root, i, twin->policy.vector != NULL);
        count = policy_vector(&twin->policy, &env, arena, twin->slots[root].ad, twin->slots[i].ad, NULL, &components);
        if (!count)
            continue;
        order = vector ? vectors_compare(components, vector, count) : 1;
        if (order > 0 || (order == 0 && offer_before(twin, i, best))) {
            best = i;
            vector = components;
        }
    }
    return best;
}

static bool is_open(struct twin *twin, const struct env *env, struct tree *ad)
{
    struct party party;
    bool open;

    party_init(&party, env, &twin->lang.arena, ad);
    open = !party.constraint || tree_root(party.constraint)->kind != EXPR_BOOLEAN || tree_root(party.constraint)->small;
    party_done(&party);
    return open;
}

static void note(struct buf *out, uint32_t root, uint32_t offer, const struct value *rank, const struct tree *left)
{
    buf_addf(out, "%u-%u ", root, offer);
    value_print(out, &dialect_classic, rank, 0);
    buf_adds(out, left ? " left\n" : "\n");
}

static void plain_match(struct twin *twin, uint32_t root, uint32_t offer)
{
    struct plain *given = &twin->slots[offer];
    struct env env = pair_env(twin, root, offer, false);
    struct tree *left = residual_make(&env, &twin->lang.arena, given->ad, twin->slots[root].ad);
    struct match match;
    struct value rank;
    bool residual = left;

    match_ads(&env, &twin->lang.arena, twin->slots[root].ad, given->ad, &match);
    rank = order_rank(&match.left_rank);
    if (left && !is_open(twin, &env, left)) {
        tree_unref(left);
        left = NULL;
    }
    twin->slots[root].terms.units--;
    if (residual && !left)
        given->terms.units = 0;
    else if (!residual)
        given->terms.units--;
    note(&twin->made[0], root, offer, &rank, left || given->terms.units > 0 ? given->ad : NULL);
    if (left) {
        tree_unref(given->ad);
        given->ad = left;
    }
    twin->matches++;
}

static void plain_cycle(struct twin *twin)
{
    uint32_t roots[SLOTS], count = 0;
    bool is_offer[SLOTS];

    for (uint32_t i = 0; i < SLOTS; i++) {
        bool there = twin->slots[i].ad && twin->slots[i].terms.units > 0;
        uint32_t at = count;

        is_offer[i] = there && !plain_is_root(twin, &twin->slots[i]);
        if (!there || is_offer[i])
            continue;
        for (count++; at && root_before(twin, i, roots[at - 1]); at--)
            roots[at] = roots[at - 1];
        roots[at] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        while (twin->slots[roots[i]].terms.units > 0) {
            uint32_t best = plain_best(twin, is_offer, roots[i]);

            if (best == UINT32_MAX)
                break;
            plain_match(twin, roots[i], best);
        }
        arena_reset(&twin->lang.arena);
    }
}

/* ------------------------------------------------------------------------------------------------------- the engine */

/* The number in an ad's RemoteUser, plus 1; 0: it has none. */
static uint32_t ad_remote(const struct twin *twin, const struct tree *ad)
{
    const struct expr *e = tree_find(ad, tree_root(ad), twin->remote_name);

    uint32_t number = 0;

    for (uint32_t i = 0; e && i < e->u.run.count; i++)
        number = number * 10 + (uint32_t)(tree_string(ad, e)[i] - '0');
    return e ? number + 1 : 0;
}

static void slot_put(struct twin *twin, uint32_t id, struct tree *ad, struct engine_terms terms)
{
    struct plain *plain = &twin->slots[id];

    engine_put(twin->engine, id, ad, &terms);
    engine_set_remote(twin->engine, id, ad_remote(twin, ad));
    tree_ref(ad);
    tree_unref(plain->ad);
    if (below(twin, 3) == 0)
        plain->turn = (struct engine_turn){(double)below(twin, 3), (int64_t)below(twin, 3), (int64_t)below(twin, 4)};
    engine_set_turn(twin->engine, id, &plain->turn);
    *plain = (struct plain){ad, terms, ad_remote(twin, ad), plain->turn};
}

/* The ad in twin->text gets another name, which hardly anybody reads. */
static void rename_ad(struct twin *twin)
{
    char *name = strstr(buf_string(&twin->text), "Name = \"n");

    if (name)
        name[strlen("Name = \"n")] = (char)('0' + below(twin, 10));
}

/* Somebody comes, changes or goes. */
static void disturb(struct twin *twin)
{
    uint32_t id = (uint32_t)below(twin, SLOTS);
    struct plain *plain = &twin->slots[id];
    struct engine_terms terms = plain->terms;
    struct tree *ad;

    if (plain->ad && below(twin, 5) == 0) {
        engine_remove(twin->engine, id);
        tree_unref(plain->ad);
        *plain = (struct plain){0};
    } else if (plain->ad && below(twin, 3) == 0) { /* the same ad again, on terms that are perhaps others */
        struct err err;

        if (below(twin, 2))
            terms.units = 1 + (int64_t)below(twin, 3);
        if (below(twin, 4) == 0)
            terms.user = some_user(twin);
        buf_reset(&twin->text);
        print_tree(&twin->text, plain->ad, PRINT_PLAIN);
        if (below(twin, 2))
            rename_ad(twin);
        ad = lang_ad(&twin->lang, twin->dialect, buf_string(&twin->text), &err);
        slot_put(twin, id, ad, terms);
        tree_unref(ad);
    } else {
        bool request = below(twin, 2);

        ad = ad_make(twin, request);
        terms =
            (struct engine_terms){request, below(twin, 4) ? 1 : (int64_t)below(twin, 5),
                                  below(twin, 8) ? ++twin->arrivals : below(twin, twin->arrivals + 1), some_user(twin)};
        slot_put(twin, id, ad, terms);
        tree_unref(ad);
    }
}

static void engine_found(void *user, uint32_t root, uint32_t offer, const struct value *rank, struct tree *left)
{
    struct twin *twin = user;

    note(&twin->made[1], root, offer, rank, left);
    if (twin->disturbing && below(twin, 5) == 0) /* even while a match is told */
        disturb(twin);
}

/* Is what is left of each ad the same? */
static bool states_same(struct twin *twin)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        const struct plain *plain = &twin->slots[i];
        const struct tree *ad = engine_ad(twin->engine, i);
        int64_t units = plain->ad && plain->terms.units > 0 ? plain->terms.units : 0;

        if (units != engine_units(twin->engine, i) || !ad != !plain->ad ||
            (units && !tree_equal(ad, tree_root(ad), plain->ad, tree_root(plain->ad))))
            return false;
    }
    return true;
}

/* The loop takes over what the engine has made of the ads. */
static void states_take(struct twin *twin)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct plain *plain = &twin->slots[i];

        if (!plain->ad)
            continue;
        tree_ref(engine_ad(twin->engine, i));
        tree_unref(plain->ad);
        plain->ad = engine_ad(twin->engine, i);
        plain->terms.units = engine_units(twin->engine, i);
    }
}

/* The first match that only one of them made: the two as they are afterwards. */
static void tell_ads(struct twin *twin)
{
    const char *loop = buf_string(&twin->made[0]), *from = loop, *other = buf_string(&twin->made[1]);
    unsigned root, offer;

    for (; *loop && *loop == *other; loop++, other++)
        from = *loop == '\n' ? loop + 1 : from;
    if (sscanf(from, "%u-%u", &root, &offer) != 2)
        sscanf(buf_string(&twin->made[1]) + (from - buf_string(&twin->made[0])), "%u-%u", &root, &offer);
    buf_reset(&twin->text);
    print_tree(&twin->text, twin->slots[root].ad, PRINT_PLAIN);
    buf_adds(&twin->text, "\n");
    print_tree(&twin->text, twin->slots[offer].ad, PRINT_PLAIN);
    tap_diag("now %lld, %u and %u:\n%s", (long long)twin->env.now, root, offer, buf_string(&twin->text));
    if (twin->policy.ad)
        tap_diag("policy %s", lang_show_tree(twin->policy.ad));
}

static void check_valid(struct twin *twin, const char *when)
{
    const char *why = "?";

    if (!engine_valid(twin->engine, &why) && twin->differ++ < 5)
        tap_diag("seed %llu, round %llu, %s: %s", (unsigned long long)twin->seed, (unsigned long long)twin->round, when,
                 why);
}

static void begin(struct twin *twin)
{
    if (below(twin, 2))
        twin->env.now += (int64_t)below(twin, 4);
    twin->env.seed = rng_next(&twin->rng);
    twin->given.value = value_integer((int64_t)below(twin, 8));
    for (uint32_t user = 0; user < USERS; user += 20) {
        twin->begun[user] = twin->priorities[user];
        if (below(twin, 4) == 0) {
            twin->usages[user] = (double)below(twin, 4);
            engine_set_usage(twin->engine, user, twin->usages[user]);
        }
    }
    twin->given_cycles += twin->gives;
    engine_begin(twin->engine, &twin->env);
}

static void cycle_disturbed(struct twin *twin)
{
    struct arena scratch;

    arena_init(&scratch);
    twin->disturbing = true;
    begin(twin);
    while (engine_step(twin->engine, &scratch, 1 + below(twin, 60), engine_found, twin)) {
        states_take(twin);
        if (below(twin, 3) == 0)
            disturb(twin);
        if (below(twin, 9) == 0) {
            uint32_t user = some_user(twin);

            twin->priorities[user] = (double)below(twin, 3);
            engine_set_priority(twin->engine, user, twin->priorities[user]);
        }
        check_valid(twin, "disturbed");
        if (below(twin, 40) == 0)
            break; /* and another one begins */
    }
    twin->disturbing = false;
    states_take(twin);
    check_valid(twin, "after a disturbed cycle");
    twin->disturbed++;
    arena_done(&scratch);
}

static void cycle_compared(struct twin *twin, uint64_t step)
{
    struct arena scratch;
    bool same;

    arena_init(&scratch);
    buf_reset(&twin->made[0]);
    buf_reset(&twin->made[1]);
    begin(twin);
    while (engine_step(twin->engine, &scratch, below(twin, 3) ? UINT64_MAX : 1 + below(twin, 200), engine_found, twin))
        ;
    plain_cycle(twin);
    same = strcmp(buf_string(&twin->made[0]), buf_string(&twin->made[1])) == 0 && states_same(twin);
    if (!same && twin->differ++ < 3) {
        tap_diag("seed %llu, round %llu, step %llu: by the loop\n%s\nby the engine\n%s", (unsigned long long)twin->seed,
                 (unsigned long long)twin->round, (unsigned long long)step, buf_string(&twin->made[0]),
                 buf_string(&twin->made[1]));
        tell_ads(twin);
    }
    check_valid(twin, "after a cycle");
    states_take(twin);
    twin->cycles++;
    arena_done(&scratch);
}

/* ---------------------------------------------------------------------------------------------------------- a round */

static void choose_policy(struct twin *twin)
{
    struct tree *ad = NULL;
    struct err err;
    symbol wrong;

    if (below(twin, 2))
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
    /* of large integers and reals, the language's order is none: a and b, and b and c, may be equal but not a and c */
    twin->style.window = below(twin, 2) ? 15 + (unsigned)below(twin, 5) : 29 + (unsigned)below(twin, 4);
    if (below(twin, 3)) { /* many match */
        twin->style.none = 70;
        twin->style.clauses = 1 + (unsigned)below(twin, 2);
        twin->style.many = false;
    }
    twin->engine = engine_new(twin->lang.symbols);
    twin->arrivals = 0;
    twin->env = (struct env){.now = POOL_NOW};
    twin->gives = below(twin, 2);
    twin->flat = below(twin, 3) == 0;
    if (twin->gives) {
        engine_give_users(twin->engine);
    } else if (below(twin, 2)) {
        twin->given = (struct given){symbols_take(twin->lang.symbols, "UserPrio", 8), value_undefined()};
        twin->env.given = &twin->given;
        twin->env.given_count = 1;
    }
    for (uint32_t user = 0; user < USERS; user += 20) {
        twin->priorities[user] = (double)below(twin, 3); /* 0 for those never told */
        twin->usages[user] = 0;
        if (twin->priorities[user] != 0)
            engine_set_priority(twin->engine, user, twin->priorities[user]);
    }
    choose_policy(twin);
    for (uint64_t step = 0; step < STEPS && twin->differ < 5; step++) {
        for (uint64_t i = step ? below(twin, 8) : SLOTS; i > 0; i--)
            disturb(twin);
        if (below(twin, 15) == 0)
            choose_policy(twin);
        if (below(twin, 4) == 0)
            cycle_disturbed(twin);
        cycle_compared(twin, step);
        twin->classes += engine_classes(twin->engine, true) + engine_classes(twin->engine, false);
        for (uint32_t i = 0; i < SLOTS; i++)
            twin->shared += engine_units(twin->engine, i) > 0;
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        tree_unref(twin->slots[i].ad);
        twin->slots[i] = (struct plain){0};
    }
    if (twin->env.given_count)
        symbols_drop(twin->lang.symbols, twin->given.name);
    engine_free(twin->engine);
    arena_reset(&twin->lang.arena);
}

int main(void)
{
    struct twin twin = {.seed = lang_setting("BERTH_SEED", 1), .rounds = lang_rounds(600)};

    lang_init(&twin.lang);
    buf_init(&twin.text);
    for (int i = 0; i < 2; i++) {
        buf_init(&twin.last[i]);
        buf_init(&twin.made[i]);
    }
    twin.remote_name = symbols_take(twin.lang.symbols, "RemoteUser", 10);
    twin.pair[ENGINE_USER_PRIO].name = symbols_take(twin.lang.symbols, "UserPrio", 8);
    twin.pair[ENGINE_REMOTE_USER_PRIO].name = symbols_take(twin.lang.symbols, "RemoteUserPrio", 14);
    twin.pair[ENGINE_USAGE].name = symbols_take(twin.lang.symbols, "Usage", 5);
    for (twin.round = 0; twin.round < twin.rounds && twin.differ < 5; twin.round++)
        round_run(&twin);
    policy_done(&twin.policy);
    tap_ok(twin.differ == 0, "what the engine remembers changes no match");
    tap_ok(twin.matches > twin.cycles, "there is something to match in most cycles");
    tap_ok(twin.disturbed > twin.rounds, "some cycles are disturbed");
    tap_ok(twin.given_cycles > twin.rounds, "in some, what users have counts: %llu",
           (unsigned long long)twin.given_cycles);
    tap_ok(twin.classes < twin.shared, "ads that are the same to the other side share classes");
    tap_diag("%llu cycles, %llu disturbed ones, %llu matches, %llu ads in %llu classes",
             (unsigned long long)twin.cycles, (unsigned long long)twin.disturbed, (unsigned long long)twin.matches,
             (unsigned long long)twin.shared, (unsigned long long)twin.classes);
    for (int i = 0; i < 2; i++) {
        buf_done(&twin.last[i]);
        buf_done(&twin.made[i]);
    }
    buf_done(&twin.text);
    symbols_drop(twin.lang.symbols, twin.remote_name);
    for (int i = 0; i < ENGINE_GIVEN; i++)
        symbols_drop(twin.lang.symbols, twin.pair[i].name);
    lang_done(&twin.lang);
    return tap_done();
}
