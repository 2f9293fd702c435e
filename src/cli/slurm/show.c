/* show.c: scontrol: what it shows of the pool, of jobs and machines, and what it does to jobs. */
#include "cli/slurm/parts.h"
#include "cli/term/file.h"
#include "cli/term/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

struct show_settings {
    bool line, details, quiet, all, headless;
};

#define S struct show_settings
static const struct option options[] = {
    {'o', "oneliner", NULL, "", option_flag, offsetof(S, line)},
    {'d', "details", NULL, "", option_flag, offsetof(S, details)},
    {'Q', "quiet", NULL, "", option_flag, offsetof(S, quiet)},
    {'a', "all", NULL, "", option_flag, offsetof(S, all)},
};
#undef S

struct show {
    const char *between; /* fields: a line of its own, or a blank */
    const char *name;    /* of the node; NULL: all */
    uint32_t count;
    int64_t now;
    struct buf out;
};

static void job_show(void *user, const struct slurm_job *job)
{
    struct show *show = user;
    struct buf *out = &show->out;
    int64_t limit = slurm_job_number(job, "TimeLimit", 0);
    bool over = slurm_state_is_end(job->state);

    show->count++;
    buf_addf(out, "JobId=%" PRId64, job->id);
    if (job->array)
        buf_addf(out, " ArrayJobId=%" PRId64 " ArrayTaskId=%" PRId64, job->array, job->index);
    buf_adds(out, " JobName=");
    slurm_job_name(job, out);
    buf_addf(out, "%sUserId=", show->between);
    slurm_job_owner(job, out);
    buf_addf(out, "%sJobState=%s Reason=%s", show->between, slurm_state_word(job->state), slurm_job_reason(job));
    buf_addf(out,
             "%sRequeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=%" PRId64 ":%" PRId64 "%sRunTime=", show->between,
             over ? job->code : 0, over ? job->signal : 0, show->between);
    slurm_span(out, slurm_job_ran(job, show->now), true);
    buf_adds(out, " TimeLimit=");
    if (limit)
        slurm_span(out, limit, true);
    else
        buf_adds(out, "UNLIMITED");
    buf_addf(out, "%sSubmitTime=", show->between);
    slurm_date(out, slurm_job_number(job, "Submitted", 0));
    buf_adds(out, " StartTime=");
    slurm_date(out, slurm_job_number(job, "Started", 0));
    buf_adds(out, " EndTime=");
    slurm_date(out, slurm_job_number(job, "Ended", 0));
    buf_addf(out, "%sPartition=" SLURM_PARTITION " NodeList=", show->between);
    slurm_job_nodes(job, out);
    buf_addf(out, "%sNumNodes=1 NumCPUs=%" PRId64 " NumTasks=1%sMinMemoryNode=", show->between,
             slurm_job_number(job, "RequestCpus", 1), show->between);
    slurm_amount(out, slurm_job_number(job, "RequestMemory", 0));
    buf_addf(out, "%sCommand=", show->between);
    slurm_job_text(job, "Cmd", out);
    buf_addf(out, "%sWorkDir=", show->between);
    slurm_job_text(job, "Iwd", out);
    buf_adds(out, *show->between == '\n' ? "\n\n" : "\n");
}

