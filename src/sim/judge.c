/* judge.c: the invariants of protocol.md, numbered as there, as code.
 *
 *     claims  by claim: who, under which gang; was it decided durably; the last number launched
 *     jobs    by customer and job: how its rows went on; is it done
 *     ads     by agent and id: what the matchmaker has accepted, what it matched, and what of that was delivered
 *     tenants of each provider, as its own record had them after its last step
 *
 * Only the party that was just stepped is looked at, and only for what changed: a few comparisons an event. */
#include "sim/judge.h"

#include "base/map.h"
#include "gang/dock.h"
#include "match/match.h"
#include "pool/customer.h"
#include "pool/matchmaker.h"
#include "pool/provider.h"
#include "pool/seen.h"
#include "sim/judge_gangs.h"
#include "sim/judge_shares.h"
#include "sim/user.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TENANTS_SEEN 64
#define MATCHES_SEEN 4096 /* numbers of an ad's matches that are followed */
#define MATCHMAKERS_MAX 4

struct claim_fact {
    uint64_t claim, gang;
    agent superior;
    bool over;                          /* the provider's row has been removed, durably */
    bool activated;                     /* ACTIVATE was sent */
    struct key ticket;                  /* as the root was told */
    uint64_t number;                    /* the last that was launched */
    uint64_t row_number, row_job;       /* the last that was durable at the provider */
    uint64_t row_session, row_sequence; /* its epoch, and the number of the last message that was obeyed */
    uint64_t row_epoch;                 /* the last that was durable at the root */
    int64_t committed, acknowledged;    /* on the root's clock: COMMIT was first sent, and first answered with OK */
    uint32_t root_life;                 /* plus 1: in which the root committed or re-attached it */
    uint32_t releasing;                 /* plus 1: in which it was being released */
    uint32_t session_life;              /* plus 1: of the provider, for the two below */
    uint64_t session_epoch, session_at; /* the newest message that was obeyed */
    uint64_t behind, successor; /* the claim that it was pinned behind; the one that was pinned behind it last */
    bool preempted;
};

struct job_fact {
    uint64_t id;
    uint32_t life;                  /* of the customer, for `state` */
    uint64_t state, gang, number;   /* as it was last written */
    uint64_t durable, durable_gang; /* as it is on disk */
    uint64_t durable_number;
    bool known; /* was ever durable */
    bool counted;
};

struct match_fact {
    int64_t made; /* on the matchmaker's clock */
    bool delivered;
    bool named; /* by a text that the matchmaker has accepted: its agent knows of it, and says what that means */
};

struct ad_fact {
    uint64_t agent;
    uint64_t id;
    /* at the matchmaker, in its present incarnation */
    uint64_t incarnation, version;
    bool accepted;
    int64_t units, lifetime, expires, received; /* of its text; on the matchmaker's clock */
    struct seen seen;
    uint64_t numbered, settled;
    struct match_fact *matches; /* by number, from 1 */
    uint32_t room;
    /* at its agent */
    uint64_t sent_version;
    struct seen sent_seen;
};

struct judge {
    struct world *world;
    struct parties parties;
    struct violation violation;
    uint32_t heeds; /* bits: the invariants that count */
    struct map claim_map, job_map, ad_map;
    struct slab claims, jobs, ads;
    struct tenant_view tenants[HOSTS_MAX][TENANTS_SEEN];
    uint32_t tenant_counts[HOSTS_MAX];
    bool rows_moved[HOSTS_MAX]; /* durable tenants changed */
    bool up[HOSTS_MAX];         /* all that was durable has been loaded, and looked at once */
    struct tenant_view found[TENANTS_SEEN];
    uint32_t found_count;
    uint64_t matches[MATCHMAKERS_MAX], incarnations[MATCHMAKERS_MAX]; /* of each, when it was last looked at */
    uint32_t looked;                                                  /* the matchmaker that is looked at */
    struct judged_shares shares[MATCHMAKERS_MAX];
    struct judged_gangs *gangs;
    uint64_t activated, done, preempted;
    symbol cpus, request_cpus, residual, owner, count, lifetime;
    int64_t now; /* of the party that is looked at */
};

__attribute__((format(printf, 4, 5))) static void violated(struct judge *judge, int number, const struct host *host,
                                                           const char *format, ...)
{
    struct violation *violation = &judge->violation;
    va_list args;

    if (violation->number || !(judge->heeds >> number & 1))
        return;
    violation->number = number;
    violation->time = judge->world->time;
    snprintf(violation->party, sizeof violation->party, "%s", host ? host->name : "the world");
    va_start(args, format);
    vsnprintf(violation->words, sizeof violation->words, format, args);
    va_end(args);
}

static void gang_wrong(void *user, int number, const struct host *host, const char *words)
{
    violated(user, number, host, "%s", words);
}

/* ------------------------------------------------------------------------------------------------------------ facts */

static void *fact_of(struct map *map, struct slab *slab, uint64_t key, bool *ret_new)
{
    uint64_t index = map_find(map, key);

    *ret_new = index == MAP_NONE;
    if (index == MAP_NONE) {
        index = slab_take(slab);
        map_set(map, key, index);
    }
    return slab_at(slab, (uint32_t)index);
}

static struct claim_fact *claim_of(struct judge *judge, uint64_t claim)
{
    bool fresh;
    struct claim_fact *fact = fact_of(&judge->claim_map, &judge->claims, claim, &fresh);

    if (fresh)
        fact->claim = claim;
    return fact;
}

static struct job_fact *job_of(struct judge *judge, uint32_t customer, uint64_t id)
{
    bool fresh;
    struct job_fact *fact = fact_of(&judge->job_map, &judge->jobs, rng_mix(id ^ (uint64_t)customer << 56) >> 1, &fresh);

    if (fresh)
        *fact = (struct job_fact){.id = id, .state = JOB_IDLE, .life = judge->world->hosts[customer].life};
    if (fact->life !=
        judge->world->hosts[customer].life) { /* what it wrote in an earlier life counts as far as it is on disk */
        fact->life = judge->world->hosts[customer].life;
        fact->state = fact->durable;
        fact->gang = fact->durable_gang;
        fact->number = fact->durable_number;
    }
    return fact;
}

static bool is_matchmaker(const struct judge *judge, uint32_t place)
{
    return place >= judge->parties.matchmaker && place < judge->parties.customers;
}

/* What is remembered of a matchmaker; `place` is its host's. */
static uint64_t *incarnation_of(struct judge *judge, uint32_t place)
{
    return &judge->incarnations[(place - judge->parties.matchmaker) % MATCHMAKERS_MAX];
}

