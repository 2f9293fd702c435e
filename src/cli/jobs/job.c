/* job.c: berth job: tells everything about one job, and gives it commands while it runs. */
#include "cli/ask/explain.h"
#include "cli/ask/jobs.h"
#include "cli/jobs/job_chart.h"
#include "cli/jobs/job_command.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/span.h"
#include "live/customerd/job_outcome.h"
#include "live/providerd/peek.h"
#include "sys/signals.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct job_settings {
    struct connection_options pool;
    struct job_command_settings command;
    bool json, long_form;
};

/* Reads a count of bytes or lines: at most what one answer holds. */
static int option_peek(const char *text, void *target, struct err *err)
{
    return option_count_to(text, PEEK_BYTES_MAX, target, err);
}

#define S struct job_settings
static const struct option job_options[] = {
    {0, "json", NULL, "the job as one JSON object", option_flag, offsetof(S, json)},
    {0, "long", NULL, "the job's ad, in the long form", option_flag, offsetof(S, long_form)},
    {0, "bytes", "N", "peek: the last N bytes", option_peek, offsetof(S, command.bytes)},
    {'n', "lines", "N", "peek: the last N lines; 10 of up to 4096 bytes, else", option_peek,
     offsetof(S, command.lines)},
    {'f', "follow", NULL, "peek: go on as the file grows, while the job runs", option_flag,
     offsetof(S, command.follow)},
    {0, "wait", "SPAN", "peek, signal: wait so long for the answer: 0 only gives the command; 20 s, else", option_wait,
     offsetof(S, command.wait)},
    {0, "for", "SPAN", "peek, signal: a command that was not carried out in that time is given up: a day, else",
     option_span, offsetof(S, command.life)},
    CUSTOMER_OPTION_ROW(S),
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct job_settings job_defaults = {.command = {.wait = AWAITED_WAIT}};

/* --------------------------------------------------------------------------------------------------------------- a line each */

enum sort { SORT_VALUE, SORT_DATE, SORT_SPAN, SORT_BYTES };

static const struct {
    const char *word, *attribute;
    enum sort sort;
} job_lines[] = {
    {"name", "Name", SORT_VALUE},
    {"owner", "Owner", SORT_VALUE},
    {"submitted", "Submitted", SORT_DATE},
    {"started", "Started", SORT_DATE},
    {"ended", "Ended", SORT_DATE},
    {"machine", "Provider", SORT_VALUE},
    {"tries", "Tries", SORT_VALUE},
    {"message", "Message", SORT_VALUE},
    {"wall time", "WallUsed", SORT_SPAN},
    {"CPU time", "CpuUsed", SORT_SPAN},
    {"memory", "MemoryUsed", SORT_BYTES},
    {"disk", "DiskUsed", SORT_BYTES},
    {"files in", "BytesIn", SORT_BYTES},
    {"files out", "BytesOut", SORT_BYTES},
    {"disk read", "BytesRead", SORT_BYTES},
    {"disk written", "BytesWritten", SORT_BYTES},
    {"may use cpus", "CpusGiven", SORT_VALUE},
    {"may use memory", "MemoryGiven", SORT_BYTES},
    {"may use disk", "DiskGiven", SORT_BYTES},
    {"outputs go to", "Iwd", SORT_VALUE},
    {"trace", "TraceId", SORT_VALUE},
};

static void date_print(struct buf *out, double seconds, int64_t now)
{
    time_t when = (time_t)seconds;
    char text[40];
    struct tm date;

    if (localtime_r(&when, &date) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &date))
        buf_adds(out, text);
    buf_adds(out, " (");
    span_say(out, (double)now - seconds);
    buf_adds(out, " ago)");
}

static void line_print(struct buf *out, const char *word)
{
    buf_addf(out, "  %-14s ", word);
}

/* Appends why the job stands as it does: what one looks for first in a job that is held or has failed. */
static void reason_print(struct buf *out, const struct tree *job)
{
    size_t start = out->len, from;

    line_print(out, "reason");
    from = out->len;
    if (!job_waits_say(out, job, (int64_t)time(NULL)))
        cell_print(out, job, "Reason", CELL_VALUE, 0);
    text_tame(out, from);
    if (out->len == from)
        out->len = start;
    else
        buf_addc(out, '\n');
}

/* Appends when and where the job is planned to begin, if a pool has planned it. */
static void plan_print(struct buf *out, const struct tree *job)
{
    size_t start = out->len, from;

    line_print(out, "start");
    from = out->len;
    if (!job_plan_say(out, job, (int64_t)time(NULL))) {
        out->len = start;
        return;
    }
    text_tame(out, from);
    buf_addc(out, '\n');
}

static void ended_print(struct buf *out, const struct tree *job)
{
    double ended;

    if (!job_number(job, "Status", &ended))
        return;
    line_print(out, "status");
    if (ended >= 0)
        buf_addf(out, "%.0f\n", ended);
    else
        buf_addf(out, "ended by signal %.0f (%s)\n", -ended, strsignal((int)-ended));
}

