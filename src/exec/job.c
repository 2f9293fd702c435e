/* job.c: one job of a launcher, from its order to its end. */
#define _GNU_SOURCE
#include "exec/job.h"

#include "exec/pin.h"
#include "exec/sandbox_parts.h"
#include "exec/secret_files.h"
#include "exec/unstarted.h"
#include "exec/usage.h"
#include "sys/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCH_SPAN 250000      /* between two looks at what it uses */
#define WATCH_SPAN_SOLE 100000 /* when nobody else holds its memory */
#define DISK_SPAN 500000
#define DISK_SLICE 10000  /* of counting files, at a time */
#define END_SPAN 30000000 /* of counting what a job left, at the most */
#define KILL_SPAN 20000   /* between two attempts to kill what is left */
#define STOP_ROUNDS 50    /* attempts to stop processes that go on forking */
#define SIGNAL_STATUS 128 /* bubblewrap says, as a shell does: 128 + N for signal N */
#define SIGNAL_LAST 64
#define ROOM_LEAST (1 << 20) /* bytes: with less a file system counts as full */
#define TIGHT_PROCESSES 16   /* a job that may have less may have left too little for its sandbox */
#define TIGHT_DISK (64 << 10)
#define TIGHT_MEMORY (16 << 20)

static const char too_many[] = "it made too many files, or too many folders within folders";

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void job_init(struct exec_job *job, int record)
{
    memset(job, 0, sizeof *job);
    job->record = record;
    job->folder = job->error = job->init_fd = job->process.told = job->process.go = -1;
}

void job_done(struct exec_job *job)
{
    sampling_done(&job->sampling);
    jobfolder_walk_done(&job->walk);
    close_one(&job->folder);
    close_one(&job->error);
    close_one(&job->init_fd);
    close_one(&job->process.told);
    close_one(&job->process.go);
    order_free(job->order);
    job_init(job, job->record);
}

/* ------------------------------------------------------------------------------------------------------------ beginning */

