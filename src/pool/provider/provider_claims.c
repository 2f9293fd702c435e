/* provider_claims.c: claims on a provider's offers: what jobs do, what time does, and what outlives a restart. */
#include "pool/provider/provider_claims.h"
#include "lang/ad/functions.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "pool/protocol/account.h"
#include "pool/protocol/job_trace.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/weight.h"
#include "pool/provider/docking.h"
#include "pool/provider/gpus.h"
#include "pool/provider/offers.h"
#include "pool/provider/outcomes.h"
#include "pool/provider/partings.h"
#include "pool/provider/provider_state.h"
#include "pool/provider/pulling.h"
#include "pool/provider/stands.h"
#include "pool/provider/subordinates.h"
#include "pool/provider/successor.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------ the tenants */

struct tenant *tenant_find(const struct provider *provider, uint64_t claim)
{
    for (uint32_t i = 0; i < provider->tenant_count; i++)
        if (provider->tenants[i]->claim == claim)
            return provider->tenants[i];
    return NULL;
}

struct tenant *tenant_new(const struct provider_step *step, uint64_t claim, uint32_t offer)
{
    struct tenant *tenant = mem_alloc(sizeof *tenant);
    struct provider *provider = step->provider;

    *tenant = (struct tenant){.claim = claim, .boot = step->env->boot, .offer = offer, .started = -1, .set = INT64_MAX};
    ARRAY_ROOM(provider->tenants, provider->tenant_count, provider->tenant_room, 4);
    provider->tenants[provider->tenant_count++] = tenant;
    return tenant;
}

/* The tenant's ads have changed: its memo is dropped. */
static void tenant_forget(struct tenant *tenant)
{
    if (tenant->memo)
        tree_unref(tenant->memo->whole);
    free(tenant->memo);
    tenant->memo = NULL;
}

/* The memo of the tenant and its offer as they are; NULL: their ads read the time. */
static struct tenant_memo *tenant_memo(const struct provider_step *step, struct tenant *tenant)
{
    struct tree *whole = step->provider->offers[tenant->offer].whole;

    if (tenant->memo && tenant->memo->whole == whole)
        return tenant->memo;
    tenant_forget(tenant);
    if (!whole || !tenant->ad || !tree_is_steady(whole) || !tree_is_steady(tenant->ad) ||
        (tenant->duty.ad && !tree_is_steady(tenant->duty.ad)))
        return NULL;
    tenant->memo = mem_alloc(sizeof *tenant->memo);
    *tenant->memo = (struct tenant_memo){.whole = tree_ref(whole)};
    return tenant->memo;
}

static void tenant_free(struct tenant *tenant)
{
    tenant_forget(tenant);
    crew_done(&tenant->crew);
    message_done(&tenant->asked);
    tree_unref(tenant->ad);
    tree_unref(tenant->grant);
    tree_unref(tenant->gpus);
    tree_unref(tenant->duty.ad);
    tree_unref(tenant->receipt);
    free(tenant);
}

/* Drops the tenant. The others stay in their order: residuals are made in it. */
void tenant_drop(const struct provider_step *step, struct tenant *tenant)
{
    struct provider *provider = step->provider;
    uint32_t place = 0;

    if (tenant->state < TENANT_PINNED) {
        subordinates_ends(step, tenant);
        if (tenant->spoken)
            tenant_report(step, tenant, true);
    }
    while (provider->tenants[place] != tenant)
        place++;
    provider->tenant_count--;
    memmove(&provider->tenants[place], &provider->tenants[place + 1],
            (provider->tenant_count - place) * sizeof *provider->tenants);
    successor_follows(step, tenant);
    offer_changed(step, tenant->offer);
    if (tenant->gpus)
        gpus_moved(step, tenant);
    tenant_free(tenant);
}

void tenants_done(struct provider *provider)
{
    for (uint32_t i = 0; i < provider->tenant_count; i++)
        tenant_free(provider->tenants[i]);
    free(provider->tenants);
}

void tenant_set_ad(struct tenant *tenant, struct tree *ad)
{
    if (tenant->ad == ad)
        return;
    tenant_forget(tenant);
    tenant->turns++;
    tree_unref(tenant->ad);
    tenant->ad = tree_ref(ad);
}

