/* history_swf.c: jobs of a customer's history in the Standard Workload Format.
 *
 *     ; UnixStartTime: 1794977948
 *     1 0 2 3600 4 3500 2048 4 7200 -1 1 1 1 1 -1 1 -1 -1
 *
 * Users, groups, commands and machines are numbers there, in the order in which they come; comments at the head say whose. What is not known is -1. */
#include "cli/ask/history_swf.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/textmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN (-1)
#define NUMBER_MAX 9e15 /* a real has all whole numbers up to that */

enum name_kind { NAME_USER, NAME_GROUP, NAME_COMMAND, NAME_MACHINE, NAME_KINDS };

static const struct {
    const char *attribute, *heading;
} names[] = {{"Owner", "UserID"}, {"AccountingGroup", "GroupID"}, {"Cmd", "ExecutableID"}, {"Provider", "PartitionID"}};

struct swf_job {
    int64_t job, submitted, status;
    double wait, run, cpus, cpu, memory, asked_cpus, asked_time, asked_memory;
    int64_t named[NAME_KINDS];
};

struct swf {
    struct swf_job *jobs;
    size_t count, room;
    struct textmap names[NAME_KINDS];
};

/* A number that the ad says, if it can be one; else -1. */
static double number_of(const struct tree *ad, const char *name)
{
    double number;

    return ad_number(ad, name, &number) && number >= 0 && number < NUMBER_MAX ? number : UNKNOWN;
}

static int64_t name_number(struct swf *swf, const struct tree *ad, enum name_kind kind)
{
    const char *text;
    size_t len;

    return ad_string(ad, names[kind].attribute, &text, &len) && len
               ? (int64_t)textmap_add(&swf->names[kind], text, len) + 1
               : UNKNOWN;
}

/* 1: it ended well; 0: it failed; 5: it was removed. */
static int64_t status_of(const struct tree *ad)
{
    const char *outcome;
    size_t len;

    if (!ad_string(ad, "Outcome", &outcome, &len))
        return UNKNOWN;
    return len == 9 && !memcmp(outcome, "Succeeded", 9) ? 1 : len == 7 && !memcmp(outcome, "Removed", 7) ? 5 : 0;
}

static double a_processor(double amount, double cpus, double unit)
{
    return amount < 0 ? UNKNOWN : amount / unit / (cpus >= 1 ? cpus : 1);
}

static bool job_add(void *user, struct tree *ad)
{
    struct swf *swf = user;
    double submitted = number_of(ad, "Submitted"), started = number_of(ad, "Started");
    struct swf_job job = {
        .status = status_of(ad), .run = number_of(ad, "WallUsed"), .cpus = number_of(ad, "CpusGiven")};

    if (!ad_integer(ad, "Job", &job.job))
        return true;
    job.submitted = submitted > 0 ? (int64_t)submitted : 0;
    job.wait = started > 0 && started >= submitted ? started - submitted : UNKNOWN;
    job.asked_cpus = number_of(ad, "RequestCpus");
    job.asked_time = number_of(ad, "TimeLimit");
    job.asked_memory = a_processor(number_of(ad, "RequestMemory"), job.asked_cpus, 1024);
    job.cpu = a_processor(number_of(ad, "CpuUsed"), job.cpus, 1);
    job.memory = a_processor(number_of(ad, "MemoryUsed"), job.cpus, 1024);
    for (int i = 0; i < NAME_KINDS; i++)
        job.named[i] = name_number(swf, ad, (enum name_kind)i);
    ARRAY_ROOM(swf->jobs, swf->count, swf->room, 64);
    swf->jobs[swf->count++] = job;
    return true;
}

static int job_compare(const void *a, const void *b)
{
    const struct swf_job *one = a, *other = b;

    if (one->submitted != other->submitted)
        return one->submitted < other->submitted ? -1 : 1;
    return one->job < other->job ? -1 : one->job > other->job;
}

/* ------------------------------------------------------------------------------------------------------------- printing */

static void head_print(struct buf *out, const struct swf *swf, int64_t start)
{
    buf_addf(out, "; Version: 2.2\n; Computer: Berth\n; MaxJobs: %zu\n; MaxRecords: %zu\n; UnixStartTime: %lld\n",
             swf->count, swf->count, (long long)start);
    buf_adds(out, "; TimeZoneString: UTC\n; Note: CPU time and memory are a processor's\n");
    for (int kind = 0; kind < NAME_KINDS; kind++)
        for (uint32_t i = 0; i < swf->names[kind].places; i++) {
            size_t from;

            buf_addf(out, "; %s: %u ", names[kind].heading, i + 1);
            from = out->len;
            buf_adds(out, textmap_text(&swf->names[kind], i));
            text_tame(out, from);
            buf_addc(out, '\n');
        }
}

/* Whole seconds and kilobytes: an amount that is not nothing is at least 1. */
static long long whole(double amount)
{
    return amount < 0 ? UNKNOWN : amount > 0 && amount < 1 ? 1 : (long long)(amount + 0.5);
}

static void job_print(struct buf *out, const struct swf_job *job, int64_t start)
{
    buf_addf(out, "%lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld -1 %lld -1 -1\n",
             (long long)job->job, (long long)(job->submitted - start), whole(job->wait), whole(job->run),
             whole(job->cpus), whole(job->cpu), whole(job->memory), whole(job->asked_cpus), whole(job->asked_time),
             whole(job->asked_memory), (long long)job->status, (long long)job->named[NAME_USER],
             (long long)job->named[NAME_GROUP], (long long)job->named[NAME_COMMAND],
             (long long)job->named[NAME_MACHINE]);
}

int history_swf(struct connection *customer, const char *constraint, uint64_t limit)
{
    struct swf swf = {0};
    struct buf path, out;
    int status;

    buf_init(&path);
    buf_init(&out);
    for (int i = 0; i < NAME_KINDS; i++)
        textmap_init(&swf.names[i], 0);
    buf_adds(&path, "/v1/history");
    path_query(&path, "constraint", constraint);
    status = connection_list(customer, buf_string(&path), limit, job_add, &swf);
    if (status == STATUS_DONE) {
        if (swf.count)
            qsort(swf.jobs, swf.count, sizeof *swf.jobs, job_compare);
        head_print(&out, &swf, swf.count ? swf.jobs[0].submitted : 0);
        for (size_t i = 0; i < swf.count; i++)
            job_print(&out, &swf.jobs[i], swf.jobs[0].submitted);
        output_write(&out);
    }
    for (int i = 0; i < NAME_KINDS; i++)
        textmap_done(&swf.names[i]);
    free(swf.jobs);
    buf_done(&out);
    buf_done(&path);
    return status;
}
