/* netspace.h: a network that is not the machine's. One with nothing but its own loopback is made once and used by all jobs of a claim: making one is slow. */
#ifndef BERTH_EXEC_NETSPACE_H
#define BERTH_EXEC_NETSPACE_H

#include "lang/base/err.h"

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct netspace {
    int user, net; /* namespaces; user -1: as root none is needed */
};

/* A process that is in the namespaces, and stays until it is ended. */
struct netspace_keeper {
    pid_t pid;
    int hold;
};

int netspace_make(struct netspace *ret, struct err *err);
/* One that a program of that user's is to lead out of (jobnet.h); 0: ours. Link-local addresses are refused in it. It belongs to a user namespace of that user, who is
 * its root. */
int netspace_make_open(uint32_t uid, struct netspace *ret, struct netspace_keeper *ret_keeper, struct err *err);
void netspace_keeper_end(struct netspace_keeper *keeper);
void netspace_done(struct netspace *netspace);
/* Moves the calling process into that network. It gains no right that would outlast an exec. */
int netspace_enter(const struct netspace *netspace);

#ifdef __cplusplus
}
#endif
#endif