void tenant_set_receipt(struct tenant *tenant, struct tree *receipt)
{
    if (!receipt || tenant->receipt == receipt)
        return;
    tree_unref(tenant->receipt);
    tenant->receipt = tree_ref(receipt);
}

void tenant_set_duty(struct tenant *tenant, const struct duty *duty)
{
    struct tree *before = tenant->duty.ad;

    if (before != duty->ad)
        tenant_forget(tenant);
    tenant->duty = *duty;
    if (duty->ad)
        tree_ref(duty->ad);
    tree_unref(before);
}

struct duty tenant_duty(const struct tenant *tenant)
{
    struct duty duty = tenant->duty;

    duty.ad = duty.ad ? duty.ad : tenant->ad;
    duty.customer = duty.customer ? duty.customer : tenant->superior;
    duty.line = duty.line ? duty.line : tenant->claim;
    return duty;
}

void tenant_store(const struct provider_step *step, struct tenant *tenant)
{
    struct record record = {.kind = RECORD_TENANT, .key = tenant->claim};
    struct tree *fronts;

    record.u.tenant_record = (struct tenant_record){.offer = step->provider->settings->ids[tenant->offer],
                                                    .gang = tenant->gang,
                                                    .superior = tenant->superior,
                                                    .epoch = tenant->epoch,
                                                    .sequence = tenant->sequence,
                                                    .boot = tenant->boot,
                                                    .active = tenant->state >= TENANT_CLAIMED,
                                                    .since = tenant->since,
                                                    .lease = tenant->lease,
                                                    .number = tenant->number,
                                                    .job = tenant->job,
                                                    .running = tenant->running || tenant->serves,
                                                    .port = tenant->port,
                                                    .link = tenant->link,
                                                    .started = tenant->started,
                                                    .behind = tenant->behind.count ? tenant->behind.claims[0] : 0,
                                                    .owner = tenant->owner,
                                                    .ad = tenant->ad,
                                                    .grant = tenant->grant,
                                                    .gpus = tenant->gpus,
                                                    .root_owner = tenant->root_owner,
                                                    .task = tenant->duty.ad,
                                                    .customer = tenant->duty.customer,
                                                    .line = tenant->duty.line,
                                                    .pass = tenant->duty.pass,
                                                    .helps = tenant->duty.helps,
                                                    .idle = tenant->duty.idle,
                                                    .serves = tenant->serves,
                                                    .receipt = tenant->receipt};
    if (tenant->pool)
        record.u.tenant_record.pool = pulling_registrar(step->provider, tenant);
    record.u.tenant_record.fronts = fronts = fronts_ad(step, &tenant->behind);
    tenant->stored = effects_persist(step->effects, &record);
    tree_unref(fronts);
}

void tenant_set(const struct provider_step *step, struct tenant *tenant, int64_t at)
{
    if (at >= tenant->set)
        return;
    tenant->set = at;
    timers_set(&step->provider->timers, at, TIMER_TENANT, tenant->claim);
}

/* --------------------------------------------------------------------------------------------------------- its end */

const struct text *tenant_charged(const struct tenant *tenant)
{
    return tenant->root_owner.bytes[0] && !MUTANT(SERVICE_CHARGED) ? &tenant->root_owner : &tenant->owner;
}

/* Is the job's own ad not known yet: the root's ad, where the superior is not the root? */
static bool tenant_is_blind(const struct tenant *tenant)
{
    return tenant->root_owner.bytes[0] && !tenant->duty.ad;
}

void tenant_text(const struct provider_step *step, const struct tenant *tenant, const char *name, struct text *ret)
{
    struct tree *ad = tenant_duty(tenant).ad;
    struct arena_mark mark = arena_mark(step->env->scratch);
    struct env env = provider_env(step->env);
    symbol found = symbols_find(step->env->symbols, name, strlen(name));
    struct value v = value_undefined();
    struct scope scope;
    struct eval eval;

    text_set(ret, "", 0);
    if (!ad || tenant_is_blind(tenant) || found == SYMBOL_NONE || !tree_find(ad, tree_root(ad), found))
        return;
    scope_init(&scope, ad, NULL);
    eval_init(&eval, &env, step->env->scratch);
    eval_attribute(&eval, &scope, found, &v);
    if (v.type == VALUE_STRING && v.len <= TEXT_MAX)
        text_set(ret, v.len ? v.u.string : "", v.len);
    arena_rewind(step->env->scratch, mark);
}

