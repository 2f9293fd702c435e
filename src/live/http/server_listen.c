/* server_listen.c: the listening socket of an address. */
#include "live/http/server_parts.h"

#include "sys/socket_path.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 1024
#define UNIX_PREFIX "unix:"

static int socket_open(int family, struct err *err)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    return fd < 0 ? err_set(err, "socket: %s", strerror(errno)) : fd;
}

/* -------------------------------------------------------------------------------------------------------- Unix sockets */

/* Removes a socket file that no process listens on any more. */
static int stale_remove(const char *path, const struct sockaddr_un *name, struct err *err)
{
    struct stat st;
    int fd, result;

    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : err_set(err, "%s", strerror(errno));
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, "it is there and not a socket");
    fd = socket_open(AF_UNIX, err);
    if (fd < 0)
        return -1;
    result = connect(fd, (const struct sockaddr *)name, sizeof *name);
    /* EAGAIN: its queue is full, so a process listens */
    if (result < 0 && errno == ECONNREFUSED)
        result = unlink(path) < 0 && errno != ENOENT ? err_set(err, "%s", strerror(errno)) : 0;
    else
        result = err_set(err, "another process listens on it");
    close(fd);
    return result;
}

static int unix_bind(struct server *server, const char *address, struct err *err)
{
    const char *path = address + strlen(UNIX_PREFIX);
    struct socket_path name;
    struct stat st;
    int fd;

    if (path[0] != '/')
        return err_set(err, "the path has to begin with '/'");
    if (socket_path_open(&name, path) < 0)
        return err_set(err, "%s", strerror(errno));
    fd = stale_remove(path, &name.name, err) < 0 ? -1 : socket_open(AF_UNIX, err);
    if (fd >= 0 && (bind(fd, (const struct sockaddr *)&name.name, sizeof name.name) < 0 || chmod(path, 0666) < 0 ||
                    lstat(path, &st) < 0)) {
        err_set(err, "%s", strerror(errno));
        close(fd);
        fd = -1;
    }
    socket_path_close(&name);
    if (fd < 0)
        return -1;
    server->is_unix = true;
    server->socket_path = mem_dup(path, strlen(path));
    server->socket_device = (uint64_t)st.st_dev;
    server->socket_inode = (uint64_t)st.st_ino;
    server->address = mem_dup(address, strlen(address));
    return fd;
}

void server_unlink(struct server *server)
{
    struct stat st;

    if (server->socket_path && lstat(server->socket_path, &st) == 0 && (uint64_t)st.st_dev == server->socket_device &&
        (uint64_t)st.st_ino == server->socket_inode) /* not if another server has taken its place */
        unlink(server->socket_path);
    free(server->socket_path);
    server->socket_path = NULL;
}

/* ----------------------------------------------------------------------------------------------------------------- TCP */

/* "HOST:PORT" or "[HOST]:PORT" into an address; only numbers, and of names `localhost` alone: what it is does not depend on who resolves it. */
static int ip_read(const char *text, struct sockaddr_storage *ret, struct err *err)
{
    const char *colon = strrchr(text, ':');
    char host[INET6_ADDRSTRLEN + 20], *end;
    size_t len;
    long port;
    bool is_v6 = text[0] == '[';

    if (!colon || colon == text || (is_v6 && colon[-1] != ']'))
        return err_set(err, "expected ADDRESS:PORT, [ADDRESS]:PORT or unix:/PATH");
    len = (size_t)(colon - text) - (is_v6 ? 2 : 0);
    port = strtol(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end || port > 65535)
        return err_set(err, "'%s' is not a port", colon + 1);
    if (len >= sizeof host)
        return err_set(err, "the address is too long");
    memcpy(host, text + is_v6, len);
    host[len] = '\0';
    if (!is_v6 && !strcasecmp(host, "localhost"))
        strcpy(host, "127.0.0.1");
    if (is_v6 ? uv_ip6_addr(host, (int)port, (struct sockaddr_in6 *)ret)
              : uv_ip4_addr(host, (int)port, (struct sockaddr_in *)ret))
        return err_set(err, "'%s' is not an address of this machine: an IP address, or localhost, is", host);
    return 0;
}

static char *ip_print(const struct sockaddr_storage *name)
{
    char host[INET6_ADDRSTRLEN] = "";
    struct buf out;
    char *text;

    buf_init(&out);
    if (name->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)name;
        uv_ip6_name(in6, host, sizeof host);
        buf_addf(&out, "[%s]:%u", host, ntohs(in6->sin6_port));
    } else {
        const struct sockaddr_in *in = (const struct sockaddr_in *)name;
        uv_ip4_name(in, host, sizeof host);
        buf_addf(&out, "%s:%u", host, ntohs(in->sin_port));
    }
    text = mem_dup(out.text, out.len);
    buf_done(&out);
    return text;
}

/* Is it [::], which people write for all addresses of the machine, IPv4 as well? */
static bool is_any6(const struct sockaddr_storage *name)
{
    return name->ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)name)->sin6_addr);
}

static int ip_bind(struct server *server, const char *address, struct err *err)
{
    struct sockaddr_storage name = {0};
    socklen_t len;
    int fd, on = 1, alone;

    if (ip_read(address, &name, err) < 0)
        return -1;
    fd = socket_open(name.ss_family, err);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (name.ss_family == AF_INET6) {
        alone = server->limits.ipv6_alone || !is_any6(&name);
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &alone, sizeof alone);
    }
    len = name.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (bind(fd, (const struct sockaddr *)&name, len) < 0 || getsockname(fd, (struct sockaddr *)&name, &len) < 0) {
        err_set(err, "%s", errno == EADDRINUSE ? "the port is in use by another program" : strerror(errno));
        close(fd);
        return -1;
    }
    server->address = ip_print(&name);
    return fd;
}

int server_listen(struct server *server, const char *address, int *ret_fd, struct err *err)
{
    bool is_unix = strncmp(address, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0;
    int fd = is_unix ? unix_bind(server, address, err) : ip_bind(server, address, err);

    if (fd < 0)
        return err_context(err, "cannot listen on %s", address);
    if (listen(fd, BACKLOG) < 0) {
        err_set(err, "cannot listen on %s: %s", address, strerror(errno));
        close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}
