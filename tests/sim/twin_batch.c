/* twin_batch.c: the batch simulator, which passes windows over, keeps jobs by shapes and looks at few of them, does what a plain loop does
 * that settles everybody who waits at every window; and whatever the policy is, what it places fits.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "common/rounds.h"
#include "common/tap.h"
#include "sim/batch.h"
#include "sim/figures.h"

#include "lang/base/mem.h"
#include "lang/base/rng.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define KINDS 4
#define JOBS 120
#define SECONDS 4000

struct world {
    struct rng rng;
    struct batch_park park;
    struct batch_work work;
    int64_t window, timeout, horizon;
};

static uint64_t below(struct world *world, uint64_t bound)
{
    return rng_below(&world->rng, bound);
}

static void world_init(struct world *world, uint64_t seed)
{
    uint32_t rows[6], job_count = 1 + (uint32_t)below((rng_init(&world->rng, rng_mix(seed)), world), JOBS);
    bool whole = below(world, 2), chained = below(world, 3) == 0;

    park_init(&world->park);
    work_init(&world->work);
    for (uint32_t i = 0; i < 1 + below(world, KINDS); i++) {
        struct batch_kind kind = {.count = 1 + (uint32_t)below(world, 3)};

        snprintf(kind.name, sizeof kind.name, "k%u", i);
        kind.capacity[0] = (double)(1 + below(world, 12));
        kind.capacity[1] = below(world, 3) ? (double)(50 + below(world, 400)) : INFINITY;
        kind.capacity[2] = INFINITY;
        park_add(&world->park, &kind);
    }
    for (uint32_t i = 0; i < 6; i++) {
        struct assign_edge edges[KINDS + 1];
        uint32_t count = 0;

        for (uint32_t k = 0; k < world->park.kind_count; k++)
            if (below(world, 3))
                edges[count++] = (struct assign_edge){k, (double)below(world, 3), (double)below(world, 3)};
        rows[i] = work_row(&world->work, edges, count);
    }
    for (uint32_t i = 0; i < job_count; i++) {
        struct batch_job *job = work_add(&world->work);

        job->submit = (int64_t)below(world, SECONDS / 2) * BATCH_SECOND + (whole ? 0 : (int64_t)below(world, 1000000));
        job->duration = (int64_t)below(world, 600) * BATCH_SECOND;
        job->estimate = below(world, 2) ? job->duration : (int64_t)below(world, 4) * 100 * BATCH_SECOND;
        job->asks[0] = (double)below(world, 6);
        job->asks[1] =
            below(world, 2) ? (double)below(world, 5) * 20 : 0.125 * (double)below(world, 800); /* sums are exact */
        job->row = rows[below(world, 6)];
        job->think = chained && below(world, 2) ? (int64_t)below(world, 100) * BATCH_SECOND : 0;
        for (uint32_t k = 0; chained && i > 0 && k < below(world, 4); k++)
            work_after(&world->work, 1 + (uint32_t)below(world, i));
    }
    work_sort(&world->work);
    if (work_link(&world->work, true, NULL) < 0)
        abort();
    world->window = (int64_t)(below(world, 2) ? 1 : 1 + below(world, 200)) * BATCH_SECOND;
    world->timeout = below(world, 2) ? (int64_t)(1 + below(world, 900)) * BATCH_SECOND : 0;
    world->horizon = (int64_t)(SECONDS / 2 + below(world, SECONDS)) * BATCH_SECOND;
}

static void world_done(struct world *world)
{
    park_done(&world->park);
    work_done(&world->work);
}

/* ----------------------------------------------------------------------------------------------------------- the plain loop */

static uint32_t cluster_kind(const struct world *world, uint32_t cluster)
{
    uint32_t kind = 0;

    while (cluster >= world->park.kinds[kind].count)
        cluster -= world->park.kinds[kind++].count;
    return kind;
}

/* From when on a job may start; INT64_MAX: it waits for others. */
static int64_t plain_ready(const struct batch_work *work, const struct batch_outcome *outcomes, uint32_t place)
{
    const struct batch_job *job = &work->jobs[place];
    int64_t last = job->submit;

    for (uint32_t i = 0; i < job->after_count; i++) {
        uint32_t before = work->after[job->after + i];

        if (outcomes[before].start < 0)
            return INT64_MAX;
        if (last < outcomes[before].start + work->jobs[before].duration + job->think)
            last = outcomes[before].start + work->jobs[before].duration + job->think;
    }
    return last;
}

