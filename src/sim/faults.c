/* faults.c: the plan of the faults in a world. */
#include "sim/faults.h"

#include "lang/ad/names.h"
#include "lang/text/parse.h"

#include <string.h>

#define PLAN(kind, host) ((uint32_t)(kind) << 8 | (host))

enum plan { PLAN_FAULT, PLAN_CALM, PLAN_PROBE, PLAN_ROOM, PLAN_ROUGH, PLAN_BACK, PLAN_ILL, PLAN_FIT };

#define ILL_PAUSE (6 * SECOND) /* the longest pause between two machines that become unfit */
#define ILL_SPAN (8 * SECOND)

/* --------------------------------------------------------------------------------------------- the sorts of fault */

static int64_t between(struct faults *faults, int64_t least, int64_t most)
{
    return most > least ? least + (int64_t)rng_below(&faults->rng, (uint64_t)(most - least + 1)) : least;
}

static struct host *any_host(struct faults *faults)
{
    return &faults->world->hosts[faults->first + rng_below(&faults->rng, faults->end - faults->first)];
}

static struct host *any_provider(struct faults *faults)
{
    return &faults->world->hosts[faults->provider + rng_below(&faults->rng, faults->end - faults->provider)];
}

/* How long a host is down: a moment, about a pin, or longer than a lease. */
static int64_t down_span(struct faults *faults)
{
    const struct spans *spans = faults->world->spans;

    switch (rng_below(&faults->rng, 4)) {
    case 0:
        return between(faults, MILLISECOND, 100 * MILLISECOND);
    case 1:
        return between(faults, MILLISECOND, spans->pin);
    case 2:
        return between(faults, MILLISECOND, spans->lease);
    default:
        return between(faults, 0, 2 * spans->lease);
    }
}

static void fault_crash(struct faults *faults)
{
    struct host *host = any_host(faults);

    if (host->role) {
        faults->world->faults[FAULT_CRASH]++;
        host_crash(faults->world, host, false, faults->world->time + down_span(faults));
    }
}

static void fault_reboot(struct faults *faults)
{
    struct host *host = any_host(faults);

    if (host->role) {
        faults->world->faults[FAULT_REBOOT]++;
        host_crash(faults->world, host, true, faults->world->time + down_span(faults));
    }
}

static void fault_cut(struct faults *faults)
{
    struct world *world = faults->world;
    uint32_t from = any_host(faults)->place, to = any_host(faults)->place;
    int64_t until = world->time + down_span(faults);

    if (from == to)
        return;
    world->cuts[from][to] = until;
    if (rng_below(&faults->rng, 2))
        world->cuts[to][from] = until;
}

static void fault_isolate(struct faults *faults)
{
    struct world *world = faults->world;
    uint32_t host = any_host(faults)->place;
    int64_t until = world->time + down_span(faults);
    bool in = rng_below(&faults->rng, 3) != 0, out = !in || rng_below(&faults->rng, 2);

    for (uint32_t i = faults->first; i < faults->end; i++) {
        if (in)
            world->cuts[i][host] = until;
        if (out)
            world->cuts[host][i] = until;
    }
}

static void fault_burst(struct faults *faults)
{
    struct world *world = faults->world;
    struct rates *rates = &world->rates;

    switch (rng_below(&faults->rng, 4)) {
    case 0:
        rates->loss = 0x4000;
        break;
    case 1:
        rates->twice = 0x6000;
        break;
    case 2:
        rates->late = 0x2000;
        break;
    default:
        rates->delay_most = world->spans->deadline / 2;
        break;
    }
    world_plan(world, world->time + between(faults, SECOND / 2, 5 * SECOND), PLAN(PLAN_CALM, 0));
}

static void fault_clock(struct faults *faults)
{
    faults->world->faults[FAULT_CLOCK]++;
    host_rate(faults->world, any_host(faults), between(faults, 980000, 1020000));
}

static void fault_wall(struct faults *faults)
{
    static const int64_t jumps[] = {SECOND, MINUTE, 60 * MINUTE, 24 * 60 * MINUTE, 3 * 365 * 24 * 60 * MINUTE};
    int64_t most = jumps[rng_below(&faults->rng, sizeof jumps / sizeof *jumps)];

    faults->world->faults[FAULT_WALL]++;
    any_host(faults)->wall += between(faults, -most, most);
}

static void fault_full(struct faults *faults)
{
    struct host *host = any_host(faults);

    host->full = true;
    world_plan(faults->world, faults->world->time + between(faults, 100 * MILLISECOND, 3 * SECOND),
               PLAN(PLAN_ROOM, host->place));
}

