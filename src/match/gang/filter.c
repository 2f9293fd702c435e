/* filter.c: the window of a slot as things stand: with what those who are docked elsewhere ask of it, and what the few kinds of candidates of a
 * later port would ask (section 6.2.2).
 *
 *     later port, two kinds of licences     HostID in [0, 10)     HostID in [50, 60)
 *     filter of the machine's port          Key >= 0 && Key < 10 || Key >= 50 && Key < 60 */
#include "match/gang/search_parts.h"

#include "match/gang/shunt.h"

#define FILTER_MAX 16 /* kinds of candidates of a later port that are used as a query for an earlier one */
#define LEARN_MAX 64  /* windows of which the index is told, so that their clauses count from the first probe on */

/* What a window says beside the port's own clauses. */
struct collating {
    struct search *search;
    const struct slot *slot;
    bool filter;
    bool never; /* a later port can be filled by nobody */
    bool added; /* clauses were added */
};

/* ------------------------------------------------------------------------------- the candidates of a later port as a query */

/* Pushes what one candidate of the later slot would ask of whoever docks at the first: a conjunction. Returns how many clauses; -1 when the
 * candidate asks nothing, 0 when it does not fit at all. */
static int candidate_asks(struct collating *collating, const struct slot *later, uint32_t face, struct build *build)
{
    struct search *search = collating->search;
    struct members *members = search->members;
    uint32_t offer = stock_face(search->offers, face).offer;
    const struct ported *ported = stock_ported(search->offers, offer);
    const struct slot *link;
    enum truth own, others;
    uint32_t child;
    int count = 0;

    if (ported->ports.count > 1 || members->count == GANG_MEMBERS_MAX + 1)
        return -1;
    child = members_push(members, ported, search->offers->items[offer].place);
    members_dock(members, later->member, later->number, child, 0);
    link = members_slot(members, child, 0);
    own = members_truth(members, later);
    others = members_truth(members, link);
    if (own != TRUTH_NO && others != TRUTH_NO) {
        count = (int)(shunt_clauses(members, later, collating->slot, build) +
                      shunt_clauses(members, link, collating->slot, build));
        if (count == 0)
            count = -1;
    }
    members_undock(members, child);
    members_pop(members);
    return count;
}

/* An attribute that is asked for, and the kind that it must have. */
struct asked {
    symbol name;
    unsigned char kind; /* of a literal; EXPR_BOOLEAN for the attribute alone */
};

/* What one candidate asks for, each attribute once. When there are too many, or kinds are mixed, the filter says nothing. */
struct asked_list {
    struct asked items[FILTER_MAX];
    uint32_t count;
    bool mixed;
};

static void asked_add(struct asked_list *list, symbol name, unsigned char kind)
{
    kind = kind == EXPR_REAL ? EXPR_INTEGER : kind;
    for (uint32_t i = 0; i < list->count; i++) {
        if (symbol_same(list->items[i].name, name)) {
            list->mixed |= list->items[i].kind != kind;
            return;
        }
    }
    list->mixed |= list->count == FILTER_MAX;
    if (!list->mixed)
        list->items[list->count++] = (struct asked){name, kind};
}

/* Reads a clause as shunt.c writes them: other.x op literal, other.x, member(other.x, { literals }), and && and || of these. */
static void asked_read(const struct build *build, const struct expr *e, struct asked_list *list)
{
    const struct expr *parts = &build->cells[e->u.run.at];

    if (e->kind == EXPR_DOT) {
        asked_add(list, e->u.name.id, EXPR_BOOLEAN);
    } else if (e->kind == EXPR_CALL) {
        for (uint32_t i = 0; i < parts[1].u.run.count; i++)
            asked_add(list, parts[0].u.name.id, build->cells[parts[1].u.run.at + i].kind);
    } else if (e->kind == EXPR_CHAIN && parts[0].kind == EXPR_DOT && expr_is_literal(&parts[1])) {
        asked_add(list, parts[0].u.name.id, parts[1].kind);
    } else if (e->kind == EXPR_CHAIN) {
        for (uint32_t i = 0; i < e->u.run.count; i++)
            asked_read(build, &parts[i], list);
    } else {
        list->mixed = true;
    }
}

/* Do the clauses on top of the builder ask the same attributes for the same kinds as those before? Else an error in one of them would spoil
 * a disjunction of which another is true. */
static bool asked_alike(const struct build *build, uint32_t clauses, struct asked_list *list)
{
    struct asked_list own = {0};
    uint32_t before = list->count;

    for (uint32_t i = 0; i < clauses; i++)
        asked_read(build, &build->stack[build->stack_count - 1 - i], &own);
    if (!before) {
        *list = own;
        return !own.mixed;
    }
    for (uint32_t i = 0; i < own.count; i++)
        asked_add(list, own.items[i].name, own.items[i].kind);
    return !own.mixed && !list->mixed && list->count == before && own.count == before;
}

