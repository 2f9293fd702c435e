/* engine_gang_test.c: roots with Ports gather gangs in the engine, beside those without, and wait for nothing but what could help. */
#include "common/lang.h"
#include "common/tap.h"

#include "pool/engine/engine.h"

#include <time.h>

#define NOON 1772366400

struct world {
    struct lang lang;
    struct engine *engine;
    struct env env;
    struct buf made; /* of the last cycle: "root-offer" for a pair, "root+offer+offer/superior" for a gang */
    uint64_t arrivals;
    double slowest; /* step, in milliseconds */
};

static void found(void *user, uint32_t root, uint32_t offered, const struct value *rank, struct tree *left)
{
    struct world *world = user;

    (void)rank, (void)left;
    buf_addf(&world->made, "%s%u-%u", world->made.len ? " " : "", root, offered);
}

static void gang(void *user, uint32_t root, const struct engine_member *members, uint32_t count)
{
    struct world *world = user;

    buf_addf(&world->made, "%s%u", world->made.len ? " " : "", root);
    for (uint32_t i = 0; i < count; i++) {
        buf_addf(&world->made, "+%u", members[i].offer);
        if (members[i].parent != ENGINE_ROOT)
            buf_addf(&world->made, "/%u", members[members[i].parent].offer);
    }
}

static void world_init(struct world *world)
{
    lang_init(&world->lang);
    buf_init(&world->made);
    world->engine = engine_new(world->lang.symbols);
    engine_on_gang(world->engine, gang);
    world->env = (struct env){.now = NOON, .seed = 1};
    world->arrivals = 0;
    world->slowest = 0;
}

static void world_done(struct world *world)
{
    engine_free(world->engine);
    buf_done(&world->made);
    lang_done(&world->lang);
}

static void put(struct world *world, uint32_t id, const char *text, struct engine_terms terms)
{
    struct err err = {0};
    struct tree *ad = lang_ad(&world->lang, &dialect_classic, text, &err);

    if (!ad) {
        printf("Bail out! %s: %u:%u: %s\n", text, err.line, err.column, err.text);
        exit(1);
    }
    engine_put(world->engine, id, ad, &terms);
    tree_unref(ad);
}

static void offer(struct world *world, uint32_t id, const char *text)
{
    put(world, id, text, (struct engine_terms){false, 1, ++world->arrivals, 0});
}

static void request(struct world *world, uint32_t id, const char *text)
{
    put(world, id, text, (struct engine_terms){true, 1, ++world->arrivals, 0});
}

static double milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static const char *cycle(struct world *world, uint64_t units)
{
    const char *why = "";
    double from, took;
    bool more;

    buf_reset(&world->made);
    world->env.seed++;
    engine_begin(world->engine, &world->env);
    do {
        from = milliseconds();
        more = engine_step(world->engine, &world->lang.arena, units, found, world);
        took = milliseconds() - from;
        world->slowest = took > world->slowest ? took : world->slowest;
    } while (more);
    if (!engine_valid(world->engine, &why))
        tap_ok(false, "the engine is in order: %s", why);
    return buf_string(&world->made);
}

static void expect(struct world *world, const char *matches, const char *sentence)
{
    const char *made = cycle(world, UINT64_MAX);

    if (!tap_ok(strcmp(made, matches) == 0, "%s", sentence))
        tap_diag("expected %s, got %s", matches, made);
}

static uint64_t tried(const struct world *world)
{
    return engine_counts(world->engine).tried;
}

/* --------------------------------------------------------------------------------------------------------------- */

#define CPU "[ Type = \"cpu\"; Memory = 4 ]"
#define BIG_CPU "[ Type = \"cpu\"; Memory = 8 ]"
#define LICENCE "[ Type = \"lic\" ]"
#define PLAIN "[ Constraint = other.Type == \"cpu\" ]"
#define GANG                                                                                            \
    "[ Ports = { [ Label = cpu; Constraint = cpu.Type == \"cpu\"; Rank = cpu.Memory ], [ Label = lic; " \
    "Constraint = lic.Type == \"lic\" ] } ]"
