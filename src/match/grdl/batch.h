/* batch.h: two sides that both have preferences: pairs, positions, and who gets whom (7.5, 7.6).
 *
 * Every pair of peers has two positions: that of the right one among all peers of the left one, in the left one's order of preference, and the
 * other way round; tied peers have the same position. MINSUM takes pairs by the sum of both positions; SINGLES takes those of which a side has no
 * other.
 *
 * Resources that look alike to the other side are matched once (shapes.h). */
#ifndef BERTH_MATCH_GRDL_BATCH_H
#define BERTH_MATCH_GRDL_BATCH_H

#include "match/grdl/matcher.h"

#ifdef __cplusplus
extern "C" {
#endif

struct grdl_batch_pair {
    uint32_t left, right;
    uint32_t left_position, right_position; /* of the right one for the left one; of the left one for the right one */
};

struct grdl_batch {
    struct grdl_batch_pair *pairs; /* by left, then by right */
    uint32_t count, room;
    uint32_t left_count, right_count;
};

void grdl_batch_make(const struct grdl_reading *const *left, uint32_t left_count,
                     const struct grdl_reading *const *right, uint32_t right_count, struct grdl_counts *counts,
                     struct grdl_batch *ret_batch);
void grdl_batch_done(struct grdl_batch *batch);

enum grdl_batch_policy { GRDL_MINSUM, GRDL_SINGLES, GRDL_SINGLES_MINSUM };

/* Chooses pairs. `ret_chosen`, with room for batch->count, gets their numbers in the order in which they were chosen. Returns how many. */
uint32_t grdl_batch_choose(const struct grdl_batch *batch, enum grdl_batch_policy policy, uint32_t *ret_chosen);

#ifdef __cplusplus
}
#endif
#endif
