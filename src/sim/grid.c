/* grid.c: makes a pool from a scenario, and runs it until its time is up. */
#include "sim/grid_parts.h"

#include "lang/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORGET_PAUSE (10 * SECOND)
#define PROGRESS_PAUSE MINUTE
#define WRITE_LEAST (MILLISECOND / 10)
#define WRITE_MOST (5 * MILLISECOND)

/* Plans: a number below the number of hosts stops that host; then come these. */
enum grid_plan { PLAN_FORGET, PLAN_ARRIVAL };

static int64_t draw_span(struct grid *grid, const struct dist *dist)
{
    return (int64_t)(dist_draw(dist, &grid->rng) * (double)SECOND);
}

/* ----------------------------------------------------------------------------------------------------------- sites */

/* Gives each site as many providers as its share of all sizes, and at least one. The last site takes what rounding leaves. */
static int sites_make(struct grid *grid, struct err *err)
{
    const struct scenario *scenario = grid->scenario;
    double *sizes = mem_alloc(scenario->sites * sizeof *sizes), sum = 0, upto = 0;
    uint32_t more = scenario->providers - scenario->sites, next = 0;

    grid->sites = mem_alloc(scenario->sites * sizeof *grid->sites);
    memset(grid->sites, 0, scenario->sites * sizeof *grid->sites);
    for (uint32_t i = 0; i < scenario->sites; i++) {
        struct site *site = &grid->sites[i];

        snprintf(site->name, sizeof site->name, "site%u", i + 1);
        site->delay = draw_span(grid, scenario->site_delays);
        sum += sizes[i] = dist_draw(scenario->site_sizes, &grid->rng);
    }
    for (uint32_t i = 0; i < scenario->sites; i++) {
        uint32_t end;

        upto += sizes[i];
        end = i + 1 + (uint32_t)(sum > 0 ? nearbyint(more * (upto / sum)) : 0);
        if (i + 1 == scenario->sites || end > scenario->providers)
            end = scenario->providers;
        while (next < end)
            grid->units[next++].site = i;
    }
    free(sizes);
    for (uint32_t i = 0; scenario->site.count && i < scenario->sites; i++) {
        grid->sites[i].ad = template_make(scenario, &scenario->site, &grid->build, 0, &grid->rng);
        if (!grid->sites[i].ad)
            return err_set(err, "Sites: the ad has an attribute twice");
    }
    return 0;
}

static void push_string(struct grid *grid, const char *name, const char *text)
{
    build_string(&grid->build, text, strlen(text));
    build_attribute(&grid->build, symbols_take(grid->world->symbols, name, strlen(name)));
}

static int provider_add(struct grid *grid, uint32_t number, struct err *err)
{
    struct grid_unit *unit = &grid->units[number];
    const struct site *site = &grid->sites[unit->site];
    uint32_t pushed = 2; /* Name, Site */
    char name[NAME_BYTES];

    snprintf(name, sizeof name, "m%u", number + 1);
    push_string(grid, "Name", name);
    push_string(grid, "Site", site->name);
    if (site->ad) {
        build_copy_parts(&grid->build, site->ad, tree_root(site->ad));
        pushed += tree_root(site->ad)->u.run.count;
    }
    unit->ad = template_make(grid->scenario, templates_draw(&grid->scenario->machines, &grid->rng), &grid->build,
                             pushed, &grid->rng);
    if (!unit->ad)
        return err_set(
            err,
            "Machines: an ad has an attribute twice, or Name, Site or one of its site's, which each machine has already");
    unit->id = 1 + number;
    unit->up = -1;
    unit->settings = (struct provider_settings){
        .self = grid->world->host_count + 1,
        .matchmaker = MATCHMAKER + 1,
        .spans = &grid->spans,
        .identity = site->name,
        .ids = &unit->id,
        .ads = &unit->ad,
        .count = 1,
    };
    world_add(grid->world, &provider_role, &unit->settings, site->name, false, "provider");
    return 0;
}

