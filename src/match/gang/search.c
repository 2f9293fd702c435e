/* search.c: the search for one gang: fill, refill, back. */
#include "match/gang/search_parts.h"

#include <string.h>

const struct strategy strategies[GANG_ALGORITHMS] = {
    [GANG_NAIVE] = {STOCK_PLAIN, FILL_LEFT, false, false, false},
    [GANG_LR] = {STOCK_INDEXED, FILL_LEFT, false, false, false},
    [GANG_RL] = {STOCK_INDEXED, FILL_RIGHT, false, false, false},
    [GANG_LRC] = {STOCK_INDEXED, FILL_LEFT, true, false, false},
    [GANG_RLC] = {STOCK_INDEXED, FILL_RIGHT, true, false, false},
    [GANG_DYN] = {STOCK_INDEXED, FILL_FEWEST, true, false, false},
    [GANG_DYNS] = {STOCK_SHARED, FILL_FEWEST, true, false, false},
    [GANG_DYNSR] = {STOCK_SHARED, FILL_FEWEST, true, true, false},
    [GANG_AUTO] = {STOCK_SHARED, FILL_LEFT, true, false, true},
};

void search_init(struct search *search, const struct gang_settings *settings, struct stock *offers,
                 struct members *members)
{
    memset(search, 0, sizeof *search);
    search->strategy = &strategies[settings->algorithm];
    search->preferences = settings->preferences && search->strategy->ahead;
    search->greedy = settings->sets_greedy;
    search->offers = offers;
    search->members = members;
    search->only = UINT64_MAX;
    search->budget = settings->nodes ? settings->nodes : GANG_NODES_MAX;
    if (settings->steps && members->env->meter) {
        search->meter_most = *members->env->meter + settings->steps;
        search->work = 4 * search->budget;
    }
    rng_init(&search->rng, settings->seed);
    arena_init(&search->arena);
    arena_init(&search->best_arenas[0]);
    arena_init(&search->best_arenas[1]);
}

void search_done(struct search *search)
{
    arena_done(&search->arena);
    arena_done(&search->best_arenas[0]);
    arena_done(&search->best_arenas[1]);
}

/* -------------------------------------------------------------------------------------------------------------- frames */

/* Finds the frame of a slot that is like this one and was filled before it: what was passed over there need not be tried here. */
static const struct frame *frame_twin(struct search *search, const struct frame *frame)
{
    const struct slot *slot = frame_slot(search, frame);
    const struct ported *of = search->members->items[slot->member].of;
    bool set = slot_port(search, slot)->set && slot->position > 0;

    const struct frame *twin;

    if (search->exhaustive && !port_ranks_set(&of->ports, slot->port_number))
        return NULL; /* the lists are not in the order of preference */
    if (!search->strategy->ahead || slot->number == 0 || slot_port(search, slot)->share ||
        (!set && (search->offers->entangled || !(of->twins & (uint64_t)1 << slot->port_number))))
        return NULL;
    twin = frame_of(search, frame->member, slot->number - 1, frame_number(search, frame));
    return twin && twin->docked != NOBODY ? twin : NULL;
}

/* Takes off the list what was passed over for the twin. */
static void frame_pass_over(struct frame *frame, const struct frame *twin)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < frame->count; i++) {
        bool passed = false;

        for (uint32_t k = 0; k + 1 < twin->next && !passed; k++)
            passed = twin->faces[k] == frame->faces[i];
        if (!passed)
            frame->faces[count++] = frame->faces[i];
    }
    frame->count = count;
}

/* Takes off the list what comes before the twin's: where the whole set is ranked, its members are in the order of their places. */
static void frame_keep_later(struct search *search, struct frame *frame, const struct frame *twin)
{
    const struct slot *slot = frame_slot(search, frame);
    uint32_t count = 0;

    for (uint32_t i = 0; i < frame->count; i++)
        if (stock_before(search->offers, twin->offer, face_available(search, slot, frame->faces[i]).offer))
            frame->faces[count++] = frame->faces[i];
    frame->count = count;
}

