/* gang_why_died.c: where the search died: a search from left to right that does not look ahead goes as deep as it can; there every offer is docked
 * once more, and what says no is written down. */
#include "lang/base/mem.h"
#include "lang/text/print.h"
#include "match/gang/gang_why_parts.h"
#include "match/gang/search_parts.h"

#include <stdlib.h>
#include <string.h>

/* A search that looks ahead dies early, at the first port; this one comes to the port that nobody is left for. */
static const struct strategy plainly = {STOCK_SHARED, FILL_LEFT, false, false, false};

#define CLAUSES_TOLD 256 /* clauses of a port; later ones are not told */

/* The place where the search died, with what is docked there. */
struct place {
    struct gang_asking *asking;
    struct gang_why_died *died;
    const struct slot *slot;
    const struct expr *clauses[CLAUSES_TOLD + 1]; /* of the port */
    size_t left[CLAUSES_TOLD + 1]; /* free offers for which the clause and all before it are true, or open */
    uint32_t clause_count;
    bool veiled; /* somebody is docked whose policy is hidden: what is worth telling of the others could tell of it */
};

/* -------------------------------------------------------------------------------------------------------------- docked again */

static void seat_add(struct gang_asking *asking, uint32_t parent, uint32_t slot, uint32_t member, size_t offer)
{
    const struct ports *ports = &asking->members.items[parent].of->ports;
    struct gang_why_died *died = &asking->why->died;
    uint32_t port = members_slot(&asking->members, parent, slot)->port_number;

    if (offer == SEAT_NOBODY && ports->items[port].set)
        return; /* the set has fewer members than it could */
    died->seats[died->seat_count++] =
        (struct gang_why_seat){member, parent, gang_why_label(asking->why, ports, port), ports->items[port].set, offer};
}

static void dock_again(struct gang_asking *asking)
{
    const struct dead_end *dead = &asking->dead;
    struct gang_why_died *died = &asking->why->died;
    struct members *members = &asking->members;

    died->seats = arena_alloc(&asking->why->arena, (dead->count + 1) * sizeof *died->seats);
    members_push(members, &asking->root, 0);
    for (uint32_t i = 0; i < dead->count; i++) {
        uint32_t offer = dead->frames[i].offer, parent = dead->frames[i].member, slot = dead->frames[i].slot, child;

        if (offer == NOBODY) {
            members_leave(members, parent, slot);
            seat_add(asking, parent, slot, 0, SEAT_NOBODY);
            continue;
        }
        child = members_push(members, &asking->offers.items[offer].ported, asking->offers.items[offer].place);
        members_dock(members, parent, slot, child, dead->frames[i].link);
        seat_add(asking, parent, slot, child, asking_place(asking, offer));
    }
}

