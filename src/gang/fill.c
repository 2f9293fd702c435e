/* fill.c: the candidates of a slot, in the order in which they are tried. */
#include "gang/search_parts.h"

#include "base/mem.h"
#include "gang/shunt.h"
#include "match/order.h"

#include <stdlib.h>

#define FILTER_MAX 16   /* kinds of candidates of a later port that are used as a query for an earlier one */
#define LEARN_MAX 64    /* windows of which the index is told, so that their clauses count from the first probe on */
#define SEEK_AT_ONCE 16 /* candidates that are looked for at once where any will do */

/* What a window says beside the port's own clauses. */
struct collating {
    struct search *search;
    const struct slot *slot;
    bool filter;
    bool never; /* a later port can be filled by nobody */
    bool added; /* it says something */
};

/* ------------------------------------------------------------------------------- the candidates of a later port as a query */

/* Pushes what one candidate of the later slot would ask of whoever docks at the first: a conjunction. How many clauses; -1 when it
 * asks nothing, 0 when it does not fit at all. */
static int candidate_asks(struct collating *collating, const struct slot *later, uint32_t face, struct build *build)
{
    struct search *search = collating->search;
    struct members *members = search->members;
    const struct face *of = &search->offers->faces[face];
    const struct ported *ported = &search->offers->items[of->offer].ported;
    const struct slot *link;
    enum truth own, others;
    uint32_t child;
    int count = 0;

    if (ported->ports.count > 1 || members->count == GANG_MEMBERS_MAX + 1)
        return -1;
    child = members_push(members, ported, search->offers->items[of->offer].place);
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

/* What is asked of an attribute: something of that kind. */
struct asked {
    symbol name;
    unsigned char kind; /* of a literal; EXPR_BOOLEAN for the attribute alone */
};

/* All of one candidate, each once; too many, or of mixed kinds, and there is nothing to be said. */
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
    } else if (e->kind == EXPR_CHAIN && parts[0].kind == EXPR_DOT && parts[1].kind <= EXPR_RELTIME) {
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

/* Pushes the disjunction over all candidates of a later slot; whether it says anything. */
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

/* -------------------------------------------------------------------------------------------------------------- probes */

struct tree *slot_window(struct search *search, const struct slot *slot, bool filter)
{
    struct collating collating = {.search = search, .slot = slot};
    struct tree *window;

    collating.filter = filter && search->members->items[slot->member].of->ports.count > 1;
    window = window_make(search->members, slot, &search->offers->asked, window_more, &collating);
    if (collating.never) {
        tree_unref(window);
        return NULL;
    }
    if (window && collating.added && search->learnt < LEARN_MAX) {
        search->learnt++;
        index_learn(search->offers->index, search->members->env, search->members->scratch, window);
    }
    return window;
}

struct found {
    uint32_t *faces;
    uint32_t count, limit;
};

static bool face_found(void *user, uint32_t face)
{
    struct found *found = user;

    found->faces[found->count++] = face;
    return found->count < found->limit;
}

static uint32_t window_seek(struct search *search, const struct tree *window, uint32_t from, uint32_t *ret_faces,
                            uint32_t limit, uint32_t *ret_count)
{
    struct found found = {ret_faces, 0, limit};
    uint32_t row;

    search->probes++;
    row = index_seek(search->offers->index, search->members->env, search->members->scratch, window, from, face_found,
                     &found);
    *ret_count = found.count;
    return row;
}

uint32_t slot_seek(struct search *search, const struct slot *slot, uint32_t *ret_faces, uint32_t limit)
{
    struct tree *window = slot_window(search, slot, false);
    uint32_t count = 0;

    if (window)
        window_seek(search, window, 0, ret_faces, limit, &count);
    tree_unref(window);
    return count;
}

struct growing {
    uint32_t *faces;
    uint32_t count, room;
};

static bool face_grow(void *user, uint32_t face)
{
    struct growing *all = user;

    if (all->count == all->room) {
        all->room = all->room ? all->room * 2 : 256;
        all->faces = mem_grow(all->faces, all->room * sizeof *all->faces);
    }
    all->faces[all->count++] = face;
    return true;
}

static int face_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Is the slot of a set that is put together quickly? */
static bool frame_plans(const struct search *search, const struct frame *frame)
{
    return search->greedy && slot_port(search, frame_slot(search, frame))->set;
}

/* All that the window finds, in the order of their numbers if that is asked for. */
static void frame_seek_all(struct search *search, struct frame *frame, const struct tree *window, bool sorted)
{
    struct growing all = {0};
    uint32_t heads;

    search->probes++;
    index_seek(search->offers->index, search->members->env, search->members->scratch, window, 0, face_grow, &all);
    heads = all.count;
    for (uint32_t i = 0; i < heads && search->offers->shared && frame_plans(search, frame); i++)
        for (uint32_t at = all.faces[i]; (at = index_next(search->offers->index, at)) != INDEX_END;)
            face_grow(&all, at); /* a plan says who is in the set, one by one */
    if (all.count && sorted)
        qsort(all.faces, all.count, sizeof *all.faces, face_compare);
    frame->faces = arena_alloc(&search->arena, (all.count + 1) * sizeof *frame->faces);
    for (uint32_t i = 0; i < all.count; i++)
        frame->faces[i] = all.faces[i];
    frame->count = all.count;
    free(all.faces);
}

/* ---------------------------------------------------------------------------------------------------------- preferences */

struct ranked {
    struct value *vector;
    uint32_t count, face;
    const struct face *of;
};

static int ranked_compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    for (uint32_t i = 0; i < x->count && i < y->count; i++) {
        int order = order_compare(&y->vector[i], &x->vector[i]);

        if (order)
            return order;
    }
    if (x->of->offer != y->of->offer)
        return x->of->offer < y->of->offer ? -1 : 1;
    return x->of->port < y->of->port ? -1 : 1;
}

