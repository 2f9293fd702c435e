/* sandbox_view.h: bubblewrap's words for what a job sees besides the machine's own programs: an image's root, and folders of the machine.
 *
 * The root of an image is not mounted as a whole: each entry of its first level is bound into the sandbox's own root, which is in memory. So
 * /job, /proc, /dev, /tmp and the folders have a place there whatever the image has, and a folder that is not ours need not be changed.
 * Links of the image lead somewhere only inside of the sandbox: bubblewrap is given no path that goes through one. */
#ifndef BERTH_EXEC_SANDBOX_VIEW_H
#define BERTH_EXEC_SANDBOX_VIEW_H

#include "lang/base/buf.h"
#include "pool/protocol/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VIEW_ENTRIES_MAX 128 /* of the first level of an image; those beyond are not seen */

/* Appends the words for an image. `root`: where it lies; `place`: where bubblewrap finds it. `users` and `groups`: descriptors of the lists
 * that the job is to have; `network`: it also gets what is needed for names; `names`: a descriptor of its resolv.conf, or -1: the machine's. */
void view_words_root(struct buf *out, const char *root, const char *place, int users, int groups, bool network,
                     int names);

/* Appends the words for the folders that have a place. */
void view_words_folders(struct buf *out, const struct executor_view *view);

/* Can the folder be shown in an image with that root? Where a link or a file of the image is in the way, it cannot. NULL: there is no image. */
bool view_has_place(const char *root, const char *path);

/* Does one of the two paths lie in the other, or are they the same? */
bool view_paths_meet(const char *a, const char *b);

#ifdef __cplusplus
}
#endif
#endif
