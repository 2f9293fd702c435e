/* signals.h: signals that the owner of a job may send it, by their names and numbers. Those that would undo what the machine's owner has done
 * (STOP, CONT) are not among them: `berth hold` and the owner's policy are for that. */
#ifndef BERTH_SYS_SIGNALS_H
#define BERTH_SYS_SIGNALS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

bool signal_is_allowed(int number);
int signal_find(const char *text);   /* "15", "TERM" or "SIGTERM"; 0: it is none of them */
const char *signal_name(int number); /* "TERM"; NULL: it is none of them */
#define SIGNAL_WORDS "HUP, INT, QUIT, ABRT, KILL, USR1, USR2, ALRM, TERM"

#ifdef __cplusplus
}
#endif
#endif