/* The vector that a candidate would have at the slot; 0 when it is discarded. Whether it docks is seen when it is tried, but for one
 * whose vector is not known yet: that changes how the search goes on. */
static uint32_t candidate_rank(struct search *search, const struct slot *slot, uint32_t face, struct arena *arena,
                               struct value **ret, bool *ret_open)
{
    struct members *members = search->members;
    const struct face *of = &search->offers->faces[face];
    const struct offer *offer = &search->offers->items[of->offer];
    uint32_t child = members_push(members, &offer->ported, offer->place), count;

    members_dock(members, slot->member, slot->number, child, member_slot_of(&offer->ported, of->port));
    count = members_vector(members, slot, arena, ret, ret_open);
    if (*ret_open) {
        members->evaluations++;
        if (members_truth(members, slot) == TRUTH_NO ||
            members_truth(members, members_slot(members, child, members->items[child].link)) == TRUTH_NO)
            count = 0;
    }
    members_undock(members, child);
    members_pop(members);
    return count;
}

const struct face *face_available(const struct search *search, const struct slot *slot, uint32_t face)
{
    for (uint32_t at = face; search->offers->shared && at != INDEX_END; at = index_next(search->offers->index, at))
        if (offer_is_free(search, search->offers->faces[at].offer, slot))
            return &search->offers->faces[at];
    return &search->offers->faces[face];
}

/* Puts the best in front. A vector that is not known yet, or one of a whole set, makes the search go through all gangs. */
static void frame_rank(struct search *search, struct frame *frame)
{
    const struct slot *slot = frame_slot(search, frame);
    const struct ported *of = search->members->items[slot->member].of;
    struct ranked *all;
    struct arena arena;
    uint32_t count = 0;

    if (port_ranks_set(&of->ports, slot->port_number)) {
        search->exhaustive = true;
        return;
    }
    if (search->members->count == GANG_MEMBERS_MAX + 1)
        return;
    arena_init(&arena);
    all = mem_alloc((frame->count + 1) * sizeof *all);
    for (uint32_t i = 0; i < frame->count && !search_spent(search); i++) {
        struct arena_mark mark = arena_mark(&arena);
        bool open = false;

        all[count].face = frame->faces[i];
        all[count].of = face_available(search, slot, frame->faces[i]);
        all[count].count = candidate_rank(search, slot, frame->faces[i], &arena, &all[count].vector, &open);
        search->exhaustive |= open && all[count].count;
        if (all[count].count)
            count++;
        else
            arena_rewind(&arena, mark);
    }
    if (!search->exhaustive)
        qsort(all, count, sizeof *all, ranked_compare);
    for (uint32_t i = 0; i < count; i++)
        frame->faces[i] = all[i].face;
    frame->count = count;
    free(all);
    arena_done(&arena);
}

