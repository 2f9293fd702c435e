/* loop_watch.c: how long the turns of a daemon's loop take. */
#include "live/http/loop_watch.h"

#include "sys/clock.h"

/* Nothing is spent while the loop waits, so it does not matter that this comes before that. */
static void turn_ends(uv_prepare_t *prepare)
{
    struct loop_watch *watch = prepare->data;
    int64_t spent = clock_spent();

    if (watch->spent >= 0)
        metrics_observe(watch->metrics, METRIC_LOOP_TURN, 0, spent - watch->spent);
    watch->spent = spent;
}

void loop_watch_start(struct loop_watch *watch, uv_loop_t *loop, struct metrics *metrics)
{
    *watch = (struct loop_watch){.metrics = metrics, .spent = -1};
    uv_prepare_init(loop, &watch->prepare);
    watch->prepare.data = watch;
    uv_prepare_start(&watch->prepare, turn_ends);
    uv_unref((uv_handle_t *)&watch->prepare);
}
