/* agenda.h: what happens next: a heap of small entries for the moment at hand, four children to a node, and the moments to come as lists.
 *
 *     (time, order, what)      `what` is a kind and an index into one of the world's tables
 *
 *     heap: all that is due in this slot of time, or before | a ring of slots, unsorted | later: beyond the ring, unsorted
 *
 * Of equal times the one that was put in first is first. A slot that comes up becomes the heap: so the heap stays small
 * enough for a near cache, however much waits.
 *
 * Workload: a push and a pop for every event of the world; some hundreds wait in a small one, some millions in a large one. */
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
    struct agenda_list spare[AGENDA_SPARE]; /* memory to be used again */
    uint32_t spare_count, order;
    uint64_t ahead; /* entries in slots */
    int64_t slot;   /* of the heap */
    int64_t looked; /* the slot in which `later` was looked through */
};

void agenda_init(struct agenda *agenda);
void agenda_done(struct agenda *agenda);

uint32_t agenda_push(struct agenda *agenda, int64_t at, uint32_t what); /* its order: no two entries have the same */
bool agenda_pop(struct agenda *agenda, struct agenda_entry *ret);       /* the earliest; false when there is none */
bool agenda_next(struct agenda *agenda, int64_t *ret_at); /* when the earliest is; false when there is none */

typedef void agenda_fn(void *user, const struct agenda_entry *entry);
void agenda_each(const struct agenda *agenda, agenda_fn *fn, void *user); /* in no order */

#ifdef __cplusplus
}
#endif
#endif
