/* sim.c: berth sim: runs a pool in a simulated world, under faults or as a scenario says. */
#include "sim/run.h"

#include "cli/bench/sim_batch.h"
#include "cli/bench/sim_grid.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TRACE_LINES 40 /* of the trace of each party, unless --lines says otherwise */

struct sim_options {
    bool faults, takeover, json, check, measure;
    uint64_t seed, claims, jobs, lines, runs;
    const char *scenario, *policies, *hours, *timeouts, *window, *trace, *write_trace, *report;
    struct sim_what_if what_if;
    double scale;
};

static int option_claims(const char *text, void *target, struct err *err)
{
    return option_count_to(text, 1000000000000, target, err);
}

static int option_jobs(const char *text, void *target, struct err *err)
{
    return option_count_to(text, SIM_JOBS_MAX, target, err);
}

static int option_lines(const char *text, void *target, struct err *err)
{
    return option_count_to(text, 100000, target, err);
}

static int option_runs(const char *text, void *target, struct err *err)
{
    return option_count_to(text, PLAN_RUNS_MAX, target, err);
}

static int option_what_if(const char *text, void *target, struct err *err)
{
    struct sim_what_if *what_if = target;

    if (what_if->count == SIM_WHAT_IF_MAX)
        return err_set(err, "expected at most %d of them", SIM_WHAT_IF_MAX);
    what_if->texts[what_if->count++] = text;
    return 0;
}

static int option_factor(const char *text, void *target, struct err *err)
{
    char *end;
    double number = strtod(text, &end);

    if (end == text || *end || !isfinite(number) || number <= 0 || number > 1e6)
        return err_set(err, "expected a number above 0");
    *(double *)target = number;
    return 0;
}

#define S struct sim_options
static const struct option sim_options[] = {
    {0, "faults", NULL, "break what can break, and look whether the pool's promises hold", option_flag,
     offsetof(S, faults)},
    {0, "takeover", NULL,
     "with --faults: matchmakers and customers have two processes each, that take over from each other", option_flag,
     offsetof(S, takeover)},
    {0, "scenario", "FILE", "run the pool, or the clusters, that this file describes, and print the figures",
     option_file, offsetof(S, scenario)},
    {0, "policy", "LIST", "compare these policies, as fcfs,srfm,lbm; without --scenario and --trace on gridcam.ad",
     option_text, offsetof(S, policies)},
    {0, "hours", "H", "of a scenario, in place of its Duration; of clusters a list, as 1,2,10,24", option_text,
     offsetof(S, hours)},
    {0, "runs", "N", "of clusters: so many times, with other jobs each time", option_runs, offsetof(S, runs)},
    {0, "timeout", "LIST", "of clusters: seconds after which a job that waits goes; none for none", option_text,
     offsetof(S, timeouts)},
    {0, "window", "SECONDS", "of clusters: how often queues are settled; LEAST..MOST adapts to the load", option_text,
     offsetof(S, window)},
    {0, "what-if", "TEXT", "of clusters: with more of them besides, as \"+20 machines like [ Cpus = 8 ]\"",
     option_what_if, offsetof(S, what_if)},
    {0, "trace", "FILE", "the jobs of this file, in the Standard Workload Format or as JSON lines", option_file,
     offsetof(S, trace)},
    {0, "write-trace", "FILE", "write the jobs of the first run and their outcomes: FILE.swf, else JSON lines",
     option_file, offsetof(S, write_trace)},
    {0, "report", "FILE", "of clusters: write a page with plots and tables, FILE.html", option_file,
     offsetof(S, report)},
    {0, "measure", NULL, "of clusters: print what the policies took by the clock, which is never the same twice",
     option_flag, offsetof(S, measure)},
    {0, "scale", "N", "all counts of a scenario times N: 0.01 is a hundredth of it", option_factor, offsetof(S, scale)},
    {0, "check", NULL, "of a scenario: look whether the state of the roles is in order, now and then (slow)",
     option_flag, offsetof(S, check)},
    {0, "seed", "N", "of the first world (1), the next one has the next; of a scenario, in place of its Seed",
     option_number, offsetof(S, seed)},
    {0, "claims", "N", "run worlds until N claims were activated; without it, one world", option_claims,
     offsetof(S, claims)},
    {0, "jobs", "N", "so many worlds at the same time, each in a process of its own (1); what is found is the same",
     option_jobs, offsetof(S, jobs)},
    {0, "lines", "N", "of the trace of each party, when a promise was broken (40)", option_lines, offsetof(S, lines)},
    {0, "json", NULL, "one JSON object", option_flag, offsetof(S, json)},
};
#undef S

