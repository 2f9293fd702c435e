/* engine_classes.c: ads that are the same to the other side share a class. * Two ads are the same to the other side if
 * all that it reads of them is (match/index/classes.h). The set of names that are read only grows. When a new name is
 * read, the ads that have it must perhaps be told apart, and no others: so a stream of names that no ad has costs
 * nothing. Beyond READS_MAX names, classes are not shared any more. Whether they could be again is looked at when about
 * twice as many ads have come as there are. */
#include "pool/engine/engine_classes.h"
#include "lang/ad/names.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "pool/engine/engine_choices.h"
#include "pool/engine/engine_gang.h"
#include "pool/engine/engine_members.h"
#include "pool/engine/engine_queue.h"
#include "pool/engine/engine_slots.h"
#include "pool/engine/engine_state.h"
#include "pool/engine/engine_wake.h"

#include <stdlib.h>
#include <string.h>

#define REREAD_SPARE 1024

/* A class of offers has the place of its first member. */
static uint64_t offers_place(void *user, uint32_t number)
{
    return engine_class_at(user, OFFERS, number)->order;
}

static const struct tree *offers_ad(void *user, uint32_t number)
{
    return engine_class_at(user, OFFERS, number)->ad;
}

void engine_side_index(struct engine *engine, unsigned which)
{
    struct side *side = &engine->sides[which];

    index_free(side->index);
    side->index = index_new();
    index_lay_near(side->index);
    if (which == OFFERS)
        index_set_places(side->index, offers_place, engine);
}

void engine_side_init(struct engine *engine, unsigned which)
{
    struct side *side = &engine->sides[which];

    *side = (struct side){.free = NOBODY};
    engine_side_index(engine, which);
    if (which == OFFERS)
        columns_init(&engine->columns, engine->symbols, offers_ad, engine);
    reads_init(&side->reads, engine->symbols);
    reads_add_policy(&side->reads, engine->policy.ad);
    for (int i = 0; i < ENGINE_REMOTE && which == OFFERS && engine->gives; i++)
        reads_add(&side->reads, engine->remote_names[i]); /* RemoteUserPrio depends on them */
    if (which == ROOTS)
        engine_pull_reads(engine, &side->reads);
    for (uint32_t i = 0; i < engine->apart.count && which == ROOTS; i++)
        reads_add(&side->reads, engine->apart.items[i]);
    classes_start(&side->set, engine->symbols, side->reads.items, side->reads.count);
    side->reads_known = side->reads.count;
    side->alone = side->reads.all;
}

/* Frees what a class holds beyond its members' slots. */
static void class_done(struct engine *engine, struct engine_class *class)
{
    tree_unref(class->ad);
    class->ad = NULL;
    engine_choices_forget(engine, class);
    free(class->members.ids);
    class->members = (struct engine_members){0};
}

void engine_side_done(struct engine *engine, unsigned which)
{
    struct side *side = &engine->sides[which];

    for (uint32_t i = 0; i < side->count; i++) {
        struct engine_class *class = &side->classes[i];

        for (uint32_t group = which == ROOTS && class->ad ? class->groups : NOBODY; group != NOBODY;
             group = engine->groups[group].after)
            free(engine->groups[group].members.ids);
        class_done(engine, class);
    }
    free(side->classes);
    free(side->listed.items);
    free(side->late.items);
    index_free(side->index);
    classes_done(&side->set, engine->symbols);
    reads_done(&side->reads);
    if (which == OFFERS)
        columns_done(&engine->columns);
    *side = (struct side){.free = NOBODY};
}

void engine_class_list(struct engine *engine, unsigned which, uint32_t number)
{
    struct side *side = &engine->sides[which];

    if (side->classes[number].listed)
        return;
    side->classes[number].listed = true;
    engine_numbers_add(&side->listed, number);
}

