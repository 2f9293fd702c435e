/* engine_test.c: whom the matchmaker gives what, what it remembers from cycle to cycle, and fair shares. */
#include "engine_world.h"

#include "lang/base/rng.h"
#include "pool/matchmaker/accountant.h"

#include <math.h>

/* -------------------------------------------------------------------------------------------------------- one cycle */

static const char machine[] = "[ Memory = 4; Constraint = other.Need <= Memory ]";
static const char big_machine[] = "[ Memory = 8; Constraint = other.Need <= Memory ]";
static const char job[] = "[ Need = 3; Constraint = other.Memory >= Need ]";
static const char big_job[] = "[ Need = 6; Constraint = other.Memory >= Need ]";

static void test_best(struct world *world)
{
    offer(world, 1, machine);
    offer(world, 2, big_machine);
    request(world, 10, "[ Need = 3; Constraint = other.Memory >= Need; Rank = other.Memory ]");
    request(world, 11, "[ Need = 3; Constraint = other.Memory >= Need; Rank = other.Memory ]");
    request(world, 12, job);
    expect(world, "10-2 11-1", "each gets the offer that it ranks highest among those that are left");
    tap_ok(engine_outcome(world->engine, 10) == ENGINE_MATCHED && engine_outcome(world->engine, 12) == ENGINE_NOBODY,
           "who got one is matched, who did not had no candidate");
    tap_ok(engine_outcome(world->engine, 1) == ENGINE_NO_ROOT && engine_units(world->engine, 2) == 0,
           "an offer is no root, and one that is given has nothing left");
}

static void test_arrival(struct world *world)
{
    offer(world, 9, machine);
    offer(world, 2, machine);
    offer(world, 5, "[ Memory = 4; Constraint = other.Need <= Memory; Name = \"another\" ]");
    request(world, 10, job);
    request(world, 11, job);
    request(world, 12, job);
    expect(world, "10-9 11-2 12-5", "of equal offers the one that came first is given first, whatever its number");
}

static void test_units(struct world *world)
{
    for (uint32_t id = 0; id < 5; id++)
        offer(world, id, machine);
    put(world, 10, job, (struct engine_terms){true, 3, 50, 0});
    put(world, 11, job, (struct engine_terms){true, 3, 51, 0});
    expect(world, "10-0 10-1 10-2 11-3 11-4", "a request of three units gets three offers");
    tap_ok(engine_units(world->engine, 11) == 1, "what it did not get is left of it");
    offer(world, 7, machine);
    expect(world, "11-7", "and is matched when there is more");
}

static void test_residual(struct world *world)
{
    offer(
        world, 1,
        "[ Memory = 8; Constraint = other.Need <= Memory && Memory > 0; Residual = [ Memory = Memory - other.Need ] ]");
    for (uint32_t id = 10; id < 14; id++)
        request(world, id, job);
    expect(world, "10-1 11-1", "an offer goes on as what is left of it");
    tap_ok(engine_units(world->engine, 1) == 1 && engine_ad(world->engine, 1),
           "too little for the next is still there");
    request(world, 20, "[ Need = 2 ]");
    expect(world, "20-1", "until nothing is left");
    tap_ok(engine_units(world->engine, 1) == 0, "and then it is consumed");
}

static void test_residual_wakes(struct world *world)
{
    const char *low = "[ Need = 0; Constraint = other.Memory < 6 ]";

    offer(world, 1, "[ Memory = 8; Constraint = other.Need <= Memory; Residual = [ Memory = Memory - other.Need ] ]");
    request(world, 10, low);
    expect(world, "", "a request that wants a small offer finds none");
    request(world, 11, job);
    put(world, 12, low, (struct engine_terms){true, 1, ++world->arrivals, 0});
    expect(world, "11-1 12-1",
           "a residual is there at once for those who come later in the cycle, also if they waited");
    expect(world, "10-1", "and in the next cycle for those who came before");
}

static void test_roots(struct world *world)
{
    offer(world, 1, machine);
    offer(world, 2, big_machine);
    offer(world, 3, "[ Type = \"Job\"; Need = 1 ]");
    offer(world, 4, "[ Type = \"job\"; Need = 1 ]");
    offer(world, 5, "[ Type = \"Machine\"; Memory = 1; Constraint = false ]");
    expect(world, "3-1 4-2", "Type == \"Job\" makes an ad a root, whoever sent it");
    policy(world, "[ RootSelection = Memory == 8 ]");
    offer(world, 1, machine);
    offer(world, 2, "[ Memory = 8 ]");
    offer(world, 3, "[ Type = \"Job\"; Need = 1 ]");
    expect(world, "2-3", "a policy's RootSelection comes in the place of that; a root is no candidate");
}

