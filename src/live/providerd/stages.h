/* stages.h: commands that run before a job's program and after it, in its sandbox and its folder, as one command.
 *
 *     sh -c SCRIPT berth 2 3 ./prepare B ./judge B $RETURN ./sim -n 3          the words of both, then the program's
 *
 * The words are arguments of a fixed script, and never read as one. Before fails: that is the end, with its status. After is told how the program
 * ended, by the variable RETURN and in place of a word $RETURN, minus the signal where there was one: its own status is the job's. */
#ifndef BERTH_LIVE_PROVIDERD_STAGES_H
#define BERTH_LIVE_PROVIDERD_STAGES_H

#include "lang/base/arena.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STAGES_WORDS 6 /* in front of all others */

/* Fills `room`, which has place for STAGES_WORDS, all these lists (each ends with NULL) and a NULL, with the words of one command; returns it. */
const char *const *stages_words(const char **room, struct arena *into, const char *const *before,
                                const char *const *after, const char *const *program);

#ifdef __cplusplus
}
#endif
#endif
