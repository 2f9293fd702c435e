/* sim_batch.c: berth sim of a batch system: reads options and files, and runs the study that they describe. */
#include "cli/bench/sim_batch.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/names.h"
#include "sim/joblines.h"
#include "sim/study_page.h"
#include "sim/swf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern const char gridcam_text[]; /* examples/sim/gridcam.ad, put in by the build */
extern const size_t gridcam_text_len;

#define HOURS_MOST 1e5
#define TRACE_NAME "trace"

struct session {
    const struct sim_batch_options *options;
    struct symbols *symbols;
    struct plan *plan;
    struct batch_work trace;
    double hours[STUDY_HOURS_MAX];
    uint32_t hour_count;
    uint64_t runs;
    double began, shown; /* by the clock: when we began, and when progress was shown last */
};

static double seconds_now(void *user)
{
    struct timespec time;

    (void)user;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ----------------------------------------------------------------------------------------------------------------- lists */

/* Reads the next number of "1,2,10", and moves on to what follows it. */
static int list_number(const char **at, double least, double most, double *ret)
{
    char *end;

    *ret = strtod(*at, &end);
    if (end == *at || (*end && *end != ',') || !(*ret >= least && *ret <= most))
        return -1;
    *at = *end ? end + 1 : end;
    return *end && !**at ? -1 : 0;
}

static int double_compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static int hours_read(struct session *session)
{
    const char *at = session->options->hours;

    while (at && *at) {
        double hours;

        if (session->hour_count == STUDY_HOURS_MAX || list_number(&at, 1e-3, HOURS_MOST, &hours) < 0) {
            report("sim: --hours: expected up to %d numbers above 0 with commas between, got '%s'", STUDY_HOURS_MAX,
                   session->options->hours);
            return -1;
        }
        session->hours[session->hour_count++] = hours;
    }
    qsort(session->hours, session->hour_count, sizeof *session->hours, double_compare);
    return 0;
}

static int timeouts_read(struct session *session)
{
    const char *at = session->options->timeouts;
    struct plan *plan = session->plan;

    if (!at)
        return 0;
    for (plan->timeout_count = 0; *at || !plan->timeout_count;) {
        double seconds = 0;
        bool none = !strncmp(at, "none", 4) && (!at[4] || at[4] == ',');

        if (plan->timeout_count == PLAN_TIMEOUTS_MAX || (!none && list_number(&at, 0, 1e9, &seconds) < 0)) {
            report("sim: --timeout: expected up to %d numbers of seconds, or 'none', with commas between, got '%s'",
                   PLAN_TIMEOUTS_MAX, session->options->timeouts);
            return -1;
        }
        if (none)
            at += at[4] ? 5 : 4;
        plan->timeouts[plan->timeout_count++] = seconds;
    }
    return 0;
}

static int policies_read(struct session *session)
{
    const char *at = session->options->policies;
    struct plan *plan = session->plan;
    struct err err = {0};

    if (!at)
        return 0;
    for (plan->policy_count = 0;; at++) {
        size_t len = strcspn(at, ",");

        if (plan->policy_count == PLAN_POLICIES_MAX) {
            report("sim: --policy: there are more than %d", PLAN_POLICIES_MAX);
            return -1;
        }
        if (batch_policy_find(at, len, &plan->policies[plan->policy_count++], &err) < 0) {
            report("sim: --policy: %s", err.text);
            return -1;
        }
        at += len;
        if (!*at)
            return 0;
    }
}

/* Reads "60", or "10..120", which adapts to the load. */
static int window_read(struct session *session)
{
    const char *text = session->options->window;
    double least, most;
    char *end;

    if (!text)
        return 0;
    least = most = strtod(text, &end);
    if (end > text + 1 && end[-1] == '.') /* this point belongs to the two dots */
        end--;
    if (end != text && !strncmp(end, "..", 2)) {
        const char *second = end + 2;

        most = strtod(second, &end);
        end = end == second ? (char *)(uintptr_t)text : end;
    }
    if (end == text || *end || !(least >= 0.001 && most >= least && most <= 1e9)) {
        report("sim: --window: expected seconds, or LEAST..MOST, got '%s'", text);
        return -1;
    }
    for (int i = 0; i < ASSIGN_POLICY_COUNT; i++)
        session->plan->windows[i] =
            (struct batch_window){(int64_t)llround(least * BATCH_SECOND), (int64_t)llround(most * BATCH_SECOND)};
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------------- files */

static void plan_warning(void *user, const struct err *warning)
{
    struct err copy = *warning;

    err_context(&copy, "warning");
    report_error(user, &copy, NULL, 0);
}

static void text_error(const char *file, const struct err *err, const struct buf *text)
{
    const char *line = NULL;
    size_t len = 0;

    if (err->line)
        text_line(text->text, text->len, err->line, &line, &len);
    report_error(file, err, line, len);
}

int sim_batch_is(const char *file)
{
    struct symbols *symbols;
    struct buf text;
    bool found;

    buf_init(&text);
    if (file_read(file, &text) < 0) {
        buf_done(&text);
        return -1;
    }
    symbols = names_new(0);
    found = plan_is_one(symbols, text.text, text.len);
    symbols_free(symbols);
    buf_done(&text);
    return found;
}

static struct plan *plan_load(struct symbols *symbols, const char *file)
{
    struct err err = {0};
    struct plan *plan;
    struct buf text;

    buf_init(&text);
    if (!file) {
        buf_add(&text, gridcam_text, gridcam_text_len);
    } else if (file_read(file, &text) < 0) {
        buf_done(&text);
        return NULL;
    }
    plan = plan_read(symbols, text.text, text.len, plan_warning, (void *)(uintptr_t)file, &err);
    if (!plan)
        text_error(file ? file : "gridcam.ad", &err, &text);
    buf_done(&text);
    return plan;
}

static bool name_ends(const char *name, const char *end)
{
    size_t len = strlen(name), end_len = strlen(end);

    return len >= end_len && !strcmp(name + len - end_len, end);
}

/* Is it our format, whose lines are in braces? Else it is the standard format. */
static bool text_is_json(const struct buf *text)
{
    size_t at = 0;

    while (at < text->len && strchr(" \t\r\n", text->text[at]))
        at++;
    return at < text->len && text->text[at] == '{';
}

/* Sets the size of the park. Without a scenario there is one cluster: as large as the trace says, or as its largest job. */
static void park_of_trace(struct session *session, double processors)
{
    struct plan *plan = session->plan;

    if (!session->options->file)
        plan->park.kinds[0].capacity[0] = processors > 0 ? processors : 1;
}

static int trace_parse(struct session *session, const struct buf *text, double *ret_largest, uint64_t *ret_skipped,
                       struct err *err)
{
    struct swf_header header;
    uint32_t row;

    *ret_skipped = 0;
    if (text_is_json(text)) {
        if (joblines_read(session->symbols, text->text, text->len, &session->plan->park, &session->trace, ret_largest,
                          err) < 0)
            return -1;
        park_of_trace(session, *ret_largest);
        return 0;
    }
    if (swf_read(text->text, text->len, &session->trace, &header, err) < 0)
        return -1;
    park_of_trace(session, header.processors > 0 ? header.processors : header.largest);
    row = work_row_all(&session->trace, &session->plan->park);
    for (uint32_t i = 0; i < session->trace.count; i++)
        session->trace.jobs[i].row = row;
    *ret_largest = header.largest;
    *ret_skipped = header.skipped;
    return 0;
}

/* Counts the jobs that ask for more processors than any cluster has: they will never run. */
static uint64_t jobs_too_large(const struct session *session)
{
    uint64_t count = 0;
    double most = 0;

    for (uint32_t i = 0; i < session->plan->park.kind_count; i++)
        most = fmax(most, session->plan->park.kinds[i].capacity[0]);
    for (uint32_t i = 0; i < session->trace.count; i++)
        count += session->trace.jobs[i].asks[0] > most;
    return count;
}

static int trace_load(struct session *session)
{
    const char *file = session->options->trace;
    struct err err = {0};
    uint64_t skipped = 0, large;
    double largest = 0;
    struct buf text;
    int result;

    if (!file)
        return 0;
    buf_init(&text);
    if (file_read(file, &text) < 0) {
        buf_done(&text);
        return -1;
    }
    result = trace_parse(session, &text, &largest, &skipped, &err);
    if (result < 0)
        text_error(file, &err, &text);
    buf_done(&text);
    if (result < 0)
        return -1;
    if (!session->trace.count) {
        report("%s: there are no jobs in it", file);
        return -1;
    }
    if (skipped)
        report("%s: %" PRIu64 " jobs that did not run are passed over", file, skipped);
    large = jobs_too_large(session);
    if (large)
        report("%s: %" PRIu64 " jobs ask for more processors than any cluster has", file, large);
    return 0;
}

static int file_write(const char *name, const struct buf *text)
{
    int fd = !strcmp(name, "-") ? STDOUT_FILENO : open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    size_t done = 0;

    while (fd >= 0 && done < text->len) {
        ssize_t some = write(fd, text->text + done, text->len - done);

        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            break;
        done += (size_t)some;
    }
    if (fd < 0 || done < text->len || (fd != STDOUT_FILENO && close(fd) < 0)) {
        report("%s: %s", name, strerror(errno));
        return -1;
    }
    return 0;
}

static int trace_write(const struct session *session, const struct study *study)
{
    const char *file = session->options->write_trace;
    const struct study_variant *first = &study->variants[0];
    struct batch_fate fate = {study->last, (int64_t)llround(first->timeout * BATCH_SECOND),
                              (int64_t)llround(study->hours[study->hour_count - 1] * 3600e6)};
    struct buf out;
    int result;

    if (!file)
        return 0;
    buf_init(&out);
    if (name_ends(file, ".swf"))
        swf_write(&out, &study->work, &fate, &session->plan->park);
    else
        joblines_write(&out, &study->work, &fate, &session->plan->park);
    result = file_write(file, &out);
    buf_done(&out);
    return result;
}

static int page_write(const struct session *session, const struct study *study)
{
    struct buf out;
    int result;

    if (!session->options->report)
        return 0;
    buf_init(&out);
    study_page(&out, session->plan, study, session->options->measure);
    result = file_write(session->options->report, &out);
    buf_done(&out);
    return result;
}

/* ----------------------------------------------------------------------------------------------------------------- a run */

static void show_progress(void *user, uint64_t run, const struct study_variant *variant, int64_t now)
{
    struct session *session = user;
    double time = seconds_now(NULL);

    if (time - session->shown < 0.1)
        return;
    session->shown = time;
    fprintf(stderr, "\r\033[Krun %" PRIu64 " of %" PRIu64 ", %s: %.1f simulated hours, after %.0f s ", run + 1,
            session->runs, batch_policy_names[variant->policy], (double)now / 3600e6, time - session->began);
    fflush(stderr);
}

static int session_study(struct session *session)
{
    const struct sim_batch_options *options = session->options;
    struct study_settings settings = {
        .plan = session->plan,
        .trace = options->trace ? &session->trace : NULL,
        .hours = session->hours,
        .hour_count = session->hour_count,
        .runs = options->runs ? options->runs : session->plan->runs,
        .seed = options->seed == UINT64_MAX ? session->plan->scenario->seed : options->seed,
        .extra = options->what_if->count > 0,
        .keep = options->write_trace != NULL,
        .clock = options->measure ? seconds_now : NULL,
        .progress = isatty(STDERR_FILENO) ? show_progress : NULL,
        .user = session,
    };
    struct err err = {0};
    struct study study;
    int failed;

    session->runs = options->trace ? 1 : settings.runs;
    failed = study_run(&settings, &study, &err);
    if (session->shown > session->began)
        fputs("\r\033[K", stderr);
    if (failed) {
        report("sim: %s", err.text);
    } else {
        sim_batch_print(session->plan, &study, options->json, options->measure);
        failed = trace_write(session, &study) < 0 || page_write(session, &study) < 0;
    }
    study_done(&study);
    return failed ? STATUS_BAD : STATUS_DONE;
}

/* Makes the plan for a trace without a scenario: one cluster, whose size comes from the trace. */
static struct plan *plan_of_trace(struct symbols *symbols)
{
    static const char text[] =
        "[ Name = \"" TRACE_NAME "\"; Window = 1; Clusters = { [ Ad = [ Name = \"" TRACE_NAME "\"; Cpus = 1 ] ] } ]";

    return plan_read(symbols, text, sizeof text - 1, NULL, NULL, NULL);
}

static int session_run(struct session *session)
{
    const struct sim_batch_options *options = session->options;
    struct err err = {0};

    session->plan =
        options->trace && !options->file ? plan_of_trace(session->symbols) : plan_load(session->symbols, options->file);
    if (!session->plan)
        return STATUS_BAD;
    for (unsigned i = 0; i < options->what_if->count; i++)
        if (plan_what_if(session->plan, options->what_if->texts[i], &err) < 0) {
            report("sim: --what-if '%s': %s", options->what_if->texts[i], err.text);
            return STATUS_BAD;
        }
    if (hours_read(session) < 0 || policies_read(session) < 0 || timeouts_read(session) < 0 ||
        window_read(session) < 0 || trace_load(session) < 0)
        return STATUS_BAD;
    return session_study(session);
}

int sim_batch(const struct sim_batch_options *options)
{
    struct session session = {.options = options, .symbols = names_new(0), .began = seconds_now(NULL)};
    int status;

    session.shown = session.began;
    work_init(&session.trace);
    status = session_run(&session);
    work_done(&session.trace);
    plan_free(session.plan);
    symbols_free(session.symbols);
    return status;
}
