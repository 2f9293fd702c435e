/* private_file.c: files that only their owner may read. */
#include "sys/private_file.h"

#include "sys/encoding.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNFINISHED ".new" /* what the name of a file ends in while it is written */
#define NAME_BYTES_MAX 300

static int fail(struct err *err, const char *name, const char *what)
{
    return err_set(err, "%s: cannot %s: %s", name, what, strerror(errno));
}

int private_dir_open(const char *path, struct err *err)
{
    struct stat about;
    int dir;

    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return fail(err, path, "make the folder");
    dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return fail(err, path, "open the folder");
    if (fstat(dir, &about) < 0)
        fail(err, path, "look at the folder");
    else if (about.st_uid != geteuid())
        err_set(err, "%s: the folder belongs to another user", path);
    else if (about.st_mode & 077)
        err_set(err, "%s: others may enter the folder: say chmod 700", path);
    else
        return dir;
    close(dir);
    return -1;
}

void private_dir_sweep(int dir)
{
    int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    struct dirent *entry;

    if (!list) {
        if (again >= 0)
            close(again);
        return;
    }
    while ((entry = readdir(list))) {
        size_t len = strlen(entry->d_name), end = sizeof UNFINISHED - 1;

        if (len > end && strcmp(entry->d_name + len - end, UNFINISHED) == 0)
            unlinkat(dir, entry->d_name, 0);
    }
    closedir(list);
}

/* ---- reading ---- */

static int file_check(int fd, const char *name, size_t max, struct err *err)
{
    struct stat about;

    if (fstat(fd, &about) < 0)
        return fail(err, name, "look at it");
    if (!S_ISREG(about.st_mode))
        return err_set(err, "%s: not a regular file", name);
    if (about.st_uid != geteuid())
        return err_set(err, "%s: it belongs to another user", name);
    if (about.st_mode & 077)
        return err_set(err, "%s: others may read or write it: say chmod 600, and think of it as known", name);
    if (about.st_size < 0 || (uintmax_t)about.st_size > max)
        return err_set(err, "%s: too long: the limit is %zu bytes", name, max);
    return 0;
}

int private_read(int dir, const char *name, size_t max, struct buf *ret_text, struct err *err)
{
    /* a FIFO must not hold us up */
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    ssize_t got = 0;

    if (fd < 0)
        return errno == ENOENT  ? 0
               : errno == ELOOP ? err_set(err, "%s: a symbolic link is not followed", name)
                                : fail(err, name, "open it");
    if (file_check(fd, name, max, err) < 0) {
        close(fd);
        return -1;
    }
    buf_reserve(ret_text, max + 1); /* it never grows, so one place is to be wiped */
    while (ret_text->len <= max) {
        got = read(fd, ret_text->text + ret_text->len, max + 1 - ret_text->len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        ret_text->len += (size_t)got;
    }
    if (got < 0)
        fail(err, name, "read it");
    else if (ret_text->len > max)
        got = err_set(err, "%s: too long: the limit is %zu bytes", name, max);
    close(fd);
    return got < 0 ? -1 : 1;
}

/* ---- writing ---- */

static int write_all(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t put = write(fd, text, len);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        text += put;
        len -= (size_t)put;
    }
    return 0;
}

/* Flushes a folder itself, so that the new name in it is on disk. */
static int dir_flush(int dir)
{
    int fd = dir == AT_FDCWD ? open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : dir;
    int result = fd < 0 ? -1 : fsync(fd);

    if (fd >= 0 && fd != dir)
        close(fd);
    return result;
}

int private_write(int dir, const char *name, const char *text, size_t len, struct err *err)
{
    char unfinished[NAME_BYTES_MAX], digits[17];
    unsigned char chance[8];
    bool written;
    int fd;

    if (sodium_init() < 0)
        abort();
    randombytes_buf(chance, sizeof chance);
    hex_print(chance, sizeof chance, digits);
    if (snprintf(unfinished, sizeof unfinished, "%s.%s" UNFINISHED, name, digits) >= (int)sizeof unfinished)
        return err_set(err, "%s: the name is too long", name);
    fd = openat(dir, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(err, name, "make it");
    written = fchmod(fd, 0600) == 0 && write_all(fd, text, len) == 0 && fsync(fd) == 0;
    if (!written)
        fail(err, name, "write it");
    if (close(fd) < 0 && written) {
        written = false;
        fail(err, name, "write it");
    }
    if (written && renameat(dir, unfinished, dir, name) == 0)
        return dir_flush(dir) == 0 ? 0 : fail(err, name, "flush its folder");
    if (written)
        fail(err, name, "put it in its place");
    unlinkat(dir, unfinished, 0);
    return -1;
}
