/* notify.h: tells the service manager how it goes (systemd's protocol of datagrams), or nobody when there is none.
 *
 *     READY=1    RELOADING=1 MONOTONIC_USEC=...    STOPPING=1    STATUS=...    WATCHDOG=1
 *
 * It never waits and never fails: whoever does not listen misses it. */
#ifndef BERTH_SYS_NOTIFY_H
#define BERTH_SYS_NOTIFY_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NOTIFY_TEXT_MAX 512

struct notify {
    int fd; /* -1: there is no manager */
    struct sockaddr_un to;
    socklen_t to_len;
    int64_t watchdog; /* microseconds between two WATCHDOG=1, half of what is demanded; 0: none is wanted */
    uint64_t sent, missed;
};

/* The values of $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID, each NULL when it is not set; `pid` is this process's: a watchdog of another
 * process is not ours. -1 when the socket is none that can be written to; then, as for NULL, what follows does nothing. */
int notify_init(struct notify *notify, const char *socket, const char *watchdog_usec, const char *watchdog_pid,
                int64_t pid, struct err *err);
void notify_done(struct notify *notify);

void notify_ready(struct notify *notify, const char *status); /* started, or reloaded; the status may be NULL */
void notify_reloading(struct notify *notify,
                      int64_t monotonic); /* microseconds of CLOCK_MONOTONIC; notify_ready follows */
void notify_stopping(struct notify *notify, const char *status);
void notify_status(struct notify *notify, const char *format, ...) ERR_FORMAT(2, 3); /* a line for people */
void notify_watchdog(struct notify *notify);                                         /* still alive */

#ifdef __cplusplus
}
#endif
#endif
