/* run.c: makes a world from its seed, breaks it for a while, and then lets it come to rest. */
#include "sim/run.h"

#include "lang/text/parse.h"
#include "match/assign/assign.h"
#include "pool/customer/customer.h"
#include "pool/matchmaker/matchmaker.h"
#include "pool/provider/provider.h"
#include "sim/faults.h"
#include "sim/run_gangs.h"
#include "sim/run_jobs.h"
#include "sim/seats.h"
#include "sim/trace.h"
#include "sim/user.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUSTOMERS_MAX 4
#define MACHINES_MAX 8
#define PROVIDERS_MAX (MACHINES_MAX + GANG_OFFERS)
#define USERS_MAX (2 * CUSTOMERS_MAX + 1) /* the last user lies */
#define SHAPES 4
#define MATCHMAKERS 2 /* in some worlds; other worlds have one */
#define NAME_BYTES 24
#define SWEEP_PLAN FAULTS_PLANS /* the judge sweeps */

struct sim {
    struct world *world;
    struct judge *judge;
    struct faults faults;
    struct trace *trace;
    const struct sim_guest *guest; /* or NULL */
    struct parties parties;
    struct spans spans;
    struct rng rng;
    struct build build;
    bool quiet;
    struct matchmaker_settings matchmakers[MATCHMAKERS];
    uint32_t matchmaker_count;
    struct customer_pool offered[MATCHMAKERS];               /* customers advertise to both, ... */
    struct provider_pool pulled[PROVIDERS_MAX][MATCHMAKERS]; /* ... and some providers pull */
    bool shares;                                             /* there are groups and limits */
    bool gpus;                                               /* machines have some, and jobs ask for them */
    bool gangs;                                              /* some jobs have Ports */
    bool quotas;                                             /* all jobs, gangs too, are in groups */
    struct tree *shares_ad;
    struct customer_settings customers[CUSTOMERS_MAX];
    struct provider_settings providers[PROVIDERS_MAX];
    struct user_settings users[USERS_MAX];
    uint64_t ids[PROVIDERS_MAX];
    struct tree *offers[PROVIDERS_MAX], *policy;
    struct tree *shapes[USERS_MAX][SHAPES];
    struct tree *nodes[USER_NODES]; /* of workflows; NULL: none */
    char names[HOSTS_MAX][NAME_BYTES], identities[USERS_MAX][NAME_BYTES];
};

/* ----------------------------------------------------------------------------------------------------- the pool */

static int64_t sim_between(struct sim *sim, int64_t least, int64_t most)
{
    return least + (int64_t)rng_below(&sim->rng, (uint64_t)(most - least + 1));
}

static struct tree *sim_ad(struct sim *sim, const char *text)
{
    struct err err = {0};

    return parse_ad(&sim->build, NULL, text, strlen(text), &err);
}

/* A claim is used for more jobs as long as it is young: in some worlds for many short ones, in others, where jobs are long, for one or two. */
static int64_t life_choose(struct sim *sim, uint64_t seed)
{
    static const int64_t parts[] = {1, 8, 16, 32};

    return sim_between(sim, 2, 20) * SECOND / parts[rng_mix(seed ^ 0x6c696665) % 4]; /* "life" */
}

static void spans_choose(struct sim *sim, uint64_t seed)
{
    int64_t pin = sim_between(sim, 4000, 8000) * MILLISECOND, lease = pin + sim_between(sim, 0, 6000) * MILLISECOND;

    sim->spans = (struct spans){
        .window = sim_between(sim, 1000, 3000) * MILLISECOND,
        .pin = pin,
        .lease = lease,
        .life = life_choose(sim, seed),
        .deadline = sim_between(sim, 500, 2000) * MILLISECOND,
        .retry = 100 * MILLISECOND,
        .lifetime = sim_between(sim, 6, 20) * SECOND,
        .cycle = 20 * MILLISECOND,
        .keep = 10 * MINUTE,
        .grace = sim_between(sim, 0, 2000) * MILLISECOND,
        .half = MINUTE,
    };
}

