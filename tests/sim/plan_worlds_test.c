/* Large jobs that are planned: invariant 14, in worlds with faults, without and with a planted bug. */
#include "common/tap.h"
#include "pool/protocol/mutants.h"
#include "sim/run.h"

#include <inttypes.h>
#include <stdlib.h>

#define WORLDS_CLEAN 20
#define WORLDS_MAX 60 /* in which a planted bug shows */
#define SEED 46000

struct onlooker {
    struct judge *judge;
    uint64_t kept, passed; /* in all worlds */
};

static void watch_comes(void *user, struct world *world, struct judge *judge, const struct parties *parties)
{
    struct onlooker *watch = user;

    (void)world;
    (void)parties;
    watch->judge = judge;
}

static void watch_plans(void *user, uint32_t which)
{
    (void)user;
    (void)which;
}

static void watch_quiet(void *user)
{
    (void)user;
}

static void watch_goes(void *user)
{
    struct onlooker *watch = user;
    uint64_t passed;

    watch->kept += judge_kept(watch->judge, &passed);
    watch->passed += passed;
}

static int worlds_run(struct onlooker *watch, uint64_t worlds, struct sim_report *report)
{
    const char *seed = getenv("BERTH_SEED");
    struct sim_guest guest = {watch, watch_comes, watch_plans, watch_quiet, watch_goes};
    struct sim_settings settings = {.seed = seed ? strtoull(seed, NULL, 10) : SEED,
                                    .worlds = worlds,
                                    .claims = UINT64_MAX,
                                    .faults = true,
                                    .plans = 8,
                                    .guest = &guest};

    return sim_run(&settings, report);
}

#ifdef BERTH_MUTANTS
enum mutant mutant_now;

static void plants_are_found(void)
{
    static const struct {
        enum mutant mutant;
        const char *words;
    } plants[] = {
#define X(id, words) {MUTANT_##id, words},
        PLAN_MUTANTS(X)
#undef X
    };

    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        struct onlooker watch = {0};
        struct sim_report report;
        int broken;

        mutant_now = plants[i].mutant;
        broken = worlds_run(&watch, WORLDS_MAX, &report);
        mutant_now = MUTANT_NONE;
        tap_ok(broken && report.violation.number == 14, "planted: %s: found in world %" PRIu64 ": %s", plants[i].words,
               report.worlds, report.violation.words);
    }
}
#endif

int main(void)
{
    struct onlooker watch = {0};
    const char *rounds = getenv("BERTH_ROUNDS");
    struct sim_report report;
    int broken;

#ifdef BERTH_MUTANTS
    plants_are_found();
#endif
    broken = worlds_run(&watch, rounds ? strtoull(rounds, NULL, 10) : WORLDS_CLEAN, &report);
    if (!tap_ok(!broken && watch.kept > 200 && watch.passed > 50,
                "nobody passes a planned job who might delay it, in %" PRIu64 " worlds with %" PRIu64
                " matches on machines that were kept, %" PRIu64 " of others",
                report.worlds, watch.kept, watch.passed))
        tap_diag("seed %" PRIu64 ": invariant %d is broken by %s: %s", report.failed, report.violation.number,
                 report.violation.party, report.violation.words);
    return tap_done();
}
