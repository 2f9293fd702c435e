/* pull_test.c: machines that pull from the queues of several pools, and a collaboration that offers its tasks to several centres: the
 * two examples of what pulling is for, in the simulated world, watched by the judge. */
#include "common/tap.h"
#include "lang/text/parse.h"
#include "pool/customer/customer.h"
#include "pool/matchmaker/matchmaker.h"
#include "pool/provider/provider.h"
#include "sim/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOLS_MAX 4
#define CUSTOMERS_MAX 5
#define MACHINES_MAX 6
#define LAUNCHES_MAX 4000

/* ------------------------------------------------------------------------------------------------- one who submits jobs */

struct submitter_settings {
    agent customer;
    const char *owner;
    struct tree *ad;
    uint64_t count;
};

static void *submitter_make(const void *settings)
{
    return (void *)(uintptr_t)settings;
}

static void submitter_free(void *role)
{
    (void)role;
}

static void submitter_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    const struct submitter_settings *settings = role;
    struct message message = {.kind = MESSAGE_SUBMIT};

    (void)env;
    if (event->kind != EVENT_BOOTED || !settings->count)
        return;
    message.u.submit.count = settings->count;
    message.u.submit.ad = settings->ad;
    text_set(&message.u.submit.key, "once", 4);
    text_set(&message.u.submit.owner, settings->owner, strlen(settings->owner));
    effects_send(effects, settings->customer, &message, 1, 1, 0);
}

static const struct role_kind submitter_role = {"submitter", submitter_make, submitter_free, submitter_step, NULL};

/* ---------------------------------------------------------------------------------------------------------- a world */

struct launch {
    uint32_t customer, machine;
    int64_t at;
    bool first; /* of its claim */
};

struct scene {
    struct world *world;
    struct judge *judge;
    struct spans spans;
    struct build build;
    struct parties parties;
    struct matchmaker_settings matchmakers[POOLS_MAX];
    struct customer_settings customers[CUSTOMERS_MAX];
    struct customer_pool offered[CUSTOMERS_MAX][POOLS_MAX];
    struct submitter_settings submitters[CUSTOMERS_MAX];
    struct provider_settings machines[MACHINES_MAX];
    struct provider_pool pulled[MACHINES_MAX][POOLS_MAX];
    struct tree *trees[64];
    uint32_t tree_count, matchmaker_count, customer_count, machine_count;
    struct tree *machine_ad;
    uint64_t ids[MACHINES_MAX];
    char names[HOSTS_MAX][16];
    struct launch launches[LAUNCHES_MAX];
    uint32_t launch_count;
    uint32_t aborts, constraint, pulls; /* heard by machines; refused by a constraint; pulls that were sent */
};

static struct tree *ad_of(struct scene *scene, const char *text)
{
    struct err err = {0};
    struct tree *ad = parse_ad(&scene->build, NULL, text, strlen(text), &err);

    if (!ad)
        printf("Bail out! %s: %s\n", text, err.text);
    return scene->trees[scene->tree_count++] = ad;
}

static struct scene *scene_new(uint64_t seed)
{
    struct scene *scene = calloc(1, sizeof *scene);

    scene->spans = spans_default;
    scene->spans.life = SECOND; /* a claim does one job, or a few that are short */
    scene->world = world_new(seed, &scene->spans);
    scene->world->check = true;
    scene->world->rates.job_least = 2 * SECOND;
    scene->world->rates.job_most = 4 * SECOND;
    build_init(&scene->build, scene->world->symbols, &dialect_classic);
    return scene;
}

static uint32_t host_add(struct scene *scene, const struct role_kind *kind, const void *settings, const char *identity,
                         bool any)
{
    char *name = scene->names[scene->world->host_count];

    snprintf(name, 16, "%.9s%u", kind->name, scene->world->host_count);
    return world_add(scene->world, kind, settings, identity, any, name);
}

static void matchmakers_add(struct scene *scene, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        scene->matchmakers[i] = (struct matchmaker_settings){.self = 1 + i, .spans = &scene->spans};
        host_add(scene, &matchmaker_role, &scene->matchmakers[i], "pool", true);
    }
    scene->matchmaker_count = count;
    scene->parties.customers = count;
}

/* A customer with jobs of one kind, which it offers to those pools. */
static void customer_add(struct scene *scene, const char *owner, const char *ad, uint64_t jobs,
                         const struct customer_pool *pools, uint32_t pool_count)
{
    uint32_t i = scene->customer_count++;

    memcpy(scene->offered[i], pools, pool_count * sizeof *pools);
    scene->customers[i] = (struct customer_settings){.self = scene->world->host_count + 1,
                                                     .matchmaker = pools[0].matchmaker,
                                                     .spans = &scene->spans,
                                                     .pools = scene->offered[i],
                                                     .pool_count = pool_count};
    scene->submitters[i] = (struct submitter_settings){scene->world->host_count + 1, owner, ad_of(scene, ad), jobs};
    host_add(scene, &customer_role, &scene->customers[i], "customer", true);
    scene->parties.providers = scene->world->host_count;
}

