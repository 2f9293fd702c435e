/* engine_gang.c: a root gathers a gang.
 *
 *     classes of offers without Ports ----> their index ----.
 *     classes of offers with Ports    ----> the seeker       >---> a gang for a root
 *     classes of roots with Ports     ----> the seeker: an offer that comes finds the roots that wait for it
 *
 * Classes are the seeker's kinds, so an offer that a match or another gang takes is gone for the seeker too. Ads with Ports read each other in both
 * directions, and offers read offers: names that only one side reads, while there are no such ads, are then read on both. */
#include "pool/engine/engine_gang.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "match/gang/seeker.h"
#include "match/pair/residual.h"
#include "pool/engine/engine_choices.h"
#include "pool/engine/engine_given.h"
#include "pool/engine/engine_members.h"
#include "pool/engine/engine_serve.h"
#include "pool/engine/engine_state.h"
#include "pool/engine/engine_wake.h"

#include <stdlib.h>
#include <string.h>

#define GANG_WORK 12 /* units of work that a probe or a docking of a search counts for */
#define READ_WORK 4  /* ... and reading an ad's names */
#define HEAR_WORK 4  /* ... and looking for the roots that wait */

struct gangs {
    struct seeker *seeker;
    uint64_t stamp; /* moves when an offer with Ports comes */
    bool offers;    /* some offer has had Ports */
    uint32_t user;  /* the user whose root is served */
};

/* ------------------------------------------------------------------------------------------ the classes, for the seeker */

static uint32_t kind_first(const void *user, uint32_t kind)
{
    const struct engine *engine = user;
    const struct engine_members *members = &engine->sides[OFFERS].classes[kind].members;

    return members->count ? members_at(members, 0) : SEEKER_NONE;
}

static uint32_t kind_next(const void *user, uint32_t offer)
{
    const struct engine *engine = user;
    const struct engine_members *members = &engine->sides[OFFERS].classes[engine->slots[offer].in_class].members;
    uint32_t after = offer == members_at(members, 0) ? 1 : engine_members_after(engine, members, offer);

    return after < members->count ? members_at(members, after) : SEEKER_NONE;
}

static uint32_t kind_of(const void *user, uint32_t offer)
{
    return ((const struct engine *)user)->slots[offer].in_class;
}

static uint64_t offer_order(const void *user, uint32_t offer)
{
    return ((const struct engine *)user)->slots[offer].order;
}

static struct tree *kind_ad(const void *user, uint32_t kind)
{
    return ((const struct engine *)user)->sides[OFFERS].classes[kind].ad;
}

static struct tree *offer_ad(const void *user, uint32_t offer)
{
    return ((const struct engine *)user)->slots[offer].ad;
}

/* In a policy's vector the given names are those of the root and the candidate, as without gangs. */
static struct env vector_env(const void *user, const struct env *env, size_t offer)
{
    const struct engine *engine = user;
    uint32_t remote = offer < engine->slot_count ? engine->slots[offer].remote : 0;
    struct env given = engine_env_of(engine, engine->gangs->user, remote), docking = engine_docking_env(engine, &given);

    docking.seed = env->seed;
    return docking;
}

struct gangs *engine_gangs_new(struct engine *engine)
{
    const struct seeker_pool pool = {engine,      kind_first, kind_next, kind_of,
                                     offer_order, kind_ad,    offer_ad,  vector_env};
    struct gangs *gangs = mem_alloc(sizeof *gangs);

    *gangs = (struct gangs){.seeker = seeker_new(&pool, &engine->policy), .stamp = 1};
    for (uint32_t id = 0; id < engine->slot_count; id++)
        if (engine->slots[id].in_class != NOBODY)
            seeker_note(gangs->seeker, engine->slots[id].ad);
    if (engine->policy.ad)
        seeker_note(gangs->seeker, engine->policy.ad);
    return gangs;
}

void engine_gangs_free(struct gangs *gangs)
{
    if (!gangs)
        return;
    seeker_free(gangs->seeker);
    free(gangs);
}

/* ----------------------------------------------------------------------------------------------------- what is read */

static void name_add(void *user, symbol name)
{
    reads_add(user, name);
}

void engine_gang_reads_add(struct reads *reads, struct tree *ad, bool ported)
{
    if (!ported)
        reads_add_ad(reads, ad);
    else if (!reads->all && !seeker_names(ad, name_add, reads))
        reads->all = true;
}

bool engine_gang_offers(const struct engine *engine)
{
    return engine->gangs && engine->gangs->offers;
}

/* From now on offers read offers: the same names that they read of roots. */
static void offers_begin(struct engine *engine)
{
    const struct reads *roots = &engine->sides[ROOTS].reads;
    struct reads *offers = &engine->sides[OFFERS].reads;

    engine->gangs->offers = true;
    offers->all = offers->all || roots->all;
    for (uint32_t i = 0; i < roots->count && !offers->all; i++)
        reads_add(offers, roots->items[i]);
}

