/* twin_shares.c: the engine's queue of shares, users and groups serves in the order that a plain loop finds which sorts everything anew
 * before each match: on random trees of groups with random quotas, users, priorities and claims that end.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "common/lang.h"
#include "common/tap.h"

#include "lang/base/rng.h"
#include "pool/matchmaker/groups.h"
#include "pool/protocol/weight.h"

#include <math.h>

#define USERS 12
#define ROOTS 24
#define OFFERS 40
#define KINDS 3
#define STEPS 8

struct root {
    bool there;
    uint32_t user, kind;
    int64_t units;
    uint64_t order;
};

struct twin {
    struct lang lang;
    struct rng rng;
    struct engine *engine;
    struct groups groups, plain; /* `plain` tells an engine of its own, which has no ads */
    struct engine *deaf;
    struct env env;
    char accounts[USERS][80];
    double priorities[USERS];
    struct root roots[ROOTS];
    int kinds[OFFERS]; /* of an offer, or -1 */
    uint64_t offered[OFFERS];
    int64_t in_use[USERS];
    uint64_t arrivals, matches, held;
    struct buf made[2];
};

static uint64_t below(struct twin *twin, uint64_t bound)
{
    return rng_below(&twin->rng, bound);
}

static struct tree *ad_of(struct twin *twin, const char *text)
{
    struct err err = {0};
    struct tree *ad = lang_ad(&twin->lang, &dialect_classic, text, &err);

    if (!ad) {
        printf("Bail out! %s: %s\n", text, err.text);
        exit(1);
    }
    return ad;
}

/* --------------------------------------------------------------------------------------------------- what is configured */

static const char *const names[] = {"a", "a.x", "a.y", "a.y.deep", "b", "b.x", "c"};
#define GROUP_NAMES (sizeof names / sizeof *names)

/* Some of the names, whose groups above are there. */
static void groups_choose(struct twin *twin)
{
    bool chosen[GROUP_NAMES] = {false};
    struct shares shares, again;
    struct tree *ad;
    struct buf text;

    buf_init(&text);
    buf_adds(&text, "[ Groups = { ");
    for (size_t i = 0; i < GROUP_NAMES; i++) {
        const char *dot = strrchr(names[i], '.');
        bool above = !dot;

        for (size_t k = 0; k < i && dot; k++)
            above = above || (chosen[k] && strlen(names[k]) == (size_t)(dot - names[i]) &&
                              !strncmp(names[k], names[i], (size_t)(dot - names[i])));
        chosen[i] = above && below(twin, 3);
        if (chosen[i])
            buf_addf(&text, "%s[ Name = \"%s\"; Quota = %s; Surplus = %s ]", text.len > 13 ? ", " : "", names[i],
                     (const char *[]){"0", "1", "2", "3.5", "0.25", "0.5", "0.1"}[below(twin, 7)],
                     below(twin, 3) ? "true" : "false");
    }
    buf_adds(&text, " } ]");
    ad = ad_of(twin, buf_string(&text));
    if (shares_read(ad, &shares, NULL) < 0 || shares_read(ad, &again, NULL) < 0)
        printf("Bail out! %s\n", buf_string(&text));
    tree_unref(ad);
    buf_done(&text);
    groups_set(&twin->groups, &shares);
    groups_set(&twin->plain, &again);
    for (uint32_t i = 0; i < USERS; i++) {
        struct text account;
        char owner[8];

        snprintf(owner, sizeof owner, "u%u", i);
        groups_account(&twin->plain, owner, below(twin, 4) ? names[below(twin, GROUP_NAMES)] : "", &account);
        snprintf(twin->accounts[i], sizeof twin->accounts[i], "%s", account.bytes);
        engine_set_share(twin->engine, i, groups_share(&twin->groups, account.bytes));
    }
}

/* ------------------------------------------------------------------------------------------------------- the plain loop */

static uint32_t leaf_of(const struct twin *twin, uint32_t user)
{
    return groups_share(&twin->plain, twin->accounts[user]);
}

static bool offer_left(const struct twin *twin, uint32_t kind)
{
    for (int i = 0; i < OFFERS; i++)
        if (twin->kinds[i] == (int)kind)
            return true;
    return false;
}

static bool root_waits(const struct twin *twin, const struct root *root, const bool *closed)
{
    return root->there && root->units && !closed[root->user] && offer_left(twin, root->kind);
}

static bool is_in(const struct twin *twin, uint32_t share, uint32_t leaf)
{
    while (leaf > share)
        leaf = twin->plain.items[leaf].parent;
    return leaf == share;
}

static bool full(const struct twin *twin, uint32_t share)
{
    const struct group *group = &twin->plain.items[share];

    return share && (double)group->used / 1000 >= group->quota;
}