static int stream_open(const struct exec_job *job, const char *name, bool input, struct err *err)
{
    uint32_t uid = job->order->how.uid;

    if (!name)
        return open("/dev/null", (input ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
    return input ? jobfolder_input(job->folder, name, err) : jobfolder_output(job->folder, name, uid, err);
}

/* Opens those streams as the user whom it runs as that are to be in the folder where it begins, in place of ours. */
static int streams_share(struct exec_job *job, int streams[3], struct err *err)
{
    const struct executor_account *wish = job->order->wish;
    int shared[3];

    if (!job->order->account || (!wish->streams[0] && !wish->streams[1] && !wish->streams[2]))
        return 0;
    if (!job->order->is.view || !job->order->is.view->begin)
        return err_set(err, "it has no folder to begin in");
    if (account_streams(job->order->account, job->order->is.view, wish->streams, shared, err) < 0)
        return -1;
    for (int i = 0; i < 3; i++) {
        int *given = wish->streams[i] ? &streams[i] : &shared[i];

        close(*given);
        if (wish->streams[i])
            streams[i] = shared[i];
    }
    if (wish->streams[2])
        close_one(&job->error); /* what stands there is the user's */
    return 0;
}

static int streams_open(struct exec_job *job, int streams[3], struct err *err)
{
    const struct executor_order *is = &job->order->is;
    bool same = is->output && is->error && !strcmp(is->output, is->error);

    streams[0] = stream_open(job, is->input, true, err);
    streams[1] = streams[0] < 0 ? -1 : stream_open(job, is->output, false, err);
    if (streams[1] < 0)
        return -1;
    streams[2] = same ? fcntl(streams[1], F_DUPFD_CLOEXEC, 3) : stream_open(job, is->error, false, err);
    if (streams[2] >= 0 && is->error)
        job->error = fcntl(streams[2], F_DUPFD_CLOEXEC, 3);
    return streams[2] < 0 ? -1 : streams_share(job, streams, err);
}

/* Lets the job begin: it has waited until all that holds it is there. */
static void let_go(struct exec_job *job)
{
    if (write(job->process.go, "", 1) == 1)
        close_one(&job->process.go);
}

/* How often the kernel has killed because memory was short: in the group that a job without a group of its own is in; where that cannot be told, on
 * the whole machine, whoever's process it was. */
static int64_t kills_around(void)
{
    int64_t here = cgroup_kills_here();

    return here >= 0 ? here : machine_oom_kills();
}

/* Puts the job's limits on its group, with room for the program that leads out of its network. */
static unsigned group_limit(struct exec_job *job)
{
    struct executor_limits limits = job->order->is.limits;

    if (job->order->is.netted == 1) {
        limits.memory += limits.memory > 0 ? JOBNET_MEMORY : 0;
        limits.processes += limits.processes > 0 ? JOBNET_PROCESSES : 0;
    }
    return cgroup_limit(&job->cgroup, &limits, !job->order->how.unprotected);
}

int job_begin(struct exec_job *job, struct order *order, struct sandbox *sandbox, struct err *err)
{
    int streams[3] = {-1, -1, -1}, failed;

    job->order = order;
    job->deadline = order->is.deadline;
    job->began = record_now();
    job->oom_kills = kills_around();
    job->folder = jobfolder_open(order->is.folder, err);
    if (job->folder < 0)
        return -1;
    if (order->how.uid)
        jobfolder_give(job->folder, order->how.uid);
    failed = streams_open(job, streams, err);
    if (!failed) {
        cgroup_init(&job->cgroup, &order->how.cgroups, order->is.claim);
        cgroup_make(&job->cgroup);
        job->held = group_limit(job);
        failed = sandbox_start(sandbox, order, job->folder, streams, &job->cgroup, job->held, &job->process, err);
        secret_files_free(order->secrets); /* the sandbox has them */
        order->secrets = NULL;
    }
    for (int i = 0; i < 3; i++)
        close_one(&streams[i]);
    if (failed)
        return -1;
    fcntl(job->process.told, F_SETFL, O_NONBLOCK);
    job->watch_at = job->began;
    sampling_begin(&job->sampling, order->is.number, job->began);
    job->disk_at = job->began + DISK_SPAN;
    if (job->process.unheld)
        job->held = 0; /* then we watch */
    if (order->how.unprotected)
        let_go(job);
    return 0;
}

/* The number behind a name in what bubblewrap has said; -1: it has not said it yet. */
static long told_number(const struct exec_job *job, const char *name)
{
    const char *at = strstr(job->told, name);

    return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

/* Process 1 of the sandbox is there and waits: the last of what holds the job is put around it before the job begins. False: that is not it. */
static bool init_found(struct exec_job *job, int init)
{
    int64_t processes = job->order->is.limits.processes;

    job->init_fd = pin_open(init);
    if (job->order->account && process_parent(init) != job->process.pid) {
        /* A process of the same user outside has said it in bubblewrap's place: it would have us signal anybody's. */
        close_one(&job->init_fd);
        if (job->process.pid > 0)
            kill(job->process.pid, SIGKILL);
        return false;
    }
    job->init = init;
    init_write(job->record, init);
    job_processes_go_first(init);
    /* of a user of the machine, older kernels count what it has outside as well */
    if (processes > 0 && !(job->held & HELD_PROCESSES) && !job->order->account) {
        rlim_t all = (rlim_t)processes + 1 + (job->process.staged ? STAGE_PROCESSES : 0);
        struct rlimit most = {all, all};

        prlimit(init, RLIMIT_NPROC, &most, NULL); /* counts only what is in its own user namespace */
    }
    step_note(STEP_MADE, job->order->is.claim, job->order->is.number);
    let_go(job);
    return true;
}

static void told_read(struct exec_job *job)
{
    ssize_t got = 1;

    while (job->process.told >= 0 && got > 0 && job->told_len + 1 < sizeof job->told) {
        got = read(job->process.told, job->told + job->told_len, sizeof job->told - 1 - job->told_len);
        if (got > 0)
            job->told_len += (size_t)got;
        else if (got == 0 || errno != EAGAIN)
            close_one(&job->process.told);
    }
    if (job->told_len + 1 == sizeof job->told)
        close_one(&job->process.told); /* it never says that much */
}

static void job_stand(struct exec_job *job, bool still);

bool job_hear(struct exec_job *job)
{
    long init;

    told_read(job);
    if (job->runs) {
        if (told_number(job, "\"exit-code\":") >= 0)
            step_note(STEP_EXITED, job->order->is.claim, job->order->is.number);
        return false;
    }
    if (job->order->how.unprotected) {
        job->runs = job->process.told < 0 && !job->told_len; /* closed by a good exec */
    } else if (!job->init) {
        init = told_number(job, "\"child-pid\":");
        if (init > 0 && !job->killing)
            job->runs = init_found(job, (int)init);
    }
    if (job->runs && (job->suspended || job->rests))
        job_stand(job, true); /* it was asked for before there was anything to suspend */
    return job->runs;
}

/* --------------------------------------------------------------------------------------------------------------- ending */

static void decide(struct exec_job *job, enum executor_news_kind kind, enum reason reason, const char *words)
{
    if (job->decided)
        return;
    job->decided = true;
    job->end.kind = kind;
    job->end.reason = reason;
    snprintf(job->end.words, sizeof job->end.words, "%s", words);
}

/* Kills all processes of the job. The sandbox dies with its first process; whatever the job has beside that is looked for. */
static void kill_all(struct exec_job *job)
{
    struct job_processes processes;

    job->killing = true;
    if (job->init_fd >= 0)
        pin_send(job->init_fd, SIGKILL);
    if (job->init_fd < 0 || job->order->how.unprotected) {
        job_processes_init(&processes);
        job_processes_find(&processes, getpid(), false);
        job_processes_signal(&processes, SIGSTOP); /* so that none forks while the others are killed */
        job_processes_find(&processes, getpid(), false);
        job_processes_signal(&processes, SIGKILL);
        job_processes_done(&processes);
    }
    cgroup_kill(&job->cgroup);
    job->kill_at = record_now() + KILL_SPAN;
}

void job_reaped(struct exec_job *job, pid_t pid, int status, const struct rusage *usage)
{
    struct rusage ours;

    job->cpu_reaped += (int64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 + usage->ru_utime.tv_usec +
                       usage->ru_stime.tv_usec;
    getrusage(RUSAGE_SELF, &ours); /* bubblewrap began with our memory, and that counts as the most it had */
    if ((pid != job->process.pid || job->order->how.unprotected || usage->ru_maxrss > ours.ru_maxrss) &&
        (int64_t)usage->ru_maxrss * 1024 > job->memory_reaped)
        job->memory_reaped = (int64_t)usage->ru_maxrss * 1024;
    if (pid != job->process.pid)
        return;
    job->process.pid = 0;
    if (job->order->how.unprotected) {
        told_read(job);
        job->exited = !job->told_len;
        job->status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    } else if (WIFSIGNALED(status)) {
        job->exited = job->runs;
        job->status = -WTERMSIG(status);
    }
    kill_all(job); /* what it left behind */
}

#define EXEC_FAILED "bwrap: execvp "

/* Says of a program that the sandbox could not start what is said without one. */
static void failed_words(const struct exec_job *job, char *words, size_t size)
{
    char why[64];

    snprintf(why, sizeof why, "%s", strrchr(words, ':') + 1);
    snprintf(words, size, "'%.100s' could not be started:%s", job->order->is.arguments[0], why);
    if (ftruncate(job->error, 0) < 0)
        return; /* the job has said nothing: then what bubblewrap said stays in its log */
}

static void words_of_failure(struct exec_job *job, char *words, size_t size)
{
    ssize_t got = job->error < 0 ? 0 : pread(job->error, words, size - 1, 0);
    int failed = 0;

    if (job->order->how.unprotected && job->told_len >= sizeof failed) {
        memcpy(&failed, job->told, sizeof failed);
        snprintf(words, size, "'%.100s' could not be started: %s", job->order->is.arguments[0], strerror(failed));
        return;
    }
    words[got > 0 ? got : 0] = '\0';
    words[strcspn(words, "\n")] = '\0';
    if (!strncmp(words, EXEC_FAILED, strlen(EXEC_FAILED)) && strrchr(words, ':'))
        failed_words(job, words, size);
    if (got <= 0)
        snprintf(words, size, "'%.100s' could not be started", job->order->is.arguments[0]);
}

/* Measures what the job left. Short jobs have not been measured yet; and one that made its files quickly must not get away with too many. */
static void measure_end(struct exec_job *job)
{
    int64_t until = record_now() + END_SPAN;
    bool all;

    jobfolder_walk_done(&job->walk);
    jobfolder_walk_begin(&job->walk, job->folder, 0);
    do
        all = jobfolder_walk_step(&job->walk, DISK_SLICE);
    while (!all && !job->decided && record_now() < until);
    if (job->walk.bytes > job->usage.disk)
        job->usage.disk = job->walk.bytes;
    if (job->walk.too_much)
        decide(job, EXECUTOR_ENDED, REASON_DISK, too_many);
}

/* Does the job have a group that tells what became of its memory? For a job without one we must look around, where others may have been killed while
 * it killed itself. */
static bool has_group(const struct exec_job *job)
{
    return cgroup_counts_kills(&job->cgroup) && !job->process.unheld;
}

static bool was_killed_around(const struct exec_job *job)
{
    bool killed =
        job->status == -SIGKILL || job->status == SIGNAL_STATUS + SIGKILL; /* it, or what its shell waited for */

    return job->exited && killed && !has_group(job) && kills_around() > job->oom_kills;
}

/* Was the job killed because the machine, or the group that we run in, was short of memory? Jobs go first then. One that kept to its limit is not to
 * blame, and is begun again. */
static bool was_sacrificed(const struct exec_job *job)
{
    int64_t most = job->order->is.limits.memory;

    if (has_group(job))
        return job->exited && job->status && cgroup_was_killed(&job->cgroup) && !cgroup_ran_out(&job->cgroup);
    return most > 0 && job->usage.memory <= most && was_killed_around(job);
}

/* Did the job end at its own limit of memory? Without a group it may have been over that for so short a time that nobody saw it but the kernel. */
static bool ran_out(const struct exec_job *job)
{
    int64_t most = job->order->is.limits.memory;

    if (has_group(job))
        return cgroup_ran_out(&job->cgroup);
    return most > 0 && job->usage.memory > most && was_killed_around(job);
}

/* Is there no room for what it writes, or may nothing be written? A job within its own limits is not the one to blame for that. */
static void look_for_room(struct exec_job *job)
{
    struct statvfs st;

    if (job->cramped || job->folder < 0 || fstatvfs(job->folder, &st) < 0)
        return;
    job->cramped =
        st.f_flag & ST_RDONLY || (double)st.f_bavail * (double)st.f_frsize < ROOM_LEAST || (st.f_files && !st.f_favail);
}

/* The sandbox could not be made: was that the machine's fault? Not where the program cannot be run, nor where the job's limits leave hardly anything
 * to make a sandbox of. */
static bool failure_is_machines(const struct exec_job *job, const char *words)
{
    static const char *const of_machines[] = {"namespace", "uid map", "gid map", "mount", "pivot", "No permissions"};
    const struct executor_limits *limits = &job->order->is.limits;
    bool tight = (limits->processes > 0 && limits->processes < TIGHT_PROCESSES) ||
                 (limits->disk > 0 && limits->disk < TIGHT_DISK) ||
                 (limits->memory > 0 && limits->memory < TIGHT_MEMORY);

    if (job->cramped)
        return true;
    if (tight || job->order->how.unprotected ||
        (strncmp(words, "bwrap: ", 7) != 0 && strncmp(words, "sandbox: ", 9) != 0))
        return false; /* what a program is made of says what comes of starting it */
    for (size_t i = 0; i < sizeof of_machines / sizeof *of_machines; i++)
        if (strstr(words, of_machines[i]))
            return true;
    return err_is_shortage(words); /* and not that there are too many variables for it, or the like */
}

static void decide_by_exit(struct exec_job *job)
{
    const struct executor_limits *limits = &job->order->is.limits;
    long code = told_number(job, "\"exit-code\":");
    char words[EXECUTOR_WORDS_MAX + 1];

    if (job->decided)
        return;
    if (!job->order->how.unprotected && code >= 0) {
        job->exited = true;
        job->status = code > SIGNAL_STATUS && code <= SIGNAL_STATUS + SIGNAL_LAST ? SIGNAL_STATUS - code : code;
    }
    if (ran_out(job)) {
        decide(job, EXECUTOR_ENDED, REASON_MEMORY, "its memory was used up");
    } else if (was_sacrificed(job)) {
        decide(job, EXECUTOR_GONE, REASON_LOST, "the machine ran out of memory, and it was ended for that");
    } else if (!job->exited) {
        words_of_failure(job, words, sizeof words);
        unstarted_add(job->folder, job->order->is.arguments[0], words, sizeof words);
        decide(job, EXECUTOR_ENDED, failure_is_machines(job, words) ? REASON_FAULT : REASON_SETUP, words);
    } else if (job->status == -SIGXFSZ && job->order->is.limits.disk > 0) {
        decide(job, EXECUTOR_ENDED, REASON_DISK, "a file of it was larger than its disk");
    } else if (job->status && job->cramped && limits->disk > 0 && job->usage.disk > limits->disk) {
        decide(job, EXECUTOR_ENDED, REASON_DISK, "its disk was used up");
    } else if (job->status && job->cramped) {
        decide(job, EXECUTOR_ENDED, REASON_FAULT,
               "the disk of the machine was full, or could not be written, while it ran");
    } else {
        decide(job, EXECUTOR_ENDED, REASON_EXITED, "");
        job->end.status = job->status;
    }
}

void job_end(struct exec_job *job, struct executor_news *ret)
{
    int64_t read = -1, written = -1;

    told_read(job);
    cgroup_kill(&job->cgroup);
    look_for_room(job);
    if (job->folder >= 0)
        measure_end(job);
    if (!job->process.unheld) {
        cgroup_usage(&job->cgroup, &job->usage);
        cgroup_moved(&job->cgroup, &read, &written);
    }
    if (job->folder >= 0)
        sampling_end(&job->sampling, job->record, read, written);
    if (job->cpu_reaped > job->usage.cpu)
        job->usage.cpu = job->cpu_reaped;
    if (job->memory_reaped > job->usage.memory)
        job->usage.memory = job->memory_reaped;
    decide_by_exit(job); /* knowing what it has used, to its last moment */
    job->usage.wall = record_now() - job->began;
    *ret = job->end;
    ret->claim = job->order->is.claim;
    ret->number = job->order->is.number;
    ret->deadline = job->deadline;
    ret->usage = job->usage;
}

/* -------------------------------------------------------------------------------------------------------------- watching */

/* Is the job's first process still there? Numbers of processes are used again: if it is gone, what we have read may be of another. */
static bool is_still_there(const struct exec_job *job)
{
    struct pollfd fd = {.fd = job->init_fd, .events = POLLIN};

    return job->init_fd < 0 || poll(&fd, 1, 0) == 0;
}

/* Finds all processes of the job, also those that entered its sandbox later. */
static void processes_find(const struct exec_job *job, struct job_processes *ret, bool with_init)
{
    if (job->order->how.unprotected) {
        job_processes_find(ret, getpid(), false);
        return;
    }
    job_processes_find(ret, job->init, with_init);
    for (size_t i = 0; i < JOB_GUESTS_MAX; i++)
        if (job->guests[i])
            job_processes_find_also(ret, job->guests[i], (int)getpid());
}

static void measure_processes(struct exec_job *job)
{
    int64_t cpu = job->cpu_reaped, memory = 0, most = job->order->is.limits.memory;
    bool watched = most > 0 && !(job->held & HELD_MEMORY);
    struct job_processes processes;

    job_processes_init(&processes);
    processes_find(job, &processes, true);
    job_processes_usage(&processes, false, &cpu, &memory);
    if (watched && memory > most) { /* shared pages were counted for each: look closely before it is ended */
        int64_t ignored = 0;

        memory = 0;
        job_processes_usage(&processes, true, &ignored, &memory);
    }
    job_processes_done(&processes);
    if (!job->order->how.unprotected && job->init)
        memory += job_processes_files(job->init);
    if (!is_still_there(job))
        return;
    if (cpu > job->usage.cpu)
        job->usage.cpu = cpu;
    if (memory > job->usage.memory)
        job->usage.memory = memory;
    job->memory_now = memory;
    if (watched && memory > most) {
        decide(job, EXECUTOR_ENDED, REASON_MEMORY, "its memory was used up");
        kill_all(job);
    }
}

static void measure(struct exec_job *job, int64_t now)
{
    bool counted = !job->process.unheld && *job->cgroup.path[CGROUP_COUNT_CPU] && *job->cgroup.path[CGROUP_MEMORY];

    look_for_room(job);
    job->usage.wall = now - job->began;
    if (counted) {
        cgroup_usage(&job->cgroup, &job->usage);
        job->memory_now = cgroup_memory(&job->cgroup);
    } else {
        measure_processes(job);
    }
    sampling_tick(&job->sampling, job->order, job->record, now, job->usage.cpu, job->memory_now);
    if (cgroup_ran_out(&job->cgroup)) {
        decide(job, EXECUTOR_ENDED, REASON_MEMORY, "its memory was used up");
        kill_all(job);
    }
}

/* How many bytes of files the job has deleted and still holds open: they have no name by which they could be counted. */
static int64_t nameless_bytes(const struct exec_job *job)
{
    struct stat st;
    struct job_processes processes;
    int64_t bytes;

    if (fstat(job->folder, &st) < 0)
        return 0;
    job_processes_init(&processes);
    processes_find(job, &processes, false);
    bytes = job_processes_nameless(&processes, st.st_dev);
    job_processes_done(&processes);
    return bytes;
}

/* Judges the job's use of disk: all files have been counted, or enough of them. */
static void judge_disk(struct exec_job *job)
{
    int64_t most = job->order->is.limits.disk, bytes = job->walk.bytes + nameless_bytes(job);
    int64_t now = record_now();

    job->disk_at = jobfolder_next(&job->walk, job->walk_began, now, DISK_SPAN, job->entries,
                                  job->entries_at ? job->entries_at : job->began);
    job->walk_began = 0;
    job->entries = job->walk.entries;
    job->entries_at = now;
    if (bytes > job->usage.disk)
        job->usage.disk = bytes;
    if (job->walk.too_much || (most > 0 && bytes > most)) {
        decide(job, EXECUTOR_ENDED, REASON_DISK, job->walk.too_much ? too_many : "its disk was used up");
        kill_all(job);
    }
}

/* Counts the job's files, in slices: the next one is due at once. */
static void measure_disk(struct exec_job *job, int64_t now)
{
    int64_t most = job->order->is.limits.disk;

    if (!job->walk_began) {
        job->walk_began = now;
        jobfolder_walk_begin(&job->walk, job->folder, 0);
    }
    job->disk_at = now + 1;
    if (jobfolder_walk_step(&job->walk, DISK_SLICE)) {
        judge_disk(job);
    } else if (most > 0 && job->walk.bytes > most) {
        jobfolder_walk_done(&job->walk); /* that is enough to know */
        judge_disk(job);
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t span_end(const struct exec_job *job)
{
    int64_t span = job->order->is.span;

    return span > INT64_MAX - job->began ? INT64_MAX : job->began + span;
}

int64_t job_tick(struct exec_job *job, int64_t now)
{
    bool sole = job->order->is.limits.memory > 0 && !(job->held & HELD_MEMORY);

    if (!job->killing && now >= job->deadline) {
        decide(job, EXECUTOR_GONE, REASON_TIME, "its deadline came");
        kill_all(job);
    }
    if (!job->killing && now >= span_end(job)) {
        decide(job, EXECUTOR_ENDED, REASON_TIME, "its time was up");
        kill_all(job);
    }
    if (job->kill_at && now >= job->kill_at)
        kill_all(job);
    if (job->killing)
        return job->kill_at;
    if (job->runs && now >= job->watch_at) {
        measure(job, now);
        job->watch_at = now + (sole ? WATCH_SPAN_SOLE : WATCH_SPAN);
    }
    if (job->runs && !job->killing && now >= job->disk_at)
        measure_disk(job, now);
    if (job->killing)
        return job->kill_at;
    now = least(least(job->deadline, span_end(job)), job->kill_at ? job->kill_at : INT64_MAX);
    return job->runs ? least(now, least(job->watch_at, job->disk_at)) : now;
}

/* ------------------------------------------------------------------------------------------------------------ commanding */

void job_signal(struct exec_job *job, int number)
{
    struct job_processes first;

    if (number <= 0 || number > SIGNAL_LAST)
        return;
    job_processes_init(&first);
    if (job->order->how.unprotected && job->process.pid > 0)
        job_processes_just(&first, job->process.pid, (int)getpid());
    else if (job->init)
        job_processes_find_first(&first, job->init);
    if (job->order->is.staged == 1)
        job_processes_find_child(&first);
    job_processes_signal(&first, number);
    job_processes_done(&first);
}

void job_guest(struct exec_job *job, pid_t pid)
{
    for (size_t i = 0; i < JOB_GUESTS_MAX; i++)
        if (!job->guests[i]) {
            job->guests[i] = pid;
            return;
        }
}

bool job_guest_reaped(struct exec_job *job, pid_t pid, const struct rusage *usage)
{
    struct rusage time = *usage;

    time.ru_maxrss = 0; /* it began with the launcher's memory, and that would count as the most it had */
    for (size_t i = 0; i < JOB_GUESTS_MAX; i++)
        if (job->guests[i] == pid) {
            job->guests[i] = 0;
            job_reaped(job, pid, 0, &time);
            return true;
        }
    return false;
}

void job_stop(struct exec_job *job, int64_t grace)
{
    int64_t at = record_now() + (grace > 0 ? grace : 0);

    decide(job, EXECUTOR_GONE, REASON_RELEASED, "it was stopped");
    if (job->killing)
        return;
    if (grace > 0) {
        if (job->suspended || job->rests)
            job_stand(job, false); /* or it could not hear the warning */
        job->suspended = job->rests = false;
        job_signal(job, job->order->is.warning);
    }
    if (!job->kill_at || at < job->kill_at)
        job->kill_at = at;
}

/* Stops all processes by signals, where there is no freezer: again and again until all stand still, since processes that fork meanwhile are missed. */
static void stop_all(struct exec_job *job)
{
    struct job_processes processes;

    job_processes_init(&processes);
    for (int round = 0; round < STOP_ROUNDS; round++) {
        processes_find(job, &processes, false);
        job_processes_signal(&processes, SIGSTOP);
        processes_find(job, &processes, false);
        if (job_processes_are_stopped(&processes))
            break;
        usleep(1000);
    }
    job_processes_done(&processes);
}

/* Lets all its processes stand still, or go on. */
static void job_stand(struct exec_job *job, bool still)
{
    struct job_processes processes;

    if (job->killing || !job->runs || cgroup_freeze(&job->cgroup, still))
        return;
    if (still) {
        stop_all(job);
        return;
    }
    job_processes_init(&processes);
    processes_find(job, &processes, false);
    job_processes_signal(&processes, SIGCONT);
    job_processes_done(&processes);
}

void job_suspend(struct exec_job *job, bool suspended)
{
    job->suspended = suspended;
    job_stand(job, job->suspended || job->rests);
}

void job_rest(struct exec_job *job, bool rests)
{
    job->rests = rests;
    job_stand(job, job->suspended || job->rests);
}
