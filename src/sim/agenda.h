/* agenda.h: what happens next: a heap of small entries, four children to a node.
 *
 *     (time, order, what)      `what` is a kind and an index into one of the world's tables
 *
 * Of equal times the one that was put in first is first.
 *
 * Workload: a push and a pop for every event of the world; some hundreds to some thousands wait. */
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

struct agenda {
    struct agenda_entry *heap;
    uint32_t count, room, order;
};

void agenda_init(struct agenda *agenda);
void agenda_done(struct agenda *agenda);

uint32_t agenda_push(struct agenda *agenda, int64_t at, uint32_t what); /* its order: no two entries have the same */
bool agenda_pop(struct agenda *agenda, struct agenda_entry *ret);       /* the earliest; false when there is none */

#ifdef __cplusplus
}
#endif
#endif
