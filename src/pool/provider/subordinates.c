/* subordinates.c: members that have members: a tenant leads its own crew through each step before it answers its superior.
 *
 *     told verify    ->  verifies its crew    ->  answers verified
 *     told commit    ->  commits its crew     ->  records them, pins itself, acknowledges
 *     told activate  ->  activates its crew   ->  acknowledges
 *     told start     ->  starts, and its crew
 *     ends           ->  releases its crew; over when nothing of the crew is left
 *
 * The superior is answered late, and the answer goes to its last message. A tenant without a crew never comes here. */
#include "pool/provider/subordinates.h"
#include "pool/provider/docking.h"
#include "pool/provider/outcomes.h"
#include "pool/provider/provider_claims.h"
#include "pool/provider/provider_state.h"
#include "pool/provider/session.h"

#include "lang/base/mem.h"
#include "match/gang/dock.h"
#include "pool/protocol/mutants.h"

/* The time to collect is half of the superior's. */
#define COLLECT_PART 2
#define COLLECT_MOST 4 /* no member collects for longer than P / 4 */

/* `above` must live as long as the errand. */
static struct claim_member_errand subordinates_errand(const struct provider_step *step, const struct tenant *tenant,
                                                      struct docked *above)
{
    *above = tenant_above(tenant);
    return (struct claim_member_errand){.env = step->env,
                                        .spans = step->provider->spans,
                                        .effects = step->effects,
                                        .gang = tenant->gang,
                                        .job = tenant->job,
                                        .number = tenant->number,
                                        .ad = step->provider->offers[tenant->offer].whole,
                                        .above = above,
                                        .root_owner = *tenant_charged(tenant),
                                        .duty = tenant_duty(tenant),
                                        .executes = tenant_executes(step->provider, tenant),
                                        .collect = tenant->collect,
                                        .after = tenant->stored};
}

static bool tenant_decided(const struct tenant *tenant)
{
    return tenant->state >= TENANT_CLAIMED;
}

/* Sends what is due, and sets the next time. */
static void subordinates_speak(const struct provider_step *step, struct tenant *tenant)
{
    struct docked above;
    struct claim_member_errand errand = subordinates_errand(step, tenant, &above);
    int64_t next = crew_run(&tenant->crew, &errand, tenant_decided(tenant));

    if (tenant->waits == WAITS_COMMIT && tenant->began + tenant->collect + 1 < next)
        next = tenant->began + tenant->collect + 1;
    tenant_set(step, tenant, next);
}

void tenant_recruit(struct tenant *tenant, const struct edges *edges, const struct edges *below)
{
    for (uint32_t i = 0; edges && edges->count <= EDGES_MAX && i < edges->count; i++)
        if (edges->items[i].ad)
            crew_add(&tenant->crew, &edges->items[i], below);
}

void tenant_lead(const struct provider_step *step, struct tenant *tenant, enum tenant_waits waits,
                 enum claim_member_state state, uint64_t owed)
{
    tenant->waits = waits;
    tenant->owed = owed;
    tenant->began = step->env->now;
    if (state == CLAIM_MEMBER_COMMITTING)
        for (uint32_t i = 0; i < tenant->crew.count; i++)
            tenant->crew.members[i].epoch = 1;
    crew_go(&tenant->crew, step->env->now, state);
    subordinates_speak(step, tenant);
}

void subordinates_verify(const struct provider_step *step, struct tenant *tenant, uint64_t token)
{
    if (crew_all(&tenant->crew, CLAIM_MEMBER_VERIFIED)) /* also true when there is no crew */
        tenant_verified(step, tenant, token);
    else if (tenant->waits == WAITS_VERIFY)
        tenant->owed = token;
    else
        tenant_lead(step, tenant, WAITS_VERIFY, CLAIM_MEMBER_VERIFYING, token);
}

