/* shell.h: a command in the sandbox of a job that runs, as if it ran here: what is typed goes there, what it writes comes here, its status is ours. */
#ifndef BERTH_CLI_JOBS_SHELL_H
#define BERTH_CLI_JOBS_SHELL_H

#include "cli/ask/connection.h"

#define SHELL_STATUS_SIGNALLED 128 /* plus the signal's number, as a shell does it */
#define SHELL_STATUS_LEFT 130      /* we have left it, and it goes on */

struct shell_settings {
    bool terminal;   /* it gets one, of the kind and size of ours */
    bool no_input;   /* nothing is read here */
    uint64_t member; /* of a parallel job: in which of its processes' sandboxes; 0: the first */
};

/* Begins the command in that job; `*ret` is its number. An enum status; errors have been reported. */
int shell_begin(struct connection *customer, const struct shell_settings *settings, uint64_t job, int word_count,
                char **words, uint64_t *ret);
/* Finds the command of that job that was begun last and of whose end nobody has heard; whether it has a terminal. */
int shell_find(struct connection *customer, uint64_t job, uint64_t *ret, bool *ret_terminal);
/* Stays with it until it is over: the status to end with. `job` is for words alone. */
int shell_follow(struct connection *customer, const struct shell_settings *settings, uint64_t job, uint64_t number);

#endif