#define TWO "[ Ports = { [ Label = cpu; Count = 2; Constraint = cpu.Type == \"cpu\" ] } ]"
/* A service takes whoever asks, and needs a disk. */
#define SERVICE(more) \
    "[ Type = \"service\"; " more "Ports = { [ Label = user ], [ Label = disk; Constraint = disk.Type == \"disk\" ] } ]"
#define USER "[ Constraint = other.Type == \"service\" ]"

static void test_whole(struct world *world)
{
    request(world, 10, GANG);
    offer(world, 1, CPU);
    expect(world, "", "a root with ports gets nobody when one of its ports stays empty");
    tap_ok(engine_outcome(world->engine, 10) == ENGINE_NOBODY && engine_units(world->engine, 1) == 1,
           "and nothing is taken for it");
    offer(world, 2, LICENCE);
    offer(world, 3, BIG_CPU);
    expect(world, "10+3+2", "it gets the best for each of its ports, all at once");
    tap_ok(engine_outcome(world->engine, 10) == ENGINE_MATCHED && engine_units(world->engine, 3) == 0 &&
               engine_units(world->engine, 2) == 0,
           "a unit of the root and of each member is taken");
    expect(world, "", "a gang is made once");
}

static void test_beside(struct world *world)
{
    request(world, 10, PLAIN);
    request(world, 11, GANG);
    request(world, 12, PLAIN);
    request(world, 13, PLAIN);
    for (uint32_t i = 1; i <= 3; i++)
        offer(world, i, CPU);
    offer(world, 4, LICENCE);
    expect(world, "10-1 11+2+4 12-3", "roots with ports and without are served in one order, from the same offers");
}

static void test_fair(struct world *world)
{
    put(world, 10, GANG, (struct engine_terms){true, 1, 1, 1});
    put(world, 11, PLAIN, (struct engine_terms){true, 1, 2, 2});
    engine_set_priority(world->engine, 1, 5);
    offer(world, 1, CPU);
    offer(world, 2, LICENCE);
    expect(world, "11-1", "who has used more comes later, with ports or without");
}

static void test_waits(struct world *world)
{
    request(world, 10, GANG);
    offer(world, 1, CPU);
    cycle(world, UINT64_MAX);
    offer(world, 2, "[ Type = \"disk\" ]");
    expect(world, "", "an offer that fits none of its ports does not help");
    tap_ok(tried(world) == 0, "and it is not tried again for it");
    offer(world, 3, BIG_CPU);
    cycle(world, UINT64_MAX);
    tap_ok(tried(world) == 0,
           "nor for one more at a port for which there is somebody, while there is nobody for another");
    offer(world, 4, LICENCE);
    expect(world, "10+3+4", "it is for one at the port that nobody fitted");
}

static void test_one_more(struct world *world)
{
    request(world, 10, TWO);
    offer(world, 1, CPU);
    expect(world, "", "a set of two is not one");
    offer(world, 2, CPU);
    expect(world, "10+1+2", "one more, just like the other, makes it two");
}

static const char halves[] = "[ Ports = { [ Label = cpu; Count = 2; Constraint = cpu.Cpus == 1 ] } ]";

static void test_left_in_time(struct world *world)
{
    request(world, 10, halves);
    request(world, 11, "[ Constraint = other.Cpus == 2 ]");
    request(world, 12, halves);
    offer(world, 2, "[ Cpus = 1; Residual = [ Cpus = Cpus - 1 ] ]");
    offer(world, 1, "[ Cpus = 2; Residual = [ Cpus = Cpus - 1 ] ]");
    expect(world, "11-1 12+2+1", "what is left of an offer is there for those behind, though one like them has failed");
}

