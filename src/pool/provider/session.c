/* session.c: what a superior tells a tenant once it is verified: commit, activate, start, release, abort, attach.
 *
 * A repeat gets the same answer and changes nothing; a message older than the last of the session (epoch, sequence) changes nothing;
 * nobody hears of anything that is not yet durable. */
#include "pool/provider/session.h"
#include "match/gang/dock.h"
#include "pool/protocol/mutants.h"
#include "pool/provider/calendar.h"
#include "pool/provider/docking.h"
#include "pool/provider/gpus.h"
#include "pool/provider/offers.h"
#include "pool/provider/outcomes.h"
#include "pool/provider/provider_claims.h"
#include "pool/provider/provider_state.h"
#include "pool/provider/pulling.h"
#include "pool/provider/stands.h"
#include "pool/provider/subordinates.h"
#include "pool/provider/successor.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------- commit, activate, start */

/* The unit belongs to this tenant, and that is durable before it is said. */
void tenant_pin(const struct provider_step *step, struct tenant *tenant, uint64_t token)
{
    tenant->state = TENANT_PINNED;
    tenant->since = lease_clock(step->env);
    tenant->lease = tenant->since + step->provider->spans->lease;
    tenant->ask = step->env->now + step->provider->spans->pin / ASK_PART;
    tenant->reported = step->env->now;
    offer_use_key(step, tenant);
    tenant_store(step, tenant);
    tenant->set = INT64_MAX;
    tenant_set(step, tenant, tenant->ask);
    reply_claimed(step, token, tenant->claim, tenant->epoch, REASON_OK, MUTANT(ACK_EARLY) ? 0 : tenant->stored);
    tenant_report(step, tenant, false);
    if (MUTANT(EVICT_AT_PIN))
        successor_evicts(step, tenant);
}

static void told_commit(const struct provider_step *step, const struct event *event, struct tenant *tenant)
{
    const struct commit *commit = &event->message->u.commit;
    struct docked superior = tenant_above(tenant);

    if (tenant->state == TENANT_VERIFIED) {
        if (!tenant_accepted(step, tenant->offer, tenant, tenant->ad) ||
            !successor_preferred(step, &tenant->behind, &superior) ||
            (!tenant->behind.count && !gpus_assign(step, tenant, tenant->ad))) {
            reply_claimed(step, event->token, tenant->claim, 0, REASON_CONSTRAINT, 0);
            tenant_drop(step, tenant);
            return;
        }
        tenant->epoch = commit->epoch;
        tenant->sequence = commit->sequence;
        subordinates_commit(step, tenant, commit->collect, event->token);
        return;
    }
    reply_claimed(step, event->token, tenant->claim, tenant->epoch,
                  tenant->state == TENANT_STOPPING || commit->epoch != tenant->epoch ? REASON_STALE : REASON_OK,
                  tenant->stored);
}

/* Is the message of the present epoch, and not older than the last? If not, it is answered and changes nothing. */
static bool session_holds(const struct provider_step *step, const struct event *event, struct tenant *tenant,
                          uint64_t epoch, uint64_t sequence)
{
    bool holds = (epoch == tenant->epoch || (MUTANT(EPOCH) && epoch < tenant->epoch)) &&
                 (sequence >= tenant->sequence || MUTANT(SEQUENCE));

    if (!holds)
        reply_claimed(step, event->token, tenant->claim, tenant->epoch, REASON_STALE, tenant->stored);
    return holds;
}

/* The pin becomes a claim, if the activation comes in time. */
static enum reason pinned_activate(const struct provider_step *step, struct tenant *tenant, uint64_t sequence)
{
    int64_t age = lease_clock(step->env) - tenant->since, obey = step->provider->spans->pin / 2;

    if (age > (MUTANT(OBEY_LATE) ? 2 * obey : obey))
        return REASON_PIN;
    if (!calendar_lets(step, tenant, tenant->ad))
        return REASON_CONSTRAINT;
    successor_spares(step, tenant);
    tenant->state = TENANT_CLAIMED;
    tenant->sequence = sequence;
    if (MUTANT(LEASE_FROM_ACTIVATE))
        tenant->lease = lease_clock(step->env) + step->provider->spans->lease;
    tenant->active = step->env->now;
    pulling_claimed(step, tenant);
    tenant->beat = step->env->now + step->provider->spans->lease / BEATS;
    tenant_store(step, tenant);
    tenant->set = INT64_MAX;
    tenant_set(step, tenant, tenant->beat);
    return REASON_OK;
}