static struct tree *probe_of(const struct faults *faults, const struct host *host)
{
    if (host->unfit)
        return faults->away[host->place] ? faults->gone_unwell : faults->here_unwell;
    return faults->away[host->place] ? faults->gone : faults->here;
}

static void host_probe(struct faults *faults, struct host *host)
{
    host_event(faults->world, host, &(struct event){.kind = EVENT_PROBED, .ad = probe_of(faults, host)});
}

static void fault_owner(struct faults *faults)
{
    struct host *host = any_provider(faults);

    faults->world->faults[FAULT_OWNER]++;
    faults->away[host->place] = !faults->away[host->place];
    host_probe(faults, host);
}

static void fault_drain(struct faults *faults)
{
    struct host *host = any_provider(faults);

    if (!host->role || faults->drained[host->place])
        return;
    faults->world->faults[FAULT_DRAIN]++;
    faults->drained[host->place] = true;
    host_event(faults->world, host, &(struct event){.kind = EVENT_DRAIN});
    /* the machine comes back after its repair */
    world_plan(faults->world, faults->world->time + between(faults, SECOND, 30 * SECOND),
               PLAN(PLAN_ROOM, 0x80 | host->place));
}

/* Plans the next machine that becomes unfit: its disk is full, or it cannot make a sandbox, and the next job shows that. A probe of the machine sees
 * it at once, later, or not at all. */
static void ill_next(struct faults *faults)
{
    if (faults->ills && !faults->quiet)
        world_plan(faults->world, faults->world->time + 1 + (int64_t)rng_below(&faults->ill, ILL_PAUSE),
                   PLAN(PLAN_ILL, 0));
}

static void ill_happens(struct faults *faults)
{
    uint32_t place = faults->provider + (uint32_t)rng_below(&faults->ill, faults->end - faults->provider);
    struct host *host = &faults->world->hosts[place];

    if (!host->unfit) {
        host->unfit = true;
        if (host->role && rng_below(&faults->ill, 3) == 0)
            host_probe(faults, host);
        world_plan(faults->world, faults->world->time + 1 + (int64_t)rng_below(&faults->ill, ILL_SPAN),
                   PLAN(PLAN_FIT, place));
    }
    ill_next(faults);
}

static void ill_ends(struct faults *faults, struct host *host)
{
    host->unfit = false;
    if (host->role)
        host_probe(faults, host);
}

struct fault_sort {
    void (*happen)(struct faults *faults);
    uint32_t weight;
};

#define FAULT_SORT_CLOCK 5 /* its place in `sorts` */
static const struct fault_sort sorts[] = {
    {fault_crash, 24}, {fault_reboot, 8}, {fault_cut, 24}, {fault_isolate, 12}, {fault_burst, 12},
    {fault_clock, 12}, {fault_wall, 8},   {fault_full, 4}, {fault_owner, 12},   {fault_drain, 2},
};
#define SORTS (sizeof sorts / sizeof *sorts)

/* ----------------------------------------------------------------------------------------------------- rough worlds */

/* Rough worlds have random numbers of their own, so that everything else in a world stays the same. */
static int64_t rough_between(struct faults *faults, int64_t least, int64_t most)
{
    return least + (int64_t)rng_below(&faults->rough, (uint64_t)(most - least + 1));
}

/* A matchmaker or a customer. */
static struct host *rough_host(struct faults *faults)
{
    return &faults->world->hosts[rough_between(faults, faults->first, faults->provider - 1)];
}

/* The power of all hosts fails at the same moment. */
static void rough_power(struct faults *faults)
{
    struct world *world = faults->world;

    for (uint32_t i = faults->first; i < faults->end; i++) {
        if (!world->hosts[i].role)
            continue;
        world->faults[FAULT_REBOOT]++;
        host_crash(world, &world->hosts[i], true, world->time + rough_between(faults, MILLISECOND, 10 * SECOND));
    }
}

/* A wall clock is far ahead, or far behind, and right again after a while. */
static void rough_wall(struct faults *faults)
{
    static const int64_t years = INT64_C(3) * 365 * 24 * 60 * MINUTE;
    struct host *host = &faults->world->hosts[rough_between(faults, faults->first, faults->end - 1)];

    if (faults->jumped[host->place])
        return;
    faults->world->faults[FAULT_WALL]++;
    faults->jumped[host->place] = rough_between(faults, -years, years);
    host->wall += faults->jumped[host->place];
    world_plan(faults->world, faults->world->time + rough_between(faults, SECOND, 30 * SECOND),
               PLAN(PLAN_BACK, host->place));
}