static void test_left_is_one_more(struct world *world)
{
    request(world, 10, halves);
    request(world, 11, "[ Constraint = other.Cpus == 2 ]");
    offer(world, 2, "[ Cpus = 1; Residual = [ Cpus = Cpus - 1 ] ]");
    offer(world, 1, "[ Cpus = 2; Residual = [ Cpus = Cpus - 1 ] ]");
    expect(world, "11-1", "what is left of an offer comes too late for those before");
    expect(world, "10+2+1", "but it makes two with one like it, in the next cycle");
}

static void test_residual(struct world *world)
{
    static const char divided[] = "[ Type = \"cpu\"; Cpus = 3; Residual = [ Cpus = Cpus - other.Need ] ]";
    static const char wants[] = "[ Ports = { [ Label = cpu; Need = 2; Constraint = cpu.Cpus >= 2 ] } ]";

    request(world, 10, wants);
    request(world, 11, wants);
    request(world, 12, "[ Need = 1; Constraint = other.Cpus >= 1 ]");
    offer(world, 1, divided);
    expect(world, "10+1 12-1", "what is left of a member goes on: what the port it docked at asked for is taken off");
}

static void test_services(struct world *world)
{
    request(world, 10, USER);
    offer(world, 1, SERVICE(""));
    expect(world, "", "a service that lacks what it needs is given to nobody");
    for (uint32_t i = 20; i < 24; i++) { /* what is asked for again and again is in the index */
        offer(world, i, "[ Type = \"tape\" ]");
        cycle(world, UINT64_MAX);
    }
    tap_ok(tried(world) == 0, "an offer that the service has no use for wakes nobody");
    offer(world, 3, "[ Type = \"disk\" ]");
    expect(world, "10+1+3/1", "what it needs comes with it, also for a root without ports");
}

static void test_deep(struct world *world)
{
    request(world, 10, "[ Ports = { [ Label = s; Constraint = s.Type == \"front\" ] } ]");
    offer(world, 1,
          "[ Type = \"front\"; Ports = { [ Label = u ], [ Label = s; Constraint = s.Type == \"service\" ] } ]");
    offer(world, 2, SERVICE(""));
    expect(world, "", "a chain lacks its last link");
    offer(world, 3, "[ Type = \"disk\" ]");
    expect(world, "10+1+2/1+3/2", "the last link, three levels below, wakes the root");
}

static void test_offers_read_offers(struct world *world)
{
    request(world, 10, USER);
    offer(world, 1, SERVICE("Level = 1; "));
    offer(world, 2, SERVICE("Level = 2; "));
    cycle(world, UINT64_MAX);
    offer(world, 3, "[ Type = \"disk\"; Constraint = other.Level == 2 ]");
    expect(world, "10+2+3/2", "services that only a disk can tell apart are told apart");
}

static void test_shared(struct world *world)
{
    offer(world, 1, "[ Memory = 4 ]");
    offer(world, 2, "[ Memory = 4; Residual = [ Memory = Memory - 1 ] ]");
    request(world, 10,
            "[ Ports = { [ Label = a; Share = true ], [ Label = b; Share = true; Constraint = b.Memory == 4 ] } ]");
    expect(world, "10+1+1", "an offer may be shared, and is not taken for one like it of which something else is left");
}

static void test_plain_pool(struct world *world)
{
    request(world, 10, USER);
    offer(world, 1, "[ Type = \"service\"; Fast = 0 ]");
    offer(world, 2, SERVICE("Fast = 1; "));
    expect(world, "10+1", "whom a root cannot have is passed over");
    request(world, 11, USER);
    engine_on_gang(world->engine, NULL);
    offer(world, 3, "[ Type = \"disk\" ]");
    expect(world, "", "with nobody to be told of gangs there are none");
    engine_on_gang(world->engine, gang);
    offer(world, 4, "[ Type = \"disk\" ]");
    expect(world, "11+2+3/2", "until there is somebody");
}

