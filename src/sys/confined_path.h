/* confined_path.h: files beneath a folder in which strangers write, or for which strangers choose the names. Nothing outside of the folder is
 * ever touched.
 *
 * A name is relative: parts with '/' between them. No link is followed anywhere on the way, whoever made it, and nothing but regular
 * files is opened. */
#ifndef BERTH_SYS_CONFINED_PATH_H
#define BERTH_SYS_CONFINED_PATH_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CONFINED_NAME_MAX 1024 /* bytes of a name that a stranger gives; what we put in front of it comes on top */

/* May a file have that name? It has no empty part, no "." or "..", no NUL, no '/' at its beginning, no part of more than 255 bytes, and is not
 * too long. */
bool confined_name_is_good(const char *name, size_t len);

/* Opens a folder, which is made with mode 0700 when it is not there, and returns its descriptor; -1 when that fails. `at` may be AT_FDCWD: then
 * the name may be any path, and links on the way to it are followed. */
int confined_folder(int at, const char *name, struct err *err);
/* Opens the folder that a file is in, and returns its descriptor and the last part of the name, inside `name`. `make`: folders that are missing
 * on the way are made. -1 and errno. */
int confined_parent(int folder, const char *name, bool make, const char **ret_last);

/* Opens a regular file and returns its descriptor; -1 and errno. `flags` are those of open(2); nothing but that file is ever made. Other disks may
 * be mounted on the way, since a user may have chosen the folder. */
int confined_file(int folder, const char *name, int flags, mode_t mode);
/* Opens a regular file for reading, and returns its descriptor and its length. What a job has mounted there is not opened. A file of ours that
 * nobody may read is made readable. -1, errno and `err`. */
int confined_read(int folder, const char *name, int64_t *ret_size, struct err *err);
/* Makes a new file for writing, in the place of whatever had the name; the folders on the way are made as well. */
int confined_create(int folder, const char *name, mode_t mode, struct err *err);

/* Moves a file into the place of whatever has the new name, in one step that is on disk afterwards. A file on another disk is copied first. -1
 * and errno. */
int confined_move(int from, const char *name, int to, const char *new_name);
/* The same where nothing has the new name; else EEXIST. */
int confined_move_new(int from, const char *name, int to, const char *new_name);
/* Renames a file where nothing has the new name; else EEXIST. The names have no parts, and where the folders are AT_FDCWD they are any paths. -1 and
 * errno. What it did is not on disk yet. */
int confined_rename_new(int from, const char *name, int to, const char *new_name);

/* Calls `fn` with the name of each regular file in the folder itself; more than `most` are an error, EOVERFLOW. When `fn` returns something other
 * than 0, the walk ends and returns that. */
typedef int confined_fn(void *user, const char *name);
int confined_each(int folder, uint32_t most, confined_fn *fn, void *user, struct err *err);

/* The same for all regular files in the folder of that name and beneath it, each with that name in front. Names that begin with a dot are left
 * out. */
#define CONFINED_DEPTH_MAX 64 /* folders inside one another that are gone into */
int confined_walk(int folder, const char *name, uint32_t most, confined_fn *fn, void *user, struct err *err);

/* What has that name? Nothing is opened, and no link is followed. FAILED, and errno: that cannot be told now. */
enum confined_sort { CONFINED_FILE, CONFINED_FOLDER, CONFINED_OTHER, CONFINED_ABSENT, CONFINED_FAILED };
enum confined_sort confined_look(int folder, const char *name);
/* The same from the errno of a call that has failed: OTHER, ABSENT or FAILED. */
enum confined_sort confined_failed(int error);

/* Removes whatever has that name, with all that it holds, however deep and whatever its modes. Links are removed and not followed. `folder` may be
 * AT_FDCWD: then the name may be any path. 0 when nothing is left. */
int confined_remove(int folder, const char *name, struct err *err);
/* Can this kernel open files in the way that this file needs? -1 and `err`, which says what to do, when it cannot. */
int confined_probe(struct err *err);
/* Is the file system of that folder read-only? One that became so by an error still says of itself what it said before, so a write is tried. */
bool confined_is_readonly(const char *path);

/* Removes as confined_remove does, until `end` says stop: then what is left stays. NULL: it never does. */
struct confined_end {
    bool (*is_over)(void *user);
    void *user;
};
int confined_remove_until(int folder, const char *name, const struct confined_end *end, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
