/* Worlds by several processes: what is found is the same as by one, whatever becomes of them. Built with bugs that can be planted, but for the
 * sanitizers. */
#include "common/tap.h"
#include "pool/protocol/mutants.h"
#include "sim/run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(TESTS_SANITIZED)
#define CLAIMS 400
#else
#define CLAIMS 1000
#endif

#define SEED 26   /* from there on some worlds are small */
#define BROKEN 687 /* a few worlds after it one shows the bug: the test says which */

#ifdef BERTH_MUTANTS
enum mutant mutant_now;
#endif

static bool same(const struct sim_report *a, const struct sim_report *b)
{
    bool alike = a->worlds == b->worlds && a->events == b->events && a->claims == b->claims && a->jobs == b->jobs &&
                 a->faults == b->faults && a->preempted == b->preempted && a->several == b->several && a->gangs.nested == b->gangs.nested &&
                 a->gangs.lost == b->gangs.lost && a->gangs.reduced == b->gangs.reduced &&
                 a->gangs.reduced_done == b->gangs.reduced_done && a->hash == b->hash && a->time == b->time &&
                 a->failed == b->failed && a->violation.number == b->violation.number &&
                 a->violation.time == b->violation.time && !strcmp(a->violation.party, b->violation.party) &&
                 !strcmp(a->violation.words, b->violation.words);

    for (uint32_t i = 0; i <= JUDGED_MEMBERS_MAX; i++)
        alike = alike && a->gangs.claimed[i] == b->gangs.claimed[i];
    for (uint32_t i = 0; i < FAULT_COUNT; i++)
        alike = alike && a->by_fault[i] == b->by_fault[i];
    return alike;
}

static bool no_children(void)
{
    return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD;
}

/* What is told after each world. */
struct told {
    uint64_t worlds[2]; /* how often; and the sum of what it was */
    uint64_t most;      /* enough, after so many; 0: never */
    bool kills;         /* one of the processes, after two worlds */
    bool killed;
};

/* The first child that we have, or 0. */
static pid_t child_first(void)
{
    char path[64];
    long pid = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)getpid(), (long)getpid());
    file = fopen(path, "r");
    if (file && fscanf(file, "%ld", &pid) != 1)
        pid = 0;
    if (file)
        fclose(file);
    return (pid_t)pid;
}

static bool progress(void *user, const struct sim_report *report)
{
    struct told *told = user;
    pid_t child;

    told->worlds[0]++;
    told->worlds[1] += report->worlds * report->claims;
    if (told->kills && report->worlds == 2 && (child = child_first()) > 0)
        told->killed = kill(child, SIGKILL) == 0;
    return !told->most || told->worlds[0] < told->most;
}

static void test_same(const struct sim_report *one, const struct told *first)
{
    for (uint32_t jobs = 2; jobs <= 5; jobs += 3) {
        struct told told = {.kills = false};
        struct sim_settings settings = {
            .seed = SEED, .faults = true, .claims = CLAIMS, .jobs = jobs, .progress = progress, .user = &told};
        struct sim_report many;

        tap_ok(sim_run(&settings, &many) == 0 && same(one, &many) && no_children(),
               "%u processes find what one finds in %llu worlds, and are gone then", jobs,
               (unsigned long long)one->worlds);
        tap_ok(!memcmp(told.worlds, first->worlds, sizeof told.worlds), "and are counted in the same order");
    }
}

static void test_enough(void)
{
    struct told told = {.most = 5};
    struct sim_settings settings = {
        .seed = SEED, .faults = true, .claims = UINT64_MAX, .jobs = 3, .progress = progress, .user = &told};
    struct sim_report report;

    tap_ok(sim_run(&settings, &report) == 0 && report.worlds == 5 && no_children(),
           "they stop when whoever asked has enough");
    settings.progress = NULL;
    settings.worlds = 4;
    tap_ok(sim_run(&settings, &report) == 0 && report.worlds == 4 && no_children(), "or there were enough worlds");
}

static void test_killed(const struct sim_report *one)
{
    struct told told = {.kills = true};
    struct sim_settings settings = {
        .seed = SEED, .faults = true, .claims = CLAIMS, .jobs = 2, .progress = progress, .user = &told};
    struct sim_report many;

    tap_ok(sim_run(&settings, &many) == 0 && told.killed && same(one, &many) && no_children(),
           "when one of them is killed its worlds are run all the same");
}

static void test_none(const struct sim_report *one)
{
    struct sim_settings settings = {.seed = SEED, .faults = true, .claims = CLAIMS, .jobs = 8};
    struct rlimit before, few;
    struct sim_report many;
    int status;

    getrlimit(RLIMIT_NOFILE, &before);
    few = (struct rlimit){.rlim_cur = 6, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    status = sim_run(&settings, &many);
    setrlimit(RLIMIT_NOFILE, &before);
    tap_ok(status == 0 && same(one, &many) && no_children(), "when there can be none this process does it alone");
}

#ifdef BERTH_MUTANTS
/* With a bug: the first world in the order of seeds that shows it, not the first to end. */
static void test_violation(void)
{
    struct buf traces[2];
    struct sim_report reports[2];

    mutant_now = MUTANT_NO_LAUNCHER_DEADLINE;
    for (uint32_t i = 0; i < 2; i++) {
        struct sim_settings settings = {
            .seed = BROKEN, .faults = true, .claims = UINT64_MAX, .jobs = i ? 4 : 1, .lines = 30, .trace = &traces[i]};

        buf_init(&traces[i]);
        tap_ok(sim_run(&settings, &reports[i]) < 0 && no_children(), "%u find a world that breaks a promise, and stop",
               i ? 4u : 1u);
    }
    tap_ok(reports[0].worlds > 4 && same(&reports[0], &reports[1]), "it is the same world, %llu, and the same promise",
           (unsigned long long)reports[0].failed);
    tap_ok(traces[0].len > 1000 && traces[0].len == traces[1].len &&
               !memcmp(traces[0].text, traces[1].text, traces[0].len),
           "and the same last events");
    mutant_now = MUTANT_NONE;
    for (uint32_t i = 0; i < 2; i++)
        buf_done(&traces[i]);
}
#endif

int main(void)
{
    struct told first = {.kills = false};
    struct sim_settings settings = {
        .seed = SEED, .faults = true, .claims = CLAIMS, .progress = progress, .user = &first};
    struct sim_report one;
    int status = sim_run(&settings, &one);

    tap_ok(status == 0 && one.worlds >= 3, "one process runs %llu worlds", (unsigned long long)one.worlds);
    test_same(&one, &first);
    test_enough();
    test_killed(&one);
    test_none(&one);
#ifdef BERTH_MUTANTS
    test_violation();
#endif
    return tap_done();
}
