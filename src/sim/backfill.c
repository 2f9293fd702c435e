/* backfill.c: the queues of batch systems: strict order, EASY (by what users say, or by predictions) and conservative back-fill. */
#include "sim/backfill.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "sim/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define NEVER INT64_MAX

/* What is free of a cluster from a time on. */
struct step {
    int64_t at;
    double free[BATCH_QUANTITIES];
};

/* Steps in the order of their times; the last one holds for ever, and then all is free. */
struct profile {
    struct step *steps;
    uint32_t count, room;
};

/* Where a job is in the queue, and what is planned for it. */
struct place {
    uint32_t before, after;
    uint32_t cluster; /* where it runs, or is planned to; NONE: neither */
    int64_t start;
    int64_t length; /* for how long it has its room, as far as anybody knows; 0: not known yet */
    bool waits;
    bool done;
};

struct backfill {
    struct backfill_settings settings;
    struct profile *profiles; /* by cluster */
    struct place *places;     /* by job */
    uint32_t first, last;     /* of the queue */
    bool moves;               /* a job has gone before its time: plans may move forward */
    int64_t next;             /* the first planned start, or predicted end */
    struct predictor predictor;
    uint32_t *running, running_count, running_room; /* under BATCH_PREDICTED; of jobs that are done some too */
    uint64_t work;
};

/* ------------------------------------------------------------------------------------------------------------- profiles */

static int64_t time_add(int64_t at, int64_t span)
{
    return at > NEVER - span ? NEVER : at + span;
}

