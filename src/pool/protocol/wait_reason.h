/* wait_reason.h: why a job waits, as a word that programs read; the same in explanations, lists, metrics and on the page.
 *
 * They are asked in this order. Each machine counts once, at the first reason that keeps the job from it; the first reason of a job is the one that
 * leaves no machine. */
#ifndef BERTH_POOL_PROTOCOL_WAIT_REASON_H
#define BERTH_POOL_PROTOCOL_WAIT_REASON_H

#ifdef __cplusplus
extern "C" {
#endif

/* Identifier, the word, what it says, and what one can do. */
#define WAIT_REASONS(X)                                                                                               \
    X(RUNS, "runs", "it runs", "")                                                                                    \
    X(ENDED, "ended", "it is over", "")                                                                               \
    X(HELD, "held", "it is held", "release it, or remove it")                                                         \
    X(REFUSED, "refused", "no matchmaker takes its request", "change the job")                                        \
    X(BLOCKED, "blocked", "it waits for other jobs of its workflow", "look at those jobs")                            \
    X(EARLY, "early", "it is not offered to machines before a time", "wait")                                          \
    X(CLAIMING, "claiming", "a machine was found for it, and is being claimed", "wait")                               \
    X(REJECTED, "rejected", "machines that were found for it let no claim come about", "wait")                        \
    X(LEARNS, "learns", "the matchmaker has just begun, and has not heard of all machines yet", "wait")               \
    X(NOFIT, "nofit", "no machine fits it, even when idle", "change what it asks for")                                \
    X(REFUSES, "refuses", "machines fit it, and their owners do not accept it",                                       \
      "ask the owners, or ask for other machines")                                                                    \
    X(AWAY, "away", "the machines that fit it are away", "tell the administrator")                                    \
    X(SICK, "sick", "the machines that fit it cannot run jobs now", "tell the administrator")                         \
    X(DRAINED, "drained", "the machines that fit it were told to take no more", "tell the administrator, or wait")    \
    X(OWNER, "owner", "the owners of the machines that fit it let nobody in now", "wait")                             \
    X(BUSY, "busy", "the machines that fit it are in use", "wait, or ask for less")                                   \
    X(KEPT, "kept", "room on the machines that fit it is kept for jobs that come first", "say a shorter `TimeLimit`") \
    X(PULL, "pull", "the machines that fit it ask for jobs by themselves", "wait")                                    \
    X(QUOTA, "quota", "its group may have no more", "`berth users --why`")                                            \
    X(LIMIT, "limit", "a limit that it needs is used up", "`berth users --limits`")                                   \
    X(NEVER, "never", "it asks for more of a limit than there is", "ask for less of it")                              \
    X(SHARE, "share", "others come first", "`berth users --why`")                                                     \
    X(WINDOW, "window", "all who wait are settled together, at times", "wait")                                        \
    X(DISCARDED, "discarded", "the policy of the pool discards every machine that fits it", "ask the administrator")  \
    X(PORT, "port", "nobody can fill one of its ports", "look at that port")                                          \
    X(GAVEUP, "gaveup", "the search for a gang was given up", "make its ports simpler")                               \
    X(FORMS, "forms", "no gang forms", "look at its ports")                                                           \
    X(SOON, "soon", "a machine fits it, and the next cycle looks at it", "wait")

enum wait_reason {
#define X(id, word, says, can) WAIT_##id,
    WAIT_REASONS(X)
#undef X
        WAIT_REASON_COUNT
};

const char *wait_word(enum wait_reason reason);
const char *wait_says(enum wait_reason reason);
const char *wait_can(enum wait_reason reason); /* "": there is nothing to do */

#ifdef __cplusplus
}
#endif
#endif
