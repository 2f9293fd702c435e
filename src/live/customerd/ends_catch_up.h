/* ends_catch_up.h: what came into the history and was not told to the pool before the last end of the customer, told after its start (ends_tell.h): the oldest
 * first, a slice at a time, for there may be millions of jobs. Until all of it was told, the next start begins at the same place. */
#ifndef BERTH_LIVE_CUSTOMERD_ENDS_CATCH_UP_H
#define BERTH_LIVE_CUSTOMERD_ENDS_CATCH_UP_H

#include "live/customerd/ends_tell.h"
#include "live/customerd/history.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ENDS_SLICE 500     /* jobs of the history that are read at a time ... */
#define ENDS_WAITING 20000 /* ... while no more than so many wait to be told */

struct ends_catch_up {
    const struct history *history;
    struct ends_tell *tell;
    uint64_t at, end; /* places in the history: up to this one all was told; up to that one all is to be told */
};

/* Begins with what came since all was told for the last time. */
void ends_catch_up_begin(struct ends_catch_up *catch_up, const struct history *history, struct ends_tell *tell);
/* Tells the next slice, if there is room for it; called often. */
void ends_catch_up_tick(struct ends_catch_up *catch_up);

#ifdef __cplusplus
}
#endif
#endif
