/* file_sync.h: files that a job has left are brought to disk by a thread, while the loop goes on: a large one may take minutes.
 *
 *     file_sync_start -> `done` from the loop; then file_sync_result tells of each file, until file_sync_free
 *
 * The names come from the job: no link is followed, and nothing but a regular file is opened. */
#ifndef BERTH_LIVE_PROVIDERD_FILE_SYNC_H
#define BERTH_LIVE_PROVIDERD_FILE_SYNC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s;
struct file_sync;

typedef void file_sync_done_fn(void *user);

/* Begins to bring files to disk. `folder` is a path, and the names lie in it; both are copied. */
struct file_sync *file_sync_start(struct uv_loop_s *loop, const char *folder, const char *const *names, size_t count,
                                  file_sync_done_fn *done, void *user);
/* What became of a file. 0: what it had when its turn came is on disk; else the errno of what went wrong; -1: it could not be opened, or nothing was
 * done. */
int file_sync_result(const struct file_sync *file_sync, size_t place);
/* Frees it; takes NULL. If a thread is still at work, `done` is not called any more, and the loop has to run until the thread has ended. */
void file_sync_free(struct file_sync *file_sync);

#ifdef __cplusplus
}
#endif
#endif
