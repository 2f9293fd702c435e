/* server_conns.c: connections: who may connect, how often, and how long a connection may take for what it does. * A
 * timeout of libmicrohttpd is about idleness: a connection that sends a byte every half second is never closed. So
 * every connection has a deadline for the whole of what it is doing, and a timer looks at all of them. */
#define _GNU_SOURCE /* POLLRDHUP, struct ucred */
#include "live/auth/libgnutls.h"
#include "live/http/server_parts.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const phase_words[PHASE_COUNT] = {
#define X(id, limit, words) [PHASE_##id] = (words),
    PHASES(X)
#undef X
};

static const struct sockaddr from_unix = {.sa_family = AF_UNIX};

/* ------------------------------------------------------------------------------------------------------------ counting */

/* An address as a key. False for a Unix socket: its peers are users, and known as such. An IPv6 host commonly has a whole /64 to itself, so a /64
 * counts as one address; but link-local addresses all share the prefix. */
static bool stranger_key(const struct sockaddr *from, uint64_t *ret)
{
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)from;
    uint32_t v4;

    if (from->sa_family == AF_INET) {
        *ret = UINT64_C(0xffff) << 32 | ((const struct sockaddr_in *)from)->sin_addr.s_addr;
        return true;
    }
    if (from->sa_family != AF_INET6)
        return false;
    if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
        memcpy(&v4, &in6->sin6_addr.s6_addr[12], sizeof v4);
        *ret = UINT64_C(0xffff) << 32 | v4;
    } else {
        memcpy(ret, &in6->sin6_addr.s6_addr[IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) ? 8 : 0], sizeof *ret);
    }
    return true;
}

enum MHD_Result conns_admit(void *user, const struct sockaddr *from, socklen_t len)
{
    struct server *server = user;
    uint64_t key, count;

    (void)len; /* for a named Unix socket it is larger than what is there */
    if (server->is_unix)
        from = &from_unix;
    if (server->conn_count >= server->limits.connections) {
        server_refused(server, "too many connections", from);
        return MHD_NO;
    }
    if (!stranger_key(from, &key))
        return MHD_YES;
    count = map_find(&server->strangers, key);
    if (count != MAP_NONE && count >= server->limits.strangers) {
        server_refused(server, "too many connections of strangers from one address", from);
        return MHD_NO;
    }
    return MHD_YES;
}