/* The kinds of machine: the first always takes a job that fits. */
static const char *const offer_texts[] = {
    "[ Type = \"Machine\"; Memory = 4096; Constraint = other.RequestMemory <= Memory ]",
    "[ Type = \"Machine\"; Memory = 2048; Constraint = KeyboardIdle > 900 && LoadAvg < 0.3 && other.RequestMemory <= "
    "Memory ]",
    "[ Type = \"Machine\"; Memory = 2048; Cpus = 4; Constraint = other.RequestCpus <= Cpus && other.RequestMemory <= "
    "Memory; Residual = [ Cpus = Cpus - other.RequestCpus ] ]",
    "[ Type = \"Machine\"; Memory = 3000; Constraint = (DayTime() < '8:00' || DayTime() > '10:00') && "
    "other.RequestMemory <= Memory; Rank = other.RequestMemory ]",
    "[ Type = \"Machine\"; Memory = 1024; Cpus = 2; Constraint = KeyboardIdle > 900 && other.RequestCpus <= Cpus; "
    "Residual = [ Cpus = Cpus - other.RequestCpus ] ]",
    "[ Type = \"Machine\"; Memory = 4096; Preemption = true; Rank = other.RequestMemory; "
    "Constraint = other.RequestMemory <= Memory ]",
    "[ Type = \"Machine\"; Memory = 2048; Cpus = 4; Preemption = true; Rank = other.RequestMemory / 512; "
    "Constraint = other.RequestCpus <= Cpus && other.RequestMemory <= Memory; "
    "Residual = [ Cpus = Cpus - other.RequestCpus ] ]",
    "[ Type = \"Machine\"; Memory = 2048; Preemption = other.Owner != \"u1\"; Rank = other.Owner == \"u1\" ? 2 : 1; "
    "Constraint = KeyboardIdle > 900 && other.RequestMemory <= Memory ]",
};
#define OFFER_TEXTS (sizeof offer_texts / sizeof *offer_texts)

/* Condor's policy with short times: a claim that has lasted two seconds may be preempted for a better user. */
static const char policy_text[] =
    "[ RootSelection = Type == \"Job\"; RootOrder = -UserPrio; DockingVector = { self.Rank, label.RemoteUser is undefined "
    "? 2 : label.CurrentRank < label.Rank ? 1 : label.RemoteUserPrio > UserPrio * 1.1 && label.CurrentRank <= label.Rank "
    "&& label.ServiceTime > '0:00:02' ? 0 : error, label.RemoteUser is undefined ? 0 : label.RemoteUserPrio * 10000 - "
    "label.ImageSize } ]";

/* In every other world: enough for all jobs, one after another. A policy with a RootOrder knows no groups: then there are only the limits. */
static const char shares_text[] =
    "[ Groups = { [ Name = \"few\"; Quota = 0.3; Surplus = false ] }; Limits = [ licence = 2 ] ]";
static const char limits_text[] = "[ Limits = [ licence = 2 ] ]";
/* Where gangs are in groups too: one group may have no more than its quota, the other takes what is left. */
static const char quotas_text[] =
    "[ Groups = { [ Name = \"few\"; Quota = 0.3; Surplus = false ], [ Name = \"many\"; Quota = 0.5 ] }; Limits = [ licence = "
    "2 ] ]";

static uint32_t sim_add(struct sim *sim, const struct role_kind *kind, const void *settings, const char *identity,
                        bool any, const char *sort, uint32_t number)
{
    char *name = sim->names[sim->world->host_count];

    snprintf(name, NAME_BYTES, "%s%u", sort, number);
    return world_add(sim->world, kind, settings, identity, any, name);
}

