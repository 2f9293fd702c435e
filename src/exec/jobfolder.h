/* jobfolder.h: the folder of a job, which may be hostile: nothing in it is followed, and everything in it is counted.
 *
 *     output of a job   made anew beneath the folder, or an empty one that is there; never through a link
 *     walk              over all entries, in slices, so that a million of them stop nobody */
#ifndef BERTH_EXEC_JOBFOLDER_H
#define BERTH_EXEC_JOBFOLDER_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOLDER_DEPTH_MAX 100       /* folders within folders: deeper ones cannot be counted, and end the job */
#define FOLDER_ENTRIES_MAX 1000000 /* likewise */
#define FOLDER_ENTRY_BYTES 512     /* what an entry takes at least */

int jobfolder_open(const char *path, struct err *err);
/* Opens a plain file for reading. */
int jobfolder_input(int folder, const char *name, struct err *err);
/* Makes a file for output; what is there is removed first. `uid` not 0: the file belongs to that user. */
int jobfolder_output(int folder, const char *name, uint32_t uid, struct err *err);

struct jobfolder_walk {
    void *open[FOLDER_DEPTH_MAX]; /* DIR * */
    int depth;
    uint32_t give_to; /* 0: only counted */
    int64_t bytes, entries;
    bool too_much; /* of entries or depth */
};

void jobfolder_walk_begin(struct jobfolder_walk *walk, int folder, uint32_t give_to);
/* Goes on with the walk for that many microseconds. True: it has seen everything. */
bool jobfolder_walk_step(struct jobfolder_walk *walk, int64_t span);
void jobfolder_walk_done(struct jobfolder_walk *walk);

/* When to count again what was counted from `began` to `now`. Counting costs time, so not before `least`, and later when it takes long; but in time
 * where entries come so quickly that there would be too many before. `before`: how many there were at `before_at`. */
int64_t jobfolder_next(const struct jobfolder_walk *walk, int64_t began, int64_t now, int64_t least, int64_t before,
                       int64_t before_at);

/* Gives everything in the folder to a user; only root can. A file that has a second name, which may lie outside, is left out. */
void jobfolder_give(int folder, uint32_t uid);

#ifdef __cplusplus
}
#endif
#endif