/* May the offer dock there, even if it is in the gang already? */
static bool offer_free(const struct place *place, uint32_t offer)
{
    const struct dead_end *dead = &place->asking->dead;
    const struct members *members = &place->asking->members;

    if (members->items[place->slot->member].of->ports.items[place->slot->port_number].share)
        return true;
    for (uint32_t i = 0; i < dead->count; i++) {
        const struct slot *held;

        if (dead->frames[i].offer != offer)
            continue;
        held = members_slot(members, dead->frames[i].member, dead->frames[i].slot);
        if (!members->items[held->member].of->ports.items[held->port_number].share)
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------- clauses */

/* Looks for the first clause of a slot that is not true. */
struct first_false {
    struct members *members;
    const struct expr *e;
    uint32_t number;
};

static bool false_try(void *user, const struct slot *slot, const struct expr *e)
{
    struct first_false *first = user;

    if (members_clause(first->members, slot, e) == TRUTH_NO) {
        first->e = e;
        return false;
    }
    first->number++;
    return true;
}

static const struct expr *slot_false(struct members *members, const struct slot *slot, uint32_t *ret_number)
{
    struct first_false first = {.members = members};

    slot_clauses(members, slot, false_try, &first);
    *ret_number = first.number;
    return first.e;
}

static bool clause_note(void *user, const struct slot *slot, const struct expr *e)
{
    struct place *place = user;

    (void)slot;
    if (place->clause_count < CLAUSES_TOLD)
        place->clauses[place->clause_count++] = e;
    return true;
}

/* What the clause comes to, with what is docked folded in: as the window has it. */
static const char *clause_means(struct place *place, const struct expr *e)
{
    struct gang_asking *asking = place->asking;
    const struct ports *ports = &asking->members.items[place->slot->member].of->ports;
    struct window_trace trace = {0};
    struct tree *window = window_traced(&asking->members, place->slot, &trace), *shown;
    const struct expr *constraint, *parts, *said = NULL;
    uint32_t n = 0, count = 0;
    const char *result = NULL;
    struct buf text;

    for (uint32_t i = 0; i < trace.count; i++) {
        if (trace.items[i].asked && trace.items[i].e == e && !said) {
            shown = gang_why_hold(asking->why, gang_why_relabel(window, ports->items[place->slot->port_number].label));
            constraint = match_constraint(shown);
            parts = tree_parts(shown, constraint);
            said = constraint->kind == EXPR_CHAIN && parts[1].label == OP_AND ? &parts[n] : constraint;
        }
        n += trace.items[i].asked;
        count += trace.items[i].e == e;
    }
    if (said && count == 1 && !expr_is_literal(said)) {
        buf_init(&text);
        print_expr(&text, asking->why->held[asking->why->held_count - 1], said, PRINT_PLAIN);
        result = gang_why_text(asking->why, &text);
        buf_reset(&text);
        print_expr(&text, ports->ad, e, PRINT_PLAIN);
        if (!strcmp(result, buf_string(&text)))
            result = NULL;
        buf_done(&text);
    }
    tree_unref(window);
    free(trace.items);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------ refusals */

struct reading {
    struct place *place;
    const struct slot *link;
    struct gang_why_refusal *refusal;
};

static void read_add(struct reading *reading, symbol name)
{
    struct members *members = &reading->place->asking->members;
    struct why_refusal *refusal = &reading->refusal->of;
    struct why_read *read = &refusal->reads[refusal->read_count];
    struct arena_mark mark = arena_mark(members->scratch);
    const struct scope *at = &reading->place->slot->port;
    const struct expr *e;
    struct value v;
    struct buf text;

    for (uint32_t i = 0; i < refusal->read_count; i++)
        if (symbol_same(refusal->reads[i].name, name))
            return;
    if (refusal->read_count == WHY_READS_MAX)
        return;
    *read = (struct why_read){name, NULL};
    refusal->read_count++;
    e = reading->place->veiled ? NULL : scope_find(&at, name);
    if (!e || !members_evaluate(members, at, e, &v))
        return;
    buf_init(&text);
    value_print(&text, reading->place->slot->port.tree->dialect, &v, PRINT_PLAIN);
    read->value = gang_why_text(reading->place->asking->why, &text);
    buf_done(&text);
    arena_rewind(members->scratch, mark);
}

/* Finds the attributes that a clause of an offer reads of whoever has the port. */
static void reads_find(struct reading *reading, const struct expr *e)
{
    const struct slot *link = reading->link;
    const struct tree *tree = link->port.tree;
    const struct expr *parts = tree_parts(tree, e);
    const struct scope *at = &link->port;

    if (e->kind == EXPR_DOT &&
        (symbol_same(EXPR_DOT_BASE(e), link->labels[link->port_number].name) ||
         symbol_same(EXPR_DOT_BASE(e), NAME_OTHER) || symbol_same(EXPR_DOT_BASE(e), NAME_TARGET)))
        read_add(reading, e->u.name.id);
    if (e->kind == EXPR_NAME && !scope_find(&at, e->u.name.id))
        read_add(reading, e->u.name.id);
    for (uint32_t i = 0; i < expr_part_count(e); i++)
        if (!expr_is_literal(&parts[i]) && !(e->kind == EXPR_PATH && i > 0 && parts[i].label == STEP_SELECT))
            reads_find(reading, &parts[i]);
}

static void refusal_add(struct place *place, const struct slot *link, const struct expr *e, size_t offer)
{
    struct gang_why_died *died = place->died;
    const struct ported *of = place->asking->members.items[link->member].of;
    struct gang_why_refusal *refusal = died->refusals;
    struct reading reading = {place, link, NULL};
    bool hides = gang_why_hides(place->asking, offer);
    const struct tree *ad = hides ? gang_why_veil(place->asking, of->ad) : of->ad;

    e = hides ? match_constraint(ad) : e;
    died->refusing++;
    for (uint32_t i = 0; i < died->refusal_count; i++, refusal++) {
        if (tree_equal(refusal->of.offer, refusal->of.e, ad, e)) {
            refusal->of.count++;
            return;
        }
    }
    if (died->refusal_count == GANG_WHY_REFUSALS_MAX)
        return;
    died->refusal_count++;
    *refusal = (struct gang_why_refusal){.of = {.offer = ad, .e = e, .first = offer, .count = 1, .fitting = 0},
                                         .label = gang_why_label(place->asking->why, &of->ports, link->port_number)};
    reading.refusal = refusal;
    if (!hides)
        reads_find(&reading, e);
}

/* -------------------------------------------------------------------------------------------------------------- whoever is left */

static void denial_veil(struct gang_asking *asking, struct gang_why_denial *denial)
{
    if (!gang_why_hides(asking, denial->offer))
        return;
    denial->ad = gang_why_veil(asking, denial->ad);
    denial->e = match_constraint(denial->ad);
}

/* Finds a clause of somebody else in the gang, or of the set as a whole, that is not true as things are. */
static bool gang_denies(struct place *place, struct gang_why_denial *ret)
{
    struct members *members = &place->asking->members;
    uint32_t number;

    for (uint32_t m = 0; m < members->count; m++) {
        for (uint32_t i = 0; i < members->items[m].of->slot_count; i++) {
            const struct slot *slot = &members->items[m].slots[i];
            const struct expr *e;

            if (slot->state != SLOT_FILLED || slot == place->slot || !(e = slot_false(members, slot, &number)))
                continue;
            if (!ret->count++) {
                ret->offer = m ? members->items[m].place - 1 : SEAT_NOBODY;
                ret->ad = members->items[m].of->ad;
                ret->e = e;
                denial_veil(place->asking, ret);
            }
            return true;
        }
    }
    return false;
}

/* Docks a face and sees what says no. */
static void face_ask(struct place *place, uint32_t number)
{
    struct gang_asking *asking = place->asking;
    struct members *members = &asking->members;
    const struct face *of = &asking->offers.faces[number];
    const struct stocked_offer *offer = &asking->offers.items[of->offer];
    bool free_now = offer_free(place, of->offer);
    uint32_t child = members_push(members, &offer->ported, offer->place), upto, link_upto;
    const struct expr *own, *theirs;
    const struct slot *link;

    members_dock(members, place->slot->member, place->slot->number, child, member_slot_of(&offer->ported, of->port));
    link = members_slot(members, child, members->items[child].link);
    own = slot_false(members, place->slot, &upto);
    for (uint32_t i = 0; free_now && i < upto && i < place->clause_count; i++)
        place->left[i]++;
    if (!own) {
        place->died->free += free_now;
        place->died->taken += !free_now;
    }
    if (!own && free_now) {
        theirs = slot_false(members, link, &link_upto);
        if (theirs)
            refusal_add(place, link, theirs, offer->place - 1);
        else
            gang_denies(place, &place->died->denied);
    }
    members_undock(members, child);
    members_pop(members);
}

/* Asks what says no when nobody (more) docks there. */
static void empty_ask(struct place *place)
{
    struct members *members = &place->asking->members;
    const struct slot *slot = place->slot;
    const struct port *port = &members->items[slot->member].of->ports.items[slot->port_number];
    uint32_t last = port->set ? slot->number - slot->position + port->max - 1 : slot->number;

    for (uint32_t i = slot->number; i <= last; i++)
        members_leave(members, slot->member, i);
    gang_denies(place, &place->died->empty);
    for (uint32_t i = slot->number; i <= last; i++)
        members_reopen(members, slot->member, i);
}

static void place_ask(struct place *place)
{
    struct gang_asking *asking = place->asking;
    struct gang_why_died *died = place->died;
    bool may_fill, may_leave;

    slot_may(&asking->search, place->slot, &may_fill, &may_leave);
    slot_clauses(&asking->members, place->slot, clause_note, place);
    for (uint32_t i = 0; i < asking->offers.face_count && asking->members.count <= GANG_MEMBERS_MAX; i++)
        if (asking->faces[i])
            face_ask(place, i);
    for (uint32_t i = 0; i < place->clause_count && !died->free && !died->clause; i++)
        if (!place->left[i])
            died->clause = place->clauses[i];
    if (died->clause && !place->veiled)
        died->means = clause_means(place, died->clause);
    if (may_leave)
        empty_ask(place);
    if (died->clause && died->member &&
        gang_why_hides(asking, asking->members.items[died->member].place - 1)) { /* the port is one of theirs */
        died->ad = gang_why_veil(asking, died->ad);
        died->clause = match_constraint(died->ad);
    }
}

void gang_why_find_died(struct gang_asking *asking)
{
    struct gang_why *why = asking->why;
    struct search *search = &asking->search;
    struct place place = {.asking = asking, .died = &why->died};
    const struct strategy *before = search->strategy;
    uint64_t budget = search->budget;

    search->strategy = &plainly;
    search->dead = &asking->dead;
    search->budget = GANG_WHY_NODES_MAX + 4 * (uint64_t)asking->offers.face_count; /* enough for one dead end */
    search_root(search, &asking->root, 0);
    search->strategy = before;
    search->dead = NULL;
    search->budget = budget;
    if (!asking->dead.known)
        return;
    dock_again(asking);
    place.slot = members_slot(&asking->members, asking->dead.member, asking->dead.slot);
    for (uint32_t i = 0; i < why->died.seat_count; i++)
        place.veiled = place.veiled || gang_why_hides(asking, why->died.seats[i].offer);
    why->died.known = true;
    why->died.member = asking->dead.member;
    why->died.ad = asking->members.items[asking->dead.member].of->ad;
    why->died.label =
        gang_why_label(why, &asking->members.items[asking->dead.member].of->ports, place.slot->port_number);
    why->died.refusals = arena_alloc(&why->arena, GANG_WHY_REFUSALS_MAX * sizeof *why->died.refusals);
    place_ask(&place);
    while (asking->members.count)
        members_pop(&asking->members);
}