void engine_class_unlist(struct engine *engine, unsigned which, uint32_t number)
{
    struct side *side = &engine->sides[which];

    side->classes[number].listed = false;
    if (side->listed.count && side->listed.items[side->listed.count - 1] == number)
        side->listed.count--; /* otherwise it is passed over later */
}

/* ---------------------------------------------------------------------------------------------------------- classes */

static uint32_t class_new(struct engine *engine, unsigned which, struct tree *ad)
{
    struct side *side = &engine->sides[which];
    uint32_t number = side->free, generation = 0;

    if (number != NOBODY) {
        side->free = side->classes[number].place;
        generation = side->classes[number].generation;
    } else {
        ARRAY_ROOM(side->classes, side->count, side->room, 64);
        number = side->count++;
    }
    side->used++;
    side->classes[number] = (struct engine_class){
        .ad = tree_ref(ad), .place = NO_CLASS, .generation = generation, .groups = NOBODY, .outcome = ENGINE_WAITING};
    engine_class_list(engine, which, number);
    if (which == ROOTS && engine->pulled)
        engine_class_index_late(engine, number);
    return number;
}

static void class_free(struct engine *engine, unsigned which, uint32_t number)
{
    struct side *side = &engine->sides[which];
    struct engine_class *class = &side->classes[number];

    if (class->place != NO_CLASS)
        classes_remove(&side->set, class->place);
    if (engine->gangs)
        engine_gang_forget(engine, which, number);
    if (class->indexed && !class->ported)
        index_remove(side->index, number);
    side->indexed -= class->indexed;
    side->choosy -= class->choosy;
    class->choosy = false;
    if (which == OFFERS)
        columns_forget(&engine->columns, number);
    class_done(engine, class);
    side->used--;
    class->generation++;
    class->listed = class->indexed = class->late = false;
    class->place = side->free;
    side->free = number;
}

/* ----------------------------------------------------------------------------------------------------------- groups */

static uint32_t *group_bucket(struct engine *engine, uint32_t in_class, uint32_t whose)
{
    return &engine->group_buckets[rng_mix((uint64_t)in_class << 32 | whose) & (engine->group_bucket_count - 1)];
}

static void group_chain(struct engine *engine, uint32_t number)
{
    struct ad_group *group = &engine->groups[number];
    uint32_t *bucket = group_bucket(engine, group->in_class, group->whose);

    group->chained = *bucket;
    *bucket = number;
}

static void group_unchain(struct engine *engine, uint32_t number)
{
    const struct ad_group *group = &engine->groups[number];
    uint32_t *link = group_bucket(engine, group->in_class, group->whose);

    while (*link != number)
        link = &engine->groups[*link].chained;
    *link = group->chained;
}

/* Makes more buckets when there are more groups than those. Groups of no class are free. */
static void group_buckets_grow(struct engine *engine)
{
    if (engine->group_count <= engine->group_bucket_count)
        return;
    engine->group_bucket_count = engine->group_bucket_count ? engine->group_bucket_count * 2 : 64;
    engine->group_buckets = mem_grow(engine->group_buckets, engine->group_bucket_count * sizeof *engine->group_buckets);
    memset(engine->group_buckets, 0xff, engine->group_bucket_count * sizeof *engine->group_buckets);
    for (uint32_t i = 0; i + 1 < engine->group_count; i++) /* the last is new */
        if (engine->groups[i].in_class != NOBODY)
            group_chain(engine, i);
}

static uint32_t group_new(struct engine *engine, uint32_t in_class, uint32_t user, uint32_t whose)
{
    struct engine_class *class = engine_class_at(engine, ROOTS, in_class);
    uint32_t number = engine->group_free;

    if (number != NOBODY) {
        engine->group_free = engine->groups[number].after;
    } else {
        ARRAY_ROOM(engine->groups, engine->group_count, engine->group_room, 64);
        number = engine->group_count++;
        group_buckets_grow(engine);
    }
    engine_user(engine, user); /* makes room for the user */
    engine->groups[number] = (struct ad_group){.in_class = in_class,
                                               .user = user,
                                               .whose = whose,
                                               .before = NOBODY,
                                               .after = class->groups,
                                               .place = NOBODY,
                                               .gate = NOBODY};
    if (class->groups != NOBODY)
        engine->groups[class->groups].before = number;
    class->groups = number;
    group_chain(engine, number);
    return number;
}