/* By what the claim's last job is followed through logs. */
static void tenant_trace(const struct tenant *tenant, struct text *ret)
{
    struct job_trace trace;

    job_trace_of(tenant_duty(tenant).ad, &trace);
    job_trace_write(&trace, ret);
}

/* Fills in what a matchmaker that has begun anew cannot know, and what its log says of the claim. */
static void tenant_says(const struct provider_step *step, struct tenant *tenant, struct report *report)
{
    struct tenant_memo *memo = tenant_memo(step, tenant);
    const struct tree *offer = step->provider->offers[tenant->offer].whole;
    struct env env = provider_env(step->env);
    symbol weight;

    if (memo && memo->says && memo->blind == tenant_is_blind(tenant)) {
        report->weight = memo->weight;
        report->group = memo->group;
        report->limits = memo->limits;
        report->trace = memo->trace;
        return;
    }
    weight = symbols_find(step->env->symbols, "Weight", 6);
    report->weight =
        weight == SYMBOL_NONE || !offer ? WEIGHT_ONE : weight_of(&env, step->env->scratch, weight, offer, tenant->ad);
    tenant_text(step, tenant, "AccountingGroup", &report->group);
    tenant_text(step, tenant, "ConcurrencyLimits", &report->limits);
    tenant_trace(tenant, &report->trace);
    if (!memo)
        return;
    memo->says = true;
    memo->blind = tenant_is_blind(tenant);
    memo->weight = report->weight;
    memo->group = report->group;
    memo->limits = report->limits;
    memo->trace = report->trace;
}

/* Reports to the registrar. What was used so far is told once, for the next report tells it again; the last one is kept until the registrar has it
 * (partings.c); and that there is a claim is reported until the registrar has answered, or others would get the limits that the claim holds. A gang is charged to the owner of its root; a tenant
 * that does not know yet which group the job belongs to waits until the job is started. */
void tenant_report(const struct provider_step *step, struct tenant *tenant, bool over)
{
    struct message message = {.kind = MESSAGE_REPORT};
    bool uses = tenant->active && !tenant->behind.count;

    if (tenant_is_blind(tenant) && !MUTANT(SERVICE_CHARGED))
        return;
    if (uses)
        tenant->spent.wall += step->env->now - tenant->reported;
    message.u.report = (struct report){.claim = tenant->claim,
                                       .gang = tenant->gang,
                                       .owner = *tenant_charged(tenant),
                                       .used = uses ? step->env->now - tenant->reported : 0,
                                       .over = over,
                                       .reason = over && tenant->end != REASON_RELEASED ? tenant->end : REASON_OK,
                                       .receipt = tenant->receipt,
                                       .life = step->provider->starts + !step->provider->booted,
                                       .wall = tenant->spent.wall,
                                       .cpu = tenant->spent.cpu,
                                       .memory = tenant->spent.memory,
                                       .taken = tenant->spent.taken,
                                       .brought = tenant->spent.brought,
                                       .jobs = tenant->spent.jobs};
    tenant_says(step, tenant, &message.u.report);
    if (uses)
        tenant->reported = step->env->now;
    tenant->spoken = true;
    if (over && tenant->state >= TENANT_PINNED)
        parting_add(step, pulling_registrar(step->provider, tenant), &message.u.report);
    else
        effects_send(step->effects, pulling_registrar(step->provider, tenant), &message, tenant->claim, TAG_REPORT,
                     tenant->stored);
}

void reply_claimed(const struct provider_step *step, uint64_t token, uint64_t claim, uint64_t epoch, enum reason reason,
                   uint64_t after)
{
    struct message message = {.kind = MESSAGE_CLAIMED};

    message.u.claimed = (struct claimed){claim, epoch, reason};
    effects_reply(step->effects, token, &message, after);
}

