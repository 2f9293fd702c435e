/* judge.c: the invariants of protocol.md, numbered as there, as code.
 *
 *     claims  by claim: whose, in which gang; whether it was decided durably; the last number launched
 *     jobs    by customer and job: how its rows changed; whether it is done
 *     ads     by agent and id: the version that the matchmaker has accepted, its matches, and which of them were delivered
 *     tenants of each provider, as its own record had them after its last step
 *
 * The judge looks only at the party that was just stepped, and only at what changed: a few comparisons an event. */
#include "sim/judge.h"

#include "lang/base/mem.h"
#include "sim/judge_parts.h"
#include "sim/user.h"

#include <stdlib.h>
#include <string.h>

static void gang_wrong(void *user, int number, const struct host *host, const char *words)
{
    judge_finds(user, number, host, "%s", words);
}

static void judge_ended(void *user, const struct host *host, const struct process *process)
{
    struct judge *judge = user;

    if (!is_stranger(judge, host->place))
        judged_gangs_ended(judge->gangs, host, process);
}

static void judge_stale(void *user, const struct host *host, const char *what)
{
    judge_finds(user, 12, host, "%s", what);
}

static void judge_went(void *user, const struct host *host, const char *what)
{
    struct judge *judge = user;

    judge->up[host->place] = false;
    if (strcmp(what, "starts") != 0)
        judge_fell(judge, host);
    else
        judge->began[host->place] = judge->world->time;
    judge_unbound(judge, host);
    if (!strcmp(what, "reboots")) {
        judge->tenant_counts[host->place] = 0; /* its clock says nothing about the times of the last boot */
        judged_gangs_rebooted(judge->gangs, host);
    }
    if (is_matchmaker(judge, host->place))
        judge->matches[(host->place - judge->parties.matchmaker) % MATCHMAKERS_MAX] = 0;
}

static void provider_stepped(struct judge *judge, struct host *host, const struct role_env *env,
                             const struct event *event)
{
    if (event->kind == EVENT_DRAIN || event->kind == EVENT_RESUME)
        judge->drained[host->place] = event->kind == EVENT_DRAIN;
    if (event->kind == EVENT_BOOK)
        judge_booking_order(judge, host, event);
    judge_provider(judge, host, env, event);
    judge_stood(judge, host, env);
}

static void judge_stepped(void *user, struct host *host, const struct role_env *env, const struct event *event)
{
    struct judge *judge = user;
    const struct parties *parties = &judge->parties;

    judge->now = env->now;
    if (host->place < parties->users && !is_matchmaker(judge, host->place))
        judge_agent(judge, host, event);
    if (is_matchmaker(judge, host->place))
        judge_matchmaker(judge, host, env, event);
    else if (host->place < parties->providers)
        judge_customer(judge, host, event);
    else if (host->place < parties->users)
        provider_stepped(judge, host, env, event);
    else if (host->place < parties->end && user_wrong(host->role))
        judge_finds(judge, *user_wrong(host->role) - '0', host, "%s", user_wrong(host->role) + 3);
    if (judge->world->broken)
        judge_finds(judge, 9, host, "%s", judge->world->broken);
}

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
    map_init(&judge->root_map, 6);
    map_init(&judge->told_map, 12);
    map_init(&judge->final_map, 14);
    map_init(&judge->released, 15);
    map_init(&judge->ordered, 16);
    judge->finals.size = sizeof(struct final_fact);
    judge->claims.size = sizeof(struct claim_fact);
    judge->jobs.size = sizeof(struct job_fact);
    judge->ads.size = sizeof(struct ad_fact);
    judge->roots.size = sizeof(struct root_fact);
    judge->cpus = symbols_take(symbols, "Cpus", 4);
    judge->request_cpus = symbols_take(symbols, "RequestCpus", 11);
    judge->time_limit = symbols_take(symbols, "TimeLimit", 9);
    judge->request_memory = symbols_take(symbols, "RequestMemory", 13);
    judge->residual = symbols_take(symbols, "Residual", 8);
    judge->owner = symbols_take(symbols, "Owner", 5);
    judge->count = symbols_take(symbols, "Count", 5);
    judge->lifetime = symbols_take(symbols, "Lifetime", 8);
    judge->group = symbols_take(symbols, "AccountingGroup", 15);
    judge->limits = symbols_take(symbols, "ConcurrencyLimits", 17);
    judge->ports = symbols_take(symbols, "Ports", 5);
    judge->preempts = symbols_take(symbols, "Preempts", 8);
    judge->preemption = symbols_take(symbols, "Preemption", 10);
    judge->remote_user = symbols_take(symbols, "RemoteUser", 10);
    judge->unwell = symbols_take(symbols, "Unwell", 6);
    judge->load = symbols_take(symbols, "LoadAvg", 7);
    judge->gangs = judged_gangs_new(world, parties->customers, parties->providers, parties->users, gang_wrong, judge);
    world_watch(world, &(struct watch){
                           .user = judge,
                           .stepped = judge_stepped,
                           .sent = judge_sent,
                           .durable = judge_durable,
                           .launched = judge_launched,
                           .ended = judge_ended,
                           .went = judge_went,
                           .stale = judge_stale,
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
    judge_bookings_done(judge);
    map_done(&judge->claim_map);
    map_done(&judge->job_map);
    map_done(&judge->ad_map);
    map_done(&judge->root_map);
    map_done(&judge->told_map);
    map_done(&judge->final_map);
    free(judge->finals.items);
    free(judge->claims.items);
    free(judge->jobs.items);
    free(judge->ads.items);
    free(judge->roots.items);
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

uint64_t judge_several(const struct judge *judge)
{
    return judge->several;
}

uint64_t judge_preempted(const struct judge *judge)
{
    return judge->preempted;
}

uint64_t judge_done(const struct judge *judge)
{
    return judge->done;
}

uint64_t judge_booked(const struct judge *judge)
{
    return judge->bookings;
}

uint64_t judge_booked_times(const struct judge *judge)
{
    return judge->booked_times;
}

uint64_t judge_grouped(const struct judge *judge)
{
    return judge->grouped;
}

const struct gang_counts *judge_gangs(const struct judge *judge)
{
    return judged_gangs_counts(judge->gangs);
}