static void group_free(struct engine *engine, uint32_t number)
{
    struct ad_group *group = &engine->groups[number];

    engine_queue_remove(engine, number);
    engine_gate_leave(engine, number);
    group_unchain(engine, number);
    if (group->after != NOBODY)
        engine->groups[group->after].before = group->before;
    if (group->before != NOBODY)
        engine->groups[group->before].after = group->after;
    else
        engine_class_at(engine, ROOTS, group->in_class)->groups = group->after;
    free(group->members.ids);
    group->members = (struct engine_members){0};
    group->in_class = NOBODY;
    group->after = engine->group_free;
    engine->group_free = number;
}

/* The class's group of that user's roots. A policy's RootOrder knows no users, but the given names it reads may depend
 * on one. */
static uint32_t group_of(struct engine *engine, uint32_t in_class, uint32_t whose)
{
    uint32_t user = engine->keys ? 0 : whose, number;

    whose = engine->gives ? whose : user;
    number = engine->group_bucket_count ? *group_bucket(engine, in_class, whose) : NOBODY;
    while (number != NOBODY && (engine->groups[number].whose != whose || engine->groups[number].in_class != in_class))
        number = engine->groups[number].chained;
    return number != NOBODY ? number : group_new(engine, in_class, user, whose);
}

static void group_part(struct engine *engine, uint32_t number, uint32_t id)
{
    struct ad_group *group = &engine->groups[number];
    uint32_t place = engine_members_remove(engine, &group->members, id);

    group->done -= place < group->done;
    if (group->members.count == 0)
        group_free(engine, number);
    else if (group->members.count == group->done)
        engine_queue_remove(engine, number);
    else
        engine_queue_moved(engine, number);
}

/* ---------------------------------------------------------------------------------------------------- join and part */

/* Members of a class of offers have come or gone. */
static void class_front(const struct engine *engine, struct engine_class *class)
{
    if (class->members.count == 0)
        return;
    class->first = members_at(&class->members, 0);
    class->order = engine->slots[class->first].order;
}

static uint32_t class_size(const struct engine *engine, const struct engine_class *class)
{
    const struct ad_group *group = class->groups != NOBODY ? &engine->groups[class->groups] : NULL;

    if (!group)
        return class->members.count;
    return group->after == NOBODY ? group->members.count : 2; /* two or more */
}

bool engine_class_chooses(const struct engine_class *class)
{
    const struct tree *ad = class->ad;
    const struct expr *rank = tree_find(ad, tree_root(ad), NAME_RANK);

    if (class->traits & (TRAIT_CHANCE | TRAIT_GIVEN) || tree_find(ad, tree_root(ad), NAME_PREEMPTS))
        return true;
    if (!rank || rank->kind == EXPR_UNDEFINED || rank->kind == EXPR_ERROR)
        return false;
    return !(rank->kind == EXPR_INTEGER && rank->u.integer == 0) && !(rank->kind == EXPR_REAL && rank->u.real == 0);
}

/* Between offers that are not choosy, a root whose rank is always the same has no choice but the first. */
static void class_look(struct engine *engine, unsigned which, struct engine_class *class)
{
    if (which != OFFERS || class->choosy)
        return;
    class->choosy = engine_class_chooses(class);
    engine->sides[OFFERS].choosy += class->choosy;
}

