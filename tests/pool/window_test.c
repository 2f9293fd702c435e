/* window_test.c: all who wait are settled at once: the engine with an assignment policy. */
#include "engine_world.h"

#include "lang/base/rng.h"
#include "match/assign/assign.h"
#include "match/pair/match.h"

#define BOUND 64 /* ads of a side in random pools */

static const char whole[] = "[ Memory = 4; Constraint = other.Need <= Memory ]";
static const char large[] = "[ Memory = 8; Constraint = other.Need <= Memory ]";
static const char small_job[] = "[ Need = 3; Constraint = other.Memory >= Need; Rank = other.Memory ]";
static const char large_job[] = "[ Need = 6; Constraint = other.Memory >= Need ]";
static const char cluster[] =
    "[ Cpus = %d; Constraint = other.RequestCpus <= Cpus; Residual = [ Cpus = Cpus - other.RequestCpus ] ]";

static const char *text_of(const char *format, int number)
{
    static char text[256];

    snprintf(text, sizeof text, format, number);
    return text;
}

static void job_of(struct world *world, uint32_t id, int cpus)
{
    request(world, id, text_of("[ RequestCpus = %d; Constraint = other.Cpus >= RequestCpus ]", cpus));
}

/* Figure 1.1 of the thesis that the policies come from: 20 and 10 processors, jobs of 5, 5 and 20. */
static void figure(struct world *world)
{
    offer(world, 1, text_of(cluster, 20));
    offer(world, 2, text_of(cluster, 10));
    job_of(world, 10, 5);
    job_of(world, 11, 5);
    job_of(world, 12, 20);
}

static void test_figure(struct world *world)
{
    engine_set_assignment(world->engine, ASSIGN_FCFS);
    figure(world);
    expect(world, "10-1 11-1", "first come first served loses the large job");
    tap_ok(engine_outcome(world->engine, 12) != ENGINE_MATCHED && engine_wants(world->engine, NOON),
           "who fits somebody and has no place is for the next window");
}

static void test_figure_srfm(struct world *world)
{
    engine_set_assignment(world->engine, ASSIGN_SRFM);
    figure(world);
    expect(world, "10-2 11-2 12-1", "srfm places all three");
}

static void test_figure_lbm(struct world *world)
{
    engine_set_assignment(world->engine, ASSIGN_LBM);
    figure(world);
    expect(world, "10-2 11-2 12-1", "so does lbm");
}

static void test_figure_optimal(struct world *world)
{
    engine_set_assignment(world->engine, ASSIGN_OPTIMAL);
    figure(world);
    expect(world, "10-2 11-2 12-1", "and optimal");
}

static void test_wholes(struct world *world)
{
    engine_set_assignment(world->engine, ASSIGN_OPTIMAL);
    offer(world, 1, whole);
    offer(world, 2, large);
    request(world, 10, small_job);
    request(world, 11, large_job);
    expect(world, "10-1 11-2", "whoever could have the large machine leaves it to the one who needs it");
    offer(world, 3, large);
    request(world, 12, "[ Need = 9; Constraint = other.Memory >= Need ]");
    expect(world, "", "who fits nobody waits");
    tap_ok(engine_outcome(world->engine, 12) == ENGINE_NOBODY && !engine_wants(world->engine, NOON),
           "and costs nothing until somebody comes");
    offer(world, 4, "[ Memory = 16 ]");
    expect(world, "12-4", "who then is given");
}

static void test_units(struct world *world)
{
    engine_set_assignment(world->engine, ASSIGN_SRFM);
    for (uint32_t id = 0; id < 5; id++)
        offer(world, id, whole);
    put(world, 10, small_job, (struct engine_terms){true, 4, ++world->arrivals, 0});
    expect(world, "10-0 10-1 10-2 10-3", "a request of many units is placed unit by unit");
    tap_ok(engine_outcome(world->engine, 10) == ENGINE_MATCHED, "and is matched when none is left");
}

static void test_back(struct world *world)
{
    engine_set_assignment(world->engine, ASSIGN_FCFS);
    offer(world, 1, whole);
    request(world, 10, small_job);
    request(world, 11, small_job);
    expect(world, "10-1", "one machine, one job");
    offer(world, 2, whole);
    expect(world, "11-2", "the other has the next");
    engine_set_assignment(world->engine, ENGINE_ONE_BY_ONE);
    offer(world, 3, whole);
    request(world, 12, small_job);
    expect(world, "12-3", "and without a policy again, one after the other is served");
}

