/* netspace.h: a network with nothing but its own loopback, made once and used by all jobs of a claim: making one is slow. */
#ifndef BERTH_EXEC_NETSPACE_H
#define BERTH_EXEC_NETSPACE_H

#include "lang/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct netspace {
    int user, net; /* namespaces; user -1: as root none is needed */
};

int netspace_make(struct netspace *ret, struct err *err);
void netspace_done(struct netspace *netspace);
/* Moves the calling process into that network. It gains no right that would outlast an exec. */
int netspace_enter(const struct netspace *netspace);

#ifdef __cplusplus
}
#endif
#endif
