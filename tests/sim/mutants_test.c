/* Test the tests: every rule of the protocol is taken away in turn, and the worlds must notice.
 *
 * Built with the sources that have planted bugs in them, by -DBERTH_MUTANTS; `mutant_now` chooses the bug. */
#include "common/tap.h"
#include "pool/protocol/mutants.h"
#include "sim/run.h"

#include <stdlib.h>
#include <time.h>

#define SECONDS_EACH 60.0
#define SECONDS_ALL 120.0
#define FIRST_SEED 1

enum mutant mutant_now;

struct plant_row {
    const char *name, *words;
};

static const struct plant_row mutants[] = {{"NONE", "nothing is wrong"},
#define X(id, words) {#id, words},
                                           MUTANTS(X)
#undef X
                                               {"COUNT", ""},
#define X(id, words) {#id, words},
                                           GANG_MUTANTS(X)
#undef X
};
#define MUTANTS_END (sizeof mutants / sizeof *mutants)

/* Caught only where gangs are made to the purpose: by tests/sim/tree_test.c. Or there within a few worlds, and here in one of some hundred:
 * ESSENTIAL_IGNORED. */
static bool is_left(size_t mutant)
{
    static const enum mutant left[] = {MUTANT_COUNT,
                                       MUTANT_PORT_UNCHECKED,
                                       MUTANT_LEADER_DROPPED,
                                       MUTANT_UNESSENTIAL_ENDS,
                                       MUTANT_UNWHOLE,
                                       MUTANT_FAILURE_IGNORED,
                                       MUTANT_ESSENTIAL_IGNORED,
                                       MUTANT_PORT_RUNS_ALL,
                                       MUTANT_PROCESS_UNCOUNTED};

    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (mutant == (size_t)left[i])
            return true;
    return false;
}

/* Some show in few worlds: it saves time to begin shortly before one that is known. If roles or worlds change, the search is as long as any. */
static uint64_t first_seed(size_t mutant)
{
    static const struct {
        enum mutant mutant;
        uint64_t seed;
    } rare[] = {{MUTANT_NO_MARGIN, 1138},
                {MUTANT_ESSENTIAL_IGNORED, 170},
                {MUTANT_EPOCH, 2665},
                {MUTANT_REUSE_REDUCED, 148},
                {MUTANT_TICKET_TWICE, 134},
                {MUTANT_NUMBER_IGNORED, 908},
                {MUTANT_NO_LAUNCHER_DEADLINE, 91},
                {MUTANT_SEQUENCE, 17},
                {MUTANT_OBEY_LATE, 53},
                {MUTANT_SEEN_GAPS, 8},
                {MUTANT_STALE_CLAIM, 6},
                {MUTANT_PRIORITY_IGNORED, 6},
                {MUTANT_RESIDUAL_UNCHECKED, 4}};

    for (size_t i = 0; i < sizeof rare / sizeof *rare; i++)
        if (mutant == (size_t)rare[i].mutant)
            return rare[i].seed;
    return FIRST_SEED;
}

/* Of this process: others may keep the machine busy. */
static double seconds_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool has_time(void *user, const struct sim_report *report)
{
    (void)report;
    return seconds_now() < *(const double *)user;
}

/* What a build that is not optimized does not find soon it leaves to one that is. */
#if !defined(__OPTIMIZE__)
#define FAST false
#define PATIENCE 0.5
#else
#define FAST true
#define PATIENCE SECONDS_EACH
#endif

/* It is the plant that was caught, not something that grows by itself. Most plants show in the first world: that one is run once. */
static bool is_clean(uint64_t seed, bool flows)
{
    static bool first_is;
    struct sim_settings settings = {.seed = seed, .faults = true, .flows = flows};
    bool first = seed == FIRST_SEED && !flows;
    struct sim_report report;

    mutant_now = MUTANT_NONE;
    if (first && first_is)
        return true;
    if (sim_run(&settings, &report) < 0)
        return false;
    first_is = first_is || first;
    return true;
}

/* mutants_test [MUTANT [SEED]] */
int main(int argc, char **argv)
{
    double began = seconds_now();

    for (size_t mutant = MUTANT_NONE + 1; mutant < MUTANTS_END; mutant++) {
        double start = seconds_now(), end = start + PATIENCE;
        struct sim_settings settings = {.seed = argc > 2 ? strtoull(argv[2], NULL, 10) : first_seed(mutant),
                                        .faults = true,
                                        .flows = mutant == MUTANT_PARENT_IGNORED,
                                        .claims = UINT64_MAX,
                                        .progress = has_time,
                                        .user = &end};
        struct sim_report report;
        int broken;

        if (argc > 1 ? strcmp(argv[1], mutants[mutant].name) != 0 : is_left(mutant))
            continue;
        mutant_now = (enum mutant)mutant;
        broken = sim_run(&settings, &report);
        tap_ok(broken ? is_clean(report.failed, settings.flows) : !FAST,
               "%s: caught by invariant %d, \"%s\", after %llu worlds and %.2f s (%s)", mutants[mutant].words,
               report.violation.number, report.violation.words, (unsigned long long)report.worlds,
               seconds_now() - start, mutants[mutant].name);
    }
    tap_ok(!FAST || seconds_now() - began < SECONDS_ALL, "all are looked for in %.1f s", seconds_now() - began);
    return tap_done();
}
