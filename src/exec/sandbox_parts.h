/* sandbox_parts.h: what a job's first process and one that enters its sandbox later have in common. Private. */
#ifndef BERTH_EXEC_SANDBOX_PARTS_H
#define BERTH_EXEC_SANDBOX_PARTS_H

#include "exec/account.h"
#include "exec/sandbox.h"

#include <sys/resource.h>

#define SANDBOX_INNER 1000 /* who a job seems to be to itself */

/* ---- sandbox_user.c ---- */
/* Becomes the job's user, with no groups but those of its device files and, of a user of the machine, its own; without one it stays who it is. */
bool sandbox_become(const struct order *order);
/* Who the job's user and group are to the job. */
uint32_t sandbox_inner_user(const struct order *order);
uint32_t sandbox_inner_group(const struct order *order);
/* Makes the lists of users and groups as the job is to see them: itself, and nobody. Where that fails they are -1. */
void sandbox_lists_make(struct sandbox *sandbox, const struct order *order);
/* A file in memory that nobody writes any more: other processes of the same user can open what bubblewrap was handed. -1: it could not be made. */
int sandbox_file(const char *text, size_t len);
/* Where it begins: its folder, or one that its view says. */
const char *sandbox_begin(const struct order *order);
/* ---- sandbox.c ---- */
void sandbox_leave_named_sockets(void); /* for those that may use the network */
/* Limits this process; no higher than it is limited already. */
void sandbox_limit(int which, rlim_t most);
/* Puts the streams in their places, the signals back, and limits around this process, which is about to begin another program. */
void sandbox_prepare(const struct order *order, const int streams[3], unsigned held, bool staged);
/* ---- sandbox_environment.c ---- */
/* What HOME is to the job in its sandbox: the home of the user of the machine whom it runs as, if that is one of the folders it sees; else its folder. */
const char *sandbox_home(const struct order *order);
/* Appends the path of the libraries that its GPUs need, in front of the job's own; nothing, if they need none. */
bool sandbox_gpu_shows(const struct order *order, const char *path);
void sandbox_gpu_libraries(struct buf *path, const struct order *order);
/* The next word of its GPUs that is a variable; NULL: there are no more. */
const char *sandbox_gpu_variable(const struct order *order, const char *word);
/* The variables of a job that runs on its claim's stage: the list is made, its texts are lent; ends with NULL. */
char **sandbox_stage_environment(const struct order *order);
/* The variables of the job for a process to which the job's folder is there, in memory of their own; ends with NULL. */
char **sandbox_environment(const struct order *order, const char *folder);

#endif