/* Makes a provider pull, from one pool or both, in either order, with a share or none. */
static void provider_pulls(struct sim *sim, uint32_t i)
{
    uint32_t first = (uint32_t)rng_below(&sim->rng, sim->matchmaker_count);

    for (uint32_t k = 0; k < sim->matchmaker_count; k++)
        sim->pulled[i][k] = (struct provider_pool){.matchmaker = 1 + (first + k) % sim->matchmaker_count,
                                                   .share = k ? 0.1 * (double)rng_below(&sim->rng, 5) : 0};
    sim->providers[i].pools = sim->pulled[i];
    sim->providers[i].pool_count = 1 + (uint32_t)rng_below(&sim->rng, sim->matchmaker_count);
    sim->providers[i].matchmaker = sim->pulled[i][0].matchmaker;
}

/* A machine with several processors has as many GPUs, which its policy does not even look at: who gets a processor gets a GPU. */
static struct tree *offer_with_gpus(struct sim *sim, const char *text)
{
    static const char
        start[] = "[ Type = \"Machine\"; ",
        gpus[] = "GpuCount = 4; Gpus = { [ Uuid = \"a\" ], [ Uuid = \"b\" ], [ Uuid = \"c\" ], [ Uuid = \"d\" ] }; ";
    char whole[1200];

    if (strncmp(text, start, sizeof start - 1) != 0 || !strstr(text, "Residual"))
        return sim_ad(sim, text);
    snprintf(whole, sizeof whole, "%s%s%s", start, gpus, text + sizeof start - 1);
    return sim_ad(sim, whole);
}

/* In a world with gangs, the first machines and all other offers advertise at one matchmaker, so that every user can get a gang. */
static void providers_add(struct sim *sim, uint32_t count)
{
    uint32_t machines = count, same = sim->gangs ? GANG_MACHINES : 1;

    if (sim->gangs)
        count += GANG_OFFERS;
    for (uint32_t i = 0; i < count; i++) {
        bool together = sim->gangs && (i < GANG_MACHINES || i >= machines);
        const char *text =
            i >= machines ? gang_offers[i - machines] : offer_texts[i >= same ? rng_below(&sim->rng, OFFER_TEXTS) : 0];

        sim->ids[i] = 1000 + i;
        sim->offers[i] = sim->gpus ? offer_with_gpus(sim, text) : sim_ad(sim, text);
        sim->providers[i] = (struct provider_settings){
            .self = sim->world->host_count + 1,
            .matchmaker = together ? 1 : 1 + rng_below(&sim->rng, sim->matchmaker_count),
            .spans = &sim->spans,
            .identity = "owner",
            .ids = &sim->ids[i],
            .ads = &sim->offers[i],
            .count = 1,
        };
        if (!together && rng_below(&sim->rng, 3) == 0)
            provider_pulls(sim, i);
        sim_add(sim, &provider_role, &sim->providers[i], "owner", false, "provider", i + 1);
    }
}

/* The group to which a user's jobs are charged. */
static const char *shape_group(const struct sim *sim, uint32_t user, bool gang)
{
    static const char *const groups[] = {"; AccountingGroup = \"few\"", "; AccountingGroup = \"many\"", ""};

    return sim->quotas ? groups[user % 3] : sim->shares && user % 2 == 0 && !gang ? groups[0] : "";
}