static uint32_t class_make(struct engine *engine, unsigned which, struct engine_slot *slot, const struct class_key *key)
{
    struct side *side = &engine->sides[which];
    uint32_t number = class_new(engine, which, slot->ad);

    side->classes[number].ported = slot->ported;
    if (key)
        side->classes[number].place = classes_add(&side->set, slot->ad, number, key);
    return number;
}

void engine_slot_read_names(struct engine *engine, const struct engine_slot *slot, unsigned which)
{
    struct engine_mould *of = slot->mould != MOULD_NONE ? &engine->of_moulds[slot->mould % MOULDS] : NULL;

    if (of && of->read[which] == slot->mould)
        return;
    reads_add_ad(&engine->sides[which].reads, slot->ad);
    if (of)
        of->read[which] = slot->mould;
}

void engine_slot_join(struct engine *engine, uint32_t id)
{
    struct engine_slot *slot = &engine->slots[id];
    unsigned which = slot->root ? ROOTS : OFFERS;
    struct side *side = &engine->sides[which];
    struct class_key key;
    bool shares = !side->alone && classes_key_moulded(&side->set, slot->ad, slot->mould, &key);
    uint32_t place = shares ? classes_find(&side->set, slot->ad, &key) : NO_CLASS;
    struct engine_class *class;

    if (slot->ported || engine->gangs)
        engine_gang_read(engine, which, slot->ad, slot->ported);
    else
        engine_slot_read_names(engine, slot, !which);
    slot->in_class =
        place != NO_CLASS ? side->set.items[place].head : class_make(engine, which, slot, shares ? &key : NULL);
    class = &side->classes[slot->in_class];
    class->traits |= shares ? slot->traits & TRAIT_GIVEN : slot->traits; /* an ad that reads the time is alone */
    class_look(engine, which, class);
    if (slot->root) {
        slot->group = group_of(engine, slot->in_class, slot->user);
        engine_members_add(engine, &engine->groups[slot->group].members, id);
        class->units += (uint64_t)slot->units;
        if (class->held) /* the others wait at gates; this root may be free */
            engine_class_list(engine, ROOTS, slot->in_class);
    } else {
        engine_members_add(engine, &class->members, id);
        class_front(engine, class);
        if (class->indexed && !class->ported)
            index_advance(side->index, slot->in_class);
        if (engine->gangs) /* a gang may want one more offer of this kind */
            engine_class_list(engine, OFFERS, slot->in_class);
    }
}

bool engine_slot_swap(struct engine *engine, uint32_t id, struct tree *ad)
{
    struct engine_slot *slot = &engine->slots[id];
    unsigned which = slot->root ? ROOTS : OFFERS;
    struct side *side = &engine->sides[which];
    struct engine_class *class = slot->in_class != NOBODY ? &side->classes[slot->in_class] : NULL;

    if (!class || class->place == NO_CLASS || engine_ad_ported(ad) != slot->ported ||
        !classes_has(&side->set, class->place, ad))
        return false;
    if (engine->gangs)
        engine_gang_reread(engine, which, slot->ad, ad, slot->ported);
    engine_slot_set_ad(engine, id, ad);
    if (!engine->gangs)
        engine_slot_read_names(engine, slot, !which);
    class->traits |= slot->traits & TRAIT_GIVEN;
    class_look(engine, which, class);
    if (class_size(engine, class) > 1)
        return true;
    if (which == OFFERS)
        columns_forget(&engine->columns, slot->in_class);
    tree_ref(ad); /* the class's representative is the old ad, which goes */
    tree_unref(class->ad);
    class->ad = ad;
    classes_stand(&side->set, class->place, ad, slot->mould);
    if (class->indexed && !class->ported) /* the seeker does not care about what nobody reads */
        index_swap(side->index, slot->in_class, ad);
    return true;
}