/* Are all candidates the same to the slot, and it to them? Then the first is taken. */
static bool slot_is_indifferent(const struct search *search, const struct slot *slot)
{
    const struct scope *at = &slot->port;

    return !search->members->policy->vector && !search->offers->ranked && !scope_find(&at, NAME_RANK);
}

/* Brings the candidate whose offer comes first to the front of those that are left. */
static void frame_pick(const struct search *search, struct frame *frame)
{
    const struct slot *slot = frame_slot(search, frame);
    const struct face *best = NULL;
    uint32_t place = frame->next, face;

    for (uint32_t i = frame->next; i < frame->count; i++) {
        const struct face *of = face_available(search, slot, frame->faces[i]);

        if (!best || of->offer < best->offer || (of->offer == best->offer && of->port < best->port)) {
            best = of;
            place = i;
        }
    }
    face = frame->faces[place];
    frame->faces[place] = frame->faces[frame->next];
    frame->faces[frame->next] = face;
}

/* --------------------------------------------------------------------------------------------------------------- frames */

void frame_fill(struct search *search, struct frame *frame)
{
    const struct strategy *strategy = search->strategy;
    const struct slot *slot = frame_slot(search, frame);
    struct tree *window;

    frame->next = 0;
    frame->resume = INDEX_END;
    if (strategy->way == STOCK_PLAIN) {
        frame->count = search->offers->face_count;
        return;
    }
    frame->faces = arena_alloc(&search->arena, SEEK_AT_ONCE * sizeof *frame->faces);
    frame->count = 0;
    window = slot_window(search, slot, strategy->ahead);
    if (!window)
        return;
    if (strategy->ahead && !search->preferences && !frame_plans(search, frame)) {
        frame->resume = window_seek(search, window, 0, frame->faces, SEEK_AT_ONCE, &frame->count);
        if (frame->resume != INDEX_END) {
            frame->window = window;
            return;
        }
    } else {
        frame->by_place = search->preferences && slot_is_indifferent(search, slot) &&
                          !(search->greedy && slot_port(search, slot)->set);
        frame_seek_all(search, frame, window, !frame->by_place);
        if (search->preferences && !frame->by_place)
            frame_rank(search, frame);
        if (strategy->random_start && frame->count) {
            uint32_t start = (uint32_t)rng_below(&search->rng, frame->count);
            uint32_t *turned = arena_alloc(&search->arena, frame->count * sizeof *turned);

            for (uint32_t i = 0; i < frame->count; i++)
                turned[i] = frame->faces[(start + i) % frame->count];
            frame->faces = turned;
        }
    }
    tree_unref(window);
    if (frame_plans(search, frame))
        frame_plan(search, frame);
}

/* The next on the list, whoever it is. */
static uint32_t list_next(struct search *search, struct frame *frame)
{
    if (frame->next == frame->count && frame->resume != INDEX_END) {
        frame->resume = window_seek(search, frame->window, frame->resume, frame->faces, SEEK_AT_ONCE, &frame->count);
        frame->next = 0;
    }
    if (frame->next == frame->count)
        return INDEX_END;
    if (frame->by_place)
        frame_pick(search, frame);
    return frame->faces ? frame->faces[frame->next++] : frame->next++;
}

uint32_t frame_next(struct search *search, struct frame *frame)
{
    uint32_t face = list_next(search, frame);

    while (frame->skip_to != INDEX_END && face != frame->skip_to && face != INDEX_END)
        face = list_next(search, frame);
    frame->skip_to = INDEX_END;
    return face;
}
