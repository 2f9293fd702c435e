/* user_runner.h: runs one job of the customer's own host (Universe = "local") with the rights of its user.
 *
 *     customer --- standard input: the order, then nothing until it ends --->  berth user-runner UID  --- the job, in a session of its own
 *              <-- standard output: one line of how it ended --------------'
 *
 * The runner is the job's parent and the reaper of all that it leaves. When its standard input closes the customer has gone: the job is ended at once, for the
 * next customer begins it anew. At SIGTERM the job is asked to end, and ended when it takes too long. The user can do with its runner as it likes:
 * what it says is a claim. */
#ifndef BERTH_LIVE_CUSTOMERD_USER_RUNNER_H
#define BERTH_LIVE_CUSTOMERD_USER_RUNNER_H

#include "lang/base/buf.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define USER_RUNNER_COMMAND "user-runner"
#define USER_RUNNER_SAME UINT32_MAX /* the id for: it is our own user, whose account need not be taken on */
#define USER_ORDER_MAX (2u << 20)   /* bytes of an order */
#define USER_RUNNER_GRACE_S 30      /* between the word that a job is to end, and its end ... */
#define USER_RUNNER_FLOW_S 86400    /* ... and of one that carries out a workflow: its FINAL node is still to run */
#define USER_RUNNER_WORDS_MAX 400   /* bytes of the line that it answers */

/* An order is fields, each a letter, its text and a NUL; the last is ORDER_END. */
enum user_order_field {
    ORDER_OWNER = 'U',    /* the job's owner: checked when the account is taken on */
    ORDER_FOLDER = 'D',   /* where it runs */
    ORDER_INPUT = 'I',    /* the files of its standard streams, from that folder on; none: /dev/null */
    ORDER_OUTPUT = 'O',   /* ... */
    ORDER_ERROR = 'E',    /* ... */
    ORDER_COMMAND = 'C',  /* the program, ... */
    ORDER_ARGUMENT = 'A', /* ... its arguments in order */
    ORDER_VARIABLE = 'V', /* NAME=VALUE of its environment */
    ORDER_MEMORY = 'M',   /* bytes of address space of each of its processes; none: no limit */
    ORDER_GRACE = 'G',    /* seconds between the word that it is to end, and its end; none: USER_RUNNER_GRACE_S */
    ORDER_SECONDS = 'T',  /* after that it is ended; none: no limit */
    ORDER_END = 'X'
};

void user_order_add(struct buf *order, enum user_order_field field, const char *text, size_t len);

/* The runner itself. Answers one of: "exit 3", "signal 9", "time", "setup WORDS". Returns the status to end with. */
int user_runner_main(uint32_t uid);

#ifdef __cplusplus
}
#endif
#endif
