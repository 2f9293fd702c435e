/* judge_claims.c: 2, 3, 4: a provider and its tenants. */
#include "match/gang/dock.h"
#include "match/pair/match.h"
#include "match/pair/pair.h"
#include "sim/judge_parts.h"

#include <string.h>

/* Does the provider's own constraint accept the superior? Where that depends on the provider's own members, the
 * answer is not known here, and counts as yes. */
static bool provider_accepts(struct judge *judge, const struct host *host, const struct role_env *env,
                             const struct tenant_view *tenant)
{
    const struct provider_settings *settings = host->settings;
    int64_t seconds = wall_seconds(env->wall);
    struct env eval = {.now = seconds, .zone = env->zone};

    for (uint32_t place = 0; place < settings->count; place++)
        if (settings->ids[place] == tenant->offer) {
            struct docked superior = {tenant->link, tenant->ad, tenant->port};
            struct dock dock = {provider_offer(host->role, place), &superior, 1};

            return dock.ad && superior.ad &&
                   (dock_has_ports(dock.ad) || dock_has_ports(superior.ad)
                        ? dock_accepts(&eval, &judge->world->scratch, &dock, 0) != DOCK_NO
                        : match_accepts(&eval, &judge->world->scratch, dock.ad, superior.ad));
        }
    return false;
}

static struct tree *offer_of(const struct host *host, uint64_t id)
{
    const struct provider_settings *settings = host->settings;

    for (uint32_t place = 0; place < settings->count; place++)
        if (settings->ids[place] == id)
            return provider_offer(host->role, place);
    return NULL;
}

/* A number in an ad, evaluated with another ad beside it or (NULL) alone; 0 when there is none. */
static double ad_number(struct judge *judge, const struct tree *ad, const struct tree *beside, symbol name)
{
    struct env env = {.now = 0};
    struct value v = value_undefined();
    struct pair pair;
    struct eval eval;

    pair_init(&pair, ad, beside);
    eval_init(&eval, &env, &judge->world->scratch);
    eval_attribute(&eval, &pair.left, name, &v);
    return v.type == VALUE_INTEGER ? (double)v.u.integer : v.type == VALUE_REAL ? v.u.real : 0;
}

/* Notes how much a claim may use: what its ad asks for when it is pinned. Gangs, whose ports have numbers of their own, are not weighed here. */
static void weigh_pinned(struct judge *judge, const struct host *host, const struct tenant_view *tenant)
{
    struct claim_fact *fact = judged_claim(judge, tenant->claim);
    const struct tree *offer = offer_of(host, tenant->offer);

    if (!offer || !tenant->ad || dock_has_ports(tenant->ad) || dock_has_ports(offer))
        return;
    fact->weighed = true;
    fact->may_cpus = ad_number(judge, tenant->ad, offer, judge->request_cpus);
    fact->may_memory = ad_number(judge, tenant->ad, offer, judge->request_memory);
}

/* Checks the job's ad alone, as the launcher sees it. */
static void check_limits(struct judge *judge, const struct host *host, const struct effect *effect)
{
    const struct claim_fact *fact = judged_claim(judge, effect->claim);

    if (fact->weighed && effect->ad &&
        (ad_number(judge, effect->ad, NULL, judge->request_cpus) > fact->may_cpus ||
         ad_number(judge, effect->ad, NULL, judge->request_memory) > fact->may_memory))
        judge_finds(judge, 1, host, "a job is launched with more than was pinned for it");
}

static const struct tenant_view *tenant_after(const struct judge *judge, uint64_t claim)
{
    for (uint32_t i = 0; i < judge->found_count; i++)
        if (judge->found[i].claim == claim)
            return &judge->found[i];
    return NULL;
}

static void tenant_found(void *user, const struct tenant_view *tenant)
{
    struct judge *judge = user;

    if (judge->found_count < TENANTS_SEEN)
        judge->found[judge->found_count++] = *tenant;
}

/* Has the tenant's time run out, so that any event may end it? */
static bool tenant_lapsed(const struct judge *judge, const struct tenant_view *tenant)
{
    return tenant->state == TENANT_PINNED    ? judge->now >= tenant->since + judge->world->spans->pin
           : tenant->state == TENANT_CLAIMED ? judge->now >= tenant->lease
                                             : tenant->state < TENANT_PINNED;
}

static bool tenant_same(const struct tenant_view *before, const struct tenant_view *after)
{
    return after && before->state == after->state && before->epoch == after->epoch && before->number == after->number &&
           before->job == after->job;
}

