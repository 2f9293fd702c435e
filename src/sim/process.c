/* process.c: the launchers of a host and the jobs they run.
 *
 *     launched -> runs -> EXITED (by itself, or its time is up)       the result is kept until it is recorded
 *                   `---> KILLED (at its deadline, or when told to)   JOB_GONE when nothing is left
 *
 * A launcher holds the lease's deadline and ends the job itself. It outlives a crash of its role: when a role starts, it is told which jobs still run
 * and which have ended meanwhile. Nothing outlives a reboot. */
#include "sim/world.h"

#include "pool/protocol/mutants.h"

#include <string.h>

#define NEVER INT64_MAX

static struct process *process_at(const struct world *world, uint32_t index)
{
    return slab_at(&world->processes, index);
}

static uint32_t process_index(const struct world *world, const struct process *process)
{
    return (uint32_t)((size_t)((const char *)process - world->processes.items) / world->processes.size);
}

/* The latest process that the launcher knows for that claim, or NULL. */
static struct process *process_find(const struct world *world, const struct host *host, uint64_t claim)
{
    for (uint32_t i = host->processes; i != NOBODY; i = process_at(world, i)->next)
        if (process_at(world, i)->claim == claim)
            return process_at(world, i);
    return NULL;
}

/* When the process ends, as things are now. */
static int64_t process_end(const struct process *process)
{
    int64_t end = process->natural < process->limit ? process->natural : process->limit;

    if (process->kill && process->kill < end)
        end = process->kill;
    if (!MUTANT(NO_LAUNCHER_DEADLINE) && process->deadline < end)
        end = process->deadline;
    return end;
}

static void process_set(struct world *world, struct process *process)
{
    int64_t end = process_end(process);

    process->order = 0;
    if (end != NEVER)
        process->order =
            world_push(world, end > world->time ? end : world->time, ITEM_PROCESS, process_index(world, process));
}

static int64_t true_deadline(struct world *world, const struct host *host, int64_t at)
{
    return host_true(world, host, at) + world_between(world, 0, world->rates.deadline_most);
}

/* The launcher has forgotten the process; a judge may still want to see it. */
static void process_drop(struct world *world, uint32_t index)
{
    if (world->lean)
        slab_give(&world->processes, index);
}

/* The number of the job in an ad: that of the job at the root of the gang, whoever has passed the ad on. */
static uint64_t ad_job(const struct tree *ad)
{
    symbol name = ad ? symbols_find(ad->symbols, "JobId", 5) : SYMBOL_NONE;
    const struct expr *said = name != SYMBOL_NONE ? tree_find(ad, tree_root(ad), name) : NULL;

    return said && said->kind == EXPR_INTEGER ? (uint64_t)said->u.integer : 0;
}

void process_launch(struct world *world, struct host *host, const struct effect *effect)
{
    uint32_t index = slab_take(&world->processes);
    struct process *process = process_at(world, index);
    int64_t now = host_now(world, host);
    int64_t lasts = world->ways.lasts ? world->ways.lasts(world->ways.user, host, effect)
                                      : world_between(world, world->rates.job_least, world->rates.job_most);

    *process = (struct process){
        .next = host->processes,
        .host = host->place,
        .claim = effect->claim,
        .number = effect->number,
        .job = effect->job,
        .told_job = ad_job(effect->ad),
        .began = world->time,
        .natural = world->time + lasts,
        .limit = effect->span > 0 && effect->span < NEVER - now ? host_true(world, host, now + effect->span) : NEVER,
        .deadline = true_deadline(world, host, effect->at),
        .told = effect->at,
        .boot = host->boot,
    };
    if (world_roll(world, world->rates.hang)) {
        world->faults[FAULT_HANG]++;
        process->natural = NEVER;
    }
    if (host->unfit) {
        world->faults[FAULT_UNFIT]++;
        process->natural = world->time + MILLISECOND;
        process->unfit = true;
    }
    if (world_roll(world, world->rates.fail)) {
        world->faults[FAULT_FAILED]++;
        process->status = 1;
    }
    host->processes = index;
    for (uint32_t i = 0; i < world->watch_count; i++)
        if (world->watches[i].launched)
            world->watches[i].launched(world->watches[i].user, host, process);
    process_set(world, process);
}

void process_deadline(struct world *world, struct host *host, uint64_t claim, int64_t at)
{
    struct process *process = process_find(world, host, claim);

    if (!process || !process_lives(process))
        return;
    process->told = at;
    process->deadline = true_deadline(world, host, at);
    process_set(world, process);
}

void process_clock(struct world *world, struct host *host)
{
    for (uint32_t i = host->processes; i != NOBODY; i = process_at(world, i)->next)
        if (process_lives(process_at(world, i)))
            process_deadline(world, host, process_at(world, i)->claim, process_at(world, i)->told);
}

