/* nursery_parts.h: how a launcher is made: by a process that was loaded before, and waits for that alone. Private.
 *
 *     agent ---- folder, socket, lock, log ----> nursery ---- fork ----> launcher of a claim
 *
 * To start the program and to load its libraries takes longer than all else that a launcher does for a short job. The nursery is a launcher that has no claim
 * yet (`berth launcher CLAIMS/----------------`); it ends when its agent does, and the launchers go on. Where there is none, the program is started. */
#ifndef BERTH_EXEC_NURSERY_PARTS_H
#define BERTH_EXEC_NURSERY_PARTS_H

#include "exec/local_parts.h"

/* Makes a nursery for the agent: local->nursery, -1 if that cannot be. */
void nursery_open(struct local *local);
void nursery_close(struct local *local);

/* Makes the launcher of that claim, which has no ties to us: a session and a group of processes that are not ours. */
bool launcher_spawn(struct local *local, uint64_t claim, int ours, int lock, int log);

/* ---- in the process itself ---- */

bool nursery_is(const char *folder);
/* Makes launchers, as it is told. Returns in each of them: the folder, written over the last part of the given text, so that the command line tells it, and descriptors
 * as claims' launchers have them. NULL: the agent is gone, or wants no more. */
const char *nursery_serve(const char *folder);

#endif