/* The step that begins at that time, which is made if there is none. */
static uint32_t profile_split(struct profile *profile, int64_t at)
{
    uint32_t low = 0, high = profile->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (profile->steps[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < profile->count && profile->steps[low].at == at)
        return low;
    if (profile->count == profile->room) {
        profile->room *= 2;
        profile->steps = mem_grow(profile->steps, profile->room * sizeof *profile->steps);
    }
    memmove(&profile->steps[low + 1], &profile->steps[low], (profile->count - low) * sizeof *profile->steps);
    profile->count++;
    profile->steps[low] = profile->steps[low - 1]; /* the first step is before any time that is asked for */
    profile->steps[low].at = at;
    return low;
}

/* Joins steps between which nothing changes. */
static void profile_join(struct profile *profile, uint32_t from, uint32_t to)
{
    uint32_t kept = from ? from : 1;

    to = to < profile->count ? to : profile->count - 1;
    for (uint32_t i = kept; i <= to; i++)
        if (memcmp(profile->steps[i].free, profile->steps[kept - 1].free, sizeof profile->steps[i].free) != 0)
            profile->steps[kept++] = profile->steps[i];
    if (kept > to)
        return;
    memmove(&profile->steps[kept], &profile->steps[to + 1], (profile->count - to - 1) * sizeof *profile->steps);
    profile->count -= to + 1 - kept;
}

/* What was before is of no interest any more. */
static void profile_trim(struct profile *profile, int64_t now)
{
    uint32_t past = 0;

    while (past + 1 < profile->count && profile->steps[past + 1].at <= now)
        past++;
    if (!past)
        return;
    memmove(profile->steps, profile->steps + past, (profile->count - past) * sizeof *profile->steps);
    profile->count -= past;
}

/* Cuts that much out of a span, or gives it back. Sums of fractions drift by a last bit; assign_fits forgives a billionth. */
static void profile_change(struct profile *profile, int64_t from, int64_t to, const double *asks,
                           const double *capacity, bool back)
{
    uint32_t first, end;

    if (from >= to)
        return;
    first = profile_split(profile, from);
    end = profile_split(profile, to);
    for (uint32_t i = first; i < end; i++)
        for (int q = 0; q < BATCH_QUANTITIES; q++) {
            double *free = &profile->steps[i].free[q];

            *free = back ? fmin(capacity[q], *free + asks[q]) : *free > asks[q] ? *free - asks[q] : 0;
        }
    profile_join(profile, first, end);
}

/* The first time from `now` on, and not after `latest`, at which that much is free for so long; NEVER: there is none. */
static int64_t profile_find(struct backfill *backfill, const struct profile *profile, const double *asks,
                            int64_t length, int64_t now, int64_t latest)
{
    int64_t at = now;

    for (uint32_t i = 0; i < profile->count && profile->steps[i].at < time_add(at, length); i++) {
        backfill->work++;
        if (assign_fits(asks, profile->steps[i].free, BATCH_QUANTITIES))
            continue;
        if (i + 1 == profile->count || profile->steps[i + 1].at > latest)
            return NEVER;
        at = profile->steps[i + 1].at;
    }
    return at;
}

/* ----------------------------------------------------------------------------------------------------------------- jobs */

/* For how long the job has its room at most. */
static int64_t job_limit(const struct batch_job *job)
{
    int64_t limit = job->estimate > job->duration ? job->estimate : job->duration;

    return limit > 0 ? limit : 1;
}

static bool is_predicted(const struct backfill *backfill)
{
    return backfill->settings.policy == BATCH_PREDICTED;
}

/* A prediction is made when the job is looked at first: after all that happened when it came. */
static int64_t job_length(struct backfill *backfill, uint32_t job)
{
    const struct batch_job *asked = &backfill->settings.work->jobs[job];
    struct place *place = &backfill->places[job];

    if (!place->length)
        place->length = is_predicted(backfill) ? predictor_length(&backfill->predictor, asked->user, job_limit(asked))
                                               : job_limit(asked);
    return place->length;
}

static const double *capacity_of(const struct backfill *backfill, uint32_t cluster)
{
    return backfill->settings.park->kinds[backfill->settings.kind_of[cluster]].capacity;
}

/* Cuts the job out of its cluster's free room from its start on; or gives back what is left of it from then on. */
static void job_cut(struct backfill *backfill, uint32_t job, int64_t from, bool back)
{
    const struct batch_job *asked = &backfill->settings.work->jobs[job];
    const struct place *place = &backfill->places[job];

    profile_change(&backfill->profiles[place->cluster], from, time_add(place->start, job_length(backfill, job)),
                   asked->asks, capacity_of(backfill, place->cluster), back);
}

/* Finds the first start for the job, not after `latest`; of several clusters where that is the same, the one that it ranks highest. False: there is
 * none. */
static bool job_plan(struct backfill *backfill, uint32_t job, int64_t now, int64_t latest)
{
    const struct batch_job *asked = &backfill->settings.work->jobs[job];
    const struct assign_problem *problem = &backfill->settings.work->problem;
    const struct assign_row *row = &problem->rows[asked->row];
    struct place *place = &backfill->places[job];
    int64_t length = job_length(backfill, job);
    double best = 0;

    place->start = NEVER;
    place->cluster = NONE;
    for (uint32_t i = 0; i < row->count; i++) {
        const struct assign_edge *edge = &problem->edges[row->first + i];

        for (uint32_t c = backfill->settings.kind_first[edge->kind]; c < backfill->settings.kind_first[edge->kind + 1];
             c++) {
            int64_t at = profile_find(backfill, &backfill->profiles[c], asked->asks, length, now, latest);

            if (at > place->start || at == NEVER || (at == place->start && edge->weight <= best))
                continue;
            place->start = at;
            place->cluster = c;
            best = edge->weight;
        }
    }
    return place->cluster != NONE;
}

static bool job_fits_somewhere(const struct backfill *backfill, const struct batch_job *job)
{
    const struct assign_problem *problem = &backfill->settings.work->problem;
    const struct assign_row *row = &problem->rows[job->row];

    for (uint32_t i = 0; i < row->count; i++) {
        uint32_t kind = problem->edges[row->first + i].kind;

        if (backfill->settings.kind_first[kind] < backfill->settings.kind_first[kind + 1] &&
            assign_fits(job->asks, backfill->settings.park->kinds[kind].capacity, BATCH_QUANTITIES))
            return true;
    }
    return false;
}

static void job_unqueue(struct backfill *backfill, uint32_t job)
{
    struct place *place = &backfill->places[job];

    *(place->before != NONE ? &backfill->places[place->before].after : &backfill->first) = place->after;
    *(place->after != NONE ? &backfill->places[place->after].before : &backfill->last) = place->before;
    place->waits = false;
}

/* ---------------------------------------------------------------------------------------------------------------- queue */

struct backfill *backfill_new(const struct backfill_settings *settings)
{
    struct backfill *backfill = mem_alloc(sizeof *backfill);

    *backfill = (struct backfill){.settings = *settings, .first = NONE, .last = NONE};
    backfill->profiles = mem_alloc(((size_t)settings->cluster_count + 1) * sizeof *backfill->profiles);
    backfill->places = mem_alloc(((size_t)settings->work->count + 1) * sizeof *backfill->places);
    for (uint32_t i = 0; i < settings->work->count; i++)
        backfill->places[i] = (struct place){.cluster = NONE};
    for (uint32_t i = 0; i < settings->cluster_count; i++) {
        struct profile *profile = &backfill->profiles[i];

        *profile = (struct profile){.count = 1, .room = 4};
        profile->steps = mem_alloc(profile->room * sizeof *profile->steps);
        profile->steps[0].at = INT64_MIN;
        memcpy(profile->steps[0].free, capacity_of(backfill, i), sizeof profile->steps[0].free);
    }
    predictor_init(&backfill->predictor, settings->work->users);
    return backfill;
}

void backfill_free(struct backfill *backfill)
{
    if (!backfill)
        return;
    for (uint32_t i = 0; i < backfill->settings.cluster_count; i++)
        free(backfill->profiles[i].steps);
    predictor_done(&backfill->predictor);
    free(backfill->running);
    free(backfill->profiles);
    free(backfill->places);
    free(backfill);
}

/* One that no cluster could ever take stands beside the queue: nobody waits for it. */
void backfill_come(struct backfill *backfill, uint32_t job)
{
    if (!job_fits_somewhere(backfill, &backfill->settings.work->jobs[job]))
        return;
    backfill->places[job] = (struct place){.before = backfill->last, .after = NONE, .cluster = NONE, .waits = true};
    *(backfill->last != NONE ? &backfill->places[backfill->last].after : &backfill->first) = job;
    backfill->last = job;
}

void backfill_leave(struct backfill *backfill, uint32_t job)
{
    struct place *place = &backfill->places[job];

    if (!place->waits)
        return;
    if (place->cluster != NONE) {
        job_cut(backfill, job, place->start, true);
        backfill->moves = true;
    }
    job_unqueue(backfill, job);
}

void backfill_done(struct backfill *backfill, uint32_t job, int64_t now)
{
    const struct batch_job *asked = &backfill->settings.work->jobs[job];
    struct place *place = &backfill->places[job];

    place->done = true;
    predictor_learn(&backfill->predictor, asked->user, job, now, asked->duration);
    if (now >= time_add(place->start, place->length))
        return;
    job_cut(backfill, job, now, true);
    backfill->moves = true;
}

/* The job's start has come: what is cut out for it stays so while it runs. */
static void job_begin(struct backfill *backfill, uint32_t job, backfill_start_fn *start, void *user)
{
    job_unqueue(backfill, job);
    if (is_predicted(backfill)) {
        ARRAY_ROOM(backfill->running, backfill->running_count, backfill->running_room, 64);
        backfill->running[backfill->running_count++] = job;
    }
    start(user, job, backfill->places[job].cluster);
}

/* A job that outlives its prediction is taken for twice as long, and never for longer than its limit. There is room for what is cut out for it: it has been
 * there all the time, and so have those beside it. */
static void running_correct(struct backfill *backfill, int64_t now)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < backfill->running_count; i++) {
        uint32_t job = backfill->running[i];
        struct place *place = &backfill->places[job];
        int64_t limit = job_limit(&backfill->settings.work->jobs[job]);

        if (place->done)
            continue;
        backfill->running[kept++] = job;
        if (time_add(place->start, place->length) > now)
            continue;
        while (time_add(place->start, place->length) <= now)
            place->length = place->length < limit - place->length ? 2 * place->length : limit;
        job_cut(backfill, job, now, false);
    }
    backfill->running_count = kept;
}

