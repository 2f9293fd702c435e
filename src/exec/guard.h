/* guard.h: the memory of a process that holds secrets is its own. */
#ifndef BERTH_EXEC_GUARD_H
#define BERTH_EXEC_GUARD_H

#ifdef __cplusplus
extern "C" {
#endif

/* Guards this process: no core file is written of it, and no other process of its user, but root's, can look into it. Children that begin another
 * program keep only the first of these. */
void guard_memory(void);
/* Lifts the guard in a child that is still this program and has to write to files of its own in /proc. */
void guard_lift(void);

#ifdef __cplusplus
}
#endif
#endif