/* Has the job gone by then, or one that it waits for? */
static bool plain_gone(const struct world *world, const struct batch_outcome *outcomes, uint32_t place, int64_t now)
{
    const struct batch_job *job = &world->work.jobs[place];
    int64_t ready = plain_ready(&world->work, outcomes, place);

    if (!world->timeout || outcomes[place].start >= 0)
        return false;
    for (uint32_t i = 0; i < job->after_count; i++)
        if (plain_gone(world, outcomes, world->work.after[job->after + i], now))
            return true;
    return ready <= now && ready + world->timeout <= now;
}

static void plain_run(struct world *world, enum assign_policy policy, struct batch_outcome *outcomes)
{
    struct batch_work *work = &world->work;
    uint32_t clusters = world->park.clusters, *where = mem_alloc((work->count + 1) * sizeof *where);
    uint32_t *asked = mem_alloc((work->count + 1) * sizeof *asked);
    struct assign_result result;
    struct arena scratch;

    assign_result_init(&result);
    arena_init(&scratch);
    for (uint32_t i = 0; i < work->count; i++)
        outcomes[i] = (struct batch_outcome){.start = -1};
    for (int64_t now = 0; now <= world->horizon; now += world->window) {
        struct assign_problem *problem = &work->problem;

        assign_problem_next(problem);
        for (uint32_t c = 0; c < clusters; c++) {
            uint32_t kind = cluster_kind(world, c);
            double free[BATCH_QUANTITIES];

            memcpy(free, world->park.kinds[kind].capacity, sizeof free);
            for (uint32_t i = 0; i < work->count; i++)
                if (outcomes[i].start >= 0 && where[i] == c && outcomes[i].start + work->jobs[i].duration > now)
                    for (int q = 0; q < BATCH_QUANTITIES; q++)
                        free[q] = fmax(0, free[q] - work->jobs[i].asks[q]);
            assign_add_offer(problem, kind, free);
        }
        for (uint32_t i = 0; i < work->count; i++) {
            const struct batch_job *job = &work->jobs[i];
            int64_t ready = plain_ready(work, outcomes, i);

            if (ready > now || outcomes[i].start >= 0 || plain_gone(world, outcomes, i, now))
                continue;
            asked[assign_add_request(problem, job->row, job->asks, (double)job->estimate / BATCH_SECOND,
                                     (double)(now / world->window - (ready + world->window - 1) / world->window))] = i;
        }
        if (assign_solve(&scratch, policy, problem, NULL, &result, NULL) < 0)
            abort();
        for (uint32_t i = 0; i < result.count; i++) {
            uint32_t job = asked[result.pairs[i].request];

            where[job] = result.pairs[i].offer;
            outcomes[job].start = now;
            outcomes[job].kind = cluster_kind(world, result.pairs[i].offer);
        }
    }
    assign_result_done(&result);
    arena_done(&scratch);
    free(where);
    free(asked);
}

/* -------------------------------------------------------------------------------------------------------------- laws */

/* At every start, the clusters of a kind together have what runs there, and each job is where it may be. */
static bool outcomes_fit(const struct world *world, const struct batch_outcome *outcomes)
{
    const struct batch_work *work = &world->work;

    for (uint32_t i = 0; i < work->count; i++) {
        int64_t now = outcomes[i].start;
        const struct assign_row *row = &work->problem.rows[work->jobs[i].row];
        const struct batch_kind *kind = &world->park.kinds[outcomes[i].kind];
        double used[BATCH_QUANTITIES] = {0};
        bool may = false;

        if (now < 0)
            continue;
        if (now < work->jobs[i].submit || now > world->horizon || outcomes[i].ready != plain_ready(work, outcomes, i) ||
            now < outcomes[i].ready || (world->timeout && now >= outcomes[i].ready + world->timeout))
            return false;
        for (uint32_t e = 0; e < row->count; e++)
            may = may || work->problem.edges[row->first + e].kind == outcomes[i].kind;
        for (uint32_t k = 0; k < work->count; k++)
            if (outcomes[k].start >= 0 && outcomes[k].kind == outcomes[i].kind && outcomes[k].start <= now &&
                outcomes[k].start + work->jobs[k].duration > now)
                for (int q = 0; q < BATCH_QUANTITIES; q++)
                    used[q] += work->jobs[k].asks[q];
        for (int q = 0; q < BATCH_QUANTITIES; q++)
            if (!may || used[q] > kind->capacity[q] * kind->count * (1 + 1e-6))
                return false;
    }
    return true;
}

static bool outcomes_same(const struct world *world, const struct batch_outcome *a, const struct batch_outcome *b,
                          uint32_t *ret_job)
{
    for (uint32_t i = 0; i < world->work.count; i++)
        if (a[i].start != b[i].start || (a[i].start >= 0 && a[i].kind != b[i].kind)) {
            *ret_job = i;
            return false;
        }
    return true;
}

