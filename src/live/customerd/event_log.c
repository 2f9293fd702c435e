/* event_log.c: what happened to a job, as events of HTCondor's job event log. */
#include "live/customerd/event_log.h"

#include "lang/ad/get.h"
#include "live/customerd/job_ad.h"
#include "live/customerd/job_outcome.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum log_event {
    SUBMITTED = 0,
    EXECUTES = 1,
    EVICTED = 4,
    TERMINATED = 5,
    SIZE = 6,
    EXCEPTION = 7,
    ABORTED = 9,
    SUSPENDED = 10,
    UNSUSPENDED = 11,
    HELD = 12,
    RELEASED = 13
};

#define SIZE_STEP 8 /* memory that has grown by less than this part is not told again */

struct adding {
    const struct log_look *look;
    struct log_told *told;
    struct buf *out;
};

/* ------------------------------------------------------------------------------------------------------------ the text */

static void head_add(struct adding *adding, enum log_event event, int64_t at, const char *words)
{
    struct log_told *told = adding->told;
    time_t seconds;
    struct tm tm = {0};

    told->at = at > told->at ? at : told->at;
    seconds = (time_t)told->at;
    localtime_r(&seconds, &tm);
    buf_addf(adding->out, "%03d (%03llu.%03llu.000) %04d-%02d-%02d %02d:%02d:%02d %s", (int)event,
             (unsigned long long)told->cluster, (unsigned long long)(adding->look->view->id - told->cluster),
             tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, words);
}

static void end_add(struct adding *adding)
{
    buf_adds(adding->out, EVENT_LOG_END);
}

/* A line of words that may be anybody's: it stays a line. */
static void words_add(struct adding *adding, const char *before, const char *words)
{
    buf_adds(adding->out, before);
    for (; *words; words++)
        buf_addc(adding->out, (unsigned char)*words < ' ' || *words == 0x7f ? ' ' : *words);
    buf_addc(adding->out, '\n');
}

static void usage_add(struct adding *adding, double cpu, const char *what)
{
    int64_t used = cpu > 0 && cpu < 1e15 ? (int64_t)cpu : 0;

    buf_addf(adding->out, "\t\tUsr %lld %02d:%02d:%02d, Sys 0 00:00:00  -  %s Usage\n", (long long)(used / 86400),
             (int)(used / 3600 % 24), (int)(used / 60 % 60), (int)(used % 60), what);
}

static void bytes_add(struct adding *adding, const struct job_attempt *one, const char *when)
{
    buf_addf(adding->out, "\t%lld  -  %s Bytes Sent By Job\n\t%lld  -  %s Bytes Received By Job\n",
             (long long)(one ? one->brought : 0), when, (long long)(one ? one->taken : 0), when);
}

static void resource_add(struct adding *adding, const char *name, double used, const char *asked_name, double given,
                         double unit)
{
    const struct tree *ad = adding->look->view->ad;
    char usage[32] = "", asked[32] = "", allocated[32] = "";
    double number;

    if (used >= 0 && used < 1e18)
        snprintf(usage, sizeof usage, unit > 1 ? "%.0f" : "%.2f", ceil(used / unit * 100) / 100);
    if (ad_number(ad, asked_name, &number) && number >= 0 && number < 1e18)
        snprintf(asked, sizeof asked, "%.0f", ceil(number / unit));
    if (given > 0 && given < 1e18)
        snprintf(allocated, sizeof allocated, "%.0f", ceil(given / unit));
    buf_addf(adding->out, "\t   %-20s : %8s %8s %9s\n", name, usage, asked, allocated);
}

static void resources_add(struct adding *adding, const struct job_attempt *one)
{
    if (!one)
        return;
    buf_adds(adding->out, "\tPartitionable Resources :    Usage  Request Allocated\n");
    resource_add(adding, "Cpus", one->wall > 0 ? one->cpu / one->wall : 0, "RequestCpus", one->may_cpus, 1);
    resource_add(adding, "Disk (KB)", (double)one->disk, "RequestDisk", (double)one->may_disk, 1024);
    resource_add(adding, "Memory (MB)", (double)one->memory, "RequestMemory", (double)one->may_memory, 1048576);
}

static void status_add(struct adding *adding, int64_t status)
{
    if (status < 0)
        buf_addf(adding->out, "\t(0) Abnormal termination (signal %lld)\n\t(0) No core file\n",
                 (long long)status_signal(status));
    else
        buf_addf(adding->out, "\t(1) Normal termination (return value %lld)\n", (long long)status);
}

/* ---------------------------------------------------------------------------------------------------------- each event */

static void submitted_add(struct adding *adding)
{
    const struct log_look *look = adding->look;

    head_add(adding, SUBMITTED, look->view->submitted, "Job submitted from host: <");
    buf_addf(adding->out, "%s:0?alias=%s>\n", look->host, look->host);
    for (size_t i = 0; i < sizeof look->notes / sizeof *look->notes; i++)
        if (look->notes[i])
            words_add(adding, "    ", look->notes[i]);
    end_add(adding);
    adding->told->phase = LOG_WAITS;
}

