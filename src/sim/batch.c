/* batch.c: the four events of a batch system, and its windows. */
#include "sim/batch.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "sim/agenda.h"
#include "sim/backfill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum batch_event { EVENT_CREATE, EVENT_DONE, EVENT_TIMEOUT, EVENT_PLANNED, EVENT_WINDOW, EVENT_READY };
#define EVENT_SHIFT 29
#define NONE UINT32_MAX
#define PROGRESS_EVERY 65536              /* events ... */
#define PROGRESS_WORK (UINT64_C(8) << 20) /* ... or units of work, whichever comes first */

/* Jobs that ask for the same and wait. They are in a heap; the job whose turn it is comes first. Jobs whose time is
 * out stay in the heap until they are met. */
struct shape {
    uint32_t example; /* one of these jobs */
    uint32_t *heap, heap_count, heap_room;
    uint32_t waiting; /* without jobs whose time is out */
    uint32_t place;   /* among the shapes that have waiting jobs; NONE */
    uint32_t chained; /* the next shape of the same hash */
};

struct batch {
    const struct batch_settings *settings;
    struct batch_work *work;
    struct batch_outcome *outcomes;
    struct batch_totals *totals;
    struct agenda agenda;
    int64_t now, since; /* since: when the last window was */
    uint32_t come;      /* jobs that have been submitted */
    uint64_t waiting;
    double processors, busy;
    bool pending;       /* there is a window on the agenda */
    int by_duration;    /* whose turn it is: 0 the oldest, 1 the shortest, -1 the longest; then the oldest */
    bool counts_rivals; /* the policy counts how many jobs want a place, and not only which job gets it */

    uint32_t *shape_of; /* by job */
    uint32_t *entered;  /* by job: the number of the first window after its submission */
    uint8_t *gone;      /* by job: its time is out */
    uint32_t *cluster;  /* by job: where it runs */
    uint32_t *unmet;    /* by job: how many of those that it waits for are not done */
    struct shape *shapes;
    uint32_t shape_count, shape_room;
    struct map shape_map;
    uint32_t *active; /* shapes that have waiting jobs */
    uint32_t active_count;

    uint32_t cluster_count;
    uint32_t *kind_of;    /* by cluster */
    uint32_t *kind_first; /* by kind, and one more: the first of its clusters, which follow each other */
    double *free;         /* by cluster */

    int64_t wake;              /* when that is asked again although nothing has changed */
    struct backfill *backfill; /* the queue, of a policy without windows; NULL: it has windows, and shapes */

    uint32_t *candidates, candidate_room; /* jobs that the window looks at, by their place in the problem */
    uint32_t candidate_count;
    struct assign_result result;
    struct arena scratch;
};

/* --------------------------------------------------------------------------------------------------------------- shapes */

static uint64_t shape_hash(const struct batch_job *job)
{
    uint64_t hash = rng_mix(job->row);

    for (int i = 0; i < BATCH_QUANTITIES; i++) {
        uint64_t word;

        memcpy(&word, &job->asks[i], sizeof word);
        hash = rng_mix(hash ^ word);
    }
    return hash;
}

static bool jobs_alike(const struct batch_job *a, const struct batch_job *b)
{
    return a->row == b->row && a->asks[0] == b->asks[0] && a->asks[1] == b->asks[1] && a->asks[2] == b->asks[2];
}

static uint32_t shape_find(struct batch *batch, uint32_t job)
{
    const struct batch_job *jobs = batch->work->jobs;
    uint64_t hash = shape_hash(&jobs[job]) >> 1, head = map_find(&batch->shape_map, hash);
    uint32_t at = head == MAP_NONE ? NONE : (uint32_t)head;

    while (at != NONE && !jobs_alike(&jobs[batch->shapes[at].example], &jobs[job]))
        at = batch->shapes[at].chained;
    if (at != NONE)
        return at;
    if (batch->shape_count == batch->shape_room) {
        batch->shape_room = batch->shape_room ? 2 * batch->shape_room : 256;
        batch->shapes = mem_grow(batch->shapes, batch->shape_room * sizeof *batch->shapes);
        batch->active = mem_grow(batch->active, batch->shape_room * sizeof *batch->active);
    }
    batch->shapes[batch->shape_count] =
        (struct shape){.example = job, .place = NONE, .chained = head == MAP_NONE ? NONE : (uint32_t)head};
    map_set(&batch->shape_map, hash, batch->shape_count);
    return batch->shape_count++;
}

