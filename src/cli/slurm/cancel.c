/* cancel.c: scancel, and what scontrol does to jobs: hold, release, suspend, resume, requeue. */
#include "cli/jobs/job_control.h"
#include "cli/slurm/parts.h"
#include "cli/term/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct cancel_settings {
    const char *users, *names, *states, *signal, *partition, *account;
    bool me, quiet, batch, full, verbose;
};

#define S struct cancel_settings
static const struct option options[] = {
    {'u', "user", "USERS", "", option_text, offsetof(S, users)},
    {'n', "name", "NAMES", "", option_text, offsetof(S, names)},
    {0, "jobname", "NAMES", "", option_text, offsetof(S, names)},
    {'t', "state", "STATES", "", option_text, offsetof(S, states)},
    {'s', "signal", "SIGNAL", "", option_text, offsetof(S, signal)},
    {'p', "partition", "NAME", "", option_text, offsetof(S, partition)},
    {'A', "account", "NAME", "", option_text, offsetof(S, account)},
    {0, "me", NULL, "", option_flag, offsetof(S, me)},
    {'Q', "quiet", NULL, "", option_flag, offsetof(S, quiet)},
    {'b', "batch", NULL, "", option_flag, offsetof(S, batch)},
    {'f', "full", NULL, "", option_flag, offsetof(S, full)},
    {'v', "verbose", NULL, "", option_flag, offsetof(S, verbose)},
};
#undef S

struct change {
    const struct slurm_choice *choice; /* or NULL */
    struct buf ids;
    uint32_t count, over;
};

static void job_take(void *user, const struct slurm_job *job)
{
    struct change *change = user;

    if (slurm_state_is_end(job->state) || job->state == SLURM_COMPLETING) {
        change->over++;
        return;
    }
    if (change->choice && !slurm_job_is_among(job, change->choice))
        return;
    buf_addf(&change->ids, "%s%" PRId64, change->ids.len ? "," : "", job->id);
    change->count++;
}

static int jobs_change_those(const char *command, const char *verb, const struct slurm_choice *choice, const char *ids,
                             bool quiet)
{
    struct connection_options none = {0};
    struct change change = {.choice = choice};
    struct jobs_changed sums = {0};
    struct connection customer;
    int status = customer_open(&customer, &none);

    buf_init(&change.ids);
    if (status == STATUS_DONE)
        status = slurm_jobs_each(&customer, ids, ids ? SLURM_HISTORY : NULL, job_take, &change);
    if (status == STATUS_DONE && change.count)
        status = jobs_control(&customer, &(struct jobs_order){.verb = verb, .ids = buf_string(&change.ids)}, &sums);
    if (status == STATUS_DONE && ids && !change.count && !change.over) {
        if (!quiet)
            report("%s: error: Kill job error on job id %.60s: Invalid job id specified", command, ids);
        status = STATUS_NO;
    }
    buf_done(&change.ids);
    connection_close(&customer);
    return status;
}

int slurm_change(const char *command, const char *verb, int word_count, char **words)
{
    struct buf ids;
    int status = STATUS_DONE;

    buf_init(&ids);
    for (int i = 0; i < word_count && status == STATUS_DONE; i++)
        if (slurm_ids_read(command, words[i], &ids) < 0)
            status = STATUS_BAD;
    if (status == STATUS_DONE && !ids.len) {
        report("%s: expected the numbers of jobs", command);
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE)
        status = jobs_change_those(command, verb, NULL, buf_string(&ids), false);
    buf_done(&ids);
    return status;
}

int slurm_scancel(int word_count, char **words)
{
    struct cancel_settings settings = {0};
    int status =
        slurm_read("scancel", options, sizeof options / sizeof *options, NULL, false, &settings, &word_count, words);
    struct buf ids;

    buf_init(&ids);
    for (int i = 0; i < word_count && status == STATUS_DONE; i++)
        if (slurm_ids_read("scancel", words[i], &ids) < 0)
            status = STATUS_BAD;
    if (status == STATUS_DONE && settings.signal && strcmp(settings.signal, "KILL") != 0 &&
        strcmp(settings.signal, "TERM") != 0 && strcmp(settings.signal, "9") != 0 &&
        strcmp(settings.signal, "15") != 0) {
        report("scancel: --signal: `berth job ID signal NAME` sends one; here a job is ended");
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE && settings.account) { /* to end others than were meant would be worse */
        report("scancel: --account: nothing like it here");
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE && !ids.len && !settings.users && !settings.names && !settings.states && !settings.me) {
        report("scancel: expected the numbers of jobs, or --user, --name, --state or --me");
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE)
        status = jobs_change_those(
            "scancel", "remove",
            &(struct slurm_choice){settings.users, settings.names, settings.states, settings.partition, settings.me},
            ids.len ? buf_string(&ids) : NULL, settings.quiet);
    buf_done(&ids);
    return status;
}