#define SEED_NONE UINT64_MAX
static const struct sim_options sim_defaults = {.seed = SEED_NONE, .lines = TRACE_LINES};

struct sim_watch {
    uint64_t claims;
    double began;
    bool shown;
};

static double seconds_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool sim_progress(void *user, const struct sim_report *report)
{
    struct sim_watch *watch = user;

    if (report->worlds % 8 == 0) {
        fprintf(stderr, "\r\033[K%" PRIu64 " of %" PRIu64 " claims in %.0f s: %" PRIu64 " worlds, %" PRIu64 " faults ",
                report->claims, watch->claims, seconds_now() - watch->began, report->worlds, report->faults);
        fflush(stderr);
        watch->shown = true;
    }
    return true;
}

static void print_text(struct buf *out, const struct sim_report *report, double seconds)
{
    buf_addf(out, "worlds      %12" PRIu64 "\n", report->worlds);
    buf_addf(out, "events      %12" PRIu64 "\n", report->events);
    buf_addf(out, "claims      %12" PRIu64 "\n", report->claims);
    buf_addf(out, "jobs        %12" PRIu64 "\n", report->jobs);
    buf_addf(out, "preempted   %12" PRIu64 "\n", report->preempted);
    buf_addf(out, "for several %12" PRIu64 "\n", report->several);
    buf_addf(out, "reduced     %12" PRIu64 "\n", report->gangs.reduced);
    for (uint32_t i = 1; i <= JUDGED_MEMBERS_MAX; i++)
        if (report->gangs.claimed[i])
            buf_addf(out, "  %10" PRIu64 "  gangs of %" PRIu32 "\n", report->gangs.claimed[i], i);
    buf_addf(out, "faults      %12" PRIu64 "\n", report->faults);
    for (int i = 0; i < FAULT_COUNT; i++)
        if (report->by_fault[i])
            buf_addf(out, "  %10" PRIu64 "  %s\n", report->by_fault[i], fault_words[i]);
    buf_addf(out, "violations  %12d\n", report->violation.number ? 1 : 0);
    buf_addf(out, "simulated   %12.1f hours in %.2f seconds, %.0f events a second\n",
             (double)report->time / (3600.0 * (double)SECOND), seconds,
             seconds > 0 ? (double)report->events / seconds : 0.0);
}

static void print_json(struct buf *out, const struct sim_report *report, double seconds)
{
    const struct violation *violation = &report->violation;

    char gangs[400] = "";
    size_t len = 0;

    for (uint32_t i = 1; i <= JUDGED_MEMBERS_MAX; i++) /* by how many members they have, from one */
        len += (size_t)snprintf(gangs + len, sizeof gangs - len, "%s%" PRIu64, i > 1 ? ", " : "",
                                report->gangs.claimed[i]);
    buf_addf(out,
             "{\"worlds\": %" PRIu64 ", \"events\": %" PRIu64 ", \"claims\": %" PRIu64 ", \"jobs\": %" PRIu64
             ", \"preempted\": %" PRIu64 ", \"several\": %" PRIu64 ", \"gangs\": [%s], \"reduced\": %" PRIu64
             ", \"faults\": %" PRIu64 ", \"violations\": %d, \"hash\": \"%016" PRIx64
             "\", \"simulated\": %.3f, \"seconds\": %.3f",
             report->worlds, report->events, report->claims, report->jobs, report->preempted, report->several, gangs,
             report->gangs.reduced, report->faults, violation->number ? 1 : 0, report->hash,
             (double)report->time / (double)SECOND, seconds);
    if (violation->number) {
        buf_addf(out, ", \"violation\": {\"invariant\": %d, \"seed\": %" PRIu64 ", \"time\": %.6f, \"party\": ",
                 violation->number, report->failed, (double)violation->time / (double)SECOND);
        json_quote(out, violation->party, strlen(violation->party));
        buf_adds(out, ", \"words\": ");
        json_quote(out, violation->words, strlen(violation->words));
        buf_addc(out, '}');
    }
    buf_adds(out, "}\n");
}