/* Is it the turn of job `a` before that of job `b`? */
static bool turn_is_before(const struct batch *batch, uint32_t a, uint32_t b)
{
    int64_t first, second;

    if (!batch->by_duration) /* most policies need not look at the jobs, which are far apart in memory */
        return a < b;
    first = batch->work->jobs[a].estimate * batch->by_duration;
    second = batch->work->jobs[b].estimate * batch->by_duration;
    return first != second ? first < second : a < b;
}

static void heap_push(const struct batch *batch, struct shape *shape, uint32_t job)
{
    uint32_t at = shape->heap_count++;

    if (shape->heap_count > shape->heap_room) {
        shape->heap_room = shape->heap_room ? 2 * shape->heap_room : 2;
        shape->heap = mem_grow(shape->heap, shape->heap_room * sizeof *shape->heap);
    }
    for (; at > 0 && turn_is_before(batch, job, shape->heap[(at - 1) / 2]); at = (at - 1) / 2)
        shape->heap[at] = shape->heap[(at - 1) / 2];
    shape->heap[at] = job;
}

static uint32_t heap_pop(const struct batch *batch, struct shape *shape)
{
    uint32_t first = shape->heap[0], last = shape->heap[--shape->heap_count], count = shape->heap_count, at = 0;

    for (uint32_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && turn_is_before(batch, shape->heap[child + 1], shape->heap[child]))
            child++;
        if (!turn_is_before(batch, shape->heap[child], last))
            break;
        shape->heap[at] = shape->heap[child];
        at = child;
    }
    shape->heap[at] = last;
    return first;
}

static void shape_append(struct batch *batch, uint32_t place, uint32_t job)
{
    struct shape *shape = &batch->shapes[place];

    batch->shape_of[job] = place;
    heap_push(batch, shape, job);
    if (!shape->waiting++) {
        shape->place = batch->active_count;
        batch->active[batch->active_count++] = place;
    }
    batch->waiting++;
}

/* One of the shape's jobs does not wait any more. */
static void shape_leave(struct batch *batch, uint32_t place)
{
    struct shape *shape = &batch->shapes[place];

    batch->waiting--;
    if (--shape->waiting)
        return;
    batch->active[shape->place] = batch->active[--batch->active_count];
    batch->shapes[batch->active[shape->place]].place = shape->place;
    shape->place = NONE;
    shape->heap_count = 0;
}

/* -------------------------------------------------------------------------------------------------------------- windows */

static bool window_is_fixed(const struct batch *batch)
{
    return batch->settings->window.least == batch->settings->window.most;
}

static int64_t window_length(const struct batch *batch)
{
    const struct batch_window *window = &batch->settings->window;
    double part = batch->processors > 0 && isfinite(batch->processors) ? batch->busy / batch->processors : 0;

    return window->least + (int64_t)llround((double)(window->most - window->least) * fmin(1, fmax(0, part)));
}

/* Something has changed, so there will be a window. A fixed window comes at the next multiple of its length; a window that adapts opens now. */
static void window_want(struct batch *batch)
{
    int64_t length = window_length(batch), at;

    if (batch->pending || !batch->waiting)
        return;
    if (batch->backfill) {
        at = batch->now; /* after all else that happens now */
    } else if (window_is_fixed(batch)) {
        at = (batch->now + length - 1) / length * length;
        if (at <= batch->since)
            at = batch->since + length;
    } else {
        at = batch->now + length;
    }
    batch->pending = true;
    if (at <= batch->settings->horizon)
        agenda_push(&batch->agenda, at, (uint32_t)EVENT_WINDOW << EVENT_SHIFT);
}