static void shapes_make(struct sim *sim, uint32_t user, const char *owner)
{
    static const int memories[] = {256, 512, 1024, 1500};
    char text[1200], meets[800], memory[64];

    for (uint32_t i = 0; i < SHAPES; i++) {
        bool gang = sim->gangs && rng_below(&sim->rng, 2);

        if (gang)
            gang_ports(&sim->rng, memories[i], meets, sizeof meets);
        else
            snprintf(meets, sizeof meets, "; Constraint = other.Memory >= %d; Rank = %s", memories[i],
                     rng_below(&sim->rng, 2) ? "other.Memory" : "0 - other.Memory");
        /* some jobs ask for more memory when nothing stands opposite */
        snprintf(memory, sizeof memory, i == 2 && !gang ? "isUndefined(other.Type) ? 4000 : %d" : "%d", memories[i]);
        snprintf(
            text, sizeof text,
            "[ Type = \"Job\"; Owner = \"%s\"; Iwd = \"/home\"; RequestCpus = %d; RequestMemory = %s; TimeLimit = %d%s%s%s%s%s ]",
            owner, (int)sim_between(sim, 1, 2), memory, (int)sim_between(sim, 8, 30), meets,
            i % 2 ? "; MaxRetries = 2" : "", sim->shares && i % 2 ? "; ConcurrencyLimits = \"licence, any\"" : "",
            shape_group(sim, user, gang), sim->gpus ? "; RequestGpus = RequestCpus" : "");
        sim->shapes[user][i] = sim_ad(sim, text);
    }
}

static void user_add(struct sim *sim, uint32_t user, agent customer, const char *owner, bool lies)
{
    shapes_make(sim, user, owner);
    sim->users[user] = (struct user_settings){
        .customer = customer,
        .matchmaker = 1,
        .owner = owner,
        .shapes = sim->shapes[user],
        .shape_count = SHAPES,
        .nodes = sim->nodes[0] && !lies ? sim->nodes : NULL,
        .pause = lies ? 30 * SECOND : sim_between(sim, 1, 6) * SECOND,
        .jobs_max = 400,
        .seed = 1000 * (uint64_t)user,
        .meddles = rng_below(&sim->rng, 2),
        .lies = lies,
        .quiet = &sim->quiet,
        .meddled = &sim->world->faults[FAULT_USER],
        .lied = &sim->world->faults[FAULT_LIE],
    };
    sim_add(sim, &user_role, &sim->users[user], lies ? "mallory" : owner, false, "user", user + 1);
}

static void users_add(struct sim *sim, uint32_t customers)
{
    uint32_t user = 0;

    for (uint32_t i = 0; i < customers; i++)
        for (uint64_t n = 1 + rng_below(&sim->rng, 2); n; n--, user++) {
            /* where shares are checked closely, some users act with rights that the first one has delegated */
            snprintf(sim->identities[user], NAME_BYTES, sim->quotas && user % 4 == 3 ? "u1/s%u" : "u%u", user + 1);
            user_add(sim, user, sim->parties.customers + 1 + i, sim->identities[user], false);
        }
    user_add(sim, user, sim->parties.customers + 1, "u1", true);
}

static void sim_went(void *user, const struct host *host, const char *what)
{
    struct sim *sim = user;

    if (!strcmp(what, "starts"))
        faults_started(&sim->faults, host);
}

static void sim_plan(void *user, uint32_t which)
{
    struct sim *sim = user;

    if (which < FAULTS_PLANS) {
        faults_plan(&sim->faults, which);
        return;
    }
    if (which >= SIM_PLANS) {
        sim->guest->plan(sim->guest->user, which);
        return;
    }
    judge_sweep(sim->judge);
    world_plan(sim->world, sim->world->time + sim->spans.lease / 4, SWEEP_PLAN);
}

/* In some worlds an assignment settles all requests at once. Not in worlds with shares: shares count as they are when a window begins, which is not
 * what the judge checks. And only by a policy under which no request waits for ever, as it may under singles alone. */
static uint32_t assignment_choose(uint64_t seed)
{
    uint64_t word = rng_mix(seed ^ 0x77696e646f77); /* "window" */
    uint32_t policy = (uint32_t)(word >> 8) % ASSIGN_POLICY_COUNT;

    return word % 4 || policy == ASSIGN_SINGLES ? 0 : policy + 1;
}

