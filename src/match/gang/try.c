/* try.c: a candidate is docked at a slot, or not; a slot stays empty, or not. */
#include "match/gang/search_parts.h"

#include "lang/base/mem.h"
#include "match/pair/residual.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------- constraints still open */

/* The constraints that are open once a frame is decided. */
struct opening {
    struct pending *items;
    uint32_t count, room;
};

/* Tests the constraint of a slot; false when it is not true. If it is open, it goes on the list. */
static bool slot_test(struct search *search, const struct slot *slot, struct opening *opening)
{
    enum truth truth = members_truth(search->members, slot);

    if (truth == TRUTH_OPEN && opening->count < opening->room)
        opening->items[opening->count++] = (struct pending){slot->member, slot->number};
    return truth != TRUTH_NO;
}

/* The whole of the set that the slot belongs to, if all its positions are decided now. */
static const struct slot *slot_whole(const struct search *search, const struct slot *slot)
{
    const struct port *port = slot_port(search, slot);
    const struct slot *whole = slot + port->max - slot->position;

    return port->set && whole->state == SLOT_FILLED ? whole : NULL;
}

/* Tests everything that the decision of the frame may have settled. When an open constraint is not true, the frames that it
 * depends on go into the frame's conflict. */
static bool frame_test(struct search *search, struct frame *frame, struct opening *opening)
{
    const struct slot *slot = frame_slot(search, frame), *whole = slot_whole(search, slot);
    uint32_t below = frame_number(search, frame);

    opening->room = search->pending_count + 3;
    opening->items = arena_alloc(&search->arena, opening->room * sizeof *opening->items);
    if (slot->docked != NOBODY) {
        search->members->evaluations++;
        if (!slot_test(search, slot, opening) ||
            !slot_test(search, members_slot(search->members, slot->docked, slot->docked_slot), opening))
            return false;
    }
    if (whole && !slot_test(search, whole, opening))
        return false;
    for (uint32_t i = 0; i < search->pending_count; i++) {
        const struct slot *open = members_slot(search->members, search->pending[i].member, search->pending[i].slot);

        if (!search->offers->entangled && !slot_matters(search->members, open, slot)) {
            opening->items[opening->count++] = search->pending[i];
            continue;
        }
        if (!slot_test(search, open, opening)) {
            conflict_add(search, &frame->conflict, open, below);
            return false;
        }
    }
    return true;
}

/* --------------------------------------------------------------------------------------------------------- looking ahead */

/* Is somebody left for every slot that depends on the one just decided, except the slot that comes next anyway? */
static bool frame_ahead(struct search *search, struct frame *frame)
{
    const struct member *member = &search->members->items[frame->member];
    const struct slot *slot = frame_slot(search, frame);
    uint32_t number = frame_number(search, frame), face;

    if (!search->strategy->ahead || member->of->ports.count < 3)
        return true;
    for (uint32_t i = number + (frame->inserted ? frame->inserted + 1 : 2); i < search->agenda_count; i++) {
        const struct slot *later = members_slot(search->members, search->agenda[i].member, search->agenda[i].slot);
        bool may_fill, may_leave;

        if (later->member != frame->member || later->position > 0 ||
            !(member->of->connected[slot->port_number] & (uint64_t)1 << later->port_number))
            continue;
        slot_may(search, later, &may_fill, &may_leave);
        if (may_leave || slot_seek(search, later, &face, 1))
            continue;
        conflict_add(search, &frame->conflict, later, number);
        return false;
    }
    return true;
}

/* --------------------------------------------------------------------------------------------------------------- docking */

/* Makes what is left of an offer that is in the gang already: so it docks again. NULL when the offer has no Residual, and docks as it is. False
 * when what is left has other ports. */
static bool offer_again(struct search *search, const struct stocked_offer *offer, const struct ported *whole,
                        struct ported **ret)
{
    struct members *members = search->members;
    struct ported *again;
    struct tree *left = NULL;
    struct err err;

    *ret = NULL;
    for (uint32_t i = members->count; i-- > 1 && !left;) {
        const struct slot *link = members_slot(members, i, members->items[i].link);

        if (members->items[i].place == offer->place && residual_of(members->items[i].of->ad))
            left = residual_make_in(members->env, members->scratch, link->port.parent ? &link->ad : &link->port);
    }
    if (!left)
        return true;
    again = mem_alloc(sizeof *again);
    if (ported_init(again, left, &err) == 0 && ported_kept(again, whole)) {
        *ret = again;
    } else {
        ported_done(again);
        free(again);
    }
    tree_unref(left);
    return *ret != NULL;
}