static int providers_make(struct grid *grid, struct err *err)
{
    uint32_t count = grid->scenario->providers;

    grid->units = mem_alloc(count * sizeof *grid->units);
    memset(grid->units, 0, count * sizeof *grid->units);
    if (sites_make(grid, err) < 0)
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        if (provider_add(grid, i, err) < 0)
            return -1;
        host_start_at(grid->world, &grid->world->hosts[grid->providers + i],
                      1 + draw_span(grid, grid->scenario->starts));
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ jobs */

static void submission_add(struct grid *grid, uint32_t shape, uint64_t count)
{
    uint32_t user = grid->shapes[shape].user;

    while (count) {
        uint32_t some = count < CUSTOMER_SUBMIT_MAX ? (uint32_t)count : CUSTOMER_SUBMIT_MAX;

        crowd_add(&grid->crowd, &(struct crowd_submission){
                                    .customer = CUSTOMERS + user % grid->scenario->customers + 1,
                                    .owner = grid->users[user],
                                    .ad = grid->shapes[shape].ad,
                                    .shape = shape,
                                    .count = some,
                                    .at = grid->world->time,
                                });
        count -= some;
    }
}

/* The jobs in the queue at first: drawn by the sizes, then corrected to as many as the scenario asks for. Missing jobs go to the largest shape;
 * surplus jobs are taken off the largest ones, so that a law about the others still holds. */
static void queue_make(struct grid *grid)
{
    const struct scenario *scenario = grid->scenario;
    uint64_t *sizes = mem_alloc(scenario->shapes * sizeof *sizes), sum = 0;

    for (uint32_t i = 0; i < scenario->shapes; i++)
        sum += sizes[i] = (uint64_t)nearbyint(dist_draw(scenario->sizes, &grid->rng));
    while (scenario->jobs && sum != scenario->jobs) {
        uint32_t largest = 0;
        uint64_t before;

        for (uint32_t i = 1; i < scenario->shapes; i++)
            if (sizes[i] > sizes[largest])
                largest = i;
        before = sizes[largest];
        if (sum < scenario->jobs)
            sizes[largest] += scenario->jobs - sum;
        else /* not below half: then another shape is the largest */
            sizes[largest] -= sum - scenario->jobs < before / 2 ? sum - scenario->jobs : (before + 1) / 2;
        sum = sum - before + sizes[largest];
    }
    for (uint32_t i = 0; i < scenario->shapes; i++)
        submission_add(grid, i, sizes[i]);
    free(sizes);
}

static int shapes_make(struct grid *grid, struct err *err)
{
    const struct scenario *scenario = grid->scenario;

    grid->shapes = mem_alloc(scenario->shapes * sizeof *grid->shapes);
    memset(grid->shapes, 0, scenario->shapes * sizeof *grid->shapes);
    for (uint32_t i = 0; i < scenario->shapes; i++) {
        const struct template_ad *template = templates_draw(&scenario->requests, &grid->rng);
        struct kind_of_job *shape = &grid->shapes[i];

        build_integer(&grid->build, i + 1);
        build_attribute(&grid->build, symbols_take(grid->world->symbols, "Shape", 5));
        shape->ad = template_make(scenario, template, &grid->build, 1, &grid->rng);
        if (!shape->ad)
            return err_set(err, "Shapes.Ads: an ad has an attribute twice, or Shape, which each shape has already");
        shape->duration =
            dist_settle(template->duration ? template->duration : scenario->durations, &grid->rng, &grid->arena);
        shape->user = i % scenario->users;
    }
    return 0;
}

/* Jobs of a random shape arrive; plans the next arrival. */
static void arrival_make(struct grid *grid)
{
    const struct scenario *scenario = grid->scenario;
    double pause = dist_draw(scenario->pauses, &grid->rng) * (scenario->rarer > 0 ? scenario->rarer : 1);

    submission_add(grid, (uint32_t)rng_below(&grid->rng, scenario->shapes),
                   (uint64_t)nearbyint(dist_draw(scenario->batches, &grid->rng)));
    host_event(grid->world, &grid->world->hosts[CROWD], &(struct event){.kind = EVENT_WAKE});
    world_plan(grid->world, grid->world->time + (int64_t)(pause * (double)SECOND) + 1,
               grid->world->host_count + PLAN_ARRIVAL);
}

/* ------------------------------------------------------------------------------------------------------------ a run */

static void grid_plan(void *user, uint32_t which)
{
    struct grid *grid = user;
    struct world *world = grid->world;

    if (which < world->host_count) {
        struct host *host = &world->hosts[which];

        host_crash(world, host, true, world->time + 1 + draw_span(grid, grid->scenario->down));
    } else if (which == world->host_count + PLAN_ARRIVAL) {
        arrival_make(grid);
    } else {
        grid_forget(grid);
        world_plan(world, world->time + FORGET_PAUSE, world->host_count + PLAN_FORGET);
    }
}

static void customers_make(struct grid *grid)
{
    const struct scenario *scenario = grid->scenario;

    grid->users = mem_alloc(scenario->users * sizeof *grid->users);
    for (uint32_t i = 0; i < scenario->users; i++)
        snprintf(grid->users[i], sizeof grid->users[i], "user%u", i + 1);
    grid->customers = mem_alloc(scenario->customers * sizeof *grid->customers);
    memset(grid->customers, 0, scenario->customers * sizeof *grid->customers);
    for (uint32_t i = 0; i < scenario->customers; i++) {
        grid->customers[i].settings = (struct customer_settings){.self = grid->world->host_count + 1,
                                                                 .matchmaker = MATCHMAKER + 1,
                                                                 .spans = &grid->spans,
                                                                 .jobs_max = UINT32_MAX};
        world_add(grid->world, &customer_role, &grid->customers[i].settings, "customer", true, "customer");
    }
    grid->providers = grid->world->host_count;
}

static int grid_make(struct grid *grid, struct err *err)
{
    const struct scenario *scenario = grid->scenario;
    struct world *world;

    rng_init(&grid->rng, rng_mix(grid->settings->seed ^ 0x67726964));   /* "grid" */
    rng_init(&grid->delay, rng_mix(grid->settings->seed ^ 0x64656c61)); /* "dela" */
    grid->spans = scenario->spans;
    world = grid->world = world_new_of(grid->settings->seed, &grid->spans, scenario->tree->symbols);
    world->lean = !grid->settings->check;
    world->check = grid->settings->check;
    world->plan = grid_plan;
    world->plan_user = grid;
    world->rates.write_least = WRITE_LEAST;
    world->rates.write_most = WRITE_MOST;
    arena_init(&grid->arena);
    build_init(&grid->build, world->symbols, &dialect_classic);
    world_reserve(world, CUSTOMERS + scenario->customers + scenario->providers);
    grid_watch(grid);
    grid->matchmaker = (struct matchmaker_settings){.self = MATCHMAKER + 1,
                                                    .spans = &grid->spans,
                                                    .ads_max = scenario->shapes + scenario->providers + 1,
                                                    .machine_bytes_max = UINT64_MAX / 2}; /* a site is one account */
    world_add(world, &matchmaker_role, &grid->matchmaker, "pool", true, "matchmaker");
    world_add(world, &crowd_role, &grid->crowd, "crowd", true, "crowd");
    customers_make(grid);
    return shapes_make(grid, err) < 0 ? -1 : providers_make(grid, err);
}

static void grid_done(struct grid *grid)
{
    const struct scenario *scenario = grid->scenario;

    world_free(grid->world);
    for (uint32_t i = 0; grid->units && i < scenario->providers; i++)
        tree_unref(grid->units[i].ad);
    for (uint32_t i = 0; grid->shapes && i < scenario->shapes; i++)
        tree_unref(grid->shapes[i].ad);
    for (uint32_t i = 0; grid->sites && i < scenario->sites; i++)
        tree_unref(grid->sites[i].ad);
    for (uint32_t i = 0; grid->customers && i < scenario->customers; i++) {
        free(grid->customers[i].batches);
        free(grid->customers[i].started);
    }
    build_done(&grid->build);
    arena_done(&grid->arena);
    free(grid->crowd.items);
    free(grid->users);
    free(grid->sites);
    free(grid->customers);
    free(grid->units);
    free(grid->shapes);
    free(grid->ended);
}

static void grid_live(struct grid *grid)
{
    const struct grid_settings *settings = grid->settings;
    struct world *world = grid->world;
    int64_t end = (int64_t)(settings->duration * (double)SECOND), next;

    for (uint32_t i = 0; i < grid->providers; i++)
        host_start(world, &world->hosts[i]);
    queue_make(grid);
    host_event(world, &world->hosts[CROWD], &(struct event){.kind = EVENT_WAKE});
    world_plan(world, FORGET_PAUSE, world->host_count + PLAN_FORGET);
    if (grid->scenario->pauses)
        world_plan(world,
                   1 + (int64_t)(dist_draw(grid->scenario->pauses, &grid->rng) * (double)SECOND *
                                 (grid->scenario->rarer > 0 ? grid->scenario->rarer : 1)),
                   world->host_count + PLAN_ARRIVAL);
    for (next = 0; next < end && !world->broken && !grid->report->broken;) {
        next = end - next > PROGRESS_PAUSE ? next + PROGRESS_PAUSE : end;
        while (world_next(world, next))
            ;
        grid->report->time = world->time;
        grid->report->events = world->events;
        if (settings->progress && !settings->progress(settings->user, grid->report))
            break;
    }
}

int grid_run(const struct grid_settings *settings, struct grid_report *ret, struct err *err)
{
    struct grid *grid = mem_alloc(sizeof *grid);
    const struct scenario *scenario = settings->scenario;
    int result;

    *ret = (struct grid_report){.providers = scenario->providers,
                                .sites = scenario->sites,
                                .customers = scenario->customers,
                                .users = scenario->users,
                                .shapes = scenario->shapes};
    *grid = (struct grid){.settings = settings, .scenario = scenario, .report = ret};
    result = grid_make(grid, err);
    if (result == 0) {
        grid_live(grid);
        grid_close(grid);
    }
    grid_done(grid);
    free(grid);
    return result;
}