/* Starts a frame for the next slot of the agenda. */
static void frame_start(struct search *search)
{
    struct frame *frame = &search->frames[search->depth];
    const struct pending *what = &search->agenda[search->depth];
    const struct frame *twin;
    bool may_fill;

    *frame = (struct frame){.member = what->member,
                            .slot = what->slot,
                            .docked = NOBODY,
                            .rest = INDEX_END,
                            .skip_to = INDEX_END,
                            .resume = INDEX_END,
                            .mark = arena_mark(&search->arena)};
    slot_may(search, frame_slot(search, frame), &may_fill, &frame->may_leave);
    if (!may_fill)
        return;
    twin = frame_twin(search, frame);
    if (twin) {
        if (!search->preferences)
            frame->skip_to = twin->chosen; /* the lists are in one order */
        frame_set_add(&frame->conflict, frame_number(search, twin));
    }
    frame_fill(search, frame);
    if (!twin || !search->preferences || search->greedy)
        return;
    if (port_ranks_set(&search->members->items[frame->member].of->ports, frame_slot(search, frame)->port_number))
        frame_keep_later(search, frame, twin);
    else if (!search->exhaustive)
        frame_pass_over(frame, twin);
}

/* Ends a frame, and frees all that it holds. */
static void frame_end(struct search *search, struct frame *frame)
{
    tree_unref(frame->window);
    frame->window = NULL;
    arena_rewind(&search->arena, frame->mark);
}

/* Writes down where the search is stuck, if the search has never been further. */
static void dead_end_note(struct search *search)
{
    struct dead_end *dead = search->dead;
    const struct frame *frame = &search->frames[search->depth];

    if (!dead || (dead->known && dead->count >= search->depth))
        return;
    dead->known = true;
    dead->count = search->depth;
    dead->member = frame->member;
    dead->slot = frame->slot;
    for (uint32_t i = 0; i < search->depth; i++) {
        const struct frame *at = &search->frames[i];
        bool docked = at->docked != NOBODY;

        dead->frames[i].member = at->member;
        dead->frames[i].slot = at->slot;
        dead->frames[i].offer = docked ? at->offer : NOBODY;
        dead->frames[i].link = docked ? search->members->items[at->docked].link : NOBODY;
    }
}

/* Decides the frame anew: the next candidate that docks, or at last nobody. */
static bool frame_decide(struct search *search, struct frame *frame)
{
    uint32_t face;

    while ((face = frame_next(search, frame)) != INDEX_END && !search_spent(search))
        if (frame_dock(search, frame, face))
            return true;
    if (!frame->may_leave || search_spent(search))
        return false;
    frame->may_leave = false;
    return frame_leave(search, frame);
}

/* Are the slots of two frames alike, so that whoever fits one fits the other, whoever else is docked? */
static bool frames_alike(const struct search *search, const struct frame *frame, const struct frame *other)
{
    const struct slot *a = frame_slot(search, frame), *b = frame_slot(search, other);
    const struct ported *of = search->members->items[a->member].of;
    uint32_t port = a->port_number > b->port_number ? a->port_number : b->port_number;

    if (a->member != b->member || slot_port(search, a)->share || search->offers->entangled)
        return false;
    if (a->port_number == b->port_number)
        return !port_binds_set(&of->ports, port);
    return port - a->port_number + (port - b->port_number) == 1 && of->twins & (uint64_t)1 << port;
}

/* Where nobody was ever found for a slot, and the slots filled just before it are like it: those have all that there is for such slots, in whatever order,
 * and there are too few. Returns how many of these frames stand before it: none of them need be refilled. */
