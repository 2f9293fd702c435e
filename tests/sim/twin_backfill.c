/* twin_backfill.c: the queues of batch systems, which keep what is free as steps, start the same jobs at the same places and times as a plain simulation
 * that goes from second to second and tries each start for every job; and they keep what their names promise.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "common/rounds.h"
#include "common/tap.h"
#include "sim/batch.h"

#include "lang/base/rng.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define KINDS 3
#define JOBS 16
#define USERS 3
#define SECONDS 25 /* in which jobs come */
#define HORIZON (1000 * (int64_t)BATCH_SECOND)
#define NONE UINT32_MAX
#define NEVER INT64_MAX

struct world {
    struct rng rng;
    struct batch_park park;
    struct batch_work work;
    int64_t timeout;
};

static uint64_t below(struct world *world, uint64_t bound)
{
    return rng_below(&world->rng, bound);
}

static void world_init(struct world *world, uint64_t seed)
{
    uint32_t rows[3], job_count, kinds;
    bool one;

    rng_init(&world->rng, rng_mix(seed));
    job_count = 1 + (uint32_t)below(world, JOBS);
    one = below(world, 2);
    park_init(&world->park);
    work_init(&world->work);
    kinds = one ? 1 : 1 + (uint32_t)below(world, KINDS);
    for (uint32_t i = 0; i < kinds; i++) {
        struct batch_kind kind = {.count = one ? 1 : 1 + (uint32_t)below(world, 2)};

        snprintf(kind.name, sizeof kind.name, "k%u", i);
        kind.capacity[0] = (double)(2 + below(world, 7));
        kind.capacity[1] = below(world, 3) ? INFINITY : (double)(2 + below(world, 6));
        kind.capacity[2] = INFINITY;
        park_add(&world->park, &kind);
    }
    for (uint32_t i = 0; i < 3; i++) {
        struct assign_edge edges[KINDS + 1];
        uint32_t count = 0;

        for (uint32_t k = 0; k < world->park.kind_count; k++)
            if (one || below(world, 4))
                edges[count++] = (struct assign_edge){k, (double)below(world, 3), 0};
        rows[i] = work_row(&world->work, edges, count);
    }
    for (uint32_t i = 0; i < job_count; i++) {
        struct batch_job *job = work_add(&world->work);

        job->submit = (int64_t)below(world, SECONDS) * BATCH_SECOND;
        job->duration = (int64_t)(1 + below(world, 20)) * BATCH_SECOND;
        job->estimate = job->duration + (int64_t)(below(world, 2) ? 0 : below(world, 20)) * BATCH_SECOND;
        if (!below(world, 8))
            job->estimate = BATCH_SECOND; /* too short: it is not ended for that */
        job->asks[0] = (double)(1 + below(world, 8));
        job->asks[1] = (double)below(world, 4);
        job->row = rows[below(world, 3)];
        job->user = (uint32_t)below(world, USERS);
    }
    world->work.users = USERS;
    work_sort(&world->work);
    world->timeout = below(world, 3) ? 0 : (int64_t)(5 + below(world, 40)) * BATCH_SECOND;
}

static void world_done(struct world *world)
{
    park_done(&world->park);
    work_done(&world->work);
}

/* ------------------------------------------------------------------------------------------------- the plain simulation */

struct plain {
    const struct world *world;
    int64_t from[JOBS];   /* when the job starts, or is planned to; NEVER: neither */
    int64_t to[JOBS];     /* until when its room is taken, as far as is known */
    int64_t length[JOBS]; /* for how long it is taken to run */
    uint32_t where[JOBS];
    bool started[JOBS], gone[JOBS];
    bool later;        /* a plan has moved backward */
    uint64_t outlived; /* predictions */
};

static int64_t length_of(const struct batch_job *job)
{
    return job->estimate > job->duration ? job->estimate : job->duration;
}

static uint32_t cluster_kind(const struct world *world, uint32_t cluster)
{
    uint32_t kind = 0;

    while (cluster >= world->park.kinds[kind].count)
        cluster -= world->park.kinds[kind++].count;
    return kind;
}

static const struct assign_edge *edge_of(const struct world *world, uint32_t job, uint32_t kind)
{
    const struct assign_row *row = &world->work.problem.rows[world->work.jobs[job].row];

    for (uint32_t i = 0; i < row->count; i++)
        if (world->work.problem.edges[row->first + i].kind == kind)
            return &world->work.problem.edges[row->first + i];
    return NULL;
}

