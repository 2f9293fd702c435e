/* socket_path.h: the address of a Unix socket, whatever the length of its path.
 *
 * The kernel takes 107 bytes of path. A state folder beneath a long HOME has sockets that are further down than that; such a socket is reached
 * through its folder, which is opened first: /proc/self/fd/N/NAME. */
#ifndef BERTH_SYS_SOCKET_PATH_H
#define BERTH_SYS_SOCKET_PATH_H

#include <sys/socket.h>
#include <sys/un.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOCKET_PATH_MAX 1023 /* bytes of a path that people may give */

struct socket_path {
    struct sockaddr_un name; /* as bind and connect take it */
    int folder;              /* held while the name is used; -1: the path is short enough */
};

/* Makes the address of that path, which begins with '/'. -1 with errno when its folder cannot be opened, or the path is too long all the same. */
int socket_path_open(struct socket_path *path, const char *text);
void socket_path_close(struct socket_path *path); /* also after a failure, and twice */

#ifdef __cplusplus
}
#endif
#endif