/* The unit's ad, which takes no more than the claim was pinned for. The caller unrefs it. */
static struct tree *tenant_unit(const struct provider_step *step, const struct tenant *tenant, struct tree *ad)
{
    struct tree *left = offer_left(step->provider, step->env, tenant->offer, TENANT_VERIFIED, tenant, &tenant->behind);
    struct tree *unit = pins_fix(step, left, ad, tenant->ad);

    tree_unref(left);
    return unit;
}

/* May the claim have another job? */
static enum reason tenant_goes_on(const struct provider_step *step, const struct tenant *tenant)
{
    if (step->provider->draining || tenant->shut || offer_ails(step->provider, tenant->offer))
        return REASON_DRAINING;
    if (step->env->now - tenant->active > step->provider->spans->life ||
        (!crew_whole(&tenant->crew) && !MUTANT(REUSE_REDUCED)))
        return REASON_LIFE; /* or the tenant has dropped a member: the next job begins with a whole gang */
    return REASON_OK;
}

/* The claim is used again, for a unit with this ad. */
static enum reason claimed_activate(const struct provider_step *step, struct tenant *tenant,
                                    const struct activate *activate)
{
    enum reason reason;
    struct tree *unit;

    if (activate->sequence == tenant->sequence)
        return REASON_OK;                      /* a repeat */
    if (tenant->running && !MUTANT(RUNS_ON)) { /* the superior's job is over, and so is our part of it */
        if (activate->ad && !tenant->clearing)
            effects_stop(step->effects, tenant->claim, step->provider->spans->grace, tenant->stored);
        tenant->clearing = tenant->clearing || activate->ad;
        return REASON_BUSY;
    }
    tenant->serves = false;
    tenant->started = -1;
    if (!activate->ad) { /* repeated for a claim that was activated already */
        tenant->sequence = activate->sequence;
        tenant_store(step, tenant);
        return REASON_OK;
    }
    reason = tenant_goes_on(step, tenant);
    if (reason != REASON_OK)
        return reason;
    if (!tree_is_ad(activate->ad) || !tenant_owns(tenant, activate->ad))
        return REASON_IDENTITY;
    unit = tenant_unit(step, tenant, activate->ad);
    reason = offer_starts(step, tenant->offer, unit) && tenant_accepted(step, tenant->offer, tenant, unit) &&
                     (calendar_lets(step, tenant, unit) || MUTANT(BOOKING_UNASKED)) &&
                     (tenant->behind.count || gpus_assign(step, tenant, unit))
                 ? REASON_OK
                 : REASON_CONSTRAINT;
    if (reason == REASON_OK)
        tenant_set_ad(tenant, unit);
    tree_unref(unit);
    if (reason != REASON_OK)
        return reason;
    tenant->sequence = activate->sequence;
    offer_changed(step, tenant->offer);
    tenant_store(step, tenant);
    return REASON_OK;
}

static void told_activate(const struct provider_step *step, const struct event *event, struct tenant *tenant)
{
    const struct activate *activate = &event->message->u.activate;
    enum reason reason = REASON_STALE;

    if (!session_holds(step, event, tenant, activate->epoch, activate->sequence))
        return;
    if (tenant->state == TENANT_PINNED)
        reason = pinned_activate(step, tenant, activate->sequence);
    else if (tenant->state == TENANT_CLAIMED)
        reason = claimed_activate(step, tenant, activate);
    if (reason == REASON_OK && tenant->behind.count)
        successor_evicts(step, tenant);
    if (reason == REASON_OK && tenant->behind.count && !MUTANT(ACTIVATE_OCCUPIED))
        reply_claimed(step, event->token, tenant->claim, tenant->epoch, REASON_WAIT, tenant->stored);
    else if (reason == REASON_OK)
        subordinates_activate(step, tenant, event->token);
    else
        reply_claimed(step, event->token, tenant->claim, tenant->epoch, reason, tenant->stored);
}

int64_t job_span(const struct provider_step *step, const struct tree *ad)
{
    symbol name = symbols_find(ad->symbols, "TimeLimit", 9);
    struct env env = provider_env(step->env);
    struct scope scope;
    struct eval eval;
    struct value limit;

    scope_init(&scope, ad, NULL);
    eval_init(&eval, &env, step->env->scratch);
    if (!name || !eval_attribute(&eval, &scope, name, &limit))
        return INT64_MAX;
    if ((limit.type == VALUE_INTEGER || limit.type == VALUE_RELTIME) && limit.u.integer > 0 &&
        limit.u.integer < INT64_MAX / SECOND)
        return limit.u.integer * SECOND;
    return limit.type == VALUE_REAL && limit.u.real > 0 && limit.u.real < 1e12
               ? (int64_t)(limit.u.real * (double)SECOND)
               : INT64_MAX;
}