/* Is it the slowdown of one of those that are done, and the least that so many parts of a hundred do not exceed? */
static bool is_quantile(const struct figures_settings *settings, int64_t time, double slowdown, uint64_t parts)
{
    uint64_t done = 0, below = 0, within = 0;

    for (uint32_t i = 0; i < settings->work->count; i++) {
        const struct batch_job *job = &settings->work->jobs[i];
        const struct batch_outcome *outcome = &settings->outcomes[i];
        double run = (double)(job->duration > settings->bound ? job->duration : settings->bound), own;

        if (outcome->start < 0 || outcome->start + job->duration > time)
            continue;
        own = fmax(1, (double)(outcome->start - outcome->ready + job->duration) / run);
        done++;
        below += own < slowdown;
        within += own <= slowdown;
    }
    return done ? below * 100 < done * parts && within * 100 >= done * parts : slowdown == 0;
}

/* What is submitted is done, runs, waits or went; the parts of the time add up to the whole. */
static bool figures_add_up(const struct world *world, const struct batch_outcome *outcomes)
{
    struct figures_settings settings = {.work = &world->work,
                                        .outcomes = outcomes,
                                        .processors = park_processors(&world->park, false),
                                        .timeout = world->timeout,
                                        .bound = 10 * BATCH_SECOND,
                                        .starved = 3600ll * BATCH_SECOND};
    double figures[FIGURE_COUNT], queue[50] = {0}, busy[50] = {0}, mean = 0;

    figures_at(&settings, world->horizon, figures);
    figures_series(&settings, world->horizon, 50, queue, busy);
    for (int i = 0; i < 50; i++)
        mean += busy[i] / 50;
    return fabs(figures[FIGURE_COMPLETED] + figures[FIGURE_SCHEDULED] + figures[FIGURE_WAITING] +
                figures[FIGURE_TIMED_OUT] - 100) < 1e-9 &&
           figures[FIGURE_UTILISATION] <= 100 * (1 + 1e-9) &&
           is_quantile(&settings, world->horizon, figures[FIGURE_SLOWDOWN_MEDIAN], 50) &&
           is_quantile(&settings, world->horizon, figures[FIGURE_SLOWDOWN_99], 99) &&
           fabs(mean - figures[FIGURE_UTILISATION] / 100 * settings.processors) < 1e-6;
}

/* Is there a plain loop for it? Those without windows have their own, in twin_backfill.c. */
static bool policy_is_exact(enum batch_policy policy)
{
    return batch_policy_has_windows(policy) && policy != BATCH_LBM && policy != BATCH_OPTIMAL;
}

int main(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(100);

    for (enum batch_policy policy = 0; policy < BATCH_POLICY_COUNT; policy++) {
        uint64_t count = policy_is_exact(policy) ? rounds : (rounds + 9) / 10;
        bool same = true, fits = true, adds = true;
        struct batch_totals totals;
        struct err err = {0};

        for (uint64_t i = 0; i < count && same && fits && adds; i++) {
            struct world world;
            struct batch_outcome *outcomes, *plain;
            uint32_t job = 0;

            world_init(&world, seed + i);
            outcomes = mem_alloc((world.work.count + 1) * sizeof *outcomes);
            plain = mem_alloc((world.work.count + 1) * sizeof *plain);
            if (batch_run(&(struct batch_settings){.work = &world.work,
                                                   .park = &world.park,
                                                   .policy = policy,
                                                   .window = {world.window, world.window},
                                                   .timeout = world.timeout,
                                                   .horizon = world.horizon},
                          outcomes, &totals, &err) < 0) {
                tap_diag("seed %" PRIu64 ": %s", seed + i, err.text);
                fits = false;
            }
            fits = fits && outcomes_fit(&world, outcomes);
            adds = figures_add_up(&world, outcomes);
            if (policy_is_exact(policy)) {
                plain_run(&world, (enum assign_policy)policy, plain);
                same = outcomes_same(&world, outcomes, plain, &job);
            }
            if (!same || !fits || !adds)
                tap_diag("seed %" PRIu64 ", job %" PRIu32 ": starts at %" PRId64 ", and in the plain loop at %" PRId64,
                         seed + i, job, outcomes[job].start, plain[job].start);
            free(outcomes);
            free(plain);
            world_done(&world);
        }
        if (policy_is_exact(policy))
            tap_ok(same, "%s: what is passed over changes nothing", batch_policy_names[policy]);
        tap_ok(fits, "%s: what runs fits, where it may run, and in its time", batch_policy_names[policy]);
        tap_ok(adds, "%s: the figures add up", batch_policy_names[policy]);
    }
    return tap_done();
}
