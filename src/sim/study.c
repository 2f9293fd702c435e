/* study.c: runs all variants of a study, and keeps their figures. */
#include "sim/study.h"

#include "lang/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOUR (3600.0 * BATCH_SECOND)

/* Passes on the progress of a run. */
struct watcher {
    const struct study_settings *settings;
    const struct study_variant *variant;
    uint64_t run;
};

static double watcher_clock(void *user)
{
    const struct watcher *watcher = user;

    return watcher->settings->clock(watcher->settings->user);
}

static void watcher_progress(void *user, int64_t now, uint32_t jobs)
{
    const struct watcher *watcher = user;

    (void)jobs;
    watcher->settings->progress(watcher->settings->user, watcher->run, watcher->variant, now);
}

static void variants_list(const struct study_settings *settings, struct study *study)
{
    const struct plan *plan = settings->plan;
    uint32_t sides = settings->extra ? 2 : 1;

    study->variants = mem_alloc((size_t)sides * plan->timeout_count * plan->policy_count * sizeof *study->variants);
    for (uint32_t side = 0; side < sides; side++)
        for (uint32_t t = 0; t < plan->timeout_count; t++)
            for (uint32_t p = 0; p < plan->policy_count; p++) {
                struct study_variant *variant = &study->variants[study->variant_count++];

                memset(variant, 0, sizeof *variant);
                variant->policy = plan->policies[p];
                variant->window = plan->windows[plan->policies[p]];
                variant->timeout = plan->timeouts[t];
                variant->extra = side == 1;
                variant->waits = mem_alloc(sizeof *variant->waits);
                memset(variant->waits, 0, sizeof *variant->waits);
                for (uint32_t h = 0; h < study->hour_count; h++)
                    variant->rows[h].hours = study->hours[h];
            }
}

static void totals_add(struct batch_totals *sum, const struct batch_totals *one)
{
    sum->events += one->events;
    sum->windows += one->windows;
    sum->work += one->work;
    sum->most_work = one->most_work > sum->most_work ? one->most_work : sum->most_work;
    sum->fell_back += one->fell_back;
    sum->inexact += one->inexact;
    sum->end = one->end > sum->end ? one->end : sum->end;
    sum->seconds += one->seconds;
    sum->most_time = fmax(sum->most_time, one->most_time);
    sum->over += one->over;
}

static int64_t time_at(const struct study *study, uint32_t hour)
{
    return (int64_t)llround(study->hours[hour] * HOUR);
}

/* One run of all variants. */
struct bench {
    struct batch_work *work;
    struct batch_outcome **outcomes; /* by variant */
    double (*completed)[STUDY_HOURS_MAX];
};

static int variant_run(const struct study_settings *settings, struct study *study, uint32_t place, uint64_t run,
                       struct bench *bench, struct err *err)
{
    struct study_variant *variant = &study->variants[place];
    struct watcher watcher = {settings, variant, run};
    struct batch_settings one = {
        .work = bench->work,
        .park = &settings->plan->park,
        .extra = variant->extra,
        .policy = variant->policy,
        .window = variant->window,
        .effort = settings->plan->effort,
        .timeout = (int64_t)llround(variant->timeout * BATCH_SECOND),
        .horizon = study->hour_count ? time_at(study, study->hour_count - 1) : INT64_MAX / 4,
        .clock = settings->clock ? watcher_clock : NULL,
        .progress = settings->progress ? watcher_progress : NULL,
        .user = &watcher,
    };
    struct batch_totals totals;

    if (settings->progress)
        settings->progress(settings->user, run, variant, 0);
    if (batch_run(&one, bench->outcomes[place], &totals, err) < 0)
        return -1;
    totals_add(&variant->totals, &totals);
    return 0;
}

static void variant_figures(const struct study_settings *settings, struct study *study, uint32_t place,
                            const struct bench *bench)
{
    struct study_variant *variant = &study->variants[place];
    struct figures_settings figures = {
        .work = bench->work,
        .outcomes = bench->outcomes[place],
        .processors = study->processors[variant->extra],
        .timeout = (int64_t)llround(variant->timeout * BATCH_SECOND),
        .bound = (int64_t)llround(settings->plan->bound * BATCH_SECOND),
        .starved = (int64_t)llround(settings->plan->starved * BATCH_SECOND),
    };
    int64_t end = time_at(study, study->hour_count - 1);
    double own[FIGURE_COUNT];

    for (uint32_t h = 0; h < study->hour_count; h++) {
        figures_at(&figures, time_at(study, h), own);
        for (int i = 0; i < FIGURE_COUNT; i++)
            sample_add(&variant->rows[h].figures[i], own[i]);
        variant->rows[h].hours = study->hours[h];
        bench->completed[place][h] = own[FIGURE_COMPLETED];
    }
    figures_waits(&figures, end, variant->waits);
    figures_series(&figures, end, STUDY_PARTS, variant->queue, variant->busy);
}

