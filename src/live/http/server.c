/* server.c: libmicrohttpd in a libuv loop: how a server begins and ends, and one turn of it.
 *
 *     readable, time is up, or again -> resume some -> MHD_run -> when to come again */
#include "live/http/server_parts.h"

#include "pool/protocol/role.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define RUNS_MAX \
    3 /* of libmicrohttpd in a turn, while it has more to do: an answer is taken in one and sent in the next */
#define SWEEP_MIN 20 /* milliseconds between sweeps */
#define STOOD_MIN 10 /* if a sweep is late by more milliseconds than this, the loop stood still */
#define SWEEP_MAX 1000
#define FILES_KEPT_MAX 256 /* at most so many descriptors are kept from connections */
#define LIMIT_SLACK \
    64 /* libmicrohttpd stops accepting at its limit; our own limit, which refuses and says so, must be reached first */

/* TLS 1.2 and 1.3; of 1.2 only the ciphers that keep past traffic safe when the key is lost. */
#define PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:%SERVER_PRECEDENCE"

static const struct server_limits limits_default = {
    .head = 10 * SECOND,
    .body = 30 * SECOND,
    .reply = 30 * SECOND,
    .idle = 60 * SECOND,
    .comment = 15 * SECOND,
    .fields = 100,
    .field_bytes = 16384,
    .strangers = 64,
    .connections = 10000,
    .send_buffer = 65536,
};

void server_refused(struct server *server, const char *why, const struct sockaddr *from)
{
    if (server->handler.refused)
        server->handler.refused(server->handler.user, why, from);
}

/* -------------------------------------------------------------------------------------------------------------- a turn */

static void server_again(uv_idle_t *again);
static void server_time_up(uv_timer_t *wait);

static void server_turn(struct server *server)
{
    MHD_UNSIGNED_LONG_LONG timeout = 0;
    bool has_timeout = false;

    for (int i = 0; i < SERVER_WAKES_MAX && server->wakes; i++) {
        struct conn *conn = server->wakes;
        server->wakes = conn->wake_next;
        if (!server->wakes)
            server->wakes_end = &server->wakes;
        conn->is_waking = conn->is_suspended = false;
        libmicrohttpd()->resume_connection(conn->mhd);
    }
    for (int i = 0; i < RUNS_MAX; i++) {
        libmicrohttpd()->run(server->daemon);
        has_timeout = libmicrohttpd()->get_timeout(server->daemon, &timeout) == MHD_YES;
        if (!has_timeout || timeout)
            break;
    }
    if (server->wakes || (has_timeout && timeout == 0))
        uv_idle_start(&server->again, server_again);
    else
        uv_idle_stop(&server->again);
    if (has_timeout && timeout > 0)
        uv_timer_start(&server->wait, server_time_up, timeout, 0);
}

static void server_again(uv_idle_t *again)
{
    server_turn(again->data);
}

static void server_time_up(uv_timer_t *wait)
{
    server_turn(wait->data);
}

static void server_ready(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    server_turn(poll->data);
}

/* A deadline limits what a client does, so time in which the loop itself stood still does not count: bytes that came
 * meanwhile have not been looked at. */
static void server_stood(struct server *server, int64_t span)
{
    for (struct conn *conn = server->conns; conn; conn = conn->next) {
        conn->deadline += span;
        if (conn->phase == PHASE_STREAM && conn->exchange)
            conn->exchange->stream.moved += span;
    }
}

static void server_sweep(uv_timer_t *sweep)
{
    struct server *server = sweep->data;
    int64_t now = (int64_t)uv_now(server->loop), every = (int64_t)server->sweep_every;
    int64_t stood = now - server->swept - every;

    server->swept = now;
    if (stood > STOOD_MIN)
        server_stood(server, stood);
    conns_sweep(server);
}

void conn_suspend(struct conn *conn)
{
    if (!conn->is_suspended) {
        conn->is_suspended = true;
        libmicrohttpd()->suspend_connection(conn->mhd);
    }
}