static void check_pinned(struct judge *judge, const struct host *host, const struct role_env *env,
                         const struct tenant_view *tenant)
{
    struct claim_fact *fact = judged_claim(judge, tenant->claim);

    fact->gang = tenant->gang;
    fact->superior = tenant->superior;
    fact->behind = tenant->behind;
    for (uint32_t i = 0; i < tenant->behind.count; i++)
        judged_claim(judge, tenant->behind.claims[i])->successor = tenant->claim;
    fact = judged_claim(judge, tenant->claim); /* the fact may have moved */
    if (fact->over)
        judge_finds(judge, 1, host, "a claim that was over is pinned again: its ticket was used twice");
    weigh_pinned(judge, host, tenant);
    if (!provider_accepts(judge, host, env, tenant))
        judge_finds(judge, 4, host, "a claim is pinned that the provider's own constraint refuses");
    for (uint32_t i = 0; i < tenant->behind.count; i++)
        judge_successor(judge, host, env, tenant, tenant->behind.claims[i]);
}

static void check_claimed(struct judge *judge, const struct host *host, const struct tenant_view *before,
                          const struct tenant_view *tenant)
{
    const struct spans *spans = judge->world->spans;

    judge->activated++;
    judged_claim(judge, tenant->claim)->behind = tenant->behind; /* as many as have to go now */
    if (before && tenant->behind.count)
        judge_needed(judge, host, tenant);
    if (!judged_gangs_decided(judge->gangs, tenant->claim))
        judge_finds(judge, 2, host, "a claim is activated that its root has not decided durably");
    if (before && judge->now > before->since + spans->pin / 2)
        judge_finds(judge, 2, host, "activate is obeyed later than half the pin lease");
    if (before && tenant->lease > before->since + spans->lease)
        judge_finds(judge, 2, host, "the first lease is not counted from the commit's acknowledgement");
}

static void check_lease(struct judge *judge, const struct host *host, const struct event *event,
                        const struct tenant_view *before, const struct tenant_view *tenant)
{
    int64_t lease = judge->world->spans->lease;

    if (tenant->lease > judge->now + lease)
        judge_finds(judge, 2, host, "a lease ends later than a lease from now");
    if (before && before->state >= TENANT_CLAIMED && tenant->lease > before->lease) {
        if (event->kind != EVENT_ANSWER || event->answer != ANSWER_GOT || event->message->kind != MESSAGE_BEATEN)
            judge_finds(judge, 2, host, "a lease is renewed, but not by an acknowledged heart beat");
        else if (tenant->lease > event->message->u.beaten.sent + lease)
            judge_finds(judge, 2, host, "a lease is not counted from when the heart beat was sent");
    }
}

static void check_tenant(struct judge *judge, const struct host *host, const struct role_env *env,
                         const struct event *event, const struct tenant_view *tenant)
{
    const struct tenant_view *before = judged_tenant(judge, host, tenant->claim);
    const struct spans *spans = judge->world->spans;
    enum tenant_state was = before ? before->state : TENANT_MATCHED;

    if (tenant->state >= TENANT_PINNED && was < TENANT_PINNED && judge->up[host->place])
        check_pinned(judge, host, env, tenant);
    if (tenant->state == TENANT_CLAIMED && was < TENANT_CLAIMED && judge->up[host->place])
        check_claimed(judge, host, before, tenant);
    if (tenant->state == TENANT_CLAIMED && (judge->up[host->place] || event->kind == EVENT_BOOTED))
        check_lease(judge, host, event, before, tenant);
    if (tenant->state == TENANT_STOPPING && was < TENANT_STOPPING && tenant->end == REASON_PREEMPTED)
        judge_preemption(judge, host, tenant->claim);
    if (before && before->epoch > tenant->epoch && was >= TENANT_PINNED && judge->up[host->place])
        judge_finds(judge, 3, host, "the epoch of a claim went back");
    if (tenant->state == TENANT_PINNED && judge->now > tenant->since + spans->pin + SECOND / 10 &&
        judge->up[host->place])
        judge_finds(judge, 6, host, "a pin outlives its lease");
}

