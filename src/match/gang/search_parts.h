/* search_parts.h: what the files of the search share; not installed.
 *
 *     search.c     the loop: fill, refill, back
 *     agenda.c     the slots that must be filled, in order
 *     filter.c     the window of a slot
 *     fill.c       the candidates of a slot
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

/* May the slot be filled; may it stay empty? As groups, sets and Essential say. */
void slot_may(const struct search *search, const struct slot *slot, bool *ret_fill, bool *ret_leave);

/* Can the ports still be filled as their groups say? `states` by port. */
bool ports_feasible(const struct ports *ports, const enum slot_state *states);

/* ---- filter.c */

/* Makes the window of a slot as things stand; NULL when nobody fits. `filter`: later ports have a say. */
struct tree *slot_window(struct search *search, const struct slot *slot, bool filter);

/* ---- fill.c */

/* Finds up to `limit` faces that may dock at the slot, heads of classes; returns how many. */
uint32_t slot_seek(struct search *search, const struct slot *slot, uint32_t *ret_faces, uint32_t limit);

/* Of the equal offers that a face stands for, the first that may dock at the slot. */
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

/* Puts the slots of a new member on the agenda, behind the frame, in the order in which they are filled; false when there are too many, or a check
 * says that one of them cannot be filled. agenda_remove takes them off again. */
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

/* Does the party docked at one slot matter to which parties may dock at another? */
bool slot_matters(const struct members *members, const struct slot *one, const struct slot *other);

/* Adds all frames before `below` on which it depends who may dock at a slot. */
void conflict_add(struct search *search, struct frame_set *set, const struct slot *slot, uint32_t below);

/* Adds the frames that hold the offer. */
void conflict_add_holder(struct search *search, struct frame_set *set, uint32_t offer, uint32_t below);

/* May the offer dock at a slot, even if it is in the gang already? It may if, of any two slots that have it, one shares. */
bool offer_is_free(const struct search *search, uint32_t offer, const struct slot *slot);

/* The frame of a slot that is decided; NULL when there is none. */
struct frame *frame_of(struct search *search, uint32_t member, uint32_t slot, uint32_t below);

/* The last frame of a set below that number; NOBODY when there is none. */
uint32_t conflict_last(const struct frame_set *set, uint32_t below);

/* ---- count.c */

/* Could every slot of the root that must be filled have an offer of its own? */
bool root_counts(struct search *search);

/* ---- best.c */

/* Compares the choices of the gang as it stands with those of the best: below 0, 0 or above 0; 0 as well when that is not known yet. */
int gang_compare(struct search *search);

/* Makes the gang, which is complete, the best if it is better. False when a vector discards it. */
bool gang_offer(struct search *search);

#ifdef __cplusplus
}
#endif
#endif