void subordinates_commit(const struct provider_step *step, struct tenant *tenant, int64_t collect, uint64_t token)
{
    int64_t most = step->provider->spans->pin / COLLECT_MOST;

    if (!tenant->crew.count) {
        tenant_pin(step, tenant, token);
    } else if (tenant->waits == WAITS_COMMIT) {
        tenant->owed = token;
    } else if (!crew_all(&tenant->crew, CLAIM_MEMBER_VERIFIED)) {
        reply_claimed(step, token, tenant->claim, tenant->epoch, REASON_STALE, 0);
    } else {
        tenant->collect = (collect < 0 ? 0 : collect < most ? collect : most) / COLLECT_PART;
        tenant_lead(step, tenant, WAITS_COMMIT, CLAIM_MEMBER_COMMITTING, token);
    }
}

void subordinates_activate(const struct provider_step *step, struct tenant *tenant, uint64_t token)
{
    bool attaching = false;

    for (uint32_t i = 0; i < tenant->crew.count; i++)
        attaching = attaching || tenant->crew.members[i].state == CLAIM_MEMBER_ATTACHING;
    if (attaching)
        reply_claimed(step, token, tenant->claim, tenant->epoch, REASON_WAIT, tenant->stored);
    else if (tenant->waits == WAITS_ACTIVATE)
        tenant->owed = token;
    else if (!tenant->crew.count || tenant->cleared == tenant->sequence)
        reply_claimed(step, token, tenant->claim, tenant->epoch, REASON_OK, tenant->stored);
    else
        tenant_lead(step, tenant, WAITS_ACTIVATE, CLAIM_MEMBER_ACTIVATING, token);
}

/* The superior hears that its subordinate cannot go on. A tenant that has not been decided forgets everything; one that
 * has ends. */
static void subordinates_failed(const struct provider_step *step, struct tenant *tenant, enum reason reason)
{
    uint64_t owed = tenant->owed;

    tenant->owed = 0;
    if (tenant->waits == WAITS_VERIFY) {
        struct verified verified = {.claim = tenant->claim, .reason = reason};

        reply_verified(step, owed, &verified);
    } else if (tenant->waits != WAITS_NOTHING) {
        reply_claimed(step, owed, tenant->claim, tenant->epoch, REASON_ABORT, tenant->stored);
    }
    tenant->waits = WAITS_NOTHING;
    tenant_end(step, tenant, REASON_LOST, step->provider->spans->grace);
}

/* All members are verified: do our ports accept them as they are now, and the superior together with them? */
static bool subordinates_fit(const struct provider_step *step, struct tenant *tenant)
{
    struct docked above;
    struct claim_member_errand errand = subordinates_errand(step, tenant, &above);

    return crew_accepts(&tenant->crew, &errand) && tenant_accepted(step, tenant->offer, tenant, tenant->ad);
}

/* Has the gang begun, so that it may go on without a member? (An attachment sets both numbers to 0: then no way is known to be clear.) */
static bool tenant_began(const struct tenant *tenant)
{
    return tenant->state == TENANT_CLAIMED && tenant->waits == WAITS_NOTHING &&
           (tenant->started >= 0 || (tenant->cleared && tenant->cleared == tenant->sequence));
}

/* Is that member's result the tenant's? Where the tenant was given nothing to run, nor were its members: nobody's is. */
static bool member_leads(const struct provider_step *step, const struct tenant *tenant,
                         const struct claim_member *member)
{
    struct crew_chief chief = tenant_chief(step->provider, tenant);

    return !tenant->duty.idle && !tenant_executes(step->provider, tenant) &&
           crew_leader(&tenant->crew, &chief) == member;
}

/* A member is lost. Either the tenant ends and its superior hears of it; or it goes on without the member, and nobody
 * hears. The tenant may be gone then. */
static void tenant_loses(const struct provider_step *step, struct tenant *tenant, struct claim_member *member,
                         enum reason reason)
{
    struct docked above;
    struct claim_member_errand errand = subordinates_errand(step, tenant, &above);

