/* charge_test.c: what is used is counted once: worlds without and, built with -DBERTH_MUTANTS, with bugs planted in the counting. */
#include "common/tap.h"
#include "pool/protocol/mutants.h"
#include "sim/run.h"

#include <inttypes.h>
#include <stdlib.h>

#define WORLDS_CLEAN 12
#define WORLDS_MAX 40 /* in which a planted bug shows */
#define SEED 52000

static void clean_worlds(void)
{
    const char *seed = getenv("BERTH_SEED"), *rounds = getenv("BERTH_ROUNDS");
    struct sim_settings settings = {.seed = seed ? strtoull(seed, NULL, 10) : SEED,
                                    .worlds = rounds ? strtoull(rounds, NULL, 10) : WORLDS_CLEAN,
                                    .claims = UINT64_MAX,
                                    .faults = true};
    struct sim_report report;
    int broken = sim_run(&settings, &report);

    if (!tap_ok(!broken, "what is used is counted once in %" PRIu64 " worlds", report.worlds))
        tap_diag("seed %" PRIu64 ": invariant %d is broken by %s: %s", report.failed, report.violation.number,
                 report.violation.party, report.violation.words);
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
        USAGE_MUTANTS(X)
#undef X
    };

    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        struct sim_settings settings = {.seed = SEED, .worlds = WORLDS_MAX, .claims = UINT64_MAX, .faults = true};
        struct sim_report report;
        int broken;

        mutant_now = plants[i].mutant;
        broken = sim_run(&settings, &report);
        mutant_now = MUTANT_NONE;
        tap_ok(broken && report.violation.number == 10, "planted: %s: found in world %" PRIu64 ": %s", plants[i].words,
               report.worlds, report.violation.words);
    }
}
#endif

int main(void)
{
#ifdef BERTH_MUTANTS
    plants_are_found();
#endif
    clean_worlds();
    return tap_done();
}
