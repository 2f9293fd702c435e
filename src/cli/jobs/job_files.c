/* job_files.c: berth logs, and how a file of a job is read as it grows. */
#include "cli/jobs/job_files.h"

#include "cli/ask/jobs.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MISSING_PAUSE 5000       /* microseconds before a file that is not there yet is asked for again; doubled ... */
#define MISSING_PAUSE_MAX 300000 /* ... up to this */

static int write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t put = write(fd, bytes, len);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        bytes += put;
        len -= (size_t)put;
    }
    return 0;
}

/* Has the job ended, so that nothing more comes? It has once it is over and its outputs have arrived. */
static int job_ended(const struct job_stream *file, bool *ret)
{
    struct tree *job = NULL;
    int status = job_fetch(file->customer, file->id, &job);
    bool due = false;

    if (status == STATUS_DONE) {
        ad_flag(job, "OutputsDue", &due);
        *ret = job_is_over(job) && !due;
    }
    tree_unref(job);
    return status;
}

/* One piece of a file: `got` bytes were written; the file has `size` bytes now. */
struct piece {
    uint64_t got, size;
    bool whole;
};

static int piece_copy(const struct job_stream *file, uint64_t offset, bool wait, const char *missing, struct piece *ret)
{
    struct connection_ask ask = {.accept = "*/*", .may_miss = true, .hush = true};
    struct fetched fetched;
    char number[24];
    struct buf path;
    int status;

    buf_init(&path);
    job_path(&path, file->id, file->path);
    snprintf(number, sizeof number, "%" PRIu64, offset);
    path_query(&path, "offset", number);
    snprintf(number, sizeof number, "%d", JOBS_WAIT);
    path_query(&path, "wait", wait ? number : NULL);
    ask.path = buf_string(&path);
    ask.hush = missing == NULL;
    ask.about = missing;
    status = connection_fetch(file->customer, &ask, &fetched);
    if (status == STATUS_DONE) {
        *ret = (struct piece){.got = fetched.body.len, .size = offset + fetched.body.len};
        if (fetched.size)
            ret->size = strtoull(fetched.size, NULL, 10);
        ret->whole = fetched.whole && !strcasecmp(fetched.whole, "true");
        if (write_all(file->fd, fetched.body.text, fetched.body.len) < 0) {
            report("what came cannot be written: %s", strerror(errno));
            status = STATUS_BAD;
        }
        fetched_done(&fetched);
    }
    buf_done(&path);
    return status;
}

int job_file_copy(const struct job_stream *file, const char *missing)
{
    bool ended = false;
    uint64_t offset = 0;
    useconds_t pause = MISSING_PAUSE;

    for (;;) {
        struct piece piece = {0};
        int status = piece_copy(file, offset, file->follow && !ended, file->follow ? NULL : missing, &piece);

        if (status == STATUS_NO && file->follow && !ended) {
            status = job_ended(file, &ended);
            if (status != STATUS_DONE)
                return status;
            if (!ended) {
                usleep(pause);
                pause = pause * 2 < MISSING_PAUSE_MAX ? pause * 2 : MISSING_PAUSE_MAX;
            }
            continue; /* once more when the job has ended: the file may have come meanwhile */
        }
        if (status != STATUS_DONE)
            return file->follow && status == STATUS_NO ? STATUS_DONE : status;
        offset += piece.got;
        if (piece.size < offset && !piece.got) { /* the file was begun anew: the job runs again */
            offset = 0;
            continue;
        }
        if (piece.got)
            continue;
        if (!file->follow || piece.whole || ended)
            return STATUS_DONE;
        status = job_ended(file, &ended);
        if (status != STATUS_DONE)
            return status;
    }
}

/* ----------------------------------------------------------------------------------------------------------------- logs */

struct logs_settings {
    struct connection_options pool;
    bool follow, err, events;
    uint64_t member;
};

#define S struct logs_settings
static const struct option logs_options[] = {
    {'f', "follow", NULL, "go on as it grows, until the job is over", option_flag, offsetof(S, follow)},
    {'e', "err", NULL, "standard error, not standard output", option_flag, offsetof(S, err)},
    {0, "member", "N", "of that process of a parallel job; 0, the first, if not given", option_number,
     offsetof(S, member)},
    {0, "events", NULL, "what happened to the job: a line an event", option_flag, offsetof(S, events)},
    CUSTOMER_OPTION_ROWS(S),
};
#undef S

static const struct logs_settings logs_defaults = {0};

static int logs_run(const void *given, int word_count, char **words)
{
    const struct logs_settings *settings = given;
    struct job_stream file = {.follow = settings->follow, .fd = STDOUT_FILENO};
    struct connection customer;
    struct tree *job = NULL;
    char path[64];
    int status;

    if (settings->member && settings->events) {
        report("--member and --events cannot be used together");
        return STATUS_BAD;
    }
    if (settings->err && settings->events) {
        report("--err and --events cannot be used together");
        return STATUS_BAD;
    }
    if (job_id_read("logs", word_count, words, &file.id) < 0)
        return STATUS_BAD;
    snprintf(path, sizeof path,
             settings->events   ? "/log"
             : settings->member ? "/files/log/%s.%" PRIu64
                                : "/files/log/%s",
             settings->err ? "stderr" : "stdout", settings->member);
    file.path = path;
    status = customer_open(&customer, &settings->pool);
    file.customer = &customer;
    if (status == STATUS_DONE) /* tells a job that is not there from one that has written nothing */
        status = job_fetch(&customer, file.id, &job);
    tree_unref(job);
    if (status == STATUS_DONE) {
        status = job_file_copy(&file, NULL);
        if (status == STATUS_NO)
            status = STATUS_DONE;
    }
    connection_close(&customer);
    return status;
}

const struct command command_logs = {
    .name = "logs",
    .summary = "print what a job has written, or what happened to it",
    .usage = "[-f] [--err | --events] [--member N] ID",
    .about =
        "Prints the standard output of a job, as far as it has come; with --err its standard error; with --events its log: "
        "a line an event, with the time.",
    .examples = {{"berth logs 5", NULL},
                 {"berth logs -f --err 5", NULL},
                 {"berth logs 5 --events", NULL},
                 {"berth logs 5 --member 3", NULL}},
    .options = logs_options,
    .option_count = sizeof logs_options / sizeof *logs_options,
    .settings_size = sizeof(struct logs_settings),
    .defaults = &logs_defaults,
    .run = logs_run,
};