/* A workflow: A, then B and C, then D. */
static void nodes_make(struct sim *sim)
{
    static const char *const texts[USER_NODES] = {"[ Node = \"A\" ]", "[ Node = \"B\"; After = { \"A\" } ]",
                                                  "[ Node = \"C\"; After = { \"A\" } ]",
                                                  "[ Node = \"D\"; After = { \"B\", \"C\" } ]"};

    for (uint32_t i = 0; i < USER_NODES; i++)
        sim->nodes[i] = sim_ad(sim, texts[i]);
}

static void seats_choose(struct sim *sim, uint64_t seed, const struct sim_settings *settings)
{
    uint64_t word = rng_mix(seed ^ 0x7365617473); /* "seats" */

    if (settings->seats == SEATS_NONE)
        return;
    seats_new(sim->world, 0, sim->parties.providers, (int64_t)(word % 2500 + 500) * MILLISECOND,
              settings->seats == SEATS_KEPT, settings->faults);
    if (settings->seats == SEATS_LOSSY)
        judge_heeds(sim->judge, 1u << 12);
}

static void sim_init(struct sim *sim, uint64_t seed, const struct sim_settings *settings, uint32_t lines)
{
    const struct sim_guest *guest = settings->guest;
    uint32_t customers, providers;

    memset(sim, 0, sizeof *sim);
    sim->guest = guest;
    sim->gpus = settings->gpus;
    rng_init(&sim->rng, rng_mix(seed ^ 0x706f6f6c)); /* "pool" */
    spans_choose(sim, seed);
    sim->world = world_new(seed, &sim->spans);
    sim->world->check = true;
    sim->world->plan = sim_plan;
    sim->world->plan_user = sim;
    build_init(&sim->build, sim->world->symbols, &dialect_classic);
    if (settings->flows)
        nodes_make(sim);
    customers = (uint32_t)sim_between(sim, 1, CUSTOMERS_MAX);
    providers = (uint32_t)sim_between(sim, 2, MACHINES_MAX);
    sim->policy = rng_below(&sim->rng, 3) ? NULL : sim_ad(sim, policy_text);
    sim->matchmaker_count = !guest && rng_below(&sim->rng, 4) == 0 ? MATCHMAKERS : 1;
    sim->gangs = rng_mix(seed ^ 0x67616e6773) % 2;  /* "gangs" */
    sim->shares = rng_mix(seed ^ 0x7368617265) & 1; /* "share" */

    /* "quota": most of the worlds that have both gangs and shares */
    sim->quotas = sim->gangs && sim->shares && !sim->policy && rng_mix(seed ^ 0x71756f7461) % 4 != 0;
    if (sim->shares)
        sim->shares_ad = sim_ad(sim, sim->quotas ? quotas_text : sim->policy ? limits_text : shares_text);
    for (uint32_t i = 0; i < sim->matchmaker_count; i++) {
        sim->matchmakers[i] = (struct matchmaker_settings){.self = 1 + i,
                                                           .spans = &sim->spans,
                                                           .policy = sim->policy,
                                                           .shares = sim->shares_ad,
                                                           .plans = settings->plans,
                                                           .assignment = sim->shares ? 0 : assignment_choose(seed)};
        sim->offered[i] = (struct customer_pool){.matchmaker = 1 + i};
        sim_add(sim, &matchmaker_role, &sim->matchmakers[i], "pool", true, "matchmaker", i + 1);
    }
    sim->parties.customers = sim->world->host_count;
    for (uint32_t i = 0; i < customers; i++) {
        sim->customers[i] =
            (struct customer_settings){.self = sim->world->host_count + 1,
                                       .matchmaker = 1,
                                       .spans = &sim->spans,
                                       .pools = sim->offered,
                                       .pool_count = sim->matchmaker_count > 1 ? sim->matchmaker_count : 0};
        sim_add(sim, &customer_role, &sim->customers[i], "customer", true, "customer", i + 1);
    }
    sim->parties.providers = sim->world->host_count;
    providers_add(sim, providers);
    sim->parties.users = sim->world->host_count;
    users_add(sim, customers);
    sim->parties.end = sim->world->host_count;
    faults_init(&sim->faults, sim->world, seed, settings->faults, 0, sim->parties.providers, sim->parties.users);
    sim->judge = judge_new(sim->world, &sim->parties);
    world_watch(sim->world, &(struct watch){.user = sim, .went = sim_went});
    seats_choose(sim, seed, settings);
    if (guest)
        guest->comes(guest->user, sim->world, sim->judge, &sim->parties);
    if (lines)
        sim->trace = trace_new(sim->world, lines);
}