/* 0 when somebody in the share who waits is within all quotas from it down; 1 when somebody waits; 2 when nobody does. */
static int stage_of(const struct twin *twin, uint32_t share, const bool *closed)
{
    int best = 2;

    for (uint32_t i = 0; i < ROOTS; i++) {
        uint32_t leaf = leaf_of(twin, twin->roots[i].user);
        int stage = 0;

        if (!root_waits(twin, &twin->roots[i], closed) || !is_in(twin, share, leaf))
            continue;
        for (uint32_t at = leaf; at > share; at = twin->plain.items[at].parent)
            stage = full(twin, at) ? 1 : stage;
        stage = full(twin, share) ? 1 : stage;
        best = stage < best ? stage : best;
    }
    return best;
}

/* Which child of a share comes first; 0 when it is a leaf or nobody waits. */
static uint32_t child_first(const struct twin *twin, uint32_t share, const bool *closed)
{
    uint32_t first = 0;
    double ratio = 0;
    int stage = 2;

    for (uint32_t i = share + 1; i < twin->plain.count; i++) {
        const struct group *group = &twin->plain.items[i];
        double its = group->quota > 0 ? (double)group->used / 1000 / group->quota : (double)INFINITY;
        int at = group->parent == share ? stage_of(twin, i, closed) : 2;

        if (at == 2 || (first && (at > stage || (at == stage && its >= ratio))))
            continue;
        first = i;
        ratio = its;
        stage = at;
    }
    return first;
}

/* The next root to be served; ROOTS when there is none. */
static uint32_t root_first(const struct twin *twin, const bool *closed)
{
    uint32_t share = 0, child, first = ROOTS;

    while ((child = child_first(twin, share, closed)))
        share = child;
    for (uint32_t i = 0; i < ROOTS; i++) {
        const struct root *root = &twin->roots[i], *best = &twin->roots[first % ROOTS];
        double mine = twin->priorities[root->user], its = twin->priorities[best->user];

        if (!root_waits(twin, root, closed) || leaf_of(twin, root->user) != share)
            continue;
        if (first == ROOTS || mine < its ||
            (mine == its && (root->user < best->user || (root->user == best->user && root->order < best->order))))
            first = i; /* of users with the same priority the one with the smaller number is first */
    }
    return first;
}

/* The one that came first. */
static void offer_take(struct twin *twin, uint32_t kind)
{
    int first = -1;

    for (int i = 0; i < OFFERS; i++)
        if (twin->kinds[i] == (int)kind && (first < 0 || twin->offered[i] < twin->offered[first]))
            first = i;
    twin->kinds[first] = -1;
}

static void plain_cycle(struct twin *twin)
{
    buf_reset(&twin->made[0]);
    for (;;) {
        bool closed[USERS];
        uint32_t first;
        struct root *root;

        for (uint32_t i = 0; i < USERS; i++)
            closed[i] = groups_closed(&twin->plain, leaf_of(twin, i)) != ENGINE_OPEN;
        first = root_first(twin, closed);
        if (first == ROOTS)
            break;
        root = &twin->roots[first];
        offer_take(twin, root->kind);
        root->units--;
        twin->priorities[root->user] += 1;
        twin->in_use[root->user] += WEIGHT_ONE;
        groups_use(&twin->plain, leaf_of(twin, root->user), &(struct group_use){.weight = WEIGHT_ONE}, 1);
        buf_addf(&twin->made[0], "%u ", first);
        twin->matches++;
    }
}

/* ----------------------------------------------------------------------------------------------------------- the engine */

static double told[USERS];

static void found(void *user, uint32_t id, uint32_t offer, const struct value *rank, struct tree *left)
{
    struct twin *twin = user;
    uint32_t who = twin->roots[id].user;

    (void)offer, (void)rank, (void)left;
    buf_addf(&twin->made[1], "%u ", id);
    engine_set_priority(twin->engine, who, told[who] += 1);
    groups_use(&twin->groups, leaf_of(twin, who), &(struct group_use){.weight = WEIGHT_ONE}, 1);
}

static uint32_t closed_for(void *user, uint32_t id)
{
    struct twin *twin = user;
    uint32_t gate = groups_closed(&twin->groups, leaf_of(twin, twin->roots[id].user));

    twin->held += gate != ENGINE_OPEN;
    return gate;
}

static void engine_cycle(struct twin *twin)
{
    buf_reset(&twin->made[1]);
    engine_begin(twin->engine, &twin->env);
    while (engine_step(twin->engine, &twin->lang.arena, 1 + below(twin, 50), found, twin))
        ;
}

/* ------------------------------------------------------------------------------------------------------------- the world */

static void put(struct twin *twin, uint32_t id, const char *text, const struct engine_terms *terms)
{
    struct tree *ad = ad_of(twin, text);

    engine_put(twin->engine, id, ad, terms);
    tree_unref(ad);
}

