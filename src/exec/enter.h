/* enter.h: one further process in the sandbox of a job that runs: in its namespaces and its group, as its user, under its filter and limits, with its
 * variables. It can do what the job can do, and nothing else.
 *
 *     launcher ---- a helper: the job's group, user and namespaces ---- the process, a child of the launcher, number N inside
 *
 * Until the process is the program that was asked for, it still has something that the job has not: it is of the launcher's program, and in a user
 * namespace's full rights. So its memory is closed to all others, it gives up those rights, and only then begins the program. */
#ifndef BERTH_EXEC_ENTER_H
#define BERTH_EXEC_ENTER_H

#include "exec/job.h"

#ifdef __cplusplus
extern "C" {
#endif

struct enter_order {
    const char *const *arguments; /* ends with NULL */
    const char *term;             /* what TERM is: it has a terminal; NULL: it has none */
    uint16_t rows, columns;
    int streams[3]; /* without a terminal; lent */
    int told; /* the socket of sys/shell_socket.h: SHELL_BEGAN and, of a program that cannot be begun, SHELL_FAILED are sent there; lent */
};

/* Begins it. Returns its number; or -1 and the error, when nothing was begun. */
pid_t enter_start(const struct exec_job *job, const struct sandbox *sandbox, const struct enter_order *order,
                  struct err *err);

#ifdef __cplusplus
}
#endif
#endif
