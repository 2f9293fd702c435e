/* confined_path.h: files beneath a folder that strangers write in, or give the names for: nothing outside of it is ever touched.
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

/* May a file be called so? No empty part, no "." or "..", no NUL, not beginning with '/', not too long, no part of more than 255 bytes. */
bool confined_name_is_good(const char *name, size_t len);

/* A descriptor of the folder, which is made with mode 0700 when it is not there; -1 when that cannot be. `at` may be AT_FDCWD: then the
 * name may be any path, and links on the way to it are followed. */
int confined_folder(int at, const char *name, struct err *err);
/* A descriptor of the folder that the file is in, those on the way made when `make`; and the last part of its name, inside `name`. -1 and errno. */
int confined_parent(int folder, const char *name, bool make, const char **ret_last);

/* A descriptor of a regular file; -1 and errno. `flags` as open(2)'s: never more than that file is made. Other disks may be mounted on the way:
 * the folder can be one that a user chose. */
int confined_file(int folder, const char *name, int flags, mode_t mode);
/* A regular file to be read, and how long it is; what a job has mounted there is not looked at. One of ours that nobody may read is made
 * readable. -1, errno and `err`. */
int confined_read(int folder, const char *name, int64_t *ret_size, struct err *err);
/* Made anew, to be written, in place of whatever had the name; the folders on the way are made as well. */
int confined_create(int folder, const char *name, mode_t mode, struct err *err);

/* The file takes the place of what is called so there, in one step, and that is on disk; where it lies on another disk it is copied
 * there first. -1 and errno. */
int confined_move(int from, const char *name, int to, const char *new_name);
/* The same where nothing is called so; else EEXIST. */
int confined_move_new(int from, const char *name, int to, const char *new_name);

/* The names of all regular files in the folder itself; more than `most` are an error, EOVERFLOW. Ends early with what `fn` returns when that is
 * not 0. */
typedef int confined_fn(void *user, const char *name);
int confined_each(int folder, uint32_t most, confined_fn *fn, void *user, struct err *err);

/* All regular files in the folder of that name and in those beneath it, with that name in front, but what begins with a dot; likewise. */
#define CONFINED_DEPTH_MAX 64 /* folders inside one another that are gone into */
int confined_walk(int folder, const char *name, uint32_t most, confined_fn *fn, void *user, struct err *err);

/* What is called so; nothing is opened, and no link is followed. FAILED, and errno: that cannot be told now. */
enum confined_sort { CONFINED_FILE, CONFINED_FOLDER, CONFINED_OTHER, CONFINED_ABSENT, CONFINED_FAILED };
enum confined_sort confined_look(int folder, const char *name);
/* The same of a call that has failed with that errno: OTHER, ABSENT or FAILED. */
enum confined_sort confined_failed(int error);

/* All that is there of that name goes, with what it holds, however deep and whatever its modes; links are removed, not followed. `folder` may
 * be AT_FDCWD: then the name may be any path. 0 when nothing is left. */
int confined_remove(int folder, const char *name, struct err *err);
/* -1 and `err`, which says what to do, where files cannot be opened as all of this needs it. */
int confined_probe(struct err *err);
/* Does the file system of that folder take no files? One that an error has made read-only says of itself what it said before: so it is tried. */
bool confined_is_readonly(const char *path);

/* Likewise, until that says so: then what is left stays. NULL: never. */
struct confined_end {
    bool (*is_over)(void *user);
    void *user;
};
int confined_remove_until(int folder, const char *name, const struct confined_end *end, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
