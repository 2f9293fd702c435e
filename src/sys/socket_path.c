/* socket_path.c: the address of a Unix socket, whatever the length of its path. */
#define _GNU_SOURCE /* O_PATH */
#include "sys/socket_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define THROUGH "/proc/self/fd/%d/%s"
#define THROUGH_MAX (sizeof "/proc/self/fd//" + 10) /* bytes of it without the name */

int socket_path_open(struct socket_path *path, const char *text)
{
    const char *slash = strrchr(text, '/');
    char folder[SOCKET_PATH_MAX + 1];
    size_t len = strlen(text);

    *path = (struct socket_path){.name = {.sun_family = AF_UNIX}, .folder = -1};
    if (len < sizeof path->name.sun_path) {
        memcpy(path->name.sun_path, text, len + 1);
        return 0;
    }
    if (!slash || len > SOCKET_PATH_MAX || strlen(slash + 1) + THROUGH_MAX > sizeof path->name.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - text), text);
    path->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (path->folder < 0)
        return -1;
    snprintf(path->name.sun_path, sizeof path->name.sun_path, THROUGH, path->folder, slash + 1);
    return 0;
}

void socket_path_close(struct socket_path *path)
{
    if (path->folder >= 0)
        close(path->folder);
    path->folder = -1;
}
