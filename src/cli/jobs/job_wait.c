/* job_wait.c: berth wait: waits until jobs are over. */
#include "cli/ask/jobs.h"
#include "cli/ask/summary.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "cli/term/terminal.h"
#include "lang/base/span.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

#define BAR_WIDTH 10
#define MANY_LEFT 4 /* jobs that are not over: then they are not looked at ... */
#define MANY_MS 50  /* ... more often than that, or the customer would be asked at the end of each */
#define TOLD_MAX 20 /* jobs that did not end well and that are named one by one */

struct wait_settings {
    struct connection_options pool;
    uint64_t timeout; /* seconds; 0: none */
    bool quiet;
};

static int option_timeout(const char *text, void *target, struct err *err)
{
    return option_count_to(text, INT32_MAX, target, err);
}

#define S struct wait_settings
static const struct option wait_options[] = {
    {'t', "timeout", "SECONDS", "no longer than that", option_timeout, offsetof(S, timeout)},
    {'q', "quiet", NULL, "do not show on a terminal how far they are", option_flag, offsetof(S, quiet)},
    CUSTOMER_OPTION_ROWS(S),
};
#undef S

static const struct wait_settings wait_defaults = {0};

static int64_t seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* ------------------------------------------------------------------------------------------------------------ the outcome */

/* How the jobs ended. */
struct outcomes {
    uint64_t seen, bad;
};

/* Appends how a job ended that did not end well, and why, where that is not said by how it ended. */
static void outcome_print(struct buf *out, const struct tree *job)
{
    bool told = job_text_is(job, "State", "Done") || job_text_is(job, "State", "Cleared");

    if (job_is_over(job))
        job_standing_print(out, job);
    if (told)
        return;
    buf_adds(out, out->len ? ": " : "");
    cell_print(out, job, "Reason", CELL_VALUE, 0);
}

static bool outcome_add(void *user, struct tree *job)
{
    struct outcomes *outcomes = user;
    struct buf words;
    bool good, missing;

    outcomes->seen++;
    buf_init(&words);
    good = job_is_good(job);
    missing = job_misses(job, &words);
    if ((!good || missing) && outcomes->bad++ < TOLD_MAX) {
        double id = 0;

        job_number(job, "Job", &id);
        if (missing)
            report("job %.0f: %s", id, buf_string(&words));
        buf_reset(&words);
        outcome_print(&words, job);
        if (!good)
            report("job %.0f: %s", id, words.len ? buf_string(&words) : "it did not end well");
    }
    buf_done(&words);
    return true;
}

