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

void kin_init(struct job_processes *kin);
void kin_done(struct job_processes *kin);
/* All that a process began and what those began; itself only `with_root`. */
void kin_find(struct job_processes *kin, int root, bool with_root);
/* To those that are still who they were. */
void kin_signal(const struct job_processes *kin, int number);
/* Are all stopped? */
bool kin_are_stopped(const struct job_processes *kin);

/* Adds to it what they use now: processor time, with that of their ended children, and memory. Pages that several share are counted for each of
 * them unless `exact`, which takes longer. */
void kin_usage(const struct job_processes *kin, bool exact, int64_t *cpu, int64_t *memory);
/* Bytes of files of a file system that have no name any more and are only held open by them. */
int64_t kin_nameless(const struct job_processes *kin, uint64_t device);
/* One alone. */
void kin_just(struct job_processes *kin, int pid, int parent);
/* The first process of a job: number 2 in the namespace whose number 1 is `init`; or none. */
void kin_find_first(struct job_processes *kin, int init);
/* In place of the one that was found its first child; or none. */
void kin_find_child(struct job_processes *kin);
/* What the sandbox keeps in memory as files: its /tmp and /dev/shm. 0 when it cannot be told. */
int64_t kin_files(int init);

/* How many processes the kernel has killed because memory was short, whoever's they were; counts up. */
int64_t machine_oom_kills(void);
/* When the machine runs out of memory, the process and what it begins from now on are ended before others. */
void kin_go_first(int pid);

#ifdef __cplusplus
}
#endif
#endif
