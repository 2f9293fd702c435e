/* transport.h: carries as much as possible from the left to the right, at the least cost: a flow through a graph of two sides; not installed.
 *
 *     supply -> left -> arc (cost) -> right -> capacity
 *
 * All numbers are whole, so the result is exact. Primal-dual: shortest paths give potentials, and all that can flow along arcs that cost nothing
 * more flows at once; so the work grows with the number of different costs, not with the size of the flow. */
#ifndef BERTH_MATCH_ASSIGN_TRANSPORT_H
#define BERTH_MATCH_ASSIGN_TRANSPORT_H

#include "lang/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRANSPORT_COST_MAX ((int64_t)1 << 40)

struct transport {
    uint32_t left_count, right_count, arc_count;
    uint32_t *supply;      /* by left: what has not gone yet */
    uint32_t *capacity;    /* by right: what could still come */
    const uint32_t *first; /* by left, and one more: its arcs */
    const uint32_t *right; /* by arc */
    const int64_t *cost;   /* by arc: 0 to TRANSPORT_COST_MAX */
    uint32_t *flow;        /* by arc: what flows there, 0 at first */
};

/* Fills `flow`, and takes it from supply and capacity. Adds the work done to *work, in thousands of arcs; `scratch` is left as it was. When `stop`
 * (NULL: never) says so, it ends with a flow that has the least cost for what it carries, and returns false. */
bool transport_solve(struct arena *scratch, struct transport *transport, uint64_t *work, bool (*stop)(void *user),
                     void *user);

#ifdef __cplusplus
}
#endif
#endif