/* How many jobs of that shape could be placed if no other shape were there. */
static uint32_t shape_fits(const struct batch *batch, const struct shape *shape)
{
    const struct batch_job *job = &batch->work->jobs[shape->example];
    const struct assign_problem *problem = &batch->work->problem;
    const struct assign_row *row = &problem->rows[job->row];
    double fits = 0;

    for (uint32_t i = 0; i < row->count && fits < shape->waiting; i++) {
        uint32_t kind = problem->edges[row->first + i].kind;

        for (uint32_t c = batch->kind_first[kind]; c < batch->kind_first[kind + 1] && fits < shape->waiting; c++) {
            const double *free = batch->free + (size_t)c * BATCH_QUANTITIES;
            double here = INFINITY;

            if (!assign_fits(job->asks, free, BATCH_QUANTITIES))
                continue;
            for (int q = 0; q < BATCH_QUANTITIES; q++)
                if (job->asks[q] > 0)
                    here = fmin(here, floor(free[q] / job->asks[q] * (1 + 1e-8)));
            if (batch->counts_rivals)
                return shape->waiting;
            fits += fmax(1, here);
        }
    }
    return fits < shape->waiting ? (uint32_t)fits : shape->waiting;
}

static int place_compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* Takes candidates out of the heaps. Jobs that are not placed go back later. */
static void candidates_gather(struct batch *batch)
{
    batch->candidate_count = 0;
    for (uint32_t i = 0; i < batch->active_count; i++) {
        struct shape *shape = &batch->shapes[batch->active[i]];
        uint32_t fits = shape_fits(batch, shape);

        if (!fits)
            continue;
        if (batch->candidate_room - batch->candidate_count < fits) {
            batch->candidate_room = 2 * batch->candidate_room + fits;
            batch->candidates = mem_grow(batch->candidates, batch->candidate_room * sizeof *batch->candidates);
        }
        while (fits && shape->heap_count) {
            uint32_t job = heap_pop(batch, shape);

            if (batch->gone[job])
                continue;
            batch->candidates[batch->candidate_count++] = job;
            fits--;
        }
    }
    if (batch->candidate_count > 1)
        qsort(batch->candidates, batch->candidate_count, sizeof *batch->candidates, place_compare);
}

static void candidates_return(struct batch *batch)
{
    for (uint32_t i = 0; i < batch->candidate_count; i++) {
        uint32_t job = batch->candidates[i];

        if (batch->outcomes[job].start < 0)
            heap_push(batch, &batch->shapes[batch->shape_of[job]], job);
    }
}

static void problem_fill(struct batch *batch, uint32_t number)
{
    struct assign_problem *problem = &batch->work->problem;

    assign_problem_next(problem);
    for (uint32_t i = 0; i < batch->cluster_count; i++)
        assign_add_offer(problem, batch->kind_of[i], batch->free + (size_t)i * BATCH_QUANTITIES);
    for (uint32_t i = 0; i < batch->candidate_count; i++) {
        uint32_t job = batch->candidates[i];
        const struct batch_job *asked = &batch->work->jobs[job];

        assign_add_request(problem, asked->row, asked->asks, (double)asked->estimate / BATCH_SECOND,
                           (double)(number - batch->entered[job]));
    }
}

/* Starts a job. Sums of fractions drift by a last bit; assign_fits forgives a billionth. */
static void job_start(struct batch *batch, uint32_t job, uint32_t cluster)
{
    const struct batch_job *asked = &batch->work->jobs[job];
    double *free = batch->free + (size_t)cluster * BATCH_QUANTITIES;

    for (int q = 0; q < BATCH_QUANTITIES; q++)
        free[q] = free[q] > asked->asks[q] ? free[q] - asked->asks[q] : 0;
    batch->busy += asked->asks[0];
    batch->outcomes[job].start = batch->now;
    batch->outcomes[job].kind = batch->kind_of[cluster];
    batch->cluster[job] = cluster;
    if (batch->backfill)
        batch->waiting--;
    else
        shape_leave(batch, batch->shape_of[job]);
    if (asked->duration <= batch->settings->horizon - batch->now)
        agenda_push(&batch->agenda, batch->now + asked->duration, (uint32_t)EVENT_DONE << EVENT_SHIFT | job);
}

/* The policy has settled what waits: once more, in so many seconds, with so much work. */
static void settled_count(struct batch *batch, double took, uint64_t work)
{
    struct batch_totals *totals = batch->totals;

    totals->seconds += took;
    totals->most_time = fmax(totals->most_time, took);
    totals->windows++;
    totals->work += work;
    totals->most_work = work > totals->most_work ? work : totals->most_work;
}

