/* notify.c: datagrams to the service manager. */
#include "sys/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads a whole number above zero; 0 when the text is not one. */
static int64_t read_number(const char *text)
{
    char *end;
    long long number;

    if (!text || *text < '0' || *text > '9')
        return 0;
    errno = 0;
    number = strtoll(text, &end, 10);
    return *end || errno ? 0 : number;
}

/* Reads the socket's address: a path, or an abstract name, which is written with @ in the place of its first NUL. */
static int read_address(struct notify *notify, const char *socket_name, struct err *err)
{
    size_t len = strlen(socket_name);

    if ((*socket_name != '/' && *socket_name != '@') || len < 2)
        return err_set(err, "NOTIFY_SOCKET: expected a path or an abstract name, got '%.60s'", socket_name);
    if (len >= sizeof notify->to.sun_path)
        return err_set(err, "NOTIFY_SOCKET: '%.60s...' is too long for a socket", socket_name);
    notify->to.sun_family = AF_UNIX;
    memcpy(notify->to.sun_path, socket_name, len);
    if (*socket_name == '@')
        notify->to.sun_path[0] = '\0';
    notify->to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (*socket_name == '/'));
    return 0;
}

int notify_init(struct notify *notify, const char *socket_name, const char *watchdog_usec, const char *watchdog_pid,
                int64_t pid, struct err *err)
{
    *notify = (struct notify){.fd = -1};
    if (!socket_name || !*socket_name)
        return 0;
    if (read_address(notify, socket_name, err) < 0)
        return -1;
    notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (notify->fd < 0)
        return err_set(err, "NOTIFY_SOCKET: %s", strerror(errno));
    if (!watchdog_pid || !*watchdog_pid || read_number(watchdog_pid) == pid)
        notify->watchdog = read_number(watchdog_usec) / 2;
    return 0;
}

void notify_done(struct notify *notify)
{
    if (!notify)
        return;
    if (notify->fd >= 0)
        close(notify->fd);
    notify->fd = -1;
}

static void notify_send(struct notify *notify, const char *text)
{
    ssize_t sent;

    if (notify->fd < 0)
        return;
    do
        sent = sendto(notify->fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&notify->to,
                      notify->to_len);
    while (sent < 0 && errno == EINTR);
    if (sent < 0)
        notify->missed++;
    else
        notify->sent++;
}

/* Sends an assignment and the status behind it. A line end within the status would begin another assignment, so it is replaced. */
static void notify_send_with(struct notify *notify, const char *assignment, const char *status)
{
    char text[NOTIFY_TEXT_MAX + 32]; /* a status, and the words before it */
    size_t at = strlen(assignment);

    snprintf(text, sizeof text, "%s%s%s%s", assignment, at && status ? "\n" : "", status ? "STATUS=" : "",
             status ? status : "");
    for (char *c = text + at + (at && status); *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    notify_send(notify, text);
}

void notify_ready(struct notify *notify, const char *status)
{
    notify_send_with(notify, "READY=1", status);
}

void notify_reloading(struct notify *notify, int64_t monotonic)
{
    char text[NOTIFY_TEXT_MAX];

    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, monotonic);
    notify_send(notify, text);
}

void notify_stopping(struct notify *notify, const char *status)
{
    notify_send_with(notify, "STOPPING=1", status);
}

void notify_status(struct notify *notify, const char *format, ...)
{
    char text[NOTIFY_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    notify_send_with(notify, "", text);
}

void notify_watchdog(struct notify *notify)
{
    notify_send(notify, "WATCHDOG=1");
}