/* Does the job fit there in each second of its time, beside all that have room there? */
static bool fits(const struct plain *plain, uint32_t job, uint32_t cluster, int64_t at)
{
    const struct batch_work *work = &plain->world->work;
    const struct batch_kind *kind = &plain->world->park.kinds[cluster_kind(plain->world, cluster)];

    for (int64_t second = at; second < at + plain->length[job]; second += BATCH_SECOND)
        for (int q = 0; q < BATCH_QUANTITIES; q++) {
            double used = work->jobs[job].asks[q];

            for (uint32_t i = 0; i < work->count; i++)
                if (i != job && plain->from[i] != NEVER && plain->where[i] == cluster && plain->from[i] <= second &&
                    second < plain->to[i])
                    used += work->jobs[i].asks[q];
            if (used > kind->capacity[q])
                return false;
        }
    return true;
}

/* Gives the job the first start up to `latest`, at the place that it likes most then. */
static void plan(struct plain *plain, uint32_t job, int64_t now, int64_t latest)
{
    const struct world *world = plain->world;
    int64_t end = now;

    plain->from[job] = NEVER;
    for (uint32_t i = 0; i < world->work.count; i++) /* then all is free */
        end = plain->from[i] != NEVER && plain->to[i] > end ? plain->to[i] : end;
    for (int64_t at = now; at <= end && at <= latest && plain->from[job] == NEVER; at += BATCH_SECOND) {
        const struct assign_edge *best = NULL;

        for (uint32_t c = 0; c < world->park.clusters; c++) {
            const struct assign_edge *edge = edge_of(world, job, cluster_kind(world, c));

            if (!edge || (best && edge->weight <= best->weight) || !fits(plain, job, c, at))
                continue;
            best = edge;
            plain->where[job] = c;
            plain->from[job] = at;
        }
    }
    if (plain->from[job] != NEVER)
        plain->to[job] = plain->from[job] + plain->length[job];
}

/* ---------------------------------------------------------------------------------------------------------- predictions */

/* The job of that user that ended last before `before` did; NONE: there is none. Of those that ended at once it is the one that came last. */
static uint32_t ended_before(const struct plain *plain, uint32_t user, int64_t now, uint32_t before)
{
    const struct batch_job *jobs = plain->world->work.jobs;
    uint32_t best = NONE;

    for (uint32_t i = 0; i < plain->world->work.count; i++) {
        int64_t end = plain->started[i] ? plain->from[i] + jobs[i].duration : NEVER;

        if (jobs[i].user != user || end > now)
            continue;
        if (before != NONE && (end > plain->from[before] + jobs[before].duration ||
                               (end == plain->from[before] + jobs[before].duration && i >= before)))
            continue;
        if (best == NONE || end >= plain->from[best] + jobs[best].duration)
            best = i;
    }
    return best;
}

/* The mean of the last two of the user, in whole seconds. */
static int64_t predicted(const struct plain *plain, uint32_t job, int64_t now)
{
    const struct batch_job *jobs = plain->world->work.jobs;
    uint32_t last = ended_before(plain, jobs[job].user, now, NONE),
             other = last == NONE ? NONE : ended_before(plain, jobs[job].user, now, last);
    int64_t seconds;

    if (other == NONE)
        return length_of(&jobs[job]);
    seconds = (jobs[last].duration + jobs[other].duration) / BATCH_SECOND / 2;
    return seconds * BATCH_SECOND < length_of(&jobs[job]) ? seconds * BATCH_SECOND : length_of(&jobs[job]);
}

