/* grid_watch.c: turns the events of a grid into figures, and answers its world: how long a job runs, how far away a host is. */
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "sim/grid_parts.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_DELAY (MILLISECOND / 10)

const uint32_t grid_classes[GRID_CLASSES] = {1, 100, 1000, 5000};

static uint32_t class_of(uint32_t count)
{
    uint32_t class = GRID_CLASSES - 1;

    while (class && count < grid_classes[class])
        class --;
    return class;
}

/* ------------------------------------------------------------------------------------------------------------- jobs */

/* A submission is durable at its customer: from now on its jobs have their numbers. */
static void batch_add(struct grid *grid, struct grid_customer *customer, const struct key_record *key)
{
    uint32_t submission = crowd_place(&key->key), place;

    if (submission >= grid->crowd.count || grid->crowd.items[submission].known)
        return;
    grid->crowd.items[submission].known = true;
    ARRAY_ROOM(customer->batches, customer->batch_count, customer->batch_room, 64);
    for (place = customer->batch_count++; place && customer->batches[place - 1].first > key->first; place--)
        customer->batches[place] = customer->batches[place - 1];
    customer->batches[place] = (struct batch){key->first, (uint32_t)key->count, submission};
    grid->report->submitted += key->count;
}

/* The submission that a job belongs to, or NULL. */
static const struct crowd_submission *batch_find(const struct grid *grid, const struct grid_customer *customer,
                                                 uint64_t job)
{
    uint32_t low = 0, high = customer->batch_count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (customer->batches[middle].first <= job)
            low = middle;
        else
            high = middle;
    }
    if (low >= customer->batch_count || job - customer->batches[low].first >= customer->batches[low].count)
        return NULL;
    return &grid->crowd.items[customer->batches[low].submission];
}

/* Is it the first time that this job is started? */
static bool started_first(struct grid_customer *customer, uint64_t job)
{
    uint64_t word = job / 64, bit = UINT64_C(1) << job % 64;

    if (word >= customer->started_words) {
        uint64_t words = (word + 1) * 2;

        customer->started = mem_grow(customer->started, words * sizeof *customer->started);
        memset(customer->started + customer->started_words, 0,
               (words - customer->started_words) * sizeof *customer->started);
        customer->started_words = words;
    }
    if (customer->started[word] & bit)
        return false;
    customer->started[word] |= bit;
    return true;
}

static int64_t watch_lasts(void *user, const struct host *host, const struct effect *effect)
{
    struct grid *grid = user;
    const struct record *row = disk_find(&host->disk, RECORD_TENANT, effect->claim);
    const struct host *superior = row ? world_host(grid->world, row->u.tenant_record.superior) : NULL;
    struct grid_customer *customer = superior ? grid_desk(grid, superior) : NULL;
    const struct crowd_submission *submission = customer ? batch_find(grid, customer, effect->job) : NULL;
    struct rng rng;
    double seconds;

    grid->report->launches++;
    if (!submission) {
        grid->report->broken = "a job was started that nobody submitted";
        return SECOND;
    }
    if (started_first(customer, effect->job)) {
        uint64_t wait = (uint64_t)(grid->world->time - submission->at) / MILLISECOND;

        spread_add(&grid->report->waits, wait);
        spread_add(&grid->report->class_waits[class_of(submission->count)], wait);
    }
    /* the same job takes the same time wherever it runs */
    rng_init(&rng, rng_mix(grid->settings->seed ^ rng_mix(effect->job ^ (uint64_t)superior->place << 40)));
    seconds = dist_draw(grid->shapes[submission->shape].duration, &rng);
    return seconds < 1e9 ? (int64_t)(seconds * (double)SECOND) + 1 : (int64_t)1e9 * SECOND;
}

static void watch_changed(void *user, struct host *host, uint64_t job)
{
    struct grid *grid = user;
    struct job_view view;

    if (!host->role || !customer_job(host->role, job, &view) || view.state != JOB_DONE)
        return;
    ARRAY_ROOM(grid->ended, grid->ended_count, grid->ended_room, 256);
    grid->ended[grid->ended_count++] = (struct ended){host->place, job};
}