void engine_gang_read(struct engine *engine, unsigned which, struct tree *ad, bool ported)
{
    struct side *offers = &engine->sides[OFFERS];

    if (!engine->gangs)
        engine->gangs = engine_gangs_new(engine);
    seeker_note(engine->gangs->seeker, ad);
    engine->work += READ_WORK;
    engine_gang_reads_add(&engine->sides[!which].reads, ad, ported);
    if (ported) { /* an ad with ports differs by its ports, and by its residual */
        reads_add(&offers->reads, NAME_PORTS);
        reads_add(&offers->reads, NAME_RESIDUAL);
        reads_add(&engine->sides[ROOTS].reads, NAME_PORTS);
    }
    if (which != OFFERS || (!ported && !engine->gangs->offers))
        return;
    if (!engine->gangs->offers)
        offers_begin(engine);
    engine_gang_reads_add(&offers->reads, ad, ported);
}

/* Do the two read the same names, because they differ in literals at most? Ads that are advertised again do. */
static bool ads_read_alike(const struct tree *a, const struct tree *b)
{
    if (a->cell_count != b->cell_count || a->dialect != b->dialect)
        return false;
    for (uint32_t i = 0; i < a->cell_count; i++) {
        const struct expr *x = &a->cells[i], *y = &b->cells[i];

        if (x->kind != y->kind || x->label != y->label || x->small != y->small)
            return false;
        if (!expr_is_literal(x) && x->kind != EXPR_TABLE && x->u.integer != y->u.integer)
            return false;
    }
    return true;
}

void engine_gang_reread(struct engine *engine, unsigned which, const struct tree *before, struct tree *ad, bool ported)
{
    if (ads_read_alike(before, ad))
        engine->work += READ_WORK;
    else
        engine_gang_read(engine, which, ad, ported);
}

/* ------------------------------------------------------------------------------------------------ who is there, and waits */

#define KNOW_STEPS 200000 /* steps of evaluation, to find out where an ad with Ports could be */

/* Folding an ad port by port takes no more steps than that, all ports together; beyond that the ports stay as they are
 * written. */
static struct env bounded_env(const struct engine *engine, uint64_t steps)
{
    struct env env = engine->env;

    env.meter_end = engine->meter + steps;
    return env;
}

/* The index of offers without Ports, if there are any. */
static struct index *plain_offers(const struct engine *engine)
{
    return engine->sides[OFFERS].indexed ? engine->sides[OFFERS].index : NULL;
}

void engine_gang_index(struct engine *engine, unsigned which, uint32_t number)
{
    struct gangs *gangs = engine->gangs;
    struct env env = bounded_env(engine, KNOW_STEPS);

    if (which == ROOTS) {
        const struct engine_class *class = engine_class_at(engine, ROOTS, number);

        seeker_root_put(gangs->seeker, &env, engine->scratch, plain_offers(engine), number, class->ad, !class->traits);
        return;
    }
    gangs->stamp++;
    seeker_kind_put(gangs->seeker, &env, engine->scratch, number);
}

void engine_gang_forget(struct engine *engine, unsigned which, uint32_t number)
{
    if (which == OFFERS)
        seeker_kind_forget(engine->gangs->seeker, number);
    else if (engine_class_at(engine, ROOTS, number)->ported)
        seeker_root_remove(engine->gangs->seeker, number);
}

struct waker {
    struct engine *engine;
    uint32_t by;
};

static void waking_found(void *user, uint32_t number)
{
    const struct waker *waking = user;

    engine_class_wake(waking->engine, number, waking->by);
}

void engine_gang_wake(struct engine *engine, uint32_t number, uint32_t by)
{
    struct waker waking = {engine, by};
    struct env env = bounded_env(engine, KNOW_STEPS);
    const struct seeker_heard heard = {engine->sides[ROOTS].index, waking_found, waking_found, &waking};

    seeker_hear(engine->gangs->seeker, &env, engine->scratch, number, &heard);
    engine->counts.probes++;
    engine->work += HEAR_WORK;
}

/* ------------------------------------------------------------------------------------------------------------ serving */

bool engine_gang_serves(struct engine *engine, uint32_t number)
{
    struct engine_class *class = engine_class_at(engine, ROOTS, number);
    struct gangs *gangs = engine->gangs;
    struct env env = bounded_env(engine, KNOW_STEPS);

    if (class->ported)
        return true;
    if (!gangs || !engine->gang_made || !seeker_ports(gangs->seeker))
        return false;
    if (class->met != gangs->stamp || class->traits) {
        class->met = gangs->stamp;
        class->meets = seeker_meets(gangs->seeker, &env, engine->scratch, class->ad);
        engine->counts.probes++;
        engine->work++;
    }
    return class->meets;
}

/* What remains of a member, held; NULL when it is consumed. If an offer is in the gang twice, one unit is taken, and
 * what the last of the two leaves remains. */
