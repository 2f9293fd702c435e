/* file_copy.h: a copy of a file of ours, laid into a job's folder: a small one at once, a large one by a thread, while the loop goes on.
 *
 *     file_copy_start -> LAID: it is there
 *                  -> LAYING: a thread copies, and `done` follows from the loop; or file_copy_cancel, and nobody hears of it
 *                  -> UNLAID: why
 *
 * The file is made before file_copy_start returns: whoever looks at the folder afterwards sees that there is something in it. A thread has
 * nothing but the two descriptors, so the folder may be taken away under it. */
#ifndef BERTH_LIVE_PROVIDERD_FILE_COPY_H
#define BERTH_LIVE_PROVIDERD_FILE_COPY_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FILE_COPY_AT_ONCE (INT64_C(1) << 20) /* bytes of a file that the loop copies by itself */
#define FILE_COPY_SLICE (INT64_C(4) << 20)   /* bytes after which a thread sees that it was cancelled */

struct uv_loop_s;
struct file_copy;

struct file_copy_order {
    const char *from;   /* a path */
    const char *folder; /* of the job ... */
    const char *name;   /* ... and in it */
    mode_t mode;
    int64_t size; /* a file that is shorter is an error */
};

enum file_copy_result { LAID, LAYING, UNLAID };

typedef void file_copy_done_fn(void *user, const char *why); /* NULL: it is there */

/* Is the file in the job's folder as it was laid there, or gone? The job has not written it, nor put another into its place. */
bool file_copy_is_untouched(int folder, const char *name);

/* Begins a copy. `ret` is set to what is under way, or to NULL. */
enum file_copy_result file_copy_start(struct uv_loop_s *loop, const struct file_copy_order *order,
                                      file_copy_done_fn *done, void *user, struct file_copy **ret, struct err *err);
/* Cancels a copy; takes NULL. The thread ends soon, and the loop has to run until it has. */
void file_copy_cancel(struct file_copy *file_copy);

#ifdef __cplusplus
}
#endif
#endif