static void executes_add(struct adding *adding, const struct job_attempt *one, int64_t at)
{
    const char *name = one->provider ? one->provider : "machine";

    head_add(adding, EXECUTES, at, "Job executing on host: <");
    buf_addf(adding->out, "%s:0?alias=%s>\n\tSlotName: slot1@%s\n", name, name, name);
    if (one->may_cpus > 0)
        buf_addf(adding->out, "\tCpus = %.0f\n\tDisk = %lld\n\tMemory = %lld\n", ceil(one->may_cpus),
                 (long long)(one->may_disk / 1024), (long long)(one->may_memory / 1048576));
    end_add(adding);
    adding->told->phase = LOG_RUNS;
    adding->told->serial = one->serial;
    adding->told->size = 0;
    adding->told->suspended = 0;
}

static void size_add(struct adding *adding, const struct job_attempt *one)
{
    int64_t size = one->memory / 1024, told = adding->told->size;

    if (size <= told + told / SIZE_STEP)
        return;
    head_add(adding, SIZE, one->heard, "Image size of job updated: ");
    buf_addf(adding->out, "%lld\n\t%lld  -  MemoryUsage of job (MB)\n\t%lld  -  ResidentSetSize of job (KB)\n",
             (long long)size, (long long)((size + 1023) / 1024), (long long)size);
    end_add(adding);
    adding->told->size = size;
}

static void rest_add(struct adding *adding, const struct job_attempt *one)
{
    int suspended = one->suspended != 0;

    if (suspended == adding->told->suspended)
        return;
    head_add(adding, suspended ? SUSPENDED : UNSUSPENDED, suspended ? one->suspended : adding->look->now,
             suspended ? "Job was suspended.\n\tNumber of processes actually suspended: 1\n"
                       : "Job was unsuspended.\n");
    end_add(adding);
    adding->told->suspended = suspended;
}

/* The try has ended, and the job has not. */
static void evicted_add(struct adding *adding, const struct job_attempt *one)
{
    const struct job_view *view = adding->look->view;
    bool again = view->tries > adding->told->failed && view->reason == REASON_EXITED, kept;
    int64_t code;

    kept = !again && view->reason == REASON_EXITED && ad_integer(view->ad, "CheckpointExitCode", &code) &&
           code == view->status;
    head_add(adding, EVICTED, view->changed, "Job was evicted.\n");
    buf_adds(adding->out, again  ? "\t(0) Job terminated and was requeued\n"
                          : kept ? "\t(1) Job was checkpointed.\n"
                                 : "\t(0) Job was not checkpointed.\n");
    usage_add(adding, one ? one->cpu : 0, "Run Remote");
    usage_add(adding, 0, "Run Local");
    bytes_add(adding, one, "Run");
    if (again)
        status_add(adding, view->status);
    resources_add(adding, one);
    end_add(adding);
    adding->told->phase = LOG_WAITS;
}

static void terminated_add(struct adding *adding, const struct job_attempt *one)
{
    const struct job_view *view = adding->look->view;
    time_t ended = (time_t)view->changed;
    char stamp[32] = "";
    struct tm tm = {0};

    head_add(adding, TERMINATED, one->finished > view->changed ? one->finished : view->changed, "Job terminated.\n");
    status_add(adding, view->status);
    for (int total = 0; total < 2; total++) {
        usage_add(adding, one->cpu, total ? "Total Remote" : "Run Remote");
        usage_add(adding, 0, total ? "Total Local" : "Run Local");
    }
    bytes_add(adding, one, "Run");
    bytes_add(adding, one, "Total");
    resources_add(adding, one);
    gmtime_r(&ended, &tm);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &tm);
    if (view->reason == REASON_EXITED)
        buf_addf(adding->out, "\n\tJob terminated of its own accord at %s with %s %lld.\n", stamp,
                 view->status < 0 ? "signal" : "exit-code",
                 (long long)(view->status < 0 ? status_signal(view->status) : view->status));
    end_add(adding);
    adding->told->phase = LOG_OVER;
}

/* Why the job is held, or will not run any more. */
static void why_add(struct adding *adding, const struct job_attempt *last)
{
    const struct job_view *view = adding->look->view;
    const char *said = job_why(view, adding->look->tries);
    char words[2 * TRY_MESSAGE_MAX + 64];

    if (said || view->reason == REASON_RELEASED)
        snprintf(words, sizeof words, "%s",
                 said                      ? said
                 : view->state == JOB_HELD ? "held by its user"
                                           : "removed by its user");
    else
        snprintf(words, sizeof words, "%s%s%s", reason_words(view->reason),
                 last && last->words && view->reason == REASON_SETUP ? ": " : "",
                 last && last->words && view->reason == REASON_SETUP ? last->words : "");
    words_add(adding, "\t", words);
}

