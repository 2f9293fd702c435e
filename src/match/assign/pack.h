/* pack.h: what pack.c, squeeze.c, generate.c and dive.c share: offers are filled with whole requests, by prices; not installed. */
#ifndef BERTH_MATCH_ASSIGN_PACK_H
#define BERTH_MATCH_ASSIGN_PACK_H

#include "match/assign/knapsack.h"
#include "match/assign/optimal.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PACK_PRICE_LEAST 1e-9 /* nothing is for nothing */
#define PACK_NODES 3000       /* things tried for an offer */

struct packing {
    struct settling *settling;
    const struct shelves *shelves;
    const struct programme *programme;
    uint32_t *left;         /* by group: how many of its requests are not placed */
    uint32_t *first, *list; /* by shelf, and one more: its columns */
    struct knapsack_kind *kinds;
    double *goals;   /* by group, of the shelf that is filled: what the programme gives it */
    uint32_t *taken; /* and what it has got */
    double shift;    /* of the parts that go into each offer */
};

/* In the scratch of the settling. */
void packing_init(struct packing *packing, struct settling *settling, const struct shelves *shelves,
                  const struct programme *programme);

/* Who is left over goes where there is room, and then it is squeezed. */
void packing_finish(struct packing *packing);

/* What one of each quantity costs in an offer of that shelf, at the prices of the programme. */
void shelf_prices(const struct packing *packing, uint32_t s, double *ret_prices);

/* Each offer is looked at again, and then several together: more requests, or the same number that takes less, is better. */
void squeeze(struct packing *packing);

#ifdef __cplusplus
}
#endif
#endif