static void test_order(struct world *world)
{
    offer(world, 1, machine);
    engine_set_priority(world->engine, 1, 20);
    engine_set_priority(world->engine, 2, 0.5);
    put(world, 10, job, (struct engine_terms){true, 1, 1, 1});
    put(world, 11, job, (struct engine_terms){true, 1, 2, 2});
    put(world, 12, job, (struct engine_terms){true, 1, 3, 2});
    expect(world, "11-1", "the user with the smaller number is served first, and then who came first");
    policy(world, "[ RootOrder = Nice ]");
    offer(world, 1, machine);
    offer(world, 2, machine);
    put(world, 13, "[ Need = 3; Nice = 4; Constraint = other.Memory >= Need ]", (struct engine_terms){true, 1, 9, 1});
    expect(world, "13-1 10-2", "a policy's RootOrder comes in the place of that; who has no key is last");
}

static void turn(struct world *world, uint32_t id, double priority, int64_t submitted, int64_t number)
{
    engine_set_turn(world->engine, id, &(struct engine_turn){priority, submitted, number});
}

static void test_turns(struct world *world)
{
    struct tree *ad;
    uint32_t got[3];
    bool later;

    for (uint32_t id = 1; id <= 6; id++)
        offer(world, id, machine);
    for (uint32_t id = 10; id <= 14; id++)
        put(world, id, job, (struct engine_terms){true, 1, id, 2});
    put(world, 20, job, (struct engine_terms){true, 1, 1, 3});
    turn(world, 10, 0, 100, 7);
    turn(world, 11, 0, 100, 5);
    turn(world, 12, 0, 99, 8);
    turn(world, 13, 100, 101, 9);
    turn(world, 14, -1, 1, 1);
    turn(world, 20, 1000000, 1, 1);
    expect(
        world, "13-1 12-2 11-3 10-4 14-5 20-6",
        "a user's roots are served by their priority, then as they were submitted; another's wait no longer for that");
    for (uint32_t id = 10; id <= 12; id++)
        put(world, id, id % 2 ? job : "[ Need = 4; Nice = 2; Constraint = other.Memory >= 3 ]",
            (struct engine_terms){true, 1, id, 2});
    turn(world, 10, 0, 5, 1);
    turn(world, 11, 3, 5, 2);
    turn(world, 12, 0, 5, 3);
    cycle(world);
    turn(world, 12, 9, 5, 3);
    for (uint32_t id = 1; id <= 3; id++)
        offer(world, id, machine);
    expect(world, "12-1 11-2 10-3", "also when that has changed while they wait, be they equal or not");
    for (uint32_t id = 10; id <= 12; id++) {
        put(world, id, job, (struct engine_terms){true, 1, id, 2});
        turn(world, id, id == 11, 5, 20 - (int64_t)id);
    }
    for (uint32_t id = 1; id <= 6; id++)
        engine_remove(world->engine, id);
    cycle(world);
    ad = ad_of(world, machine);
    for (int i = 0; i < 3; i++) {
        got[i] = engine_pull(world->engine, &world->lang.arena, ad, &world->env, &later);
        if (later) { /* it reads what nobody has read before */
            cycle(world);
            i--;
        }
    }
    tap_ok(got[0] == 11 && got[1] == 12 && got[2] == 10, "and when they are pulled: %u %u %u", got[0], got[1], got[2]);
    tree_unref(ad);
    policy(world, "[ RootOrder = Nice ]");
    offer(world, 1, machine);
    put(world, 30, "[ Need = 3; Nice = 4; Constraint = other.Memory >= Need ]", (struct engine_terms){true, 1, 9, 2});
    put(world, 31, "[ Need = 3; Nice = 5; Constraint = other.Memory >= Need ]", (struct engine_terms){true, 1, 8, 2});
    turn(world, 30, 100, 1, 1);
    expect(world, "31-1", "a policy's RootOrder comes in the place of that");
}

static void test_fair(struct world *world)
{
    for (uint32_t id = 0; id < 4; id++)
        offer(world, id, machine);
    for (uint32_t id = 10; id < 14; id++)
        put(world, id, job, (struct engine_terms){true, 1, id, id < 12 ? 1 : 2});
    engine_set_priority(world->engine, 1, 1);
    engine_set_priority(world->engine, 2, 2);
    world->charged = 1;
    expect(world, "10-0 12-1 13-2 11-3", "a user who is charged for a match gives way within the cycle");
}

