/* run_jobs.c: runs worlds in several processes, and gives their reports in the order of the seeds. */
#include "sim/run_jobs.h"

#include "lang/base/mem.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct sim_job {
    pid_t pid; /* 0: the process has ended */
    int reports;
};

struct sim_jobs {
    uint32_t count, next;
    struct sim_job items[];
};

/* ----------------------------------------------------------------------------------------------------- in a process */

static bool report_write(int to, const struct sim_report *report)
{
    const char *at = (const char *)report, *end = at + sizeof *report;

    while (at < end) {
        ssize_t n = write(to, at, (size_t)(end - at));

        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
    }
    return true;
}

/* Runs worlds until the reader is gone. */
static void worlds_run(const struct sim_settings *settings, uint64_t seed, uint32_t step, int to)
{
    struct sim_report report;

    signal(SIGPIPE, SIG_IGN);
    do {
        sim_world(seed, settings, &report);
        seed += step;
    } while (report_write(to, &report));
}

/* --------------------------------------------------------------------------------------------------------- around them */

static bool report_read(int from, struct sim_report *ret)
{
    char *at = (char *)ret, *end = at + sizeof *ret;

    while (at < end) {
        ssize_t n = read(from, at, (size_t)(end - at));

        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        at += n > 0 ? n : 0;
    }
    return true;
}

static void job_end(struct sim_job *job)
{
    if (!job->pid)
        return;
    close(job->reports);
    kill(job->pid, SIGKILL); /* the process has nothing to lose */
    while (waitpid(job->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    job->pid = 0;
}

static bool job_begin(struct sim_jobs *jobs, const struct sim_settings *settings)
{
    struct sim_job *job = &jobs->items[jobs->count];
    int ends[2];

    if (pipe(ends))
        return false;
    job->reports = ends[0];
    job->pid = fork();
    if (job->pid == 0) {
        for (uint32_t i = 0; i <= jobs->count; i++) /* otherwise no process would see that the reader is gone */
            close(jobs->items[i].reports);
        worlds_run(settings, settings->seed + jobs->count, settings->jobs, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (job->pid < 0) {
        close(ends[0]);
        return false;
    }
    jobs->count++;
    return true;
}

struct sim_jobs *sim_jobs_new(const struct sim_settings *settings)
{
    struct sim_jobs *jobs;

    if (settings->jobs <= 1 || settings->jobs > SIM_JOBS_MAX || !settings->claims)
        return NULL;
    jobs = mem_alloc(sizeof *jobs + settings->jobs * sizeof *jobs->items);
    *jobs = (struct sim_jobs){.count = 0};
    while (jobs->count < settings->jobs)
        if (!job_begin(jobs, settings)) {
            sim_jobs_free(jobs);
            return NULL;
        }
    return jobs;
}

void sim_jobs_free(struct sim_jobs *jobs)
{
    if (!jobs)
        return;
    for (uint32_t i = 0; i < jobs->count; i++)
        job_end(&jobs->items[i]);
    free(jobs);
}

bool sim_jobs_next(struct sim_jobs *jobs, struct sim_report *ret)
{
    struct sim_job *job = &jobs->items[jobs->next];

    jobs->next = (jobs->next + 1) % jobs->count;
    if (!job->pid)
        return false;
    if (report_read(job->reports, ret))
        return true;
    job_end(job);
    return false;
}
