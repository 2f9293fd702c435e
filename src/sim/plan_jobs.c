/* plan_jobs.c: draws the jobs of a run, and matches each once with every kind of cluster. */
#include "sim/plan.h"

#include "lang/base/mem.h"
#include "match/pair/match.h"
#include "match/pair/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVALUATION_STEPS 100000
#define ASKS_MOST 1e15

/* What the jobs of one template share when none of its attributes is drawn. */
struct settled {
    bool is;
    struct batch_job job;
};

struct maker {
    const struct plan *plan;
    struct batch_work *work;
    struct env env;
    struct arena scratch;
    struct build build;
    struct rng rng;
    struct assign_edge *edges; /* room for one edge a kind */
    struct settled *settled;   /* by template */
};

static bool ad_number(struct maker *maker, const struct tree *ad, const char *name, double *ret)
{
    symbol known = symbols_find(ad->symbols, name, strlen(name));
    struct scope scope;
    struct value value;
    struct eval eval;

    eval_init(&eval, &maker->env, &maker->scratch);
    scope_init(&scope, ad, NULL);
    if (!known || !eval_attribute(&eval, &scope, known, &value))
        return false;
    if (value.type != VALUE_INTEGER && value.type != VALUE_REAL)
        return false;
    *ret = value.type == VALUE_INTEGER ? (double)value.u.integer : value.u.real;
    return isfinite(*ret);
}

/* Reads RequestX, or else X; a job that has neither asks for nothing. */
static int job_asks(struct maker *maker, const struct tree *ad, struct batch_job *job, struct err *err)
{
    for (int q = 0; q < BATCH_QUANTITIES; q++) {
        char name[32];
        double asked = 0;

        snprintf(name, sizeof name, "Request%s", batch_quantities[q]);
        if (!ad_number(maker, ad, name, &asked))
            ad_number(maker, ad, batch_quantities[q], &asked);
        if (!(asked >= 0 && asked <= ASKS_MOST))
            return err_set(err, "a job asks for %g %s: expected a number from 0 on", asked, batch_quantities[q]);
        job->asks[q] = asked;
    }
    return 0;
}

static uint32_t job_row(struct maker *maker, const struct tree *ad)
{
    const struct plan *plan = maker->plan;
    uint32_t count = 0;

    for (uint32_t i = 0; i < plan->park.kind_count; i++) {
        struct arena_mark mark = arena_mark(&maker->scratch);
        struct match match = {.matches = true};

        if (plan->ads[i])
            match_ads(&maker->env, &maker->scratch, ad, plan->ads[i], &match);
        if (match.matches)
            maker->edges[count++] =
                (struct assign_edge){i, order_finite(&match.left_rank), order_finite(&match.right_rank)};
        arena_rewind(&maker->scratch, mark);
    }
    return work_row(maker->work, maker->edges, count);
}

static bool template_is_drawn(const struct template_ad *template)
{
    for (uint32_t i = 0; i < template->count; i++)
        if (template->attributes[i].dist)
            return true;
    return false;
}

static int job_make(struct maker *maker, const struct template_ad *template, struct batch_job *job, struct err *err)
{
    const struct scenario *scenario = maker->plan->scenario;
    struct settled *settled = &maker->settled[template - scenario->requests.items];
    struct tree *ad;
    int result;

    if (settled->is) {
        memcpy(job->asks, settled->job.asks, sizeof job->asks);
        job->row = settled->job.row;
        return 0;
    }
    ad = template_make(scenario, template, &maker->build, 0, &maker->rng);
    if (!ad)
        return err_set(err, "the ad of a job is too large");
    result = job_asks(maker, ad, job, err);
    job->row = job_row(maker, ad);
    if (result == 0 && !template_is_drawn(template))
        *settled = (struct settled){true, *job};
    tree_unref(ad);
    arena_reset(&maker->scratch);
    return result;
}

static int jobs_make(struct maker *maker, int64_t horizon, struct err *err)
{
    const struct scenario *scenario = maker->plan->scenario;
    double now = 0;

    for (;;) {
        const struct template_ad *template;
        struct batch_job *job;
        int64_t submit;

        now += dist_draw(scenario->pauses, &maker->rng);
        if (now * BATCH_SECOND >= (double)horizon)
            return 0;
        submit = (int64_t)llround(now * BATCH_SECOND);
        if (maker->work->count == PLAN_JOBS_MAX)
            return err_set(err, "more than %u jobs come in one run", PLAN_JOBS_MAX);
        template = templates_draw(&scenario->requests, &maker->rng);
        job = work_add(maker->work);
        job->submit = submit;
        job->user = (uint32_t)rng_below(&maker->rng, scenario->users);
        job->duration = job->estimate = (int64_t)llround(dist_draw(template->duration, &maker->rng) * BATCH_SECOND);
        if (job_make(maker, template, job, err) < 0)
            return -1;
    }
}

int plan_generate(const struct plan *plan, uint64_t seed, uint64_t run, int64_t horizon, struct batch_work *work,
                  struct err *err)
{
    const struct scenario *scenario = plan->scenario;
    struct maker maker = {.plan = plan, .work = work, .env = {.steps = EVALUATION_STEPS}};
    size_t settled_size = (scenario->requests.count + 1) * sizeof *maker.settled;
    int result;

    if (!scenario->pauses || !scenario->requests.count)
        return err_set(err, "Jobs and Arrival say nothing: expected them, or a trace");
    rng_init(&maker.rng, rng_mix(rng_mix(seed) ^ run));
    arena_init(&maker.scratch);
    build_init(&maker.build, scenario->tree->symbols, &dialect_classic);
    maker.edges = mem_alloc((plan->park.kind_count + 1) * sizeof *maker.edges);
    maker.settled = mem_alloc(settled_size);
    memset(maker.settled, 0, settled_size);
    work_reset(work);
    work->users = scenario->users;
    result = jobs_make(&maker, horizon, err);
    free(maker.edges);
    free(maker.settled);
    build_done(&maker.build);
    arena_done(&maker.scratch);
    return result;
}
