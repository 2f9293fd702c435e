/* sim_grid.c: berth sim --scenario: simulates the pool that a file describes, and prints its figures. */
#include "cli/bench/sim_grid.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/names.h"
#include "lang/base/json.h"
#include "sim/grid.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct grid_watcher {
    double began;
    int64_t end; /* simulated */
    bool shown;
};

/* What a run used of the machine. */
struct taken {
    double seconds, processor; /* seconds by the clock; seconds of a processor */
    double mebibytes;          /* memory at its peak */
};

static double clock_seconds(void *user)
{
    struct timespec time;

    (void)user;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool grid_progress(void *user, const struct grid_report *report)
{
    struct grid_watcher *watcher = user;

    fprintf(stderr,
            "\r\033[K%.2f of %.2f hours in %.0f s: %" PRIu64 " events, %" PRIu64 " matches, %" PRIu64 " of %" PRIu64
            " jobs done ",
            (double)report->time / 3600e6, (double)watcher->end / 3600e6, clock_seconds(NULL) - watcher->began,
            report->events, report->matches, report->done, report->submitted);
    fflush(stderr);
    watcher->shown = true;
    return true;
}

static void scenario_warning(void *user, const struct err *warning)
{
    struct err copy = *warning;

    err_context(&copy, "warning");
    report_error(user, &copy, NULL, 0);
}

static struct scenario *scenario_load(struct symbols *symbols, const char *file)
{
    const char *line = NULL;
    size_t line_len = 0;
    struct scenario *scenario;
    struct err err = {0};
    struct buf text;

    buf_init(&text);
    if (file_read(file, &text) < 0) {
        buf_done(&text);
        return NULL;
    }
    scenario = scenario_read(symbols, text.text, text.len, scenario_warning, (void *)(uintptr_t)file, &err);
    if (!scenario) {
        text_line(text.text, text.len, err.line, &line, &line_len);
        report_error(file, &err, line, line_len);
    }
    buf_done(&text);
    return scenario;
}

/* ------------------------------------------------------------------------------------------------------------ text */

static void text_count(struct buf *out, const char *name, uint64_t count)
{
    buf_addf(out, "%-22s %14" PRIu64 "\n", name, count);
}

static void text_waits(struct buf *out, const char *name, const struct spread *waits)
{
    buf_addf(out, "%-22s %14" PRIu64 " %10.0f %10.0f %10.0f %10.0f\n", name, waits->count, spread_mean(waits) / 1e3,
             spread_quantile(waits, 0.5) / 1e3, spread_quantile(waits, 0.95) / 1e3, (double)waits->most / 1e3);
}

static void text_messages(struct buf *out, const char *name, const struct grid_messages *messages)
{
    double hosts = messages->hosts ? (double)messages->hosts : 1;

    buf_addf(out, "%-22s %14" PRIu64 " %14.1f %14.1f %14" PRIu64 "\n", name, messages->hosts,
             (double)messages->in / hosts, (double)messages->out / hosts, messages->most);
}

static double part(int64_t some, int64_t all)
{
    return all > 0 ? 100.0 * (double)some / (double)all : 0;
}

static void class_name(char *out, size_t room, uint32_t class)
{
    if (class >= GRID_CLASSES - 1)
        snprintf(out, room, "  of %" PRIu32 " or more", grid_classes[GRID_CLASSES - 1]);
    else
        snprintf(out, room, "  of %" PRIu32 " to %" PRIu32 " jobs", grid_classes[class], grid_classes[class + 1] - 1);
}

/* How many times the messages there are because machines tell how they stand: each is answered. */
static double machines_part(const struct grid_report *report)
{
    uint64_t all = 0, without;

    for (int kind = MESSAGE_NONE + 1; kind < MESSAGE_COUNT; kind++)
        all += report->by_message[kind];
    without = all - 2 * report->by_message[MESSAGE_STANDS];
    return without ? (double)all / (double)without : 1;
}

static double machine_bytes(const struct grid_report *report)
{
    return report->machines ? (double)report->machine_bytes / (double)report->machines : 0;
}

/* Prints the figures that depend on the scenario and the seed alone. */
static void print_figures(struct buf *out, const struct grid_report *report)
{
    char name[64];

    text_count(out, "providers", report->providers);
    text_count(out, "sites", report->sites);
    text_count(out, "customers", report->customers);
    text_count(out, "users", report->users);
    text_count(out, "shapes", report->shapes);
    buf_addf(out, "%-22s %14.2f\n", "hours", (double)report->time / 3600e6);
    text_count(out, "jobs submitted", report->submitted);
    text_count(out, "jobs refused", report->refused);
    text_count(out, "jobs done", report->done);
    text_count(out, "jobs queued", report->queued);
    text_count(out, "  that run", report->running);
    text_count(out, "cycles", report->cycles);
    text_count(out, "matches", report->matches);
    text_count(out, "claims", report->claims);
    text_count(out, "starts of jobs", report->launches);
    text_count(out, "  lost with a host", report->lost);
    text_count(out, "  lost with a lease", report->expired);
    text_count(out, "starts of hosts", report->starts);
    text_count(out, "stops of hosts", report->stops);
    buf_addf(out, "%-22s %13.2f%% of the time that hosts are up\n", "claimed", part(report->claimed, report->up));
    buf_addf(out, "%-22s %13.2f%%\n", "busy", part(report->busy, report->up));
    buf_addf(out, "%-22s %13.2f%%\n", "  in vain", part(report->wasted, report->up));
    buf_addf(out, "\n%-22s %14s %10s %10s %10s %10s\n", "waits, seconds", "jobs", "mean", "median", "95%", "most");
    text_waits(out, "all", &report->waits);
    for (uint32_t i = 0; i < GRID_CLASSES; i++) {
        class_name(name, sizeof name, i);
        text_waits(out, name, &report->class_waits[i]);
    }
    buf_addf(out, "\n%-22s %14s %14s %14s %14s\n", "messages", "hosts", "in, mean", "out, mean", "most");
    text_messages(out, "matchmaker", &report->matchmaker);
    text_messages(out, "customer", &report->customer);
    text_messages(out, "provider", &report->provider);
    text_count(out, "to a host that is down", report->undelivered);
    for (int kind = MESSAGE_NONE + 1; kind < MESSAGE_COUNT; kind++)
        if (report->by_message[kind]) {
            snprintf(name, sizeof name, "  %s", message_layout((enum message_kind)kind)->name);
            text_count(out, name, report->by_message[kind]);
        }
    buf_addf(out, "\n%-22s %14s %14s %14s\n", "machines", "known", "bytes each", "x messages");
    buf_addf(out, "%-22s %14" PRIu64 " %14.0f %14.3f\n", "how they stand", report->machines, machine_bytes(report),
             machines_part(report));
    buf_addf(out, "\n%-22s %14s %14s %14s %14s\n", "work of the engine", "probes", "lines", "evaluations",
             "classes tried");
    buf_addf(out, "%-22s %14" PRIu64 " %14" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n", "all cycles", report->work.probes,
             report->work.tests, report->work.evaluations, report->work.tried);
    text_count(out, "most of one cycle", report->work.most);
    text_count(out, "events", report->events);
    buf_addf(out, "%-22s %14.16" PRIx64 "\n", "hash", report->hash);
}

/* Prints what the run took on this machine. */
static void print_measured(struct buf *out, const struct grid_report *report, const struct taken *taken)
{
    const struct spread *times = &report->cycle_times;

    buf_addf(out, "\n%-22s %14s %10s %10s %10s\n", "cycle times, ms", "mean", "median", "99%", "most");
    buf_addf(out, "%-22s %14.3f %10.3f %10.3f %10.3f\n", "measured", spread_mean(times) / 1e3,
             spread_quantile(times, 0.5) / 1e3, spread_quantile(times, 0.99) / 1e3, (double)times->most / 1e3);
    buf_addf(out, "%-22s %14.2f\n", "seconds in cycles", times->sum / 1e6);
    buf_addf(out, "%-22s %14.2f\n", "seconds", taken->seconds);
    buf_addf(out, "%-22s %14.2f\n", "  of a processor", taken->processor);
    buf_addf(out, "%-22s %14.0f\n", "events a second",
             taken->seconds > 0 ? (double)report->events / taken->seconds : 0.0);
    buf_addf(out, "%-22s %14.0f\n", "peak memory, MiB", taken->mebibytes);
}

/* ------------------------------------------------------------------------------------------------------------ JSON */

static void json_waits(struct buf *out, const struct spread *waits)
{
    buf_addf(out, "{\"jobs\": %" PRIu64 ", \"mean\": %.3f, \"median\": %.3f, \"p95\": %.3f, \"most\": %.3f}",
             waits->count, spread_mean(waits) / 1e3, spread_quantile(waits, 0.5) / 1e3,
             spread_quantile(waits, 0.95) / 1e3, (double)waits->most / 1e3);
}

static void json_messages(struct buf *out, const char *name, const struct grid_messages *messages)
{
    buf_addf(out, "\"%s\": {\"hosts\": %" PRIu64 ", \"in\": %" PRIu64 ", \"out\": %" PRIu64 ", \"most\": %" PRIu64 "}",
             name, messages->hosts, messages->in, messages->out, messages->most);
}

static void json_counts(struct buf *out, const struct grid_report *report)
{
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {
        {"providers", report->providers},
        {"sites", report->sites},
        {"customers", report->customers},
        {"users", report->users},
        {"shapes", report->shapes},
        {"submitted", report->submitted},
        {"refused", report->refused},
        {"done", report->done},
        {"queued", report->queued},
        {"running", report->running},
        {"cycles", report->cycles},
        {"matches", report->matches},
        {"claims", report->claims},
        {"job_starts", report->launches},
        {"lost", report->lost},
        {"expired", report->expired},
        {"host_starts", report->starts},
        {"host_stops", report->stops},
        {"undelivered", report->undelivered},
        {"events", report->events},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        buf_addf(out, "\"%s\": %" PRIu64 ", ", rows[i].name, rows[i].count);
    buf_addf(out, "\"hours\": %.6f, \"up\": %.3f, \"claimed\": %.3f, \"busy\": %.3f, \"wasted\": %.3f, ",
             (double)report->time / 3600e6, (double)report->up / 1e6, (double)report->claimed / 1e6,
             (double)report->busy / 1e6, (double)report->wasted / 1e6);
}

static void print_json(struct buf *out, const struct scenario *scenario, const struct grid_report *report,
                       const struct taken *taken)
{
    const struct spread *times = &report->cycle_times;

    buf_adds(out, "{\"scenario\": ");
    json_quote(out, scenario->name, strlen(scenario->name));
    buf_adds(out, ", ");
    json_counts(out, report);
    buf_adds(out, "\"waits\": ");
    json_waits(out, &report->waits);
    buf_adds(out, ", \"waits_by_size\": [");
    for (uint32_t i = 0; i < GRID_CLASSES; i++) {
        buf_addf(out, "%s{\"from\": %" PRIu32 ", \"waits\": ", i ? ", " : "", grid_classes[i]);
        json_waits(out, &report->class_waits[i]);
        buf_addc(out, '}');
    }
    buf_adds(out, "], \"messages\": {");
    json_messages(out, "matchmaker", &report->matchmaker);
    buf_adds(out, ", ");
    json_messages(out, "customer", &report->customer);
    buf_adds(out, ", ");
    json_messages(out, "provider", &report->provider);
    buf_addf(out,
             "}, \"machines\": {\"known\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"messages\": %" PRIu64
             ", \"times\": %.6f}",
             report->machines, report->machine_bytes, report->by_message[MESSAGE_STANDS], machines_part(report));
    buf_addf(out,
             ", \"work\": {\"probes\": %" PRIu64 ", \"lines\": %" PRIu64 ", \"evaluations\": %" PRIu64
             ", \"tried\": %" PRIu64 ", \"most\": %" PRIu64 "}, \"hash\": \"%016" PRIx64 "\"",
             report->work.probes, report->work.tests, report->work.evaluations, report->work.tried, report->work.most,
             report->hash);
    buf_addf(
        out,
        ", \"measured\": {\"cycle_mean\": %.6f, \"cycle_p99\": %.6f, \"cycle_most\": %.6f, \"seconds_in_cycles\": %.3f, "
        "\"seconds\": %.3f, \"processor_seconds\": %.3f, \"peak_mebibytes\": %.0f}}\n",
        spread_mean(times) / 1e6, spread_quantile(times, 0.99) / 1e6, (double)times->most / 1e6, times->sum / 1e6,
        taken->seconds, taken->processor, taken->mebibytes);
}

/* ----------------------------------------------------------------------------------------------------------- a run */

static int grid_simulate(struct scenario *scenario, const struct sim_grid_options *options)
{
    struct grid_watcher watcher = {.began = clock_seconds(NULL)};
    struct grid_settings settings = {
        .scenario = scenario,
        .seed = options->seed == UINT64_MAX ? scenario->seed : options->seed,
        .duration = options->hours > 0 ? options->hours * 3600 : scenario->duration,
        .check = options->check,
        .clock = clock_seconds,
        .progress = isatty(STDERR_FILENO) ? grid_progress : NULL,
        .user = &watcher,
    };
    struct grid_report result;
    struct rusage usage;
    struct err err = {0};
    struct buf out;
    struct taken taken;
    int failed;

    watcher.end = (int64_t)(settings.duration * (double)SECOND);
    failed = grid_run(&settings, &result, &err);
    taken.seconds = clock_seconds(NULL) - watcher.began;
    if (watcher.shown)
        fputs("\r\033[K", stderr);
    if (failed) {
        report_error(options->file, &err, NULL, 0);
        return STATUS_BAD;
    }
    getrusage(RUSAGE_SELF, &usage);
    taken.processor = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    taken.mebibytes = (double)usage.ru_maxrss / 1024;
    buf_init(&out);
    if (options->json) {
        print_json(&out, scenario, &result, &taken);
    } else {
        print_figures(&out, &result);
        print_measured(&out, &result, &taken);
    }
    output_write(&out);
    buf_done(&out);
    if (!result.broken)
        return STATUS_DONE;
    report("%s", result.broken);
    return STATUS_NO;
}

int sim_grid(const struct sim_grid_options *options)
{
    struct symbols *symbols = names_new(0);
    struct scenario *scenario = scenario_load(symbols, options->file);
    int status = STATUS_BAD;

    if (scenario && options->scale > 0)
        scenario_scale(scenario, options->scale);
    if (scenario)
        status = grid_simulate(scenario, options);
    scenario_free(scenario);
    symbols_free(symbols);
    return status;
}
