/* provider.c: the agent of what is offered: passes each event to the part that handles it. */
#include "lang/base/mem.h"
#include "pool/provider/calendar.h"
#include "pool/provider/offers.h"
#include "pool/provider/outcomes.h"
#include "pool/provider/partings.h"
#include "pool/provider/provider_claims.h"
#include "pool/provider/provider_state.h"
#include "pool/provider/pulling.h"
#include "pool/provider/session.h"
#include "pool/provider/stands.h"
#include "pool/provider/subordinates.h"
#include "pool/provider/successor.h"

#include <stdlib.h>

struct env provider_env(const struct role_env *env)
{
    return (struct env){.now = env->wall / SECOND, .zone = env->zone};
}

static void *provider_make(const void *settings)
{
    struct provider *provider = mem_alloc(sizeof *provider);

    *provider = (struct provider){.settings = settings, .woken = INT64_MAX};
    provider->spans = provider->settings->spans;
    timers_init(&provider->timers);
    offers_init(provider);
    return provider;
}

static void provider_free(void *role)
{
    struct provider *provider = role;

    if (!provider)
        return;
    tenants_done(provider);
    calendar_done(provider);
    outcomes_done(provider);
    partings_done(provider);
    offers_done(provider);
    timers_done(&provider->timers);
    free(provider->leavings);
    free(provider);
}

/* All durable rows are loaded: which of them still hold is decided now, before anybody is answered. */
static void provider_boot(const struct provider_step *step)
{
    struct record record = {.kind = RECORD_ROLE};

    step->provider->booted = true;
    step->env->secrets->draw(step->env->secrets->user, &step->provider->challenges, sizeof step->provider->challenges);
    record.u.role_record.starts = ++step->provider->starts;
    step->provider->stored = effects_persist(step->effects, &record);
    tenants_boot(step);
    outcomes_boot(step);
    partings_boot(step);
    offers_boot(step);
    calendar_boot(step);
}

static void provider_load(const struct provider_step *step, const struct record *record)
{
    switch (record->kind) {
    case RECORD_ROLE:
        step->provider->starts = record->u.role_record.starts;
        break;
    case RECORD_TENANT:
        tenants_load(step, record);
        break;
    case RECORD_OUTCOME:
        outcome_load(step, record);
        break;
    case RECORD_PARTING:
        parting_load(step, record);
        break;
    case RECORD_BRANCH:
        subordinates_load(step, record);
        break;
    case RECORD_BOOKING:
        calendar_load(step, record);
        break;
    default:
        break;
    }
}

static void provider_due(const struct provider_step *step)
{
    struct provider *provider = step->provider;
    struct timer timer;

    while (timers_pop(&provider->timers, step->env->now, &timer)) {
        struct tenant *tenant;

        switch ((enum provider_timer)timer.what) {
        case TIMER_OFFER:
            offer_due(step, (uint32_t)timer.which);
            break;
        case TIMER_TENANT:
            tenant = tenant_find(provider, timer.which);
            if (tenant)
                tenant_due(step, tenant);
            break;
        case TIMER_OUTCOME:
            outcome_due(step, timer.which);
            break;
        case TIMER_LEAVING:
            leaving_due(step, timer.which);
            break;
        case TIMER_PARTING:
            parting_due(step, timer.which);
            break;
        case TIMER_CALENDAR:
            calendar_due(step);
            break;
        }
    }
}

/* An answer's tag tells which part it belongs to. */
static void provider_answer(const struct provider_step *step, const struct event *event)
{
    struct tenant *tenant;

    switch (event->tag) {
    case TAG_BEAT:
    case TAG_ASK:
    case TAG_REPORT:
        tenant = tenant_find(step->provider, event->token);
        if (tenant)
            tenant_answer(step, tenant, event);
        break;
    case TAG_TASK:
        tenant = tenant_find(step->provider, event->token);
        if (tenant)
            task_answer(step, tenant, event);
        break;
    case TAG_STANDS:
        stands_answer(step, event);
        break;
    case TAG_LEFT:
        leaving_answer(step, event);
        break;
    case TAG_PARTING:
        parting_answer(step, event);
        break;
    case TAG_RESULT:
        outcome_answer(step, event);
        break;
    case TAG_PULL:
        pulling_answer(step, event);
        break;
    default:
        if (event->tag % CLAIM_MEMBER_TAGS == CLAIM_MEMBER_TAG) {
            subordinates_answer(step, event);
            break;
        }
        offer_answer(step, event->token < UINT32_MAX ? (uint32_t)event->token : UINT32_MAX, event);
        break;
    }
}