/* Nothing of the job is left: the unit is free again, and the superior and the registrar are told. */
void tenant_over(const struct provider_step *step, struct tenant *tenant)
{
    uint64_t after;

    if (tenant->spoken || tenant->active) /* before its row goes: of a disk that takes only a part, nothing is lost */
        tenant_report(step, tenant, true);
    after = effects_remove(step->effects, RECORD_TENANT, tenant->claim);
    for (uint32_t i = 0; i < tenant->crew.count; i++) /* after its row: without these it would seem to lead nobody */
        effects_remove(step->effects, RECORD_BRANCH, tenant->crew.members[i].claim);

    if (tenant->reply)
        reply_claimed(step, tenant->reply, tenant->claim, tenant->epoch, REASON_RELEASED, after);
    else
        leaving_add(step, tenant, tenant->end, after);
    tenant_drop(step, tenant);
}

/* The claim ends for that reason: at once, or when its job is gone. A claim that was never pinned is just forgotten. */
void tenant_end(const struct provider_step *step, struct tenant *tenant, enum reason reason, int64_t grace)
{
    if (tenant->state < TENANT_PINNED) {
        tenant_drop(step, tenant);
        return;
    }
    if (tenant->state != TENANT_STOPPING) {
        tenant->end = reason;
        subordinates_ends(step, tenant);
    }
    if (!tenant->running && crew_all(&tenant->crew, CLAIM_MEMBER_GONE)) {
        tenant_over(step, tenant);
        return;
    }
    if (tenant->running && (tenant->state != TENANT_STOPPING || grace == 0))
        effects_stop(step->effects, tenant->claim, grace, tenant->stored); /* after the launch, if that still waits */
    tenant->state = TENANT_STOPPING;
}

/* ------------------------------------------------------------------------------------------------------------ time */

static void tenant_beat(const struct provider_step *step, struct tenant *tenant)
{
    struct message message = {.kind = MESSAGE_BEAT};

    message.u.beat = (struct beat){tenant->claim, tenant->epoch, lease_clock(step->env), tenant->heard};
    effects_send(step->effects, tenant->superior, &message, tenant->claim, TAG_BEAT, tenant->stored);
    tenant->beat = step->env->now + step->provider->spans->lease / BEATS;
    tenant_report(step, tenant, false);
}

static void tenant_ask(const struct provider_step *step, struct tenant *tenant)
{
    struct message message = {.kind = MESSAGE_ASK};

    message.u.ask = (struct ask){tenant->claim, tenant->epoch};
    effects_send(step->effects, tenant->superior, &message, tenant->claim, TAG_ASK, tenant->stored);
    tenant->ask = step->env->now + step->provider->spans->pin / (2 * ASK_PART);
}

static void pinned_due(const struct provider_step *step, struct tenant *tenant)
{
    int64_t now = step->env->now, end = now + tenant->since + step->provider->spans->pin - lease_clock(step->env);

    if (MUTANT(PIN_FOREVER))
        end = INT64_MAX;
    if (now >= end) {
        tenant_end(step, tenant, REASON_PIN, 0);
        return;
    }
    if (now >= tenant->ask) {
        tenant_ask(step, tenant);
        if (!tenant->told)
            tenant_report(step, tenant, false);
    }
    tenant_set(step, tenant, tenant->ask < end ? tenant->ask : end);
}

/* A hash of the tenants that have a part of the offer, never 0; 0 when what they leave may depend on more than their
 * ads. */
static uint64_t offer_shared(const struct provider *provider, uint32_t place)
{
    uint64_t hash = 1;

    for (uint32_t i = 0; i < provider->tenant_count; i++) {
        const struct tenant *tenant = provider->tenants[i];

        if (tenant->offer != place)
            continue;
        if (tenant->crew.count || !tenant->ad || !tree_is_steady(tenant->ad))
            return 0;
        hash = rng_mix(hash ^ tenant->claim);
        for (uint32_t k = 0; k < tenant->behind.count; k++)
            hash = rng_mix(hash ^ tenant->behind.claims[k]);
        hash = rng_mix(hash ^ (tenant->turns << 1 | (tenant->state >= TENANT_VERIFIED)));
    }
    return hash | 1;
}

