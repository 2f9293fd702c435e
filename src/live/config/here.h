/* here.h: the addresses of this machine, and which of them others can be told.
 *
 * What leads to a host is asked of the kernel, by a datagram socket that is connected and never written to: nothing is sent. Names are
 * resolved, which may take seconds where nobody answers: this is for the start of a daemon. */
#ifndef BERTH_LIVE_CONFIG_HERE_H
#define BERTH_LIVE_CONFIG_HERE_H

#include "live/config/address.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The address of this machine from which connections to that URL's host come; false when no address leads there. */
bool here_towards(const char *url, struct sockaddr_storage *ret);

/* An address of this machine that others may know: that of the way out, if there is one, else the first that is not loopback; false when
 * there is none. */
bool here_address(struct sockaddr_storage *ret);

/* Is it one of this machine's own? The port does not matter. */
bool here_is(const struct sockaddr *address);

/* The name of this machine; false when no URL and no certificate can have it, as a label of 64 characters. */
bool here_hostname(char ret[ADDRESS_HOST_MAX + 1]);

/* What others may call this machine: its name, if it is a whole one (with a dot) and leads to an address of it that is not loopback; else
 * that address as a number; else the name as it is, or `localhost`. */
void here_name(char ret[ADDRESS_HOST_MAX + 1]);

#ifdef __cplusplus
}
#endif
#endif
