/* bench.c: berth bench: measures this program on this machine. */
#include "cli/bench/bench.h"

#include "cli/bench/gang_workload.h"
#include "cli/bench/workload.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "lang/base/nearest.h"
#include "match/assign/assign.h"
#include "match/gang/gang.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int option_ads(const char *text, void *target, struct err *err)
{
    return option_count_to(text, BENCH_ADS_MAX, target, err);
}

static int option_queued(const char *text, void *target, struct err *err)
{
    return option_count_to(text, BENCH_QUEUED_MAX, target, err);
}

static int option_rounds(const char *text, void *target, struct err *err)
{
    return option_count_to(text, BENCH_ROUNDS_MAX, target, err);
}

static int option_attributes(const char *text, void *target, struct err *err)
{
    return option_count_to(text, WORKLOAD_ATTRIBUTES_MAX, target, err);
}

static int option_engine(const char *text, void *target, struct err *err)
{
    if (strcmp(text, "scan") != 0 && strcmp(text, "index") != 0)
        return err_set(err, "expected scan or index, got '%.60s'", text);
    *(int *)target = text[0] == 's' ? BENCH_SCAN : BENCH_INDEX;
    return 0;
}

static int option_mix(const char *text, void *target, struct err *err)
{
    static const char mixes[] = "TMD";
    const char *found = text[0] && !text[1] ? strchr(mixes, text[0]) : NULL;

    if (!found)
        return err_set(err, "expected T, M or D, got '%.60s'", text);
    *(int *)target = (int)(found - mixes);
    return 0;
}

static int option_scene(const char *text, void *target, struct err *err)
{
    static const char *const scenes[] = {"few", "offers", "most", "queue"};

    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (strcmp(text, scenes[i]) == 0) {
            *(const char **)target = scenes[i];
            return 0;
        }
    }
    return err_set(err, "expected few, offers, most or queue, got '%.60s'", text);
}

static int option_algorithm(const char *text, void *target, struct err *err)
{
    int found = strcmp(text, "all") == 0 ? GANG_ALGORITHMS : -1;

    for (int i = 0; i < GANG_ALGORITHMS; i++)
        if (strcmp(text, gang_algorithm_names[i]) == 0)
            found = i;
    if (found < 0)
        return err_set(err, "expected naive, lr, rl, lrc, rlc, dyn, dyns, dynsr, auto or all, got '%.60s'", text);
    *(int *)target = found;
    return 0;
}

static int option_workload(const char *text, void *target, struct err *err)
{
    static const int kinds[] = {GANG_BASE, GANG_SKEWED, GANG_OPPORTUNITY};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(text, gang_workload_names[kinds[i]]) == 0) {
            *(int *)target = kinds[i];
            return 0;
        }
    }
    return err_set(err, "expected base, skewed or opportunity, got '%.60s'", text);
}

static int option_licenses(const char *text, void *target, struct err *err)
{
    uint64_t given;

    if (option_number(text, &given, NULL) < 0 || (given != 50 && given != 100))
        return err_set(err, "expected 50 or 100, got '%.60s'", text);
    *(uint64_t *)target = given;
    return 0;
}

static int option_selectivity(const char *text, void *target, struct err *err)
{
    uint64_t given;

    if (option_number(text, &given, NULL) < 0 || (given != 1 && given != 2 && given != 4 && given != 8))
        return err_set(err, "expected 1, 2, 4 or 8, got '%.60s'", text);
    *(uint64_t *)target = given;
    return 0;
}

static int option_discrimination(const char *text, void *target, struct err *err)
{
    return option_count_to(text, GANG_TAGS, target, err);
}

static int option_preferences(const char *text, void *target, struct err *err)
{
    if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
        return err_set(err, "expected on or off, got '%.60s'", text);
    *(int *)target = text[1] == 'n';
    return 0;
}

static int option_assign_policy(const char *text, void *target, struct err *err)
{
    enum assign_policy policy;

    if (strcmp(text, "all") == 0) {
        *(int *)target = -1;
        return 0;
    }
    if (assign_policy_find(text, strlen(text), &policy, err) < 0)
        return -1;
    *(int *)target = (int)policy;
    return 0;
}