void conn_wake(struct conn *conn)
{
    struct server *server = conn->server;

    if (!conn->is_suspended || conn->is_waking)
        return;
    conn->is_waking = true;
    conn->wake_next = NULL;
    *server->wakes_end = conn;
    server->wakes_end = &conn->wake_next;
    if (!server->is_freed)
        uv_idle_start(&server->again, server_again);
}

void conn_enter(struct conn *conn, enum phase phase)
{
    conn->phase = phase;
    conn->deadline = (int64_t)uv_now(conn->server->loop) + conn->server->spans[phase];
}

void conn_allow(struct conn *conn, uint64_t times)
{
    conn->deadline += conn->server->spans[conn->phase] * (int64_t)times;
}

/* ---------------------------------------------------------------------------------------------------------------- life */

/* libmicrohttpd's log messages. While it starts the first is kept; later they only tell that it refuses a request. */
static void daemon_say(void *user, const char *format, va_list args)
{
    struct server *server = user;
    char text[200];

    if (!server->start_err) {
        if (strncmp(format, "Error processing request", 24) == 0)
            conns_head_bad(server);
    } else if (!server->start_err->text[0]) {
        vsnprintf(text, sizeof text, format, args);
        text[strcspn(text, "\n")] = '\0';
        err_set(server->start_err, "%s", text);
    }
}

/* Leaves the text alone: we decode ourselves, from the text before libmicrohttpd touched it (exchange_open). */
static size_t unescape_nothing(void *user, struct MHD_Connection *mhd, char *text)
{
    (void)user, (void)mhd;
    return strlen(text);
}

static struct MHD_Daemon *daemon_start(struct server *server, int fd, const char *certificate, const char *key)
{
    const struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)PRIORITIES},
        {MHD_OPTION_END, 0, NULL},
    };
    const struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | (certificate ? MHD_USE_TLS : 0);

    return libmicrohttpd()->start_daemon(
        flags, 0, conns_admit, server, exchange_run, server, MHD_OPTION_EXTERNAL_LOGGER, daemon_say,
        server, /* first: options after it may log */
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, server->limits.connections + LIMIT_SLACK,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVER_POOL_BYTES, MHD_OPTION_URI_LOG_CALLBACK, exchange_open,
        server, MHD_OPTION_UNESCAPE_CALLBACK, unescape_nothing, server, MHD_OPTION_NOTIFY_COMPLETED, exchange_close,
        server, MHD_OPTION_NOTIFY_CONNECTION, conns_notify, server, MHD_OPTION_ARRAY, certificate ? tls : plain,
        MHD_OPTION_END);
}

static void limits_fill(struct server *server, const struct server_limits *limits)
{
    struct server_limits *to = &server->limits;
    int64_t shortest = INT64_MAX;

    *to = *limits;
#define FILL(field) to->field = to->field ? to->field : limits_default.field
    FILL(head), FILL(body), FILL(reply), FILL(idle), FILL(comment);
    FILL(fields), FILL(field_bytes), FILL(strangers), FILL(connections), FILL(send_buffer);
#undef FILL
    to->all_strangers = to->all_strangers ? to->all_strangers : (to->connections + 1) / 2;
    to->users = to->users ? to->users : (to->connections + 7) / 8;
#define X(id, limit, words) server->spans[PHASE_##id] = to->limit / MILLISECOND;
    PHASES(X)
#undef X
    server->comment = to->comment / MILLISECOND;
    server->guard = (struct guard_limits){.fields = to->fields, .field_bytes = to->field_bytes};
    for (int i = 0; i < PHASE_COUNT; i++)
        shortest = server->spans[i] < shortest ? server->spans[i] : shortest;
    if (server->comment < shortest)
        shortest = server->comment;
    shortest /= 4;
    server->sweep_every = (uint64_t)(shortest < SWEEP_MIN ? SWEEP_MIN : shortest > SWEEP_MAX ? SWEEP_MAX : shortest);
}

/* The system gives out the lowest free descriptor: so a high number tells that many are in use, by whatever part of the
 * program. Files, the store and outgoing calls must not fail because many clients have connected. */
