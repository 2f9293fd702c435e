/* confined_path.c: files beneath a folder, opened so that the kernel refuses every way out of it. */
#define _GNU_SOURCE /* syscall */
#include "sys/confined_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PART_MAX 255
#define COPY_BYTES 65536

static bool path_is_good(const char *name, size_t len, size_t max)
{
    if (!len || len > max || memchr(name, '\0', len))
        return false;
    for (size_t at = 0; at <= len;) {
        const char *slash = memchr(name + at, '/', len - at);
        size_t part = slash ? (size_t)(slash - name) - at : len - at;

        if (!part || part > PART_MAX || (part == 1 && name[at] == '.') ||
            (part == 2 && name[at] == '.' && name[at + 1] == '.'))
            return false;
        at += part + 1;
    }
    return true;
}

bool confined_name_is_good(const char *name, size_t len)
{
    return path_is_good(name, len, CONFINED_NAME_MAX);
}

/* Opens a name beneath the folder. `more` are further RESOLVE_* rules. A FIFO must not make us wait, nor a terminal become ours. */
static int open_beneath(int folder, const char *name, int flags, mode_t mode, uint64_t more)
{
    int plain = flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY; /* what is not opened takes no such flag */
    struct open_how how = {.flags = (uint64_t)(unsigned)(flags | plain) | O_CLOEXEC | O_NOFOLLOW,
                           .mode = flags & O_CREAT ? mode : 0,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | more};
    long fd;

    do
        fd = syscall(SYS_openat2, folder, name, &how, sizeof how);
    while (fd < 0 && (errno == EINTR || errno == EAGAIN));
    return (int)fd;
}

int confined_probe(struct err *err)
{
    int fd = open_beneath(AT_FDCWD, ".", O_RDONLY | O_DIRECTORY, 0, 0);

    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        return err_set(
            err,
            "the system call openat2 is missing here (%s), and without it files cannot be opened safely: Linux 5.6 or "
            "later has it, but valgrind and some containers keep it from programs",
            strerror(errno));
    if (fd >= 0)
        close(fd);
    return 0;
}

bool confined_is_readonly(const char *path)
{
    int fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); /* without a name, so nothing of it is ever left */
    int why = errno;

    if (fd >= 0)
        close(fd);
    return fd < 0 && (why == EROFS || why == EIO); /* not every file system knows files without names */
}

static int open_folder(int folder, const char *name)
{
    return open_beneath(folder, name, O_RDONLY | O_DIRECTORY, 0, 0);
}

int confined_folder(int at, const char *name, struct err *err)
{
    int fd;

    if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
        return err_set(err, "%s: the folder cannot be made: %s", name, strerror(errno));
    fd = at == AT_FDCWD ? openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : open_folder(at, name);
    return fd < 0 ? err_set(err, "%s: the folder cannot be opened: %s", name, strerror(errno)) : fd;
}