static void test_vector(struct world *world)
{
    policy(world, "[ DockingVector = { label.Speed > time() - 1772366400 ? label.Speed : undefined } ]");
    offer(world, 1, "[ Speed = -1 ]");
    offer(world, 2, "[ Speed = -2 ]");
    request(world, 10, "[ Need = 1 ]");
    world->env.now = NOON;
    expect(world, "", "a candidate is discarded when a component is undefined");
    expect(world, "", "and stays so");
    world->env.now = NOON - 2;
    tap_ok(engine_wants(world->engine, world->env.now), "a policy that reads the time wants a cycle when it moves");
    expect(world, "10-1", "and is asked again when the time has moved");
}

/* A request of several units takes them by what was remembered of one look. */
static void test_large_numbers(struct world *world)
{
    policy(world, "[ DockingVector = { label.Speed, label.Disk } ]");
    offer(world, 1, "[ Speed = 9007199254740993; Disk = 1 ]");
    offer(world, 2, "[ Speed = 9007199254740992; Disk = 9 ]");
    offer(world, 3, "[ Speed = 9007199254741000; Disk = 5 ]");
    put(world, 10, "[ Need = 1 ]", (struct engine_terms){true, 3, ++world->arrivals, 0});
    expect(world, "10-3 10-1 10-2", "numbers that reals do not tell apart are told apart");
}

static void test_chance(struct world *world)
{
    uint32_t count = 0;
    char first[600];

    for (uint32_t id = 0; id < 64; id++)
        offer(world, id, "[ Memory = 4; Constraint = random(2) == 1 ]");
    for (uint32_t id = 100; id < 164; id++)
        put(world, id, "[ Need = 1; Tag = \"t\"; Constraint = other.Memory == 4 ]",
            (struct engine_terms){true, id < 132 ? 1 : 0, id, 0});
    snprintf(first, sizeof first, "%s", cycle(world));
    for (const char *c = first; *c; c++)
        count += *c == '-';
    tap_ok(count == 32, "where chance refuses one offer, another one takes the request");
    for (uint32_t id = 0; id < 64; id++)
        put(world, id, "[ Memory = 4; Constraint = random(2) == 1 ]", (struct engine_terms){false, 1, id + 1, 0});
    for (uint32_t id = 100; id < 132; id++)
        put(world, id, "[ Need = 1; Tag = \"t\"; Constraint = other.Memory == 4 ]",
            (struct engine_terms){true, 1, id, 0});
    world->env.seed--;
    tap_ok(strcmp(first, cycle(world)) == 0, "the same seed makes the same matches");
}

/* ----------------------------------------------------------------------------------------------- what is remembered */

static void test_incremental(struct world *world)
{
    offer(world, 1, machine);
    request(world, 10, big_job);
    request(world, 11, "[ Need = 1; Constraint = other.Speed > 1 ]");
    expect(world, "", "requests that no offer fits wait");
    tap_ok(!engine_wants(world->engine, NOON + 60), "then no cycle is wanted, whatever the time");
    cycle(world);
    tap_ok(engine_counts(world->engine).probes == 0, "a cycle in which nothing has changed looks at nobody");
    offer(world, 1, machine);
    put(world, 1, machine, (struct engine_terms){false, 1, world->arrivals, 0});
    put(world, 10, big_job, (struct engine_terms){true, 1, 2, 0});
    cycle(world);
    tap_ok(engine_counts(world->engine).tried == 0, "an ad that comes again as it was is no change");
    offer(world, 2, big_machine);
    tap_ok(engine_wants(world->engine, NOON), "a new offer wants a cycle");
    expect(world, "10-2", "and is given to the one who waited for it");
    tap_ok(engine_counts(world->engine).tried == 1, "no other is tried");
    offer(world, 3, "[ Speed = 2 ]");
    engine_remove(world->engine, 3);
    expect(world, "", "an offer that has gone is given to nobody");
    request(world, 12, "[ Need = 9; Constraint = other.Memory >= Need ]");
    cycle(world);
    tap_ok(engine_counts(world->engine).tried == 1, "of requests, only the new one is tried");
}

static void test_classes(struct world *world)
{
    char text[200];

    for (uint32_t id = 0; id < 100; id++) {
        snprintf(text, sizeof text, "[ Name = \"j%u\"; Need = 6; Constraint = other.Memory >= Need ]", (unsigned)id);
        request(world, 1000 + id, text);
        offer(world, id, machine);
    }
    cycle(world);
    tap_ok(engine_counts(world->engine).tried == 1 && engine_classes(world->engine, true) == 1,
           "of a hundred requests that are the same to offers one is tried");
    for (uint32_t id = 0; id < 100; id++)
        offer(world, 100 + id, big_machine);
    cycle(world);
    tap_ok(engine_counts(world->engine).matches == 100 && engine_counts(world->engine).probes <= 3,
           "and a hundred are matched by one probe of the offers");
    request(world, 2000, "[ Name = \"j\"; Need = 6; Constraint = other.Memory >= Need ]");
    cycle(world);
    request(world, 2001, "[ Name = \"k\"; Need = 6; Constraint = other.Memory >= Need ]");
    cycle(world);
    tap_ok(engine_counts(world->engine).tried == 0, "one that is the same as one that waits is not tried");
    offer(world, 300, "[ Memory = 7; Constraint = other.Name == \"k\" ]");
    expect(world, "2001-300", "when an offer reads more of requests, they are told apart");
}