    if (tenant->state == TENANT_STOPPING || member->dropped)
        return;
    if (!tenant_began(tenant) || member_leads(step, tenant, member) ||
        crew_needs(&tenant->crew, &errand, member, run_time(step->env, tenant->started))) {
        subordinates_failed(step, tenant, reason);
        return;
    }
    tenant->stored = crew_drop(member, step->env->now, tenant->gang, tenant->claim, step->effects);
    effects_note(step->effects, REASON_LOST, member->claim,
                 "a member that is not essential: the gang goes on without it");
}

/* The whole crew has done what the superior asked for: the superior is answered. */
static void subordinates_reached(const struct provider_step *step, struct tenant *tenant)
{
    enum tenant_waits waits = tenant->waits;

    if (waits == WAITS_VERIFY && !subordinates_fit(step, tenant)) {
        subordinates_failed(step, tenant, REASON_CONSTRAINT);
        return;
    }

    tenant->waits = WAITS_NOTHING;
    switch (waits) {
    case WAITS_NOTHING:
        break;
    case WAITS_VERIFY:
        tenant_verified(step, tenant, tenant->owed);
        break;
    case WAITS_COMMIT:
        for (uint32_t i = 0; i < tenant->crew.count; i++)
            claim_member_store(&tenant->crew.members[i], tenant->gang, tenant->claim, step->effects);
        tenant_pin(step, tenant, tenant->owed);
        break;
    case WAITS_ACTIVATE:
        tenant->cleared = tenant->sequence;
        if (tenant->owed)
            reply_claimed(step, tenant->owed, tenant->claim, tenant->epoch, REASON_OK, tenant->stored);
        break;
    }
}

/* Brings members that were attached again to where the tenant itself is; active members start with it. */
static void subordinates_follow(const struct provider_step *step, struct tenant *tenant)
{
    for (uint32_t i = 0; i < tenant->crew.count && tenant->state == TENANT_CLAIMED; i++) {
        struct claim_member *member = &tenant->crew.members[i];

        if (member->dropped)
            continue;
        if (member->state == CLAIM_MEMBER_PINNED)
            claim_member_go(member, step->env->now, CLAIM_MEMBER_ACTIVATING);
        else if (member->state == CLAIM_MEMBER_ACTIVE && (tenant->running || tenant->serves) &&
                 tenant->waits == WAITS_NOTHING)
            claim_member_go(member, step->env->now, CLAIM_MEMBER_STARTING);
    }
}

/* Goes on if all members have come as far as the tenant waits for. The tenant may be gone then. */
static void subordinates_continue(const struct provider_step *step, struct tenant *tenant)
{
    static const enum claim_member_state goals[] = {[WAITS_VERIFY] = CLAIM_MEMBER_VERIFIED,
                                                    [WAITS_COMMIT] = CLAIM_MEMBER_PINNED,
                                                    [WAITS_ACTIVATE] = CLAIM_MEMBER_ACTIVE};
    uint64_t claim = tenant->claim;

    if (tenant->waits != WAITS_NOTHING && crew_through(&tenant->crew, goals[tenant->waits]))
        subordinates_reached(step, tenant);
    tenant = tenant_find(step->provider, claim);
    if (!tenant)
        return;
    subordinates_follow(step, tenant);
    if (tenant->state == TENANT_STOPPING && !tenant->running && crew_all(&tenant->crew, CLAIM_MEMBER_GONE))
        tenant_over(step, tenant);
    else
        subordinates_speak(step, tenant);
}

bool subordinates_due(const struct provider_step *step, struct tenant *tenant)
{
    uint64_t claim = tenant->claim;

    if (!tenant->crew.count)
        return true;
    if (tenant->waits == WAITS_COMMIT && step->env->now - tenant->began > tenant->collect)
        subordinates_failed(step, tenant, REASON_ABORT);
    else if (tenant_decided(tenant))
        crew_expire(&tenant->crew, step->env);
    for (tenant = tenant_find(step->provider, claim); tenant && tenant->state == TENANT_CLAIMED;
         tenant = tenant_find(step->provider, claim)) {
        struct claim_member *lost = crew_lost(&tenant->crew, step->env);

        if (!lost)
            break;
        tenant_loses(step, tenant, lost, REASON_LOST);
    }
    if (tenant)
        subordinates_continue(step, tenant);
    return tenant_find(step->provider, claim) != NULL;
}

