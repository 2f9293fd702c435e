/* outcomes.c: results that are kept, and offered again, until the customer has taken or refused them. */
#include "pool/provider/outcomes.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/provider/provider_claims.h"
#include "pool/provider/provider_state.h"

#include <stdlib.h>

static uint64_t outcome_key(uint64_t claim, uint64_t number)
{
    return rng_mix(claim ^ rng_mix(number));
}

static struct outcome *outcome_find(const struct provider *provider, uint64_t key)
{
    for (uint32_t i = 0; i < provider->outcome_count; i++)
        if (provider->outcomes[i].key == key)
            return &provider->outcomes[i];
    return NULL;
}

void outcomes_done(struct provider *provider)
{
    free(provider->outcomes);
}

static struct outcome *outcome_new(struct provider *provider, uint64_t key)
{
    ARRAY_ROOM(provider->outcomes, provider->outcome_count, provider->outcome_room, 8);
    provider->outcomes[provider->outcome_count] = (struct outcome){.key = key};
    return &provider->outcomes[provider->outcome_count++];
}

static void outcome_drop(const struct provider_step *step, struct outcome *outcome)
{
    effects_remove(step->effects, RECORD_OUTCOME, outcome->key);
    *outcome = step->provider->outcomes[--step->provider->outcome_count];
}

void outcome_load(const struct provider_step *step, const struct record *record)
{
    outcome_new(step->provider, record->key)->record = record->u.outcome_record;
}

bool outcome_has(const struct provider *provider, uint64_t claim, uint64_t number)
{
    return outcome_find(provider, outcome_key(claim, number)) != NULL;
}

bool outcome_hurry(const struct provider_step *step, uint64_t claim, agent superior)
{
    bool any = false;

    for (uint32_t i = 0; i < step->provider->outcome_count; i++) {
        struct outcome *outcome = &step->provider->outcomes[i];

        if (outcome->record.claim != claim || outcome->record.superior != superior)
            continue;
        any = true;
        if (outcome->flying)
            continue;
        outcome->due = step->env->now;
        outcome->pause = 0;
        timers_set(&step->provider->timers, outcome->due, TIMER_OUTCOME, outcome->key);
    }
    return any;
}

void outcomes_boot(const struct provider_step *step)
{
    for (uint32_t i = 0; i < step->provider->outcome_count; i++) {
        struct outcome *outcome = &step->provider->outcomes[i];

        outcome->due = step->env->now;
        outcome->until = step->env->now + step->provider->spans->keep;
        timers_set(&step->provider->timers, outcome->due, TIMER_OUTCOME, outcome->key);
    }
}

static void outcome_put(const struct provider_step *step, const struct tenant *tenant, const struct event *event,
                        uint64_t claim, agent superior)
{
    uint64_t key = outcome_key(claim, tenant->number);
    struct record record = {.kind = RECORD_OUTCOME, .key = key};
    struct outcome *outcome;

    record.u.outcome_record =
        (struct outcome_record){.claim = claim,
                                .number = tenant->number,
                                .job = tenant->job,
                                .superior = superior,
                                .reason = event->reason == REASON_FAULT ? REASON_SETUP : event->reason,
                                .status = event->status,
                                .used = event->used,
                                .unmade = event->unmade};
    if (step->provider->outcome_count == OUTCOMES_MAX)
        outcome_drop(step, &step->provider->outcomes[0]);
    outcome = outcome_new(step->provider, key);
    outcome->record = record.u.outcome_record;
    outcome->stored = effects_persist(step->effects, &record);
    outcome->due = step->env->now;
    outcome->until = step->env->now + step->provider->spans->keep;
    timers_set(&step->provider->timers, outcome->due, TIMER_OUTCOME, key);
}

void outcome_add(const struct provider_step *step, const struct tenant *tenant, const struct event *event)
{
    outcome_put(step, tenant, event, tenant->claim, tenant->superior);
}

void outcome_tell(const struct provider_step *step, const struct tenant *tenant, const struct event *event)
{
    struct duty duty = tenant_duty(tenant);

    if (tenant->root_owner.bytes[0] && !duty.helps && duty.line != tenant->claim)
        outcome_put(step, tenant, event, duty.line, duty.customer);
}

void outcome_due(const struct provider_step *step, uint64_t key)
{
    struct outcome *outcome = outcome_find(step->provider, key);
    const struct outcome_record *record;
    struct message message = {.kind = MESSAGE_RESULT};

    if (!outcome || outcome->flying || outcome->due > step->env->now)
        return;
    if (outcome->until <= step->env->now) {
        effects_note(step->effects, REASON_LIFE, outcome->record.claim, "a result that nobody took is dropped");
        outcome_drop(step, outcome);
        return;
    }
    record = &outcome->record;
    message.u.result = (struct result){.claim = record->claim,
                                       .number = record->number,
                                       .job = record->job,
                                       .reason = record->reason,
                                       .status = record->status,
                                       .used = record->used,
                                       .unmade = record->unmade};
    outcome->flying = true;
    effects_send(step->effects, record->superior, &message, key, TAG_RESULT, outcome->stored);
}

void outcome_answer(const struct provider_step *step, const struct event *event)
{
    struct outcome *outcome = outcome_find(step->provider, event->token);

    if (!outcome || !outcome->flying)
        return;
    outcome->flying = false;
    if (event->answer == ANSWER_GOT && event->message && event->message->kind == MESSAGE_CLAIMED &&
        event->message->u.claimed.reason != REASON_WAIT) {
        outcome_drop(step, outcome); /* the customer has taken it, or never will */
        return;
    }
    outcome->due = step->env->now + pause_next(&outcome->pause, step->env, step->provider->spans);
    timers_set(&step->provider->timers, outcome->due, TIMER_OUTCOME, outcome->key);
}
