/* folders.h: folders of the machine that its owner lets jobs look into: the lists `Visible`, `Writable` and `ImageFolders` of a policy.
 *
 * A list is read and checked once, when the policy is. A folder is looked for each time that it matters: it may not be there yet, or be gone; and
 * where it lies may have changed, so what it is a link to is checked as well. */
#ifndef BERTH_EXEC_FOLDERS_H
#define BERTH_EXEC_FOLDERS_H

#include "lang/base/err.h"
#include "lang/text/tree.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOLDERS_MAX 64      /* of one list */
#define FOLDER_PATH_MAX 512 /* bytes of a path */

struct folders {
    char **paths; /* absolute, without `.`, `..` and a slash at the end */
    size_t count;
};

/* Reads the list that an attribute of a policy is; one that is not there is empty. `homes`: here and below, it is for jobs that run as users of the
 * machine, and homes may be in it. -1 and what is wrong with it. */
int folders_read(const struct tree *policy, const char *attribute, bool homes, struct folders *ret, struct err *err);
void folders_done(struct folders *folders); /* takes a zeroed one */

/* Is it a path from the root, without `.` and `..`? -1 and that it is not. */
int folder_path_check(const char *path, struct err *err);

/* May a folder with that path be shown to jobs? -1 and why not. */
int folder_check(const char *path, bool homes, struct err *err);

/* Finds where a folder lies. `own`: a folder of ours, which nobody is to look into. -1: it is not there, or may not be shown, and why. */
int folder_find(const char *path, bool homes, const char *own, char ret[], size_t size, struct err *err);

/* Is the path that of the folder, or of something in it? */
bool folder_holds(const char *folder, const char *path);

#ifdef __cplusplus
}
#endif
#endif