/* The key of a local user. False for root and for the server's own user: they can do worse anyway. */
static bool user_key(const struct conn *conn, uint64_t *ret)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    if (getsockopt(conn->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        peer.uid = (uid_t)-1;
    *ret = peer.uid;
    return peer.uid != 0 && peer.uid != geteuid();
}

/* Counts the connection; returns how many of its address or user there are, with it. */
static uint64_t conn_count(struct conn *conn)
{
    struct server *server = conn->server;
    uint64_t count;

    if (!(server->is_unix ? user_key(conn, &conn->stranger) : stranger_key(conn->from, &conn->stranger)))
        return 0;
    conn->counts = true;
    count = map_find(&server->strangers, conn->stranger);
    count = count == MAP_NONE ? 1 : count + 1;
    map_set(&server->strangers, conn->stranger, count);
    conn->stranger_prev = server->stranger_last;
    *(server->stranger_last ? &server->stranger_last->stranger_next : &server->stranger_first) = conn;
    server->stranger_last = conn;
    server->stranger_count++;
    return count;
}

static void conn_uncount(struct conn *conn)
{
    struct server *server = conn->server;
    uint64_t count;

    if (!conn->counts)
        return;
    conn->counts = false;
    count = map_find(&server->strangers, conn->stranger);
    if (count == 1)
        map_remove(&server->strangers, conn->stranger);
    else
        map_set(&server->strangers, conn->stranger, count - 1);
    *(conn->stranger_prev ? &conn->stranger_prev->stranger_next : &server->stranger_first) = conn->stranger_next;
    *(conn->stranger_next ? &conn->stranger_next->stranger_prev : &server->stranger_last) = conn->stranger_prev;
    conn->stranger_prev = conn->stranger_next = NULL;
    server->stranger_count--;
}

/* On a Unix socket the user was known from the beginning, and the connection counts for that user as long as it
 * lasts. */
void conn_known(struct conn *conn)
{
    if (!conn->server->is_unix)
        conn_uncount(conn);
}

static void conn_refuse(struct conn *conn, const char *why)
{
    server_refused(conn->server, why, conn->from);
    conn_uncount(conn);
    conn_cut(conn);
}

/* Closes the oldest stranger, not the newest: an honest caller is known a moment after it connects, so many strangers
 * from many addresses do not keep others out. */
static void stranger_make_room(struct server *server, const char *why)
{
    if (server->stranger_first && !server->is_unix)
        conn_refuse(server->stranger_first, why);
}

/* A new connection is there: may it stay, and must another one go? */
static void conn_settle_in(struct conn *conn)
{
    struct server *server = conn->server;
    uint64_t count = conn_count(conn);

    if (server->is_unix && count > server->limits.users)
        conn_refuse(conn, "too many connections of one user");
    else if (conn->fd >= server->fd_end)
        conn_refuse(conn, "descriptors are used up");
    else if (conn->fd >= server->fd_most)
        stranger_make_room(server, "descriptors are used up");
    else if (!server->is_unix && server->stranger_count > server->limits.all_strangers)
        stranger_make_room(server, "too many connections of strangers");
}

/* ------------------------------------------------------------------------------------------------------ coming and going */

static struct conn *conn_new(struct server *server, struct MHD_Connection *mhd)
{
    struct conn *conn = mem_alloc(sizeof *conn);
    int size = (int)server->limits.send_buffer;

    memset(conn, 0, sizeof *conn);
    conn->server = server;
    conn->mhd = mhd;
    conn->fd = libmicrohttpd()->get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    conn->from = server->is_unix
                     ? &from_unix
                     : libmicrohttpd()->get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
    /* or a client that never reads would hold 4 MB of the kernel's memory */
    setsockopt(conn->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    conn->next = server->conns;
    if (conn->next)
        conn->next->prev = conn;
    server->conns = conn;
    server->conn_count++;
    conn_enter(conn, PHASE_HEAD);
    conn_settle_in(conn);
    return conn;
}

static void conn_free(struct conn *conn)
{
    struct server *server = conn->server;

    conn_uncount(conn);
    if (conn->prev)
        conn->prev->next = conn->next;
    else
        server->conns = conn->next;
    if (conn->next)
        conn->next->prev = conn->prev;
    server->conn_count--;
    free(conn);
}

void conns_notify(void *user, struct MHD_Connection *mhd, void **socket_context,
                  enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = conn_new(user, mhd);
    } else if (*socket_context) {
        conn_free(*socket_context);
        *socket_context = NULL;
    }
}

/* ----------------------------------------------------------------------------------------------------------- deadlines */

void conn_cut(struct conn *conn)
{
    if (conn->is_cut)
        return;
    conn->is_cut = true;
    shutdown(conn->fd, SHUT_RDWR);
    conn_wake(conn);
}

void conn_abandon(struct conn *conn)
{
    struct linger none = {.l_onoff = 1, .l_linger = 0};

    setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    conn_cut(conn);
}

/* Written by hand: libmicrohttpd takes no answer while it reads a request. No part of an answer has been sent yet, so these bytes are
 * the first. Bytes that do not fit in the socket's buffer are lost. */
static void conn_say(struct conn *conn, unsigned status, const char *detail)
{
    struct buf body, out;

    buf_init(&body);
    buf_init(&out);
    problem_print(&body, status, detail);
    buf_addf(
        &out,
        "HTTP/1.1 %u %s\r\nConnection: close\r\nContent-Type: application/problem+json\r\nContent-Length: %zu\r\n\r\n",
        status, libmicrohttpd()->get_reason_phrase_for(status), body.len);
    buf_add(&out, body.text, body.len);
    if (!conn->server->is_secure) {
        send(conn->fd, out.text, out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    } else if (conn->exchange) { /* so the handshake is over */
        const union MHD_ConnectionInfo *info =
            libmicrohttpd()->get_connection_info(conn->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
        if (info)
            libgnutls()->record_send(info->tls_session, out.text, out.len);
    }
    buf_done(&body);
    buf_done(&out);
}

/* Is the head complete? libmicrohttpd tells its length from then on. */
static bool conn_head_is_whole(const struct conn *conn)
{
    const union MHD_ConnectionInfo *info =
        libmicrohttpd()->get_connection_info(conn->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

    return info && info->header_size > 0;
}

void conns_head_bad(struct server *server)
{
    static const char words[] = "the fields cannot be read, or the Content-Length is not a number of bytes";

    for (struct conn *conn = server->conns; conn; conn = conn->next)
        if (!conn->is_cut && conn->exchange && conn->exchange->state == EXCHANGE_HEAD && conn_head_is_whole(conn)) {
            server_refused(server, words, conn->from);
            conn_say(conn, MHD_HTTP_BAD_REQUEST, words);
            conn_cut(conn);
        }
}

static void conn_late(struct conn *conn)
{
    if (conn->phase != PHASE_IDLE)
        server_refused(conn->server, phase_words[conn->phase], conn->from);
    if (conn->phase == PHASE_WAIT) {
        exchange_problem(conn->exchange, MHD_HTTP_SERVICE_UNAVAILABLE, phase_words[PHASE_WAIT]);
        return;
    }
    if (conn->phase == PHASE_HEAD || conn->phase == PHASE_BODY)
        conn_say(conn, MHD_HTTP_REQUEST_TIMEOUT, phase_words[conn->phase]);
    conn_cut(conn);
}

/* libmicrohttpd does not look at a suspended connection: has its client gone? */
static bool conn_is_gone(const struct conn *conn)
{
    struct pollfd at = {.fd = conn->fd, .events = POLLRDHUP};

    return poll(&at, 1, 0) > 0;
}

void conns_sweep(struct server *server)
{
    int64_t now = (int64_t)uv_now(server->loop);

    for (struct conn *conn = server->conns; conn; conn = conn->next) {
        if (conn->is_cut)
            continue;
        if (conn->is_suspended && conn_is_gone(conn))
            conn_cut(conn);
        else if (conn->phase == PHASE_STREAM)
            stream_sweep(conn->exchange, now);
        else if (now >= conn->deadline)
            conn_late(conn);
    }
}
