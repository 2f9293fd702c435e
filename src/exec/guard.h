/* guard.h: the memory of a process that holds secrets is its own. */
#ifndef BERTH_EXEC_GUARD_H
#define BERTH_EXEC_GUARD_H

#ifdef __cplusplus
extern "C" {
#endif

/* No core file is written of it, and no other process of its user, but root's, looks into it. Children that begin another program do not
 * have that, but for the core files. */
void guard_memory(void);
/* A child that is still this program, and has to write to files of its own in /proc. */
void guard_lift(void);

#ifdef __cplusplus
}
#endif
#endif
