/* trash.h: folders that jobs leave, here or at the customer, are taken away by a thread: a million files in one would keep the loop from everything else for minutes.
 *
 *     trash_take -> STATE/trash/NAME -> gone, in its own time
 *
 * What is still there when the agent ends, or dies, goes after the next start. */
#ifndef BERTH_SYS_TRASH_H
#define BERTH_SYS_TRASH_H

#include "lang/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trash;

/* `folder` is made, and nobody else uses it. */
struct trash *trash_new(const char *folder, struct err *err);
/* Ends the thread; the folder that it works at stays as it is. Takes NULL. */
void trash_free(struct trash *trash);

/* Takes a folder out of its place at once, whatever is in it, and removes it later. It must be on the same file system, and nothing may work in
 * it any more. A folder that is not there is gone already. */
int trash_take(struct trash *trash, const char *path, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