static void test_time(struct world *world)
{
    offer(world, 1, machine);
    request(world, 10, "[ Need = 1; Constraint = other.Memory > 1 && time() > 1772366460 ]");
    request(world, 11, "[ Need = 9; Constraint = other.Memory >= Need ]");
    expect(world, "", "a request for later waits");
    tap_ok(!engine_wants(world->engine, NOON) && engine_wants(world->engine, NOON + 1),
           "it wants a cycle when the time has moved");
    world->env.now = NOON + 61;
    expect(world, "10-1", "and gets its offer when the time has come");
    offer(world, 2, "[ Memory = 20; Constraint = time() > 1772366530 ]");
    cycle(world);
    world->env.now = NOON + 131;
    expect(world, "11-2", "an offer for later is given when its time has come");
}

static void test_given(struct world *world)
{
    struct given given = {symbols_take(world->lang.symbols, "UserPrio", 8), value_integer(9)};

    world->env.given = &given;
    world->env.given_count = 1;
    offer(world, 1, "[ Memory = 4; Constraint = UserPrio < 5 ]");
    request(world, 10, job);
    expect(world, "", "an offer may ask for a name that the matchmaker gives");
    given.value = value_integer(2);
    expect(world, "10-1", "and is asked again in each cycle");
    symbols_drop(world->lang.symbols, given.name);
    world->env.given_count = 0;
}

/* A machine that has a claim, of a user with that number. */
static void taken(struct world *world, uint32_t id, uint32_t user, const char *text)
{
    offer(world, id, text);
    engine_set_remote(world->engine, id, user + 1);
}

static void test_users(struct world *world)
{
    static const char equal[] = "[ Need = 2; Constraint = other.Memory >= Need ]";

    engine_give_users(world->engine);
    for (uint32_t user = 1; user <= 3; user++)
        engine_set_priority(world->engine, user, user);
    policy(
        world,
        "[ RootOrder = UserPrio; DockingVector = { RemoteUserPrio is undefined ? 1 : label.RemoteUserPrio > UserPrio "
        "? 0 : error } ]");
    taken(world, 1, 2, "[ Memory = 4; RemoteUser = \"two\" ]");
    put(world, 13, equal, (struct engine_terms){true, 1, 1, 3});
    put(world, 12, equal, (struct engine_terms){true, 1, 2, 2});
    expect(world, "", "nobody has to go for a user who is no better");
    put(world, 11, equal, (struct engine_terms){true, 1, 3, 1});
    tap_ok(engine_classes(world->engine, true) == 1, "roots of several users are of one class");
    expect(world, "11-1", "but are tried by themselves: who is better gets it, who is not does not");
    taken(world, 1, 3, "[ Memory = 4; RemoteUser = \"three\" ]");
    taken(world, 2, 2, "[ Memory = 4; RemoteUser = \"two\" ]");
    expect(world, "12-1", "offers that differ in RemoteUser are told apart");
    world->charged = 3;
    put(world, 10, equal, (struct engine_terms){true, 1, 4, 1});
    expect(world, "10-2", "a priority that moves within a cycle");
    world->charged = -1;
    engine_set_usage(world->engine, 3, 7);
    policy(world, "[ DockingVector = { Usage > 6 && UserPrio == 100 ? label.Memory : error } ]");
    offer(world, 4, "[ Memory = 9 ]");
    expect(world, "13-4", "counts from the next on; and Usage is given, too");
}

static void test_preempts(struct world *world)
{
    offer(world, 1, "[ Memory = 4; Preempts = \"a\"; CurrentRank = 2; Rank = 3 ]");
    offer(world, 2, "[ Memory = 4; Preempts = \"b\"; CurrentRank = 3; Rank = 3 ]");
    offer(world, 3, "[ Memory = 2 ]");
    request(world, 10, "[ Need = 2; Rank = other.Memory; Constraint = other.Memory >= Need ]");
    expect(world, "10-3", "what is free is given first, whatever the ranks");
    request(world, 11, "[ Need = 2; Constraint = other.Memory >= Need ]");
    request(world, 12, "[ Need = 2; Constraint = other.Memory >= Need ]");
    expect(world, "11-1", "a claim has to go only for one whom its machine likes better");
    tap_ok(engine_outcome(world->engine, 12) == ENGINE_NOBODY, "for others there is nobody");
}