#define S struct bench_settings
static const struct option bench_options[] = {
    {0, "ads", "N",
     "how many ads to parse, evaluations in a round, offers of why, ads of engine or machines of plan (100000 if not given), ads "
     "a side of pair-4 and index (2000), requests of assign or resources a side of grdl (10000)",
     option_ads, offsetof(S, ads)},
    {0, "rounds", "N", "how often to measure; the best round counts (7 if not given)", option_rounds,
     offsetof(S, rounds)},
    {0, "attributes", "K", "attributes of an ad in the index's workload (4 if not given)", option_attributes,
     offsetof(S, attributes)},
    {'r', "requests", "FILE", "ads for the index in place of the generated queries, or for gang in place of the jobs",
     option_file, offsetof(S, requests)},
    {'o', "offers", "FILE", "and in place of the generated ads that they look for", option_file, offsetof(S, offers)},
    OPTION_DIALECT(S),
    {0, "queries", "N", "how many ads look for matches there (as many as --ads if not given)", option_ads,
     offsetof(S, queries)},
    {0, "engine", "NAME", "only scan or only index there; both if not given", option_engine, offsetof(S, engine)},
    {0, "mix", "T|M|D", "domains there: of 10 values, half of them, or of as many as there are ads (D)", option_mix,
     offsetof(S, mix)},
    {0, "pool", "NAME", "only few, offers, most or queue for the engine; all four if not given", option_scene,
     offsetof(S, scene)},
    {0, "pull", NULL, "of serve: offers pull, while requests wait in 500 shapes", option_flag, offsetof(S, pull)},
    {0, "queued", "N", "how many of them wait, there and in pull (1000000 if not given)", option_queued,
     offsetof(S, queued)},
    {0, "algorithm", "NAME",
     "how gang searches: naive, lr, rl, lrc, rlc, dyn, dyns, dynsr, auto (if not given), or all of them",
     option_algorithm, offsetof(S, algorithm)},
    {0, "workload", "NAME", "of gang: base (if not given), skewed or opportunity", option_workload, offsetof(S, kind)},
    {0, "machines", "N", "there, and as many jobs (4000 if not given, 500 of skewed)", option_ads,
     offsetof(S, machines)},
    {0, "licenses", "50|100", "in base: licences for each hundred machines; both if not given", option_licenses,
     offsetof(S, licenses)},
    {0, "selectivity", "1|2|4|8", "there: partitions of machines and licences; all four if not given",
     option_selectivity, offsetof(S, selectivity)},
    {0, "duds", NULL, "there: machines and a licence are added that fit each by itself, but never together",
     option_flag, offsetof(S, duds)},
    {0, "discrimination", "K", "in opportunity: how choosy machines are, up to 10; 1, 4, 6, 8 and 10 if not given",
     option_discrimination, offsetof(S, discrimination)},
    {0, "live", NULL, "gangs are made by the live engine, with preferences, in slices as the matchmaker has them",
     option_flag, offsetof(S, live)},
    {0, "preferences", "on|off", "whether gangs follow ranks (off if not given: any gang will do)", option_preferences,
     offsetof(S, preferences)},
    {0, "policy", "NAME", "of assign: fcfs, srfm, lbm, optimal, ..., or all of them (if not given)",
     option_assign_policy, offsetof(S, assign_policy)},
    {0, "kinds", "K", "there: kinds of requests (500 if not given)", option_ads, offsetof(S, kinds)},
    {0, "cluster-kinds", "K", "there: kinds of clusters (50 if not given); --machines are the clusters (1000)",
     option_ads, offsetof(S, cluster_kinds)},
    {0, "slots", "N,...",
     "of jobs: how many run at a time; as many as there are processors if not given. Of store one number (16 if not "
     "given)",
     option_text, offsetof(S, slots)},
    {0, "count", "N", "there: how many jobs for each of these (1000 if not given; 5000 of store)", option_ads,
     offsetof(S, count)},
    {0, "store", "STORE",
     "of store: a file, or a namespace in a database, postgresql://...#NAME; a file of its own if not given",
     option_text, offsetof(S, store)},
    {0, "seed", "N", "what the generated ads depend on (1 if not given)", option_number, offsetof(S, seed)},
};
#undef S

static const struct bench_settings bench_defaults = {.dialect = &dialect_classic,
                                                     .rounds = 7,
                                                     .seed = 1,
                                                     .attributes = 4,
                                                     .mix = WORKLOAD_D,
                                                     .algorithm = GANG_AUTO,
                                                     .assign_policy = -1};

