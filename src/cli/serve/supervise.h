/* supervise.h: keeps one process of a pool alive: starts it, watches until it answers, starts it again when it dies.
 *
 *     down --(its time has come)--> started --(/healthz answers)--> up
 *      ^                               |                            |
 *      `-- pause: 0.5 s, doubling to 30 s, 0.5 s again after a minute up -- died
 *
 * After ROLE_DEATHS deaths within ROLE_DEATHS_SPAN the role is given up. Times are milliseconds of a clock that never goes back. */
#ifndef BERTH_CLI_SERVE_SUPERVISE_H
#define BERTH_CLI_SERVE_SUPERVISE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ROLE_ARGUMENTS_MAX 160
#define ROLE_PAUSE_MIN 500
#define ROLE_PAUSE_MAX 30000
#define ROLE_STEADY 60000 /* when it was up for so long, earlier deaths do not count for the pause */
#define ROLE_DEATHS 10
#define ROLE_DEATHS_SPAN 300000
#define ROLE_END_SPAN 15000 /* time to end when it is told to; then it is killed */
#define ROLE_LOG_MAX (16 << 20)
#define ROLE_WORDS_MAX 400 /* bytes of last words */

struct role {
    const char *name;                          /* the command: "matchmaker" */
    const char *arguments[ROLE_ARGUMENTS_MAX]; /* behind the command; the last is NULL; lent */
    const char *without;                  /* a variable of the environment that the process does not get; or NULL */
    char socket[PATH_MAX], log[PATH_MAX]; /* log "": standard error */
    pid_t pid;                            /* 0: none */
    bool up, was_up;                      /* it answers now; it has ever answered */
    bool once;                            /* it is not started again when it never came up: the pool ends then */
    bool given_up;
    int64_t started, next; /* next: when it may be started again */
    int64_t pause;
    int64_t deaths[ROLE_DEATHS]; /* times of the last deaths, a ring */
    unsigned death_count;
    int64_t log_from; /* bytes of the log when the process was started */
    char words
        [ROLE_WORDS_MAX]; /* what it said last when it died, without its time: one line; "" if nothing, or nothing that is in a log */
};

int64_t supervise_now(void);

/* Starts the process if it is down and its time has come. */
void role_tend(struct role *role, int64_t now);

/* Has the process died? If so, reports that, with its last words, and when it will be started again. */
void role_reap(struct role *role, int64_t now);

/* Does the process answer? Notes that it is up. */
void role_check(struct role *role);

/* Tells the process to end; role_reap_quietly sees whether it has. */
void role_end(struct role *role, int number);
bool role_reap_quietly(struct role *role);

#endif