static void held_add(struct adding *adding, const struct job_attempt *last)
{
    const struct job_view *view = adding->look->view;
    const struct job_attempts *tries = adding->look->tries;

    if (view->reason == REASON_SETUP || view->reason == REASON_UNMADE) {
        head_add(adding, EXCEPTION, view->changed, "Shadow exception!\n");
        why_add(adding, last);
        bytes_add(adding, last, "Run");
        end_add(adding);
    }
    head_add(adding, HELD, view->changed, "Job was held.\n");
    why_add(adding, last);
    buf_addf(adding->out, "\tCode %lld Subcode %lld\n", (long long)job_hold_code(view, tries),
             (long long)job_hold_sub(view, tries));
    end_add(adding);
    adding->told->phase = LOG_HELD;
}

static void released_add(struct adding *adding, int64_t at)
{
    head_add(adding, RELEASED, at, "Job was released.\n");
    end_add(adding);
    adding->told->phase = LOG_WAITS;
}

static void aborted_add(struct adding *adding, const struct job_attempt *last)
{
    head_add(adding, ABORTED, adding->look->view->changed, "Job was aborted.\n");
    why_add(adding, last);
    end_add(adding);
    adding->told->phase = LOG_OVER;
}

/* ----------------------------------------------------------------------------------------------------- what is missing */

static const struct job_attempt *try_of(const struct job_attempts *tries, uint64_t serial)
{
    for (uint32_t i = 0; tries && i < tries->count; i++)
        if (tries->tries[i].serial == serial)
            return &tries->tries[i];
    return NULL;
}

/* Is it held because a try that has ended lacks an output? */
static bool lacks_outputs(const struct job_view *view)
{
    return view->state == JOB_HELD && view->reason == REASON_UNMADE;
}

/* When its process started. The machine of a very short one has not said it: then its end and how long it took tell it. 0: it has not started. */
static int64_t try_started(const struct job_view *view, const struct job_attempt *one, bool last)
{
    int64_t when = view->changed - (int64_t)ceil(one->wall);

    if (!one->started && !last && one->wall > 0)
        return one->began; /* another has followed */
    if (one->started || !last || !one->finished || (view->state != JOB_DONE && !lacks_outputs(view)) ||
        view->reason == REASON_SETUP)
        return one->started;
    return when > one->began ? when : one->began;
}

/* Tells of the tries that began since. Of each but the last it is known that it has ended. */
static void tries_add(struct adding *adding)
{
    const struct job_attempts *tries = adding->look->tries;

    for (uint32_t i = 0; tries && i < tries->count; i++) {
        const struct job_attempt *one = &tries->tries[i];
        int64_t started = try_started(adding->look->view, one, i + 1 == tries->count);

        if (one->serial <= adding->told->serial || !started)
            continue;
        if (adding->told->phase == LOG_RUNS)
            evicted_add(adding, try_of(tries, adding->told->serial));
        if (adding->told->phase == LOG_HELD)
            released_add(adding, one->began);
        executes_add(adding, one, started);
    }
}

void event_log_add(const struct log_look *look, struct log_told *told, struct buf *out)
{
    const struct job_attempts *tries = look->tries;
    const struct job_attempt *last = tries && tries->count ? &tries->tries[tries->count - 1] : NULL, *one;
    struct adding adding = {look, told, out};
    const struct job_view *view = look->view;
    bool leaves = view->state == JOB_HELD && job_hold_code(view, tries) == HOLD_TO_VACATE;
    bool over = view->state == JOB_DONE || view->state == JOB_REMOVED || view->state == JOB_ABORTED, runs;

    if (job_outputs_due(view, last, look->now) || (view->state == JOB_RUNNING && !view->claim && !view->local))
        return; /* whoever waits for its end reads its outputs then; or a gang is not gone yet */
    if (told->phase == LOG_OVER && over)
        return;
    if (told->phase == LOG_OVER)
        told->phase = LOG_WAITS; /* a job of a workflow that was rescued */
    if (told->phase == LOG_NEW)
        submitted_add(&adding);
    tries_add(&adding);
    one = try_of(tries, told->serial);
    runs = view->state == JOB_RUNNING && one && one == last && one->claim == view->claim && one->number == view->number;
    if (told->phase == LOG_RUNS && one && (runs || view->state == JOB_DONE || lacks_outputs(view)))
        size_add(&adding, one);
    if (told->phase == LOG_RUNS && one && runs)
        rest_add(&adding, one);
    if (told->phase == LOG_RUNS && view->state == JOB_DONE && one && one == last && view->reason != REASON_SETUP)
        terminated_add(&adding, one);
    else if (told->phase == LOG_RUNS && !runs && !lacks_outputs(view))
        evicted_add(&adding, one);
    if (told->phase == LOG_HELD && view->state != JOB_HELD && view->state != JOB_REMOVED)
        released_add(&adding, view->changed);
    if (told->phase != LOG_HELD && view->state == JOB_HELD && !leaves)
        held_add(&adding, last);
    if (told->phase != LOG_OVER && over)
        aborted_add(&adding, last);
    told->failed = view->tries;
}