void subordinates_ends(const struct provider_step *step, struct tenant *tenant)
{
    if (!tenant->crew.count)
        return;
    if (!tenant_decided(tenant)) {
        crew_abort(&tenant->crew, step->effects);
        for (uint32_t i = 0; i < tenant->crew.count; i++)
            tenant->crew.members[i].state = CLAIM_MEMBER_GONE;
        return;
    }
    tenant->waits = WAITS_NOTHING;
    crew_go(&tenant->crew, step->env->now, CLAIM_MEMBER_RELEASING);
    subordinates_speak(step, tenant);
}

/* ------------------------------------------------------------------------------------------------- what they say */

static struct tenant *tenant_leading(const struct provider *provider, uint64_t claim, struct claim_member **ret)
{
    *ret = NULL;
    for (uint32_t i = 0; i < provider->tenant_count; i++) {
        *ret = crew_find(&provider->tenants[i]->crew, claim);
        if (*ret)
            return provider->tenants[i];
    }
    return NULL;
}

void subordinates_answer(const struct provider_step *step, const struct event *event)
{
    struct claim_member *member;
    struct tenant *tenant = tenant_leading(step->provider, event->token, &member);
    uint64_t claim;
    struct claim_member_errand errand;
    struct docked above;

    if (!tenant)
        return;
    claim = tenant->claim;
    errand = subordinates_errand(step, tenant, &above);
    switch (crew_answer(&tenant->crew, member, &errand, event)) {
    case CLAIM_MEMBER_BUSY:
        subordinates_failed(step, tenant, REASON_BUSY);
        return;
    case CLAIM_MEMBER_REFUSED:
    case CLAIM_MEMBER_LOST:
        tenant_loses(step, tenant, member, REASON_ABORT);
        break;
    default:
        break;
    }
    tenant = tenant_find(step->provider, claim);
    if (tenant)
        subordinates_continue(step, tenant);
}

static void told_beat(const struct provider_step *step, const struct event *event, struct tenant *tenant,
                      struct claim_member *member)
{
    const struct beat *beat = &event->message->u.beat;
    struct message message = {.kind = MESSAGE_BEATEN};

    message.u.beaten = (struct beaten){.claim = beat->claim, .reason = REASON_UNKNOWN, .sent = beat->sent};
    message.u.beaten.clock = step->env->now;
    if (member)
        message.u.beaten.reason = crew_beat(member, step->env, step->provider->spans, beat, tenant_decided(tenant),
                                            tenant->state == TENANT_STOPPING);
    effects_reply(step->effects, event->token, &message, 0);
}

/* Decides what the loss means, and goes on with what is left. */
static void subordinates_lost(const struct provider_step *step, struct tenant *tenant, struct claim_member *member)
{
    uint64_t claim = tenant->claim;

    tenant_loses(step, tenant, member, REASON_LOST);
    tenant = tenant_find(step->provider, claim);
    if (tenant)
        subordinates_continue(step, tenant);
}

/* The result of a subordinate's part of the job. If the tenant launches nothing itself, the result of its leader is the
 * tenant's. Any other result is nobody's, but a failure is a loss. While the tenant ends because of such a loss, the
 * subordinate has to repeat its result: the loss is recorded nowhere, and a restart has to hear of it. */
static void told_result(const struct provider_step *step, const struct event *event, struct tenant *tenant,
                        struct claim_member *member)
{
    const struct result *result = &event->message->u.result;
    bool present = tenant->state >= TENANT_CLAIMED && result->number == tenant->number && result->job == tenant->job;
    bool leads = member_leads(step, tenant, member);
    bool failed = (result->reason != REASON_EXITED || result->status != 0) && !MUTANT(FAILURE_IGNORED);
    bool lost = present && !leads && failed && !member->dropped;
    uint64_t claim = tenant->claim;