static struct tree *member_left(struct engine *engine, const struct env *env, const struct seeker_gang *gang,
                                uint32_t number)
{
    struct engine_slot *slot = &engine->slots[gang->members[number].offer];
    struct tree *left = NULL;

    for (uint32_t i = gang->count; i-- > number && !left;)
        if (gang->members[i].offer == gang->members[number].offer)
            left = gang->members[i].left;
    if (left && match_is_open(env, engine->scratch, left))
        return tree_ref(left);
    if (left || slot->units == 1) {
        slot->units = 0;
        return NULL;
    }
    slot->units--;
    return tree_ref(slot->ad);
}

/* The first member with the same offer; `number` itself when there is none before it. */
static uint32_t member_before(const struct seeker_gang *gang, uint32_t number)
{
    for (uint32_t i = 0; i < number; i++)
        if (gang->members[i].offer == gang->members[number].offer)
            return i;
    return number;
}

static void gang_make(struct engine *engine, const struct env *env, uint32_t root, const struct seeker_gang *gang)
{
    struct engine_member *members = arena_alloc(engine->scratch, gang->count * sizeof *members);

    for (uint32_t i = 0; i < gang->count; i++) {
        const struct seeker_member *at = &gang->members[i];
        uint32_t before = member_before(gang, i);

        members[i] = (struct engine_member){.offer = at->offer,
                                            .parent = at->parent == SEEKER_NONE ? ENGINE_ROOT : at->parent,
                                            .port = at->port,
                                            .link = at->link,
                                            .counterpart = at->counterpart};
        members[i].left = before < i ? members[before].left : member_left(engine, env, gang, i);
    }
    engine_root_take(engine, root);
    for (uint32_t i = 0; i < gang->count; i++)
        if (member_before(gang, i) == i)
            engine_offer_change(engine, members[i].offer, members[i].left, root);
    engine->counts.matches++;
    engine->gang_made(engine->found_user, root, members, gang->count);
    for (uint32_t i = 0; i < gang->count; i++)
        if (member_before(gang, i) == i)
            tree_unref(members[i].left);
}

/* The root's user counts in the whole gang; the user whose job a candidate runs counts only in the policy's vector. */
static struct env root_env(struct engine *engine, uint32_t root)
{
    struct env env = engine_env_of(engine, engine->slots[root].user, 0);
    struct given *given;

    engine->gangs->user = engine->slots[root].user;
    env.seed = rng_mix(env.seed ^ rng_mix(root)); /* random() depends on the root */
    if (!env.given_count)
        return env;
    given = arena_alloc(engine->scratch, env.given_count * sizeof *given); /* a copy: vectors overwrite the other */
    memcpy(given, env.given, env.given_count * sizeof *given);
    env.given = given;
    return env;
}

/* May the given names tell users of the class apart? They may, too, if an offer that did not get into the gang reads them. */
static bool class_parts(const struct engine *engine, const struct engine_class *class)
{
    return engine->gives && ((class->traits | engine->policy_traits) & TRAIT_GIVEN || engine->restless.count);
}

void engine_gang_serve(struct engine *engine, uint32_t group, uint32_t root)
{
    const struct side *offers = &engine->sides[OFFERS];
    struct engine_class *class = engine_class_at(engine, ROOTS, engine->groups[group].in_class);
    enum gang_outcome outcome = GANG_NONE;
    struct seeker_gang gang = {0};
    struct env env = root_env(engine, root);

    env.meter_end = engine->meter + 2 * (SEEKER_STEPS_MAX + (uint64_t)offers->count * SEEKER_STEPS_KIND) + KNOW_STEPS;
    engine_choices_forget(engine, class);
    if (engine->gang_made)
        outcome =
            seeker_find(engine->gangs->seeker, &env, engine->scratch, plain_offers(engine), engine->slot_count,
                        offers->count, engine->slots[root].ad, !(class->traits | engine->slots[root].traits), &gang);
    engine->counts.evaluations += gang.work;
    engine->work += gang.work * GANG_WORK;
    if (outcome == GANG_NONE && engine->meter >= env.meter_end)
        outcome = GANG_GAVE_UP;
    if (outcome == GANG_FORMED) {
        gang_make(engine, &env, root, &gang);
        return;
    }
    class->outcome = outcome == GANG_GAVE_UP ? ENGINE_GAVE_UP : ENGINE_NOBODY;
    class->discarded = engine->policy.vector != NULL;
    if ((class->traits | engine->policy_traits) & TRAIT_CHANCE)
        class->apart = engine->cycle;
    if (class_parts(engine, class))
        class->by_user = engine->cycle;
    engine_root_fail(engine, group);
}

bool engine_gang_valid(const struct engine *engine, const char **ret_why)
{
    return !engine->gangs || seeker_valid(engine->gangs->seeker, ret_why);
}
