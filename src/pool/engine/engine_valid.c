/* engine_valid.c: is the engine in order?
 *
 * 1. Every slot in a class is one of its members, once, and the other way round; no fresh slot is in a class.
 * 2. Members are in their order, and a class has as many units as its roots.
 * 3. A class of offers that is not listed is in the index; a class of roots that waits is, or will be.
 * 4. Whatever is in a heap knows its place there.
 * 5. The indexes are in order.
 * 6. An ad is in the class that it would be put into now. */
#include "pool/engine/engine_classes.h"
#include "pool/engine/engine_gang.h"
#include "pool/engine/engine_members.h"
#include "pool/engine/engine_queue.h"
#include "pool/engine/engine_state.h"

/* The first thing that is wrong, or NULL. */
static const char *members_wrong(const struct engine *engine, const struct engine_members *members, uint32_t in_class,
                                 bool root)
{
    if (members->count == 0)
        return "a class without members";
    for (uint32_t i = 0; i < members->count; i++) {
        const struct engine_slot *slot = &engine->slots[members_at(members, i)];

        if (!slot->ad || slot->in_class != in_class || slot->root != root || slot->fresh || slot->units < 1 ||
            slot->ported != (engine_ad_ported(slot->ad)))
            return "a member that is not of its class";
        if (i && !engine_member_before(engine, members_at(members, i - 1), members_at(members, i)))
            return "members out of order";
    }
    return NULL;
}

static const char *roots_wrong(const struct engine *engine, uint32_t number, uint64_t *ret_members)
{
    const struct engine_class *class = &engine->sides[ROOTS].classes[number];
    uint64_t units = 0;
    bool held = class->held; /* all groups wait at gates */

    for (uint32_t i = class->groups; i != NOBODY; i = engine->groups[i].after) {
        const struct ad_group *group = &engine->groups[i];
        const char *wrong = members_wrong(engine, &group->members, number, true);

        if (wrong || group->in_class != number)
            return wrong ? wrong : "a group of another class";
        if (group->place != NOBODY && engine->users[group->user].groups.items[group->place] != i)
            return "a group that is not at its place in the queue";
        if (group->place != NOBODY && group->gate != NOBODY)
            return "a group that is in the queue, and waits at a gate";
        if (group->place != NOBODY && group->done >= group->members.count)
            return "a group in the queue with nobody to serve";
        for (uint32_t k = 0; k < group->members.count; k++)
            units += (uint64_t)engine->slots[members_at(&group->members, k)].units;
        *ret_members += group->members.count;
        held = held && group->gate != NOBODY;
    }
    if (units != class->units)
        return "a class that does not have its units";
    if (engine->phase == PHASE_IDLE && !class->listed && !class->indexed && !class->late && !held)
        return "a class of roots that waits and cannot be found";
    return NULL;
}

static const char *offers_wrong(const struct engine *engine, uint32_t number, uint64_t *ret_members)
{
    const struct engine_class *class = &engine->sides[OFFERS].classes[number];

    *ret_members += class->members.count;
    if (!class->listed && !class->indexed)
        return "a class of offers that cannot be found";
    if (class->members.count &&
        (class->first != members_at(&class->members, 0) || class->order != engine->slots[class->first].order))
        return "a class of offers does not know its first member";
    if (!class->choosy && engine_class_chooses(class))
        return "a class of offers is choosy, and not counted";
    return members_wrong(engine, &class->members, number, false);
}

static const char *side_wrong(const struct engine *engine, unsigned which, uint64_t *ret_members)
{
    const struct side *side = &engine->sides[which];
    uint32_t used = 0, indexed = 0;
    const char *wrong = NULL;

    for (uint32_t i = 0; i < side->count && !wrong; i++) {
        const struct engine_class *class = &side->classes[i];

        if (!class->ad)
            continue;
        used++;
        indexed += class->indexed;
        if (class->place != NO_CLASS && side->set.items[class->place].head != i)
            return "a class that is not found by what it is";
        wrong = which == ROOTS ? roots_wrong(engine, i, ret_members) : offers_wrong(engine, i, ret_members);
    }
    if (!wrong && (used != side->used || indexed != side->indexed))
        return "classes are miscounted";
    return wrong;
}

/* Is the slot in another class than the one found for it from scratch? */
static bool slot_misplaced(const struct engine *engine, const struct engine_slot *slot)
{
    const struct side *side = &engine->sides[slot->root ? ROOTS : OFFERS];
    uint32_t place = slot->in_class != NOBODY ? side->classes[slot->in_class].place : NO_CLASS;
    struct class_key key;

    return place != NO_CLASS &&
           (!classes_key(&side->set, slot->ad, &key) || classes_find(&side->set, slot->ad, &key) != place);
}

static const char *slots_wrong(const struct engine *engine, uint64_t members)
{
    for (uint32_t i = 0; i < engine->slot_count; i++) {
        const struct engine_slot *slot = &engine->slots[i];

        members -= slot->in_class != NOBODY;
        if (slot->restless != NOBODY && engine->restless.items[slot->restless] != i)
            return "a restless ad that is not at its place";
        if ((slot->restless != NOBODY) != (slot->traits != 0))
            return "an ad that should be restless, or not";
        if (slot_misplaced(engine, slot))
            return "an ad that is not of its class";
    }
    return members ? "a class has members that do not know it" : NULL;
}

bool engine_valid(const struct engine *engine, const char **ret_why)
{
    uint64_t members = 0;
    const char *wrong = side_wrong(engine, OFFERS, &members);

    if (!wrong)
        wrong = side_wrong(engine, ROOTS, &members);
    if (!wrong)
        wrong = slots_wrong(engine, members);
    if (!wrong && engine->phase == PHASE_IDLE && engine_queue_first(engine) != NOBODY)
        wrong = "somebody is in the queue, and there is no cycle";
    if (wrong)
        *ret_why = wrong;
    return !wrong && index_valid(engine->sides[OFFERS].index, ret_why) &&
           index_valid(engine->sides[ROOTS].index, ret_why) && engine_gang_valid(engine, ret_why);
}
