/* job.h: one job of a launcher, from its order to its end.
 *
 *     job_begin -> job_hear (its sandbox stands: let it go) -> job_tick, again and again -> all processes reaped -> job_end
 *                                                                 `-- a limit, the deadline, job_stop: killed
 *
 * What is decided first is what is told. Times are microseconds of CLOCK_BOOTTIME. */
#ifndef BERTH_EXEC_JOB_H
#define BERTH_EXEC_JOB_H

#include "exec/cgroup.h"
#include "exec/jobfolder.h"
#include "exec/record.h"
#include "exec/sampling.h"
#include "exec/sandbox.h"

#include <sys/resource.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JOB_GUESTS_MAX 8

struct exec_job {
    struct order *order; /* NULL: there is no job */
    struct cgroup cgroup;
    unsigned held;
    int record;               /* the claim's folder; not ours to close */
    int folder, error;        /* the job's; -1 */
    struct sandboxed process; /* pid 0: it has been reaped */
    int init, init_fd;        /* number 1 of its sandbox; 0 and -1 */
    char told[512];           /* what bubblewrap said */
    size_t told_len;
    bool runs, killing;
    bool suspended, rests; /* by the machine's owner; by its own user */
    bool exited;           /* by itself: */
    int64_t status;
    bool decided;
    struct executor_news end;
    int64_t began, deadline, kill_at, watch_at, disk_at;
    bool cramped; /* the file system of its folder had no room, or could not be written, while it ran */
    int64_t cpu_reaped, memory_reaped;
    struct executor_usage usage;
    int64_t memory_now; /* bytes */
    struct sampling sampling;
    struct jobfolder_walk walk;
    int64_t walk_began;           /* 0: none is under way */
    int64_t oom_kills;            /* of the machine, when it began */
    int64_t entries, entries_at;  /* by the last walk, and when it was over */
    pid_t guests[JOB_GUESTS_MAX]; /* processes that entered its sandbox later, our children; 0: none */
};

void job_init(struct exec_job *job, int record);
void job_done(struct exec_job *job);

/* Begins a job; the order is taken. -1: it could not be set up, and nothing runs. */
int job_begin(struct exec_job *job, struct order *order_take, struct sandbox *sandbox, struct err *err);
/* Reads what came on process.told. True: the job runs from now on. */
bool job_hear(struct exec_job *job);
void job_reaped(struct exec_job *job, pid_t pid, int status, const struct rusage *usage);
/* Does what is due. Returns when to call it next. */
int64_t job_tick(struct exec_job *job, int64_t now);
/* Ends a job whose processes have all been reaped; gives what is to be told. */
void job_end(struct exec_job *job, struct executor_news *ret);

void job_stop(struct exec_job *job, int64_t grace);
void job_suspend(struct exec_job *job, bool suspended);
void job_rest(struct exec_job *job, bool rests);
void job_signal(struct exec_job *job, int number);

/* A process has entered its sandbox, or that one has ended. They are counted, stopped and ended as the job's own are. */
void job_guest(struct exec_job *job, pid_t pid);
bool job_guest_reaped(struct exec_job *job, pid_t pid, const struct rusage *usage); /* false: it is none */

#ifdef __cplusplus
}
#endif
#endif
