/* waiting_gauge.c: how many units wait for what, for the gauges: counted anew some time after the last count, a little at each step. */
#include "live/matchmakerd/waiting_gauge.h"

#include "live/matchmakerd/reasons.h"

#include <string.h>

#define PAUSE (10 * SECOND)    /* between two counts */
#define TURN (4 * MILLISECOND) /* of each sweep, for the count: a pool of 100,000 machines takes a minute or two */

static void gauge_take(struct waiting_gauge *gauge)
{
    const struct reason_row *rows;
    uint32_t count;

    memset(gauge->units, 0, sizeof gauge->units);
    rows = reasons_rows(gauge->run, &count);
    for (uint32_t i = 0; i < count; i++)
        gauge->units[rows[i].code] += rows[i].units;
}

void waiting_gauge_step(struct matchmakerd *matchmakerd, int64_t now)
{
    struct waiting_gauge *gauge = &matchmakerd->waiting_gauge;
    struct env env = {.now = runner_wall() / SECOND,
                      .steps = config_count(&matchmakerd->config, CONFIG_EVALUATION_STEPS)};
    int64_t ends = runner_now() + TURN;
    bool more = true;

    if (!gauge->run && now < gauge->due)
        return;
    if (!gauge->run)
        gauge->run = reasons_new(matchmakerd, NULL, &env);
    while (more && runner_now() < ends)
        more = reasons_go_on(gauge->run);
    if (more)
        return;
    gauge_take(gauge);
    waiting_gauge_done(gauge);
    gauge->due = now + PAUSE;
}

void waiting_gauge_done(struct waiting_gauge *gauge)
{
    reasons_free(gauge->run);
    gauge->run = NULL;
}
