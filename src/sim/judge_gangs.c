/* judge_gangs.c: the invariants of gangs, as code. */
#include "sim/judge_gangs_parts.h"

#include "lang/base/mem.h"
#include "match/gang/ports.h"
#include "match/gang/runs.h"
#include "pool/claim/crew.h"
#include "pool/customer/customer.h"
#include "pool/protocol/job_processes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE_LEAST INT64_C(980000) /* of clocks, in millionths: as in faults.c */
#define THE_ROOT (-1)

__attribute__((format(printf, 4, 5))) static void violated(struct judged_gangs *gangs, int number,
                                                           const struct host *host, const char *format, ...)
{
    char words[200];
    va_list args;

    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    gangs->wrong(gangs->user, number, host, words);
}

/* --------------------------------------------------------------------------------------------------- who is in it */

static struct gang_fact *gang_find(const struct judged_gangs *gangs, uint64_t id)
{
    uint64_t found = map_find(&gangs->gang_map, id);

    return found == MAP_NONE ? NULL : slab_at(&gangs->gangs, (uint32_t)found);
}

static struct gang_fact *gang_of(struct judged_gangs *gangs, uint64_t id)
{
    struct gang_fact *gang = gang_find(gangs, id);
    uint32_t index;

    if (gang)
        return gang;
    index = slab_take(&gangs->gangs);
    map_set(&gangs->gang_map, id, index);
    gang = slab_at(&gangs->gangs, index);
    gang->id = id;
    return gang;
}

struct judged_member *gang_member_find(const struct judged_gangs *gangs, uint64_t claim, struct gang_fact **ret_gang)
{
    uint64_t found = map_find(&gangs->claim_map, claim);
    struct gang_fact *gang;

    if (found == MAP_NONE)
        return NULL;
    gang = slab_at(&gangs->gangs, (uint32_t)(found / JUDGED_MEMBERS_MAX));
    *ret_gang = gang;
    return &gang->members[found % JUDGED_MEMBERS_MAX];
}

static int superior_of(const struct gang_fact *gang, uint32_t member)
{
    for (uint32_t i = 0; i < gang->count; i++)
        if (gang->members[member].superior && gang->members[i].claim == gang->members[member].superior)
            return (int)i;
    return THE_ROOT;
}

/* Is the member's host one that promises nothing? */
static bool is_stranger(const struct judged_gangs *gangs, const struct judged_member *member)
{
    return member->host >= gangs->users;
}

/* Is there a host above the member that promises nothing, so that nobody knows what the member is told? */
static bool below_stranger(const struct judged_gangs *gangs, const struct gang_fact *gang,
                           const struct judged_member *member)
{
    for (int at = superior_of(gang, (uint32_t)(member - gang->members)); at >= 0; at = superior_of(gang, (uint32_t)at))
        if (is_stranger(gangs, &gang->members[at]))
            return true;
    return false;
}

static uint32_t gang_depth(const struct gang_fact *gang)
{
    uint32_t depth = 1;

    for (uint32_t i = 0; i < gang->count; i++)
        if (!gang->members[i].superior && gang->members[i].depth + 1 > depth)
            depth = gang->members[i].depth + 1;
    return depth;
}

/* Adds a member: its superior is told of it. */
static void member_add(struct judged_gangs *gangs, struct gang_fact *gang, uint64_t superior, const struct edge *edge)
{
    struct judged_member *member;
    struct gang_fact *other;

    if (gang_member_find(gangs, edge->claim, &other) || gang->count == JUDGED_MEMBERS_MAX)
        return;
    map_set(&gangs->claim_map, edge->claim, map_find(&gangs->gang_map, gang->id) * JUDGED_MEMBERS_MAX + gang->count);
    member = &gang->members[gang->count++];
    *member = (struct judged_member){.claim = edge->claim,
                                     .superior = superior,
                                     .port = edge->port,
                                     .host = (uint32_t)edge->agent - 1,
                                     .depth = (uint32_t)edge->depth,
                                     .link = edge->link,
                                     .wanted = true,
                                     .executes = edge->ad && ad_executes(edge->ad)};
}

