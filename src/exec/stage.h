/* stage.h: the sandbox of a claim, furnished once, in whose copy each further job of the claim runs.
 *
 *     launcher ---- bwrap ---- cat                      holds the stage: a root that is furnished as for any job, but for what is a job's own
 *         `-------- number 1 of a job ---- the job      in a copy of the stage, with its own /proc, /tmp, /dev/shm and /job
 *
 * Bubblewrap furnishes a sandbox by some forty mounts, and the kernel takes them apart again behind each job. A copy of what stands already takes six.
 * What a job sees, may do and can reach is the same in both. A stage is made behind the first job of a claim, where a job's folder can be handed
 * over as a mount, which takes root; where it cannot be made, each job has a sandbox of its own, as the first has. */
#ifndef BERTH_EXEC_STAGE_H
#define BERTH_EXEC_STAGE_H

#include "lang/base/err.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STAGE_PROCESSES 2 /* that hold it, and have the user of its jobs */

struct stage {
    pid_t pid;        /* bubblewrap's, which holds it; 0: there is none */
    int hold;         /* it stays while this is open; -1 */
    int user, inner;  /* user namespaces: that which owns the mounts, and that of jobs; -1 */
    int mounts, host; /* the other namespaces that jobs begin in; -1 */
    int alive[2];     /* a pipe into which nothing is written: the launcher lives while its end is open; -1 */
    bool failed;      /* it could not be made: do without */
    bool fixed;       /* what it was furnished for: processors of its own ... */
    int network;      /* ... and which network: 0: none; 1: the machine's; 2: one of its own that leads out */
};

void stage_init(struct stage *stage);
/* Takes it apart. */
void stage_done(struct stage *stage);

/* Takes over what bubblewrap holds: process 1 inside is `init`, `hold` its input, `echo` its output: what is written into the one comes out of the
 * other when all stands. The descriptor `echo` is lent. */
int stage_take(struct stage *stage, pid_t pid, pid_t init, int hold, int echo, struct err *err);

/* One job. */
struct scene {
    const struct stage *stage;
    int tree;                /* its folder, as a mount that hangs nowhere yet */
    int told, go;            /* as of any sandbox */
    rlim_t processes;        /* that its user may have, with those that hold the stage; 0: that is held otherwise */
    long long memory;        /* bytes of /tmp, and of /dev/shm */
    struct sock_fprog rules; /* system calls that are refused */
    bool network;
    char *const *argv, *const *environment;
    const char *title; /* of the launcher's command line: wiped in its copy; or NULL */
};

/* The job's folder as a mount; -1: that cannot be made here. */
int scene_tree(int folder);
/* Reads the rules of a filter; the caller frees them. */
bool scene_rules(int filter, struct sock_fprog *ret);

/* In a process that shares its memory with the launcher, and has the job's user, streams, limits and network: begins process 1 of the job, writes its
 * number to *ret and ends. */
__attribute__((noreturn)) void scene_play(const struct scene *scene, void (*leave)(void), volatile pid_t *ret);

#ifdef __cplusplus
}
#endif
#endif