static void root_come(struct twin *twin, uint32_t id)
{
    struct root *root = &twin->roots[id];
    char text[80];

    *root = (struct root){.there = below(twin, 5) != 0,
                          .user = (uint32_t)below(twin, USERS),
                          .kind = (uint32_t)below(twin, KINDS),
                          .units = 1 + (int64_t)below(twin, 3),
                          .order = ++twin->arrivals};
    snprintf(text, sizeof text, "[ Kind = %u; Constraint = other.Kind == Kind ]", root->kind);
    engine_remove(twin->engine, id);
    if (root->there)
        put(twin, id, text, &(struct engine_terms){true, root->units, root->order, root->user});
}

static void world_change(struct twin *twin)
{
    int64_t pool = 0;
    char text[80];

    for (uint64_t n = below(twin, 8); n; n--)
        root_come(twin, (uint32_t)below(twin, ROOTS));
    for (uint64_t n = below(twin, 10); n; n--) {
        uint32_t at = (uint32_t)below(twin, OFFERS);

        if (twin->kinds[at] >= 0)
            continue;
        twin->kinds[at] = (int)below(twin, KINDS);
        snprintf(text, sizeof text, "[ Kind = %d ]", twin->kinds[at]);
        twin->offered[at] = ++twin->arrivals;
        put(twin, 100 + at, text, &(struct engine_terms){false, 1, twin->offered[at], 0});
    }
    for (uint32_t i = 0; i < USERS; i++) {
        int64_t ends =
            twin->in_use[i] ? WEIGHT_ONE * (int64_t)below(twin, (uint64_t)(twin->in_use[i] / WEIGHT_ONE) + 1) : 0;

        groups_use(&twin->groups, leaf_of(twin, i), &(struct group_use){.weight = ends}, -1);
        groups_use(&twin->plain, leaf_of(twin, i), &(struct group_use){.weight = ends}, -1);
        twin->in_use[i] -= ends;
        pool += twin->in_use[i];
        told[i] = twin->priorities[i] = (double)below(twin, 4);
        engine_set_priority(twin->engine, i, told[i]);
    }
    for (uint32_t i = 0; i < OFFERS; i++)
        pool += twin->kinds[i] >= 0 ? WEIGHT_ONE : 0;
    groups_resize(&twin->groups, pool);
    groups_resize(&twin->plain, pool);
}

/* Other groups: all is counted anew. */
static void world_regroup(struct twin *twin)
{
    groups_choose(twin);
    for (uint32_t i = 0; i < USERS; i++) {
        groups_use(&twin->groups, leaf_of(twin, i), &(struct group_use){.weight = twin->in_use[i]}, 1);
        groups_use(&twin->plain, leaf_of(twin, i), &(struct group_use){.weight = twin->in_use[i]}, 1);
    }
}

static bool round_run(struct twin *twin, uint64_t seed)
{
    const char *why = "";
    bool same = true;

    rng_init(&twin->rng, seed);
    twin->engine = engine_new(twin->lang.symbols);
    twin->deaf = engine_new(twin->lang.symbols);
    groups_init(&twin->groups, twin->engine);
    groups_init(&twin->plain, twin->deaf);
    engine_set_gates(twin->engine, closed_for, twin);
    memset(twin->roots, 0, sizeof twin->roots);
    memset(twin->in_use, 0, sizeof twin->in_use);
    for (int i = 0; i < OFFERS; i++)
        twin->kinds[i] = -1;
    groups_choose(twin);
    for (int step = 0; step < STEPS && same; step++) {
        if (step && below(twin, 6) == 0)
            world_regroup(twin);
        world_change(twin);
        engine_cycle(twin); /* before the loop changes what both look at */
        plain_cycle(twin);
        same = !strcmp(buf_string(&twin->made[0]), buf_string(&twin->made[1])) && engine_valid(twin->engine, &why) &&
               groups_valid(&twin->groups, &why);
        if (!same)
            tap_diag("seed %llu, step %d\nthe loop   %s\nthe engine %s\n%s", (unsigned long long)seed, step,
                     buf_string(&twin->made[0]), buf_string(&twin->made[1]), why);
    }
    groups_done(&twin->groups);
    groups_done(&twin->plain);
    engine_free(twin->engine);
    engine_free(twin->deaf);
    return same;
}

int main(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(3000), differ = 0;
    static struct twin twin;

    lang_init(&twin.lang);
    buf_init(&twin.made[0]);
    buf_init(&twin.made[1]);
    twin.env = (struct env){.now = 1800000000};
    for (uint64_t i = 0; i < rounds && differ < 3; i++)
        differ += !round_run(&twin, seed + i);
    tap_ok(differ == 0,
           "who is served when is what sorting everything before each match gives (%llu rounds, %llu matches)",
           (unsigned long long)rounds, (unsigned long long)twin.matches);
    tap_ok(twin.held > rounds / 4, "groups at their quotas were held back (%llu times)", (unsigned long long)twin.held);
    buf_done(&twin.made[0]);
    buf_done(&twin.made[1]);
    lang_done(&twin.lang);
    return tap_done();
}