/* When the next of those that run is expected to end: if it does not, plans are others. */
static int64_t running_next(const struct backfill *backfill)
{
    int64_t next = NEVER;

    for (uint32_t i = 0; i < backfill->running_count; i++) {
        const struct place *place = &backfill->places[backfill->running[i]];
        int64_t end = time_add(place->start, place->length);

        next = end < next ? end : next;
    }
    return next;
}

/* All have plans: one that comes has the first that is left, and when something was given back, each moves forward as far as the others let it, in their
 * order. So one may be planned for the end of another that has moved away since: nothing happens then but its start. */
static void decide_conservative(struct backfill *backfill, int64_t now, backfill_start_fn *start, void *user)
{
    for (uint32_t job = backfill->first, next; job != NONE; job = next) {
        struct place *place = &backfill->places[job];

        next = place->after;
        if (place->cluster == NONE || backfill->moves) {
            if (place->cluster != NONE)
                job_cut(backfill, job, place->start, true);
            if (!job_plan(backfill, job, now, NEVER)) /* at the end of time */
                continue;
            job_cut(backfill, job, place->start, false);
        }
        if (place->start <= now)
            job_begin(backfill, job, start, user);
        else if (place->start < backfill->next)
            backfill->next = place->start;
    }
    backfill->moves = false;
}

/* Nobody passes the first that finds no room; or (easy, predicted) only who leaves it its plan. */
static void decide_in_order(struct backfill *backfill, int64_t now, backfill_start_fn *start, void *user)
{
    uint32_t held = NONE; /* the first that finds no room */

    for (uint32_t job = backfill->first, next; job != NONE; job = next) {
        next = backfill->places[job].after;
        if (job_plan(backfill, job, now, now)) {
            job_cut(backfill, job, now, false);
            job_begin(backfill, job, start, user);
        } else if (held == NONE) {
            if (backfill->settings.policy == BATCH_STRICT || !job_plan(backfill, job, now, NEVER))
                return;
            held = job;
            job_cut(backfill, job, backfill->places[job].start, false);
        }
    }
    if (held == NONE)
        return;
    backfill->next = running_next(backfill);
    job_cut(backfill, held, backfill->places[held].start, true); /* until the next time, when it may be earlier */
    backfill->places[held].cluster = NONE;
}

uint64_t backfill_decide(struct backfill *backfill, int64_t now, backfill_start_fn *start, void *user,
                         int64_t *ret_next)
{
    backfill->work = 0;
    backfill->next = NEVER;
    for (uint32_t i = 0; i < backfill->settings.cluster_count; i++)
        profile_trim(&backfill->profiles[i], now);
    running_correct(backfill, now);
    if (backfill->settings.policy == BATCH_CONSERVATIVE)
        decide_conservative(backfill, now, start, user);
    else
        decide_in_order(backfill, now, start, user);
    *ret_next = backfill->next;
    return backfill->work;
}