/* Records the start, and launches the job if there is anything to launch. */
static void tenant_start(const struct provider_step *step, struct tenant *tenant)
{
    struct duty duty = tenant->duty;
    struct tree *job;
    int64_t at;

    tenant->begun = step->env->now;
    if (!tenant->running) {
        tenant_store(step, tenant);
        return;
    }
    job = gpus_tell(tenant, tenant_grant(step, tenant, tenant_duty(tenant).ad));
    duty.ad = job == tenant->ad ? NULL : job;
    tenant_set_duty(tenant, &duty);
    tenant_store(step, tenant);
    stands_claims(step, tenant->offer);
    calendar_began(step, tenant);
    at = calendar_deadline(step, tenant, step->env->now + tenant->lease - lease_clock(step->env));
    effects_job(step->effects, tenant->claim, tenant->number, tenant->job, job, at, job_span(step, job),
                MUTANT(LAUNCH_UNRECORDED) ? 0 : tenant->stored);
    tree_unref(job);
}

/* Is the tenant below a service, by the ticket? Then the customer says what is run, and not the superiors in
 * between. */
static bool tenant_is_deep(const struct tenant *tenant)
{
    return tenant->root_owner.bytes[0] != 0;
}

/* Asks the customer what to run; the start is answered when that is known. */
static void task_ask(const struct provider_step *step, struct tenant *tenant, const struct event *event)
{
    const struct start *start = &event->message->u.start;
    struct message message = {.kind = MESSAGE_TASK};

    message_done(&tenant->asked);
    message_copy(&tenant->asked, event->message);
    tenant->asked_by = event->token;
    if (tenant->asking)
        return;
    tenant->asking = start->number;
    message.u.task_asked =
        (struct task_asked){.gang = tenant->gang, .claim = tenant->claim, .number = start->number, .job = start->job};
    effects_send(step->effects, tenant->root ? tenant->root : start->customer, &message, tenant->claim, TAG_TASK, 0);
}

/* Is the job of the owner whom the ticket names, told by that owner, or by somebody who may act for any user? That
 * matters because, where the news of the match was lost, a service has told us who the customer is. */
static bool task_is_good(const struct tenant *tenant, const struct task_told *tasked, const struct peer *peer)
{
    bool proved = peer && (peer->any || (peer->identity && !strcmp(peer->identity, tenant->root_owner.bytes)));
    symbol name = tasked->ad && tree_is_ad(tasked->ad) ? symbols_find(tasked->ad->symbols, "Owner", 5) : SYMBOL_NONE;
    const struct expr *owner = name != SYMBOL_NONE ? tree_find(tasked->ad, tree_root(tasked->ad), name) : NULL;

    return proved && tasked->ad && tree_is_ad(tasked->ad) &&
           (!owner || (owner->kind == EXPR_STRING && owner->u.run.count == strlen(tenant->root_owner.bytes) &&
                       !memcmp(tree_string(tasked->ad, owner), tenant->root_owner.bytes, owner->u.run.count)));
}

/* The duty that comes with the start; below a service, the one that the customer has told. */
static struct duty start_duty(const struct tenant *tenant, const struct start *start, const struct task_told *tasked)
{
    struct duty duty = {start->task, start->customer, start->line, start->pass, start->helps, start->idle};

    if (!tenant_is_deep(
            tenant)) { /* the superior is the customer: the job's ad is the one that our constraint is asked about */
        duty.ad = NULL;
        duty.customer = 0;
    } else if (tenant->root) {
        duty.customer = tenant->root;
    }
    if (!tasked)
        return duty;
    duty.ad = MUTANT(TASK_DROPPED) ? NULL : tasked->ad;
    duty.line = tasked->line == tenant->claim ? 0 : tasked->line;
    duty.pass = tasked->pass;
    duty.helps = tasked->helps;
    return duty;
}