static uint32_t closed(void *user, uint32_t root)
{
    return root == *(const uint32_t *)user ? 0 : ENGINE_OPEN;
}

static void test_gates(struct world *world)
{
    uint32_t held = 10;

    engine_set_assignment(world->engine, ASSIGN_LBM);
    engine_set_gates(world->engine, closed, &held);
    offer(world, 1, whole);
    request(world, 10, small_job);
    put(world, 11, large_job, (struct engine_terms){true, 1, ++world->arrivals, 0});
    put(world, 12, "[ Need = 3; Constraint = other.Memory >= Need ]",
        (struct engine_terms){true, 1, ++world->arrivals, 1});
    expect(world, "12-1", "who is held back takes no place in the plan");
    tap_ok(engine_outcome(world->engine, 10) == ENGINE_HELD, "it waits at its gate");
    held = 0;
    engine_open_gate(world->engine, 0);
    offer(world, 2, whole);
    expect(world, "10-2", "and is planned for when that is opened");
}

static void test_rising(struct world *world)
{
    engine_set_assignment(world->engine, ASSIGN_SRFM);
    engine_set_priority(world->engine, 1, 5);
    put(world, 10, small_job, (struct engine_terms){true, 1, ++world->arrivals, 1});
    expect(world, "", "nothing is there");
    put(world, 11, small_job, (struct engine_terms){true, 1, ++world->arrivals, 0});
    offer(world, 1, whole);
    expect(world, "10-1", "with srfm whoever has waited for more windows comes first, before whoever has used less");
}

static void test_slices(struct world *world)
{
    engine_set_assignment(world->engine, ASSIGN_SRFM);
    figure(world);
    tap_ok(strcmp(cycle_sliced(world, 1), "10-2 11-2 12-1") == 0, "slices change nothing");
}

static void test_many(struct world *world)
{
    unsigned made = 0, windows = 0;

    engine_set_assignment(world->engine, ASSIGN_LBM);
    put(world, 5000, small_job, (struct engine_terms){true, 2500, ++world->arrivals, 0});
    for (uint32_t id = 0; id < 2500; id++)
        offer(world, id, whole);
    for (; windows < 10 && engine_units(world->engine, 5000); windows++)
        cycle(world);
    for (uint32_t id = 0; id < 2500; id++)
        made += engine_units(world->engine, id) == 0;
    tap_ok(made == 2500 && windows == 3, "a window has its limit: what is beyond it is for the next (%u in %u)", made,
           windows);
}

/* --------------------------------------------------------------------------------------------------------- random pools */

static struct tree *random_ads[2][BOUND];

struct judged {
    struct world *world;
    struct arena scratch;
    unsigned bad, matches;
};

static void judge(void *user, uint32_t root, uint32_t given, const struct value *rank, struct tree *left)
{
    struct judged *judged = user;
    const struct tree *request_ad = random_ads[1][root - BOUND], *offer_ad = random_ads[0][given];

    (void)rank;
    judged->matches++;
    judged->bad += !match_accepts(&judged->world->env, &judged->scratch, request_ad, offer_ad) ||
                   !match_accepts(&judged->world->env, &judged->scratch, offer_ad, request_ad);
    tree_unref(random_ads[0][given]);
    random_ads[0][given] = left ? tree_ref(left) : NULL;
}

static void random_put(struct world *world, struct rng *rng, unsigned side, uint32_t at)
{
    char text[256];
    int cpus = 1 + (int)rng_below(rng, 8);

    if (side)
        snprintf(
            text, sizeof text,
            "[ RequestCpus = %d; Wants = %d; Constraint = other.Cpus >= RequestCpus && other.Sort != Wants; Rank = %s ]",
            cpus, (int)rng_below(rng, 4), rng_below(rng, 2) ? "other.Cpus" : "-other.Sort");
    else
        snprintf(text, sizeof text, "[ Cpus = %d; Sort = %d; Constraint = other.RequestCpus <= Cpus%s ]", cpus + 4,
                 (int)rng_below(rng, 4), rng_below(rng, 2) ? "; Residual = [ Cpus = Cpus - other.RequestCpus ]" : "");
    random_ads[side][at] = ad_of(world, text);
    engine_put(world->engine, side ? BOUND + at : at, random_ads[side][at],
               &(struct engine_terms){side, 1, ++world->arrivals, (uint32_t)rng_below(rng, 3)});
}

