/* jobfolder.c: the folder of a job, which may be hostile. */
#define _GNU_SOURCE
#include "exec/jobfolder.h"

#include "exec/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STEP_ENTRIES 256 /* between two looks at the clock */
#define WALK_SHARE 5     /* one part in so many of the time is spent on counting files, unless they grow too quickly */

/* Opens a name beneath the folder, through no link of any kind. */
static int open_beneath(int folder, const char *name, int flags)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};

    return (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
}

int jobfolder_open(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    return fd < 0 ? err_set(err, "the job's folder '%s': %s", path, strerror(errno)) : fd;
}

int jobfolder_input(int folder, const char *name, struct err *err)
{
    int fd = open_beneath(folder, name, O_RDONLY | O_NONBLOCK);
    struct stat st;

    if (fd < 0)
        return err_set(err, "its input '%.100s': %s", name, strerror(errno));
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(err, "its input '%.100s' is not a plain file", name);
    }
    fcntl(fd, F_SETFL, 0); /* no longer O_NONBLOCK */
    return fd;
}

/* Opens the folder that a name is in, and gives the name's last part. */
static int parent_open(int folder, const char *name, const char **ret_last)
{
    const char *slash = strrchr(name, '/');
    char parent[4096];

    *ret_last = slash ? slash + 1 : name;
    if (!**ret_last || !strcmp(*ret_last, ".") || !strcmp(*ret_last, "..") || *name == '/') {
        errno = EINVAL;
        return -1;
    }
    if (slash && (size_t)(slash - name) >= sizeof parent) {
        errno = ENAMETOOLONG;
        return -1;
    }
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - name) : 1, slash ? name : ".");
    return open_beneath(folder, parent, O_PATH | O_DIRECTORY);
}

/* Opens an output that is there already, if it is empty and such as we make it; else -1. */
static int output_reuse(int parent, const char *name, uint32_t uid)
{
    int fd = openat(parent, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) < 0 || st.st_mode != (S_IFREG | 0600) || st.st_nlink != 1 || st.st_size ||
        st.st_uid != (uid ? uid : geteuid())) {
        close(fd);
        return -1;
    }
    fcntl(fd, F_SETFL, 0); /* no longer O_NONBLOCK */
    return fd;
}

int jobfolder_output(int folder, const char *name, uint32_t uid, struct err *err)
{
    const char *last;
    int parent = parent_open(folder, name, &last), fd = -1;

    if (parent >= 0) {
        fd = output_reuse(parent, last, uid);
        if (fd < 0 && (unlinkat(parent, last, 0) == 0 || errno == ENOENT))
            fd = openat(parent, last, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 && uid && fchown(fd, uid, uid) < 0) {
            close(fd);
            fd = -1;
        }
    }
    if (fd < 0)
        err_set(err, "its output '%.100s': %s", name, strerror(errno));
    if (parent >= 0)
        close(parent);
    return fd;
}

/* -------------------------------------------------------------------------------------------------------------- walking */

/* Opens a folder that a job has shut to itself and us alike; as its owner we may. */
static int open_shut_folder(int parent, const char *name)
{
    int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), opened = -1;
    char path[64];

    if (fd < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (chmod(path, 0700) == 0)
        opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(fd);
    return opened;
}

static void walk_push(struct jobfolder_walk *walk, int parent, const char *name)
{
    int fd;
    DIR *dir;

    if (walk->depth == FOLDER_DEPTH_MAX) {
        walk->too_much = true;
        return;
    }
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES)
        fd = open_shut_folder(parent, name);
    dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir)
        walk->open[walk->depth++] = dir;
    else if (fd >= 0)
        close(fd);
}

void jobfolder_walk_begin(struct jobfolder_walk *walk, int folder, uint32_t give_to)
{
    *walk = (struct jobfolder_walk){.give_to = give_to};
    walk_push(walk, folder, ".");
}

static void walk_entry(struct jobfolder_walk *walk, int parent, const char *name)
{
    struct stat st;
    int64_t bytes;

    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    bytes = (int64_t)st.st_blocks * 512;
    if (!S_ISDIR(st.st_mode) && st.st_nlink > 1)
        bytes /= (int64_t)st.st_nlink; /* its other names count the rest */
    walk->bytes += bytes > FOLDER_ENTRY_BYTES ? bytes : FOLDER_ENTRY_BYTES;
    if (++walk->entries > FOLDER_ENTRIES_MAX)
        walk->too_much = true;
    if (walk->give_to && (S_ISDIR(st.st_mode) || st.st_nlink == 1) && st.st_uid != walk->give_to &&
        fchownat(parent, name, walk->give_to, walk->give_to, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (S_ISDIR(st.st_mode))
        walk_push(walk, parent, name);
}

bool jobfolder_walk_step(struct jobfolder_walk *walk, int64_t span)
{
    int64_t until = record_now() + span;

    for (int count = 1; walk->depth > 0 && !walk->too_much; count++) {
        DIR *dir = walk->open[walk->depth - 1];
        struct dirent *entry = readdir(dir);

        if (!entry) {
            closedir(dir);
            walk->depth--;
        } else if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            walk_entry(walk, dirfd(dir), entry->d_name);
        }
        if (count % STEP_ENTRIES == 0 && record_now() >= until)
            return false;
    }
    jobfolder_walk_done(walk);
    return true;
}

void jobfolder_walk_done(struct jobfolder_walk *walk)
{
    while (walk->depth > 0)
        closedir(walk->open[--walk->depth]);
}

int64_t jobfolder_next(const struct jobfolder_walk *walk, int64_t began, int64_t now, int64_t least, int64_t before,
                       int64_t before_at)
{
    int64_t pause = (now - began) * WALK_SHARE, grown = walk->entries - before,
            left = FOLDER_ENTRIES_MAX - walk->entries;
    double until; /* there are too many, if they come as quickly as so far */

    if (grown > 0 && left > 0 && now > before_at) {
        until = (double)left / (double)grown * (double)(now - before_at);
        if (until / 2 < (double)pause)
            pause = (int64_t)(until / 2);
    }
    return now + (pause > least ? pause : least);
}

void jobfolder_give(int folder, uint32_t uid)
{
    struct jobfolder_walk walk;

    if (fchown(folder, uid, uid) < 0)
        return;
    jobfolder_walk_begin(&walk, folder, uid);
    while (!jobfolder_walk_step(&walk, INT32_MAX))
        ;
}