static void test_broken(struct world *world)
{
    request(world, 10, "[ Ports = 7 ]");
    offer(world, 1, "[ Type = \"cpu\"; Ports = { [ A = 1 ] } ]");
    request(world, 11, PLAIN);
    expect(world, "", "ads whose ports are not in order are in no gang");
}

static void test_changes(struct world *world)
{
    request(world, 10, GANG);
    offer(world, 1, LICENCE);
    offer(world, 2, "[ Type = \"disk\" ]");
    cycle(world, UINT64_MAX);
    put(world, 2, CPU, (struct engine_terms){false, 1, 3, 0});
    expect(world, "10+2+1", "an offer that has changed is another");
    request(world, 11, GANG);
    offer(world, 3, CPU);
    cycle(world, UINT64_MAX);
    engine_remove(world->engine, 3);
    offer(world, 4, LICENCE);
    expect(world, "", "one that has gone is in no gang");
    request(world, 11, PLAIN);
    offer(world, 5, CPU);
    expect(world, "11-5", "a root that has no ports any more is one like others");
}

static void test_classes(struct world *world)
{
    for (uint32_t i = 0; i < 50; i++) {
        request(world, 100 + i, GANG);
        offer(world, i, CPU);
    }
    cycle(world, UINT64_MAX);
    tap_ok(engine_classes(world->engine, true) == 1 && engine_classes(world->engine, false) == 1 && tried(world) == 1,
           "of many that are alike one is tried, and fails for all");
    request(world, 200, "[ Ports = { [ Label = cpu; Constraint = cpu.Memory > 3 ] } ]");
    expect(world, "200+0", "one with other ports is not like them");
    for (uint32_t i = 0; i < 30; i++)
        offer(world, 300 + i, LICENCE);
    cycle(world, UINT64_MAX);
    tap_ok(engine_counts(world->engine).matches == 30, "each of them gets its own when there is something");
}

/* Nobody can tell that no five machines multiply to that but by trying. */
static void test_gives_up(struct world *world)
{
    char text[64];

    request(world, 100,
            "[ Ports = { [ Label = a; Constraint = a.Key > 0 ], [ Label = b; Constraint = b.Key > 0 ], "
            "[ Label = c; Constraint = c.Key > 0 ], [ Label = d; Constraint = d.Key > 0 ], "
            "[ Label = e; Constraint = e.Key > 0 && a.Key * b.Key * c.Key * d.Key * e.Key % 1000003 == 1000002 ] } ]");
    request(world, 101, "[ Constraint = other.Key == 30 ]");
    for (uint32_t i = 1; i <= 60; i++) {
        snprintf(text, sizeof text, "[ Key = %u ]", i);
        offer(world, i, text);
    }
    buf_reset(&world->made);
    tap_ok(strcmp(cycle(world, 4000), "101-30") == 0 && engine_outcome(world->engine, 100) == ENGINE_GAVE_UP,
           "a search that takes too long gives up, and others are served");
    tap_diag("the slowest step took %.1f ms", world->slowest);
    offer(world, 61, "[ Kay = 1 ]");
    cycle(world, UINT64_MAX);
    tap_ok(tried(world) == 0, "it is not tried again before an offer comes that fits");
}

#if defined(TESTS_SANITIZED)
#define MANY 2000 /* a sanitizer looks at the code, and is slow */
#else
#define MANY 10000
#endif