/* The claim, epoch and number of a message of a session; false for any other message. */
static bool session_message(const struct message *message, uint64_t *ret_claim, uint64_t *ret_epoch, uint64_t *ret_at)
{
    switch (message->kind) {
    case MESSAGE_COMMIT:
        *ret_claim = message->u.commit.claim;
        *ret_epoch = message->u.commit.epoch;
        *ret_at = message->u.commit.sequence;
        return true;
    case MESSAGE_ACTIVATE:
        *ret_claim = message->u.activate.claim;
        *ret_epoch = message->u.activate.epoch;
        *ret_at = message->u.activate.sequence;
        return true;
    case MESSAGE_START:
        *ret_claim = message->u.start.claim;
        *ret_epoch = message->u.start.epoch;
        *ret_at = message->u.start.sequence;
        return true;
    case MESSAGE_RELEASE:
        *ret_claim = message->u.release.claim;
        *ret_epoch = message->u.release.epoch;
        *ret_at = message->u.release.sequence;
        return true;
    default:
        return false;
    }
}

/* A message of an older epoch, or older than the last one of the session, changes nothing; nor does an abort after activation. */
static void check_session(struct judge *judge, const struct host *host, const struct event *event)
{
    uint64_t claim, epoch, at;
    const struct tenant_view *before, *after;
    struct claim_fact *fact;

    if (event->message->kind == MESSAGE_ABORT) {
        before = judged_tenant(judge, host, event->message->u.abort.claim);
        if (before && before->state >= TENANT_CLAIMED && !tenant_lapsed(judge, before) &&
            !tenant_same(before, tenant_after(judge, before->claim)))
            judge_finds(judge, 2, host, "an abort is obeyed after activation");
        return;
    }
    if (!session_message(event->message, &claim, &epoch, &at))
        return;
    before = judged_tenant(judge, host, claim);
    after = tenant_after(judge, claim);
    fact = judged_claim(judge, claim);
    if (fact->session_life != host->life + 1) {
        fact->session_life = host->life + 1;
        fact->session_epoch = fact->session_at = 0;
    }
    if (before && before->state >= TENANT_PINNED && !tenant_lapsed(judge, before) && !tenant_same(before, after)) {
        if (epoch < before->epoch)
            judge_finds(judge, 3, host, "a message of an older epoch is obeyed");
        else if (epoch < fact->session_epoch || (epoch == fact->session_epoch && at < fact->session_at))
            judge_finds(judge, 3, host, "a message older than the last of its session is obeyed");
    }
    if ((after && !before) || (before && !tenant_same(before, after))) {
        fact->session_epoch = epoch;
        fact->session_at = at;
    }
}

/* Checks a launch: the job's claim is active, and the provider's constraint accepts its ad. */
static void check_job(struct judge *judge, const struct host *host, const struct role_env *env,
                      const struct effect *effect)
{
    const struct tenant_view *tenant = tenant_after(judge, effect->claim);
    struct claim_fact *fact = judged_claim(judge, effect->claim);

    if (!tenant) {
        judge_finds(judge, 2, host, "a job is launched for a claim that the provider does not know");
        return;
    }
    fact->superior = tenant->superior;
    fact->gang = tenant->gang;
    check_limits(judge, host, effect);
    if (tenant->state != TENANT_CLAIMED)
        judge_finds(judge, 2, host, "a job is launched for a claim that is not active");
    if (!provider_accepts(judge, host, env, tenant))
        judge_finds(judge, 4, host, "a job is launched that the provider's own constraint refuses");
}

void judge_provider(struct judge *judge, struct host *host, const struct role_env *env, const struct event *event)
{
    bool moved;

    judge->found_count = 0;
    provider_each(host->role, tenant_found, judge);
    moved = judge->found_count != judge->tenant_counts[host->place];
    for (uint32_t i = 0; i < judge->found_count; i++) {
        const struct tenant_view *before = judged_tenant(judge, host, judge->found[i].claim);

        moved = moved || !before || before->state != judge->found[i].state;
        check_tenant(judge, host, env, event, &judge->found[i]);
    }
    if (event->kind == EVENT_MESSAGE)
        check_session(judge, host, event);
    for (uint32_t i = 0; i < host->effects.count; i++)
        if (host->effects.items[i].kind == EFFECT_JOB)
            check_job(judge, host, env, &host->effects.items[i]);
    if (event->kind == EVENT_BOOTED)
        judge->up[host->place] = true;
    if (!judge->up[host->place])
        return; /* tenants of its last life are compared when it is up */
    memcpy(judge->tenants[host->place], judge->found, judge->found_count * sizeof *judge->found);
    judge->tenant_counts[host->place] = judge->found_count;
    if (moved)
        judge_units(judge, host, false);
    if (judge->rows_moved[host->place]) {
        judge->rows_moved[host->place] = false;
        judge_units(judge, host, true);
    }
    judge_forming(judge, host, event);
}