static void match_sent(struct judged_gangs *gangs, const struct effect *effect)
{
    const struct match_told *told = &effect->message.u.match_told;
    struct gang_fact *gang = gang_of(gangs, told->gang);

    if (!told->claim)
        gang->root = effect->to;
    for (uint32_t i = 0; told->edges && i < told->edges->count; i++)
        member_add(gangs, gang, told->claim, &told->edges->items[i]);
}

static enum rule rule_of(const struct judged_gangs *gangs, const struct tree *ad, uint64_t port)
{
    enum rule rule = RULE_NEVER;
    const struct expr *said;
    struct ports ports;
    struct err err = {0};

    if (!ad || ports_read(&ports, ad, &err))
        return RULE_NEVER;
    said = port < ports.count ? tree_find(ad, ports.items[port].ad, gangs->essential) : NULL;
    if (said)
        rule = said->kind != EXPR_BOOLEAN ? RULE_SOMETIMES : said->small ? RULE_NEVER : RULE_ALWAYS;
    ports_done(&ports);
    return rule;
}

void judged_gangs_sent(struct judged_gangs *gangs, const struct host *host, const struct effect *effect)
{
    const struct message *message = &effect->message;
    struct gang_fact *gang;
    struct judged_member *member;

    if (message->kind == MESSAGE_MATCH && host->place < gangs->customers)
        match_sent(gangs, effect);
    judged_duty_sent(gangs, host, message);
    if (message->kind != MESSAGE_VERIFY || host->place >= gangs->users)
        return;
    member = gang_member_find(gangs, message->u.verify.claim, &gang);
    if (member && !member->heard && message->u.verify.ad) {
        int superior = superior_of(gang, (uint32_t)(member - gang->members));

        member->heard = true;
        member->wanted =
            port_runs(message->u.verify.ad, member->port, superior >= 0 ? gang->members[superior].link : RUNS_NO_LINK);
    }
    if (member)
        judged_duty_told(gangs, host, member->claim, message->u.verify.ad);
    if (member && member->rule == RULE_UNKNOWN)
        member->rule = rule_of(gangs, message->u.verify.ad, member->port);
}

/* -------------------------------------------------------------------------------------------------- who needs whom */

bool gang_member_runs(const struct gang_fact *gang, uint32_t member)
{
    bool runs = gang->members[member].executes;

    for (int at = (int)member; at >= 0 && runs; at = superior_of(gang, (uint32_t)at))
        runs = gang->members[at].wanted;
    return runs;
}

static bool subtree_executes(const struct gang_fact *gang, int member)
{
    bool executes = member >= 0 && gang_member_runs(gang, (uint32_t)member);

    for (uint32_t i = 0; i < gang->count && !executes; i++)
        executes = superior_of(gang, i) == member && subtree_executes(gang, (int)i);
    return executes;
}

/* Does the superior take its result from this member? The superior is the root, or a member that executes nothing itself. */
bool gang_member_leads(const struct gang_fact *gang, uint32_t member)
{
    int superior = superior_of(gang, member);

    if ((superior >= 0 && gang_member_runs(gang, (uint32_t)superior)) || !subtree_executes(gang, (int)member))
        return false;
    for (uint32_t i = 0; i < gang->count; i++)
        if (i != member && superior_of(gang, i) == superior && subtree_executes(gang, (int)i) &&
            (gang->members[i].port < gang->members[member].port ||
             (i < member && gang->members[i].port == gang->members[member].port)))
            return false;
    return true;
}

bool gang_member_executes(const struct gang_fact *gang, const struct judged_member *member)
{
    return subtree_executes(gang, (int)(member - gang->members));
}

bool gang_member_on_line(const struct gang_fact *gang, const struct judged_member *member)
{
    for (int at = (int)(member - gang->members); at >= 0; at = superior_of(gang, (uint32_t)at))
        if (!gang_member_leads(gang, (uint32_t)at))
            return false;
    return true;
}