static void test_policy_resets(struct world *world)
{
    policy(world, "[ DockingVector = { label.Speed } ]");
    offer(world, 1, machine);
    request(world, 10, job);
    expect(world, "", "an offer without what the policy asks for is discarded");
    policy(world, "[ DockingVector = { label.Memory } ]");
    expect(world, "10-1", "another policy looks at all anew");
    tap_ok(engine_set_policy(world->engine, NULL, NULL, NULL) == 0, "and one can go back to none");
    offer(world, 1, machine);
    request(world, 10, job);
    expect(world, "10-1", "then the defaults hold");
}

static void test_slices(struct world *world)
{
    char whole[2000];

    for (uint32_t id = 0; id < 60; id++)
        offer(world, id, id % 3 ? machine : big_machine);
    for (uint32_t id = 100; id < 150; id++)
        put(world, id, id % 2 ? big_job : job, (struct engine_terms){true, 1, id, id % 3});
    snprintf(whole, sizeof whole, "%s", cycle(world));
    for (uint32_t id = 0; id < 60; id++)
        put(world, id, id % 3 ? machine : big_machine, (struct engine_terms){false, 1, id, 0});
    for (uint32_t id = 100; id < 150; id++)
        put(world, id, id % 2 ? big_job : job, (struct engine_terms){true, 1, id, id % 3});
    tap_ok(strcmp(whole, cycle_sliced(world, 1)) == 0, "a cycle in slices makes the same matches");
}

static void test_between(struct world *world)
{
    for (uint32_t id = 0; id < 3; id++)
        offer(world, id, machine);
    for (uint32_t id = 10; id < 13; id++)
        request(world, id, job);
    buf_reset(&world->made);
    engine_begin(world->engine, &world->env);
    while (!world->made.len)
        engine_step(world->engine, &world->lang.arena, 1, found, world);
    engine_remove(world->engine, 11);
    engine_remove(world->engine, 1);
    request(world, 14, job);
    offer(world, 4, machine);
    while (engine_step(world->engine, &world->lang.arena, 1, found, world))
        ;
    tap_ok(strncmp(buf_string(&world->made), "10-0 12-2", 9) == 0, "who has gone between two slices is passed over");
    cycle(world);
    tap_ok(engine_units(world->engine, 14) == 0 && engine_units(world->engine, 4) == 0,
           "and who has come is served in the next cycle at the latest");
}

/* ----------------------------------------------------------------------------------------------------------- limits */

/* An expression that takes as many steps as an evaluation may. */
#define BURN                                                                                                           \
    "b0 = other.One + other.One; b1 = b0 + b0; b2 = b1 + b1; b3 = b2 + b2; b4 = b3 + b3; b5 = b4 + b4; b6 = b5 + b5; " \
    "b7 = b6 + b6; b8 = b7 + b7; b9 = b8 + b8; c0 = b9 + b9; c1 = c0 + c0; c2 = c1 + c1; c3 = c2 + c2; c4 = c3 + c3; " \
    "c5 = c4 + c4; c6 = c5 + c5; c7 = c6 + c6; "

static void test_budget(struct world *world)
{
    char text[600];

    for (uint32_t id = 0; id < 150; id++) {
        snprintf(text, sizeof text, "[ One = %u; Constraint = true ]", (unsigned)id);
        offer(world, id, text);
    }
    request(world, 200, "[ " BURN "Constraint = other.One >= 0; Rank = c7 ]");
    expect(world, "", "a request whose rank takes for ever is given up");
    tap_ok(engine_outcome(world->engine, 200) == ENGINE_GAVE_UP, "and its outcome says so");
    request(world, 201, "[ Need = 1; Constraint = other.One == 7 ]");
    expect(world, "201-7", "others are served");
}

static void test_budget_of_offers(struct world *world)
{
    char text[100];

    offer(world, 1, "[ Memory = 4; " BURN "Constraint = c7 < 0 || other.One > 2000 ]");
    for (uint32_t id = 0; id < 200; id++) {
        snprintf(text, sizeof text, "[ One = %u; Constraint = other.Memory == 4 ]", (unsigned)id);
        request(world, 100 + id, text);
    }
    offer(world, 2, machine);
    offer(world, 3, "[ Memory = 4 ]");
    cycle(world);
    tap_ok(strcmp(buf_string(&world->made), "100-3") == 0,
           "an offer whose constraint takes for ever is passed over, and costs those who ask nothing");
    tap_ok(engine_outcome(world->engine, 299) == ENGINE_NOBODY, "nobody gives up because of it");
}

