/* user_writer.c: writes files with the rights of one user; and how it is given its orders. */
#define _GNU_SOURCE /* close_range */
#include "live/customerd/user_writer.h"

#include "live/customerd/away.h"
#include "live/customerd/user_account.h"
#include "sys/clock.h"
#include "sys/secrets.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES (1u << 20)
#define ORDERS STDIN_FILENO
#define PART_NAME_MAX 96

int write_order_send(int socket, const struct write_order *order, int file)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.room = {0}};
    struct iovec bytes = {.iov_base = (void *)(uintptr_t)order, .iov_len = sizeof *order};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};

    control.head =
        (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &file, sizeof file);
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof *order ? 0 : -1;
}

/* Reads the next order, and the file that comes with it. False: there are no more. */
static bool order_read(struct write_order *ret, int *ret_file)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.room = {0}};
    struct iovec bytes = {.iov_base = ret, .iov_len = sizeof *ret};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    const struct cmsghdr *first;

    if (recvmsg(ORDERS, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *ret)
        return false;
    first = CMSG_FIRSTHDR(&message);
    if (!first || first->cmsg_level != SOL_SOCKET || first->cmsg_type != SCM_RIGHTS)
        return false;
    memcpy(ret_file, CMSG_DATA(first), sizeof *ret_file);
    ret->hash[HASH_DIGITS] = ret->name[CONFINED_NAME_MAX] = ret->folder[USER_FOLDER_MAX - 1] = '\0';
    ret->owner[TEXT_MAX] = '\0';
    return true;
}

static void answer_send(enum write_state state, int error, bool beside)
{
    struct write_answer answer = {.state = state, .error = error, .beside = beside};

    if (send(ORDERS, &answer, sizeof answer, MSG_NOSIGNAL) < 0)
        _exit(1); /* nobody wants to know any more */
}

/* -1 and errno. */
static int bytes_copy(int from, int to)
{
    static char room[COPY_BYTES];
    int64_t told = clock_now();
    ssize_t got;

    while ((got = read(from, room, sizeof room)) > 0) {
        for (ssize_t at = 0, wrote; at < got; at += wrote) {
            wrote = write(to, room + at, (size_t)(got - at));
            if (wrote < 0)
                return -1;
        }
        if (clock_now() - told > USER_WRITER_BUSY_S * INT64_C(1000000) / 2) {
            answer_send(WRITE_BUSY, 0, false);
            told = clock_now();
        }
    }
    return got < 0 ? -1 : fsync(to);
}

/* The name under which a file comes. It is the same at the next try, which so replaces what a writer that was killed has left; and another for each job
 * of each customer and each file. */
static void part_name(const struct write_order *order, char ret[PART_NAME_MAX])
{
    char text[CONFINED_NAME_MAX + 32], digits[HASH_DIGITS + 1];
    int len = snprintf(text, sizeof text, "%016llx/%s", (unsigned long long)order->customer, order->name);

    hash_bytes(text, (size_t)len, digits);
    snprintf(ret, PART_NAME_MAX, ".berth-%llu-%.16s.part", (unsigned long long)order->job, digits);
}

/* Makes the file under that name. Where the name is taken by what this user cannot remove, as in a folder for everybody, it gets a name that nobody
 * has foreseen. */
static int part_create(int iwd, char part[PART_NAME_MAX])
{
    struct err err = {0};
    int fd = confined_create(iwd, part, 0600, &err);
    size_t len = strlen(part) - strlen(".part");

    if (fd >= 0 || (errno != EEXIST && errno != EISDIR))
        return fd;
    snprintf(part + len, PART_NAME_MAX - len, "-%016llx.part", (unsigned long long)secrets_word(&secrets_live));
    return confined_create(iwd, part, 0600, &err);
}

/* Is the file of that name still the one that we have written? Others may write in the folder, too. */
static bool part_is_ours(int iwd, const char *part, int fd)
{
    struct stat ours, there;

    if (fstat(fd, &ours) < 0 || fstatat(iwd, part, &there, AT_SYMLINK_NOFOLLOW) < 0 || ours.st_ino != there.st_ino ||
        ours.st_dev != there.st_dev) {
        errno = EAGAIN;
        return false;
    }
    return true;
}

/* Copies the file into the folder under a name of our own, then moves it to its place there. -1 and errno. */
static int order_do(const struct write_order *order, int file, bool *ret_beside)
{
    struct away away = {.job = order->job,
                        .name = order->name,
                        .permit = (enum permit)order->permit,
                        .before = order->before,
                        .before_beside = order->before_beside,
                        .size = order->size,
                        .hash = order->hash};
    int iwd = open(order->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd, failed, error;
    char part[PART_NAME_MAX];

    if (iwd < 0)
        return -1;
    part_name(order, part);
    fd = part_create(iwd, part);
    failed = fd < 0 ? -1 : bytes_copy(file, fd);
    if (!failed)
        failed = fchmod(fd, order->mode & 0777);
    if (!failed)
        failed = part_is_ours(iwd, part, fd) ? away_put(iwd, part, iwd, &away, ret_beside) : -1;
    error = errno;
    if (failed && fd >= 0 && part_is_ours(iwd, part, fd))
        unlinkat(iwd, part, 0);
    if (fd >= 0)
        close(fd);
    close(iwd);
    errno = error;
    return failed;
}

int user_writer_main(uint32_t uid)
{
    struct write_order order;
    struct stat info;
    char account[TEXT_MAX + 1];
    int file;

    if (fstat(ORDERS, &info) < 0 || !S_ISSOCK(info.st_mode) || user_become(uid, account) < 0)
        return 1;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    umask(022);
    if (chdir("/") < 0)
        return 1;
    while (order_read(&order, &file)) {
        bool beside = false;
        bool owns = user_account_owns(account, order.owner);
        int failed = owns ? order_do(&order, file, &beside) : -1;

        answer_send(failed ? WRITE_FAILED : WRITE_DONE, !owns ? USER_WRITER_ANOTHER : failed ? errno : 0, beside);
        close(file);
    }
    return 0;
}