/* Ends a trace without hours when everything is over, in the variant in which that is last. */
static void end_find(struct study *study)
{
    int64_t end = 1;

    for (uint32_t i = 0; i < study->variant_count; i++)
        end = study->variants[i].totals.end > end ? study->variants[i].totals.end : end;
    study->hours[0] = (double)end / HOUR;
    study->hour_count = 1;
}

static int run_one(const struct study_settings *settings, struct study *study, uint64_t run, struct bench *bench,
                   struct err *err)
{
    uint32_t policies = settings->plan->policy_count;

    study->jobs += bench->work->count;
    for (uint32_t i = 0; i < study->variant_count; i++) {
        bench->outcomes[i] = mem_grow(bench->outcomes[i], ((size_t)bench->work->count + 1) * sizeof **bench->outcomes);
        if (variant_run(settings, study, i, run, bench, err) < 0)
            return -1;
    }
    if (!study->hour_count)
        end_find(study);
    for (uint32_t i = 0; i < study->variant_count; i++) {
        variant_figures(settings, study, i, bench);
        for (uint32_t h = 0; h < study->hour_count; h++)
            sample_add(&study->variants[i].rows[h].gain,
                       bench->completed[i][h] - bench->completed[i - i % policies][h]);
    }
    return 0;
}

/* Keeps the first run's jobs and their outcomes under the first variant. */
static void run_keep(struct study *study, struct bench *bench)
{
    const struct batch_work *work = bench->work;

    study->work.users = work->users;
    for (uint32_t i = 0; i < work->count; i++)
        *work_add(&study->work) = work->jobs[i];
    study->work.after = mem_grow(study->work.after, ((size_t)work->after_count + 1) * sizeof *work->after);
    for (uint32_t i = 0; i < work->after_count; i++)
        study->work.after[i] = work->after[i];
    study->work.after_count = study->work.after_room = work->after_count;
    for (uint32_t i = 0; i < work->problem.row_count; i++)
        work_row(&study->work, work->problem.edges + work->problem.rows[i].first, work->problem.rows[i].count);
    study->last = bench->outcomes[0];
    bench->outcomes[0] = NULL;
}

static int runs_make(const struct study_settings *settings, struct study *study, struct bench *bench, struct err *err)
{
    for (uint64_t run = 0; run < study->runs; run++) {
        if (!settings->trace && plan_generate(settings->plan, study->seed, run, time_at(study, study->hour_count - 1),
                                              bench->work, err) < 0)
            return -1;
        if (run_one(settings, study, run, bench, err) < 0)
            return -1;
        if (settings->keep && run == 0)
            run_keep(study, bench);
    }
    return 0;
}

static void series_mean(struct study *study)
{
    for (uint32_t v = 0; v < study->variant_count; v++)
        for (uint32_t i = 0; i < STUDY_PARTS; i++) {
            study->variants[v].queue[i] /= (double)study->runs;
            study->variants[v].busy[i] /= (double)study->runs;
        }
}

int study_run(const struct study_settings *settings, struct study *study, struct err *err)
{
    struct batch_work own = {0};
    struct bench bench = {.work = settings->trace ? settings->trace : &own};
    int result;

    *study = (struct study){.runs = settings->trace ? 1 : settings->runs, .seed = settings->seed};
    work_init(&study->work);
    work_init(&own);
    for (uint32_t i = 0; i < settings->hour_count && i < STUDY_HOURS_MAX; i++)
        study->hours[study->hour_count++] = settings->hours[i];
    if (!study->hour_count && !settings->trace)
        study->hours[study->hour_count++] = settings->plan->scenario->duration / 3600;
    study->processors[0] = park_processors(&settings->plan->park, false);
    study->processors[1] = park_processors(&settings->plan->park, true);
    variants_list(settings, study);
    bench.outcomes = mem_alloc((study->variant_count + 1) * sizeof *bench.outcomes);
    memset(bench.outcomes, 0, (study->variant_count + 1) * sizeof *bench.outcomes);
    bench.completed = mem_alloc((study->variant_count + 1) * sizeof *bench.completed);
    result = runs_make(settings, study, &bench, err);
    series_mean(study);
    for (uint32_t i = 0; i < study->variant_count; i++)
        free(bench.outcomes[i]);
    free(bench.outcomes);
    free(bench.completed);
    work_done(&own);
    return result;
}

void study_done(struct study *study)
{
    for (uint32_t i = 0; i < study->variant_count; i++)
        free(study->variants[i].waits);
    free(study->variants);
    free(study->last);
    work_done(&study->work);
}
