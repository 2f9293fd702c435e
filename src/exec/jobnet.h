/* jobnet.h: a network of a job's own that leads out, past the machine's loopback and link-local addresses.
 *
 *     the job ---- tap0 in a network namespace ---- slirp4netns, a process of the claim's user ---- sockets of the machine
 *
 * slirp4netns takes the job's packets apart and makes connections of its own, as any user of the machine could; it has no rights, a root with nothing in it but
 * /etc and /run, and a filter of system calls. Nobody outside can call the job. It is in the job's group, so that what it takes counts as the job's, and ends
 * with the job, or with the launcher. */
#ifndef BERTH_EXEC_JOBNET_H
#define BERTH_EXEC_JOBNET_H

#include "exec/cgroup.h"
#include "exec/netspace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JOBNET_PROCESSES 1        /* the program, beside those of the job */
#define JOBNET_MEMORY (8ll << 20) /* bytes that it may take beside the job */
#define JOBNET_NAMES "192.0.2.3"  /* where names are looked up: by the machine's own servers */

struct jobnet {
    struct netspace space; /* that the job enters */
    pid_t pid;             /* the program's; 0: it does not run */
    int alive;             /* while it is open, the program stays; -1 */
};

void jobnet_init(struct jobnet *jobnet);
/* Makes the network and has the program lead out of it. `uid`: the claim's user; 0: ours. `group`: of the job; or NULL. -1 and why. */
int jobnet_make(struct jobnet *jobnet, uint32_t uid, const struct cgroup *group, struct err *err);
/* Ends the program, and waits for that. */
void jobnet_done(struct jobnet *jobnet);
/* Was that process the program? Then it runs no more. */
bool jobnet_reaped(struct jobnet *jobnet, pid_t pid);

/* Makes the file resolv.conf of a job in such a network: the machine's, but for the servers. A descriptor; -1. */
int jobnet_names_file(void);

/* The path of the program; NULL: it is not installed. */
const char *jobnet_program(void);

#ifdef __cplusplus
}
#endif
#endif
