/* file_copy.h: a copy of a file of ours, laid into a job's folder: a small one at once, a large one by a thread, while the loop goes on.
 *
 *     laying_start -> LAID: it is there
 *                  -> LAYING: a thread copies, and `done` follows from the loop; or laying_cancel, and nobody hears of it
 *                  -> UNLAID: why
 *
 * The file is made before laying_start returns: whoever looks at the folder afterwards sees that there is something in it. A thread has
 * nothing but the two descriptors, so the folder may be taken away under it. */
#ifndef BERTH_LIVE_PROVIDERD_FILE_COPY_H
#define BERTH_LIVE_PROVIDERD_FILE_COPY_H

#include "lang/base/err.h"

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAYING_AT_ONCE (INT64_C(1) << 20) /* bytes of a file that the loop copies by itself */
#define LAYING_SLICE (INT64_C(4) << 20)   /* bytes after which a thread sees that it was cancelled */

struct uv_loop_s;
struct laying;

struct laying_order {
    const char *from;   /* a path */
    const char *folder; /* of the job ... */
    const char *name;   /* ... and in it */
    mode_t mode;
    int64_t size; /* a file that is shorter is an error */
};

enum laying_result { LAID, LAYING, UNLAID };

typedef void laying_done_fn(void *user, const char *why); /* NULL: it is there */

/* `ret` is set to what is under way, or to NULL. */
enum laying_result laying_start(struct uv_loop_s *loop, const struct laying_order *order, laying_done_fn *done,
                                void *user, struct laying **ret, struct err *err);
/* Takes NULL. The thread ends soon; the loop has to run until it has. */
void laying_cancel(struct laying *laying);

#ifdef __cplusplus
}
#endif
#endif