/* `tasked`: the customer's answer, if it was asked; then the event's peer is the customer. */
static void start_take(const struct provider_step *step, const struct event *event, struct tenant *tenant,
                       const struct task_told *tasked)
{
    const struct start *start = &event->message->u.start;
    struct duty duty = start_duty(tenant, start, tasked);
    bool executes =
        MUTANT(EXECUTES_IGNORED) || (ad_executes(step->provider->offers[tenant->offer].whole) && !start->idle);
    bool asks = executes && tenant_is_deep(tenant) && !tasked && !MUTANT(TASK_FROM_ABOVE);
    struct tree *ad = start->ad ? start->ad : tenant->ad, *unit = NULL;
    enum reason reason = REASON_OK;
    bool again = start->number == tenant->number && start->job == tenant->job;
    bool next = tenant->started >= 0; /* the next job of a claim, which was not activated anew for it */

    if (!session_holds(step, event, tenant, start->epoch, start->sequence))
        return;
    if (tenant->state != TENANT_CLAIMED || (start->number <= tenant->number && !again && !MUTANT(NUMBER_IGNORED)))
        reason = REASON_STALE;
    else if (again && !MUTANT(NUMBER_IGNORED)) {
        reason = REASON_OK;
        if (tenant->started < 0) { /* the claim was activated anew meanwhile */
            tenant->serves = !tenant_executes(step->provider, tenant);
            tenant->started = step->env->wall / SECOND;
            tenant_store(step, tenant);
        }
    } else if (tenant->behind.count && !MUTANT(ACTIVATE_OCCUPIED))
        reason = REASON_WAIT;
    else if (tenant->running)
        reason = REASON_BUSY;
    else if (offer_ails(step->provider, tenant->offer))
        reason = REASON_DRAINING;
    else if (next && tenant_goes_on(step, tenant) != REASON_OK)
        reason = tenant_goes_on(step, tenant);
    else if (!tree_is_ad(ad) || !tenant_owns(tenant, ad) || (start->task && !tree_is_ad(start->task)))
        reason = REASON_IDENTITY;
    else if (unit = tenant_unit(step, tenant, ad),
             (next && !offer_starts(step, tenant->offer, unit)) ||
                 !tenant_accepted(step, tenant->offer, tenant, unit) ||
                 !(calendar_lets(step, tenant, duty.ad ? duty.ad : unit) || (MUTANT(BOOKING_UNASKED) && next)))
        reason = REASON_CONSTRAINT;
    else if ((asks && !tenant->root && !start->customer) || (tasked && !task_is_good(tenant, tasked, event->peer)))
        reason = REASON_IDENTITY;
    else if (asks) {
        task_ask(step, tenant, event);
        tree_unref(unit);
        return;
    } else if (executes && !gpus_assign(step, tenant, unit)) {
        reason = REASON_CONSTRAINT;
    } else {
        tenant->number = start->number;
        tenant->job = start->job;
        tenant->sequence = start->sequence;
        tenant->running = executes;
        tenant->serves = !tenant->running;
        tenant->started = step->env->wall / SECOND;
        if (start->ad || unit != tenant->ad) { /* others cannot have what this job takes */
            tenant_set_ad(tenant, unit);
            offer_changed(step, tenant->offer);
        }
        tenant_set_duty(tenant, &duty);
        tenant_start(step, tenant);
    }
    tree_unref(unit);
    reply_claimed(step, event->token, tenant->claim, tenant->epoch, reason, tenant->stored);
    subordinates_due(step, tenant);
}

static void told_start(const struct provider_step *step, const struct event *event, struct tenant *tenant)
{
    start_take(step, event, tenant, NULL);
}

/* Without an answer, or if the answer is to wait, the superior repeats its start; otherwise the start goes on, if it
 * still may. */
void task_answer(const struct provider_step *step, struct tenant *tenant, const struct event *event)
{
    const struct task_told *tasked = event->message ? &event->message->u.task_told : NULL;
    struct message asked = tenant->asked;
    struct event start = {.kind = EVENT_MESSAGE, .token = tenant->asked_by, .peer = event->peer, .message = &asked};
    bool got = event->answer == ANSWER_GOT && tasked && event->message->kind == MESSAGE_TASKED &&
               tasked->claim == tenant->claim && asked.u.start.number == tenant->asking; /* not that of a job before */

    tenant->asking = 0;
    if (asked.kind != MESSAGE_START)
        return;
    tenant->asked = (struct message){.kind = MESSAGE_NONE};
    if (got && tasked->reason == REASON_OK)
        start_take(step, &start, tenant, tasked);
    else
        reply_claimed(step, start.token, tenant->claim, tenant->epoch,
                      !got || tasked->reason == REASON_WAIT ? REASON_WAIT : tasked->reason, tenant->stored);
    message_done(&asked);
}

/* -------------------------------------------------------------------------------------------- release, abort, attach */