static int policy_call(struct batch *batch, struct err *err)
{
    const struct batch_settings *settings = batch->settings;
    struct batch_totals *totals = batch->totals;
    struct assign_options options = {.work = settings->effort ? settings->effort : BATCH_EFFORT};
    double began = settings->clock ? settings->clock(settings->user) : 0, took;

    if (assign_solve(&batch->scratch, (enum assign_policy)settings->policy, &batch->work->problem, &options,
                     &batch->result, err) < 0)
        return -1;
    took = settings->clock ? settings->clock(settings->user) - began : 0;
    settled_count(batch, took, batch->result.work);
    totals->over += took > (double)window_length(batch) / BATCH_SECOND;
    totals->fell_back += batch->result.fell_back;
    totals->inexact += settings->policy == BATCH_OPTIMAL && !batch->result.exact;
    return 0;
}

static void backfill_start(void *user, uint32_t job, uint32_t cluster)
{
    job_start(user, job, cluster);
}

/* A policy without windows looks at its queue. */
static void queue_look(struct batch *batch)
{
    const struct batch_settings *settings = batch->settings;
    double began = settings->clock ? settings->clock(settings->user) : 0;
    int64_t next;
    uint64_t work = backfill_decide(batch->backfill, batch->now, backfill_start, batch, &next);

    if (next <= settings->horizon && (batch->wake <= batch->now || next < batch->wake)) {
        batch->wake = next;
        agenda_push(&batch->agenda, next, (uint32_t)EVENT_PLANNED << EVENT_SHIFT);
    }
    settled_count(batch, settings->clock ? settings->clock(settings->user) - began : 0, work);
}

static uint32_t window_number(const struct batch *batch)
{
    return window_is_fixed(batch) ? (uint32_t)(batch->now / batch->settings->window.least)
                                  : (uint32_t)batch->totals->windows;
}

static int window_event(struct batch *batch, struct err *err)
{
    bool queued = batch->settings->policy == BATCH_FCFS || batch->by_duration;

    batch->pending = false;
    batch->since = batch->now;
    if (batch->backfill) {
        queue_look(batch);
        return 0;
    }
    candidates_gather(batch);
    if (!batch->candidate_count)
        return 0;
    problem_fill(batch, window_number(batch));
    if (policy_call(batch, err) < 0)
        return -1;
    for (uint32_t i = 0; i < batch->result.count; i++)
        job_start(batch, batch->candidates[batch->result.pairs[i].request], batch->result.pairs[i].offer);
    candidates_return(batch);
    if (batch->result.count && !queued) /* the next window may place more */
        window_want(batch);
    return 0;
}

/* --------------------------------------------------------------------------------------------------------- other events */

/* From now on the job waits for a place. */
static void ready_event(struct batch *batch, uint32_t job)
{
    int64_t timeout = batch->settings->timeout, length = batch->settings->window.least;

    batch->outcomes[job].ready = batch->now;
    batch->entered[job] =
        window_is_fixed(batch) ? (uint32_t)((batch->now + length - 1) / length) : (uint32_t)batch->totals->windows;
    if (batch->backfill) {
        batch->waiting++;
        backfill_come(batch->backfill, job);
    } else {
        shape_append(batch, shape_find(batch, job), job);
    }
    if (timeout && timeout <= batch->settings->horizon - batch->now)
        agenda_push(&batch->agenda, batch->now + timeout, (uint32_t)EVENT_TIMEOUT << EVENT_SHIFT | job);
    window_want(batch);
}

/* The job has been submitted, and nobody that it waits for is left: it is ready, now or after a while. */
static void job_released(struct batch *batch, uint32_t job)
{
    int64_t ready = batch->outcomes[job].ready;

    if (ready <= batch->now)
        ready_event(batch, job);
    else if (ready <= batch->settings->horizon)
        agenda_push(&batch->agenda, ready, (uint32_t)EVENT_READY << EVENT_SHIFT | job);
}

static void create_event(struct batch *batch, uint32_t job)
{
    batch->come++;
    if (batch->come < batch->work->count && batch->work->jobs[batch->come].submit <= batch->settings->horizon)
        agenda_push(&batch->agenda, batch->work->jobs[batch->come].submit,
                    (uint32_t)EVENT_CREATE << EVENT_SHIFT | batch->come);
    if (batch->outcomes[job].ready >= 0 && !batch->unmet[job])
        job_released(batch, job);
}

