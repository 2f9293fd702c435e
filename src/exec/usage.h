/* usage.h: processes and all that they began, by what /proc tells: for machines without cgroups, and for signals. */
#ifndef BERTH_EXEC_USAGE_H
#define BERTH_EXEC_USAGE_H

#include "pool/protocol/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct job_processes {
    int *pids, *parents; /* as they were found */
    size_t count, room;
    int root;
};

void job_processes_init(struct job_processes *processes);
void job_processes_done(struct job_processes *processes);
/* Finds all processes that a process began, and what those began; itself only `with_root`. */
void job_processes_find(struct job_processes *processes, int root, bool with_root);
/* Finds a process, which has that parent, and all that it began, besides those that were found. */
void job_processes_find_also(struct job_processes *processes, int pid, int parent);
/* Sends a signal to those processes that are still who they were. */
void job_processes_signal(const struct job_processes *processes, int number);
/* Are all processes stopped? */
bool job_processes_are_stopped(const struct job_processes *processes);

/* Adds what the processes use now: processor time, with that of their ended children, and memory. Pages that several share are counted for each of
 * them unless `exact`, which takes longer. */
void job_processes_usage(const struct job_processes *processes, bool exact, int64_t *cpu, int64_t *memory);
/* How many bytes of a file system are in files that have no name any more and are only held open by the processes. */
int64_t job_processes_nameless(const struct job_processes *processes, uint64_t device);
/* The process that began it, or that has taken it on; 0: it is not there. */
int process_parent(int pid);
/* Puts one process alone into the list. */
void job_processes_just(struct job_processes *processes, int pid, int parent);
/* Finds the first process of a job: number 2 in the namespace whose number 1 is `init`; or none. */
void job_processes_find_first(struct job_processes *processes, int init);
/* Puts the first child of the process that was found in its place; or none. */
void job_processes_find_child(struct job_processes *processes);
/* How many bytes the sandbox keeps in memory as files, in its /tmp and /dev/shm; 0 when that cannot be told. */
int64_t job_processes_files(int init);

/* How many processes the kernel has killed because memory was short, whoever's they were; counts up. */
int64_t machine_oom_kills(void);
/* Lets a process, and what it begins from now on, be ended before others when the machine runs out of memory. */
void job_processes_go_first(int pid);

#ifdef __cplusplus
}
#endif
#endif