static bool node_show(void *user, struct tree *ad)
{
    struct show *show = user;
    struct slurm_node node;
    struct buf name;

    slurm_node_read(ad, &node);
    buf_init(&name);
    slurm_node_name(&node, &name);
    if (!show->name || slurm_word_among(show->name, buf_string(&name))) {
        show->count++;
        buf_addf(&show->out, "NodeName=%s CPUAlloc=%" PRId64 " CPUTot=%" PRId64, buf_string(&name), node.used,
                 node.cpus);
        buf_addf(&show->out, "%sRealMemory=%" PRId64 " AllocMem=%" PRId64, show->between, node.memory >> 20,
                 node.memory_used >> 20);
        buf_addf(&show->out, "%sState=", show->between);
        for (const char *c = node.state_long; *c; c++)
            buf_addc(&show->out, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
        buf_addf(&show->out, "%sPartitions=" SLURM_PARTITION "%s", show->between,
                 *show->between == '\n' ? "\n\n" : "\n");
    }
    buf_done(&name);
    return true;
}

static int jobs_show(struct show *show, const char *words)
{
    struct connection_options none = {0};
    struct connection customer;
    struct buf ids;
    int status = STATUS_DONE;

    buf_init(&ids);
    if (words && slurm_ids_read("scontrol", words, &ids) < 0) {
        buf_done(&ids);
        return STATUS_BAD;
    }
    status = customer_open(&customer, &none);
    if (status == STATUS_DONE)
        status = slurm_jobs_each(&customer, ids.len ? buf_string(&ids) : NULL, ids.len ? SLURM_HISTORY : NULL, job_show,
                                 show);
    connection_close(&customer);
    buf_done(&ids);
    if (status == STATUS_DONE && words && !show->count) {
        report("slurm_load_jobs error: Invalid job id specified");
        status = STATUS_NO;
    }
    return status;
}

static int nodes_show(struct show *show, const char *name)
{
    struct connection_options none = {0};
    struct connection pool;
    int status = connection_open(&pool, &none);

    show->name = name;
    if (status == STATUS_DONE)
        status = connection_list(&pool, "/v1/machines?whole=true", 0, node_show, show);
    connection_close(&pool);
    if (status == STATUS_DONE && name && !show->count) {
        report("Node %.100s not found", name);
        status = STATUS_NO;
    }
    return status;
}

/* What programs look for in it, and what holds here. */
static void config_show(struct buf *out)
{
    char host[256] = "localhost";

    gethostname(host, sizeof host - 1);
    buf_addf(out,
             "Configuration data as of now\n"
             "ClusterName             = berth\n"
             "SlurmctldHost[0]        = %s\n"
             "SLURM_VERSION           = 22.05.8\n"
             "SchedulerTimeSlice      = 30 sec\n"
             "SchedulerType           = berth " BERTH_VERSION "\n"
             "KillWait                = 30 sec\n"
             "MinJobAge               = 300 sec\n"
             "MaxArraySize            = 100000\n"
             "MaxJobCount             = 1000000\n"
             "DefMemPerNode           = 512\n",
             host);
}

static bool begins(const char *word, const char *whole, size_t least)
{
    return strlen(word) >= least && !strncasecmp(whole, word, strlen(word));
}

static int show_run(struct show *show, int word_count, char **words)
{
    const char *what = word_count > 1 ? words[1] : "", *equals = strchr(what, '=');
    const char *name = equals ? equals + 1 : word_count > 2 ? words[2] : NULL;
    char kind[16] = "";

    snprintf(kind, sizeof kind, "%.*s", (int)(equals ? equals - what : 15), what);
    if (begins(kind, "config", 4)) {
        config_show(&show->out);
        return STATUS_DONE;
    }
    if (begins(kind, "jobs", 1) || !strcasecmp(kind, "jobid"))
        return jobs_show(show, name);
    if (begins(kind, "nodes", 1))
        return nodes_show(show, name);
    if (begins(kind, "partitions", 1)) {
        buf_addf(&show->out, "PartitionName=" SLURM_PARTITION "%sDefault=YES State=UP MaxTime=UNLIMITED\n",
                 show->between);
        return STATUS_DONE;
    }
    report("scontrol: show %.40s: expected config, job, node or partition", what);
    return STATUS_BAD;
}

int slurm_scontrol(int word_count, char **words)
{
    static const struct {
        const char *word, *verb;
    } verbs[] = {{"hold", "hold"},       {"uhold", "hold"},      {"release", "release"},
                 {"suspend", "suspend"}, {"resume", "continue"}, {"requeue", "vacate"}};
    struct show_settings settings = {0};
    struct show show = {.now = time(NULL)};
    int status =
        slurm_read("scontrol", options, sizeof options / sizeof *options, NULL, false, &settings, &word_count, words);
    char host[256] = "localhost";

    if (status != STATUS_DONE)
        return status;
    show.between = settings.line ? " " : "\n   ";
    for (size_t i = 0; word_count && i < sizeof verbs / sizeof *verbs; i++)
        if (!strcasecmp(words[0], verbs[i].word))
            return slurm_change("scontrol", verbs[i].verb, word_count - 1, words + 1);
    buf_init(&show.out);
    if (word_count && !strcasecmp(words[0], "show")) {
        status = show_run(&show, word_count, words);
    } else if (word_count && !strcasecmp(words[0], "ping")) {
        gethostname(host, sizeof host - 1);
        buf_addf(&show.out, "Slurmctld(primary) at %s is UP\n", host);
    } else {
        report("scontrol: expected show, hold, release, suspend, resume or requeue%s%.40s", word_count ? ", got " : "",
               word_count ? words[0] : "");
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE)
        output_write(&show.out);
    buf_done(&show.out);
    return status;
}