void grid_forget(struct grid *grid)
{
    for (uint32_t i = 0; i < grid->ended_count; i++)
        host_event(grid->world, &grid->world->hosts[grid->ended[i].customer],
                   &(struct event){.kind = EVENT_FORGET, .job = grid->ended[i].job});
    grid->ended_count = 0;
}

/* -------------------------------------------------------------------------------------------------------- providers */

static void unit_claim(struct grid *grid, struct grid_unit *unit, bool active)
{
    int64_t now = grid->world->time;

    if (active && unit->claims++ == 0)
        unit->claimed = now;
    else if (!active && unit->claims && --unit->claims == 0)
        grid->report->claimed += now - unit->claimed;
    grid->report->claims += active;
}

/* A row is about to replace the one on the disk. */
static void watch_durable(void *user, const struct host *host, const struct record *record)
{
    struct grid *grid = user;
    struct grid_unit *unit = grid_unit(grid, host);
    struct grid_customer *customer = grid_desk(grid, host);
    const struct record *before;
    bool was, is;

    if (customer && record->kind == RECORD_KEY && !record->removed)
        batch_add(grid, customer, &record->u.key_record);
    if (customer && record->kind == RECORD_JOB && !record->removed && record->u.job_record.state == JOB_DONE)
        grid->report->done++;
    if (!unit || record->kind != RECORD_TENANT || unit->up < 0)
        return; /* a row that becomes durable while its host stops is not in use any more */
    before = disk_find(&host->disk, RECORD_TENANT, record->key);
    was = before && before->u.tenant_record.active && before->u.tenant_record.boot == host->boot;
    is = !record->removed && record->u.tenant_record.active;
    if (was != is)
        unit_claim(grid, unit, is);
}

static void watch_ended(void *user, const struct host *host, const struct process *process)
{
    struct grid *grid = user;

    (void)host;
    grid->report->busy += process->used;
    if (process->reason == REASON_EXITED || process->reason == REASON_TIME)
        return;
    grid->report->wasted += process->used;
    grid->report->lost += process->reason == REASON_LOST;
    grid->report->expired += process->reason == REASON_LEASE;
}

static void unit_down(struct grid *grid, struct grid_unit *unit)
{
    int64_t now = grid->world->time;

    if (unit->up < 0)
        return;
    grid->report->up += now - unit->up;
    if (unit->claims)
        grid->report->claimed += now - unit->claimed;
    unit->claims = 0;
    unit->up = -1;
}

static void watch_went(void *user, const struct host *host, const char *what)
{
    struct grid *grid = user;
    struct grid_unit *unit = grid_unit(grid, host);
    const struct scenario *scenario = grid->scenario;

    if (!unit)
        return;
    if (strcmp(what, "starts") != 0) {
        grid->report->stops++;
        unit_down(grid, unit);
        return;
    }
    grid->report->starts++;
    unit->up = grid->world->time;
    if (scenario->up)
        world_plan(grid->world, grid->world->time + (int64_t)(dist_draw(scenario->up, &grid->rng) * (double)SECOND),
                   host->place);
}

/* --------------------------------------------------------------------------------------------------------- messages */

static uint64_t *messages_of(struct grid *grid, const struct host *host, bool out)
{
    struct grid_unit *unit = grid_unit(grid, host);
    struct grid_customer *customer = grid_desk(grid, host);

    if (unit)
        return out ? &unit->out : &unit->in;
    if (customer)
        return out ? &customer->out : &customer->in;
    if (host->place != MATCHMAKER)
        return NULL;
    return out ? &grid->matchmaker_out : &grid->matchmaker_in;
}

static void watch_sent(void *user, const struct host *host, const struct effect *effect)
{
    struct grid *grid = user;
    uint64_t *count = messages_of(grid, host, true);

    if (count)
        ++*count;
    grid->report->by_message[effect->message.kind]++;
}

static int64_t host_delay(const struct grid *grid, const struct host *host)
{
    const struct grid_unit *unit = grid_unit(grid, host);

    return unit ? grid->sites[unit->site].delay : 0;
}

static int64_t watch_delay(void *user, const struct host *from, const struct host *to)
{
    struct grid *grid = user;
    double delay = (double)(host_delay(grid, from) + host_delay(grid, to));

    return LEAST_DELAY + (int64_t)(delay * (1 + grid->scenario->jitter * rng_unit(rng_next(&grid->delay))));
}

