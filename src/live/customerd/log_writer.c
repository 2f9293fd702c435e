/* log_writer.c: appends to logs with the rights of one user. */
#define _GNU_SOURCE /* memmem */
#include "live/customerd/log_writer.h"

#include "lang/base/mem.h"
#include "live/customerd/event_log.h"
#include "live/customerd/user_account.h"
#include "live/customerd/user_writer.h"
#include "sys/confined_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ORDERS STDIN_FILENO
#define LOG_MODE 0664

/* ---------------------------------------------------------------------------------------------------------- the orders */

size_t log_order_add(struct buf *orders, const char *folder, const char *name, const char *owner, bool looks)
{
    struct log_order order = {.folder_len = (uint32_t)strlen(folder),
                              .name_len = (uint32_t)strlen(name),
                              .owner_len = (uint32_t)strlen(owner),
                              .looks = looks};
    size_t place = orders->len;

    buf_add(orders, (const char *)&order, sizeof order);
    buf_add(orders, folder, order.folder_len + 1);
    buf_add(orders, name, order.name_len + 1);
    buf_add(orders, owner, order.owner_len + 1);
    return place;
}

void log_order_text(struct buf *orders, size_t place, const char *text, size_t len)
{
    struct log_order order;

    buf_add(orders, text, len);
    memcpy(&order, orders->text + place, sizeof order);
    order.text_len += (uint32_t)len;
    memcpy(orders->text + place, &order, sizeof order);
}

/* ------------------------------------------------------------------------------------------------------------ one text */

/* Makes the folders on the way to a file beneath the folder; that one must be there. */
static int folders_make(const char *folder, const char *name)
{
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), parent;
    const char *last;

    if (at < 0)
        return -1;
    parent = confined_parent(at, name, true, &last);
    if (parent >= 0 && parent != at)
        close(parent);
    close(at);
    return parent < 0 ? -1 : 0;
}

static int log_open(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, fd;
    struct stat info;

    if (snprintf(path, sizeof path, "%s%s%s", *name == '/' ? "" : folder, *name == '/' ? "" : "/", name) >=
        (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = open(path, flags, LOG_MODE);
    if (fd < 0 && errno == ENOENT && confined_name_is_good(name, strlen(name)) && folders_make(folder, name) == 0)
        fd = open(path, flags, LOG_MODE);
    if (fd >= 0 && (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode))) { /* a pipe would keep us waiting */
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

/* The last bytes of the file; the caller frees them. */
static char *tail_read(int fd, size_t *ret_len)
{
    off_t size = lseek(fd, 0, SEEK_END);
    size_t want = size > (off_t)LOG_WRITER_LOOKS ? LOG_WRITER_LOOKS : size > 0 ? (size_t)size : 0;
    char *tail = mem_alloc(want + 1);
    ssize_t got = want ? pread(fd, tail, want, size - (off_t)want) : 0;

    *ret_len = got > 0 ? (size_t)got : 0;
    return tail;
}

/* Copies those events that are not in the tail. */
static void events_missing(const char *text, size_t len, const char *tail, size_t tail_len, struct buf *out)
{
    size_t end_len = strlen("\n" EVENT_LOG_END);

    while (len) {
        const char *end = memmem(text, len, "\n" EVENT_LOG_END, end_len);
        size_t one = end ? (size_t)(end - text) + end_len : len;

        if (!memmem(tail, tail_len, text, one))
            buf_add(out, text, one);
        text += one;
        len -= one;
    }
}

/* Writes all of it, or takes back what was written. */
static int text_write(int fd, const char *text, size_t len)
{
    ssize_t wrote = len ? write(fd, text, len) : 0;
    off_t end;
    struct stat info;
    int error;

    if (wrote == (ssize_t)len)
        return fdatasync(fd) < 0 && errno != EINVAL && errno != EROFS ? -1 : 0;
    error = wrote < 0 ? errno : ENOSPC;
    end = lseek(fd, 0, SEEK_CUR);
    if (wrote > 0 && fstat(fd, &info) == 0 && info.st_size == end && ftruncate(fd, end - wrote) < 0) {
        ; /* half an event stays; there is nothing more to be done about it */
    }
    errno = error;
    return -1;
}

int log_append(const char *folder, const char *name, const char *text, size_t len, bool looks)
{
    int fd = log_open(folder, name), failed, error;
    struct buf missing;
    size_t tail_len;
    char *tail;

    if (fd < 0)
        return -1;
    if (!looks) {
        failed = text_write(fd, text, len);
    } else {
        buf_init(&missing);
        tail = tail_read(fd, &tail_len);
        events_missing(text, len, tail, tail_len, &missing);
        failed = text_write(fd, missing.text, missing.len);
        error = errno;
        free(tail);
        buf_done(&missing);
        errno = error;
    }
    error = errno;
    close(fd);
    errno = error;
    return failed;
}

/* ---------------------------------------------------------------------------------------------------------- the writer */

/* Carries out the order at that place, and notes what became of it. Returns the place of the next; 0: the orders are not whole. */
static size_t order_do(const char *all, size_t len, size_t place, const char *account)
{
    struct log_order order;
    const char *folder, *name, *owner, *text;
    size_t strings;
    bool owns;

    if (len - place < sizeof order)
        return 0;
    memcpy(&order, all + place, sizeof order);
    folder = all + place + sizeof order;
    strings = (size_t)order.folder_len + order.name_len + order.owner_len + 3;
    if (len - place - sizeof order < strings || len - place - sizeof order - strings < order.text_len)
        return 0;
    name = folder + order.folder_len + 1;
    owner = name + order.name_len + 1;
    text = owner + order.owner_len + 1;
    if (folder[order.folder_len] || name[order.name_len] || owner[order.owner_len])
        return 0;
    owns = !*account || user_account_owns(account, owner);
    order.state =
        owns && log_append(folder, name, text, order.text_len, order.looks != 0) == 0 ? LOG_WRITTEN : LOG_FAILED;
    order.error = order.state == LOG_WRITTEN ? 0 : owns ? errno : USER_WRITER_ANOTHER;
    if (pwrite(ORDERS, &order, sizeof order, (off_t)place) != (ssize_t)sizeof order)
        return 0;
    return place + sizeof order + strings + order.text_len;
}

int log_writer_main(const char *who)
{
    char account[TEXT_MAX + 1] = "";
    size_t len, place = 0;
    struct stat info;
    char *all;

    if (fstat(ORDERS, &info) < 0 || !S_ISREG(info.st_mode) || info.st_size <= 0 || info.st_size > (off_t)LOG_WRITER_MAX)
        return 1;
    if (strcmp(who, LOG_WRITER_SELF) != 0 && user_become((uint32_t)strtoull(who, NULL, 10), account) < 0)
        return 1;
    umask(022);
    len = (size_t)info.st_size;
    all = mem_alloc(len);
    if (pread(ORDERS, all, len, 0) != (ssize_t)len) {
        free(all);
        return 1;
    }
    while (place < len) {
        place = order_do(all, len, place, account);
        if (!place)
            break;
    }
    free(all);
    return place ? 0 : 1;
}
