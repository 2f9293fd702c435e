/* loop_watch.h: how long the turns of a daemon's loop take, in processor time; private to the daemons, for it needs uv.h.
 *
 *     poll | callbacks, serving, commit | poll | ...      from one poll to the next is a turn: what comes meanwhile waits for its end
 *
 * Processor time, since it repeats: it tells of long steps even where other programs use the processors, or a disk is slow. How late the loop is by the
 * clock on the wall is METRIC_LOOP_LAG. */
#ifndef BERTH_LIVE_HTTP_LOOP_WATCH_H
#define BERTH_LIVE_HTTP_LOOP_WATCH_H

#include "live/http/metrics.h"

#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

struct loop_watch {
    uv_prepare_t prepare;
    struct metrics *metrics;
    int64_t spent; /* by the thread, when the turn began; -1: none has begun */
};

/* Observes METRIC_LOOP_TURN from now on, until the handle is closed with the others of its loop. It keeps no loop alive. */
void loop_watch_start(struct loop_watch *watch, uv_loop_t *loop, struct metrics *metrics);

#ifdef __cplusplus
}
#endif
#endif