/* A job is done: who waits for it waits for one less. */
static void followers_release(struct batch *batch, uint32_t job)
{
    const struct batch_work *work = batch->work;

    for (uint32_t i = work->before_first[job]; i < work->before_first[job + 1]; i++) {
        uint32_t next = work->before[i];

        if (--batch->unmet[next] || batch->outcomes[next].ready < 0)
            continue;
        batch->outcomes[next].ready = batch->now + work->jobs[next].think;
        if (next < batch->come)
            job_released(batch, next);
    }
}

/* A job goes: whoever waits for it goes too, and who waits for those. */
static void followers_drop(struct batch *batch, uint32_t job)
{
    const struct batch_work *work = batch->work;
    uint32_t *dropped = NULL, count = 0, room = 0;

    for (uint32_t done = 0;; job = dropped[done++]) {
        for (uint32_t i = work->before_first[job]; i < work->before_first[job + 1]; i++) {
            uint32_t next = work->before[i];

            if (batch->outcomes[next].ready < 0)
                continue;
            batch->outcomes[next].ready = -1 - batch->now;
            ARRAY_ROOM(dropped, count, room, 16);
            dropped[count++] = next;
        }
        if (done == count)
            break;
    }
    free(dropped);
}

static void done_event(struct batch *batch, uint32_t job)
{
    const struct batch_job *asked = &batch->work->jobs[job];
    const struct batch_kind *kind = &batch->settings->park->kinds[batch->outcomes[job].kind];
    double *free = batch->free + (size_t)batch->cluster[job] * BATCH_QUANTITIES;

    for (int q = 0; q < BATCH_QUANTITIES; q++)
        free[q] = fmin(kind->capacity[q], free[q] + asked->asks[q]);
    batch->busy -= asked->asks[0];
    if (batch->backfill)
        backfill_done(batch->backfill, job, batch->now);
    if (batch->work->after_count)
        followers_release(batch, job);
    window_want(batch);
}

static void timeout_event(struct batch *batch, uint32_t job)
{
    if (batch->outcomes[job].start >= 0)
        return;
    batch->gone[job] = 1;
    if (batch->backfill) {
        batch->waiting--;
        backfill_leave(batch->backfill, job);
        if (batch->work->after_count)
            followers_drop(batch, job);
        window_want(batch); /* who stood behind it may begin */
        return;
    }
    shape_leave(batch, batch->shape_of[job]);
    if (batch->work->after_count)
        followers_drop(batch, job);
    if (batch->counts_rivals) /* another job may have a single choice now */
        window_want(batch);
}

/* Everything else that happens at the time of a window happens before the window. */
static bool window_waits(struct batch *batch, const struct agenda_entry *entry)
{
    int64_t next;

    if (!agenda_next(&batch->agenda, &next) || next != entry->at)
        return false;
    agenda_push(&batch->agenda, entry->at, entry->what);
    return true;
}