static void lines_print(struct buf *out, const struct tree *job, int64_t now)
{
    for (size_t i = 0; i < sizeof job_lines / sizeof *job_lines; i++) {
        size_t start = out->len, from;
        double number = 0;
        bool is_number = job_number(job, job_lines[i].attribute, &number);

        line_print(out, job_lines[i].word);
        from = out->len;
        if (job_lines[i].sort == SORT_VALUE)
            cell_print(out, job, job_lines[i].attribute, CELL_VALUE, now);
        else if (!is_number || number <= 0)
            ;
        else if (job_lines[i].sort == SORT_DATE)
            date_print(out, number, now);
        else if (job_lines[i].sort == SORT_SPAN)
            span_print(out, number);
        else
            job_bytes_print(out, number);
        text_tame(out, from);
        if (out->len == from)
            out->len = start; /* the value is not known */
        else
            buf_addc(out, '\n');
    }
}

static void stored_text(struct buf *out, const char *before, const struct tree *file, const char *name)
{
    const char *text;
    size_t len;

    if (!ad_string(file, name, &text, &len) || !len)
        return;
    buf_adds(out, before);
    buf_add(out, text, len);
}

/* Appends a line for each file that goes to a store: what became of it, and where it is. */
static void stored_print(struct buf *out, const struct tree *job)
{
    const struct expr *list = ad_find(job, "Stored");

    for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
        struct tree *file = ad_part(job, &tree_parts(job, list)[i]);
        size_t from;

        line_print(out, i ? "" : "files");
        from = out->len;
        stored_text(out, "", file, "Name");
        stored_text(out, ": ", file, "State");
        stored_text(out, ", ", file, "Store");
        stored_text(out, ", ", file, "Url");
        stored_text(out, ", ", file, "Why");
        text_tame(out, from);
        buf_addc(out, '\n');
        tree_unref(file);
    }
}

/* Appends a line for each process of a parallel job: where it is, and what it has used, once it is over. */
static void members_print(struct buf *out, const struct tree *job)
{
    const struct expr *list = ad_find(job, "Members");

    for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
        struct tree *member = ad_part(job, &tree_parts(job, list)[i]);
        double number;
        size_t from;

        line_print(out, i ? "" : "members");
        from = out->len;
        buf_addf(out, "%u", (unsigned)i);
        stored_text(out, " on ", member, "Provider");
        if (job_number(member, "Status", &number))
            buf_addf(out, ", ended with status %.0f", number);
        if (job_number(member, "CpuUsed", &number)) {
            buf_adds(out, ", CPU time ");
            span_print(out, number);
        }
        text_tame(out, from);
        buf_addc(out, '\n');
        tree_unref(member);
    }
}

static void missing_print(struct buf *out, const struct tree *job)
{
    size_t start = out->len, from;

    line_print(out, "files");
    from = out->len;
    if (!job_misses(job, out)) {
        out->len = start;
        return;
    }
    text_tame(out, from);
    buf_addc(out, '\n');
}

/* Appends how the job stands; on a terminal, how it ended is green or red. */
static void standing_print(struct buf *out, const struct tree *job)
{
    enum job_outcome outcome;
    enum outcome_tone tone = job_outcome(job, &outcome) ? job_outcome_tone(outcome) : TONE_PLAIN;
    bool colours = tone != TONE_PLAIN && report_colours(STDOUT_FILENO);
    size_t from;

    buf_adds(out, !colours ? "" : tone == TONE_GOOD ? "\033[32m" : "\033[31m");
    from = out->len;
    job_standing_print(out, job);
    text_tame(out, from);
    buf_adds(out, colours ? "\033[0m" : "");
}

static void job_print(struct buf *out, const struct tree *job)
{
    int64_t now = time(NULL);
    struct arena arena;
    struct buf command;
    double since;
    bool due;

    arena_init(&arena);
    buf_init(&command);
    buf_adds(out, "Job ");
    cell_print(out, job, "Job", CELL_VALUE, now);
    buf_adds(out, ": ");
    standing_print(out, job);
    if (job_number(job, "Since", &since)) {
        buf_adds(out, job_is_over(job) ? ", " : " for ");
        span_say(out, since);
        buf_adds(out, job_is_over(job) ? " ago" : "");
    }
    buf_addc(out, '\n');
    reason_print(out, job);
    plan_print(out, job);
    ended_print(out, job);
    line_print(out, "command");
    job_command(&command, job, &arena);
    text_tame(&command, 0);
    buf_add(out, command.text, command.len);
    buf_addc(out, '\n');
    lines_print(out, job, now);
    members_print(out, job);
    stored_print(out, job);
    missing_print(out, job);
    if (ad_flag(job, "OutputsDue", &due) && due) {
        line_print(out, "outputs");
        buf_adds(out, "on their way\n");
    }
    buf_done(&command);
    arena_done(&arena);
}