static void machine_add(struct scene *scene, const struct provider_pool *pools, uint32_t pool_count)
{
    uint32_t i = scene->machine_count++;

    if (!scene->machine_ad)
        scene->machine_ad = ad_of(
            scene, "[ Type = \"Machine\"; Memory = 64; Constraint = other.Type == \"Job\" && other.Size <= Memory ]");
    memcpy(scene->pulled[i], pools, (pool_count ? pool_count : 1) * sizeof *pools);
    scene->ids[i] = 500 + i;
    scene->machines[i] = (struct provider_settings){.self = scene->world->host_count + 1,
                                                    .matchmaker = pools[0].matchmaker,
                                                    .spans = &scene->spans,
                                                    .identity = "owner",
                                                    .ids = &scene->ids[i],
                                                    .ads = &scene->machine_ad,
                                                    .count = 1,
                                                    .pools = scene->pulled[i],
                                                    .pool_count = pool_count};
    host_add(scene, &provider_role, &scene->machines[i], "owner", false);
    scene->parties.users = scene->world->host_count;
}

static void scene_launched(void *user, const struct host *host, struct process *process)
{
    struct scene *scene = user;

    if (scene->launch_count < LAUNCHES_MAX)
        scene->launches[scene->launch_count++] =
            (struct launch){(uint32_t)process->superior - 1 - scene->parties.customers,
                            host->place - scene->parties.providers, scene->world->time, process->number == 1};
}

static void scene_stepped(void *user, struct host *host, const struct role_env *env, const struct event *event)
{
    struct scene *scene = user;

    (void)env;
    if (event->kind == EVENT_MESSAGE && event->message->kind == MESSAGE_ABORT &&
        host->place >= scene->parties.providers)
        scene->aborts++;
    if (event->kind == EVENT_ANSWER && event->answer == ANSWER_GOT && event->message->kind == MESSAGE_VERIFIED)
        scene->constraint += event->message->u.verified.reason == REASON_CONSTRAINT;
    if (event->kind == EVENT_ANSWER && event->answer == ANSWER_GOT && event->message->kind == MESSAGE_PULLED)
        scene->pulls++;
}

static void scene_start(struct scene *scene)
{
    static const char *const owners[CUSTOMERS_MAX] = {"o0", "o1", "o2", "o3", "o4"};

    for (uint32_t i = 0; i < scene->customer_count; i++) {
        scene->submitters[i].owner = owners[i];
        host_add(scene, &submitter_role, &scene->submitters[i], owners[i], false);
    }
    scene->parties.end = scene->parties.users; /* those who submit are nobody's business */
    scene->judge = judge_new(scene->world, &scene->parties);
    judge_heeds(scene->judge, UINT32_MAX);
    world_watch(scene->world, &(struct watch){.user = scene, .launched = scene_launched, .stepped = scene_stepped});
    for (uint32_t i = 0; i < scene->world->host_count; i++)
        host_start(scene->world, &scene->world->hosts[i]);
}

static void scene_until(struct scene *scene, int64_t seconds)
{
    while (!judge_violation(scene->judge)->number && world_next(scene->world, seconds * SECOND))
        ;
}

static void scene_free(struct scene *scene, const char *what)
{
    const struct violation *violation = judge_violation(scene->judge);

    tap_ok(!violation->number, "no invariant breaks: %s%s%s", what, violation->number ? ": " : "", violation->words);
    judge_free(scene->judge);
    for (uint32_t i = 0; i < scene->tree_count; i++)
        tree_unref(scene->trees[i]);
    build_done(&scene->build);
    world_free(scene->world);
    free(scene);
}

static uint32_t launches_of(const struct scene *scene, uint32_t customer, int64_t from, int64_t to)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < scene->launch_count; i++)
        count += scene->launches[i].customer == customer && scene->launches[i].at >= from * SECOND &&
                 scene->launches[i].at < to * SECOND;
    return count;
}

static int64_t last_launch(const struct scene *scene, uint32_t customer)
{
    int64_t last = 0;

    for (uint32_t i = 0; i < scene->launch_count; i++)
        if (scene->launches[i].customer == customer)
            last = scene->launches[i].at;
    return last / SECOND;
}

/* ------------------------------------------------------------------- a department's cluster, and who may use it */

