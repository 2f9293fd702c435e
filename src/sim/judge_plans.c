/* judge_plans.c: 14: nobody passes a planned request who might delay it.
 *
 * Each match is held against the plans as they are when it is made: on a machine that is kept for a request, it is of that request, or of one whose
 * limit ends before the plan begins. */
#include "sim/judge_parts.h"

static void check_passes(struct judge *judge, const struct host *host, agent member, const struct match_told *told)
{
    struct entry_view planned;
    struct plan_view plan;
    int64_t limit = judged_integer(told->superior_ad, judge->time_limit, INT64_MAX / SECOND);

    if (!matchmaker_planned_there(host->role, member, told->id, &plan))
        return;
    judge->kept++;
    if (matchmaker_find(host->role, plan.root_agent, plan.root, &planned) &&
        tree_equal(planned.ad, tree_root(planned.ad), told->superior_ad, tree_root(told->superior_ad)))
        return;
    judge->passed++;
    if (judge->now + limit * SECOND > plan.start)
        judge_finds(judge, 14, host, "a request passes a planned one, and may end after that was to begin");
}

void judge_plans(struct judge *judge, const struct host *host)
{
    for (uint32_t i = 0; i < host->effects.count; i++) {
        const struct effect *effect = &host->effects.items[i];

        if (effect->kind == EFFECT_SEND && effect->message.kind == MESSAGE_MATCH &&
            effect->message.u.match_told.superior_ad && !effect->message.u.match_told.age)
            check_passes(judge, host, effect->to, &effect->message.u.match_told);
    }
}

uint64_t judge_kept(const struct judge *judge, uint64_t *ret_passed)
{
    *ret_passed = judge->passed;
    return judge->kept;
}