/* The member whose result is the job's; NULL: no member executes anything. */
static const struct judged_member *gang_leader(const struct gang_fact *gang)
{
    int at = THE_ROOT;

    for (;;) {
        int next = at;

        for (uint32_t i = 0; i < gang->count && next == at; i++)
            if (superior_of(gang, i) == at && gang_member_leads(gang, i))
                next = (int)i;
        if (next == at)
            return NULL;
        if (gang_member_runs(gang, (uint32_t)next))
            return &gang->members[next];
        at = next;
    }
}

static bool surely_essential(const struct gang_fact *gang, uint32_t member)
{
    return gang_member_leads(gang, member) || gang->members[member].rule <= RULE_NEVER;
}

/* Who ends when that member is lost: the highest member that surely does; THE_ROOT: the whole gang. */
static int gang_loses(const struct gang_fact *gang, int member)
{
    while (member >= 0 && surely_essential(gang, (uint32_t)member))
        member = superior_of(gang, (uint32_t)member);
    return member;
}

/* ------------------------------------------------------------------------------------------------- who is lost, when */

static bool gang_runs(const struct judged_gangs *gangs, const struct gang_fact *gang)
{
    for (uint32_t i = gangs->providers; i < gangs->users; i++)
        for (uint32_t at = gangs->world->hosts[i].processes; at != NOBODY;) {
            const struct process *process = slab_at(&gangs->world->processes, at);

            if (process_lives(process) && process->gang == gang->id)
                return true;
            at = process->next;
        }
    return false;
}

/* Has the gang's current job begun, so that it may go on without some member? */
bool gang_began(const struct gang_fact *gang)
{
    return gang->launched && gang->launched == gang->taken && gang->ended != gang->taken;
}

/* A member is lost: from now on it has to end, with all members below it, and so have all that need it. */
static void member_lost(struct judged_gangs *gangs, struct gang_fact *gang, struct judged_member *member)
{
    int ends;

    if (member->over)
        return;
    member->over = true;
    member->over_at = gangs->world->time;
    if (!gang->decided || gang->lost)
        return;
    ends = gang_loses(gang, (int)(member - gang->members));
    if (ends < 0) {
        gang->lost = gangs->world->time;
        gangs->counts.lost += gang_runs(gangs, gang);
        return;
    }
    if (!gang->members[ends].lost)
        gang->members[ends].lost = gangs->world->time;
    if (gang_began(gang) && !gang->reduced) {
        gang->reduced = true;
        gangs->counts.reduced++;
    }
}

/* A member's part of a job has ended badly: every member that needs it ends, or the part is dropped. */
static void member_failed(struct judged_gangs *gangs, struct gang_fact *gang, uint32_t member, uint64_t number)
{
    int ends = (int)member;

    while (ends >= 0 && gang_member_leads(gang, (uint32_t)ends))
        ends = superior_of(gang, (uint32_t)ends);
    if (ends < 0)
        return; /* this is the job's own result */
    ends = gang_loses(gang, ends);
    if (ends < 0) {
        gang->failed = gangs->world->time;
        gang->failed_number = number;
    } else {
        gang->members[ends].failed = gangs->world->time;
        gang->members[ends].failed_number = number;
    }
}

static void gang_claimed(struct judged_gangs *gangs, struct gang_fact *gang)
{
    for (uint32_t i = 0; i < gang->count; i++)
        if (!gang->members[i].cleared)
            return;
    gang->claimed = true;
    gangs->counts.claimed[gang->count]++;
    gangs->counts.nested += gang_depth(gang) > 1;
}

static void claim_member_durable(struct gang_fact *gang, struct judged_member *member)
{
    bool all = true;

    member->branched = true;
    for (uint32_t i = 0; i < gang->count; i++)
        all = all && (gang->members[i].superior || gang->members[i].branched);
    gang->decided = gang->decided || all;
}

void judged_gangs_durable(struct judged_gangs *gangs, const struct host *host, const struct record *record)
{
    struct gang_fact *gang = NULL;
    struct judged_member *member;

    if (record->kind != RECORD_TENANT && record->kind != RECORD_BRANCH)
        return;
    member = gang_member_find(gangs, record->key, &gang);
    if (!member)
        return;
    if (record->kind == RECORD_BRANCH) {
        if (!record->removed && host->place < gangs->providers)
            claim_member_durable(gang, member);
    } else if (record->removed) {
        member_lost(gangs, gang, member);
    } else {
        member->pinned = true;
        member->cleared = member->cleared || record->u.tenant_record.active;
        if (!gang->claimed && member->cleared)
            gang_claimed(gangs, gang);
    }
}