/* Predictions for those that come, and those that have been outlived. */
static void predict(struct plain *plain, int64_t now)
{
    const struct batch_work *work = &plain->world->work;

    for (uint32_t i = 0; i < work->count; i++) {
        if (work->jobs[i].submit == now)
            plain->length[i] = predicted(plain, i, now);
        while (plain->started[i] && plain->from[i] + work->jobs[i].duration > now &&
               plain->from[i] + plain->length[i] <= now) {
            plain->length[i] *= 2;
            if (plain->length[i] > length_of(&work->jobs[i]))
                plain->length[i] = length_of(&work->jobs[i]);
            plain->to[i] = plain->from[i] + plain->length[i];
            plain->outlived++;
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------ decisions */

static bool waits(const struct plain *plain, uint32_t job, int64_t now)
{
    const struct world *world = plain->world;
    bool possible = false;

    for (uint32_t k = 0; k < world->park.kind_count; k++)
        possible =
            possible || (edge_of(world, job, k) && world->work.jobs[job].asks[0] <= world->park.kinds[k].capacity[0] &&
                         world->work.jobs[job].asks[1] <= world->park.kinds[k].capacity[1]);
    return possible && !plain->started[job] && !plain->gone[job] && world->work.jobs[job].submit <= now;
}

static void decide(struct plain *plain, enum batch_policy policy, int64_t now, bool freed)
{
    uint32_t count = plain->world->work.count, held = NONE;

    for (uint32_t i = 0; i < count; i++) {
        int64_t before = plain->from[i];

        if (!waits(plain, i, now))
            continue;
        if (policy == BATCH_CONSERVATIVE) {
            if (before == NEVER || freed)
                plan(plain, i, now, NEVER);
            plain->later = plain->later || plain->from[i] > before;
        } else {
            plan(plain, i, now, now);
        }
        plain->started[i] = plain->from[i] == now;
        if (plain->started[i] || policy == BATCH_CONSERVATIVE || held != NONE)
            continue;
        if (policy == BATCH_STRICT)
            return;
        held = i;
        plan(plain, i, now, NEVER);
    }
    if (held != NONE)
        plain->from[held] = NEVER;
}

static void plain_run(struct plain *plain, enum batch_policy policy, int64_t horizon)
{
    const struct batch_work *work = &plain->world->work;

    for (uint32_t i = 0; i < work->count; i++) {
        plain->from[i] = NEVER;
        plain->length[i] = length_of(&work->jobs[i]);
    }
    for (int64_t now = 0; now <= horizon; now += BATCH_SECOND) {
        bool freed = false;

        for (uint32_t i = 0; i < work->count; i++) {
            const struct batch_job *job = &work->jobs[i];

            if (plain->started[i] && plain->from[i] + job->duration == now) {
                freed = freed || plain->to[i] > now;
                plain->to[i] = now;
            }
            if (plain->world->timeout && job->submit + plain->world->timeout == now && !plain->started[i]) {
                freed = freed || plain->from[i] != NEVER;
                plain->from[i] = NEVER;
                plain->gone[i] = true;
            }
        }
        if (policy == BATCH_PREDICTED)
            predict(plain, now);
        decide(plain, policy, now, freed);
    }
}

/* ----------------------------------------------------------------------------------------------------------------- laws */

/* In strict order nobody starts before one that came before him and could run. */
static bool in_order(const struct plain *plain)
{
    int64_t latest = 0;

    for (uint32_t i = 0; i < plain->world->work.count; i++)
        if (plain->started[i]) {
            if (plain->from[i] < latest)
                return false;
            latest = plain->from[i];
        }
    return true;
}

int main(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(1000);

    for (enum batch_policy policy = BATCH_STRICT; policy < BATCH_POLICY_COUNT; policy++) {
        bool same = true, ordered = true, forward = true;
        uint64_t passed = 0, starts = 0, outlived = 0;

        for (uint64_t i = 0; i < rounds && same; i++) {
            struct batch_outcome outcomes[JOBS + 1];
            struct batch_totals totals;
            struct plain plain = {0};
            struct world world;
            struct err err = {0};
            uint32_t bad = NONE;

            world_init(&world, seed + i);
            plain.world = &world;
            same = batch_run(&(struct batch_settings){.work = &world.work,
                                                      .park = &world.park,
                                                      .policy = policy,
                                                      .window = {BATCH_SECOND, BATCH_SECOND},
                                                      .timeout = world.timeout,
                                                      .horizon = HORIZON},
                             outcomes, &totals, &err) == 0;
            plain_run(&plain, policy, HORIZON);
            for (uint32_t k = 0; k < world.work.count && bad == NONE; k++) {
                if (outcomes[k].start != (plain.started[k] ? plain.from[k] : -1) ||
                    (plain.started[k] && outcomes[k].kind != cluster_kind(&world, plain.where[k])))
                    bad = k;
                starts += plain.started[k];
            }
            for (uint32_t k = 1; k < world.work.count; k++)
                passed += plain.started[k] && plain.started[k - 1] && plain.from[k] < plain.from[k - 1];
            same = same && bad == NONE;
            ordered = ordered && (policy != BATCH_STRICT || world.timeout || in_order(&plain));
            forward = forward && !plain.later;
            outlived += plain.outlived;
            if (bad != NONE)
                tap_diag("seed %" PRIu64 ", job %" PRIu32 ": starts at %" PRId64
                         ", and where each start is tried at %" PRId64,
                         seed + i, bad, outcomes[bad].start, plain.started[bad] ? plain.from[bad] : -1);
            world_done(&world);
        }
        tap_ok(same, "%s: jobs start where and when they do if each start is tried", batch_policy_names[policy]);
        tap_ok(starts > rounds && (policy == BATCH_STRICT ? ordered : passed > rounds / 4), "%s: %s",
               batch_policy_names[policy], policy == BATCH_STRICT ? "nobody passes" : "many pass");
        if (policy == BATCH_CONSERVATIVE)
            tap_ok(forward, "conservative: no plan moves backward");
        if (policy == BATCH_PREDICTED)
            tap_ok(outlived > rounds / 4, "predicted: many predictions are outlived, and corrected");
    }
    return tap_done();
}
