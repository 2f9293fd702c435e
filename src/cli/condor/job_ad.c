/* job_ad.c: a job's ad as HTCondor would have it. */
#include "cli/condor/parts.h"
#include "lang/ad/eval.h"
#include "lang/ad/get.h"
#include "lang/text/print.h"
#include "pool/protocol/writers.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Attributes that are said in HTCondor's words, or mean something else there. */
static const char *const translated[] = {
    "Args",        "Cmd",         "Constraint",  "CpuUsed",       "Dag",        "Delivered", "DiskUsed",
    "Ended",       "Env",         "Err",         "ExitCode",      "ImageSize",  "In",        "Index",
    "JobIndex",    "Iwd",         "Job",         "Matched",       "MemoryUsed", "Name",      "Network",
    "Node",        "Out",         "Owner",       "Priority",      "Provider",   "Rank",      "Reason",
    "RequestCpus", "RequestDisk", "RequestGpus", "RequestMemory", "Since",      "Started",   "State",
    "Status",      "Submitted",   "Suspended",   "Tries",         "Type",       "WallUsed",
};

static bool is_translated(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof translated / sizeof *translated; i++)
        if (strlen(translated[i]) == len && !strncasecmp(translated[i], name, len))
            return true;
    return false;
}

int64_t condor_integer(const struct tree *ad, const char *name)
{
    double number;

    return job_number(ad, name, &number) && number > -9e15 && number < 9e15 ? (int64_t)number : 0;
}

int condor_job_status(const struct tree *job)
{
    if (job_text_is(job, "State", "Running"))
        return ad_find(job, "Suspended") ? JOB_SUSPENDED : JOB_RUNNING;
    if (job_text_is(job, "State", "Held"))
        return JOB_HELD;
    if (job_text_is(job, "State", "Cancelled") || job_text_is(job, "State", "Aborted") ||
        job_text_is(job, "Outcome", "Removed"))
        return JOB_REMOVED;
    return job_is_over(job) ? JOB_COMPLETED : JOB_IDLE;
}

/* Copies a number under another name, as a whole one: the amount divided by a unit, rounded up. */
static void number_add(struct maker *maker, const char *name, const struct tree *job, const char *from, int64_t unit)
{
    double number;

    if (job_number(job, from, &number) && number > -9e15 && number < 9e15)
        maker_integer(maker, name, ((int64_t)number + unit - 1) / unit);
}

static void real_add(struct maker *maker, const char *name, const struct tree *job, const char *from)
{
    double number;

    if (job_number(job, from, &number))
        maker_real(maker, name, number);
}

static void text_add(struct maker *maker, const char *name, const struct value *value)
{
    if (value->type == VALUE_STRING)
        maker_bytes(maker, name, value->u.string, value->len);
}

/* Adds the attributes that HTCondor does not know under another name, if they have a plain value. */
static void rest_add(struct maker *maker, const struct tree *job, struct arena *arena)
{
    const struct expr *root = tree_root(job), *parts = tree_parts(job, root);

    for (uint32_t i = 0; i < root->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(job->symbols, parts[i].label, &len);
        struct value value;

        if (is_translated(name, len))
            continue;
        value = job_value(job, name, arena);
        if (value.type == VALUE_STRING)
            maker_bytes(maker, name, value.u.string, value.len);
        else if (value.type == VALUE_INTEGER)
            maker_integer(maker, name, value.u.integer);
        else if (value.type == VALUE_REAL)
            maker_real(maker, name, value.u.real);
        else if (value.type == VALUE_BOOLEAN)
            maker_flag(maker, name, value_is_true(&value));
    }
}

static void arguments_add(struct maker *maker, const struct tree *job, struct arena *arena)
{
    struct buf line;
    const char *space;

    buf_init(&line);
    job_command(&line, job, arena);
    space = line.len ? strchr(buf_string(&line), ' ') : NULL;
    maker_text(maker, "Args", space ? space + 1 : "");
    buf_done(&line);
}

static void times_add(struct maker *maker, const struct tree *job, int status, int64_t since)
{
    number_add(maker, "QDate", job, "Submitted", 1);
    number_add(maker, "JobStartDate", job, "Started", 1);
    number_add(maker, "JobCurrentStartDate", job, "Started", 1);
    maker_integer(maker, "CompletionDate", job_is_over(job) ? condor_integer(job, "Ended") : 0);
    maker_integer(maker, "EnteredCurrentStatus", since);
    real_add(maker, "RemoteWallClockTime", job, "WallUsed");
    real_add(maker, "RemoteUserCpu", job, "CpuUsed");
    number_add(maker, "NumJobStarts", job, "Tries", 1);
    number_add(maker, "LastSuspensionTime", job, "Suspended", 1);
    maker_integer(maker, "JobStatus", status);
}