static void sim_done(struct sim *sim)
{
    if (sim->guest)
        sim->guest->goes(sim->guest->user);
    trace_free(sim->trace);
    judge_free(sim->judge);
    faults_done(&sim->faults);
    tree_unref(sim->shares_ad);
    for (uint32_t i = 0; i < PROVIDERS_MAX; i++)
        tree_unref(sim->offers[i]);
    tree_unref(sim->policy);
    for (uint32_t i = 0; i < USERS_MAX; i++)
        for (uint32_t k = 0; k < SHAPES; k++)
            tree_unref(sim->shapes[i][k]);
    for (uint32_t i = 0; i < USER_NODES; i++)
        tree_unref(sim->nodes[i]);
    build_done(&sim->build);
    world_free(sim->world);
}

/* --------------------------------------------------------------------------------------------------------- phases */

static bool sim_broken(const struct sim *sim)
{
    return judge_violation(sim->judge)->number != 0;
}

static void sim_until(struct sim *sim, int64_t until)
{
    while (!sim_broken(sim) && world_next(sim->world, until))
        ;
}

/* How long the quiet phase may last: everything that may delay it, and the jobs one after another. */
static int64_t quiet_bound(struct sim *sim, uint64_t jobs)
{
    const struct spans *spans = &sim->spans;
    int64_t rest = spans->window + spans->pin + spans->lease + spans_margin(spans) + spans->lifetime + spans->deadline;

    return 4 * rest + 2 * 30 * SECOND + (int64_t)jobs * 3 * SECOND;
}

/* Does any process run? Then something is left, and this is quicker to see than judge_left. */
static bool sim_runs(const struct sim *sim)
{
    const struct world *world = sim->world;

    for (uint32_t i = sim->parties.providers; i < sim->parties.users; i++)
        for (uint32_t at = world->hosts[i].processes; at != NOBODY;) {
            const struct process *process = slab_at(&world->processes, at);

            if (process_lives(process))
                return true;
            at = process->next;
        }
    return false;
}

/* One world of four is looked at before its jobs come to an end: does the matchmaker know how each machine stands? */
static bool sim_poses(uint64_t seed)
{
    return rng_mix(seed ^ 0x706f736573) % 4 == 0; /* "poses" */
}

static void sim_pose(struct sim *sim, uint64_t seed)
{
    struct world *world = sim->world;
    struct rates before = world->rates;

    world->rates.job_least = 2 * SECOND;
    world->rates.job_most = 20 * SECOND;
    judge_machines_watch(sim->judge);
    faults_pose(&sim->faults, seed);
    sim_until(sim, world->time + judge_machines_span(sim->judge));
    for (int i = 0; i < 3 && !sim_broken(sim); i++) {
        judge_machines(sim->judge);
        sim_until(sim, world->time + SECOND);
    }
    world->rates = before;
    faults_stop(&sim->faults);
}

