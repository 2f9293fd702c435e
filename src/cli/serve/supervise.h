/* supervise.h: one process of a pool, kept alive: started, watched until it answers, started again when it dies.
 *
 *     down --(its time has come)--> started --(/healthz answers)--> up
 *      ^                               |                            |
 *      `-- pause: 0.5 s, doubling to 30 s, 0.5 s again after a minute up -- died
 *
 * After ROLE_DEATHS deaths within ROLE_DEATHS_SPAN it is given up. Times are milliseconds of a clock that never goes back. */
#ifndef BERTH_CLI_SERVE_SUPERVISE_H
#define BERTH_CLI_SERVE_SUPERVISE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ROLE_ARGUMENTS_MAX 160
#define ROLE_PAUSE_MIN 500
#define ROLE_PAUSE_MAX 30000
#define ROLE_STEADY 60000 /* up so long, its earlier deaths do not count for the pause */
#define ROLE_DEATHS 10
#define ROLE_DEATHS_SPAN 300000
#define ROLE_END_SPAN 15000 /* to end when it is told to; then it is killed */
#define ROLE_LOG_MAX (16 << 20)

struct role {
    const char *name;                          /* the command: "matchmaker" */
    const char *arguments[ROLE_ARGUMENTS_MAX]; /* behind it; ends with NULL; lent */
    const char *without;                       /* a variable of the environment that it is not given; or NULL */
    char socket[PATH_MAX], log[PATH_MAX];      /* log "": standard error */
    pid_t pid;                                 /* 0: none */
    bool up, was_up;                           /* now; ever */
    bool given_up;
    int64_t started, next; /* next: not before then */
    int64_t pause;
    int64_t deaths[ROLE_DEATHS]; /* a ring */
    unsigned death_count;
};

int64_t supervise_now(void);

/* Starts it if it is down and its time has come. */
void role_tend(struct role *role, int64_t now);

/* Has it died? Says so, and when it will be started again. */
void role_reap(struct role *role, int64_t now);

/* Does it answer? */
void role_check(struct role *role);

/* Tells it to end; role_reap_quietly sees whether it has. */
void role_end(struct role *role, int number);
bool role_reap_quietly(struct role *role);

#endif