static int open_regular(int folder, const char *name, int flags, mode_t mode, uint64_t more)
{
    struct stat stat;
    int fd;

    if (!path_is_good(name, strlen(name), PATH_MAX / 2)) {
        errno = EINVAL;
        return -1;
    }
    fd = open_beneath(folder, name, flags, mode, more);
    if (fd >= 0 && (fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

int confined_file(int folder, const char *name, int flags, mode_t mode)
{
    return open_regular(folder, name, flags, mode, 0);
}

/* Opens a file of ours whose mode lets nobody read it, by a path that no link can change. -1 and errno. */
static int open_unreadable(int folder, const char *name)
{
    int fd = open_beneath(folder, name, O_PATH, 0, RESOLVE_NO_XDEV), opened = -1, failed = EACCES;
    struct stat stat;
    char path[64];

    if (fd < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_uid == geteuid() &&
        chmod(path, (stat.st_mode & 07777) | S_IRUSR) == 0) {
        opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        failed = errno;
    }
    close(fd);
    errno = failed;
    return opened;
}

int confined_read(int folder, const char *name, int64_t *ret_size, struct err *err)
{
    int fd = open_regular(folder, name, O_RDONLY, 0, RESOLVE_NO_XDEV), failed;
    struct stat stat;

    if (fd < 0 && errno == EACCES)
        fd = open_unreadable(folder, name);
    if (fd < 0 || fstat(fd, &stat) < 0) {
        failed = errno;
        err_set(err, "%.80s: %s", name, failed == EINVAL ? "not a regular file" : strerror(failed));
        if (fd >= 0)
            close(fd);
        errno = failed;
        return -1;
    }
    *ret_size = stat.st_size;
    return fd;
}

int confined_parent(int folder, const char *name, bool make, const char **ret_last)
{
    int at = fcntl(folder, F_DUPFD_CLOEXEC, 0), next, failed;
    const char *slash;
    char part[PART_MAX + 1];

    if (!path_is_good(name, strlen(name), PATH_MAX / 2)) {
        if (at >= 0)
            close(at);
        errno = EINVAL;
        return -1;
    }
    while (at >= 0 && (slash = strchr(name, '/'))) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
        next = make && mkdirat(at, part, 0755) < 0 && errno != EEXIST ? -1 : open_folder(at, part);
        failed = errno;
        close(at);
        errno = failed;
        at = next;
        name = slash + 1;
    }
    if (at >= 0)
        *ret_last = name;
    return at;
}

int confined_create(int folder, const char *name, mode_t mode, struct err *err)
{
    const char *last;
    int parent = confined_parent(folder, name, true, &last), fd = -1;

    if (parent >= 0) {
        unlinkat(parent, last, 0);
        fd = open_beneath(parent, last, O_WRONLY | O_CREAT | O_EXCL, mode, 0);
    }
    if (fd < 0)
        err_set(err, "%.80s: %s", name, strerror(errno));
    if (parent >= 0)
        close(parent);
    return fd;
}

/* Where the file system does not know RENAME_NOREPLACE (one over the network), the file is linked under the new name and the old name is removed. */
int confined_rename_new(int from, const char *last, int to, const char *new_last)
{
    if (syscall(SYS_renameat2, from, last, to, new_last, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    return linkat(from, last, to, new_last, 0) < 0 ? -1 : unlinkat(from, last, 0);
}

/* Moves a file to another disk: it is copied beside its place, then renamed into it. The name there is that of the file that is moved, so that the next
 * try replaces what one that was killed has left; what others have put there under that name is not written to. */
static int copy_over(int from, const char *last, int to, const char *new_last, bool fresh)
{
    char bytes[COPY_BYTES], beside[PART_MAX + 1];
    int in = confined_file(from, last, O_RDONLY, 0), out = -1;
    struct stat stat;
    ssize_t got = -1;

    if (in >= 0 && fstat(in, &stat) == 0) {
        snprintf(beside, sizeof beside, ".berth-%llx-%llx-%.200s", (unsigned long long)stat.st_dev,
                 (unsigned long long)stat.st_ino, new_last);
        unlinkat(to, beside, 0);
        out = open_beneath(to, beside, O_WRONLY | O_CREAT | O_EXCL, 0600, 0);
        if (out < 0 && errno == EEXIST)
            errno = EACCES; /* that says nothing about the place itself */
    }
    while (out >= 0 && (got = read(in, bytes, sizeof bytes)) > 0) {
        for (ssize_t at = 0, wrote; at < got; at += wrote)
            if ((wrote = write(out, bytes + at, (size_t)(got - at))) < 0) {
                got = -1;
                break;
            }
        if (got < 0)
            break;
    }
    if (in >= 0)
        close(in);
    if (out < 0)
        return -1;
    if (got == 0 && (fchmod(out, stat.st_mode & 0777) < 0 || fsync(out) < 0))
        got = -1;
    close(out);
    if (got < 0 || (fresh ? confined_rename_new(to, beside, to, new_last) : renameat(to, beside, to, new_last)) < 0) {
        int failed = errno;

        unlinkat(to, beside, 0);
        errno = failed;
        return -1;
    }
    unlinkat(from, last, 0);
    return 0;
}

static int move(int from, const char *name, int to, const char *new_name, bool fresh)
{
    const char *last, *new_last;
    int there = confined_parent(from, name, false, &last), here, failed = -1, why;

    if (there < 0)
        return -1;
    here = confined_parent(to, new_name, true, &new_last);
    if (here >= 0) {
        failed = fresh ? confined_rename_new(there, last, here, new_last) : renameat(there, last, here, new_last);
        if (failed && errno == EXDEV)
            failed = copy_over(there, last, here, new_last, fresh);
        if (!failed)
            failed = fsync(here);
        why = errno;
        close(here);
        errno = why;
    }
    why = errno;
    close(there);
    errno = why;
    return failed;
}

int confined_move(int from, const char *name, int to, const char *new_name)
{
    return move(from, name, to, new_name, false);
}

int confined_move_new(int from, const char *name, int to, const char *new_name)
{
    return move(from, name, to, new_name, true);
}

static bool is_dots(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

int confined_each(int folder, uint32_t most, confined_fn *fn, void *user, struct err *err)
{
    int fd = open_beneath(folder, ".", O_RDONLY | O_DIRECTORY, 0, RESOLVE_NO_XDEV), failed = 0;
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *row;
    struct stat stat;
    uint32_t seen = 0;

    if (!dir) {
        err_set(err, "%s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    while (!failed && (row = readdir(dir))) {
        if (is_dots(row->d_name) || fstatat(fd, row->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(stat.st_mode))
            continue;
        failed = ++seen > most ? (errno = EOVERFLOW, err_set(err, "more than %u files", most)) : fn(user, row->d_name);
    }
    closedir(dir);
    return failed;
}

struct walk {
    uint32_t seen, folders, most;
    confined_fn *fn;
    void *user;
    struct err *err;
};

static int walk_folder(struct walk *walk, int fd, const char *prefix, unsigned depth);

static int walk_row(struct walk *walk, int fd, const char *prefix, const char *last, unsigned depth)
{
    char name[CONFINED_NAME_MAX + 1];
    struct stat stat;
    int inside;

    if (snprintf(name, sizeof name, "%s/%s", prefix, last) >= (int)sizeof name)
        return err_set(walk->err, "%.80s: a name is too long", prefix);
    if (fstatat(fd, last, &stat, AT_SYMLINK_NOFOLLOW) < 0)
        return err_set(walk->err, "%.80s: %s", name, strerror(errno));
    if (S_ISDIR(stat.st_mode) && ++walk->folders > walk->most)
        return err_set(walk->err, "more than %u folders", walk->most);
    if (S_ISREG(stat.st_mode))
        return ++walk->seen > walk->most ? err_set(walk->err, "more than %u files", walk->most)
                                         : walk->fn(walk->user, name);
    if (!S_ISDIR(stat.st_mode))
        return 0;
    if (depth >= CONFINED_DEPTH_MAX)
        return err_set(walk->err, "%.80s: too many folders are inside one another", name);
    inside = open_beneath(fd, last, O_RDONLY | O_DIRECTORY, 0, RESOLVE_NO_XDEV);
    return inside < 0 ? err_set(walk->err, "%.80s: %s", name, strerror(errno))
                      : walk_folder(walk, inside, name, depth + 1);
}

/* Walks over a folder and those in it. The descriptor is closed here. */
static int walk_folder(struct walk *walk, int fd, const char *prefix, unsigned depth)
{
    DIR *dir = fdopendir(fd);
    struct dirent *row;
    int failed = 0;

    if (!dir) {
        err_set(walk->err, "%.80s: %s", prefix, strerror(errno));
        close(fd);
        return -1;
    }
    while (!failed && (errno = 0, row = readdir(dir)))
        if (row->d_name[0] != '.')
            failed = walk_row(walk, fd, prefix, row->d_name, depth);
    if (!failed && errno)
        failed = err_set(walk->err, "%.80s: %s", prefix, strerror(errno));
    closedir(dir);
    return failed;
}

int confined_walk(int folder, const char *name, uint32_t most, confined_fn *fn, void *user, struct err *err)
{
    struct walk walk = {.most = most, .fn = fn, .user = user, .err = err};
    int fd = open_beneath(folder, name, O_RDONLY | O_DIRECTORY, 0, RESOLVE_NO_XDEV);

    return fd < 0 ? err_set(err, "%.80s: %s", name, strerror(errno)) : walk_folder(&walk, fd, name, 0);
}

enum confined_sort confined_failed(int error)
{
    static const int other[] = {EINVAL, ELOOP, ENOTDIR, EISDIR, ENAMETOOLONG, EXDEV, EACCES, ENXIO, ENODEV};

    if (error == ENOENT)
        return CONFINED_ABSENT;
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (error == other[i])
            return CONFINED_OTHER;
    return CONFINED_FAILED;
}

enum confined_sort confined_look(int folder, const char *name)
{
    int fd = path_is_good(name, strlen(name), PATH_MAX / 2) ? open_beneath(folder, name, O_PATH, 0, RESOLVE_NO_XDEV)
                                                            : (errno = EINVAL, -1);
    struct stat stat;
    int failed;

    if (fd < 0)
        return confined_failed(errno);
    failed = fstat(fd, &stat);
    close(fd);
    return failed                  ? CONFINED_FAILED
           : S_ISREG(stat.st_mode) ? CONFINED_FILE
           : S_ISDIR(stat.st_mode) ? CONFINED_FOLDER
                                   : CONFINED_OTHER;
}

/* ------------------------------------------------------------------------------------------------------------ removing */

/* Opens a folder that its owner has shut, by a path that no link can change: chmod would follow one. */
static int open_shut(int parent, const char *name)
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

static DIR *dir_open(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir;

    if (fd < 0 && errno == EACCES)
        fd = open_shut(parent, name);
    if (fd < 0)
        return NULL;
    fchmod(fd, 0700); /* nothing leaves a folder that cannot be written to */
    dir = fdopendir(fd);
    if (!dir)
        close(fd);
    return dir;
}

static bool is_over(const struct confined_end *end)
{
    return end && end->is_over(end->user);
}

/* Empties a folder: files are removed, and folders moved up to the top under a free name, so that no depth is too deep. True: something has
 * changed. */
static bool level_empty(int top, const char *name, uint64_t *next, const struct confined_end *end)
{
    DIR *dir = dir_open(top, name);
    struct dirent *row;
    bool changed = false;
    char fresh[32];

    while (dir && !is_over(end) && (row = readdir(dir))) {
        int moved, shut;

        if (is_dots(row->d_name))
            continue;
        if (unlinkat(dirfd(dir), row->d_name, 0) == 0) {
            changed = true;
            continue;
        }
        shut = open_shut(dirfd(dir), row->d_name); /* one that cannot be written to cannot be moved either */
        if (shut >= 0)
            close(shut);
        do {
            snprintf(fresh, sizeof fresh, "..%llu", (unsigned long long)++*next);
            moved = renameat(dirfd(dir), row->d_name, top, fresh);
        } while (moved < 0 && (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR));
        changed |= moved == 0;
    }
    if (dir)
        closedir(dir);
    return unlinkat(top, name, AT_REMOVEDIR) == 0 || changed;
}

/* Empties a folder, and looks at it again as long as folders come up from below. */
static void folder_empty(DIR *dir, const struct confined_end *end)
{
    uint64_t next = 0;
    struct dirent *row;
    bool changed;

    do {
        changed = false;
        rewinddir(dir);
        while (!is_over(end) && (row = readdir(dir)))
            if (!is_dots(row->d_name))
                changed |=
                    unlinkat(dirfd(dir), row->d_name, 0) == 0 || level_empty(dirfd(dir), row->d_name, &next, end);
    } while (changed && !is_over(end));
}

int confined_remove(int folder, const char *name, struct err *err)
{
    return confined_remove_until(folder, name, NULL, err);
}

int confined_remove_until(int folder, const char *name, const struct confined_end *end, struct err *err)
{
    const char *last = name;
    int parent = folder == AT_FDCWD ? AT_FDCWD : confined_parent(folder, name, false, &last), failed = 0;
    DIR *dir;

    if (parent == -1)
        return errno == ENOENT ? 0 : err_set(err, "%s: %s", name, strerror(errno));
    if (unlinkat(parent, last, 0) < 0 && errno != ENOENT) {
        dir = dir_open(parent, last);
        if (dir) {
            folder_empty(dir, end);
            closedir(dir);
        }
        if (unlinkat(parent, last, AT_REMOVEDIR) < 0 && errno != ENOENT)
            failed = err_set(err, "%s: %s", name, strerror(errno));
    }
    if (parent != AT_FDCWD)
        close(parent);
    return failed;
}
