/* shelves.h: offers that nobody can tell apart: of one kind, with the same amounts free at the start; not installed.
 *
 *     shelf -> its offers, in their order       shelves are in the order of their kinds, then of their first offers
 *
 * With shelves the size of a problem is that of its kinds. */
#ifndef BERTH_MATCH_ASSIGN_SHELVES_H
#define BERTH_MATCH_ASSIGN_SHELVES_H

#include "match/assign/settle.h"

#ifdef __cplusplus
extern "C" {
#endif

struct assign_shelf {
    const double *free;    /* of each offer, at the start */
    uint32_t first, count; /* in `members` */
};

struct shelves {
    struct assign_shelf *items;
    uint32_t count;
    uint32_t *of;         /* by offer: its shelf */
    uint32_t *members;    /* offers by shelf */
    uint32_t *kind_first; /* by kind, and one more: its shelves */
};

/* All memory is in the scratch of the settling. */
void shelves_init(struct shelves *shelves, struct settling *settling);

/* Puts every offer on a shelf of its own. */
void shelves_init_single(struct shelves *shelves, struct settling *settling);

/* The desire D(j,c) of equation 4: the product of what is asked for, divided by the product of what there is. A zero factor counts as 1, and a
 * quantity without a limit does not count. */
double desire_of(const double *amounts, const double *free, uint32_t quantity_count);

#ifdef __cplusplus
}
#endif
#endif