static void told_release(const struct provider_step *step, const struct event *event, struct tenant *tenant)
{
    const struct release *release = &event->message->u.release;

    bool old =
        release->epoch < tenant->epoch || (release->epoch == tenant->epoch && release->sequence < tenant->sequence);

    /* a higher epoch comes from a superior whose attachment did not arrive */
    if (old && !(MUTANT(EPOCH) || MUTANT(SEQUENCE))) {
        reply_claimed(step, event->token, tenant->claim, tenant->epoch, REASON_STALE, tenant->stored);
        return;
    }
    if (tenant->state < TENANT_PINNED) {
        reply_claimed(step, event->token, tenant->claim, 0, REASON_RELEASED, 0);
        tenant_drop(step, tenant);
        return;
    }
    if (MUTANT(RELEASED_EARLY))
        reply_claimed(step, event->token, tenant->claim, tenant->epoch, REASON_RELEASED, tenant->stored);
    tenant->reply = event->token; /* a sender that asked before hears nothing, and asks again */
    tenant_end(step, tenant, REASON_RELEASED, step->provider->spans->grace);
}

static void told_abort(const struct provider_step *step, const struct event *event, struct tenant *tenant)
{
    bool heard = tenant->state <= TENANT_PINNED || (MUTANT(OLD_ABORT) && tenant->state == TENANT_CLAIMED);

    reply_claimed(step, event->token, tenant->claim, tenant->epoch, heard ? REASON_OK : REASON_STALE, 0);
    if (!heard)
        return; /* after the decision only a release ends the claim */
    tenant_end(step, tenant, REASON_ABORT, 0);
}

static void reply_attached(const struct provider_step *step, uint64_t token, const struct tenant *tenant,
                           uint64_t claim, enum reason reason)
{
    struct message message = {.kind = MESSAGE_ATTACHED};

    message.u.attached = (struct attached){.claim = claim, .reason = reason};
    if (tenant) {
        message.u.attached.epoch = tenant->epoch;
        message.u.attached.active = tenant->state == TENANT_CLAIMED;
        message.u.attached.number = tenant->number;
        message.u.attached.job = tenant->job;
        message.u.attached.running = tenant->running;
    }
    effects_reply(step->effects, token, &message, tenant ? tenant->stored : 0);
}

static void told_attach(const struct provider_step *step, const struct event *event, struct tenant *tenant)
{
    const struct attach *attach = &event->message->u.attach;
    enum reason reason = REASON_OK;

    if (tenant->state < TENANT_PINNED)
        reason = REASON_UNKNOWN;
    else if (attach->epoch < tenant->epoch)
        reason = REASON_STALE;
    else if (tenant->state == TENANT_STOPPING)
        reason = REASON_BUSY; /* the claim is ending: ask again */
    else if (attach->epoch > tenant->epoch) {
        tenant->epoch = attach->epoch;
        tenant->sequence = 0;
        tenant->heard = 0; /* the superior's clock may be another now */
        tenant->cleared = 0;
        if (MUTANT(ATTACH_RENEWS)) {
            tenant->lease = lease_clock(step->env) + step->provider->spans->lease;
            effects_deadline(step->effects, tenant->claim, tenant->lease, tenant->stored);
        }
        tenant_store(step, tenant);
    }
    reply_attached(step, event->token, tenant, tenant->claim, reason);
}

/* ---------------------------------------------------------------------------------------------------------- messages */

/* The answer to a message that is not for a provider, or about a claim that is not there: nothing of it is left. */
static void reply_nothing(const struct provider_step *step, const struct event *event, uint64_t claim,
                          enum reason reason)
{
    struct message message;

    if (!message_refusal(event->message->kind, reason, &message))
        return;
    if (message.kind == MESSAGE_CLAIMED)
        message.u.claimed.claim = claim;
    else if (message.kind == MESSAGE_ATTACHED)
        message.u.attached.claim = claim;
    effects_reply(step->effects, event->token, &message, 0);
}

static uint64_t message_claim(const struct message *message)
{
    switch (message->kind) {
    case MESSAGE_COMMIT:
        return message->u.commit.claim;
    case MESSAGE_ACTIVATE:
        return message->u.activate.claim;
    case MESSAGE_START:
        return message->u.start.claim;
    case MESSAGE_RELEASE:
        return message->u.release.claim;
    case MESSAGE_ABORT:
        return message->u.abort.claim;
    case MESSAGE_ATTACH:
        return message->u.attach.claim;
    default:
        return 0;
    }
}