static void descriptors_keep(struct server *server)
{
    struct rlimit files;
    rlim_t all = getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur > INT_MAX ? INT_MAX : files.rlim_cur;
    rlim_t kept = all / 8 > FILES_KEPT_MAX ? FILES_KEPT_MAX : all / 8;

    server->fd_most = (int)(all - kept);
    server->fd_end = (int)(all - kept / 2);
}

static void server_drop(struct server *server)
{
    while (server->spare) {
        struct exchange *exchange = server->spare;
        server->spare = exchange->next_spare;
        exchange_free(exchange);
    }
    map_done(&server->strangers);
    server_unlink(server);
    free(server->address);
    free(server);
}

static void server_watch(struct server *server)
{
    uv_poll_init(server->loop, &server->poll,
                 libmicrohttpd()->get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd);
    uv_timer_init(server->loop, &server->wait);
    uv_idle_init(server->loop, &server->again);
    uv_timer_init(server->loop, &server->sweep);
    server->handles = 4;
    server->poll.data = server->wait.data = server->again.data = server->sweep.data = server;
    uv_poll_start(&server->poll, UV_READABLE, server_ready);
    server->swept = (int64_t)uv_now(server->loop);
    uv_timer_start(&server->sweep, server_sweep, server->sweep_every, server->sweep_every);
    uv_idle_start(&server->again, server_again); /* the first turn begins to watch the listening socket */
}

struct server *server_new(struct uv_loop_s *loop, const char *address, const char *certificate, const char *key,
                          const struct server_limits *limits, const struct server_handler *handler, struct err *err)
{
    static const struct server_limits none;
    struct server *server = mem_alloc(sizeof *server);
    struct err start_err = {0};
    int fd;

    memset(server, 0, sizeof *server);
    server->loop = loop;
    server->handler = *handler;
    server->is_secure = certificate != NULL;
    server->wakes_end = &server->wakes;
    map_init(&server->strangers, uv_hrtime());
    limits_fill(server, limits ? limits : &none);
    descriptors_keep(server);
    if (server_listen(server, address, &fd, err) < 0) {
        server_drop(server);
        return NULL;
    }
    server->start_err = &start_err;
    server->daemon = daemon_start(server, fd, certificate, key);
    server->start_err = NULL;
    if (!server->daemon) {
        err_set(err, "cannot serve %s: %s", address,
                start_err.text[0] ? start_err.text : "libmicrohttpd does not say why");
        if (fcntl(fd, F_GETFD) >= 0) /* libmicrohttpd has closed it, if it got that far */
            close(fd);
        server_drop(server);
        return NULL;
    }
    server_watch(server);
    return server;
}

static void server_closed(uv_handle_t *handle)
{
    struct server *server = handle->data;

    if (--server->handles == 0)
        server_drop(server);
}

void server_free(struct server *server)
{
    if (!server)
        return;
    server->is_freed = true;
    uv_poll_stop(&server->poll);
    for (struct conn *conn = server->conns; conn; conn = conn->next) {
        conn->is_cut = true;
        if (conn->is_suspended) /* libmicrohttpd aborts the process when it stops with a suspended connection */
            libmicrohttpd()->resume_connection(conn->mhd);
    }
    libmicrohttpd()->stop_daemon(server->daemon);
    server_unlink(server);
    uv_close((uv_handle_t *)&server->poll, server_closed);
    uv_close((uv_handle_t *)&server->wait, server_closed);
    uv_close((uv_handle_t *)&server->again, server_closed);
    uv_close((uv_handle_t *)&server->sweep, server_closed);
}

const char *server_address(const struct server *server)
{
    return server->address;
}

void server_set_user(struct server *server, void *user)
{
    server->handler.user = user;
}

void server_stop_accepting(struct server *server)
{
    int fd = server->is_quiet ? -1 : libmicrohttpd()->quiesce_daemon(server->daemon);

    server->is_quiet = true;
    if (fd >= 0)
        close(fd);
    server_unlink(server);
}

uint32_t server_connections(const struct server *server)
{
    return server->conn_count;
}