static void sim_live(struct sim *sim, uint64_t seed)
{
    struct world *world = sim->world;
    uint64_t claims, jobs;
    int64_t bound;

    for (uint32_t i = 0; i < world->host_count; i++)
        host_start(world, &world->hosts[i]);
    world_plan(world, sim->spans.lease / 4, SWEEP_PLAN);
    sim_until(sim, sim_between(sim, 60, 180) * SECOND);
    if (sim->guest && !sim->guest->quiet)
        return;
    faults_stop(&sim->faults);
    sim_until(sim, world->time + seats_quiet(world));
    if (sim->guest)
        sim->guest->quiet(sim->guest->user);
    if (sim_poses(seed) && !world->seats)
        sim_pose(sim, seed);
    sim->quiet = true;
    world->rates.job_least = 100 * MILLISECOND;
    world->rates.job_most = SECOND;
    jobs = judge_left(sim->judge, &claims);
    bound = world->time + quiet_bound(sim, jobs);
    while (!sim_broken(sim) && world->time < bound) {
        sim_until(sim, world->time + SECOND);
        if (!sim_runs(sim) && judge_left(sim->judge, &claims) == 0 && claims == 0)
            break;
    }
    if (!sim_broken(sim))
        judge_late(sim->judge);
}

void sim_report_add(struct sim_report *sum, const struct sim_report *world)
{
    sum->worlds += world->worlds;
    sum->events += world->events;
    sum->claims += world->claims;
    sum->jobs += world->jobs;
    sum->preempted += world->preempted;
    sum->several += world->several;
    sum->grouped += world->grouped;
    gang_counts_add(&sum->gangs, &world->gangs);
    sum->faults += world->faults;
    for (uint32_t i = 0; i < FAULT_COUNT; i++)
        sum->by_fault[i] += world->by_fault[i];
    sum->time += world->time;
    sum->hash = rng_mix(sum->hash ^ world->hash);
    if (world->violation.number) {
        sum->failed = world->failed;
        sum->violation = world->violation;
    }
}

/* Runs one world. Its trace goes to the settings' buffer, `lines` lines of each party. */
static void world_report(uint64_t seed, const struct sim_settings *settings, uint32_t lines, struct sim_report *ret)
{
    struct sim *sim = mem_alloc(sizeof *sim);
    const struct world *world;

    sim_init(sim, seed, settings, lines);
    world = sim->world;
    sim_live(sim, seed);
    *ret = (struct sim_report){
        .worlds = 1,
        .events = world->events,
        .claims = judge_claims(sim->judge),
        .jobs = judge_done(sim->judge),
        .preempted = judge_preempted(sim->judge),
        .several = judge_several(sim->judge),
        .grouped = judge_grouped(sim->judge),
        .gangs = *judge_gangs(sim->judge),
        .hash = world->hash,
        .time = world->time,
        .violation = *judge_violation(sim->judge),
    };
    for (uint32_t i = 0; i < FAULT_COUNT; i++) {
        ret->by_fault[i] = world->faults[i];
        ret->faults += world->faults[i];
    }
    if (sim_broken(sim))
        ret->failed = seed;
    if (lines)
        trace_print(sim->trace, settings->trace);
    sim_done(sim);
    free(sim);
}

void sim_world(uint64_t seed, const struct sim_settings *settings, struct sim_report *ret)
{
    world_report(seed, settings, 0, ret);
}

int sim_run(const struct sim_settings *settings, struct sim_report *ret)
{
    struct sim_jobs *jobs = settings->guest ? NULL : sim_jobs_new(settings);
    struct sim_report world;
    bool goes_on = true;

    *ret = (struct sim_report){0};
    for (uint64_t seed = settings->seed; goes_on; seed++) {
        if (!jobs || !sim_jobs_next(jobs, &world))
            sim_world(seed, settings, &world);
        sim_report_add(ret, &world);
        goes_on = !world.violation.number && (!settings->progress || settings->progress(settings->user, ret)) &&
                  ret->claims < settings->claims && (!settings->worlds || ret->worlds < settings->worlds);
    }
    sim_jobs_free(jobs);
    if (!ret->violation.number)
        return 0;
    if (settings->trace && settings->lines)
        world_report(ret->failed, settings, settings->lines, &world); /* once more, for the trace */
    return -1;
}