static void test_many_wait(struct world *world)
{
    char text[200];
    uint64_t evaluations = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text,
                 "[ Ports = { [ Label = a; Constraint = a.Key == %u ], [ Label = b; Constraint = b.Key == %u ] } ]",
                 2 * i, 2 * i + 1);
        request(world, i, text);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "[ Key = %u ]", 2 * i);
        offer(world, 20000 + i, text);
    }
    cycle(world, UINT64_MAX);
    world->slowest = 0;
    for (uint32_t i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "[ Key = %u ]", 30000 + i);
        offer(world, 30000 + i, text);
        cycle(world, UINT64_MAX);
        evaluations += engine_counts(world->engine).evaluations + tried(world);
    }
    tap_ok(evaluations == 0, "offers that fit none of %d gangs that wait cost no search", MANY);
    tap_diag("a cycle with one took %.3f ms at the most", world->slowest);
    offer(world, 40000, "[ Key = 1001 ]");
    expect(world, "500+20500+40000", "and one that fits a single one of them finds it");
    tap_ok(tried(world) == 1, "trying no other");
}

#define TAKEN(current, rank) \
    "[ Type = \"cpu\"; Memory = 9; Preempts = \"a\"; RemoteUser = \"eve\"; CurrentRank = " current "; Rank = " rank " ]"

static void test_preempts(struct world *world)
{
    offer(world, 1, TAKEN("2", "3"));
    offer(world, 2, TAKEN("3", "3"));
    offer(world, 3, CPU);
    offer(world, 4, LICENCE);
    request(world, 10, GANG);
    expect(world, "10+3+4", "a gang gets what is free before what is in use, whatever its ranks");
    offer(world, 4, LICENCE);
    request(world, 11, GANG);
    expect(world, "11+1+4", "a claim has to go for a member of a gang only if its machine likes that better");
    offer(world, 4, LICENCE);
    request(world, 12, GANG);
    expect(world, "", "and for no other");
}

static void test_preempts_set(struct world *world)
{
    for (uint32_t i = 1; i <= 4; i++)
        offer(world, i, i < 4 ? TAKEN("3", "3") : CPU);
    request(world, 10, "[ Ports = { [ Label = cpu; Count = 2; Constraint = cpu.Type == \"cpu\" ] } ]");
    request(world, 11, "[ Ports = { [ Label = cpu; Count = 2; Constraint = cpu.Type == \"cpu\"; Rank = SetSize ] } ]");
    expect(world, "", "nobody has to go for a set of those that like their claims as much");
    offer(world, 5, CPU);
    expect(world, "10+4+5", "it gets those that are free");
    offer(world, 6, TAKEN("2", "3"));
    offer(world, 7, CPU);
    expect(world, "11+6+7", "a set that ranks as a whole may be of one that is free, and one that prefers it");
}

static void test_preempts_plain(struct world *world)
{
    offer(world, 1, TAKEN("3", "3"));
    offer(world, 2, SERVICE("Rank = 1; "));
    request(world, 10, "[ Constraint = other.Type == \"cpu\" || other.Type == \"service\" ]");
    expect(world, "", "a root without ports that could have a service sends nobody away for nothing");
}

/* Figure 9's way: who is free first; a better user may have what is in use. */
static void test_users(struct world *world)
{
    static const char text[] =
        "[ DockingVector = { label.RemoteUser is undefined ? 1 : label.RemoteUserPrio > UserPrio * "
        "1.1 ? 0 : error, label.RemoteUser is undefined ? 0 : label.RemoteUserPrio } ]";
    struct err err;
    struct tree *ad = lang_ad(&world->lang, &dialect_classic, text, &err);

    engine_give_users(world->engine);
    tap_ok(ad && engine_set_policy(world->engine, ad, NULL, &err) == 0, "a policy that reads what users have used");
    tree_unref(ad);
    for (uint32_t user = 1; user <= 3; user++)
        engine_set_priority(world->engine, user, user);
    put(world, 12, GANG, (struct engine_terms){true, 1, 1, 2});
    offer(world, 1, TAKEN("0", "0"));
    engine_set_remote(world->engine, 1, 2 + 1);
    offer(world, 2, LICENCE);
    expect(world, "", "does not discard what is free, nor give what is in use to a user who is no better");
    put(world, 11, GANG, (struct engine_terms){true, 1, 2, 1});
    tap_ok(engine_classes(world->engine, true) == 1, "gangs of two users are of one class");
    expect(world, "11+1+2", "and each is tried by itself: the better user's has it");
    offer(world, 2, LICENCE);
    offer(world, 3, CPU);
    expect(world, "12+3+2", "what is free is for everybody");
}