/* Without descriptors a host cannot call another, and accepts no call. */
static void rough_files(struct faults *faults)
{
    struct world *world = faults->world;
    uint32_t host = rough_host(faults)->place;
    int64_t until = world->time + rough_between(faults, 100 * MILLISECOND, 20 * SECOND);

    world->faults[FAULT_FILES]++;
    for (uint32_t i = faults->first; i < faults->end; i++)
        world->cuts[i][host] = world->cuts[host][i] = until;
}

/* The disk is full: the host fails at the next write, and at each start, until there is room. */
static void rough_disk(struct faults *faults)
{
    struct host *host = rough_host(faults);

    host->full = true;
    world_plan(faults->world, faults->world->time + rough_between(faults, SECOND, 20 * SECOND),
               PLAN(PLAN_ROOM, host->place));
}

static void rough_next(struct faults *faults)
{
    world_plan(faults->world, faults->world->time + rough_between(faults, SECOND, 8 * SECOND), PLAN(PLAN_ROUGH, 0));
}

static void rough_happen(struct faults *faults)
{
    static void (*const sorts_of[])(struct faults *) = {rough_power, rough_wall, rough_wall, rough_files, rough_disk};

    sorts_of[rng_below(&faults->rough, sizeof sorts_of / sizeof *sorts_of)](faults);
    rough_next(faults);
}

/* -------------------------------------------------------------------------------------------------------- the plan */

static void faults_next(struct faults *faults)
{
    if (!faults->quiet)
        world_plan(faults->world, faults->world->time + between(faults, 1, faults->pause), PLAN(PLAN_FAULT, 0));
}

static void faults_happen(struct faults *faults)
{
    uint32_t sum = 0, chosen;

    for (size_t i = 0; i < SORTS; i++)
        sum += faults->weights[i];
    chosen = (uint32_t)rng_below(&faults->rng, sum ? sum : 1);
    for (size_t i = 0; i < SORTS; i++) {
        if (chosen < faults->weights[i]) {
            sorts[i].happen(faults);
            break;
        }
        chosen -= faults->weights[i];
    }
    faults_next(faults);
}

/* A full disk has room again; with the high bit, a machine that was drained starts anew. */
static void faults_room(struct faults *faults, uint32_t which)
{
    struct host *host = &faults->world->hosts[which & 0x7f];

    if (!(which & 0x80))
        host->full = false;
    else if (host->role && faults->drained[host->place])
        host_crash(faults->world, host, false, faults->world->time + SECOND);
}

void faults_plan(struct faults *faults, uint32_t which)
{
    struct world *world = faults->world;
    uint32_t host = which & 0xff;

    switch ((enum plan)(which >> 8)) {
    case PLAN_FAULT:
        if (!faults->quiet)
            faults_happen(faults);
        break;
    case PLAN_CALM:
        if (!faults->quiet)
            world->rates = faults->calm;
        break;
    case PLAN_PROBE:
        if (world->hosts[host].role)
            host_probe(faults, &world->hosts[host]);
        break;
    case PLAN_ROOM:
        faults_room(faults, host);
        break;
    case PLAN_ROUGH:
        if (!faults->quiet)
            rough_happen(faults);
        break;
    case PLAN_BACK:
        world->hosts[host].wall -= faults->jumped[host];
        faults->jumped[host] = 0;
        break;
    case PLAN_ILL:
        if (!faults->quiet)
            ill_happens(faults);
        break;
    case PLAN_FIT:
        ill_ends(faults, &world->hosts[host]);
        break;
    }
}

void faults_started(struct faults *faults, const struct host *host)
{
    faults->drained[host->place] = false;
    if (host->place >= faults->provider && host->place < faults->end)
        world_plan(faults->world, faults->world->time + MILLISECOND, PLAN(PLAN_PROBE, host->place));
}

/* ------------------------------------------------------------------------------------------------------ the weather */

static uint32_t pick(struct faults *faults, const uint32_t *choices, uint32_t count)
{
    return choices[rng_below(&faults->rng, count)];
}

/* Sets the clocks: at random; or as far apart as is allowed, providers slow and the others fast, which leases must survive. */
static void faults_clocks(struct faults *faults)
{
    bool apart = rng_below(&faults->rng, 4) == 0;

    for (uint32_t i = faults->first; i < faults->end; i++)
        host_rate(faults->world, &faults->world->hosts[i],
                  !apart                 ? between(faults, 980000, 1020000)
                  : i < faults->provider ? 1020000
                                         : 980000);
    if (apart)
        faults->weights[FAULT_SORT_CLOCK] = 0;
}

