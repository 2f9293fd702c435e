/* set.c: a set put together quickly: figure 2.10 of the thesis.
 *
 * The member that makes the set rank highest is added, again and again; of the sets on the way the one that satisfies the constraint
 * and ranks highest is taken. n candidates and a set of k take n * k rankings. */
#include "match/gang/search_parts.h"

#include "match/pair/order.h"

/* The set as it grows. */
struct growing_set {
    struct search *search;
    struct slot *first; /* its positions; the whole is first[max] */
    const struct port *port;
    bool ranked; /* the port ranks the whole */
    struct arena arenas[2];
};

/* Docks a face at the position that comes next. */
static void set_push(struct growing_set *set, uint32_t face, uint32_t position)
{
    struct members *members = set->search->members;
    struct face of = stock_face(set->search->offers, face);
    const struct ported *ported = stock_ported(set->search->offers, of.offer);
    uint32_t child = members_push(members, ported, set->search->offers->items[of.offer].place);

    members_dock(members, set->first->member, set->first->number + position, child, member_slot_of(ported, of.port));
}

static void set_pop(struct growing_set *set)
{
    members_undock(set->search->members, set->search->members->count - 1);
    members_pop(set->search->members);
}

/* May the candidate be in a set at all? This filter comes first. */
static bool set_takes(struct growing_set *set, uint32_t face)
{
    struct search *search = set->search;
    struct members *members = search->members;
    const struct member *child;
    bool takes;

    if (!offer_is_free(search, stock_face(search->offers, face).offer, set->first))
        return false;
    members->evaluations++;
    set_push(set, face, 0);
    child = &members->items[members->count - 1];
    takes = members_truth(members, set->first) != TRUTH_NO &&
            members_truth(members, &child->slots[child->link]) != TRUTH_NO;
    set_pop(set);
    return takes;
}

static int vectors_compare(const struct value *a, const struct value *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int order = order_compare(&a[i], &b[i]);

        if (order)
            return order;
    }
    return 0;
}

/* Finds the candidate that makes the set rank highest at that position; returns its place on the list, or `count`. */
static uint32_t set_best(struct growing_set *set, const uint32_t *faces, const bool *used, uint32_t count,
                         uint32_t position)
{
    struct search *search = set->search;
    struct value *best_vector = NULL;
    uint32_t best = count, now = 0;

    for (uint32_t i = 0; i < count && !search_spent(search); i++) {
        struct value *vector;
        uint32_t size;
        bool open;

        if (used[i])
            continue;
        if (!set->ranked)
            return i; /* the list is in the order of the ranks already */
        search->nodes++;
        arena_reset(&set->arenas[now]);
        set_push(set, faces[i], position);
        size = members_vector(search->members, set->first + set->port->max, &set->arenas[now], &vector, &open);
        set_pop(set);
        if (!size || (best < count && vectors_compare(vector, best_vector, size) <= 0))
            continue;
        best = i;
        best_vector = vector;
        now = 1 - now;
    }
    return best;
}

/* Is the set, as it is, one that may be taken? Then its vector is in `ret`. */
static bool set_stands(struct growing_set *set, uint32_t size, struct arena *arena, struct value **ret,
                       uint32_t *ret_count)
{
    struct members *members = set->search->members;
    const struct slot *whole = set->first + set->port->max;
    bool open;

    if (size < set->port->min || members_truth(members, whole) == TRUTH_NO)
        return false;
    arena_reset(arena);
    *ret_count = members_vector(members, whole, arena, ret, &open);
    return *ret_count > 0;
}

/* Fills the frame of a position behind the first from the plan. */
static void plan_follow(struct search *search, struct frame *frame, const struct slot *slot)
{
    const struct frame *first =
        frame_of(search, frame->member, slot->number - slot->position, frame_number(search, frame));

    frame->count = 0;
    frame->resume = INDEX_END;
    if (first && first->plan && slot->position < first->plan_count) {
        frame->faces = &first->plan[slot->position];
        frame->count = 1;
        frame->may_leave = false;
    }
}

void frame_plan(struct search *search, struct frame *frame)
{
    struct slot *slot = frame_slot(search, frame);
    struct growing_set set = {.search = search, .first = slot, .port = slot_port(search, slot)};
    uint32_t max = set.port->max, pushed = 0, taken = 0, size = 0;
    struct value *vector, *best = NULL;
    struct arena stands[2];
    bool *used;

    frame->skip_to = INDEX_END;
    if (slot->position > 0) {
        plan_follow(search, frame, slot);
        return;
    }
    set.ranked = port_ranks_set(&search->members->items[slot->member].of->ports, slot->port_number);
    used = arena_alloc(&search->arena, (frame->count + 1) * sizeof *used);
    frame->plan = arena_alloc(&search->arena, (max + 1) * sizeof *frame->plan);
    for (uint32_t i = 0; i < frame->count; i++)
        used[i] = search->members->count == GANG_MEMBERS_MAX + 1 || !set_takes(&set, frame->faces[i]);
    for (int i = 0; i < 2; i++) {
        arena_init(&set.arenas[i]);
        arena_init(&stands[i]);
    }
    for (uint32_t i = 1; i < max; i++)
        members_leave(search->members, slot->member, slot->number + i);
    while (pushed < max && search->members->count < GANG_MEMBERS_MAX) {
        uint32_t place = set_best(&set, frame->faces, used, frame->count, pushed);

        if (place == frame->count)
            break;
        if (pushed)
            members_reopen(search->members, slot->member, slot->number + pushed);
        used[place] = true;
        frame->plan[pushed] = frame->faces[place];
        set_push(&set, frame->faces[place], pushed++);
        if (set_stands(&set, pushed, &stands[taken], &vector, &size) &&
            (!best || !set.ranked || vectors_compare(vector, best, size) > 0)) {
            best = vector;
            taken = 1 - taken;
            frame->plan_count = pushed;
        }
    }
    while (pushed--)
        set_pop(&set);
    for (uint32_t i = 1; i < max; i++)
        members_reopen(search->members, slot->member, slot->number + i);
    for (int i = 0; i < 2; i++) {
        arena_done(&set.arenas[i]);
        arena_done(&stands[i]);
    }
    frame->faces = frame->plan;
    frame->count = frame->plan_count ? 1 : 0;
    frame->resume = INDEX_END;
}