void tenant_message(const struct provider_step *step, const struct event *event)
{
    static void (*const told[MESSAGE_COUNT])(const struct provider_step *, const struct event *, struct tenant *) = {
        [MESSAGE_COMMIT] = told_commit,   [MESSAGE_ACTIVATE] = told_activate, [MESSAGE_START] = told_start,
        [MESSAGE_RELEASE] = told_release, [MESSAGE_ABORT] = told_abort,       [MESSAGE_ATTACH] = told_attach,
    };
    enum message_kind kind = event->message->kind;
    struct tenant *tenant;

    if (kind == MESSAGE_MATCH) {
        told_match(step, event);
        return;
    }
    if (kind == MESSAGE_VERIFY) {
        told_verify(step, event);
        return;
    }
    if (kind == MESSAGE_BEAT || kind == MESSAGE_ASK || kind == MESSAGE_LEFT || kind == MESSAGE_RESULT) {
        subordinates_message(step, event);
        return;
    }
    if (!told[kind]) {
        reply_nothing(step, event, 0, REASON_INVALID);
        return;
    }
    tenant = tenant_find(step->provider, message_claim(event->message));
    if (!tenant && kind == MESSAGE_ABORT)
        match_unwanted(step->provider, event->message->u.abort.claim, event->peer->agent);
    /* The claim is over, but its job had ended before: a superior that comes back takes the result first, or the job would run again for nothing. */
    if (!tenant && kind == MESSAGE_ATTACH && outcome_hurry(step, message_claim(event->message), event->peer->agent))
        reply_nothing(step, event, message_claim(event->message), REASON_BUSY);
    /* About a mere match, only an abort from a customer that does not want it is taken. */
    else if (!tenant || (tenant->state == TENANT_MATCHED && kind != MESSAGE_ABORT))
        reply_nothing(step, event, message_claim(event->message), REASON_UNKNOWN);
    else if (tenant->superior != event->peer->agent)
        reply_nothing(step, event, tenant->claim, REASON_IDENTITY);
    else
        told[kind](step, event, tenant);
}

/* An acknowledged heart beat renews the lease, counted from when the beat was sent. */
static void beat_answered(const struct provider_step *step, struct tenant *tenant, const struct beaten *beaten)
{
    bool first = !tenant->heard;
    int64_t lease;

    if (beaten->reason == REASON_UNKNOWN || beaten->reason == REASON_RELEASED) {
        if (tenant->state == TENANT_CLAIMED)
            tenant_end(step, tenant, REASON_RELEASED, step->provider->spans->grace);
        return;
    }
    if (beaten->reason != REASON_OK || beaten->sent < 0 || beaten->sent > lease_clock(step->env))
        return;
    lease = beaten->sent + step->provider->spans->lease;
    tenant->heard = beaten->clock > tenant->heard ? beaten->clock : tenant->heard;
    /* The superior counts on us for a lease from an answer that it knows to have come here. After a restart it knows of
     * no such answer until the next heart beat says so. So we beat again at once: if the superior restarts again and
     * again before that, it would take us for lost although we answered each life. */
    if (first && tenant->heard && tenant->state == TENANT_CLAIMED) {
        tenant->beat = step->env->now;
        tenant_set(step, tenant, tenant->beat);
    }
    if (lease <= tenant->lease)
        return;
    tenant->lease = lease;
    if (tenant->running)
        effects_deadline(step->effects, tenant->claim,
                         calendar_deadline(step, tenant, step->env->now + lease - lease_clock(step->env)),
                         tenant->stored);
    else if (tenant->serves)
        tenant_store(step, tenant); /* no launcher remembers the lease */
}

void tenant_answer(const struct provider_step *step, struct tenant *tenant, const struct event *event)
{
    const struct message *message = event->message;

    if (event->answer != ANSWER_GOT || !message)
        return;
    if (event->tag == TAG_REPORT) {
        tenant->told = true;
        if (message->kind == MESSAGE_GOT && message->u.got.reason == REASON_OK)
            stands_reported(step, tenant);
    }
    if (event->tag == TAG_BEAT && message->kind == MESSAGE_BEATEN && tenant->state >= TENANT_CLAIMED)
        beat_answered(step, tenant, &message->u.beaten);
    else if (event->tag == TAG_ASK && message->kind == MESSAGE_CLAIMED && tenant->state == TENANT_PINNED &&
             message->u.claimed.reason == REASON_ABORT)
        tenant_end(step, tenant, REASON_ABORT, 0);
}