static void print_violation(struct buf *out, const struct sim_report *report, bool takeover, const struct buf *trace)
{
    const struct violation *violation = &report->violation;

    buf_addf(out, "\ninvariant %d is broken after %.6f s, by %s: %s\n", violation->number,
             (double)violation->time / (double)SECOND, violation->party, violation->words);
    buf_addf(out, "berth sim --faults%s --seed %" PRIu64 " replays it\n", takeover ? " --takeover" : "",
             report->failed);
    buf_add(out, trace->text, trace->len);
}

static int command_batch(const struct sim_options *options)
{
    if (options->scale > 0 || options->check) {
        report("sim: --scale and --check are for pools");
        return STATUS_BAD;
    }
    return sim_batch(&(struct sim_batch_options){.file = options->scenario,
                                                 .trace = options->trace,
                                                 .write_trace = options->write_trace,
                                                 .report = options->report,
                                                 .policies = options->policies,
                                                 .hours = options->hours,
                                                 .timeouts = options->timeouts,
                                                 .window = options->window,
                                                 .what_if = &options->what_if,
                                                 .seed = options->seed,
                                                 .runs = options->runs,
                                                 .json = options->json,
                                                 .measure = options->measure});
}

static int command_grid(const struct sim_options *options)
{
    struct err err = {0};
    double hours = 0;

    if (options->hours && option_factor(options->hours, &hours, &err) < 0) {
        report("sim: --hours: %s, got '%s'", err.text, options->hours);
        return STATUS_BAD;
    }
    return sim_grid(&(struct sim_grid_options){.file = options->scenario,
                                               .hours = hours,
                                               .scale = options->scale,
                                               .seed = options->seed,
                                               .json = options->json,
                                               .check = options->check});
}

/* Is an option given that only clusters have? */
static bool options_batch(const struct sim_options *options)
{
    return options->policies || options->trace || options->timeouts || options->window || options->what_if.count ||
           options->report || options->write_trace || options->runs || options->measure;
}

static int command_scenario(const struct sim_options *options)
{
    int is = options->scenario ? sim_batch_is(options->scenario) : 1;

    if (is < 0)
        return STATUS_BAD;
    return is || options_batch(options) ? command_batch(options) : command_grid(options);
}

static int sim_command(const void *given, int word_count, char **words)
{
    const struct sim_options *options = given;
    struct sim_watch watch = {.claims = options->claims, .began = seconds_now()};
    struct sim_settings settings = {.seed = options->seed == SEED_NONE ? 1 : options->seed,
                                    .claims = options->claims,
                                    .jobs = (uint32_t)options->jobs,
                                    .faults = options->faults,
                                    .seats = options->takeover ? SEATS_KEPT : SEATS_NONE,
                                    .lines = (uint32_t)options->lines,
                                    .user = &watch};
    struct sim_report result;
    struct buf out, trace;
    double seconds;
    int broken;

    (void)words;
    if (word_count != 0 || options->faults == (options->scenario || options_batch(options))) {
        report("sim wants --faults, --scenario FILE, --trace FILE or --policy LIST");
        return STATUS_BAD;
    }
    if (options->takeover && !options->faults) {
        report("sim: --takeover is for --faults");
        return STATUS_BAD;
    }
    if (!options->faults)
        return command_scenario(options);
    buf_init(&out);
    buf_init(&trace);
    settings.trace = options->json ? NULL : &trace;
    settings.progress = isatty(STDERR_FILENO) && options->claims ? sim_progress : NULL;
    broken = sim_run(&settings, &result);
    seconds = seconds_now() - watch.began;
    if (watch.shown)
        fputs("\r\033[K", stderr);
    if (options->json)
        print_json(&out, &result, seconds);
    else
        print_text(&out, &result, seconds);
    if (broken && !options->json)
        print_violation(&out, &result, options->takeover, &trace);
    output_write(&out);
    buf_done(&out);
    buf_done(&trace);
    return broken ? STATUS_NO : STATUS_DONE;
}