static void provider_event(const struct provider_step *step, const struct event *event)
{
    switch (event->kind) {
    case EVENT_LOADED:
    case EVENT_BOOTED:
    case EVENT_WAKE:
    case EVENT_POLICY:
    case EVENT_FACTOR:
    case EVENT_SHARES:
    case EVENT_WEIGH:
    case EVENT_ENDED:
    case EVENT_FORGET:
    case EVENT_DROP:
    case EVENT_LOCAL:
    case EVENT_AHEAD:
        break;
    case EVENT_MESSAGE:
        tenant_message(step, event);
        break;
    case EVENT_ANSWER:
        provider_answer(step, event);
        break;
    case EVENT_JOB:
        tenant_job(step, event);
        break;
    case EVENT_PROBED:
        offer_probed(step, event->claim < UINT32_MAX ? (uint32_t)event->claim : UINT32_MAX, event->ad);
        break;
    case EVENT_BOOK:
        calendar_order(step, event);
        break;
    case EVENT_KNOWN:
        offers_again(step, event->claim);
        break;
    case EVENT_DRAIN:
        step->provider->draining = true;
        tenants_drain(step, event->status != 0);
        for (uint32_t i = 0; i < step->provider->settings->count; i++)
            offer_changed(step, i);
        break;
    case EVENT_SHUT:
        tenants_shut(step, event->user, event->status != 0);
        break;
    case EVENT_GONE:
        if (!step->provider->gone)
            stands_gone(step);
        break;
    case EVENT_RESUME:
        step->provider->draining = false;
        for (uint32_t i = 0; i < step->provider->settings->count; i++)
            offer_changed(step, i);
        break;
    }
}

static void provider_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    struct provider *provider = role;
    struct provider_step step = {provider, env, effects};
    int64_t next;

    if (!provider->booted) {
        if (event->kind == EVENT_LOADED)
            provider_load(&step, event->record);
        else if (event->kind == EVENT_JOB)
            tenant_job(&step, event);
        else if (event->kind == EVENT_PROBED)
            provider_event(&step, event);
        else if (event->kind == EVENT_DRAIN) /* drained before the restart: nothing is offered first */
            provider->draining = true;
        else if (event->kind == EVENT_BOOTED)
            provider_boot(&step);
        if (!provider->booted)
            return;
    }
    if (event->kind == EVENT_WAKE) /* the wake is used up, perhaps a moment too early */
        provider->woken = INT64_MAX;
    provider_due(&step); /* deadlines pass before any message is looked at */
    provider_event(&step, event);
    provider_due(&step);
    next = timers_next(&provider->timers);
    if (next != provider->woken)
        effects_wake(effects, next);
    provider->woken = next;
}

struct tree *provider_offer(const struct provider *provider, uint32_t place)
{
    return place < provider->settings->count ? provider->offers[place].whole : NULL;
}

void provider_each(const struct provider *provider, provider_tenant_fn *fn, void *user)
{
    for (uint32_t i = 0; i < provider->tenant_count; i++) {
        const struct tenant *tenant = provider->tenants[i];
        struct tenant_view view = {.claim = tenant->claim,
                                   .gang = tenant->gang,
                                   .offer = provider->settings->ids[tenant->offer],
                                   .epoch = tenant->epoch,
                                   .superior = tenant->superior,
                                   .state = tenant->state,
                                   .since = tenant->since,
                                   .lease = tenant->lease,
                                   .number = tenant->number,
                                   .job = tenant->job,
                                   .running = tenant->running,
                                   .port = tenant->port,
                                   .link = tenant->link,
                                   .behind = tenant->behind,
                                   .end = tenant->end,
                                   .owner = tenant->root_owner.bytes[0] ? "" : tenant->owner.bytes,
                                   .ad = tenant->ad,
                                   .gpus = tenant->gpus,
                                   .receipt = tenant->receipt,
                                   .duty = tenant_duty(tenant)};

        fn(user, &view);
    }
}

bool provider_owes(const struct provider *provider)
{
    return provider->outcome_count || provider->leaving_count || provider->parting_count;
}

static bool provider_valid(const void *role, const char **ret_why)
{
    const struct provider *provider = role;

    for (uint32_t i = 0; i < provider->tenant_count; i++) {
        const struct tenant *tenant = provider->tenants[i];

        *ret_why = "two tenants have one claim";
        if (tenant_find(provider, tenant->claim) != tenant)
            return false;
        *ret_why = "a tenant has no offer or no ad";
        if (tenant->offer >= provider->settings->count || !tenant->ad)
            return false;
        *ret_why = "a job runs under a tenant that is not claimed";
        if (tenant->running && tenant->state < TENANT_CLAIMED)
            return false;
        if (!successor_valid(provider, tenant, ret_why))
            return false;
    }
    *ret_why = NULL;
    return true;
}

const struct role_kind provider_role = {"provider", provider_make, provider_free, provider_step, provider_valid};