/* ----------------------------------------------------------------------------------------------------------- cycles */

static void watch_steps(void *user, const struct host *host, const struct event *event)
{
    struct grid *grid = user;

    if (host->place == MATCHMAKER && event->kind == EVENT_WAKE && grid->settings->clock)
        grid->began = grid->settings->clock(grid->settings->user);
}

static void cycle_count(struct grid *grid, const struct engine_counts *counts)
{
    struct engine_work *work = &grid->report->work;
    uint64_t all = counts->tests + counts->evaluations;

    work->probes += counts->probes;
    work->tests += counts->tests;
    work->evaluations += counts->evaluations;
    work->tried += counts->tried;
    work->most = all > work->most ? all : work->most;
    if (grid->settings->clock)
        spread_add(&grid->report->cycle_times, (uint64_t)(grid->took * 1e6));
    grid->took = 0;
}

/* The matchmaker has run a slice of a cycle, perhaps the last. */
static void matchmaker_stepped(struct grid *grid, const struct host *host)
{
    struct matchmaker_counts counts = matchmaker_counts(host->role);

    if (!grid->in_cycle && counts.cycles == grid->cycles)
        return;
    if (grid->settings->clock)
        grid->took += grid->settings->clock(grid->settings->user) - grid->began;
    grid->cycles = counts.cycles;
    grid->in_cycle = counts.in_cycle;
    grid->report->cycles = counts.cycles;
    grid->report->matches = counts.matches;
    if (!counts.in_cycle)
        cycle_count(grid, &counts.work);
}

static void watch_stepped(void *user, struct host *host, const struct role_env *env, const struct event *event)
{
    struct grid *grid = user;

    (void)env;
    if (event->message) {
        uint64_t *count = messages_of(grid, host, false);

        if (count)
            ++*count;
    } else if (event->kind == EVENT_WAKE && host->place == MATCHMAKER) {
        matchmaker_stepped(grid, host);
    }
}

/* ------------------------------------------------------------------------------------------------------ first and last */

void grid_watch(struct grid *grid)
{
    grid->world->ways =
        (struct ways){.user = grid, .delay = watch_delay, .lasts = watch_lasts, .changed = watch_changed};
    world_watch(grid->world, &(struct watch){.user = grid,
                                             .stepped = watch_stepped,
                                             .sent = watch_sent,
                                             .durable = watch_durable,
                                             .ended = watch_ended,
                                             .went = watch_went,
                                             .steps = watch_steps});
}

static void messages_add(struct grid_messages *to, uint64_t in, uint64_t out)
{
    to->hosts++;
    to->in += in;
    to->out += out;
    to->most = in + out > to->most ? in + out : to->most;
}

static void job_count(void *user, const struct job_view *job)
{
    struct grid_report *report = user;

    report->running += job->state == JOB_RUNNING;
    report->queued += job->state == JOB_IDLE || job->state == JOB_RUNNING || job->state == JOB_HELD;
}

void grid_close(struct grid *grid)
{
    struct world *world = grid->world;
    struct grid_report *report = grid->report;

    messages_add(&report->matchmaker, grid->matchmaker_in, grid->matchmaker_out);
    for (uint32_t i = 0; i < grid->scenario->customers; i++) {
        messages_add(&report->customer, grid->customers[i].in, grid->customers[i].out);
        customer_each(world->hosts[CUSTOMERS + i].role, job_count, report);
    }
    for (uint32_t i = 0; i < grid->scenario->providers; i++) {
        const struct host *host = &world->hosts[grid->providers + i];

        messages_add(&report->provider, grid->units[i].in, grid->units[i].out);
        unit_down(grid, &grid->units[i]);
        for (uint32_t at = host->processes; at != NOBODY;) {
            const struct process *process = slab_at(&world->processes, at);

            report->busy += process_lives(process) ? world->time - process->began : 0;
            at = process->next;
        }
    }
    report->refused = grid->crowd.refused;
    report->undelivered = world->faults[FAULT_DOWN];
    report->machines = matchmaker_machines(world->hosts[MATCHMAKER].role);
    report->machine_bytes = matchmaker_machine_bytes(world->hosts[MATCHMAKER].role);
    report->time = world->time;
    report->events = world->events;
    report->hash = world->hash;
    if (world->broken)
        report->broken = world->broken;
}