static void faults_weather(struct faults *faults)
{
    static const uint32_t losses[] = {0, 0x80, 0x400, 0x1000}, lates[] = {0, 0x40, 0x200, 0x600},
                          jobs[] = {0, 0x400, 0x1800}, scales[] = {0, 1, 1, 2, 6};
    struct rates *rates = &faults->world->rates;

    rates->loss = pick(faults, losses, 4);
    rates->twice = pick(faults, losses, 4);
    rates->late = pick(faults, lates, 4);
    rates->stray = pick(faults, lates, 4);
    rates->slow = pick(faults, lates, 4);
    rates->hang = pick(faults, jobs, 3);
    rates->fail = pick(faults, jobs, 3);
    for (size_t i = 0; i < SORTS; i++)
        faults->weights[i] = sorts[i].weight * pick(faults, scales, 5);
    faults->pause = between(faults, SECOND / 2, 4 * SECOND);
    faults_clocks(faults);
}

static struct tree *faults_ad(struct world *world, const char *text)
{
    struct build build;
    struct err err = {0};
    struct tree *ad;

    build_init(&build, world->symbols, &dialect_classic);
    ad = parse_ad(&build, NULL, text, strlen(text), &err);
    build_done(&build);
    return ad;
}

void faults_init(struct faults *faults, struct world *world, uint64_t seed, bool on, uint32_t first, uint32_t provider,
                 uint32_t end)
{
    *faults = (struct faults){.world = world, .first = first, .provider = provider, .end = end, .quiet = !on};
    rng_init(&faults->rng, rng_mix(seed ^ 0x6661756c7473)); /* "faults" */
    memset(faults->away, true, sizeof faults->away);
    faults->here = faults_ad(world, "[ KeyboardIdle = 1; LoadAvg = 0.9 ]");
    faults->gone = faults_ad(world, "[ KeyboardIdle = 2000; LoadAvg = 0.05 ]");
    faults->here_unwell = faults_ad(world, "[ KeyboardIdle = 1; LoadAvg = 0.9; Unwell = \"no room\" ]");
    faults->gone_unwell = faults_ad(world, "[ KeyboardIdle = 2000; LoadAvg = 0.05; Unwell = \"no room\" ]");
    rng_init(&faults->ill, rng_mix(seed ^ 0x696c6c)); /* "ill" */
    faults->ills = on && rng_below(&faults->ill, 3) == 0;
    if (on) {
        faults_weather(faults);
        faults->calm = world->rates;
        faults_next(faults);
        rng_init(&faults->rough, rng_mix(seed ^ 0x726f756768)); /* "rough" */
        if (rng_below(&faults->rough, 4) == 0)
            rough_next(faults);
        ill_next(faults);
    }
}

void faults_done(struct faults *faults)
{
    tree_unref(faults->here);
    tree_unref(faults->gone);
    tree_unref(faults->here_unwell);
    tree_unref(faults->gone_unwell);
}

void faults_stop(struct faults *faults)
{
    struct world *world = faults->world;
    struct rates *rates = &world->rates;

    faults->quiet = true;
    rates->loss = rates->twice = rates->late = rates->stray = rates->slow = rates->hang = rates->fail = 0;
    rates->delay_most = 5 * MILLISECOND;
    memset(world->cuts, 0, sizeof world->cuts);
    for (uint32_t i = faults->first; i < faults->end; i++) {
        struct host *host = &world->hosts[i];

        host->full = host->unfit = false;
        faults->away[i] = true;
        if (host->role && faults->drained[i])
            host_crash(world, host, false, world->time + SECOND);
        else if (host->role && i >= faults->provider)
            host_probe(faults, host);
        else
            host_start(world, host);
    }
}

static void host_pose(struct faults *faults, struct host *host, uint64_t what)
{
    if (!host->role)
        return;
    if (what == 0) {
        host_crash(faults->world, host, false, INT64_MAX / 2);
    } else if (what == 1) {
        faults->drained[host->place] = true;
        host_event(faults->world, host, &(struct event){.kind = EVENT_DRAIN});
    } else if (what <= 3) {
        faults->away[host->place] = what != 2;
        host->unfit = what == 3;
        host_probe(faults, host);
    }
}

void faults_pose(struct faults *faults, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, rng_mix(seed ^ 0x706f7365)); /* "pose" */
    for (uint32_t i = faults->provider; i < faults->end; i++)
        host_pose(faults, &faults->world->hosts[i], rng_below(&rng, 10));
    if (rng_below(&rng, 3) == 0) /* a matchmaker begins anew, and knows nothing */
        host_crash(faults->world, &faults->world->hosts[faults->first], false, faults->world->time + MILLISECOND);
}
