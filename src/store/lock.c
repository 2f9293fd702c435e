/* lock.c: one process at a time: the lock on FILE.lock.
 *
 * Two locks on one file. flock() is what keeps others out, also within one process, and it falls with the descriptor however the
 * process ends. The other one, of fcntl(), keeps nobody out: of it the system can tell which process has it. The store's own file
 * is not locked in this way: closing any descriptor of it would drop the locks that SQLite holds there. */
#define _GNU_SOURCE /* locks that are a descriptor's, not a process's */
#include "store/store_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ORPHAN_LOOKS 100           /* at a lock that no process has ... */
#define HOLD_AT (INT64_C(1) << 62) /* far from where SQLite has its own locks */
#define LOCK_MARK "there is a store\n"
#define ORPHAN_SPAN 10 /* ... each after so many milliseconds */

static char *lock_path(const char *path)
{
    struct buf name;

    buf_init(&name);
    buf_addf(&name, "%s.lock", path);
    (void)buf_string(&name);
    return name.text;
}

static int lock_open(const char *path, int flags, struct err *err)
{
    char *name = lock_path(path);
    int fd = open(name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0 && errno == ENOENT && !(flags & O_CREAT))
        fd = LOCK_NONE;
    else if (fd < 0)
        err_set(err, "%s: %s", name, strerror(errno));
    free(name);
    return fd;
}

/* Is the lock held only by the child of a process that was killed just after a fork? flock() is inherited, and the child lets go of it in a
 * moment, when it becomes another program. The other lock is not inherited. (Our own is not told of either: then this waits in vain.) */
static bool lock_is_orphan(int fd)
{
    struct flock who = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(fd, F_GETLK, &who) == 0 && who.l_type == F_UNLCK;
}

/* Tries to take the lock. Only those who want to keep it wait: those who just look are told at once that it is held. */
static int lock_try(int fd, int kind)
{
    struct timespec moment = {0, ORPHAN_SPAN * 1000000};
    int looks = 0;

    while (flock(fd, kind | LOCK_NB) < 0) {
        int failed = errno;

        if (failed != EWOULDBLOCK || kind != LOCK_EX || looks++ == ORPHAN_LOOKS || !lock_is_orphan(fd)) {
            errno = failed;
            return -1;
        }
        nanosleep(&moment, NULL);
    }
    return 0;
}

static int lock_get(int fd, int kind, short mark, const char *path, struct err *err)
{
    struct flock who = {.l_type = mark, .l_whence = SEEK_SET};

    if (fd < 0)
        return fd;
    if (lock_try(fd, kind) < 0) {
        int failed = errno;

        close(fd);
        return failed == EWOULDBLOCK ? LOCK_HELD : err_set(err, "%s.lock: %s", path, strerror(failed));
    }
    (void)fcntl(fd, F_SETLK, &who); /* without it others are told less */
    return fd;
}

int lock_take(const char *path, struct err *err)
{
    return lock_get(lock_open(path, O_RDWR | O_CREAT, err), LOCK_EX, F_WRLCK, path, err);
}

int lock_look(const char *path, struct err *err)
{
    return lock_get(lock_open(path, O_RDONLY, err), LOCK_SH, F_RDLCK, path, err);
}

int lock_hold(const char *path, struct err *err)
{
    struct flock hold = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = HOLD_AT, .l_len = 1};
    struct timespec moment = {0, ORPHAN_SPAN * 1000000};
    int fd = open(path, O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return err_set(err, "%s: %s", path, strerror(errno));
    for (int looks = 0; fcntl(fd, F_OFD_SETLK, &hold) < 0; looks++) {
        if ((errno != EAGAIN && errno != EACCES) || looks == ORPHAN_LOOKS) {
            int failed = errno;

            close(fd);
            if (failed == EAGAIN || failed == EACCES)
                return LOCK_HELD;
            return err_set(err, "%s: cannot be locked: %s", path, strerror(failed));
        }
        nanosleep(&moment, NULL);
    }
    return fd;
}

void lock_mark(int lock)
{
    struct stat status;

    if (fstat(lock, &status) == 0 && status.st_size == 0 && pwrite(lock, LOCK_MARK, strlen(LOCK_MARK), 0) > 0)
        (void)fsync(lock); /* without it one that is emptied before the machine stops is taken for new */
}

bool lock_is_marked(const char *path)
{
    char *name = lock_path(path);
    struct stat status;
    bool marked = stat(name, &status) == 0 && status.st_size > 0;

    free(name);
    return marked;
}

void lock_holder(const char *path, struct buf *out)
{
    struct flock who = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = lock_open(path, O_RDONLY, NULL);

    if (fd >= 0 && fcntl(fd, F_GETLK, &who) == 0 && who.l_type != F_UNLCK && who.l_pid > 0)
        buf_addf(out, "process %ld", (long)who.l_pid);
    else
        buf_adds(out, "another process, or by this one");
    if (fd >= 0)
        close(fd);
}

int lock_refuse(const char *path, struct err *err)
{
    struct buf holder;

    buf_init(&holder);
    lock_holder(path, &holder);
    err_set(err, "%s: is in use by %s", path, buf_string(&holder));
    buf_done(&holder);
    return -1;
}