/* Must the tenant go, by our own constraint? A provider that has just restarted and has not been probed does not know
 * its own state. */
static bool tenant_vetoed(const struct provider_step *step, struct tenant *tenant)
{
    const struct offer *offer = &step->provider->offers[tenant->offer];
    uint64_t shared = step->provider->settings->pool_count ? 0 : offer_shared(step->provider, tenant->offer);
    struct tenant_memo *memo = shared ? tenant_memo(step, tenant) : NULL;
    bool fits;

    if (!offer->probe && step->env->now < offer->sure)
        return false;
    if (memo && memo->fits == shared)
        return false;
    fits = tenant_fits(step, tenant->offer, tenant, tenant->ad);
    if (memo)
        memo->fits = fits ? shared : 0;
    return !fits;
}

static void claimed_due(const struct provider_step *step, struct tenant *tenant)
{
    int64_t now = step->env->now, left = tenant->lease - lease_clock(step->env);

    if (left <= 0 &&
        tenant->state == TENANT_CLAIMED) { /* the launcher ends the job by itself; here it is only told so again */
        tenant_end(step, tenant, REASON_LEASE, 0);
        return;
    }
    if (now >= tenant->beat) {
        tenant_beat(step, tenant);
        if (tenant->state == TENANT_CLAIMED && !tenant->suspended && tenant_vetoed(step, tenant)) {
            tenant_end(step, tenant, REASON_VETOED, step->provider->spans->grace);
            return;
        }
    }
    tenant_set(step, tenant, left > 0 && now + left < tenant->beat ? now + left : tenant->beat);
}

void tenant_due(const struct provider_step *step, struct tenant *tenant)
{
    if (tenant->set <= step->env->now)
        tenant->set = INT64_MAX;
    if (!subordinates_due(step, tenant))
        return;
    switch (tenant->state) {
    case TENANT_MATCHED:
    case TENANT_VERIFIED:
        if (step->env->now >= tenant->until)
            tenant_drop(step, tenant);
        else
            tenant_set(step, tenant, tenant->until);
        break;
    case TENANT_PINNED:
        pinned_due(step, tenant);
        break;
    case TENANT_CLAIMED:
    case TENANT_STOPPING:
        claimed_due(step, tenant);
        break;
    }
}

/* The owner's `Suspend`: a job stands still while it is true, and is not sent away meanwhile. */
static bool tenant_rests(const struct provider_step *step, struct tenant *tenant)
{
    bool rests = tenant->state == TENANT_CLAIMED && tenant->running && tenant_bids(step, tenant, "Suspend");

    if (rests != tenant->suspended)
        effects_suspend(step->effects, tenant->claim, rests);
    tenant->suspended = rests;
    return rests;
}

/* Goes backwards, since claims that end are taken out of the list. */
void tenants_check(const struct provider_step *step, uint32_t offer)
{
    for (uint32_t i = step->provider->tenant_count; i-- > 0;) {
        struct tenant *tenant = step->provider->tenants[i];

        if (tenant->offer == offer && tenant_rests(step, tenant))
            continue;
        if (tenant->offer == offer && tenant->state >= TENANT_VERIFIED && tenant->state < TENANT_STOPPING &&
            tenant_vetoed(step, tenant))
            tenant_end(step, tenant, REASON_VETOED, step->provider->spans->grace);
    }
}

static bool tenant_is_spare(const struct tenant *tenant)
{
    return tenant->state < TENANT_PINNED || (tenant->state == TENANT_CLAIMED && !tenant->running && !tenant->serves);
}

/* A claim whose last result the customer has not taken stays: told first that the claim is over, the customer would run that job once more. It is refused
 * the next job, and gives the claim back. */
void tenants_spare(const struct provider_step *step, uint32_t offer)
{
    for (uint32_t i = step->provider->tenant_count; i-- > 0;) {
        struct tenant *tenant = step->provider->tenants[i];

        if (tenant->offer == offer && tenant_is_spare(tenant) &&
            !outcome_has(step->provider, tenant->claim, tenant->number))
            tenant_end(step, tenant, REASON_DRAINING, 0);
    }
}