static const char *const queue_names[POOLS_MAX] = {"group", "department", "university", "world"};

/* Four queues; each has jobs, and the group's may only be of the group. */
static struct scene *department(const uint64_t jobs[POOLS_MAX], const double shares[POOLS_MAX])
{
    static const char *const ads[POOLS_MAX] = {
        "[ Type = \"Job\"; Size = 8; Group = \"hep\"; Department = \"physics\"; Constraint = other.Memory >= 8 ]",
        "[ Type = \"Job\"; Size = 8; Department = \"physics\"; Constraint = other.Memory >= 8 ]",
        "[ Type = \"Job\"; Size = 8; Constraint = other.Memory >= 8 ]",
        "[ Type = \"Job\"; Size = 8; Constraint = other.Memory >= 8 ]",
    };
    struct scene *scene = scene_new(1);
    struct provider_pool pools[POOLS_MAX];

    matchmakers_add(scene, POOLS_MAX);
    for (uint32_t i = 0; i < POOLS_MAX; i++)
        customer_add(scene, queue_names[i], ads[i], jobs[i], &(struct customer_pool){1 + i, queue_names[i]}, 1);
    for (uint32_t i = 0; i < POOLS_MAX; i++)
        pools[i] = (struct provider_pool){.matchmaker = 1 + i, .share = shares ? shares[i] : 0};
    pools[0].access = ad_of(scene, "[ Constraint = other.Group == \"hep\" ]");
    pools[1].access = ad_of(scene, "[ Constraint = other.Department == \"physics\" ]");
    for (uint32_t i = 0; i < 4; i++)
        machine_add(scene, pools, POOLS_MAX);
    return scene;
}

static void test_strict(void)
{
    static const uint64_t jobs[POOLS_MAX] = {60, 40, 30, 20};
    struct scene *scene = department(jobs, NULL);
    uint32_t others = 0;
    bool in_order = true;
    uint64_t left = 0;

    scene_start(scene);
    scene_until(scene, 600);
    for (uint32_t i = 0; i < POOLS_MAX; i++) {
        left += jobs[i] - launches_of(scene, i, 0, 600);
        for (uint32_t k = i + 1; k < POOLS_MAX; k++)
            others += launches_of(scene, k, 10, last_launch(scene, i));
        in_order = in_order && (!i || last_launch(scene, i) > last_launch(scene, i - 1));
    }
    tap_ok(left == 0, "machines of a department that pull do the jobs of all four queues: %u", scene->launch_count);
    tap_ok(in_order, "the group's queue is empty first, then the department's, the university's, the world's");
    tap_ok(others == 0, "while a queue has jobs, none of a lower one is begun");
    tap_ok(scene->pulls > 150 && matchmaker_counts(scene->world->hosts[0].role).ads == 0,
           "nothing was advertised by machines, and no request is left");
    scene_free(scene, "strict queues");
}

static void test_shares(void)
{
    static const uint64_t jobs[POOLS_MAX] = {600, 0, 0, 200};
    static const double shares[POOLS_MAX] = {1.0, 0, 0, 0.1};
    struct scene *scene = department(jobs, shares);
    uint32_t group, world;

    scene_start(scene);
    scene_until(scene, 400);
    group = launches_of(scene, 0, 20, 400);
    world = launches_of(scene, 3, 20, 400);
    tap_ok(group > 200 && world * 100 >= (group + world) * 7 && world * 100 <= (group + world) * 14,
           "{ \"group\", 1.0 }, { \"world\", 0.1 }: the world gets its tenth though the group has jobs: %u of %u",
           world, group + world);
    scene_free(scene, "shares");
    {
        static const uint64_t few[POOLS_MAX] = {600, 0, 0, 3};

        scene = department(few, shares);
        scene_start(scene);
        scene_until(scene, 200);
        group = launches_of(scene, 0, 100, 200);
        tap_ok(launches_of(scene, 3, 0, 200) == 3 && group > 80,
               "a share that nobody asks for is the others': %u jobs of the group in 100 s", group);
        scene_free(scene, "a share that is not used");
    }
}