/* A machine has rebooted: its members are lost. */
void judged_gangs_rebooted(struct judged_gangs *gangs, const struct host *host)
{
    for (uint32_t i = 0; i < gangs->gangs.count; i++) {
        struct gang_fact *gang = slab_at(&gangs->gangs, i);

        for (uint32_t k = 0; k < gang->count; k++)
            if (gang->members[k].host == host->place && gang->members[k].pinned)
                member_lost(gangs, gang, &gang->members[k]);
    }
}

/* --------------------------------------------------------------------------------------------- decisions and results */

/* Are the members of the job's gang processes of one program? */
static bool is_parallel(const struct judged_gangs *gangs, const struct host *host, uint64_t job)
{
    symbol name = symbols_find(gangs->world->symbols, JOB_PROCESSES_COUNT, strlen(JOB_PROCESSES_COUNT));
    struct job_view view;

    return name != SYMBOL_NONE && host->role && customer_job(host->role, job, &view) && view.ad &&
           tree_find(view.ad, tree_root(view.ad), name);
}

/* Is that the failure of a process of a parallel job, which is the job's result as the leader's would be? */
static bool is_process_result(const struct judged_gangs *gangs, const struct host *host, const struct gang_fact *gang,
                              const struct record *record)
{
    const struct job_record *job = &record->u.job_record;

    for (uint32_t i = 0; i < gang->count; i++)
        if (gang->members[i].bad_number == job->number && gang->members[i].bad_status == job->status)
            return is_parallel(gangs, host, record->key);
    return false;
}

/* A customer is about to record this row. */
void judged_gangs_persists(struct judged_gangs *gangs, const struct host *host, const struct record *record)
{
    bool decides = record->kind == RECORD_BRANCH && !record->removed,
         job = record->kind == RECORD_JOB && !record->removed;
    struct gang_fact *gang = decides ? gang_find(gangs, record->u.branch_record.gang)
                             : job   ? gang_find(gangs, record->u.job_record.gang)
                                     : NULL;

    if (decides && !gang)
        violated(gangs, 2, host, "a gang is decided that was never matched");
    if (!gang)
        return;
    if (decides)
        gang->pass = record->u.branch_record.pass;
    for (uint32_t i = 0; i < gang->count && decides; i++)
        if (!gang->members[i].pinned && !is_stranger(gangs, &gang->members[i]) &&
            !below_stranger(gangs, gang, &gang->members[i]))
            violated(gangs, 2, host, "gang %llx is decided, but its member %u, on %s, was never pinned",
                     (unsigned long long)gang->id, i, gangs->world->hosts[gang->members[i].host].name);
    if (job && record->u.job_record.state == JOB_RUNNING && record->u.job_record.number > gang->taken) {
        gang->taken = record->u.job_record.number;
        gangs->counts.again += gang->taken > 1;
        gang->taken_at = gangs->world->time;
    }
    if (job && record->u.job_record.state == JOB_DONE) {
        if (!judged_gangs_strange(gangs, gang->id) && !is_process_result(gangs, host, gang, record) &&
            (gang->ended != record->u.job_record.number || gang->ended_status != record->u.job_record.status))
            violated(gangs, 3, host, "a job has the result %lld of gang %llx, but that is not how its leader ended",
                     (long long)record->u.job_record.status, (unsigned long long)gang->id);
        gangs->counts.reduced_done += gang->reduced && !gang->lost;
    }
    if (job && record->u.job_record.state == JOB_HELD && record->u.job_record.reason == REASON_EXITED &&
        is_parallel(gangs, host, record->key))
        violated(gangs, 3, host, "a process of a parallel job has failed, and its job is held: that is its result");
}

/* ------------------------------------------------------------------------------------------------------- processes */