static int outcomes_ask(struct connection *customer, struct job_ids *ids, struct outcomes *ret)
{
    uint64_t wanted = job_ids_count(ids);
    int status = job_ids_list(customer, ids, OUTCOME_SELECT ",FilesMissing,Missing", outcome_add, ret);

    if (status == STATUS_DONE && ret->bad > TOLD_MAX)
        report("and %" PRIu64 " more did not end well", ret->bad - TOLD_MAX);
    if (status == STATUS_DONE && ret->seen < wanted) {
        report("%" PRIu64 " of those %" PRIu64 " jobs %s not exist", wanted - ret->seen, wanted,
               wanted - ret->seen == 1 ? "does" : "do");
        ret->bad += wanted - ret->seen;
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------------------- progress */

/* What is shown while we wait. */
struct wait_progress {
    struct progress_line line;
    double began; /* seconds, when we first looked ... */
    double over;  /* ... and how many jobs were over then; -1: we have not looked */
};

static double summary_over(const struct tree *summary)
{
    return summary_number(summary, "Done") + summary_number(summary, "Failed") + summary_number(summary, "Aborted") +
           summary_number(summary, "Cancelled");
}

/* Shows "[##--------]  20%: 100 of 500 over, about 12m30s left, 3 failed, 20 run". */
static void progress_tell(struct wait_progress *progress, const struct tree *summary)
{
    double total = summary_number(summary, "Total"), over = summary_over(summary), now = (double)seconds_now();
    double run =
        summary_number(summary, "Ready") + summary_number(summary, "Scheduled") + summary_number(summary, "Running");
    double bad = summary_number(summary, "Failed") + summary_number(summary, "Aborted");
    struct buf text;

    if (!progress->line.wanted || !(total > 0))
        return;
    if (progress->over < 0) {
        progress->began = now;
        progress->over = over;
    }
    buf_init(&text);
    buf_addc(&text, '[');
    bar_print(&text, over / total, BAR_WIDTH);
    buf_addf(&text, "] %3.0f%%: %.0f of %.0f over", over / total * 100, over, total);
    if (over > progress->over && now > progress->began + 1 && over < total) {
        buf_adds(&text, ", about ");
        span_say(&text, (now - progress->began) / (over - progress->over) * (total - over));
        buf_adds(&text, " left");
    }
    if (bad > 0)
        buf_addf(&text, ", %.0f failed", bad);
    if (run > 0)
        buf_addf(&text, ", %.0f run%s", run, run == 1 ? "s" : "");
    if (summary_number(summary, "Held") > 0)
        buf_addf(&text, ", %.0f held", summary_number(summary, "Held"));
    progress_show(&progress->line, &text);
    buf_done(&text);
}

/* --------------------------------------------------------------------------------------------------------------- waiting */

/* Why the waiting is over. */
enum waited { WAITED_OVER, WAITED_HELD, WAITED_STUCK, WAITED_TIME };

static bool note_any(void *user, struct tree *job)
{
    (void)job;
    *(bool *)user = true;
    return false;
}

/* Are outputs of one of the jobs still on their way? */
static int outputs_due(struct connection *customer, struct job_ids *ids, bool *ret)
{
    struct buf path;
    int status;

    *ret = false;
    buf_init(&path);
    buf_adds(&path, "/v1/jobs");
    path_query(&path, "ids", buf_string(&ids->text));
    path_query(&path, "constraint", "OutputsDue");
    path_query(&path, "select", "Job");
    status = connection_list(customer, buf_string(&path), 1, note_any, ret);
    buf_done(&path);
    return status;
}

/* Asks how the jobs stand, and waits until that has changed or `wait` seconds are over. */
static int wait_look(struct connection *customer, struct job_ids *ids, int wait, double *changes,
                     struct wait_progress *progress, bool *ret_over, bool *ret_many, enum waited *ret)
{
    struct tree *summary = NULL;
    bool due = false;
    int status = summary_fetch(customer, buf_string(&ids->text), *changes, wait, &summary);

    if (status != STATUS_DONE)
        return status;
    *changes = summary_number(summary, "Changes");
    *ret_over = summary_is_over(summary);
    *ret_many = summary_number(summary, "Total") - summary_over(summary) > MANY_LEFT;
    *ret = summary_number(summary, "Held") > 0      ? WAITED_HELD
           : summary_number(summary, "Blocked") > 0 ? WAITED_STUCK
                                                    : WAITED_OVER;
    progress_tell(progress, summary);
    tree_unref(summary);
    if (*ret_over)
        status = outputs_due(customer, ids, &due);
    *ret_over = *ret_over && !due;
    return status;
}

static int wait_over(struct connection *customer, struct job_ids *ids, const struct wait_settings *settings,
                     enum waited *ret)
{
    struct wait_progress progress = {.over = -1};
    uint64_t timeout = settings->timeout;
    int64_t end = seconds_now() + (int64_t)timeout;
    int status = STATUS_DONE;
    double changes = 0;
    bool over = false, many = false;

    progress_begin(&progress.line, settings->quiet);
    for (bool first = true; status == STATUS_DONE && !over; first = false) {
        int64_t left;

        if (many)
            poll(NULL, 0, MANY_MS);
        left = timeout ? end - seconds_now() : JOBS_WAIT;

        if (left <= 0 && !first) {
            *ret = WAITED_TIME;
            break;
        }
        status = wait_look(customer, ids,
                           first              ? 0
                           : left < JOBS_WAIT ? (int)left
                                              : JOBS_WAIT,
                           &changes, &progress, &over, &many, ret);
    }
    progress_clear(&progress.line);
    return status;
}

static int wait_run(const void *given, int word_count, char **words)
{
    const struct wait_settings *settings = given;
    struct outcomes outcomes = {0};
    enum waited waited = WAITED_OVER;
    struct connection customer;
    struct job_ids ids;
    int status;

    if (!word_count) {
        report("wait wants job numbers");
        return STATUS_BAD;
    }
    if (job_ids_read(&ids, word_count, words) < 0 || job_ids_fit(&ids) < 0) {
        job_ids_done(&ids);
        return STATUS_BAD;
    }
    status = customer_open(&customer, &settings->pool);
    if (status == STATUS_DONE)
        status = wait_over(&customer, &ids, settings, &waited);
    if (status == STATUS_DONE && waited == WAITED_TIME) {
        report("timed out: not all of them are over");
        status = STATUS_NO;
    } else if (status == STATUS_DONE && waited == WAITED_HELD) {
        report("the rest of them are held: `berth jobs` shows them, `berth release` lets them run");
        status = STATUS_NO;
    } else if (status == STATUS_DONE && waited == WAITED_STUCK) {
        outcomes_ask(&customer, &ids, &outcomes);
        report("the rest of them wait for nodes that failed or are held: `berth dag` shows them, `berth dag "
               "rescue` lets them run again");
        status = STATUS_NO;
    } else if (status == STATUS_DONE) {
        status = outcomes_ask(&customer, &ids, &outcomes);
        if (status == STATUS_DONE && outcomes.bad)
            status = STATUS_NO;
    }
    connection_close(&customer);
    job_ids_done(&ids);
    return status;
}

const struct command command_wait = {
    .name = "wait",
    .summary = "wait until jobs are over",
    .usage = "[--timeout SECONDS] [--quiet] ID...",
    .about =
        "Waits until all those jobs are over and their outputs have come, and tells of those that did not end well. On a terminal a line on standard error shows how far they are and about how long the rest will take, unless --quiet is given. The status is 0 when all ended with "
        "status 0 and brought all their files; 1 when one did not, when there is no such job, when the time is up, or when those that are left are held.",
    .examples = {{"berth wait 5-20", NULL}, {"berth wait 5 --timeout 60 && berth outputs 5", NULL}},
    .options = wait_options,
    .option_count = sizeof wait_options / sizeof *wait_options,
    .settings_size = sizeof(struct wait_settings),
    .defaults = &wait_defaults,
    .run = wait_run,
};