static void test_access(void)
{
    struct scene *scene = scene_new(2);
    struct provider_pool pools[2] = {{.matchmaker = 1}, {.matchmaker = 2}};

    matchmakers_add(scene, 2);
    customer_add(scene, "a", "[ Type = \"Job\"; Size = 8; Constraint = other.Memory >= 8 ]", 5,
                 &(struct customer_pool){1, "group"}, 1);
    customer_add(scene, "b", "[ Type = \"Job\"; Size = 8; Group = \"hep\"; Constraint = other.Memory >= 8 ]", 5,
                 &(struct customer_pool){1, "group"}, 1);
    customer_add(scene, "c", "[ Type = \"Job\"; Size = 8; Constraint = other.Memory >= 8 ]", 5,
                 &(struct customer_pool){2, "world"}, 1);
    pools[0].access = ad_of(scene, "[ Constraint = other.Group == \"hep\" ]");
    for (uint32_t i = 0; i < 2; i++)
        machine_add(scene, pools, 2);
    scene_start(scene);
    scene_until(scene, 120);
    tap_ok(launches_of(scene, 0, 0, 120) == 0, "who is not of the group gets nothing by the group's queue");
    tap_ok(launches_of(scene, 1, 0, 120) == 5 && launches_of(scene, 2, 0, 120) == 5,
           "the group does, and others by the queue that is for all");
    tap_ok(scene->constraint == 0 && scene->aborts == 0, "and nobody was matched in vain");
    scene_free(scene, "access rules");
}

/* ------------------------------------------------------------------------------------ a collaboration, and its centres */

static const struct customer_pool centres[3] = {{1, "north"}, {2, "south"}, {3, "east"}};

/* Machines that pull, or that advertise. */
static struct scene *collaboration(const char *ad, uint64_t tasks, bool pull)
{
    struct scene *scene = scene_new(3);

    matchmakers_add(scene, 3);
    customer_add(scene, "cms", ad, tasks, centres, 3);
    for (uint32_t i = 0; i < 6; i++)
        machine_add(scene, &(struct provider_pool){.matchmaker = 1 + i % 3}, pull ? 1 : 0);
    return scene;
}

static uint32_t launches_at(const struct scene *scene, uint32_t centre)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < scene->launch_count; i++)
        count += scene->launches[i].machine % 3 == centre;
    return count;
}

static void count_tenant(void *user, const struct tenant_view *tenant)
{
    (void)tenant;
    ++*(uint32_t *)user;
}

static void test_collaboration(void)
{
    struct scene *scene = collaboration("[ Type = \"Job\"; Size = 8; Constraint = other.Memory >= 8 ]", 100, true);
    uint64_t ads = 0, done;
    uint32_t tenants = 0;

    scene_start(scene);
    scene_until(scene, 300);
    done = judge_done(scene->judge);
    tap_ok(done == 100 && scene->launch_count == 100, "tasks that are offered to three centres are each done once: %u",
           scene->launch_count);
    tap_ok(launches_at(scene, 0) > 15 && launches_at(scene, 1) > 15 && launches_at(scene, 2) > 15,
           "at all of them: %u, %u and %u", launches_at(scene, 0), launches_at(scene, 1), launches_at(scene, 2));
    for (uint32_t i = 0; i < 3; i++)
        ads += matchmaker_counts(scene->world->hosts[i].role).ads;
    for (uint32_t i = scene->parties.providers; i < scene->parties.users; i++)
        provider_each(scene->world->hosts[i].role, count_tenant, &tenants);
    tap_ok(ads == 0 && tenants == 0, "then none is offered anywhere, and no machine is kept");
    scene_free(scene, "several centres");
}

/* One task, and machines at all centres that wait for it: each centre gives it to one, and the first claim wins. */
static void test_first_wins(void)
{
    struct scene *scene = collaboration("[ Type = \"Job\"; Size = 8; Constraint = other.Memory >= 8 ]", 0, false);
    uint32_t tenants = 0;

    scene_start(scene);
    scene_until(scene, 5);
    scene->submitters[0].count = 1;
    host_event(scene->world, &scene->world->hosts[scene->parties.users], &(struct event){.kind = EVENT_BOOTED});
    scene_until(scene, 9);
    for (uint32_t i = scene->parties.providers; i < scene->parties.users; i++)
        provider_each(scene->world->hosts[i].role, count_tenant, &tenants);
    tap_ok(scene->launch_count == 1, "of three claims for one task the first wins");
    tap_ok(scene->aborts == 2, "the others are stale, and their machines hear so: %u", scene->aborts);
    tap_ok(tenants <= 1, "long before the window is over: they are free for others");
    scene_free(scene, "the first claim wins");
}

static void test_chosen(void)
{
    struct scene *scene = collaboration(
        "[ Type = \"Job\"; Size = 8; Pools = { \"north\", \"east\" }; Constraint = other.Memory >= 8 ]", 40, true);

    scene_start(scene);
    scene_until(scene, 200);
    tap_ok(launches_at(scene, 0) + launches_at(scene, 2) == 40 && launches_at(scene, 1) == 0,
           "a job's Pools says where it is offered");
    scene_free(scene, "Pools");
}

int main(void)
{
    test_strict();
    test_shares();
    test_access();
    test_collaboration();
    test_first_wins();
    test_chosen();
    return tap_done();
}
