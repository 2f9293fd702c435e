/* sandbox.h: a process in a sandbox of its own, by bubblewrap; or without one, where the owner allows that.
 *
 *     launcher ---- bwrap (outside) ---- bwrap (number 1 inside) ---- the job (number 2)
 *
 * Everything that is outside when one of the first three dies is killed by the kernel. Inside it sees:
 *
 *     /usr /bin /lib...     the machine's, read-only           /proc /dev     its own, minimal
 *     /etc                  a few files that programs need     /tmp /dev/shm  its own, in memory
 *     /run/secrets          its secrets, if it has any: files in memory that it alone can read
 *     folders of the owner's list, and the root of its image in place of the machine's: sandbox_view.h
 *     /job                  its folder, HOME, where it begins: the only place that lasts */
#ifndef BERTH_EXEC_SANDBOX_H
#define BERTH_EXEC_SANDBOX_H

#include "exec/jobnet.h"
#include "exec/netspace.h"
#include "exec/record.h"
#include "exec/stage.h"

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SANDBOX_FILES_MAX 4096          /* open files of a process */
#define SANDBOX_TMP_BYTES (512ll << 20) /* of /tmp, when memory is not limited */
#define SANDBOX_FOLDER "/job"           /* where its folder is to a job */
#define SANDBOX_SECRETS "/run/secrets"  /* where its secrets are */
#define SANDBOX_PATH "/usr/local/bin:/usr/bin:/bin"

/* What is made once a claim. */
struct sandbox {
    int users, groups;    /* /etc/passwd and /etc/group; -1: not made yet */
    bool named;           /* these have the name of a user of the machine, and are one job's own */
    int filter[2];        /* without and with fixed cores; -1: not made yet */
    struct netspace net;  /* -1: not made yet */
    bool net_failed;      /* each job makes its own */
    struct jobnet jobnet; /* of the job that runs, if it has one that leads out */
    int names;            /* /etc/resolv.conf of such jobs; -1: not made yet */
    struct stage stage;   /* for jobs behind the first */
    bool begun;           /* the claim has had a job */
    const char *title;    /* the launcher's, a part of its command line, which is nothing for jobs to see; or NULL */
};

/* A process as it was begun. */
struct sandboxed {
    pid_t pid;   /* bubblewrap's, outside; or, without one or on a stage, the first of the job's own */
    int told;    /* its word of the inner process and its end; without a sandbox: of a failed exec. -1: closed */
    int go;      /* the job starts when a byte is written here; -1 */
    bool unheld; /* it could not enter its group */
    bool staged; /* when `pid` has gone, all of it has */
};

void sandbox_init(struct sandbox *sandbox);
void sandbox_done(struct sandbox *sandbox);

/* Was that process one of the claim's, and not of a job: the one that holds its stage, or leads out of its network? Then there is none any more. */
bool sandbox_reaped(struct sandbox *sandbox, pid_t pid);
/* The job is over, or was not begun: ends what is beside it. */
void sandbox_over(struct sandbox *sandbox);

/* Starts a job. `streams`: input, output and error, open. `folder`: the job's, open. All its processes are in `group` from the beginning; `held`: HELD_
 * bits of what the group limits. */
int sandbox_start(struct sandbox *sandbox, const struct order *order, int folder, const int streams[3],
                  const struct cgroup *group, unsigned held, struct sandboxed *ret, struct err *err);

/* The path of bubblewrap; NULL: it is not installed. */
const char *sandbox_program(void);

#ifdef __cplusplus
}
#endif
#endif