static const struct bench_kind {
    const char *name;
    int (*run)(const struct bench_settings *settings);
    uint64_t ads; /* how many, if not given */
} bench_kinds[] = {
    {"parse", bench_parse, 100000},  {"eval", bench_eval, 100000}, {"pair", bench_pair, 2000},
    {"index", bench_index, 2000},    {"why", bench_why, 100000},   {"engine", bench_engine, 100000},
    {"serve", bench_serve, 20000},   {"gang", bench_gang, 0},      {"pull", bench_pull, 20000},
    {"assign", bench_assign, 10000}, {"grdl", bench_grdl, 10000},  {"plan", bench_plan, 100000},
    {"jobs", bench_jobs, 0},         {"store", bench_store, 0},
};
#define BENCH_KINDS (sizeof bench_kinds / sizeof *bench_kinds)

double bench_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double bench_processor(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Opens a descriptor that counts our instructions; -1: virtual machines often cannot count them. */
static int open_counter(void)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_HW_INSTRUCTIONS,
                                         .disabled = 1,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1};

    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void bench_init(struct bench *bench, uint64_t operations)
{
    *bench = (struct bench){.operations = operations, .seconds = -1, .instructions = -1, .counter = open_counter()};
}

void bench_done(struct bench *bench)
{
    if (bench->counter >= 0)
        close(bench->counter);
    bench->counter = -1;
}

void bench_start(struct bench *bench)
{
    if (bench->counter >= 0) {
        ioctl(bench->counter, PERF_EVENT_IOC_RESET, 0);
        ioctl(bench->counter, PERF_EVENT_IOC_ENABLE, 0);
    }
    bench->started_processor = bench_processor();
    bench->started = bench_clock();
}

void bench_stop(struct bench *bench)
{
    double seconds = bench_clock() - bench->started, processor = bench_processor() - bench->started_processor;
    uint64_t count;

    if (bench->counter >= 0) {
        ioctl(bench->counter, PERF_EVENT_IOC_DISABLE, 0);
        if (read(bench->counter, &count, sizeof count) == sizeof count &&
            (bench->instructions < 0 || (double)count < bench->instructions))
            bench->instructions = (double)count;
    }
    if (bench->seconds >= 0 && seconds >= bench->seconds)
        return;
    bench->seconds = seconds;
    bench->processor = processor;
}

void bench_row_begin(struct buf *row, const char *name)
{
    buf_reset(row);
    buf_addf(row, "{\"name\": \"%s\"", name);
}

void bench_row_text(struct buf *row, const char *field, const char *text)
{
    buf_addf(row, ", \"%s\": \"%s\"", field, text);
}

void bench_row_integer(struct buf *row, const char *field, uint64_t value)
{
    buf_addf(row, ", \"%s\": %llu", field, (unsigned long long)value);
}

void bench_row_real(struct buf *row, const char *field, double value)
{
    buf_addf(row, ", \"%s\": %.6g", field, value);
}

void bench_row_measured(struct buf *row, const struct bench *bench)
{
    double operations = (double)bench->operations;

    bench_row_real(row, "seconds", bench->seconds);
    bench_row_real(row, "processor", bench->processor);
    bench_row_integer(row, "operations", bench->operations);
    bench_row_real(row, "per_second", operations / bench->seconds);
    bench_row_real(row, "nanoseconds", bench->seconds / operations * 1e9);
    if (bench->instructions >= 0)
        bench_row_real(row, "instructions", bench->instructions / operations);
}

void bench_row_finish(struct buf *row)
{
    buf_adds(row, "}\n");
    output_write(row);
    output_flush();
}

int bench_ads_read(const struct bench_settings *settings, struct symbols *symbols, const char *file,
                   struct tree ***ret_ads, size_t *ret_count)
{
    struct input_source source;
    struct tree *ad;
    int got = -1;

    if (source_open(&source, symbols, settings->dialect, FORM_UNKNOWN, file) == 0) {
        while ((got = source_next(&source, &ad)) > 0) {
            if ((*ret_count & (*ret_count - 1)) == 0) /* 0, or a power of two: the array is full */
                *ret_ads = mem_grow(*ret_ads, (*ret_count ? *ret_count * 2 : 1) * sizeof **ret_ads);
            (*ret_ads)[(*ret_count)++] = ad;
        }
    }
    source_close(&source);
    return got;
}

