/* partings.c: the last reports of claims, kept and sent until the registrar has them on disk.
 *
 *     claim over -> row, in the commit that removes the claim's -> report -> OK: the row goes
 *                                                                    |-> WAIT: taken, and not on disk there yet: asked again soon
 *                                                                    `-> no answer: sent again, more and more slowly
 *
 * The registrar knows the report by its claim, and counts it once however often it comes. Few are under way at a time, so that whoever has been cut off for
 * long does not fall upon a matchmaker that is back. */
#include "pool/provider/partings.h"

#include "lang/base/array.h"
#include "pool/protocol/mutants.h"
#include "pool/provider/provider_claims.h"

#include <stdlib.h>

#define PARTINGS_MAX 4096
#define PARTINGS_FLYING 16 /* at a time; the others wait for an answer to one of these */
#define PARTING_KEEPS 24   /* spans of `keep`: then the registrar would not know the claim any more */

static struct parting *parting_find(const struct provider *provider, uint64_t claim)
{
    for (uint32_t i = 0; i < provider->parting_count; i++)
        if (provider->partings[i].claim == claim)
            return &provider->partings[i];
    return NULL;
}

static void parting_set(const struct provider_step *step, struct parting *parting, int64_t at)
{
    parting->due = at;
    timers_set(&step->provider->timers, at, TIMER_PARTING, parting->claim);
}

static void parting_drop(const struct provider_step *step, struct parting *parting)
{
    struct provider *provider = step->provider;

    effects_remove(step->effects, RECORD_PARTING, parting->claim);
    tree_unref(parting->row.receipt);
    provider->partings_flying -= parting->flying;
    *parting = provider->partings[--provider->parting_count];
}

static struct parting *parting_new(const struct provider_step *step, uint64_t claim, const struct parting_record *row)
{
    struct provider *provider = step->provider;
    struct parting *parting;

    ARRAY_ROOM(provider->partings, provider->parting_count, provider->parting_room, 8);
    parting = &provider->partings[provider->parting_count++];
    *parting = (struct parting){.claim = claim, .row = *row};
    if (parting->row.receipt)
        tree_ref(parting->row.receipt);
    return parting;
}

static void parting_begin(const struct provider_step *step, struct parting *parting)
{
    parting->until = step->env->now + PARTING_KEEPS * step->provider->spans->keep;
    parting_set(step, parting, step->env->now);
}

void parting_add(const struct provider_step *step, agent registrar, const struct report *report)
{
    struct record record = {.kind = RECORD_PARTING, .key = report->claim};
    struct parting *parting;

    if (parting_find(step->provider, report->claim)) /* it was over before a restart, and its row is still there */
        return;
    if (step->provider->parting_count == PARTINGS_MAX) {
        effects_note(step->effects, REASON_LIMIT, step->provider->partings[0].claim,
                     "a last report that the matchmaker has not taken is dropped");
        parting_drop(step, &step->provider->partings[0]);
    }
    record.u.parting_record = (struct parting_record){.registrar = registrar,
                                                      .gang = report->gang,
                                                      .owner = report->owner,
                                                      .used = report->used,
                                                      .group = report->group,
                                                      .limits = report->limits,
                                                      .weight = report->weight,
                                                      .reason = report->reason,
                                                      .receipt = report->receipt,
                                                      .life = report->life,
                                                      .wall = report->wall,
                                                      .cpu = report->cpu,
                                                      .memory = report->memory,
                                                      .taken = report->taken,
                                                      .brought = report->brought,
                                                      .jobs = report->jobs,
                                                      .trace = report->trace};
    parting = parting_new(step, report->claim, &record.u.parting_record);
    parting->stored = effects_persist(step->effects, &record);
    parting_begin(step, parting);
}

static void parting_send(const struct provider_step *step, struct parting *parting)
{
    const struct parting_record *row = &parting->row;
    struct message message = {.kind = MESSAGE_REPORT};

    message.u.report = (struct report){.claim = parting->claim,
                                       .gang = row->gang,
                                       .owner = row->owner,
                                       .used = row->used,
                                       .over = true,
                                       .group = row->group,
                                       .limits = row->limits,
                                       .weight = row->weight,
                                       .reason = row->reason,
                                       .receipt = row->receipt,
                                       .life = row->life,
                                       .wall = row->wall,
                                       .cpu = row->cpu,
                                       .memory = row->memory,
                                       .taken = row->taken,
                                       .brought = row->brought,
                                       .jobs = row->jobs,
                                       .trace = row->trace};
    effects_send(step->effects, row->registrar, &message, parting->claim, TAG_PARTING, parting->stored);
    parting->flying = true;
    step->provider->partings_flying++;
}

void parting_due(const struct provider_step *step, uint64_t claim)
{
    struct parting *parting = parting_find(step->provider, claim);

    if (!parting || parting->flying || parting->due > step->env->now)
        return;
    if (parting->until <= step->env->now) {
        effects_note(step->effects, REASON_LIFE, claim, "a last report that the matchmaker has not taken is dropped");
        parting_drop(step, parting);
    } else if (step->provider->partings_flying < PARTINGS_FLYING) {
        parting_send(step, parting);
    } else {
        parting->waits = true;
    }
}

/* Sends one that only waits for its turn. */
static void parting_next(const struct provider_step *step)
{
    for (uint32_t i = 0; i < step->provider->parting_count; i++) {
        struct parting *parting = &step->provider->partings[i];

        if (!parting->waits || parting->flying)
            continue;
        parting->waits = false;
        parting_set(step, parting, step->env->now);
        return;
    }
}

void parting_answer(const struct provider_step *step, const struct event *event)
{
    struct parting *parting = parting_find(step->provider, event->token);
    bool got = event->answer == ANSWER_GOT && event->message && event->message->kind == MESSAGE_GOT;
    enum reason reason = got ? event->message->u.got.reason : REASON_WAIT;
    int64_t pause;

    if (!parting || !parting->flying)
        return;
    parting->flying = false;
    step->provider->partings_flying--;
    if ((reason != REASON_WAIT && reason != REASON_LIMIT) || MUTANT(PARTING_ONCE)) {
        parting_drop(step, parting); /* the registrar has it, or never will */
    } else if (got) {                /* it writes what it was told within seconds */
        pause = step->provider->spans->deadline / 4;
        parting_set(step, parting, step->env->now + pause + (int64_t)rng_below(step->env->chance, (uint64_t)pause + 1));
    } else {
        pause = pause_next(&parting->pause, step->env, step->provider->spans);
        parting->tries++;
        parting_set(step, parting, step->env->now + pause * (parting->tries < 30 ? 1 + parting->tries / 3 : 10));
    }
    parting_next(step);
}

void partings_done(struct provider *provider)
{
    for (uint32_t i = 0; i < provider->parting_count; i++)
        tree_unref(provider->partings[i].row.receipt);
    free(provider->partings);
}

void parting_load(const struct provider_step *step, const struct record *record)
{
    parting_new(step, record->key, &record->u.parting_record);
}

void partings_boot(const struct provider_step *step)
{
    for (uint32_t i = step->provider->parting_count; i-- > 0;) {
        struct parting *parting = &step->provider->partings[i];

        if (tenant_find(step->provider, parting->claim)) /* a disk took this row and not that of its end: it goes on */
            parting_drop(step, parting);
        else
            parting_begin(step, parting);
    }
}