    if (present && leads && !outcome_has(step->provider, tenant->claim, tenant->number)) {
        struct event ended = {.reason = result->reason, .status = result->status, .used = result->used};

        tenant->serves = false;
        outcome_add(step, tenant, &ended);
        tenant_store(step, tenant);
    }
    if (lost && tenant->state == TENANT_CLAIMED)
        subordinates_lost(step, tenant, member);
    tenant = tenant_find(step->provider, claim);
    lost = lost && tenant && tenant->state == TENANT_STOPPING;
    reply_claimed(step, event->token, result->claim, 0, lost ? REASON_WAIT : REASON_OK, step->effects->persists);
}

void subordinates_message(const struct provider_step *step, const struct event *event)
{
    const struct message *message = event->message;
    uint64_t claim = message->kind == MESSAGE_BEAT   ? message->u.beat.claim
                     : message->kind == MESSAGE_ASK  ? message->u.ask.claim
                     : message->kind == MESSAGE_LEFT ? message->u.left.claim
                                                     : message->u.result.claim;
    struct claim_member *member;
    struct tenant *tenant = tenant_leading(step->provider, claim, &member);

    if (tenant && member->agent != event->peer->agent)
        member = NULL;
    if (message->kind == MESSAGE_BEAT) {
        told_beat(step, event, tenant, member);
        return;
    }
    if (message->kind == MESSAGE_RESULT && member) {
        told_result(step, event, tenant, member);
        return;
    }
    /* a subordinate that asks is already decided upon, or was never heard of */
    reply_claimed(step, event->token, claim, 0,
                  message->kind == MESSAGE_ASK ? (member ? REASON_WAIT : REASON_ABORT)
                                               : (member ? REASON_OK : REASON_UNKNOWN),
                  0);
    if (message->kind != MESSAGE_LEFT || !member || member->state < CLAIM_MEMBER_COMMITTING)
        return;
    member->state = CLAIM_MEMBER_GONE;
    subordinates_lost(step, tenant, member);
}

/* --------------------------------------------------------------------------------------------------------- restarts */

/* Finds the tenant by the claim of the one that leads; rows of an earlier version have only the gang, in which we may
 * be more than once. */
void subordinates_load(const struct provider_step *step, const struct record *record)
{
    const struct branch_record *was = &record->u.branch_record;

    for (uint32_t i = 0; i < step->provider->tenant_count; i++) {
        struct tenant *tenant = step->provider->tenants[i];

        if (was->shape ? tenant->claim == was->shape : tenant->gang == was->gang) {
            crew_load(&tenant->crew, record->key, was);
            return;
        }
    }
    effects_remove(step->effects, RECORD_BRANCH, record->key);
}

/* Asks the subordinates, with a new epoch that is recorded first; until then no heart beat of theirs is
 * acknowledged. */
void subordinates_boot(const struct provider_step *step, struct tenant *tenant)
{
    for (uint32_t i = 0; i < tenant->crew.count; i++) {
        struct claim_member *member = &tenant->crew.members[i];

        member->epoch++;
        claim_member_lives(member, step->env, step->provider->spans);
        tenant->stored = claim_member_store(member, tenant->gang, tenant->claim, step->effects);
    }
    /* the tenant may be ending already: its launcher said that its job is gone */
    crew_go(&tenant->crew, step->env->now,
            tenant->state == TENANT_STOPPING ? CLAIM_MEMBER_RELEASING : CLAIM_MEMBER_ATTACHING);
    for (uint32_t i = 0; i < tenant->crew.count; i++) {
        if (tenant->crew.members[i].dropped)
            claim_member_go(&tenant->crew.members[i], step->env->now, CLAIM_MEMBER_RELEASING);
        tenant->crew.members[i].sequence = 0;
    }
}