/* An ad at a matchmaker. */
static struct ad_fact *ad_of(struct judge *judge, agent matchmaker, agent who, uint64_t id)
{
    bool fresh;
    struct ad_fact *fact =
        fact_of(&judge->ad_map, &judge->ads, rng_mix(id ^ who << 56 ^ rng_mix(matchmaker)) >> 1, &fresh);

    if (fresh) {
        fact->agent = who;
        fact->id = id;
    }
    return fact;
}

/* An attribute that is written as a literal integer; `absent` when it is not there. */
static int64_t ad_integer(const struct tree *ad, symbol name, int64_t absent)
{
    const struct expr *e = ad && tree_is_ad(ad) ? tree_find(ad, tree_root(ad), name) : NULL;

    return e && e->kind == EXPR_INTEGER ? e->u.integer : absent;
}

static bool ad_has(const struct tree *ad, symbol name)
{
    return ad && tree_is_ad(ad) && tree_find(ad, tree_root(ad), name);
}

/* By what its own constraint says of the superior; where that hangs on its own members, nothing is known here. */
static bool provider_accepts(struct judge *judge, const struct host *host, const struct role_env *env,
                             const struct tenant_view *tenant)
{
    const struct provider_settings *settings = host->settings;
    int64_t seconds = env->wall / SECOND - (env->wall % SECOND < 0); /* a clock may stand before 1970 */
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

/* ------------------------------------------------------- 1: what is pinned never exceeds what the provider has */

/* A successor has nothing while the claim in front is there; but when that goes, there must be enough for it: `later`. */
struct pinned {
    struct judge *judge;
    const struct host *host; /* on disk; NULL: as its record is in memory */
    uint64_t offer;
    int64_t units, cpus, later_units, later_cpus;
};

struct followed {
    uint64_t claim;
    uint32_t by;
};

static void followed_row(void *user, const struct record *record)
{
    struct followed *followed = user;

    followed->by += record->u.tenant_record.behind == followed->claim;
}

static void pinned_add(struct pinned *pinned, const struct tree *ad, bool waits, bool goes)
{
    int64_t cpus = ad_integer(ad, pinned->judge->request_cpus, 1);

    pinned->units += !waits;
    pinned->cpus += waits ? 0 : cpus;
    pinned->later_units += !goes;
    pinned->later_cpus += goes ? 0 : cpus;
}

static void pinned_row(void *user, const struct record *record)
{
    struct pinned *pinned = user;
    const struct tenant_record *tenant = &record->u.tenant_record;
    struct followed followed = {.claim = record->key};

    if (tenant->offer != pinned->offer)
        return;
    disk_each(&pinned->host->disk, RECORD_TENANT, followed_row, &followed);
    pinned_add(pinned, tenant->ad, tenant->behind && disk_find(&pinned->host->disk, RECORD_TENANT, tenant->behind),
               followed.by > 0);
}

static void pinned_tenant(struct pinned *pinned, const struct host *host, const struct tenant_view *tenant)
{
    uint32_t followed = 0;

    if (tenant->offer != pinned->offer || tenant->state < TENANT_PINNED)
        return;
    for (uint32_t i = 0; i < pinned->judge->tenant_counts[host->place]; i++) {
        const struct tenant_view *other = &pinned->judge->tenants[host->place][i];

        followed += other->behind == tenant->claim && other->state >= TENANT_PINNED;
    }
    if (followed > 1)
        violated(pinned->judge, 1, host, "%u are pinned behind one claim", followed);
    pinned_add(pinned, tenant->ad, tenant->behind != 0, followed > 0);
}

static bool pinned_exceeds(const struct pinned *pinned, const struct tree *ad)
{
    const struct judge *judge = pinned->judge;
    int64_t cpus = ad_integer(ad, judge->cpus, 1);

    return ad_has(ad, judge->residual) ? pinned->cpus > cpus || pinned->later_cpus > cpus
                                       : pinned->units > 1 || pinned->later_units > 1;
}

static void check_units(struct judge *judge, const struct host *host, bool durable)
{
    const struct provider_settings *settings = host->settings;

    for (uint32_t place = 0; place < settings->count; place++) {
        struct pinned pinned = {.judge = judge, .host = host, .offer = settings->ids[place]};

        if (durable)
            disk_each(&host->disk, RECORD_TENANT, pinned_row, &pinned);
        for (uint32_t i = 0; i < judge->tenant_counts[host->place] && !durable; i++)
            pinned_tenant(&pinned, host, &judge->tenants[host->place][i]);
        if (pinned_exceeds(&pinned, settings->ads[place]))
            violated(judge, 1, host, "%lld claims with %lld Cpus are pinned on one offer (%lld with %lld to come)%s",
                     (long long)pinned.units, (long long)pinned.cpus, (long long)pinned.later_units,
                     (long long)pinned.later_cpus, durable ? ", on disk" : "");
    }
}

/* ------------------------------------------------------------------------- 2, 3, 4: a provider and its tenants */

static const struct tenant_view *tenant_before(const struct judge *judge, const struct host *host, uint64_t claim)
{
    for (uint32_t i = 0; i < judge->tenant_counts[host->place]; i++)
        if (judge->tenants[host->place][i].claim == claim)
            return &judge->tenants[host->place][i];
    return NULL;
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

/* Has its time run out, so that any event may end it? */
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
    struct claim_fact *fact = claim_of(judge, tenant->claim);

    fact->gang = tenant->gang;
    fact->superior = tenant->superior;
    fact->behind = tenant->behind;
    if (tenant->behind)
        claim_of(judge, tenant->behind)->successor = tenant->claim;
    fact = claim_of(judge, tenant->claim); /* it may have moved */
    if (fact->over)
        violated(judge, 1, host, "a claim that was over is pinned again: its ticket was used twice");
    if (!provider_accepts(judge, host, env, tenant))
        violated(judge, 4, host, "a claim is pinned that the provider's own constraint refuses");
}

static void check_claimed(struct judge *judge, const struct host *host, const struct tenant_view *before,
                          const struct tenant_view *tenant)
{
    const struct spans *spans = judge->world->spans;

    judge->activated++;
    if (!judged_gangs_decided(judge->gangs, tenant->claim))
        violated(judge, 2, host, "a claim is activated that its root has not decided durably");
    if (before && judge->now > before->since + spans->pin / 2)
        violated(judge, 2, host, "activate is obeyed later than half the pin lease");
    if (before && tenant->lease > before->since + spans->lease)
        violated(judge, 2, host, "the first lease is not counted from the commit's acknowledgement");
}

/* Nothing is evicted for a gang that has not been decided. */
static void check_preempted(struct judge *judge, const struct host *host, uint64_t claim)
{
    struct claim_fact *fact = claim_of(judge, claim);
    uint64_t successor = fact->successor;

    judge->preempted += !fact->preempted;
    fact->preempted = true;
    if (!successor || !judged_gangs_decided(judge->gangs, successor))
        violated(judge, 2, host, "a claim is preempted for one that its root has not decided");
}

static void check_lease(struct judge *judge, const struct host *host, const struct event *event,
                        const struct tenant_view *before, const struct tenant_view *tenant)
{
    int64_t lease = judge->world->spans->lease;

    if (tenant->lease > judge->now + lease)
        violated(judge, 2, host, "a lease ends later than a lease from now");
    if (before && before->state >= TENANT_CLAIMED && tenant->lease > before->lease) {
        if (event->kind != EVENT_ANSWER || event->answer != ANSWER_GOT || event->message->kind != MESSAGE_BEATEN)
            violated(judge, 2, host, "a lease is renewed, but not by an acknowledged heart beat");
        else if (tenant->lease > event->message->u.beaten.sent + lease)
            violated(judge, 2, host, "a lease is not counted from when the heart beat was sent");
    }
}

static void check_tenant(struct judge *judge, const struct host *host, const struct role_env *env,
                         const struct event *event, const struct tenant_view *tenant)
{
    const struct tenant_view *before = tenant_before(judge, host, tenant->claim);
    const struct spans *spans = judge->world->spans;
    enum tenant_state was = before ? before->state : TENANT_MATCHED;

    if (tenant->state >= TENANT_PINNED && was < TENANT_PINNED && judge->up[host->place])
        check_pinned(judge, host, env, tenant);
    if (tenant->state == TENANT_CLAIMED && was < TENANT_CLAIMED && judge->up[host->place])
        check_claimed(judge, host, before, tenant);
    if (tenant->state == TENANT_CLAIMED && (judge->up[host->place] || event->kind == EVENT_BOOTED))
        check_lease(judge, host, event, before, tenant);
    if (tenant->state == TENANT_STOPPING && was < TENANT_STOPPING && tenant->end == REASON_PREEMPTED)
        check_preempted(judge, host, tenant->claim);
    if (before && before->epoch > tenant->epoch && was >= TENANT_PINNED && judge->up[host->place])
        violated(judge, 3, host, "the epoch of a claim went back");
    if (tenant->state == TENANT_PINNED && judge->now > tenant->since + spans->pin + SECOND / 10 &&
        judge->up[host->place])
        violated(judge, 6, host, "a pin outlives its lease");
}

/* The claim, epoch and number of a message of a session; false when it is none. */
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

/* Messages of an older epoch, or older than the last of the session, change nothing; nor does an abort after
 * activation. */
static void check_session(struct judge *judge, const struct host *host, const struct event *event)
{
    uint64_t claim, epoch, at;
    const struct tenant_view *before, *after;
    struct claim_fact *fact;

    if (event->message->kind == MESSAGE_ABORT) {
        before = tenant_before(judge, host, event->message->u.abort.claim);
        if (before && before->state >= TENANT_CLAIMED && !tenant_lapsed(judge, before) &&
            !tenant_same(before, tenant_after(judge, before->claim)))
            violated(judge, 2, host, "an abort is obeyed after activation");
        return;
    }
    if (!session_message(event->message, &claim, &epoch, &at))
        return;
    before = tenant_before(judge, host, claim);
    after = tenant_after(judge, claim);
    fact = claim_of(judge, claim);
    if (fact->session_life != host->life + 1) {
        fact->session_life = host->life + 1;
        fact->session_epoch = fact->session_at = 0;
    }
    if (before && before->state >= TENANT_PINNED && !tenant_lapsed(judge, before) && !tenant_same(before, after)) {
        if (epoch < before->epoch)
            violated(judge, 3, host, "a message of an older epoch is obeyed");
        else if (epoch < fact->session_epoch || (epoch == fact->session_epoch && at < fact->session_at))
            violated(judge, 3, host, "a message older than the last of its session is obeyed");
    }
    if ((after && !before) || (before && !tenant_same(before, after))) {
        fact->session_epoch = epoch;
        fact->session_at = at;
    }
}

/* What a job is launched for: its claim is active, our constraint accepts its ad. */
static void check_job(struct judge *judge, const struct host *host, const struct role_env *env,
                      const struct effect *effect)
{
    const struct tenant_view *tenant = tenant_after(judge, effect->claim);
    struct claim_fact *fact = claim_of(judge, effect->claim);

    if (!tenant) {
        violated(judge, 2, host, "a job is launched for a claim that the provider does not know");
        return;
    }
    fact->superior = tenant->superior;
    fact->gang = tenant->gang;
    if (tenant->state != TENANT_CLAIMED)
        violated(judge, 2, host, "a job is launched for a claim that is not active");
    if (!provider_accepts(judge, host, env, tenant))
        violated(judge, 4, host, "a job is launched that the provider's own constraint refuses");
}

static void provider_stepped(struct judge *judge, struct host *host, const struct role_env *env,
                             const struct event *event)
{
    bool moved;

    judge->found_count = 0;
    provider_each(host->role, tenant_found, judge);
    moved = judge->found_count != judge->tenant_counts[host->place];
    for (uint32_t i = 0; i < judge->found_count; i++) {
        const struct tenant_view *before = tenant_before(judge, host, judge->found[i].claim);

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
        return; /* what it had in its last life is compared when it is up */
    memcpy(judge->tenants[host->place], judge->found, judge->found_count * sizeof *judge->found);
    judge->tenant_counts[host->place] = judge->found_count;
    if (moved)
        check_units(judge, host, false);
    if (judge->rows_moved[host->place]) {
        judge->rows_moved[host->place] = false;
        check_units(judge, host, true);
    }
}

/* ------------------------------------------------------------------- 3: a customer, its jobs and their results */

/* Of the leader of that gang. */
static const struct process *process_of(const struct judge *judge, agent customer, uint64_t job, uint64_t gang,
                                        uint64_t number)
{
    uint64_t leader = judged_gangs_leader(judge->gangs, gang);

    for (uint32_t i = judge->world->processes.count; i-- > 0;) {
        const struct process *process = slab_at(&judge->world->processes, i);

        if (process->superior == customer && process->job == job && process->gang == gang &&
            process->number == number && process->claim == leader)
            return process;
    }
    return NULL;
}

static void check_result(struct judge *judge, const struct host *host, const struct event *event,
                         const struct job_fact *fact, const struct record *record)
{
    const struct job_record *job = &record->u.job_record;
    const struct process *process;

    if (event->kind == EVENT_MESSAGE && event->message->kind == MESSAGE_RESULT) {
        const struct result *result = &event->message->u.result;

        if (result->job != record->key || result->number != fact->number ||
            claim_of(judge, result->claim)->gang != fact->gang)
            violated(judge, 3, host,
                     "a result (%llu of gang %llx) is taken, but number %llu of gang %llx is recorded for the job",
                     (unsigned long long)result->number, (unsigned long long)claim_of(judge, result->claim)->gang,
                     (unsigned long long)fact->number, (unsigned long long)fact->gang);
    }
    process = process_of(judge, host_agent(host), record->key, job->gang, job->number);
    if (!process || process_lives(process))
        violated(judge, 3, host, "a job is done without a process that ended");
}

static void check_job_row(struct judge *judge, const struct host *host, const struct event *event,
                          const struct record *record)
{
    struct job_fact *fact = job_of(judge, host->place, record->key);
    const struct job_record *job = &record->u.job_record;

    if (record->removed || job->state == JOB_FORGOTTEN) {
        if (fact->state != JOB_DONE && fact->state != JOB_REMOVED)
            violated(judge, 3, host, "a job is forgotten that has not ended");
        return;
    }
    if (fact->known && fact->state == JOB_DONE)
        violated(judge, 3, host, "a job that is done is written again: a result was taken twice, or it came back");
    if (job->state == JOB_DONE && fact->state != JOB_DONE && event->kind != EVENT_LOADED)
        check_result(judge, host, event, fact, record);
    fact->known = true;
    fact->state = job->state;
    fact->gang = job->gang;
    fact->number = job->number;
}

static void check_accepted(struct judge *judge, const struct host *host)
{
    for (uint32_t i = judge->parties.users; i < judge->parties.end; i++) {
        const struct host *who = &judge->world->hosts[i];
        const struct user_settings *settings = who->settings;
        const struct user *user = who->role;

        if (!user || settings->lies || settings->customer != host_agent(host))
            continue;
        for (uint32_t s = 0; s < user_count(user); s++) {
            const struct submission *submission = user_submission(user, s);

            for (uint64_t n = 0; submission->acknowledged && n < submission->count; n++) {
                struct job_fact *fact = job_of(judge, host->place, submission->first + n);
                struct job_view view;
                bool there = customer_job(host->role, submission->first + n, &view);

                if (!there && fact->durable != JOB_DONE && fact->durable != JOB_REMOVED)
                    violated(judge, 3, host, "a job that was accepted is lost");
                if (there && fact->known && fact->durable == JOB_DONE && view.state != JOB_DONE)
                    violated(judge, 3, host, "a job that was done is not any more");
            }
        }
    }
}

static void customer_stepped(struct judge *judge, struct host *host, const struct event *event)
{
    for (uint32_t i = 0; i < host->effects.count; i++) {
        const struct effect *effect = &host->effects.items[i];

        if (effect->kind == EFFECT_PERSIST && effect->record.kind == RECORD_JOB)
            check_job_row(judge, host, event, &effect->record);
        if (effect->kind == EFFECT_PERSIST && event->kind != EVENT_LOADED && event->kind != EVENT_BOOTED)
            judged_gangs_persists(judge->gangs, host, &effect->record);
    }
    if (event->kind == EVENT_BOOTED)
        check_accepted(judge, host);
    if (event->kind == EVENT_ANSWER && event->answer == ANSWER_GOT) {
        const struct message *message = event->message;

        if (message->kind == MESSAGE_CLAIMED && message->u.claimed.reason == REASON_OK) {
            struct claim_fact *fact = claim_of(judge, message->u.claimed.claim);

            if (!fact->acknowledged && fact->committed)
                fact->acknowledged = judge->now;
        } else if (message->kind == MESSAGE_ATTACHED && message->u.attached.reason == REASON_OK) {
            claim_of(judge, message->u.attached.claim)->root_life = host->life + 1;
        }
    }
}

/* ------------------------------------------------------------------------------ 5, 7, 8: the matchmaker and its ads */

static const struct advertised *answer_of(const struct host *host, uint64_t token)
{
    for (uint32_t i = 0; i < host->effects.count; i++) {
        const struct effect *effect = &host->effects.items[i];

        if (effect->kind == EFFECT_REPLY && effect->token == token && effect->message.kind == MESSAGE_ADVERTISED)
            return &effect->message.u.advertised;
    }
    return NULL;
}

static bool owner_holds(const struct judge *judge, const struct tree *ad, const struct host *by)
{
    const struct expr *owner = ad && tree_is_ad(ad) ? tree_find(ad, tree_root(ad), judge->owner) : NULL;

    return !owner || by->any || owner->kind != EXPR_STRING ||
           (owner->u.run.count == strlen(by->identity) &&
            !memcmp(tree_string(ad, owner), by->identity, owner->u.run.count));
}

static void ad_renew(struct judge *judge, struct ad_fact *fact, const struct advertise *message)
{
    int64_t count;

    fact->expires = judge->now + fact->lifetime;
    fact->received = judge->now; /* without a body it says that the same text still holds */
    if (message->bare)
        return;
    fact->version = message->version;
    fact->seen = message->seen;
    for (uint64_t n = fact->numbered; n > 0 && n + 256 > fact->numbered; n--)
        if (n < fact->room && seen_has(&fact->seen, fact->incarnation, n))
            fact->matches[n].named = true;
    fact->units = ad_has(message->ad, judge->residual) ? ad_integer(message->ad, judge->cpus, 1) : 1;
    count = message->request && message->ad ? ad_integer(message->ad, judge->count, 1) : 1;
    if (message->request && (count > fact->units || !ad_has(message->ad, judge->residual)))
        fact->units = count; /* a policy may take a request for an offer */
    fact->lifetime = ad_integer(message->ad, judge->lifetime, judge->world->spans->lifetime / SECOND) * SECOND;
    fact->expires = judge->now + fact->lifetime;
}

static void ad_forget(struct ad_fact *fact, uint64_t incarnation)
{
    if (fact->incarnation == incarnation)
        return;
    fact->incarnation = incarnation;
    fact->accepted = false;
    fact->version = fact->numbered = fact->settled = 0;
}

static void check_advertised(struct judge *judge, const struct host *host, const struct event *event)
{
    const struct advertise *message = &event->message->u.advertise;
    const struct advertised *answer = answer_of(host, event->token);
    const struct host *by = world_host(judge->world, event->peer->agent);
    struct ad_fact *fact;

    if (!answer || (answer->reason != REASON_OK && answer->reason != REASON_CONSUMED) || !by)
        return;
    fact = ad_of(judge, host_agent(host), event->peer->agent, message->id);
    ad_forget(fact, *incarnation_of(judge, host->place));
    if (!message->bare && !owner_holds(judge, message->ad, by))
        violated(judge, 5, host, "an ad is accepted whose Owner is not the one who sent it");
    if (fact->accepted && judge->now >= fact->expires)
        fact->accepted = false; /* it was gone */
    if (answer->reason == REASON_OK && fact->accepted && !message->bare && message->version < fact->version)
        violated(judge, 7, host, "an older version of an ad replaces a newer one");
    if (answer->reason == REASON_OK && message->bare && (!fact->accepted || message->version != fact->version))
        violated(judge, 8, host, "an ad is renewed without the text of that version");
    fact->accepted = true;
    ad_renew(judge, fact, message);
}

/* Matches that the text which was last received does not name, and that cannot have been forgotten yet. */
static int64_t ad_outstanding(const struct judge *judge, const struct ad_fact *fact)
{
    int64_t span = judge->world->spans->window + judge->world->spans->deadline, count = 0;

    for (uint64_t n = fact->numbered; n > 0; n--) {
        if (n < fact->room && !fact->matches[n].named && fact->received < fact->matches[n].made + span)
            count++;
        if (n + 256 < fact->numbered)
            break;
    }
    return count;
}

static struct match_fact *match_of(struct ad_fact *fact, uint64_t number)
{
    if (number >= MATCHES_SEEN)
        return NULL;
    if (number >= fact->room) {
        uint32_t room = fact->room ? fact->room : 16;

        while (room <= number)
            room *= 2;
        fact->matches = mem_grow(fact->matches, room * sizeof *fact->matches);
        memset(fact->matches + fact->room, 0, (room - fact->room) * sizeof *fact->matches);
        fact->room = room;
    }
    return &fact->matches[number];
}

static void check_entry(void *user, const struct entry_view *entry)
{
    struct judge *judge = user;
    const struct host *host = &judge->world->hosts[judge->looked];
    const struct host *by = world_host(judge->world, entry->agent);
    struct ad_fact *fact = ad_of(judge, host_agent(host), entry->agent, entry->id);

    ad_forget(fact, *incarnation_of(judge, host->place));
    if (by && !owner_holds(judge, entry->ad, by))
        violated(judge, 5, host, "an ad is kept whose Owner is not the one who sent it");
    if (fact->accepted && entry->version < fact->version)
        violated(judge, 7, host, "the version of an ad went back");
    if (entry->numbered <= fact->numbered)
        return;
    if (fact->accepted && judge->now > fact->expires + SECOND / 100)
        violated(judge, 7, host, "an ad is matched %.3f s after its lifetime",
                 (double)(judge->now - fact->expires) / (double)SECOND);
    for (uint64_t n = fact->numbered + 1; n <= entry->numbered; n++) {
        struct match_fact *match = match_of(fact, n);

        if (match)
            *match = (struct match_fact){.made = judge->now};
    }
    fact->numbered = entry->numbered;
    if (fact->accepted && ad_outstanding(judge, fact) > fact->units)
        violated(judge, 8, host, "%lld matches stand against %lld units of ad %llx of %s",
                 (long long)ad_outstanding(judge, fact), (long long)fact->units, (unsigned long long)fact->id,
                 by ? by->name : "a stranger");
}

static void matchmaker_stepped(struct judge *judge, struct host *host, const struct event *event)
{
    uint64_t *matches = &judge->matches[(host->place - judge->parties.matchmaker) % MATCHMAKERS_MAX];
    struct matchmaker_counts counts;
    const char *wrong;

    if (*incarnation_of(judge, host->place) != matchmaker_incarnation(host->role))
        judge->shares[host->place - judge->parties.matchmaker] = (struct judged_shares){.limit_count = 0};
    judge->looked = host->place;
    *incarnation_of(judge, host->place) = matchmaker_incarnation(host->role);
    wrong = judged_step(&judge->shares[host->place - judge->parties.matchmaker], host->role, event->kind == EVENT_WAKE);
    if (wrong)
        violated(judge, 10, host, "%s", wrong);
    if (event->kind == EVENT_MESSAGE && event->message->kind == MESSAGE_ADVERTISE)
        check_advertised(judge, host, event);
    if (event->kind == EVENT_MESSAGE && event->message->kind == MESSAGE_WITHDRAW) {
        struct ad_fact *fact = ad_of(judge, host_agent(host), event->peer->agent, event->message->u.withdraw.id);

        if (event->message->u.withdraw.version >= fact->version)
            fact->accepted = false;
    }
    counts = matchmaker_counts(host->role);
    if (counts.matches != *matches)
        matchmaker_each(host->role, check_entry, judge);
    *matches = counts.matches;
}

/* Which matches an agent was told of. */
static void agent_stepped(struct judge *judge, const struct host *host, const struct event *event)
{
    if (event->kind == EVENT_MESSAGE && event->message->kind == MESSAGE_MATCH) {
        const struct match_told *told = &event->message->u.match_told;
        struct ad_fact *fact = ad_of(judge, event->peer->agent, host_agent(host), told->id);
        struct match_fact *match = told->incarnation == fact->incarnation ? match_of(fact, told->number) : NULL;

        if (match)
            match->delivered = true;
    } else if (event->kind == EVENT_ANSWER && event->answer == ANSWER_GOT &&
               event->message->kind == MESSAGE_ADVERTISED) {
        const struct advertised *advertised = &event->message->u.advertised;
        struct ad_fact *fact = ad_of(judge, event->peer ? event->peer->agent : judge->parties.matchmaker + 1,
                                     host_agent(host), advertised->id);

        if (advertised->incarnation == fact->incarnation && advertised->settled > fact->settled)
            fact->settled = advertised->settled;
    }
}

/* Do they name the same matches? */
static bool seen_same(const struct seen *a, const struct seen *b)
{
    return seen_equal(a, b) || (!a->last && !a->beyond && !b->last && !b->beyond);
}

static void check_seen(struct judge *judge, const struct host *host, agent matchmaker, const struct advertise *message)
{
    struct ad_fact *fact = ad_of(judge, matchmaker, host_agent(host), message->id);
    uint64_t end = message->seen.last + 66;

    if (!message->bare) {
        fact->sent_version = message->version;
        fact->sent_seen = message->seen;
    } else {
        struct seen expected = fact->sent_seen;

        seen_settle(&expected, fact->incarnation, fact->settled); /* that moves nothing that counts */
        if (message->version != fact->sent_version ||
            !(seen_same(&message->seen, &fact->sent_seen) || seen_same(&message->seen, &expected)))
            violated(judge, 8, host, "an ad is renewed without its text although that has moved");
    }
    if (message->seen.incarnation != fact->incarnation || !fact->incarnation)
        return;
    for (uint64_t n = fact->settled + 1; n < end && n < MATCHES_SEEN; n++)
        if (seen_has(&message->seen, fact->incarnation, n) && (n >= fact->room || !fact->matches[n].delivered))
            violated(judge, 8, host, "Seen names match %llu, which was never delivered", (unsigned long long)n);
}

/* -------------------------------------------------------------------------------------------- what parties say */

static bool key_is_zero(const struct key *key)
{
    static const struct key zero;

    return !memcmp(key, &zero, sizeof zero);
}

static const struct process *process_alive(const struct judge *judge, const struct host *host, uint64_t claim)
{
    for (uint32_t i = host->processes; i != NOBODY;) {
        const struct process *process = slab_at(&judge->world->processes, i);

        if (process->claim == claim && process_lives(process))
            return process;
        i = process->next;
    }
    return NULL;
}

/* What a customer says to a member. */
static void root_sent(struct judge *judge, const struct host *host, const struct message *message)
{
    const struct spans *spans = judge->world->spans;
    const struct record *row;
    struct claim_fact *fact;

    switch (message->kind) {
    case MESSAGE_COMMIT:
        fact = claim_of(judge, message->u.commit.claim);
        if (fact->root_life != host->life + 1) /* a new life may have been told of the match again */
            fact->committed = fact->acknowledged = 0;
        if (!fact->committed)
            fact->committed = judge->now;
        fact->root_life = host->life + 1;
        break;
    case MESSAGE_ACTIVATE:
        fact = claim_of(judge, message->u.activate.claim);
        if (!judged_gangs_decided(judge->gangs, message->u.activate.claim))
            violated(judge, 2, host, "activate is sent before the decision is durable");
        if (!fact->activated && (!fact->acknowledged || fact->acknowledged - fact->committed > spans->pin / 4))
            violated(judge, 2, host, "activate is sent although the acknowledgements came too late");
        fact->activated = true;
        break;
    case MESSAGE_START:
        row = disk_find(&host->disk, RECORD_JOB, message->u.start.job);
        if (!row || row->u.job_record.number < message->u.start.number ||
            (row->u.job_record.state == JOB_IDLE && row->u.job_record.gang == 0))
            violated(judge, 3, host, "a start is sent before it is recorded");
        break;
    case MESSAGE_RELEASE:
        claim_of(judge, message->u.release.claim)->releasing = host->life + 1;
        break;
    case MESSAGE_ATTACH:
        if (claim_of(judge, message->u.attach.claim)->row_epoch < message->u.attach.epoch)
            violated(judge, 3, host, "re-attachment names an epoch that is not recorded");
        break;
    default:
        break;
    }
}

static void root_replied(struct judge *judge, const struct host *host, const struct message *message)
{
    if (message->kind == MESSAGE_BEATEN && message->u.beaten.reason == REASON_OK) {
        struct claim_fact *fact = claim_of(judge, message->u.beaten.claim);

        if (fact->releasing == host->life + 1)
            violated(judge, 2, host, "a heart beat of a claim that is being released is acknowledged");
        if (fact->root_life != host->life + 1)
            violated(judge, 3, host, "a heart beat is acknowledged before re-attachment");
    } else if (message->kind == MESSAGE_SUBMITTED && message->u.submitted.reason == REASON_OK) {
        for (uint64_t n = 0; n < message->u.submitted.count; n++)
            if (!job_of(judge, host->place, message->u.submitted.first + n)->known)
                violated(judge, 3, host, "a submission is acknowledged before it is durable");
    }
}

static void member_sent(struct judge *judge, const struct host *host, const struct message *message, uint64_t token)
{
    if (message->kind == MESSAGE_LEFT && process_alive(judge, host, message->u.left.claim))
        violated(judge, 2, host, "a claim is said to be left while its job runs");
    if (message->kind == MESSAGE_LEFT && message->u.left.reason == REASON_PREEMPTED)
        check_preempted(judge, host, message->u.left.claim);
    if (message->kind == MESSAGE_CLAIMED && message->u.claimed.reason == REASON_RELEASED &&
        process_alive(judge, host, message->u.claimed.claim))
        violated(judge, 2, host, "released is said while the job runs");
    if (message->kind == MESSAGE_CLAIMED && message->u.claimed.reason == REASON_OK) {
        enum message_kind asked = net_asked(judge->world, token);
        const struct record *row = disk_find(&host->disk, RECORD_TENANT, message->u.claimed.claim);
        bool over = claim_of(judge, message->u.claimed.claim)->over;

        if (!row && !over && (asked == MESSAGE_COMMIT || asked == MESSAGE_ACTIVATE || asked == MESSAGE_START))
            violated(judge, 1, host, "a commit is acknowledged before the pin is durable");
        if (asked == MESSAGE_ACTIVATE && process_alive(judge, host, claim_of(judge, message->u.claimed.claim)->behind))
            violated(judge, 2, host, "activate is acknowledged while the job of the claim in front runs");
    }
}

/* Tickets go to the one who advertised the root, and are proved, never said. */
static void check_secrets(struct judge *judge, const struct host *host, const struct effect *effect)
{
    const struct message *message = &effect->message;

    if (message->kind == MESSAGE_MATCH) {
        const struct edges *edges = message->u.match_told.edges;

        if (edges && edges->count &&
            ad_of(judge, host_agent(host), effect->to, message->u.match_told.id)->incarnation !=
                *incarnation_of(judge, host->place))
            violated(judge, 5, host, "tickets are sent to one who did not advertise");
        for (uint32_t i = 0; edges && i < edges->count; i++)
            claim_of(judge, edges->items[i].claim)->ticket = edges->items[i].ticket;
    } else if (message->kind == MESSAGE_VERIFY || message->kind == MESSAGE_VERIFIED) {
        bool asks = message->kind == MESSAGE_VERIFY;
        const struct claim_fact *fact = claim_of(judge, asks ? message->u.verify.claim : message->u.verified.claim);
        const struct key *nonce = asks ? &message->u.verify.nonce : &message->u.verified.nonce;
        const struct key *proof = asks ? &message->u.verify.proof : &message->u.verified.proof;

        if (!key_is_zero(&fact->ticket) &&
            (!memcmp(nonce, &fact->ticket, sizeof *nonce) || !memcmp(proof, &fact->ticket, sizeof *proof)))
            violated(judge, 5, host, "a ticket is said instead of proved");
    }
}

static void judge_sent(void *user, const struct host *host, const struct effect *effect)
{
    struct judge *judge = user;
    const struct parties *parties = &judge->parties;
    const struct message *message = &effect->message;

    judge->now = host_now(judge->world, host);
    judged_gangs_sent(judge->gangs, host, effect);
    if (message->kind == MESSAGE_ADVERTISE && host->place < parties->users) {
        if (!is_matchmaker(judge, (uint32_t)effect->to - 1) && !key_is_zero(&message->u.advertise.key))
            violated(judge, 5, host, "the key of an offer is sent to somebody else");
        check_seen(judge, host, effect->to, &message->u.advertise);
    }
    if (message->kind == MESSAGE_PULL && host->place < parties->users &&
        !is_matchmaker(judge, (uint32_t)effect->to - 1))
        violated(judge, 5, host, "the key of an offer that pulls is sent to somebody else");
    check_secrets(judge, host, effect);
    if (host->place >= parties->customers && host->place < parties->providers) {
        if (effect->kind == EFFECT_SEND)
            root_sent(judge, host, message);
        else
            root_replied(judge, host, message);
    } else if (host->place >= parties->providers && host->place < parties->users) {
        member_sent(judge, host, message, effect->token);
    }
}

/* ------------------------------------------------------------------------------------- what is durable, what runs */

static void judge_durable(void *user, const struct host *host, const struct record *record)
{
    struct judge *judge = user;

    judged_gangs_durable(judge->gangs, host, record);
    if (record->kind == RECORD_BRANCH && !record->removed) {
        struct claim_fact *fact = claim_of(judge, record->key);

        fact->gang = record->u.branch_record.gang;
        fact->row_epoch = record->u.branch_record.epoch;
    } else if (record->kind == RECORD_TENANT) {
        struct claim_fact *fact = claim_of(judge, record->key);

        judge->rows_moved[host->place] = true;
        fact->over = record->removed;
        if (!record->removed) {
            if (fact->row_session == record->u.tenant_record.epoch &&
                record->u.tenant_record.sequence < fact->row_sequence)
                violated(judge, 3, host, "a message older than the last of its session is recorded as the last");
            fact->row_session = record->u.tenant_record.epoch;
            fact->row_sequence = record->u.tenant_record.sequence;
            fact->row_number = record->u.tenant_record.number;
            fact->row_job = record->u.tenant_record.job;
        }
    } else if (record->kind == RECORD_KEY && !record->removed) {
        for (uint64_t n = record->u.key_record.gone; n < record->u.key_record.count; n++)
            job_of(judge, host->place, record->u.key_record.first + n)->known = true;
    } else if (record->kind == RECORD_JOB) {
        struct job_fact *fact = job_of(judge, host->place, record->key);

        if (record->removed || record->u.job_record.state == JOB_FORGOTTEN) {
            if (fact->durable != JOB_DONE && fact->durable != JOB_REMOVED)
                violated(judge, 3, host, "a job is forgotten that is not done");
            return;
        }
        if (fact->durable == JOB_DONE && record->u.job_record.state != JOB_DONE)
            violated(judge, 3, host, "a job that was done is not any more, on disk");
        if (record->u.job_record.state == JOB_DONE && !fact->counted) {
            fact->counted = true;
            judge->done++;
        }
        fact->known = true;
        fact->durable = record->u.job_record.state;
        fact->durable_gang = record->u.job_record.gang;
        fact->durable_number = record->u.job_record.number;
        if (!host->role) { /* it became so in a crash, unheard */
            fact->state = fact->durable;
            fact->gang = fact->durable_gang;
            fact->number = fact->durable_number;
        }
    }
}

/* Nobody of its gang may have somebody in front any more. */
static void check_way(struct judge *judge, const struct host *host, uint64_t claim)
{
    uint64_t member;
    uint32_t at;

    for (uint32_t i = 0; judged_gangs_member(judge->gangs, claim, i, &member, &at); i++) {
        uint64_t behind = claim_of(judge, member)->behind;

        if (behind && process_alive(judge, &judge->world->hosts[at], behind))
            violated(judge, 2, host, "a job is launched while that of the claim in front runs");
    }
}

static void judge_launched(void *user, const struct host *host, struct process *process)
{
    struct judge *judge = user;
    struct claim_fact *fact = claim_of(judge, process->claim);

    process->superior = judged_gangs_root(judge->gangs, process->claim);
    process->gang = fact->gang;
    if (fact->row_number != process->number || fact->row_job != process->job)
        violated(judge, 3, host, "a job is launched before that is durable");
    if (process->number <= fact->number)
        violated(judge, 3, host, "number %llu of a claim is launched after number %llu",
                 (unsigned long long)process->number, (unsigned long long)fact->number);
    fact->number = process->number;
    check_way(judge, host, process->claim);
    if (process->superior && job_of(judge, (uint32_t)process->superior - 1, process->job)->durable == JOB_DONE)
        violated(judge, 3, host, "a job is launched that is done");
    for (uint32_t i = 0; i < judge->world->host_count; i++)
        for (uint32_t at = judge->world->hosts[i].processes; at != NOBODY;) {
            const struct process *other = slab_at(&judge->world->processes, at);

            at = other->next;
            if (other == process || !process_lives(other))
                continue;
            if (other->claim == process->claim)
                violated(judge, 1, host, "two jobs run under one claim");
        }
    judged_gangs_launched(judge->gangs, host, process);
}

static void judge_ended(void *user, const struct host *host, const struct process *process)
{
    judged_gangs_ended(((struct judge *)user)->gangs, host, process);
}

/* Has its provider a record of it, or its superior a row? */
static bool claim_is_kept(struct judge *judge, const struct process *process)
{
    const struct host *host = &judge->world->hosts[process->host];
    const struct host *superior = world_host(judge->world, claim_of(judge, process->claim)->superior);

    if (host->role ? tenant_before(judge, host, process->claim) != NULL
                   : disk_find(&host->disk, RECORD_TENANT, process->claim) != NULL)
        return true;
    return superior && disk_find(&superior->disk, RECORD_BRANCH, process->claim);
}

void judge_sweep(struct judge *judge)
{
    const struct spans *spans = judge->world->spans;

    judged_gangs_sweep(judge->gangs);
    for (uint32_t i = 0; i < judge->world->host_count; i++)
        for (uint32_t at = judge->world->hosts[i].processes; at != NOBODY;) {
            struct process *process = slab_at(&judge->world->processes, at);

            at = process->next;
            if (!process_lives(process) || claim_is_kept(judge, process))
                process->orphan = 0;
            else if (!process->orphan)
                process->orphan = judge->world->time;
            else if (judge->world->time - process->orphan > 2 * spans->lease + 2 * spans_margin(spans))
                violated(judge, 2, &judge->world->hosts[i], "a process outlives its claim by two leases and a margin");
        }
    for (uint32_t i = judge->parties.matchmaker; i < judge->parties.customers; i++) {
        const struct host *matchmaker = &judge->world->hosts[i];

        if (!matchmaker->role)
            continue;
        judge->looked = i;
        judge->now = host_now(judge->world, matchmaker);
        matchmaker_each(matchmaker->role, check_entry, judge);
    }
}

static void judge_went(void *user, const struct host *host, const char *what)
{
    struct judge *judge = user;

    judge->up[host->place] = false;
    if (!strcmp(what, "reboots")) {
        judge->tenant_counts[host->place] = 0; /* its clock says nothing about the times of the last boot */
        judged_gangs_rebooted(judge->gangs, host);
    }
    if (is_matchmaker(judge, host->place))
        judge->matches[(host->place - judge->parties.matchmaker) % MATCHMAKERS_MAX] = 0;
}

static void judge_stepped(void *user, struct host *host, const struct role_env *env, const struct event *event)
{
    struct judge *judge = user;
    const struct parties *parties = &judge->parties;

    judge->now = env->now;
    if (host->place < parties->users && !is_matchmaker(judge, host->place))
        agent_stepped(judge, host, event);
    if (is_matchmaker(judge, host->place))
        matchmaker_stepped(judge, host, event);
    else if (host->place < parties->providers)
        customer_stepped(judge, host, event);
    else if (host->place < parties->users)
        provider_stepped(judge, host, env, event);
    else if (host->place < parties->end && user_wrong(host->role))
        violated(judge, *user_wrong(host->role) - '0', host, "%s", user_wrong(host->role) + 3);
    if (judge->world->broken)
        violated(judge, 9, host, "%s", judge->world->broken);
}

/* --------------------------------------------------------------------------- 6: what can run, ends, and is freed */

struct leftover {
    uint64_t jobs, claims;
};

static void leftover_job(void *user, const struct job_view *job)
{
    struct leftover *left = user;

    left->jobs += job->state == JOB_IDLE || job->state == JOB_RUNNING;
}

static void leftover_root(void *user, const struct root_view *root)
{
    (void)root;
    ((struct leftover *)user)->claims++;
}

static void leftover_tenant(void *user, const struct tenant_view *tenant)
{
    (void)tenant;
    ((struct leftover *)user)->claims++;
}

uint64_t judge_left(struct judge *judge, uint64_t *ret_claims)
{
    const struct parties *parties = &judge->parties;
    struct leftover left = {0, 0};

    for (uint32_t i = parties->customers; i < parties->end; i++) {
        const struct host *host = &judge->world->hosts[i];
        const struct user_settings *settings = host->settings;

        if (!host->role) {
            left.claims++;
        } else if (i < parties->providers) {
            customer_each(host->role, leftover_job, &left);
            customer_each_root(host->role, leftover_root, &left);
        } else if (i < parties->users) {
            provider_each(host->role, leftover_tenant, &left);
        } else if (!settings->lies) {
            left.jobs += user_waiting(host->role);
        }
        for (uint32_t at = host->processes; at != NOBODY;) {
            const struct process *process = slab_at(&judge->world->processes, at);

            left.claims += process_lives(process);
            at = process->next;
        }
    }
    *ret_claims = left.claims;
    return left.jobs;
}

void judge_late(struct judge *judge)
{
    uint64_t claims, jobs = judge_left(judge, &claims);

    if (jobs)
        violated(judge, 6, NULL, "%llu jobs that can run have not ended in the quiet phase", (unsigned long long)jobs);
    else if (claims)
        violated(judge, 6, NULL, "%llu claims or processes have not ended in the quiet phase",
                 (unsigned long long)claims);
    for (uint32_t i = judge->parties.customers; i < judge->parties.providers; i++)
        if (judge->world->hosts[i].role)
            check_accepted(judge, &judge->world->hosts[i]);
}

/* ------------------------------------------------------------------------------------------------------- its life */

struct judge *judge_new(struct world *world, const struct parties *parties)
{
    struct judge *judge = mem_alloc(sizeof *judge);
    struct symbols *symbols = world->symbols;

    memset(judge, 0, sizeof *judge);
    judge->world = world;
    judge->parties = *parties;
    judge->heeds = UINT32_MAX;
    map_init(&judge->claim_map, 1);
    map_init(&judge->job_map, 2);
    map_init(&judge->ad_map, 3);
    judge->claims.size = sizeof(struct claim_fact);
    judge->jobs.size = sizeof(struct job_fact);
    judge->ads.size = sizeof(struct ad_fact);
    judge->cpus = symbols_take(symbols, "Cpus", 4);
    judge->request_cpus = symbols_take(symbols, "RequestCpus", 11);
    judge->residual = symbols_take(symbols, "Residual", 8);
    judge->owner = symbols_take(symbols, "Owner", 5);
    judge->count = symbols_take(symbols, "Count", 5);
    judge->lifetime = symbols_take(symbols, "Lifetime", 8);
    judge->gangs = judged_gangs_new(world, parties->customers, parties->providers, parties->users, gang_wrong, judge);
    world_watch(world, &(struct watch){
                           .user = judge,
                           .stepped = judge_stepped,
                           .sent = judge_sent,
                           .durable = judge_durable,
                           .launched = judge_launched,
                           .ended = judge_ended,
                           .went = judge_went,
                       });
    return judge;
}

void judge_free(struct judge *judge)
{
    if (!judge)
        return;
    for (uint32_t i = 0; i < judge->ads.count; i++)
        free(((struct ad_fact *)slab_at(&judge->ads, i))->matches);
    judged_gangs_free(judge->gangs);
    map_done(&judge->claim_map);
    map_done(&judge->job_map);
    map_done(&judge->ad_map);
    free(judge->claims.items);
    free(judge->jobs.items);
    free(judge->ads.items);
    free(judge);
}

void judge_heeds(struct judge *judge, uint32_t numbers)
{
    judge->heeds = numbers;
}

const struct violation *judge_violation(const struct judge *judge)
{
    return &judge->violation;
}

uint64_t judge_claims(const struct judge *judge)
{
    return judge->activated;
}

uint64_t judge_preempted(const struct judge *judge)
{
    return judge->preempted;
}

uint64_t judge_done(const struct judge *judge)
{
    return judge->done;
}

const struct gang_counts *judge_gangs(const struct judge *judge)
{
    return judged_gangs_counts(judge->gangs);
}
