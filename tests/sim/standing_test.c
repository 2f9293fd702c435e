/* The matchmaker knows how each machine stands: invariant 11, in worlds without and with planted bugs.
 *
 * One world of four has a phase in which nothing is lost or late, but machines are busy, drained, unwell, down or their owners', and the judge
 * compares what is known of them with its own account (sim/judge_machines.c). Built with -DBERTH_MUTANTS, bugs are planted in turn; those
 * that worlds do not show are found by tests/pool/machines_test.c. */
#include "common/tap.h"
#include "pool/protocol/mutants.h"
#include "sim/run.h"

#include <inttypes.h>
#include <stdlib.h>

#define WORLDS_CLEAN 24
#define WORLDS_MAX 200 /* in which a planted bug shows */

static void clean_worlds(void)
{
    const char *seed = getenv("BERTH_SEED"), *rounds = getenv("BERTH_ROUNDS");
    struct sim_settings settings = {.seed = seed ? strtoull(seed, NULL, 10) : 30000,
                                    .worlds = rounds ? strtoull(rounds, NULL, 10) : WORLDS_CLEAN,
                                    .claims = UINT64_MAX,
                                    .faults = true};
    struct sim_report report;
    int broken = sim_run(&settings, &report);

    if (!tap_ok(!broken, "machines are known as they are in %" PRIu64 " worlds", report.worlds))
        tap_diag("seed %" PRIu64 ": invariant %d is broken by %s: %s", report.failed, report.violation.number,
                 report.violation.party, report.violation.words);
}

#ifdef BERTH_MUTANTS
enum mutant mutant_now;

/* Found by the judge; the others by machines_test.c. */
static void plants_are_found(void)
{
    static const struct {
        enum mutant mutant;
        const char *words;
    } plants[] = {
#define X(id, words) {MUTANT_##id, words},
        MACHINE_MUTANTS(X)
#undef X
    };

    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        struct sim_settings settings = {.seed = 30000, .worlds = WORLDS_MAX, .claims = UINT64_MAX, .faults = true};
        struct sim_report report;
        int broken;

        if (plants[i].mutant == MUTANT_GONE_KEPT || plants[i].mutant == MUTANT_GONE_REVIVED ||
            plants[i].mutant == MUTANT_WORD_OUTLIVES || plants[i].mutant == MUTANT_STANDS_OLD)
            continue;
        mutant_now = plants[i].mutant;
        broken = sim_run(&settings, &report);
        mutant_now = MUTANT_NONE;
        tap_ok(broken && report.violation.number == 11, "planted: %s: found in world %" PRIu64 ": %s", plants[i].words,
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