/* Pushes the disjunction over all candidates of a later slot; false when it says nothing. */
static bool filter_push(struct collating *collating, const struct slot *later, struct build *build)
{
    struct build_mark mark = build_mark(build);
    uint32_t faces[FILTER_MAX + 1], count, kinds = 0;
    struct asked_list asked = {0};

    count = slot_seek(collating->search, later, faces, FILTER_MAX + 1);
    if (count > FILTER_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        int clauses = candidate_asks(collating, later, faces[i], build);

        if (clauses < 0 || (clauses > 0 && !asked_alike(build, (uint32_t)clauses, &asked))) {
            build_rewind(build, mark);
            return false;
        }
        if (clauses > 1)
            build_bind(build, EXPR_CHAIN, (uint32_t)clauses);
        if (clauses > 0) {
            build_top(build)->label = OP_OR;
            kinds++;
        }
    }
    if (kinds == 0) {
        collating->never = true;
        return false;
    }
    if (kinds > 1)
        build_bind(build, EXPR_CHAIN, kinds);
    build_top(build)->label = OP_AND;
    return true;
}

static uint32_t filters_push(struct collating *collating, struct build *build)
{
    const struct search *search = collating->search;
    const struct slot *slot = collating->slot;
    const struct member *member = &search->members->items[slot->member];
    uint32_t count = 0;

    for (uint32_t i = slot->number + 1; i < member->of->slot_count && !collating->never; i++) {
        const struct slot *later = &member->slots[i];
        const struct port *port = slot_port(search, later);
        bool may_fill, may_leave;

        if (later->state != SLOT_OPEN || port->set || port->share ||
            (later->member == 0 && !(search->only >> later->port_number & 1)) ||
            !(member->of->connected[later->port_number] & (uint64_t)1 << slot->port_number))
            continue;
        slot_may(search, later, &may_fill, &may_leave);
        if (!may_leave)
            count += filter_push(collating, later, build);
    }
    return count;
}

static uint32_t window_more(void *user, struct build *build)
{
    struct collating *collating = user;
    struct search *search = collating->search;
    uint32_t count = 0;

    for (uint32_t i = 0; i < search->pending_count; i++) {
        const struct slot *open = members_slot(search->members, search->pending[i].member, search->pending[i].slot);

        if (slot_matters(search->members, open, collating->slot))
            count += shunt_clauses(search->members, open, collating->slot, build);
    }
    if (collating->filter && !slot_port(search, collating->slot)->set)
        count += filters_push(collating, build);
    collating->added = count > 0;
    return count;
}

/* Is the root alone, and is this one of its ports? */
static bool slot_is_bare(const struct search *search, const struct slot *slot)
{
    const struct member *root = &search->members->items[0];

    if (search->members->count != 1 || slot->whole || slot->position > 0)
        return false;
    for (uint32_t i = 0; i < root->of->slot_count; i++)
        if (root->slots[i].state != SLOT_OPEN)
            return false;
    return true;
}

/* Makes the window of a slot of a root that is alone, or takes it from the memo if it was made already. */
static struct tree *bare_window(struct search *search, const struct slot *slot, struct collating *collating)
{
    struct members *members = search->members;
    struct ported_memo *memo = ported_memo(members->items[0].of, search->offers->asked.hash);
    uint32_t port = slot->port_number;

    if (memo->made >> port & 1) {
        members->steps += memo->steps[port];
    } else {
        uint64_t before = members->steps;

        memo->windows[port] = window_make(members, slot, &search->offers->asked, NULL, NULL);
        memo->steps[port] = members->steps - before;
        memo->made |= (uint64_t)1 << port;
    }
    return memo->windows[port] ? window_extend(memo->windows[port], window_more, collating) : NULL;
}

struct tree *slot_window(struct search *search, const struct slot *slot, bool filter)
{
    struct collating collating = {.search = search, .slot = slot};
    struct tree *window;

    collating.filter = filter && search->members->items[slot->member].of->ports.count > 1;
    window = search->steady && slot_is_bare(search, slot)
                 ? bare_window(search, slot, &collating)
                 : window_make(search->members, slot, &search->offers->asked, window_more, &collating);
    if (collating.never) {
        tree_unref(window);
        return NULL;
    }
    /* The index takes up an attribute when it is asked for a second time. Offers of our own are put in for this search alone: there the first counts. */
    if (window && (collating.added || !search->offers->kinds) && search->learnt < LEARN_MAX) {
        search->learnt++;
        stock_learn(search->offers, window);
    }
    return window;
}