static void test_users_ports(struct world *world)
{
    engine_give_users(world->engine);
    for (uint32_t user = 1; user <= 2; user++)
        engine_set_priority(world->engine, user, user);
    offer(world, 1, CPU);
    offer(world, 2, "[ Type = \"lic\"; Constraint = UserPrio > 1.5 ]");
    put(world, 11, GANG, (struct engine_terms){true, 1, 1, 1});
    put(world, 12, GANG, (struct engine_terms){true, 1, 2, 2});
    expect(world, "12+1+2", "a member may read the priority of the root's user");
    offer(world, 1, CPU);
    put(world, 12,
        "[ Ports = { [ Label = cpu; Constraint = cpu.Type == \"cpu\" && UserPrio == 2 && RemoteUserPrio is undefined ] } ]",
        (struct engine_terms){true, 1, 3, 2});
    expect(world, "12+1", "and so may a port");
}

static void test_in_use(struct world *world)
{
    request(world, 1, "[ Size = 2; Ports = { [ Label = cpu; Constraint = cpu.Memory > 0 ] } ]");
    offer(world, 10, "[ Memory = 1; Rank = other.Size; Preempts = \"c1\"; CurrentRank = 2 ]");
    expect(world, "", "a machine that is in use is not taken from whom its owner likes as much");
    offer(world, 11, "[ Memory = 1; Rank = other.Size; Preempts = \"c2\"; CurrentRank = 1 ]");
    expect(world, "1+11", "but from whom it likes less");
}

/* What those say of their ports who would have all of a matchmaker's time. */
static void hostile_ports(struct buf *out, unsigned kind)
{
    static const unsigned counts[] = {60, 12, 6, 8, 16, 20};

    buf_adds(out, "Ports = { ");
    for (unsigned i = 0; i < counts[kind]; i++) {
        buf_addf(out, "%s[ Label = p%u; ", i ? ", " : "", i);
        if (kind == 0)
            buf_addf(out, "Constraint = p%u.Memory > 0 && b0 + p%u.Memory < -1 ]", i, i);
        else if (kind == 2)
            buf_addf(out, "Essential = b0 > 0; Constraint = p%u.Memory > 0; Rank = b0 + p%u.Memory ]", i, i);
        else if (kind == 3)
            buf_addf(out, "Constraint = p%u.Memory > 0 && random(1000) < -1 ]", i);
        else if (kind == 5)
            buf_addf(out, "Essential = p%u.Memory > b0; Optional = true; Constraint = p%u.Memory > 99999 ]", i, i);
        else
            buf_addf(out, "Constraint = p%u.Memory > 0 ", i);
        for (unsigned k = 0; (kind == 1 || kind == 4) && k < i; k++)
            buf_addf(out, "&& p%u.Memory + p%u.Memory > 100000 ", k, i);
        if (kind == 1 || kind == 4)
            buf_adds(out, "]");
    }
    buf_adds(out, " } ]");
}