void process_stop(struct world *world, struct host *host, uint64_t claim, int64_t span)
{
    struct process *process = process_find(world, host, claim);

    if (process && process_lives(process)) {
        int64_t warned = world_between(world, 0, span > 0 ? span : 0);

        process->kill = world->time + warned + world_between(world, 0, world->rates.kill_most);
        process->state = PROCESS_STOPS;
        process_set(world, process);
    } else {
        uint32_t index = slab_take(&world->news);

        if (process)
            process->state = PROCESS_FORGOTTEN;
        *(struct news *)slab_at(&world->news, index) = (struct news){host->place, host->life, claim};
        world_push(world, world->time, ITEM_NEWS, index);
    }
}

static void process_tell(struct world *world, struct host *host, const struct process *process, enum job_news news)
{
    host_event(world, host,
               &(struct event){.kind = EVENT_JOB,
                               .news = news,
                               .claim = process->claim,
                               .number = process->number,
                               .reason = process->reason,
                               .status = process->status,
                               .used = process->used,
                               .at = process->told});
}

static void process_finish(struct world *world, struct process *process, enum process_state state, enum reason reason)
{
    const struct host *host = &world->hosts[process->host];

    process->state = state;
    process->reason = reason;
    process->ended = world->time;
    process->used = world->time - process->began;
    process->order = 0;
    if (reason != REASON_EXITED)
        process->status = 0;
    for (uint32_t i = 0; i < world->watch_count; i++)
        if (world->watches[i].ended)
            world->watches[i].ended(world->watches[i].user, host, process);
}

void process_due(struct world *world, uint32_t index, uint32_t order)
{
    struct process *process = process_at(world, index);
    struct host *host = &world->hosts[process->host];
    struct process copy;

    if (!process_lives(process) || process->order != order)
        return;
    if (process->state == PROCESS_STOPS)
        process_finish(world, process, PROCESS_KILLED, REASON_RELEASED);
    else if (process->natural <= world->time)
        process_finish(world, process, PROCESS_EXITED, process->unfit ? REASON_FAULT : REASON_EXITED);
    else if (process->limit <= world->time)
        process_finish(world, process, PROCESS_EXITED, REASON_TIME);
    else
        process_finish(world, process, PROCESS_KILLED, REASON_LEASE);
    copy = *process; /* the table may move when the role launches another process */
    if (!host->role)
        return; /* the host's next life is told */
    if (copy.state == PROCESS_KILLED)
        process->state = PROCESS_FORGOTTEN;
    process_tell(world, host, &copy, copy.state == PROCESS_EXITED ? JOB_EXITED : JOB_GONE);
}

void process_gone(struct world *world, uint32_t index)
{
    struct news news = *(struct news *)slab_at(&world->news, index);
    struct host *host = &world->hosts[news.host];

    slab_give(&world->news, index);
    if (host->life == news.life)
        host_event(
            world, host,
            &(struct event){.kind = EVENT_JOB, .news = JOB_GONE, .claim = news.claim, .reason = REASON_RELEASED});
}

void process_reboot(struct world *world, struct host *host)
{
    uint32_t next;

    for (uint32_t i = host->processes; i != NOBODY; i = next) {
        struct process *process = process_at(world, i);

        next = process->next;
        if (process_lives(process))
            process_finish(world, process, PROCESS_FORGOTTEN, REASON_LOST);
        process->state = PROCESS_FORGOTTEN;
        process_drop(world, i);
    }
    host->processes = NOBODY;
}

void process_found(struct world *world, struct host *host)
{
    uint32_t next;

    for (uint32_t i = host->processes; i != NOBODY; i = next) {
        struct process *process = process_at(world, i), copy = *process;

        next = copy.next;
        if (copy.state == PROCESS_KILLED)
            process->state = PROCESS_FORGOTTEN;
        if (copy.state != PROCESS_FORGOTTEN)
            process_tell(world, host, &copy,
                         process_lives(&copy)           ? JOB_FOUND
                         : copy.state == PROCESS_EXITED ? JOB_EXITED
                                                        : JOB_GONE);
    }
}

/* A result is forgotten when the provider's row no longer says that the process runs, or says that another one does. */
void process_tidy(struct world *world, struct host *host)
{
    uint32_t *link = &host->processes;

    while (*link != NOBODY) {
        struct process *process = process_at(world, *link);

        if (process->state == PROCESS_EXITED) {
            const struct record *row = disk_find(&host->disk, RECORD_TENANT, process->claim);

            if (!row || !row->u.tenant_record.running || row->u.tenant_record.number != process->number)
                process->state = PROCESS_FORGOTTEN;
        }
        if (process->state == PROCESS_FORGOTTEN) {
            uint32_t index = *link;

            *link = process->next;
            process_drop(world, index);
        } else {
            link = &process->next;
        }
    }
}
