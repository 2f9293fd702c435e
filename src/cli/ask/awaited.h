/* awaited.h: gives a command to an agent or a job, and waits for its answer. Whoever takes the command keeps it until it has been carried out. */
#ifndef BERTH_CLI_ASK_AWAITED_H
#define BERTH_CLI_ASK_AWAITED_H

#include "cli/ask/connection.h"
#include "cli/term/quantity.h"

#define AWAITED_WAIT 20 /* seconds, unless --wait says otherwise */

option_read_fn option_wait; /* int64_t, seconds, from 0: "20", "20 s", 5min */

/* The rows for a structure T with `int64_t wait, life`. */
#define AWAITED_OPTION_ROWS(T)                                                                                         \
    {0,                                                                                                                \
     "wait",                                                                                                           \
     "SPAN",                                                                                                           \
     "wait so long for the answer: 0 only gives the command, and 20 s is the default; a command that is not answered " \
     "by then goes on waiting for its agent",                                                                          \
     option_wait,                                                                                                      \
     offsetof(T, wait)},                                                                                               \
    {                                                                                                                  \
        0, "for", "SPAN", "a command that could not be carried out in that time is given up: a day, else",             \
            option_span, offsetof(T, life)                                                                             \
    }

/* Gives the command. `*ret` is its ad, as it stands after up to `wait` seconds; the caller unrefs it. */
int awaited_give(struct connection *pool, const char *path, const struct tree *body, int64_t wait, struct tree **ret);

/* Waits for up to so many more seconds: `*command` becomes the command as it stands then. */
int awaited_follow(struct connection *pool, int64_t wait, struct tree **command);

/* The answer, which the caller unrefs; NULL: the command still waits, or has expired. */
struct tree *awaited_answer(const struct tree *command);
/* Is the answer yes? If not, it is reported, with `about` in front. */
bool awaited_is_good(const struct tree *answer, const char *about);
uint64_t awaited_number(const struct tree *command);
/* What becomes of a command without an answer: "waits for it", or "has expired". */
const char *awaited_fate(const struct tree *command);

#endif
