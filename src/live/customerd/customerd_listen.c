/* customerd_listen.c: where users find the customer: its own socket, and that of the machine's users. */
#include "live/customerd/customerd_parts.h"

#include "sys/unix_users.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define REPLY_SPAN (60 * SECOND)

/* Makes the folder of the socket for all users, if only that is missing: they must be able to get there, and nobody else may put anything there. */
static int submit_folder(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];

    if (!slash || slash == path || slash - path >= PATH_MAX)
        return 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    if (mkdir(folder, 0755) < 0)
        return errno == EEXIST ? 0 : err_set(err, "SubmitSocket: %s: %s", folder, strerror(errno));
    return chmod(folder, 0755) < 0 ? err_set(err, "SubmitSocket: %s: %s", folder, strerror(errno)) : 0;
}

/* The socket for all users of this machine whom the customer serves. */
static int submit_start(struct customerd *customerd, const struct server_limits *limits,
                        const struct server_handler *handler, struct err *err)
{
    const char *path = config_text(&customerd->daemon.config, CONFIG_SUBMIT_SOCKET), *const * groups;
    char address[PATH_MAX + 32];
    size_t count;

    groups = config_list(&customerd->daemon.config, CONFIG_SUBMIT_FOR, &count);
    if (!count)
        return 0;
    if (submit_folder(path, err) < 0)
        return -1;
    customerd->users = unix_users_new(groups, count);
    snprintf(address, sizeof address, "unix:%s", path);
    customerd->submit = server_new(&customerd->daemon.loop, address, NULL, NULL, limits, handler, err);
    return customerd->submit ? 0 : -1;
}

int customerd_listen(struct customerd *customerd, struct front *front, struct err *err)
{
    struct server_limits limits = {.head = config_span(&customerd->daemon.config, CONFIG_HEAD_DEADLINE),
                                   .body = config_span(&customerd->daemon.config, CONFIG_BODY_DEADLINE),
                                   .reply = REPLY_SPAN,
                                   .connections =
                                       (uint32_t)config_count(&customerd->daemon.config, CONFIG_CONNECTIONS)};
    struct server_handler handler = front_handler;
    char address[PATH_MAX + 32];

    handler.user = front;
    snprintf(address, sizeof address, "unix:%s/" CUSTOMERD_SOCKET, customerd->daemon.folder);
    customerd->server = server_new(&customerd->daemon.loop, address, NULL, NULL, &limits, &handler, err);
    return customerd->server ? submit_start(customerd, &limits, &handler, err) : -1;
}

void customerd_serve_by(struct customerd *customerd, struct front *front)
{
    server_set_user(customerd->server, front);
    if (customerd->submit)
        server_set_user(customerd->submit, front);
}