const struct command command_sim = {
    .name = "sim",
    .summary = "run a pool in a simulated world, or compare policies on clusters",
    .usage = "--faults [--seed N] [--claims N] [--jobs N]\n--scenario FILE [--hours H] [--scale N] [--seed N]\n"
             "--policy LIST [--scenario FILE | --trace FILE] [--hours H] ...",
    .about =
        "With --faults: runs small pools (a matchmaker, customers, providers) in virtual time, by the same code that runs a real one. "
        "For a while messages are lost, doubled, late or cut off, hosts crash and lose what they had not made durable, "
        "clocks run apart and jump, disks fill, owners come back to their keyboards and jobs hang; then all is quiet, "
        "and everything that can run must end. After every event the promises of the claiming protocol are checked "
        "from the parties' own records. With --takeover each matchmaker and customer has two processes and its rows in a database that both reach; "
        "processes sleep and are killed, the database stalls and fails over, and one process at a time must be the party.\n"
        "\n"
        "A world follows from its seed alone. Without --claims one world is run: the way to see a failure again. With it "
        "worlds are counted in the order of their seeds, up to the first that breaks a promise: however many --jobs there are. "
        "The status is 1 when a promise was broken; then the last events of every party are printed.\n"
        "\n"
        "With --scenario the pool of a file is run, of up to some millions of providers, in which nothing breaks but that "
        "hosts come and go. It prints matches, waits, utilisation, messages and work, which follow from the file and the "
        "seed alone; then, apart, what a clock measured: the times of the matchmaker's cycles, and what the run took.\n"
        "\n"
        "With --policy or --trace, or when the scenario has Clusters, a batch system is run: jobs come, wait, and are placed by a "
        "policy once a window (fcfs, sjf, ljf, srfm, lbm, minsum, singles, singles-minsum, optimal: berth help assign), or whenever something has changed, as batch systems do: in strict "
        "order; easy, where who does not delay the first that finds no room may pass; predicted, which is easy by how long the last two jobs of a user took; or "
        "conservative, where who delays nobody before may. Every policy gets the same jobs. Tables tell what became of them, with 95 % confidence intervals over the runs: submitted, completed, "
        "scheduled (they run), timed out, waits; then busy processors, jobs done an hour, bounded slowdown (its mean, its median, and what 99 in 100 do not exceed), fairness between "
        "users, starvation, and the gain over the first policy; then the work that the policies did, in units that are the same everywhere. "
        "Times by the clock, and how often a policy took longer than its window, come with --measure.",
    .examples = {{"berth sim --faults --seed 7", NULL},
                 {"berth sim --faults --claims 100000 --jobs 4", NULL},
                 {"berth sim --scenario examples/sim/internet.ad --scale 0.01", NULL},
                 {"berth sim --policy fcfs,srfm,lbm --hours 1,24 --report policies.html", NULL}},
    .options = sim_options,
    .option_count = sizeof sim_options / sizeof *sim_options,
    .settings_size = sizeof(struct sim_options),
    .defaults = &sim_defaults,
    .run = sim_command,
};