/* Every match of every window fits as its ads are then, and nothing is given twice. */
static void test_random(unsigned rounds)
{
    unsigned bad = 0, matches = 0, out_of_order = 0;

    for (unsigned round = 0; round < rounds; round++) {
        struct rng rng;
        struct world world;
        struct judged judged = {.world = &world};
        const char *why = "";

        rng_init(&rng, round + 1);
        world_init(&world);
        arena_init(&judged.scratch);
        engine_set_assignment(world.engine, (uint32_t)(round % ASSIGN_POLICY_COUNT));
        for (unsigned turn = 0; turn < 4; turn++) {
            for (unsigned side = 0; side < 2; side++)
                for (uint32_t at = 0; at < BOUND; at++)
                    if (!random_ads[side][at] && rng_below(&rng, 6) == 0)
                        random_put(&world, &rng, side, at);
            engine_begin(world.engine, &world.env);
            while (engine_step(world.engine, &world.lang.arena, 1 + rng_below(&rng, 500), judge, &judged))
                ;
            if (!engine_valid(world.engine, &why)) {
                out_of_order++;
                tap_diag("round %u: %s", round, why);
            }
            for (uint32_t at = 0; at < BOUND; at++)
                if (random_ads[1][at] && engine_outcome(world.engine, BOUND + at) == ENGINE_MATCHED) {
                    tree_unref(random_ads[1][at]);
                    random_ads[1][at] = NULL;
                    engine_remove(world.engine, BOUND + at);
                }
        }
        bad += judged.bad;
        matches += judged.matches;
        for (unsigned side = 0; side < 2; side++)
            for (uint32_t at = 0; at < BOUND; at++) {
                tree_unref(random_ads[side][at]);
                random_ads[side][at] = NULL;
            }
        arena_done(&judged.scratch);
        world_done(&world);
    }
    tap_ok(bad == 0 && matches > rounds, "in %u random pools all %u matches fit", rounds, matches);
    tap_ok(out_of_order == 0, "and the engine is in order after each window");
}

/* Whole offers and one user: first come first served in windows is what one root after the other gives. */
static void test_same(unsigned rounds)
{
    unsigned differ = 0;

    for (unsigned round = 0; round < rounds; round++) {
        char made[2][4096];

        for (unsigned windows = 0; windows < 2; windows++) {
            struct rng rng;
            struct world world;

            rng_init(&rng, round + 1);
            world_init(&world);
            policy(&world, "[ DockingVector = { self.Rank } ]");
            engine_set_assignment(world.engine, windows ? ASSIGN_FCFS : ENGINE_ONE_BY_ONE);
            for (uint32_t id = 0; id < 40; id++)
                if (rng_below(&rng, 2))
                    offer(&world, id,
                          text_of("[ Size = %d; Constraint = other.Need <= Size ]", (int)rng_below(&rng, 9)));
                else
                    request(&world, id,
                            text_of("[ Need = %d; Constraint = other.Size >= Need; Rank = (other.Size * 7) %% 5 ]",
                                    (int)rng_below(&rng, 9)));
            snprintf(made[windows], sizeof made[windows], "%s", cycle(&world));
            world_done(&world);
        }
        differ += strcmp(made[0], made[1]) != 0;
        if (strcmp(made[0], made[1]) != 0)
            tap_diag("round %u: %s, in a window %s", round, made[0], made[1]);
    }
    tap_ok(differ == 0,
           "for whole offers, first come first served in a window gives what one after the other does (%u pools)",
           rounds);
}

int main(void)
{
    static void (*const tests[])(struct world * world) = {
        test_figure, test_figure_srfm, test_figure_lbm, test_figure_optimal, test_wholes, test_units,
        test_back,   test_gates,       test_rising,     test_slices,         test_many,
    };

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        struct world world;

        world_init(&world);
        tests[i](&world);
        world_done(&world);
    }
    test_random(270);
    test_same(200);
    return tap_done();
}
