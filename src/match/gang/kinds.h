/* kinds.h: a stock that somebody else keeps, in kinds of offers that are alike; not installed.
 *
 *     kind -> its offers, in their order        a face is an offer and a port of it, in one number
 *
 * Kinds without Ports are in the keeper's index, those with Ports are here by their ports. */
#ifndef BERTH_MATCH_GANG_KINDS_H
#define BERTH_MATCH_GANG_KINDS_H

#include "match/gang/facade.h"
#include "match/gang/seeker.h"
#include "match/gang/stock.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kinds {
    const struct seeker_pool *pool;
    struct members *members;
    struct index *index;          /* of the kinds without Ports, by their numbers */
    struct facade faces;          /* of the kinds with Ports */
    const struct ported **ported; /* by kind, its ad held; NULL: not asked for yet, or nobody docks there */
    uint32_t room;
};

void kinds_init(struct kinds *kinds, const struct seeker_pool *pool, struct members *members);
void kinds_done(struct kinds *kinds);

/* Forgets a kind: it is another one now, or gone. */
void kinds_forget(struct kinds *kinds, uint32_t kind);

/* The ports of a kind; NULL when they are not in order. */
const struct ported *kinds_ported(struct kinds *kinds, uint32_t kind);

/* As stock_seek, stock_next and stock_sort in stock.h. */
uint32_t kinds_seek(const struct kinds *kinds, const struct tree *window, index_seek_fn *found, void *user);
uint32_t kinds_next(const struct kinds *kinds, uint32_t face);
void kinds_sort(const struct kinds *kinds, uint32_t *faces, uint32_t count);

#define KINDS_SHIFT 26 /* a face: the port above, the offer below */

static inline struct face kinds_face(uint32_t face)
{
    struct face of = {face & (SEEKER_OFFERS_MAX - 1), face >> KINDS_SHIFT};

    return of;
}

static inline uint64_t kinds_order(const struct kinds *kinds, uint32_t offer)
{
    return kinds->pool->order(kinds->pool->user, offer);
}

#ifdef __cplusplus
}
#endif
#endif