/* How long a gang may take to stop: two leases and a margin for each level, on the slowest clock, and the time that stopping takes. */
static int64_t stop_bound(const struct judged_gangs *gangs, const struct gang_fact *gang)
{
    const struct spans *spans = gangs->world->spans;
    int64_t level = 2 * spans->lease + spans_margin(spans);

    return (int64_t)gang_depth(gang) * level * 1000000 / RATE_LEAST + spans->lease / 20;
}

static int64_t sooner(int64_t since, int64_t at)
{
    return at && (!since || at < since) ? at : since;
}

/* Since when has the process to end? 0: it need not. */
static int64_t process_lost(const struct gang_fact *gang, const struct process *process,
                            const struct judged_member *member)
{
    int64_t since = sooner(gang->lost, gang->failed_number == process->number ? gang->failed : 0);

    for (int at = (int)(member - gang->members); at >= 0; at = superior_of(gang, (uint32_t)at)) {
        since = sooner(since, gang->members[at].lost);
        if (gang->members[at].failed_number == process->number)
            since = sooner(since, gang->members[at].failed);
    }
    return since;
}

static void check_stopped(struct judged_gangs *gangs, const struct process *process)
{
    struct gang_fact *gang = NULL;
    const struct judged_member *member = gang_member_find(gangs, process->claim, &gang);
    int64_t lost = member && !below_stranger(gangs, gang, member) ? process_lost(gang, process, member) : 0,
            since = gangs->world->time - lost;

    if (!lost)
        return;
    if (since * 1000 / stop_bound(gangs, gang) > gangs->counts.worst)
        gangs->counts.worst = since * 1000 / stop_bound(gangs, gang);
    if (since > stop_bound(gangs, gang))
        violated(gangs, 2, &gangs->world->hosts[process->host],
                 "a process of gang %llx (depth %u) runs %.3f s after a member was lost; %.3f s are allowed",
                 (unsigned long long)gang->id, gang_depth(gang), (double)since / (double)SECOND,
                 (double)stop_bound(gangs, gang) / (double)SECOND);
}

/* Checks a process against all others that run, except those below a member that lies and may say anything. */
static void check_others(struct judged_gangs *gangs, const struct host *host, const struct process *process)
{
    struct gang_fact *gang = NULL;
    const struct judged_member *member;

    for (uint32_t i = gangs->providers; i < gangs->users; i++)
        for (uint32_t at = gangs->world->hosts[i].processes; at != NOBODY;) {
            const struct process *other = slab_at(&gangs->world->processes, at);

            at = other->next;
            if (other == process || !process_lives(other) || other->superior != process->superior)
                continue;
            member = gang_member_find(gangs, other->claim, &gang);
            if (member && below_stranger(gangs, gang, member))
                continue;
            if (other->gang == process->gang && other->number != process->number)
                violated(gangs, 3, host, "number %llu of gang %llx starts while number %llu runs on %s",
                         (unsigned long long)process->number, (unsigned long long)process->gang,
                         (unsigned long long)other->number, gangs->world->hosts[i].name);
            if (other->gang != process->gang && other->job == process->job)
                violated(gangs, 3, host, "a job runs twice at the same time, there and on %s",
                         gangs->world->hosts[i].name);
        }
}

void judged_gangs_launched(struct judged_gangs *gangs, const struct host *host, const struct process *process)
{
    struct gang_fact *gang = NULL;
    const struct judged_member *member = gang_member_find(gangs, process->claim, &gang);

    if (!member) {
        violated(gangs, 2, host, "a process starts under a claim that was never matched");
        return;
    }
    judged_duty_launched(gangs, host, process); /* also below a stranger */
    if (below_stranger(gangs, gang, member))
        return;
    if (!gang->decided)
        violated(gangs, 2, host, "a process starts before its gang is decided, durably");
    if (!member->executes)
        violated(gangs, 2, host, "a process starts under a member that executes nothing");
    gang->launched = process->number > gang->launched ? process->number : gang->launched;
    for (uint32_t i = 0; i < gang->count; i++) {
        const struct judged_member *other = &gang->members[i];

        if (other->over && process->number == gang->taken && other->over_at < gang->taken_at)
            violated(gangs, 2, host, "number %llu of gang %llx starts, but its member %u was lost before that",
                     (unsigned long long)process->number, (unsigned long long)gang->id, i);
        if (!other->cleared && !is_stranger(gangs, other) && !below_stranger(gangs, gang, other))
            violated(gangs, 2, host, "a process of gang %llx starts, but its member %u, on %s, has not cleared the way",
                     (unsigned long long)gang->id, i, gangs->world->hosts[other->host].name);
    }
    check_others(gangs, host, process);
    check_stopped(gangs, process);
}