static void end_add(struct maker *maker, const struct tree *job)
{
    int64_t code = condor_integer(job, "Status");

    if (!ad_find(job, "Status"))
        return;
    maker_flag(maker, "ExitBySignal", code < 0);
    maker_integer(maker, code < 0 ? "ExitSignal" : "ExitCode", code < 0 ? -code : code);
    maker_integer(maker, "ExitStatus", code < 0 ? -code : code);
}

/* Local, scheduler or vanilla. */
static int universe_of(const struct tree *job)
{
    bool flow = false;

    if (ad_flag(job, "CarriesDag", &flow) && flow)
        return 7;
    return job_text_is(job, "Universe", "local") ? 12 : 5;
}

/* When the job came to stand as it does. */
static int64_t since_of(const struct tree *job, int status)
{
    const char *const names[] = {
        [JOB_IDLE] = "Submitted", [JOB_RUNNING] = "Started", [JOB_REMOVED] = "Ended",      [JOB_COMPLETED] = "Ended",
        [JOB_HELD] = "Held",      [JOB_TRANSFERS] = "Ended", [JOB_SUSPENDED] = "Suspended"};
    int64_t at = condor_integer(job, names[status]);

    return at ? at : condor_integer(job, "Submitted");
}

/* Texts that are the same there, maybe under another name. */
static void texts_add(struct maker *maker, const struct tree *job, struct arena *arena)
{
    static const char *const names[][2] = {{"Cmd", "Cmd"},          {"Iwd", "Iwd"},     {"In", "In"},
                                           {"Out", "Out"},          {"Err", "Err"},     {"JobBatchName", "Name"},
                                           {"DAGNodeName", "Node"}, {"Owner", "Owner"}, {"User", "Owner"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct value value = job_value(job, names[i][1], arena);

        text_add(maker, names[i][0], &value);
    }
    arguments_add(maker, job, arena);
}

static void reasons_add(struct maker *maker, const struct tree *job, int status, struct arena *arena)
{
    struct value value = job_value(job, "Provider", arena);

    if (value.type == VALUE_STRING)
        slot_name_add(maker, status == JOB_RUNNING || status == JOB_SUSPENDED ? "RemoteHost" : "LastRemoteHost",
                      value.u.string, value.len);
    value = job_value(job, "Reason", arena);
    if (status == JOB_HELD) {
        text_add(maker, "HoldReason", &value);
        maker_integer(maker, "HoldReasonCode", ad_find(job, "HoldCode") ? condor_integer(job, "HoldCode") : 1);
        maker_integer(maker, "HoldReasonSubCode", condor_integer(job, "HoldSubCode"));
    } else if (status == JOB_REMOVED) {
        text_add(maker, "RemoveReason", &value);
    }
}

static void amounts_add(struct maker *maker, const struct tree *job)
{
    number_add(maker, "RequestCpus", job, "RequestCpus", 1);
    number_add(maker, "RequestGPUs", job, "RequestGpus", 1);
    number_add(maker, "RequestMemory", job, "RequestMemory", 1 << 20);
    number_add(maker, "RequestDisk", job, "RequestDisk", 1 << 10);
    number_add(maker, "MemoryUsage", job, "MemoryUsed", 1 << 20);
    number_add(maker, "ResidentSetSize", job, "MemoryUsed", 1 << 10);
    number_add(maker, "ImageSize", job, "MemoryUsed", 1 << 10);
    number_add(maker, "DiskUsage", job, "DiskUsed", 1 << 10);
}

/* The job with what its expressions read when it is run. */
static struct tree *job_indexed(struct tree *job, int64_t index)
{
    struct ad_setting setting = {symbols_take(job->symbols, "JobIndex", 8), value_integer(index)};
    struct tree *indexed = ad_set(job, &setting, 1, NULL);

    symbols_drop(job->symbols, setting.name);
    return indexed ? indexed : tree_ref(job);
}

struct tree *condor_job(struct tree *given)
{
    int64_t number = condor_integer(given, "Job"), index = condor_integer(given, "Index");
    struct tree *job = job_indexed(given, index);
    int status = condor_job_status(job);
    struct maker maker;
    struct arena arena;
    char id[100];

    arena_init(&arena);
    maker_init(&maker, job->symbols);
    maker.build.dialect = &dialect_condor;
    maker_text(&maker, "MyType", "Job");
    maker_integer(&maker, "ClusterId", number - index);
    maker_integer(&maker, "ProcId", index);
    snprintf(id, sizeof id, "berth#%lld.%lld#%lld", (long long)(number - index), (long long)index,
             (long long)condor_integer(job, "Submitted"));
    maker_text(&maker, "GlobalJobId", id);
    maker_integer(&maker, "JobUniverse", universe_of(job));
    maker_integer(&maker, "JobPrio", condor_integer(job, "Priority"));
    texts_add(&maker, job, &arena);
    times_add(&maker, job, status, since_of(job, status));
    end_add(&maker, job);
    reasons_add(&maker, job, status, &arena);
    amounts_add(&maker, job);
    rest_add(&maker, job, &arena);
    arena_done(&arena);
    tree_unref(job);
    return maker_seal(&maker);
}