void tenants_drain(const struct provider_step *step, bool now)
{
    for (uint32_t i = step->provider->tenant_count; i-- > 0;) {
        struct tenant *tenant = step->provider->tenants[i];

        if (tenant_is_spare(tenant))
            tenant_end(step, tenant, REASON_DRAINING, 0);
        else if (now && tenant->state == TENANT_CLAIMED)
            tenant_end(step, tenant, REASON_DRAINING, step->provider->spans->grace);
    }
}

void tenants_shut(const struct provider_step *step, const char *user, bool now)
{
    for (uint32_t i = step->provider->tenant_count; i-- > 0;) {
        struct tenant *tenant = step->provider->tenants[i];
        const char *owner = tenant->owner.bytes, *charged = tenant_charged(tenant)->bytes;

        if (!identity_is_of(owner, strlen(owner), user) && !identity_is_of(charged, strlen(charged), user))
            continue;
        tenant->shut = true;
        if (tenant_is_spare(tenant))
            tenant_end(step, tenant, REASON_DRAINING, 0);
        else if (now && tenant->state == TENANT_CLAIMED)
            tenant_end(step, tenant, REASON_DRAINING, step->provider->spans->grace);
    }
}

/* ------------------------------------------------------------------------------------------------------------ jobs */

/* How far a time lies from now, if it lies within those bounds; else the nearer of them. A time read from a disk may be anything. */
static int64_t within(int64_t at, int64_t now, int64_t least, int64_t most)
{
    return at < now + least ? least : at > now + most ? most : at - now;
}

/* The sum with an amount that may be anything: what is below zero counts as nothing, and the sum stays at the end of its range. */
static int64_t sum_with(int64_t sum, int64_t amount)
{
    if (amount <= 0)
        return sum;
    return sum > INT64_MAX - amount ? INT64_MAX : sum + amount;
}

/* A job has ended, by itself or not: what it took is the claim's. */
static void tenant_spends(struct tenant *tenant, const struct event *event)
{
    struct tenant_spent *spent = &tenant->spent;

    if (!event->number)
        return;
    spent->cpu = sum_with(spent->cpu, event->used);
    spent->taken = sum_with(spent->taken, event->taken);
    spent->brought = sum_with(spent->brought, event->brought);
    spent->memory = event->memory > spent->memory ? event->memory : spent->memory;
    spent->jobs++;
}

void tenant_job(const struct provider_step *step, const struct event *event)
{
    struct tenant *tenant = tenant_find(step->provider, event->claim);
    uint32_t place = tenant ? tenant->offer : 0;
    bool fault = event->news == JOB_EXITED && event->reason == REASON_FAULT && !MUTANT(FAULT_BLAMED), cleared;

    if (!tenant || !tenant->running ||
        (event->number != tenant->number &&
         !(event->news == JOB_GONE && (tenant->state == TENANT_STOPPING || tenant->clearing))))
        return;
    if (event->news != JOB_FOUND)
        tenant_spends(tenant, event);
    if (fault) /* nothing came of the job, and not by its own fault: it is to run elsewhere */
        offer_fails(step, tenant->offer);
    switch (fault ? JOB_GONE : event->news) {
    case JOB_FOUND:
        tenant->found = true;
        tenant->lease = lease_clock(step->env) + within(event->at, step->env->now, 0, step->provider->spans->lease);
        return;
    case JOB_EXITED:
        tenant->found = true;
        tenant->running = tenant->suspended = tenant->clearing = false;
        outcome_add(step, tenant, event);
        outcome_tell(step, tenant, event);
        tenant_store(step, tenant);
        if (tenant->state == TENANT_CLAIMED) /* the claim goes on, without a job */
            stands_claims(step, place);
        break;
    case JOB_GONE:
        cleared = tenant->clearing && tenant->lease > lease_clock(step->env);
        tenant->running = tenant->suspended = tenant->clearing = false;
        if (cleared && tenant->state == TENANT_CLAIMED) {
            tenant_store(step, tenant);
            return;
        }
        break;
    }
    if (tenant->state == TENANT_STOPPING && crew_all(&tenant->crew, CLAIM_MEMBER_GONE))
        tenant_over(step, tenant);
    else if ((fault || event->news == JOB_GONE) && tenant->state != TENANT_STOPPING)
        tenant_end(step, tenant,
                   fault                                     ? REASON_SETUP
                   : tenant->lease <= lease_clock(step->env) ? REASON_LEASE
                                                             : REASON_LOST,
                   0);
    if (fault)
        tenants_spare(step, place);
}