/* A cycle in slices: the most steps of evaluation in one of them. */
static uint64_t cycle_measured(struct world *world, uint64_t units)
{
    uint64_t most = 0, before = 0;
    bool more = true;

    buf_reset(&world->made);
    world->env.seed++;
    engine_begin(world->engine, &world->env);
    while (more) {
        uint64_t steps;

        more = engine_step(world->engine, &world->lang.arena, units, found, world);
        steps = engine_counts(world->engine).steps;
        most = steps - before > most ? steps - before : most;
        before = steps;
    }
    return most;
}

#define UNITS 4000
#define SLICE_STEPS (UNITS * UINT64_C(64) + ENGINE_OVERRUN)

/* What those say who would have all of a matchmaker's time: a doubling chain as long as they like. */
static void hostile_ad(char *text, size_t size, unsigned kind, unsigned number)
{
    static const char *const ends[] = {
        "a14 = other.Memory + n; Constraint = a0 < -1",              /* each costs little enough, and there are many */
        BURN "Constraint = c7 < -1",                                 /* each evaluation is given up */
        BURN "Constraint = other.Memory > 0; Rank = c7",             /* by its rank */
        BURN "Constraint = other.Memory > 0 && random(c7 + 2) == 1", /* each offer is looked at */
        BURN "Constraint = other.Memory > 0; RequestMemory = c7; Rank = other.Memory", /* when it has got one */
    };
    size_t len = (size_t)snprintf(text, size, "[ Type = \"Job\"; One = %u; n = %u; ", number, number);

    for (unsigned i = 0; i < 14; i++)
        len += (size_t)snprintf(text + len, size - len, "a%u = a%u + a%u; ", i, i + 1, i + 1);
    snprintf(text + len, size - len, "%s ]", ends[kind]);
}

static void test_hostile(struct world *world)
{
    static const char *const what[] = {"a chain of sums as constraint", "a constraint that takes for ever",
                                       "a rank that takes for ever", "chance that takes for ever",
                                       "a need that takes for ever"};
    char text[2000];

    for (unsigned id = 0; id < 120; id++) {
        snprintf(text, sizeof text,
                 "[ Memory = %u; One = %u; Constraint = true; Residual = [ Memory = Memory - other.RequestMemory; "
                 "Constraint = Memory > 10 ] ]",
                 100 + id, id);
        offer(world, id, text);
    }
    cycle(world);
    for (unsigned kind = 0; kind < 5; kind++) {
        uint64_t most;

        for (unsigned i = 0; i < 4; i++) {
            hostile_ad(text, sizeof text, kind, i);
            put(world, 1000 + i, text, (struct engine_terms){true, 1, ++world->arrivals, 1});
        }
        put(world, 2000 + kind, "[ RequestMemory = 1; Constraint = other.Memory >= 50 ]",
            (struct engine_terms){true, 1, ++world->arrivals, 2});
        most = cycle_measured(world, UNITS);
        if (!tap_ok(most <= SLICE_STEPS, "no slice does more than its bound: %s", what[kind]))
            tap_diag("%llu steps", (unsigned long long)most);
        tap_ok(engine_outcome(world->engine, 2000 + kind) == ENGINE_MATCHED, "and who asks beside that is served");
        snprintf(text, sizeof text, "[ Memory = %u; One = 1 ]", 500 + kind);
        offer(world, 400 + kind, text);
        most = cycle_measured(world, UNITS);
        if (!tap_ok(most <= SLICE_STEPS, "nor when an offer comes and looks for those that wait"))
            tap_diag("%llu steps", (unsigned long long)most);
        for (unsigned i = 0; i < 4; i++)
            engine_remove(world->engine, 1000 + i);
    }
}

