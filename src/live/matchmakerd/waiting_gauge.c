/* waiting_gauge.c: how many units wait for what, for the gauges: counted anew some time after the last count, a little at each step. */
#include "live/matchmakerd/waiting_gauge.h"

#include "live/matchmakerd/reasons.h"

#include <string.h>

#define PAUSE (10 * SECOND) /* between two counts */
#define STEP_COST 20000     /* steps of evaluation, about, in one go: a millisecond or two */

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
    uint64_t spent = 0, cost = 0;
    bool more = true;

    if (!gauge->run && now < gauge->due)
        return;
    if (!gauge->run)
        gauge->run = reasons_new(matchmakerd, NULL, &env);
    for (; more && spent < STEP_COST; spent += cost)
        more = reasons_go_on(gauge->run, &cost);
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