/* ---------------------------------------------------------------------------------------------------- the log, and why it waits */

static void log_print(struct connection *customer, uint64_t id, struct buf *out)
{
    struct connection_ask ask = {.accept = "*/*", .may_miss = true, .hush = true};
    struct fetched fetched;
    struct buf path;

    buf_init(&path);
    job_path(&path, id, "/log?offset=0");
    ask.path = buf_string(&path);
    if (connection_fetch(customer, &ask, &fetched) == STATUS_DONE) {
        bool begins = true;

        buf_adds(out, fetched.body.len ? "\nWhat happened:\n" : "");
        for (size_t i = 0; i < fetched.body.len; i++) {
            unsigned char c = (unsigned char)fetched.body.text[i];

            buf_adds(out, begins ? "  " : "");
            begins = c == '\n';
            buf_addc(out, (c < ' ' && !begins) || c == 127 ? '?' : (char)c);
        }
        fetched_done(&fetched);
    }
    buf_done(&path);
}

static void why_print_waits(const struct job_settings *settings, const struct tree *job, uint64_t id, struct buf *out)
{
    struct connection pool;
    struct buf text;
    char name[32];
    bool matches;

    buf_init(&text);
    snprintf(name, sizeof name, "job %" PRIu64, id);
    if (connection_open(&pool, &settings->pool) == STATUS_DONE &&
        explain_job(&pool, job, name, false, &text, &matches) == STATUS_DONE) {
        buf_adds(out, matches ? "\nIt would match, and waits for its turn:\n" : "\nWhy it waits:\n");
        buf_add(out, text.text, text.len);
    }
    connection_close(&pool);
    buf_done(&text);
}

/* Gives the job the command that stands behind its number. */
static int job_tell(const struct job_settings *settings, int word_count, char **words)
{
    struct job_command_settings command = settings->command;
    struct connection customer;
    uint64_t id;
    int status;

    command.json = settings->json;
    if (job_id_read("job", 1, words, &id) < 0 || !job_command_good(&command, word_count - 1, words + 1))
        return STATUS_BAD;
    status = customer_open(&customer, &settings->pool);
    if (status == STATUS_DONE)
        status = job_command_run(&customer, &command, id, word_count - 1, words + 1);
    connection_close(&customer);
    return status;
}

static int job_run(const void *given, int word_count, char **words)
{
    const struct job_settings *settings = given;
    struct tree *job = NULL;
    struct connection customer;
    enum rows_form form;
    struct rows rows;
    struct buf out;
    uint64_t id;
    int status;

    if (word_count > 1 && !job_id_is(words[1]))
        return job_tell(settings, word_count, words);
    if (job_id_read("job", word_count, words, &id) < 0 || rows_form(settings->json, settings->long_form, &form) < 0)
        return STATUS_BAD;
    buf_init(&out);
    status = customer_open(&customer, &settings->pool);
    if (status == STATUS_DONE)
        status = job_fetch(&customer, id, &job);
    if (status == STATUS_DONE && form != ROWS_TABLE) {
        rows_init(&rows, form, NULL, 0);
        rows_add(&rows, job);
        rows_done(&rows);
    } else if (status == STATUS_DONE) {
        job_print(&out, job);
        job_chart_print(&out, job, chart_blocks());
        log_print(&customer, id, &out);
        output_write(&out);
        if (job_text_is(job, "State", "Waiting"))
            why_print_waits(settings, job, id, &out);
        output_write(&out);
    }
    tree_unref(job);
    connection_close(&customer);
    buf_done(&out);
    return status;
}

const struct command command_job = {
    .name = "job",
    .summary = "tell everything about one job, or peek into it, or signal it",
    .usage = "[OPTIONS] ID\n[OPTIONS] ID peek FILE\n[OPTIONS] ID signal N|NAME",
    .about =
        "Prints what the customer knows of a job: its state and times, where it runs, what it has used, also over its life if "
        "that is 20 s or longer, how it ended, and its log. Of one that waits, the pool is asked why. With --json or --long, the job's ad.\n\n"
        "peek FILE prints the end of a file in the folder of a job that runs, as it is now; `stdout` and `stderr` are what it has "
        "written. signal sends its first process one of " SIGNAL_WORDS
        ". Both go the way that the job came by, through firewalls, and "
        "wait while its machine is away; they are carried out once. The status is 1 when the job does not run, has no such file, or "
        "its machine has not answered in the time of --wait.",
    .examples = {{"berth job 5", NULL},
                 {"berth job 5 --json", NULL},
                 {"berth job 5 peek progress.log --lines 20", NULL},
                 {"berth job 5 signal USR1", NULL}},
    .options = job_options,
    .option_count = sizeof job_options / sizeof *job_options,
    .settings_size = sizeof(struct job_settings),
    .defaults = &job_defaults,
    .run = job_run,
};
