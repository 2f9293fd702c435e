/* fill.c: the candidates of a slot, in the order in which they are tried. */
#include "match/gang/search_parts.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "match/pair/order.h"

#include <stdlib.h>

#define SEEK_AT_ONCE 16 /* candidates that are looked for at once where any will do */
#define PICKS_MAX 8     /* candidates that are picked one by one; then the rest is sorted */

/* -------------------------------------------------------------------------------------------------------------- probes */

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
    row = stock_seek(search->offers, window, from, face_found, &found);
    *ret_count = found.count;
    return row;
}

/* The same without an index: every face is tried, with nothing below it. */
static uint32_t slot_try(struct search *search, const struct slot *slot, uint32_t *ret_faces, uint32_t limit)
{
    struct members *members = search->members;
    uint32_t count = 0;

    if (members->count == GANG_MEMBERS_MAX + 1)
        return 0;
    for (uint32_t face = 0; face < search->offers->face_count && count < limit && !search_spent(search); face++) {
        struct face of = stock_face(search->offers, face);
        const struct stocked_offer *offer = &search->offers->items[of.offer];
        uint32_t child;

        if (offer->gone || offer->ported.ports.items[of.port].set)
            continue;
        child = members_push(members, &offer->ported, offer->place);
        members_dock(members, slot->member, slot->number, child, member_slot_of(&offer->ported, of.port));
        members->evaluations++;
        if (members_truth(members, slot) != TRUTH_NO &&
            members_truth(members, members_slot(members, child, members->items[child].link)) != TRUTH_NO)
            ret_faces[count++] = face;
        members_undock(members, child);
        members_pop(members);
    }
    return count;
}

uint32_t slot_seek(struct search *search, const struct slot *slot, uint32_t *ret_faces, uint32_t limit)
{
    struct tree *window;
    uint32_t count = 0;

    if (search->strategy->way == STOCK_PLAIN)
        return slot_try(search, slot - slot->position, ret_faces, limit);
    window = slot_window(search, slot, false);
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

    ARRAY_ROOM(all->faces, all->count, all->room, 256);
    all->faces[all->count++] = face;
    return true;
}

/* Does the slot belong to a set that is put together quickly? */
static bool frame_plans(const struct search *search, const struct frame *frame)
{
    return search->greedy && slot_port(search, frame_slot(search, frame))->set;
}

/* Lists all that the window finds, in the order of their numbers if that is asked for. */
static void frame_seek_all(struct search *search, struct frame *frame, const struct tree *window, bool sorted)
{
    struct growing all = {0};
    uint32_t heads;

    search->probes++;
    stock_seek(search->offers, window, 0, face_grow, &all);
    heads = all.count;
    for (uint32_t i = 0; i < heads && frame_plans(search, frame); i++)
        for (uint32_t at = all.faces[i]; (at = stock_next(search->offers, at)) != INDEX_END;)
            face_grow(&all, at); /* a plan says who is in the set, one by one */
    if (all.count && sorted)
        stock_sort(search->offers, all.faces, all.count);
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
    struct face of;
    uint64_t order; /* of its offer */
};

static int ranked_compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    for (uint32_t i = 0; i < x->count && i < y->count; i++) {
        int order = order_compare(&y->vector[i], &x->vector[i]);

        if (order)
            return order;
    }
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->of.offer != y->of.offer)
        return x->of.offer < y->of.offer ? -1 : 1;
    return x->of.port < y->of.port ? -1 : 1;
}

/* Makes the vector that a candidate would have at the slot; 0 when it is discarded. Whether a candidate docks is seen when it is tried. A candidate
 * whose vector is not known yet is tested now: that changes how the search goes on. */
static uint32_t candidate_rank(struct search *search, const struct slot *slot, uint32_t face, struct arena *arena,
                               struct value **ret, bool *ret_open)
{
    struct members *members = search->members;
    struct face of = stock_face(search->offers, face);
    const struct ported *ported = stock_ported(search->offers, of.offer);
    uint32_t child = members_push(members, ported, search->offers->items[of.offer].place), count;

    members_dock(members, slot->member, slot->number, child, member_slot_of(ported, of.port));
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

struct face face_available(const struct search *search, const struct slot *slot, uint32_t face)
{
    for (uint32_t at = face; at != INDEX_END; at = stock_next(search->offers, at)) {
        struct face of = stock_face(search->offers, at);

        if (offer_is_free(search, of.offer, slot))
            return of;
    }
    return stock_face(search->offers, face);
}

/* Sorts the candidates, the best first. A vector that is not known yet, or one of a whole set, makes the search go through all gangs. */
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
        all[count].order = stock_order(search->offers, all[count].of.offer);
        search->ranked += search->work != 0;
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

/* Are all candidates the same to the slot, and the slot to them? Then the first is taken. */
static bool slot_is_indifferent(const struct search *search, const struct slot *slot)
{
    const struct scope *at = &slot->port;

    return !search->members->policy->vector && !search->offers->ranked && !scope_find(&at, NAME_RANK);
}

/* Brings the candidate whose offer comes first to the front of those that are left. */
static void frame_pick(const struct search *search, struct frame *frame)
{
    const struct slot *slot = frame_slot(search, frame);
    struct face best = {NOBODY, 0};
    uint32_t place = frame->next, face;

    for (uint32_t i = frame->next; i < frame->count; i++) {
        struct face of = face_available(search, slot, frame->faces[i]);

        if (best.offer == NOBODY || (of.offer == best.offer && of.port < best.port) ||
            stock_before(search->offers, of.offer, best.offer)) {
            best = of;
            place = i;
        }
    }
    face = frame->faces[place];
    frame->faces[place] = frame->faces[frame->next];
    frame->faces[frame->next] = face;
}

/* Sorts the candidates that are left by their offers: who may dock is the same as long as the frame is there. */
static void frame_sort(const struct search *search, struct frame *frame)
{
    const struct slot *slot = frame_slot(search, frame);
    uint32_t count = frame->count - frame->next;
    struct ranked *all = mem_alloc((count + 1) * sizeof *all);

    for (uint32_t i = 0; i < count; i++) {
        all[i] = (struct ranked){.face = frame->faces[frame->next + i]};
        all[i].of = face_available(search, slot, all[i].face);
        all[i].order = stock_order(search->offers, all[i].of.offer);
    }
    qsort(all, count, sizeof *all, ranked_compare);
    for (uint32_t i = 0; i < count; i++)
        frame->faces[frame->next + i] = all[i].face;
    free(all);
    frame->by_place = false;
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

/* The next candidate on the list, whoever it is. */
static uint32_t list_next(struct search *search, struct frame *frame)
{
    if (frame->next == frame->count && frame->resume != INDEX_END) {
        frame->resume = window_seek(search, frame->window, frame->resume, frame->faces, SEEK_AT_ONCE, &frame->count);
        frame->next = 0;
    }
    if (frame->next == frame->count)
        return INDEX_END;
    if (frame->by_place && frame->next < PICKS_MAX)
        frame_pick(search, frame);
    else if (frame->by_place)
        frame_sort(search, frame);
    return frame->faces ? frame->faces[frame->next++] : frame->next++;
}

uint32_t frame_next(struct search *search, struct frame *frame)
{
    uint32_t face = frame->rest;

    frame->rest = INDEX_END;
    if (face != INDEX_END)
        return face;
    face = list_next(search, frame);
    while (frame->skip_to != INDEX_END && face != frame->skip_to && face != INDEX_END)
        face = list_next(search, frame);
    frame->skip_to = INDEX_END;
    frame->chosen = face;
    return face;
}
