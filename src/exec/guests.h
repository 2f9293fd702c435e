/* guests.h: the processes that were let into the sandbox of a launcher's job after it had begun. Each has a socket to the agent (sys/shell_socket.h); when the
 * agent closes that, the process is killed. Private to the launcher. */
#ifndef BERTH_EXEC_GUESTS_H
#define BERTH_EXEC_GUESTS_H

#include "exec/job.h"
#include "sys/shell_socket.h"

#include <poll.h>

#ifdef __cplusplus
extern "C" {
#endif

struct guest {
    int fd;      /* -1: none is here */
    pid_t pid;   /* 0: not begun yet */
    bool killed; /* nobody listens, and it was told to go */
};

struct guests {
    struct guest items[SHELLS_MAX];
};

void guests_init(struct guests *guests);
/* Takes a socket by which the agent will say what is to be begun. */
void guests_add(struct guests *guests, int fd_take);
/* Fills in what is to be watched; SHELLS_MAX of them. */
void guests_watch(const struct guests *guests, struct pollfd out[SHELLS_MAX]);
/* Does what the agent says by those sockets. */
void guests_hear(struct guests *guests, const struct pollfd *fds, struct exec_job *job, const struct sandbox *sandbox);
/* A child has ended: tells the agent, if it was one of them. */
void guests_reaped(struct guests *guests, pid_t pid, int status);
/* The job is over: nothing of them is left. */
void guests_done(struct guests *guests);

#ifdef __cplusplus
}
#endif
#endif
