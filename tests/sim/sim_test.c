/* Worlds that break everything: the pool's promises hold, and a seed says all. */
#include "common/tap.h"
#include "sim/run.h"

#include <stdlib.h>

#if defined(TESTS_SANITIZED)
#define CLAIMS \
    2000 /* a sanitizer looks at the code, and is slow: that rare things happen too is the plain build's to show */
#define FEW
#define FLOW_WORLDS 2
#define CALM_WORLDS 2
#elif defined(__OPTIMIZE__)
#define CLAIMS 25000 /* `./dev soak` takes a hundred million */
#else
#define CLAIMS 20000
#endif
#ifndef FEW
#define FLOW_WORLDS 15
#define CALM_WORLDS 20
#endif
#define TRACE_LINES 25

static void test_same_seed(void)
{
    struct sim_settings settings = {.seed = 11, .faults = true};
    struct sim_report one, two, other;

    sim_run(&settings, &one);
    sim_run(&settings, &two);
    settings.seed = 12;
    sim_run(&settings, &other);
    tap_ok(one.hash == two.hash && one.events == two.events && one.events > 1000,
           "the same seed gives the same %llu events", (unsigned long long)one.events);
    tap_ok(one.hash != other.hash, "another seed gives others");
}

static void test_calm(void)
{
    struct sim_settings settings = {.seed = 1, .worlds = CALM_WORLDS, .claims = UINT64_MAX};
    struct sim_report report;
    int broken = sim_run(&settings, &report);

    tap_ok(!broken && report.jobs > 50 * CALM_WORLDS, "in worlds without faults all %llu jobs are done",
           (unsigned long long)report.jobs);
    if (broken)
        tap_diag("seed %llu, invariant %d: %s", (unsigned long long)report.failed, report.violation.number,
                 report.violation.words);
}

static void test_faults(uint64_t seed)
{
    struct buf trace;
    struct sim_settings settings = {
        .seed = seed, .faults = true, .claims = CLAIMS, .lines = TRACE_LINES, .trace = &trace};
    struct sim_report report;
    int broken;

    buf_init(&trace);
    broken = sim_run(&settings, &report);
    tap_ok(!broken, "no invariant breaks in %llu claims of %llu jobs under %llu faults (%llu events in %llu worlds)",
           (unsigned long long)report.claims, (unsigned long long)report.jobs, (unsigned long long)report.faults,
           (unsigned long long)report.events, (unsigned long long)report.worlds);
#ifndef FEW
    tap_ok(broken || report.faults >= report.claims, "there are as many faults as claims");
    for (uint32_t i = 1; i <= 5; i++)
        tap_ok(broken || report.gangs.claimed[i] * 1000 >= report.claims, "there are many gangs of %u: %llu", i,
               (unsigned long long)report.gangs.claimed[i]);
    tap_ok(broken || report.gangs.nested * 1000 >= report.claims, "members of %llu gangs have members",
           (unsigned long long)report.gangs.nested);
    tap_ok(broken || report.grouped * 1000 >= report.claims, "%llu gangs of several are matched in groups with quotas",
           (unsigned long long)report.grouped);
    tap_ok(broken || report.gangs.lost * 1000 >= report.claims, "%llu gangs lose one that they need",
           (unsigned long long)report.gangs.lost);
    tap_ok(broken || report.gangs.reduced > 0,
           "%llu gangs go on without one that they do not need, and %llu do their job",
           (unsigned long long)report.gangs.reduced, (unsigned long long)report.gangs.reduced_done);
    for (int i = 0; i < FAULT_SEATS; i++)
        tap_ok(broken || report.by_fault[i] > 0, "there are %s: %llu", fault_words[i],
               (unsigned long long)report.by_fault[i]);
#endif
    if (broken) {
        tap_diag("invariant %d is broken after %.6f s by %s: %s\nberth sim --faults --seed %llu replays it",
                 report.violation.number, (double)report.violation.time / (double)SECOND, report.violation.party,
                 report.violation.words, (unsigned long long)report.failed);
        printf("%s", buf_string(&trace));
    }
    buf_done(&trace);
}

/* Workflows in worlds where everything breaks: no job begins before those that it waits for have ended well, and none is lost. */
static void test_flows(void)
{
    struct sim_settings settings = {
        .seed = 1, .worlds = FLOW_WORLDS, .claims = UINT64_MAX, .faults = true, .flows = true};
    struct sim_report report;
    int broken = sim_run(&settings, &report);

    tap_ok(broken == 0 && report.jobs > 50 * FLOW_WORLDS, "in %d worlds with workflows no rule is broken: %llu jobs",
           FLOW_WORLDS, (unsigned long long)report.jobs);
    if (broken)
        tap_diag("seed %llu: %s", (unsigned long long)report.failed, report.violation.words);
}

/* A group beyond its quota takes a machine that is in use, while an older offer of the same agent would have suited one who waits: the
 * judge once called that a violation. */
static void test_once_misjudged(void)
{
    struct sim_settings settings = {.seed = 4000015401, .faults = true, .worlds = 1, .claims = UINT64_MAX};
    struct sim_report report;
    int broken = sim_run(&settings, &report);

    tap_ok(!broken && report.claims > 0, "a machine in use is not judged by an older offer");
    if (broken)
        tap_diag("%s", report.violation.words);
}

int main(void)
{
    const char *seed = getenv("BERTH_SEED");

    test_same_seed();
    test_calm();
    test_flows();
    test_once_misjudged();
    test_faults(seed ? strtoull(seed, NULL, 10) : 1);
    return tap_done();
}