void engine_slot_part(struct engine *engine, uint32_t id)
{
    struct engine_slot *slot = &engine->slots[id];
    unsigned which = slot->root ? ROOTS : OFFERS;
    uint32_t number = slot->in_class;
    struct engine_class *class = engine_class_at(engine, which, number);

    slot->in_class = NOBODY;
    if (slot->root) {
        class->units -= slot->units > 0 ? (uint64_t)slot->units : 0;
        group_part(engine, slot->group, id);
        slot->group = NOBODY;
    } else {
        engine_members_remove(engine, &class->members, id);
        class_front(engine, class);
    }
    if (class->members.count == 0 && class->groups == NOBODY)
        class_free(engine, which, number);
}

/* ------------------------------------------------------------------------------------------------------- names grow */

bool engine_classes_lag(const struct side *side)
{
    return !side->alone && (side->reads.all || side->reads_known < side->reads.count);
}

/* Does the ad have a name that the classes do not know yet? */
static bool has_news(const struct side *side, const struct tree *ad)
{
    for (uint32_t i = side->reads_known; i < side->reads.count; i++)
        if (tree_find(ad, tree_root(ad), side->reads.items[i]))
            return true;
    return false;
}

/* The only member of a class stays in it; only its hash changes. */
static void class_rehash(struct engine *engine, struct side *side, uint32_t id)
{
    const struct engine_slot *slot = &engine->slots[id];
    struct engine_class *class = &side->classes[slot->in_class];
    struct class_key key;

    class->place = NO_CLASS;
    if (!side->alone && classes_key_moulded(&side->set, class->ad, slot->mould, &key))
        class->place = classes_add(&side->set, class->ad, slot->in_class, &key);
    else
        class->traits = slot->traits;
    class_look(engine, slot->root ? ROOTS : OFFERS, class);
}

void engine_classes_split(struct engine *engine, unsigned which)
{
    struct side *side = &engine->sides[which];
    struct numbers moved = {0};

    for (uint32_t id = 0; id < engine->slot_count && side->used; id++) {
        const struct engine_slot *slot = &engine->slots[id];
        struct engine_class *class =
            slot->in_class != NOBODY && slot->root == (which == ROOTS) ? &side->classes[slot->in_class] : NULL;

        if (!class || class->place == NO_CLASS ||
            (!side->reads.all && !has_news(side, slot->ad) && (slot->ad == class->ad || !has_news(side, class->ad))))
            continue;
        if (class_size(engine, class) == 1 && slot->ad == class->ad) {
            classes_remove(&side->set, class->place);
            class->place = NO_CLASS;
            engine_numbers_add(&moved, id);
        } else {
            engine_slot_leave(engine, id);
            engine_slot_freshen(engine, id);
        }
    }
    side->alone = side->reads.all;
    for (; side->reads_known < side->reads.count; side->reads_known++)
        classes_add_name(&side->set, engine->symbols, side->reads.items[side->reads_known]);
    for (uint32_t i = 0; i < moved.count; i++)
        class_rehash(engine, side, moved.items[i]);
    free(moved.items);
}

void engine_classes_reread(struct engine *engine)
{
    bool better = false;

    if ((!engine->sides[OFFERS].alone && !engine->sides[ROOTS].alone) ||
        engine->put_count < 2 * (uint64_t)engine->ad_count + REREAD_SPARE)
        return;
    engine->put_count = 0;
    for (unsigned which = OFFERS; which <= ROOTS && !better; which++) {
        struct reads reads;

        reads_init(&reads, engine->symbols);
        reads_add_policy(&reads, engine->policy.ad);
        for (uint32_t id = 0; id < engine->slot_count && !reads.all && engine->sides[which].alone; id++)
            if (engine->slots[id].ad &&
                (engine->slots[id].root != (which == ROOTS) || (which == OFFERS && engine_gang_offers(engine))))
                engine_gang_reads_add(&reads, engine->slots[id].ad, engine->slots[id].ported);
        better = engine->sides[which].alone && !reads.all;
        reads_done(&reads);
    }
    if (better)
        engine_reset(engine);
}