static void test_hostile(struct world *world)
{
    static const char *const what[] = {"each port takes for ever",      "each port hangs on all before",
                                       "ranks and Essential do",        "chance refuses everybody",
                                       "no two of sixteen go together", "optional ports nobody fits"};
    struct buf text;
    char plain[100];

    buf_init(&text);
    for (unsigned id = 0; id < 200; id++) {
        snprintf(plain, sizeof plain,
                 id % 2 ? "[ Memory = %u ]" : "[ Memory = %u; Ports = { [ Label = up; Constraint = up.Want > 0 ] } ]",
                 100 + id);
        offer(world, id, plain);
    }
    cycle(world, UINT64_MAX);
    for (unsigned kind = 0; kind < 6; kind++) {
        uint64_t most = 0, before = 0, steps;
        bool more = true;

        buf_reset(&text);
        buf_adds(&text, "[ Want = 1; b18 = 1; ");
        for (unsigned i = 0; i < 18; i++)
            buf_addf(&text, "b%u = b%u + b%u; ", i, i + 1, i + 1);
        hostile_ports(&text, kind);
        request(world, 1000 + kind, buf_string(&text));
        world->env.seed++;
        for (engine_begin(world->engine, &world->env); more; before = steps) {
            more = engine_step(world->engine, &world->lang.arena, 4000, found, world);
            steps = engine_counts(world->engine).steps;
            most = steps - before > most ? steps - before : most;
        }
        if (!tap_ok(most <= 4000 * 64 + ENGINE_OVERRUN, "no slice does more than its bound: %s", what[kind]))
            tap_diag("%llu steps", (unsigned long long)most);
        engine_remove(world->engine, 1000 + kind);
    }
    buf_done(&text);
}

/* Roots that change in every renewal, so that each cycle they are new, and cost as much as they may: who asks beside that is served in its time,
 * and their user comes behind others. */
static void test_restless_roots(struct world *world)
{
    uint64_t before, worst = 0;
    unsigned served = 0;
    struct buf text;
    char plain[100];

    buf_init(&text);
    engine_set_priority(world->engine, 1, 1);
    engine_set_priority(world->engine, 2, 1000);
    engine_set_work(world->engine, 200000);
    for (unsigned id = 0; id < 60; id++) {
        snprintf(plain, sizeof plain, "[ Memory = %u ]", 100 + id);
        offer(world, id, plain);
    }
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < 20; i++) {
            buf_reset(&text);
            buf_addf(&text, "[ Want = %u; b18 = 1; ", 100 * round + i);
            for (unsigned k = 0; k < 18; k++)
                buf_addf(&text, "b%u = b%u + b%u; ", k, k + 1, k + 1);
            hostile_ports(&text, i % 6);
            put(world, 1000 + i, buf_string(&text), (struct engine_terms){true, 1, ++world->arrivals, 1});
        }
        put(world, 2000 + round, "[ Constraint = other.Memory >= 50 ]",
            (struct engine_terms){true, 1, ++world->arrivals, 2});
        world->env.now++;
        world->env.seed++;
        buf_reset(&world->made);
        engine_begin(world->engine, &world->env);
        before = 0;
        while (engine_outcome(world->engine, 2000 + round) != ENGINE_MATCHED &&
               engine_step(world->engine, &world->lang.arena, 4000, found, world))
            before = engine_counts(world->engine).steps;
        served += engine_outcome(world->engine, 2000 + round) == ENGINE_MATCHED;
        worst = round && before > worst ? before : worst; /* in the first nobody knows them yet */
        while (engine_step(world->engine, &world->lang.arena, 4000, found, world))
            ;
    }
    if (!tap_ok(served == 5 && worst < 4 * ENGINE_OVERRUN,
                "roots that change in every renewal are behind others, whatever their priority"))
        tap_diag("%u served, %llu steps", served, (unsigned long long)worst);
    buf_done(&text);
}

int main(void)
{
    static void (*const tests[])(struct world * world) = {
        test_whole,        test_restless_roots, test_beside,       test_fair,
        test_waits,        test_one_more,       test_left_in_time, test_left_is_one_more,
        test_residual,     test_services,       test_deep,         test_offers_read_offers,
        test_shared,       test_plain_pool,     test_broken,       test_changes,
        test_classes,      test_gives_up,       test_many_wait,    test_preempts,
        test_preempts_set, test_preempts_plain, test_users,        test_users_ports,
        test_in_use,       test_hostile,
    };

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        struct world world;

        world_init(&world);
        tests[i](&world);
        world_done(&world);
    }
    return tap_done();
}