static void child_drop(struct search *search, struct frame *frame, uint32_t child)
{
    members_undock(search->members, child);
    members_pop(search->members);
    if (frame->again)
        ported_done(frame->again);
    free(frame->again);
    frame->again = NULL;
}

static void pending_set(struct search *search, const struct opening *opening)
{
    search->pending = opening->items;
    search->pending_count = opening->count;
}

/* Settles a frame that is decided: what follows stands on it. False when that cannot be. */
static bool frame_settle(struct search *search, struct frame *frame, uint32_t child)
{
    struct opening opening = {0}, before = {(struct pending *)search->pending, search->pending_count, 0};

    frame->inserted = 0;
    if (!frame_test(search, frame, &opening))
        return false;
    pending_set(search, &opening);
    if ((child == NOBODY || agenda_insert(search, frame, child)) && frame_ahead(search, frame) &&
        (!search->exhaustive || !search->best_count || gang_compare(search) >= 0)) {
        frame->pending = opening.items;
        frame->pending_count = opening.count;
        return true;
    }
    agenda_remove(search, frame);
    pending_set(search, &before);
    return false;
}

/* Docks the offer of that face; false when it does not fit. */
static bool offer_dock(struct search *search, struct frame *frame, uint32_t face)
{
    struct face of = stock_face(search->offers, face);
    const struct ported *ported = stock_ported(search->offers, of.offer);
    struct stocked_offer *offer = &search->offers->items[of.offer];
    struct members *members = search->members;
    struct arena_mark mark = arena_mark(&search->arena);
    bool found = search->strategy->way != STOCK_PLAIN; /* without an index every offer is tried, and who docks counts */
    uint32_t child;

    if (members->count == GANG_MEMBERS_MAX + 1 || members->items[frame->member].depth == GANG_DEPTH_MAX)
        return false;
    search->nodes += found;
    if (offer->taken && !offer_again(search, offer, ported, &frame->again))
        return false;
    child = members_push(members, frame->again ? frame->again : ported, offer->place);
    members_dock(members, frame->member, frame->slot, child, member_slot_of(members->items[child].of, of.port));
    frame->docked = child;
    frame->offer = of.offer;
    if (!frame_settle(search, frame, child)) {
        frame->docked = NOBODY;
        child_drop(search, frame, child);
        arena_rewind(&search->arena, mark);
        return false;
    }
    search->nodes += !found;
    frame->filled = true;
    offer->taken++;
    return true;
}

bool frame_dock(struct search *search, struct frame *frame, uint32_t face)
{
    const struct slot *slot = frame_slot(search, frame);

    for (uint32_t at = face; at != INDEX_END; at = stock_next(search->offers, at)) {
        struct face of = stock_face(search->offers, at);
        const struct stocked_offer *offer = &search->offers->items[of.offer];

        if (offer->gone || stock_ported(search->offers, of.offer)->ports.items[of.port].set)
            return false;
        if (!offer_is_free(search, of.offer, slot)) {
            conflict_add_holder(search, &frame->conflict, of.offer, frame_number(search, frame));
            continue; /* another of the same kind will do */
        }
        if (!offer->taken)
            return offer_dock(search, frame, at); /* if it does not fit, none of its kind does */
        conflict_add_holder(search, &frame->conflict, of.offer, frame_number(search, frame));
        if (!offer_dock(search, frame, at))
            continue; /* what is left depends on who has the rest: a whole offer may fit */
        frame->rest = stock_next(search->offers, at);
        return true;
    }
    return false;
}

bool frame_leave(struct search *search, struct frame *frame)
{
    struct arena_mark mark = arena_mark(&search->arena);

    frame->leave_mark = arena_mark(&search->members->arena);
    members_leave(search->members, frame->member, frame->slot);
    frame->left = true;
    if (frame_settle(search, frame, NOBODY))
        return true;
    frame->left = false;
    members_reopen(search->members, frame->member, frame->slot);
    arena_rewind(&search->members->arena, frame->leave_mark);
    arena_rewind(&search->arena, mark);
    return false;
}

void frame_undo(struct search *search, struct frame *frame)
{
    uint32_t number = frame_number(search, frame);

    agenda_remove(search, frame);
    if (frame->docked != NOBODY) {
        search->offers->items[frame->offer].taken--;
        child_drop(search, frame, frame->docked);
        frame->docked = NOBODY;
    }
    if (frame->left) {
        frame->left = false;
        members_reopen(search->members, frame->member, frame->slot);
        arena_rewind(&search->members->arena, frame->leave_mark);
    }
    search->pending = number ? search->frames[number - 1].pending : NULL;
    search->pending_count = number ? search->frames[number - 1].pending_count : 0;
}