void judged_gangs_ended(struct judged_gangs *gangs, const struct host *host, const struct process *process)
{
    struct gang_fact *gang = NULL;
    const struct judged_member *member = gang_member_find(gangs, process->claim, &gang);

    (void)host;
    if (!member)
        return;
    check_stopped(gangs, process);
    if (process->state != PROCESS_EXITED)
        return;
    if (member == gang_leader(gang)) {
        gang->ended = process->number;
        gang->ended_status = process->status;
        return;
    }
    gangs->counts.helped++;
    if (process->reason != REASON_EXITED || process->status != 0) {
        gang->members[member - gang->members].bad_number = process->number;
        gang->members[member - gang->members].bad_status = process->status;
        member_failed(gangs, gang, (uint32_t)(member - gang->members), process->number);
    }
}

void judged_gangs_sweep(struct judged_gangs *gangs)
{
    for (uint32_t i = gangs->providers; i < gangs->users; i++)
        for (uint32_t at = gangs->world->hosts[i].processes; at != NOBODY;) {
            const struct process *process = slab_at(&gangs->world->processes, at);

            at = process->next;
            if (process_lives(process))
                check_stopped(gangs, process);
        }
}

/* ---------------------------------------------------------------------------------------------- questions, and its life */

agent judged_gangs_root(const struct judged_gangs *gangs, uint64_t claim)
{
    struct gang_fact *gang = NULL;

    return gang_member_find(gangs, claim, &gang) ? gang->root : 0;
}

bool judged_gangs_decided(const struct judged_gangs *gangs, uint64_t claim)
{
    struct gang_fact *gang = NULL;

    return gang_member_find(gangs, claim, &gang) && gang->decided;
}

uint64_t judged_gangs_leader(const struct judged_gangs *gangs, uint64_t id)
{
    const struct gang_fact *gang = gang_find(gangs, id);
    const struct judged_member *leader = gang ? gang_leader(gang) : NULL;

    return leader ? leader->claim : 0;
}

bool judged_gangs_member(const struct judged_gangs *gangs, uint64_t claim, uint32_t which, uint64_t *ret_claim,
                         uint32_t *ret_host)
{
    struct gang_fact *gang = NULL;

    if (!gang_member_find(gangs, claim, &gang) || which >= gang->count)
        return false;
    *ret_claim = gang->members[which].claim;
    *ret_host = gang->members[which].host;
    return true;
}

const struct gang_counts *judged_gangs_counts(const struct judged_gangs *gangs)
{
    return &gangs->counts;
}

struct judged_gangs *judged_gangs_new(struct world *world, uint32_t customers, uint32_t providers, uint32_t users,
                                      gang_wrong_fn *wrong, void *user)
{
    struct judged_gangs *gangs = mem_alloc(sizeof *gangs);

    *gangs = (struct judged_gangs){.world = world,
                                   .customers = customers,
                                   .providers = providers,
                                   .users = users,
                                   .wrong = wrong,
                                   .user = user,
                                   .gangs = {.size = sizeof(struct gang_fact)},
                                   .essential = symbols_take(world->symbols, "Essential", 9)};
    map_init(&gangs->gang_map, 4);
    map_init(&gangs->claim_map, 5);
    return gangs;
}

void judged_gangs_free(struct judged_gangs *gangs)
{
    if (!gangs)
        return;
    map_done(&gangs->gang_map);
    map_done(&gangs->claim_map);
    free(gangs->gangs.items);
    free(gangs);
}