/* --------------------------------------------------------------------------------------------------------- restarts */

void tenants_load(const struct provider_step *step, const struct record *record)
{
    const struct tenant_record *was = &record->u.tenant_record;
    uint32_t place = offer_find(step->provider, was->offer);
    struct tenant *tenant;

    if (place == step->provider->settings->count || !was->ad || !tree_is_ad(was->ad) ||
        tenant_find(step->provider, record->key))
        return;
    tenant = tenant_new(step, record->key, place);
    tenant->boot = was->boot;
    tenant->gang = was->gang;
    tenant->superior = was->superior;
    tenant->state = was->active ? TENANT_CLAIMED : TENANT_PINNED;
    tenant->epoch = was->epoch;
    tenant->sequence = was->sequence;
    tenant->owner = was->owner;
    tenant->root_owner = was->root_owner;
    tenant_set_ad(tenant, was->ad);
    tenant->grant = was->grant && tree_is_ad(was->grant) ? tree_ref(was->grant) : NULL;
    tenant->gpus = was->gpus && tree_is_ad(was->gpus) ? tree_ref(was->gpus) : NULL;
    tenant_set_receipt(tenant, was->receipt);
    tenant_set_duty(tenant, &(struct duty){was->task && tree_is_ad(was->task) ? was->task : NULL, was->customer,
                                           was->line, was->pass, was->helps, was->idle});
    tenant->since = was->since;
    tenant->lease = was->lease;
    tenant->number = was->number;
    tenant->job = was->job;
    tenant->port = was->port;
    tenant->link = was->link;
    tenant->started = was->started;
    tenant->serves = was->running && was->active && (was->serves || !tenant_executes(step->provider, tenant));
    tenant->running = was->running && was->active && !tenant->serves;
    fronts_read(was, &tenant->behind);
    tenant->second = was->behind != 0;
    tenant->pool = pulling_pool(step->provider, was->pool);
    tenant->spoken = true; /* the registrar may have heard of it before */
}

/* Claims of another boot are lost. Claims of this boot keep their deadlines; a job that neither runs nor has ended is
 * lost. */
void tenants_boot(const struct provider_step *step)
{
    struct provider *provider = step->provider;
    int64_t clock = lease_clock(step->env);

    successors_load(step);
    for (uint32_t i = provider->tenant_count; i-- > 0;) {
        struct tenant *tenant = provider->tenants[i];
        bool lost = tenant->running && !tenant->found && !outcome_has(provider, tenant->claim, tenant->number);
        bool here = tenant->boot == step->env->boot;

        if (lost && here &&
            !tenant_executes(provider, tenant)) { /* a row of an earlier version, before the first probe */
            tenant->serves = true;
            lost = false;
        }

        if (!here || !tenant->found)
            tenant->running = false;
        tenant->since = clock + within(tenant->since, clock, -provider->spans->pin, 0);
        tenant->lease = clock + within(tenant->lease, clock, -1, provider->spans->lease);
        tenant->reported = step->env->now;
        tenant->active = tenant->state == TENANT_CLAIMED ? step->env->now : 0;
        subordinates_boot(step, tenant);
        if (!here || lost) {
            tenant_end(step, tenant, REASON_LOST, 0);
            continue;
        }
        if (MUTANT(FRESH_LEASE)) {
            tenant->lease = lease_clock(step->env) + provider->spans->lease;
            if (tenant->running)
                effects_deadline(step->effects, tenant->claim, tenant->lease, tenant->stored);
        }
        tenant->ask = tenant->beat = step->env->now;
        tenant_set(step, tenant, step->env->now);
    }
    successors_boot(step);
}