static int batch_step(struct batch *batch, const struct agenda_entry *entry, struct err *err)
{
    uint32_t job = entry->what & ((1u << EVENT_SHIFT) - 1);

    batch->now = batch->totals->end = entry->at;
    batch->totals->events++;
    switch ((enum batch_event)(entry->what >> EVENT_SHIFT)) {
    case EVENT_CREATE:
        create_event(batch, job);
        break;
    case EVENT_READY:
        ready_event(batch, job);
        break;
    case EVENT_DONE:
        done_event(batch, job);
        break;
    case EVENT_TIMEOUT:
        timeout_event(batch, job);
        break;
    case EVENT_PLANNED: /* a planned start has come */
        window_want(batch);
        break;
    case EVENT_WINDOW:
        return window_event(batch, err);
    }
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------------- a run */

static void *array(uint32_t count, size_t size)
{
    void *items = mem_alloc(((size_t)count + 1) * size);

    memset(items, 0, ((size_t)count + 1) * size);
    return items;
}

static void clusters_open(struct batch *batch)
{
    const struct batch_park *park = batch->settings->park;

    batch->kind_of = array(park->clusters, sizeof *batch->kind_of);
    batch->kind_first = array(park->kind_count, sizeof *batch->kind_first);
    batch->free = array(park->clusters * BATCH_QUANTITIES, sizeof *batch->free);
    for (uint32_t i = 0; i < park->kind_count; i++) {
        const struct batch_kind *kind = &park->kinds[i];

        batch->kind_first[i] = batch->cluster_count;
        for (uint32_t n = 0; n < kind->count && (batch->settings->extra || !kind->extra); n++) {
            memcpy(batch->free + (size_t)batch->cluster_count * BATCH_QUANTITIES, kind->capacity,
                   sizeof kind->capacity);
            batch->kind_of[batch->cluster_count++] = i;
        }
    }
    batch->kind_first[park->kind_count] = batch->cluster_count;
    batch->processors = park_processors(park, batch->settings->extra);
}

static void batch_open(struct batch *batch)
{
    uint32_t count = batch->work->count;

    agenda_init(&batch->agenda);
    map_init(&batch->shape_map, 0);
    assign_result_init(&batch->result);
    arena_init(&batch->scratch);
    batch->since = -1;
    batch->by_duration = batch->settings->policy == BATCH_SJF ? 1 : batch->settings->policy == BATCH_LJF ? -1 : 0;
    batch->counts_rivals = batch->settings->policy == BATCH_SINGLES || batch->settings->policy == BATCH_SINGLES_MINSUM;
    batch->shape_of = array(count, sizeof *batch->shape_of);
    batch->entered = array(count, sizeof *batch->entered);
    batch->gone = array(count, sizeof *batch->gone);
    batch->cluster = array(count, sizeof *batch->cluster);
    batch->unmet = array(count, sizeof *batch->unmet);
    for (uint32_t i = 0; i < count; i++) {
        const struct batch_job *job = &batch->work->jobs[i];

        batch->unmet[i] = job->after_count;
        batch->outcomes[i] = (struct batch_outcome){-1, 0, job->after_count ? INT64_MAX : job->submit};
    }
    clusters_open(batch);
    if (!batch_policy_has_windows(batch->settings->policy))
        batch->backfill = backfill_new(&(struct backfill_settings){.policy = batch->settings->policy,
                                                                   .work = batch->work,
                                                                   .park = batch->settings->park,
                                                                   .kind_of = batch->kind_of,
                                                                   .kind_first = batch->kind_first,
                                                                   .cluster_count = batch->cluster_count});
    if (count && batch->work->jobs[0].submit <= batch->settings->horizon)
        agenda_push(&batch->agenda, batch->work->jobs[0].submit, (uint32_t)EVENT_CREATE << EVENT_SHIFT);
}

static void batch_close(struct batch *batch)
{
    agenda_done(&batch->agenda);
    backfill_free(batch->backfill);
    map_done(&batch->shape_map);
    assign_result_done(&batch->result);
    arena_done(&batch->scratch);
    for (uint32_t i = 0; i < batch->shape_count; i++)
        free(batch->shapes[i].heap);
    free(batch->shape_of);
    free(batch->entered);
    free(batch->gone);
    free(batch->cluster);
    free(batch->unmet);
    free(batch->shapes);
    free(batch->active);
    free(batch->kind_of);
    free(batch->kind_first);
    free(batch->free);
    free(batch->candidates);
}

int batch_run(const struct batch_settings *settings, struct batch_outcome *outcomes, struct batch_totals *ret,
              struct err *err)
{
    struct batch batch = {.settings = settings, .work = settings->work, .outcomes = outcomes, .totals = ret};
    struct agenda_entry entry;
    uint64_t shown = 0; /* work */
    int result = 0;

    *ret = (struct batch_totals){0};
    batch_open(&batch);
    while (result == 0 && agenda_pop(&batch.agenda, &entry) && entry.at <= settings->horizon) {
        if (entry.what >> EVENT_SHIFT == EVENT_WINDOW && window_waits(&batch, &entry))
            continue;
        result = batch_step(&batch, &entry, err);
        if (settings->progress && (ret->events % PROGRESS_EVERY == 0 || ret->work - shown >= PROGRESS_WORK)) {
            settings->progress(settings->user, batch.now, batch.come);
            shown = ret->work;
        }
    }
    batch_close(&batch);
    return result;
}