static uint32_t frames_futile(const struct search *search, uint32_t failed)
{
    const struct frame *frame = &search->frames[failed];
    uint32_t count = 0;

    if (frame->filled || frame->left)
        return 0;
    for (uint32_t i = 0; i < search->pending_count; i++)
        if (slot_matters(search->members,
                         members_slot(search->members, search->pending[i].member, search->pending[i].slot),
                         frame_slot(search, frame)))
            return 0;
    while (count < failed) {
        const struct frame *before = &search->frames[failed - count - 1];

        if (before->left || before->may_leave || !frames_alike(search, before + 1, before))
            break;
        count++;
    }
    return count;
}

/* Goes back to the last frame that the failure depends on; false when there is none. */
static bool search_back(struct search *search)
{
    uint32_t failed = search->depth, to = failed ? failed - 1 : NOBODY;
    struct frame *frame = &search->frames[failed];

    if (search->strategy->ahead && !search->best_count) {
        conflict_add(search, &frame->conflict, frame_slot(search, frame), failed);
        to = conflict_last(&frame->conflict, failed);
    } else if (!search->strategy->ahead) {
        failed -= frames_futile(search, failed);
        to = failed ? failed - 1 : NOBODY;
    }
    frame_end(search, frame);
    if (to == NOBODY) {
        while (search->depth) {
            frame_undo(search, &search->frames[--search->depth]);
            frame_end(search, &search->frames[search->depth]);
        }
        return false;
    }
    for (uint32_t i = 0; i < SEARCH_AGENDA_MAX / 64; i++)
        search->frames[to].conflict.words[i] |= frame->conflict.words[i];
    search->frames[to].conflict.words[to / 64] &= ~((uint64_t)1 << (to & 63));
    while (search->depth > to) {
        frame_undo(search, &search->frames[--search->depth]);
        if (search->depth > to)
            frame_end(search, &search->frames[search->depth]);
    }
    return true;
}

/* Offers the gang, which is complete. True when the search is over. Constraints that nothing seemed to settle are tested a last time. */
static bool search_complete(struct search *search)
{
    for (uint32_t i = 0; i < search->pending_count; i++)
        if (members_truth(search->members, members_slot(search->members, search->pending[i].member,
                                                        search->pending[i].slot)) == TRUTH_NO)
            return false;
    return gang_offer(search) && !search->exhaustive;
}

#define COUNTED_FROM \
    3 /* slots of the root, from which on all algorithms count: with two of them there are few ways to try */

/* Are the candidates of the root's slots to be counted before the search goes back for the first time? */
static bool search_counts(const struct search *search)
{
    return !search->counted && !search->exhaustive &&
           (search->strategy->ahead || search->members->items[0].of->slot_count >= COUNTED_FROM);
}

/* Fills and refills until there is a gang, or there can be none. */
static enum gang_outcome search_run(struct search *search)
{
    bool fresh = true;

    while (search->depth == search->agenda_count || !search_spent(search)) {
        struct frame *frame;

        if (search->depth == search->agenda_count) {
            if (search_complete(search))
                return GANG_FORMED;
            if (search->depth == 0)
                break;
            frame_undo(search, &search->frames[--search->depth]);
            fresh = false;
        }
        frame = &search->frames[search->depth];
        if (fresh)
            frame_start(search);
        if (frame_decide(search, frame)) {
            search->depth++;
            fresh = true;
            continue;
        }
        if (search_spent(search))
            break;
        dead_end_note(search);
        if (search_counts(search) && search->depth)
            return GANG_NONE; /* before anything else is tried, candidates are counted */
        if (!search_back(search)) {
            search->counted = true;
            return search->best_count ? GANG_FORMED : GANG_NONE;
        }
        fresh = false;
    }
    return search->best_count ? GANG_FORMED : search_spent(search) ? GANG_GAVE_UP : GANG_NONE;
}

/* Takes everything back but the root. */
static void search_unwind(struct search *search)
{
    if (search->depth < search->agenda_count)
        frame_end(search, &search->frames[search->depth]);
    while (search->depth) {
        frame_undo(search, &search->frames[--search->depth]);
        frame_end(search, &search->frames[search->depth]);
    }
    search->pending = NULL;
    search->pending_count = 0;
}

