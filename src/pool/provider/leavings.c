/* leavings.c: claims that are over, kept until their superiors know, or have given the claims up by themselves. */
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/provider/outcomes.h"
#include "pool/provider/provider_state.h"

void leaving_add(const struct provider_step *step, const struct tenant *tenant, enum reason reason, uint64_t after)
{
    struct provider *provider = step->provider;

    ARRAY_ROOM(provider->leavings, provider->leaving_count, provider->leaving_room, 4);
    provider->leavings[provider->leaving_count++] =
        (struct leaving){.claim = tenant->claim,
                         .epoch = tenant->epoch,
                         .after = after,
                         .superior = tenant->superior,
                         .reason = reason,
                         .due = step->env->now,
                         .until = step->env->now + provider->spans->lease + spans_margin(provider->spans)};
    timers_set(&provider->timers, step->env->now, TIMER_LEAVING, tenant->claim);
}

static struct leaving *leaving_find(const struct provider *provider, uint64_t claim)
{
    for (uint32_t i = 0; i < provider->leaving_count; i++)
        if (provider->leavings[i].claim == claim)
            return &provider->leavings[i];
    return NULL;
}

void leaving_due(const struct provider_step *step, uint64_t claim)
{
    struct leaving *leaving = leaving_find(step->provider, claim);
    struct message message = {.kind = MESSAGE_LEFT};

    if (!leaving || leaving->due > step->env->now)
        return;
    if (leaving->until <= step->env->now) { /* by now the superior has given the claim up by itself */
        *leaving = step->provider->leavings[--step->provider->leaving_count];
        return;
    }
    leaving->due = INT64_MAX;
    message.u.left = (struct left){leaving->claim, leaving->epoch, leaving->reason};
    effects_send(step->effects, leaving->superior, &message, claim, TAG_LEFT, leaving->after);
}

void leaving_answer(const struct provider_step *step, const struct event *event)
{
    struct leaving *leaving = leaving_find(step->provider, event->token);

    if (!leaving)
        return;
    if (event->answer == ANSWER_GOT) {
        *leaving = step->provider->leavings[--step->provider->leaving_count];
        return;
    }
    leaving->due = step->env->now + pause_next(&leaving->pause, step->env, step->provider->spans);
    timers_set(&step->provider->timers, leaving->due, TIMER_LEAVING, leaving->claim);
}