static int fail_unknown_kind(const char *name)
{
    struct nearest nearest;

    nearest_init(&nearest, name, strlen(name));
    for (size_t i = 0; i < BENCH_KINDS; i++)
        nearest_try(&nearest, bench_kinds[i].name);
    if (nearest.name)
        report("there is no bench '%.60s'; did you mean '%s'?", name, nearest.name);
    else
        report(
            "there is no bench '%.60s'; there are parse, eval, pair, index, why, engine, serve, gang, pull, plan, assign, grdl, jobs and store",
            name);
    return STATUS_BAD;
}

static int bench_run(const void *given, int word_count, char **words)
{
    struct bench_settings settings = *(const struct bench_settings *)given;

    if (word_count != 1) {
        report(
            "bench wants what to measure: parse, eval, pair, index, why, engine, serve, gang, pull, plan, assign, grdl, jobs or store");
        return STATUS_BAD;
    }
    for (size_t i = 0; i < BENCH_KINDS; i++) {
        if (strcmp(bench_kinds[i].name, words[0]) != 0)
            continue;
        if (!settings.ads)
            settings.ads = bench_kinds[i].ads;
        return bench_kinds[i].run(&settings);
    }
    return fail_unknown_kind(words[0]);
}

const struct command command_bench = {
    .name = "bench",
    .summary = "measure how fast and how small this program is here",
    .usage =
        "parse [OPTIONS]\neval [OPTIONS]\npair [OPTIONS]\nindex [OPTIONS]\nwhy [OPTIONS]\nengine [OPTIONS]\nserve [OPTIONS]\ngang [OPTIONS]\npull [OPTIONS]\nplan [OPTIONS]\nassign [OPTIONS]\ngrdl [OPTIONS]\njobs [OPTIONS]\nstore [OPTIONS]",
    .about =
        "Prints one JSON object a measurement: its `name` and parameters, the `seconds` of the best of several rounds "
        "(after one that is not counted), the seconds that its threads took of a `processor`, the `operations` in a round, `per_second` and `nanoseconds` an operation, "
        "`bytes` read or written in a round, and `instructions` an operation where the machine can count them. One "
        "thread.\n"
        "\n"
        "    parse   a workstation's ad of 38 attributes in many variants: parsing (with\n"
        "            sealing and freeing), printing, and the memory that an ad takes\n"
        "    eval    the constraints of four well-known ads, each against one that fits\n"
        "    pair    symmetric matches of ads made ready: all pairs of two sides of small\n"
        "            ads, and a workstation with a job that fits and one that does not\n"
        "    index   all matches of two sides of small ads, by trying every pair and by\n"
        "            the index, with conversion and building\n"
        "    why     one request explained over many workstations: none fit, an attribute\n"
        "            is misspelt, all refuse, many match\n"
        "    engine  matchmaking cycles over offers and requests: all have just come, one\n"
        "            in a hundred has changed, nothing has\n"
        "    serve   a matchmaker in a process of its own, driven over loopback: ads put,\n"
        "            renewed and read, one by one and in batches; the time to a letter\n"
        "    gang    jobs that each want a machine and a licence, by any algorithm; also\n"
        "            in a skewed pool, and with choosy machines; a round that takes\n"
        "            longer than a second is not repeated\n"
        "    pull    offers that ask for one of a million requests, without a network: as\n"
        "            ads with a count, and as one ad for each\n"
        "    plan    what it costs to plan large requests in a full pool of 100,000\n"
        "            machines, a tenth of them reserved: a minute of cycles without, and\n"
        "            with 1, 8 and 100 planned\n"
        "    assign  a queue of jobs of some kinds settled over clusters of some kinds,\n"
        "            by each policy, after the problem was built from the ads\n"
        "    grdl    tasks of 500 shapes and executors of 100, as GRDL resources, by the\n"
        "            templates of their shapes, with the comparisons that this took, and\n"
        "            that all pairs would take\n"
        "    jobs    jobs of /bin/true in a pool of its own on this machine: how many a\n"
        "            second, where their time goes step by step, the processor time of\n"
        "            each daemon a job, and its commits, rows and HTTP exchanges\n"
        "    store   the rows and commits of jobs alone, as a customer's slots have them,\n"
        "            in a file or in a database",
    .examples = {{"berth bench parse", NULL},
                 {"berth bench eval --rounds 20", NULL},
                 {"berth bench gang --machines 500 --algorithm all", NULL},
                 {"berth bench jobs --slots 1,2,4 --count 500", NULL}},
    .options = bench_options,
    .option_count = sizeof bench_options / sizeof *bench_options,
    .settings_size = sizeof(struct bench_settings),
    .defaults = &bench_defaults,
    .run = bench_run,
};