/* Runs once and takes everything back; the best gang so far is kept. */
static enum gang_outcome search_once(struct search *search)
{
    enum gang_outcome outcome = search_run(search);

    search_unwind(search);
    return outcome;
}

/* Searches once more: there may be a gang that the first way did not find. Where any gang will do, ours fills the slots in another order. */
static enum gang_outcome search_again(struct search *search)
{
    enum gang_outcome outcome = GANG_NONE;

    search->counted = true;
    search->by_fewest = search->strategy->ahead && !search->preferences &&
                        !search->offers->residual; /* residuals depend on who docks first */
    search->agenda_count = 0;
    if (agenda_insert(search, NULL, 0))
        outcome = search_once(search);
    search->by_fewest = false;
    return outcome;
}

/* Does the root ask for a set that must satisfy something as a whole? */
static bool root_has_sets(const struct ported *root)
{
    for (uint32_t i = 0; i < root->ports.count; i++)
        if (port_binds_set(&root->ports, i) || port_ranks_set(&root->ports, i))
            return true;
    return false;
}

#define METER_PART 2 /* all steps together may be so many times the steps of evaluations */

/* Grants the whole budget anew. */
static void search_grant(struct search *search)
{
    uint64_t steps = search->steps ? search->steps : GANG_STEPS_MAX + 100 * search->budget;

    search->nodes = 0;
    search->work_end = search->probes + search->members->evaluations + search->ranked +
                       (search->work ? search->work : GANG_WORK_MAX + 2 * search->budget);
    search->steps_end = search->members->steps + steps;
    search->meter_end = (search->members->env->meter ? *search->members->env->meter : 0) + METER_PART * steps;
    if (search->meter_most && search->meter_most < search->meter_end)
        search->meter_end = search->meter_most;
}

/* Puts sets together quickly, when the exact search has spent its budget. The better gang stays. */
static enum gang_outcome search_quickly(struct search *search)
{
    uint64_t before = search->nodes;
    enum gang_outcome outcome;

    search_grant(search);
    search->greedy = true;
    outcome = search_once(search);
    search->greedy = false;
    search->nodes += before;
    return outcome == GANG_NONE ? GANG_GAVE_UP : outcome;
}

enum gang_outcome search_root(struct search *search, const struct ported *root, size_t place)
{
    enum gang_outcome outcome = GANG_NONE;
    bool greedy = search->greedy;

    search->depth = search->agenda_count = search->best_count = 0;
    search_grant(search);
    search->counted = search->exhaustive = false;
    search->pending_count = 0;
    arena_reset(&search->arena);
    if (root->slot_count > MEMBER_SLOTS_MAX)
        return GANG_NONE;
    if (agenda_insert(search, NULL, members_push(search->members, root, place))) {
        outcome = search_once(search);
        if (outcome == GANG_NONE && search_counts(search) && root_counts(search))
            outcome = search_again(search);
        search->cut = search->preferences && search_spent(search);
        if (search_spent(search) && !greedy && root_has_sets(root))
            outcome = search_quickly(search);
    }
    members_pop(search->members);
    return outcome;
}

static bool face_weigh(void *user, uint32_t face)
{
    ((uint32_t *)user)[face]++;
    return true;
}

void search_weigh(struct search *search, const struct ported *root, size_t place, uint32_t *weights)
{
    const struct member *member;

    if (root->slot_count > MEMBER_SLOTS_MAX)
        return;
    member = &search->members->items[members_push(search->members, root, place)];
    for (uint32_t i = 0; i < root->slot_count; i++) {
        struct tree *window;

        if (member->slots[i].whole || member->slots[i].position > 0)
            continue;
        window = slot_window(search, &member->slots[i], false);
        if (window)
            index_seek(search->offers->index, search->members->env, search->members->scratch, window, 0, face_weigh,
                       weights);
        tree_unref(window);
    }
    members_pop(search->members);
}
