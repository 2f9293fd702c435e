/* agenda.h: the events to come, in the order of time: a heap of small entries for the present moment, four
 * children to a node, and lists for later moments.
 *
 *     (time, order, what)      `what` is a kind and an index into one of the world's tables
 *
 *     heap: entries that are due in this slot of time, or before | a ring of slots, unsorted | later: beyond the ring, unsorted
 *
 * Of entries with equal times the one that was pushed first comes first. A slot becomes the heap when its time comes. So the heap stays small enough
 * for a near cache, however many entries wait.
 *
 * Workload: a push and a pop for every event of the world; some hundreds wait in a small world, some millions in a large one. */
#ifndef BERTH_SIM_AGENDA_H
#define BERTH_SIM_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct agenda_entry {
    int64_t at; /* true time, microseconds */
    uint32_t order;
    uint32_t what;
};

struct agenda_list {
    struct agenda_entry *items;
    uint32_t count, room;
};

#define AGENDA_SPARE 64

struct agenda {
    struct agenda_list heap, later;
    struct agenda_list *slots;
    struct agenda_list spare[AGENDA_SPARE]; /* memory for new lists */
    uint32_t spare_count, order;
    uint64_t ahead; /* entries in slots */
    int64_t slot;   /* the slot of the heap */
    int64_t looked; /* the slot in which `later` was last looked through */
};

void agenda_init(struct agenda *agenda);
void agenda_done(struct agenda *agenda);

uint32_t agenda_push(struct agenda *agenda, int64_t at, uint32_t what); /* returns its order: no two have the same */
bool agenda_pop(struct agenda *agenda, struct agenda_entry *ret);       /* the earliest; false when there is none */
bool agenda_next(struct agenda *agenda, int64_t *ret_at); /* when the earliest is due; false when there is none */

typedef void agenda_fn(void *user, const struct agenda_entry *entry);
void agenda_each(const struct agenda *agenda, agenda_fn *fn, void *user); /* in no order */

#ifdef __cplusplus
}
#endif
#endif
