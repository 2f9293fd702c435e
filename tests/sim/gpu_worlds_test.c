/* No GPU is given twice: invariant 1, in worlds whose machines have GPUs, without and with a planted bug. */
#include "common/tap.h"
#include "pool/protocol/mutants.h"
#include "sim/run.h"

#include <inttypes.h>

#define WORLDS_CLEAN 20
#define WORLDS_MAX 200 /* in which a planted bug shows */

#ifdef BERTH_MUTANTS
enum mutant mutant_now;

static void plants_are_found(void)
{
    static const struct {
        enum mutant mutant;
        const char *words;
    } plants[] = {
#define X(id, words) {MUTANT_##id, words},
        GPU_MUTANTS(X)
#undef X
    };

    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        struct sim_settings settings = {
            .seed = 40000, .worlds = WORLDS_MAX, .claims = UINT64_MAX, .faults = true, .gpus = true};
        struct sim_report report;
        int broken;

        mutant_now = plants[i].mutant;
        broken = sim_run(&settings, &report);
        mutant_now = MUTANT_NONE;
        tap_ok(broken && report.violation.number == 1, "planted: %s: found in world %" PRIu64 ": %s", plants[i].words,
               report.worlds, report.violation.words);
    }
}
#endif

int main(void)
{
    struct sim_settings settings = {
        .seed = 40000, .worlds = WORLDS_CLEAN, .claims = UINT64_MAX, .faults = true, .gpus = true};
    struct sim_report report;
    int broken;

#ifdef BERTH_MUTANTS
    plants_are_found();
#endif
    broken = sim_run(&settings, &report);
    if (!tap_ok(!broken && report.claims > 0, "no GPU is given twice in %" PRIu64 " worlds, to %" PRIu64 " claims",
                report.worlds, report.claims))
        tap_diag("seed %" PRIu64 ": invariant %d is broken by %s: %s", report.failed, report.violation.number,
                 report.violation.party, report.violation.words);
    return tap_done();
}