/* Who has made a great deal of work lately is behind others in the next cycle as well, whatever its priority. */
static void test_debt(struct world *world)
{
    char text[2000];
    uint64_t before = 0;

    engine_set_priority(world->engine, 1, 1);
    engine_set_priority(world->engine, 2, 1000);
    engine_set_work(world->engine, 200000);
    for (unsigned id = 0; id < 60; id++) {
        snprintf(text, sizeof text, "[ Memory = %u; One = %u ]", 100 + id, id);
        offer(world, id, text);
    }
    for (unsigned i = 0; i < 20; i++) {
        hostile_ad(text, sizeof text, 0, i);
        put(world, 1000 + i, text, (struct engine_terms){true, 1, ++world->arrivals, 1});
    }
    cycle_measured(world, UNITS);
    for (unsigned i = 0; i < 20; i++) { /* again, as if they had changed */
        hostile_ad(text, sizeof text, 0, 100 + i);
        put(world, 1000 + i, text, (struct engine_terms){true, 1, ++world->arrivals, 1});
    }
    put(world, 2000, "[ Constraint = other.Memory >= 50 ]", (struct engine_terms){true, 1, ++world->arrivals, 2});
    buf_reset(&world->made);
    world->env.now += 60; /* the last cycle was long */
    engine_begin(world->engine, &world->env);
    while (!world->made.len && engine_step(world->engine, &world->lang.arena, UNITS, found, world))
        before = engine_counts(world->engine).steps;
    tap_ok(world->made.len && before < 2 * ENGINE_OVERRUN,
           "who made much work in the last cycle is behind others in the next, whatever its priority");
}

/* A plan for all at once has its bound, and who made much work is not in the way of others. */
static void test_hostile_window(struct world *world)
{
    char text[2000];
    uint64_t most;

    engine_set_assignment(world->engine, 0);
    for (unsigned id = 0; id < 120; id++) {
        snprintf(text, sizeof text, "[ Memory = %u; One = %u ]", 100 + id, id);
        offer(world, id, text);
    }
    for (unsigned i = 0; i < 40; i++) {
        hostile_ad(text, sizeof text, i % 3, i);
        put(world, 1000 + i, text, (struct engine_terms){true, 1, ++world->arrivals, 1});
    }
    put(world, 2000, "[ RequestMemory = 1; Constraint = other.Memory >= 50 ]",
        (struct engine_terms){true, 1, ++world->arrivals, 2});
    most = cycle_measured(world, UNITS);
    if (!tap_ok(most <= 4000000 + SLICE_STEPS && engine_outcome(world->engine, 2000) == ENGINE_MATCHED,
                "a window has its bound, and who asks beside that is served"))
        tap_diag("%llu steps", (unsigned long long)most);
}

/* Offers can do the same; and what is left of them is reckoned attribute by attribute. */
static void test_hostile_offers(struct world *world)
{
    struct buf text;
    uint64_t most;

    buf_init(&text);
    for (unsigned id = 0; id < 200; id++) {
        buf_reset(&text);
        buf_addf(&text, "[ Memory = %u; " BURN "Constraint = %s; Residual = [ ", id,
                 id % 2 ? "c7 < 0 || other.One > 2000" : "true");
        for (unsigned i = 0; i < 200; i++)
            buf_addf(&text, "r%u = c7 + %u; ", i, i);
        buf_adds(&text, "Memory = Memory - 1; Constraint = Memory > 0 ] ]");
        offer(world, id, buf_string(&text));
    }
    buf_done(&text);
    most = cycle_measured(world, UNITS);
    if (!tap_ok(most <= SLICE_STEPS, "many offers that come at once do not make a slice long"))
        tap_diag("%llu steps", (unsigned long long)most);
    for (unsigned id = 0; id < 3; id++)
        request(world, 1000 + id, "[ One = 1; Constraint = other.Memory >= 0 ]");
    most = cycle_measured(world, UNITS);
    if (!tap_ok(most <= SLICE_STEPS && engine_counts(world->engine).matches == 3,
                "nor does what is left of an offer that has been given"))
        tap_diag("%llu steps, %llu matches", (unsigned long long)most,
                 (unsigned long long)engine_counts(world->engine).matches);
}

static void test_names(struct world *world)
{
    char text[200];

    for (uint32_t id = 0; id < 400; id++) {
        snprintf(text, sizeof text, "[ Need = 6; Constraint = other.Memory >= Need && other.x%u isnt 3 ]",
                 (unsigned)id);
        request(world, 100 + id % 3, text);
        offer(world, id % 5, machine);
        cycle(world);
    }
    tap_ok(engine_classes(world->engine, false) == 5, "past many names that are read, no ads are taken for the same");
    offer(world, 7, big_machine);
    cycle(world);
    tap_ok(engine_counts(world->engine).matches == 1, "and who fits is still found");
    for (uint32_t id = 0; id < 3000; id++) {
        snprintf(text, sizeof text, "[ Need = %u; Constraint = other.Memory >= Need ]", 9 + (unsigned)id);
        request(world, 100 + id % 3, text);
    }
    cycle(world);
    tap_ok(engine_classes(world->engine, false) == 1, "when those who read them have gone, ads are shared again");
}

/* --------------------------------------------------------------------------------------------------- the accountant */

static bool near(double a, double b, double part)
{
    return fabs(a - b) <= part * fabs(b);
}

