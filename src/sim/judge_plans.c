/* judge_plans.c: 14: nobody passes a planned request who might delay it; and few machines are kept for plans, none of them for ever.
 *
 * Each match is held against the plans as they are when it is made: on a machine that is kept for a request, it is of that request, or of one whose
 * limit ends before the plan begins. */
#include "sim/judge_parts.h"

#define HELD_PART 20
#define LATE_PART 20 /* of a lifetime: by then plans have been looked at */

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

/* Others are kept from one machine in HELD_PART of all that there are, and at least from one; and no longer than a lifetime after the plan was to begin. */
void judge_holds(struct judge *judge, const struct host *host)
{
    const struct parties *parties = &judge->parties;
    uint32_t held = 0, most = (parties->users - parties->providers) / HELD_PART;
    int64_t lifetime = judge->world->spans->lifetime;
    struct plan_view plan;

    for (uint32_t i = parties->providers; i < parties->users; i++) {
        const struct host *provider = &judge->world->hosts[i];
        const struct provider_settings *settings = provider->settings;

        if (!matchmaker_planned_there(host->role, host_agent(provider), settings->ids[0], &plan))
            continue;
        held++;
        if (judge->now > plan.start + lifetime + lifetime / LATE_PART)
            judge_finds(judge, 14, host, "a machine is kept for a plan whose time is over");
    }
    if (held > (most ? most : 1))
        judge_finds(judge, 14, host, "%u machines are kept for plans", held);
}

uint64_t judge_kept(const struct judge *judge, uint64_t *ret_passed)
{
    *ret_passed = judge->passed;
    return judge->kept;
}
