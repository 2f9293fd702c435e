/* shell_socket.c: what an agent and a launcher say to each other about one further process in a job's sandbox. */
#define _GNU_SOURCE
#include "sys/shell_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

union beside {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(SHELL_STREAMS * sizeof(int))];
};

bool shell_send(int fd, const struct shell_head *head, const char *text, size_t len, const int *beside, int count)
{
    struct iovec parts[] = {{(void *)(uintptr_t)head, sizeof *head}, {(void *)(uintptr_t)text, len}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    union beside room;

    if (count > 0) {
        memset(&room, 0, sizeof room);
        room.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        room.head.cmsg_len = CMSG_LEN((size_t)count * sizeof *beside);
        memcpy(CMSG_DATA(&room.head), beside, (size_t)count * sizeof *beside);
        message.msg_control = &room;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof *beside);
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)(sizeof *head + len);
}

static void beside_take(struct msghdr *message, int ret[SHELL_STREAMS], int *ret_count)
{
    const struct cmsghdr *head = CMSG_FIRSTHDR(message);

    *ret_count = 0;
    if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS || head->cmsg_len < CMSG_LEN(0))
        return;
    *ret_count = (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof *ret); /* no more than there is room for */
    memcpy(ret, CMSG_DATA(head), (size_t)*ret_count * sizeof *ret);
}

int shell_receive(int fd, struct shell_head *ret, char *text, size_t room, size_t *ret_len,
                  int ret_beside[SHELL_STREAMS], int *ret_count)
{
    struct iovec parts[] = {{ret, sizeof *ret}, {text, room - 1}};
    union beside beside;
    struct msghdr message;
    ssize_t got;

    *ret_count = 0;
    do {
        message =
            (struct msghdr){.msg_iov = parts, .msg_iovlen = 2, .msg_control = &beside, .msg_controllen = sizeof beside};
        got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
    beside_take(&message, ret_beside, ret_count);
    if ((size_t)got < sizeof *ret || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        while (*ret_count)
            close(ret_beside[--*ret_count]);
        return -1;
    }
    *ret_len = (size_t)got - sizeof *ret;
    text[*ret_len] = '\0';
    return 1;
}