static void note_account(void *user, uint32_t number, const struct account *account)
{
    struct accountant *other = user;

    (void)number;
    accountant_load(other, account);
}

static void test_usage(void)
{
    struct accountant *accountant = accountant_new(0, 7);
    uint32_t ada = accountant_user(accountant, "ada", 3), bob = accountant_user(accountant, "bob", 3);
    int64_t now = NOON;

    tap_ok(ada != bob && accountant_user(accountant, "ada", 3) == ada, "a user has one number");
    tap_ok(accountant_priority(accountant, ada, now) == 0.5, "a user who has used nothing has a priority of a half");
    for (int i = 0; i < 24 * 60 * 12; i++) { /* a minute of 40 units, for 12 days */
        now += 60;
        accountant_charge(accountant, ada, 40 * 60, now);
    }
    tap_ok(near(accountant_usage(accountant, ada, now), 40, 0.01),
           "who uses 40 units all the time comes to a usage of 40");
    tap_ok(near(accountant_usage(accountant, ada, now + 86400), 20, 0.01), "which is half of that a day later");
    tap_ok(near(accountant_usage(accountant, ada, now + 3 * 86400), 5, 0.01), "and an eighth after three");
    tap_ok(accountant_usage(accountant, ada, now - 100) == accountant_usage(accountant, ada, now),
           "time that goes back stands still");
    accountant_set_factor(accountant, ada, 10);
    tap_ok(near(accountant_priority(accountant, ada, now), 400, 0.01), "the priority is the usage times the factor");
    tap_ok(accountant_priority(accountant, ada, now) > accountant_priority(accountant, bob, now),
           "who has used less is served first");
    accountant_charge(accountant, bob, -5, now);
    accountant_charge(accountant, bob, (double)NAN, now);
    tap_ok(accountant_usage(accountant, bob, now) == 0, "what is no charge changes nothing");
    accountant_free(accountant);
}

static void test_accounts(void)
{
    struct accountant *accountant = accountant_new(3600, 1), *again = accountant_new(3600, 2);
    uint32_t ada = accountant_user(accountant, "ada", 3), eve = accountant_user(accountant, "eve", 3), held;
    char name[32];

    accountant_charge(accountant, ada, 36000, NOON);
    accountant_set_factor(accountant, eve, 3);
    held = accountant_user(accountant, "held", 4);
    accountant_hold(accountant, held);
    for (int i = 0; i < 10000; i++) {
        snprintf(name, sizeof name, "stranger %d", i);
        accountant_charge(accountant, accountant_user(accountant, name, strlen(name)), 1, NOON);
    }
    accountant_each(accountant, note_account, again);
    tap_ok(accountant_count(again) == 10003 &&
               accountant_priority(again, accountant_find(again, "ada", 3), NOON + 50) ==
                   accountant_priority(accountant, ada, NOON + 50) &&
               accountant_priority(again, accountant_find(again, "eve", 3), NOON) == 1.5,
           "accounts that are kept and loaded again say the same");
    tap_ok(accountant_trim(accountant, 0.001, NOON + 3600) == 10000 && accountant_count(accountant) == 3,
           "strangers whose usage has decayed to nothing are forgotten");
    tap_ok(accountant_find(accountant, "held", 4) == held && accountant_find(accountant, "eve", 3) == eve &&
               accountant_find(accountant, "stranger 5", 10) == ACCOUNTANT_NOBODY,
           "but not those who are held or have a factor of their own");
    accountant_drop(accountant, held);
    accountant_trim(accountant, 0.001, NOON + 3600);
    tap_ok(accountant_find(accountant, "held", 4) == ACCOUNTANT_NOBODY, "until they are dropped");
    tap_ok(accountant_user(accountant, "new", 3) < 10003 && accountant_usage(accountant, ada, NOON) > 6,
           "numbers are used again, and who stays keeps the usage");
    accountant_free(again);
    accountant_free(accountant);
}

int main(void)
{
    static void (*const tests[])(struct world * world) = {
        test_best,           test_arrival,
        test_units,          test_residual,
        test_residual_wakes, test_roots,
        test_order,          test_turns,
        test_fair,           test_vector,
        test_chance,         test_incremental,
        test_classes,        test_time,
        test_given,          test_users,
        test_preempts,       test_policy_resets,
        test_slices,         test_between,
        test_budget,         test_budget_of_offers,
        test_hostile,        test_hostile_offers,
        test_hostile_window, test_debt,
        test_names,          test_large_numbers,
    };

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        struct world world;

        world_init(&world);
        tests[i](&world);
        world_done(&world);
    }
    test_usage();
    test_accounts();
    return tap_done();
}
