/* consume.h: what is left of a resource: consumable characteristics (8.4) and blocks of time (8.5).
 *
 * As with the residual of an ad, the resource goes on as the same resource, with the consumed characteristics in place of its own, each worked out
 * from the resource as it stands and the one that it was composed with. */
#ifndef BERTH_MATCH_GRDL_CONSUME_H
#define BERTH_MATCH_GRDL_CONSUME_H

#include "match/grdl/sets.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The provider's `of` shrinks by the `by` of whatever was composed with it: {"ram", "mem"}. */
struct grdl_consumable {
    const char *of, *by;
};

/* Makes what is left of `provider`; the caller frees it. A dimension that the provider does not have is not consumed, nor is one of which the other
 * takes nothing. NULL and the reason when either has not exactly one number there, the two are not comparable, or too little is left. */
struct grdl_resource *grdl_consume(const struct grdl_reading *provider, const struct grdl_reading *by,
                                   const struct grdl_consumable *rows, uint32_t count, struct err *err);

/* A block of time: an executor requires `start >= FROM` and `end <= UNTIL`; a task has one start and one end, and the start is before the
 * end. `start` and `end` name the two dimensions. */
struct grdl_block {
    const char *start, *end;
};

/* Makes what is left of the executor's window when the task has its block: at most two executors, one before the block and one behind it, each with
 * its window in place of the old one, and the same in all else. Windows shorter than `shortest` (in base units: seconds) are left out. -1 and the
 * reason when the two are not peers or one of the four times is missing. */
int grdl_reserve(const struct grdl_reading *executor, const struct grdl_reading *task, const struct grdl_block *block,
                 double shortest, struct grdl_resources *ret_left, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
