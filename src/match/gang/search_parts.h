/* search_parts.h: what the files of the search share; not installed.
 *
 *     search.c     the loop: fill, refill, back
 *     agenda.c     the slots that must be filled, in order
 *     filter.c     the window of a slot
 *     fill.c       its candidates
 *     set.c        a set put together quickly
 *     groups.c     which ports may stay empty
 *     try.c        a candidate is docked, or not
 *     learn.c      why a slot could not be filled, and how far back that sends the search
 *     count.c      are there enough candidates at all?
 *     best.c       which of two gangs is the better one */
#ifndef BERTH_MATCH_GANG_SEARCH_PARTS_H
#define BERTH_MATCH_GANG_SEARCH_PARTS_H

#include "match/gang/search.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline struct slot *frame_slot(const struct search *search, const struct frame *frame)
{
    return members_slot(search->members, frame->member, frame->slot);
}

static inline const struct port *slot_port(const struct search *search, const struct slot *slot)
{
    return &search->members->items[slot->member].of->ports.items[slot->port_number];
}

/* Is the budget of the root used up? */
static inline bool search_spent(const struct search *search)
{
    return search->nodes >= search->budget ||
           search->probes + search->members->evaluations + search->ranked >= search->work_end ||
           search->members->steps >= search->steps_end ||
           (search->members->env->meter && *search->members->env->meter >= search->meter_end);
}

/* May the slot be filled; may it stay empty? As groups, sets and Essential have it. */
void slot_may(const struct search *search, const struct slot *slot, bool *ret_fill, bool *ret_leave);

/* Can the ports still be filled as their groups say? `states` by port. */
bool ports_feasible(const struct ports *ports, const enum slot_state *states);

/* ---- filter.c */

/* The window of a slot as things are; NULL when nobody fits. `filter`: later ports have a say. */
struct tree *slot_window(struct search *search, const struct slot *slot, bool filter);

/* ---- fill.c */

/* Up to `limit` faces that may dock at the slot, heads of classes; how many. */
uint32_t slot_seek(struct search *search, const struct slot *slot, uint32_t *ret_faces, uint32_t limit);

/* Of equal offers, which a face stands for, the first that may dock at the slot. */
struct face face_available(const struct search *search, const struct slot *slot, uint32_t face);

/* Makes the list of candidates of a frame. */
void frame_fill(struct search *search, struct frame *frame);

/* The next candidate on the list, INDEX_END when there is none. */
uint32_t frame_next(struct search *search, struct frame *frame);

/* ---- set.c */

/* Puts a set together as figure 2.10 of the thesis does; the plan is in the frame, which is that of its first position. */
void frame_plan(struct search *search, struct frame *frame);

/* ---- try.c */

/* Docks a candidate at the frame's slot; false when it does not fit, and then nothing has changed. */
bool frame_dock(struct search *search, struct frame *frame, uint32_t face);
bool frame_leave(struct search *search, struct frame *frame);

/* Takes back what was docked or left. */
void frame_undo(struct search *search, struct frame *frame);

/* ---- agenda.c */

/* The slots of a new member, in the order in which they are filled, go on the agenda behind the frame; false when there are too many,
 * or a check says that one of them cannot be filled. They are taken off again. */
bool agenda_insert(struct search *search, struct frame *frame, uint32_t member);
void agenda_remove(struct search *search, struct frame *frame);

/* ---- learn.c */

static inline void frame_set_add(struct frame_set *set, uint32_t frame)
{
    set->words[frame / 64] |= (uint64_t)1 << (frame & 63);
}

static inline uint32_t frame_number(const struct search *search, const struct frame *frame)
{
    return (uint32_t)(frame - search->frames);
}

/* Does who is docked at one slot matter to who may dock at another? */
bool slot_matters(const struct members *members, const struct slot *one, const struct slot *other);

/* All frames before `below` on which what may dock at a slot hangs. */
void conflict_add(struct search *search, struct frame_set *set, const struct slot *slot, uint32_t below);

/* The frames that hold the offer. */
void conflict_add_holder(struct search *search, struct frame_set *set, uint32_t offer, uint32_t below);

/* May the offer dock at a slot, be it in the gang already? It may if of any two slots that have it one shares. */
bool offer_is_free(const struct search *search, uint32_t offer, const struct slot *slot);

/* The frame of a slot that is decided; NULL when there is none. */
struct frame *frame_of(struct search *search, uint32_t member, uint32_t slot, uint32_t below);

/* The last frame of a set below that number; NOBODY when there is none. */
uint32_t conflict_last(const struct frame_set *set, uint32_t below);

/* ---- count.c */

/* Could every slot of the root that must be filled have an offer of its own? */
bool root_counts(struct search *search);

/* ---- best.c */

/* The choices of the gang as it stands against those of the best: below 0, 0 or above 0; 0 as well when that is not known yet. */
int gang_compare(struct search *search);

/* The gang is complete: it becomes the best if it is better. False when its vector discards it. */
bool gang_offer(struct search *search);

#ifdef __cplusplus
}
#endif
#endif
