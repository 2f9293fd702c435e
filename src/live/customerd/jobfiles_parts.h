/* jobfiles_parts.h: what the files of jobfiles.h share; private to them.
 *
 *     jobfiles.c        the folder of all jobs; logs; reading what a job has left, removing it
 *     jobfiles_list.c   the list of a job's complete files, on disk and in memory
 *     jobfiles_store.c  incoming pieces: checked against what the try may leave, and put where they belong */
#ifndef BERTH_LIVE_CUSTOMERD_JOBFILES_PARTS_H
#define BERTH_LIVE_CUSTOMERD_JOBFILES_PARTS_H

#include "lang/base/textmap.h"
#include "live/customerd/attempt_room.h"
#include "live/customerd/jobfiles.h"
#include "live/customerd/output_shares.h"
#include "sys/confined_path.h"

#include <errno.h>
#include <unistd.h>

#define JOBFILES_PART "part" /* a job's folder of incomplete files */
#define JOBFILES_INDEXES 32  /* for so many jobs the list is kept in memory */

struct job_file_row {
    const char *word, *folder;
};
extern const struct job_file_row job_file_rows[]; /* by enum job_file_kind */

/* The complete files of a job. */
struct file_index {
    uint64_t job; /* 0: not used */
    uint64_t used;
    struct textmap names; /* "KIND/NAME" -> place */
    struct job_file *items;
    uint32_t room;
    struct attempt_room left; /* what the try that sent something last has left */
};

struct jobfiles {
    int folder;
    char *path;
    struct trash *trash;
    struct symbols *symbols;
    struct pieces *pieces;
    struct output_shares *shares; /* or NULL: nobody counts */
    struct file_index indexes[JOBFILES_INDEXES];
    uint64_t clock;
    uint64_t seed; /* a secret, since strangers choose the names */
};

/* Opens the job's own folder, made if `make`; -1: there is none. */
int jobfiles_folder(struct jobfiles *files, uint64_t job, bool make);

/* Closes the descriptor, and leaves errno as it was. */
static inline void close_keep(int fd)
{
    int failed = errno;

    close(fd);
    errno = failed;
}

/* ---- jobfiles_list.c ---- */

void file_index_done(struct file_index *index);
struct job_file *file_index_find(const struct file_index *index, enum job_file_kind kind, const char *name);
/* NULL and errno: the list cannot be read now, which does not mean that it is empty. */
struct file_index *file_index_get(struct jobfiles *files, uint64_t job, int folder);
/* Adds a line, which is on disk before anybody is told. */
int file_list_add(struct jobfiles *files, int folder, struct file_index *index, const struct job_file *file);

/* ---- jobfiles_store.c ---- */

void jobfiles_part_name(char *ret, size_t room, const struct job_place *place, enum job_file_kind kind,
                        const char *name);
/* Calls `fn` for the incomplete files of a try. -1 and errno: not all could be looked at. */
int jobfiles_parts(int folder, const struct job_place *place, job_file_fn *fn, void *user);

#endif
