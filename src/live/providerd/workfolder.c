/* workfolder.c: the folders of jobs. One that a job leaves as it found it is handed on to a later job of the same claim, with its logs:
 * to make and delete three files for each job can cost more than a short job itself. */
#include "live/providerd/providerd_parts.h"
#include "sys/trash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SPARE 0           /* its number: those of jobs begin at 1 */
#define SPARE_BYTES 65536 /* a folder that once had thousands of files stays large */

/* Is it such as we make them, and has nothing been written on it? */
static bool is_plain(int fd, mode_t kind_and_mode)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_mode == kind_and_mode && st.st_size <= SPARE_BYTES &&
           (S_ISDIR(st.st_mode) || st.st_nlink == 1) && flistxattr(fd, NULL, 0) == 0;
}

static bool log_empty(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool good = fd >= 0 && is_plain(fd, S_IFREG | 0600) && ftruncate(fd, 0) == 0;

    if (fd >= 0)
        close(fd);
    return good;
}

/* Its job has ended, and nothing of it runs. True: but for two empty logs nothing is in it. */
static bool folder_empty(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 && is_plain(fd, S_IFDIR | 0700) ? fdopendir(fd) : NULL;
    bool good = dir != NULL;
    struct dirent *row;

    while (good && (row = readdir(dir)))
        if (!strcmp(row->d_name, JOB_STDOUT) || !strcmp(row->d_name, JOB_STDERR))
            good = log_empty(fd, row->d_name);
        else
            good = !strcmp(row->d_name, ".") || !strcmp(row->d_name, "..");
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    return good;
}

int workfolder_make(const struct providerd *providerd, uint64_t claim, uint64_t number, struct err *err)
{
    char path[DAEMON_PATH_MAX], spare[DAEMON_PATH_MAX];

    providerd_folder(providerd, path, sizeof path, claim, number);
    providerd_folder(providerd, spare, sizeof spare, claim, SPARE);
    trash_take(providerd->trash, path, err);
    return rename(spare, path) == 0 || mkdir(path, 0700) == 0 ? 0 : err_set(err, "%s: %s", path, strerror(errno));
}

int workfolder_leave(const struct providerd *providerd, uint64_t claim, uint64_t number, struct err *err)
{
    char path[DAEMON_PATH_MAX], spare[DAEMON_PATH_MAX];

    providerd_folder(providerd, path, sizeof path, claim, number);
    providerd_folder(providerd, spare, sizeof spare, claim, SPARE);
    if (claim_is_kept(providerd, claim) && folder_empty(path) && rename(path, spare) == 0)
        return 0;
    return trash_take(providerd->trash, path, err);
}

void workfolder_forget(const struct providerd *providerd, uint64_t claim)
{
    char spare[DAEMON_PATH_MAX];

    providerd_folder(providerd, spare, sizeof spare, claim, SPARE);
    trash_take(providerd->trash, spare, NULL);
}
