/* pack.h: what pack.c, squeeze.c, generate.c and dive.c share: offers are filled with whole requests, by prices; not installed. */
#ifndef BERTH_MATCH_ASSIGN_PACK_H
#define BERTH_MATCH_ASSIGN_PACK_H

#include "match/assign/knapsack.h"
#include "match/assign/optimal.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PACK_PRICE_LEAST 1e-9 /* no quantity is free of charge */
#define PACK_NODES 3000       /* things tried for an offer */

struct packing {
    struct settling *settling;
    const struct shelves *shelves;
    const struct programme *programme;
    uint32_t *left;         /* by group: how many of its requests are not placed */
    uint32_t *first, *list; /* by shelf, and one more: where its columns begin in `list` */
    struct knapsack_kind *kinds;
    double *goals;   /* by group, of the shelf that is filled: what the programme gives it */
    uint32_t *taken; /* by group: how many the shelf has got */
    double shift;    /* of the parts that go into each offer */
};

/* All memory is in the scratch of the settling. */
void packing_init(struct packing *packing, struct settling *settling, const struct shelves *shelves,
                  const struct programme *programme);

/* Puts requests that are left over where there is room, and then squeezes. */
void packing_finish(struct packing *packing);

/* What one of each quantity costs in an offer of that shelf, at the prices of the programme. */
void shelf_prices(const struct packing *packing, uint32_t s, double *ret_prices);

/* Fills each offer once more, and then several together: more requests, or as many that take less room, is better. */
void squeeze(struct packing *packing);

#ifdef __cplusplus
}
#endif
#endif
